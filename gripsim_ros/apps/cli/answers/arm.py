"""``gripsim plan --arm``: grasps in the order of the arm's way."""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import yaml

from ....core.arm import ArmProgress, ArmTask, checked_criterion, choose_by_arm, load_arm
from ....core.planning.rejections import ARM_NOT_ASKED, ARM_OUT_OF_TIME, NO_ARM_MOTION
from ....core.planning.task import LEAST_ARM_TIME, Task
from ....library.grasp_file import PlanAnswer
from ....library.planned_arm import load_other_arms, object_before_arm
from ....library.resources import resolve_uri
from ..inputs import InputError
from ..output import say
from ..progress import PlanProgress

#: Reasons that are told a line each, those of most grasps first.
TOLD_REASONS = 8


def _kind(message: str) -> str:
    """Return what a failure has in common with others: its words before the numbers."""
    return message.partition(':')[0]


def read_arm_task(arm: Path, object_pose: Path, criterion: str = '',
                  others: Path | None = None) -> ArmTask:
    """
    Return the arm of a file, the object's pose in its base, and the other arms, of others.

    Raises
    ------
    InputError, ArmError, TaskError
        One of them cannot be used, or there is no such criterion.
    """
    criterion = checked_criterion(criterion)
    try:
        pose = yaml.safe_load(object_pose.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f'{object_pose}: {" ".join(str(error).split())}') from None
    return ArmTask(load_arm(arm, resolve_uri), object_before_arm(pose, str(object_pose)),
                   criterion=criterion, others=() if others is None else load_other_arms(others))


def order_by_arm(answer: PlanAnswer, task: Task, arm_task: ArmTask, wanted: int = 0,
                 seconds: float = float('inf')) -> tuple[PlanAnswer, bool]:
    """
    Return an answer with the grasps to which the arm's ways are shortest, and if it was stopped.

    Parameters
    ----------
    answer : PlanAnswer
        With every grasp that holds.
    task : Task
    arm_task : ArmTask
    wanted : int
        Grasps of the answer; 0: all that the arm reaches.
    seconds : float
        For the search [s].

    Returns
    -------
    PlanAnswer
    bool
        Ctrl-C ended the search.
    """
    if not answer.grasps:
        return answer, False
    end = time.monotonic() + max(seconds, LEAST_ARM_TIME)
    with PlanProgress(f'ways of {arm_task.arm.name}') as shown:

        def go_on(progress: ArmProgress) -> bool:
            return shown.show_arm(progress) and time.monotonic() < end

        choice = choose_by_arm(answer.grasps, task, answer.grasp_object, answer.hand, arm_task,
                               go_on, wanted)
    reasons = Counter(_kind(motion.message) for _, motion in choice.failures)
    for reason, count in reasons.most_common(TOLD_REASONS):
        first = next(motion.message for _, motion in choice.failures
                     if _kind(motion.message) == reason)
        say(f'{count} grasp{"" if count == 1 else "s"}: {first}')
    rejected = Counter(answer.rejected)
    rejected[NO_ARM_MOTION] += len(choice.failures)
    rejected[ARM_NOT_ASKED if choice.complete else ARM_OUT_OF_TIME] += len(choice.left)
    said = '' if choice.complete else (
        f'the arm\'s time was up: of {len(choice.left)} of {len(answer.grasps)} grasps that hold '
        'it is not known whether its way is shorter')
    if said:
        say(said)
    statistics = {**answer.statistics, 'arm': {
        'name': arm_task.arm.name, 'criterion': arm_task.criterion,
        'grasps': len(answer.grasps), 'asked': len(answer.grasps) - len(choice.left),
        'complete': choice.complete, 'failed': dict(reasons.most_common()),
        'pairs_settled': choice.decided}}
    hint = answer.hint if choice.grasps else (
        f'{NO_ARM_MOTION} for any of the {len(choice.failures)} grasps asked about'
        + (f'; {said}' if said else ''))
    return replace(answer, grasps=list(choice.grasps), rejected=dict(+rejected),
                   statistics=statistics, hint=hint), shown.interrupted
