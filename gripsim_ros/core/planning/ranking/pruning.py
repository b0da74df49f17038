"""Which closings are worth going on with: what the best score is that they can still reach."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ... import batches
from ...hand import HandModel
from .. import rejections
from ..closing.closing import Closing
from ..closing.grasp_state import StateRow
from ..closing.limits import NO_BAR, Bar
from ..options import PlannerOptions
from ..ranked_grasp import RankedGrasp
from .score import Reference, contact_stance, score_terms

Array = NDArray[np.float64]

#: Weight of the sum of shares beside the vectors, all of about unit length.
LARGE = 1e3
#: A flagged patch may be in the model's range again at so much of its force [-].
RELIEF = 0.8
#: Flags that stay with a patch while it is pressed harder; from a link's edge contacts wander.
LASTING = batches.PATCH_THIN | batches.PATCH_STRAINED | batches.PATCH_SPREAD


class Prospects:
    """
    Sets closings aside whose score cannot come among those wanted, and recalls them if it can.

    Hypotheses begin in heats. The bar of a heat is the last rank wanted so far, of the heats
    before the one before it: all of these are over when it begins. So bars depend on no
    order of answers. Where grasps let go as the object settles and fewer than wanted remain,
    those set aside are carried on with, without bar.

    Parameters
    ----------
    hand : HandModel
    reference : Reference
    options : PlannerOptions
    wanted : int
        Grasps that settle first: those in the answer, and spare ones.
    """

    def __init__(self, hand: HandModel, reference: Reference, options: PlannerOptions,
                 wanted: int) -> None:
        self._hand, self._reference, self._options = hand, reference, options
        self._wanted = wanted
        self._heats: dict[int, int] = {}
        self._open: set[int] = set()
        self._ranks: list[tuple[int, bool, float]] = []
        self._aside: dict[int, Closing] = {}
        self._closed = False

    @property
    def room(self) -> int:
        """Return how many hypotheses may begin now."""
        size = self._options.heat_size
        oldest = min((self._heats[number] for number in self._open), default=None)
        over = len(self._heats) // size if oldest is None else oldest
        return (over + 2) * size - len(self._heats)

    @property
    def aside(self) -> list[Closing]:
        """Return those set aside that may be recalled, by number."""
        return [] if self._closed else [c for _, c in sorted(self._aside.items())]

    def close(self) -> None:
        """Recall nothing any more."""
        self._closed = True

    @property
    def counts(self) -> Counter[str]:
        """Return how many are set aside, as a reason of rejection."""
        return Counter({rejections.SET_ASIDE: len(self._aside)})

    def begin(self, closings: Iterable[Closing]) -> None:
        """Give each closing its heat and its bar."""
        for closing in closings:
            heat = len(self._heats) // self._options.heat_size
            self._heats[closing.hypothesis.number] = heat
            self._open.add(closing.hypothesis.number)
            closing.bar = self._bar(heat)

    def conclude(self, number: int, grasp: RankedGrasp | None) -> None:
        """Take note of a verdict."""
        self._open.discard(number)
        if grasp is not None:
            self._ranks.append((self._heats.get(number, 0), grasp.quantitative, grasp.score))

    def put_aside(self, closing: Closing) -> None:
        """Set a closing aside that is below its bar."""
        self._open.discard(closing.hypothesis.number)
        self._aside[closing.hypothesis.number] = closing

    def recall(self) -> list[Closing]:
        """Return those set aside to be carried on with, without bar."""
        closings, self._aside = self.aside, {}
        for closing in closings:
            closing.bar = NO_BAR
        return closings

    def is_beaten(self, closing: Closing, state: StateRow) -> bool:
        """Tell whether a closing need not go on, after an answer; note its best score."""
        if closing.judged or closing.bar == NO_BAR or not (
                state.capable and closing.presses_everywhere(state)):
            return False
        closing.best_score = best_score(state, self._hand, self._reference, self._options)
        ratios = force_ratios(state, closing.wanted_forces(state))
        quantitative = comes_into_range(state.flags & LASTING, ratios)
        return closing.best_score < (closing.bar.quantitative if quantitative
                                     else closing.bar.other)

    def _bar(self, heat: int) -> Bar:
        ranks = sorted(((quantitative, score) for of, quantitative, score in self._ranks
                        if of <= heat - 2), reverse=True)
        if len(ranks) < self._wanted:
            return NO_BAR
        quantitative, score = ranks[self._wanted - 1]
        bar = score - self._options.set_aside_slack
        return Bar(bar, np.inf) if quantitative else Bar(other=bar)


def best_score(state: StateRow, hand: HandModel, reference: Reference,
               options: PlannerOptions) -> float:
    """
    Return the best score that a closing can reach from a state, the contacts staying in place.

    Parameters
    ----------
    state : StateRow
        Forces that hold exist, and every finger that touches presses.
    hand : HandModel
    reference : Reference
    options : PlannerOptions

    Returns
    -------
    float

    Notes
    -----
    Own derivation. However the fingers share the force, the middle of the contacts is in
    their convex hull, so its distance from the centre of mass bounds the support. Opposition
    and spread depend on places and normals alone, and the least forces hardly on more. Pressure
    and deformation only grow where the state does not hold yet; elsewhere they count as none,
    and so does torque. What contacts move while they are pressed is left to
    ``set_aside_slack``.

    """
    _, terms = score_terms(state, np.zeros(len(hand.joint_names)), hand, reference, options)
    parts = {term.name: term.weight if term.name in ('pressure', 'deformation')
             and state.margin >= 1.0 else term.contribution for term in terms}
    arms = (state.points - state.centre_of_mass) / reference.radius
    parts['support'] = (next(t.weight for t in terms if t.name == 'support')
                        * max(0.0, 1.0 - _least_norm(arms)))
    return sum(parts.values())


def foreseen_change(state: StateRow, wanted: Mapping[int, float], hand: HandModel,
                    reference: Reference, options: PlannerOptions) -> tuple[float, bool]:
    """
    Return by how much about the score changes as links come to press as wanted.

    And whether the numbers may then lie in the model's range.

    Parameters
    ----------
    state : StateRow
        Holds.
    wanted : mapping of int to float
        Normal force by link [N]; others press as they do.
    hand : HandModel
    reference : Reference
    options : PlannerOptions

    Returns
    -------
    float, bool

    Notes
    -----
    Own estimate: contacts and minimal forces stay; pressures go by Hertz's third and
    displacements by his two thirds of the forces. A patch that is flagged stays so unless its
    force falls below ``RELIEF`` of what it is, its radius by 7 %.

    """
    ratios = force_ratios(state, wanted)
    pressed = replace(
        state, forces=state.forces * ratios[:, None],
        peak_pressures=state.peak_pressures * np.cbrt(ratios),
        max_displacement=state.max_displacement * float(np.cbrt(ratios.max(initial=0.0))) ** 2)
    none, stance = np.zeros(len(hand.joint_names)), contact_stance(state, reference)
    before, after = (score_terms(of, none, hand, reference, options, stance)[0]
                     for of in (state, pressed))
    return after - before, comes_into_range(state.flags, ratios)


def force_ratios(state: StateRow, wanted: Mapping[int, float]) -> Array:
    """Return what is wanted of each patch (k,) over its present force; 1: as it is."""
    present = {link: state.normal_forces[state.links == link].sum() for link in wanted}
    return np.array([wanted[link] / present[link] if present.get(link, 0.0) > 0.0 else 1.0
                     for link in state.links.tolist()])


def comes_into_range(flags: NDArray[np.int64], ratios: Array) -> bool:
    """Tell whether no patch is flagged, or each whose force is to fall below ``RELIEF`` of it."""
    return not (flags.astype(bool) & (ratios > RELIEF)).any()


def _least_norm(vectors: Array) -> float:
    """Return the smallest norm of a convex sum of vectors (n, 3)."""
    rows = np.vstack([vectors.T, np.full(len(vectors), LARGE)])
    shares, _ = nnls(rows, np.array([0.0, 0.0, 0.0, LARGE]))
    return float(np.linalg.norm(shares @ vectors) / max(float(shares.sum()), 1e-12))
