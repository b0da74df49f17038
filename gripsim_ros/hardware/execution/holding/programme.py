"""The least forces that hold a felt load at the felt contacts, over the planned ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core.grasp_theory.contact_set import ContactSet
from ....core.grasp_theory.grasp_map import joint_torque_map
from ....core.hand import forward_kinematics
from ....core.mechanics.stability.grasp_forces import (
    MinimalForces, Shortfall, solve_minimal_forces)
from ....core.transforms import apply
from ..measurement import Measurement
from ..hold_plan import HoldPlan

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NeededGrip:
    """
    Multiple of the planned forces that holds a load; ``shortfall`` says why there is none.

    ``level`` is ``inf`` then.
    """

    level: float
    shortfall: Shortfall | None = None


class HoldProgramme:
    """
    The minimal-force programme at measured contacts.

    Normals keep their planned direction in the frame of their link; centres are those that pads
    tell, or the planned ones of links that tell none.

    Parameters
    ----------
    plan : HoldPlan
    most : float
        Largest multiple of the planned forces that is allowed; ``inf``: no limit.
    touch_force : float
        Pads that feel less are not in contact [N].

    Notes
    -----
    Source: Han, Trinkle & Li 2000, as ``solve_minimal_forces``. Differs: contacts are measured,
    and the load is what the wrist bears.
    """

    def __init__(self, plan: HoldPlan, most: float, touch_force: float) -> None:
        """Know the limits."""
        self._plan, self._touch_force = plan, touch_force
        self._limits = plan.forces * most
        self._links = np.array([plan.hand.link_names.index(link) for link in plan.links])

    def solve(self, measured: Measurement, load: Array, friction: float) -> NeededGrip:
        """
        Return the grip that a load needs.

        Parameters
        ----------
        measured : Measurement
        load : (6,) float
            Of the object on the hand, torque about the palm's origin [N, N m], frame palm.
        friction : float
            Coefficient [-].
        """
        used = self._used(measured)
        if not used.any():
            return NeededGrip(np.inf, Shortfall(np.inf, 0.0))
        answer = self._minimal(measured, load, friction, used, self._limits[used])
        if not answer.capable:
            return NeededGrip(np.inf, answer.shortfall)
        return NeededGrip(float((answer.normal_envelope / self._plan.forces[used]).max()))

    def felt_forces_hold(self, measured: Measurement, load: Array, friction: float,
                         more: float) -> bool:
        """Return whether no more than the felt forces, times ``more``, hold a load; as solve."""
        used = self._used(measured)
        felt = np.array([measured.forces.get(link, 0.0) for link in self._plan.links])
        return bool(used.any()) and self._minimal(
            measured, load, friction, used, more * felt[used]).capable

    def _used(self, measured: Measurement) -> NDArray[np.bool_]:
        """Return which contacts (k,) touch, as far as pads tell."""
        return np.array([measured.forces.get(link, np.inf) >= self._touch_force
                         for link in self._plan.links])

    def _minimal(self, measured: Measurement, load: Array, friction: float,
                 used: NDArray[np.bool_], limits: Array) -> MinimalForces:
        """Return the least forces of the contacts that are used, within limits [N]."""
        plan, hand = self._plan, self._plan.hand
        poses = forward_kinematics(hand, measured.joints[None])[0][self._links[used]]
        centres = np.array([measured.centres.get(link, planned) for link, planned
                            in zip(plan.links, plan.points_link)])[used]
        points = np.array([apply(pose, point[None])[0] for pose, point in zip(poses, centres)])
        normals = np.einsum('kab,kb->ka', poses[:, :3, :3], plan.normals_link[used])
        count = len(points)
        patches = ContactSet(
            points, normals, np.zeros((count, 3)), np.zeros((count, 3)),
            plan.friction_radii[used], np.ones(count), np.ones(count), limits,
            np.zeros(count, bool))
        middle = points.mean(axis=0)
        about = np.concatenate([load[:3], load[3:] - np.cross(middle, load[:3])])
        return solve_minimal_forces(
            patches, about[None], middle, friction,
            joint_torque_map(hand, measured.joints, np.eye(4), self._links[used], points),
            hand.joint_efforts)

    def directions(self, measured: Measurement, force: Array) -> dict[str, Array]:
        """Return where a force (3,) [N] of the palm's frame points, by link, in its frame."""
        plan, size = self._plan, float(np.linalg.norm(force))
        poses = forward_kinematics(plan.hand, measured.joints[None])[0][self._links]
        unit = force / size if size > 0.0 else np.zeros(3)
        return {link: pose[:3, :3].T @ unit for link, pose in zip(plan.links, poses)}
