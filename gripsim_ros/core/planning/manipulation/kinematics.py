"""Kinematics of an object held by fingertips: the motions that the joints alone can give it."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from ...arrays import Array, IntArray
from ...errors import TaskError
from ...grasp_theory.grasp_map import grasp_map, joint_torque_map
from ...hand import HandModel, forward_kinematics
from ...transforms import apply, transform


#: Singular values below this share of the largest count as zero.
RANK_TOLERANCE = 1e-6
#: Largest number of steps of a path; more, some hundred metres, are bad input.
MAX_PATH_STEPS = 20_000
#: Largest number of Gauss-Newton iterations of one motion, and the change that ends them [rad].
MAX_ITERATIONS, CONVERGED = 8, 1e-12
#: Share of a step below which a shorter one is not tried.
LEAST_SHARE = 2.0 ** -12


@dataclass(frozen=True, eq=False)
class Fingertips:
    """Point contacts of fingertips: links (k,) and points in the palm's frame (k, 3)."""

    links: IntArray
    points_palm: Array


def object_path(T_object_moved: Array, translation_step: float, rotation_step: float) -> Array:
    """
    Return the poses along the straight path of an object.

    Parameters
    ----------
    T_object_moved : (4, 4) float
        Wanted pose of the object, in its own first frame.
    translation_step, rotation_step : float
        Longest step of the origin [m] and largest turn [rad].

    Returns
    -------
    (m + 1, 4, 4) float
        From the identity to ``T_object_moved``, evenly spaced: the origin on a straight line,
        the rotation about one axis. m = 0 where nothing moves.

    Raises
    ------
    TaskError
        It takes more than ``MAX_PATH_STEPS`` steps.

    Notes
    -----
    Source: seed 001, 'the path of the object is linear and split in steps'.
    """
    turn = Rotation.from_matrix(T_object_moved[:3, :3]).as_rotvec()
    shift = T_object_moved[:3, 3]
    wanted = max(np.linalg.norm(shift) / translation_step, np.linalg.norm(turn) / rotation_step)
    if not wanted <= MAX_PATH_STEPS:
        raise TaskError(f'task.displacement takes {wanted:.10g} steps of {translation_step} m or '
                        f'{rotation_step} rad, at most {MAX_PATH_STEPS} are allowed')
    steps = int(np.ceil(wanted - 1e-9))
    shares = np.linspace(0.0, 1.0, steps + 1) if steps > 0 else np.zeros(1)
    return np.stack([pose_on_path(T_object_moved, share) for share in shares])


def pose_on_path(T_object_moved: Array, share: float) -> Array:
    """Return the pose ``(4, 4)`` at a fraction of the straight path, 0 to 1."""
    if share >= 1.0:
        return T_object_moved
    turn = Rotation.from_matrix(T_object_moved[:3, :3]).as_rotvec()
    return transform(Rotation.from_rotvec(share * turn).as_matrix(), share * T_object_moved[:3, 3])


def twist_at(motion: Array, centre: Array) -> Array:
    """Return a small motion as displacement of a point [m] and rotation vector (6,)."""
    turn = Rotation.from_matrix(motion[:3, :3]).as_rotvec()
    return np.concatenate([apply(motion, centre[None])[0] - centre, turn])


def contact_jacobian(hand: HandModel, joints: Array, tips: Fingertips) -> Array:
    """
    Return the hand's Jacobian of hard contacts ``(3k, J)`` [m/rad], in the palm's frame.

    Row 3i to 3i + 2: the velocity of the point of its link that lies at contact i.
    """
    columns = joint_torque_map(hand, joints, np.eye(4), tips.links, tips.points_palm)
    return columns.reshape(len(joints), -1, 6)[:, :, :3].reshape(len(joints), -1).T


def object_jacobian(tips: Fingertips, centre: Array) -> Array:
    """
    Return the transposed grasp map of hard contacts ``(3k, 6)``: twist to contact velocities.

    The twist is the velocity of the point ``centre`` (3,) of the object [m/s], then the angular
    velocity [rad/s], palm's frame.
    """
    axes = np.broadcast_to(np.eye(3), (len(tips.points_palm), 3, 3))
    return grasp_map(tips.points_palm, axes, centre, soft=False).T


def can_follow(hand: HandModel, joints: Array, tips: Fingertips, twist: Array,
               centre: Array) -> tuple[bool, float]:
    """
    Return True if the joints alone can give the object a velocity without slip.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        [rad]
    tips : Fingertips
    twist : (6,) float
        Of the object: velocity of ``centre``, then angular velocity, palm's frame.
    centre : (3,) float
        [m]

    Returns
    -------
    possible : bool
        The rank of ``[J, G' twist]`` is that of J.
    residual : float
        ``min |J dq - G' twist| / |G' twist|`` [-]; 0 where nothing moves.

    Notes
    -----
    Source: seed 001, equation (2), ``q = J^-1 G' u``. Departure: J is not square, and the
    equation holds for velocities.
    """
    jacobian = contact_jacobian(hand, joints, tips)
    wanted = object_jacobian(tips, centre) @ twist
    size = float(np.linalg.norm(wanted))
    if size == 0.0:
        return True, 0.0
    rates = np.linalg.lstsq(jacobian, wanted, rcond=RANK_TOLERANCE)[0]
    joined = np.column_stack([jacobian, wanted * (np.linalg.norm(jacobian) / size)])
    possible = _rank(joined) == _rank(jacobian)
    return bool(possible), float(np.linalg.norm(jacobian @ rates - wanted)) / size


def attainable_twists(hand: HandModel, joints: Array, tips: Fingertips, centre: Array,
                      length: float) -> Array:
    """
    Return an orthonormal basis ``(6, f)`` of the object's twists that the joints can give it.

    Rotations are scaled by ``length`` [m]: columns are velocity of ``centre``, then ``length``
    times angular velocity.

    Notes
    -----
    Source: null space of ``[J, -G']`` (Prattichizzo and Trinkle, Springer Handbook of Robotics).
    """
    scale = np.diag([1.0, 1.0, 1.0, 1.0 / length, 1.0 / length, 1.0 / length])
    jacobian = contact_jacobian(hand, joints, tips)
    u, values, _ = np.linalg.svd(jacobian)
    rank = int((values > RANK_TOLERANCE * values[0]).sum()) if len(values) else 0
    blocked = u[:, rank:].T @ object_jacobian(tips, centre) @ scale
    if not len(blocked):
        return np.eye(6)
    _, values, vt = np.linalg.svd(blocked)
    return vt[int((values > RANK_TOLERANCE).sum()):].T


def follow_object(hand: HandModel, joints: Array, tips: Fingertips, motion_palm: Array,
                  lower: Array, upper: Array) -> tuple[Array, Array]:
    """
    Return the joints with which the fingertips follow a motion of the object best.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        Present joint positions [rad].
    tips : Fingertips
    motion_palm : (4, 4) float
        Motion of the object's points, palm's frame.
    lower, upper : (J,) float
        Joint limits [rad].

    Returns
    -------
    joints : (J,) float
    slips : (k, 3) float
        Displacement of the link's point from the object's point that it touched [m].

    Notes
    -----
    Source: seed 001, inverse kinematics of the fingers along the object's path. Least squares
    with bounds, repeated until it converges; a joint that need not move stays. Steps are halved
    until the points are no farther from their places than before.
    """
    T_palm_link = forward_kinematics(hand, joints[None])[0]
    local = np.array([(point - T_palm_link[link, :3, 3]) @ T_palm_link[link, :3, :3]
                      for link, point in zip(tips.links, tips.points_palm)]).reshape(-1, 3)
    targets = apply(motion_palm, tips.points_palm)
    present, points = joints.copy(), _link_points(hand, joints, tips.links, local)
    for _ in range(MAX_ITERATIONS):
        jacobian = contact_jacobian(hand, present, Fingertips(tips.links, points))
        change = bounded_least_squares(jacobian, (targets - points).ravel(),
                                       lower - present, upper - present)
        missed, share = np.linalg.norm(targets - points) + CONVERGED, 1.0
        while share > LEAST_SHARE:
            trial = np.clip(present + share * change, lower, upper)
            reached = _link_points(hand, trial, tips.links, local)
            if np.linalg.norm(targets - reached) <= missed:
                present, points = trial, reached
                break
            share *= 0.5            # near a singular posture the step is far too long
        if share <= LEAST_SHARE or np.abs(change).max(initial=0.0) < CONVERGED:
            break
    return present, points - targets


def bounded_least_squares(matrix: Array, wanted: Array, lower: Array, upper: Array) -> Array:
    """
    Return the smallest x that minimises ``|matrix x - wanted|`` within bounds that hold 0.

    Parameters
    ----------
    matrix, wanted : (r, J), (r,) float
    lower, upper : (J,) float
        Bounds; those on the wrong side of 0 count as 0.

    Returns
    -------
    (J,) float
    """
    lower, upper = np.minimum(lower, 0.0), np.maximum(upper, 0.0)
    x = np.asarray(np.linalg.lstsq(matrix, wanted, rcond=RANK_TOLERANCE)[0], np.float64)
    if ((x >= lower) & (x <= upper)).all():
        return x
    free = upper - lower > 0.0
    x = np.zeros(len(lower))
    if free.any():
        x[free] = lsq_linear(matrix[:, free], wanted, (lower[free], upper[free])).x
    return x


def _link_points(hand: HandModel, joints: Array, links: IntArray, local: Array) -> Array:
    T_palm_link = forward_kinematics(hand, joints[None])[0][links]
    return np.einsum('kij,kj->ki', T_palm_link[:, :3, :3], local) + T_palm_link[:, :3, 3]


def _rank(matrix: Array) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > RANK_TOLERANCE * values[0]).sum()) if len(values) else 0
