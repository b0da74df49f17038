"""
Displacement of an object's surface under nodal loads.

Derivations and limits: docs/model/mechanics.md, "Deformed surface".
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import dot, load_vec3, subtract
from ..contact.contact_forces import ContactForces, PatchNodes
from ..contact.patch_resultants import PatchResultants


#: Distance over the square root of its area within which a node counts for a vertex [-].
INTERPOLATION_REACH = 1.5
#: Number of nodes in a line that reach as far as from one node to the next of a run.
LONGEST_GAP = 16


@dataclass(frozen=True, eq=False)
class SurfaceLoads:
    """
    Loads on the object's surface, and how its nodes move under them; frame object.

    Attributes
    ----------
    points, forces : (k, 3) float
        Loaded nodes, patch after patch [m], and the force on each [N].
    softening : (k,) float
        Added to squared distances from each [m^2].
    offsets : (p + 1,) int
        Nodes of patch i are ``offsets[i]:offsets[i + 1]``.
    centres, totals : (p, 3) float
        Centres of pressure [m] and resultants [N].
    radii : (p,) float
        Contact radii [m].
    node_points, node_normals : (c, 3) float
        Candidate nodes, loaded or not [m]; unit normals into the object.
    node_areas, node_displacements, node_pressures : (c,) float
        [m^2]; along the normals [m]; [Pa].
    """

    points: Array
    forces: Array
    softening: Array
    offsets: IntArray
    centres: Array
    totals: Array
    radii: Array
    node_points: Array
    node_normals: Array
    node_areas: Array
    node_displacements: Array
    node_pressures: Array


def surface_loads(nodes: PatchNodes, solution: ContactForces, results: PatchResultants,
                  softening: float) -> SurfaceLoads:
    """
    Return a solution of the contact problem as loads on the surface.

    Parameters
    ----------
    nodes : PatchNodes
    solution : ContactForces
        Of these nodes.
    results : PatchResultants
        Of that solution.
    softening : float
        Of the half-space solution [-].

    Returns
    -------
    SurfaceLoads
    """
    rows = solution.rows[solution.loaded]
    forces = solution.forces[solution.loaded]
    every = solution.rows
    return SurfaceLoads(
        points=nodes.points[rows], forces=forces[:, None] * nodes.normals[rows],
        softening=2.0 * softening / np.pi * nodes.spread_areas[rows],
        offsets=np.concatenate([[0], np.cumsum(results.node_counts)]).astype(np.int64),
        centres=results.points, totals=results.forces, radii=results.radii,
        node_points=nodes.points[every], node_normals=nodes.normals[every],
        node_areas=nodes.areas[every], node_displacements=solution.displacements,
        node_pressures=solution.forces / nodes.areas[every])


def boussinesq_displacements(vertices: Array, loads: SurfaceLoads, modulus: float,
                             far_field_ratio: float = 4.0) -> Array:
    """
    Return the displacement of surface points under normal loads.

    ``u_i = sum_k f_k / (pi modulus sqrt(|x_i - x_k|^2 + s_k))``, a sum of vectors over all
    patches.

    Parameters
    ----------
    vertices : (n, 3) float
        Frame object [m].
    loads : SurfaceLoads
    modulus : float
        E / (1 - nu^2) of the object [Pa].
    far_field_ratio : float
        Beyond this many contact radii a patch acts by its resultant and first moments [-].

    Returns
    -------
    (n, 3) float
        [m].

    Notes
    -----
    Source: Leskov et al. 2017, equation (3), with ``I_ik = |q_i - r_k|``. Departures: the
    distance is softened as in the contact problem; patches far away are lumped.
    """
    moved = np.zeros_like(vertices)
    _add_patches(np.ascontiguousarray(vertices.T), loads.points, loads.forces, loads.softening,
                 (loads.offsets, loads.centres, loads.totals, loads.radii),
                 (far_field_ratio, 1.0 / (np.pi * modulus)), moved)
    return moved


@njit(cache=True, error_model='numpy')
def _add_patches(xyz: Array, points: Array, forces: Array, softening: Array,
                 patches: tuple[IntArray, Array, Array, Array], factors: tuple[float, float],
                 moved: Array) -> None:
    """Add the displacement of all patches; arrays per coordinate let it vectorise."""
    offsets, centres, totals, radii = patches
    ratio, compliance = factors
    near, squares = np.empty(xyz.shape[1], np.int64), np.empty(xyz.shape[1])
    sums = np.zeros_like(xyz)
    for patch in range(len(radii)):
        nodes, centre = slice(offsets[patch], offsets[patch + 1]), centres[patch]
        first, extent = np.zeros((3, 3)), 0.0
        for k in range(nodes.start, nodes.stop):
            r = 0.0
            for b in range(3):
                arm = points[k, b] - centre[b]
                r += arm * arm
                for a in range(3):
                    first[a, b] += forces[k, a] * arm
            extent = max(extent, np.sqrt(r))
        square = (ratio * max(radii[patch], extent)) ** 2
        _add_far(xyz, centre, totals[patch], first, square, squares, sums)
        count = 0
        for v in range(len(squares)):
            near[count] = v
            count += squares[v] < square
        _add_near(xyz, near[:count], points[nodes], forces[nodes], softening[nodes], sums)
    for v in range(len(moved)):
        for a in range(3):
            moved[v, a] = compliance * sums[a, v]


@njit(cache=True, error_model='numpy')
def _add_far(xyz: Array, centre: Array, total: Array, first: Array, square: float,
             squares: Array, sums: Array) -> None:
    """Add resultant and first moments to the points not near; set squared distances."""
    cx, cy, cz = centre
    fx, fy, fz = total
    xx, xy, xz, yx, yy, yz, zx, zy, zz = first.ravel()
    for v in range(xyz.shape[1]):
        x, y, z = xyz[0, v] - cx, xyz[1, v] - cy, xyz[2, v] - cz
        r = x * x + y * y + z * z
        squares[v] = r
        inverse = 1.0 / np.sqrt(r) if r >= square else 0.0
        cube = inverse * inverse * inverse
        sums[0, v] += fx * inverse + cube * (xx * x + xy * y + xz * z)
        sums[1, v] += fy * inverse + cube * (yx * x + yy * y + yz * z)
        sums[2, v] += fz * inverse + cube * (zx * x + zy * y + zz * z)


@njit(cache=True, error_model='numpy')
def _add_near(xyz: Array, near: IntArray, points: Array, forces: Array, softening: Array,
              sums: Array) -> None:
    """Add every node's part to near points."""
    count = len(near)
    x, y, z = xyz[0][near], xyz[1][near], xyz[2][near]
    u, v, w = np.zeros(count), np.zeros(count), np.zeros(count)
    for k in range(len(points)):
        px, py, pz = points[k, 0], points[k, 1], points[k, 2]
        fx, fy, fz = forces[k, 0], forces[k, 1], forces[k, 2]
        soft = softening[k]
        for i in range(count):
            dx, dy, dz = x[i] - px, y[i] - py, z[i] - pz
            inverse = 1.0 / np.sqrt(dx * dx + dy * dy + dz * dz + soft)
            u[i] += fx * inverse
            v[i] += fy * inverse
            w[i] += fz * inverse
    for i in range(count):
        sums[0, near[i]] += u[i]
        sums[1, near[i]] += v[i]
        sums[2, near[i]] += w[i]


def slip_displacements(vertices: Array, normals: Array, loads: SurfaceLoads, modulus: float,
                       poisson_ratio: float) -> Array:
    """
    Return how surface points slip along the surface, towards normal loads.

    ``u_i = -(1 - 2 nu) / (2 (1 - nu)) sum_k f_k d_ik / (pi modulus r_ik^2)``, where d_ik
    leads from load k to point i within the load's plane, less its part along the normal at i.

    Parameters
    ----------
    vertices, normals : (n, 3) float
        Frame object [m]; unit normals there.
    loads : SurfaceLoads
    modulus : float
        E / (1 - nu^2) of the object [Pa].
    poisson_ratio : float
        Of the object [-].

    Returns
    -------
    (n, 3) float
        [m].

    Notes
    -----
    Source: the tangential part of Boussinesq's surface displacement (Johnson 1985, equation
    3.20). Departures: softened as the normal part; on a curved body it is projected.
    """
    moved = np.zeros_like(vertices)
    _add_slip(np.ascontiguousarray(vertices), loads.points, loads.forces, loads.softening, moved)
    moved *= -(1.0 - 2.0 * poisson_ratio) / (2.0 * (1.0 - poisson_ratio) * np.pi * modulus)
    return moved - (moved * normals).sum(axis=1)[:, None] * normals


@njit(cache=True, error_model='numpy')
def _add_slip(vertices: Array, points: Array, forces: Array, softening: Array,
              moved: Array) -> None:
    """Add f d / r^2 of every load, d within the load's plane."""
    for k in range(len(points)):
        force = np.sqrt((forces[k] ** 2).sum())
        if force == 0.0:
            continue
        u, v, w = forces[k] / force
        for i in range(len(vertices)):
            x, y, z = (vertices[i, 0] - points[k, 0], vertices[i, 1] - points[k, 1],
                       vertices[i, 2] - points[k, 2])
            along = x * u + y * v + z * w
            share = force / (x * x + y * y + z * z + softening[k])
            moved[i, 0] += share * (x - along * u)
            moved[i, 1] += share * (y - along * v)
            moved[i, 2] += share * (z - along * w)


def place_under_pads(vertices: Array, displacements: Array, loads: SurfaceLoads
                     ) -> tuple[Array, BoolArray, Array]:
    """
    Put the vertices under the pads where the contact problem has the surface.

    Parameters
    ----------
    vertices, displacements : (n, 3) float
        Undeformed points and their displacements [m].
    loads : SurfaceLoads

    Returns
    -------
    displacements : (n, 3) float
        Normal part under the pads replaced by that of the nodes about [m].
    touched : (n,) bool
        Vertices under a pad.
    pressures : (n,) float
        Pressure at the vertices [Pa].
    """
    moved, touched = displacements.copy(), np.zeros(len(vertices), np.bool_)
    pressures = np.zeros(len(vertices))
    if len(loads.node_points):
        _interpolate(np.ascontiguousarray(vertices), loads.node_points, loads.node_normals,
                     loads.node_areas, _runs(loads.node_points, loads.node_areas),
                     (loads.node_displacements, loads.node_pressures),
                     (moved, touched, pressures))
    return moved, touched, pressures


@njit(cache=True)
def _runs(points: Array, areas: Array) -> tuple[IntArray, Array]:
    """
    Return where runs of nodes start ``(r + 1,)``, and the corners ``(r, 6)`` of what they reach.

    A run ends where the next node lies farther away than some nodes in a line reach, as at the
    end of a patch; so none reaches from one patch to another.
    """
    starts, boxes = np.empty(len(points) + 1, np.int64), np.empty((len(points), 6))
    count, before = 0, load_vec3(points, 0)
    for k in range(len(points)):
        here = load_vec3(points, k)
        step = subtract(here, before)
        if k == 0 or dot(step, step) > LONGEST_GAP ** 2 * areas[k]:
            starts[count], boxes[count, :3], boxes[count, 3:] = k, np.inf, -np.inf
            count += 1
        reach, box, before = INTERPOLATION_REACH * np.sqrt(areas[k]), boxes[count - 1], here
        for a in range(3):
            box[a] = min(box[a], here[a] - reach)
            box[3 + a] = max(box[3 + a], here[a] + reach)
    starts[count] = len(points)
    return starts[:count + 1], boxes[:count]


@njit(cache=True, error_model='numpy')
def _interpolate(vertices: Array, points: Array, normals: Array, areas: Array,
                 runs: tuple[IntArray, Array], values: tuple[Array, Array],
                 answers: tuple[Array, BoolArray, Array]) -> None:
    displacements, node_pressures = values
    moved, touched, pressures = answers
    starts, boxes = runs
    normal = np.empty(3)
    for v in range(len(vertices)):
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        weights, shift, pressure, loaded = 0.0, 0.0, 0.0, 0.0
        normal[:] = 0.0
        for run in range(len(boxes)):
            if (x < boxes[run, 0] or x > boxes[run, 3] or y < boxes[run, 1] or y > boxes[run, 4]
                    or z < boxes[run, 2] or z > boxes[run, 5]):
                continue
            for k in range(starts[run], starts[run + 1]):
                r = ((x - points[k, 0]) ** 2 + (y - points[k, 1]) ** 2
                     + (z - points[k, 2]) ** 2)
                reach = INTERPOLATION_REACH ** 2 * areas[k]
                if r < reach:
                    weight = (1.0 - r / reach) ** 2
                    weights += weight
                    shift += weight * displacements[k]
                    pressure += weight * node_pressures[k]
                    loaded += weight * (node_pressures[k] > 0.0)
                    for a in range(3):
                        normal[a] += weight * normals[k, a]
        if loaded <= 0.5 * weights or weights == 0.0:
            continue
        length = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        along = 0.0
        for a in range(3):
            along += moved[v, a] * normal[a] / length
        for a in range(3):
            moved[v, a] += (shift / weights - along) * normal[a] / length
        touched[v] = True
        pressures[v] = pressure / weights
