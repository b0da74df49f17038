"""FollowJointTrajectory for `sdh_driver`, where control_msgs is installed."""

import math
from time import monotonic, sleep

from ....core.errors import GripsimError
from ....hardware.driver.motion.motions import Motion, Outcome
from ..base.trajectory_action import (
    end_goal, GOAL_VIOLATED, GoalError, INVALID_GOAL, OLD_STAMP, open_trajectory_action,
    PATH_VIOLATED, read_goal, SUCCESSFUL, Wanted)

#: Seconds between two looks at the goal and the joints.
POLL_PERIOD = 0.02


class TrajectoryAction:
    """
    Serves the action; a new goal or trajectory replaces the one under way.

    Parameters
    ----------
    node : SdhDriverNode
        Its ``sample`` is the newest of the hand, None before the first; ``follow`` is that of
        its topic, ``cancel`` stops a motion unless it has been replaced.

    Notes
    -----
    A goal that says nothing of its path is held to the parameter `follow_tolerance`, one that
    says nothing of its time to `late`: a hand that cannot follow ends it.
    """

    def __init__(self, node) -> None:
        """Serve, where the action is known."""
        self._node = node
        self._server = open_trajectory_action(node, self.execute)

    def execute(self, goal_handle):
        """Carry out a goal; cancelling stops the hand."""
        request, sample = goal_handle.request, self._node.sample
        try:
            if sample is None:
                raise GoalError(INVALID_GOAL, 'the hand was not heard yet')
            wanted = read_goal(self._node.hand.joint_names, request, sample.positions,
                               self._node.values['follow_tolerance'])
        except GoalError as error:
            return end_goal(goal_handle, error.code, str(error))
        motion = self._node.follow(request.trajectory)
        return end_goal(goal_handle, *self._watch(goal_handle, motion, wanted))

    def _watch(self, goal_handle, motion: Motion, wanted: Wanted) -> tuple[int, str]:
        """Wait for the end; return code and text."""
        broken = None
        while self._goes_on(motion, wanted):
            sample = self._node.sample
            if not goal_handle.is_cancel_requested and not broken:
                time = sample.time - motion.started
                if not time >= 0.0:                         # it has not begun
                    continue
                broken = self._broken(wanted, time, sample.positions)
                goal_handle.publish_feedback(wanted.feedback(time, sample.positions))
            if goal_handle.is_cancel_requested or broken:
                if motion.done.is_set():                    # it rests where it was to
                    return broken or (PATH_VIOLATED, 'cancelled before its time')
                self._stop(motion)
        return broken or self._judged(motion, wanted)

    @staticmethod
    def _goes_on(motion: Motion, wanted: Wanted) -> bool:
        """Return, after a while, whether it is under way, or there before its time."""
        if not motion.done.wait(POLL_PERIOD):
            return True
        due = (motion.begin or motion.started) + wanted.duration
        early = motion.outcome is Outcome.REACHED and monotonic() < due
        if early:
            sleep(POLL_PERIOD)
        return early

    def _broken(self, wanted: Wanted, time: float, joints) -> tuple[int, str] | None:
        """Return code and text where a tolerance is violated on the way."""
        off = wanted.off_path(time, joints)
        if off:
            return PATH_VIOLATED, off
        patience = (self._node.values['late'] if math.isnan(wanted.patience)
                    else wanted.patience)
        if time <= wanted.duration + patience:
            return None
        late = wanted.off_goal(joints - wanted.rows[-1], self._node.values['goal_tolerance'],
                               f'{patience:g} s after its time')
        return (GOAL_VIOLATED, late) if late else None

    def _judged(self, motion: Motion, wanted: Wanted) -> tuple[int, str]:
        """Return code and text of a motion that ended by itself."""
        if motion.outcome is Outcome.REFUSED:
            return OLD_STAMP if motion.outdated else INVALID_GOAL, motion.message
        if motion.outcome not in (Outcome.REACHED, Outcome.MISSED):
            overdue = (motion.outcome is Outcome.FAILED
                       and monotonic() > motion.started + wanted.duration)
            return GOAL_VIOLATED if overdue else PATH_VIOLATED, motion.message
        off = wanted.off_goal(motion.errors, self._node.values['goal_tolerance'])
        return (GOAL_VIOLATED, f'{off}; {motion.message}') if off else (SUCCESSFUL, '')

    def _stop(self, motion: Motion) -> None:
        try:
            self._node.cancel(motion)
        except GripsimError as error:
            self._node.report_error(f'cancel: {error}')
