"""What `sdh_simulator` simulates, from its parameters: hand, arm, object and surroundings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....core.arm import load_arm
from ....core.bodies import GraspObject
from ....core.hand import HandModel
from ....core.planning.task import task_in_object_frame
from ....core.transforms import inverse, transform
from ....hardware.sim.arm import ArmMount
from ....hardware.sim.options import SimulationOptions
from ....hardware.sim.world import World
from ....library.resources import resolve_uri
from ....library.task_file import load_task
from ..base.parameters import ParameterError, pose_value


class WorldStart:
    """
    Builds worlds, and puts them where they begin.

    Parameters
    ----------
    hand : HandModel
    options : SimulationOptions
    values : mapping
        Of the node's parameters.

    Raises
    ------
    ParameterError, ShapeError
        There is no such preshape, or a pose is none.
    ArmError, TaskError
        The arm or the task cannot be used.
    """

    def __init__(self, hand: HandModel, options: SimulationOptions, values: Mapping[str, Any]
                 ) -> None:
        self._hand, self._options = hand, options
        self._joints = _open_hand(hand, values['preshape'])
        self._T_world_object = pose_value('object_start', values['object_start'])
        self._T_world_palm = self._T_world_object @ transform(
            np.eye(3), np.array([0.0, 0.0, -values['palm_distance']]))
        T_world_base = pose_value('arm_base_pose', values['arm_base_pose'])
        self._arm = ArmMount(
            load_arm(resolve_uri(values['arm_config']), resolve_uri), T_world_base
        ) if values['arm_config'] else None
        self._obstacles = None
        if values['surroundings']:
            task = load_task(Path(resolve_uri(values['surroundings'])),
                             inverse(T_world_base) @ self._T_world_object)
            self._obstacles = task_in_object_frame(task, self._T_world_object).obstacles

    def build(self, grasp_object: GraspObject | None = None) -> World:
        """Return a world, with an object or without."""
        return World(self._hand, self._options, self._T_world_palm, self._joints, grasp_object,
                     self._T_world_object, self._obstacles, self._arm)

    def reset(self, world: World) -> None:
        """Put a world where it begins."""
        world.reset(self._T_world_palm, self._joints)


def _open_hand(hand: HandModel, name: str):
    """Return the joints of an open preshape (J,) [rad], of the hand's first without a name."""
    found = {preshape.name: preshape.open for preshape in hand.preshapes}
    if not name:
        return hand.preshapes[0].open
    if name not in found:
        raise ParameterError(f'parameter preshape must be one of {", ".join(found)}, '
                             f'got {name!r}')
    return found[name]
