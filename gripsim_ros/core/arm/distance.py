"""What is too far away for the arm: told before anything is planned."""

import numpy as np

from ..arrays import Array
from ..bodies import GraspObject
from ..errors import ArmError
from ..hand import HandModel
from ..hand.tree import PRISMATIC
from ..planning.task import Task
from .choice import ArmTask
from .model import ArmInverseKinematics


def check_distances(task: Task, grasp_object: GraspObject, hand: HandModel, arm_task: ArmTask
                    ) -> None:
    """
    Refuse an object that the hand cannot touch where it stands, or where it is to be carried.

    Parameters
    ----------
    task : Task
        Its displacement is looked at.
    grasp_object : GraspObject
    hand : HandModel
    arm_task : ArmTask

    Raises
    ------
    ArmError
        The object's nearest point is farther from the arm's first joint than all links of arm
        and hand stretched out in one line.

    Notes
    -----
    Own derivation: no posture reaches farther than the sum of the distances between joints.
    """
    vertices = grasp_object.mesh.vertices
    centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    radius = float(np.linalg.norm(vertices - centre, axis=1).max())
    inverse = ArmInverseKinematics(arm_task.arm)
    T_tip_palm = arm_task.arm.T_tip_palm
    moved = np.eye(4) if task.displacement_object is None else task.displacement_object
    for T, where in ((np.eye(4), 'the object stands'),
                     (moved, 'task.displacement brings the object')):
        T_base_centre = arm_task.T_base_object @ T
        T_base_centre[:3, 3] += T_base_centre[:3, :3] @ centre
        away, links = inverse.reach(T_base_centre @ T_tip_palm)
        longest = links + float(np.linalg.norm(T_tip_palm[:3, 3])) + _hand_length(hand)
        if away - radius > longest:
            raise ArmError(f'{where} {away - radius:.2f} m from the first joint of the arm, whose '
                           f'links and hand reach {longest:.2f} m at most')


def _hand_length(hand: HandModel) -> float:
    """Return a distance from the palm's origin that no point of the hand passes [m]."""
    return max(float(np.linalg.norm(link.mesh.vertices, axis=1).max()) + sum(
        _length(hand, frame) for frame in hand.tree.path_to_base(int(number))[:-1])
        for link, number in zip(hand.links, hand.link_frames))


def _length(hand: HandModel, frame: int) -> float:
    """Return how far a frame's origin is from its parent's at most [m]."""
    tree = hand.tree
    length = float(np.linalg.norm(tree.T_parent_joint[frame][:3, 3]))
    if tree.kind[frame] != PRISMATIC:
        return length
    joint = int(tree.actuator[frame])
    ends: Array = tree.multiplier[frame] * np.array(
        [hand.joint_lower[joint], hand.joint_upper[joint]]) + tree.offset[frame]
    return length + float(np.abs(ends).max())
