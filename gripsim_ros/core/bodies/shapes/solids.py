"""
Bodies made from parameters: closed, normals outward, centred near the origin.

Lengths in metres; where a body has an axis it is z. ``edge_length`` is the wanted
length of the triangles' sides. Each function raises ``MeshError`` for sizes that are
not positive and finite.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, IntArray
from ...errors import MeshError
from ..mesh import TriangleMesh, unit_rows
from .sweeps import arc, grid_quads, refine_profile, revolve, ring, split_quads

#: Largest number of faces of a subdivided icosahedron.
MAX_FACES = 2_000_000
#: Skew of an egg: how much blunter one end is [-].
EGG_SKEW = 0.12


def _check_sizes(**sizes: float) -> None:
    for name, value in sizes.items():
        if not (np.isfinite(value) and value > 0.0):
            raise MeshError(f'{name} must be a finite number above 0, got {value}')


def _icosahedron() -> tuple[Array, IntArray]:
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    a, b = np.meshgrid([-1.0, 1.0], [-golden, golden], indexing='ij')
    flat = np.stack([np.zeros(4), a.ravel(), b.ravel()], axis=1)
    vertices = np.concatenate([np.roll(flat, shift, axis=1) for shift in range(3)])
    squares = np.sum((vertices[:, None] - vertices) ** 2, axis=-1)
    touching = np.isclose(squares, 4.0)
    faces = [(i, j, k) for i in range(12) for j in range(i + 1, 12) for k in range(j + 1, 12)
             if touching[i, j] and touching[j, k] and touching[i, k]]
    corners = vertices[np.array(faces)]
    inward = np.linalg.det(corners) < 0.0
    array = np.array(faces)
    array[inward] = array[inward][:, ::-1]
    return vertices, array


def _sphere_points(frequency: int) -> tuple[Array, IntArray]:
    """Return unit vertices and faces of the icosahedron, sides split into ``frequency``."""
    corners, faces = _icosahedron()
    i, j = np.meshgrid(np.arange(frequency + 1), np.arange(frequency + 1), indexing='ij')
    inside = i + j <= frequency
    weights = np.stack([frequency - i - j, i, j], axis=-1)[inside]
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(len(weights))
    up = np.stack([number[:-1, :-1], number[1:, :-1], number[:-1, 1:]], axis=-1)
    down = np.stack([number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1)
    local = np.concatenate([up.reshape(-1, 3), down.reshape(-1, 3)])
    local = local[(local >= 0).all(axis=1)]
    points = unit_rows((weights @ corners[faces]).reshape(-1, 3))
    triangles = local[None] + len(weights) * np.arange(len(faces))[:, None, None]
    keys = np.round(points * 2.0 ** 30).astype(np.int64)
    _, first, merged = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return points[first], merged.reshape(-1)[triangles.reshape(-1, 3)]


def sphere_frequency(radius: float, edge_length: float) -> int:
    """Return the division of an icosahedron's side for mean sides of ``edge_length`` [m]."""
    _check_sizes(radius=radius, edge_length=edge_length)
    area = np.sqrt(3.0) / 4.0 * edge_length ** 2
    frequency = int(np.ceil(np.sqrt(4.0 * np.pi * radius ** 2 / area / 20.0)))
    if 20 * frequency ** 2 > MAX_FACES:
        raise MeshError(f'edge_length {edge_length:g} m asks for more than {MAX_FACES} faces')
    return max(1, frequency)


def sphere(
        radius: float = 0.04, edge_length: float = 0.004, jitter: float = 0.0,
        seed: int = 0) -> TriangleMesh:
    """
    Return a geodesic sphere, its vertices on the sphere.

    ``jitter`` in [0, 0.4] moves vertices along the sphere by up to that share of
    ``edge_length`` and turns the whole, by ``seed``: a mesh without symmetries.
    """
    if not 0.0 <= jitter <= 0.4:
        raise MeshError(f'jitter must lie in 0 to 0.4, got {jitter}')
    frequency = sphere_frequency(radius, edge_length)
    points, faces = _sphere_points(frequency)
    if jitter > 0.0:
        generator = np.random.default_rng(seed)
        turn = np.linalg.qr(generator.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        steps = generator.uniform(-1.0, 1.0, points.shape) / np.sqrt(3.0)
        # The closest vertices of the geodesic sphere stand at 0.8 of the mean side.
        side = np.sqrt(4.0 * np.pi / (20.0 * frequency ** 2) * 4.0 / np.sqrt(3.0))
        points = unit_rows(points + 0.8 * jitter * side * steps) @ turn.T
    return TriangleMesh(radius * points, faces)


def ellipsoid(semi_axes: ArrayLike, edge_length: float = 0.004) -> TriangleMesh:
    """Return an ellipsoid with ``semi_axes (3,)`` along x, y, z."""
    semi_axes = np.asarray(semi_axes, dtype=np.float64)
    _check_sizes(**{f'semi-axis {i}': a for i, a in enumerate(semi_axes)})
    points, faces = _sphere_points(sphere_frequency(float(semi_axes.max()), edge_length))
    return TriangleMesh(points * semi_axes, faces)


def apple(diameter: float = 0.08, edge_length: float = 0.004) -> TriangleMesh:
    """
    Return an apple: wider above its middle, a deep hollow at the stem and a flat one below.

    Notes
    -----
    With the polar angle t from the stem (+z) and the radius R, up to one factor that
    makes the largest width ``diameter``: distance from the axis R sin t (1 + 0.08 cos t),
    height R (1.08 cos t - 0.45 exp(-(t/0.4)^2) + 0.25 exp(-((pi - t)/0.35)^2)); own shape.
    """
    frequency = sphere_frequency(0.5 * diameter, edge_length)
    points, faces = _sphere_points(frequency)
    polar = np.arctan2(np.linalg.norm(points[:, :2], axis=1), points[:, 2])
    distance, height = apple_profile(polar, diameter)
    around = unit_rows(points * [1.0, 1.0, 0.0])
    return TriangleMesh(distance[:, None] * around + height[:, None] * [0.0, 0.0, 1.0], faces)


def apple_profile(polar: Array, diameter: float = 0.08) -> tuple[Array, Array]:
    """Return distances from the axis and heights ``(n,)`` [m] of an apple, see ``apple``."""
    widest = np.linspace(1.2, 1.6, 4001)
    radius = 0.5 * diameter / np.max(np.sin(widest) * (1.0 + 0.08 * np.cos(widest)))
    stem = 0.45 * np.exp(-(polar / 0.4) ** 2)
    calyx = 0.25 * np.exp(-((np.pi - polar) / 0.35) ** 2)
    return (radius * np.sin(polar) * (1.0 + 0.08 * np.cos(polar)),
            radius * (1.08 * np.cos(polar) - stem + calyx))


def box(extents: ArrayLike, edge_length: float | None = None) -> TriangleMesh:
    """Return a box with sides ``extents (3,)``: 12 triangles, or a grid of ``edge_length``."""
    extents = np.asarray(extents, dtype=np.float64)
    _check_sizes(**{f'extent {i}': a for i, a in enumerate(extents)})
    if edge_length is None:
        counts = np.ones(3, dtype=np.int64)
    else:
        _check_sizes(edge_length=edge_length)
        counts = np.maximum(1, np.ceil(extents / edge_length - 1e-9)).astype(np.int64)
    if 4 * np.dot(counts, np.roll(counts, 1)) > MAX_FACES:
        raise MeshError(f'edge_length {edge_length:g} m asks for more than {MAX_FACES} faces')
    quads = np.concatenate([_box_side(counts, axis, end) for axis in range(3) for end in (0, 1)])
    lattice, merged = np.unique(quads.reshape(-1, 3), axis=0, return_inverse=True)
    vertices = (lattice / counts - 0.5) * extents
    return TriangleMesh(vertices, split_quads(merged.reshape(-1, 4)))


def _box_side(counts: IntArray, axis: int, end: int) -> IntArray:
    """Return quads (n, 4, 3) in lattice coordinates of the side at one end of an axis."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    i, j = np.meshgrid(np.arange(counts[u]), np.arange(counts[v]), indexing='ij')
    steps = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[::1 if end else -1]
    quads = np.empty((i.size, 4, 3), dtype=np.int64)
    quads[..., axis] = end * counts[axis]
    quads[..., u] = i.reshape(-1, 1) + steps[:, 0]
    quads[..., v] = j.reshape(-1, 1) + steps[:, 1]
    return quads


def egg(
        diameter: float = 0.044, length: float = 0.058,
        edge_length: float = 0.003) -> TriangleMesh:
    """
    Return an egg with its blunt end up (+z).

    With the polar angle t: distance from the axis proportional to sin t (1 + 0.12 cos t),
    height length / 2 cos t; own shape.
    """
    _check_sizes(diameter=diameter, length=length)
    frequency = sphere_frequency(0.5 * max(diameter, length), edge_length)
    points, faces = _sphere_points(frequency)
    widest = np.linspace(1.0, 2.0, 4001)
    radius = 0.5 * diameter / np.max(np.sin(widest) * (1.0 + EGG_SKEW * np.cos(widest)))
    across = radius * points[:, :2] * (1.0 + EGG_SKEW * points[:, 2:])
    return TriangleMesh(np.hstack([across, 0.5 * length * points[:, 2:]]), faces)


def _segments(radius: float, edge_length: float | None, segments: int) -> int:
    if edge_length is None:
        return segments
    _check_sizes(edge_length=edge_length)
    count = int(np.ceil(2.0 * np.pi * radius / edge_length - 1e-9))
    if count ** 2 > MAX_FACES:
        raise MeshError(f'edge_length {edge_length:g} m asks for more than {MAX_FACES} faces')
    return max(8, count)


def _revolved(
        profile: ArrayLike, radius: float, edge_length: float | None,
        segments: int = 64) -> TriangleMesh:
    """Return the profile revolved, divided into steps of ``edge_length`` if given."""
    count = _segments(radius, edge_length, segments)
    if edge_length is not None:
        profile = refine_profile(profile, edge_length)
    return revolve(profile, count)


def cylinder(
        radius: float = 0.04, height: float = 0.1, segments: int = 64,
        edge_length: float | None = None) -> TriangleMesh:
    """Return a prism over a regular polygon; ``edge_length`` overrides ``segments``."""
    _check_sizes(radius=radius, height=height)
    half = 0.5 * height
    return _revolved([[0.0, -half], [radius, -half], [radius, half], [0.0, half]],
                     radius, edge_length, segments)


def cone(
        radius: float = 0.04, height: float = 0.1, segments: int = 64,
        edge_length: float | None = None) -> TriangleMesh:
    """Return a pyramid on a regular polygon at z = 0, its tip at ``height``."""
    _check_sizes(radius=radius, height=height)
    return _revolved([[0.0, 0.0], [radius, 0.0], [0.0, height]], radius, edge_length, segments)


def capsule(
        radius: float = 0.02, length: float = 0.08, edge_length: float = 0.004) -> TriangleMesh:
    """Return a cylinder of ``length`` along z with hemispheres on its ends."""
    _check_sizes(radius=radius, length=length, edge_length=edge_length)
    steps = max(2, int(np.ceil(0.5 * np.pi * radius / edge_length)))
    quarter = np.linspace(0.0, 0.5 * np.pi, steps + 1)
    profile = np.concatenate([
        arc([0.0, -0.5 * length], radius, quarter - 0.5 * np.pi),
        arc([0.0, 0.5 * length], radius, quarter)])
    profile[[0, -1], 0] = 0.0
    return _revolved(profile, radius, edge_length)


def banana(
        radius: float = 0.018, length: float = 0.14, bend_radius: float = 0.12,
        edge_length: float = 0.004) -> TriangleMesh:
    """
    Return a capsule bent in the xz plane about (-bend_radius, 0, 0).

    The volume is that of the straight capsule, for its axis bends (Pappus).
    """
    _check_sizes(bend_radius=bend_radius)
    if bend_radius <= radius or length + 2.0 * radius >= np.pi * bend_radius:
        raise MeshError(f'bend_radius must be above the radius {radius:g} m and long enough '
                        f'for half a turn, got {bend_radius:g} m')
    straight = capsule(radius, length, edge_length)
    x, y, z = straight.vertices.T
    angle, reach = z / bend_radius, bend_radius + x
    return straight.with_vertices(np.stack(
        [reach * np.cos(angle) - bend_radius, y, reach * np.sin(angle)], axis=1))


def bone(
        diameter: float = 0.05, length: float = 0.12, waist: float = 0.5,
        edge_length: float = 0.004) -> TriangleMesh:
    """
    Return an hourglass: thick ends, and a middle ``waist`` (below 1) as thick.

    With t from 0 to pi: distance from the axis proportional to sin t (w + cos^2 t),
    height -length / 2 cos t; own shape.
    """
    _check_sizes(diameter=diameter, length=length, edge_length=edge_length)
    if not 0.2 <= waist <= 0.95:
        raise MeshError(f'waist must lie in 0.2 to 0.95, got {waist}')
    angles: Array = np.linspace(0.0, np.pi, 2001, dtype=np.float64)
    profile = bone_profile(diameter, length, waist, angles)
    steps = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    count = max(8, int(np.ceil(way[-1] / edge_length)))
    even = np.stack([np.interp(np.linspace(0.0, way[-1], count + 1), way, column)
                     for column in profile.T], axis=1)
    even[[0, -1], 0] = 0.0
    return revolve(even, _segments(0.5 * diameter, edge_length, 0))


def bone_profile(diameter: float, length: float, waist: float, t: Array) -> Array:
    """Return distances from the axis and heights ``(n, 2)`` [m] of a ``bone`` at ``t (n,)``."""
    # sin t (w + cos^2 t) has its maximum (2/3) ((1 + w) / 3)^(1/2) (1 + w) at sin^2 t =
    # (1 + w) / 3, and the value w in the middle; the ratio of the two is to be the waist.
    shares = np.linspace(0.01, 0.999, 20_001)
    tops = 2.0 / 3.0 * np.sqrt((1.0 + shares) / 3.0) * (1.0 + shares)
    w = float(np.interp(waist, shares / tops, shares))
    top = 2.0 / 3.0 * np.sqrt((1.0 + w) / 3.0) * (1.0 + w)
    distance = 0.5 * diameter / top * np.sin(t) * (w + np.cos(t) ** 2)
    return np.stack([distance, -0.5 * length * np.cos(t)], axis=1)


def torus(
        radius: float = 0.04, tube_radius: float = 0.012,
        edge_length: float = 0.004) -> TriangleMesh:
    """Return a ring about z: circles of ``tube_radius`` whose centres lie at ``radius``."""
    _check_sizes(radius=radius, tube_radius=tube_radius)
    if tube_radius >= radius:
        raise MeshError(f'tube_radius must be below the radius {radius:g} m, got {tube_radius:g}')
    columns = _segments(radius + tube_radius, edge_length, 0)
    rows = _segments(tube_radius, edge_length, 0)
    around, section = ring(columns), ring(rows)
    distance = radius + tube_radius * section[:, :1]
    vertices = np.empty((rows, columns, 3))
    vertices[..., :2] = distance[..., None] * around
    vertices[..., 2] = tube_radius * section[:, 1:]
    quads = grid_quads(rows + 1, columns) % (rows * columns)
    return TriangleMesh(vertices.reshape(-1, 3), split_quads(quads))


def plate(
        radius: float = 0.1, height: float = 0.02, thickness: float = 0.004,
        edge_length: float | None = None) -> TriangleMesh:
    """Return a soup plate: a flat foot of 0.55 of the radius, and a rising rim."""
    _check_sizes(radius=radius, height=height, thickness=thickness)
    if not thickness < 0.5 * height:
        raise MeshError(f'thickness must be below half the height {height:g} m, got {thickness:g}')
    return _revolved(plate_profile(radius, height, thickness), radius, edge_length)


def plate_profile(radius: float, height: float, thickness: float) -> Array:
    """Return the section ``(6, 2)`` of a ``plate`` [m]."""
    foot = 0.55 * radius
    return np.array([[0.0, 0.0], [foot, 0.0], [radius, height - thickness],
                     [radius, height], [foot, thickness], [0.0, thickness]])
