"""The motion of the object while a hand closes, told with grasps."""

from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import joint_torque_map
from ...hand import HandModel
from ..options import ClosingDynamics
from ..ranked_grasp import ClosingMotion, RankedGrasp
from ..task import Task
from .closing_motion import predict_closing_motion
from .motion import SPIN_RADIUS

#: Loads tried at most of a task that has more.
MOST_LOADS = 12
#: Grasps at most of which the motion is predicted: the best of a plan, the first given.
MOST_TOLD = 20
#: Of a grasp that its forces hold, but not a free object.
DOES_NOT_BEAR = 'an object that is free while the hand closes then yields under the loads'


class ClosingPredictions:
    """
    Predictions of the object's motion while hands close, each made once.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
    dynamics : ClosingDynamics
    loads : (c, 9) float
        Load cases of the task, see ``grasp_theory.load_cases``; of more than ``MOST_LOADS`` some
        are tried, evenly chosen.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 dynamics: ClosingDynamics, loads: Array) -> None:
        self._object, self._hand, self._task, self._dynamics = grasp_object, hand, task, dynamics
        self._loads = loads[::-(-len(loads) // MOST_LOADS)]
        self._known: dict[int, tuple[Array, Array, ClosingMotion]] = {}
        self._left = MOST_TOLD

    def stop(self) -> None:
        """Predict nothing more: nobody waits for it."""
        self._left = 0

    def told(self, grasp: RankedGrasp) -> RankedGrasp:
        """
        Return a grasp with the motion of an object that is pressed with its closed forces.

        It comes back as it is once ``MOST_TOLD`` have been predicted, or none is to be any more.
        """
        joints, contacts = grasp.trajectory[-1], grasp.contacts
        efforts = np.zeros(len(joints))
        if contacts:
            links = np.array([self._hand.link_index(contact.link) for contact in contacts])
            wrenches = np.hstack([[c.closing_force for c in contacts],
                                  [c.closing_torque for c in contacts]])
            efforts = joint_torque_map(self._hand, joints, grasp.T_object_palm, links, np.array(
                [contact.point for contact in contacts])) @ wrenches.ravel()
        grip = np.clip(joints + efforts / self._hand.joint_stiffness, self._hand.joint_lower,
                       self._hand.joint_upper)
        return self._predicted_once(grasp, grip)

    def _predicted_once(self, grasp: RankedGrasp, grip: Array) -> RankedGrasp:
        known = self._known.get(grasp.hypothesis)
        if known is None or not (np.array_equal(known[0], grasp.trajectory)
                                 and np.array_equal(known[1], grip)):
            if not self._left:
                return grasp
            self._left -= 1
            known = grasp.trajectory, grip, self._predicted(grasp, grip)
            self._known[grasp.hypothesis] = known
        return _with_motion(grasp, known[2])

    def _predicted(self, grasp: RankedGrasp, grip: Array) -> ClosingMotion:
        forces = np.array([abs(c.closing_force @ c.normal) for c in grasp.contacts])
        radii = np.array([contact.friction_radius for contact in grasp.contacts])
        radius = float(radii @ forces / forces.sum()) if forces.sum() > 0.0 else SPIN_RADIUS
        return predict_closing_motion(
            self._object, self._hand, self._task, grasp.T_object_palm, grasp.trajectory, grip,
            self._dynamics, self._loads, radius)


def _with_motion(grasp: RankedGrasp, motion: ClosingMotion) -> RankedGrasp:
    """Return a grasp with the object's motion, and a warning where it does not stay or hold."""
    warnings = grasp.warnings if motion.stays else (*grasp.warnings, _warning(motion))
    if motion.bears is False:
        warnings = (*warnings, DOES_NOT_BEAR)
    return replace(grasp, closing_motion=motion, warnings=warnings)


def _warning(motion: ClosingMotion) -> str:
    rest = '' if motion.rests else ', and does not bring it to rest'
    return (f'closing moves the object by {1e3 * motion.way:.1f} mm and turns it by '
            f'{np.rad2deg(motion.turn):.1f} degrees{rest}')
