"""
Bodies made from parameters: closed, normals outward, centred near the origin.

Lengths in metres; where a body has an axis it is z. ``edge_length`` is the wanted
length of the triangles' sides. Each function raises ``MeshError`` for sizes that are
not positive and finite.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MeshError
from .mesh import FloatArray, IntArray, TriangleMesh, unit_rows
from .sweeps import arc, grid_quads, refine_profile, revolve, ring, split_quads

#: Faces of the icosahedron's subdivision stay below this.
MAX_FACES = 2_000_000


def _check_sizes(**sizes: float) -> None:
    for name, value in sizes.items():
        if not (np.isfinite(value) and value > 0.0):
            raise MeshError(f'{name} must be a finite number above 0, got {value}')


def _icosahedron() -> tuple[FloatArray, IntArray]:
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


def _sphere_points(frequency: int) -> tuple[FloatArray, IntArray]:
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
        points = unit_rows(points + 0.8 * jitter * _mean_side(frequency) * steps) @ turn.T
    return TriangleMesh(radius * points, faces)


def _mean_side(frequency: int) -> float:
    return float(np.sqrt(4.0 * np.pi / (20.0 * frequency ** 2) * 4.0 / np.sqrt(3.0)))


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


def apple_profile(polar: FloatArray, diameter: float = 0.08) -> tuple[FloatArray, FloatArray]:
    """Return distances from the axis and heights ``(n,)`` [m] of an apple, see ``apple``."""
    widest = np.linspace(1.2, 1.6, 4001)
    radius = 0.5 * diameter / np.max(np.sin(widest) * (1.0 + 0.08 * np.cos(widest)))
    stem = 0.45 * np.exp(-(polar / 0.4) ** 2)
    calyx = 0.25 * np.exp(-((np.pi - polar) / 0.35) ** 2)
    return (radius * np.sin(polar) * (1.0 + 0.08 * np.cos(polar)),
            radius * (1.08 * np.cos(polar) - stem + calyx))


def box(extents: ArrayLike, edge_length: float | None = None) -> TriangleMesh:
    """
    Return a box with sides ``extents (3,)``: 12 triangles, or a grid of ``edge_length``.
    """
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
