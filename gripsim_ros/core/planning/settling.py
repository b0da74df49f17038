"""
Settling: the object moves between the closed fingers until their forces balance.

Contact is found with the object held fixed, so the forces of the pads need not balance.
Each answer proposes a small rigid motion of the object that would balance them, friction
included; the next question is about the same closed hand at the object so moved. Before that,
closings whose grasps are to settle are refined until their forces are near the minimal ones.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..batches import DETAIL_FORCES, DETAIL_SURFACE, ConfigurationBatch
from ..transforms import rotation_about
from .closing.batching import Conditions, ItemWork
from .closing.closing import Closing
from .closing.question import Question, settled_question
from .closing.knowledge import HeldGrasp
from .closing.grasp_state import GraspState, in_found_frame
from .options import PlannerOptions
from .ranked_grasp import RankedGrasp
from .ranking.assemble import Key, as_choices, rank_key, told
from .ranking.pruning import predicted_score_change
from .rejections import LET_GO
from .verdicts import Verdicts


#: Number of grasps that settle beside those wanted: settling changes scores a little.
SPARE_GRASPS = 2


class Settling:
    """
    The settling of one closed grasp: ``question()``, ``answer(state)``, until ``done``.

    Newton's method on the object's pose, whose steps the answers propose: a step that
    leaves the object farther from balance is undone, and half of it is tried.

    Parameters
    ----------
    question : Question
        The closed hand at the object as it was found.
    state : GraspState
        The answer to it.
    options : PlannerOptions
    """

    def __init__(self, question: Question, state: GraspState, options: PlannerOptions) -> None:
        self._question, self._options = question, options
        # The object's pose, in its frame as it was found, and the state there.
        self._T_object_settled, self._state = np.eye(4), state
        self._fraction, self._asks = 1.0, 0

    @property
    def balanced(self) -> bool:
        """Return True if the forces balance, or the options ask for no settling."""
        return (self._options.settling_steps == 0
                or bool(self._state.residual <= self._options.settling_residual))

    @property
    def done(self) -> bool:
        """Return True if nothing more is to be asked."""
        return (self.balanced or not _can_settle(self._state)
                or self._asks >= self._options.settling_steps)

    def question(self) -> Question:
        """Return the question for the object moved as the last answer proposed."""
        return settled_question(self._question, self._next())

    def fail(self, reason: str) -> None:
        """End where the object came: the question cannot be answered."""
        self._asks = self._options.settling_steps

    def answer(self, state: GraspState) -> None:
        """Take the answer to the last question."""
        self._asks += 1
        if _can_settle(state) and state.residual < self._state.residual:
            self._T_object_settled, self._state, self._fraction = self._next(), state, 1.0
        else:
            self._fraction *= 0.5

    def settled(self, held: HeldGrasp) -> HeldGrasp:
        """Return a held grasp with the object settled as far as it came."""
        return replace(held, state=in_found_frame(self._state, self._T_object_settled),
                       T_object_settled=self._T_object_settled, balanced=self.balanced)

    def _next(self) -> Array:
        shift = self._fraction * self._state.shift
        return self._T_object_settled @ rotation_about(
            self._state.centre_of_mass, shift[3:], shift[:3])


def _can_settle(state: GraspState) -> bool:
    return state.capable and bool(np.isfinite(state.residual))


class Settlings(ItemWork[Settling]):
    """
    The work of settling grasps, by their numbers.

    Parameters
    ----------
    conditions : Conditions
    options : PlannerOptions
    batch_size : int
        Most grasps asked about together.
    """

    any_order = False

    def __init__(self, conditions: Conditions, options: PlannerOptions, batch_size: int) -> None:
        super().__init__({}, conditions, options)
        self._batch_size = batch_size

    def begin(self, number: int, question: Question, state: GraspState) -> None:
        """Begin to settle a grasp from the question about it and its answer."""
        self.items[number] = Settling(question, state, self._options)

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next grasps and the question about them."""
        return self.ask(free[:self._batch_size])

    def stop(self) -> None:
        """Go on: grasps that hold are worth it."""

    def settled(self, number: int, held: HeldGrasp) -> HeldGrasp:
        """Return a held grasp, with the object settled if it was chosen to settle."""
        settling = self.items.get(number)
        return held if settling is None else settling.settled(held)


class SettlingRounds(Settlings):
    """
    Choice of the grasps that settle: in rounds, the best first, until those wanted remain.

    Rounds are parts of the ranking before any grasp settled, so that what has settled in the
    end depends on the answers, not on when they came.

    Parameters
    ----------
    wanted : int
        Grasps to be returned.
    verdicts : Verdicts
    conditions : Conditions
    options : PlannerOptions
    all_settle : bool
        However many those wanted are.

    Attributes
    ----------
    moving : callable or None
        Tells settled grasps with the motion of the object while the hand closes.
    """

    moving: Callable[[list[RankedGrasp]], list[RankedGrasp]] | None = None

    def __init__(self, wanted: int, verdicts: Verdicts, conditions: Conditions,
                 options: PlannerOptions, all_settle: bool = False) -> None:
        super().__init__(conditions, options, options.batch_size)
        self._wanted, self._verdicts, self._all = wanted, verdicts, all_settle

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return the best grasps, those wanted or ``count``: once one settles, only settled."""
        grasps = [grasp for number, grasp in self._verdicts.grasps.items()
                  if not self.items or number in self.items]
        if self.moving is not None and self.items and self._ended():
            grasps = self.moving([grasp for grasp, _ in as_choices(grasps)])
        return [told(grasp, like) for grasp, like in as_choices(grasps)[:count or self._wanted]]

    def lacks_grasps(self) -> bool:
        """Return True if rounds have ended and fewer than wanted remain."""
        return bool(self.items) and self._ended() and self._remaining() < self._wanted

    def next_round(self, key: Callable[[RankedGrasp], Key] = rank_key) -> list[int]:
        """Return the grasps that settle next, best first; none while a round goes on."""
        if (self._remaining() >= self._wanted and not self._all) or not self._ended():
            return []
        fresh = (grasp for number, grasp in self._verdicts.grasps.items()
                 if number not in self.items)
        order = as_choices(fresh, key)[:self._wanted + SPARE_GRASPS]
        return [grasp.hypothesis for grasp, _ in order]

    def unfinished(self) -> list[int]:
        """Return the grasps that have not settled; a new round begins where the last has ended."""
        while numbers := self.next_round():
            for number in numbers:
                closing, held = self._verdicts.closed(number)
                self.begin(number, closing.held_question(held, DETAIL_FORCES), held.state)
        return super().unfinished()

    def answered(self, number: int) -> None:
        """Judge a grasp that has settled again."""
        if not self.items[number].done:
            return
        closing, held = self._verdicts.closed(number)
        settled = self.settled(number, held)
        if settled.state.holds:
            self._verdicts.hold(closing, settled)
        else:
            closing.fail(LET_GO)
            self._verdicts.reject(closing)

    def _ended(self) -> bool:
        return all(settling.done for settling in self.items.values())

    def _remaining(self) -> int:
        return sum(number in self._verdicts.grasps for number in self.items)


class Refinement(ItemWork[Closing]):
    """
    Closings that hold and go on: those whose grasps would settle next.

    A verdict needs two or three questions with forces, forces within the tolerance as many
    again. So closings pause with their verdict, and the best go on, round by round, until none
    is left among those that settle next. The choice depends on verdicts and refined grasps
    alone, not on when they came.

    Parameters
    ----------
    rounds : SettlingRounds
    verdicts : Verdicts
    conditions : Conditions
    """

    any_order = True

    def __init__(self, rounds: SettlingRounds, verdicts: Verdicts, conditions: Conditions) -> None:
        super().__init__(verdicts.closings, conditions, verdicts.options)
        self._rounds, self._verdicts = rounds, verdicts
        self._predicted: dict[int, tuple[float, bool]] = {}
        self._chosen: list[int] = []

    def unfinished(self) -> list[int]:
        """Return the closings to be refined now; a new round begins where the last has ended."""
        if self._stopped:
            return []
        if all(self.items[number].done for number in self._chosen):
            self._chosen = self._rounds.next_round(self._predicted_key)
        return [number for number in self._chosen if not self.items[number].done]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next closings and the question about them."""
        return self._conditions.next_question([self.items[n] for n in free], self._options)

    def answered(self, number: int) -> None:
        """Keep the grasp that a closing holds now."""
        self._predicted.pop(number, None)
        self._verdicts.hold(*self._verdicts.closed(number))

    def _predicted_key(self, grasp: RankedGrasp) -> Key:
        """Return the key of ranking with the predicted score after refinement."""
        closing, held = self._verdicts.closed(grasp.hypothesis)
        if closing.done:
            return rank_key(grasp)
        if grasp.hypothesis not in self._predicted:
            self._predicted[grasp.hypothesis] = predicted_score_change(
                held.state, closing.wanted_forces(held.state), self._verdicts.hand,
                self._verdicts.reference, self._options)
        change, quantitative = self._predicted[grasp.hypothesis]
        return rank_key(grasp, quantitative, change)


class Details:
    """
    The work of the best grasps' details: the deformed surface of the settled object.

    Parameters
    ----------
    rounds : SettlingRounds
    verdicts : Verdicts
    conditions : Conditions
    """

    any_order = False

    def __init__(self, rounds: SettlingRounds, verdicts: Verdicts, conditions: Conditions) -> None:
        self._rounds, self._verdicts, self._conditions = rounds, verdicts, conditions
        self._detailed: set[int] = set()

    def unfinished(self) -> list[int]:
        """Return the best grasps without details."""
        return [grasp.hypothesis for grasp in self._rounds.ranked()
                if grasp.hypothesis not in self._detailed]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next grasp and the question about it."""
        closing, held = self._verdicts.closed(free[0])
        question = settled_question(closing.held_question(held, DETAIL_SURFACE),
                                    self._rounds.settled(free[0], held).T_object_settled)
        return free[:1], self._conditions.batch([question])

    def take(self, number: int, state: GraspState) -> None:
        """Take the details of a grasp."""
        self._detailed.add(number)
        closing, held = self._verdicts.closed(number)
        settled = self._rounds.settled(number, held)
        self._verdicts.hold(closing, replace(
            settled, state=in_found_frame(state, settled.T_object_settled)))

    def fail(self, number: int, reason: str) -> None:
        """Leave a grasp without details."""
        self._detailed.add(number)

    def stop(self) -> None:
        """Go on: the answer is to be complete."""
