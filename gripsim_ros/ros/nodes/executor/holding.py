"""What feeling starts from, of a goal of `execute_grasp` and its object."""

import numpy as np
from gripsim_interfaces.msg import Grasp

from ....core.bodies import GraspObject
from ....core.hand import HandModel
from ....hardware.execution.feeling.motors import planned_torques
from ....hardware.execution.hold_plan import HeldContact, HoldPlan, make_hold_plan
from ...conversions import pose_from_msg, xyz

#: Standard gravity [m/s^2].
GRAVITY = 9.81


def read_hold_plan(grasp: Grasp, joints, hand: HandModel, held: GraspObject) -> HoldPlan:
    """
    Return the plan of holding a grasp's object by feel.

    Its load is the one that fails first as planned, or the object's weight along the frame's -z.

    Parameters
    ----------
    grasp : Grasp
    joints : (J,) float
        At the end of closing, in the order of the hand [rad].
    hand : HandModel
    held : GraspObject
        Whose friction and weight are believed.

    Raises
    ------
    TaskError
        The grasp does not tell enough.
    """
    contacts = [HeldContact(
        contact.link, xyz(contact.point), xyz(contact.normal),
        max(0.0, float(np.dot(xyz(contact.closing_force), xyz(contact.normal)))),
        contact.friction_radius) for contact in grasp.contacts]
    load, centre = np.zeros(6), xyz(grasp.centre_of_mass)
    load[:3] = xyz(grasp.limiting_load.force)
    load[3:] = xyz(grasp.limiting_load.torque)
    if not load.any():
        load[2] = -GRAVITY * held.mass_properties.mass
    load[3:] += np.cross(centre, load[:3])
    return make_hold_plan(hand, joints, pose_from_msg(grasp.hand_pose), contacts,
                          held.material.friction, load, grasp.damage_margin or np.inf)


def read_torques(grasp: Grasp, joints, hand: HandModel) -> np.ndarray:
    """Return the torques of the joints (J,) while a grasp's contacts press as planned [N m]."""
    return planned_torques(hand, joints, pose_from_msg(grasp.hand_pose), [
        (contact.link, xyz(contact.point), xyz(contact.closing_force))
        for contact in grasp.contacts])
