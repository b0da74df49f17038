"""What ``plan`` and its like are asked: an object, a task and limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import time
from typing import TYPE_CHECKING

from .arguments import finite_numbers, positive
from .inputs import InputError, existing_file, read_material, read_mesh
from .output import say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.bodies import GraspObject
    from ...core.bodies.scans.complete import CompletedScan
    from ...core.planning.task import Task
    from ...library.planned_object import Completion


@dataclass(frozen=True)
class PlanLimits:
    """
    Most grasps, hypotheses and seconds, 0 being the planner's own; seed; worker processes.

    ``robustness`` is the number of samples, None being the planner's own.
    """

    count: int = 0
    hypotheses: int = 0
    time: float = 0.0
    seed: int = 0
    workers: int = 0
    robustness: int | None = None


@dataclass(frozen=True, eq=False)
class Scan:
    """Points of one side in the file's unit, and how to close them."""

    points: NDArray[np.float64]
    completion: Completion


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """
    An object and a task as the user named them and as they were understood.

    ``hand`` is the file of the hand, '' for the one that comes along; ``reading_time`` [s] that of
    reading and repairing the mesh, or of closing the points.
    """

    mesh: str
    scale: float
    grasp_object: GraspObject
    repairs: tuple[str, ...]
    task: Task
    limits: PlanLimits
    scan: Scan | None = None
    hand: str = ''
    reading_time: float = 0.0

    @property
    def completion(self) -> Completion | None:
        """Return how points are closed, None of a mesh."""
        return None if self.scan is None else self.scan.completion


def read_scan(mesh: str, completion: str | None, viewpoint: str | None,
              recorded: Completion | None = None) -> Scan | None:
    """
    Return the scan in a file, None where it is to be read as a mesh.

    ``recorded`` is how grasps were planned on it: taken for points of which nothing is said.
    """
    from ...core.bodies.scans.complete import METHODS
    from ...core.bodies.scans.reading import read_points
    from ...library.planned_object import Completion, are_points
    bare = are_points(mesh)
    if completion is None and viewpoint is not None:
        raise InputError('--viewpoint goes with --completion')
    if completion is None and bare and recorded is None:
        raise InputError(f'{mesh} holds points and no faces: say with --completion '
                         f'{"|".join(METHODS)} how to close it')
    if completion is not None:
        place = None if viewpoint is None else finite_numbers('--viewpoint', viewpoint).tolist()
        chosen = Completion(completion, place)
    elif bare and recorded is not None:
        chosen = recorded
    else:
        return None
    if chosen.method not in METHODS:
        raise InputError(f'--completion must be one of {", ".join(METHODS)}, '
                         f'got {chosen.method!r}')
    return Scan(read_points(existing_file(mesh, 'scan')), chosen)


def read_request(mesh: str, scale: float, material: str | None, task: Path | None,
                 limits: PlanLimits, scan: Scan | None = None,
                 T_arm_object: NDArray[np.float64] | None = None, hand: str = '') -> PlanRequest:
    """Read what ``plan`` and ``evaluate`` are given; repairs are said on standard error."""
    from ...core.bodies import GraspObject
    from ...core.planning.task import Task
    from ...library.task_file import load_task
    understood = Task() if task is None else load_task(
        existing_file(task, 'task'), T_arm_object)
    stuff = read_material(material)
    begin = time.monotonic()
    if scan is None:
        loaded = read_mesh(mesh, positive('--scale', scale))
        body, repairs, seen = loaded.mesh, loaded.repairs, None
    else:
        completion = _completed(mesh, scan, positive('--scale', scale))
        body, repairs, seen = completion.mesh, completion.notes, completion.seen
    read = time.monotonic() - begin
    for repair in repairs:
        say(f'warning: {mesh}: {repair}')
    grasp_object = GraspObject(body, stuff, Path(mesh).stem, seen)
    return PlanRequest(mesh, scale, grasp_object, repairs, understood, limits, scan,
                       hand, read)


def _completed(name: str, scan: Scan, scale: float) -> CompletedScan:
    from ...library.planned_object import complete_points
    return complete_points(scan.points, scan.completion, scale, name)
