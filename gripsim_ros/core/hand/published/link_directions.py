"""Directions in which links move when joints turn."""

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...errors import HandError
from ...fields import checked_array
from ..kinematics import frame_poses, link_jacobians
from ..model import HandModel
from ..tree import PRISMATIC, KinematicTree


#: Exact displacement of the centroid of the link's surface.
JACOBIAN_CENTROID = 'jacobian_centroid'
#: Sum of each joint's effect on the next joint's origin.
SEED = 'seed'

#: Shortest lever arm that counts [m].
SHORTEST_LEVER = 1e-12


def link_displacements(hand: HandModel, joint_positions: ArrayLike,
                       joint_displacements: ArrayLike,
                       method: str = JACOBIAN_CENTROID) -> Array:
    """
    Return how far each link moves when the joints turn a little, as one vector a link.

    Parameters
    ----------
    hand : HandModel
    joint_positions : (n, J) float
        [rad].
    joint_displacements : (n, J) float
        Signed motion of this step [rad].
    method : str
        ``JACOBIAN_CENTROID``: of the area centroid of the link's mesh. ``SEED``: the sum,
        over the joints towards the palm, of the displacement that each gives to the next
        joint's origin (at the end of a chain, to the centroid of the mesh).

    Returns
    -------
    (n, L, 3) float
        Frame palm [m]; zero where nothing moves the link.

    Raises
    ------
    ShapeError
        The arrays do not fit the hand or each other.
    HandError
        The method is unknown.

    Notes
    -----
    Source of ``SEED``: contact of link and object meshes along the direction of relative
    motion, equation for v_sum; joint speeds are signed here, so that opening and closing
    differ. The sum truncates the lever arms of joints further back: it agrees with the
    exact displacement only where one joint moves and the point is the next joint's origin.
    ``JACOBIAN_CENTROID``: own choice, exact for the centroid.
    """
    poses = frame_poses(hand, joint_positions)
    displacements = checked_array(joint_displacements, 'joint_displacements', len(poses),
                                  len(hand.joint_names))
    if method == JACOBIAN_CENTROID:
        return _exact(hand, poses, link_jacobians(hand, joint_positions), displacements)
    if method == SEED:
        return _truncated(hand, poses, displacements)
    raise HandError(f'unknown method {method!r}; allowed are {JACOBIAN_CENTROID!r}, {SEED!r}')


def mesh_centroids(hand: HandModel) -> Array:
    """Return the area centroid of each link's mesh ``(L, 3)`` in the link's frame [m]."""
    return np.array([mesh.face_areas @ mesh.face_centroids / mesh.area
                     for mesh in (link.mesh for link in hand.links)])


def _exact(hand: HandModel, poses: Array, jacobians: Array, displacements: Array) -> Array:
    twists = (jacobians * displacements[:, None, None, :]).sum(axis=-1)
    arms = _rotated(poses[:, hand.link_frames], mesh_centroids(hand))
    return twists[..., :3] + np.cross(twists[..., 3:], arms)


def _truncated(hand: HandModel, poses: Array, displacements: Array) -> Array:
    tree, centroids = hand.tree, mesh_centroids(hand)
    movable = np.flatnonzero(tree.actuator >= 0)
    result = np.zeros((len(poses), len(hand.links), 3))
    for link, frame in enumerate(hand.link_frames):
        children = [f for f in movable if _mover(tree, tree.parent[f]) == _mover(tree, frame)]
        if len(children) == 1:
            end = poses[:, children[0], :3, 3]
        else:
            end = poses[:, frame, :3, 3] + _rotated(poses[:, frame], centroids[link])
        f = _mover(tree, frame)
        while f >= 0:
            axis = tree.multiplier[f] * _rotated(poses[:, f], tree.axis[f])
            lever = np.cross(axis, end - poses[:, f, :3, 3])
            lever[np.linalg.norm(lever, axis=1) < SHORTEST_LEVER] = 0.0
            step = axis if tree.kind[f] == PRISMATIC else lever
            result[:, link] += displacements[:, tree.actuator[f], None] * step
            end = poses[:, f, :3, 3]
            f = _mover(tree, tree.parent[f])
    return result


def _mover(tree: KinematicTree, frame: int) -> int:
    """Return the nearest frame towards the base whose joint can move; -1 if none."""
    while frame >= 0 and tree.actuator[frame] < 0:
        frame = tree.parent[frame]
    return int(frame)


def _rotated(poses: Array, vectors: Array) -> Array:
    """Return vectors of the poses' own frames in the poses' parent frame."""
    return (poses[..., :3, :3] * vectors[..., None, :]).sum(axis=-1)
