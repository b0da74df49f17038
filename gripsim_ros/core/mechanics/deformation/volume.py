"""
Volume of a deformed surface: its change along a field of directions, exactly.

Derivations and limits: docs/model/mechanics.md, "Deformed surface".
"""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.summation import mean_of_rows
from ...numerics.vec3 import Mat3, Vec3, cross, dot, load_vec3, subtract


#: Largest number of Newton steps on the cubic; nearly straight, three reach round-off.
NEWTON_STEPS = 20
#: Relative step at which they end [-].
STEP_TOLERANCE = 1e-15


@njit(cache=True, forceinline=True)
def _corners(points: Array, face: IntArray, origin: Vec3) -> Mat3:
    return (subtract(load_vec3(points, face[0]), origin),
            subtract(load_vec3(points, face[1]), origin),
            subtract(load_vec3(points, face[2]), origin))


@njit(cache=True, forceinline=True)
def _triple(a: Vec3, b: Vec3, c: Vec3) -> float:
    return dot(a, cross(b, c))


@njit(cache=True)
def _moments(points: Array, faces: IntArray, origin: Array) -> tuple[float, Array]:
    """Return volume and first moment about an origin."""
    volume, x, y, z = 0.0, 0.0, 0.0, 0.0
    middle = (origin[0], origin[1], origin[2])
    for face in faces:
        a, b, c = _corners(points, face, middle)
        part = _triple(a, b, c) / 6.0
        volume += part
        x += part * (a[0] + b[0] + c[0])
        y += part * (a[1] + b[1] + c[1])
        z += part * (a[2] + b[2] + c[2])
    return volume, np.array([x, y, z]) / 4.0


@njit(cache=True)
def _cubic(points: Array, directions: Array, faces: IntArray, origin: Array) -> Array:
    """Return the coefficients of V(s) = sum_k c_k s^k of points moved by s directions."""
    middle = (origin[0], origin[1], origin[2])
    constant, linear, square, cube = 0.0, 0.0, 0.0, 0.0
    for face in faces:
        a, b, c = _corners(points, face, middle)
        p, q, r = _corners(directions, face, (0.0, 0.0, 0.0))
        constant += _triple(a, b, c)
        linear += _triple(p, b, c) + _triple(a, q, c) + _triple(a, b, r)
        square += _triple(p, q, c) + _triple(p, b, r) + _triple(a, q, r)
        cube += _triple(p, q, r)
    return np.array([constant, linear, square, cube]) / 6.0


def volume_and_centre(vertices: Array, faces: IntArray) -> tuple[float, Array]:
    """
    Return volume and centre of volume of a closed surface.

    Parameters
    ----------
    vertices : (n, 3) float
        [m].
    faces : (f, 3) int
        Counter-clockwise from outside.

    Returns
    -------
    float
        [m^3].
    (3,) float
        [m]; NaN where nothing is enclosed.

    Notes
    -----
    Source: divergence theorem, tetrahedra from the mean of the vertices (Mirtich 1996).
    """
    origin = mean_of_rows(vertices)
    volume, moment = _moments(vertices, faces, origin)
    return volume, origin + (moment / volume if volume != 0.0 else np.nan)


def restore_volume(vertices: Array, faces: IntArray, directions: Array,
                   target: float) -> tuple[Array, float]:
    """
    Move vertices along given directions until the surface encloses a given volume.

    Parameters
    ----------
    vertices, directions : (n, 3) float
        [m]; vertices move by one multiple s of the directions.
    faces : (f, 3) int
    target : float
        [m^3].

    Returns
    -------
    vertices : (n, 3) float
        Unchanged where no multiple changes the volume so.
    s : float

    Notes
    -----
    Own derivation: the volume is exactly a cubic of s, whose coefficients are sums of
    triple products about the mean of the vertices; the root nearest 0 is taken.
    """
    coefficients = _cubic(vertices, directions, faces, mean_of_rows(vertices))
    coefficients[0] -= target
    s = _nearest_root(coefficients)
    return vertices + s * directions, s


def _nearest_root(coefficients: Array) -> float:
    """Return the real root nearest 0 of ``sum c_k s^k``, 0 if there is none."""
    values = coefficients.tolist()
    if values[0] == 0.0:
        return 0.0
    roots = np.roots(values[::-1])
    real: list[float] = roots.real[np.abs(roots.imag) <= 1e-6 * np.abs(roots)].tolist()
    if not real:
        return 0.0
    s = min(real, key=abs)
    for _ in range(NEWTON_STEPS):
        slope = values[1] + s * (2.0 * values[2] + 3.0 * s * values[3])
        if slope == 0.0:
            break
        step = (values[0] + s * (values[1] + s * (values[2] + s * values[3]))) / slope
        s -= step
        if abs(step) <= STEP_TOLERANCE * abs(s):
            break
    return s
