"""
Mechanics in one thread: contact solve, deform step, centre of mass, beside their peers.

``python -m benchmarks mechanics [--figures] [--only grids|nodes|closings|surface|mass]``
"""

import argparse
import os

for _name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'NUMBA_NUM_THREADS'):
    os.environ.setdefault(_name, '1')   # before anything that counts threads is imported

from benchmarks.mechanics import figures  # noqa: E402
from benchmarks.mechanics.closings import closings  # noqa: E402
from benchmarks.mechanics.grids import compare  # noqa: E402
from benchmarks.mechanics.mass import accuracy  # noqa: E402
from benchmarks.mechanics.nodes import growth  # noqa: E402
from benchmarks.mechanics.surface import deform_step, rings  # noqa: E402

PARTS = ('grids', 'nodes', 'closings', 'surface', 'mass')


def main() -> None:
    """Print all tables; draw the figures if asked."""
    parser = argparse.ArgumentParser(description='time and accuracy of the mechanics')
    parser.add_argument('--figures', action='store_true', help='draw into docs/images')
    parser.add_argument('--only', choices=PARTS, help='one part alone')
    arguments = parser.parse_args()
    parts = (arguments.only,) if arguments.only else PARTS
    if 'grids' in parts:
        compare((64, 256))
    if 'nodes' in parts:
        rows = growth((100, 200, 370, 700))
        if arguments.figures:
            figures.growth_figure(rows)
    if 'closings' in parts:
        closings()
    if 'surface' in parts:
        deform_step((100, 300))
        mesh, surfaces = rings()
        if arguments.figures:
            figures.rings_figure(mesh, surfaces)
    if 'mass' in parts:
        accuracy()


if __name__ == '__main__':
    main()
