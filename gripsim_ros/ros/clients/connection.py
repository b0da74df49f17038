"""A ROS context, a node and a thread that listens, for programs that are no nodes themselves."""

import threading

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor

from ..nodes.base.action_client import PromptActionClient


class Connection:
    """
    A node of its own in a context of its own, and a thread that listens for it.

    Whoever inherits opens what it needs in ``group`` on ``node``, then calls ``_listen()``, or
    ``look()`` as often as it likes. Use it in a ``with`` statement, or ``close()`` it: then
    nothing of it is left in ROS, not even what it last published to late joiners.

    Parameters
    ----------
    namespace, node_name : str
    domain : int, optional
        Of ROS; from the environment where None.
    """

    def __init__(self, namespace: str, node_name: str, domain: int | None = None) -> None:
        """Connect; nothing is listened for yet."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain,
                   signal_handler_options=rclpy.SignalHandlerOptions.NO)
        self.node = rclpy.create_node(node_name, context=self._context, namespace=namespace)
        self.group = ReentrantCallbackGroup()
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name=node_name, daemon=True)
        self._closing = False

    def __enter__(self):
        """Return the connection."""
        return self

    def __exit__(self, *_) -> None:
        """Close the connection."""
        self.close()

    def look(self, timeout: float) -> None:
        """Wait up to so many seconds for something to come, and take it."""
        self._executor.spin_once(timeout)

    def _listen(self) -> None:
        self._thread.start()

    def _spin(self) -> None:
        while self._context.ok():
            try:
                self._executor.spin()
            except InvalidHandle:       # something was destroyed while it was waited for
                continue
            except (ExternalShutdownException, ShutdownException):
                return
            except Exception:
                if not self._closing:
                    raise
                return      # what it waits with was taken away under it, on a busy machine

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        if not self._context.ok():
            return
        self._closing = True
        self._executor.shutdown(1.0)
        self._context.try_shutdown()
        if self._thread.is_alive():
            self._thread.join(2.0)
        # The context alone leaves the node to the garbage collector, and it goes on publishing;
        # so does our action client, which the node does not destroy, with its shared memory.
        for waitable in list(self.node.waitables):
            if isinstance(waitable, PromptActionClient):
                waitable.destroy()
        self.node.destroy_node()
