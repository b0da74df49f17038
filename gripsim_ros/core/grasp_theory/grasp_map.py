"""
Contact frames, the grasp map, and load cases as wrenches.

A contact frame is ``[n, t1, t2]`` with n into the object. Wrenches are force
then torque about the centre of mass, of what acts *on* the object, frame object.
"""

from numba import njit
import numpy as np
from numpy.typing import NDArray

from ..batches import LOAD_CASE_WIDTH
from ..errors import ShapeError
from ..hand import HandModel, link_poses_and_jacobians
from ..transforms import from_rotation_vector, skew

Array = NDArray[np.float64]

#: Sine between normal and z axis below which the x axis takes its place.
PARALLEL_SINE = 1e-6
#: Largest deviation of a normal's length from 1.
UNIT_TOLERANCE = 1e-6


def contact_frames(normals: Array) -> Array:
    """
    Return the frames ``[n, t1, t2]`` of contacts from their normals.

    ``t1 = n x z`` normalised, or ``n x x`` where n is parallel to z; ``t2 = n x t1``.

    Parameters
    ----------
    normals : (k, 3) float
        Unit normals into the object, frame object.

    Returns
    -------
    (k, 3, 3) float
        Columns n, t1, t2; right-handed rotations.

    Raises
    ------
    ShapeError
        ``normals`` is not ``(k, 3)`` or a row is not of unit length.

    Notes
    -----
    Source: Murray, Li & Sastry 1994, section 5.2, with the normal first; the choice
    of t1 is ours and fixes the phase of linearised cones.
    """
    normals = np.asarray(normals, float)
    if normals.ndim != 2 or normals.shape[1] != 3:
        raise ShapeError(f'contact normals must be (k, 3), got {normals.shape}')
    frames, unit = _frames(np.ascontiguousarray(normals), np.hypot(normals[:, 1], normals[:, 0]))
    if not unit:
        lengths = np.linalg.norm(normals, axis=1).tolist()
        raise ShapeError(f'contact normals must have length 1, got {lengths}')
    return frames


@njit(cache=True, error_model='numpy')
def _frames(normals: Array, sines: Array) -> tuple[Array, bool]:
    """Return contact frames, given the sines to the z axis, and whether normals are unit."""
    first, frames, unit = np.zeros((len(normals), 3)), np.empty((len(normals), 3, 3)), True
    parallel = False
    for i in range(len(normals)):
        x, y, z = normals[i, 0], normals[i, 1], normals[i, 2]
        unit = unit and abs(np.sqrt(x * x + y * y + z * z) - 1.0) < UNIT_TOLERANCE
        first[i, 0], first[i, 1] = y, -x
        if sines[i] < PARALLEL_SINE:
            parallel = True
            first[i, 0], first[i, 1], first[i, 2] = y * 0.0 - z * 0.0, z - x * 0.0, x * 0.0 - y
    for i in range(len(normals)):
        x, y, z = normals[i, 0], normals[i, 1], normals[i, 2]
        u, v, w = first[i, 0], first[i, 1], first[i, 2]
        sine = np.sqrt(u * u + v * v + w * w) if parallel else sines[i]
        u, v, w = u / sine, v / sine, w / sine
        frames[i, 0, 0], frames[i, 1, 0], frames[i, 2, 0] = x, y, z
        frames[i, 0, 1], frames[i, 1, 1], frames[i, 2, 1] = u, v, w
        frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2] = (y * w - z * v, z * u - x * w,
                                                             x * v - y * u)
    return frames, unit


def grasp_map(points: Array, frames: Array, centre_of_mass: Array, soft: bool = True) -> Array:
    """
    Return G, which maps contact forces to the wrench on the object.

    Parameters
    ----------
    points : (k, 3) float
        Centres of pressure, frame object [m].
    frames : (k, 3, 3) float
        Contact frames of ``contact_frames``.
    centre_of_mass : (3,) float
        Of the deformed object, about which torques are taken [m].
    soft : bool
        Give every contact a fourth column, the torsion about its normal.

    Returns
    -------
    (6, 4k) or (6, 3k) float
        Columns by contact: normal, t1, t2 [N], and torsion [N m].

    Notes
    -----
    Source: Prattichizzo & Trinkle, Springer Handbook of Robotics, section 28.2;
    ``G_i = [R_i; S(p_i - c) R_i]``, soft finger adds ``[0; n]``. Differs: the sign
    is that of forces on the object.
    """
    frames = np.asarray(frames, float)
    count, columns = len(frames), 4 if soft else 3
    blocks = np.zeros((count, 6, columns))
    blocks[:, :3, :3] = frames
    blocks[:, 3:, :3] = skew(np.asarray(points, float) - centre_of_mass) @ frames
    if soft:
        blocks[:, 3:, 3] = frames[:, :, 0]
    return blocks.transpose(1, 0, 2).reshape(6, count * columns)


def load_wrenches(load_cases: Array, mass: float, centre_of_mass: Array) -> Array:
    """
    Return the wrench of each load case about the centre of mass.

    Parameters
    ----------
    load_cases : (c, 9) float
        Gravity [m/s^2], force [N] and torque about the object's origin [N m].
    mass : float
        Of the object [kg].
    centre_of_mass : (3,) float
        Frame object [m].

    Returns
    -------
    (c, 6) float
        Force [N] then torque [N m], frame object.

    Raises
    ------
    ShapeError
        ``load_cases`` is not ``(c, 9)``.
    """
    load_cases = np.asarray(load_cases, float)
    if load_cases.ndim != 2 or load_cases.shape[1] != LOAD_CASE_WIDTH:
        raise ShapeError(f'load cases must be (c, {LOAD_CASE_WIDTH}), got {load_cases.shape}')
    # Copies, since numba takes what may not be written for another type.
    return _wrenches(load_cases.copy(), float(mass), np.array(centre_of_mass, float))


@njit(cache=True)
def _wrenches(load_cases: Array, mass: float, centre: Array) -> Array:
    wrenches = np.empty((len(load_cases), 6))
    for c in range(len(load_cases)):
        u, v, w = load_cases[c, 3], load_cases[c, 4], load_cases[c, 5]
        wrenches[c, 0] = mass * load_cases[c, 0] + u
        wrenches[c, 1] = mass * load_cases[c, 1] + v
        wrenches[c, 2] = mass * load_cases[c, 2] + w
        wrenches[c, 3] = load_cases[c, 6] - (centre[1] * w - centre[2] * v)
        wrenches[c, 4] = load_cases[c, 7] - (centre[2] * u - centre[0] * w)
        wrenches[c, 5] = load_cases[c, 8] - (centre[0] * v - centre[1] * u)
    return wrenches


def joint_torque_map(hand: HandModel, joint_positions: Array, T_object_palm: Array,
                     links: NDArray[np.int64], points: Array) -> Array:
    """
    Return the joint torques per force and torque of each patch: transposed Jacobians.

    Parameters
    ----------
    hand : HandModel
    joint_positions : (J,) float
        [rad].
    T_object_palm : (4, 4) float
    links : (k,) int
        Link that presses each patch.
    points : (k, 3) float
        Where it does, frame object [m].

    Returns
    -------
    (J, 6 k) float
        Columns per patch: force [N], then torque about the point [N m], that the hand
        applies to the object, frame object; times them, the torques of the joints [N m].

    Notes
    -----
    Source: duality of forces and velocities (Murray, Li & Sastry 1994, section 5.3). The
    velocity of a point of the link at p is ``v + w x (p - o)`` of the link's origin o.
    """
    T_palm_link, jacobians = link_poses_and_jacobians(
        hand, np.asarray(joint_positions, float)[None])
    rotation, origin = T_object_palm[:3, :3], T_object_palm[:3, 3]
    count, joints = len(links), len(hand.joint_names)
    velocities = rotation @ jacobians[0][links].reshape(count, 2, 3, joints)
    arms = points - ((rotation @ T_palm_link[0][links, :3, 3, None])[..., 0] + origin)
    return _torques(np.ascontiguousarray(velocities), np.ascontiguousarray(arms))


@njit(cache=True)
def _torques(velocities: Array, arms: Array) -> Array:
    """Return the map of the velocities (k, 2, 3, J) of links and the arms (k, 3) of points."""
    count, joints = len(arms), velocities.shape[3]
    torque_map = np.empty((joints, 6 * count))
    for k in range(count):
        x, y, z = arms[k, 0], arms[k, 1], arms[k, 2]
        for j in range(joints):
            u, v, w = velocities[k, 1, 0, j], velocities[k, 1, 1, j], velocities[k, 1, 2, j]
            torque_map[j, 6 * k] = velocities[k, 0, 0, j] + (v * z - w * y)
            torque_map[j, 6 * k + 1] = velocities[k, 0, 1, j] + (w * x - u * z)
            torque_map[j, 6 * k + 2] = velocities[k, 0, 2, j] + (u * y - v * x)
            for a in range(3):
                torque_map[j, 6 * k + 3 + a] = velocities[k, 1, a, j]
    return torque_map


def turned_loads(load_cases: Array, settled: Array) -> Array:
    """
    Return load cases in the frame of the object as it is now.

    Parameters
    ----------
    load_cases : (c, 9) float
        Gravity, force and torque, whose directions stay while the object turns; force and
        torque act at the origin of the object's frame and move with it.
    settled : (6,) float

    Returns
    -------
    (c, 9) float
    """
    if not settled[3:].any():
        return load_cases
    rotation = from_rotation_vector(settled)[:3, :3]
    return (load_cases.reshape(-1, 3) @ rotation).reshape(load_cases.shape)
