"""The service `plan_grasps_moveit` of `grasp_planner`, where moveit_msgs is installed."""

from gripsim_interfaces.srv import PlanGrasp

from ....core.errors import GripsimError
from ...conversions.moveit import MoveItSettings, answer_to_moveit, request_from_moveit
from ...quality import many_calls
from ..base.node_base import one_line
from ..base.parameters import NodeParameter, pose_value

PARAMETERS = (
    NodeParameter('wrist_link', str, 'Parent link of the hand in MoveIt; empty: the palm.'),
    NodeParameter('T_wrist_palm', str, 'Pose of the palm in it: x y z [m], quaternion x y z w.'),
    NodeParameter('moveit_lift', float, 'Retreat after a grasp for MoveIt [m].', 0.0, 2.0),
    NodeParameter('moveit_material', str, 'Material of MoveIt\'s targets; empty: the default.'))


def moveit_settings(values: dict, palm_link: str) -> MoveItSettings:
    """
    Return the settings of the parameters.

    Raises
    ------
    ParameterError
        ``T_wrist_palm`` is not seven finite numbers.
    """
    T_wrist_palm = pose_value('T_wrist_palm', values['T_wrist_palm'])
    return MoveItSettings(values['wrist_link'] or palm_link, T_wrist_palm,
                          values['moveit_lift'], values['moveit_material'])


def open_moveit_service(node, group) -> bool:
    """Serve `plan_grasps_moveit`; return whether moveit_msgs is there."""
    settings = moveit_settings(node.values, node.hand.base_link)
    try:
        from moveit_msgs.msg import Grasp, GripperTranslation
        from moveit_msgs.srv import GraspPlanning
    except ImportError:
        return False

    def serve(msg, response):
        answer = PlanGrasp.Response()
        try:
            answer = node.server.plan(request_from_moveit(msg, settings), answer)
        except GripsimError as error:
            answer.status, answer.message = answer.INVALID_REQUEST, one_line(error)
        return answer_to_moveit(answer, msg, response, Grasp, GripperTranslation, settings)

    node.create_service(GraspPlanning, 'plan_grasps_moveit', serve, qos_profile=many_calls(),
                        callback_group=group)
    return True
