"""Pressure on tetrahedra by a hat function: it falls from a node to nothing at its neighbours."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from ....core.mechanics.quadratic_elements import PARTS, TRIANGLE_SIDES
from ..elements import Tetrahedra

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Corners and middles of sides of a quadratic tetrahedron's eight parts.
EIGHTHS = np.array([[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3],
                    [4, 6, 7, 8], [4, 5, 6, 8], [6, 7, 8, 9], [5, 6, 8, 9]])
#: What elements as coarse as the mesh's miss, over what halves of them find of it: each halving
#: finds 0.35 to 0.39 of what the one before did (``test_hats.py``).
REST = 1.57


def hat_forces(elements: Tetrahedra, triangles: Indices, pressures: Array) -> Array:
    """
    Return the forces (n,) of pressure on nodes of quadratic elements, along its direction [N].

    Parameters
    ----------
    elements : Tetrahedra
    triangles : (k, 3) int
        Faces of elements, by their corners.
    pressures : (k, 3) float
        At their corners, linear in between [Pa].
    """
    forces, points = np.zeros(len(elements.points)), elements.points[triangles]
    areas = 0.5 * np.linalg.norm(np.cross(points[:, 1] - points[:, 0],
                                          points[:, 2] - points[:, 0]), axis=1)
    sums = pressures.sum(axis=1)
    for k in range(3):
        np.add.at(forces, triangles[:, k], areas * (3.0 * pressures[:, k] - sums) / 60.0)
    for ends in TRIANGLE_SIDES:
        np.add.at(forces, elements.middles(triangles[:, ends]),
                  areas * (sums + pressures[:, ends].sum(axis=1)) / 15.0)
    return forces


def missed_yield(nodes: Array, corners: Indices, node: int, triangles: Indices,
                 poisson_ratio: float) -> Array:
    """
    Return what quadratic tetrahedra miss of the yield under a node, which they are too large for.

    Parameters
    ----------
    nodes : (N, 3) float
        [m].
    corners : (T, 4) int
    node : int
        On the surface.
    triangles : (k, 3) int
        Of the surface round it, that are pressed on: most at the node, at their far sides nothing.
    poisson_ratio : float

    Returns
    -------
    (3, 3) float
        Of the mean under that pressure, by the direction of a force, for a modulus of 1 Pa [1/m].

    Notes
    -----
    Elements are too coarse near the node alone: its own, held where they end, tell the yield as
    they are and halved. Departs from the whole: of balls that is 0.7 to 0.9 of what is missed.
    """
    used, round_it = np.unique(corners[(corners == node).any(axis=1)], return_inverse=True)
    places = np.full(len(nodes), -1)
    places[used] = np.arange(len(used))
    points, members = nodes[used], round_it.reshape(-1, 4)
    faces, heights = places[triangles], (used == node).astype(float)
    coarse = Tetrahedra(points, members, quadratic=True)
    rough = _yield_held(coarse, faces, heights, poisson_ratio)
    return REST * (_yield_held(*_halved(coarse, faces, heights), poisson_ratio) - rough)


def _halved(elements: Tetrahedra, faces: Indices, heights: Array
            ) -> tuple[Tetrahedra, Indices, Array]:
    """Return quadratic elements half as large, with their faces and a hat's heights at corners."""
    sides = np.stack([elements.middles(faces[:, ends]) for ends in TRIANGLE_SIDES], axis=1)
    return (Tetrahedra(elements.points, elements.members[:, EIGHTHS].reshape(-1, 4),
                       quadratic=True),
            np.hstack([faces, sides])[:, PARTS].reshape(-1, 3),
            np.concatenate([heights, _at_middles(elements, heights)]))


def _yield_held(elements: Tetrahedra, faces: Indices, heights: Array, poisson_ratio: float
                ) -> Array:
    """Return the yield (3, 3) of elements held where a hat's heights (N,) at corners are 0."""
    forces = hat_forces(elements, faces, heights[faces])
    all_heights = np.concatenate([heights, _at_middles(elements, heights)])
    free = np.flatnonzero(np.repeat(all_heights > 0.0, 3))
    loads = np.kron((forces / forces.sum())[:, None], np.eye(3))[free]
    matrix = elements.stiffness(poisson_ratio).tocsr()[free][:, free].tocsc()
    return np.asarray(loads.T @ splu(matrix).solve(loads))


def _at_middles(elements: Tetrahedra, heights: Array) -> Array:
    """Return values at the middles of sides (m,) of those at corners (N,), linear in between."""
    return np.asarray(heights[elements.ends].mean(axis=1))
