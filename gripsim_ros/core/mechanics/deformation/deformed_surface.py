"""
The deformed surface: displacements of all vertices, then an exact correction of the volume.

Derivations and limits: docs/model/mechanics.md, "Deformed surface".
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import Material, TriangleMesh
from ...bodies.mesh import sum_by_label
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross, dot, load_vec3, subtract
from ...options import option, Options
from ..published.surface_rings import ring_displacements
from .boussinesq import (SurfaceLoads, boussinesq_displacements, place_under_pads,
                         slip_displacements)
from .volume import restore_volume, volume_and_centre


#: Distance from a contact's edge, in contact radii, from which the volume correction is whole.
CORRECTION_REACH = 2.0
#: Largest number of halvings of displacements that turn a triangle over.
GUARD_STEPS = 5
#: Factor above the round-off of comparing a triangle before and after.
ROUNDING_FACTOR = 1.0 + 1e-9


@dataclass(frozen=True)
class SurfaceOptions(Options, section='surface'):
    """
    Options of the deformed surface.

    Attributes
    ----------
    mode : str
        ``smooth``: every vertex moves; ``seed``: rings about the contacts move while
        their displacement is large enough, the rest takes up the volume evenly.
    volume : str
        ``elastic``: volume changes as a linear body's; ``constant``: it does not.
    slip : bool
        Points also move along the surface, towards the loads; the shape hardly changes.
    far_field_ratio : float
        Beyond this many contact radii a patch acts as a whole [-].
    ring_displacement : float
        Mode ``seed``: rings end where no vertex moves this far [m].
    ring_reach : float
        Mode ``seed``: nor go they farther than this many equivalent radii of the object [-].
    guard_cosine : float
        Least cosine between a face's normals before and after [-].
    guard_area : float
        Least ratio of a face's areas after and before [-].

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    mode: str = option('smooth', among='smooth, seed')
    volume: str = option('elastic', among='elastic, constant')
    slip: bool = False
    far_field_ratio: float = option(4.0, above=0, below=np.inf)
    ring_displacement: float = option(1e-4, above=0, below=np.inf)
    ring_reach: float = option(0.7, above=0, below=np.inf)
    guard_cosine: float = option(0.2, least=0, below=1)
    guard_area: float = option(0.1, least=0, below=1)


@dataclass(frozen=True, eq=False)
class DeformedSurface:
    """
    The deformed surface.

    Attributes
    ----------
    vertices : (V, 3) float
        [m].
    pressures : (V,) float
        At the vertices under the pads [Pa].
    volume : float
        [m^3].
    volume_change : float
        Against the undeformed surface [m^3].
    centre : (3,) float
        Centre of volume, that of mass too where density is uniform [m].
    guarded_faces : int
        Triangles that would have turned over or collapsed.
    """

    vertices: Array
    pressures: Array
    volume: float
    volume_change: float
    centre: Array
    guarded_faces: int


def elastic_volume_change(loads: SurfaceLoads, material: Material, centre: Array) -> float:
    """
    Return the change of volume of a linear elastic body under surface loads [m^3].

    ``(1 - 2 nu) / E sum f_k . (x_k - c)``.

    Parameters
    ----------
    loads : SurfaceLoads
    material : Material
    centre : (3,) float
        About which a residual force of the loads has no effect: the centre of mass [m].

    Notes
    -----
    Source: reciprocity with a uniform pressure (Johnson 1985; Betti), exact for balanced loads.
    """
    work = float((loads.forces * (loads.points - centre)).sum())
    return (1.0 - 2.0 * material.poisson_ratio) / material.youngs_modulus * work


def deform_surface(mesh: TriangleMesh, material: Material, loads: SurfaceLoads,
                   options: SurfaceOptions = SurfaceOptions(),
                   beyond: Array | None = None,
                   undeformed: tuple[float, Array] | None = None) -> DeformedSurface:
    """
    Return the surface of an elastic body under contact loads.

    Parameters
    ----------
    mesh : TriangleMesh
        Undeformed, closed.
    material : Material
    loads : SurfaceLoads
    options : SurfaceOptions
    beyond : (V, 3) float, optional
        Displacements by the body's own compliance beyond the half-space's [m].
    undeformed : (float, (3,) float), optional
        ``volume_and_centre`` of the mesh, where they are known.

    Returns
    -------
    DeformedSurface

    Notes
    -----
    Source: Leskov et al. 2017, equation (3) and 'given constant volume'. Departures: mode
    ``smooth`` has no rings, whose cut decides the shape; volume is restored exactly.
    """
    volume, centre = undeformed or volume_and_centre(mesh.vertices, mesh.faces)
    target = volume
    if options.volume == 'elastic':
        target += elastic_volume_change(loads, material, centre)
    moves = boussinesq_displacements(mesh.vertices, loads, material.plane_strain_modulus,
                                     options.far_field_ratio)
    if beyond is not None:
        moves = moves + beyond
    elif options.slip:
        moves = moves + slip_displacements(mesh.vertices, mesh.vertex_normals, loads,
                                           material.plane_strain_modulus,
                                           material.poisson_ratio)
    moves, touched, pressures = place_under_pads(mesh.vertices, moves, loads)
    if options.mode == 'seed':
        limit = options.ring_reach * np.cbrt(3.0 * abs(volume) / (4.0 * np.pi))
        moves, weights = ring_displacements(mesh, moves, touched, loads.centres,
                                            (options.ring_displacement, limit))
    else:
        weights = _far_weights(mesh.vertices, loads.centres, loads.radii)
    vertices, guarded = _guarded_correction(mesh, moves, weights, target, options)
    volume_now, centre_now = volume_and_centre(vertices, mesh.faces)
    return DeformedSurface(vertices, pressures, volume_now, volume_now - volume, centre_now,
                           guarded)


@njit(cache=True, error_model='numpy')
def _far_weights(vertices: Array, centres: Array, radii: Array) -> Array:
    """Return weights ``(V,)``: 0 in the contacts, rising smoothly to 1 away from them."""
    weights = np.ones(len(vertices))
    for c in range(len(radii)):
        x, y, z = centres[c]
        whole = (1.0 + CORRECTION_REACH) * radii[c]
        for v in range(len(vertices)):
            square = ((vertices[v, 0] - x) ** 2 + (vertices[v, 1] - y) ** 2
                      + (vertices[v, 2] - z) ** 2)
            if square < whole * whole:
                t = max(0.0, (np.sqrt(square) - radii[c]) / (CORRECTION_REACH * radii[c]))
                weights[v] *= t * t * (3.0 - 2.0 * t)
    return weights


def _guarded_correction(mesh: TriangleMesh, moves: Array, weights: Array, target: float,
                        options: SurfaceOptions) -> tuple[Array, int]:
    """Return vertices of the target volume, and how many triangles had to be guarded."""
    limits, count = (options.guard_cosine, options.guard_area), 0
    shares = weights if weights.any() else np.ones(len(weights))
    directions = shares[:, None] * mesh.vertex_normals
    for step in range(GUARD_STEPS + 1):
        vertices, _ = restore_volume(mesh.vertices + moves, mesh.faces, directions, target)
        number, bad = _bad_vertices(mesh.vertices, vertices, mesh.faces, limits)
        count = count or number
        if not number:
            break
        if step == 0:
            directions = _smoothed(mesh.edges, directions)
        moves = np.where(bad[:, None], 0.5 * moves, moves)
    return vertices, count


@njit(cache=True)
def _bad_vertices(before: Array, after: Array, faces: IntArray,
                  limits: tuple[float, float]) -> tuple[int, BoolArray]:
    """Return the number of triangles turned or collapsed, and mark their vertices."""
    marks = np.zeros(len(before), np.bool_)
    count = 0
    cosine, ratio = limits
    # Squares decide for most sound triangles without a root, all round-off allowed for.
    sure_cosine, sure_ratio = ROUNDING_FACTOR * cosine * cosine, ROUNDING_FACTOR * ratio * ratio
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        was, now = _area_vector(before, i, j, k), _area_vector(after, i, j, k)
        square, square_now, along = dot(was, was), dot(now, now), dot(was, now)
        if (along > 0.0 and along * along > sure_cosine * (square * square_now)
                and square_now > sure_ratio * square):
            continue
        area, area_now = np.sqrt(square), np.sqrt(square_now)
        if area > 0.0 and (area_now <= ratio * area or along < cosine * area * area_now):
            count += 1
            marks[i] = marks[j] = marks[k] = True
    return count, marks


@njit(cache=True, forceinline=True)
def _area_vector(points: Array, i: int, j: int, k: int) -> Vec3:
    """Return twice the area vector of a triangle."""
    corner = load_vec3(points, i)
    return cross(subtract(load_vec3(points, j), corner), subtract(load_vec3(points, k), corner))


def _smoothed(edges: IntArray, values: Array) -> Array:
    """Return values ``(V, 3)`` averaged with the mean of their neighbours."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    sums = sum_by_label(values[ends[:, 1]], ends[:, 0], len(values))
    counts = np.bincount(ends[:, 0], minlength=len(values))
    return 0.5 * (values + sums / np.maximum(counts, 1)[:, None])


@njit(cache=True)
def largest_way(before: Array, after: Array) -> float:
    """Return the largest distance between points ``(n, 3)`` and where they have moved to."""
    largest = 0.0
    for i in range(len(before)):
        x, y, z = subtract(load_vec3(after, i), load_vec3(before, i))
        largest = max(largest, x * x + z * z + y * y)   # as numpy's einsum adds them
    return float(np.sqrt(largest))
