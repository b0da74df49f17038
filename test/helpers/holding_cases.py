"""A hand that holds an object by friction: it slips where its weight is more than that bears."""

from dataclasses import replace

from execution_cases import (
    CLOSED_ANGLE, FINGERS, HAND, OPTIONS, PERIOD, plan, PLANNED, SpringHand, TIPS,
    torques_of)
import numpy as np
from scipy.optimize import brentq

from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.hold_plan import HoldPlan
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes

FRICTION, DAMAGE, GRAVITY = 0.6, 3.0, 9.81
#: Planned forces [N]: the thumb bears what both fingers do.
FORCES = (PLANNED, PLANNED, 2.0 * PLANNED)
#: What the planned forces just hold at the planned friction, over the planned weight.
MARGIN = 1.3
#: Weight that was planned [N], along the palm's -z.
WEIGHT = sum(FORCES) * FRICTION / MARGIN
#: Time in which the support leaves what is lifted [s].
UNLOADING = 0.3
#: Force that moves a free object [N], and farther than it can go [rad].
DRAG, FARTHEST = 0.2, 3.0
BY_FEEL = Wishes(lift_height=0.05, hold_by_feel=True)


def hold_plan(weight=WEIGHT, damage=DAMAGE):
    """Return the plan of holding by feel at the middles of the three fingertips' pads."""
    links = [next(link for link in HAND.links if link.name == name) for name in TIPS]
    return HoldPlan(HAND, tuple(TIPS), np.array([link.pad_point for link in links]),
                    np.array([link.pad_normal for link in links]), np.array(FORCES),
                    np.full(3, 0.004), FRICTION,
                    load_of(weight, plan().closed, dict(zip(TIPS, FORCES))),
                    damage)


def by_feel(wishes=BY_FEEL, carries=True, hold=None, **changes):
    """Return an execution that holds by feel; ``hold`` None: that of ``hold_plan``."""
    made = replace(plan(wishes, FORCES), hold=hold or hold_plan())
    return GraspExecution(made, replace(OPTIONS, **{'settle_time': 1.0, **changes}), carries)


def carried_by_feel(**changes):
    """Return an execution that lifts, carries, sets down and opens; forces stay as planned."""
    wishes = replace(BY_FEEL, carry=True, release=True, hold_time=0.5)
    made = replace(plan(wishes, FORCES), hold=hold_plan(),
                   torques=torques_of(dict(zip(TIPS, FORCES))))
    count, none = len(made.way.times), np.zeros_like(made.way.joints)
    way = replace(made.way, joints=none, presses=none, forces={
        link: np.full(count, force) for link, force in zip(TIPS, FORCES)})
    return GraspExecution(replace(made, way=way), replace(OPTIONS, **changes), True)


def load_of(weight, joints, forces):
    """Return a weight [N] as a load (6,) that pulls where the forces [N] of the tips act."""
    poses = forward_kinematics(HAND, joints[None])[0]
    points = np.array([apply(poses[HAND.link_names.index(link.name)], link.pad_point[None])[0]
                       for link in HAND.links if link.name in TIPS])
    total = sum(forces.values())
    middle = np.array(list(forces.values())) @ points / total if total > 0.0 else points[0]
    pull = np.array([0.0, 0.0, -weight])
    return np.concatenate([pull, np.cross(middle, pull)])


class HoldingHand(SpringHand):
    """
    Springs at the fingertips [N/rad] that bear ``friction`` times their force.

    ``free``: the object gives way along the line from fingers to thumb, held back by no more than
    ``DRAG`` [N], as on a table; else it is as if nailed down. ``weight`` [N]; ``wrist``: it tells
    the load. ``pads(link, force)`` is what a pad tells of a true force; ``slid`` [m] is how far
    the object has gone, ``peak`` the largest true forces [N]. ``deal(measured)`` may spoil what is
    measured. ``motors``: joints tell their torques.
    """

    def __init__(self, friction=FRICTION, weight=WEIGHT, springs=(40.0,) * 3, wrist=True,
                 free=False, motors=False, **more):
        super().__init__(**more)
        self.friction, self.weight, self.wrist = friction, weight, wrist
        self.free, self.moved = free, 0.0        # towards the thumb [rad]
        self.motors = motors
        self.springs, self.peak = dict(zip(TIPS, springs)), dict.fromkeys(TIPS, 0.0)
        self.pads, self.deal = lambda link, force: force, lambda measured: measured
        self.slid = self.speed = 0.0
        self.lifted_at, self.before, self.slipped_at = None, self.time, None

    def true_forces(self, joints):
        """Return what the fingertips press with [N]; a free object goes where they balance."""
        if not self.free:
            return self._pressed(joints, 0.0)
        for side in (1.0, -1.0):
            def excess(moved):
                forces = self._pressed(joints, moved)
                return side * (forces[TIPS[0]] + forces[TIPS[1]] - forces[TIPS[2]]) - DRAG
            if excess(self.moved) > 0.0:
                self.moved = float(brentq(excess, self.moved, self.moved + side * FARTHEST))
        return self._pressed(joints, self.moved)

    def _pressed(self, joints, moved):
        ways = {TIPS[0]: -moved, TIPS[1]: -moved, TIPS[2]: moved}
        return {link: self.springs[link] * max(0.0, joints[joint] - CLOSED_ANGLE + ways[link]
                                               - self.away[link])
                for link, joint in FINGERS.items()}

    def measure(self):
        measured = super().measure()
        true = self.true_forces(measured.joints)
        self.peak = {link: max(self.peak[link], force) for link, force in true.items()}
        borne = self._fall(sum(true.values()))
        centres = {link: self._pad(link).pad_point + self._along(link, measured.joints)
                   for link, force in true.items() if force > 0.0}
        return self.deal(replace(
            measured, forces={link: self.pads(link, true[link]) for link in measured.forces},
            T_palm_object=self._pose(measured.T_palm_object), centres=centres,
            load=load_of(borne, measured.joints, true) if self.wrist else None,
            torques=torques_of(true) if self.motors else None))

    def _pose(self, pose):
        moved = pose.copy()
        moved[2, 3] -= self.slid
        return moved

    def _pad(self, name):
        return next(link for link in HAND.links if link.name == name)

    def _along(self, link, joints):
        """Return how far a contact has gone in the frame of its link (3,) [m]."""
        pose = forward_kinematics(HAND, joints[None])[0][HAND.link_names.index(link)]
        return pose[:3, :3].T @ np.array([0.0, 0.0, -self.slid])

    def _fall(self, force):
        """Let the object slip for the time since the last measurement; return what is borne."""
        since, self.before = self.time - self.before, self.time
        if not self.lifted:
            self.lifted_at, self.speed = None, 0.0
            return 0.0
        self.lifted_at = self.time if self.lifted_at is None else self.lifted_at
        load = self.weight * min(1.0, (self.time - self.lifted_at) / UNLOADING)
        borne = self.friction * force
        if self.speed > 0.0 or load > borne:
            self.slipped_at = self.time if self.slipped_at is None else self.slipped_at
            mass = self.weight / GRAVITY
            self.speed = max(0.0, self.speed + (load - borne) / mass * since)
            self.slid += self.speed * since
            return borne
        return load


def slow_pads(rate, late):
    """Return what makes pads tell so often [Hz], and what they felt so long ago [s]."""
    told, due = [], [-np.inf]

    def deal(measured):
        if measured.time >= due[0] - 1e-9:
            due[0] = measured.time + 1.0 / rate
            told.append(measured)
        while len(told) > 1 and told[1].time <= measured.time - late + 1e-9:
            told.pop(0)
        return replace(measured, forces=told[0].forces, centres=told[0].centres,
                       forces_time=told[0].time)
    return deal


def step(execution, hand):
    """Take one measurement; return what the fingertips truly press with [N]."""
    measured = hand.measure()
    hand.obey(execution.update(measured))
    hand.time += PERIOD
    return hand.true_forces(measured.joints)
