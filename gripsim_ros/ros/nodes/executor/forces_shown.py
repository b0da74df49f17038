"""The topic `execution/markers`: planned against felt forces while a hand closes and holds."""

import numpy as np
from visualization_msgs.msg import MarkerArray

from ....core.transforms import inverse
from ....hardware.execution.actions import FELT
from ....hardware.execution.machine import GraspExecution
from ....hardware.execution.plan import FingerPlan
from ...conversions import pose_from_msg
from ...markers import FingerForces, force_markers, MarkerFrame
from ..base.node_base import SuiteNode, latest


class ForcesShown:
    """Publishes bars where somebody looks."""

    def __init__(self, node: SuiteNode) -> None:
        """Open the topic."""
        self._node = node
        self._publisher = node.create_publisher(MarkerArray, 'execution/markers', latest())

    def show(self, execution: GraspExecution, grasp) -> None:
        """
        Publish the forces of the last measurement, while fingers may press.

        The frame is the object's where its pose in the hand is told, else that of the grasp, at
        whose pose the palm then is.
        """
        if execution.phase not in FELT or not self._publisher.get_subscription_count():
            return
        measured = execution.last
        pressing = [finger for finger in execution.plan.fingers if finger.force > 0.0]
        planned, felt = execution.finger_forces()
        frame = MarkerFrame(grasp.header.frame_id or self._node.values['object_frame'],
                            pose_from_msg(grasp.hand_pose)) if measured.T_palm_object is None \
            else MarkerFrame(self._node.values['object_frame'], inverse(measured.T_palm_object))
        self._publisher.publish(force_markers(
            FingerForces([finger.name for finger in pressing],
                         [self._link_of(finger, execution) for finger in pressing], planned, felt),
            self._node.hand, np.asarray(measured.joints), frame))

    @staticmethod
    def _link_of(finger: FingerPlan, execution: GraspExecution) -> str:
        """Return the link with which a finger is planned to press most."""
        return max((contact for contact in execution.plan.contacts
                    if contact.link in finger.links), key=lambda contact: contact.force).link
