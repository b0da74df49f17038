"""Score grasps that came from elsewhere, by the same questions and answers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..batches import DETAIL_CLEARANCE, DETAIL_SURFACE, ConfigurationBatch
from ..bodies import GraspObject
from ..errors import ShapeError, TaskError
from ..fields import checked_array
from ..hand import HandModel
from ..transforms import checked_rigid, inverse
from .ask_and_tell import AskAndTell
from .closing.batching import Conditions
from .closing.given_closing import GivenClosing, GivenClosings
from .closing.knowledge import HeldGrasp
from .closing.grasp_state import GraspState, in_found_frame
from .closing.limits import closing_limits
from .closing.question import DIRECTION_STEP, Question
from .hypotheses.generate import Hypothesis
from .hypotheses.primitives import within_region
from .moving_object.closing_motion import DOES_NOT_BEAR, ClosingPredictions, some_loads
from .moving_object.touch_closing import touch_margin
from .options import PlannerOptions
from .progress import Progress
from .ranked_grasp import ClosingReport, RankedGrasp
from .ranking.assemble import make_grasp
from .ranking.score import score_reference
from .rejections import (
    CANNOT_BALANCE, DOES_NOT_HOLD, EXCESSIVE_PRESSURE, LET_GO, NOT_CONVERGED, NOT_EVALUATED,
    NOT_HELD, OPEN_HAND_COLLIDES, OUTSIDE_REGION, OVERLOADED, PRESSES_THROUGH, SELF_COLLISION,
    SLIPS_OUT, SURROUNDINGS_COLLIDE, TOO_FEW_FINGERS, TOO_MUCH_FORCE)
from .settling import Settlings
from .task import Task, task_load_cases

#: Reasons against the gentlest state that a hand which presses on may do away with.
TOO_GENTLE = frozenset((CANNOT_BALANCE, DOES_NOT_HOLD, EXCESSIVE_PRESSURE, LET_GO, NOT_CONVERGED,
                        NOT_HELD, OVERLOADED, PRESSES_THROUGH, SLIPS_OUT))
#: Young's modulus from which an object counts as rigid there [Pa]: a pad of 8 mm that presses
#: with 10 N sinks in by 5 mm, about what the joints' springs give way by.
RIGID = 1.0e5


def is_judged_by_touch(grasp_object: GraspObject, task: Task) -> bool:
    """Return whether fingers may press an object as hard as they can, and wherever they come."""
    material = grasp_object.material
    return bool(np.isinf([material.max_pressure, material.force_limit]).all()
                and material.youngs_modulus >= RIGID and not len(task.contact_region))


class GraspEvaluator(AskAndTell):
    """
    Judge given palm poses and joint trajectories; asked and told as ``GraspPlanner``.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
    options : PlannerOptions
    grasps : list of (T_object_palm (4, 4), trajectory (m, J))
        The first row is the open hand, the last the grasp [rad]. Where there is one row
        alone, no open hand and no approach is judged.
    close : bool
        From the last row the fingers open until they are free and close as those of a
        hypothesis do; what they come to is told instead of that row. ``margin`` and ``stable``
        say which multiple of the loads, and whether once the loads, are held as the fingers
        press on: by ``touch_margin`` where the object has no limit of pressure or force of its
        own and is not as soft as ``RIGID``, else by the limits at the gentlest state that holds.

    Raises
    ------
    TaskError
        A pose is not rigid, or a trajectory has the wrong shape, is not finite or leaves the
        joint limits.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, grasps: list[tuple[Array, Array]],
                 close: bool = False) -> None:
        self.hand, self.task, self.options = hand, task, options
        self.load_cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        self._reference = score_reference(grasp_object, hand, self.load_cases)
        self._grasps = [(_checked_pose(T, i + 1), _checked_trajectory(hand, q, i + 1))
                        for i, (T, q) in enumerate(grasps)]
        conditions = Conditions.of(task, self.load_cases)
        self._settlings = Settlings(conditions, options, batch_size=1)
        self._moving = ClosingPredictions(grasp_object, hand, task, options.closing,
                                          self.load_cases)
        self._object, self._touch_margins = grasp_object, dict[int, float]()
        self._stopped, self._rigid = False, is_judged_by_touch(grasp_object, task)
        limits = closing_limits(grasp_object, hand, self._reference.load,
                                self._reference.max_pressure, task.contact_region)
        self._closings = [GivenClosing(i, T, rows[-1], grasp_object, hand, options, limits)
                          for i, (T, rows) in enumerate(self._grasps)] if close else []
        self._given = _GivenGrasps(self._grasps, self._closed, self._settlings, conditions,
                                   options.approach_distance * hand.approach)
        super().__init__(((GivenClosings(self._closings, conditions, options),),
                          (self._given, self._settlings)), conditions)

    @property
    def progress(self) -> Progress:
        """Return how many grasps were judged."""
        judged = sum(self._given.is_answered(i) and self._given.reason(i) != NOT_EVALUATED
                     for i in range(len(self._grasps)))
        return Progress(judged, len(self._grasps), 0, None)

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many grasps do not hold, by reason."""
        reasons = [g.reason for g in self.ranked() if g.reason]
        return {reason: reasons.count(reason) for reason in sorted(set(reasons))}

    def stop(self) -> None:
        """Judge what is answered, without the motion of the object; as ``AskAndTell``."""
        self._moving.stop()
        self._stopped = True
        super().stop()

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return all grasps in the order given; ``reason`` says why one does not hold."""
        return [self._judged(i) for i in range(len(self._grasps))]

    def _closed(self, i: int) -> tuple[Array, Array]:
        """Return palm pose (4, 4) in the object where it is, and trajectory (m, J)."""
        T, rows = self._grasps[i]
        if not self._closings:
            return T, rows
        closed = self._closings[i].closed()
        return inverse(closed.T_object_seated) @ T, closed.trajectory

    def _judged(self, i: int) -> RankedGrasp:
        T, rows = self._grasps[i][0], self._closed(i)[1]
        if reason := self._given.reason(i):
            return self._unjudged(i, reason)
        states = self._given.states(i)
        held = self._settlings.settled(i, HeldGrasp(rows[-1], rows, states[-1]))
        reason = self._reason(states[:-1], held.state)
        if self._closings:
            held = _in_seated(held, self._closings[i].closed().T_object_seated)
        grasp = make_grasp(Hypothesis(i, T, 0, 0.0), held, self.hand, self._reference,
                           self.options)
        if not self._settlings.unfinished():
            grasp, = self._moving.told([grasp])
        if self._closings:
            return self._as_closed(i, grasp, reason, self._way_reason(states[:-1]))
        return replace(grasp, rank=i + 1, preshape='given', stable=not reason, reason=reason)

    def _as_closed(self, i: int, grasp: RankedGrasp, reason: str, way_reason: str) -> RankedGrasp:
        """Return a grasp that was closed with the verdict on that and what moved."""
        closed = self._closings[i].closed()
        report = ClosingReport(self._grasps[i][1][-1], closed.trajectory[0],
                               closed.trajectory[-1], grasp.margin, self._touch_margin(i))
        reason = way_reason or closed.reason or (reason and LET_GO)
        grasp = replace(grasp, rank=i + 1, preshape=self.hand.preshapes[closed.preshape].name,
                        closing=report, stable=not reason, reason=reason, margin=closed.margin)
        return _as_touched(grasp, report.touch_margin) if self._rigid else grasp

    def _touch_margin(self, i: int) -> float:
        """Return what a free object bears in a hand that closes by touch; NaN once stopped."""
        if i not in self._touch_margins and not self._stopped and (
                not self._settlings.unfinished()):
            T, rows = self._grasps[i]
            self._touch_margins[i] = touch_margin(
                self._object, self.hand, T, rows[-1], self._closings[i].closed().rates,
                some_loads(self.load_cases), self.options.closing)
        return self._touch_margins.get(i, np.nan)

    def _way_reason(self, approach: list[GraspState], *closed: GraspState) -> str:
        """Return what the open hand meets on its approach, or the closed one, else ''."""
        if any(row.clearance.min() < self.options.min_clearance for row in approach):
            return OPEN_HAND_COLLIDES
        if any(row.obstacle_clearance <= 0.0 for row in (*approach, *closed)):
            return SURROUNDINGS_COLLIDE
        return SELF_COLLISION if any(
            row.self_clearance <= 0.0 for row in (*approach, *closed)) else ''

    def _reason(self, approach: list[GraspState], state: GraspState) -> str:
        """Return why the closed hand or its approach fails, else ''."""
        if way_reason := self._way_reason(approach, state):
            return way_reason
        if len(np.unique(state.links)) < 2:
            return TOO_FEW_FINGERS
        if not within_region(state.points, self.task.contact_region).all():
            return OUTSIDE_REGION
        if not state.capable:
            return CANNOT_BALANCE
        if state.margin < 1.0:
            return DOES_NOT_HOLD
        if state.holds:
            return ''
        too_much = (state.normal_forces_by_link > self._reference.force_limit).any()
        return TOO_MUCH_FORCE if too_much else OVERLOADED

    def _unjudged(self, i: int, reason: str) -> RankedGrasp:
        T, rows = self._grasps[i][0], self._closed(i)[1]
        zero = np.zeros(len(self.hand.joint_names))
        return RankedGrasp(
            rank=i + 1, hypothesis=i, preshape='given', stable=False, T_object_palm=T,
            T_object_pregrasp=T, trajectory=rows, grip_positions=rows[-1], grip_efforts=zero,
            contacts=(), score=0.0, terms=(), margin=0.0, quantitative=False,
            max_displacement=0.0, centre_of_mass=np.full(3, np.nan), reason=reason)


class _GivenGrasps:
    """
    The work of the first questions about given grasps: the approach, and the closed hand.

    Items are numbered by the questions. A closed hand that is answered begins to settle.
    """

    any_order = True

    def __init__(self, grasps: list[tuple[Array, Array]],
                 closed: Callable[[int], tuple[Array, Array]], settlings: Settlings,
                 conditions: Conditions, approach: Array) -> None:
        self._grasps, self._settlings, self._conditions = grasps, settlings, conditions
        self._closed = closed
        self._approach = approach
        #: Grasp of each question, and whether it is about the closed hand.
        self._asked = [(i, closed) for i, (_, rows) in enumerate(grasps)
                       for closed in (False, True) if closed or len(rows) > 1]
        self._of: list[list[int]] = [[] for _ in grasps]
        for number, (i, _) in enumerate(self._asked):
            self._of[i].append(number)
        self._open = dict.fromkeys(range(len(self._asked)))     # in the order of the questions
        self._states: dict[int, GraspState] = {}
        self._reasons: dict[int, str] = {}

    def unfinished(self) -> list[int]:
        """Return the questions without an answer."""
        return list(self._open)

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the next question."""
        return free[:1], self._conditions.batch([self._question(free[0])])

    def take(self, number: int, state: GraspState) -> None:
        """Take an answer."""
        self._states[number] = state
        del self._open[number]
        i, closed = self._asked[number]
        if closed:
            self._settlings.begin(i, self._question(number), state)

    def fail(self, number: int, reason: str) -> None:
        """Take note that there is no answer."""
        self._reasons[number] = reason
        del self._open[number]

    def stop(self) -> None:
        """Leave what is not answered as not evaluated, and each object where it is."""
        for number in self.unfinished():
            self.fail(number, NOT_EVALUATED)
        for number in self._settlings.unfinished():
            self._settlings.fail(number, NOT_EVALUATED)

    def is_answered(self, i: int) -> bool:
        """Return True if all questions about a grasp are answered."""
        return not any(number in self._open for number in self._of[i])

    def states(self, i: int) -> list[GraspState]:
        """Return the answers about a grasp, that about the closed hand last."""
        return [self._states[number] for number in self._of[i]]

    def reason(self, i: int) -> str:
        """Return why a grasp cannot be judged, else ''."""
        reasons = [self._reasons[number] for number in self._of[i] if number in self._reasons]
        return (reasons or ['' if self.is_answered(i) else NOT_EVALUATED])[-1]

    def _question(self, number: int) -> Question:
        i, closed = self._asked[number]
        T, rows = self._closed(i) if closed else self._grasps[i]
        change = rows[-1] - rows[0]
        motion = DIRECTION_STEP * change / max(float(np.abs(change).max()), 1e-9)
        sweep = np.zeros(3) if closed else T[:3, :3] @ self._approach
        return Question(DETAIL_SURFACE if closed else DETAIL_CLEARANCE, T,
                        rows[-1 if closed else 0], motion, sweep)


def _as_touched(grasp: RankedGrasp, margin: float) -> RankedGrasp:
    """Return a grasp with the verdict of a hand that closes by touch and presses on."""
    reason = grasp.reason
    if np.isnan(margin) or (reason and reason not in TOO_GENTLE):
        return grasp
    warnings = grasp.warnings
    if reason and margin >= 1.0:
        warnings = (*warnings, f'contacts and forces are those of a gentler hand: {reason}')
    reason = '' if margin >= 1.0 else reason or DOES_NOT_BEAR
    return replace(grasp, margin=margin, stable=not reason, reason=reason, warnings=warnings)


def _in_seated(held: HeldGrasp, T_object_seated: Array) -> HeldGrasp:
    """Return a grasp held where the object seated itself, in the frame of the object as found."""
    return replace(held, state=in_found_frame(held.state, T_object_seated),
                   T_object_settled=T_object_seated @ held.T_object_settled)


def _checked_pose(T_object_palm: Array, number: int) -> Array:
    name = f'grasp {number}: the hand\'s pose'
    try:
        return checked_rigid(checked_array(T_object_palm, name, 4, 4, finite=False), name)
    except ShapeError as error:
        raise TaskError(str(error)) from None


def _checked_trajectory(hand: HandModel, rows: Array, number: int) -> Array:
    rows = checked_array(rows, f'grasp {number}: the trajectory', 'rows', len(hand.joint_names),
                         error=TaskError)
    if not len(rows):
        raise TaskError(f'grasp {number}: the trajectory needs at least one row, got none')
    outside = (rows < hand.joint_lower - 1e-6) | (rows > hand.joint_upper + 1e-6)
    if outside.any():
        row, joint = np.unravel_index(np.argmax(outside), outside.shape)
        raise TaskError(
            f'grasp {number}: {hand.joint_names[joint]} leaves its limits: got '
            f'{rows[row, joint]:.6g} rad in row {row + 1}, allowed are '
            f'{hand.joint_lower[joint]:.6g} to {hand.joint_upper[joint]:.6g}')
    return rows
