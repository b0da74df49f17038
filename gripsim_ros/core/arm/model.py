"""The model of an arm: a chain of joints with convex links, and its inverse kinematics."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import qmc

from ..arrays import Array, BoolArray, IntArray
from ..contact.backends.convex.decomposition import ConvexPart
from ..errors import ArmError
from ..fields import checked_array
from ..hand.kinematics import frame_poses, link_jacobians
from ..hand.tree import KinematicTree


#: Largest number of Newton steps, largest change of a joint in one [rad], and the error that ends
#: them [m, rad].
NEWTON_STEPS, NEWTON_MAX_CHANGE, NEWTON_TOLERANCE = 30, 0.4, 1e-9
#: Number of starts of the search within the limits where Newton's method finds nothing, and its
#: relative tolerances.
SEARCH_STARTS, SEARCH_TOLERANCE = 4, 1e-14


@dataclass(frozen=True, eq=False)
class ArmModel:
    """
    An arm as its URDF and its configuration describe it; ``A`` joints.

    Attributes
    ----------
    name : str
    joint_names : tuple of str, (A,)
    joint_lower, joint_upper : (A,) float
        [rad]
    joint_velocities : (A,) float
        Limits [rad/s].
    start : (A,) float
        Joints before the grasp, unless a request says otherwise [rad].
    tree : KinematicTree
        From the base link.
    tip : int
        Frame that carries the hand.
    T_tip_palm : (4, 4) float
    part_frames : (p,) int
        Frame of each convex part.
    parts : tuple of ConvexPart, (p,)
        In their frames; a link may have several.
    apart : (p, p) bool
        Pairs of parts that must not touch: not of one link, nor of adjacent ones.
    lift : float
        Height by which objects are lifted before they are carried [m].
    """

    name: str
    joint_names: tuple[str, ...]
    joint_lower: Array
    joint_upper: Array
    joint_velocities: Array
    start: Array
    tree: KinematicTree
    tip: int
    T_tip_palm: Array
    part_frames: IntArray
    parts: tuple[ConvexPart, ...]
    apart: BoolArray
    lift: float

    def poses(self, joints: Array) -> Array:
        """Return ``T_base_frame (F, 4, 4)`` of all frames for joints ``(A,)`` [rad]."""
        return frame_poses(self, joints[None])[0]

    def palm_pose(self, joints: Array) -> Array:
        """Return ``T_base_palm (4, 4)`` for joints ``(A,)`` [rad]."""
        return self.poses(joints)[self.tip] @ self.T_tip_palm

    @property
    def link_frames(self) -> IntArray:
        """Return the frame whose motion ``link_jacobians`` describes: the tip's."""
        return np.array([self.tip])

    def part_names(self) -> tuple[str, ...]:
        """Return the link's name of each part."""
        return tuple(self.tree.names[frame] for frame in self.part_frames)

    @property
    def carrying_frames(self) -> tuple[int, ...]:
        """Return the frames that no joint moves against the tip, it included."""
        frames = [self.tip]
        while self.tree.actuator[frames[-1]] < 0 and self.tree.parent[frames[-1]] >= 0:
            frames.append(int(self.tree.parent[frames[-1]]))
        return tuple(frames)

    @property
    def chain(self) -> tuple[int, ...]:
        """Return the frames from the base to the tip."""
        return tuple(reversed(self.tree.path_to_base(self.tip)))

    def checked_joints(self, joints: Array) -> Array:
        """
        Return joints ``(A,)`` as floats.

        Raises
        ------
        ArmError
            Their number is wrong, one is not finite or outside its limits.
        """
        array = checked_array(joints, f'joints of arm {self.name!r}', len(self.joint_names),
                              error=ArmError)
        outside = (array < self.joint_lower - 1e-9) | (array > self.joint_upper + 1e-9)
        if outside.any():
            k = int(np.argmax(outside))
            raise ArmError(f'{self.joint_names[k]} must lie in {self.joint_lower[k]:.4g} to '
                           f'{self.joint_upper[k]:.4g} rad, got {array[k]:.4g}')
        return array


def joint_distance(rows: Array) -> float:
    """Return the length of a joint path ``(m, A)``: the sum of the joints' distances [rad]."""
    return float(np.abs(np.diff(rows, axis=0)).sum()) if len(rows) > 1 else 0.0


class ArmInverseKinematics:
    """
    Inverse kinematics of an arm: Newton's method from nearby, else a search within the limits.

    Every answer is checked by the arm's own forward kinematics.

    Parameters
    ----------
    arm : ArmModel

    Notes
    -----
    The search is scipy's least squares by a trust region (Branch, Coleman and Li 1999).
    """

    #: Largest errors of a pose that counts as reached [m, rad].
    POSITION, ROTATION = 1e-5, 1e-4

    def __init__(self, arm: ArmModel) -> None:
        self._arm = arm

    def solve(self, T_base_palm: Array, near: Array) -> Array | None:
        """
        Return joints ``(A,)`` that put the palm there, near the given ones [rad].

        Parameters
        ----------
        T_base_palm : (4, 4) float
        near : (A,) float

        Returns
        -------
        (A,) float or None
            None where the search ends elsewhere.
        """
        arm = self._arm
        target = T_base_palm @ np.linalg.inv(arm.T_tip_palm)
        close = self._newton(target, near[None])
        if len(close):
            return close[0]
        joints = least_squares(
            lambda joints: self._errors(joints[None], target)[0],
            np.clip(near, arm.joint_lower, arm.joint_upper),
            bounds=(arm.joint_lower, arm.joint_upper), ftol=SEARCH_TOLERANCE,
            xtol=SEARCH_TOLERANCE, gtol=SEARCH_TOLERANCE).x
        return joints if self._reaches(joints, T_base_palm) else None

    def solutions(self, T_base_palm: Array, near: Array, count: int) -> list[Array]:
        """
        Return different solutions, the nearest to ``near`` first.

        Searches start at ``near`` and at ``count`` further postures spread evenly over the
        joints' ranges (Halton's sequence), so that the answer depends on the question alone.
        """
        arm = self._arm
        found: list[Array] = []
        away, longest = self.reach(T_base_palm)
        if away > longest + self.POSITION:
            return []
        middle = np.clip(near, arm.joint_lower, arm.joint_upper)
        half = np.minimum(0.5 * (arm.joint_upper - arm.joint_lower), np.pi)
        places = qmc.Halton(len(middle), scramble=False).random(count + 1)[1:]
        starts = np.vstack([middle, np.clip(middle + half * (2.0 * places - 1.0),
                                            arm.joint_lower, arm.joint_upper)])
        self._collect(self._newton(T_base_palm @ np.linalg.inv(arm.T_tip_palm), starts),
                      near, found)
        if not found:
            self._collect((self.solve(T_base_palm, start) for start in starts[:SEARCH_STARTS]),
                          near, found)
        return sorted(found, key=lambda q: float(np.abs(q - near).sum()))

    def _collect(self, postures: Iterable[Array | None], near: Array, found: list[Array]) -> None:
        """Add postures that are not yet among those found."""
        for joints in postures:
            if joints is None:
                continue
            turned = _nearest_turns(joints, near, self._arm)
            if all(np.abs(turned - other).max() > 1e-3 for other in found):
                found.append(turned)

    def reach(self, T_base_palm: Array) -> tuple[float, float]:
        """Return how far a pose's tip is from the first joint, and how far the links reach [m]."""
        tree, frames = self._arm.tree, self._arm.chain
        lengths = [float(np.linalg.norm(tree.T_parent_joint[f][:3, 3])) for f in frames[2:]]
        target = T_base_palm @ np.linalg.inv(self._arm.T_tip_palm)
        first = tree.T_parent_joint[frames[1]][:3, 3]
        return float(np.linalg.norm(target[:3, 3] - first)), sum(lengths)

    def _errors(self, joints: Array, target: Array) -> Array:
        """
        Return the ways ``(n, 6)`` of the tip to a pose from postures ``(n, A)``.

        Translations [m], then rotation vectors [rad].
        """
        poses = frame_poses(self._arm, joints)[:, self._arm.tip]
        turns = Rotation.from_matrix(target[:3, :3] @ poses[:, :3, :3].transpose(0, 2, 1))
        return np.hstack([target[:3, 3] - poses[:, :3, 3], turns.as_rotvec()])

    def _newton(self, target: Array, starts: Array) -> Array:
        """Return joints by Newton's method from starts (n, A), of those that converge soon."""
        arm, found = self._arm, np.full(starts.shape, np.nan)
        active, joints = np.arange(len(starts)), starts.copy()
        for _ in range(NEWTON_STEPS):
            errors = self._errors(joints, target)
            arrived = np.abs(errors).max(axis=1) < NEWTON_TOLERANCE
            found[active[arrived]] = joints[arrived]
            active, joints, errors = active[~arrived], joints[~arrived], errors[~arrived]
            if not len(active):
                break
            jacobians = link_jacobians(arm, joints)[:, 0]
            changes = np.einsum('nij,nj->ni', np.linalg.pinv(jacobians, rcond=1e-3), errors)
            joints = joints + changes * np.minimum(
                1.0, NEWTON_MAX_CHANGE / np.abs(changes).max(axis=1, initial=1e-30))[:, None]
            inside = ((joints >= arm.joint_lower) & (joints <= arm.joint_upper)).all(axis=1)
            active, joints = active[inside], joints[inside]
        return found[np.isfinite(found).all(axis=1)]

    def _reaches(self, joints: Array, T_base_palm: Array) -> bool:
        error = np.linalg.inv(self._arm.palm_pose(joints)) @ T_base_palm
        turn = np.arccos(np.clip(0.5 * (np.trace(error[:3, :3]) - 1.0), -1.0, 1.0))
        return bool(np.linalg.norm(error[:3, 3]) < self.POSITION and turn < self.ROTATION)


def _nearest_turns(joints: Array, near: Array, arm: ArmModel) -> Array:
    """Return the same posture with every joint at the nearest full turn within its limits."""
    choices = joints + 2.0 * np.pi * np.arange(-2, 3)[:, None]
    inside = (choices >= arm.joint_lower) & (choices <= arm.joint_upper)
    nearest = np.where(inside, np.abs(choices - near), np.inf).argmin(axis=0)
    return np.where(inside.any(axis=0), choices[nearest, np.arange(len(joints))], joints)
