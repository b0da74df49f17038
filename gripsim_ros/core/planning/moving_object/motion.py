"""The motion of a rigid object between fingers that close."""

from functools import lru_cache

import numpy as np

from ...arrays import Array, BoolArray
from ...bodies import GraspObject
from ...hand import HandModel
from ...hand.kinematics import tree_arguments
from ...transforms import inverse, transform
from ..options import ClosingDynamics
from .distance_band import distance_band
from .free_body import (
    Body, Closing, Fingers, follow, follow_to_touch, Ground, Motion, Resistance)
from .link_samples import Felt, link_samples
from .load_trial import copied, first_not_borne, Trial


#: Friction radius of contacts of which nothing is known [m].
SPIN_RADIUS = 0.005
#: A plane that carries nothing.
NO_GROUND = Ground(np.zeros((0, 3)), np.zeros(3), 0.0)


@lru_cache(maxsize=8)
def _fingers(hand: HandModel) -> Fingers:
    stiffness = np.broadcast_to(hand.joint_stiffness, hand.joint_efforts.shape).astype(float)
    return Fingers(tree_arguments(hand), hand.link_frames, link_samples(hand), stiffness,
                   hand.joint_efforts / stiffness)


@lru_cache(maxsize=8)
def _own(hand: HandModel) -> tuple[BoolArray, BoolArray]:
    """Return the joints (F, J) and the links (F, L) of each finger."""
    joints = np.zeros((len(hand.fingers), len(hand.joint_names)), bool)
    links = np.zeros((len(hand.fingers), len(hand.links)), bool)
    for number, finger in enumerate(hand.fingers):
        joints[number, list(finger.joints)] = True
        links[number, list(finger.links)] = True
    return joints, links


class MovingObject:
    """
    One rigid object free between the links of a hand whose palm stands still; frame palm.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    T_object_palm : (4, 4) float
        At the beginning.
    joints : (J,) float
        Where the fingers begin [rad].
    dynamics : ClosingDynamics
    ground : Ground, optional
        Without it the object floats.
    spin_radius : float, optional
        At which friction resists the turn about a contact's normal [m].
    friction_share : float, optional
        Friction over that of the object's material [-].

    Attributes
    ----------
    wrench : (6,) float
        On the object at its centre of mass all the time, frame palm [N, N m].
    touched : (L,) float
        Steps until each link first pressed the object; inf: it did not.

    Notes
    -----
    Own formulation, in the manner of Pang & Tedrake 2021: joints are springs sent along a
    trajectory, without inertia; the object has its own. See docs/model/closing_motion.md.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, T_object_palm: Array,
                 joints: Array, dynamics: ClosingDynamics, ground: Ground = NO_GROUND,
                 spin_radius: float = SPIN_RADIUS, friction_share: float = 1.0) -> None:
        mass = grasp_object.mass_properties
        self._body = Body(mass.mass, np.array(mass.inertia), np.array(mass.centre_of_mass),
                          friction_share * grasp_object.material.friction,
                          distance_band(grasp_object.mesh))
        self._hand, self._fingers, self._ground = hand, _fingers(hand), ground
        self._resistance = Resistance(dynamics.drag, dynamics.joint_damping, dynamics.stiffness,
                                      spin_radius, dynamics.time_step)
        T, links = inverse(T_object_palm), len(hand.links)
        self._begin, self.wrench, self.touched = T, np.zeros(6), np.full(links, np.inf)
        self._steps = 0
        self._motion = Motion(
            T[:3, :3].copy(), T[:3, :3] @ mass.centre_of_mass + T[:3, 3], np.array(joints, float),
            np.zeros(6 + len(joints)), np.zeros(links + 1), Felt.nothing(self._fingers.samples))

    @property
    def T_palm_object(self) -> Array:
        """Return where the object is (4, 4)."""
        motion = self._motion
        return transform(motion.rotation, motion.place - motion.rotation @ self._body.centre)

    @property
    def T_object_moved(self) -> Array:
        """Return where the object is in its frame as it was at the beginning (4, 4)."""
        return inverse(self._begin) @ self.T_palm_object

    @property
    def joints(self) -> Array:
        """Return where the joints are (J,) [rad]."""
        return self._motion.joints.copy()

    @property
    def speeds(self) -> Array:
        """Return the velocity of the centre of mass and the turn's (6,) [m/s, rad/s]."""
        return self._motion.speeds[:6].copy()

    @property
    def normal_forces(self) -> Array:
        """Return the normal force of each link on the object (L,) [N]."""
        return self._motion.forces[:-1].copy()

    def follow(self, commands: Array, loads: Array | None = None) -> None:
        """Move on: joints sent to commands (n, J) [rad], and loads (n, 6), a time step each."""
        wrenches = np.tile(self.wrench, (len(commands), 1))
        if loads is not None:
            wrenches += loads
        fresh = np.isinf(self.touched)
        follow(np.ascontiguousarray(commands, float), wrenches, self._body, self._fingers,
               self._ground, self._resistance, self._motion, self.touched)
        self.touched[fresh] += self._steps
        self._steps += len(commands)

    def follow_to_touch(self, command: Array, ways: Array, least: float, most: int
                        ) -> tuple[Array, set[int]]:
        """
        Send each finger on until it presses; return the joints' command (J,) and which do.

        ``command`` and ``ways`` of a step (J,) [rad]; a finger presses from a normal force
        ``least`` [N] on and then waits where it is; ``most`` steps.
        """
        sent, fresh = np.array(command, float), np.full(len(self.touched), np.inf)
        closing = Closing(ways, self._hand.joint_lower, self._hand.joint_upper, *_own(self._hand),
                          least, most)
        pressing, steps = follow_to_touch(
            sent, self.wrench, closing, self._body, self._fingers, self._ground,
            self._resistance, self._motion, fresh)
        self.touched = np.minimum(self.touched, fresh + self._steps)
        self._steps += steps
        return sent, set(np.flatnonzero(pressing).tolist())

    def lift(self) -> None:
        """Take the ground away, and with it what pulled the object to it."""
        self._ground, self.wrench = NO_GROUND, np.zeros(6)

    def copy(self) -> 'MovingObject':
        """Return another one in the same state."""
        other = object.__new__(MovingObject)
        other.__dict__.update(self.__dict__)
        other._motion = copied(self._motion, self._fingers.samples.starts)
        other.wrench, other.touched = self.wrench.copy(), self.touched.copy()
        return other

    def first_not_borne(self, command: Array, wrenches: Array, trial: Trial) -> int | None:
        """
        Return the number of the first of wrenches (c, 6) that is not borne; None: there is none.

        Each acts alone, and the object stays where it is.
        """
        lost = first_not_borne(
            np.asarray(command, float), np.ascontiguousarray(wrenches), self._body, self._fingers,
            self._ground, self._resistance, self._motion, trial)
        return None if lost < 0 else int(lost)


def along(rows: Array, count: int) -> Array:
    """Return ``count`` commands evenly along rows (m, J), the last row last."""
    places = np.linspace(0.0, len(rows) - 1.0, count + 1)[1:]
    before = np.minimum(places.astype(int), max(len(rows) - 2, 0))
    after = np.minimum(before + 1, len(rows) - 1)
    return rows[before] + (places - before)[:, None] * (rows[after] - rows[before])
