"""A hand without physics for the tests of executions: joints obey, fingers press on springs."""

from dataclasses import replace

import numpy as np

from gripsim_ros.core.planning.ranked_grasp import ManipulationResult, ManipulationStep
from gripsim_ros.core.transforms import from_rotation_vector, transform
from gripsim_ros.hardware.execution.actions import (
    LiftOff, MoveArm, MovePalm, PlacePalm, SendRows, SetDown, StopHand)
from gripsim_ros.hardware.execution.arm import make_arm_plan
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.measurement import Measurement
from gripsim_ros.hardware.execution.plan import ExecutionOptions, make_plan, PlannedContact, Wishes
from gripsim_ros.hardware.execution.way import make_way
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()
OPTIONS = ExecutionOptions(
    force_factor=1.0, touch_force=0.05, joint_tolerance=0.08, slip_tolerance=0.01, lag_time=0.2,
    start_time=1.0, settle_time=0.2, motion_time=0.5, grip_time=0.5, hold_time=0.3,
    motion_timeout=2.0, go_timeout=3.0,
    carry_speed=0.05, carry_spin=0.5, touch_speed=0.1, touch_beyond=0.12, force_room=1.2,
    loading_time=12.0, step_delay=0.0)
PERIOD = 0.01
TIPS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
FINGERS = {TIPS[0]: 1, TIPS[1]: 3, TIPS[2]: 5}     # proximal joints
PLANNED = 1.0
#: Of the springs [N/rad], so that the grip presses with twice the planned force.
SPRING = 40.0
CLOSED_ANGLE, GRIP = 0.2, 0.05
ARM_JOINTS = ('shoulder', 'elbow')
#: Forces with which a made-up way is pressed, over the least that hold.
RESERVE = 1.3


def reach(level='with_arm', steps=5, turn=0.3, rise=0.05, forces=(1.0, 1.5)):
    """
    Return the way of an object that rises, turns about x, and is pressed more and more.

    The thumb's fingertip needs forces from the first to the second [N], and presses with
    ``RESERVE`` times as much.
    """
    shares = np.linspace(0.0, 1.0, steps)
    moved = np.array([from_rotation_vector(np.array([0.0, 0.0, rise, turn, 0.0, 0.0]) * share)
                      for share in shares])
    palm = transform(np.eye(3), np.array([0.0, 0.01, -0.15]))
    joints, push = np.tile(np.full(7, 0.1), (steps, 1)), np.array([[0.0, 0.0, 1.0]])
    joints[:, 5] += 0.02 * shares
    least = [np.interp(share, (0.0, 1.0), forces) * push for share in shares]
    told = tuple(ManipulationStep(
        T, TIPS[2:], T[None, :3, 3], push, RESERVE * force, force, np.full(7, 0.1 * share),
        T[:3, 3], 1.5, 0.1, True)
        for T, share, force in zip(moved, shares, least))
    return ManipulationResult(level, 0.5, 0.1, joints, moved @ palm, shares, 1, 'the arm helps',
                              told)


def arm_plan(way, **changes):
    """Return the plan of an arm of two joints that carries along a way; some parts changed."""
    count = 0 if way is None else len(way.times)
    phases = (['start'] * 4 + ['approach'] * 3 + ['lift'] * 2 + ['carry'] * count
              + (['lower'] * 2 + ['retreat'] * 3 if count else []))
    steps = [[0.1, 0.02 * (phase == 'start')] for phase in phases]
    if count:
        steps[phases.index('carry')] = [0.0, 0.0]       # where the lift ends
    rows = np.cumsum(steps, axis=0)
    parts = {'joint_names': ARM_JOINTS, 'trajectory': (rows, 0.1 * np.arange(len(rows))),
             'phases': phases, 'way': way, 'carry_speed': OPTIONS.carry_speed}
    return make_arm_plan(**{**parts, **changes})


def plan(wishes=None, forces=(PLANNED,) * 3, options=OPTIONS, with_arm=False):
    """Return a plan: three proximal joints close from -0.5 rad, then grip by 0.05 rad."""
    rows = np.zeros((11, 7))
    rows[:, [1, 3, 5]] = np.linspace(-0.5, CLOSED_ANGLE, 11)[:, None]
    grip = rows[-1].copy()
    grip[[1, 3, 5]] += GRIP
    contacts = [PlannedContact(link, force) for link, force in zip(TIPS, forces)]
    wishes = wishes or Wishes()
    way = make_way(HAND, reach(), options.carry_speed, options.carry_spin) if wishes.carry \
        else None
    made = make_plan(HAND, (rows, np.linspace(0.0, 1.0, 11)), grip, contacts, wishes, options,
                     way)
    return replace(made, arm=arm_plan(way)) if with_arm else made


class SpringHand:
    """
    Joints go where they are sent; a fingertip presses on a spring beyond the closed angle.

    ``blocked`` joints do not move, ``absent`` links find nothing, ``dumb`` links have no pad;
    ``slide`` [m] is how far the object moves in the hand once it is lifted; ``away`` [rad] is
    how far it has given way to each finger. Rows that began before the last stop, at
    ``stopped_at`` [s], are ``refused``.
    """

    def __init__(self, blocked=(), absent=(), dumb=(), slide=0.0):
        self.follower = SetpointFollower(HAND, np.zeros(7))
        self.time, self.blocked, self.absent, self.dumb = 100.0, blocked, absent, dumb
        self.slide, self.lifted, self.stopped, self.placed = slide, False, 0, 0
        self.height, self.away = 0.0, dict.fromkeys(FINGERS, 0.0)
        self.sent, self.refused, self.stopped_at = [], [], -np.inf
        self.palms, self.lets_slip = [], lambda: 0.0

    def measure(self):
        """Return what is measured now."""
        joints = self.follower.at(self.time)
        joints[list(self.blocked)] = 0.0
        forces = {link: 0.0 if link in self.absent else SPRING * max(
            0.0, joints[joint] - CLOSED_ANGLE - self.away[link]) for link, joint in FINGERS.items()
            if link not in self.dumb}
        slid = self.slide * self.lifted + self.lets_slip()
        pose = transform(np.eye(3), np.array([0.0, 0.0, slid]))
        return Measurement(self.time, joints, forces, pose, True)

    def obey(self, actions):
        """Carry out actions."""
        for action in actions:
            self.sent.append(action)
            if isinstance(action, SendRows) and action.begin is not None \
                    and action.begin <= self.stopped_at:
                self.refused.append(action)
            elif isinstance(action, SendRows):
                self.follower.follow(HAND.joint_names, action.rows, action.times, self.time,
                                     action.begin)
            elif isinstance(action, StopHand):
                self.stopped, self.stopped_at = self.stopped + 1, self.time
                self.follower.stop()
            elif isinstance(action, LiftOff):
                self.lifted = True
            elif isinstance(action, SetDown):
                self.lifted = False
            elif isinstance(action, PlacePalm):
                self.placed += 1
            elif isinstance(action, MovePalm):
                self.height = action.height
                self.palms.append(action)


#: Levers of the made-up contacts [N m/N]: torque of a proximal joint over its finger's force.
LEVER = 0.09


def torques_of(forces):
    """Return the torques (7,) of joints whose fingertips press with forces by link [N]."""
    torques = np.zeros(7)
    for link, joint in FINGERS.items():
        torques[joint] = LEVER * forces.get(link, 0.0)
    return torques


class HandOnArm(SpringHand):
    """A hand whose arm goes along its legs; a real one feels nothing of the object's pose."""

    def __init__(self, arm, real=False, **more):
        super().__init__(**more)
        self.real, self.arm, self.leg, self.begin, self.legs = real, arm.start, None, 0.0, []
        self.jammed = False

    def measure(self):
        if self.leg is not None and not self.jammed:
            times = np.concatenate([[0.0], self.leg.times])
            rows = np.vstack([self.first, self.leg.rows])
            self.arm = np.array([np.interp(self.time - self.begin, times, column)
                                 for column in rows.T])
        rests = self.leg is None or bool(np.allclose(self.arm, self.leg.rows[-1]))
        measured = replace(super().measure(), palm_rests=rests)
        return replace(measured, T_palm_object=None) if self.real else measured

    def obey(self, actions):
        super().obey(actions)
        for action in actions:
            if isinstance(action, MoveArm):
                self.leg, self.begin, self.first = action.leg, action.begin, self.arm
                self.legs.append(action.leg.name)
            elif isinstance(action, StopHand):
                self.leg = None


class LateHand(SpringHand):
    """
    A hand far away: joints, forces and commands take their time [s], ``deaf`` for ever.

    It measures forces and joints at the same moments; what comes of them is of two moments.
    """

    def __init__(self, joints=0.0, forces=0.0, commands=0.0):
        super().__init__()
        self._late, self._waits = (joints, forces), commands
        self._measured, self._commands, self.deaf = [], [], False

    def measure(self):
        for due, actions in [*self._commands]:
            if due <= self.time + 1e-9:
                super().obey(actions)
                self._commands.remove((due, actions))
        self._measured.append(super().measure())
        joints, forces = (next((m for m in reversed(self._measured)
                                if m.time <= self.time - late + 1e-9), self._measured[0])
                          for late in self._late)
        return replace(joints, forces=forces.forces, forces_time=forces.time)

    def obey(self, actions):
        if actions and not self.deaf:
            self._commands.append((self.time + self._waits, actions))


def run(execution: GraspExecution, hand: SpringHand, seconds=20.0, until=None):
    """Run an execution; stop where ``until()`` is true. Return the phases in order."""
    phases = []
    for _ in range(int(seconds / PERIOD)):
        hand.obey(execution.update(hand.measure()))
        if not phases or phases[-1] != execution.phase.name:
            phases.append(execution.phase.name)
        if execution.done or (until is not None and until()):
            return phases
        hand.time += PERIOD
    return phases
