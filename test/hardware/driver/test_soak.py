"""A minute of the driver's load test; the long one is `make soak`."""

from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.hardware.driver_soak import Soak

from sdh_cases import TIMEOUT

ROOT = Path(__file__).resolve().parents[3]
#: Half a minute of two hands side by side, at night a minute of four. The load test itself says
#: what hangs, later; and each hand shall have moved, and met faults.
SEEDS, MINUTES, LONGEST = (7, 10), 0.25, 900.0
MORE_SEEDS = (7, 8, 9, 10)
SEED = 7


@pytest.mark.nightly
@pytest.mark.parametrize('seeds', [
    SEEDS, MORE_SEEDS], ids=['few', 'all'])
def test_random_faults_make_nothing_unsafe_hang_or_leak(seeds):
    runs = [subprocess.Popen(
        [sys.executable, '-m', 'benchmarks', 'soak_driver', '--minutes', str(MINUTES), '--seed',
         str(seed), '--least-motions', '1', '--least-faults', '3'], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for seed in seeds]
    try:
        for seed, run in zip(seeds, runs):
            told, _ = run.communicate(timeout=LONGEST)
            assert run.returncode == 0 and 'motions: ' in told, f'seed {seed}: {told}'
    finally:
        for run in runs:
            run.kill()
            run.communicate()


def test_the_load_test_sees_what_is_unsafe():
    """Its own check fails for a motion that nobody asked for, too fast and out of range."""
    run = Soak(SEED, '127.0.0.1')
    try:
        assert run.session.wait_connected(TIMEOUT)
        # By velocities to its end, and on by a motion to a pose where it is not quite there.
        for preshape in run.model.preshapes:
            assert run.ask(preshape.open, 2.0).done.wait(TIMEOUT)
            if run.hand.firmware.record.moves:
                break
        assert run.hand.firmware.record.moves
        assert not run.unsafe()
        moves = run.hand.firmware.record.moves
        when, start, target, speeds, ramps = moves[0]
        for bad, words in (
                ((when, start, [200.0, *target[1:]], speeds, ramps), 'leaves the range'),
                ((when, start, target, [300.0, *speeds[1:]], ramps), 'too fast'),
                ((when, start, [target[0] + 5.0, *target[1:]], speeds, ramps), 'never asked'),
                ((when, start, [85.0, 70.0, 0.0, 0.0, 0.0, 70.0, 0.0], speeds, ramps),
                 'brings links together')):
            moves[0] = bad
            assert any(words in line for line in run.unsafe()), words
        met = [60.0, *3 * (0.0, 42.0)]                      # links touch there
        moves[:] = [(when, met, target, speeds, ramps)]
        run.parted = 0
        assert not run.unsafe() and run.parted == 1
        run.targets.append(np.array(met))
        for begin, end in ((target, met), (met, met)):
            moves[:] = [(when, begin, end, speeds, ramps)]
            assert any('together' in line for line in run.unsafe())
        moves[0] = when, start, target, speeds, ramps
        run.latched.append([when - 1.0, np.inf])
        assert any('after an emergency stop' in line for line in run.unsafe())
        run.hand.firmware.record.commands.append((0.0, 'selgrip=1'))
        run.watch_motions()
        assert any('selgrip' in line for line in run.unsafe())
    finally:
        run.session.close()
        run.tactile.close()
        run.hand.__exit__(*sys.exc_info())
