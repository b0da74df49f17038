"""``gripsim evaluate``: score grasps that came from elsewhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .inputs import existing_file, hand_of_grasps
from .options import (
    CompletionName, Elasticity, Hand, Json, MaterialName, Mesh, Out, Scale, TaskFile, Viewpoint)
from .output import check_writable, print_table, write_json
from .requests import PlanLimits, read_request, read_scan


def evaluate(
        mesh: Mesh,
        grasps: Annotated[Path, typer.Argument(
            metavar='GRASPS.json', help='As written by plan; hand_pose and joint_trajectory.')],
        scale: Scale = 1.0, material: MaterialName = None, task: TaskFile = None,
        close: Annotated[bool, typer.Option(
            '--close', help='Open the fingers until free, close them as plan does, and judge '
            'that; margin: the largest on the way to the limits.')] = False,
        completion: CompletionName = None, viewpoint: Viewpoint = None,
        elasticity: Elasticity = None, hand: Hand = '', json: Json = False,
        out: Out = None) -> None:
    """Score given grasps, in their order: the hand's pose and the last row of joints."""
    from ...library.grasp_file import PlanAnswer, elasticity_of, load_grasps, read_grasps
    from .tables import GRASP_COLUMNS, grasp_row
    check_writable(out)
    content, told = read_grasps(existing_file(grasps, 'grasps'))
    model = hand_of_grasps(hand, content)
    given = load_grasps(grasps, model.joint_names)
    from ...library.in_process import evaluate_grasps
    from .progress import CompilationNews
    from ...library.planned_object import completion_of_grasps
    request = read_request(mesh, scale, material, task, PlanLimits(), read_scan(
        mesh, completion, viewpoint, completion_of_grasps(content)))
    begin = time.monotonic()
    with CompilationNews('evaluating'):
        judged = evaluate_grasps(
            request.grasp_object, [(grasp.T_object_palm, grasp.trajectory) for grasp in given],
            request.task, hand=model, close=close, elasticity=elasticity or elasticity_of(told))
    reasons = [grasp.reason for grasp in judged if grasp.reason]
    answer = PlanAnswer(
        model, request.grasp_object, mesh, scale, judged,
        {reason: reasons.count(reason) for reason in sorted(set(reasons))},
        {'evaluated': len(judged), 'total': len(judged), 'repairs': list(request.repairs),
         'planning_time': time.monotonic() - begin}, completion=request.completion,
        task=request.task)
    write_json(answer.to_mapping(), json, out)
    if not json:
        print_table(f'Grasps of {grasps.name} on {mesh}', ('number', *GRASP_COLUMNS[1:]),
                    [grasp_row(grasp) for grasp in judged])
