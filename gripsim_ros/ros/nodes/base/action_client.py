"""An action client that loses no answer which comes at once."""

import contextlib
import threading
import time

from rclpy.action import ActionClient


class PromptActionClient(ActionClient):
    """
    An action client that takes an answer which is there at once.

    rclpy lists a question only after it was sent. An answer that the listening thread takes in
    between is dropped as unexpected; one that comes before the future is listed raises
    ValueError. Here nothing is taken while a question is being sent.

    Attributes
    ----------
    heard_at : float
        When the server last spoke, to whomever [s, ``time.monotonic``]; 0.0: never.

    """

    def __init__(self, *args, **kwargs) -> None:
        """Open the client; arguments as ``rclpy.action.ActionClient``."""
        self._asking = threading.RLock()
        self.heard_at = 0.0
        super().__init__(*args, **kwargs)

    def take_data(self):
        """Take what came; its questions are listed by then."""
        with self._asking:
            data = super().take_data()
        if data:
            self.heard_at = time.monotonic()
        return data

    def send_goal_async(self, *args, **kwargs):
        """Send a goal; as ``rclpy.action.ActionClient``."""
        with self._asking:
            return super().send_goal_async(*args, **kwargs)

    def _cancel_goal_async(self, *args):
        with self._asking:
            return super()._cancel_goal_async(*args)

    def _get_result_async(self, *args):
        with self._asking:
            return super()._get_result_async(*args)

    def add_future(self, future) -> None:
        """List a future unless it has its answer already."""
        super().add_future(future)
        if future.done():
            self.remove_future(future)

    def remove_future(self, future) -> None:
        """Take a future off the list, if it is there."""
        with contextlib.suppress(ValueError):
            super().remove_future(future)
