"""The emulated firmware by a clock of the test: controllers, states, grips, settings."""

import struct

import numpy as np
import pytest

from gripsim_ros.hardware.driver.emulator import tactile_board
from gripsim_ros.hardware.driver.emulator.firmware import Firmware
from gripsim_ros.hardware.driver.emulator.grips import posture
from gripsim_ros.hardware.driver.emulator.requests import BinaryRequest

#: Two steps of its integration at the fastest that is asked for here [deg].
ATOL = 0.1
#: What hosts' programs send, by the notes of the protocol; none is unknown to the hand.
EVERY_COMMAND = (
    'p', 'v', 'a', 'tpap', 'tvav', 'pos', 'vel', 'vlim', 'alim', 'p_min', 'p_max', 'p_offset',
    'state', 'power', 'ilim', 'igrip', 'ihold', 'kv(0)', 'pid(0)', 'get_duration', 'stop', 'vp',
    'con', 'temp', 'id', 'sn', 'ver', 'ver_date', 'soc', 'soc_date', 'numaxis', 'm',
    'selgrip=1', 'grip=0.1,40', 'pos_save=1,0,0,0,0,0,0', 'ref(0)=1', 'kv(0)=2', 'pid(0)=1,2,3',
    'user_errors=0', 'terminal=0', 'debug=0', 'demo=0', 'p_min(1)=-80',
    'p_max=' + '80,' * 6 + '80')


class Hand(Firmware):
    """A firmware in time that a test lets pass."""

    def __init__(self):
        self.time = 0.0
        super().__init__(clock=lambda: self.time)

    def after(self, seconds):
        """Let time pass in steps; return the angles."""
        for _ in range(round(seconds / 0.01)):
            self.time += 0.01
            self.advance()
        return np.array([axis.angle for axis in self.motors.axes])

    def driven(self, controller, v='20,20,0,0,0,0,-30'):
        """Switch on in a velocity controller, and drive."""
        for line in (f'con={controller}', 'power=' + '1,' * 6 + '1', f'v={v}'):
            assert not self.answer(line).startswith('E'), line
        return self


@pytest.mark.parametrize('command', EVERY_COMMAND)
def test_no_command_of_hosts_is_unknown(command):
    answer = Hand().answer(command)
    assert answer.startswith(command.partition('=')[0].partition('(')[0].upper()), answer


def test_velocities_act_at_once_and_have_a_sign():
    hand = Hand().driven(1)
    np.testing.assert_allclose(hand.after(0.5)[[0, 1, 6]], [10.0, 10.0, -15.0], atol=ATOL)
    assert hand.answer('state') == 'STATE=2,2,0,0,0,0,2'
    assert hand.answer('m') == 'E23'
    hand.answer('v=' + '0,' * 6 + '0')
    still = hand.after(0.1)
    np.testing.assert_array_equal(hand.after(0.5), still)
    assert hand.answer('state') == 'STATE=' + '0,' * 6 + '0'


def test_the_ramp_takes_its_time():
    hand = Hand().driven(2, '20,0,0,0,0,0,0')             # 100 deg/s^2: 0.2 s until it is there
    np.testing.assert_allclose(hand.after(0.1)[0], 0.5, atol=ATOL)
    assert hand.motors.axes[0].reference == pytest.approx(10.0, abs=0.3)
    np.testing.assert_allclose(hand.after(0.3)[0], 6.0, atol=ATOL)
    assert hand.answer('rvel(0)') == hand.answer('vel(0)').replace('VEL', 'RVEL') \
        == 'RVEL(0)=20.0'


def test_a_negative_velocity_is_one_of_velocity_control_alone():
    hand = Hand()
    assert hand.answer('v(1)=-10') == 'E24'
    assert hand.answer('rvel') == 'E4'
    hand.driven(2)
    assert hand.answer('v(1)=-10') == 'V(1)=-10.0'
    assert hand.answer('v(1)=-141') == 'E24'


def test_an_axis_stops_at_its_limits_and_without_power():
    hand = Hand().driven(1, '0,100,0,0,0,0,0')
    np.testing.assert_allclose(hand.after(2.0)[1], 90.0, atol=ATOL)
    assert hand.answer('state(1)') == 'STATE(1)=7' and hand.answer('vel(1)') == 'VEL(1)=0.0'
    hand.answer('v(1)=-10')
    assert hand.after(0.5)[1] < 86.0 and hand.answer('state(1)') == 'STATE(1)=2'
    here = hand.after(0.0)[1]
    hand.answer('power(1)=0')
    assert hand.after(0.5)[1] == here and hand.answer('state(1)') == 'STATE(1)=6'


def test_what_is_in_the_way_blocks_is_pressed_and_let_go():
    hand = Hand()
    hand.motors.axes[1].block_high = 5.0
    hand.driven(1, '0,20,0,0,0,0,0')
    assert hand.after(0.5)[1] == 5.0 and hand.answer('state(1)') == 'STATE(1)=5'
    board = tactile_board.TactileBoard(hand, lambda: 0.0)
    pressed = sum(board.texels())
    assert pressed > 0 and hand.after(0.1)[1] == 5.0 and sum(board.texels()) > pressed
    hand.motors.axes[1].block_high = np.inf                # the thing breaks: the axis comes after
    assert 5.0 < hand.after(0.1)[1] < 10.0 and sum(board.texels()) == 0
    assert hand.motors.fastest[1] < 31.0
    hand.answer('v(1)=-100')
    assert hand.after(0.5)[1] < 0.0 and sum(board.texels()) == 0


def test_a_target_is_set_and_the_measured_angle_told():
    hand = Hand().driven(1, '20,0,0,0,0,0,0')
    hand.after(0.5)
    assert hand.answer('tpap(0)=40') == 'TPAP(0)=10.0' and hand.sets['p'][0] == 40.0
    assert hand.answer('tvav(0)=5') == 'TVAV(0)=20.0'
    answer = hand.answer_binary(BinaryRequest(140, 7 * (1.0,)))
    np.testing.assert_allclose(struct.unpack('<7f', answer[4:]), [20.0, *6 * [0.0]], atol=ATOL)
    assert hand.sets['v'] == 7 * [1.0]


def test_a_controller_begins_anew():
    hand = Hand().driven(1, '20,0,0,0,0,0,0')
    hand.after(0.5)
    assert hand.answer('con=0') == 'CON=0' and hand.answer('vel(0)') == 'VEL(0)=0.0'
    assert hand.sets['p'] == 7 * [0.0] and hand.sets['v'] == 7 * [40.0]


def test_profiles_do_not_change_on_the_way():
    hand = Hand()
    hand.answer('p(1)=40')
    hand.answer('m')
    hand.after(0.5)
    assert hand.answer('vp=1') == 'E3' and hand.answer('vp=0') == 'VP=0'
    hand.after(3.0)
    assert hand.answer('vp=1') == 'VP=1'


@pytest.mark.parametrize('grip', range(4))
def test_a_grip_is_answered_when_it_has_ended(grip):
    hand = Hand()
    assert hand.answer(f'selgrip={grip}').startswith('SELGRIP=')
    assert hand.deaf() > 0.0
    np.testing.assert_allclose(hand.after(hand.deaf() + 0.02), posture(grip, 0.0), atol=ATOL)
    hand.answer('grip=0.5,40')
    np.testing.assert_allclose(hand.after(hand.deaf() + 0.02), posture(grip, 0.5), atol=ATOL)
    assert hand.deaf() <= 0.0 and hand.sets['ilim'] == hand.sets['igrip']


def test_an_axis_is_referred_to_its_block():
    hand = Hand()
    assert hand.answer('ref(1)=2') == 'REF(1)=2.0'
    assert 3.0 < hand.deaf() < 4.0                          # 90 degrees at 25 deg/s
    np.testing.assert_allclose(hand.after(hand.deaf() + 0.02), [0, -90, 0, 0, 0, 0, 0], atol=ATOL)


def test_axes_keep_their_power_when_the_link_closes():
    hand = Hand().driven(1)
    hand.disconnected()
    assert all(hand.motors.power) and hand.after(0.5)[0] > 5.0      # and turn on: nobody watches


def test_sensitivities_and_thresholds_are_kept():
    hand = Hand()
    board = tactile_board.TactileBoard(hand, lambda: 0.0)
    board.touches[1] = 1000.0
    full = max(board.texels())
    flags_all, persistent = 0x02, 0x80
    assert board.answer(0x0F, struct.pack('<BBf', flags_all, 0, 0.25)) is not None
    assert max(board.texels()) == pytest.approx(full / 2, abs=1)
    assert board.answer(0x12, b'\1')[6:-2] == struct.pack('<HBff', 0, 2, 0.25, 0.5)
    assert board.answer(0x13, struct.pack('<BBH', persistent, 1, 300)) is None
    assert board.answer(0x14, b'\1')[6:-2] == struct.pack('<HH', 0, 300)
    assert min(texel for texel in board.texels() if texel) >= 300
    assert board.answer(0x13, struct.pack('<BBH', 0, 6, 300))[6:-2] == struct.pack('<H', 23)
    assert board.answer(0x13, struct.pack('<BBH', 0, 1, 5000))[6:-2] == struct.pack('<H', 27)
