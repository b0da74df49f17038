"""
The common plane of two convex bodies.

The plane halves the gap between the bodies. Its gap bounds their distance from below: a
gap above 0 proves that they are apart, and the plane is the witness. It is found by
turning a first guess a little, four ways, as long as that widens the gap.
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...errors import ShapeError
from ...fields import checked_array
from ...transforms import cross
from .convex.decomposition import ConvexPart
from .convex.epa import pair_contact


#: Tangents of the largest and the least tilt tried (Zhang and Shen: 0.174 and 0.01).
MAX_TURN, MIN_TURN = 0.174, 0.01
MAX_ITERATIONS = 400
#: Angle by which the axes of the turns are rotated from one attempt to the next [rad].
_AXIS_STEP = np.pi * (3.0 - np.sqrt(5.0))


@dataclass(frozen=True, eq=False)
class CommonPlane:
    """
    A plane between two bodies.

    Attributes
    ----------
    gap : float
        Distance of the bodies along the normal, a lower bound of the true one; not above 0
        where the plane does not part them [m].
    normal : (3,) float
        Unit, from a to b.
    point : (3,) float
        In the plane, half way between the nearest vertices [m].
    iterations : int
        Planes that were improved on, and the last one.
    """

    gap: float
    normal: Array
    point: Array
    iterations: int


def common_plane(a: Array, b: Array, normal: Array | None = None,
                 early_exit: bool = True) -> CommonPlane:
    """
    Look for the plane with the widest gap between two convex bodies.

    Parameters
    ----------
    a, b : (m, 3) float, (n, 3) float
        Their vertices, one frame [m]: polyhedra, triangles, segments, points.
    normal : (3,) float, optional
        First guess, from a to b, such as the last answer for the same bodies; by default
        the way from centroid to centroid.
    early_exit : bool
        Stop at the first plane that parts the bodies.

    Returns
    -------
    CommonPlane

    Raises
    ------
    ShapeError
        An array is not ``(n, 3)`` or empty, or a number is not finite.

    Notes
    -----
    Source: Zhang and Shen 2004, sections 2.2 to 2.4, after Cundall 1988. Departures: the
    plane is put half way between the nearest vertices, as its definition says (the printed
    equation adds that shift twice; it never changes the gap); the turns are halved where
    none is better (the paper's flow chart is not legible); their axes change from attempt
    to attempt, since with fixed ones the search stalls, as the paper says itself. A gap not above
    0 proves nothing: ``pair_contact`` decides.
    """
    a, b = checked_array(a, 'a', 'n', 3), checked_array(b, 'b', 'm', 3)
    if not (len(a) and len(b)):
        raise ShapeError(f'a and b must have points, got {len(a)} and {len(b)}')
    n = _unit(b.mean(axis=0) - a.mean(axis=0) if normal is None
              else checked_array(normal, 'normal', 3))
    gap, iterations, turn = _separation(a, b, n), 1, MAX_TURN
    for attempt in range(MAX_ITERATIONS):
        if turn < MIN_TURN or (early_exit and gap > 0.0):
            break
        trials = _tilted_normals(n, turn, attempt)
        gaps = [_separation(a, b, trial) for trial in trials]
        best = int(np.argmax(gaps))
        if gaps[best] > gap:
            n, gap, iterations = trials[best], gaps[best], iterations + 1
        else:
            turn /= 2.0
    nearest_a, nearest_b = a[np.argmax(a @ n)], b[np.argmin(b @ n)]
    return CommonPlane(gap, n, (nearest_a + nearest_b) / 2.0, iterations)


def _unit(vector: Array) -> Array:
    norm = np.linalg.norm(vector)
    return vector / norm if norm > 0.0 else np.array([1.0, 0.0, 0.0])


def _separation(a: Array, b: Array, normal: Array) -> float:
    return float((b @ normal).min() - (a @ normal).max())


def _tilted_normals(normal: Array, turn: float, attempt: int) -> Array:
    """Return the normal turned by ``atan(turn)`` four ways, ``(4, 3)``."""
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normal))] = 1.0
    across = cross(normal, axis)
    across /= np.sqrt(across @ across)
    other = cross(normal, across)
    angle = _AXIS_STEP * attempt
    p = np.cos(angle) * across + np.sin(angle) * other
    q = cross(normal, p)
    return (normal + turn * np.array([p, -p, q, -q])) / np.sqrt(1.0 + turn ** 2)


def separating_plane(a: ConvexPart, b: ConvexPart) -> tuple[CommonPlane, bool]:
    """
    Return the common plane of two convex parts, and whether they are apart.

    Parameters
    ----------
    a, b : ConvexPart
        In one frame.

    Returns
    -------
    CommonPlane
        Its gap is above 0 where the parts are apart, and not above 0 where they share more
        than ``TOLERANCE`` of their size.
    bool

    Notes
    -----
    Where the four-way search ends without a gap, GJK decides; if the parts are apart after
    all, the plane is the one normal to the way between their nearest points.
    """
    plane = common_plane(a.vertices, b.vertices, early_exit=False)
    if plane.gap > 0.0:
        return plane, True
    pair = pair_contact(a, b)
    if not pair.distance > 0.0:
        return plane, False
    nearest = (pair.point_a + pair.point_b) / 2.0
    return CommonPlane(_separation(a.vertices, b.vertices, pair.normal), pair.normal, nearest,
                       plane.iterations), True
