"""
Compare what Foxglove's packages and ROS read in a recording.

``python tools/read_with_foxglove.py FILE.mcap FOLDER``, where ``npm install`` of the packages that
``read_with_foxglove.mjs`` names was run in FOLDER; needs Node.js. Exit code 0: all alike.
"""

import json
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from rclpy.serialization import deserialize_message

from gripsim_ros.ros.record.mcap_file import read_messages

SCRIPT = Path(__file__).with_suffix('.mjs')
NONE = {'messages': 0, 'numbers': 0, 'not_finite': 0, 'sum': 0.0, 'strings': 0, 'letters': 0}


def add(value, total):
    """Add up all numbers in the order of the fields, and count them, letters and strings."""
    if isinstance(value, str):
        total['letters'] += len(value)
        total['strings'] += 1
    elif hasattr(value, 'get_fields_and_field_types'):
        for name in value.get_fields_and_field_types():
            add(getattr(value, name), total)
    elif hasattr(value, '__iter__'):
        for item in value:
            add(item, total)
    else:
        total['numbers'] += 1
        if math.isfinite(value):
            total['sum'] += float(value)
        else:
            total['not_finite'] += 1


def read_with_ros(path):
    """Return what each topic of a recording holds as ROS deserializes it."""
    totals = {}
    for message in read_messages(path):
        package, _, name = message.type_name.split('/')
        total = totals.setdefault(message.topic, {'type': message.type_name, **NONE})
        total['messages'] += 1
        add(deserialize_message(message.data, getattr(import_module(f'{package}.msg'), name)),
            total)
    return totals


def main(path, folder):
    """Print both readings; return the exit code."""
    theirs = json.loads(subprocess.run(
        ['node', str(SCRIPT), path, str(Path(folder).resolve())], check=True,
        stdout=subprocess.PIPE).stdout)
    ours = read_with_ros(Path(path))
    for topic in sorted({*ours, *theirs}):
        alike = ours.get(topic) == theirs.get(topic)
        print('alike' if alike else 'DIFFERENT', topic, ours.get(topic),
              '' if alike else theirs.get(topic))
    return int(ours != theirs)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
