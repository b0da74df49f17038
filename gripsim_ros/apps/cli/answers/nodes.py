"""Planning by a running suite: the same request, sent over DDS."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..inputs import InputError, read_hand
from ..progress import PlanProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....core.planning.ranked_grasp import RankedGrasp
    from ....library.grasp_file import PlanAnswer
    from ..requests import PlanRequest


def plan_by_nodes(request: PlanRequest, with_surfaces: bool, elasticity: str = ''
                  ) -> tuple[PlanAnswer, bool]:
    """
    Send a request to the suite that runs and return its answer.

    Parameters
    ----------
    request : PlanRequest
    with_surfaces : bool
        Whether to work out, here, the deformed surfaces that messages do not carry.
    elasticity : str
        Model of the object, '' that of the suite.

    Returns
    -------
    PlanAnswer
    bool
        Whether Ctrl-C ended it.

    Raises
    ------
    InputError
        The planner refused the request.
    RuntimeError
        The planner is not there, lacks a stage, is busy or failed.
    """
    from ....ros.environment import join_suite
    join_suite()
    from ....ros.clients.plan import STATUS_NAMES, PlanGraspClient, plan_request
    limits = request.limits
    cloud, completion = None, ''
    if request.scan is not None:
        from ....ros.conversions.clouds import cloud_to_msg
        told = request.scan.completion
        cloud, completion = cloud_to_msg(request.scan.points, told.viewpoint), told.method
    goal = plan_request(
        request.mesh if cloud is None else '', request.grasp_object.material, request.task,
        scale=request.scale, max_grasps=limits.count, max_hypotheses=limits.hypotheses,
        max_planning_time=limits.time, seed=limits.seed,
        cloud=cloud, completion=completion, elasticity=elasticity)
    with PlanProgress() as progress, PlanGraspClient() as client:
        request = replace(request, hand=_hand_of_suite(request.hand, *client.hand_files()))

        def show(feedback: Any) -> bool:
            progress.begin_step(feedback.step)
            return progress.show(feedback.evaluated, feedback.total, feedback.stable,
                                 feedback.best.score if feedback.has_best else None)
        begin = monotonic()
        result = client.plan(goal, show)
        asked = monotonic() - begin
    status = STATUS_NAMES[result.status]
    if status == 'INVALID_REQUEST':
        raise InputError(result.message)
    if status not in ('SUCCEEDED', 'NO_GRASP', 'TIMED_OUT', 'CANCELED'):
        raise RuntimeError(f'{status}: {result.message}')
    times = {'reading': request.reading_time, 'asking': asked - result.planning_time,
             'planning': result.planning_time}
    return _answer(request, result, status, with_surfaces, times), progress.interrupted


def _hand_of_suite(given: str, urdf: str, config: str) -> str:
    """
    Return the file of the hand that a suite plans for, '' for the one that comes along.

    Parameters
    ----------
    given : str
        File that the command was given, or ''.
    urdf, config : str
        What the suite's nodes were given.

    Raises
    ------
    InputError
        The suite's is another hand than the one given, or its file is not here.
    """
    from ....core.errors import GripsimError
    from ....library.resources import resolve_uri
    if urdf:            # such a hand no file names alone
        return given
    try:
        held = str(resolve_uri(config)) if config else ''
        hand = read_hand(held)
    except GripsimError:
        if given:
            return given
        raise InputError(f'the suite holds the hand of {config}, which is not here: name the '
                         'hand with --hand') from None
    own = read_hand(given) if given else hand
    if own.id != hand.id:
        raise InputError(f'the suite holds the hand {hand.name}, not the {own.name} of {given}')
    return given or held


def _answer(request: PlanRequest, result: Any, status: str, with_surfaces: bool,
            times: dict[str, float]) -> PlanAnswer:
    import numpy as np

    from ....library.grasp_file import PlanAnswer
    from ....ros.conversions.requests.misses import miss_from_msg
    from ....ros.conversions.requests.ranked import ranked_grasp_from_msg
    hand = read_hand(request.hand)
    grasps = [ranked_grasp_from_msg(msg, np.eye(4), hand.joint_names) for msg in result.grasps]
    if with_surfaces:
        grasps = add_surfaces(request, grasps)
    if request.limits.robustness:
        from ....library.in_process import robust_grasps
        grasps = robust_grasps(request.grasp_object, grasps, request.task,
                               request.limits.robustness, request.limits.seed, hand=hand)
    statistics = {
        'evaluated': result.evaluated, 'total': result.total,
        'planning_time': result.planning_time, 'status': status, 'message': result.message,
        'timed_out': status == 'TIMED_OUT', 'interrupted': status == 'CANCELED',
        'seed': request.limits.seed, 'repairs': list(result.repairs), 'times': times}
    if result.reach_levels:
        statistics['reach'] = dict(zip(result.reach_levels, result.reach_counts))
    miss = miss_from_msg(result.nearest_miss, np.eye(4)) if result.has_nearest_miss else None
    return PlanAnswer(hand, request.grasp_object, request.mesh, request.scale, grasps,
                      dict(zip(result.rejection_reasons, result.rejection_counts)), statistics,
                      miss, result.hint, request.completion, task=request.task)


def add_surfaces(request: PlanRequest, grasps: Sequence[RankedGrasp]) -> list[RankedGrasp]:
    """Return the grasps with their deformed surfaces, worked out from their last rows."""
    from ....library.in_process import evaluate_grasps, model_of
    judged = evaluate_grasps(
        request.grasp_object, [(grasp.T_object_palm, grasp.trajectory) for grasp in grasps],
        request.task, hand=read_hand(request.hand), elasticity=model_of(grasps))
    return [replace(grasp, vertices=other.vertices, vertex_pressures=other.vertex_pressures)
            for grasp, other in zip(grasps, judged)]
