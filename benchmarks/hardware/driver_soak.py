"""
Load test of the hand's driver: ``python -m benchmarks soak_driver [--minutes M] [--pty]``.

Random motions, stops, emergency stops and motors that are switched meet random faults of the
emulated firmware: garbage, silence, slow answers, half lines, wrong numbers, error codes, lost
links, heat, things in the way. What is looked at, by the emulator's own record: that nothing
unsafe was ever commanded or moved; that nothing hangs; that nothing is left behind.
"""

import argparse
from collections import Counter
import os
from pathlib import Path
import random
import sys
import threading
import time

import numpy as np
import yaml

from gripsim_ros.core.contact import LinkShapes, self_clearance
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.hardware.driver.emulator.commands import obey
from gripsim_ros.hardware.driver.emulator.faults import JOINT_KINDS, TACTILE_KINDS
from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.link.errors import DriverError
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome
from gripsim_ros.hardware.driver.options import (
    DriverOptions, LinkOptions, MotionOptions, TactileOptions)
from gripsim_ros.hardware.driver.session import HandSession
from gripsim_ros.hardware.driver.tactile.pads import read_layout
from gripsim_ros.hardware.driver.tactile.session import TactileSession
from gripsim_ros.library.resources import load_default_hand, share_directory

#: Short, so that much happens in a minute [s].
LINK = {'reply_timeout': 0.1, 'retry_first': 0.02, 'retry_longest': 0.2, 'connect_timeout': 1.0}
#: Longest that a motion or a call may take beyond its own duration before it counts as hung [s].
HANG = 30.0
#: Growth of memory that counts as a leak [MB], and descriptors that may come and go.
MEMORY_GROWTH, DESCRIPTORS = 60.0, 4
#: How far the emulator's integration and the told tenths of degrees may be off [deg], [deg/s].
ANGLE, SPEED = 0.15, 1.0
#: Requests that must never be seen: they cannot be interrupted, or move by themselves.
FORBIDDEN = ('grip', 'selgrip', 'ref', 'pos_save', 'demo', 'tpap')
ANGLES = (10.0, -20.0, 15.0, -22.0, 16.0, -24.0, 17.0)
#: Samples of a commanded path that are looked at.
SAMPLES = 15


class Soak:
    """One run: what was asked, what came of it, what was wrong."""

    def __init__(self, seed, host):
        """Start hand and sessions."""
        self.random = random.Random(seed)
        self.model = load_default_hand()
        self.shapes = LinkShapes.of_hand(self.model)
        self.hand = EmulatedHand(host, identity=Identity(angles=ANGLES), seed=seed)
        self.hand.__enter__()
        layout = yaml.safe_load(
            Path(share_directory(), 'config', 'hands', 'sdh_tactile.yaml').read_text())
        self.samples = self.touches = 0
        self.session = HandSession(
            self.model, DriverOptions(LinkOptions(self.hand.address, **LINK),
                                      MotionOptions(rate=100.0, late=1.0)),
            self._on_sample, self.shapes)
        self.session.checker.warm_up()          # as the driver's node does
        self.tactile = TactileSession(
            TactileOptions(LinkOptions(self.hand.tactile_address, **LINK), silence=0.5),
            read_layout(layout), self._on_touch)
        self.session.start()
        self.tactile.start()
        self.motions, self.outcomes, self.calls = [], Counter(), Counter()
        self.targets = []                       # asked for, in degrees by axis
        self.latched = []                       # [from, to) in which nothing may be started
        self.wrong = []
        self.requests = set()                   # names of all that was ever sent
        self.parted = 0                         # motions that took links apart that had met

    def _on_sample(self, sample):
        self.samples += 1

    def _on_touch(self, touch):
        self.touches += 1

    # -- what is done to it ------------------------------------------------------------

    def step(self):
        """Do one random thing."""
        kind = self.random.choices(
            ('move', 'wild', 'fault', 'calm', 'stop', 'emergency', 'motors', 'obstacle', 'heat'),
            (40, 6, 22, 14, 6, 4, 3, 4, 2))[0]
        getattr(self, f'do_{kind}')()
        self.calls[kind] += 1
        time.sleep(self.random.uniform(0.0, 0.3))

    def do_move(self):
        """Ask for a motion to somewhere, mostly safe, in a time that may be too short."""
        near = self.random.random() < 0.8
        preshape = self.random.choice(self.model.preshapes)
        share = self.random.uniform(0.0, 0.4 if near else 1.0)
        target = preshape.open + share * (preshape.closed - preshape.open)
        motion = self.ask(target, self.random.uniform(0.05, 2.0))
        if self.random.random() < 0.4:
            motion.done.wait(HANG)

    def do_wild(self):
        """Ask for what must be refused, or not."""
        low, high = self.model.joint_lower - 0.3, self.model.joint_upper + 0.3
        self.ask(np.array([self.random.uniform(a, b) for a, b in zip(low, high)]), 3.0)

    def ask(self, target, duration):
        """Send a motion to one point, and return it."""
        by_axis = [target[self.model.joint_names.index(name)] for name in AXIS_JOINTS]
        self.targets.append(np.degrees(by_axis))
        motion = Motion(self.model.joint_names, [duration], [target.tolist()])
        self.motions.append((time.monotonic(), self.session.follow(motion)))
        return motion

    def do_fault(self):
        """Let something go wrong."""
        kind = self.random.choice((*JOINT_KINDS, *TACTILE_KINDS))
        self.hand.faults.add(kind, probability=self.random.choice((0.002, 0.02, 0.2, 1.0)),
                             count=self.random.choice((1, 1, 2, 5, 30)),
                             delay=self.random.choice((0.02, 0.09, 0.15, 0.4)))

    def do_calm(self):
        """Nothing goes wrong any more, and whatever stands in the way of moving is undone."""
        self.hand.faults.clear()
        obey(self.hand, 'free')
        obey(self.hand, 'temperature 40')
        if self.session.condition().latched and self.session.condition().connected:
            asked = time.monotonic()
            if self.call(self.session.recover) and self.latched:
                self.latched[-1][1] = asked

    def do_stop(self):
        """Stop."""
        self.call(self.session.stop)

    def do_emergency(self):
        """Stop for good."""
        self.call(self.session.emergency_stop)
        if not self.latched or self.latched[-1][1] < np.inf:
            self.latched.append([time.monotonic(), np.inf])

    def do_motors(self):
        """Switch motors off and on."""
        self.call(self.session.motor_off)
        self.call(self.session.motor_on)

    def do_obstacle(self):
        """Put something in the way."""
        obey(self.hand, f'block {self.random.randrange(7)} {self.random.uniform(-60, 60):.1f}')

    def do_heat(self):
        """Heat the motors."""
        obey(self.hand, f'temperature {self.random.choice((50, 79, 81, 101))}')

    def call(self, function):
        """Call a service; return whether it worked."""
        started = time.monotonic()
        try:
            function()
        except DriverError:
            return False
        finally:
            if time.monotonic() - started > HANG:
                self.wrong.append(f'{function.__name__} hung')
        return True

    # -- what is looked at ---------------------------------------------------------------

    def progress(self):
        """Return how many motions were begun, and how many faults have struck."""
        return len(self.hand.firmware.record.moves), sum(self.hand.faults.struck.values())

    def watch_motions(self):
        """Count motions that ended; note those that hang, and what was sent."""
        commands = self.hand.firmware.record.commands
        count = len(commands)       # the emulator's thread may add to it meanwhile
        self.requests |= {text.partition('=')[0].partition('(')[0].strip()
                          for _, text in commands[:count]}
        del commands[:count]
        going = []
        for asked, motion in self.motions:
            if motion.done.is_set():
                self.outcomes[motion.outcome] += 1
            elif time.monotonic() - asked > motion.times[-1] + HANG:
                self.wrong.append(f'a motion hangs since {time.monotonic() - asked:.0f} s')
            else:
                going.append((asked, motion))
        self.motions = going

    def finish(self):
        """Let it calm down; see that it works again, and close it."""
        end = time.monotonic() + HANG
        reached = False
        while not reached and time.monotonic() < end:
            self.do_calm()
            self.call(self.session.motor_on)
            self.ask(self.model.preshapes[0].open, 1.0)
            motion = self.motions[-1][1]
            reached = motion.done.wait(HANG) and motion.outcome is Outcome.REACHED
            time.sleep(0.05)
        if not reached:
            self.wrong.append('it does not work again after the faults: '
                              f'{self.session.condition().problem or motion.message}')
        before = self.touches
        while self.touches == before and time.monotonic() < end + HANG:
            time.sleep(0.01)
        if self.touches == before:
            self.wrong.append(f'tactile frames do not come again: {self.tactile.problem}')
        self.watch_motions()
        self.session.close()
        self.tactile.close()
        self.hand.__exit__()
        if any(motion.done.is_set() is False for _, motion in self.motions):
            self.wrong.append('a motion was left without an end')
        self.watch_motions()
        self.wrong += self.unsafe()
        if self.hand.firmware.motors.moving:
            self.wrong.append('axes turn on after the driver has left')

    def unsafe(self):
        """
        Return what the emulator's record has that must not be in it.

        Links that touch at the start (a joint was blocked, and the others went on) may part,
        once, as the driver allows; links that are apart may never touch.
        """
        record, identity, found = self.hand.firmware.record, self.hand.firmware.identity, []
        found += [f'{name!r} was sent' for name in self.requests & set(FORBIDDEN)]
        order = [AXIS_JOINTS.index(name) for name in self.model.joint_names]
        limits = np.degrees(self.model.joint_velocities)
        asked = np.array(self.targets)
        for when, start, target, speeds, _ in record.moves:
            start, target, speeds = (np.array(values) for values in (start, target, speeds))
            at = f'the motion to {np.round(target, 1).tolist()}'
            if (target < identity.p_min).any() or (target > identity.p_max).any():
                found.append(f'{at} leaves the range')
            if (speeds[order] > np.minimum(limits, np.array(identity.vlim)[order]) + 1e-3).any():
                found.append(f'{at} is too fast: {speeds.tolist()}')
            if np.abs(asked - target).max(axis=1).min() > ANGLE:
                found.append(f'{at} was never asked for')
            if any(begin <= when < end for begin, end in self.latched):
                found.append(f'{at} was started after an emergency stop')
            path = start + np.linspace(0.0, 1.0, SAMPLES)[:, None] * (target - start)
            poses = forward_kinematics(self.model, np.radians(path)[:, order])
            touching = np.array([self_clearance(self.shapes, pose) <= 0.0 for pose in poses])
            if touching[-1] or (touching[1:] & ~touching[:-1]).any():
                found.append(f'{at} brings links together, from {np.round(start, 1).tolist()}')
            self.parted += touching[0]
        found += self.unsafe_drives(order, limits)
        fastest = np.array(self.hand.firmware.motors.fastest)[order]
        if (fastest > limits + SPEED).any():
            found.append(f'an axis moved too fast: {fastest.tolist()} deg/s')
        return found

    def unsafe_drives(self, order, limits):
        """Return what is wrong with velocities; one a look at what they led to is enough."""
        found, before = [], False
        for when, angles, velocities in self.hand.firmware.record.drives:
            at = f'driving at {np.round(angles, 1).tolist()}'
            if (np.abs(velocities)[order] > limits + SPEED).any():
                found.append(f'{at} is too fast: {velocities}')
            if any(begin <= when < end for begin, end in self.latched):
                found.append(f'{at} was after an emergency stop')
            pose = forward_kinematics(self.model, np.radians(angles)[None, order])[0]
            touching = self_clearance(self.shapes, pose) <= 0.0
            if touching and not before:
                found.append(f'{at} brought links together')
            before = touching
        return found


def resources():
    """Return memory [MB] and open descriptors of this process."""
    status = Path('/proc/self/status').read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines()
                  if line.startswith('VmRSS'))
    return memory / 1024.0, len(os.listdir('/proc/self/fd'))


def soak(seconds, seed=0, host='127.0.0.1', say=lambda line: None, least=(0, 0)):
    """
    Run for some seconds, and on until there were so many motions and faults; return what was
    wrong and a summary.

    The first tenth of the time, in which buffers grow, is not looked at for leaks; kernels are
    loaded before.
    """
    threads = threading.active_count()
    run = Soak(seed, host)
    begun, told = time.monotonic(), time.monotonic()
    baseline = None
    while len(run.wrong) < 20 and (time.monotonic() - begun < seconds or any(
            count < few for count, few in zip(run.progress(), least))):
        run.step()
        run.watch_motions()
        if baseline is None and time.monotonic() - begun > 0.1 * seconds:
            baseline = resources()
        if time.monotonic() - told > 60.0:
            told = time.monotonic()
            motions, faults = run.progress()
            say(f'  {told - begun:.0f} s, {motions} motions, {faults} faults, '
                f'{len(run.wrong)} wrong')
    run.finish()
    memory, descriptors = resources()
    if memory - baseline[0] > MEMORY_GROWTH:
        run.wrong.append(f'memory grew from {baseline[0]:.0f} to {memory:.0f} MB')
    if descriptors > baseline[1] + DESCRIPTORS:
        run.wrong.append(f'descriptors grew from {baseline[1]} to {descriptors}')
    if threading.active_count() != threads:
        run.wrong.append(f'{threading.active_count() - threads} threads were left')
    counts = run.session.condition().counts
    return run.wrong, {
        'motions': len(run.hand.firmware.record.moves),
        'outcomes': {outcome.value: n for outcome, n in sorted(
            run.outcomes.items(), key=lambda item: item[0].value)},
        'faults': dict(sorted(run.hand.faults.struck.items())), 'counts': counts,
        'links taken apart': run.parted, 'samples': run.samples, 'tactile frames': run.touches,
        'memory [MB]': f'{baseline[0]:.0f} to {memory:.0f}',
        'descriptors': f'{baseline[1]} to {descriptors}'}


def main():
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='benchmarks soak_driver', description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--pty', action='store_true', help='pseudo-terminals instead of TCP')
    parser.add_argument('--least-motions', type=int, default=0, help='go on until so many')
    parser.add_argument('--least-faults', type=int, default=0, help='go on until so many')
    options = parser.parse_args()
    wrong, summary = soak(60.0 * options.minutes, options.seed,
                          None if options.pty else '127.0.0.1', print,
                          (options.least_motions, options.least_faults))
    for key, value in summary.items():
        print(f'{key}: {value}')
    for line in wrong:
        print(f'WRONG: {line}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
