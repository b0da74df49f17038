"""Squeezing an object between the fingers of a hand: force over the way of its pads."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from ...core.arrays import Array
from ...core.batches import DETAIL_FORCES
from ...core.bodies import GraspObject
from ...core.contact import PatchOptions
from ...core.errors import TaskError
from ...core.hand import HandModel, forward_kinematics
from ...core.mechanics import MechanicsOptions
from ...core.mechanics.body import ElasticBody
from ...core.mechanics.finite_strain.squeezing import CurvePoint
from ...core.pipeline import Pipeline
from ...core.planning import PlannerOptions, Task
from ...core.planning.closing.batching import Conditions
from ...core.planning.hypotheses.closing_ways import nearest_preshape
from ...core.planning.closing.grasp_state import GraspState, extract_state
from ...core.planning.closing.knowledge import HeldGrasp
from ...core.planning.closing.question import DIRECTION_STEP, Question
from ...core.planning.hypotheses.hand_geometry import find_mechanisms
from ...core.planning.settling import Settling
from ...core.planning.task import task_load_cases
from ...core.transforms import apply, inverse
from ..in_process import link_shapes, mechanics_options, planner_options
from ..resources import load_default_hand

#: First step of closing or opening on the way to the touch [-], and to what it is found [-].
FIRST_STEP, RESOLUTION = 0.01, 1e-7
#: Part of the closing beyond the touch at which the pads' points are looked for first [-].
FIRST_PRESS = 0.002
#: Asks for settling of one point of the curve.
SETTLING_STEPS = 12
#: Nodes wanted of each contact: a curve's forces are compared with each other, and with as many as
#: for a plan they jump by up to 4 % where a grid is laid anew.
NODE_COUNT = 300
UNBALANCED = 'the forces of the fingers do not balance: the object would slip away'


@dataclass(frozen=True, eq=False)
class FingerSqueezing:
    """
    What squeezing an object between fingers came to.

    Attributes
    ----------
    curve : tuple of CurvePoint
        In the order of the way; ``force`` is half the sum of all normal forces, ``area`` half
        that of all areas of contact: for two fingers those of each.
    joints : (n, J) float
        Of each point of the curve [rad].
    touching : (J,) float
        Where the fingers touch first [rad].
    links : tuple of str
        Whose pads press at the end.
    quantitative : bool
        Every point is within the model's range, and its forces balance.
    warnings : tuple of str
    """

    curve: tuple[CurvePoint, ...]
    joints: Array
    touching: Array
    links: tuple[str, ...]
    quantitative: bool
    warnings: tuple[str, ...]


def squeeze_with_fingers(grasp_object: GraspObject, T_object_palm: Array, joints: Array,
                         way: float, *, hand: HandModel | None = None, steps: int = 10,
                         elasticity: str = 'auto',
                         on_point: Callable[[CurvePoint], bool | None] | None = None
                         ) -> FingerSqueezing:
    """
    Return what it takes to close the fingers of a grasp further.

    From the first touch the fingers that touch in the grasp go on closing by the planner's law,
    each joint by the same share of the way of its preshape. The object is free to move until
    the forces balance.

    Parameters
    ----------
    grasp_object : GraspObject
    T_object_palm : (4, 4) float
    joints : (J,) float
        Of the grasp [rad].
    way : float
        By which the pads come nearer after the first touch [m]: twice the loss of their mean
        distance from their common centre, which for two is that of their distance.
    hand : HandModel, optional
        None: the Schunk SDH.
    steps : int
        Points of the curve.
    elasticity : str
        ``half_space``; ``body``: the object's own compliance; ``auto``: that, where a half-space
        does not answer quantitatively for all of the curve.
    on_point : callable, optional
        Called with each point, of ``auto`` by each model that is tried; return False to stop
        there.

    Raises
    ------
    TaskError
        ``way`` or ``steps`` is out of range, fewer than two fingers touch, or the joints reach
        their limits before the end.
    """
    if not 0.0 < way < np.inf:
        raise TaskError(f'way must be above 0 and finite, got {way}')
    if steps < 1:
        raise TaskError(f'steps must be 1 or more, got {steps}')
    hand = hand or load_default_hand()

    def squeezed(model: str) -> FingerSqueezing:
        squeeze = HandSqueeze(grasp_object, hand, T_object_palm, np.asarray(joints, float),
                              mechanics_options(model))
        return squeeze.curve(way * np.arange(1, steps + 1) / steps, on_point)
    if elasticity != 'auto':
        return squeezed(elasticity)
    simple = squeezed('half_space')
    return simple if simple.quantitative or len(simple.curve) < steps else squeezed('body')


class HandSqueeze:
    """A hand that closes on an object from the first touch, by fractions of its preshape."""

    def __init__(self, grasp_object: GraspObject, hand: HandModel, T_object_palm: Array,
                 joints: Array, mechanics: MechanicsOptions, touching: Array | None = None
                 ) -> None:
        """
        Find where the fingers touch; ``touching`` (J,) [rad] of the same grip spares that.

        Raises
        ------
        TaskError
            As ``squeeze_with_fingers``.
        """
        self.hand, self._pose = hand, T_object_palm
        preshape = hand.preshapes[nearest_preshape(hand, joints)]
        self._rates = preshape.closed - preshape.open
        self._conditions = Conditions.of(Task(), task_load_cases(
            Task(), grasp_object.canonical_frame[:3, :3]))
        self._options: PlannerOptions = replace(planner_options(), settling_steps=SETTLING_STEPS)
        self._pipeline = Pipeline(hand, grasp_object, mechanics, link_shapes(hand),
                                  PatchOptions(node_count=NODE_COUNT))
        self._given = joints
        pressing = self._links(self._ask(joints))
        self._closing = [mechanism for mechanism in find_mechanisms(hand)
                         if pressing & set(mechanism.links)]
        self._check_touching(pressing)
        self.touching = self._touch(joints) if touching is None else touching
        self._pads = self._pad_points(pressing)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what the stages say of the object."""
        return self._pipeline.warnings

    @property
    def body(self) -> ElasticBody:
        """Return the object as an elastic body."""
        return self._pipeline.body

    @property
    def width(self) -> float:
        """Return twice the mean distance of the pads from their middle at the touch [m]."""
        return self._spread(0.0)

    def curve(self, ways: Array, on_point: Callable[[CurvePoint], bool | None] | None
              ) -> FingerSqueezing:
        """Return the squeeze at the ways (n,) [m] of the pads."""
        points, rows, sound, warnings = list[CurvePoint](), list[Array](), True, ()
        for way, fraction in zip(ways, self.fractions_of(ways)):
            held = self.held_at(fraction)
            if not held.balanced:
                warnings = (UNBALANCED,)
            sound &= held.balanced and held.state.quantitative
            rows.append(held.joint_positions)
            points.append(CurvePoint(float(way), 0.5 * float(held.state.normal_forces.sum()),
                                     0.5 * float(held.state.areas.sum())))
            if on_point is not None and on_point(points[-1]) is False:
                break
        links = np.unique(held.state.links[held.state.normal_forces > 0.0])
        return FingerSqueezing(
            tuple(points), np.array(rows), self.touching,
            tuple(self.hand.links[i].name for i in links), sound,
            self._pipeline.warnings + warnings)

    def _check_touching(self, touching: set[int]) -> None:
        palm = self.hand.palm_index in touching
        fingers = {int(mechanism.fingers[row]) for mechanism in self._closing
                   for row, link in enumerate(mechanism.links) if link in touching}
        if len(fingers) + palm < 2:
            raise TaskError(f'{len(fingers) + palm} fingers touch the object in this grasp: '
                            'squeezing takes two, or one and the palm')
        self._palm_touches = palm

    def _ask(self, joints: Array) -> GraspState:
        question = self._question(joints)
        return extract_state(self._pipeline.evaluate(self._conditions.batch([question])), 0)

    def _question(self, joints: Array) -> Question:
        return Question(DETAIL_FORCES, self._pose, joints, DIRECTION_STEP * self._rates,
                        np.zeros(3))

    @staticmethod
    def _links(state: GraspState) -> set[int]:
        return set(state.links[state.normal_forces > 0.0].tolist())

    def _touch(self, joints: Array) -> Array:
        """Return the joints (J,) at which each of the closing mechanisms just touches."""
        count = len(self._closing)
        low, high, step = np.zeros(count), np.zeros(count), FIRST_STEP
        while (missing := ~self._free(low)).any():
            low[missing] -= step
            step *= 2.0
            if step > 4.0:
                raise TaskError('the fingers are not free of the object by opening')
        while np.abs(high - low).max() > RESOLUTION:
            middle = 0.5 * (low + high)
            free = self._free(middle)
            low, high = np.where(free, middle, low), np.where(free, high, middle)
        return self._moved(joints, high)

    def _free(self, fractions: Array) -> Array:
        """Return for each closing mechanism (k,) whether none of its links presses."""
        pressing = self._links(self._ask(self._moved(self._given, fractions)))
        return np.array([not pressing & set(mechanism.links) for mechanism in self._closing])

    def _moved(self, joints: Array, fractions: Array) -> Array:
        moved = joints.copy()
        for mechanism, fraction in zip(self._closing, fractions):
            own = list(mechanism.joints)
            moved[own] += fraction * self._rates[own]
        return np.clip(moved, self.hand.joint_lower, self.hand.joint_upper)

    def _pad_points(self, touching: set[int]) -> list[tuple[int, Array]]:
        """Return a link and the point of it (3,) that presses first, for each finger."""
        press = FIRST_PRESS
        while True:
            state = self._ask(self.joints_at(press))
            if touching <= self._links(state) or press > 0.1:
                break
            press *= 2.0
        poses = forward_kinematics(self.hand, self.joints_at(press)[None])[0]
        groups = [set(mechanism.links) for mechanism in self._closing]
        groups += [{self.hand.palm_index}] * self._palm_touches
        pads = []
        for group in groups:
            for link in sorted(group & self._links(state)):
                own = (state.links == link) & (state.normal_forces > 0.0)
                centre = np.average(state.points[own], axis=0, weights=state.normal_forces[own])
                pads.append((link, apply(inverse(self._pose @ poses[link]), centre[None])[0]))
        return pads

    def joints_at(self, fraction: float) -> Array:
        """Return the joints (J,) [rad] closed by a fraction beyond the touch."""
        return self._moved(self.touching, np.full(len(self._closing), fraction))

    def _spread(self, fraction: float) -> float:
        """Return twice the pads' mean distance from their common centre [m]."""
        poses = forward_kinematics(self.hand, self.joints_at(fraction)[None])[0]
        points = np.array([apply(poses[link], point[None])[0] for link, point in self._pads])
        return 2.0 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())

    def fractions_of(self, ways: Array) -> list[float]:
        """Return the fractions beyond the touch at which the pads have come nearer by ways."""
        start, found, low = self._spread(0.0), list[float](), 0.0
        for way in ways:
            high = low
            while start - self._spread(high) < way:
                high += FIRST_STEP
                if (self.joints_at(high) == self.joints_at(high + FIRST_STEP)).all():
                    most = max(start - self._spread(x) for x in np.arange(0.0, high, FIRST_STEP))
                    raise TaskError(f'the pads come nearer by {1e3 * most:.1f} mm at most in this '
                                    f'grasp, asked were {1e3 * ways[-1]:g} mm')
            low = float(brentq(lambda x: start - self._spread(x) - way, low, high))
            found.append(low)
        return found

    def held_at(self, fraction: float) -> HeldGrasp:
        """Return the hand closed by a fraction beyond the touch, with the object settled."""
        question = self._question(self.joints_at(fraction))
        state = self._ask(question.joint_positions)
        settling = Settling(question, state, self._options)
        while not settling.done:
            batch = self._conditions.batch([settling.question()])
            settling.answer(extract_state(self._pipeline.evaluate(batch), 0))
        joints = question.joint_positions
        return settling.settled(HeldGrasp(joints, joints[None], state))
