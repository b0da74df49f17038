"""A trajectory on its way through the hand: accepted, checked, followed in time, judged."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..link.errors import StateError, UnsafeError
from ..link.joint_controller import HandIdentity, SdhHand
from ..link.protocol import BLOCKED, POSITIONING
from ..options import MotionOptions
from .course import plan_course
from .follower import Follower
from .motions import Motion, Outcome, Sample
from .path import (
    STILL, Segment, Trajectory, average_velocities, is_step, plan_segments, ramp_profile,
    read_trajectory)
from .rota import EVEN
from .safety import SafetyChecker
from .steering import Steering

Array = NDArray[np.float64]

#: Firmware that sets velocities and tells those measured at once; older ones go from corner to
#: corner.
VERSION_FOLLOW = (0, 0, 2, 15)
#: Before its time a trajectory that waits is made ready [s].
EARLY = 0.2
#: Requests by which velocity control is taken.
TAKES = 3


class MotionRunner:
    """
    Carries out one motion at a time; used by the session's thread alone.

    Parameters
    ----------
    hand : SdhHand
    identity : HandIdentity
    checker : SafetyChecker
        With the hand's own limits taken over.
    options : MotionOptions
    joint_names : sequence of str, (J,)
    may_move : callable
        Raises ``StateError`` where nothing may move; asked right before `m`.
    """

    def __init__(self, hand: SdhHand, identity: HandIdentity, checker: SafetyChecker,
                 options: MotionOptions, joint_names: Sequence[str],
                 may_move: Callable[[], None]) -> None:
        """Hold still."""
        self._hand, self._checker, self._options = hand, checker, options
        self._names, self._may_move = tuple(joint_names), may_move
        self._acceleration = np.minimum(options.acceleration, identity.acceleration_limits)
        self._quickest = np.minimum(options.follow_acceleration, identity.acceleration_limits)
        self._identity = identity
        self._follows = options.follow and identity.version >= VERSION_FOLLOW
        self._follower: Follower | None = None
        self._steering: Steering | None = None
        self._motion: Motion | None = None
        self._waiting: Motion | None = None
        self._segments: list[Segment] = []
        self._targets: Array | None = None
        self._pressed: Array | None = None      # last targets of pose control, if it acts
        self._begun = self._ends = 0.0
        self._seen_busy = self._sent = False
        self._blocked = np.zeros(len(self._names), bool)

    @property
    def busy(self) -> bool:
        """Return whether anything is under way or waits for the hand to rest."""
        return self._motion is not None or self._waiting is not None

    @property
    def following(self) -> bool:
        """Return whether velocities are sent, and those measured come with them."""
        return self._follower is not None or self._steering is not None

    def carries(self, motion: Motion) -> bool:
        """Return whether a motion is the one under way, or waits."""
        return motion in (self._motion, self._waiting)

    def accept(self, motion: Motion, sample: Sample) -> None:
        """
        Begin a motion, at once where the hand rests, else when it has come to rest.

        The hand may still move though nothing is under way: it brakes after a stop or a fault.

        Raises
        ------
        UnsafeError, StateError
            It is refused; what is under way goes on.
        """
        self._checked(motion, sample.positions)
        idle = not self.busy
        if not idle:
            self._hand.stop()
            self.end(Outcome.REPLACED, 'replaced by a newer trajectory')
        if not idle or self._early(motion) or not self._begin(motion, sample):
            self._waiting, self._begun = motion, time.monotonic()

    def steer(self, motion: Motion, velocities: Array, sample: Sample) -> None:
        """
        Let the joints turn (J,) [rad/s] for ``velocity_timeout``; ``motion`` is all that goes so.

        Raises
        ------
        UnsafeError, StateError
            It is refused; what is under way goes on. Also where the hand does not rest yet.
        """
        self._checker.check_velocities(velocities)
        if motion is not self._motion:
            self._begin_steering(motion, sample)
        self._steering.ask(velocities)

    def _begin_steering(self, motion: Motion, sample: Sample) -> None:
        if not self._follows:
            raise StateError('velocities need firmware 0.0.2.15 or newer, and follow: true')
        if self.busy or self._moves(sample.velocities):
            raise StateError('the hand does not rest yet')
        self._may_move()
        self._hand.take_velocity_control(self._identity.acceleration_limits)
        self._may_move()
        self._motion, self._targets, motion.started = motion, None, time.monotonic()
        self._pressed = None
        self._steering = Steering(self._hand, self._checker, self._options, self._quickest)

    @staticmethod
    def _early(motion: Motion) -> bool:
        return motion.begin - time.monotonic() > EARLY

    def _checked(self, motion: Motion, here: Array) -> Trajectory:
        """Return the trajectory within limits; joints that it does not name hold."""
        held = here if self._targets is None else self._targets
        trajectory = read_trajectory(self._names, np.clip(
            held, self._checker.lower, self._checker.upper), motion.names, motion.times,
            motion.rows)
        points = self._checker.check_target(trajectory.points)
        trajectory = Trajectory(trajectory.times, points)
        self._checker.check_velocities(average_velocities(trajectory))
        asked = np.zeros((len(points), len(self._names)))
        columns = [self._names.index(name) for name in motion.names]
        for i, row in enumerate(motion.velocities):
            if len(row):
                asked[i, columns] = row
        self._checker.check_velocities(asked)
        if len(motion.velocities) == len(points) and all(len(v) for v in motion.velocities):
            return Trajectory(trajectory.times, points, asked)
        return trajectory

    def _begin(self, motion: Motion, sample: Sample) -> bool:
        """Check the whole path from where the hand rests, send its first part; False: it moves."""
        if self._moves(sample.velocities) or self._moves(self._hand.velocities()):
            return False
        measured = self._hand.positions()
        if np.abs(measured - sample.positions).max() > self._options.path_tolerance:
            return False                # two readings, and a start that both agree on
        trajectory = self._checked(motion, measured)
        here = np.clip(measured, self._checker.lower, self._checker.upper)
        sent = here if self._pressed is None else self._pressed     # beyond what is in the way
        if self._follows and not is_step(sent, trajectory, self._options.path_tolerance):
            self._begin_course(motion, here, trajectory)
        else:
            self._begin_segments(motion, here, trajectory)
        return True

    def _begin_course(self, motion: Motion, here: Array, trajectory: Trajectory) -> None:
        """Check all of the course, and let velocities act."""
        tolerance = self._options.path_tolerance
        course = plan_course(here, trajectory, tolerance, self._checker.velocities,
                             self._quickest)
        points = self._checker.check_target(course.corners(0.5 * tolerance))
        self._checker.check_path(np.concatenate([here[None], points]))
        self._may_move()
        self._motion, self._targets, self._segments = motion, points[-1], []
        self._pressed, asked = None, time.monotonic()
        self._hand.take_velocity_control(self._identity.acceleration_limits)
        self._may_move()
        self._follower = Follower(self._hand, self._checker, self._options, course, motion.begin,
                                  (time.monotonic() - asked) / TAKES,
                                  self._identity.acceleration_limits)
        motion.behind = course.behind
        self._sent = True

    def _begin_segments(self, motion: Motion, here: Array, trajectory: Trajectory) -> None:
        """Check all of the straight motions, and send the first."""
        segments = plan_segments(here, trajectory, self._options.path_tolerance,
                                 self._checker.velocities, self._acceleration)
        self._checker.check_path(
            np.concatenate([here[None], [segment.target for segment in segments]]))
        self._may_move()
        if self._hand.velocity_control:
            self._hand.take_pose_control()
            self._hand.hold_here(self._identity)
        self._motion, self._segments, self._targets = motion, segments, here
        self._start_segment(here)
        motion.started = time.monotonic()

    def _moves(self, velocities: Array) -> bool:
        return bool((np.abs(velocities) > self._options.rest_velocity).any())

    def _start_segment(self, here: Array) -> None:
        """Send accelerations, velocities, all seven targets, and `m` if all were echoed."""
        segment = self._segments[0]
        self._begun = time.monotonic()
        self._ends = self._begun + segment.duration
        self._seen_busy, self._sent = False, False
        self._blocked = np.zeros(len(self._names), bool)
        if np.abs(segment.target - self._targets).max() <= STILL and \
                np.abs(segment.target - here).max() <= STILL:
            return                                      # a pause of the trajectory
        velocities, accelerations = ramp_profile(
            segment.target - here, segment.duration, self._checker.velocities, self._acceleration)
        self._hand.set_accelerations(accelerations)
        self._hand.set_velocities(velocities)
        self._hand.set_targets(segment.target)
        self._may_move()
        self._targets = self._pressed = segment.target
        duration = self._hand.start()
        self._sent = True
        self._ends = max(self._ends, time.monotonic() + duration)

    def advance(self, sample: Sample, loads: tuple[float, float] = EVEN) -> None:
        """
        Take a cycle's measurements: begin what waits, send the next part, or judge the end.

        ``loads`` are the lengths of this cycle and of the next, see ``Rota``.

        Raises
        ------
        UnsafeError, StateError
            What waited is refused after all.
        """
        moving = self._moves(sample.velocities)
        if self._waiting is not None:
            self._advance_waiting(sample)
        elif self._follower is not None:
            self._follow(sample, loads)
        elif self._steering is not None:
            self._steer(sample)
        elif self._motion is not None:
            self._advance_motion(sample, moving)
        elif self._hand.velocity_control and not moving:
            self._hand.take_pose_control()
            self._hand.hold_here(self._identity)

    def _follow(self, sample: Sample, loads: tuple[float, float]) -> None:
        """Send the next velocities; where the course has ended go to its end and hold there."""
        try:
            ended = self._follower.advance(sample.positions, sample.axis_states, sample.time,
                                           sample.states_time, loads)
            self._motion.started = self._follower.begin
        except (UnsafeError, StateError) as error:
            self._hand.stop()
            self.end(Outcome.FAILED, f'stopped on the way: {error}')
            return
        if ended:
            self._follower = None
            self._hand.drive(np.zeros(len(self._names)))
            self._hand.take_pose_control()
            target, self._targets = self._targets, self._hand.hold_here(self._identity)
            self._segments = [Segment(target, 0.0)]
            self._start_segment(self._targets)

    def _steer(self, sample: Sample) -> None:
        """Let the joints turn for another cycle, or end where no velocities come any more."""
        try:
            ended = self._steering.advance(sample.positions, sample.axis_states,
                                           sample.states_time)
        except StateError as error:
            self._hand.stop()
            self.end(Outcome.FAILED, f'stopped on the way: {error}')
            return
        if ended:
            self.end(Outcome.REACHED, 'no velocities came any more')

    def _advance_waiting(self, sample: Sample) -> None:
        if self._early(self._waiting):
            self._begun = sample.time
            return
        motion, self._waiting = self._waiting, None
        begun = False
        try:
            begun = self._begin(motion, sample)
        finally:
            if not begun and self._motion is None:
                self._waiting = motion
        if not begun and sample.time - self._begun > self._options.late:
            raise StateError('the hand does not come to rest')

    def _advance_motion(self, sample: Sample, moving: bool) -> None:
        busy = bool((sample.axis_states == POSITIONING).any())
        self._seen_busy = self._seen_busy or busy
        if not self._clear_where_blocked(sample):
            return
        if sample.time > self._ends + self._options.late:
            late = sample.time - self._ends
            self._hand.stop()
            self.end(Outcome.FAILED, f'stopped: not at rest {late:.1f} s after its end')
            return
        near = np.abs(sample.positions - self._targets).max() < self._options.goal_tolerance
        ended = not busy and not moving and (
            not self._sent or self._seen_busy or near or sample.time >= self._ends)
        if not ended or (len(self._segments) > 1
                         and sample.time < self._begun + self._segments[0].duration):
            return
        self._segments.pop(0)
        if not self._segments:
            self._judge(sample)
        elif np.abs(sample.positions - self._targets).max() <= self._options.path_tolerance \
                or self._may_go_on([sample.positions, *(s.target for s in self._segments)]):
            self._start_segment(sample.positions)

    def _clear_where_blocked(self, sample: Sample) -> bool:
        """Return whether the others may go on: with a joint blocked they leave the path."""
        blocked = np.isin(sample.axis_states, BLOCKED)
        if not self._sent or not (blocked & ~self._blocked).any():
            return True
        self._blocked = blocked
        return self._may_go_on(
            [sample.positions, np.where(blocked, sample.positions, self._targets)])

    def _may_go_on(self, points: Sequence[Array]) -> bool:
        """Return whether a path other than the one checked is safe; if not, stop and end."""
        try:
            self._checker.check_path(np.stack(points))
        except UnsafeError as error:
            self._hand.stop()
            self.end(Outcome.FAILED, f'stopped, a joint is not where it was sent: {error}')
            return False
        return True

    def _judge(self, sample: Sample) -> None:
        errors = sample.positions - self._targets
        missed = np.flatnonzero(np.abs(errors) > self._options.goal_tolerance)
        if not len(missed):
            late = self._motion.behind
            self.end(Outcome.REACHED, 'reached' if late < self._options.goal_tolerance else
                     f'reached, on the way up to {late:.3f} rad behind its time', errors)
            return
        words = ', '.join(
            f'{self._names[j]} by {errors[j]:+.3f} rad'
            + (' (blocked)' if sample.axis_states[j] in BLOCKED else '') for j in missed)
        self.end(Outcome.MISSED, f'not where it was sent: {words}', errors)

    def end(self, outcome: Outcome, message: str, errors: Array | None = None) -> None:
        """End what is under way and what waits; sends nothing."""
        for motion in (self._motion, self._waiting):
            if motion is not None:
                motion.finish(outcome, message, errors)
        self._motion = self._waiting = self._follower = self._steering = None
        self._segments = []
        if outcome is not Outcome.REACHED and outcome is not Outcome.MISSED:
            self._targets = None        # joints that are not named hold where they are
