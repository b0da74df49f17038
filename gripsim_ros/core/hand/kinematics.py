"""
Forward kinematics, Jacobians and link displacements of batches of configurations.

The kernels walk the tree one configuration at a time, so that each answer depends on
its own configuration alone, to the last bit.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, IntArray
from ..batches import ConfigurationBatch, LinkStateBatch
from ..fields import checked_array
from ..numerics.kernels import njit
from .model import HandModel
from .outline import HandOutline
from .tree import PRISMATIC, REVOLUTE, JointedChain

TreeArguments = tuple[IntArray, Array, Array, IntArray, IntArray, Array, Array]


def forward_kinematics(hand: HandModel | HandOutline, joint_positions: ArrayLike) -> Array:
    """
    Return the pose of every link with geometry in the palm.

    Parameters
    ----------
    hand : HandModel or HandOutline
    joint_positions : (n, J) float
        Actuated joints in the hand's order [rad]; limits are not applied.

    Returns
    -------
    T_palm_link : (n, L, 4, 4) float

    Raises
    ------
    ShapeError
        ``joint_positions`` is not ``(n, J)`` or not finite.

    Notes
    -----
    Source: product of the URDF's joint transforms (Craig, Introduction to Robotics, 3.1).
    """
    return frame_poses(hand, joint_positions)[:, hand.link_frames]


def frame_poses(hand: JointedChain, joint_positions: ArrayLike) -> Array:
    """Return ``T_palm_frame (n, F, 4, 4)`` of every frame, those without geometry too."""
    positions = checked_array(joint_positions, 'joint_positions', 'n', len(hand.joint_names))
    return tree_poses(positions, *tree_arguments(hand))


def link_jacobians(hand: JointedChain, joint_positions: ArrayLike) -> Array:
    """
    Return the geometric Jacobian of every link's origin, frame palm.

    Parameters
    ----------
    hand : HandModel
    joint_positions : (n, J) float
        [rad].

    Returns
    -------
    (n, L, 6, J) float
        Linear velocity of the link's origin, then angular velocity, per unit joint
        velocity. A mimic joint adds to the column of the joint that it follows.

    Raises
    ------
    ShapeError
        ``joint_positions`` is not ``(n, J)`` or not finite.

    Notes
    -----
    Source: columns ``(z x (p - o), z)`` (Murray, Li, Sastry, A Mathematical Introduction to
    Robotic Manipulation, 3.4.1); the mimic's chain rule multiplies by its multiplier.
    """
    return link_poses_and_jacobians(hand, joint_positions)[1]


def link_poses_and_jacobians(hand: JointedChain, joint_positions: ArrayLike
                             ) -> tuple[Array, Array]:
    """
    Return both ``forward_kinematics`` and ``link_jacobians``, the tree walked once.

    Parameters
    ----------
    hand : JointedChain
    joint_positions : (n, J) float
        Actuated joints [rad].

    Returns
    -------
    T_palm_link : (n, L, 4, 4) float
    jacobians : (n, L, 6, J) float
        Frame palm; as of ``link_jacobians``.

    Raises
    ------
    ShapeError
        The positions have another shape.
    """
    poses = frame_poses(hand, joint_positions)
    jacobians = tree_jacobians(poses, hand.link_frames, len(hand.joint_names),
                               *tree_arguments(hand))
    return np.take(poses, hand.link_frames, axis=1), jacobians     # in one order for kernels


def compute_link_states(hand: HandModel, configurations: ConfigurationBatch) -> LinkStateBatch:
    """
    Return where every link is and how it moves in this step, frame object.

    Parameters
    ----------
    hand : HandModel
    configurations : ConfigurationBatch

    Returns
    -------
    LinkStateBatch
        The twist is the Jacobian at ``joint_positions`` times ``joint_displacements``.

    Raises
    ------
    ShapeError
        The hand has another number of joints.
    """
    T_palm_link, jacobians = link_poses_and_jacobians(hand, configurations.joint_positions)
    displacements = checked_array(configurations.joint_displacements, 'joint_displacements', 'n',
                                  len(hand.joint_names))
    T_object_palm = np.ascontiguousarray(configurations.T_object_palm, float)
    return LinkStateBatch(
        configurations, *_in_object(T_object_palm, T_palm_link, jacobians, displacements))


def tree_arguments(hand: JointedChain) -> TreeArguments:
    """Return a tree as its kernels take it."""
    tree = hand.tree
    return (tree.parent, tree.T_parent_joint, tree.axis, tree.kind, tree.actuator,
            tree.multiplier, tree.offset)


@njit(cache=True)
def _joint_motion(axis: Array, kind: int, value: float, motion: Array) -> None:
    """Fill ``motion (4, 4)`` with the transform of a joint at ``value`` (Rodrigues)."""
    for i in range(4):
        for k in range(4):
            motion[i, k] = 1.0 if i == k else 0.0
    if kind == PRISMATIC:
        for i in range(3):
            motion[i, 3] = axis[i] * value
    elif kind == REVOLUTE:
        s, c = math.sin(value), math.cos(value)
        x, y, z = axis[0], axis[1], axis[2]
        for i in range(3):
            for k in range(3):
                motion[i, k] = (1.0 - c) * axis[i] * axis[k] + (c if i == k else 0.0)
        motion[0, 1] -= s * z
        motion[0, 2] += s * y
        motion[1, 0] += s * z
        motion[1, 2] -= s * x
        motion[2, 0] -= s * y
        motion[2, 1] += s * x


@njit(cache=True)
def _product(a: Array, b: Array, out: Array) -> None:
    """Fill ``out`` with the product of two rigid transforms."""
    for i in range(3):
        for k in range(4):
            total = a[i, 3] if k == 3 else 0.0
            for m in range(3):
                total += a[i, m] * b[m, k]
            out[i, k] = total
    for k in range(4):
        out[3, k] = 1.0 if k == 3 else 0.0


@njit(cache=True)
def tree_poses(q: Array, parent: IntArray, T_parent_joint: Array, axis: Array, kind: IntArray,
               actuator: IntArray, multiplier: Array, offset: Array) -> Array:
    """Return the poses ``(n, F, 4, 4)`` of a tree's frames at joints ``q (n, J)``."""
    count, frames = q.shape[0], parent.shape[0]
    poses = np.zeros((count, frames, 4, 4))
    motion, joint = np.zeros((4, 4)), np.zeros((4, 4))
    for n in range(count):
        for f in range(frames):
            if parent[f] < 0:
                for i in range(4):
                    poses[n, f, i, i] = 1.0
                continue
            value = 0.0
            if actuator[f] >= 0:
                value = multiplier[f] * q[n, actuator[f]] + offset[f]
            _joint_motion(axis[f], kind[f], value, motion)
            _product(T_parent_joint[f], motion, joint)
            _product(poses[n, parent[f]], joint, poses[n, f])
    return poses


@njit(cache=True)
def tree_jacobians(poses: Array, link_frames: IntArray, joint_count: int, parent: IntArray,
                   T_parent_joint: Array, axis: Array, kind: IntArray, actuator: IntArray,
                   multiplier: Array, offset: Array) -> Array:
    """Return the Jacobians ``(n, L, 6, J)`` of links at the poses of a tree's frames."""
    count, links = poses.shape[0], link_frames.shape[0]
    jacobians = np.zeros((count, links, 6, joint_count))
    a, r = np.zeros(3), np.zeros(3)
    for n in range(count):
        for link in range(links):
            f = link_frames[link]
            while parent[f] >= 0:
                if actuator[f] >= 0:
                    # The joint's axis is the same in its frame before and after its motion.
                    for i in range(3):
                        a[i] = multiplier[f] * (poses[n, f, i, 0] * axis[f, 0]
                                                + poses[n, f, i, 1] * axis[f, 1]
                                                + poses[n, f, i, 2] * axis[f, 2])
                        r[i] = poses[n, link_frames[link], i, 3] - poses[n, f, i, 3]
                    _add_column(jacobians[n, link, :, actuator[f]], kind[f], a, r)
                f = parent[f]
    return jacobians


@njit(cache=True)
def _add_column(column: Array, kind: int, a: Array, r: Array) -> None:
    if kind == PRISMATIC:
        for i in range(3):
            column[i] += a[i]
    else:
        column[0] += a[1] * r[2] - a[2] * r[1]
        column[1] += a[2] * r[0] - a[0] * r[2]
        column[2] += a[0] * r[1] - a[1] * r[0]
        for i in range(3):
            column[3 + i] += a[i]


@njit(cache=True)
def _in_object(T_object_palm: Array, T_palm_link: Array, jacobians: Array, displacements: Array
               ) -> tuple[Array, Array]:
    count, links, _, joints = jacobians.shape
    T_object_link = np.zeros((count, links, 4, 4))
    twists = np.zeros((count, links, 6))
    palm = np.zeros(6)
    for n in range(count):
        for link in range(links):
            _product(T_object_palm[n], T_palm_link[n, link], T_object_link[n, link])
            for i in range(6):
                palm[i] = 0.0
                for j in range(joints):
                    palm[i] += jacobians[n, link, i, j] * displacements[n, j]
            for i in range(3):
                for k in range(3):
                    twists[n, link, i] += T_object_palm[n, i, k] * palm[k]
                    twists[n, link, 3 + i] += T_object_palm[n, i, k] * palm[3 + k]
    return T_object_link, twists
