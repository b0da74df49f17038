"""CAN by python-can's virtual bus: frames of 8 bytes, ids 42 and 43, and a whole session."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.link.can_bus import CanAddress, read_can_address
from gripsim_ros.hardware.driver.link.errors import DriverError, LinkError
from gripsim_ros.hardware.driver.link.transport import open_transport, parse_address
from gripsim_ros.hardware.driver.motion.motions import Outcome

from sdh_cases import ANGLES, CLOSED, TIMEOUT, finished, go, make_session, wait_for

can = pytest.importorskip('can', reason='python-can is the extra `can`')
ADDRESS = 'can://{}?interface=virtual'


def bus(name, hears):
    return can.Bus(channel=name, interface='virtual', ignore_config=True,
                   can_filters=[{'can_id': hears, 'can_mask': 0x7FF, 'extended': False}])


@given(st.binary(min_size=1, max_size=60))
def test_bytes_are_cut_into_frames_of_which_only_the_last_is_shorter(data):
    with bus('frames', 42) as other:
        link = open_transport(ADDRESS.format('frames'), 1.0)
        try:
            link.write(data)
            frames = []
            while (frame := other.recv(0.0)) is not None:
                frames.append(frame)
        finally:
            link.close()
    assert b''.join(bytes(frame.data) for frame in frames) == data
    assert [frame.dlc for frame in frames[:-1]] == (len(frames) - 1) * [8]
    assert {(frame.arbitration_id, frame.is_extended_id) for frame in frames} == {(42, False)}


def test_other_nodes_of_the_bus_are_not_heard():
    with bus('others', 42) as other:
        link = open_transport(ADDRESS.format('others'), 1.0)
        try:
            for number, data in ((41, b'no'), (43, b'POS='), (44, b'no'), (43, b'0.0\r\n')):
                other.send(can.Message(arbitration_id=number, is_extended_id=False, data=data))
            assert link.read(1.0) + link.read(0.0) == b'POS=0.0\r\n'
            assert link.read(0.0) == b''
        finally:
            link.close()


@pytest.mark.parametrize('follow', [False, True])
def test_a_hand_on_can_is_found_moved_and_left(follow):
    address = ADDRESS.format(f'hand{follow:d}')
    with EmulatedHand(can=address, identity=Identity(angles=ANGLES)) as hand:
        session = make_session(address, follow=follow)
        session.start()
        try:
            assert session.wait_connected(TIMEOUT)
            motion = go(session, CLOSED, 0.5)
            assert finished(motion) is Outcome.REACHED, motion.message
            assert wait_for(lambda: np.abs(motion.errors).max() < 0.02)
        finally:
            session.close()
        assert not any(hand.firmware.motors.power)


@pytest.mark.parametrize('address', [
    'can://', 'can://can0/x', 'can://can0?read=43&write=43', 'can://can0?read=5000',
    'can://can0?speed=1', 'can://can0?bitrate=0', 'can://can0?write=fast'])
def test_addresses_that_are_none_are_refused(address):
    with pytest.raises(DriverError, match='an address on CAN is'):
        parse_address(address)


def test_addresses_are_read():
    assert parse_address('can://can0') == ('can', 'can0', 1_000_000)
    assert read_can_address('can://a?interface=pcan&write=0x12&read=7&bitrate=500000') \
        == CanAddress('a', 'pcan', 0x12, 7, 500_000)


def test_a_bus_that_is_not_there_is_told_in_one_line(monkeypatch):
    with pytest.raises(LinkError, match='cannot open socketcan none0'):
        open_transport('can://none0', 1.0)
    monkeypatch.setitem(sys.modules, 'can', None)
    with pytest.raises(DriverError, match='pip install python-can'):
        open_transport('can://can0', 1.0)
