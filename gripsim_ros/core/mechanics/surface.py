"""The deformed surface: Boussinesq's displacements, then an exact correction of the volume."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..bodies import TriangleMesh

Array = NDArray[np.float64]

#: Newton steps on the volume's cubic after the closed-form start.
NEWTON_STEPS = 4
#: Halvings of a displacement that turns a triangle over.
GUARD_STEPS = 5
#: Distance from the loads, in patch radii, at which the volume correction is whole.
CORRECTION_REACH = 2.0


@dataclass(frozen=True)
class SurfaceOptions:
    """Guards of the deformed surface, see ``config/mechanics.yaml``."""

    guard_cosine: float = 0.2
    guard_area: float = 0.1
    far_field_ratio: float = 4.0


@dataclass(frozen=True, eq=False)
class Loads:
    """
    Normal loads on the object: near ones by node, far ones by patch.

    Attributes
    ----------
    points : (N, 3) float
    forces : (N, 3) float
        On the object [N].
    radii_squared : (N,) float
        Node areas over pi [m^2].
    offsets : (P + 1,) int
        Nodes of patch p.
    centres, totals : (P, 3) float
        Centre of pressure and resultant of each patch.
    radii : (P,) float
        Contact radius [m].
    """

    points: Array
    forces: Array
    radii_squared: Array
    offsets: NDArray[np.int64]
    centres: Array
    totals: Array
    radii: Array


@dataclass(frozen=True, eq=False)
class DeformedSurface:
    """Vertices ``(V, 3)`` [m], volume change [m^3] and whether triangles were guarded."""

    vertices: Array
    volume_change: float
    guarded: bool


@njit(cache=True)
def _displace(vertices, points, forces, radii_squared, offsets, centres, totals, radii, ratio,
              constant, compliance):
    moved = np.zeros_like(vertices)
    for v in range(len(vertices)):
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        ux, uy, uz = 0.0, 0.0, 0.0
        for p in range(len(centres)):
            dx, dy, dz = x - centres[p, 0], y - centres[p, 1], z - centres[p, 2]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 > (ratio * radii[p]) ** 2:
                s = 1.0 / np.sqrt(r2 + 0.4 * radii[p] * radii[p])
                ux += s * totals[p, 0]
                uy += s * totals[p, 1]
                uz += s * totals[p, 2]
                continue
            for k in range(offsets[p], offsets[p + 1]):
                dx, dy, dz = x - points[k, 0], y - points[k, 1], z - points[k, 2]
                s = 1.0 / np.sqrt(dx * dx + dy * dy + dz * dz + constant * radii_squared[k])
                ux += s * forces[k, 0]
                uy += s * forces[k, 1]
                uz += s * forces[k, 2]
        moved[v, 0] = compliance * ux
        moved[v, 1] = compliance * uy
        moved[v, 2] = compliance * uz
    return moved


def boussinesq_displacements(vertices: Array, loads: Loads, effective_modulus: float,
                             far_field_ratio: float, constant: float) -> Array:
    """
    Return the displacement of each vertex (V, 3) [m] under normal loads.

    Parameters
    ----------
    vertices : (V, 3) float
    loads : Loads
    effective_modulus : float
        E / (1 - nu^2) [Pa].
    far_field_ratio : float
        Patches farther than this many radii act as one force.
    constant : float
        Of a node's own compliance [-].

    Notes
    -----
    Source: seed 001 eq. (3), u_i = (1 - nu) / (2 pi G) sum f_k / I_ik, vector sum over all
    patches; METHODS 2. Departures: distances smoothed as in the contact problem; beyond
    ``far_field_ratio`` a patch acts as its resultant. A paraboloid's load of radius a has
    the mean square radius 0.4 a^2, which the far field keeps.

    """
    return _displace(vertices, loads.points, loads.forces, loads.radii_squared, loads.offsets,
                     loads.centres, loads.totals, loads.radii, far_field_ratio, 2.0 * constant,
                     1.0 / (np.pi * effective_modulus))


def elastic_volume_change(loads: Loads, youngs_modulus: float, poisson_ratio: float,
                          centre: Array) -> float:
    """
    Return the volume change of a linear elastic body under surface loads [m^3].

    Notes
    -----
    Source: METHODS 2, reciprocity with a uniform pressure: (1 - 2 nu) / E sum f_k.x_k; for
    loads that do not balance the origin matters, and the centre of mass is taken.

    """
    work = float(np.einsum('ij,ij->', loads.forces, loads.points - centre))
    return (1.0 - 2.0 * poisson_ratio) / youngs_modulus * work


@njit(cache=True)
def _volume_moments(vertices, faces):
    """Return volume and first moment about the coordinate origin."""
    volume, mx, my, mz = 0.0, 0.0, 0.0, 0.0
    for f in faces:
        a, b, c = vertices[f[0]], vertices[f[1]], vertices[f[2]]
        v = (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
             + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6.0
        volume += v
        mx += v * (a[0] + b[0] + c[0])
        my += v * (a[1] + b[1] + c[1])
        mz += v * (a[2] + b[2] + c[2])
    return volume, np.array([mx, my, mz]) / 4.0


def volume_and_centre(vertices: Array, faces: NDArray[np.int64]) -> tuple[float, Array]:
    """
    Return volume [m^3] and centre of mass (3,) of a closed, uniform body.

    Notes
    -----
    Source: Mirtich 1996 (exact polyhedral sums), about the mean of the vertices.

    """
    origin = vertices.mean(axis=0)
    volume, moment = _volume_moments(vertices - origin, faces)
    return volume, origin + moment / volume


@njit(cache=True)
def _volume_gradient(vertices, faces):
    gradient = np.zeros_like(vertices)
    for f in faces:
        for k in range(3):
            b, c = vertices[f[(k + 1) % 3]], vertices[f[(k + 2) % 3]]
            gradient[f[k], 0] += (b[1] * c[2] - b[2] * c[1]) / 6.0
            gradient[f[k], 1] += (b[2] * c[0] - b[0] * c[2]) / 6.0
            gradient[f[k], 2] += (b[0] * c[1] - b[1] * c[0]) / 6.0
    return gradient


def restore_volume(vertices: Array, faces: NDArray[np.int64], direction: Array, target: float
                   ) -> Array:
    """
    Return vertices moved along ``direction`` until the body has the wanted volume.

    Parameters
    ----------
    vertices : (V, 3) float
    faces : (F, 3) int
    direction : (V, 3) float
        Displacement field that is scaled.
    target : float
        [m^3]

    Notes
    -----
    Source: METHODS 2; the volume is exactly a cubic of the scale, its root nearest 0 is
    found by Newton's method from there (the slope is the direction's flux).

    """
    origin = vertices.mean(axis=0)
    local, scale = vertices - origin, 0.0
    for _ in range(NEWTON_STEPS):
        moved = local + scale * direction
        error = target - _volume_moments(moved, faces)[0]
        slope = float(np.einsum('ij,ij->', _volume_gradient(moved, faces), direction))
        if abs(slope) <= 0.0 or abs(error) < 1e-15 * abs(target):
            break
        scale += error / slope
    return vertices + scale * direction


def deform_surface(mesh: TriangleMesh, loads: Loads, displacements: Array, target_volume: float,
                   options: SurfaceOptions) -> DeformedSurface:
    """
    Return the deformed surface with the wanted volume and no triangle turned over.

    Parameters
    ----------
    mesh : TriangleMesh
        Undeformed.
    loads : Loads
        Where the surface is held by the pads, so that the correction spares it.
    displacements : (V, 3) float
        From ``boussinesq_displacements``.
    target_volume : float
        [m^3]
    options : SurfaceOptions

    Returns
    -------
    DeformedSurface

    Notes
    -----
    Source: METHODS 2 (mode ``smooth``, seed 001's 'given constant volume' made exact).

    """
    vertices, guarded = _guard(mesh, mesh.vertices + displacements, options)
    weights = _away_from(mesh.vertices, loads.centres, CORRECTION_REACH * loads.radii)
    vertices = restore_volume(vertices, mesh.faces, weights[:, None] * mesh.vertex_normals,
                              target_volume)
    return DeformedSurface(vertices, target_volume - mesh.volume, guarded)


def _away_from(vertices: Array, centres: Array, reaches: Array) -> Array:
    """Return a smooth weight: 0 at the centres, 1 beyond their reach."""
    weights = np.ones(len(vertices))
    for centre, reach in zip(centres, reaches):
        t = np.clip(np.linalg.norm(vertices - centre, axis=1) / max(reach, 1e-9), 0.0, 1.0)
        weights *= t * t * (3.0 - 2.0 * t)
    return weights


def _guard(mesh: TriangleMesh, vertices: Array, options: SurfaceOptions) -> tuple[Array, bool]:
    """Halve displacements at triangles that turn over or vanish."""
    guarded = False
    for _ in range(GUARD_STEPS):
        corners = vertices[mesh.faces]
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = 0.5 * np.linalg.norm(cross, axis=1)
        cosine = np.einsum('ij,ij->i', cross, mesh.face_normals) / np.maximum(2.0 * areas, 1e-300)
        bad = (cosine < options.guard_cosine) | (areas < options.guard_area * mesh.face_areas)
        if not bad.any():
            break
        guarded = True
        at = np.unique(mesh.faces[bad])
        vertices = vertices.copy()
        vertices[at] = 0.5 * (vertices[at] + mesh.vertices[at])
    return vertices, guarded
