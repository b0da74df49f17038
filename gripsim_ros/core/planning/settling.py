"""
Settling: the object moves between the closed fingers until their forces balance.

Contact is found with the object held fixed, so the forces of the pads need not balance.
Each answer proposes a small rigid motion of the object that would balance them, friction
included; the next question is about the same closed hand at the object so moved. Before that,
closings whose grasps are to settle are refined until their forces are near the minimal ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..hand import HandModel
from ..transforms import apply, inverse, rotate
from .closing.closing import Closing, HeldGrasp, Question
from .closing.grasp_state import GraspState
from .options import PlannerOptions
from .ranked_grasp import RankedGrasp
from .ranking.assemble import rank_key
from .ranking.pruning import predicted_score_change
from .ranking.robustness import rotation_about
from .ranking.score import ScoreReference

Array = NDArray[np.float64]

#: Number of grasps that settle beside those wanted: settling changes scores a little.
SPARE_GRASPS = 2


@dataclass(frozen=True, eq=False)
class _SettledState:
    """The object's pose (4, 4), in its frame as it was found, and the state there."""

    T_object_settled: Array
    state: GraspState


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
    number : int
        Names the grasp.
    """

    def __init__(self, question: Question, state: GraspState, options: PlannerOptions,
                 number: int = 0) -> None:
        self.number = number
        self._question, self._options = question, options
        self._best, self._fraction = _SettledState(np.eye(4), state), 1.0
        self._asks = 0

    @property
    def balanced(self) -> bool:
        """Return True if the forces balance, or the options ask for no settling."""
        return (self._options.settling_steps == 0
                or bool(self._best.state.residual <= self._options.settling_residual))

    @property
    def done(self) -> bool:
        """Return True if nothing more is to be asked."""
        return (self.balanced or not _can_settle(self._best.state)
                or self._asks >= self._options.settling_steps)

    def question(self) -> Question:
        """Return the question for the object moved as the last answer proposed."""
        return settled_question(self._question, self._next())

    def answer(self, state: GraspState | None) -> None:
        """Take the answer to the last question; None: there is none, and settling ends."""
        self._asks = self._options.settling_steps if state is None else self._asks + 1
        if state is not None and _can_settle(state) and (
                state.residual < self._best.state.residual):
            self._best, self._fraction = _SettledState(self._next(), state), 1.0
        else:
            self._fraction *= 0.5

    def settled(self, held: HeldGrasp) -> HeldGrasp:
        """Return a held grasp with the object settled as far as it came."""
        T_object_settled = self._best.T_object_settled
        return replace(
            held, state=in_found_frame(self._best.state, T_object_settled),
            T_object_settled=T_object_settled, balanced=self.balanced)

    def _next(self) -> Array:
        shift = self._fraction * self._best.state.shift
        return self._best.T_object_settled @ rotation_about(
            self._best.state.centre_of_mass, shift[3:], shift[:3])


def _can_settle(state: GraspState) -> bool:
    return state.capable and bool(np.isfinite(state.residual))


def settled_question(question: Question, T_object_settled: Array) -> Question:
    """
    Return a question about the same hand at the object where it has settled.

    Parameters
    ----------
    question : Question
        In the frame of the object as it was found.
    T_object_settled : (4, 4) float
        Pose of the object in that frame.

    Returns
    -------
    Question
        In the frame of the settled object.
    """
    rotation = T_object_settled[:3, :3]
    motion = np.concatenate([rotation.T @ T_object_settled[:3, 3],
                             Rotation.from_matrix(rotation).as_rotvec()])
    return replace(question, T_object_palm=inverse(T_object_settled) @ question.T_object_palm,
                   settled_object=motion)


def in_found_frame(state: GraspState, T_object_settled: Array) -> GraspState:
    """
    Return a state of a settled object in the frame of the object as it was found.

    Parameters
    ----------
    state : GraspState
        In the frame of the settled object.
    T_object_settled : (4, 4) float
        Pose of the settled frame in the found one, in which the palm has not moved.
    """
    if (T_object_settled == np.eye(4)).all():
        return state
    turned: dict[str, Any] = {name: rotate(T_object_settled, getattr(state, name)) for name in (
        'normals', 'forces', 'torques', 'minimal_forces', 'minimal_torques')}
    vertices = None if state.vertices is None else apply(T_object_settled, state.vertices)
    return replace(
        state, **turned, points=apply(T_object_settled, state.points), vertices=vertices,
        centre_of_mass=apply(T_object_settled, state.centre_of_mass[None])[0])


class SettlingRounds:
    """
    Choice of the grasps that settle: in rounds, the best first, until those wanted remain.

    Rounds are parts of the ranking before any grasp settled, so that what has settled in the
    end depends on the answers, not on when they came.

    Parameters
    ----------
    wanted : int
        Grasps to be returned.
    options : PlannerOptions
    """

    def __init__(self, wanted: int, options: PlannerOptions) -> None:
        self._wanted, self._options = wanted, options
        self._settlings: dict[int, Settling] = {}

    def includes(self, grasp: RankedGrasp) -> bool:
        """Return True if a grasp may be returned: once settling began, only settled ones."""
        return not self._settlings or grasp.hypothesis in self._settlings

    def lacks_grasps(self, stable: Mapping[int, RankedGrasp]) -> bool:
        """Return True if rounds have ended and fewer than wanted remain."""
        return bool(self._settlings) and all(s.done for s in self._settlings.values()) and (
            sum(number in stable for number in self._settlings) < self._wanted)

    def next_round(self, stable: Mapping[int, RankedGrasp],
                   key: Callable[[RankedGrasp], tuple[bool, bool, float, int]] = rank_key
                   ) -> list[int]:
        """Return the grasps that settle next, best first; none while a round goes on."""
        remaining = sum(number in stable for number in self._settlings)
        if remaining >= self._wanted or not all(s.done for s in self._settlings.values()):
            return []
        fresh = (g for g in stable.values() if g.hypothesis not in self._settlings)
        order = sorted(fresh, key=key)[:self._wanted + SPARE_GRASPS]
        return [grasp.hypothesis for grasp in order]

    def unfinished(self, stable: Mapping[int, RankedGrasp],
                   begin: Callable[[int], tuple[Question, GraspState]]) -> list[Settling]:
        """
        Return the settlings that are not done; a new round begins where the last has ended.

        Parameters
        ----------
        stable : mapping of int to RankedGrasp
            All grasps that hold, by number; every hypothesis has its verdict.
        begin : callable
            Returns the question and the state of a grasp by its number.
        """
        while numbers := self.next_round(stable):
            for number in numbers:
                self._settlings[number] = Settling(*begin(number), self._options, number)
        return [s for s in self._settlings.values() if not s.done]

    def settled(self, number: int, held: HeldGrasp) -> HeldGrasp:
        """Return a held grasp, with the object settled if it was chosen to settle."""
        settling = self._settlings.get(number)
        return held if settling is None else settling.settled(held)


class Refinement:
    """
    Choice of the closings that hold and go on: those whose grasps would settle next.

    A verdict needs two or three questions with forces, forces within the tolerance as many
    again. So closings pause with their verdict, and the best go on, round by round, until none
    is left among those that settle next. The choice depends on verdicts and refined grasps
    alone, not on when they came.

    Parameters
    ----------
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions
    """

    def __init__(self, hand: HandModel, reference: ScoreReference, options: PlannerOptions
                 ) -> None:
        self._hand, self._reference, self._options = hand, reference, options
        self._held: dict[int, Closing] = {}
        self._predicted: dict[int, tuple[float, bool]] = {}
        self._chosen: list[Closing] = []

    def note(self, closing: Closing) -> None:
        """Take note of a closing that holds."""
        number, held = closing.hypothesis.number, closing.held
        self._held[number] = closing
        if held is not None and not closing.done:
            self._predicted[number] = predicted_score_change(
                held.state, closing.wanted_forces(held.state), self._hand, self._reference,
                self._options)

    def __contains__(self, closing: Closing) -> bool:
        """Return True if a closing is being refined."""
        return closing in self._chosen

    def unfinished(self, stable: Mapping[int, RankedGrasp], settlings: SettlingRounds
                   ) -> list[Closing]:
        """
        Return the closings to be refined now; a new round begins where the last has ended.

        Parameters
        ----------
        stable : mapping of int to RankedGrasp
            All grasps that hold, by number; every hypothesis has its verdict.
        settlings : SettlingRounds
        """
        if all(closing.done for closing in self._chosen):
            closings = [self._held[n] for n in settlings.next_round(stable, self._predicted_key)]
            self._chosen = [closing for closing in closings if not closing.done]
        return [closing for closing in self._chosen if not closing.done]

    def _predicted_key(self, grasp: RankedGrasp) -> tuple[bool, bool, float, int]:
        """Return the key of ranking with the predicted score after refinement."""
        if self._held[grasp.hypothesis].done:
            return rank_key(grasp)
        change, quantitative = self._predicted[grasp.hypothesis]
        return rank_key(replace(grasp, quantitative=quantitative, score=grasp.score + change))
