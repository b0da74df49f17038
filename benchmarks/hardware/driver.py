"""
Latencies and rates of the hand's driver: ``python -m benchmarks driver [--node]``.

For each link, against the emulated firmware: from asking for a motion to the first velocities at
the hand, and to the first measured motion; from asking for a stop on the way, or an emergency
stop, to its arriving; rate of measured joints. With ``--node`` the same from topic to hand,
through the node. Then how far joints are off a swing of 2 s at 40 points, in time, by the
emulator's own angles; also where the firmware answers slowly.
"""

import argparse
from contextlib import contextmanager
import importlib.util
import os
import sys
import threading
import time

import numpy as np

from gripsim_ros.core.contact import LinkShapes
from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS
from gripsim_ros.hardware.driver.motion.motions import Motion
from gripsim_ros.hardware.driver.options import DriverOptions, LinkOptions, MotionOptions
from gripsim_ros.hardware.driver.session import HandSession
from gripsim_ros.library.resources import load_default_hand

ANGLES = (10.0, -20.0, 15.0, -22.0, 16.0, -24.0, 17.0)
#: Two postures, back and forth [rad], and the seconds that it takes.
OPEN = np.array([0.2, -0.4, 0.3, -0.4, 0.3, -0.4, 0.3])
CLOSED = np.array([0.3, -0.1, 0.4, -0.1, 0.4, -0.1, 0.4])
DURATION = 1.0
#: A joint that is told to move this fast moves [rad/s].
MOVING = 0.02
LINKS = (('TCP', {'host': '127.0.0.1'}), ('pseudo-terminal', {'host': None}),
         ('serial line, 115200 baud', {'host': None, 'baudrate': 115200}),
         *([('CAN, virtual bus', {'can': 'can://bench?interface=virtual'})]
           if importlib.util.find_spec('can') else []))
#: Requests a second that a slow firmware answers.
SLOW = (30.0, 20.0)
#: The swing: where it begins and how far [rad], how long [s] and by how many points; 1.34 rad/s at
#: most.
BEGIN = np.array([0.0, -1.1, 0.3, -1.1, 0.3, -1.1, 0.3])
SWING, LASTS, POINTS = np.array([0.0, 0.85, 0.3, 0.85, 0.3, 0.85, 0.3]), 2.0, 40


def wait(condition, timeout=20.0):
    """Wait until a condition is true."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError('the emulated hand does not do what it should')
        time.sleep(0.0005)


def sent(record, since):
    """Return when the first motion reached the hand after so many commands; None: not yet."""
    for when, text in record.commands[since:]:
        name, _, values = text.partition('=')
        if name == 'm' or name == 'tvav' and any(float(value) for value in values.split(',')):
            return when
    return None


def measure(count, link, rate, shapes):
    """Return latencies by name [s], and the rate of samples [Hz]."""
    samples, found = [], {'at the hand': [], 'motion': [], 'stop': [], 'emergency stop': []}
    with EmulatedHand(identity=Identity(angles=ANGLES), **link) as hand:
        session = HandSession(load_default_hand(), DriverOptions(
            LinkOptions(hand.address), MotionOptions(rate=rate)), samples.append, shapes)
        session.start()
        try:
            assert session.wait_connected(20.0)
            run_once(hand, session, samples, OPEN, None)
            samples_before, begun = len(samples), time.monotonic()
            time.sleep(2.0)
            achieved = (len(samples) - samples_before) / (time.monotonic() - begun)
            for number in range(count):
                run_once(hand, session, samples, (CLOSED, OPEN)[number % 2], found)
        finally:
            session.close()
    return found, achieved


def run_once(hand, session, samples, target, found):
    """Move, stop, stop for good; note how long each took."""
    record = hand.firmware.record
    wait(lambda: samples and np.abs(samples[-1].velocities).max() < MOVING)
    before = len(record.commands)
    motion = session.follow(Motion(session._model.joint_names, [DURATION], [target]))
    wait(lambda: sent(record, before))
    wait(lambda: np.abs(samples[-1].velocities).max() > MOVING)
    moved = samples[-1].time
    time.sleep(0.2)
    assert not motion.done.is_set()             # it is stopped on its way
    stops, asked = len(record.stops), time.monotonic()
    session.stop()
    wait(lambda: len(record.stops) > stops)
    if found is None:
        return
    found['at the hand'].append(sent(record, before) - motion.requested)
    found['motion'].append(moved - motion.requested)
    found['stop'].append(record.stops[stops] - asked)
    commands, asked = len(record.commands), time.monotonic()
    session.emergency_stop()
    cut = next(when for when, text in record.commands[commands:] if text.startswith('power='))
    found['emergency stop'].append(cut - asked)
    session.recover()


def swing(times):
    """Return where the joints of the swing are at times (n,) [s] after its beginning, (n, J)."""
    share = 0.5 * (1.0 - np.cos(2.0 * np.pi * np.clip(times, 0.0, LASTS) / LASTS))
    return BEGIN + np.asarray(share)[:, None] * SWING


def answer_slowly(hand, rate):
    """Let the firmware take its time for each request, half of it before it does what is asked."""
    answer = hand.firmware.answer

    def later(line):
        time.sleep(0.5 / rate)
        told = answer(line)
        time.sleep(0.5 / rate)
        return told
    hand.firmware.answer = later


@contextmanager
def watched(hand, order):
    """Note the emulator's own angles of axes in an order: (time, [deg]), some hundred a second."""
    seen, over = [], threading.Event()

    def watch():
        while not over.wait(0.004):
            with hand.firmware.lock:
                hand.firmware.advance()
                seen.append((time.monotonic(),
                             [hand.firmware.motors.axes[axis].angle for axis in order]))
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def measure_in_time(count, link, shapes, slow=None):
    """Return how far joints were off the swing [rad], when it was held [s], requests [1/s]."""
    model = load_default_hand()
    names, times = list(model.joint_names), LASTS * np.arange(1, POINTS + 1) / POINTS
    order = [AXIS_JOINTS.index(name) for name in names]
    angles = np.degrees(BEGIN)[[names.index(name) for name in AXIS_JOINTS]]
    with EmulatedHand(identity=Identity(angles=tuple(angles)), **link) as hand:
        if slow:
            answer_slowly(hand, slow)
        session = HandSession(model, DriverOptions(
            LinkOptions(hand.address, reply_timeout=2.0), MotionOptions()), None, shapes)
        session.checker.warm_up()
        session.start()
        try:
            assert session.wait_connected(20.0)
            off, held, rates = [], [], []
            for _ in range(count):
                with watched(hand, order) as seen:
                    motion = session.follow(Motion(names, times.tolist(), swing(times).tolist()))
                    assert motion.done.wait(20.0), 'the swing does not end'
                held.append(time.monotonic() - motion.started)
                asked = [when for when, _ in hand.firmware.record.commands
                         if 0.0 <= when - motion.started < LASTS]
                rates.append(len(asked) / LASTS)
                after = np.array([when for when, _ in seen]) - motion.started
                there = np.radians([angles for _, angles in seen])
                off.append(float(np.abs(there - swing(after))[after >= 0.0].max()))
        finally:
            session.close()
    return off, held, rates


def measure_node(count):
    """Return latencies from a topic to the hand [s], and the rate of joint_states [Hz]."""
    from gripsim_ros.ros.environment import enter_isolation
    enter_isolation('benchmark')
    import rclpy
    from builtin_interfaces.msg import Duration
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from gripsim_ros.ros.clients.suite import Suite
    found = {'at the hand': [], 'empty trajectory': []}
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand:
        suite = Suite(os.environ, parameters={'sdh_driver': {
            'address': hand.address, 'tactile_address': hand.tactile_address}})
        suite.start(['sdh_driver'])
        try:
            suite.wait_until_ready(['sdh_driver'])
            rclpy.init()
            node, heard = rclpy.create_node('measure'), []
            executor = SingleThreadedExecutor()
            executor.add_node(node)
            node.create_subscription(JointState, 'joint_states', heard.append, 50)
            publisher = node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
            names = list(load_default_hand().joint_names)
            wait(lambda: executor.spin_once(0.01) or (len(heard) > 20
                                                      and publisher.get_subscription_count()))
            settled = time.monotonic() + 0.5        # what waited in queues is not counted
            while time.monotonic() < settled:
                executor.spin_once(0.01)
            before, begun = len(heard), time.monotonic()
            while time.monotonic() < begun + 2.0:
                executor.spin_once(0.01)
            rate = (len(heard) - before) / (time.monotonic() - begun)
            record = hand.firmware.record
            for number in range(count):
                before, stops, asked = len(record.commands), len(record.stops), time.monotonic()
                publisher.publish(JointTrajectory(joint_names=names, points=[JointTrajectoryPoint(
                    positions=(CLOSED, OPEN)[number % 2].tolist(),
                    time_from_start=Duration(sec=int(DURATION)))]))
                wait(lambda: sent(record, before))
                found['at the hand'].append(sent(record, before) - asked)
                time.sleep(0.3)
                asked = time.monotonic()
                publisher.publish(JointTrajectory())
                wait(lambda: len(record.stops) > stops)
                found['empty trajectory'].append(record.stops[stops] - asked)
                time.sleep(0.5)
            executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown()
        finally:
            suite.stop(['sdh_driver'])
    return found, rate


def show(name, found, rate):
    """Print one line a latency."""
    print(f'{name}: {rate:.0f} samples a second; load {os.getloadavg()[0]:.1f}')
    for what, values in found.items():
        print(f'  {what}: median {1e3 * np.median(values):.1f} ms, '
              f'most {1e3 * np.max(values):.1f} ms')


def main():
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='benchmarks driver', description=__doc__)
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--rate', type=float, default=50.0, help='of measured joints [Hz]')
    parser.add_argument('--node', action='store_true', help='through the node as well')
    parser.add_argument('--swings', type=int, default=3, help='of each link, followed in time')
    options = parser.parse_args()
    shapes = LinkShapes.of_hand(load_default_hand())
    for name, link in LINKS:
        show(name, *measure(options.count, link, options.rate, shapes))
    show('TCP, as fast as it goes', *measure(options.count, LINKS[0][1], 500.0, shapes))
    if options.node:
        show('node', *measure_node(options.count))
    in_time = [(name, link, None) for name, link in LINKS] + [
        (f'TCP, {rate:.0f} requests a second', LINKS[0][1], rate) for rate in SLOW]
    for name, link, slow in in_time if options.swings else ():
        off, held, rates = measure_in_time(options.swings, link, shapes, slow)
        print(f'{name}: in time within {np.median(off):.4f} rad, most {max(off):.4f}; '
              f'held after {np.median(held):.1f} s; {min(rates):.0f} to {max(rates):.0f} '
              f'requests a second came; load {os.getloadavg()[0]:.1f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
