"""
Centre of mass of a deformed body by cells, as in the seed; the exact one is in ``volume``.

Density is uniform before and after: mass stays, and where volume changes so does density.
By cells a density of one's own may be given instead.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...errors import TaskError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Largest number of cells: 2 GB of marks would be a mistake in the cell's size.
MAX_CELLS = 200_000_000


def voxel_centre_of_mass(vertices: Array, faces: IntArray, cell: float,
                         vertex_weight: float | None = None,
                         density: Callable[[Array], Array] | None = None
                         ) -> tuple[Array, float]:
    """
    Return centre of mass and volume by cells, as in the seed, or mass with a density.

    Parameters
    ----------
    vertices : (V, 3) float
        [m].
    faces : (F, 3) int
    cell : float
        Side of a cell [m]; the grid's corners lie at whole multiples of it.
    vertex_weight : float or None
        Weight of cells that hold a vertex, 0 to 1 [-]. None: only the cells whose centre
        lies inside count, the most accurate reading for mass.
    density : function, optional
        From points ``(n, 3)`` [m] to densities ``(n,)`` there [kg/m^3]; asked at the middles
        of the cells that count.

    Returns
    -------
    (3,) float
        [m].
    float
        [m^3], or [kg] with a density.

    Raises
    ------
    TaskError
        ``cell`` is not above 0, makes too many cells, or none inside; the weight is
        outside 0 to 1; a density is negative or not finite, or there is no mass.

    Notes
    -----
    Source: Leskov et al. 2017, ``C = sum v_i l_i / sum v_i`` over inside cells and cells
    holding vertices. Its weight for the latter is not legible; 1 overestimates the volume
    by half a layer of cells and must not be used for mass.
    """
    vertices = np.asarray(vertices, float)
    if not (np.isfinite(cell) and cell > 0.0):
        raise TaskError(f'cell must be above 0 m, got {cell}')
    if vertex_weight is not None and not 0.0 <= vertex_weight <= 1.0:
        raise TaskError(f'vertex_weight must be 0 to 1, got {vertex_weight}')
    low = np.floor(vertices.min(axis=0) / cell).astype(np.int64)
    counts = np.floor(vertices.max(axis=0) / cell).astype(np.int64) - low + 1
    if float(np.prod(counts.astype(float))) > MAX_CELLS:
        raise TaskError(f'cell of {cell} m makes more than {MAX_CELLS} cells')
    weights = _inside_cells(vertices / cell - low, faces, counts)
    if vertex_weight is not None:
        held = np.floor(vertices / cell).astype(np.int64) - low
        weights[tuple(held.T)] = vertex_weight
    total = float(weights.sum())
    if total == 0.0:
        raise TaskError(f'cell of {cell} m is too large: none lies inside')
    if density is not None:
        return _weighted_centre(weights, low, cell, density)
    middles = [(np.arange(n) + 0.5 + start) * cell for n, start in zip(counts, low)]
    sums = [weights.sum(axis=other) for other in ((1, 2), (0, 2), (0, 1))]
    centre = np.array([float((s * m).sum()) for s, m in zip(sums, middles)]) / total
    return centre, total * cell ** 3


def _weighted_centre(weights: Array, low: IntArray, cell: float,
                     density: Callable[[Array], Array]) -> tuple[Array, float]:
    """Return the centre and the sum of cells that also weigh by a density."""
    places = np.argwhere(weights > 0.0)
    middles = np.asarray((places + 0.5 + low) * cell, np.float64)
    densities: Array = np.asarray(density(middles), np.float64)
    if densities.shape != (len(places),) or not np.isfinite(densities).all() or (
            densities < 0.0).any() or not densities.any():
        raise TaskError('density must give one finite number, 0 kg/m^3 or more, for each of '
                        f'{len(places)} points, not all 0; got shape {densities.shape}')
    masses = weights[tuple(places.T)] * densities * cell ** 3
    total = float(masses.sum())
    return (masses[:, None] * middles).sum(axis=0) / total, total


@njit(cache=True)
def _inside_cells(points: Array, faces: IntArray, counts: IntArray) -> Array:
    """Return 1.0 for cells whose centre lies inside, by crossings of lines along z."""
    marks = np.zeros((counts[0], counts[1], counts[2]))
    for f in range(len(faces)):
        a, b, c = points[faces[f, 0]], points[faces[f, 1]], points[faces[f, 2]]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            continue
        sign = 1.0 if area > 0.0 else -1.0
        i0 = max(int(np.ceil(min(a[0], b[0], c[0]) - 0.5)), 0)
        i1 = min(int(np.floor(max(a[0], b[0], c[0]) - 0.5)), counts[0] - 1)
        j0 = max(int(np.ceil(min(a[1], b[1], c[1]) - 0.5)), 0)
        j1 = min(int(np.floor(max(a[1], b[1], c[1]) - 0.5)), counts[1] - 1)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                _mark_below(a, b, c, i + 0.5, j + 0.5, area, sign, marks[i, j])
    return marks


@njit(cache=True)
def _mark_below(a: Array, b: Array, c: Array, x: float, y: float, area: float, sign: float,
                column: Array) -> None:
    """Add the crossing's sign to all cells of a column whose centres lie below it."""
    w0 = _side(b, c, x, y, sign)
    w1 = _side(c, a, x, y, sign)
    w2 = _side(a, b, x, y, sign)
    if w0 < 0.0 or w1 < 0.0 or w2 < 0.0:
        return
    z = (w0 * a[2] + w1 * b[2] + w2 * c[2]) / (w0 + w1 + w2)
    for k in range(min(len(column), max(0, int(np.ceil(z - 0.5))))):
        column[k] += sign


@njit(cache=True)
def _side(p: Array, q: Array, x: float, y: float, sign: float) -> float:
    """
    Return how far a point lies on the inner side of an edge; -1 for one that is not.

    Computed from the edge's lower end, so that both its faces get the same number; a point
    on the edge belongs to the face on one side of it alone.
    """
    forward = (p[0], p[1]) < (q[0], q[1])
    s, e = (p, q) if forward else (q, p)
    value: float = (e[0] - s[0]) * (y - s[1]) - (e[1] - s[1]) * (x - s[0])
    inner = value if forward else -value
    inner *= sign
    if inner == 0.0:
        own = forward if sign > 0.0 else not forward
        return 0.0 if own else -1.0
    return inner
