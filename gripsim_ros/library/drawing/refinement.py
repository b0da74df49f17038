"""Triangles split for pictures where contacts are smaller than the mesh."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Edges near a contact end up shorter than this share of its radius.
EDGE_SHARE = 0.3
#: Faces nearer to a contact's centre than this many radii are split.
REACH = 1.3
#: Rounds of splitting, and faces, at most.
MAX_ROUNDS, MAX_FACES = 12, 80_000
#: Corners of the four parts of a triangle, as weights of its own corners.
_CORNERS = np.eye(3)
_MIDDLES = 0.5 * np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
PARTS = np.array([
    [_CORNERS[0], _MIDDLES[0], _MIDDLES[2]], [_MIDDLES[0], _CORNERS[1], _MIDDLES[1]],
    [_MIDDLES[2], _MIDDLES[1], _CORNERS[2]], [_MIDDLES[0], _MIDDLES[1], _MIDDLES[2]]])


@dataclass(frozen=True, eq=False)
class Refinement:
    """
    Parts of the faces of a mesh.

    ``origins (R,)`` are the faces that the parts lie in, ``weights (R, 3, 3)`` the
    barycentric coordinates of each part's corners there.
    """

    origins: NDArray[np.int64]
    weights: Array

    def spread(self, corner_values: Array) -> Array:
        """Return values ``(R, 3, k)`` at the parts' corners from ``(F, 3, k)`` at the faces'."""
        return self.weights @ corner_values[self.origins]


def refine_near(corners: Array, centres: Array, radii: Array) -> Refinement:
    """
    Split the faces near contacts until their edges are short against them.

    Parameters
    ----------
    corners : (F, 3, 3) float
        Corners of the faces [m].
    centres : (n, 3) float
        Of the contacts [m].
    radii : (n,) float
        Of the contacts, above 0 [m].

    Returns
    -------
    Refinement
    """
    origins, weights = np.arange(len(corners)), np.tile(np.eye(3), (len(corners), 1, 1))
    for _ in range(MAX_ROUNDS):
        split = _too_coarse(weights @ corners[origins], centres, radii)
        if not split.any() or len(origins) + 3 * split.sum() > MAX_FACES:
            break
        parts = (PARTS @ weights[split][:, None]).reshape(-1, 3, 3)
        weights = np.concatenate([weights[~split], parts])
        origins = np.concatenate([origins[~split], np.repeat(origins[split], len(PARTS))])
    return Refinement(origins, weights)


def _too_coarse(corners: Array, centres: Array, radii: Array) -> NDArray[np.bool_]:
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    middles = corners.mean(axis=1)
    coarse = np.zeros(len(corners), bool)
    for centre, radius in zip(centres, radii):
        near = np.linalg.norm(middles - centre, axis=1) < REACH * radius + 0.6 * longest
        coarse |= near & (longest > EDGE_SHARE * radius)
    return coarse
