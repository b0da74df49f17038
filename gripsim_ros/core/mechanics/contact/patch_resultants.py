"""
What each patch does to the object: resultants, pressures, stiffness, validity.

Definitions: docs/model/mechanics.md, "Patches".
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ... import batches
from ...arrays import Array, BoolArray, IntArray
from ...options import option, Options
from .bonded_layer import LayerCompliance
from .contact_forces import ContactForces, PatchNodes
from .patch_moments import CENTRE, DIRECTION, near_others, RESULTANT, sum_patches, TORQUE

#: Bending of a ring on each side, (pi/4 - 2/pi) 6 / 2, over what a punch yields, 1/2 [-].
RING_OVER_PUNCH = 6.0 * (np.pi / 4.0 - 2.0 / np.pi)
#: Growth of what an object yields at its edge by contact radius over thickness there [-].
EDGE_SLENDERNESS = 8.0
#: Growth of what a pad yields at its border, over the least share of it that nodes tell [-].
PAD_GROWTH = 2.0


@dataclass(frozen=True)
class ValidityOptions(Options, section='validity'):
    """
    Limits of the model; a patch beyond one is flagged.

    Attributes
    ----------
    min_nodes : int
        Loaded nodes below which a patch is coarse.
    max_thickness_ratio : float
        Contact radius over half the object's thickness, times the object's share of the approach
        [-]; below the default forces are within 10 % of finite elements, see
        docs/validation/finite_elements.md.
    max_bending : float
        What a wall would yield by bending as a ring, over the approach [-].
    max_depth_ratio : float
        Indentation of the object over half its thickness [-].
    max_strain_ratio : float
        Indentation of the object over contact radius, a/R of Hertz [-].
    max_spread : float
        Angle of a loaded node's normal to the patch's [rad].
    min_gap_ratio : float
        Gap between two patches on one side of the object over the larger contact radius [-].
    max_edge_yield : float
        What object or pad would yield more beside an edge of its own, over the approach [-].
    max_settling : float
        Change of a patch's normal force, over it, as the object settles into balance [-].

    Raises
    ------
    TaskError
        A value is not above 0.
    """

    min_nodes: int = option(7, above=0)
    max_thickness_ratio: float = option(0.22, above=0)
    max_bending: float = option(0.1, above=0)
    max_depth_ratio: float = option(0.3, above=0)
    max_strain_ratio: float = option(0.9, above=0)
    max_spread: float = option(np.deg2rad(30.0), above=0)
    min_gap_ratio: float = option(3.0, above=0)
    max_edge_yield: float = option(0.1, above=0)
    max_settling: float = option(0.25, above=0)


@dataclass(frozen=True, eq=False)
class PatchResultants:
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
    stiffness : (p, p) float
        Normal force added on each patch by a unit approach of each, the others held [N/m].
    normal_stiffness, tangential_stiffness : (p,) float
        Incremental [N/m]; the former is the diagonal of ``stiffness``.
    rocking : (p, 2, 6) float
    rocking_stiffness : (p, 2) float
        Springs that the object stretches as it tilts on the patch [m, m/rad], [N/m]; see
        ``rocking_springs``.
    indentations : (p,) float
        Largest displacement of the object's surface along a node's normal [m].
    depths : (p,) float
        Largest depth of a loaded node [m].
    node_counts : (p,) int
        Loaded nodes.
    spreads : (p,) float
        Largest angle of a loaded node's normal to the patch's [rad].
    """

    rows: IntArray
    points: Array
    normals: Array
    forces: Array
    torques: Array
    areas: Array
    radii: Array
    mean_pressures: Array
    peak_pressures: Array
    friction_radii: Array
    stiffness: Array
    normal_stiffness: Array
    tangential_stiffness: Array
    rocking: Array
    rocking_stiffness: Array
    indentations: Array
    depths: Array
    node_counts: IntArray
    spreads: Array

    @property
    def count(self) -> int:
        """Return the number of loaded patches."""
        return len(self.rows)

    @property
    def object_shares(self) -> Array:
        """Return the object's part of each approach ``(p,)``, the pad's is the rest [-]."""
        return np.minimum(1.0, self.indentations / self.depths)

    @property
    def magnitudes(self) -> Array:
        """Return the size of each resultant ``(p,)`` [N]."""
        return np.sqrt((self.forces ** 2).sum(axis=1))


def summarise_patches(nodes: PatchNodes, solution: ContactForces, poisson_ratio: float,
                      layers: Mapping[int, LayerCompliance]) -> PatchResultants:
    """
    Return the resultants of the patches under load.

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
    PatchResultants

    Notes
    -----
    Stiffness: with the loaded nodes fixed, which is exact to first order as nodes join
    and leave at zero force, a rigid approach ``e`` along the patch's normal adds forces
    ``C^-1 e``; the other links stay. Tangential: Mindlin's ratio (2 - nu) / (2 (1 - nu))
    of the object's own share of the compliance, in series with the pad's.
    """
    rows = solution.rows[solution.loaded]
    patches, counts, vectors, numbers, stiffness, rocking, rocking_stiffness = sum_patches(
        (nodes.points[rows], nodes.normals[rows], nodes.areas[rows], nodes.depths[rows],
         nodes.patches[rows]),
        (solution.forces[solution.loaded], solution.displacements[solution.loaded],
         solution.loaded),
        (solution.compliance_factor, solution.factor_order, solution.object_compliance),
        nodes.patch_count)
    areas, forces, levers, cosines, peaks, depths, indentations, work = numbers
    normal = np.diag(stiffness).copy()
    radii = np.sqrt(areas / np.pi)
    pads = [layers.get(int(link)) for link in nodes.links[patches]]
    tangential = [_tangential_stiffness(radius, own, share, poisson_ratio, pad)
                  for radius, own, share, pad in zip(
                      radii.tolist(), normal.tolist(), work.tolist(), pads)]
    return PatchResultants(
        rows=patches, points=vectors[CENTRE], normals=vectors[DIRECTION],
        forces=vectors[RESULTANT], torques=vectors[TORQUE], areas=areas, radii=radii,
        mean_pressures=forces / areas, peak_pressures=peaks, friction_radii=levers / forces,
        stiffness=stiffness, normal_stiffness=normal,
        tangential_stiffness=np.array(tangential, float), rocking=rocking,
        rocking_stiffness=rocking_stiffness, indentations=indentations, depths=depths,
        node_counts=counts, spreads=np.arccos(np.minimum(1.0, np.maximum(-1.0, cosines))))


def _tangential_stiffness(radius: float, normal: float, work: float, poisson_ratio: float,
                          layer: LayerCompliance | None) -> float:
    """Return a patch's stiffness from its share of the object's compliance and its pad's."""
    ratio = (2.0 - poisson_ratio) / (2.0 * (1.0 - poisson_ratio))
    compliance = ratio * (work / normal ** 2)
    if layer is not None:
        compliance += 1.0 / layer.tangential_stiffness(radius)
    return 1.0 / compliance


def validity_flags(results: PatchResultants, links: IntArray, geometric_flags: IntArray,
                   thickness: Array, extents: Array, options: ValidityOptions) -> IntArray:
    """
    Return the flags ``(p,)`` of loaded patches, those of geometry and of mechanics.

    Parameters
    ----------
    results : PatchResultants
    links : (p,) int
        The link that presses on each.
    geometric_flags : (p,) int
        Flags from contact detection; ``PATCH_COARSE`` among them is judged anew, and those of
        edges go where only the other body yields.
    thickness : (p,) float
        Of the object through each patch [m].
    extents : (p,) float
        Of the whole object beyond each patch, along its normal [m]; more than the thickness
        behind a wall.
    options : ValidityOptions

    Returns
    -------
    (p,) int
        Sums of ``PATCH_*``.

    Notes
    -----
    What ends is for what it presses a punch that ends. Only its own part of the approach grows
    there, an object's by up to 1 + 8 radii / thickness, a pad's by half: finite elements,
    docs/model/mechanics.md, "Edges". A pad that touches the next face, too, meets a wedge, which
    two patches are not.
    """
    half = np.maximum(thickness, 1e-12) / 2.0
    thin = ((results.object_shares * results.radii > options.max_thickness_ratio * half)
            | (results.object_shares * wall_bending(results.radii, thickness, extents)
               > options.max_bending)
            | (results.indentations > options.max_depth_ratio * half))
    strained = results.indentations > options.max_strain_ratio * results.radii
    flags = np.asarray(geometric_flags, np.int64) & ~batches.PATCH_COARSE
    shares = results.object_shares
    more = shares * (1.0 + EDGE_SLENDERNESS * results.radii / (2.0 * half))
    flags = np.where(press_alone(links) & (more <= options.max_edge_yield),
                     flags & ~batches.PATCH_REACHES_OBJECT_EDGE, flags)
    flags = np.where(PAD_GROWTH * (1.0 - shares) <= options.max_edge_yield,
                     flags & ~batches.PATCH_REACHES_LINK_EDGE, flags)
    for bad, flag in (
            (results.node_counts < options.min_nodes, batches.PATCH_COARSE),
            (thin, batches.PATCH_THIN), (strained, batches.PATCH_STRAINED),
            (results.spreads > options.max_spread, batches.PATCH_SPREAD),
            (near_others(results.points, results.normals, results.radii,
                         float(options.min_gap_ratio)), batches.PATCH_CLOSE)):
        flags = np.where(bad, flags | flag, flags)
    return flags


def press_alone(links: IntArray) -> BoolArray:
    """Return which of the patches of links ``(p,)`` are the only one of their link."""
    alone: BoolArray = np.equal.outer(links, links).sum(axis=1) == 1
    return alone


def max_normal_forces(results: PatchResultants, max_pressures: Array) -> Array:
    """
    Return the normal force ``(p,)`` at which each patch reaches its limit of pressure [N].

    Parameters
    ----------
    results : PatchResultants
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


def stiffness_by_link(results: PatchResultants, links: IntArray, count: int) -> Array:
    """
    Return the normal force that each of ``count`` links gains as one comes nearer (L, L) [N/m].

    A link that comes nearer presses all its patches ``(p,)`` along their normals.
    """
    found = np.zeros((count, count))
    np.add.at(found, (links[:, None], links), results.stiffness)
    return found


def shared_force_limits(links: IntArray, forces: Array, limit: float) -> Array:
    """
    Return the normal force ``(p,)`` that each patch may bear so that no link passes a limit [N].

    Parameters
    ----------
    links : (p,) int
    forces : (p,) float
        Present normal forces [N], above 0.
    limit : float
        Of the sum of a link's patches [N]; ``inf``: none.

    Notes
    -----
    Own choice: patches of a link share its limit as they share its present force. So the limit of
    a sum is kept by limits of each, as the programme of minimal forces takes them.
    """
    if np.isinf(limit):
        return np.full(len(links), np.inf)
    sums = np.array([forces[links == link].sum() for link in links])
    return limit * forces / sums


def wall_bending(radii: Array, thickness: Array, extents: Array) -> Array:
    """
    Return what a ring yields by bending over what the half-space yields, at one force (p,) [-].

    Parameters
    ----------
    radii, thickness, extents : (p,) float
        Of the contacts, of the wall behind each, and of the whole object [m].

    Notes
    -----
    Own estimate, docs/model/mechanics.md: a ring of radius R, half of what lies beyond the wall,
    thickness t and length 2 R, pressed at opposite points, yields by 0.149 F R^3 / (E* I) in all
    (Roark, table 9.2), I = R t^3 / 6, so by 0.45 F R^2 / (E* t^3) on each side, the half-space
    under a punch by F / (2 a E*). Zero where nothing is hollow.
    """
    ring = 0.5 * np.maximum(extents - thickness, 0.0)
    return RING_OVER_PUNCH * radii * ring ** 2 / np.maximum(thickness, 1e-12) ** 3
