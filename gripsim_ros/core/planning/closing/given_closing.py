"""Closing a given grasp: the fingers open until they are free, and close to where it holds."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...batches import DETAIL_CLEARANCE, DETAIL_FORCES, ConfigurationBatch
from ...bodies import GraspObject
from ...hand import HandModel, Preshape
from ...transforms import inverse
from .. import rejections
from ..hypotheses.closing_ways import nearest_preshape, way_of_finger
from ..hypotheses.generate import Hypothesis
from ..hypotheses.hand_geometry import find_fingers
from ..options import PlannerOptions
from .batching import Conditions, ItemWork, SteppedItem, Steps
from .closing import Closing
from .grasp_state import GraspState
from .limits import ClosingLimits
from .question import DIRECTION_STEP, Question
from .seating import Seating


#: Least part of the way of closing by which a finger opens at once [-].
LEAST_OPENING = 0.02
#: Questions about opening fingers at most.
MAX_OPENINGS = 12
#: Least and largest multiple of the load looked for [-], and the ratio to which it is found.
MULTIPLES, RESOLUTION = (1.0 / 64.0, 64.0), 1.02

#: Questions, their answers, and the closing that comes of them.
Touching = Generator[Question, GraspState, Closing | None]


@dataclass(frozen=True, eq=False)
class ClosedGrasp:
    """
    What closing made of a given grasp.

    ``preshape`` is the number of the way of closing; ``trajectory (m, J)`` [rad] leads from the
    opened hand to the gentlest state that holds, or to the one nearest to that, with the object
    at ``T_object_seated (4, 4)`` in its frame as it was found. ``margin`` is the largest
    multiple of the loads that forces within the limits hold there, or that a state on the way
    held; ``reason`` says why no state holds. ``rates (J,)`` [rad] are the way by which it closed.
    """

    preshape: int
    trajectory: Array
    T_object_seated: Array
    margin: float
    reason: str
    rates: Array


class GivenClosing(SteppedItem):
    """
    The closing of one given grasp: ``question()``, ``answer(state)``, until ``done``.

    Each finger opens by the way of its preshape from the joints given until it is free, and
    closes to the touch; a finger at the object that its preshape does not move does so by the
    way of another. The object gives way to fingers that press it as springs; where it
    seats itself the hand closes as on a hypothesis, to the gentlest state that holds.

    Parameters
    ----------
    number : int
    T_object_palm : (4, 4) float
    joints : (J,) float
        As given [rad].
    grasp_object : GraspObject
    hand : HandModel
    options : PlannerOptions
    limits : ClosingLimits
    """

    def __init__(self, number: int, T_object_palm: Array, joints: Array,
                 grasp_object: GraspObject, hand: HandModel, options: PlannerOptions,
                 limits: ClosingLimits) -> None:
        self._object, self._hand, self._options = grasp_object, hand, options
        self._limits, self._given = limits, T_object_palm
        self._hypothesis = Hypothesis(number, T_object_palm, nearest_preshape(hand, joints), 0.0)
        self._way = hand.preshapes[self._hypothesis.preshape]
        self._rates = self._way.closed - self._way.open
        self._opened, self.reason = joints, rejections.NOT_EVALUATED
        self._closing: Closing | None = None
        self._margin = 0.0
        #: Multiple of the loads that the next question is about.
        self.multiple = 1.0
        super().__init__(self._run(joints))

    def fail(self, reason: str) -> None:
        """End with what is known: a question cannot be answered."""
        holds = self._closing is not None and self._closing.held is not None
        super().fail(self.reason if holds else reason)

    def closed(self) -> ClosedGrasp:
        """Return what closing came to."""
        closing, rows, found = self._closing, self._opened[None], self._hypothesis
        if closing is not None and closing.held is not None:
            rows, found = closing.held.trajectory, closing.held_hypothesis
        elif closing is not None:
            rows, found = np.array([self._opened, _last_joints(closing)]), closing.hypothesis
        seated = self._given @ inverse(found.T_object_palm)
        return ClosedGrasp(self._hypothesis.preshape, rows, seated, self._margin, self.reason,
                           self._rates)

    def _run(self, joints: Array) -> Steps:
        closing = yield from self._open_and_touch(joints)
        if closing is not None and not closing.done and not self._hand.prismatic.any():
            seating = Seating(replace(closing.question(), detail=DETAIL_FORCES), self._hand,
                              self._object, self._rates)
            while not seating.done:
                seating.answer((yield seating.question()))
            self._hypothesis = replace(self._hypothesis, T_object_palm=seating.T_object_palm)
            closing = yield from self._open_and_touch(seating.joints)
        self._closing = closing
        if closing is None:
            return
        while not closing.done:
            state = yield closing.question()
            closing.answer(state)
            if not len(self._limits.links_beyond(state)):
                self._margin = max(self._margin, state.margin)
        self.reason = '' if closing.held is not None else closing.reason
        if closing.held is not None or closing.known.miss is not None:
            yield from self._grow_load(closing.question_at(_last_joints(closing), DETAIL_FORCES))

    def _open_and_touch(self, joints: Array) -> Touching:
        """Open the fingers until they are free; return their closing at the touch, or None."""
        fingers, hand = find_fingers(self._hand), self._hand
        opened, steps = joints.copy(), np.full(len(fingers), LEAST_OPENING)
        for _ in range(MAX_OPENINGS):
            state = yield Question(DETAIL_CLEARANCE, self._hypothesis.T_object_palm,
                                   opened.copy(), DIRECTION_STEP * self._rates, np.zeros(3))
            before = opened.copy()
            for i, finger in enumerate(fingers):
                if state.clearance[list(finger.links)].min() < self._options.min_clearance:
                    own = list(finger.joints)
                    if not self._rates[own].any():
                        self._rates[own] = way_of_finger(hand, own, joints)
                    opened[own] = np.clip(before[own] - steps[i] * self._rates[own],
                                          hand.joint_lower[own], hand.joint_upper[own])
                    steps[i] *= 2.0
            if (opened == before).all():
                break
        self._opened = opened
        if state.clearance.min() <= 0.0:
            self.reason = rejections.OPEN_HAND_COLLIDES
            return None
        closing = Closing(self._hypothesis, hand, self._options, self._limits,
                          Preshape(self._way.name, opened, opened + self._rates))
        closing.known.phase = 'reach'
        while closing.known.phase == 'reach':
            closing.answer((yield closing.question()))
        return closing

    def _grow_load(self, question: Question) -> Steps:
        """Find the largest multiple of the loads that forces within the limits hold."""
        low, high = MULTIPLES[0], MULTIPLES[1]
        self.multiple = 1.0
        while high > RESOLUTION * low:
            state = yield question
            if state.capable:
                low = self.multiple
            else:
                high = self.multiple
            self.multiple = float(np.sqrt(low * high))
        if low > MULTIPLES[0]:
            self._margin = max(self._margin, low)


def _last_joints(closing: Closing) -> Array:
    """Return the joints (J,) of the state that holds, or else of the one nearest to that."""
    if closing.held is not None:
        return closing.held.joint_positions
    miss = closing.known.miss
    return closing.question().joint_positions if miss is None else miss.joint_positions


class GivenClosings(ItemWork[GivenClosing]):
    """
    The work of closing given grasps, by their numbers.

    Parameters
    ----------
    closings : list of GivenClosing
    conditions : Conditions
    options : PlannerOptions
    """

    def __init__(self, closings: list[GivenClosing], conditions: Conditions,
                 options: PlannerOptions) -> None:
        super().__init__(dict(enumerate(closings)), conditions, options)

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next grasps, of one detail and load, and the question about them."""
        details = {i: self.items[i].question().detail for i in free}
        detail, multiple = details[free[0]], self.items[free[0]].multiple
        size = (self._options.batch_size if detail == DETAIL_FORCES
                else self._options.clearance_batch_size)
        chosen = [i for i in free if details[i] == detail
                  and self.items[i].multiple == multiple][:size]
        return self.ask(chosen, load_cases=multiple * self._conditions.load_cases)

    def stop(self) -> None:
        """End all closings."""
        for number in self.unfinished():
            self.fail(number, rejections.NOT_EVALUATED)
