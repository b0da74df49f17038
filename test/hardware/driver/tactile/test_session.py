"""Tactile frames over real sockets and pseudo-terminals, whole and spoiled."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml

from gripsim_ros.hardware.driver.emulator.commands import set_block
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.options import LinkOptions, TactileOptions
from gripsim_ros.hardware.driver.tactile.pads import read_layout
from gripsim_ros.hardware.driver.tactile.session import TactileSession
from gripsim_ros.library.resources import share_directory

from sdh_cases import CLOSED, QUICK_LINK, connected, finished, go, wait_for

LAYOUT = read_layout(yaml.safe_load(
    Path(share_directory(), 'config', 'hands', 'sdh_tactile.yaml').read_text()))
TEXELS = sum(len(matrix.texels) for matrix in LAYOUT)
#: Axis 5 moves the proximal link of this finger; its matrix is the fifth.
AXIS, MATRIX, LINK = 5, 4, 'sdh_finger_12_link'


@contextmanager
def reading(hand, **options):
    """Run a session of the tactile sensors; yield the frames that it reads, as they come."""
    frames = []
    link = LinkOptions(hand.tactile_address, **QUICK_LINK)
    session = TactileSession(TactileOptions(link, silence=1.0, **options), LAYOUT, frames.append)
    session.start()
    try:
        yield frames, session
    finally:
        session.close()


@pytest.mark.parametrize('host', ['127.0.0.1', None], ids=['tcp', 'pty'])
@pytest.mark.parametrize('run_length', [True, False])
def test_frames_come(host, run_length):
    with EmulatedHand(host) as hand:
        hand.board.touches[MATRIX] = 1000.0
        with reading(hand, run_length=run_length) as (frames, session):
            assert wait_for(lambda: len(frames) >= 3)
            assert session.problem == '' and hand.board.coded == run_length
        touch = frames[-1]
        assert touch.pressures.shape == (TEXELS,)
        pressed = [matrix.link for matrix, force in zip(LAYOUT, touch.forces_link)
                   if np.any(force)]
        assert pressed == [LINK]
        assert touch.forces_link[MATRIX, 0] < 0.0       # against the pad's outward normal
        assert not hand.board.acquiring                 # it has confirmed that it stops


def test_a_finger_that_meets_something_is_felt_there():
    with connected() as (hand, session), reading(hand) as (frames, _):
        set_block(hand, AXIS, -18.0)
        assert wait_for(lambda: frames) and not frames[-1].pressures.any()
        finished(go(session, CLOSED, 0.6))
        assert wait_for(lambda: frames[-1].pressures.any())
        assert np.flatnonzero(frames[-1].forces_link[:, 0]).tolist() == [MATRIX]


@pytest.mark.parametrize('kind', ['wrong_crc', 'short_packet', 'garbage', 'noise'])
def test_spoiled_frames_are_dropped_and_counted(kind):
    with EmulatedHand() as hand:
        hand.board.touches[MATRIX] = 500.0
        with reading(hand) as (frames, session):
            assert wait_for(lambda: frames)
            hand.faults.add(kind, probability=0.5, only='frame')
            assert wait_for(lambda: hand.faults.struck.get(kind, 0) >= 3)
            hand.faults.clear()
            count = len(frames)
            assert wait_for(lambda: len(frames) > count + 3)
            pressures = {touch.pressures.max() for touch in frames}
            assert len(pressures) == 1                   # no spoiled one came through
            if kind in ('wrong_crc', 'short_packet'):
                assert session.bad_packets() + session.counts['unreadable'] >= 1


@pytest.mark.parametrize('kind', ['silence', 'disconnect'])
def test_sensors_that_are_lost_are_found_again(kind):
    with EmulatedHand() as hand, reading(hand) as (frames, session):
        assert wait_for(lambda: frames)
        hand.faults.add(kind)
        assert wait_for(lambda: session.problem)
        hand.faults.clear()
        count = len(frames)
        assert wait_for(lambda: len(frames) > count and not session.problem)
        assert session.counts['connections'] >= 2


def test_another_layout_than_the_controllers_is_refused():
    with EmulatedHand() as hand:
        link = LinkOptions(hand.tactile_address, **QUICK_LINK)
        session = TactileSession(TactileOptions(link), LAYOUT[::-1], lambda touch: None)
        session.start()
        assert wait_for(lambda: 'texels' in session.problem)
        session.close()
        assert session.counts['frames'] == 0
