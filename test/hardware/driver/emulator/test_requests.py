"""Bytes of hosts: binary frames and lines, mixed, in whatever pieces they come."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gripsim_ros.hardware.driver.emulator.firmware import CRC_ERROR, Firmware
from gripsim_ros.hardware.driver.emulator.requests import (
    FRAME_TIMEOUT, BinaryRequest, RequestCutter, binary_answer, checksum)

#: As the vendor's client sends them: get `pos` without and with checksum, set `p` to zeros.
GET_POS, GET_POS_CRC = bytes.fromhex('830100'), bytes.fromhex('830300dc1e')
SET_P_CRC = bytes.fromhex('851f07' + 28 * '00' + '35cd')
POS_ZEROS_CRC = bytes.fromhex('83200700' + 28 * '00' + 'be97')
#: An angle whose bytes hold that of a line's end.
NEWLINE = struct.unpack('<f', b'\x0a\x0a\x20\x41')[0]


def frame(code, values):
    """Return a binary request that sets all axes, as a client without checksums sends it."""
    return struct.pack('<BBB7f', code, 29, 7, *values)


def test_frames_of_the_vendors_client_are_read_and_answered():
    cutter, firmware = RequestCutter(lambda: 0.0), Firmware(clock=lambda: 0.0)
    requests = cutter.feed(GET_POS + GET_POS_CRC + SET_P_CRC)
    assert requests == [BinaryRequest(131, ()), BinaryRequest(131, (), True),
                        BinaryRequest(133, 7 * (0.0,), True)]
    plain, checked, _ = (firmware.answer_binary(request) for request in requests)
    assert checked == POS_ZEROS_CRC
    assert plain == bytes.fromhex('831e0700' + 28 * '00') and len(plain) == 32


@given(st.lists(st.integers(1, 12), max_size=30))
def test_requests_are_the_same_in_whatever_pieces_they_come(cuts):
    stream = b'ver\r\n' + frame(133, 7 * [NEWLINE]) + b' \r\nv(3)=      10.000\r\n' + GET_POS_CRC
    cutter, found, begin = RequestCutter(lambda: 0.0), [], 0
    for cut in [*cuts, len(stream)]:
        found += cutter.feed(stream[begin:begin + cut])
        begin += cut
    assert found == ['ver', BinaryRequest(133, 7 * (NEWLINE,)), '', 'v(3)=      10.000',
                     BinaryRequest(131, (), True)]


@given(st.binary(max_size=400))
def test_no_bytes_do_more_than_be_refused(data):
    cutter, firmware = RequestCutter(lambda: 0.0), Firmware(clock=lambda: 0.0)
    for request in cutter.feed(data):
        if isinstance(request, BinaryRequest):
            assert len(firmware.answer_binary(request)) in (32, 34)
        else:
            firmware.answer(request)


@pytest.mark.parametrize('position', range(len(SET_P_CRC)))
def test_a_spoilt_bit_sets_nothing(position):
    spoilt = bytearray(SET_P_CRC)
    spoilt[position] ^= 0x04
    firmware = Firmware(clock=lambda: 0.0)
    firmware.sets['p'] = 7 * [7.0]
    for request in RequestCutter(lambda: 0.0).feed(bytes(spoilt)):
        if isinstance(request, BinaryRequest) and request.code == 133:
            assert firmware.answer_binary(request)[3] == CRC_ERROR
    assert firmware.sets['p'] == 7 * [7.0]


def test_a_frame_that_breaks_off_is_given_up():
    clock = iter([0.0, 2.0 * FRAME_TIMEOUT]).__next__
    cutter = RequestCutter(clock)
    assert cutter.feed(SET_P_CRC[:20]) == []
    assert cutter.feed(b'ver\r\n') == ['ver']


def test_an_answer_has_its_whole_length_whatever_the_status():
    answer = binary_answer(BinaryRequest(131, (), True), 24)
    assert len(answer) == 34 and answer[3] == 24
    assert checksum(answer[:-2]) == int.from_bytes(answer[-2:], 'little')
