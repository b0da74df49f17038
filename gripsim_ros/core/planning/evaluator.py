"""Score grasps that came from elsewhere, by the same questions and answers."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..batches import DETAIL_CLEARANCE, DETAIL_SURFACE, GraspStateBatch
from ..bodies import GraspObject
from ..errors import ShapeError, TaskError
from ..hand import HandModel
from ..transforms import checked_rigid
from .closing.batching import question_batch
from .closing.closing import DIRECTION_STEP, Closing, HeldGrasp, Question
from .closing.grasp_state import GraspState, extract_state
from .hypotheses.generate import Hypothesis
from .hypotheses.regions import within_region
from .options import PlannerOptions
from .progress import Ask, Progress
from .ranked_grasp import RankedGrasp
from .ranking.assemble import make_grasp
from .ranking.score import score_reference
from .rejections import (
    CANNOT_BALANCE, DOES_NOT_HOLD, EVALUATION_FAILED, NOT_EVALUATED, OPEN_HAND_COLLIDES,
    OUTSIDE_REGION, OVERLOADED, SELF_COLLISION, SURROUNDINGS_COLLIDE, TOO_FEW_FINGERS)
from .settling import Settling
from .task import Task, task_load_cases

Array = NDArray[np.float64]


class GraspEvaluator:
    """
    Judge given palm poses and joint trajectories; protocol as ``GraspPlanner``.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
    options : PlannerOptions
    grasps : list of (T_object_palm (4, 4), trajectory (m, J))
        The first row is the open hand, the last the grasp [rad]. Where there is one row
        alone, no open hand and no approach is judged.

    Raises
    ------
    TaskError
        A pose is not rigid, or a trajectory has the wrong shape, is not finite or leaves the
        joint limits.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, grasps: list[tuple[Array, Array]]) -> None:
        self.hand, self.task, self.options = hand, task, options
        self.load_cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        self._reference = score_reference(grasp_object, hand, self.load_cases)
        self._grasps = [(_checked_pose(T, i + 1), _checked_trajectory(hand, q, i + 1))
                        for i, (T, q) in enumerate(grasps)]
        #: Grasp of each question before settling, and whether it is about the closed hand.
        self._first_questions = [(i, closed) for i, (_, rows) in enumerate(self._grasps)
                                 for closed in (False, True) if closed or len(rows) > 1]
        self._batch_ids: list[list[int]] = [[] for _ in self._grasps]
        for batch_id, (i, _) in enumerate(self._first_questions):
            self._batch_ids[i].append(batch_id)
        self._answers: dict[int, GraspStateBatch | str] = {}
        self._settlings: dict[int, Settling] = {}
        self._asked: dict[int, Settling] = {}
        self._next_ask = 0

    def ask(self) -> Ask | None:
        """
        Return the next question: the open hand's approach, if any, and the last row of each.

        Then the last rows once more, at the object as their forces move it.
        """
        batch_id = self._next_ask
        if batch_id < len(self._first_questions):
            question = self._question(batch_id)
        else:
            free = [s for s in self._unsettled() if s not in self._asked.values()]
            if not free:
                return None
            question, self._asked[batch_id] = free[0].question(), free[0]
        self._next_ask += 1
        return Ask(batch_id, question_batch([question], self.load_cases, self.task,
                                            question.detail))

    def tell(self, batch_id: int, states: GraspStateBatch) -> None:
        """Take an answer; repeated answers are ignored."""
        if batch_id in self._answers:
            return
        self._answers[batch_id] = states
        if batch_id in self._asked:
            self._asked.pop(batch_id).answer(extract_state(states, 0))
        elif batch_id < len(self._first_questions) and self._first_questions[batch_id][1]:
            self._settlings[self._first_questions[batch_id][0]] = Settling(
                self._question(batch_id), extract_state(states, 0), self.options)

    def tell_failed(self, batch_id: int, reason: str = EVALUATION_FAILED) -> None:
        """Take note that a question cannot be answered."""
        self._answers.setdefault(batch_id, reason)
        if batch_id in self._asked:
            self._asked.pop(batch_id).answer(None)

    def begin(self, count: int) -> list[Closing]:
        """Return no hypotheses: given grasps are not closed again."""
        return []

    def stop(self) -> None:
        """Ask nothing more; grasps without an answer are given as not evaluated."""
        for batch_id in range(len(self._first_questions)):
            self._answers.setdefault(batch_id, NOT_EVALUATED)
        for settling in self._unsettled():
            settling.answer(None)
        self._asked = {}
        self._next_ask = max(self._next_ask, len(self._first_questions))

    @property
    def finished(self) -> bool:
        """Return True if every question was answered and every object settled."""
        return (all(i in self._answers for i in range(len(self._first_questions)))
                and not self._unsettled())

    @property
    def progress(self) -> Progress:
        """Return how many grasps were judged."""
        judged = sum(all(batch_id in self._answers for batch_id in batch_ids)
                     for batch_ids in self._batch_ids)
        return Progress(judged, len(self._grasps), 0, None)

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many grasps do not hold, by reason."""
        reasons = [g.reason for g in self.ranked() if g.reason]
        return {reason: reasons.count(reason) for reason in sorted(set(reasons))}

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return all grasps in the order given; ``reason`` says why one does not hold."""
        return [self._judged(i) for i in range(len(self._grasps))]

    def _question(self, batch_id: int) -> Question:
        i, closed = self._first_questions[batch_id]
        T, rows = self._grasps[i]
        detail = DETAIL_SURFACE if closed else DETAIL_CLEARANCE
        sweep = np.zeros(3) if closed else self.options.approach_distance * T[:3, 2]
        return Question(detail, T, rows[-1 if closed else 0], self._motion(rows), sweep)

    def _unsettled(self) -> list[Settling]:
        return [s for _, s in sorted(self._settlings.items()) if not s.done]

    def _motion(self, rows: Array) -> Array:
        change = rows[-1] - rows[0]
        motion: Array = DIRECTION_STEP * change / max(float(np.abs(change).max()), 1e-9)
        return motion

    def _judged(self, i: int) -> RankedGrasp:
        T, rows = self._grasps[i]
        answers = [self._answers.get(batch_id) for batch_id in self._batch_ids[i]]
        states = [extract_state(answer, 0) for answer in answers
                  if isinstance(answer, GraspStateBatch)]
        if len(states) < len(answers):
            reasons = [answer for answer in answers if isinstance(answer, str)]
            return self._unjudged(i, (reasons or [NOT_EVALUATED])[-1])
        held = self._settlings[i].settled(HeldGrasp(rows[-1], rows, states[-1]))
        state, hypothesis = held.state, Hypothesis(i, T, 0, 0.0)
        grasp = make_grasp(hypothesis, held, self.hand, self._reference, self.options)
        reason = self._reason(states[:-1], state)
        return replace(grasp, rank=i + 1, preshape='given', stable=not reason, reason=reason)

    def _reason(self, approach: list[GraspState], state: GraspState) -> str:
        """Return why the closed hand or its approach fails, else ''."""
        if any(row.clearance.min() < self.options.min_clearance for row in approach):
            return OPEN_HAND_COLLIDES
        if any(row.obstacle_clearance <= 0.0 for row in (*approach, state)):
            return SURROUNDINGS_COLLIDE
        if any(row.self_clearance <= 0.0 for row in (*approach, state)):
            return SELF_COLLISION
        if len(np.unique(state.links)) < 2:
            return TOO_FEW_FINGERS
        if not within_region(state.points, self.task.contact_region).all():
            return OUTSIDE_REGION
        if not state.capable:
            return CANNOT_BALANCE
        if state.margin < 1.0:
            return DOES_NOT_HOLD
        return '' if state.holds else OVERLOADED

    def _unjudged(self, i: int, reason: str) -> RankedGrasp:
        T, rows = self._grasps[i]
        zero = np.zeros(len(self.hand.joint_names))
        return RankedGrasp(
            rank=i + 1, hypothesis=i, preshape='given', stable=False, T_object_palm=T,
            T_object_pregrasp=T, trajectory=rows, grip_positions=rows[-1], grip_efforts=zero,
            contacts=(), score=0.0, terms=(), margin=0.0, quantitative=False,
            max_displacement=0.0, centre_of_mass=np.full(3, np.nan), reason=reason)


def _checked_pose(T_object_palm: Array, number: int) -> Array:
    try:
        pose = checked_rigid(T_object_palm, f'grasp {number}: the hand\'s pose')
    except ShapeError as error:
        raise TaskError(str(error)) from None
    if pose.ndim != 2:
        raise TaskError(f'grasp {number}: the hand\'s pose must have shape (4, 4), '
                        f'got {pose.shape}')
    return pose


def _checked_trajectory(hand: HandModel, rows: Array, number: int) -> Array:
    try:
        rows = np.asarray(rows, float)
    except (TypeError, ValueError):
        raise TaskError(f'grasp {number}: a trajectory needs rows of as many numbers, '
                        f'got {rows!r:.60}') from None
    if rows.ndim != 2 or len(rows) < 1 or rows.shape[1] != len(hand.joint_names):
        raise TaskError(f'grasp {number}: a trajectory needs rows of {len(hand.joint_names)} '
                        f'joints, got shape {rows.shape}')
    if not np.isfinite(rows).all():
        raise TaskError(f'grasp {number}: joint positions must be finite')
    outside = (rows < hand.joint_lower - 1e-6) | (rows > hand.joint_upper + 1e-6)
    if outside.any():
        row, joint = np.unravel_index(np.argmax(outside), outside.shape)
        raise TaskError(
            f'grasp {number}: {hand.joint_names[joint]} leaves its limits: got '
            f'{rows[row, joint]:.6g} rad in row {row + 1}, allowed are '
            f'{hand.joint_lower[joint]:.6g} to {hand.joint_upper[joint]:.6g}')
    return rows
