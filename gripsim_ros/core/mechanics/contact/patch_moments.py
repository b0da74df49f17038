"""Moments of the loaded nodes of each patch: compiled kernels of ``patch_resultants``."""

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.cholesky import back_substitute, combine_rows, forward_substitute
from ...numerics.kernels import copy_entries, njit
from ...numerics.simd import LANES
from ...numerics.summation import pairwise_sum
from .rocking_stiffness import FIELDS, rigid_motion_fields, rocking_springs, tangent_basis


#: Number of loaded nodes below which the peak pressure is Hertz's 3/2 of the mean.
FEW_NODES = 7
HERTZ_PEAK = 1.5
#: Reach of the smoothing of pressures in units of the square root of a node's area, or of that of
#: half of the nodes where that is larger.
SMOOTHING_REACH = 1.5
#: Rows of the vectors and of the numbers of ``sum_patches``.
CENTRE, DIRECTION, RESULTANT, TORQUE = range(4)
AREA, FORCE, LEVER, COSINE, PEAK, DEPTH, INDENTATION, WORK = range(8)


@njit(cache=True)
def sum_patches(nodes: tuple[Array, Array, Array, Array, IntArray],
                loads: tuple[Array, Array, IntArray], system: tuple[Array, IntArray, Array],
                count: int) -> tuple[IntArray, IntArray, Array, Array, Array, Array, Array]:
    """
    Return resultants, pressures and stiffness of each loaded patch.

    Parameters
    ----------
    nodes : tuple
        Points, normals, areas, depths and patches of the loaded nodes ``(k, ...)``.
    loads : tuple
        Forces on them [N], displacements of the surface [m], and their positions among the
        candidates ``(k,)``.
    system : tuple
        Factor of their compliance, its order, and the object's own compliance; see
        ``ContactForces``.
    count : int
        Of the patches.

    Returns
    -------
    rows, node_counts : (p,) int
        Patches under load, ascending, and their loaded nodes.
    vectors : (4, p, 3) float
        Centre of pressure [m], direction, resultant [N] and its moment [N m].
    numbers : (8, p) float
        Area [m^2], sum of the forces f [N], ``sum f_i |x_i - x|`` [N m], least cosine of a
        normal to the direction, peak pressure [Pa], largest depth and displacement [m], and the
        work of a unit approach on the object's share [N/m].
    stiffness : (p, p) float
        Force added on each patch by a unit approach of each [N/m].
    rocking : (p, 2, 6) float
    rocking_stiffness : (p, 2) float
        See ``rocking_springs``.
    """
    points, normals, areas, depths, patches = nodes
    forces, shifts, loaded = loads
    factor, order, own = system
    rows, counts = np.empty(count, np.int64), np.empty(count, np.int64)
    vectors, numbers = np.empty((4, count, 3)), np.empty((8, count))
    rocking, rocking_stiffness = np.empty((count, 2, 6)), np.empty((count, 2))
    places = np.empty(len(order), np.int64)
    for k in range(len(order)):
        places[order[k]] = k
    approaches = np.zeros((count, len(forces)))
    halfway, solved = np.zeros((count, len(forces))), np.empty((len(forces), LANES))
    number = 0
    for patch in range(count):
        part = np.flatnonzero(patches == patch)
        pressing = forces[part]
        if not pairwise_sum(pressing) > 0.0:
            continue
        here, inward, around = points[part], normals[part], areas[part]
        _resultant(here, inward, pressing, vectors[:, number], numbers[:, number])
        area, force = pairwise_sum(around), pairwise_sum(pressing)
        numbers[AREA, number], numbers[FORCE, number] = area, force
        numbers[PEAK, number] = _peak_pressure(here, around, pressing, force / area)
        numbers[DEPTH, number] = depths[part].max()
        numbers[INDENTATION, number] = shifts[part].max()
        centre, direction = vectors[CENTRE, number], vectors[DIRECTION, number]
        tangents = tangent_basis(direction)
        fields = rigid_motion_fields(here, inward, centre, direction, tangents)
        _solve_fields(fields, factor, places[part], solved)
        springs, stiff = rocking_springs(fields, around, tangents, solved)
        for a in range(2):
            rocking_stiffness[number, a] = stiff[a]
            copy_entries(springs[a], rocking[number, a])
        for k in range(len(part)):
            approaches[number, part[k]] = fields[k, 0]
        copy_entries(solved[:, 0], halfway[number])
        rows[number], counts[number] = patch, len(part)
        number += 1
    stiffness = _responses(approaches[:number], halfway[:number], factor, order, own, loaded,
                           numbers[WORK])
    return (rows[:number], counts[:number], vectors[:, :number], numbers[:, :number], stiffness,
            rocking[:number], rocking_stiffness[:number])


@njit(cache=True)
def _solve_fields(fields: Array, factor: Array, places: IntArray, solved: Array) -> None:
    """Fill ``U^-T`` times displacement fields (n, 5) at places, zero elsewhere."""
    solved[:] = 0.0
    for i in range(len(places)):
        for a in range(FIELDS):
            solved[places[i], a] = fields[i, a]
    forward_substitute(factor, solved)


@njit(cache=True)
def _responses(approaches: Array, halfway: Array, factor: Array, order: IntArray, own: Array,
               loaded: IntArray, works: Array) -> Array:
    """
    Return the forces (p, p) that approaches (p, k) add; set their works on the object's share.

    ``halfway`` (p, k) are ``U^-T`` times the approaches, in the factor's order.
    """
    columns, added = np.zeros((len(order), LANES)), np.empty(len(order))
    stiffness = np.empty((len(approaches), len(approaches)))
    for first in range(0, len(approaches), LANES):
        last = min(first + LANES, len(approaches))
        for number in range(first, last):
            copy_entries(halfway[number], columns[:, number - first])
        back_substitute(factor, columns)
        for number in range(first, last):
            for k in range(len(order)):
                added[order[k]] = columns[k, number - first]
            moves = combine_rows(own, added)[loaded]
            for other in range(len(approaches)):
                stiffness[other, number] = pairwise_sum(approaches[other] * added)
            works[number] = pairwise_sum(added * moves)
    return stiffness


@njit(cache=True)
def _resultant(points: Array, normals: Array, forces: Array, vectors: Array,
               numbers: Array) -> None:
    """Set centre, resultant, its direction and moment, sum f|x_i - x|, least cosine."""
    vectors[:] = 0.0
    centre, direction, resultant, torque = (vectors[CENTRE], vectors[DIRECTION],
                                            vectors[RESULTANT], vectors[TORQUE])
    for i in range(len(forces)):
        for k in range(3):
            centre[k] += forces[i] * points[i, k]
            resultant[k] += forces[i] * normals[i, k]
    centre /= forces.sum()
    size = np.sqrt((resultant ** 2).sum())
    for k in range(3):
        direction[k] = resultant[k] / size if size > 0.0 else normals[0, k]
    lever, cosine = 0.0, 1.0
    for i in range(len(forces)):
        x, y, z = (points[i, 0] - centre[0], points[i, 1] - centre[1], points[i, 2] - centre[2])
        u, v, w = (forces[i] * normals[i, 0], forces[i] * normals[i, 1], forces[i] * normals[i, 2])
        torque[0] += y * w - z * v
        torque[1] += z * u - x * w
        torque[2] += x * v - y * u
        lever += forces[i] * np.sqrt(x * x + y * y + z * z)
        cosine = min(cosine, normals[i, 0] * direction[0] + normals[i, 1] * direction[1]
                     + normals[i, 2] * direction[2])
    numbers[LEVER], numbers[COSINE] = lever, cosine


@njit(cache=True)
def _peak_pressure(points: Array, areas: Array, forces: Array, mean: float) -> float:
    if len(forces) < FEW_NODES:
        return HERTZ_PEAK * mean
    return smoothed_pressures(points, areas, forces).max()


@njit(cache=True)
def smoothed_pressures(points: Array, areas: Array, forces: Array) -> Array:
    """
    Return the pressure ``(n,)`` at loaded nodes, smoothed over their loaded neighbours [Pa].

    Nodes beside a rim, which stand for less than others, are smoothed as far as these.

    Source: a weighted mean whose bias on a parabola is removed by the same mean of what
    it took away (twicing, Tukey 1977).
    """
    first = _neighbour_means(points, areas, forces / areas)
    return first + _neighbour_means(points, areas, forces / areas - first)


@njit(cache=True)
def _neighbour_means(points: Array, areas: Array, values: Array) -> Array:
    means, typical = np.empty(len(values)), np.median(areas)
    for i in range(len(values)):
        reach = SMOOTHING_REACH ** 2 * max(areas[i], typical)
        total, weights = 0.0, 0.0
        for j in range(len(values)):
            r = 0.0
            for k in range(3):
                r += (points[i, k] - points[j, k]) ** 2
            if r < reach:
                weight = areas[j] * (1.0 - r / reach)
                total += weight * values[j]
                weights += weight
        means[i] = total / weights
    return means


def near_others(points: Array, normals: Array, radii: Array, ratio: float) -> BoolArray:
    """
    Return which patches ``(p,)`` lie near another on the same side of the object.

    Parameters
    ----------
    points, normals : (p, 3) float
        [m]; unit.
    radii : (p,) float
        [m].
    ratio : float
        Least gap between two over the larger radius [-].
    """
    ways, larger = points[:, None] - points, np.maximum(radii[:, None], radii)
    gaps = np.sqrt((ways ** 2).sum(axis=2)) - radii[:, None] - radii
    near = (normals @ normals.T > 0.0) & (gaps < ratio * larger)
    np.fill_diagonal(near, False)
    return near.any(axis=1)
