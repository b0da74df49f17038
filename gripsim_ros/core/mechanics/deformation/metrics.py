"""
How much a grasp deforms and stresses the object, in numbers comparable between planners.

Definitions: docs/model/mechanics.md, "Metrics".
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...bodies.mesh import lengths
from ...numerics.kernels import njit
from ..contact.contact_forces import ContactForces, PatchNodes
from ..contact.patch_resultants import PatchResultants
from ..contact.rocking_stiffness import tangent_basis


#: Number of nodes, of the highest pressure, and of depths below them at which the stress is
#: computed; least depth in spacings of the nodes, where single ones are felt no more; greatest
#: in contact radii.
COLUMNS, DEPTHS, MIN_DEPTH, MAX_DEPTH = 48, 14, 1.5, 1.5
#: Largest spacing of nodes over the contact radius that resolves the stress below [-].
MAX_SPACING = 0.32


@dataclass(frozen=True, eq=False)
class DeformationMetrics:
    """
    Deformation and stress of an object under its patches, ``p`` of them.

    Attributes
    ----------
    max_deformation, mean_deformation : float
        Displacement of the surface after its best-fit rigid motion is taken away: the
        largest of a vertex or node, and the mean over the surface's area [m].
    strain_energy : float
        In the object [J].
    peak_pressure, peak_von_mises : float
        Largest of the patches [Pa]; 0 without any.
    patch_strain_energies : (p,) float
        Work of each patch's forces [J]; they add up to ``strain_energy``.
    patch_von_mises : (p,) float
        Estimated largest von Mises stress below each patch [Pa].
    patch_max_deformations, patch_mean_deformations : (p,) float
        The same displacement of each patch's loaded nodes: the largest, and the mean over the
        loaded area [m].
    """

    max_deformation: float
    mean_deformation: float
    strain_energy: float
    peak_pressure: float
    peak_von_mises: float
    patch_strain_energies: Array
    patch_von_mises: Array
    patch_max_deformations: Array
    patch_mean_deformations: Array


def measure_deformation(undeformed: Array, deformed: Array, areas: Array, nodes: PatchNodes,
                        solution: ContactForces, results: PatchResultants,
                        poisson_ratio: float) -> DeformationMetrics:
    """
    Return the metrics of an object's deformation.

    Parameters
    ----------
    undeformed, deformed : (V, 3) float
        Vertices, frame object [m].
    areas : (V,) float
        Area about each vertex [m^2].
    nodes : PatchNodes
    solution : ContactForces
        Of these nodes.
    results : PatchResultants
        Of that solution.
    poisson_ratio : float
        Of the object [-].

    Returns
    -------
    DeformationMetrics

    Notes
    -----
    Source: DefGraspSim (Huang et al. 2022): stress, deformation without rigid motion, strain
    energy. Departures: the surface stands for all of the body; stress is that of a half-space
    under the patch's normal forces.
    """
    rotation, translation = fit_rigid_motion(undeformed, deformed, areas)
    sizes = lengths(deformed - (undeformed @ rotation.T + translation))
    rows = solution.rows[solution.loaded]
    moves = solution.displacements[solution.loaded, None] * nodes.normals[rows]
    stays = nodes.points[rows] @ rotation.T + translation
    dents = lengths(nodes.points[rows] + moves - stays)
    patches, node_areas = nodes.patches[rows], nodes.areas[rows]

    def summed(values: Array) -> Array:
        sums = np.bincount(patches, values, minlength=nodes.patch_count)[results.rows]
        return sums.astype(np.float64)
    energies = 0.5 * summed(
        solution.forces[solution.loaded] * solution.displacements[solution.loaded])
    deepest = np.zeros(nodes.patch_count)
    np.maximum.at(deepest, patches, dents)
    stresses = peak_von_mises(nodes, solution, results, poisson_ratio)
    return DeformationMetrics(
        max_deformation=max(float(sizes.max()), float(dents.max(initial=0.0))),
        mean_deformation=float((sizes * areas).sum() / areas.sum()),
        strain_energy=solution.strain_energy,
        peak_pressure=float(results.peak_pressures.max(initial=0.0)),
        peak_von_mises=float(stresses.max(initial=0.0)),
        patch_strain_energies=energies, patch_von_mises=stresses,
        patch_max_deformations=deepest[results.rows],
        patch_mean_deformations=summed(dents * node_areas) / summed(node_areas))


def fit_rigid_motion(before: Array, after: Array, weights: Array) -> tuple[Array, Array]:
    """
    Return the rigid motion that takes points nearest to others in the least-squares sense.

    Parameters
    ----------
    before, after : (n, 3) float
        [m].
    weights : (n,) float
        Not negative, not all 0.

    Returns
    -------
    rotation : (3, 3) float
    translation : (3,) float
        [m]; ``after ~ before @ rotation.T + translation``.

    Notes
    -----
    Source: Kabsch 1976, by singular values; reflections excluded.
    """
    shares = (weights / weights.sum())[:, None]
    start, end = (shares * before).sum(axis=0), (shares * after).sum(axis=0)
    u, _, vt = np.linalg.svd((shares * (after - end)).T @ (before - start))
    u[:, 2] *= np.sign(np.linalg.det(u @ vt))
    rotation = u @ vt
    return rotation, end - rotation @ start


def peak_von_mises(nodes: PatchNodes, solution: ContactForces, results: PatchResultants,
                   poisson_ratio: float) -> Array:
    """
    Return the largest von Mises stress ``(p,)`` below each loaded patch, estimated [Pa].

    Parameters
    ----------
    nodes : PatchNodes
    solution : ContactForces
        Of these nodes.
    results : PatchResultants
        Of that solution.
    poisson_ratio : float
        Of the object [-].

    Returns
    -------
    (p,) float

    Notes
    -----
    Source: stresses below point loads on a half-space (Johnson 1985, equation 3.19), summed
    over the patch's own nodes, projected on its plane. Of patches that few nodes resolve,
    Hertz' ratio of that stress to the peak pressure is taken. Friction is left out.
    """
    rows = solution.rows[solution.loaded]
    patches, forces = nodes.patches[rows], solution.forces[solution.loaded]
    stresses = np.zeros(results.count)
    for k, patch in enumerate(results.rows):
        part = patches == patch
        areas = nodes.areas[rows[part]]
        spacing = float(np.sqrt(areas.mean()))
        if spacing > MAX_SPACING * results.radii[k]:
            stresses[k] = hertz_stress_ratio(poisson_ratio) * results.peak_pressures[k]
            continue
        arms = nodes.points[rows[part]] - results.points[k]
        plane = arms @ tangent_basis(results.normals[k]).T
        tops = np.argsort(-forces[part] / areas, kind='stable')[:COLUMNS]
        depths = np.geomspace(MIN_DEPTH * spacing, MAX_DEPTH * results.radii[k], DEPTHS)
        stresses[k] = von_mises_below(plane, forces[part], plane[tops], depths,
                                      poisson_ratio).max()
    return stresses


@lru_cache(maxsize=64)
def hertz_stress_ratio(poisson_ratio: float) -> float:
    """
    Return the largest von Mises stress on the axis of Hertz' contact over its peak pressure.

    Source: Johnson 1985, equations (3.45): with z in contact radii, s_z = -1 / (1 + z^2) and
    s_r = -(1 + nu) (1 - z atan(1 / z)) + 1 / (2 (1 + z^2)); 0.62 at nu = 0.3.
    """
    z = np.linspace(1e-3, 3.0, 3000)
    radial = -(1.0 + poisson_ratio) * (1.0 - z * np.arctan(1.0 / z)) + 0.5 / (1.0 + z * z)
    return float(np.abs(-1.0 / (1.0 + z * z) - radial).max())


@njit(cache=True, error_model='numpy')
def von_mises_below(plane: Array, forces: Array, columns: Array, depths: Array,
                    poisson_ratio: float) -> Array:
    """
    Return the von Mises stress ``(c, d)`` in a half-space under normal point loads [Pa].

    Parameters
    ----------
    plane, columns : (k, 2), (c, 2) float
        Where loads act, and below which points stress is wanted [m].
    forces : (k,) float
        Into the half-space [N].
    depths : (d,) float
        Above 0 [m].
    poisson_ratio : float
    """
    stresses = np.empty((len(columns), len(depths)))
    for c in range(len(columns)):
        for d in range(len(depths)):
            total = np.zeros(6)
            for k in range(len(forces)):
                _add_stress(columns[c, 0] - plane[k, 0], columns[c, 1] - plane[k, 1],
                            depths[d], forces[k], poisson_ratio, total)
            xx, yy, zz, xy, xz, yz = total / (2.0 * np.pi)
            stresses[c, d] = np.sqrt(
                0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2)
                + 3.0 * (xy * xy + xz * xz + yz * yz))
    return stresses


@njit(cache=True, error_model='numpy')
def _add_stress(x: float, y: float, z: float, force: float, nu: float, total: Array) -> None:
    """Add 2 pi times the stress xx, yy, zz, xy, xz, yz at (x, y, z) from a load."""
    flat = x * x + y * y
    distance = np.sqrt(flat + z * z)
    fifth = 3.0 / distance ** 5
    # On the axis radial and hoop stress are equal, and cancel in the turning part.
    radial = (1.0 - 2.0 * nu) / (distance * (distance + z))
    hoop = radial - (1.0 - 2.0 * nu) * z / distance ** 3
    turn = (radial + hoop) / flat if flat > 0.0 else 0.0
    total[0] += force * (turn * x * x - hoop - fifth * z * x * x)
    total[1] += force * (turn * y * y - hoop - fifth * z * y * y)
    total[2] -= force * fifth * z ** 3
    total[3] += force * (turn - fifth * z) * x * y
    total[4] -= force * fifth * z * z * x
    total[5] -= force * fifth * z * z * y
