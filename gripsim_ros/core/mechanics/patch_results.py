"""
What each patch does to the object: resultants, pressures, stiffness, validity.

Definitions: docs/model/mechanics.md, "Patches".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .. import batches
from ..errors import TaskError
from .cholesky import back_substitute, combine_rows
from .contact_forces import ContactForces, PatchNodes
from .kernel import LayerCompliance
from .tilting import tilting_springs

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Below this many loaded nodes a peak pressure is Hertz's 3/2 of the mean.
FEW_NODES = 7
HERTZ_PEAK = 1.5
#: Reach of the smoothing of pressures in units of the square root of a node's area.
SMOOTHING_REACH = 1.5
#: Shapes of what is no single number of a patch.
SHAPES = {'points': (3,), 'normals': (3,), 'forces': (3,), 'torques': (3,), 'tilting': (2, 6),
          'tilting_stiffness': (2,)}
KINDS = {'rows': np.int64, 'node_counts': np.int64}


@dataclass(frozen=True)
class ValidityOptions:
    """
    Limits of the model; a patch beyond one is flagged.

    Attributes
    ----------
    min_nodes : int
        Loaded nodes below which a patch is coarse.
    max_thickness_ratio : float
        Contact radius over half the object's thickness [-]; below the default forces are within
        10 % of finite elements, see docs/validation/finite_elements.md.
    max_depth_ratio : float
        Indentation of the object over half its thickness [-].
    max_strain_ratio : float
        Indentation of the object over contact radius, a/R of Hertz [-].
    max_spread : float
        Angle of a loaded node's normal to the patch's [rad].
    min_gap_ratio : float
        Gap between two patches on one side of the object over the larger contact radius [-].
    max_settling : float
        Change of a patch's normal force, over it, as the object settles into balance [-].
    rigid_modulus : float
        E / (1 - nu^2) above which the pads govern and the object counts as rigid [Pa].

    Raises
    ------
    TaskError
        A value is not above 0.
    """

    min_nodes: int = 7
    max_thickness_ratio: float = 0.22
    max_depth_ratio: float = 0.3
    max_strain_ratio: float = 0.9
    max_spread: float = np.deg2rad(30.0)
    min_gap_ratio: float = 3.0
    max_settling: float = 0.25
    rigid_modulus: float = 2e7

    def __post_init__(self) -> None:
        """Check every field."""
        for name, value in vars(self).items():
            if not value > 0.0:
                raise TaskError(f'validity.{name} must be above 0, got {value}')


@dataclass(frozen=True, eq=False)
class PatchResults:
    """
    Loaded patches, ``p`` of those given, frame object; forces act on the object.

    Attributes
    ----------
    rows : (p,) int
        The patches' numbers among those given.
    points, normals : (p, 3) float
        Centres of pressure [m]; unit directions of the resultants, into the object.
    forces, torques : (p, 3) float
        Resultants [N], and moments about the centre of pressure [N m].
    areas, radii : (p,) float
        Loaded area [m^2], and ``sqrt(area / pi)`` [m].
    mean_pressures, peak_pressures : (p,) float
        Force over area, and smoothed peak [Pa].
    friction_radii : (p,) float
        ``sum f_i |x_i - x| / sum f_i`` [m].
    normal_stiffness, tangential_stiffness : (p,) float
        Incremental [N/m].
    tilting : (p, 2, 6) float
    tilting_stiffness : (p, 2) float
        Springs that the object stretches as it tilts on the patch [m, m/rad], [N/m]; see
        ``tilting_springs``.
    indentations : (p,) float
        Largest displacement of the object's surface along a node's normal [m].
    depths : (p,) float
        Largest depth of a loaded node [m].
    node_counts : (p,) int
        Loaded nodes.
    spreads : (p,) float
        Largest angle of a loaded node's normal to the patch's [rad].
    """

    rows: NDArray[np.int64]
    points: Array
    normals: Array
    forces: Array
    torques: Array
    areas: Array
    radii: Array
    mean_pressures: Array
    peak_pressures: Array
    friction_radii: Array
    normal_stiffness: Array
    tangential_stiffness: Array
    tilting: Array
    tilting_stiffness: Array
    indentations: Array
    depths: Array
    node_counts: NDArray[np.int64]
    spreads: Array

    @property
    def count(self) -> int:
        """Return the number of loaded patches."""
        return len(self.rows)

    @property
    def magnitudes(self) -> Array:
        """Return the size of each resultant ``(p,)`` [N]."""
        lengths: Array = np.sqrt((self.forces ** 2).sum(axis=1))
        return lengths


def summarise_patches(nodes: PatchNodes, solution: ContactForces, poisson_ratio: float,
                      layers: Mapping[int, LayerCompliance]) -> PatchResults:
    """
    Return what each patch under load does to the object.

    Parameters
    ----------
    nodes : PatchNodes
    solution : ContactForces
        Of these nodes.
    poisson_ratio : float
        Of the object [-].
    layers : mapping of int to LayerCompliance
        Of the links that have a pad.

    Returns
    -------
    PatchResults

    Notes
    -----
    Stiffness: with the loaded nodes fixed, which is exact to first order as nodes join
    and leave at zero force, a rigid approach ``e`` along the patch's normal adds forces
    ``C^-1 e``; the other links stay. Tangential: Mindlin's ratio (2 - nu) / (2 (1 - nu))
    of the object's own share of the compliance, in series with the pad's.
    """
    rows = solution.rows[solution.loaded]
    patches, forces = nodes.patches[rows], solution.forces[solution.loaded]
    shifts = solution.displacements[solution.loaded]
    results = []
    for patch in np.unique(patches):
        part = np.flatnonzero(patches == patch)
        if not forces[part].sum() > 0.0:
            continue
        one = _resultant(nodes, rows[part], forces[part])
        one |= _stiffness(one, nodes.normals[rows[part]], part, solution, poisson_ratio,
                          layers.get(int(nodes.links[patch])))
        one |= _tilting(one, nodes, rows[part], part, solution)
        one |= {'rows': int(patch), 'indentations': float(shifts[part].max())}
        results.append(one)
    return _stack(results)


def _resultant(nodes: PatchNodes, rows: NDArray[np.int64], forces: Array) -> dict[str, Any]:
    points, normals, areas = nodes.points[rows], nodes.normals[rows], nodes.areas[rows]
    centre, resultant, direction, torque, lever, cosine = _sums(points, normals, forces)
    area, total = float(areas.sum()), float(forces.sum())
    return {
        'points': centre, 'normals': direction, 'forces': resultant, 'torques': torque,
        'areas': area, 'radii': float(np.sqrt(area / np.pi)), 'mean_pressures': total / area,
        'peak_pressures': _peak_pressure(points, areas, forces),
        'friction_radii': lever / total,
        'depths': float(nodes.depths[rows].max()), 'node_counts': len(rows),
        'spreads': float(np.arccos(min(1.0, max(-1.0, cosine))))}


@njit(cache=True)
def _sums(points: Array, normals: Array,
          forces: Array) -> tuple[Array, Array, Array, Array, float, float]:
    """Return centre, resultant, its direction, moment, sum f|x_i - x|, least cosine."""
    centre, resultant, torque = np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(len(forces)):
        for k in range(3):
            centre[k] += forces[i] * points[i, k]
            resultant[k] += forces[i] * normals[i, k]
    centre /= forces.sum()
    size = np.sqrt((resultant ** 2).sum())
    direction = resultant / size if size > 0.0 else normals[0].copy()
    lever, cosine = 0.0, 1.0
    for i in range(len(forces)):
        x, y, z = points[i] - centre
        u, v, w = forces[i] * normals[i]
        torque[0] += y * w - z * v
        torque[1] += z * u - x * w
        torque[2] += x * v - y * u
        lever += forces[i] * np.sqrt(x * x + y * y + z * z)
        cosine = min(cosine, (normals[i] * direction).sum())
    return centre, resultant, direction, torque, lever, cosine


def _peak_pressure(points: Array, areas: Array, forces: Array) -> float:
    if len(forces) < FEW_NODES:
        return HERTZ_PEAK * float(forces.sum() / areas.sum())
    return float(smoothed_pressures(points, areas, forces).max())


@njit(cache=True)
def smoothed_pressures(points: Array, areas: Array, forces: Array) -> Array:
    """
    Return the pressure ``(n,)`` at loaded nodes, smoothed over their loaded neighbours [Pa].

    Source: a weighted mean whose bias on a parabola is removed by the same mean of what
    it took away (twicing, Tukey 1977).
    """
    first = _neighbour_means(points, areas, forces / areas)
    return first + _neighbour_means(points, areas, forces / areas - first)


@njit(cache=True)
def _neighbour_means(points: Array, areas: Array, values: Array) -> Array:
    means = np.empty(len(values))
    for i in range(len(values)):
        reach = SMOOTHING_REACH ** 2 * areas[i]
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


def _stiffness(one: dict[str, Any], normals: Array, part: NDArray[np.int64],
               solution: ContactForces, poisson_ratio: float,
               layer: LayerCompliance | None) -> dict[str, float]:
    approach = np.zeros(len(solution.loaded))
    approach[part] = (normals * one['normals']).sum(axis=1)
    added, moves = _response(approach, solution.compliance_factor, solution.factor_order,
                             solution.object_compliance, solution.loaded)
    normal = float((approach * added).sum())
    share = float((added * moves).sum()) / normal ** 2
    ratio = (2.0 - poisson_ratio) / (2.0 * (1.0 - poisson_ratio))
    compliance = ratio * share
    if layer is not None:
        compliance += 1.0 / layer.tangential_stiffness(one['radii'])
    return {'normal_stiffness': normal, 'tangential_stiffness': 1.0 / compliance}


def _tilting(one: dict[str, Any], nodes: PatchNodes, rows: NDArray[np.int64],
             part: NDArray[np.int64], solution: ContactForces) -> dict[str, Array]:
    places = np.empty(len(solution.loaded), np.int64)
    places[solution.factor_order] = np.arange(len(places))
    springs, stiffness = tilting_springs(
        nodes.points[rows], nodes.normals[rows], nodes.areas[rows], one['points'],
        one['normals'], solution.compliance_factor, places[part])
    return {'tilting': springs, 'tilting_stiffness': stiffness}


@njit(cache=True)
def _response(approach: Array, factor: Array, factor_order: IntArray, own: Array,
              loaded: IntArray) -> tuple[Array, Array]:
    """Return the forces that an approach adds, and how these move the object's surface."""
    right = approach[factor_order]
    back_substitute(factor, right)
    added = np.empty(len(right))
    added[factor_order] = right
    return added, combine_rows(own, added)[loaded]


def _stack(results: list[dict[str, Any]]) -> PatchResults:
    columns: dict[str, Any] = {}
    for name in PatchResults.__annotations__:
        shape = SHAPES.get(name, ())
        kind = KINDS.get(name, np.float64)
        columns[name] = np.array([one[name] for one in results], kind).reshape(-1, *shape)
    return PatchResults(**columns)


def validity_flags(results: PatchResults, geometric_flags: NDArray[np.int64],
                   thickness: Array, soft: bool, options: ValidityOptions
                   ) -> NDArray[np.int64]:
    """
    Return the flags ``(p,)`` of loaded patches, those of geometry and of mechanics.

    Parameters
    ----------
    results : PatchResults
    geometric_flags : (p,) int
        Flags from contact detection; ``PATCH_COARSE`` among them is judged anew.
    thickness : (p,) float
        Of the object through each patch [m].
    soft : bool
        The object, not the pads alone, governs: its thickness and strain matter.
    options : ValidityOptions

    Returns
    -------
    (p,) int
        Sums of ``PATCH_*``.
    """
    half = np.maximum(thickness, 1e-12) / 2.0
    thin = ((results.radii > options.max_thickness_ratio * half)
            | (results.indentations > options.max_depth_ratio * half))
    strained = results.indentations > options.max_strain_ratio * results.radii
    flags = np.asarray(geometric_flags, np.int64) & ~batches.PATCH_COARSE
    for bad, flag in (
            (results.node_counts < options.min_nodes, batches.PATCH_COARSE),
            (soft & thin, batches.PATCH_THIN), (soft & strained, batches.PATCH_STRAINED),
            (results.spreads > options.max_spread, batches.PATCH_SPREAD),
            (_close_patches(results, options.min_gap_ratio), batches.PATCH_CLOSE)):
        flags = np.where(bad, flags | flag, flags)
    return flags


def _close_patches(results: PatchResults, ratio: float) -> NDArray[np.bool_]:
    """Tell which patches lie near another on the same side of the object."""
    between = np.sqrt(((results.points[:, None] - results.points[None]) ** 2).sum(axis=2))
    gap = between - results.radii[:, None] - results.radii[None]
    larger = np.maximum(results.radii[:, None], results.radii[None])
    same_side = (results.normals[:, None] * results.normals[None]).sum(axis=2) > 0.0
    close = same_side & (gap < ratio * larger)
    np.fill_diagonal(close, False)
    near: NDArray[np.bool_] = close.any(axis=1)
    return near


def max_normal_forces(results: PatchResults, max_pressures: Array) -> Array:
    """
    Return the normal force ``(p,)`` at which each patch reaches its limit of pressure [N].

    Parameters
    ----------
    results : PatchResults
    max_pressures : (p,) float
        [Pa], above 0; ``inf`` where there is none.

    Returns
    -------
    (p,) float

    Notes
    -----
    Near the present load a contact behaves as ``F ~ d^m`` with ``m = k d / F``: 1 for a flat
    punch, 1.5 for a ball. Then ``p ~ F^((2 - m) / m)`` (contact of power-law profiles,
    Johnson 1985, section 5.3); m is kept between 1 and 1.5, so that nothing is allowed
    more than Hertz's cube of the pressure ratio. Own derivation.
    """
    forces = results.magnitudes
    exponent = np.clip(results.normal_stiffness * results.depths / forces, 1.0, 1.5)
    power = exponent / (2.0 - exponent)
    return forces * (np.asarray(max_pressures, float) / results.peak_pressures) ** power
