"""Closing the best again, by stages that know more of the object than those of the search."""

from collections.abc import Iterable

import numpy as np

from ..batches import ConfigurationBatch
from ..bodies import GraspObject
from ..hand import HandModel
from .closing.batching import Conditions, ItemWork
from .closing.closing import Closing
from .closing.force_control import ForceHistory
from .closing.force_level import ForceLevel
from .closing.knowledge import ClosingKnowledge, HeldGrasp
from .closing.limits import ClosingLimits
from .options import PlannerOptions
from .ranking.assemble import rank_key
from .ranking.choices import as_choices
from .settling import SPARE_GRASPS, SettlingRounds
from .verdicts import Verdicts

#: Rounds at most in which more than hold are looked for: those that rank first.
MOST_ROUNDS = 2
#: Share of a force by which a body's own compliance changes it, at most, over (L/T)^3 of its
#: diagonal and mean thickness and over the ratio of the pads' modulus to its own; measured [-].
BENDING = 0.006
#: Largest such share that is left to half-spaces [-].
NEGLIGIBLE = 0.01


def yields_as_a_whole(grasp_object: GraspObject, hand: HandModel) -> bool:
    """
    Return whether an object's own compliance can change forces of pads noticeably.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
        Its stiffest pad counts; without pads every object yields.

    Returns
    -------
    bool
        Whether ``BENDING (L/T)^3 E*_pad / E*_object`` is above ``NEGLIGIBLE``, where L is the
        diagonal of the bounding box, T twice the volume over the area, and E* the modulus in
        plane strain.

    Notes
    -----
    Own rule, measured: docs/model/compliance.md, "Stiff objects". It hangs on the shape and a
    ratio of moduli alone, not on how many contacts there are or how hard they press.
    """
    pads = [link.pad for link in hand.links if link.pad is not None]
    if not pads:
        return True
    stiffest = max(pad.youngs_modulus / (1.0 - pad.poisson_ratio ** 2) for pad in pads)
    mesh, material = grasp_object.mesh, grasp_object.material
    slenderness = mesh.diagonal * mesh.area / (2.0 * grasp_object.mass_properties.volume)
    change = BENDING * slenderness ** 3 * stiffest / material.plane_strain_modulus
    return bool(change > NEGLIGIBLE)


def closing_from(closing: Closing, held: HeldGrasp, hand: HandModel, options: PlannerOptions,
                 limits: ClosingLimits) -> Closing:
    """
    Return a closing that goes on from the grasp that another holds.

    Where the palm and the joints are, and which links touch, is known; how hard they press, and
    with which forces they hold, is asked anew.

    Parameters
    ----------
    closing : Closing
        Came to hold.
    held : HeldGrasp
        How.
    hand : HandModel
    options : PlannerOptions
    limits : ClosingLimits
    """
    hypothesis = closing.held_hypothesis
    preshape, known = hand.preshapes[hypothesis.preshape], closing.known
    rates = preshape.closed - preshape.open
    again = Closing(hypothesis, hand, options, limits)
    again.known = ClosingKnowledge(
        np.divide(held.joint_positions - preshape.open, rates, out=np.zeros(len(rates)),
                  where=rates != 0.0),
        known.in_contact.copy(), known.speeds.copy(),
        ForceLevel(options.margin_band, options.force_tolerance), ForceHistory(), 'squeeze')
    return again


def in_order(rounds: SettlingRounds, verdicts: Verdicts) -> list[int]:
    """Return all that hold: those that settled by their ranking, then the others by theirs."""
    settled = [grasp.hypothesis for grasp in rounds.ranked(len(verdicts.grasps))]
    others = [grasp.hypothesis for grasp, _ in as_choices(verdicts.grasps.values(), rank_key)]
    return list(dict.fromkeys(settled + others))


class ClosingsAgain(ItemWork[Closing]):
    """
    The work of closing the best again, in rounds, until as many as wanted hold and settle.

    A round is of those wanted and spare ones, and there are more where too many let go. Where
    enough hold and too few are quantitative and balanced, which rank first, there are
    ``MOST_ROUNDS`` at most. So what is closed depends on the answers, not on when they came.

    Parameters
    ----------
    closings : iterable of Closing
        The best first.
    wanted : int
        Grasps to be returned.
    rounds : SettlingRounds
        Of the new verdicts.
    verdicts : Verdicts
        New ones, without the grasps of the search.
    conditions : Conditions
    options : PlannerOptions
    """

    def __init__(self, closings: Iterable[Closing], wanted: int, rounds: SettlingRounds,
                 verdicts: Verdicts, conditions: Conditions, options: PlannerOptions) -> None:
        super().__init__({}, conditions, options)
        self._waiting, self._wanted = list(closings), wanted
        self._rounds, self._verdicts = rounds, verdicts
        self._begun = 0

    def unfinished(self) -> list[int]:
        """Return the closings without verdict; a new round begins where the last left too few."""
        if self._waiting and not self.items and not self._rounds.unfinished() and (
                self._lacks_grasps()):
            count, self._begun = self._wanted + SPARE_GRASPS, self._begun + 1
            chosen, self._waiting = self._waiting[:count], self._waiting[count:]
            self.items = {closing.hypothesis.number: closing for closing in chosen}
        return list(self.items)

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next closings and the question about them."""
        return self._conditions.next_question([self.items[number] for number in free],
                                              self._options)

    def answered(self, number: int) -> None:
        """Conclude a closing that ended with the forces wanted, or without grasp."""
        if self.items[number].done:
            self._verdicts.conclude(self.items.pop(number))

    def stop(self) -> None:
        """Drop what is not closed."""
        self.items, self._waiting = {}, []

    def _lacks_grasps(self) -> bool:
        grasps = self._verdicts.grasps.values()
        sound = sum(grasp.quantitative and grasp.balanced for grasp in grasps)
        return len(grasps) < self._wanted or (
            sound < self._wanted and self._begun < MOST_ROUNDS)
