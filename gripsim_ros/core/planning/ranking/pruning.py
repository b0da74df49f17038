"""Pruning: closings whose upper bound of the score falls below a threshold are deferred."""

from collections import Counter
from collections.abc import Iterable, Mapping
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


class Pruner:
    """
    Defers closings whose score cannot come among those wanted, and recalls them if needed.

    Hypotheses begin in waves. The threshold of a wave is the last rank wanted so far, of the
    waves up to the last but one, which are all over when it begins. So thresholds depend on
    no order of answers. Grasps that are much like better ones do not count: any other outranks
    them. Where grasps let go as the object settles and fewer than wanted
    remain, the deferred closings go on without threshold.

    Parameters
    ----------
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions
    wanted : int
        Grasps that settle first: those in the answer, and spare ones.
    """

    def __init__(self, hand: HandModel, reference: ScoreReference, options: PlannerOptions,
                 wanted: int) -> None:
        self._hand, self._reference, self._options = hand, reference, options
        self._wanted = wanted
        self._waves: dict[int, int] = {}
        self._open: set[int] = set()
        self._found: list[tuple[int, RankedGrasp]] = []
        self._thresholds: dict[int, ScoreThreshold] = {}
        self._deferred: dict[int, Closing] = {}
        self._closed = False

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
        return [] if self._closed else [c for _, c in sorted(self._deferred.items())]

    def close(self) -> None:
        """Recall nothing any more."""
        self._closed = True

    @property
    def counts(self) -> Counter[str]:
        """Return how many are deferred, as a reason of rejection."""
        return Counter({rejections.DEFERRED: len(self._deferred)})

    def begin(self, closings: Iterable[Closing]) -> None:
        """Give each closing its wave and its threshold."""
        for closing in closings:
            wave = len(self._waves) // self._options.heat_size
            self._waves[closing.hypothesis.number] = wave
            self._open.add(closing.hypothesis.number)
            if wave not in self._thresholds:
                self._thresholds[wave] = self._threshold(wave)
            closing.threshold = self._thresholds[wave]

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
        quantitative = within_model_range(state.flags & LASTING_FLAGS, ratios)
        return bound < (closing.threshold.quantitative if quantitative
                        else closing.threshold.other)

    def _threshold(self, wave: int) -> ScoreThreshold:
        found = as_choices(grasp for of, grasp in self._found if of <= wave - 2)
        sound = sum(grasp.quantitative for grasp, _ in found)
        choices: dict[bool, list[float]] = {True: [], False: []}
        for grasp, like in found:
            if like is None:
                choices[grasp.quantitative].append(grasp.score)
        quantitative, other = (_last(choices[kind], wanted) for kind, wanted in (
            (True, self._wanted), (False, self._wanted - sound)))
        slack = self._options.set_aside_slack
        return ScoreThreshold(quantitative - slack, other - slack)


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
