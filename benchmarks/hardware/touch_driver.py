"""
Closing by touch over the driver: the emulated firmware, its tactile controller, real time.

The executor's logic without nodes, the driver's sessions, and an emulated SDH whose proximal axes
meet something in the way; a blocked axis presses with its pad, so many newtons a radian that it is
sent further. Told are the rate of joints and pads, the largest force of a finger over its planned
one, and how it ended.
"""

import argparse
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import yaml

from benchmarks.hardware.grasps import execution_options
from gripsim_ros.core.contact import LinkShapes
from gripsim_ros.hardware.driver.emulator.commands import set_block
from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.emulator.tactile_board import COUNTS_PER_DEGREE, SPREAD
from gripsim_ros.hardware.driver.link.errors import DriverError
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS
from gripsim_ros.hardware.driver.motion.motions import Motion
from gripsim_ros.hardware.driver.options import (
    DriverOptions, LinkOptions, MotionOptions, TactileOptions)
from gripsim_ros.hardware.driver.session import HandSession
from gripsim_ros.hardware.driver.tactile.pads import read_layout
from gripsim_ros.hardware.driver.tactile.session import TactileSession
from gripsim_ros.hardware.execution.actions import SendRows, StopHand
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.measurement import Measurement
from gripsim_ros.hardware.execution.plan import make_plan, PlannedContact, Wishes
from gripsim_ros.library.resources import load_default_hand, share_directory
from gripsim_ros.ros.nodes.base.parameters import default_values

#: Joints that press, each with the pad of its own link, and where that is planned to touch.
PRESSING = {'sdh_finger_12_joint': 'sdh_finger_12_link',
            'sdh_finger_22_joint': 'sdh_finger_22_link', 'sdh_thumb_2_joint': 'sdh_thumb_2_link'}
#: Planned force [N]; angles of the open hand and of the contacts [rad].
FORCE, OPEN, TOUCH = 1.0, -0.6, -0.2
#: Stiffness that the plan believes [N/rad], of its grip.
BELIEVED = 40.0
GRIP = TOUCH + FORCE / BELIEVED
#: Until a step has been carried out and felt: the executor's own, for a real hand [s].
DELAY = default_values('grasp_executor')['step_delay']
#: Silence after which a session is lost, and the longest execution [s].
LOST, LONGEST = 10.0, 60.0


def pads():
    """Return where the texels of the hand are."""
    return read_layout(yaml.safe_load(
        Path(share_directory(), 'config', 'hands', 'sdh_tactile.yaml').read_text()))


def pressure_per_count(stiffness: float) -> float:
    """Return the calibration [Pa] with which a blocked axis has a stiffness [N/rad]."""
    # A pressed pad's counts lie about its middle like a bell of this many cells.
    counts = np.pi * SPREAD**2 * COUNTS_PER_DEGREE * np.degrees(1.0)
    return float(stiffness / (counts * pads()[0].area))


@contextmanager
def emulated_hand(off: float):
    """Run an emulated hand whose proximal axes meet something, ``off`` from planned [rad]."""
    angles = np.degrees([OPEN if name in PRESSING else 0.0 for name in AXIS_JOINTS])
    with EmulatedHand('127.0.0.1', identity=Identity(angles=tuple(angles))) as emulated:
        for number, name in enumerate(AXIS_JOINTS):
            if name in PRESSING:
                set_block(emulated, number, float(np.degrees(TOUCH + off)))
        yield emulated


class DriverHand:
    """
    An SDH behind the driver's sessions, as an execution sees it.

    Parameters
    ----------
    hand : HandModel
    emulated : EmulatedHand
    stiffness : float
        That a blocked axis has [N/rad], by the calibration of its pads.
    """

    def __init__(self, hand, emulated: EmulatedHand, stiffness: float) -> None:
        """Connect to the joints and to the pads."""
        self.hand, self.peak, self.started = hand, 0.0, time.monotonic()
        self._news, self._sample, self._touch = threading.Condition(), None, None
        self.times, self.touch_times = [], []
        link = {'reply_timeout': 2.0, 'retry_first': 0.05, 'retry_longest': 0.2}
        self.session = HandSession(hand, DriverOptions(
            LinkOptions(emulated.address, **link), MotionOptions(rate=50.0, late=20.0)),
            self._on_sample, LinkShapes.of_hand(hand))
        layout = pads()
        self._links = [matrix.link for matrix in layout]
        self.tactile = TactileSession(
            TactileOptions(LinkOptions(emulated.tactile_address, **link),
                           pressure_per_count=pressure_per_count(stiffness)),
            layout, self._on_touch)

    def __enter__(self) -> 'DriverHand':
        self.session.start()
        self.tactile.start()
        assert self.session.wait_connected(LOST)
        with self._news:
            assert self._news.wait_for(lambda: self._sample and self._touch, LOST)
        return self

    def __exit__(self, *_) -> None:
        self.session.close()
        self.tactile.close()

    def _on_sample(self, sample) -> None:
        with self._news:
            self._sample = time.monotonic() - self.started, np.array(sample.positions)
            self.times.append(self._sample[0])
            self._news.notify_all()

    def _on_touch(self, touch) -> None:
        forces = dict(zip(self._links, np.linalg.norm(touch.forces_link, axis=1)))
        self.peak = max(self.peak, *forces.values())
        with self._news:
            self._touch = time.monotonic() - self.started, forces
            self.touch_times.append(self._touch[0])

    def measure(self) -> Measurement:
        """Wait for new joints, and return all that is known."""
        with self._news:
            before = self._sample
            self._news.wait_for(lambda: self._sample is not before, LOST)
            (now, joints), (felt_at, forces) = self._sample, self._touch
        return Measurement(now, joints, forces, forces_time=felt_at)

    def obey(self, actions) -> None:
        """Carry out actions."""
        for action in actions:
            if isinstance(action, SendRows):
                self.session.follow(Motion(
                    list(self.hand.joint_names), action.times.tolist(),
                    [row.tolist() for row in action.rows]))
            elif isinstance(action, StopHand):
                try:
                    self.session.stop()
                except DriverError:
                    pass


def touch_plan_of(hand, options, wishes=None):
    """Return a plan that closes the proximal joints onto three contacts."""
    joints = [list(hand.joint_names).index(name) for name in PRESSING]
    rows = np.zeros((11, len(hand.joint_names)))
    rows[:, joints] = np.linspace(OPEN, TOUCH, 11)[:, None]
    grip = rows[-1].copy()
    grip[joints] = GRIP
    return make_plan(hand, (rows, np.linspace(0.0, 2.0, 11)), grip,
                     [PlannedContact(link, FORCE) for link in PRESSING.values()],
                     wishes or Wishes(by_touch=True), options)


def close(hand, stiffness: float, off: float, **changes):
    """Return execution and hand of one closing; contacts are off by so much [rad]."""
    options = execution_options(**{'joint_tolerance': 0.1, 'loading_time': 20.0,
                                   'step_delay': DELAY, **changes})
    with emulated_hand(off) as emulated, DriverHand(hand, emulated, stiffness) as driven:
        execution = GraspExecution(touch_plan_of(hand, options), options, False)
        while not execution.done and time.monotonic() - driven.started < LONGEST:
            driven.obey(execution.update(driven.measure()))
        return execution, driven


def rate(times) -> float:
    """Return how many come a second in the median [Hz]."""
    return float(1.0 / np.median(np.diff(times)))


def main() -> int:
    """Print a row for each stiffness and place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--stiffnesses', type=float, nargs='+', default=[10.0, 40.0, 160.0],
                        help='[N/rad]; planned with 40')
    parser.add_argument('--off', type=float, nargs='+', default=[-0.06, 0.0, 0.06], help='[rad]')
    arguments = parser.parse_args()
    hand, worst = load_default_hand(), 0.0
    for stiffness in arguments.stiffnesses:
        for off in arguments.off:
            execution, driven = close(hand, stiffness, off)
            worst = max(worst, driven.peak / FORCE)
            print(f'{stiffness:5.0f} N/rad  {off:+.2f} rad  joints {rate(driven.times):3.0f} Hz  '
                  f'pads {rate(driven.touch_times):3.0f} Hz  peak {driven.peak / FORCE:.2f}  '
                  f'closed in {execution.closing_time:4.1f} s  {execution.status.name} '
                  f'{execution.message}', flush=True)
    return int(worst > execution_options().force_room)
