"""A goal whose client hears of it while nothing new is to be told: so it knows that it goes on."""

import threading
import time

from rclpy.exceptions import InvalidHandle

#: Longest silence towards the client of a goal [s]: well below what it takes for a loss.
LONGEST_SILENCE = 2.0


class LivelyGoal:
    """
    The handle of a goal that repeats its last feedback where none comes for a while.

    Work on a goal has stretches of seconds in which there is nothing to tell, and on a machine
    with other work they take as many times longer as there is: how long says nothing of whether
    the executor is still there. A thread of its own says that. Use it in a ``with`` statement;
    everything else is the handle's.

    Parameters
    ----------
    goal_handle : rclpy.action.server.ServerGoalHandle
    feedback : message
        What is repeated before the first is told.
    """

    def __init__(self, goal_handle, feedback) -> None:
        """Tell nothing yet."""
        self._goal, self._last, self._told = goal_handle, feedback, time.monotonic()
        self._telling, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._repeat, name='lively_goal', daemon=True)

    def __enter__(self) -> 'LivelyGoal':
        """Begin to repeat."""
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        """Fall silent."""
        self._ended.set()
        self._thread.join()

    def __getattr__(self, name: str):
        """Return what else the handle has."""
        return getattr(self._goal, name)

    def publish_feedback(self, feedback) -> None:
        """Tell the client something new."""
        with self._telling:
            self._last, self._told = feedback, time.monotonic()
            self._goal.publish_feedback(feedback)

    def _repeat(self) -> None:
        while not self._ended.wait(0.5 * LONGEST_SILENCE):
            with self._telling:
                if time.monotonic() - self._told < LONGEST_SILENCE or not self._goal.is_active:
                    continue
                self._told = time.monotonic()
                try:
                    self._goal.publish_feedback(self._last)
                except InvalidHandle:       # ROS is shut down under it
                    return
