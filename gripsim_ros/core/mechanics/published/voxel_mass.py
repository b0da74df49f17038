"""
Centre of mass of a deformed body by cells, as in the seed; the exact one is in ``volume``.

Density is uniform before and after: mass stays, and where volume changes so does density.
By cells a density of one's own may be given instead.
"""

from collections.abc import Callable

import numpy as np

from ...arrays import Array, IntArray
from ...contact.geometry.ray_casting import contains
from ...contact.geometry.vp_tree import build_vp_tree
from ...errors import TaskError


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


def _inside_cells(points: Array, faces: IntArray, counts: IntArray) -> Array:
    """Return 1.0 for cells whose centre lies inside, points in units of cells."""
    tree = build_vp_tree(points, faces)
    rows = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in counts[1:]), indexing='ij'), axis=-1)
    rows = rows.reshape(-1, 2)
    return np.stack([contains(tree, np.insert(rows, 0, x + 0.5, axis=1)).reshape(counts[1:])
                     for x in range(counts[0])]).astype(float)
