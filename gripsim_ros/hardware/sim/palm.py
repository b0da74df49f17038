"""The palm on its way: within limits of speed and of acceleration, as an arm carries it."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.transforms import transform
from .options import SimulationOptions

Array = NDArray[np.float64]

#: Nearer than this the palm has arrived [m], [rad].
ARRIVED = 1e-6


class PalmGuide:
    """
    Where the palm is led, time step by time step, from rest to rest.

    A palm that sets off at its full speed pulls at what the hand holds with the speed over the
    time constant of contacts: several times the weight. Limits of acceleration keep that small.
    """

    def __init__(self, options: SimulationOptions, T_world_palm: Array) -> None:
        """Rest at a pose (4, 4)."""
        self._options = options
        self.place(T_world_palm)

    def place(self, T_world_palm: Array) -> None:
        """Be somewhere at once, at rest."""
        self.position = T_world_palm[:3, 3].copy()
        self.rotation = Rotation.from_matrix(T_world_palm[:3, :3])
        self.velocity, self.spin = np.zeros(3), np.zeros(3)
        self._goal, self._goal_rotation = self.position.copy(), self.rotation

    def go(self, T_world_palm: Array) -> None:
        """Set off for a pose (4, 4)."""
        self._goal = T_world_palm[:3, 3].copy()
        self._goal_rotation = Rotation.from_matrix(T_world_palm[:3, :3])

    def stop(self) -> None:
        """Come to rest as soon as the limits of acceleration let it."""
        options = self._options
        self._goal = self.position + _braking_way(self.velocity, options.palm_acceleration)
        self._goal_rotation = Rotation.from_rotvec(
            _braking_way(self.spin, options.palm_spin_acceleration)) * self.rotation

    @property
    def moves(self) -> bool:
        """Return whether it is on its way."""
        ways = self._goal - self.position, self._turn(), self.velocity, self.spin
        return any(float(np.linalg.norm(way)) > ARRIVED for way in ways)

    @property
    def pose(self) -> Array:
        """Return where it is (4, 4)."""
        return transform(self.rotation.as_matrix(), self.position)

    def step(self) -> None:
        """Go on by one time step."""
        options = self._options
        step = options.time_step
        self.velocity = _next_velocity(self._goal - self.position, self.velocity,
                                       options.palm_speed, options.palm_acceleration, step)
        self.spin = _next_velocity(self._turn(), self.spin, options.palm_spin,
                                   options.palm_spin_acceleration, step)
        self.position = self.position + self.velocity * step
        if self.spin.any():
            self.rotation = Rotation.from_rotvec(self.spin * step) * self.rotation

    def _turn(self) -> Array:
        """Return the rotation that is left (3,) [rad], about an axis of the world."""
        rotation: Array = (self._goal_rotation * self.rotation.inv()).as_rotvec()
        return rotation


def _braking_way(velocity: Array, acceleration: float) -> Array:
    """Return the way (3,) in which a velocity comes to rest."""
    way: Array = velocity * (float(np.linalg.norm(velocity)) / (2.0 * acceleration))
    return way


def _next_velocity(way: Array, velocity: Array, speed: float, acceleration: float,
                   step: float) -> Array:
    """
    Return the velocity (3,) of the next time step towards the end of a way (3,).

    Its norm is at most ``speed``, or that from which the way suffices to stop in steps of
    ``acceleration * step``: v step + (v - a step) step + ... is the way that is left. It changes
    by ``acceleration * step`` at most.
    """
    left, most = float(np.linalg.norm(way)), acceleration * step
    fastest = min(speed, acceleration * (np.sqrt(0.25 * step**2 + 2.0 * left / acceleration)
                                         - 0.5 * step), left / step)
    change = (way * (fastest / left) if left > 0.0 else np.zeros(3)) - velocity
    size = float(np.linalg.norm(change))
    wanted: Array = velocity + change * min(1.0, most / max(size, most))
    return wanted
