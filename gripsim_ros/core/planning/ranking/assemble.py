"""
Assemble a ranked grasp from a state that holds, and keep those that hold so far.

A grasp loses score on surface that was assumed, not seen; what is much like a better one comes
after others of its kind.
"""

import math
from collections import UserDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ....core import batches
from ...arrays import Array
from ...bodies.scans.complete import SeenSurface
from ...fields import declared, short_name
from ...hand import HandModel
from ...transforms import cross, transform
from ..closing.grasp_state import GraspState
from ..closing.knowledge import HeldGrasp
from ..hypotheses.generate import Hypothesis
from ..options import PlannerOptions
from ..ranked_grasp import GraspContact, RankedGrasp, ScoreTerm
from .score import ScoreReference, damage_margin, grip_efforts, score_terms

#: As ``rank_key`` returns it: three marks of the kind, then the order within it.
Key = tuple[bool, bool, int, float, int]


def make_grasp(hypothesis: Hypothesis, held: HeldGrasp, hand: HandModel, reference: ScoreReference,
               options: PlannerOptions) -> RankedGrasp:
    """
    Return the grasp of a hypothesis and a state that holds, not yet ranked.

    Parameters
    ----------
    hypothesis : Hypothesis
    held : HeldGrasp
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions

    Returns
    -------
    RankedGrasp
        With rank 0.
    """
    state, T_object_palm = held.state, hypothesis.T_object_palm
    efforts = grip_efforts(hand, held.joint_positions, T_object_palm, state)
    score, terms = score_terms(state, efforts, hand, reference, options)
    back = -options.approach_distance * (T_object_palm[:3, :3] @ hand.approach)
    grasp = RankedGrasp(
        rank=0, hypothesis=hypothesis.number, stable=state.holds,
        preshape=hand.preshapes[hypothesis.preshape].name,
        T_object_palm=T_object_palm,
        T_object_pregrasp=transform(T_object_palm[:3, :3], T_object_palm[:3, 3] + back),
        trajectory=held.trajectory,
        grip_positions=np.clip(held.joint_positions + efforts / hand.joint_stiffness,
                               hand.joint_lower, hand.joint_upper),
        grip_efforts=efforts, contacts=grasp_contacts(state, hand), score=score, terms=terms,
        margin=state.margin, quantitative=state.quantitative and held.balanced,
        balanced=held.balanced,
        max_displacement=state.max_displacement, centre_of_mass=state.centre_of_mass,
        warnings=patch_warnings(state, hand) + _settling_warnings(held),
        vertices=state.vertices,
        vertex_pressures=state.vertex_pressures,
        damage_margin=damage_margin(state, reference),
        T_object_settled=held.T_object_settled,
        elasticity='body' if state.own_compliance else 'half_space',
        limiting_load=limiting_load(state, held.T_object_settled, reference),
        **{number.name: getattr(state, number.name) for number in declared(RankedGrasp)})
    return with_scan_uncertainty(grasp, reference.seen, options)


def limiting_load(state: GraspState, T_object_settled: Array, reference: ScoreReference
                  ) -> Array | None:
    """
    Return the load of the task that fails first in a state.

    Parameters
    ----------
    state : GraspState
        In the frame of the object where the fingers find it.
    T_object_settled : (4, 4) float
        Pose of the settled object in that frame: the task's wrenches act at its origin, in
        unchanged directions.
    reference : ScoreReference

    Returns
    -------
    (6,) float or None
        Force [N], torque about the state's centre of mass [N m]; None where none was examined.
    """
    if not 0 <= state.worst_case < len(reference.load_cases):
        return None
    gravity, force, torque = reference.load_cases[state.worst_case].reshape(3, 3)
    lever = T_object_settled[:3, 3] - state.centre_of_mass
    return np.concatenate([reference.mass * gravity + force, torque + cross(lever, force)])


def grasp_contacts(state: GraspState, hand: HandModel) -> tuple[GraspContact, ...]:
    """Return the loaded patches of a state."""
    return tuple(
        GraspContact(
            link=hand.link_names[link], **_patch_numbers(state, i),
            mean_pressure=float(state.normal_forces[i] / max(state.areas[i], 1e-12)),
            equivalent_radius=float(np.sqrt(state.areas[i] / np.pi)))
        for i, link in enumerate(state.links))


def _patch_numbers(state: GraspState, i: int) -> dict[str, Any]:
    """Return the numbers that a contact shares with patch ``i`` of a state, by its names."""
    rows = {number.name: getattr(state, short_name(number.metadata['source']))[i]
            for number in declared(GraspContact) if 'source' in number.metadata}
    return {name: row.item() if row.ndim == 0 else row for name, row in rows.items()}


def patch_warnings(state: GraspState, hand: HandModel) -> tuple[str, ...]:
    """Return one sentence for each flag of each patch."""
    return tuple(f'{hand.link_names[link]}: {text}'
                 for link, flags in zip(state.links, state.flags)
                 for flag, text in batches.PATCH_FLAG_TEXTS.items() if int(flags) & flag)


def _settling_warnings(held: HeldGrasp) -> tuple[str, ...]:
    if held.balanced:
        return ()
    return (f'the object does not come to rest: {100.0 * held.state.residual:.0f} % of the '
            'forces are not balanced',)


def rank_key(grasp: RankedGrasp, quantitative: bool | None = None, gain: float = 0.0) -> Key:
    """
    Return the key of ranking: quantitative, balanced, then free objects that stay; score, number.

    Of a grasp that is to change: by whether it will be quantitative, and what its score gains.

    Where the object does not come to rest, no state of balance is known: of 22 such grasps two
    were lost in physics, of 204 others none. Where closing moves a free object, and last where
    the closed hand does not bear it, is as far as that is known (docs/validation/physics.md).
    """
    motion, freedom = grasp.closing_motion, 0
    if motion is not None:
        freedom = 2 if motion.bears is False else int(not motion.stays)
    if quantitative is None:
        quantitative = grasp.quantitative
    return (not quantitative, not grasp.balanced, freedom, -round(grasp.score + gain, 9),
            grasp.hypothesis)


class StableGrasps(UserDict[int, RankedGrasp]):
    """Grasps that hold, by the numbers of their hypotheses; the best is searched for lazily."""

    _best: RankedGrasp | None = None

    def __setitem__(self, number: int, grasp: RankedGrasp) -> None:
        """Take a grasp, new or changed."""
        super().__setitem__(number, grasp)
        best = self._best
        if best is None or best.hypothesis == number or rank_key(grasp) < rank_key(best):
            self._best = None

    def __delitem__(self, number: int) -> None:
        """Remove a grasp."""
        super().__delitem__(number)
        self._best = None

    @property
    def best(self) -> RankedGrasp | None:
        """Return the best grasp, with rank 1; None where none holds."""
        if self._best is None and self:
            self._best = replace(min(self.values(), key=rank_key), rank=1)
        return self._best


#: Largest expected error of a contact that counts as on seen surface [m].
NOTABLE_ERROR = 1e-4


def with_scan_uncertainty(grasp: RankedGrasp, seen: SeenSurface | None,
                          options: PlannerOptions) -> RankedGrasp:
    """
    Return a grasp of a completed body with the uncertainty of its contacts.

    Each contact gets the expected error of the surface there, the grasp a warning for each
    on unseen surface, and the score a term ``unseen`` that takes up to ``unseen_loss`` from
    it, in proportion to the largest error over ``unseen_length``.

    Parameters
    ----------
    grasp : RankedGrasp
    seen : SeenSurface or None
        None: the body is given, not completed; the grasp is returned as it is.
    options : PlannerOptions

    Returns
    -------
    RankedGrasp

    Notes
    -----
    Own choice. The expected error grows with the distance to the nearest seen point.
    """
    if seen is None or not grasp.contacts:
        return grasp
    errors = seen.uncertainty(np.array([contact.point for contact in grasp.contacts]))
    worst = float(errors.max())
    share = -min(1.0, worst / options.unseen_length)
    term = ScoreTerm('unseen', worst, 'm', options.unseen_loss, options.unseen_loss * share, share)
    warnings = tuple(
        f'{contact.link}: rests on surface that was not seen; it may be {1e3 * error:.1f} mm off'
        for contact, error in zip(grasp.contacts, errors) if error > NOTABLE_ERROR)
    return replace(
        grasp, score=grasp.score + term.contribution, terms=(*grasp.terms, term),
        warnings=grasp.warnings + warnings, contacts=tuple(
            replace(contact, surface_uncertainty=float(error))
            for contact, error in zip(grasp.contacts, errors)))


#: Grasps are much alike whose palms are nearer than this, turned by less than this, and each of
#: whose contacts is as near to one of the other's [m, rad, m].
PALM_NEAR, PALM_TURN, CONTACT_NEAR = 0.01, np.deg2rad(15.0), 0.01


def are_alike(a: RankedGrasp, b: RankedGrasp) -> bool:
    """Return whether two grasps are one choice: preshape, palm and contacts are near."""
    if a.preshape != b.preshape or not a.contacts or not b.contacts:
        return False
    if math.dist(_palm(a), _palm(b)) > PALM_NEAR:
        return False
    # The trace of a rotation is 1 + 2 cos(angle).
    if (a.T_object_palm[:3, :3] * b.T_object_palm[:3, :3]).sum() < 1.0 + 2.0 * np.cos(PALM_TURN):
        return False
    gaps = np.linalg.norm(np.array([c.point for c in a.contacts])[:, None]
                          - np.array([c.point for c in b.contacts])[None], axis=2)
    return bool(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) <= CONTACT_NEAR)


def _palm(grasp: RankedGrasp) -> list[float]:
    """Return where a grasp's palm is (3,) [m]."""
    place: list[float] = grasp.T_object_palm[:3, 3].tolist()
    return place


class _Choices:
    """Grasps of which none is much like another, by preshape, with the places of their palms."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[list[float], RankedGrasp]]] = {}

    def like(self, grasp: RankedGrasp) -> RankedGrasp | None:
        """Return the first choice that a grasp is much like; None: it is a choice of its own."""
        palm, known = _palm(grasp), self._known.setdefault(grasp.preshape, [])
        for place, choice in known:
            if math.dist(palm, place) <= PALM_NEAR and are_alike(grasp, choice):
                return choice
        known.append((palm, grasp))
        return None


def as_choices(grasps: Iterable[RankedGrasp], key: Callable[[RankedGrasp], Key] = rank_key
               ) -> list[tuple[RankedGrasp, RankedGrasp | None]]:
    """
    Return grasps in their order, and for each the better one that it is much like, if any.

    Quantitative, balanced, unmoved and borne ones come first as in ``rank_key``; of one kind,
    those come last that are much like a better grasp.

    Parameters
    ----------
    grasps : iterable of RankedGrasp
    key : callable, optional
        As ``rank_key``: three marks of the kind, then the order within it.
    """
    choices = _Choices()
    order = sorted(((key(grasp), grasp) for grasp in grasps), key=lambda pair: pair[0])
    found = [(marks[:3], grasp, choices.like(grasp)) for marks, grasp in order]
    found.sort(key=lambda row: (*row[0], row[2] is not None))
    return [(grasp, like) for _, grasp, like in found]


def told(grasp: RankedGrasp, like: RankedGrasp | None) -> RankedGrasp:
    """Return a grasp with a warning where it is much like a better one."""
    if like is None:
        return grasp
    said = (f'much like hypothesis {like.hypothesis}, which ranks before: palm and contacts are '
            f'within {1e3 * CONTACT_NEAR:g} mm')
    return replace(grasp, warnings=(*grasp.warnings, said))


def by_strength(grasps: Iterable[RankedGrasp]) -> list[RankedGrasp]:
    """Return ranked grasps, those first that bear most; of those much alike the best first."""
    def key(grasp: RankedGrasp) -> Key:
        return False, False, 0, -grasp.margin, grasp.hypothesis
    return [replace(told(grasp, like), rank=rank)
            for rank, (grasp, like) in enumerate(as_choices(grasps, key), start=1)]
