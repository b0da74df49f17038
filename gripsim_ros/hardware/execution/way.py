"""The way of a held object as it is carried out: where palm and fingers go, and when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from ...core.errors import HandError, TaskError
from ...core.grasp_theory.grasp_map import joint_torque_map
from ...core.hand import HandModel
from ...core.planning.ranked_grasp import ManipulationResult, ManipulationStep
from ...core.transforms import inverse, transform

Array = NDArray[np.float64]

#: Least time of a step: rows must grow in time [s].
SHORTEST_STEP = 0.01


class _Track:
    """Poses at times, and between two of them: on a line, turned evenly."""

    def __init__(self, times: Array, poses: Array) -> None:
        self._times, self._positions = times, poses[:, :3, 3]
        self._turns = Slerp(times, Rotation.from_matrix(poses[:, :3, :3]))

    def at(self, elapsed: float) -> Array:
        """Return the pose at a time (4, 4)."""
        now = float(np.clip(elapsed, 0.0, self._times[-1]))
        position = [np.interp(now, self._times, column) for column in self._positions.T]
        return transform(self._turns(now).as_matrix(), np.array(position))


@dataclass(frozen=True, eq=False)
class WayPlan:
    """
    Steps of the way, the grasp first; poses are in the object's *first* frame.

    Attributes
    ----------
    times : (m,) float
        After the start of carrying [s], from 0 on.
    T_object_palm, T_object_moved : (m, 4, 4) float
        Of palm and object.
    joints : (m, J) float
        By how much the joints move from where the grasp holds them [rad].
    presses : (m, J) float
        By how much set-points move on top of it for the change of the forces [rad].
    forces : mapping of str to (m,) float
        Normal force with which each link is to press [N]; others bear none.
    reserve : (J,) float
        By how much the grip moves on for the first step's forces instead of the least [rad].
    """

    times: Array
    T_object_palm: Array
    T_object_moved: Array
    joints: Array
    presses: Array
    forces: Mapping[str, Array]
    reserve: Array

    @property
    def length(self) -> float:
        """Return the time of the whole way [s]."""
        return float(self.times[-1])

    @property
    def moves_palm(self) -> bool:
        """Return whether the palm does not rest."""
        return bool(np.abs(self.T_object_palm - self.T_object_palm[0]).max() > 1e-6)

    def palm(self, elapsed: float) -> Array:
        """Return the palm's pose so long after the start; it keeps to the object's arc."""
        if not self.moves_palm:
            return self.T_object_palm[0]
        return self._moved.at(elapsed) @ self._palm_in_object.at(elapsed)

    def deviation(self, elapsed: float, T_palm_held: Array, T_palm_object: Array
                  ) -> tuple[float, float]:
        """
        Return how far the object is from where it should be in the hand [m], [rad].

        ``T_palm_held`` is where it was when carrying began.
        """
        wanted = self._T_palm_object(elapsed) @ inverse(self._T_palm_first) @ T_palm_held
        turn = Rotation.from_matrix(wanted[:3, :3].T @ T_palm_object[:3, :3])
        return float(np.linalg.norm(T_palm_object[:3, 3] - wanted[:3, 3])), float(turn.magnitude())

    def _T_palm_object(self, elapsed: float) -> Array:
        """Return where the object should be in the hand."""
        return inverse(self.palm(elapsed)) @ self._moved.at(elapsed)

    @cached_property
    def _T_palm_first(self) -> Array:
        return self._T_palm_object(0.0)

    @cached_property
    def _moved(self) -> _Track:
        return _Track(self.times, self.T_object_moved)

    @cached_property
    def _palm_in_object(self) -> _Track:
        return _Track(self.times, inverse(self.T_object_moved) @ self.T_object_palm)


def make_way(hand: HandModel, reach: ManipulationResult | None, speed: float, spin: float
             ) -> WayPlan:
    """
    Return what is carried out of a planned way.

    Parameters
    ----------
    hand : HandModel
    reach : ManipulationResult or None
        As planned.
    speed, spin : float
        Limits of palm and object [m/s], [rad/s]; joints keep their own.

    Raises
    ------
    TaskError
        There is no way, it does not lead to its end, or its parts do not fit together.
    HandError
        A step names an unknown link.
    """
    count = 0 if reach is None else len(reach.joints)
    if reach is None or count < 2:
        raise TaskError(f'carry needs a way of 2 steps or more, the grasp has {count}: plan with '
                        'a displacement in the task')
    if reach.shares[-1] < 1.0:
        raise TaskError(f'carry needs a way to its end, the grasp\'s ends at '
                        f'{100.0 * reach.shares[-1]:.0f} %: {reach.message}')
    unknown = {link for step in reach.steps for link in step.links} - set(hand.link_names)
    if unknown:
        raise HandError(f'the way names links that the hand does not have: {sorted(unknown)}')
    if {len(reach.T_object_palm), len(reach.steps)} != {count} or \
            reach.joints.shape[1] != len(hand.joint_names):
        raise TaskError(f'carry needs joints, palm and forces of each step, got {count} rows of '
                        f'{reach.joints.shape[1]} joints, {len(reach.T_object_palm)} poses and '
                        f'forces of {len(reach.steps)}')
    moved = np.array([step.T_object_moved for step in reach.steps])
    pressed = [_pressed(step) for step in reach.steps]
    presses, least = (_efforts(hand, reach, forces) / hand.joint_stiffness for forces in (
        pressed, [step.minimal_forces for step in reach.steps]))
    steps = np.max([*(_lengths(poses, speed, spin) for poses in (reach.T_object_palm, moved)),
                    (np.abs(np.diff(reach.joints, axis=0)) / hand.joint_velocities).max(axis=1)],
                   axis=0)
    times = np.cumsum([0.0, *np.maximum(steps, SHORTEST_STEP)])
    return WayPlan(times, reach.T_object_palm, moved, reach.joints - reach.joints[0],
                   presses - presses[0], _forces(reach.steps, pressed), presses[0] - least[0])


def _lengths(poses: Array, speed: float, spin: float) -> Array:
    """Return how long the steps between poses take (m - 1,) [s]."""
    turns = Rotation.from_matrix(np.swapaxes(poses[:-1, :3, :3], 1, 2) @ poses[1:, :3, :3])
    moves = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    return np.maximum(moves / speed, turns.magnitude() / spin)


def _pressed(step: ManipulationStep) -> Array:
    """
    Return the force with which each contact is to be pressed (k, 3) [N].

    The plan's own, which has the reserve of a grasp, or the least that holds where that is more.
    """
    planned, least = ((forces * step.normals).sum(axis=1)
                      for forces in (step.forces, step.minimal_forces))
    return np.where((planned >= least)[:, None], step.forces, step.minimal_forces)


def _efforts(hand: HandModel, reach: ManipulationResult, forces: Sequence[Array]) -> Array:
    """Return the joint torques of forces (k, 3) [N] at the contacts of each step (m, J) [N m]."""
    efforts = []
    for joints, palm, step, row in zip(reach.joints, reach.T_object_palm, reach.steps, forces):
        links = np.array([hand.link_names.index(link) for link in step.links], int)
        torque_map = joint_torque_map(hand, joints, palm, links, step.points)
        efforts.append(torque_map @ np.hstack([row, np.zeros_like(row)]).ravel())
    return np.array(efforts)


def _forces(steps: Sequence[ManipulationStep], pressed: Sequence[Array]) -> dict[str, Array]:
    """Return the normal force with which each link is to press at each step (m,) [N]."""
    forces = {link: np.zeros(len(steps)) for step in steps for link in step.links}
    for number, (step, row) in enumerate(zip(steps, pressed)):
        for link, force in zip(step.links, np.maximum((row * step.normals).sum(axis=1), 0.0)):
            forces[link][number] += force
    return forces
