"""
Plan and evaluate in this process: the library's front door.

>>> from gripsim_ros.library.in_process import load_object, plan_grasps
>>> result = plan_grasps(load_object('apple.stl', material='firm_fruit'))  # doctest: +SKIP
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import yaml

from ..core.batches import AS_CONFIGURED, HALF_SPACE, OBSTACLE_BOX, OWN_COMPLIANCE
from ..core.bodies import GraspObject, Material, load_material, load_mesh, shapes
from ..core.contact import LinkShapes
from ..core.errors import GripsimError
from ..core.hand import HandModel
from ..core.mechanics import MechanicsOptions
from ..core.pipeline import Pipeline, PublishedPipeline
from ..core.planning import (
    GraspEvaluator, GraspPlanner, NearestMiss, PlannerOptions, Progress, PublishedPlanner,
    PublishedRules, RankedGrasp, Task)
from ..core.planning.closings import yields_as_a_whole
from ..core.planning.hypotheses.surroundings import rays_away
from ..core.planning.options import IN_TWO_STAGES
from ..core.planning.ranking.robustness import judge_again
from ..core.planning.task import check_counts
from .own_compliance import OwnCompliance
from .resources import (
    cache_directory, load_default_hand, material_library, resolve_uri, share_directory)
from .workers import run, run_with_workers, worker_count

#: Configurations a worker is asked for at once, at most: none idles while another has many.
WORKER_BATCH = 2
#: A box a metre away: kind, sides, pose.
FAR_BOX = np.array([[OBSTACLE_BOX, 0.1, 0.1, 0.1, 1, 0, 0, 1.0, 0, 1, 0, 0, 0, 0, 1, 0]])


@dataclass(frozen=True, eq=False)
class PlanResult:
    """
    What planning found.

    ``rejections`` counts hypotheses by reason; ``evaluated`` of ``total`` were judged,
    ``in_contact`` of them by a contact of at least two fingers; ``proposed`` candidates were
    looked at quickly. ``timed_out``: the budget ended it with hypotheses not judged. Times in
    seconds: ``planning_time`` includes ``preparing_time``, until the first hypothesis, not
    ``loading_time`` of kernels before. ``reach_levels`` counts the grasps followed along the
    task's displacement by who moves the object. Without a grasp ``nearest_miss`` and ``hint`` say
    what was lacking.
    """

    grasps: list[RankedGrasp]
    rejections: dict[str, int]
    evaluated: int
    total: int
    in_contact: int
    proposed: int
    timed_out: bool
    first_stable_time: float | None
    planning_time: float
    nearest_miss: NearestMiss | None = None
    hint: str = ''
    reach_levels: Mapping[str, int] = field(default_factory=dict)
    loading_time: float = 0.0
    preparing_time: float = 0.0


@lru_cache(maxsize=1)
def planner_options() -> PlannerOptions:
    """Return the options of ``config/planner.yaml``."""
    return PlannerOptions.from_mapping(_config('planner'))


@lru_cache(maxsize=4)
def mechanics_options(elasticity: str | None = None) -> MechanicsOptions:
    """
    Return the options of ``config/mechanics.yaml``.

    Parameters
    ----------
    elasticity : str, optional
        Instead of the one configured: ``half_space``, ``body`` or ``auto``.
    """
    options = MechanicsOptions.from_mapping(_config('mechanics'))
    if elasticity is not None:
        options = replace(options, elasticity=elasticity)
    return options.with_folder(cache_directory())


def _config(name: str) -> dict:
    return yaml.safe_load((share_directory() / 'config' / f'{name}.yaml').read_text())


def find_material(name_or_file: str) -> Material:
    """
    Return a material of the library by name, or from a YAML file.

    Raises
    ------
    MaterialError
        It is neither, or a value is out of range.
    """
    materials = material_library()
    if name_or_file in materials:
        return materials[name_or_file]
    return load_material(name_or_file)


def load_object(mesh: str, material: str | Material = 'default', scale: float = 1.0
                ) -> GraspObject:
    """
    Return an object from a mesh file and a material.

    Parameters
    ----------
    mesh : str
        File or URI in any format that trimesh reads.
    material : str or Material
        Name in the library, YAML file, or the material itself.
    scale : float
        Factor that makes the file's lengths metres.

    Raises
    ------
    MeshError, MaterialError
        In one clear line.
    """
    if not isinstance(material, Material):
        material = find_material(material)
    return GraspObject(load_mesh(resolve_uri(mesh), scale).mesh, material, label=str(mesh))


@lru_cache(maxsize=1)
def warm_up() -> None:
    """
    Plan once for a small ball, so that no later call compiles or loads kernels.

    The first time after an installation it takes about a minute, then under a second.
    """
    ball = GraspObject(shapes.sphere(0.03, 0.006), Material(1.0e6, 0.45, 1000.0, 0.6))
    hand = load_default_hand()
    rays_away(FAR_BOX)
    planner = GraspPlanner(ball, hand, Task(obstacles=FAR_BOX), planner_options(),
                           max_hypotheses=2, max_grasps=1)
    run(planner, Pipeline(hand, ball, mechanics_options(), link_shapes(hand)))


def link_shapes(hand: HandModel) -> LinkShapes:
    """Return what contact prepares of a hand, kept for the next object."""
    return LinkShapes.of_hand(hand)


def plan_grasps(grasp_object: GraspObject, task: Task | None = None, *,
                hand: HandModel | None = None, options: PlannerOptions | None = None,
                count: int = 0, hypotheses: int = 0, budget: float = 0.0, seed: int = 0,
                workers: int = 1, robustness: int | None = None, elasticity: str | None = None,
                published: PublishedRules | None = None,
                on_progress: Callable[[Progress], bool | None] | None = None) -> PlanResult:
    """
    Return ranked grasps of an object.

    Parameters
    ----------
    grasp_object : GraspObject
    task : Task, optional
        None: the object floats and its weight may pull in any direction.
    hand, options
        None: the Schunk SDH and ``config/planner.yaml``.
    count, hypotheses : int
        Grasps returned and hypotheses evaluated at most; 0: as in the options.
    budget : float
        Wall time for planning [s]; 0: as in the options.
    seed : int
        Turns the hypotheses' rolls.
    workers : int
        Processes that share the work; 0: one a core. Forked, so only used where this
        process has no threads of its own. Grasps and their order do not depend on it.
    robustness : int, optional
        Samples of uncertain numbers under which the grasps returned are judged and ranked again,
        after planning and outside its budget; None: as in the options, as far as the budget
        allows.
    elasticity : str, optional
        Model of the object: ``half_space``, ``body``, or ``auto``: half-spaces while searching,
        then the best are closed again with the object's own compliance and ranked by it. None:
        as in the options, where it is ``auto`` unless changed. Where its own compliance cannot
        be prepared, or planning ends before, half-spaces answer, and each grasp has a warning;
        where the object is too stiff for it to matter they answer without one.
    published : PublishedRules, optional
        Plan as the grasp paper prints it instead, for comparison (docs/model/published.md);
        ``elasticity`` then says nothing.
    on_progress : callable, optional
        Called with ``Progress`` after each answer; return False to stop.

    Returns
    -------
    PlanResult

    Raises
    ------
    TaskError
        A count, the seed or the workers are negative or no whole number, the budget is
        negative, there is no such elasticity, or the published method does not know what the
        task has.
    """
    check_counts(seed=seed, count=count, hypotheses=hypotheses, workers=workers)
    hand = hand or load_default_hand()
    options = options or planner_options()
    budget = checked_budget(budget) or options.max_planning_time
    processes = worker_count(workers)
    batch_size = options.batch_size if processes == 1 else min(options.batch_size, WORKER_BATCH)
    asked = time.monotonic()
    warm_up()
    begin = time.monotonic()
    elasticity = elasticity or options.elasticity
    twice = elasticity == IN_TWO_STAGES and published is None
    mechanics = mechanics_options(HALF_SPACE if twice else elasticity or None)
    request = grasp_object, hand, task or Task()
    limits = replace(options, batch_size=batch_size), seed, hypotheses, count
    first_stable: list[float] = []

    def watch(progress: Progress) -> bool:
        elapsed = time.monotonic() - begin
        if progress.stable and not first_stable:
            first_stable.append(elapsed)
        return (on_progress is None or on_progress(progress) is not False) and elapsed < budget

    beside = twice and processes > 1 and yields_as_a_whole(grasp_object, hand)
    with OwnCompliance(grasp_object, mechanics, beside) as own:
        pipeline: Pipeline | PublishedPipeline = (
            Pipeline(hand, grasp_object, mechanics, link_shapes(hand)) if published is None
            else PublishedPipeline(hand, grasp_object, mechanics, published))
        with _prepared_beside(pipeline):
            planner = (GraspPlanner(*request, *limits, IN_TWO_STAGES if twice else AS_CONFIGURED)
                       if published is None else PublishedPlanner(*request, *limits, published))
        prepared = time.monotonic()
        stopped = run_with_workers(planner, pipeline, watch, processes)
        while planner.go_on():
            if planner.finished:        # a small part of what takes no stage is done
                if not watch(planner.progress):
                    planner.stop()
                continue
            if isinstance(planner, GraspPlanner) and isinstance(pipeline, Pipeline):
                _prepare_own(planner, pipeline, own, watch)
            run_with_workers(planner, pipeline, watch, processes)
    progress = planner.progress
    if robustness is None and (stopped or published is not None):
        robustness = 0
    grasps = robust_grasps(
        grasp_object, planner.ranked(), task, robustness, seed, hand=hand, options=options,
        go_on=lambda: robustness is not None or time.monotonic() - begin < budget)
    return PlanResult(
        grasps=_with_warnings(grasps, () if planner.warnings else pipeline.warnings),
        rejections=planner.rejections,
        evaluated=progress.evaluated, total=progress.total,
        in_contact=planner.contacts_evaluated, proposed=planner.proposed,
        timed_out=stopped and progress.evaluated < progress.total,
        first_stable_time=first_stable[0] if first_stable else None,
        planning_time=time.monotonic() - begin, nearest_miss=planner.nearest_miss,
        hint=planner.hint, reach_levels=planner.reach_levels,
        loading_time=begin - asked, preparing_time=prepared - begin)


def _prepare_own(planner: GraspPlanner, stages: Pipeline, own: OwnCompliance,
                 watch: Callable[[Progress], bool]) -> None:
    """Wait for the object's own compliance where the planner will ask for it."""
    if not planner.closed_again:
        return
    found = own.is_there(stages, lambda: watch(planner.progress))
    if found is None:
        planner.stop()
    elif not found:
        planner.refuse(stages.warnings[-1])


@contextmanager
def _prepared_beside(pipeline: Pipeline | PublishedPipeline) -> Iterator[None]:
    """Prepare the stages in a thread meanwhile; it has ended when workers are forked."""
    def prepare() -> None:
        with suppress(GripsimError):    # who asks first is told
            pipeline.prepare()
    thread = threading.Thread(target=prepare, name='preparation', daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def robust_grasps(grasp_object: GraspObject, grasps: list[RankedGrasp], task: Task | None,
                  samples: int | None = None, seed: int = 0, *, hand: HandModel | None = None,
                  options: PlannerOptions | None = None, go_on: Callable[[], bool] = lambda: True
                  ) -> list[RankedGrasp]:
    """
    Return grasps with their robustness; see ``core.planning.ranking.robustness``.

    ``samples`` of None are as many as the options have.

    Raises
    ------
    TaskError
        ``samples`` is negative.
    """
    from ..core.errors import TaskError
    options = options or planner_options()
    samples = options.robustness_samples if samples is None else samples
    if samples < 0:
        raise TaskError(f'robustness samples must be 0 or more, got {samples}')
    return judge_again(grasps, grasp_object, hand or load_default_hand(), task or Task(), options,
                       samples, seed, go_on)


def model_of(grasps: Sequence[RankedGrasp]) -> str:
    """Return the model of the object that the numbers of planned grasps have."""
    owns = any(grasp.elasticity == OWN_COMPLIANCE for grasp in grasps)
    return OWN_COMPLIANCE if owns else HALF_SPACE


def evaluate_grasps(grasp_object: GraspObject, grasps: list[tuple[np.ndarray, np.ndarray]],
                    task: Task | None = None, *, hand: HandModel | None = None,
                    close: bool = False, elasticity: str | None = None) -> list[RankedGrasp]:
    """
    Return given grasps with every number filled in, in the order given.

    Parameters
    ----------
    grasp_object : GraspObject
    grasps : list of (T_object_palm (4, 4), trajectory (m, J))
        Joint rows from open hand to grasp [rad].
    task : Task, optional
    hand : HandModel, optional
    close : bool
        Close each grasp first: from its joints the fingers open until they are free and close
        as the planner closes its own; see docs/model/planning.md.
    elasticity : str, optional
        ``half_space``, ``body``, or ``auto``: the object's own compliance where it is thin. None:
        as in ``config/mechanics.yaml``.

    Raises
    ------
    TaskError
        A trajectory has the wrong shape or leaves the joint limits, or there is no such
        elasticity.
    """
    hand = hand or load_default_hand()
    evaluator = GraspEvaluator(grasp_object, hand, task or Task(), planner_options(), grasps,
                               close)
    pipeline = Pipeline(hand, grasp_object, mechanics_options(elasticity), link_shapes(hand))
    run(evaluator, pipeline)
    return _with_warnings(evaluator.ranked(), pipeline.warnings)


def _with_warnings(grasps: list[RankedGrasp], warnings: tuple[str, ...]) -> list[RankedGrasp]:
    """Return grasps with what is to be said of their object besides."""
    return [replace(grasp, warnings=grasp.warnings + warnings) for grasp in grasps]


def checked_budget(budget: float) -> float:
    """Return a budget in seconds; raise ``TaskError`` if negative or not a number."""
    from ..core.errors import TaskError
    if not budget >= 0.0:
        raise TaskError(f'the planning time must be 0 (default) or more seconds, got {budget}')
    return float(budget)
