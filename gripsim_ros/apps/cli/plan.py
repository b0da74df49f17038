"""``gripsim plan``: ranked grasps of a mesh."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import count, positive, real_number, whole_number
from .inputs import InputError, existing_file, read_hand
from .options import (
    MOST_WORKERS, CompletionName, Hand, Json, MaterialName, Mesh, Out, PlanElasticity,
    Scale, TaskFile, Viewpoint)
from .output import check_writable, say, write_json
from .requests import PlanLimits, PlanRequest, read_request, read_scan

if TYPE_CHECKING:
    from ...core.arm import ArmTask
    from ...library.grasp_file import PlanAnswer

#: More samples of uncertain numbers than this are taken for a mistake.
MOST_SAMPLES = 10000


def plan(
        mesh: Mesh, scale: Scale = 1.0, material: MaterialName = None, task: TaskFile = None,
        hand: Hand = '',
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
        robustness: Annotated[int | None, typer.Option(
            '--robustness', parser=whole_number, metavar='N',
            help='Judge each grasp under N samples of uncertain numbers, 0: none.')] = None,
        nodes: Annotated[bool, typer.Option(
            '--nodes', help='Ask a running suite instead of planning here.')] = False,
        database: Annotated[str | None, typer.Option(
            '--database', metavar='FILE|URL',
            help='Answer from this grasp database where it holds the very plan.')] = None,
        completion: CompletionName = None, viewpoint: Viewpoint = None,
        arm: Annotated[Path | None, typer.Option(
            '--arm', help='Order the grasps by the way of this arm, see docs/arm.md.')] = None,
        object_pose: Annotated[Path | None, typer.Option(
            '--object-pose', help='YAML {position, orientation} of the object in the arm\'s '
            'base.')] = None,
        arm_way: Annotated[str | None, typer.Option(
            '--arm-way', metavar='pregrasp|whole', show_default='pregrasp',
            help='Which way of the arm is to be short.')] = None,
        other_arms: Annotated[Path | None, typer.Option(
            '--other-arms', metavar='FILE', help='YAML of arms that stand or move beside it, see '
            'docs/arm.md.')] = None,
        published: Annotated[bool, typer.Option(
            '--published', help='Plan as the grasp paper prints it, for comparison, see '
            'docs/model/published.md.')] = False,
        strongest: Annotated[bool, typer.Option(
            '--strongest', help='Rank by the load that fingers bear which press as hard as they '
            'can, instead of the gentlest first.')] = False,
        elasticity: PlanElasticity = None, json: Json = False, out: Out = None,
        report: Annotated[Path | None, typer.Option(
            '--report', help='Write a self-contained HTML report.')] = None) -> int:
    """Plan ranked grasps of an object that deforms under the fingers."""
    arm_task = read_arm(arm, object_pose, nodes, arm_way, other_arms)
    _check_elasticity(elasticity, nodes, database)
    _check_published(published, nodes, database, elasticity)
    if strongest:
        _check_strongest({
            '--nodes': nodes, '--database': database, '--published': published, '--arm': arm,
            '--elasticity': elasticity, '--robustness': robustness})
    for path in (out, report):
        check_writable(path)
    limits = PlanLimits(_limit('--count', count_), _limit('--hypotheses', hypotheses),
                        0.0 if time is None else positive('--time', time), _checked_seed(seed),
                        _checked_workers(workers), _checked_robustness(robustness))
    request = read_request(mesh, scale, material, task, limits,
                           read_scan(mesh, completion, viewpoint),
                           None if arm_task is None else arm_task.T_base_object, hand)
    if arm_task is not None:
        from ...core.arm import check_distances
        check_distances(request.task, request.grasp_object, read_hand(request.hand), arm_task)
    stored = None
    if database is not None and request.scan is None:
        from .answers.database import find_answer
        stored = find_answer(request, database, with_surfaces=report is not None)
    if stored is not None:
        answer, interrupted = stored, False
    elif nodes:
        from .answers.nodes import plan_by_nodes
        answer, interrupted = plan_by_nodes(request, report is not None, elasticity or '')
    else:
        answer, interrupted = plan_here(request, arm_task is not None, elasticity, published,
                                        strongest)
    if arm_task is not None:
        answer, stopped = _order_by_arm(answer, request, arm_task,
                                        (str(arm), str(other_arms or '')), elasticity)
        interrupted = interrupted or stopped
    if json or out is not None:
        write_json(answer.to_mapping(), json, out)
    if not json:
        from .tables import print_answer
        print_answer(answer)
    if report is not None:
        from ..report import write_report
        begin = monotonic()
        write_report(answer, report)
        say(f'wrote {report} in {monotonic() - begin:.1f} s')
    return 130 if interrupted else 0


def read_arm(arm: Path | None, object_pose: Path | None, nodes: bool, way: str | None,
             others: Path | None) -> ArmTask | None:
    """Return the arm and where the object stands before it; None without an arm."""
    if arm is None and object_pose is None:
        if way is not None:
            raise InputError('--arm-way needs --arm and --object-pose')
        if others is not None:
            raise InputError('--other-arms needs --arm and --object-pose')
        return None
    if arm is None or object_pose is None:
        raise InputError('--arm and --object-pose go together')
    if nodes:
        raise InputError('--arm does not go with --nodes: give it to `gripsim suite up`')
    from .answers.arm import read_arm_task
    return read_arm_task(existing_file(arm, 'arm'), existing_file(object_pose, 'object pose'),
                         way or '', None if others is None else existing_file(
                             others, 'other arms'))


def _check_elasticity(elasticity: str | None, nodes: bool, database: str | None) -> None:
    if elasticity == 'body' and nodes:
        raise InputError('--elasticity body does not go with --nodes: give it to the suite by its '
                         "deformation's mechanics_config")
    if elasticity is not None and database is not None:
        raise InputError('--elasticity does not go with --database: its plans have the one '
                         'configured')


def _check_published(published: bool, nodes: bool, database: str | None,
                     elasticity: str | None) -> None:
    if not published:
        return
    if nodes:
        raise InputError('--published does not go with --nodes: a suite plans so where the '
                         'parameter published of grasp_planner says it')
    if database is not None:
        raise InputError('--published does not go with --database: it holds no such plans')
    if elasticity is not None:
        raise InputError('--published does not go with --elasticity: the paper knows half-spaces '
                         'alone')


def _check_strongest(others: Mapping[str, object]) -> None:
    for name, value in others.items():
        if value:
            raise InputError(f'--strongest does not go with {name}')


def _way_unknown(request: PlanRequest, levels: Mapping[str, int]) -> dict[str, str]:
    from ...core.planning.manipulation.search import way_unknown
    if request.task.displacement_object is None:
        return {}
    said = way_unknown(request.task.displacement_object, levels)
    return {'way_unknown': said} if said else {}


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


def _checked_robustness(samples: int | None) -> int | None:
    if samples is not None and not 0 <= samples <= MOST_SAMPLES:
        raise InputError(f'--robustness must be from 0 to {MOST_SAMPLES}, got {samples}')
    return samples


def _order_by_arm(answer: PlanAnswer, request: PlanRequest, arm_task: ArmTask,
                  files: tuple[str, str], elasticity: str | None) -> tuple[PlanAnswer, bool]:
    """
    Return the grasps wanted of all that hold, and whether Ctrl-C ended the search.

    ``files`` are those of the arm and, '' without, of others.
    """
    from dataclasses import replace

    from ...library.in_process import planner_options, robust_grasps
    from ...library.planned_arm import PlannedArm
    from .answers.arm import order_by_arm
    limits, options = request.limits, planner_options()
    budget = limits.time or options.max_planning_time
    answer, stopped = order_by_arm(answer, request.task, arm_task,
                                   limits.count or options.max_grasps,
                                   budget - answer.statistics['planning_time'])
    grasps = robust_grasps(request.grasp_object, list(answer.grasps), request.task,
                           limits.robustness, limits.seed, hand=answer.hand)
    return replace(answer, grasps=grasps, arm=PlannedArm(
        arm_task.arm, arm_task.T_base_object, files[0], arm_task.others, files[1])), stopped


def plan_here(request: PlanRequest, for_arm: bool = False, elasticity: str | None = None,
              published: bool = False, strongest: bool = False) -> tuple[PlanAnswer, bool]:
    """Plan; an arm chooses among all grasps that hold, and gets its share of the time."""
    from ...core.planning.published.rules import PublishedRules
    from ...core.planning.ranked_grasp import PUBLISHED
    from ...core.planning.task import ARM_TIME_SHARE
    from ...library.grasp_file import PlanAnswer
    from ...library.in_process import plan_grasps, planner_options
    from ...library.strongest import plan_strongest
    from .progress import CompilationNews, PlanProgress
    hand, limits, options = read_hand(request.hand), request.limits, planner_options()
    wanted, budget, robustness = limits.count, limits.time, limits.robustness
    if for_arm:
        wanted, robustness = limits.hypotheses or options.max_hypotheses, 0
        budget = (1.0 - ARM_TIME_SHARE) * (limits.time or options.max_planning_time)
    with CompilationNews('planning'), PlanProgress() as progress:
        result = plan_strongest(
            request.grasp_object, request.task, hand=hand, count=wanted, palms=limits.hypotheses,
            budget=budget, seed=limits.seed, on_progress=progress) if strongest else plan_grasps(
            request.grasp_object, request.task, hand=hand, count=wanted,
            hypotheses=limits.hypotheses, budget=budget, seed=limits.seed,
            workers=limits.workers, robustness=robustness, on_progress=progress,
            elasticity=elasticity, published=PublishedRules() if published else None)
    statistics = {
        'evaluated': result.evaluated, 'total': result.total, 'proposed': result.proposed,
        'in_contact': result.in_contact, 'planning_time': result.planning_time,
        'first_stable_time': result.first_stable_time,
        'times': {'reading': request.reading_time, 'loading': result.loading_time,
                  'preparing': result.preparing_time,
                  'planning': result.planning_time - result.preparing_time},
        'timed_out': result.timed_out and not progress.interrupted,
        'interrupted': progress.interrupted, 'seed': limits.seed, 'repairs': request.repairs,
        **({'reach': dict(result.reach_levels)} if result.reach_levels else {}),
        **_way_unknown(request, {} if for_arm else result.reach_levels),
        **({'method': PUBLISHED} if published else {})}
    return PlanAnswer(hand, request.grasp_object, request.mesh, request.scale, result.grasps,
                      result.rejections, statistics, result.nearest_miss,
                      result.hint, request.completion, task=request.task), progress.interrupted
