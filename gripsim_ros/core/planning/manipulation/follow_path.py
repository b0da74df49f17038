"""Follow the held object's path: finger configurations step by step, judged by the stages."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...batches import DETAIL_FORCES
from ...hand import HandModel
from ...transforms import apply, inverse, transform
from ..closing.closing import Question
from ..closing.grasp_state import GraspState
from ..options import ManipulationOptions
from ..ranked_grasp import COMPLIANT, HAND_ONLY, NOWHERE, WITH_ARM, ManipulationResult
from .kinematics import (
    Fingertips, attainable_twists, bounded_least_squares, can_follow, contact_jacobian,
    follow_object)

Array = NDArray[np.float64]

#: Largest joint displacement of a question where the joints hardly move, so that contact
#: detection knows the directions of motion [rad].
MIN_MOTION = 1e-3
#: Reason of a step in which the object itself collides.
OBJECT_COLLIDES = 'the object meets its surroundings'
#: Margin that corrections aim at, and the largest factor on forces for it [-].
TARGET_MARGIN, MAX_FORCE_GROWTH = 1.05, 1.6


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
    options : ManipulationOptions
    blocked : int
        Pose of the path at which the object itself collides; -1: none.

    Notes
    -----
    Source: seed 001, motion of the held object. Departures: three levels instead of equation
    (2) alone, which fingertips of the SDH satisfy in four of six directions; the joints are
    corrected at each step until the simulated forces lie above the minimal ones again.
    """

    def __init__(self, hand: HandModel, joints: Array, T_object_palm: Array, state: GraspState,
                 path: Array, friction: float, length: float, options: ManipulationOptions,
                 blocked: int = -1) -> None:
        self._hand, self._path, self._options = hand, path, options
        self._blocked = blocked
        self._friction, self._length = friction, length
        self._start = joints.copy(), T_object_palm.copy(), state
        self._links = tuple(sorted(set(int(link) for link in state.links)))
        total = float(state.minimal_envelope.sum())
        self._level = max(float(state.normal_forces.sum()) / total, 1.0) if total > 0.0 else 1.0
        self._failure: tuple[int, str] = (-1, '')
        self._fingers_failure = self._failure
        self._result: ManipulationResult | None = None
        self._begin(with_arm=False)
        if len(path) == 1:
            self._finish()

    @property
    def done(self) -> bool:
        """Return True if the path was followed to its end, or cannot be."""
        return self._result is not None

    @property
    def result(self) -> ManipulationResult:
        """Return the result; only once ``done``."""
        assert self._result is not None
        return self._result

    @property
    def step(self) -> int:
        """Return the number of the pose of the path that is asked for."""
        return self._next

    def question(self) -> Question:
        """Return the configuration to be judged next, in the moved object's frame."""
        moved = self._trial - self._joints
        if np.abs(moved).max() < MIN_MOTION:
            moved = MIN_MOTION * self._closing_rates()
        return Question(DETAIL_FORCES, inverse(self._T_palm_trial), self._trial, moved,
                        np.zeros(3))

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""
        if 0 < self._blocked <= self._next:
            self._failure = self._blocked, OBJECT_COLLIDES
            self._finish(NOWHERE)
            return
        problem = self._problem(state)
        if problem and self._corrections < self._options.max_corrections \
                and not self._collides(state):
            self._corrections += 1
            if self._correct(state):
                return
        elif not problem:
            self._accept(state)
            return
        self._fail(problem)

    def fail(self, reason: str) -> None:
        """Take note that the stages cannot answer."""
        self._fail(reason)

    # -- attempts --------------------------------------------------------------------

    def _begin(self, with_arm: bool) -> None:
        joints, T_object_palm, state = self._start
        self._with_arm, self._resting = with_arm, False
        self._joints, self._T_palm_object, self._state = joints, inverse(T_object_palm), state
        self._done_step, self._next = 0, 0
        self._residual = self._error = self._slip_share = 0.0
        self._drift = {link: np.zeros(3) for link in self._links}
        self._rows = [(0.0, joints, T_object_palm)]
        if len(self._path) > 1:
            self._aim()

    def _aim(self) -> None:
        """Set the trial configuration of the next step from the present pose."""
        self._next = min(self._done_step + self._stride(), len(self._path) - 1)
        change = inverse(self._path[self._done_step]) @ self._path[self._next]
        motion = self._T_palm_object @ change @ inverse(self._T_palm_object)
        tips = self._fingertips(self._state)
        if self._with_arm:
            motion = np.eye(4) if self._resting else self._free_part(motion, tips)
        self._trial, slips = follow_object(self._hand, self._joints, tips, motion,
                                           self._hand.joint_lower, self._hand.joint_upper)
        centre = tips.points_palm.mean(axis=0)
        self._trial_residual = can_follow(self._hand, self._joints, tips,
                                          _twist(motion, centre), centre)[1]
        self._trial_error = self._error + float(np.abs(slips).max(initial=0.0))
        self._T_palm_trial = motion @ self._T_palm_object
        self._trial_drift = self._drifted(tips, slips, motion[:3, :3])
        self._corrections = 0

    def _stride(self) -> int:
        if not self._resting:
            return 1
        options = self._options
        return max(1, int(min(options.arm_translation_step / options.translation_step,
                              options.arm_rotation_step / options.rotation_step)))

    def _free_part(self, motion: Array, tips: Fingertips) -> Array:
        """Return the part of a small motion that the joints can give without slip."""
        centre = tips.points_palm.mean(axis=0)
        twist = _twist(motion, centre) * self._scale()
        basis = attainable_twists(self._hand, self._joints, tips, centre, self._length)
        part = basis @ (basis.T @ twist)
        rotation = Rotation.from_rotvec(part[3:] / self._length).as_matrix()
        return transform(rotation, centre + part[:3] - rotation @ centre)

    def _scale(self) -> Array:
        return np.array([1.0, 1.0, 1.0, self._length, self._length, self._length])

    def _fail(self, reason: str) -> None:
        if self._next > self._failure[0]:
            self._failure = self._next, reason
        if not self._with_arm:
            self._fingers_failure = self._next, reason
            self._begin(with_arm=True)
        elif not self._resting:
            self._resting = True
            self._aim()
        else:
            self._finish(NOWHERE)

    def _accept(self, state: GraspState) -> None:
        self._joints, self._T_palm_object, self._state = self._trial, self._T_palm_trial, state
        self._drift, self._done_step = self._trial_drift, self._next
        self._residual = max(self._residual, self._trial_residual)
        self._error = self._trial_error
        self._slip_share = max(self._slip_share, self._slip(state))
        share = self._done_step / (len(self._path) - 1)
        self._rows.append((share, self._joints,
                           self._path[self._done_step] @ inverse(self._T_palm_object)))
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
        self._result = ManipulationResult(
            level, self._residual, self._slip_share,
            np.array([row[1] for row in self._rows]), np.array([row[2] for row in self._rows]),
            np.array([row[0] for row in self._rows]), step,
            _message(level, step, len(self._path) - 1, reason))

    # -- one step --------------------------------------------------------------------

    def _fingertips(self, state: GraspState) -> Fingertips:
        return Fingertips(state.links, apply(self._T_palm_object, state.points))

    def _drifted(self, tips: Fingertips, slips: Array, rotation: Array) -> dict[int, Array]:
        """Return each link's tangential displacement against the object, palm's frame [m]."""
        drift = {link: rotation @ d for link, d in self._drift.items()}
        normals = self._state.normals @ self._T_palm_object[:3, :3].T @ rotation.T
        for link in self._links:
            on_link = np.flatnonzero(tips.links == link)
            if len(on_link):
                k = on_link[np.argmax(self._state.normal_forces[on_link])]
                drift[link] = drift[link] + slips[k] - (slips[k] @ normals[k]) * normals[k]
        return drift

    def _slip(self, state: GraspState) -> float:
        """Return the largest tangential displacement over the largest without slip."""
        shares = [0.0]
        for link in self._links:
            on_link = state.links == link
            force = float(state.normal_forces[on_link].sum())
            stiffness = float(state.tangential_stiffness[on_link].sum())
            drift = float(np.linalg.norm(self._trial_drift[link]))
            if drift > 0.0:
                bound = self._friction * force / stiffness if stiffness > 0.0 else 0.0
                shares.append(drift / bound if bound > 0.0 else np.inf)
        return max(shares)

    def _collides(self, state: GraspState) -> bool:
        return bool(state.self_clearance <= 0.0 or state.obstacle_clearance <= 0.0)

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
        if not state.holds:
            return f'the grasp holds {state.margin:.2f} of the loads only'
        excess = float(state.normal_forces.sum()) / max(
            self._level * float(state.minimal_envelope.sum()), 1e-12)
        if excess > self._options.force_band and not self._resting \
                and self._corrections < self._options.max_corrections:
            return 'the forces are above the minimal ones'
        return ''

    def _slip_reason(self) -> str:
        at_limit = [self._hand.joint_names[j] for j in range(len(self._trial))
                    if self._trial[j] <= self._hand.joint_lower[j]
                    or self._trial[j] >= self._hand.joint_upper[j]]
        limits = f'; at its limit: {", ".join(at_limit)}' if at_limit else ''
        return f'a contact slips: the joints cannot follow the object{limits}'

    def _correct(self, state: GraspState) -> bool:
        """Move the joints towards the wanted normal forces; return whether that helps."""
        targets, rows = [], []
        T = self._T_palm_trial
        for link in self._links:
            row = self._correction_row(link, state, T)
            if row is not None:
                targets.append(row[0])
                rows.append(row[1])
        if not rows:
            return False
        change = bounded_least_squares(
            np.array(rows), np.array(targets), self._hand.joint_lower - self._trial,
            self._hand.joint_upper - self._trial)
        change = np.clip(change, -self._options.rotation_step, self._options.rotation_step)
        if np.abs(change).max() < 1e-9:
            return False
        tips = Fingertips(self._state.links, apply(T, self._state.points))
        moves = (contact_jacobian(self._hand, self._trial, tips) @ change).reshape(-1, 3)
        self._trial = self._trial + change
        self._trial_drift = self._slid(self._trial_drift, tips, moves, T)
        return True

    def _slid(self, drift: dict[int, Array], tips: Fingertips, moves: Array,
              T_palm_object: Array) -> dict[int, Array]:
        normals = self._state.normals @ T_palm_object[:3, :3].T
        changed = dict(drift)
        for link in self._links:
            on_link = np.flatnonzero(tips.links == link)
            if len(on_link):
                k = on_link[np.argmax(self._state.normal_forces[on_link])]
                changed[link] = changed[link] + moves[k] - (moves[k] @ normals[k]) * normals[k]
        return changed

    def _correction_row(self, link: int, state: GraspState, T_palm_object: Array
                        ) -> tuple[float, Array] | None:
        """Return the wanted approach of a link [m] and its derivatives by the joints (J,)."""
        seen = state if link in state.links else self._state
        on_link = np.flatnonzero(seen.links == link)
        if not len(on_link) or not self._hand.moves_link[link].any():
            return None
        before = np.flatnonzero(self._state.links == link)
        envelope = state.minimal_envelope[state.links == link].sum() if state.capable else 0.0
        wanted = self._growth(state) * self._level * float(envelope) \
            or float(self._state.normal_forces[before].sum())
        force = float(state.normal_forces[state.links == link].sum())
        stiffness = float(seen.normal_stiffness[on_link].sum())
        gap = 0.0 if link in state.links else float(state.clearance[link])
        k = on_link[np.argmax(seen.normal_forces[on_link])]
        point = apply(T_palm_object, seen.points[k][None])[0]
        normal = T_palm_object[:3, :3] @ seen.normals[k]
        jacobian = contact_jacobian(self._hand, self._trial,
                                    Fingertips(np.array([link]), point[None]))
        return gap + (wanted - force) / stiffness, normal @ jacobian

    def _growth(self, state: GraspState) -> float:
        """Return the factor on the wanted forces where they hold only a part of the loads."""
        return float(np.clip(TARGET_MARGIN / max(state.margin, 1e-9), 1.0, MAX_FORCE_GROWTH))

    def _closing_rates(self) -> Array:
        """Return joint rates that press every link in contact, the largest 1 (J,)."""
        tips = Fingertips(self._state.links, apply(self._T_palm_object, self._state.points))
        jacobian = contact_jacobian(self._hand, self._joints, tips)
        normals = self._state.normals @ self._T_palm_object[:3, :3].T
        rates: Array = jacobian.T @ normals.ravel()
        return rates / max(float(np.abs(rates).max()), 1e-12)


def _twist(motion: Array, centre: Array) -> Array:
    """Return a small motion as displacement of a point [m] and rotation vector (6,)."""
    turn = Rotation.from_matrix(motion[:3, :3]).as_rotvec()
    return np.concatenate([apply(motion, centre[None])[0] - centre, turn])


def _message(level: str, step: int, steps: int, reason: str) -> str:
    if level in (HAND_ONLY, COMPLIANT):
        return 'the fingers alone move the object' if level == HAND_ONLY else \
            'the fingers move the object, the contacts yield without slipping'
    where = f'step {step} of {steps}: {reason}'
    if level == WITH_ARM:
        return f'the arm helps; the fingers alone fail at {where}' if step > 0 else \
            'the arm helps'
    return f'the object cannot be moved as wanted; {where}'
