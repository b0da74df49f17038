"""Ranked grasps as choices: what is much like a better one comes after others of its kind."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..ranked_grasp import RankedGrasp
from .assemble import rank_key

#: Grasps are much alike whose palms are nearer than this, turned by less than this, and each of
#: whose contacts is as near to one of the other's [m, rad, m].
PALM_NEAR, PALM_TURN, CONTACT_NEAR = 0.01, np.deg2rad(15.0), 0.01

Key = tuple[bool, bool, int, float, int]


def are_alike(a: RankedGrasp, b: RankedGrasp) -> bool:
    """Return whether two grasps are one choice: preshape, palm and contacts are near."""
    if a.preshape != b.preshape or not a.contacts or not b.contacts:
        return False
    if np.linalg.norm(a.T_object_palm[:3, 3] - b.T_object_palm[:3, 3]) > PALM_NEAR:
        return False
    # The trace of a rotation is 1 + 2 cos(angle).
    if (a.T_object_palm[:3, :3] * b.T_object_palm[:3, :3]).sum() < 1.0 + 2.0 * np.cos(PALM_TURN):
        return False
    gaps = np.linalg.norm(np.array([c.point for c in a.contacts])[:, None]
                          - np.array([c.point for c in b.contacts])[None], axis=2)
    return bool(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) <= CONTACT_NEAR)


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
    choices: list[RankedGrasp] = []
    found = []
    for grasp in sorted(grasps, key=key):
        like = next((better for better in choices if are_alike(grasp, better)), None)
        if like is None:
            choices.append(grasp)
        found.append((grasp, like))
    return sorted(found, key=lambda pair: (*key(pair[0])[:3], pair[1] is not None))


def told(grasp: RankedGrasp, like: RankedGrasp | None) -> RankedGrasp:
    """Return a grasp with a warning where it is much like a better one."""
    if like is None:
        return grasp
    said = (f'much like hypothesis {like.hypothesis}, which ranks before: palm and contacts are '
            f'within {1e3 * CONTACT_NEAR:g} mm')
    return replace(grasp, warnings=(*grasp.warnings, said))
