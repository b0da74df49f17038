"""
Messages <-> core types: the only package, with the markers, that knows both.

``arrays`` moves flat arrays, ``ring`` the four batches, ``geometry`` poses and
primitives, ``objects`` objects and materials, ``requests`` what a client asks,
``grasps`` what it is answered.
"""

from .geometry import (
    mesh_from_msg, mesh_to_msg, point_to_msg, pose_from_msg, pose_to_msg, primitives_from_msg,
    primitives_to_msg, transform_from_msg, transform_to_msg, vector_to_msg, xyz)
from .objects import (
    grasp_object_from_msg, grasp_object_to_msg, material_from_msg, material_to_msg)
from .requests.grasps import GraspFrame, grasp_from_msg, grasp_to_msg, judged_to_msgs
from .requests.requests import (
    Request, RequestReader, planning_time, take_mesh, task_from_msg, task_to_msg)
from .ring.stages import (
    configurations_from_msg, configurations_to_msg, contacts_from_msg, contacts_to_msg,
    grasp_states_from_msg, grasp_states_to_msg, link_states_from_msg, link_states_to_msg)

__all__ = [
    'GraspFrame', 'Request', 'RequestReader', 'configurations_from_msg', 'configurations_to_msg',
    'contacts_from_msg', 'contacts_to_msg', 'grasp_from_msg', 'grasp_object_from_msg',
    'grasp_object_to_msg', 'grasp_states_from_msg', 'grasp_states_to_msg', 'grasp_to_msg',
    'judged_to_msgs', 'link_states_from_msg', 'link_states_to_msg', 'material_from_msg',
    'material_to_msg', 'mesh_from_msg', 'mesh_to_msg', 'planning_time', 'point_to_msg',
    'pose_from_msg', 'pose_to_msg', 'primitives_from_msg', 'primitives_to_msg', 'take_mesh',
    'task_from_msg', 'task_to_msg', 'transform_from_msg', 'transform_to_msg', 'vector_to_msg',
    'xyz']
