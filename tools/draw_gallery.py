"""
Plan every example and draw its best grasp: ``python tools/draw_gallery.py [--out docs/images]``.

Reports are left in ``build/examples``, from where `make docs` takes them into the site; so are
pictures, unless told otherwise.
"""

import argparse
import base64
import os
import re
import sys
from pathlib import Path

from gripsim_ros.apps.cli.main import main as gripsim
from gripsim_ros.apps.examples import SCENES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'build' / 'examples'
#: The picture that a report has for browsers without WebGL, with what stands about the object.
STILL = re.compile('<img id="still"[^>]* src="data:image/png;base64,([^"]*)"')
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
        picture = out / PICTURES[name]
        code = gripsim(['examples', name, '--out', '.'])
        if not code and 'obstacles' in SCENES[name].task:
            still = STILL.search(Path(f'{name}.html').read_text(encoding='utf-8'))[1]
            picture.write_bytes(base64.b64decode(still))
        elif not code:
            code = gripsim(['view', f'{name}.json', '--picture', str(picture)])
        if code:
            return code
    return 0


if __name__ == '__main__':
    sys.exit(main())
