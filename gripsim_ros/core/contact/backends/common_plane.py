"""
The common plane of two convex bodies, and the triangles that bound a six-joint arm.

The plane halves the gap between the bodies. Its gap bounds their distance from below: a
gap above 0 proves that they are apart, and the plane is the witness. It is found by
turning a first guess a little, four ways, as long as that widens the gap.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import ShapeError
from .convex.decomposition import ConvexPart
from .convex.epa import pair_contact

Array = NDArray[np.float64]

#: Tangents of the largest and the least turn tried (Zhang and Shen: 0.174 and 0.01).
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
    loops : int
        Planes that were improved on, and the last one.
    """

    gap: float
    normal: Array
    point: Array
    iterations: int


def common_plane(a: Array, b: Array, normal: Array | None = None, early_exit: bool = True,
                 least_turn: float = MIN_TURN) -> CommonPlane:
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
    least_turn : float
        Tangent of the turn at which the search ends.

    Returns
    -------
    CommonPlane

    Raises
    ------
    ShapeError
        An array is not ``(n, 3)`` or empty, or a number is not finite, or the turn is not
        in (0, 0.174].

    Notes
    -----
    Source: Zhang and Shen 2004, sections 2.2 to 2.4, after Cundall 1988. Departures: the
    plane is put half way between the nearest vertices, as its definition says (the printed
    equation adds that shift twice; it never changes the gap); the turns are halved where
    none is better (the paper's flow chart is not legible); their axes change from attempt
    to attempt, since with fixed ones the search stalls, as the paper says itself. A gap not above
    0 proves nothing: ``pair_contact`` decides.
    """
    a, b = _checked('a', a), _checked('b', b)
    if not 0.0 < least_turn <= MAX_TURN:
        raise ShapeError(f'least_turn must lie in 0 to {MAX_TURN}, got {least_turn}')
    n = _first_normal(a, b) if normal is None else _unit(_checked('normal', [normal])[0])
    gap, loops, turn = _separation(a, b, n), 1, MAX_TURN
    for attempt in range(MAX_ITERATIONS):
        if turn < least_turn or (early_exit and gap > 0.0):
            break
        trials = _tilted_normals(n, turn, attempt)
        gaps = [_separation(a, b, trial) for trial in trials]
        best = int(np.argmax(gaps))
        if gaps[best] > gap:
            n, gap, loops = trials[best], gaps[best], loops + 1
        else:
            turn /= 2.0
    nearest_a, nearest_b = a[np.argmax(a @ n)], b[np.argmin(b @ n)]
    return CommonPlane(gap, n, (nearest_a + nearest_b) / 2.0, loops)


def _checked(name: str, points: ArrayLike) -> Array:
    array = np.asarray(points, float)
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ShapeError(f'{name} must be points (n, 3) with n > 0, got {array.shape}')
    if not np.isfinite(array).all():
        raise ShapeError(f'{name} must be finite')
    return array


def _unit(vector: Array) -> Array:
    norm = np.linalg.norm(vector)
    return vector / norm if norm > 0.0 else np.array([1.0, 0.0, 0.0])


def _first_normal(a: Array, b: Array) -> Array:
    """Return the unit way from centroid to centroid; x where they coincide."""
    return _unit(b.mean(axis=0) - a.mean(axis=0))


def _separation(a: Array, b: Array, normal: Array) -> float:
    return float((b @ normal).min() - (a @ normal).max())


def _tilted_normals(normal: Array, turn: float, attempt: int) -> Array:
    """Return the normal turned by ``atan(turn)`` four ways, ``(4, 3)``."""
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normal))] = 1.0
    across = _cross(normal, axis)
    across /= np.sqrt(across @ across)
    other = _cross(normal, across)
    angle = _AXIS_STEP * attempt
    p = np.cos(angle) * across + np.sin(angle) * other
    q = _cross(normal, p)
    unit: Array = (normal + turn * np.array([p, -p, q, -q])) / np.sqrt(1.0 + turn ** 2)
    return unit


def _cross(a: Array, b: Array) -> Array:
    """Return a x b ``(3,)``; numpy's takes ten times as long for single vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0]])


def separating_plane(a: ConvexPart, b: ConvexPart,
                     normal: Array | None = None) -> tuple[CommonPlane, bool]:
    """
    Return the common plane of two convex parts, and whether they are apart.

    Parameters
    ----------
    a, b : ConvexPart
        In one frame.
    normal : (3,) float, optional
        First guess, from a to b.

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
    plane = common_plane(a.vertices, b.vertices, normal, early_exit=False)
    if plane.gap > 0.0:
        return plane, True
    pair = pair_contact(a, b)
    if not pair.distance > 0.0:
        return plane, False
    nearest = (pair.point_a + pair.point_b) / 2.0
    return CommonPlane(_separation(a.vertices, b.vertices, pair.normal), pair.normal, nearest,
                       plane.iterations), True


def arm_triangles(joints: Array) -> Array:
    """
    Return the two triangles ``(2, 3, 3)`` spanned by the links of a six-joint arm.

    Parameters
    ----------
    joints : (5, 3) float
        Ends m0 to m4 of its four links that have a length [m].

    Raises
    ------
    ShapeError
        There are not five finite points.

    Notes
    -----
    Source: Zhang and Shen 2004, section 1.1: (m0, m1, m2) and (m2, m3, m4).
    """
    joints = _checked('joints', joints)
    if len(joints) != 5:
        raise ShapeError(f'an arm has five joints m0 to m4 here, got {len(joints)}')
    return joints[[[0, 1, 2], [2, 3, 4]]]


def triangles_may_meet(triangles_a: Array, triangles_b: Array, base_a: Array, base_b: Array,
                       clearance: float = 0.0) -> NDArray[np.bool_]:
    """
    Tell which triangles of two arms overlap on the line between their bases.

    Parameters
    ----------
    triangles_a, triangles_b : (2, 3, 3) float
        From ``arm_triangles``, in one frame [m].
    base_a, base_b : (3,) float
        Origins of the arms [m].
    clearance : float
        Thickness of both arms' links about the triangles, and margin [m].

    Returns
    -------
    (2, 2) bool
        Of each triangle of a with each of b; where False they are apart.

    Raises
    ------
    ShapeError
        The bases coincide.

    Notes
    -----
    Source: Zhang and Shen 2004, section 1.2. Departure: the clearance, for links are not
    lines.
    """
    axis = np.asarray(base_b, float) - np.asarray(base_a, float)
    if not np.linalg.norm(axis) > 0.0:
        raise ShapeError('the bases of two arms must differ')
    axis = _unit(axis)
    meet: NDArray[np.bool_] = ((triangles_a @ axis).max(axis=1)[:, None] + clearance
                               >= (triangles_b @ axis).min(axis=1)[None])
    return meet


def triangle_gaps(triangles_a: Array, triangles_b: Array, may_meet: NDArray[np.bool_]) -> Array:
    """
    Return lower bounds of the distances ``(2, 2)`` of two arms' triangles [m].

    ``inf`` where ``may_meet`` says that they are apart; by the common plane otherwise,
    without early exit. Links are apart where the gap is above the sum of their thicknesses
    about the triangles.
    """
    return np.array([[common_plane(a, b, early_exit=False).gap if may_meet[i, j] else np.inf
                      for j, b in enumerate(triangles_b)] for i, a in enumerate(triangles_a)])
