"""``gripsim plan``: ranked grasps of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import count, finite_numbers, positive, real_number, whole_number
from .inputs import InputError, existing_file, read_hand, read_material, read_mesh
from .output import check_writable, say, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..core.arm import ArmTask
    from ..core.bodies import GraspObject
    from ..core.bodies.completion import Completion
    from ..core.planning.types import Task
    from ..grasp_file import PlanAnswer

#: More processes than this are taken for a mistake.
MOST_WORKERS = 256
#: The same of samples of uncertain numbers.
MOST_SAMPLES = 10000

Mesh = Annotated[str, typer.Argument(metavar='MESH', help='Mesh file, or package:// URI.')]
Scale = Annotated[float, typer.Option(
    '--scale', parser=real_number, metavar='S', help='Factor to metres, e.g. 0.001.')]
MaterialName = Annotated[str | None, typer.Option(
    '--material', metavar='NAME|FILE', help='Name in the library, or a YAML file.')]
TaskFile = Annotated[Path | None, typer.Option('--task', help='YAML of what is to be held.')]
Json = Annotated[bool, typer.Option('--json', help='JSON on standard output.')]
Out = Annotated[Path | None, typer.Option('--out', help='Write the JSON to a file.')]


def plan(
        mesh: Mesh, scale: Scale = 1.0, material: MaterialName = None, task: TaskFile = None,
        count_: Annotated[int | None, typer.Option(
            '--count', parser=whole_number, metavar='N',
            help='Most grasps returned.', show_default='10')] = None,
        hypotheses: Annotated[int | None, typer.Option(
            '--hypotheses', parser=whole_number, metavar='N',
            help='Most hypotheses judged.')] = None,
        time: Annotated[float | None, typer.Option(
            '--time', parser=real_number, metavar='SECONDS',
            help='Stop after this many seconds with the best so far.')] = None,
        seed: Annotated[int, typer.Option(
            '--seed', parser=whole_number, metavar='K', help='Seed of the sampling.')] = 0,
        workers: Annotated[int, typer.Option(
            '--workers', parser=whole_number, metavar='N',
            help='Processes that share the work; 0: one a core.')] = 0,
        robustness: Annotated[int, typer.Option(
            '--robustness', parser=whole_number, metavar='N',
            help='Judge each grasp under N samples of uncertain numbers.')] = 0,
        nodes: Annotated[bool, typer.Option(
            '--nodes', help='Ask a running suite instead of planning here.')] = False,
        database: Annotated[str | None, typer.Option(
            '--database', metavar='FILE|URL',
            help='Answer from this grasp database where it holds the very plan.')] = None,
        completion: Annotated[str | None, typer.Option(
            '--completion', metavar='mirror|extrude|convex',
            help='Close a scan of one side (PLY, CSV, NPY points) by this assumption.')] = None,
        viewpoint: Annotated[str | None, typer.Option(
            '--viewpoint', metavar='X Y Z', show_default='estimated',
            help='Where the sensor of the scan stood.')] = None,
        arm: Annotated[Path | None, typer.Option(
            '--arm', help='Order the grasps by the way of this arm, see docs/arm.md.')] = None,
        object_pose: Annotated[Path | None, typer.Option(
            '--object-pose', help='YAML {position, orientation} of the object in the arm\'s '
            'base.')] = None,
        json: Json = False, out: Out = None,
        report: Annotated[Path | None, typer.Option(
            '--report', help='Write a self-contained HTML report.')] = None) -> int:
    """Plan ranked grasps of an object that deforms under the fingers."""
    arm_task = read_arm(arm, object_pose, nodes)
    for path in (out, report):
        check_writable(path)
    limits = PlanLimits(_limit('--count', count_), _limit('--hypotheses', hypotheses),
                        0.0 if time is None else positive('--time', time), _checked_seed(seed),
                        _checked_workers(workers), _checked_robustness(robustness))
    request = read_request(mesh, scale, material, task, limits,
                           read_scan(mesh, completion, viewpoint))
    stored = None
    if database is not None and request.scan is None:
        from .by_database import find_answer
        stored = find_answer(request, database, with_surfaces=report is not None)
    if stored is not None:
        answer, interrupted = stored, False
    elif nodes:
        from .by_nodes import plan_by_nodes
        answer, interrupted = plan_by_nodes(request, with_surfaces=report is not None)
    else:
        answer, interrupted = _plan_here(request)
    if arm_task is not None:
        from .by_arm import order_by_arm
        answer = order_by_arm(answer, request.task, arm_task)
    if json or out is not None:
        write_json(answer.to_mapping(), json, out)
    if not json:
        from .tables import print_answer
        print_answer(answer)
    if report is not None:
        from ..report import write_report
        write_report(answer, report)
        say(f'wrote {report}')
    return 130 if interrupted else 0


def read_arm(arm: Path | None, object_pose: Path | None, nodes: bool) -> ArmTask | None:
    """Return the arm and where the object stands before it; None without an arm."""
    if arm is None and object_pose is None:
        return None
    if arm is None or object_pose is None:
        raise InputError('--arm and --object-pose go together')
    if nodes:
        raise InputError('--arm does not go with --nodes: give it to `gripsim suite up`')
    from .by_arm import read_arm_task
    return read_arm_task(existing_file(arm, 'arm'), existing_file(object_pose, 'object pose'))


@dataclass(frozen=True)
class PlanLimits:
    """
    Most grasps, hypotheses and seconds, 0 being the planner's own; seed; worker processes.

    ``robustness`` is the number of samples, 0 being the planner's own.
    """

    count: int = 0
    hypotheses: int = 0
    time: float = 0.0
    seed: int = 0
    workers: int = 0
    robustness: int = 0


@dataclass(frozen=True, eq=False)
class Scan:
    """Points of one side in the file's unit, how to close them, where the sensor stood."""

    points: NDArray[np.float64]
    method: str
    viewpoint: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """An object and a task as the user named them and as they were understood."""

    mesh: str
    scale: float
    grasp_object: GraspObject
    repairs: tuple[str, ...]
    task: Task
    limits: PlanLimits
    scan: Scan | None = None


def read_scan(mesh: str, completion: str | None, viewpoint: str | None) -> Scan | None:
    """Return the scan in a file, None where it is to be read as a mesh."""
    from ..core.bodies.completion import METHODS
    from ..core.bodies.completion_reading import has_faces, read_points
    ending = Path(mesh).suffix.lower()
    if completion is None:
        if viewpoint is not None:
            raise InputError('--viewpoint goes with --completion')
        if ending == '.ply' and Path(mesh).is_file() and not has_faces(mesh):
            raise InputError(f'{mesh} holds points and no faces: say with --completion '
                             f'{"|".join(METHODS)} how to close it')
        return None
    if completion not in METHODS:
        raise InputError(f'--completion must be one of {", ".join(METHODS)}, got {completion!r}')
    place = None if viewpoint is None else finite_numbers('--viewpoint', viewpoint)
    return Scan(read_points(existing_file(mesh, 'scan')), completion, place)


def read_request(mesh: str, scale: float, material: str | None, task: Path | None,
                 limits: PlanLimits, scan: Scan | None = None) -> PlanRequest:
    """Read what ``plan`` and ``evaluate`` are given; repairs are said on standard error."""
    from ..core.bodies import GraspObject
    from ..core.planning.types import Task
    from ..task_file import load_task
    understood = Task() if task is None else load_task(existing_file(task, 'task'))
    stuff = read_material(material)
    if scan is None:
        loaded = read_mesh(mesh, positive('--scale', scale))
        body, repairs, seen = loaded.mesh, loaded.repairs, None
    else:
        completion = _completed(mesh, scan, positive('--scale', scale))
        body, repairs, seen = completion.mesh, completion.notes, completion.seen
    for repair in repairs:
        say(f'warning: {mesh}: {repair}')
    grasp_object = GraspObject(body, stuff, Path(mesh).stem, seen)
    return PlanRequest(mesh, scale, grasp_object, repairs, understood, limits, scan)


def _completed(name: str, scan: Scan, scale: float) -> Completion:
    from ..core.bodies.completion import complete_scan
    from ..core.errors import GripsimError
    try:
        return complete_scan(scan.points, scan.method, scale, scan.viewpoint)
    except GripsimError as error:
        raise type(error)(f'{name}: {error}') from None


def _limit(name: str, value: int | None) -> int:
    return 0 if value is None else count(name, value)


def _checked_seed(seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise InputError(f'--seed must be from 0 to 2^64 - 1, got {seed}')
    return seed


def _checked_workers(workers: int) -> int:
    if not 0 <= workers <= MOST_WORKERS:
        raise InputError(f'--workers must be from 0 (one a core) to {MOST_WORKERS}, got {workers}')
    return workers


def _checked_robustness(samples: int) -> int:
    if not 0 <= samples <= MOST_SAMPLES:
        raise InputError(f'--robustness must be from 0 to {MOST_SAMPLES}, got {samples}')
    return samples


def _plan_here(request: PlanRequest) -> tuple[PlanAnswer, bool]:
    from ..grasp_file import PlanAnswer
    from ..in_process import plan_grasps
    from .progress import PlanProgress
    hand, limits = read_hand(), request.limits
    with PlanProgress() as progress:
        result = plan_grasps(
            request.grasp_object, request.task, hand=hand, count=limits.count,
            hypotheses=limits.hypotheses, budget=limits.time, seed=limits.seed,
            workers=limits.workers, robustness=limits.robustness or None, on_progress=progress)
    statistics = {
        'evaluated': result.evaluated, 'total': result.total, 'proposed': result.proposed,
        'in_contact': result.in_contact, 'planning_time': result.planning_time,
        'first_stable_time': result.first_stable_time,
        'timed_out': result.timed_out and not progress.interrupted,
        'interrupted': progress.interrupted, 'seed': limits.seed, 'repairs': request.repairs}
    return PlanAnswer(hand, request.grasp_object, request.mesh, request.scale, result.grasps,
                      result.rejections, statistics, result.nearest_miss,
                      result.hint), progress.interrupted
