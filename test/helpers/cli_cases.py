"""What tests of the command line share."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import trimesh

from gripsim_ros.apps.cli.main import main

BAD_INPUT = 2


def gripsim(*arguments):
    """Run the command in this process: exit code, standard output and error."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def strict(text):
    """Return parsed JSON; NaN and infinity are errors."""
    def refuse(constant):
        raise ValueError(constant)
    return json.loads(text, parse_constant=refuse)


def assert_refused(result, *said):
    """Assert exit code 2, an empty standard output and one line on standard error."""
    code, out, err = result
    assert (code, out) == (BAD_INPUT, ''), err
    assert err.startswith('gripsim: ') and err.count('\n') == 1, err
    for words in said:
        assert words in err


def start(*arguments, **options):
    """Start the command as a process of its own."""
    return subprocess.Popen([sys.executable, '-m', 'gripsim_ros.apps.cli', *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def box_arrays():
    """Return vertices and faces of the box."""
    box = trimesh.creation.box((0.04, 0.03, 0.06))
    return np.array(box.vertices), np.array(box.faces)


def write_obj(path, vertices, faces, texture=''):
    """Write vertices and faces as they stand; return the path."""
    lines = [texture, *('v %r %r %r' % tuple(map(float, v)) for v in vertices),
             *('f %d %d %d' % tuple(face + 1) for face in faces)]
    path.write_text('\n'.join(lines) + '\n')
    return path
