"""
What is checked before the hand is told to move: limits, velocities, links that would hit.

The hand's firmware knows no collisions between its fingers, so a motion is refused here.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....core.contact import LinkShapes, self_clearance
from ....core.hand import HandModel, forward_kinematics
from ..link.errors import UnsafeError

Array = NDArray[np.float64]

#: Links that touch already may move on in steps of this much of relative motion [m] as long as
#: their distance does not shrink by more than the second number.
SMALLEST_STEP, NO_CLOSER = 2e-4, 1e-5
#: More steps than this on one stretch of a path are too many; such a path grazes all along.
MOST_STEPS = 2000


class SafetyChecker:
    """
    Judges motions of a hand by its URDF, its meshes and the limits it told.

    Parameters
    ----------
    hand : HandModel
    self_clearance : float
        Least distance between links that can hit each other [m].
    limit_slack : float
        Targets this far beyond a limit are taken to it [rad].
    max_velocity : float
        [rad/s], beside the limits of the URDF.
    shapes : LinkShapes, optional
        Of the same hand, to save building them.

    Attributes
    ----------
    lower, upper, velocities : (J,) float
        What is allowed [rad], [rad/s].
    """

    def __init__(self, hand: HandModel, self_clearance: float, limit_slack: float,
                 max_velocity: float, shapes: LinkShapes | None = None) -> None:
        """Build the links' shapes, unless they are given."""
        self._hand, self._least, self._slack = hand, self_clearance, limit_slack
        self._shapes = shapes or LinkShapes.of_hand(hand)
        self._reach = reach_bounds(hand)
        self._max_velocity = max_velocity
        self.lower, self.upper = hand.joint_lower, hand.joint_upper
        self.velocities = np.minimum(hand.joint_velocities, max_velocity)

    def narrow(self, lower: Array, upper: Array, velocities: Array) -> None:
        """
        Take the limits that the hand told; the narrower ones hold.

        Raises
        ------
        UnsafeError
            They leave nothing.
        """
        low = np.maximum(self._hand.joint_lower, lower)
        high = np.minimum(self._hand.joint_upper, upper)
        speeds = np.minimum(np.minimum(self._hand.joint_velocities, velocities),
                            self._max_velocity)
        if (low >= high).any() or not (speeds > 0.0).all():
            raise UnsafeError('the limits that the hand tells leave no room: lower '
                              f'{lower.tolist()}, upper {upper.tolist()}, '
                              f'velocities {velocities.tolist()}')
        self.lower, self.upper, self.velocities = low, high, speeds

    def check_target(self, positions: Array) -> Array:
        """
        Return positions ``(..., J)`` within the limits, to which tiny excesses are taken.

        Raises
        ------
        UnsafeError
            A joint is beyond a limit; it is named.
        """
        rows = positions.reshape(-1, positions.shape[-1])
        beyond = np.maximum(self.lower - rows, rows - self.upper)
        if not np.isfinite(rows).all():
            raise UnsafeError(f'targets must be finite, got {rows.tolist()}')
        row, joint = np.unravel_index(np.argmax(beyond), beyond.shape)
        if beyond[row, joint] > self._slack:
            raise UnsafeError(
                f'{self._hand.joint_names[joint]} must stay within {self.lower[joint]:.4f} and '
                f'{self.upper[joint]:.4f} rad, got {rows[row, joint]:.4f}')
        return np.clip(positions, self.lower, self.upper)

    def check_velocities(self, velocities: ArrayLike) -> None:
        """
        Refuse velocities ``(..., J)`` [rad/s] above the limits.

        Raises
        ------
        UnsafeError
            Which joint, and how fast.
        """
        fastest = np.abs(np.asarray(velocities, float)).reshape(-1, len(self.velocities)).max(
            axis=0, initial=0.0)
        joint = int(np.argmax(fastest / self.velocities))
        if not np.isfinite(fastest).all() or fastest[joint] > self.velocities[joint] * (1 + 1e-9):
            raise UnsafeError(
                f'{self._hand.joint_names[joint]} may move with {self.velocities[joint]:.3f} '
                f'rad/s, asked for {fastest[joint]:.3f}')

    def warm_up(self) -> None:
        """Look at some postures, apart and in collision, once, so that kernels are loaded."""
        for preshape in self._hand.preshapes:
            self.clearance(preshape.open)
            self.clearance(preshape.closed)

    def clearance(self, positions: Array) -> float:
        """Return a lower bound of the distance between links that can hit each other [m]."""
        return self_clearance(self._shapes,
                              forward_kinematics(self._hand, positions[None])[0])

    def check_path(self, points: Array) -> None:
        """
        Refuse a path on which links come too near each other.

        Parameters
        ----------
        points : (n, J) float
            Corners of the path, straight in joint space between them, the first where the
            hand is [rad].

        Raises
        ------
        UnsafeError
            Where on the path, and how near.

        Notes
        -----
        Conservative advancement (Mirtich 1996): no point of a link moves farther than the
        sum of its lever arms times the joints' motions, so that from a configuration with
        clearance c the next one to be looked at is c over that bound away, and what lies
        between is safe without a look. Where the hand is nearer to itself than allowed from the
        start, it may move as long as it comes no nearer, and does not end where links meet.
        """
        gap = np.inf
        for first, last in zip(points[:-1], points[1:]):
            gap = self._check_stretch(first, last)
        if gap <= 0.0:
            raise UnsafeError(f'links of the hand meet at {np.round(points[-1], 3).tolist()}, '
                              'where it would end')

    def _check_stretch(self, first: Array, last: Array) -> float:
        """Return how far apart links are at its end [m]."""
        length = self._relative(np.abs(last - first))
        done, least, allowed = 0.0, np.inf, self._least
        for _ in range(MOST_STEPS):
            share = min(done / length, 1.0) if length > 0.0 else 1.0
            gap = self.clearance(first + share * (last - first))
            if done == 0.0 and gap < allowed:
                least = gap                 # too near already: no nearer
            if gap < min(allowed, least - NO_CLOSER):
                raise UnsafeError(
                    f'links of the hand would come as near as {1e3 * gap:.1f} mm, allowed are '
                    f'{1e3 * allowed:.1f} mm, {100.0 * share:.0f} % of the way from '
                    f'{np.round(first, 3).tolist()} to {np.round(last, 3).tolist()}')
            if share >= 1.0:
                return gap
            least = max(least, gap) if gap < allowed else np.inf
            done += max(gap - 0.5 * allowed, SMALLEST_STEP)
        raise UnsafeError('links of the hand graze each other all along the path')

    def _relative(self, motions: Array) -> float:
        """Bound how far any two links move relative to each other [m]."""
        links = self._reach @ motions
        return float((links[self._shapes.pairs[:, 0]] + links[self._shapes.pairs[:, 1]]).max())


def reach_bounds(hand: HandModel) -> Array:
    """
    Return ``(L, J)`` upper bounds of the lever arms of links about joints [m].

    The chain from a joint to a link, stretched out, and the farthest vertex; 0 where the joint
    does not move the link.
    """
    tree = hand.tree
    reach = np.zeros((len(hand.links), len(hand.joint_names)))
    for link, frame in enumerate(hand.link_frames):
        arm = float(np.linalg.norm(hand.links[link].mesh.vertices, axis=1).max())
        while tree.parent[frame] >= 0:
            if tree.actuator[frame] >= 0:
                joint = tree.actuator[frame]
                reach[link, joint] += arm * abs(tree.multiplier[frame])
            arm += float(np.linalg.norm(tree.T_parent_joint[frame, :3, 3]))
            frame = tree.parent[frame]
    return reach
