"""Pruning: closings whose upper bound of the score falls below a threshold are deferred."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ... import batches
from ...arrays import Array, IntArray
from ...grasp_theory.wrench_space import min_norm
from ...hand import HandModel
from .. import rejections
from ..closing.closing import Closing
from ..closing.grasp_state import GraspState
from ..closing.limits import NO_THRESHOLD, ScoreThreshold
from ..options import PlannerOptions
from ..ranked_grasp import RankedGrasp
from .assemble import as_choices
from .score import SUM_WEIGHT, ScoreReference, score_terms, unbalance_and_spread


#: Ratio to its present force below which a flagged patch may lie in the model's range again [-].
RELIEF_RATIO = 0.8
#: Flags that a patch keeps while its force grows; contacts may move away from a link's edge.
LASTING_FLAGS = batches.PATCH_THIN | batches.PATCH_STRAINED | batches.PATCH_SPREAD
#: More than any score [-].
MOST_SCORE = 1e6
#: Share of the grasps found that exceed what was foretold of them by less than one must that is
#: not worth its closing [-].
SURE = 0.95


class Pruner:
    """
    Defers closings whose score cannot come among those wanted, and recalls them if needed.

    Hypotheses begin in waves. The threshold of a wave is the last rank wanted so far, of the
    waves up to the last but one, which are all over when it begins. So thresholds depend on
    no order of answers. Grasps that are much like better ones do not count: any other outranks
    them. Where grasps let go as the object settles and fewer than wanted
    remain, the deferred closings go on without threshold.

    A closing whose score was foretold is hopeless before it begins where it would have to exceed
    what was foretold of it, to come among those wanted, by more than all but one in twenty of the
    grasps of these waves do. So is one of which no forces are foretold, where a wave of such came
    to nothing. Quantitative grasps, which rank first, are not waited for where hardly one of those
    found is.

    Parameters
    ----------
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions
    wanted : int
        Grasps that settle first: those in the answer, and spare ones.
    least : int
        Grasps that are found before any closing is hopeless by its score.
    lifted : int
        Flags of patches that do not count, since the grasps are closed again by a model that
        tells more.
    """

    def __init__(self, hand: HandModel, reference: ScoreReference, options: PlannerOptions,
                 wanted: int, least: int = 0, lifted: int = 0) -> None:
        self._hand, self._reference, self._options = hand, reference, options
        self._lifted = lifted
        self._wanted, self._least = wanted, max(wanted, least)
        self._foretold: dict[int, float] = {}
        self._waves: dict[int, int] = {}
        self._open: set[int] = set()
        self._found: list[tuple[int, RankedGrasp]] = []
        self._thresholds: dict[int, ScoreThreshold] = {}
        self._least_foretold: dict[int, float] = {}
        self._deferred: dict[int, Closing] = {}

    @property
    def capacity(self) -> int:
        """Return how many hypotheses may begin now."""
        size = self._options.heat_size
        oldest = min((self._waves[number] for number in self._open), default=None)
        over = len(self._waves) // size if oldest is None else oldest
        return (over + 2) * size - len(self._waves)

    @property
    def deferred(self) -> list[Closing]:
        """Return the deferred closings that may be recalled, by number."""
        return [closing for _, closing in sorted(self._deferred.items())]

    @property
    def counts(self) -> Counter[str]:
        """Return how many are deferred, as a reason of rejection."""
        return Counter({rejections.DEFERRED: len(self._deferred)})

    def begin(self, closing: Closing, foretold: float = np.inf) -> None:
        """Give a closing, of which a score is foretold, its wave and its threshold."""
        number, wave = closing.hypothesis.number, self._next_wave
        self._foretold[number], self._waves[number] = foretold, wave
        self._open.add(number)
        if wave not in self._thresholds:
            self._thresholds[wave] = self._threshold(wave)
        closing.threshold = self._thresholds[wave]

    def is_hopeless(self, foretold: float) -> bool:
        """Return whether the next closing is not worth it by the score foretold of it."""
        wave = self._next_wave
        if wave not in self._least_foretold:
            self._least_foretold[wave] = self._least_hopeful(wave)
        return foretold < self._least_foretold[wave]

    @property
    def _next_wave(self) -> int:
        return len(self._waves) // self._options.heat_size

    def _least_hopeful(self, wave: int) -> float:
        """Return the least foretold score with which a closing of a wave is worth it."""
        found = [grasp for of, grasp in self._found if of <= wave - 2]
        gains = [grasp.score - self._foretold[grasp.hypothesis] for grasp in found
                 if np.isfinite(self._foretold[grasp.hypothesis])]
        ranks = self._last_ranks(wave)
        last = ranks.other if self._rarely_quantitative(found) else ranks.quantitative
        if len(gains) >= self._least and np.isfinite(last) and self._options.set_aside_slack < 1.0:
            return float(last - np.quantile(gains, SURE, method='higher'))
        without = [number for number, of in self._waves.items()
                   if of <= wave - 2 and self._foretold[number] == -np.inf]
        held = {grasp.hypothesis for grasp in found}
        vain = len(without) >= self._options.heat_size and bool(held) and held.isdisjoint(without)
        return -MOST_SCORE if vain else -np.inf

    def _rarely_quantitative(self, found: list[RankedGrasp]) -> bool:
        """Return whether of those found so few are that the next hardly is (Laplace's rule)."""
        sound = sum(self._is_quantitative(grasp) for grasp in found)
        return sound + 1 <= (1.0 - SURE) * (len(found) + 2)

    def conclude(self, number: int, grasp: RankedGrasp | None) -> None:
        """Take note of a verdict."""
        self._open.discard(number)
        if grasp is not None:
            self._found.append((self._waves.get(number, 0), grasp))

    def defer(self, closing: Closing) -> None:
        """Defer a closing whose bound is below its threshold."""
        self._open.discard(closing.hypothesis.number)
        self._deferred[closing.hypothesis.number] = closing

    def recall(self) -> list[Closing]:
        """Return the deferred closings, which go on without threshold."""
        closings, self._deferred = self.deferred, {}
        for closing in closings:
            closing.threshold = NO_THRESHOLD
        return closings

    def should_defer(self, closing: Closing, state: GraspState) -> bool:
        """Return True if the upper bound of a closing's score falls below its threshold."""
        if closing.judged or closing.threshold == NO_THRESHOLD or not (
                state.capable and closing.loads_all_contacts(state)):
            return False
        bound = score_upper_bound(state, self._hand, self._reference, self._options)
        ratios = force_ratios(state, closing.wanted_forces(state))
        quantitative = within_model_range(state.flags & LASTING_FLAGS & ~self._lifted, ratios)
        return bound < (closing.threshold.quantitative if quantitative
                        else closing.threshold.other)

    def _threshold(self, wave: int) -> ScoreThreshold:
        last, slack = self._last_ranks(wave), self._options.set_aside_slack
        return ScoreThreshold(last.quantitative - slack, last.other - slack)

    def _last_ranks(self, wave: int) -> ScoreThreshold:
        """Return the scores of the last wanted of the waves that are over when one begins."""
        found = as_choices(grasp for of, grasp in self._found if of <= wave - 2)
        sound = sum(self._is_quantitative(grasp) for grasp, _ in found)
        choices: dict[bool, list[float]] = {True: [], False: []}
        for grasp, like in found:
            if like is None:
                choices[self._is_quantitative(grasp)].append(grasp.score)
        return ScoreThreshold(_last(choices[True], self._wanted),
                              _last(choices[False], self._wanted - sound))

    def _is_quantitative(self, grasp: RankedGrasp) -> bool:
        flags = [contact.flags for contact in grasp.contacts] if self._lifted else []
        return grasp.quantitative or (grasp.balanced and any(flags) and not any(
            flag & ~self._lifted for flag in flags))


def _last(scores: list[float], wanted: int) -> float:
    """Return the score of the last wanted; infinite where none is, or where some are missing."""
    if wanted <= 0:
        return np.inf
    return sorted(scores, reverse=True)[wanted - 1] if len(scores) >= wanted else -np.inf


def score_upper_bound(state: GraspState, hand: HandModel, reference: ScoreReference,
                      options: PlannerOptions) -> float:
    """
    Return the best score that a closing can reach from a state, its contacts staying in place.

    Parameters
    ----------
    state : GraspState
        Forces that hold exist, and every contact bears force.
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions

    Returns
    -------
    float

    Notes
    -----
    Own derivation. However the fingers share the force, the middle of the contacts is in
    their convex hull, so its distance from the centre of mass bounds the support. Opposition
    and spread depend on points and normals alone, and the minimal forces hardly on more.
    Pressure and deformation only grow where the state does not hold yet; elsewhere they count
    as 0, and so does torque. The motion of contacts as their forces grow is left to
    ``set_aside_slack``.

    """
    _, terms = score_terms(state, np.zeros(len(hand.joint_names)), hand, reference, options)
    parts = {term.name: term.weight if term.name in ('pressure', 'deformation')
             and state.margin >= 1.0 else term.contribution for term in terms}
    arms = (state.points - state.centre_of_mass) / reference.radius
    parts['support'] = (next(t.weight for t in terms if t.name == 'support')
                        * max(0.0, 1.0 - min_norm(arms, SUM_WEIGHT)))
    return sum(parts.values())


def predicted_score_change(state: GraspState, wanted: Mapping[int, float], hand: HandModel,
                           reference: ScoreReference, options: PlannerOptions
                           ) -> tuple[float, bool]:
    """
    Return the estimated change of the score as links come to their wanted forces.

    And whether all patches may then lie in the model's range.

    Parameters
    ----------
    state : GraspState
        One that holds.
    wanted : mapping of int to float
        Normal force by link [N]; other links keep theirs.
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions

    Returns
    -------
    float, bool

    Notes
    -----
    Own estimate: contacts and minimal forces stay; pressures change with the power 1/3 of the
    forces and displacements with 2/3, as of Hertz. A flagged patch stays flagged unless its
    force falls below ``RELIEF_RATIO`` of the present one, its radius by 7 %.

    """
    ratios = force_ratios(state, wanted)
    pressed = replace(
        state, forces=state.forces * ratios[:, None],
        peak_pressures=state.peak_pressures * np.cbrt(ratios),
        max_displacement=state.max_displacement * float(np.cbrt(ratios.max(initial=0.0))) ** 2)
    no_torques = np.zeros(len(hand.joint_names))
    contact_geometry = unbalance_and_spread(state, reference)
    before, after = (score_terms(of, no_torques, hand, reference, options, contact_geometry)[0]
                     for of in (state, pressed))
    return after - before, within_model_range(state.flags, ratios)


def force_ratios(state: GraspState, wanted: Mapping[int, float]) -> Array:
    """Return the wanted over the present force of each patch (k,); 1 where none is wanted."""
    return np.array([wanted[link] / present if link in wanted and present > 0.0 else 1.0
                     for link, present in zip(state.links.tolist(), state.normal_forces_by_link)])


def within_model_range(flags: IntArray, ratios: Array) -> bool:
    """Return True if the force of each flagged patch is to fall below ``RELIEF_RATIO`` of it."""
    return not (flags.astype(bool) & (ratios > RELIEF_RATIO)).any()
