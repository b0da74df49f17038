"""Closing by touch over the driver's sessions and the emulated firmware, in real time."""

import pytest

from benchmarks.hardware.touch_driver import close, FORCE
from gripsim_ros.hardware.execution.actions import Status
from gripsim_ros.library.resources import load_default_hand

ROOM = 1.2

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@pytest.mark.parametrize('off', [-0.06, 0.06])
@pytest.mark.parametrize('stiffness', [10.0, 40.0, 160.0])
def test_forces_stay_below_their_limit_for_stiffness_wrong_by_four(stiffness, off):
    execution, driven = close(load_default_hand(), stiffness, off)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert 0.9 * FORCE <= driven.peak <= ROOM * FORCE
    assert 'closed at' in execution.message     # 30 Hz of pads, or a busy machine
