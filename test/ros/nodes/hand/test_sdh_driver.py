"""The node `sdh_driver` over topics and services, with the emulated firmware behind it."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from gripsim_interfaces.msg import TactileCounts, TactileFrame  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState, Temperature  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from gripsim_ros.hardware.driver.emulator.firmware import Identity  # noqa: E402
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand  # noqa: E402
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS  # noqa: E402
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.conversions.geometry import time_to_msg  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import ParameterError, default_values  # noqa: E402
from gripsim_ros.ros.nodes.hand.driver_parameters import (  # noqa: E402
    PARAMETERS, driver_options, tactile_options)
from gripsim_ros.ros.nodes.hand.sdh_driver import SdhDriverNode  # noqa: E402

from sdh_cases import (  # noqa: E402
    ANGLES, CLOSED, LATE, NAMES, OPEN, QUICK_LINK, TIMEOUT, angles_of, answer_of, rests, wait_for)

NODE = ['sdh_driver']
START_TIMEOUT = 120.0
SERVICES = ('init', 'stop', 'recover', 'motor_on', 'motor_off', 'emergency_stop',
            'velocity_mode', 'position_mode')
ATOL_THERE = 0.11      # [deg]
ATOL_STOPPED = 2.0     # where a stop comes into the end of a motion [deg]
#: Of stamps as floats [s].
ROUNDING = 1e-5


class Peer:
    """A node that listens to the driver and calls it."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('peer', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.heard = {}
        for kind, topic in ((JointState, 'joint_states'), (TactileFrame, 'tactile'),
                            (TactileCounts, 'sdh_driver/tactile_counts'),
                            (Temperature, 'sdh_driver/temperature'),
                            (DiagnosticArray, '/diagnostics')):
            self.heard[topic] = []
            self.node.create_subscription(kind, topic, self.heard[topic].append, 10)
        self.publisher = self.node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        self.turner = self.node.create_publisher(Float64MultiArray, 'sdh_driver/velocities', 1)
        self.services = {name: self.node.create_client(Trigger, f'sdh_driver/{name}')
                         for name in SERVICES}

    def until(self, condition, timeout=TIMEOUT):
        """Return whether a condition came true while listening."""
        def listen():
            self.executor.spin_once(timeout_sec=0.02)
            return condition()
        return wait_for(listen, timeout)

    def met(self):
        """Return whether everything of the driver is heard and reached."""
        return (all(self.heard.values()) and self.publisher.get_subscription_count() > 0
                and self.turner.get_subscription_count() > 0
                and all(client.service_is_ready() for client in self.services.values()))

    def call(self, name):
        """Return the answer of a service of the driver."""
        service = self.services[name]
        return answer_of(lambda: service.call_async(Trigger.Request()), self.until)[0]

    def send(self, *points, stamp=0.0):
        """Publish a trajectory of (seconds, positions)."""
        self.publisher.publish(trajectory(*points, stamp=stamp))

    def turn(self, velocity, condition):
        """Send velocities of the thumb [rad/s] until a condition is true; return whether it is."""
        data = [velocity if name == 'sdh_thumb_2_joint' else 0.0 for name in NAMES]

        def send():
            self.turner.publish(Float64MultiArray(data=data))
            return condition()
        return self.until(send)

    def status(self):
        """Return the driver's newest diagnostics."""
        return next((status for array in reversed(self.heard['/diagnostics'])
                     for status in array.status if status.name == 'sdh_driver'), None)

    def value(self, key):
        """Return a value of the newest diagnostics."""
        return next((pair.value for pair in self.status().values if pair.key == key), None)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


def trajectory(*points, stamp=0.0):
    """Return a trajectory of (seconds, positions)."""
    msg = JointTrajectory(joint_names=list(NAMES), points=[
        JointTrajectoryPoint(positions=[float(q) for q in positions], time_from_start=Duration(
            sec=int(when), nanosec=int(1e9 * (when % 1.0)))) for when, positions in points])
    msg.header.stamp = time_to_msg(stamp)
    return msg


@pytest.fixture(scope='module')
def running():
    """Yield an emulated hand, a peer, and the suite with the driver in it."""
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand:
        suite = Suite(os.environ, parameters={'sdh_driver': {
            'address': hand.address, 'tactile_address': hand.tactile_address,
            'late': LATE, **QUICK_LINK}})
        suite.start(NODE)
        peer = None
        try:
            suite.wait_until_ready(NODE, START_TIMEOUT)
            peer = Peer()
            assert peer.until(peer.met, START_TIMEOUT)
            yield hand, peer, suite
        finally:
            if peer is not None:
                peer.close()
            suite.stop(NODE)


def by_axes(target):
    """Return a target in the hand's joint order [rad] by the axes [deg]."""
    return np.degrees([target[list(NAMES).index(name)] for name in AXIS_JOINTS])


def there(hand, target):
    """Return whether the emulated hand rests at a target in the hand's joint order [rad]."""
    return rests(hand) and np.abs(angles_of(hand) - by_axes(target)).max() < ATOL_THERE


def targets_since(hand, count):
    """Return where the hand was sent to since so many moves [deg]."""
    return np.array([move[2] for move in hand.firmware.record.moves[count:]]).reshape(-1, 7)


def test_it_publishes_and_moves_nothing(running):
    hand, peer, _ = running
    state = peer.heard['joint_states'][-1]
    assert tuple(state.name) == NAMES and len(state.velocity) == 7
    expected = np.radians([ANGLES[AXIS_JOINTS.index(name)] for name in NAMES])
    np.testing.assert_allclose(state.position, expected, atol=np.radians(ATOL_THERE))
    frame = peer.heard['tactile'][-1]
    assert len(frame.links) == 6 and frame.offsets[-1] == len(frame.pressures) == 456
    assert len(frame.points_link) == 3 * 456 and not frame.calibrated
    raw = peer.heard['sdh_driver/tactile_counts'][-1]
    assert raw.links == frame.links and len(raw.counts) == np.dot(raw.columns, raw.rows) == 486
    assert {msg.header.frame_id for msg in (state, frame, raw)} == {'sdh_palm_link'}
    names = {msg.header.frame_id for msg in peer.heard['sdh_driver/temperature']}
    assert peer.until(lambda: 'motor_0' in names or peer.heard['sdh_driver/temperature'])
    assert peer.until(lambda: peer.status().level == DiagnosticStatus.OK)
    assert peer.status().hardware_id == f'sdh at {hand.address}'
    assert not hand.firmware.record.moves


def test_a_trajectory_is_followed_and_an_empty_one_stops(running):
    hand, peer, _ = running
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))
    peer.send((5.0, CLOSED))
    assert peer.until(lambda: not rests(hand))
    peer.send()
    assert peer.until(lambda: rests(hand)) and not there(hand, CLOSED)


def test_a_trajectory_from_before_a_stop_is_not_followed(running):
    """It may arrive later than the stop that was sent after it."""
    hand, peer, _ = running
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))
    before, moves = time.time(), len(hand.firmware.record.moves)
    assert peer.call('stop').success
    peer.send((1.0, CLOSED), stamp=before)
    assert peer.until(lambda: 'not after the last stop' in peer.value('last error'))
    # The motion before may still end, where it was sent to, or be stopped just before its end.
    assert peer.until(lambda: rests(hand))
    assert np.abs(angles_of(hand) - by_axes(OPEN)).max() < ATOL_STOPPED
    np.testing.assert_allclose(targets_since(hand, moves) - by_axes(OPEN), 0.0, atol=ATOL_THERE)
    peer.send((1.0, CLOSED), stamp=time.time())
    assert peer.until(lambda: there(hand, CLOSED))
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))


def test_what_is_refused_is_told(running):
    hand, peer, _ = running
    moves = len(hand.firmware.record.moves)
    peer.send((1.0, [9.0] * 7))
    assert peer.until(lambda: 'must stay within' in peer.value('last error'))
    np.testing.assert_allclose(targets_since(hand, moves) - by_axes(OPEN), 0.0, atol=ATOL_THERE)


def test_velocities_turn_joints_in_velocity_mode_alone_and_a_stop_ends_it(running):
    hand, peer, _ = running
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))
    assert peer.turn(0.3, lambda: 'in velocity mode alone' in peer.value('last error'))
    assert peer.until(lambda: there(hand, OPEN)) and peer.call('velocity_mode').success
    thumb = AXIS_JOINTS.index('sdh_thumb_2_joint')
    assert peer.turn(0.3, lambda: (angles_of(hand) - by_axes(OPEN))[thumb] > 5.0)
    assert peer.until(lambda: rests(hand))                  # none came any more
    peer.send((1.0, OPEN))
    assert peer.until(lambda: 'call ~/position_mode' in peer.value('last error'))
    assert peer.turn(0.3, lambda: not rests(hand)) and peer.call('stop').success
    assert peer.turn(0.3, lambda: peer.value('mode') == 'position')
    here = angles_of(hand)
    assert peer.turn(0.3, lambda: 'in velocity mode alone' in peer.value('last error'))
    np.testing.assert_allclose(angles_of(hand), here, rtol=0.0, atol=ATOL_THERE)
    assert peer.call('velocity_mode').success and peer.call('position_mode').success
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))


def test_services_stop_latch_and_recover(running):
    hand, peer, _ = running
    peer.send((8.0, CLOSED))
    assert peer.until(lambda: not rests(hand))
    assert peer.call('stop').success and wait_for(lambda: rests(hand))
    assert not there(hand, CLOSED)
    assert peer.call('emergency_stop').success
    assert not any(hand.firmware.motors.power)
    assert not peer.call('motor_on').success
    assert peer.call('init').success                    # connects, opens no latch
    peer.send((1.0, OPEN))
    assert peer.until(lambda: peer.status().level == DiagnosticStatus.ERROR)
    assert 'recover' in peer.status().message
    assert not any(hand.firmware.motors.power)
    assert peer.call('recover').success and peer.call('motor_off').success
    assert peer.call('motor_on').success and all(hand.firmware.motors.power)
    peer.send((1.0, OPEN))
    assert peer.until(lambda: there(hand, OPEN))


def test_a_lost_hand_is_told_and_found_again(running):
    hand, peer, _ = running
    hand.faults.add('disconnect')
    assert peer.until(lambda: peer.value('connected') == 'False')
    assert peer.status().level == DiagnosticStatus.ERROR
    assert not peer.call('recover').success
    hand.faults.clear()
    assert peer.until(lambda: peer.value('connected') == 'True')
    assert peer.call('stop').success


def test_it_ends_with_code_0_and_leaves_the_hand_at_rest(running):
    hand, peer, suite = running
    peer.send((8.0, CLOSED))
    assert peer.until(lambda: not rests(hand))
    process = suite.processes[NODE[0]]
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 0
    assert wait_for(lambda: rests(hand)) and not there(hand, CLOSED)
    assert not any(hand.firmware.motors.power)


# -- what is older than a stop, without processes -----------------------------------------

class Calls:
    """A session that notes what it is asked for."""

    def __init__(self):
        self.forget()

    def forget(self):
        self.followed, self.done = [], []

    def __getattr__(self, name):
        return lambda *_: self.done.append(name)

    def cancel(self, motion):
        self.done.append('stop')
        return True

    def condition(self):
        return SimpleNamespace(problem='')

    def follow(self, motion):
        self.followed.append(motion)
        return motion

    def refuse(self, motion, why):
        motion.finish(Outcome.REFUSED, why)


@contextmanager
def driver(session=None, **values):
    """Yield a driver in this process that serves, and the callbacks of its services."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    try:
        node, services = SdhDriverNode(context=context, namespace='/alone', parameter_overrides=[
            rclpy.Parameter(name, value=value) for name, value in values.items()]), {}
        node.create_service = lambda kind, name, callback, **_: services.update({name: callback})
        node.session = session or node.session
        try:
            node.serve()
            yield node, services
        finally:
            node.close()
            node.destroy_node()
    finally:
        context.try_shutdown()


@pytest.fixture(scope='module')
def alone():
    """Yield a driver without a hand, and the callbacks of its services."""
    with driver(Calls(), tactile_address='') as served:
        yield served


def test_the_tactile_sensors_are_read_without_the_joints():
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand, \
            driver(address='', tactile_address=hand.tactile_address) as (node, services):
        frames = []
        node.tactile._frames_topic = SimpleNamespace(publish=frames.append)
        assert wait_for(lambda: frames, TIMEOUT) and len(frames[-1].pressures) == 456
        assert wait_for(lambda: not node.diagnose()[0], TIMEOUT), node.diagnose()
        assert not services and 'connected' not in node.diagnose()[1]
        assert node.diagnose()[1]['tactile frames'] > 0
        node.active = True
        assert node.severity('') == DiagnosticStatus.OK
        hand.faults.add('silence')
        assert wait_for(lambda: node.severity('') == DiagnosticStatus.STALE, TIMEOUT)
        hand.faults.clear()
        assert wait_for(lambda: node.severity('') == DiagnosticStatus.OK, TIMEOUT)
    with pytest.raises(ParameterError, match='address and tactile_address are both empty'), \
            driver(address='', tactile_address=''):
        pass


@pytest.mark.parametrize('way', [
    'stop', 'emergency_stop', 'motor_off', 'motor_on', 'recover', 'empty', 'deactivate', 'cancel'])
def test_every_way_to_stop_outdates_what_was_sent_before(alone, way):
    node, services = alone
    node.active = True
    node.session.forget()
    before = node._now() - ROUNDING
    if way == 'empty':
        node._on_trajectory(trajectory())
    elif way == 'deactivate':
        node.on_deactivate(None)
        node.active = True
    elif way == 'cancel':
        node._action._stop(Motion([], [], []))
    else:
        assert services[f'~/{way}'](Trigger.Request(), Trigger.Response()).success
    assert node.session.done == ['stop' if way in ('empty', 'deactivate', 'cancel') else way]
    node._on_trajectory(trajectory((1.0, OPEN), stamp=before))
    assert not node.session.followed and 'not after the last stop' in node.last_error
    after = node._now() + ROUNDING
    for number, stamp in enumerate((0.0, after, after + 1e4), 1):       # none, now, to come
        node._on_trajectory(trajectory((1.0, OPEN), stamp=stamp))
        assert len(node.session.followed) == number


def test_old_stamps_are_refused_and_those_to_come_waited_for(alone):
    node, _ = alone
    node.active = True
    node.session.forget()
    node._stopped_at, now = 0.0, node._now()
    node._on_trajectory(trajectory((1.0, OPEN), stamp=now - 10.0))
    assert not node.session.followed and 's old, allowed are' in node.last_error
    assert node.follow(trajectory((1.0, OPEN), stamp=now - 10.0)).outdated
    begun = time.monotonic()
    node._on_trajectory(trajectory((1.0, OPEN), stamp=now + 50.0))
    # The two clocks are read one after the other, however late on a busy machine.
    begin, ended = node.session.followed[0].begin, time.monotonic()
    assert begun + 40.0 < begin <= ended + 50.0 + ROUNDING


def test_a_clock_that_is_set_back_lets_the_hand_move(alone, monkeypatch):
    node, _ = alone
    node.active = True
    node.session.forget()
    node.stop()
    earlier = node._now() - 1e4
    monkeypatch.setattr(node, '_now', lambda: earlier)
    node._on_trajectory(trajectory((1.0, OPEN), stamp=earlier))
    assert len(node.session.followed) == 1


# -- parameters, action, command line -------------------------------------------------------

def test_defaults_are_within_their_ranges_and_all_are_used():
    values = default_values('sdh_driver')
    checked = {parameter.name: parameter.checked(values[parameter.name])
               for parameter in PARAMETERS}
    options, touch = driver_options(checked), tactile_options(checked)
    assert options.link.address.startswith('tcp://192.168.1.42:23')
    assert touch.link.address != options.link.address
    assert tactile_options({**checked, 'tactile_address': ''}).link is None
    used = {*vars(options.link), *vars(options.motion), *vars(touch), 'tactile_address',
            'follow_tolerance', 'tactile_layout', 'tactile_calibrated', 'tactile_run_length',
            'tactile_frame_rate', 'tactile_silence'}
    assert set(checked) <= used


def test_parameters_that_contradict_each_other_are_refused():
    values = default_values('sdh_driver')
    with pytest.raises(ParameterError, match='cool_temperature'):
        driver_options({**values, 'cool_temperature': 90.0})


def test_the_command_line_offers_a_hand_that_is_told_what_to_do():
    process = subprocess.Popen(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'emulate-sdh', '--port', '0',
         '--tactile-port', '0', '--firmware', '0.0.3.1'], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split()[1]
        host, port = address.removeprefix('tcp://').split(':')
        with socket.create_connection((host, int(port)), TIMEOUT) as link:
            link.sendall(b'ver\r\n')
            assert link.recv(100) == b'VER=0.0.3.1\r\n'
            process.stdin.write('fault error@pos\nshow\n')
            process.stdin.flush()
            assert 'angles' in process.stderr.readline()
            link.sendall(b'pos\r\n')
            assert link.recv(100).startswith(b'E')
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize('arguments, words', [
    (['--fault', 'gremlins'], 'a fault is KIND'), (['--port', '70000'], '--port must be'),
    (['--block', '9=4'], 'no command'), (['--fault', 'silence:2'], 'probability')])
def test_the_command_line_refuses_in_one_line(arguments, words, capsys):
    from gripsim_ros.apps.cli.main import main
    free = [] if '--port' in arguments else ['--port', '0', '--tactile-port', '0']
    assert main(['emulate-sdh', *free, *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.strip().splitlines()) == 1
