"""A hand on a wire and by a clock of the test's own: nothing waits or is late."""

import math
from types import SimpleNamespace

import numpy as np

from gripsim_ros.hardware.driver.emulator.firmware import Firmware, Identity
from gripsim_ros.hardware.driver.link import channel, joint_controller
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS
from gripsim_ros.hardware.driver.motion import follower, steering, trajectory
from gripsim_ros.hardware.driver.motion.motions import Sample
from gripsim_ros.hardware.driver.motion.rota import Rota
from gripsim_ros.hardware.driver.motion.safety import SafetyChecker
from gripsim_ros.hardware.driver.motion.trajectory import MotionRunner
from gripsim_ros.hardware.driver.options import LinkOptions, MotionOptions
from gripsim_ros.hardware.driver.session import STATE_PERIOD, TEMPERATURE_PERIOD

from sdh_cases import HAND, NAMES, SHAPES

#: Where it begins [rad]; the hand's axis of each joint.
OPEN = np.array([0.0, -1.1, 0.3, -1.1, 0.3, -1.1, 0.3])
ORDER = [AXIS_JOINTS.index(name) for name in NAMES]
#: Of a cycle, where the wire bears it [s].
PERIOD = 0.02


class WireBench:
    """A hand on a wire; time passes as bytes do, and by ``pause`` or ``pause()`` a request."""

    def __init__(self, monkeypatch, rate=math.inf, pause=1e-4, **identity):
        self.time, self.rate, self.rest = 1000.0, rate, b''
        self.pause = pause if callable(pause) else lambda: pause
        clock = SimpleNamespace(monotonic=lambda: self.time, sleep=self.sleep)
        for module in (channel, joint_controller, follower, steering, trajectory):
            monkeypatch.setattr(module, 'time', clock)
        angles = tuple(np.degrees(OPEN)[[NAMES.index(name) for name in AXIS_JOINTS]])
        self.firmware = Firmware(Identity(angles=angles, **identity), lambda: self.time)
        options = MotionOptions()
        self.hand = joint_controller.SdhHand(
            channel.CommandChannel(self, LinkOptions('tcp://none:1')), NAMES, options)
        found = self.hand.connect()
        checker = SafetyChecker(HAND, options.self_clearance, options.limit_slack,
                                options.max_velocity, SHAPES)
        checker.narrow(found.lower, found.upper, found.velocity_limits)
        self.runner = MotionRunner(self.hand, found, checker, options, NAMES, lambda: None)
        self.seen, self.due, self.slow = [], self.time, False
        # As the session's: not all are asked for at once where the wire is slow.
        self.rota = Rota({
            self.ask_states: STATE_PERIOD, self.hand.temperatures: TEMPERATURE_PERIOD,
            self.hand.controller_changed: TEMPERATURE_PERIOD}, self.time)

    def sleep(self, seconds):
        self.time += seconds
        if hasattr(self, 'seen'):
            self.seen.append((self.time, self.angles()))

    def write(self, data):
        for line in data.decode().splitlines():
            pause = self.pause()
            self.sleep(0.5 * pause + len(line) / self.rate)
            answer = self.firmware.answer(line)
            whole = b'' if answer is None else answer.encode() + b'\r\n'
            self.rest += whole
            self.sleep(0.5 * pause + len(whole) / self.rate)

    def read(self, timeout):
        data, self.rest = self.rest, b''
        if not data:
            self.time += timeout
        return data

    def angles(self):
        """Return where the joints are now [rad]."""
        self.firmware.advance()
        return np.radians([self.firmware.motors.axes[axis].angle for axis in ORDER])

    def ask_states(self):
        self.states = self.time, self.hand.axis_states()

    def cycle(self):
        """Ask and act once, at 50 Hz where the wire bears it."""
        positions, when = self.hand.timed_positions()
        velocities = self.hand.turning if self.runner.following else self.hand.velocities()
        for ask in self.rota.choose(self.time, self.slow and self.runner.following,
                                    self.ask_states):
            ask()
        asked, states = self.states
        self.sample = Sample(when, positions, velocities, states, asked)
        self.runner.advance(self.sample, self.rota.loads(
            self.time, self.slow and self.runner.following))
        self.due = max(self.due + PERIOD, self.time - PERIOD)
        self.slow = self.due < self.time
        while self.time < self.due:
            self.sleep(0.002)

    def follow(self, motion, until=lambda: False):
        """Carry out a motion until its end, or until something is true."""
        self.cycle()
        self.runner.accept(motion, self.sample)
        while not motion.done.is_set() and not until():
            assert self.time < 1100.0
            self.cycle()
        return motion
