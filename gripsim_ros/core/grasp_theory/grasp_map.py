"""
Contact frames, the grasp map, and load cases as wrenches.

A contact frame is ``[n, t1, t2]`` with n into the object. Wrenches are force
then torque about the centre of mass, of what acts *on* the object, frame object.
"""

from itertools import product

import numpy as np

from ..arrays import Array, IntArray
from ..batches import LOAD_CASE_WIDTH
from ..errors import ShapeError
from ..fields import checked_array
from ..hand import HandModel, link_poses_and_jacobians
from ..numerics import vec3
from ..numerics.kernels import njit
from ..numerics.vec3 import load_vec3
from ..transforms import cross, from_rotation_vector, skew


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
    normals = checked_array(normals, 'contact normals', 'k', 3)
    lengths = np.linalg.norm(normals, axis=1)
    if not (np.abs(lengths - 1.0) < UNIT_TOLERANCE).all():
        raise ShapeError(f'contact normals must have length 1, got {lengths.tolist()}')
    sines = np.hypot(normals[:, 1], normals[:, 0])
    parallel = sines < PARALLEL_SINE
    first = cross(normals, np.where(parallel[:, None], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    first /= np.where(parallel, np.linalg.norm(first, axis=1), sines)[:, None]
    return np.stack([normals, first, cross(normals, first)], axis=2)


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
    load_cases = checked_array(load_cases, 'load cases', 'c', LOAD_CASE_WIDTH)
    return _load_wrenches(load_cases, float(mass), np.ascontiguousarray(centre_of_mass, float))


@njit(cache=True)
def _load_wrenches(load_cases: Array, mass: float, centre_of_mass: Array) -> Array:
    wrenches = np.empty((len(load_cases), 6))
    centre = centre_of_mass[0], centre_of_mass[1], centre_of_mass[2]
    for i in range(len(load_cases)):
        moment = vec3.cross(centre, (load_cases[i, 3], load_cases[i, 4], load_cases[i, 5]))
        for k in range(3):
            wrenches[i, k] = mass * load_cases[i, k] + load_cases[i, 3 + k]
            wrenches[i, 3 + k] = load_cases[i, 6 + k] - moment[k]
    return wrenches


def joint_torque_map(hand: HandModel, joint_positions: Array, T_object_palm: Array,
                     links: IntArray, points: Array) -> Array:
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
    origins = (rotation @ T_palm_link[0][links, :3, 3, None])[..., 0] + origin
    return _velocities_at(velocities, points - origins)


@njit(cache=True)
def _velocities_at(velocities: Array, arms: Array) -> Array:
    """
    Return velocities and turns ``(J, 6 k)`` of points, their ``arms (k, 3)`` from the origins.

    ``velocities (k, 2, 3, J)`` are those of the origins of the links, and the turns.
    """
    count, _, _, joints = velocities.shape
    columns = np.empty((joints, 6 * count))
    for i in range(count):
        arm = load_vec3(arms, i)
        for j in range(joints):
            turn = velocities[i, 1, 0, j], velocities[i, 1, 1, j], velocities[i, 1, 2, j]
            along = vec3.cross(turn, arm)
            for k in range(3):
                columns[j, 6 * i + k] = velocities[i, 0, k, j] + along[k]
                columns[j, 6 * i + 3 + k] = turn[k]
    return columns


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


def cube_directions(R_object_canonical: Array) -> Array:
    """
    Return the 26 directions to a cube's faces, edges and corners, frame object.

    Parameters
    ----------
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame, so that the directions turn with it.

    Returns
    -------
    (26, 3) float
        Unit vectors.

    Notes
    -----
    Source: own choice; worst case over 26 directions of gravity.

    """
    cube = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
    return (cube / np.linalg.norm(cube, axis=1, keepdims=True)) @ R_object_canonical.T


def load_cases(gravity_directions: Array, gravity: float, external_wrenches: Array,
               R_object_canonical: Array) -> Array:
    """
    Return the combinations of directions of gravity with external wrenches, frame object.

    Parameters
    ----------
    gravity_directions : (g, 3) float
        Any length above 0. Empty: the ``cube_directions``.
    gravity : float
        Magnitude [m/s^2].
    external_wrenches : (w, 6) float
        Force [N] and torque about the object's origin [N m]. Empty: none acts.
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame in the object's frame.

    Returns
    -------
    (c, 9) float
        Gravity [m/s^2], force [N], torque about the object's origin [N m].

    """
    directions = gravity_directions
    if len(directions) == 0:
        directions = cube_directions(R_object_canonical)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    wrenches = external_wrenches if len(external_wrenches) else np.zeros((1, 6))
    cases = np.zeros((len(directions), len(wrenches), LOAD_CASE_WIDTH))
    cases[:, :, :3] = gravity * directions[:, None]
    cases[:, :, 3:] = wrenches[None]
    return cases.reshape(-1, LOAD_CASE_WIDTH)
