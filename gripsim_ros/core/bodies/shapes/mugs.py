"""A mug with a handle, closed by construction: the handle's tube joins two windows."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...errors import MeshError
from ..mesh import TriangleMesh
from .sweeps import grid_quads, refine_profile, revolve, split_quads

#: Centres of the handle's feet and their half height, as shares of the mug's height.
FEET = (0.25, 0.75)
#: Sides of the rectangle in the wall from which the handle grows, as shares of the radius.
FOOT_WIDTH, FOOT_HEIGHT = 0.35, 0.35
#: Reach of the handle over half the distance of its feet [-].
REACH = 1.0


@dataclass(frozen=True)
class _Window:
    """Quads cut out of the outer wall: vertex rows and columns, ends included."""

    rows: tuple[int, int]
    columns: tuple[int, int]

    def loop(self, segments: int, upside_down: bool = False) -> IntArray:
        """Return the rim's vertices, counter-clockwise from outside, or turned upside down."""
        (r0, r1), (c0, c1) = self.rows, self.columns
        cells = ([(r0, c) for c in range(c0, c1)] + [(r, c1) for r in range(r0, r1)]
                 + [(r1, c) for c in range(c1, c0, -1)] + [(r, c0) for r in range(r1, r0, -1)])
        return np.array([(r0 + r1 - r if upside_down else r) * segments + c % segments
                         for r, c in cells], dtype=np.int64)


def mug(
        radius: float = 0.04, height: float = 0.095, wall: float = 0.004,
        edge_length: float = 0.005) -> TriangleMesh:
    """
    Return a mug standing on z = 0 with its handle towards +x.

    Parameters
    ----------
    radius, height : float
        Of the outer wall [m].
    wall : float
        Thickness of wall and bottom, below half the radius [m].
    edge_length : float
        At most a quarter of the radius [m].

    Raises
    ------
    MeshError
        A size is not positive, or wall or edge are too long.
    """
    sizes = np.array([radius, height, wall, edge_length])
    if not (np.isfinite(sizes).all() and (sizes > 0.0).all()):
        raise MeshError(f'sizes of a mug must be finite and above 0, got {sizes}')
    if wall >= 0.5 * radius or wall >= 0.5 * height or edge_length > 0.25 * radius:
        raise MeshError('a mug needs a wall below half its radius and height and edges of at '
                        f'most a quarter of its radius, got {wall:g} and {edge_length:g} m')
    inner = radius - wall
    profile = refine_profile([[0.0, 0.0], [radius, 0.0], [radius, height], [inner, height],
                              [inner, wall], [0.0, wall]], edge_length)
    segments = 2 * int(np.ceil(np.pi * radius / edge_length))
    cup = revolve(profile, segments)
    lower, upper = (_window(profile, segments, radius, height, share) for share in FEET)
    faces = _cut(cup, len(profile) - 2, segments, (lower, upper))
    return _with_handle(cup, faces, lower.loop(segments), upper.loop(segments, True), edge_length)


def _window(profile: Array, segments: int, radius: float, height: float, share: float) -> _Window:
    """Return the window whose centre is nearest to the height ``share * height``."""
    outer = np.flatnonzero(np.isclose(profile[1:-1, 0], radius))
    z = profile[1:-1, 1][outer]
    half = 0.5 * FOOT_HEIGHT * radius
    low = int(np.argmin(np.abs(z - (share * height - half))))
    high = max(int(np.argmin(np.abs(z - (share * height + half)))), low + 1)
    columns = max(1, int(round(0.5 * FOOT_WIDTH * segments / (2.0 * np.pi))))
    return _Window((int(outer[low]), int(outer[high])), (-columns, columns))


def _cut(
        cup: TriangleMesh, rows: int, segments: int,
        windows: tuple[_Window, _Window]) -> IntArray:
    """Return the cup's faces without those in the windows; see ``revolve`` for their order."""
    gone = np.zeros((rows - 1, segments), dtype=bool)
    for window in windows:
        columns = np.arange(*window.columns) % segments
        gone[window.rows[0]:window.rows[1], columns] = True
    poles = np.zeros(segments, dtype=bool)
    return cup.faces[~np.concatenate([poles, gone.ravel(), gone.ravel(), poles])]


def _with_handle(
        cup: TriangleMesh, faces: IntArray, start: IntArray, end: IntArray,
        edge_length: float) -> TriangleMesh:
    """Return the cup with a tube from the loop ``start`` to the loop ``end``."""
    first, last = cup.vertices[start], cup.vertices[end]
    span = float(last[:, 2].mean() - first[:, 2].mean())
    steps = max(6, int(np.ceil(0.5 * np.pi * span / edge_length)))
    rings = np.stack([_handle_ring(first, last, k / steps) for k in range(1, steps)])
    count, size = len(cup.vertices), len(start)
    names = np.concatenate([start, count + np.arange(rings.shape[0] * size), end])
    tube = split_quads(names[grid_quads(steps + 1, size)])
    vertices = np.concatenate([cup.vertices, rings.reshape(-1, 3)])
    used, renumbered = np.unique(np.concatenate([faces, tube]), return_inverse=True)
    return TriangleMesh(vertices[used], renumbered.reshape(-1, 3))


def _handle_ring(first: Array, last: Array, share: float) -> Array:
    """Return the handle's section at a share of its way, a half turn about y."""
    wall = float(first[:, 0].max())
    low, high = float(np.ptp(first[:, 2])), float(np.ptp(last[:, 2]))
    start, end = first[:, 2].min() + low / 2.0, last[:, 2].min() + high / 2.0
    turn, roundness = np.pi * share, np.sin(np.pi * share)
    centre = np.array([wall + REACH * 0.5 * (end - start) * np.sin(turn), 0.0,
                       0.5 * (start + end) - 0.5 * (end - start) * np.cos(turn)])
    section = (1.0 - share) * first[:, 1:] + share * last[:, 1:] * [1.0, -1.0]
    section = section - [0.0, (1.0 - share) * start - share * end]
    half = np.abs(section).max(axis=0)
    unit = section / half
    circle = unit / np.linalg.norm(unit, axis=1, keepdims=True) * half
    across, up = ((1.0 - roundness) * section + roundness * circle).T
    along = (first[:, 0] - wall) * np.cos(turn)
    way = np.array([np.cos(turn), 0.0, np.sin(turn)])
    normal = np.array([-np.sin(turn), 0.0, np.cos(turn)])
    return (centre + along[:, None] * way
            + across[:, None] * [0.0, 1.0, 0.0] + up[:, None] * normal)
