"""
Long-running load tests: ``python -m benchmarks soak [SECTION ...] [--count N] [--seed K]``.

``faults --out FILE`` keeps what happened; ``python -m benchmarks fault_figure FILE`` draws it.

Each section runs until its count is reached and prints what went wrong; the exit code is 1
if anything did. Without names all sections run. A section is a function in ``SECTIONS``: it
takes the options and returns the number of failures.
"""

import argparse
from collections import Counter
import faulthandler
import json
from pathlib import Path
import sys
import tempfile

import numpy as np

TESTS = Path(__file__).resolve().parents[2] / 'test' / 'helpers'
#: Broken meshes judged unless another count is given, and when one counts as hung [s].
BROKEN_MESHES, HANG = 2000, 120.0
PROGRESS_EVERY = 200
#: How long the hand's driver, and the suite under faults, are soaked unless told otherwise [min].
DRIVER_MINUTES, FAULT_MINUTES = 30, 60


def broken_meshes(options):
    """Ask contact about random broken files; return how many answers were wrong."""
    sys.path.insert(0, str(TESTS))    # the referee is the tests' own
    from broken_meshes import break_mesh, judge
    count = options.count or BROKEN_MESHES
    kinds, wrong = Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            seed = options.seed + number
            rng = np.random.default_rng(seed)
            broken = break_mesh(rng)
            # A kernel cannot be interrupted from Python: the process ends with a traceback.
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                said = judge(broken, Path(folder), rng)
            except Exception as error:
                said = f'{type(error).__name__}: {error}'
            faulthandler.cancel_dump_traceback_later()
            kinds[broken.kind] += 1
            if said:
                wrong += 1
                print(f'  seed {seed}, {broken.kind}.{broken.ending}: {said}')
            if (number + 1) % PROGRESS_EVERY == 0:
                print(f'  {number + 1} of {count} meshes, {wrong} wrong', flush=True)
    print('  ' + ', '.join(f'{kind} {kinds[kind]}' for kind in sorted(kinds)))
    return wrong


def driver(options):
    """Soak the hand's driver for `count` minutes; return how much was wrong."""
    from benchmarks.hardware.driver_soak import soak
    minutes = options.count or DRIVER_MINUTES
    wrong, summary = soak(60.0 * minutes, options.seed, say=print)
    for line in [*(f'{key}: {value}' for key, value in summary.items()), *wrong]:
        print(f'  {line}')
    return len(wrong)


def faults(options):
    """Run the suite under faults for `count` minutes; return how much was wrong."""
    sys.path.insert(0, str(TESTS))
    from gripsim_ros.ros.environment import enter_isolation
    enter_isolation('soak')
    from fault_harness import soak
    with tempfile.TemporaryDirectory() as folder:
        run = soak(options.count or FAULT_MINUTES, options.seed, Path(folder), say=print)
    print(json.dumps(run.summary(), indent=2))
    for line in run.wrong:
        print(f'  {line}')
    if options.out:
        options.out.write_text(json.dumps(run.record()), encoding='utf-8')
    return len(run.wrong)


SECTIONS = {'broken_meshes': broken_meshes, 'driver': driver, 'faults': faults}


def main():
    """Run the sections named, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog='benchmarks soak', description=__doc__)
    parser.add_argument('sections', nargs='*', help=f'of {", ".join(SECTIONS)}')
    parser.add_argument('--count', type=int, help="how many, instead of each section's own")
    parser.add_argument('--seed', type=int, default=100_000)
    parser.add_argument('--out', type=Path, help='where faults keeps what happened, as JSON')
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f'no section {", ".join(sorted(unknown))}; there are {", ".join(SECTIONS)}')
    failures = 0
    for name in options.sections or SECTIONS:
        print(f'{name}:', flush=True)
        found = SECTIONS[name](options)
        print(f'{name}: {found} wrong', flush=True)
        failures += found
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
