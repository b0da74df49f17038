"""
Plan every example and draw its best grasp: ``python tools/draw_gallery.py [--out docs/images]``.

Reports are left in ``build/examples``, from where `make docs` takes them into the site; so are
pictures, unless told otherwise.
"""

import argparse
import os
import sys
from pathlib import Path

from gripsim_ros.apps.cli.main import main as gripsim

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'build' / 'examples'
PICTURES = {'tomato': 'example_tomato.png', 'paper_cup': 'example_paper_cup.png',
            'bread_roll': 'example_bread_roll.png', 'full_bottle': 'example_full_bottle.png',
            'power_drill': 'example_power_drill.png', 'soft_toy': 'example_soft_toy.png'}


def main():
    """Plan and draw; the exit code is that of the first example that fails."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--out', type=Path, default=FOLDER)
    parser.add_argument('names', nargs='*', default=list(PICTURES), metavar='NAME')
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chdir(FOLDER)    # the reports tell the files as they are named
    for name in arguments.names:
        code = gripsim(['examples', name, '--out', '.']) or gripsim(
            ['view', f'{name}.json', '--picture', str(out / PICTURES[name])])
        if code:
            return code
    return 0


if __name__ == '__main__':
    sys.exit(main())
