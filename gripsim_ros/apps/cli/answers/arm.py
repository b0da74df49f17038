"""``gripsim plan --arm``: grasps in the order of the arm's way."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import yaml

from ....core.arm import ArmTask, choose_by_arm, load_arm
from ....core.planning.rejections import NO_ARM_MOTION
from ....core.planning.task import Task
from ....library.grasp_file import PlanAnswer
from ....library.resources import resolve_uri
from ....library.task_file import pose_from_mapping
from ..inputs import InputError
from ..output import say


def read_arm_task(arm: Path, object_pose: Path) -> ArmTask:
    """
    Return the arm of a file and the object's pose in its base, of another.

    Raises
    ------
    InputError, ArmError, TaskError
        One of them cannot be used.
    """
    try:
        pose = yaml.safe_load(object_pose.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f'{object_pose}: {" ".join(str(error).split())}') from None
    return ArmTask(load_arm(arm, resolve_uri), pose_from_mapping(pose, str(object_pose)))


def order_by_arm(answer: PlanAnswer, task: Task, arm_task: ArmTask,
                 wanted: int = 0) -> PlanAnswer:
    """
    Return an answer with its grasps by the arm's way; those without a free one dropped.

    The arm is asked about the best first, until ``wanted`` are free (0: about all).
    """
    if not answer.grasps:
        return answer
    say(f'looking for motions of {arm_task.arm.name}: {wanted or len(answer.grasps)} wanted, '
        f'{len(answer.grasps)} grasps to ask about')
    choice = choose_by_arm(answer.grasps, task, answer.grasp_object, answer.hand, arm_task,
                           wanted=wanted)
    for grasp, motion in choice.failures:
        say(f'grasp {grasp.rank}: step {motion.failed_step}: {motion.message}')
    rejected = Counter(answer.rejected)
    rejected[NO_ARM_MOTION] += len(choice.failures)
    statistics = {**answer.statistics, 'arm': {
        'name': arm_task.arm.name, 'asked': len(choice.grasps) + len(choice.failures),
        'pairs_settled': choice.decided}}
    hint = answer.hint if choice.grasps else (
        f'{NO_ARM_MOTION} for any of the {len(choice.failures)} best grasps')
    return replace(answer, grasps=list(choice.grasps), rejected=dict(+rejected),
                   statistics=statistics, hint=hint)
