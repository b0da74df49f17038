"""The driver against the emulated firmware, over real sockets and pseudo-terminals."""

import math
import socket
import threading

import numpy as np
import pytest

from gripsim_ros.hardware.driver.emulator.commands import obey, set_block
from gripsim_ros.hardware.driver.emulator.firmware import Firmware, Identity
from gripsim_ros.hardware.driver.link.calls import CallQueue
from gripsim_ros.hardware.driver.link.channel import CommandChannel
from gripsim_ros.hardware.driver.link.errors import LinkError, StateError, UnsafeError
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS
from gripsim_ros.hardware.driver.link.transport import TcpTransport
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome
from gripsim_ros.hardware.driver.options import LinkOptions

from sdh_cases import (
    ANGLES, CLOSED, HAND, NAMES, OPEN, SILENT_LINK, TIMEOUT, angles_of, connected, finished, go,
    make_session, rests, wait_for)

#: The firmware tells one decimal [rad].
ATOL_TOLD = math.radians(0.06)
#: How far an emulated axis may be from where it was sent [deg].
ATOL_THERE = 0.11
#: Integration of the emulator [deg/s].
ATOL_SPEED = 1.0
#: A hand that moves beyond doubt [deg/s]; where to, so that it does so for seconds.
FAST = 10.0
FAR = OPEN + [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
#: What must never be sent: they move by themselves, or cannot be interrupted.
FORBIDDEN = ('m', 'grip', 'selgrip', 'ref', 'pos_save', 'demo', 'tpap', 'tvav')
#: By day a line is cut in half on the pty.
HOSTS = pytest.mark.parametrize('host', [
    '127.0.0.1', pytest.param(None, marks=pytest.mark.nightly)], ids=['tcp', 'pty'])


def by_joint(by_axis):
    """Return values by axis in the hand's joint order."""
    return np.array([by_axis[AXIS_JOINTS.index(name)] for name in NAMES])


def commands(hand):
    """Return the names of all requests so far."""
    return [text.partition('=')[0].strip() for _, text in hand.firmware.record.commands]


# -- connecting -----------------------------------------------------------------------------

@HOSTS
def test_connecting_moves_nothing(host):
    """Also not later: the targets that `con` resets to zero are where the fingers are."""
    with connected(host) as (hand, session):
        assert wait_for(lambda: commands(hand).count('pos') > 5)
        assert not set(commands(hand)) & set(FORBIDDEN)
        np.testing.assert_array_equal(angles_of(hand), ANGLES)
        np.testing.assert_allclose(hand.firmware.sets['p'], ANGLES, atol=ATOL_THERE)
        assert commands(hand).index('con') < commands(hand).index('p')
        assert (hand.firmware.profile, hand.firmware.controller) == (1, 0)
        assert session.condition().problem == ''


def test_connecting_stops_what_still_moves():
    with connected() as (hand, session):
        go(session, CLOSED, 2.0)
        assert wait_for(lambda: not rests(hand))
        hand.faults.add('disconnect', count=1)
        assert wait_for(lambda: session.condition().counts['connections'] >= 2)
        assert wait_for(lambda: rests(hand))
        assert len(hand.firmware.record.moves) == 1


def test_the_hand_is_identified_and_its_limits_hold():
    identity = Identity(version='0.0.3.2', serial='17', vlim=7 * (20.0,), p_max=7 * (45.0,),
                        p_min=(0.0, *6 * (-45.0,)), angles=ANGLES)
    with connected(identity=identity) as (hand, session):
        told = session.condition().identity
        assert told.version == (0, 0, 3, 2) and told.names['sn'] == '17'
        np.testing.assert_allclose(session.checker.velocities, math.radians(20.0))
        target = CLOSED.copy()
        target[1] = math.radians(46.0)
        assert finished(go(session, target, 9.0)) is Outcome.REFUSED
        assert finished(go(session, OPEN, 0.1)) is Outcome.REACHED
        assert max(hand.firmware.motors.fastest) < 20.0 + ATOL_SPEED


def test_an_old_firmware_without_limits_is_served():
    identity = Identity(version='0.0.1.9', angles=ANGLES)
    with connected(identity=identity) as (hand, session):
        assert 'vlim' not in commands(hand) and 'alim' not in commands(hand)
        np.testing.assert_allclose(session.condition().identity.velocity_limits[0],
                                   math.radians(85.7))


@HOSTS
def test_joints_are_measured_in_their_order(host):
    samples = []
    with connected(host, wait=False) as (hand, other):
        other.close()
        session = make_session(hand.address, samples.append)
        session.start()
        try:
            assert wait_for(lambda: samples)
            np.testing.assert_allclose(samples[0].positions, np.radians(by_joint(ANGLES)),
                                       atol=ATOL_TOLD)
            go(session, CLOSED, 1.0)
            assert wait_for(lambda: np.abs(samples[-1].velocities).max() > 0.1)
        finally:
            session.close()


# -- moving -----------------------------------------------------------------------------------

@HOSTS
def test_a_trajectory_is_carried_out(host):
    with connected(host) as (hand, session):
        start = np.radians(by_joint(ANGLES))
        times = np.linspace(0.2, 1.0, 5)
        rows = start + times[:, None] * (CLOSED - start)
        motion = session.follow(Motion(NAMES, list(times), rows.tolist()))
        assert finished(motion) is Outcome.REACHED
        np.testing.assert_allclose(by_joint(angles_of(hand)), np.degrees(CLOSED), atol=ATOL_THERE)
        assert len(hand.firmware.record.moves) == 1          # it is straight
        assert (hand.firmware.motors.fastest <= np.degrees(session.checker.velocities).max()
                + ATOL_SPEED).all()


def test_the_corners_of_a_trajectory_are_passed_in_their_order():
    middle = OPEN + [0.3, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0]
    with connected() as (hand, session):
        motion = session.follow(Motion(NAMES, [0.4, 0.7, 1.0], [OPEN, middle, CLOSED]))
        assert finished(motion) is Outcome.REACHED
        targets = [np.radians(by_joint(move[2])) for move in hand.firmware.record.moves]
        np.testing.assert_allclose(targets, [OPEN, middle, CLOSED], atol=ATOL_TOLD)


def test_joints_that_are_not_named_stay():
    with connected() as (hand, session):
        assert finished(go(session, [0.1], 0.5, [NAMES[5]])) is Outcome.REACHED
        expected = np.array(ANGLES)
        expected[AXIS_JOINTS.index(NAMES[5])] = math.degrees(0.1)
        np.testing.assert_allclose(angles_of(hand), expected, atol=ATOL_THERE)


def test_a_new_trajectory_replaces_the_old_one_after_a_stop():
    with connected() as (hand, session):
        first = go(session, CLOSED, 3.0)
        assert wait_for(lambda: not rests(hand))
        second = go(session, OPEN, 0.5)
        assert finished(first) is Outcome.REPLACED
        assert finished(second) is Outcome.REACHED
        stops, moves = hand.firmware.record.stops, hand.firmware.record.moves
        assert moves[0][0] < stops[-1] < moves[1][0]
        np.testing.assert_allclose(by_joint(angles_of(hand)), np.degrees(OPEN), atol=ATOL_THERE)


@pytest.mark.parametrize('cause', ['stop', 'fault'])
def test_no_motion_begins_before_the_hand_rests(cause):
    """After a stop or a fault nothing is under way, but the hand still brakes."""
    with connected() as (hand, session):
        axes, speeds, start = hand.firmware.motors.axes, [], hand.firmware._do_m

        def note_speeds(*asked):
            speeds.append(max(abs(axis.velocity) for axis in axes))
            return start(*asked)
        hand.firmware._do_m = note_speeds
        motion = go(session, FAR, 4.0)
        assert wait_for(lambda: max(abs(axis.velocity) for axis in axes) > FAST)
        if cause == 'stop':
            session.stop()
        else:
            hand.faults.add('error', count=1, only='pos', code=5)
        assert finished(motion) in (Outcome.STOPPED, Outcome.FAILED)
        assert finished(go(session, OPEN)) is Outcome.REACHED
        assert len(speeds) == 2 and max(speeds) < FAST / 5.0


def test_a_single_wrong_reading_is_no_start():
    """The path is checked from where the hand is, not from what one answer says."""
    with connected() as (hand, session):
        tell, accept, check = hand.firmware._told, session._runner.accept, \
            session.checker.check_path
        wrong, starts = [], []

        def told(name, values, index):
            if name == 'pos' and wrong:
                values = [value + wrong.pop() for value in values[:1]] + list(values[1:])
            return tell(name, values, index)

        def accept_then_wrong(*arguments):
            wrong.append(10.0)
            accept(*arguments)

        def note_start(points):
            starts.append(points[0])
            check(points)
        hand.firmware._told = told
        session._runner.accept, session.checker.check_path = accept_then_wrong, note_start
        assert finished(go(session, OPEN)) is Outcome.REACHED
        assert not wrong and len(starts) == 1
        np.testing.assert_allclose(starts[0], np.radians(by_joint(ANGLES)), atol=ATOL_TOLD)


def test_what_is_left_is_checked_again_where_something_blocked(monkeypatch):
    """The corner was not reached, so that the rest is another path than the one checked."""
    with connected() as (hand, session):
        set_block(hand, AXIS_JOINTS.index('sdh_thumb_2_joint'), -15.0)
        starts, check = [], session.checker.check_path

        def refuse_the_rest(points):
            starts.append(points[0])
            if len(starts) == 3:                    # the whole; with the thumb held; the rest
                raise UnsafeError('links would come near')
            check(points)
        monkeypatch.setattr(session.checker, 'check_path', refuse_the_rest)
        motion = session.follow(Motion(NAMES, [0.8, 1.6], [CLOSED, OPEN]))
        assert finished(motion) is Outcome.FAILED and 'links would come near' in motion.message
        assert len(starts) == 3 and len(hand.firmware.record.moves) == 1
        np.testing.assert_allclose(starts[2], np.radians(by_joint(angles_of(hand))),
                                   atol=ATOL_TOLD)


@pytest.mark.parametrize('blocked', [False, True])
def test_a_blocked_knuckle_does_not_let_the_fingers_meet(blocked):
    """Fingers that close while the knuckle turns back are clear, without the knuckle they hit."""
    def posture(knuckle, first, second):
        return np.radians([knuckle, *3 * (first, second)])
    identity = Identity(angles=(60.0, *3 * (-20.0, 30.0)))
    with connected(identity=identity) as (hand, session):
        assert session.checker.clearance(posture(0.0, -6.0, 40.0)) > 1e-3
        assert session.checker.clearance(posture(54.0, -6.0, 40.0)) <= 0.0
        if blocked:
            set_block(hand, 0, 54.0)
        motion = go(session, posture(0.0, -6.0, 40.0), 3.0)
        assert finished(motion) is (Outcome.FAILED if blocked else Outcome.REACHED), motion.message
        assert wait_for(lambda: rests(hand))
        assert session.checker.clearance(np.radians(by_joint(angles_of(hand)))) > 0.0
        if blocked:
            assert 'as near as' in motion.message
            assert finished(go(session, posture(60.0, -20.0, 30.0), 1.0)) is Outcome.REACHED


def crossing():
    """Return a posture in which fingers cross."""
    return np.array([1.5, 1.2, 0.2, 1.2, 0.2, 0.0, 0.0])


@pytest.mark.parametrize('name, target, duration, words', [
    ('limit', [0.0, 1.7, 0, 0, 0, 0, 0], 9.0, 'must stay within'),
    ('self-collision', crossing(), 9.0, 'as near as'),
    ('not a number', [float('nan')] * 7, 1.0, 'finite')], ids=lambda value: str(value)[:14])
def test_unsafe_targets_are_refused_and_nothing_is_sent(name, target, duration, words):
    with connected() as (hand, session):
        motion = go(session, target, duration)
        assert finished(motion) is Outcome.REFUSED
        assert words in motion.message
        assert session.condition().counts['refused'] == 1
        assert not set(commands(hand)) & set(FORBIDDEN)
        assert np.abs(np.array(hand.firmware.sets['p']) - ANGLES).max() < ATOL_THERE


def test_too_fast_a_trajectory_is_refused():
    with connected() as (hand, session):
        motion = session.follow(Motion(NAMES, [1.0, 1.1], [OPEN, CLOSED]))
        assert finished(motion) is Outcome.REFUSED and 'rad/s' in motion.message
        motion = session.follow(Motion(NAMES, [5.0], [OPEN], [[9.0] * 7]))
        assert finished(motion) is Outcome.REFUSED and 'rad/s' in motion.message
        assert not hand.firmware.record.moves


def test_a_blocked_joint_is_named():
    with connected() as (hand, session):
        set_block(hand, AXIS_JOINTS.index('sdh_thumb_2_joint'), -15.0)
        motion = go(session, CLOSED, 1.0)
        assert finished(motion) is Outcome.MISSED
        assert 'sdh_thumb_2_joint' in motion.message and 'blocked' in motion.message
        wrong = np.flatnonzero(np.abs(motion.errors) > 0.02)
        assert [NAMES[j] for j in wrong] == ['sdh_thumb_2_joint']


# -- stopping -----------------------------------------------------------------------------------

@HOSTS
def test_stop_stops(host):
    with connected(host) as (hand, session):
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: not rests(hand))
        session.stop()
        assert finished(motion) is Outcome.STOPPED
        assert wait_for(lambda: rests(hand))
        assert np.abs(by_joint(angles_of(hand)) - np.degrees(CLOSED)).max() > 3.0
        assert finished(go(session, OPEN)) is Outcome.REACHED    # it is no latch


@HOSTS
def test_the_emergency_stop_holds_until_recover(host):
    with connected(host) as (hand, session):
        currents = list(hand.firmware.sets['ilim'])
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: not rests(hand))
        session.emergency_stop()
        assert finished(motion) is Outcome.STOPPED and rests(hand)
        assert not any(hand.firmware.motors.power) and not any(hand.firmware.sets['ilim'])
        here, moves = angles_of(hand), len(hand.firmware.record.moves)
        for forbidden in (session.motor_on,):
            with pytest.raises(StateError, match='recover'):
                forbidden()
        assert finished(go(session, OPEN)) is Outcome.REFUSED
        session.recover()
        assert all(hand.firmware.motors.power) and hand.firmware.sets['ilim'] == currents
        np.testing.assert_array_equal(angles_of(hand), here)
        np.testing.assert_allclose(hand.firmware.sets['p'], here, atol=ATOL_THERE)
        assert len(hand.firmware.record.moves) == moves
        assert finished(go(session, OPEN)) is Outcome.REACHED


def test_currents_that_are_asked_for_are_set_and_come_back_after_a_stop():
    with connected(move_current=0.4, hold_current=0.15) as (hand, session):
        sets = hand.firmware.sets
        assert (sets['ilim'], sets['ihold'], sets['igrip']) == (
            7 * [0.4], 7 * [0.15], Firmware(Identity(), lambda: 0.0).sets['igrip'])
        session.emergency_stop()
        assert not any(sets['ilim'])
        session.recover()
        assert sets['ilim'] == 7 * [0.4]


def test_an_emergency_stop_without_a_link_is_made_up_for():
    with connected() as (hand, session):
        hand.faults.add('disconnect')
        assert wait_for(lambda: not session.condition().connected)
        with pytest.raises(StateError, match='not connected'):
            session.emergency_stop()
        hand.faults.clear()
        assert session.wait_connected(TIMEOUT)
        assert wait_for(lambda: not any(hand.firmware.sets['ilim']))
        assert finished(go(session, OPEN)) is Outcome.REFUSED
        session.recover()
        assert all(current > 0.0 for current in hand.firmware.sets['ilim'])


def test_a_hand_whose_currents_are_cut_is_taken_as_stopped():
    """A driver that starts anew after an emergency stop does not forget it."""
    with connected(wait=False) as (hand, session):
        session.close()
        hand.firmware.sets['ilim'] = 7 * [0.0]
        session = make_session(hand.address)
        session.start()
        try:
            assert session.wait_connected(TIMEOUT)
            assert finished(go(session, OPEN)) is Outcome.REFUSED
            session.recover()
            assert set(hand.firmware.sets['ilim']) == {0.5}
            assert finished(go(session, OPEN)) is Outcome.REACHED
        finally:
            session.close()


def test_a_hand_whose_currents_are_cut_comes_back_with_those_that_are_asked_for():
    with connected(wait=False) as (hand, session):
        session.close()
        hand.firmware.sets['ilim'] = 7 * [0.0]
        session = make_session(hand.address, move_current=0.3, hold_current=0.1)
        session.start()
        try:
            assert session.wait_connected(TIMEOUT)
            assert not any(hand.firmware.sets['ilim']) and hand.firmware.sets['ihold'] == 7 * [0.1]
            session.recover()
            assert hand.firmware.sets['ilim'] == 7 * [0.3]
        finally:
            session.close()


def test_a_stop_right_before_the_hand_is_connected_leaves_it_free():
    """It is refused, and was never waited for."""
    with connected(wait=False) as (hand, other):
        other.close()
        session, refused = make_session(hand.address), []
        open_queue = session._calls.open

        def stop_and_open():
            with pytest.raises(StateError, match='not connected'):
                session.stop()
            refused.append(True)
            open_queue()
        session._calls.open = stop_and_open
        session.start()
        try:
            assert session.wait_connected(TIMEOUT) and refused
            assert finished(go(session, OPEN)) is Outcome.REACHED
        finally:
            session.close()


def test_a_stop_during_which_the_hand_is_connected_anew_leaves_it_free():
    """It is asked of one connection and served by the next."""
    with connected() as (hand, session):
        put = session._calls.put

        def connect_anew_and_put(*call):
            session._calls.put = put
            hand.faults.add('disconnect', count=1)
            assert wait_for(lambda: session.condition().counts['connections'] == 2)
            return put(*call)
        session._calls.put = connect_anew_and_put
        session.stop()
        assert session.condition().counts['connections'] == 2
        assert finished(go(session, OPEN)) is Outcome.REACHED


def test_stops_that_wait_are_counted_by_the_queue_alone():
    calls = CallQueue()
    with pytest.raises(StateError):
        calls.put(print, True)
    assert calls.stops == 0
    calls.open()
    calls.put(print)
    calls.put(print, True)
    assert calls.stops == 1
    calls.open()                            # what waits is of a connection that is gone
    assert calls.stops == 0
    assert [calls.take(0.0).stops, calls.take(0.0).stops] == [False, True]
    assert calls.stops == 0 and calls.take(0.0) is None


def test_motors_that_were_switched_off_stay_off():
    with connected() as (hand, session):
        session.motor_off()
        assert not any(hand.firmware.motors.power)
        assert finished(go(session, OPEN)) is Outcome.REFUSED
        session.motor_on()
        assert all(hand.firmware.motors.power) and not hand.firmware.record.moves
        assert finished(go(session, OPEN)) is Outcome.REACHED


# -- faults -------------------------------------------------------------------------------------

FAULTS = ('garbage', 'noise', 'silence', 'half_line', 'wrong_numbers', 'error', 'disconnect')


@pytest.mark.parametrize('host, kind', [
    *(('127.0.0.1', kind) for kind in FAULTS if kind != 'half_line'), (None, 'half_line'), *(
        pytest.param(*case, marks=pytest.mark.nightly)
        for case in ((None, 'silence'), ('127.0.0.1', 'half_line')))])
def test_a_fault_while_moving_stops_the_hand_and_is_told(host, kind):
    with connected(host) as (hand, session):
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: not rests(hand) and np.isfinite(motion.started))
        hand.faults.add(kind, count=1, only='pos', code=5)
        assert finished(motion) is Outcome.FAILED
        assert wait_for(lambda: rests(hand))
        assert np.abs(by_joint(angles_of(hand)) - np.degrees(CLOSED)).max() > 1.0
        assert session.wait_connected(TIMEOUT)
        condition = session.condition()
        assert condition.counts['faults'] >= 1 and condition.last_fault
        assert wait_for(lambda: commands(hand).count('pos') > 5)
        assert len(hand.firmware.record.moves) == 1              # it is not taken up again
        assert finished(go(session, OPEN)) is Outcome.REACHED


@pytest.mark.parametrize('kind', [k for k in FAULTS if k not in ('error', 'disconnect')])
def test_a_fault_at_rest_is_asked_again(kind):
    with connected(link=SILENT_LINK) as (hand, session):
        before = session.condition().counts
        hand.faults.add(kind, count=1, only='pos')
        assert wait_for(lambda: session.condition().counts['repeats'] > before['repeats'])
        assert wait_for(lambda: hand.faults.struck.get(kind) == 1)
        assert session.condition().connected
        assert session.condition().counts['connections'] == 1


def test_a_hand_that_falls_silent_is_lost_and_found():
    with connected(link=SILENT_LINK) as (hand, session):
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: np.isfinite(motion.started))
        hand.faults.add('silence')
        assert finished(motion) is Outcome.FAILED
        assert wait_for(lambda: not session.condition().connected)
        assert 'does not answer' in session.condition().problem
        assert wait_for(lambda: rests(hand))                     # the stop was heard
        hand.faults.clear()
        assert session.wait_connected(TIMEOUT)
        assert len(hand.firmware.record.moves) == 1


def test_what_was_asked_while_the_hand_was_away_is_never_done():
    with connected() as (hand, session):
        hand.faults.add('disconnect')
        assert wait_for(lambda: not session.condition().connected)
        motion = go(session, CLOSED)
        assert finished(motion) is Outcome.REFUSED and 'not connected' in motion.message
        hand.faults.clear()
        assert session.wait_connected(TIMEOUT)
        assert finished(go(session, OPEN)) is Outcome.REACHED
        assert len(hand.firmware.record.moves) == 1


@pytest.mark.parametrize('step', ['a', 'v', 'p'])
def test_a_target_that_was_not_taken_starts_no_motion(step):
    with connected() as (hand, session):
        hand.faults.add('error', count=1, only=step, code=24)
        motion = go(session, CLOSED)
        assert finished(motion) is Outcome.FAILED and 'RANGE_ERROR' in motion.message
        assert not hand.firmware.record.moves


def test_a_target_that_is_echoed_wrongly_starts_no_motion():
    with connected() as (hand, session):
        original = hand.firmware._set

        def drop_a_digit(name, values, index):
            original(name, [values[0] + 1.0, *values[1:]] if name == 'p' else values, index)
        hand.firmware._set = drop_a_digit
        motion = go(session, CLOSED)
        assert finished(motion) is Outcome.FAILED and 'was taken as' in motion.message
        assert not hand.firmware.record.moves


def test_a_hot_hand_stops_until_it_is_cool(monkeypatch):
    monkeypatch.setattr('gripsim_ros.hardware.driver.session.TEMPERATURE_PERIOD', 0.05)
    with connected() as (hand, session):
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: np.isfinite(motion.started))
        obey(hand, 'temperature 85')
        assert finished(motion) is Outcome.FAILED and '85' in motion.message
        assert finished(go(session, OPEN)) is Outcome.REFUSED
        obey(hand, 'temperature 70')
        assert finished(go(session, OPEN)) is Outcome.REFUSED
        obey(hand, 'temperature 50')
        assert wait_for(lambda: not session.condition().overheated)
        assert finished(go(session, OPEN)) is Outcome.REACHED


def test_an_answer_of_over_temperature_stops_all_motion(monkeypatch):
    monkeypatch.setattr('gripsim_ros.hardware.driver.session.TEMPERATURE_PERIOD', 60.0)
    with connected() as (hand, session):
        obey(hand, 'temperature 70')        # neither so hot nor so cool that reading it decides
        hand.firmware.hot = 60.0
        motion = go(session, CLOSED)
        assert finished(motion) is Outcome.FAILED and 'OVER_TEMPERATURE' in motion.message
        assert wait_for(lambda: session.condition().overheated)
        assert finished(go(session, OPEN)) is Outcome.REFUSED


def test_faults_in_a_row_open_the_link_anew():
    with connected() as (hand, session):
        hand.faults.add('error', only='vel', code=5)
        assert wait_for(lambda: session.condition().counts['connections'] > 1
                        or not session.condition().connected)
        hand.faults.clear()
        assert session.wait_connected(TIMEOUT)


def test_the_pause_before_connecting_again_doubles_up_to_the_longest():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
    session, pauses = make_session(f'tcp://127.0.0.1:{port}'), []

    class Wait(threading.Event):
        """Notes the pauses instead of waiting, until there are six."""

        def wait(self, timeout=None):
            pauses.append(timeout)
            if len(pauses) == 6:
                session._closing.set()
            return True
    session._retry_now = Wait()
    session.start()
    assert wait_for(lambda: len(pauses) >= 6)
    session.close()
    np.testing.assert_allclose(pauses[:6], [0.05, 0.1, 0.2, 0.2, 0.2, 0.2])
    assert 'cannot connect' in session.condition().problem


def test_nothing_is_left_behind():
    import os
    with connected():
        pass
    before = threading.active_count(), len(os.listdir('/proc/self/fd'))
    for host in ('127.0.0.1', None):
        with connected(host) as (_, session):
            go(session, CLOSED, 5.0)
    left = threading.active_count(), len(os.listdir('/proc/self/fd'))
    assert all(np.array(left) <= before)            # what others left may go meanwhile


def test_what_was_sent_last_arrives_though_something_lies_unread():
    """A socket that is closed with something unread is reset: an error, not an end."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        link = TcpTransport(*server.getsockname(), TIMEOUT)
        other, _ = server.accept()
        with other:
            other.sendall(b'nobody reads this')
            link.write(b'stop\r\n')
            link.close()
            heard = [other.recv(100), other.recv(100)]
    assert heard == [b'stop\r\n', b'']


def test_closing_the_driver_stops_the_hand():
    with connected() as (hand, session):
        motion = go(session, CLOSED, 4.0)
        assert wait_for(lambda: np.isfinite(motion.started))
        session.close()
        assert finished(motion) is Outcome.FAILED
        assert wait_for(lambda: rests(hand))
        assert np.abs(by_joint(angles_of(hand)) - np.degrees(CLOSED)).max() > 1.0


# -- staying in step ------------------------------------------------------------------------------

class Script:
    """A link whose answers are written down: what comes after each request, and when."""

    def __init__(self, answers):
        self._answers, self._waiting = answers, []

    def write(self, data):
        for line in data.decode().split('\r\n'):
            for answer in self._answers.pop(0) if line else ():
                self._waiting.append(answer)

    def read(self, timeout):
        return self._waiting.pop(0) if self._waiting else b''


def test_a_late_answer_is_not_taken_for_the_next_one():
    """The first answer comes after the time-out, when the same is asked again."""
    script = Script([[], [b'POS=1.0\r\n', b'NUMAXIS=7\r\n'], [b'POS=2.0\r\n']])
    channel = CommandChannel(script, LinkOptions('tcp://x:1', reply_timeout=0.01))
    assert channel.request('pos') == '2.0'
    assert (channel.silences, channel.repeats) == (1, 1)


def test_a_second_late_answer_finds_another_question_to_get_in_step():
    script = Script([[], [], [b'POS=1.0\r\n', b'NUMAXIS=7\r\n', b'SN=1\r\n'], [b'POS=2.0\r\n']])
    channel = CommandChannel(script, LinkOptions('tcp://x:1', reply_timeout=0.01))
    assert channel.request('pos') == '2.0'


def test_echoes_and_debug_text_are_skipped():
    script = Script([[b'pos\r\n', b'@max distance=45.06\r\n', b'\r\n', b'POS=', b'1.0\r\n']])
    channel = CommandChannel(script, LinkOptions('tcp://x:1', reply_timeout=0.01))
    assert channel.request('pos', tries=1) == '1.0'


def test_a_hand_that_never_answers_is_a_lost_link():
    channel = CommandChannel(Script([[]] * 20), LinkOptions('tcp://x:1', reply_timeout=0.01))
    with pytest.raises(LinkError, match='does not answer'):
        channel.request('pos')


def test_joint_order_of_the_hand_is_the_contracts():
    assert list(HAND.joint_names) == [
        'sdh_knuckle_joint', 'sdh_finger_12_joint', 'sdh_finger_13_joint', 'sdh_finger_22_joint',
        'sdh_finger_23_joint', 'sdh_thumb_2_joint', 'sdh_thumb_3_joint']


# -- leaving, other hosts, cancels ---------------------------------------------------------------

@HOSTS
def test_leaving_switches_the_axes_off(host):
    with connected(host, follow=True) as (hand, session):
        go(session, CLOSED, 8.0)
        assert wait_for(lambda: not rests(hand))
        session.close()
        assert rests(hand) and not any(hand.firmware.motors.power)
        assert commands(hand)[-1] == 'power'


def test_leaving_after_a_lost_link_reaches_the_hand_once_more():
    link = {**SILENT_LINK, 'retry_first': TIMEOUT, 'retry_longest': TIMEOUT}
    with connected(link=link) as (hand, session):
        session.motor_on()
        hand.faults.add('disconnect', count=1)
        assert wait_for(lambda: not session.condition().connected)
        assert all(hand.firmware.motors.power)
        session.close()
        assert not any(hand.firmware.motors.power)


@pytest.mark.parametrize('moving', [False, True])
def test_another_hosts_controller_is_noticed_and_set_back(moving):
    with connected(follow=True) as (hand, session):
        motion = go(session, CLOSED, 20.0)
        if not moving:
            session.stop()
        assert not moving or wait_for(lambda: hand.firmware.controller == 2)
        hand.firmware.answer('con=1')
        assert wait_for(lambda: hand.firmware.controller == 0)
        assert wait_for(lambda: 'another host' in session.condition().last_fault)
        assert not moving or finished(motion) is Outcome.FAILED
        assert wait_for(lambda: rests(hand))
        assert wait_for(lambda: np.allclose(hand.firmware.sets['p'], angles_of(hand), rtol=0.0,
                                            atol=ATOL_THERE))


def test_a_cancel_of_an_old_motion_does_not_end_the_new_one():
    with connected(follow=True) as (hand, session):
        old = go(session, FAR, 20.0)
        new = go(session, CLOSED, 1.0)
        assert finished(old) is Outcome.REPLACED
        assert not session.cancel(old)
        assert finished(new) is Outcome.REACHED
        last = go(session, FAR, 20.0)
        assert wait_for(lambda: not math.isnan(last.started))
        assert session.cancel(last) and last.outcome is Outcome.STOPPED


def test_states_of_the_axes_are_told():
    with connected() as (hand, session):
        assert wait_for(lambda: 'sdh_thumb_2_joint without power' in session.condition().axes)
        session.motor_on()
        assert wait_for(lambda: session.condition().axes == '')


@pytest.mark.parametrize('kind', ['silence', 'half_line', 'error', 'disconnect'])
def test_a_fault_while_following_leaves_nothing_turning(kind):
    with connected(follow=True, link=SILENT_LINK) as (hand, session):
        motion = go(session, FAR, 20.0)
        assert wait_for(lambda: not rests(hand))
        hand.faults.add(kind, count=1, only='tvav' if kind != 'disconnect' else '')
        assert finished(motion) is Outcome.FAILED
        assert wait_for(lambda: rests(hand) and hand.firmware.controller == 0)
        here = angles_of(hand)
        assert wait_for(lambda: session.condition().connected)
        np.testing.assert_array_equal(angles_of(hand), here)
