"""
What a body's own compliance adds to a half-space's, from cubes as small as its error asks for.

Derivation, accuracy and limits: docs/model/compliance.md, "Cells".
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ....arrays import Array, BoolArray
from ....bodies import TriangleMesh
from ....errors import MeshError
from ..node_correction import (
    beyond_half_space, neighbour_means, righting, wrenches_of)
from ..remesh import QuadraticSurface
from .elements import Cells, cells_of, grid_about
from .hats import FEW, Hats, hats_on, MANY, mean_inverses, sharpening
from .solid import on_mesh, solve_cells

#: Side of the largest cubes over the distance of neighbouring nodes, and of the next smaller ones
#: over that of those before them [-].
LARGEST, SMALLER = 1.15, 1.0 / np.sqrt(2.0)
#: Most cubes that the body has a share of: time grows with them, memory too. Most of the grid
#: about it, 1 kB each: a slender body across the grid's axes leaves most of them empty.
MOST_CELLS, MOST_OF_GRID = 9000, 400_000
#: Largest error of what a force does to its own place that counts as right [-], and the share of
#: the surface that may have a larger one before smaller cubes are tried.
MOST_ERROR, MOST_WRONG = 0.1, 0.1
#: What the next smaller cubes add over what the last did, at second and at first order [-].
SECOND_ORDER, FIRST_ORDER = SMALLER ** 2, SMALLER
#: Share of what is extrapolated that may be wrong [-].
DOUBT = 0.5
#: What a hat does to itself for its few points of quadrature, at most, in units of the
#: half-space's at the distance of neighbouring nodes [-].
ROUGH = 0.1


def solve_in_cells(mesh: TriangleMesh, surface: QuadraticSurface, smooth: BoolArray,
                   normals: Array, poisson_ratio: float, is_wall: bool = False
                   ) -> tuple[NDArray[np.float32], Array]:
    """
    Return what a body adds to the half-space's compliance at nodes on it, and its errors.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    surface : QuadraticSurface
        Carries ``n`` loads about its nodes; those at edges are there once for each side.
    smooth : (n,) bool
        Those that are at no edge.
    normals : (n, 3) float
        Unit, into the body.
    poisson_ratio : float
    is_wall : bool, optional
        All over: it dents within fewer nodes than tell how resultants are put right, and what
        they lack bends it little.

    Returns
    -------
    (n, n, 3) float
        At node i by a unit force at j, at ``[j, i]``, less the half-space's, at
        E / (1 - nu^2) = 1 Pa [1/m].
    (n,) float
        Estimated error of what a force does to its own place, over that and what a contact as
        wide as nodes are apart yields [-].

    Raises
    ------
    MeshError
        The body has too many cubes of the largest size, or no stiffness somewhere.

    Notes
    -----
    Cubes are made smaller until the error is small nearly everywhere, or they are too many; then
    the last two answers are extrapolated (Richardson), by the order that three show. Own
    arrangement.
    """
    few, many = hats_on(surface, FEW), hats_on(surface, MANY)
    inverse = mean_inverses(surface, few)
    sharp = _sharp(mesh, surface, many, sharpening(surface, few, normals), normals, is_wall)
    triangles = mesh.vertices[mesh.faces]
    size, growths = LARGEST * surface.spacing, list[Array]()
    answers = list[NDArray[np.float32]]()
    answer, errors = None, np.full(len(normals), np.inf)
    while True:
        if np.prod(grid_about(triangles, size)[1]) > MOST_OF_GRID:
            break
        cells = cells_of(triangles, size)
        if len(cells.corners) > MOST_CELLS:
            break
        found = _beyond(_moves(mesh, cells, many, normals, poisson_ratio), inverse, surface,
                        smooth, normals, poisson_ratio)
        answers = [*answers[-1:], _sharpened(found, sharp, normals)]
        answer, size = answers[-1], SMALLER * size
        if len(answers) > 1:
            growths.append(np.einsum('jja,ja->j', answers[1] - answers[0], normals))
            answer, errors = _extrapolated(answers, growths, surface.spacing, normals)
            if few.sizes[errors > MOST_ERROR].sum() <= MOST_WRONG * few.sizes.sum():
                break
    if answer is None:
        raise MeshError(f'the body has more cubes of {1e3 * size:.3g} mm than can be solved')
    return answer, errors


def _moves(mesh: TriangleMesh, cells: Cells, hats: Hats, normals: Array, poisson_ratio: float
           ) -> Array:
    """Return displacements (n, 3, n) by one grid."""
    try:
        return solve_cells(mesh, cells, hats, normals, poisson_ratio)
    except np.linalg.LinAlgError as error:
        raise MeshError(f'the body has no stiffness somewhere: {error}') from error


def _extrapolated(answers: Sequence[NDArray[np.float32]], growths: Sequence[Array],
                  spacing: float, normals: Array) -> tuple[NDArray[np.float32], Array]:
    """Return the limit (n, n, 3) of two answers, the coarser one first, and its errors (n,)."""
    sizes = [float(np.median(np.abs(growth))) for growth in growths[-2:]]
    order = SECOND_ORDER
    if len(sizes) > 1:
        order = float(np.clip(sizes[1] / max(sizes[0], 1e-300), SECOND_ORDER, FIRST_ORDER))
    more, most = order / (1.0 - order), FIRST_ORDER / (1.0 - FIRST_ORDER)
    answer = answers[1] + np.float32(more) * (answers[1] - answers[0])
    own = np.abs(np.einsum('jja,ja->j', answer, normals))
    doubt = DOUBT * more if len(sizes) > 1 else most - more
    # A contact as wide as nodes are apart yields by half of 1 / spacing beside.
    return answer, doubt * np.abs(growths[-1]) / (own + 0.5 / spacing)


def _beyond(moves: Array, inverse: Array, surface: QuadraticSurface, smooth: BoolArray,
            normals: Array, poisson_ratio: float) -> NDArray[np.float32]:
    """
    Return means over hats (n, n, 3) of what is beyond the half-space.

    What a smooth hat does to itself is as it does to its neighbours, where it does not do more:
    the walls of a cup yield most where they are pressed.
    """
    answer = beyond_half_space(normals, moves, inverse, poisson_ratio)
    means, rough = neighbour_means(answer, surface), ROUGH / (np.pi * surface.spacing)
    own = np.einsum('jja->ja', answer)
    less = own - (rough * normals).astype(np.float32)
    more = ((less - means) * normals).sum(axis=1, keepdims=True) > 0.0
    places = np.arange(len(normals))
    answer[places, places] = np.where(smooth[:, None], np.where(more, less, means), own)
    return answer


class Sharp(NamedTuple):
    """
    What makes values at nodes of means over hats, each ``(n, n)``.

    ``loads`` and ``places``: of loads, with the resultants of forces at the nodes, and of
    displacements there; ``beside``: of those along normals about a node, what its own along its
    normal lacks as the body turns.
    """

    loads: csr_matrix
    places: csr_matrix
    beside: csr_matrix


def _sharp(mesh: TriangleMesh, surface: QuadraticSurface, hats: Hats, sharp: csr_matrix,
           normals: Array, is_wall: bool) -> Sharp:
    """Return what makes values at nodes of means over hats, which lie where the mesh is."""
    if is_wall:
        return Sharp(sharp, sharp, csr_matrix(sharp.shape, dtype=np.float32))
    middles = on_mesh(mesh, hats).middles
    acting, wanted = (wrenches_of(places, normals) for places in (middles, surface.points))
    loads = righting(surface.points, surface.spacing, normals, acting, wanted - sharp @ acting)
    beside = righting(surface.points, surface.spacing, normals, acting,
                      wanted - wrenches_of(sharp @ middles, normals))
    return Sharp((sharp + loads).astype(np.float32), sharp, beside.astype(np.float32))


def _sharpened(means: NDArray[np.float32], sharp: Sharp, normals: Array) -> NDArray[np.float32]:
    """Return values (n, n, 3) at nodes of what are means over hats, both of loads and places."""
    by_load = (sharp.loads @ means.reshape(len(means), -1)).reshape(means.shape)
    along = np.einsum('jia,ia->ij', by_load, normals)
    for axis in range(3):
        by_load[:, :, axis] = (sharp.places @ by_load[:, :, axis].T).T
    by_load += (sharp.beside @ along).T[:, :, None] * normals
    return np.asarray(by_load, np.float32)
