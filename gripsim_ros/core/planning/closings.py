"""
The closings of the hypotheses, begun one after the other until each has its verdict.

The best are closed again by stages that know more of the object than those of the search.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from ..batches import ConfigurationBatch
from ..bodies import GraspObject
from ..hand import HandModel
from .closing.batching import Conditions, ItemWork
from .closing.closing import Closing
from .closing.force_control import ForceHistory
from .closing.force_level import ForceLevel
from .closing.grasp_state import GraspState
from .closing.knowledge import ClosingKnowledge, HeldGrasp
from .closing.limits import ClosingLimits
from .options import PlannerOptions
from .planar_closing.prospects import Prospect
from .planar_closing.queue import ClosingQueue
from .ranking.assemble import as_choices, rank_key
from .ranking.pruning import Pruner
from .rejections import NOT_EVALUATED
from .settling import SPARE_GRASPS, SettlingRounds
from .verdicts import Verdicts


#: Number of active hypotheses at first, and more for each verdict: the best answer soon.
FIRST_ACTIVE, ACTIVE_PER_VERDICT = 8, 4
#: Largest number of hypotheses begun for one question: planar closing takes time.
MAX_BEGUN = 4


class Closings:
    """
    Close the hypotheses; those deferred go on where too many grasps let go as they settle.

    Parameters
    ----------
    queue : ClosingQueue
    pruner : Pruner
    rounds : SettlingRounds
    verdicts : Verdicts
    conditions : Conditions

    Attributes
    ----------
    judged, in_contact : int
        Number of closings with a verdict, and of those that came to contact with two fingers.
    """

    any_order = True

    def __init__(self, queue: ClosingQueue, pruner: Pruner, rounds: SettlingRounds,
                 verdicts: Verdicts, conditions: Conditions) -> None:
        self._queue, self._pruner, self._rounds = queue, pruner, rounds
        self._verdicts, self._conditions, self._options = verdicts, conditions, verdicts.options
        self._active: dict[int, Closing] = {}
        self._given_out: dict[int, Closing] = {}
        self.judged = self.in_contact = 0
        self._stopped = False
        self._missed: dict[int, Closing] = {}

    def unfinished(self) -> list[int]:
        """Return the closings without verdict."""
        closings = [*self._active.values(), *self._queue, *self._given_out.values()]
        return [closing.hypothesis.number for closing in closings or self._recallable()]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch] | None:
        """Begin as many closings as wanted, and return the next question of those free."""
        limit = min(self._options.active_hypotheses,
                    FIRST_ACTIVE + ACTIVE_PER_VERDICT * self.judged)
        self._active |= _numbered(self._begin(min(limit - len(self._active), MAX_BEGUN)))
        if not (self._active or self._given_out) and self._recallable():
            self._active = _numbered(self._recall())
        closings = [closing for number, closing in self._active.items() if number in free]
        return self._conditions.next_question(closings, self._options) if closings else None

    def take(self, number: int, state: GraspState) -> None:
        """Take the answer for a closing, which may be its verdict or defer it."""
        closing = self._active[number]
        closing.answer(state)
        if closing.judged or self._pruner.should_defer(closing, state):
            self._conclude(self._active.pop(number))

    def fail(self, number: int, reason: str) -> None:
        """Reject a closing whose question cannot be answered."""
        self._active[number].fail(reason)
        self._conclude(self._active.pop(number))

    @property
    def missed(self) -> dict[int, Closing]:
        """Return, by number, those that came to contact and did not hold, and those refused."""
        return dict(sorted((self._missed | _numbered(self._queue.refused)).items()))

    def give_out(self, count: int) -> list[Closing]:
        """Return the next ``count`` hypotheses to be closed whole elsewhere."""
        closings = self._begin(count)
        self._given_out |= _numbered(closings)
        return closings

    def look_ahead(self) -> bool:
        """Find the prospect of one hypothesis that waits; return whether one was unknown."""
        return self._queue.look_ahead()

    def seek(self, count: int) -> list[int]:
        """Give out hypotheses of which prospects are to be found; see ``ClosingQueue``."""
        return self._queue.seek(count)

    def foretell(self, numbers: Iterable[int]) -> dict[int, Prospect]:
        """Return the prospects of hypotheses that wait, by number."""
        waiting = _numbered([*self._queue])
        return {number: self._queue.prospect(waiting[number]) for number in numbers}

    def learn(self, prospects: Mapping[int, Prospect]) -> None:
        """Take prospects that others have found."""
        self._queue.learn(prospects)

    def known_to_others(self) -> dict[int, Closing]:
        """Return the closings, waiting or given out, by number."""
        return _numbered([*self._queue]) | self._given_out

    def take_back(self, outcomes: dict[int, ClosingKnowledge]) -> None:
        """Take the outcomes of closings given out, by number; others are ignored."""
        for number, known in outcomes.items():
            closing = self._given_out.pop(number, None)
            if closing is not None:
                closing.known = known
                self._conclude(closing)

    def stop(self) -> None:
        """Drop all closings that are not finished."""
        self._verdicts.rejections[NOT_EVALUATED] += (
            len(self._queue) + len(self._active) + len(self._given_out))
        self._queue.clear()
        self._active, self._given_out, self._stopped = {}, {}, True

    def _begin(self, count: int) -> list[Closing]:
        begun: list[Closing] = []
        while len(begun) < min(count, self._pruner.capacity + len(begun)):
            if (begun or self._active) and self._queue.lacks_prospects:
                break       # prospects are found meanwhile
            taken = self._queue.take(1, self._pruner.is_hopeless)
            if not taken:
                break
            self._pruner.begin(taken[0], self._queue.prospect(taken[0]).score)
            begun += taken
        return begun

    def _recallable(self) -> list[Closing]:
        """Return closings set aside that are wanted after all: too many grasps let go."""
        if self._stopped or not self._rounds.lacks_grasps():
            return []
        return self._pruner.deferred or self._queue.held_back

    def _recall(self) -> list[Closing]:
        """Return closings set aside that go on or begin now: those that came farther first."""
        if not self._pruner.deferred:
            self._queue.release(self._options.heat_size)
            return self._begin(MAX_BEGUN)
        return self._pruner.recall()

    def _conclude(self, closing: Closing) -> None:
        """Take the verdict on a closing; one without is deferred."""
        self._queue.note(closing)
        if not closing.judged:
            self._pruner.defer(closing)
            return
        self.judged += 1
        self.in_contact += int(closing.reached_contact)
        self._verdicts.conclude(closing)
        number = closing.hypothesis.number
        if closing.reached_contact and closing.held is None:
            self._missed[number] = closing
        self._pruner.conclude(number, self._verdicts.grasps.get(number))


def _numbered(closings: list[Closing]) -> dict[int, Closing]:
    return {closing.hypothesis.number: closing for closing in closings}


#: Rounds at most in which more than hold are looked for: those that rank first.
MOST_ROUNDS = 4
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
    """

    def __init__(self, closings: Iterable[Closing], wanted: int, rounds: SettlingRounds,
                 verdicts: Verdicts, conditions: Conditions) -> None:
        super().__init__({}, conditions, verdicts.options)
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
