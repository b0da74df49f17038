"""``gripsim plan --database``: the answer where a grasp database holds the very plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..inputs import read_hand
from ..output import say

if TYPE_CHECKING:
    from ....library.grasp_file import PlanAnswer
    from ..requests import PlanRequest


def find_answer(request: PlanRequest, database: str, with_surfaces: bool) -> PlanAnswer | None:
    """
    Return what planning would answer, from the database; None where it does not hold it.

    Robustness and deformed surfaces are not stored; where asked for, they are computed.
    """
    from ....library.database.extras import require_sqlalchemy
    from ....library.database.key import PlanSettings, default_mechanics
    from ....library.grasp_file import PlanAnswer
    from ....library.in_process import planner_options, robust_grasps
    require_sqlalchemy()
    from ....library.database.lookup import GraspDatabase
    hand, limits, options = read_hand(request.hand), request.limits, planner_options()
    source = GraspDatabase(database)
    try:
        plan = source.find(request.grasp_object, hand.id, PlanSettings(
            request.task, options, default_mechanics(), limits.hypotheses, limits.count,
            limits.seed))
    finally:
        source.close()
    if plan is None:
        say(f'{source.name} does not hold this plan')
        return None
    say(f'answered from {source.name}')
    grasps = robust_grasps(request.grasp_object, plan.ranked(), request.task,
                           limits.robustness, limits.seed, hand=hand)
    if with_surfaces:
        grasps = _with_surfaces(request, grasps)
    statistics = {**plan.statistics(), 'repairs': request.repairs, 'seed': limits.seed,
                  'database': source.name, 'times': {'reading': request.reading_time}}
    return PlanAnswer(hand, request.grasp_object, request.mesh, request.scale, grasps,
                      plan.rejections, statistics, plan.nearest_miss, plan.hint,
                      task=request.task)


def _with_surfaces(request: PlanRequest, grasps: list) -> list:
    from ....library.in_process import evaluate_grasps, model_of
    judged = evaluate_grasps(request.grasp_object, [
        (grasp.T_object_palm, grasp.trajectory) for grasp in grasps], request.task,
        hand=read_hand(request.hand), elasticity=model_of(grasps))
    return [replace(grasp, vertices=seen.vertices, vertex_pressures=seen.vertex_pressures)
            for grasp, seen in zip(grasps, judged)]
