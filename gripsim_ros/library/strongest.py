"""Plan the grasps that bear most, instead of the gentlest."""

from collections import Counter
from collections.abc import Callable
import time

import numpy as np

from ..core.arrays import Array
from ..core.batches import DETAIL_CLEARANCE
from ..core.bodies import GraspObject
from ..core.errors import TaskError
from ..core.hand import HandModel
from ..core.pipeline import Pipeline
from ..core.planning import PlannerOptions, Progress, RankedGrasp, Task, task_load_cases
from ..core.planning.closing.batching import Conditions
from ..core.planning.closing.question import Question
from ..core.planning.evaluator import is_judged_by_touch, RIGID
from ..core.planning.moving_object.strongest import (
    from_open_hand, strongest_palms, tried_at_most)
from ..core.planning.moving_object.stronger import PressTrial, StrongPalm
from ..core.planning.ranking.assemble import by_strength
from ..core.planning.rejections import NOT_HELD
from ..core.planning.task import check_counts
from .in_process import (
    checked_budget, evaluate_grasps, mechanics_options, planner_options, PlanResult, warm_up)
from .resources import load_default_hand

#: Share of the budget that is left to judge the palms found [-].
JUDGING_SHARE = 0.25
NOT_PRESSED = ('the strongest grasps are for objects that joints may press as hard as they can: '
               f'without max_pressure, max_force and contact_region, from {RIGID:g} Pa')


def plan_strongest(grasp_object: GraspObject, task: Task | None = None, *,
                   hand: HandModel | None = None, count: int = 0, palms: int = 0,
                   budget: float = 0.0, seed: int = 0,
                   on_progress: Callable[[Progress], bool | None] | None = None) -> PlanResult:
    """
    Return grasps ranked by which multiple of the loads they bear as the fingers press on.

    Each is closed and judged as ``evaluate_grasps(close=True)`` does, but its ``margin`` is the
    lesser multiple by two firm presses (``core.planning.moving_object.stronger``). Palms also
    stand deeper than those that ``plan_grasps`` looks at, and the best are moved, turned, and
    closed from bent fingers as long as they bear more.

    Parameters
    ----------
    grasp_object : GraspObject
    task : Task, optional
    hand : HandModel, optional
    count, palms : int
        Grasps returned and proposals looked at at most, besides what is near the best of them; 0:
        as the options' grasps and hypotheses.
    budget : float
        Wall time [s]; 0: as in the options.
    seed : int
        Turns the palms' rolls and draws the steps of the search.
    on_progress : callable, optional
        Called with ``Progress`` before each palm; return False to judge those found so far.

    Returns
    -------
    PlanResult
        ``evaluated`` are the palms looked at, ``in_contact`` the best of them, which are judged
        until enough hold; ``rejections`` those of these that do not hold, by reason.

    Raises
    ------
    TaskError
        The object has a limit of pressure or force of its own or is too soft to be pressed with
        all that the joints can, or contacts are allowed in a region alone; a count or the seed is
        negative or no whole number, or the budget is negative.
    """
    check_counts(seed=seed, count=count, palms=palms)
    hand, task, options = hand or load_default_hand(), task or Task(), planner_options()
    if not is_judged_by_touch(grasp_object, task):
        raise TaskError(NOT_PRESSED)
    palms, count = palms or options.max_hypotheses, count or options.max_grasps
    asked, most = time.monotonic(), tried_at_most(palms, count)
    budget = checked_budget(budget) or options.max_planning_time
    warm_up()
    begin, ended = time.monotonic(), list[int]()

    def watch(tried: int) -> bool:
        wanted = on_progress is None or on_progress(
            Progress(tried, most, 0, None)) is not False
        if not wanted or time.monotonic() - begin > (1.0 - JUDGING_SHARE) * budget:
            ended.append(tried)
        return not ended

    trial = PressTrial(grasp_object, hand, task, options,
                       _approach(grasp_object, hand, task, options))
    found, tried = strongest_palms(trial, count, palms, seed, watch)
    judged = _judged(grasp_object, found, task, hand, options.trajectory_rows, count)
    held = [grasp for grasp in judged if _is_held(grasp)]
    reasons = Counter(grasp.reason or NOT_HELD for grasp in judged if not _is_held(grasp))
    return PlanResult(
        grasps=by_strength(held)[:count],
        rejections=dict(reasons.most_common()), evaluated=tried,
        total=most if ended else tried, in_contact=len(judged), proposed=tried,
        timed_out=bool(ended), first_stable_time=None,
        planning_time=time.monotonic() - begin, loading_time=begin - asked)


def _approach(grasp_object: GraspObject, hand: HandModel, task: Task, options: PlannerOptions
              ) -> Callable[[Array, Array], bool]:
    """Return what says whether an open hand comes clear to a palm, as grasps are judged."""
    pipeline = Pipeline(hand, grasp_object, mechanics_options())
    conditions = Conditions.of(task, task_load_cases(task, grasp_object.canonical_frame[:3, :3]))
    still, way = np.zeros(len(hand.joint_names)), options.approach_distance * hand.approach

    def approaches(T_object_palm: Array, opened: Array) -> bool:
        answer = pipeline.evaluate(conditions.batch([Question(
            DETAIL_CLEARANCE, T_object_palm, opened, still, T_object_palm[:3, :3] @ way)]))
        return bool(answer.clearance.min() >= options.min_clearance
                    and answer.obstacle_clearance.min() > 0.0
                    and answer.self_clearance.min() > 0.0)

    return approaches


def _is_held(grasp: RankedGrasp) -> bool:
    return grasp.stable and bool(grasp.contacts)


def _judged(grasp_object: GraspObject, palms: list[StrongPalm], task: Task, hand: HandModel,
            rows: int, count: int) -> list[RankedGrasp]:
    """Return what closing makes of palms from their open hands on, until so many are held."""
    judged: list[RankedGrasp] = []
    for begin in range(0, len(palms), count):
        if sum(map(_is_held, judged)) >= count:
            break
        next_ones = palms[begin:begin + count]
        given = [(palm.hypothesis.T_object_palm, np.repeat(palm.opened[None], 2, axis=0))
                 for palm in next_ones]
        closed = evaluate_grasps(grasp_object, given, task, hand=hand, close=True)
        judged += [from_open_hand(grasp, palm, hand, rows)
                   for grasp, palm in zip(closed, next_ones)]
    return judged
