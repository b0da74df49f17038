"""Joint states of a real or simulated hand, merged by name over messages."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....core.errors import GripsimError

Array = NDArray[np.float64]


class JointsError(GripsimError):
    """Joints of the hand were never seen, or not for too long."""


class LiveJoints:
    """
    The newest position of every joint, and its last motion.

    Messages may hold any of the joints in any order, and others, which are ignored.
    Times are of the steady clock [s].
    """

    def __init__(self, joint_names: Sequence[str], timeout: float, threshold: float) -> None:
        """Start without positions; motions up to ``threshold`` [rad] are rest."""
        self._index = {name: i for i, name in enumerate(joint_names)}
        self._names = tuple(joint_names)
        self._timeout, self._threshold = timeout, threshold
        self._received = np.full(len(joint_names), -np.inf)
        self._positions = np.full(len(joint_names), np.nan)
        self._reference = np.full(len(joint_names), np.nan)
        self._displacements = np.zeros(len(joint_names))
        self.ignored = 0
        self.refused = 0

    def merge(self, names: Sequence[str], positions: Sequence[float], now: float) -> bool:
        """
        Take a message; return whether it held a joint of the hand.

        Names of other joints are counted as ignored, positions that are missing or
        not finite as refused.
        """
        taken = False
        for i, name in enumerate(names):
            joint = self._index.get(name)
            if joint is None:
                self.ignored += 1
            elif i >= len(positions) or not np.isfinite(positions[i]):
                self.refused += 1
            else:
                self._positions[joint], self._received[joint] = positions[i], now
                taken = True
        return taken

    def sample(self, now: float) -> tuple[Array, Array]:
        """
        Return positions and displacements ``(J,)`` [rad].

        The displacement is the last motion of the hand in which some joint moved
        more than the threshold; it is kept while the hand rests.

        Raises
        ------
        JointsError
            A joint is missing or older than the time-out; all such are named.
        """
        old = [name for name, received in zip(self._names, self._received)
               if now - received > self._timeout]
        if old:
            raise JointsError(f'no joint state within {self._timeout} s of {", ".join(old)}')
        motion = self._positions - self._reference
        if np.isnan(motion).any():
            self._reference = self._positions.copy()
        elif np.abs(motion).max() > self._threshold:
            self._displacements = motion
            self._reference = self._positions.copy()
        return self._positions.copy(), self._displacements.copy()
