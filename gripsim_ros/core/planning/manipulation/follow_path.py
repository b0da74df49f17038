"""Follow the held object's path: finger configurations step by step, judged by the stages."""

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...batches import DETAIL_FORCES
from ...hand import HandModel
from ...transforms import apply, inverse, transform
from ..closing.question import Question
from ..closing.grasp_state import GraspState, sums_by_link
from ..options import PlannerOptions
from ..ranked_grasp import (
    COMPLIANT, HAND_ONLY, NOWHERE, WITH_ARM, ManipulationResult, ManipulationStep)
from ..ranking.score import grip_efforts
from .kinematics import (
    Fingertips, attainable_twists, can_follow, contact_jacobian, follow_object, twist_at)
from .step_forces import StepForces, pressing_change, strongest_patch


#: Largest joint displacement of a question where the joints hardly move, so that contact
#: detection knows the directions of motion [rad].
MIN_MOTION = 1e-3
#: Margins are compared with this much to spare [-].
ROUND_OFF = 1e-9


class PathFollower:
    """
    Follow one grasp along the object's path: ``question()``, ``answer(state)``, until ``done``.

    First the fingers alone move the object, the palm at rest. Where they fail, the path is
    followed again and the arm supplies the part of each step that the joints cannot; from the
    step on at which the fingers' part fails, the arm carries the grasp unchanged.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        Of the grasp [rad].
    T_object_palm : (4, 4) float
    state : GraspState
        That holds, of the grasp.
    path : (m + 1, 4, 4) float
        Poses of the object in its first frame, from the identity.
    friction : float
    length : float
        Scale of rotations against translations [m].
    options : PlannerOptions
    arm_may_help : bool
        False: where the fingers fail, so does the grasp.

    Notes
    -----
    Source: seed 001, motion of the held object. Departures: three levels instead of equation
    (2) alone, which fingertips of the SDH satisfy in four of six directions. The fingers go no
    farther than where corrections bring back the grasp's reserve and its gentleness, so that
    the arm takes over a grasp that is not strained.
    """

    def __init__(self, hand: HandModel, joints: Array, T_object_palm: Array, state: GraspState,
                 path: Array, friction: float, length: float, options: PlannerOptions,
                 arm_may_help: bool = True) -> None:
        self._hand, self._path, self._options = hand, path, options.reach
        self._arm_may_help = arm_may_help
        self._friction, self._length = friction, length
        self._start = joints.copy(), T_object_palm.copy(), state
        self._links = tuple(sorted(set(int(link) for link in state.links)))
        self._forces = StepForces(self._links, state, options)
        self._failure: tuple[int, str] = (-1, '')
        self._fingers_failure = self._failure
        self.result: ManipulationResult | None = None
        self.step, self._resting = 0, False
        self._corrections = 0
        self._trial, self._trial_drift = joints, np.zeros((len(self._links), 3))
        self._spare: tuple[Array, Array, GraspState] | None = None
        self._begin(with_arm=False)
        if len(path) == 1:
            self._finish()

    @property
    def done(self) -> bool:
        """Return True if the path was followed to its end, or cannot be."""
        return self.result is not None

    def question(self) -> Question:
        """Return the configuration to be judged next, in the moved object's frame."""
        moved = self._trial - self._joints
        if np.abs(moved).max() < MIN_MOTION:
            moved = MIN_MOTION * self._closing_rates()
        return Question(DETAIL_FORCES, inverse(self._T_palm_trial), self._trial, moved,
                        np.zeros(3))

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""
        self._forces.take(state)
        problem = self._problem(state)
        if not problem:
            self._accept(state)
            return
        if self._resting and state.holds and self._is_free(state) and (
                self._spare is None or state.margin > self._spare[2].margin):
            self._spare = self._trial, self._trial_drift, state
        if self._is_free(state) and self._corrections < self._options.max_corrections:
            self._corrections += 1
            if self._correct(state):
                return
        if self._spare is not None:     # the arm carries what holds, be the reserve smaller
            self._trial, self._trial_drift, state = self._spare
            self._accept(state)
            return
        self.fail(problem)

    def fail(self, reason: str) -> None:
        """End an attempt at the present step; the next may go on."""
        if self.step > self._failure[0]:
            self._failure = self.step, reason
        if not self._arm_may_help:
            self._finish(NOWHERE)
        elif not self._with_arm:
            self._fingers_failure = self.step, reason
            self._begin(with_arm=True)
        elif not self._resting:
            self._resting = True
            self._aim()
        else:
            self._finish(NOWHERE)

    # -- attempts --------------------------------------------------------------------

    def _begin(self, with_arm: bool) -> None:
        joints, T_object_palm, state = self._start
        self._with_arm, self._resting = with_arm, False
        self._joints, self._T_palm_object, self._state = joints, inverse(T_object_palm), state
        self._done_step, self.step = 0, 0
        self._residual = self._error = self._slip_share = 0.0
        self._drift = np.zeros((len(self._links), 3))
        self._slip_now = 0.0
        self._rows = [(0.0, joints, T_object_palm)]
        self._steps = [self._told(state, np.eye(4), by_arm=False)]
        if len(self._path) > 1:
            self._aim()

    def _aim(self) -> None:
        """Set the trial configuration of the next step from the present pose."""
        self.step = min(self._done_step + self._stride(), len(self._path) - 1)
        change = inverse(self._path[self._done_step]) @ self._path[self.step]
        motion = self._T_palm_object @ change @ inverse(self._T_palm_object)
        tips = Fingertips(self._state.links, apply(self._T_palm_object, self._state.points))
        if self._with_arm:
            motion = np.eye(4) if self._resting else self._free_part(motion, tips)
        self._trial, slips = follow_object(self._hand, self._joints, tips, motion,
                                           self._hand.joint_lower, self._hand.joint_upper)
        centre = tips.points_palm.mean(axis=0)
        self._trial_residual = can_follow(self._hand, self._joints, tips,
                                          twist_at(motion, centre), centre)[1]
        self._trial_error = self._error + float(np.abs(slips).max(initial=0.0))
        # Not `motion @ ...` of the whole change, whose round-off would grow threefold a step.
        self._T_palm_trial = motion @ self._T_palm_object if self._with_arm else \
            self._T_palm_object @ change
        self._trial_drift = self._slid(self._drift @ motion[:3, :3].T, slips)
        self._corrections = 0
        self._spare = None
        self._forces.begin_step()

    def _stride(self) -> int:
        if not self._resting:
            return 1
        options = self._options
        return max(1, int(min(options.arm_translation_step / options.translation_step,
                              options.arm_rotation_step / options.rotation_step)))

    def _free_part(self, motion: Array, tips: Fingertips) -> Array:
        """Return the part of a small motion that the joints can give without slip."""
        centre = tips.points_palm.mean(axis=0)
        twist = twist_at(motion, centre)
        twist[3:] *= self._length
        basis = attainable_twists(self._hand, self._joints, tips, centre, self._length)
        part = basis @ (basis.T @ twist)
        rotation = Rotation.from_rotvec(part[3:] / self._length).as_matrix()
        return transform(rotation, centre + part[:3] - rotation @ centre)

    def _accept(self, state: GraspState) -> None:
        self._joints, self._T_palm_object, self._state = self._trial, self._T_palm_trial, state
        self._drift, self._done_step = self._trial_drift, self.step
        self._residual = max(self._residual, self._trial_residual)
        self._error = self._trial_error
        self._slip_now = self._slip(state)
        self._slip_share = max(self._slip_share, self._slip_now)
        share = self._done_step / (len(self._path) - 1)
        self._rows.append((share, self._joints,
                           self._path[self._done_step] @ inverse(self._T_palm_object)))
        self._steps.append(self._told(state, self._path[self._done_step], self._with_arm))
        if self._done_step == len(self._path) - 1:
            self._finish()
        else:
            self._aim()

    def _finish(self, level: str = '') -> None:
        if not level and self._with_arm:
            level = WITH_ARM
        elif not level:
            exact = self._residual < self._options.residual_tolerance
            near = self._error < self._options.position_tolerance
            level = HAND_ONLY if exact and near else COMPLIANT
        step, reason = self._fingers_failure if level == WITH_ARM else self._failure
        shares, joints, poses = (np.array(column) for column in zip(*self._rows))
        self.result = ManipulationResult(
            level, self._residual, self._slip_share, joints, poses, shares, step,
            _message(level, step, len(self._path) - 1, reason), tuple(self._steps))

    def _told(self, state: GraspState, T_object_moved: Array, by_arm: bool) -> ManipulationStep:
        return step_told(self._hand, self._joints, self._T_palm_object, state, T_object_moved,
                         self._slip_now, by_arm)

    # -- one step --------------------------------------------------------------------

    def _slid(self, drift: Array, moves: Array) -> Array:
        """
        Return the links' drift (links, 3) after moves of their contacts (k, 3) [m].

        Drift is a link's tangential displacement against the object, palm's frame.
        """
        chosen = [strongest_patch(self._state, link) for link in self._links]
        normals = self._state.normals[chosen] @ self._T_palm_trial[:3, :3].T
        moves = moves[chosen]
        return drift + moves - (moves * normals).sum(axis=1, keepdims=True) * normals

    def _slip(self, state: GraspState) -> float:
        """Return the largest tangential displacement over the largest without slip."""
        forces = sums_by_link(self._links, state, state.normal_forces)
        stiffness = sums_by_link(self._links, state, state.tangential_stiffness)
        bounds = np.divide(self._friction * forces, stiffness, out=np.zeros(len(forces)),
                           where=stiffness > 0.0)
        drift = np.linalg.norm(self._trial_drift, axis=1)
        shares = np.divide(drift, bounds, out=np.full(len(drift), np.inf), where=bounds > 0.0)
        return float(shares[drift > 0.0].max(initial=0.0))

    def _problem(self, state: GraspState) -> str:
        if state.self_clearance <= 0.0:
            return 'the hand collides with itself'
        if state.obstacle_clearance <= 0.0:
            return 'the hand collides with its surroundings'
        lost = [link for link in self._links if link not in state.links]
        if lost:
            return f'{self._hand.link_names[lost[0]]} loses contact'
        if not self._resting and self._slip(state) > 1.0:
            return self._slip_reason()
        if not state.capable:
            return 'no forces within friction, pressure and torque limits hold the task'
        if not state.holds or state.margin < self._forces.reserve - ROUND_OFF:
            wanted = '' if not state.holds else f', not {self._forces.reserve:.2f}'
            return f'the grasp holds {state.margin:.2f} of the loads only{wanted}'
        if self._forces.excess > self._options.force_band:
            return (f'the fingers press {self._forces.excess:.2f} times as hard as the object '
                    'needs')
        if self._with_arm and not self._resting:
            share = float(state.normal_forces.sum()) / max(
                float(self._start[2].normal_forces.sum()), 1e-12)
            if share > self._options.force_band:    # the arm had better take over before
                return f'the fingers would press {share:.2f} times as hard as at first'
        return ''

    @staticmethod
    def _is_free(state: GraspState) -> bool:
        """Return True if the hand meets neither itself nor its surroundings."""
        return state.self_clearance > 0.0 and state.obstacle_clearance > 0.0

    def _slip_reason(self) -> str:
        at_limit = [self._hand.joint_names[j] for j in range(len(self._trial))
                    if self._trial[j] <= self._hand.joint_lower[j]
                    or self._trial[j] >= self._hand.joint_upper[j]]
        limits = f'; at its limit: {", ".join(at_limit)}' if at_limit else ''
        return f'a contact slips: the joints cannot follow the object{limits}'

    def _correct(self, state: GraspState) -> bool:
        """Move the joints towards the wanted normal forces; return whether that helps."""
        wanted = self._forces.wanted if state.capable else \
            sums_by_link(self._links, self._state, self._state.normal_forces)
        lacking = wanted - sums_by_link(self._links, state, state.normal_forces)
        change = pressing_change(
            self._hand, self._trial, self._T_palm_trial,
            {link: force for link, force in zip(self._links, lacking)
             if self._hand.moves_link[link].any()}, state, self._state,
            self._options.rotation_step)
        if np.abs(change).max() < 1e-9:
            return False
        tips = Fingertips(self._state.links, apply(self._T_palm_trial, self._state.points))
        moves = (contact_jacobian(self._hand, self._trial, tips) @ change).reshape(-1, 3)
        self._trial = self._trial + change
        self._trial_drift = self._slid(self._trial_drift, moves)
        return True

    def _closing_rates(self) -> Array:
        """Return joint rates that press every link in contact, the largest 1 (J,)."""
        tips = Fingertips(self._state.links, apply(self._T_palm_object, self._state.points))
        jacobian = contact_jacobian(self._hand, self._joints, tips)
        normals = self._state.normals @ self._T_palm_object[:3, :3].T
        rates: Array = jacobian.T @ normals.ravel()
        return rates / max(float(np.abs(rates).max()), 1e-12)


def step_told(hand: HandModel, joints: Array, T_palm_object: Array, state: GraspState,
              T_object_moved: Array, slip: float, by_arm: bool) -> ManipulationStep:
    """
    Return what is told of one step of an object's path, in the object's first frame.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        At the step [rad].
    T_palm_object : (4, 4) float
        At the step.
    state : GraspState
        There, in the moved object's frame.
    T_object_moved : (4, 4) float
        The moved object in its first frame.
    slip : float
        Share of the largest displacement without slip [-]; NaN: not known.
    by_arm : bool
        Whether the arm takes part.
    """
    turn = T_object_moved[:3, :3].T
    return ManipulationStep(
        T_object_moved, tuple(hand.link_names[link] for link in state.links),
        apply(T_object_moved, state.points), state.normals @ turn, state.forces @ turn,
        state.minimal_forces @ turn, grip_efforts(hand, joints, inverse(T_palm_object), state),
        apply(T_object_moved, state.centre_of_mass[None])[0], state.margin, slip, by_arm)


def _message(level: str, step: int, steps: int, reason: str) -> str:
    if level in (HAND_ONLY, COMPLIANT):
        return 'the fingers alone move the object' if level == HAND_ONLY else \
            'the fingers move the object, the contacts yield without slipping'
    where = f'step {step} of {steps}: {reason}'
    if level == WITH_ARM:
        return f'the arm helps; the fingers alone fail at {where}' if step > 0 else \
            'the arm helps'
    return f'the object cannot be moved as wanted; {where}'
