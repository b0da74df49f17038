"""
Rigid transforms as ``(..., 4, 4)`` matrices; ``T_a_b`` is the pose of b in a.

Quaternions are x, y, z, w. Points are rows.
"""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array
from .errors import ShapeError
from .numerics.kernels import njit


#: How far from orthonormal what is taken for a rotation may be.
RIGID = 1e-3
#: How far products of rows of a rotation may be from 0 before the nearest rotation is taken.
ORTHOGONAL = 1e-12

#: x, y, z, w.
Quaternion = tuple[float, float, float, float]


def transform(rotation: Array, translation: Array) -> Array:
    """
    Return ``T_a_b`` from a rotation matrix and the origin of b in a.

    Parameters
    ----------
    rotation : (..., 3, 3) float
        Maps vectors of b to a.
    translation : (..., 3) float
        Origin of b in frame a [m].

    Returns
    -------
    (..., 4, 4) float
    """
    rotation, translation = np.asarray(rotation, float), np.asarray(translation, float)
    shape = np.broadcast_shapes(rotation.shape[:-2], translation.shape[:-1])
    T_a_b = np.zeros((*shape, 4, 4))
    T_a_b[..., :3, :3] = rotation
    T_a_b[..., :3, 3] = translation
    T_a_b[..., 3, 3] = 1.0
    return T_a_b


def apply(T_a_b: Array, p_b: Array) -> Array:
    """
    Map points of frame b to frame a.

    Parameters
    ----------
    T_a_b : (..., 4, 4) float
    p_b : (..., n, 3) float

    Returns
    -------
    (..., n, 3) float

    Raises
    ------
    ShapeError
        The shapes do not fit.
    """
    return rotate(T_a_b, p_b) + T_a_b[..., None, :3, 3]


def rotate(T_a_b: Array, v_b: Array) -> Array:
    """Map vectors ``(..., n, 3)`` of frame b to frame a by ``T_a_b (..., 4, 4)``."""
    try:
        return v_b @ np.swapaxes(T_a_b[..., :3, :3], -1, -2)
    except (ValueError, IndexError):
        raise ShapeError('a transform (..., 4, 4) takes rows (..., n, 3), '
                         f'got {np.shape(T_a_b)} and {np.shape(v_b)}') from None


def inverse(T_a_b: Array) -> Array:
    """Return ``T_b_a (..., 4, 4)``, the inverse of a rigid transform."""
    rotation = np.swapaxes(T_a_b[..., :3, :3], -1, -2)
    return transform(rotation, -np.einsum('...ij,...j->...i', rotation, T_a_b[..., :3, 3]))


def from_pose(position: Array, quaternion: Array) -> Array:
    """
    Return ``T_a_b`` from a position [m] and a quaternion (x, y, z, w).

    Raises
    ------
    ShapeError
        A number is not finite, or the quaternion's norm is not 1 within 1e-3.
    """
    position, quaternion = np.asarray(position, float), np.asarray(quaternion, float)
    if position.shape != (3,) or quaternion.shape != (4,):
        raise ShapeError(
            f'a pose needs 3 and 4 numbers, got {position.shape} and {quaternion.shape}')
    norm = float(np.linalg.norm(quaternion))
    if not (np.isfinite(position).all() and np.isfinite(norm)):
        raise ShapeError(f'a pose must be finite, got {position} and {quaternion}')
    if abs(norm - 1.0) > 1e-3:
        raise ShapeError(f'a quaternion must have norm 1 (x, y, z, w), got {norm:.4g}')
    return transform(_rotation_of(_unit((quaternion / norm).tolist())), position)


def checked_rigid(T_a_b: ArrayLike, name: str) -> Array:
    """
    Return transforms ``(..., 4, 4)`` after checking that they are rigid.

    Raises
    ------
    ShapeError
        Something else arrived; the message calls it ``name``.
    """
    try:
        transforms = np.asarray(T_a_b, float)
    except (TypeError, ValueError):
        raise ShapeError(f'{name} must be numbers, got {T_a_b!r:.60}') from None
    if transforms.shape[-2:] != (4, 4):
        raise ShapeError(f'{name} must have shape (4, 4), got {transforms.shape}')
    rows = np.array(transforms, order='C').reshape(-1, 4, 4)
    odd = first_not_rigid(rows)
    if odd >= 0:
        raise ShapeError(f'{name} must be rigid: a rotation (no mirror, no scale), a finite '
                         f'translation, last row 0 0 0 1; got {rows[odd].tolist()}')
    return transforms


@njit(cache=True)
def first_not_rigid(transforms: Array) -> int:
    """Return which of ``(n, 4, 4)`` is the first that does more than turn and move, else -1."""
    for n in range(len(transforms)):
        T = transforms[n]
        rigid = np.isfinite(T[0, 3]) and np.isfinite(T[1, 3]) and np.isfinite(T[2, 3])
        for k in range(4):
            rigid &= abs(T[3, k] - (1.0 if k == 3 else 0.0)) <= RIGID
        for i in range(3):
            for k in range(3):
                product = T[i, 0] * T[k, 0] + T[i, 1] * T[k, 1] + T[i, 2] * T[k, 2]
                rigid &= abs(product - (1.0 if i == k else 0.0)) <= RIGID
        turn = (T[0, 0] * (T[1, 1] * T[2, 2] - T[1, 2] * T[2, 1])
                - T[0, 1] * (T[1, 0] * T[2, 2] - T[1, 2] * T[2, 0])
                + T[0, 2] * (T[1, 0] * T[2, 1] - T[1, 1] * T[2, 0]))
        if not (rigid and turn > 0.0):
            return n
    return -1


def to_pose(T_a_b: Array) -> tuple[Array, Array]:
    """
    Return position ``(3,)`` [m] and quaternion ``(4,)`` x, y, z, w (w >= 0) of ``T_a_b``.

    Raises
    ------
    ShapeError
        ``T_a_b`` is no rigid transform of shape ``(4, 4)``.
    """
    T_a_b = checked_rigid(T_a_b, 'a pose')
    if T_a_b.ndim != 2:
        raise ShapeError(f'a pose must have shape (4, 4), got {T_a_b.shape}')
    quaternion = np.array(_quaternion_of(T_a_b[:3, :3]))
    return T_a_b[:3, 3].copy(), np.where(quaternion[3] < 0.0, -quaternion, quaternion)


def _quaternion_of(rotation: Array) -> Quaternion:
    """
    Return the unit quaternion of a rotation (3, 3), of one that is off by a little the nearest's.

    Notes
    -----
    Source: Markley, Unit Quaternion from Rotation Matrix, J. Guidance, Control, and Dynamics
    31(2), 2008: from the row whose number is largest.
    """
    gram = rotation @ rotation.T
    if not np.allclose(gram, np.eye(3), atol=ORTHOGONAL):
        left, _, right = np.linalg.svd(rotation)
        rotation = left @ right
    R = rotation.tolist()
    trace = R[0][0] + R[1][1] + R[2][2]
    diagonal = [R[0][0], R[1][1], R[2][2], trace]
    i = diagonal.index(max(diagonal))
    if i == 3:
        return _unit([R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1], 1.0 + trace])
    j, k = (i + 1) % 3, (i + 2) % 3
    quaternion = [0.0, 0.0, 0.0, R[k][j] - R[j][k]]
    quaternion[i] = 1.0 - trace + 2.0 * R[i][i]
    quaternion[j] = R[j][i] + R[i][j]
    quaternion[k] = R[k][i] + R[i][k]
    return _unit(quaternion)


def _unit(quaternion: list[float]) -> Quaternion:
    x, y, z, w = quaternion
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    return x / norm, y / norm, z / norm, w / norm


def _rotation_of(quaternion: Quaternion) -> Array:
    """Return the rotation (3, 3) of a unit quaternion."""
    x, y, z, w = quaternion
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    return np.array([
        [xx - yy - zz + ww, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), -xx + yy - zz + ww, 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), -xx - yy + zz + ww]])


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """
    Return the rotation (3, 3) of a URDF's roll, pitch and yaw [rad].

    Turned about x first, then y, then z, axes that stay.
    """
    turned: Quaternion = (math.sin(0.5 * roll), 0.0, 0.0, math.cos(0.5 * roll))
    turned = _product((0.0, math.sin(0.5 * pitch), 0.0, math.cos(0.5 * pitch)), turned)
    turned = _product((0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)), turned)
    return _rotation_of(turned)


def _product(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the quaternion of the rotation q, then p."""
    return (p[3] * q[0] + q[3] * p[0] + (p[1] * q[2] - p[2] * q[1]),
            p[3] * q[1] + q[3] * p[1] + (p[2] * q[0] - p[0] * q[2]),
            p[3] * q[2] + q[3] * p[2] + (p[0] * q[1] - p[1] * q[0]),
            p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2])


def from_rotation_vector(twist: Array) -> Array:
    """Return the transform with translation ``twist[:3]`` and rotation vector ``twist[3:]``."""
    from scipy.spatial.transform import Rotation    # half of a start is what it brings along
    return transform(Rotation.from_rotvec(twist[3:]).as_matrix(), twist[:3])


def euler_angles(rotation: Array, axes: str) -> Array:
    """
    Return the Euler angles ``(3,)`` of a rotation [rad].

    Parameters
    ----------
    rotation : (3, 3) float
    axes : str
        As scipy names them: ``'xyz'`` are those of a URDF's rpy.

    Notes
    -----
    Where the second angle makes the other two turn about one axis (gimbal lock), the third is
    0; they still are angles of the rotation, so nobody is warned.
    """
    from scipy.spatial.transform import Rotation
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'Gimbal lock', UserWarning)
        angles: Array = Rotation.from_matrix(rotation).as_euler(axes)
    return angles


def skew(v: Array) -> Array:
    """Return the matrices ``(..., 3, 3)`` with ``skew(v) @ x = cross(v, x)``."""
    matrices = np.zeros((*v.shape, 3))
    matrices[..., 0, 1], matrices[..., 0, 2] = -v[..., 2], v[..., 1]
    matrices[..., 1, 0], matrices[..., 1, 2] = v[..., 2], -v[..., 0]
    matrices[..., 2, 0], matrices[..., 2, 1] = -v[..., 1], v[..., 0]
    return matrices


def cross(a: Array, b: Array) -> Array:
    """Return the cross products ``(..., 3)``: numpy's bits, in a fifth of its time for a few."""
    products = np.empty(a.shape if a.shape == b.shape else np.broadcast(a, b).shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return products


def rotation_about(centre: Array, rotation: Array, translation: Array) -> Array:
    """Return the motion (4, 4): a rotation vector [rad] about a point [m], then a translation."""
    T = from_rotation_vector(np.concatenate([np.zeros(3), rotation]))
    T[:3, 3] = centre - T[:3, :3] @ centre + translation
    return T
