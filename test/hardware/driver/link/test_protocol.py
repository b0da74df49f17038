"""The SDH's lines and packets against bytes that neither driver nor emulator made."""

import ast
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gripsim_ros.hardware.driver.emulator import tactile_board
from gripsim_ros.hardware.driver.emulator.firmware import Firmware
from gripsim_ros.hardware.driver.emulator.motion import SIN_SQUARE, Motors
from gripsim_ros.hardware.driver.link import protocol
from gripsim_ros.hardware.driver.link.errors import (
    ERROR_NAMES, DriverError, FirmwareError, MalformedError)
from gripsim_ros.hardware.driver.link.transport import parse_address
from gripsim_ros.hardware.driver.tactile import packets
from gripsim_ros.hardware.driver.tactile.pads import read_layout, touch_of
from gripsim_ros.library.resources import share_directory

ROOT = Path(__file__).resolve().parents[4]
VECTORS = yaml.safe_load((ROOT / 'test' / 'data' / 'sdh_vectors.yaml').read_text())
TACTILE = VECTORS['tactile']
ATOL_TEXEL = 1e-9     # [m]
ATOL_ROUNDOFF = 1e-12


def layout():
    """Return the matrices of the hand that comes along."""
    text = (share_directory() / 'config' / 'hands' / 'sdh_tactile.yaml').read_text()
    return read_layout(yaml.safe_load(text))


# -- driver and emulator are strangers ------------------------------------------------------

@pytest.mark.parametrize(
    'path', sorted((ROOT / 'gripsim_ros/hardware/driver').rglob('*.py')), ids=str)
def test_driver_and_emulator_share_no_code(path):
    in_emulator = path.parent.name == 'emulator'
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            if in_emulator:
                assert node.level <= 1, f'{path.name} imports {node.module}'
            else:
                assert 'emulator' not in (node.module or '')


# -- joints ---------------------------------------------------------------------------------

@pytest.mark.parametrize('case', VECTORS['requests'], ids=lambda case: case['command'])
def test_requests_are_these_bytes(case):
    assert protocol.encode(case['command']) == bytes.fromhex(case['bytes'])


@pytest.mark.parametrize('case', VECTORS['set_all'], ids=lambda case: case['text'])
def test_all_axes_are_set_with_these_words(case):
    assert protocol.set_all(case['name'], case['values']) == case['text']


@pytest.mark.parametrize('case', VECTORS['replies'], ids=lambda case: case['line'])
def test_replies_are_read(case):
    value = protocol.parse_reply(case['command'], case['line'])
    if 'numbers' in case:
        assert protocol.parse_numbers(case['command'], value, len(case['numbers'])) == \
            case['numbers']
    if 'duration' in case:
        assert protocol.parse_duration(case['command'], value) == case['duration']
    if 'version' in case:
        assert list(protocol.parse_version(value)) == case['version']


@pytest.mark.parametrize('case', VECTORS['errors'], ids=lambda case: case['line'])
def test_error_codes_are_told_by_name(case):
    with pytest.raises(FirmwareError, match=case['name']) as raised:
        protocol.parse_reply(case['command'], case['line'])
    assert raised.value.code == case['code'] == ERROR_NAMES.index(case['name'])


@pytest.mark.parametrize('line', VECTORS['malformed'])
def test_what_is_no_answer_is_refused(line):
    with pytest.raises(MalformedError):
        protocol.parse_numbers('pos', protocol.parse_reply('pos', line))


@pytest.mark.parametrize('values', [[0.0] * 6, [0.0] * 8, [0.0] * 6 + [float('nan')]])
def test_fewer_than_seven_targets_are_never_sent(values):
    with pytest.raises(MalformedError):
        protocol.set_all('p', values)


@pytest.mark.parametrize('command', ['', 'pos\r\nm', 'p=\N{DEGREE SIGN}', 'p=' + 300 * '0'])
def test_a_request_is_one_line_of_ascii(command):
    with pytest.raises(MalformedError):
        protocol.encode(command)


LINES = ['POS=0.0', 'E24', 'M=1.00']


@given(st.lists(st.integers(1, 9), max_size=12))
def test_lines_are_the_same_however_the_bytes_arrive(cuts):
    debug = [line.encode() for line in VECTORS['debug_lines']]
    stream = b'\r\n'.join([debug[0], LINES[0].encode(), b'', debug[1], LINES[1].encode(),
                           LINES[2].encode()]) + b'\n'
    buffer, begin = protocol.LineBuffer(), 0
    for cut in [*cuts, len(stream)]:
        buffer.feed(stream[begin:begin + cut])
        begin += cut
    assert [buffer.pop() for _ in range(4)] == [*LINES, None]


@given(st.binary(max_size=600))
def test_no_bytes_do_more_than_be_refused(data):
    buffer = protocol.LineBuffer()
    try:
        buffer.feed(data)
        while (line := buffer.pop()) is not None:
            protocol.parse_numbers('pos', protocol.parse_reply('pos', line))
    except (MalformedError, FirmwareError):
        pass


def test_a_line_without_end_is_given_up():
    buffer = protocol.LineBuffer()
    with pytest.raises(MalformedError):
        for _ in range(100):
            buffer.feed(b'POS=0.0,0.0,')
    buffer.feed(b'\nE1\n')
    assert buffer.pop() == 'E1'


def test_axes_carry_the_joints_of_the_vendors_library():
    assert list(protocol.AXIS_JOINTS) == VECTORS['axes']


@pytest.mark.parametrize('address', [
    '', 'tcp://', 'tcp://host', 'tcp://host:0', 'tcp://host:99999', 'udp://host:1', 'serial://x',
    'serial:///dev/x?baud=fast', 'serial:///dev/x?baud=-1', '/dev/ttyS0', 'tcp://h:1/path'])
def test_addresses_that_are_none_are_refused(address):
    with pytest.raises(DriverError, match='an address is'):
        parse_address(address)


def test_addresses_are_read():
    assert parse_address('tcp://192.168.1.42:23') == ('tcp', '192.168.1.42', 23)
    assert parse_address('serial:///dev/ttyS0') == ('serial', '/dev/ttyS0', 115200)
    assert parse_address('serial:///dev/x?baud=9600') == ('serial', '/dev/x', 9600)


# -- the emulator, by the same bytes ----------------------------------------------------------

def test_the_emulator_answers_the_dialogue():
    firmware = Firmware(clock=lambda: 0.0)
    for line, answer in VECTORS['dialogue']:
        assert firmware.answer(line) == answer, line


@pytest.mark.parametrize('case', VECTORS['durations'], ids=str)
def test_sin_square_motions_last_as_long_as_the_firmware_says(case):
    ways = [case['way'], *6 * [0.0]]
    speeds, accelerations = 7 * [float(case['velocity'])], 7 * [100.0]
    duration = Motors(7 * [0.0]).duration(ways, SIN_SQUARE, speeds, accelerations)
    assert round(duration, 2) == case['duration']


# -- tactile ------------------------------------------------------------------------------------

@pytest.mark.parametrize('checksum', [packets.checksum, tactile_board.checksum],
                         ids=['driver', 'emulator'])
@pytest.mark.parametrize('case', VECTORS['crc'], ids=lambda case: case['bytes'][:12])
def test_checksums(checksum, case):
    assert checksum(bytes.fromhex(case['bytes'])) == case['crc']


def test_requests_of_the_tactile_sensors_are_these_bytes():
    assert packets.acquisition(False, True, 0) == bytes.fromhex(TACTILE['stop'])
    assert packets.acquisition(True, True, 30) == bytes.fromhex(TACTILE['start_30_rle'])
    assert packets.request(packets.MATRIX_INFO, b'\0') == bytes.fromhex(TACTILE['matrix_0_info'])
    assert packets.request(packets.CONTROLLER_INFO) == bytes.fromhex(TACTILE['controller_info'])


def test_the_emulator_acknowledges_with_these_bytes():
    board = tactile_board.TactileBoard(Firmware(clock=lambda: 0.0), clock=lambda: 0.0)
    start = bytes.fromhex(TACTILE['start_30_rle'])
    assert board.answer(3, start[6:-2]) == bytes.fromhex(TACTILE['acknowledged'])
    assert board.acquiring and board.coded


def test_an_acknowledgement_is_read_among_noise_and_broken_packets():
    good = bytes.fromhex(TACTILE['acknowledged'])
    bad = good[:-1] + bytes([good[-1] ^ 0x10])
    buffer = packets.PacketBuffer()
    found = []
    for byte in b'\x1b[5n' + bad + b'\xaa' + good + b'\xaa\xaa\xaa' + good:
        found += buffer.feed(bytes([byte]))
    assert found == 2 * [packets.Packet(3, b'\0\0')]
    assert buffer.bad >= 1


@pytest.mark.parametrize('name', ['coded_frame', 'plain_frame'])
def test_frames_are_decoded(name):
    case = TACTILE[name]
    stamp, readings = packets.read_frame(bytes.fromhex(case['payload']), len(case['readings']))
    assert stamp == case['stamp'] and readings.tolist() == case['readings']


@pytest.mark.parametrize('payload', TACTILE['wrong_frames'])
def test_frames_with_another_number_of_texels_are_refused(payload):
    with pytest.raises(MalformedError):
        packets.read_frame(bytes.fromhex(payload), len(TACTILE['coded_frame']['readings']))


def test_the_emulators_run_lengths_are_these_bytes():
    case = TACTILE['coded_frame']
    assert tactile_board.run_length(case['readings']) == bytes.fromhex(case['payload'])[5:]


@given(st.binary(max_size=300))
def test_no_packet_does_more_than_be_refused(data):
    for packet in packets.PacketBuffer().feed(b'\xaa\xaa\xaa' + data):
        try:
            packets.read_frame(packet.payload, 18)
        except MalformedError:
            pass


@given(st.lists(st.integers(0, 4095), min_size=18, max_size=18), st.data())
def test_a_bit_that_flips_is_found(texels, data):
    whole = bytearray(tactile_board.packet(0, bytes(4) + b'\1' + tactile_board.run_length(texels)))
    flipped = data.draw(st.integers(8 * 6, 8 * len(whole) - 1))
    whole[flipped // 8] ^= 1 << flipped % 8
    assert not packets.PacketBuffer().feed(bytes(whole))


# -- pads -------------------------------------------------------------------------------------

def test_matrices_have_the_texels_that_exist():
    for matrix, case in zip(layout(), VECTORS['matrices'], strict=True):
        assert (matrix.link, matrix.columns, matrix.rows, len(matrix.texels)) == tuple(
            case.values())


@pytest.mark.parametrize('case', VECTORS['texels'], ids=str)
def test_texels_are_where_the_notes_have_them(case):
    number, column, row, *middle = case
    matrix = layout()[number]
    (texel,) = np.flatnonzero(matrix.texels == row * matrix.columns + column)
    np.testing.assert_allclose(1e3 * matrix.points_link[texel], middle, rtol=0,
                               atol=1e3 * ATOL_TEXEL)


def test_curved_rows_keep_their_pitch_along_the_arc():
    matrix = layout()[1]
    rows, columns = np.divmod(matrix.texels, matrix.columns)
    middle = (columns == 2) & (rows <= 8)
    points, normals = matrix.points_link[middle], matrix.normals_link[middle]
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    chord = 2 * 58.0 * np.sin(3.4 / 58.0 / 2)
    assert ((steps > 1e-3 * (chord - 1e-6)) & (steps < 3.4e-3 + ATOL_TEXEL)).all()
    along = np.einsum('ij,ij->i', np.diff(points, axis=0), normals[1:] + normals[:-1])
    np.testing.assert_allclose(along, 0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=ATOL_ROUNDOFF)
    assert np.all(np.diff(rows[middle]) == 1)


def test_texels_lie_on_the_links_pads():
    from gripsim_ros.library.resources import load_default_hand
    hand = load_default_hand()
    for matrix in layout():
        vertices = hand.links[hand.link_index(matrix.link)].mesh.vertices
        gaps = np.linalg.norm(vertices[None] - matrix.points_link[:, None], axis=-1).min(axis=1)
        assert gaps.max() < 2e-3     # meshes have edges of 2 to 3 mm


def test_a_uniform_pressure_pushes_against_the_pad_with_its_area():
    matrices = layout()
    readings = np.full(sum(m.columns * m.rows for m in matrices), 100, np.uint16)
    touch = touch_of(matrices, 0, readings, 2.0, 10)
    assert touch.pressures.shape == (456,) and (touch.pressures == 200.0).all()
    expected = -200.0 * 84 * 0.0034 ** 2
    np.testing.assert_allclose(touch.forces_link[0], [expected, 0.0, 0.0], atol=ATOL_ROUNDOFF)
    assert expected < touch.forces_link[1, 0] < 0.0


def test_readings_below_the_threshold_are_no_contact():
    matrices = layout()
    readings = np.full(sum(m.columns * m.rows for m in matrices), 9, np.uint16)
    assert not touch_of(matrices, 0, readings, 1.0, 10).pressures.any()
