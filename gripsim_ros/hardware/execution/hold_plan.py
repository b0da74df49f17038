"""What holding by feel starts from: planned contacts in their links, limits, the planned load."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError
from ...core.hand import forward_kinematics, HandModel
from ...core.transforms import apply, inverse

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldContact:
    """
    A planned contact: ``point`` (3,) [m] and ``normal`` (3,) into the object, frame object.

    ``force`` is its normal force at the end of closing [N], ``friction_radius`` that of its
    torsion [m].
    """

    link: str
    point: Array
    normal: Array
    force: float
    friction_radius: float


@dataclass(frozen=True, eq=False)
class HoldPlan:
    """
    What is known of a grasp before it holds.

    Attributes
    ----------
    hand : HandModel
    links : tuple of str, (k,)
        Of the contacts that are planned to press.
    points_link, normals_link : (k, 3) float
        Planned centres of pressure [m] and normals into the object, in the frames of the links.
    forces : (k,) float
        Planned normal forces at the end of closing [N].
    friction_radii : (k,) float
        [m].
    friction : float
        Coefficient that was planned with [-].
    load : (6,) float
        Force and torque about the palm's origin with which the object is planned to load the
        hand at worst [N, N m], frame palm.
    damage : float
        Force at which damage begins over the planned one, 1 at least; ``inf``: no limit [-].
    """

    hand: HandModel
    links: tuple[str, ...]
    points_link: Array
    normals_link: Array
    forces: Array
    friction_radii: Array
    friction: float
    load: Array
    damage: float

    @property
    def weight(self) -> float:
        """Return the planned load's force [N]."""
        return float(np.linalg.norm(self.load[:3]))


def make_hold_plan(hand: HandModel, joints: Array, T_object_palm: Array,
                   contacts: Sequence[HeldContact], friction: float, load: Array,
                   damage_margin: float) -> HoldPlan:
    """
    Return the plan of holding by feel.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        At the end of closing [rad].
    T_object_palm : (4, 4) float
    contacts : sequence of HeldContact
        Those without force are left out.
    friction : float
        That was planned with [-].
    load : (6,) float
        Planned force [N] and torque about the object's origin [N m], frame object.
    damage_margin : float
        Pressure of damage over the planned one [-]. Pressures grow slower than forces.

    Raises
    ------
    TaskError
        Nothing presses, or friction or load are no numbers to plan with.
    """
    pressing = [contact for contact in contacts if contact.force > 0.0]
    if not pressing:
        raise TaskError('holding by feel needs contacts that press: the grasp has none')
    if not (np.isfinite(friction) and friction > 0.0):
        raise TaskError(f'holding by feel needs a friction above 0, got {friction}')
    if np.shape(load) != (6,) or not np.isfinite(load).all():
        raise TaskError(f'holding by feel needs a load of 6 finite numbers, got {load}')
    T_palm_object = inverse(T_object_palm)
    poses = forward_kinematics(hand, np.asarray(joints, float)[None])[0]
    points, normals = [], []
    for contact in pressing:
        T_link_object = inverse(poses[hand.link_names.index(contact.link)]) @ T_palm_object
        points.append(apply(T_link_object, np.asarray(contact.point, float)[None])[0])
        normals.append(T_link_object[:3, :3] @ contact.normal)
    force = T_palm_object[:3, :3] @ load[:3]
    torque = T_palm_object[:3, :3] @ load[3:] + np.cross(T_palm_object[:3, 3], force)
    return HoldPlan(
        hand, tuple(contact.link for contact in pressing), np.array(points), np.array(normals),
        np.array([contact.force for contact in pressing]),
        np.array([contact.friction_radius for contact in pressing]), float(friction),
        np.concatenate([force, torque]), max(1.0, damage_margin))
