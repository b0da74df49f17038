"""The hand: kinematic tree, link meshes and pads, forward kinematics, directions of motion."""

from .description import Finger, HandLink, Pad, Preshape
from .kinematics import (
    compute_link_states, forward_kinematics, frame_poses, link_jacobians, link_poses_and_jacobians)
from .model import HandModel
from .outline import HandOutline

__all__ = [
    'Finger', 'HandLink', 'HandModel', 'HandOutline', 'Pad', 'Preshape', 'compute_link_states',
    'forward_kinematics', 'frame_poses', 'link_jacobians', 'link_poses_and_jacobians']
