"""
Seating: the object gives way to fingers that press it, until their forces balance.

The joints are springs that are sent beyond the touch; the object is free but for the fingers'
contacts, which are rigid here and rub by Coulomb's law.
"""

import numpy as np

from ...arrays import Array
from ...batches import DETAIL_FORCES
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import contact_frames, joint_torque_map
from ...hand import HandModel
from ...numerics.nnls import solve_nnls
from ...transforms import inverse, rotation_about
from ..hypotheses.hand_geometry import find_fingers
from .batching import SteppedItem, Steps
from .grasp_state import GraspState
from .question import Question


#: Indentation at which a contact counts as closed [m].
TOUCH_DEPTH = 1e-4
#: How far the joints are sent beyond the touch in one step, and in all [rad].
SQUEEZE_STEP, SQUEEZE = 0.005, 0.03
#: Resistance of the object to motion over the stiffness of the fingertips [-].
DRAG = 0.05
#: Lever at which joint stiffness is a fingertip's [m].
LEVER = 0.1
#: Edges of the pyramid that stands for a friction cone.
EDGES = 8
#: Largest motion of the object in a step [m].
MAX_MOTION = 1e-3
#: Overlap that a link may find in a step with what it did not touch before [m]; the next step
#: moves it out.
MAX_OVERLAP = 5e-4
#: Motion of the object in a step below which it rests [m].
REST = 2e-5
#: The same of a joint [rad].
JOINT_REST = 2e-4
#: Square of what rows leave of a unit vector [-], below which they exclude each other.
INCOMPATIBLE = 1e-12
#: Steps at most.
MAX_STEPS = 60


class Seating(SteppedItem):
    """
    The seating of an object between closed fingers: ``question()``, ``answer()``, until ``done``.

    Each answer tells where the links touch; the step to the next question is that of least
    energy of the joints' springs and of a weak drag of the object in which no contact closes
    further and friction bounds the slip. Links that do not touch yet bound its length.

    Parameters
    ----------
    question : Question
        The hand at the touch.
    hand : HandModel
    grasp_object : GraspObject
    rates : (J,) float
        Way of closing [rad].

    Attributes
    ----------
    joints : (J,) float
        Where the joints are [rad].
    T_object_palm : (4, 4) float
        The palm in the frame of the object where it is now.

    Notes
    -----
    Source: Anitescu 2006 (friction as a convex cone of relative motions); joint springs and drag
    in place of inertia: Pang & Tedrake 2021, quasi-dynamic. Departure: cones have eight edges.
    """

    def __init__(self, question: Question, hand: HandModel, grasp_object: GraspObject,
                 rates: Array) -> None:
        self.joints, self.T_object_palm = question.joint_positions.copy(), question.T_object_palm
        self._displacements, self._hand = question.joint_displacements, hand
        self._friction = grasp_object.material.friction
        self._centre = grasp_object.mass_properties.centre_of_mass
        self._radius = 0.5 * float(np.ptp(grasp_object.mesh.vertices, axis=0).max())
        self._free = np.array([j for finger in find_fingers(hand) for j in finger.joints])
        self._signs, self._command, self._sent = np.sign(rates), self.joints.copy(), 0.0
        super().__init__(self._run())

    def _run(self) -> Steps:
        """Ask about hand and object where they are, and move them on, until the object rests."""
        for _ in range(MAX_STEPS):
            state = yield Question(DETAIL_FORCES, self.T_object_palm, self.joints,
                                   self._displacements, np.zeros(3))
            if self._sent < SQUEEZE:
                self._sent += SQUEEZE_STEP
                self._command = self._command + SQUEEZE_STEP * self._signs
            twist, change = self._motion(state)
            way = float(np.linalg.norm(twist[:3]) + self._radius * np.linalg.norm(twist[3:]))
            share = min(self._free_share(state, twist, change), MAX_MOTION / max(way, 1e-12))
            self.joints = np.clip(self.joints + share * change, self._hand.joint_lower,
                                  self._hand.joint_upper)
            moved = rotation_about(self._centre, share * twist[3:], share * twist[:3])
            self.T_object_palm = inverse(moved) @ self.T_object_palm
            if self._sent >= SQUEEZE and way < REST and np.abs(change).max() < JOINT_REST:
                return

    def _motion(self, state: GraspState) -> tuple[Array, Array]:
        """Return the twist of the object (6,) at its centre and the joints' change (J,)."""
        free = self._free
        stiffness = np.broadcast_to(self._hand.joint_stiffness, self.joints.shape)[free]
        drag = DRAG * stiffness.mean() / LEVER ** 2
        roots = np.sqrt(np.concatenate(
            [np.full(3, drag), np.full(3, drag * self._radius ** 2), stiffness]))
        pull = np.concatenate(
            [np.zeros(6), stiffness * (self._command - self.joints)[free]])
        edges, gaps = self._contact_rows(state)
        motion = least_energy(roots, pull, edges, gaps)
        change = np.zeros(len(self.joints))
        change[free] = motion[6:]
        return motion[:6], change

    def _contact_rows(self, state: GraspState) -> tuple[Array, Array]:
        """Return rows (k, 6 + free) of relative motion along the cones' edges, and gaps (k,)."""
        links, points, normals = state.links, state.points, state.normals
        if not len(links):
            return np.zeros((0, 6 + len(self._free))), np.zeros(0)
        jacobians = joint_torque_map(self._hand, self.joints, self.T_object_palm, links, points)
        jacobians = jacobians.reshape(-1, len(links), 6)[:, :, :3].transpose(1, 2, 0)
        angles = 2.0 * np.pi * np.arange(EDGES) / EDGES
        around = np.stack([np.ones(EDGES), self._friction * np.cos(angles),
                           self._friction * np.sin(angles)])
        edges = (contact_frames(normals) @ around).swapaxes(1, 2)
        torques = np.cross((points - self._centre)[:, None], edges)
        rows = np.concatenate([edges, torques, -edges @ jacobians[:, :, self._free]], axis=2)
        gaps = np.repeat(TOUCH_DEPTH - state.depth[links], EDGES)
        return rows.reshape(len(gaps), -1), gaps

    def _free_share(self, state: GraspState, twist: Array, change: Array) -> float:
        """Return the share of a motion in which links not in contact yet cannot press deep."""
        share, pressed = 1.0, set(state.links.tolist())
        own = float(np.linalg.norm(twist[:3]) + 2.0 * self._radius * np.linalg.norm(twist[3:]))
        for finger in find_fingers(self._hand):
            for i, link in enumerate(finger.links):
                if link in pressed:
                    continue
                way = own + finger.lever_arms[i] @ np.abs(change[list(finger.joints)])
                room = state.clearance[link] + MAX_OVERLAP
                share = min(share, room / max(float(way), 1e-12))
        return share


def least_energy(roots: Array, pull: Array, rows: Array, gaps: Array) -> Array:
    """
    Return v (n,) of least 1/2 v' diag(roots^2) v - pull' v with rows v + gaps >= 0.

    Zeros where no v fulfils the rows: an object wedged too deep rests where it is.

    Source: Lawson & Hanson 1974, chapter 23, least distance programming.
    """
    start = pull / roots
    if not len(rows):
        return start / roots
    scaled = rows / roots
    height = -gaps - scaled @ start
    if (height <= 0.0).all():
        return start / roots
    matrix = np.vstack([scaled.T, height])
    right = np.zeros(len(matrix))
    right[-1] = 1.0
    x, _ = solve_nnls(np.ascontiguousarray(matrix), right)
    rest = matrix @ x - right
    if -rest[-1] < INCOMPATIBLE:
        return np.zeros(len(roots))
    return (start - rest[:-1] / rest[-1]) / roots
