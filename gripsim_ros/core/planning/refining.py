"""Closings that hold and may be among the best go on until their forces are the least."""

from collections.abc import Mapping
from dataclasses import replace

from ..hand import HandModel
from .closing.closing import Closing
from .options import PlannerOptions
from .ranked_grasp import RankedGrasp
from .ranking.assemble import rank_key
from .ranking.pruning import foreseen_change
from .ranking.score import Reference
from .settling import SettlingRounds


class Refining:
    """
    Which closings that hold go on: those whose grasps would settle next.

    A verdict needs two or three questions with forces, forces within the tolerance as many
    again. So closings pause with their verdict, and the best go on, round by round, until none
    is left among those that settle next. What comes next depends on verdicts and refined
    grasps alone, not on when they came.

    Parameters
    ----------
    hand : HandModel
    reference : Reference
    options : PlannerOptions
    """

    def __init__(self, hand: HandModel, reference: Reference, options: PlannerOptions) -> None:
        self._hand, self._reference, self._options = hand, reference, options
        self._held: dict[int, Closing] = {}
        self._foreseen: dict[int, tuple[float, bool]] = {}
        self._chosen: list[Closing] = []

    def note(self, closing: Closing) -> None:
        """Take note of a closing that holds."""
        number, held = closing.hypothesis.number, closing.held
        self._held[number] = closing
        if held is not None and not closing.done:
            self._foreseen[number] = foreseen_change(
                held.state, closing.wanted_forces(held.state), self._hand, self._reference,
                self._options)

    def __contains__(self, closing: Closing) -> bool:
        """Tell whether a closing is being refined."""
        return closing in self._chosen

    def open(self, stable: Mapping[int, RankedGrasp], settlings: SettlingRounds) -> list[Closing]:
        """
        Return the closings that are to be refined now, of a new round where the last ended.

        Parameters
        ----------
        stable : mapping of int to RankedGrasp
            All grasps that hold, by number; every hypothesis has its verdict.
        settlings : SettlingRounds
        """
        if all(closing.done for closing in self._chosen):
            closings = [self._held[n] for n in settlings.next_round(stable, self._prospect)]
            self._chosen = [closing for closing in closings if not closing.done]
        return [closing for closing in self._chosen if not closing.done]

    def _prospect(self, grasp: RankedGrasp) -> tuple[bool, bool, float, int]:
        """Return the order of ranking as refined forces are likely to make it."""
        if self._held[grasp.hypothesis].done:
            return rank_key(grasp)
        change, quantitative = self._foreseen[grasp.hypothesis]
        return rank_key(replace(grasp, quantitative=quantitative, score=grasp.score + change))
