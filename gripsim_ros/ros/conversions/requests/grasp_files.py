"""A grasp of a file that ``gripsim plan`` wrote, as the message that is carried out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Wrench
from gripsim_interfaces.msg import ContactPatch, Grasp
from numpy.typing import NDArray
from std_msgs.msg import Header

from ....core.errors import GripsimError, ShapeError
from ....core.hand import HandModel
from ....library.grasp_file import given_arm, given_grasp, given_pregrasp, given_reach
from ..geometry import pose_to_msg, vector_to_msg
from .arm import arm_to_msg
from .grasps import GraspFrame, trajectory_to_msg
from .reach import reach_fields

Array = NDArray[np.float64]

#: Of a contact: files of other programs may lack it.
OPTIONAL = ('closing_force',)


def _point(numbers: Any) -> Point:
    x, y, z = np.asarray(numbers, float)
    return Point(x=float(x), y=float(y), z=float(z))


#: The numbers of a contact that files tell as messages do, and what makes them.
NUMBERS = {name: _point if name == 'point' else float
           for name, kind in ContactPatch.get_fields_and_field_types().items()
           if kind in ('double', 'geometry_msgs/Point')}


def grasp_to_execute(grasp: Mapping[str, Any], hand: HandModel, frame: str, what: str) -> Grasp:
    """
    Return the message of a grasp: what of it is carried out.

    Parameters
    ----------
    grasp : mapping
        As in the list ``grasps`` of the file: poses, trajectory, grip and contacts are read.
    hand : HandModel
    frame : str
        Of the object, in which the file's poses are.
    what : str
        Names the grasp in errors.

    Raises
    ------
    ShapeError, HandError
        Something is missing or of the wrong shape.
    """
    given = given_grasp(grasp, hand.joint_names, what)
    names = list(grasp['joint_trajectory'].get('joint_names', hand.joint_names))
    order = [names.index(name) for name in hand.joint_names]
    try:
        T_object_pregrasp = given_pregrasp(grasp, what)
        grip = np.asarray(grasp['grip']['joint_positions'], float)
        contacts = [_contact_to_msg(contact) for contact in grasp['contacts']]
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, GripsimError) as error:
        raise ShapeError(f'{what}: needs pregrasp_pose, grip {{joint_positions}} and contacts '
                         f'[{{link, normal, force}}]; wrong at {error}') from error
    if grip.shape != (len(order),) or not np.isfinite(grip).all():
        raise ShapeError(f'{what}: grip needs {len(order)} finite joint_positions, '
                         f'got shape {grip.shape}')
    told = GraspFrame(Header(frame_id=frame), np.eye(4), hand.joint_names, hand.joint_velocities)
    arm = given_arm(grasp, what)
    message = Grasp(
        header=told.header, hand_pose=pose_to_msg(given.T_object_palm),
        pregrasp_pose=pose_to_msg(T_object_pregrasp),
        joint_trajectory=trajectory_to_msg(given.trajectory, told),
        grip_joint_positions=grip[order].tolist(), contacts=contacts, **_felt_fields(grasp, what),
        **reach_fields(given_reach(grasp, order, what), np.eye(4), hand.joint_names))
    return message if arm is None else arm_to_msg(arm, message)


def _contact_to_msg(contact: Mapping[str, Any]) -> ContactPatch:
    """Return link, normal and forces of a contact; what is wrong of it raises as it comes."""
    names = ['normal', 'force', *(name for name in OPTIONAL if contact.get(name) is not None)]
    return ContactPatch(link=contact['link'], **{
        name: vector_to_msg(np.asarray(contact[name], float)) for name in names}, **{
            name: make(contact[name]) for name, make in NUMBERS.items()
            if contact.get(name) is not None})


def _felt_fields(grasp: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return what feeling hands need of a grasp: its limit of damage, load and centre of mass."""
    quality, fields = grasp.get('quality') or {}, {}
    try:
        margin = quality.get('damage_margin')
        if margin is not None:
            fields['damage_margin'] = float(margin)
        load = quality.get('limiting_load')
        if load is not None:
            fields['limiting_load'] = Wrench(force=vector_to_msg(np.asarray(load['force'], float)),
                                             torque=vector_to_msg(np.asarray(load['torque'],
                                                                             float)))
        centre = (grasp.get('deformation') or {}).get('centre_of_mass')
        if centre is not None:
            fields['centre_of_mass'] = _point(centre)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ShapeError(f'{what}: quality {{damage_margin, limiting_load}} or deformation '
                         f'{{centre_of_mass}} cannot be read: {error}') from error
    return fields
