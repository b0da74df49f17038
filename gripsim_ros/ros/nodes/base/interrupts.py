"""
How a node takes SIGINT and SIGTERM: it ends in order and with code 0, however often they come.

A terminal's Ctrl-C reaches every process of `ros2 launch`, and launch may pass it on once more.
Python would raise KeyboardInterrupt a second time in the midst of ending, or, once it has put its
handlers back, let the signal kill the process.
"""

import os
import signal
import sys
import threading
from pathlib import Path

from ...programs import PROGRAMS

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """
    The signals from start to end.

    While the node starts, the first one raises KeyboardInterrupt, so that compiling does not
    hold it up. From ``serving`` on they raise nothing: ``taken`` tells whoever serves to leave.
    rclpy's own handlers are not installed: they would shut ROS down while the node still answers.
    After ``ended`` they are ignored for good.

    Attributes
    ----------
    taken : threading.Event
        Set by the first signal: KeyboardInterrupt alone may be lost, since Python only tells of
        one that is raised in a destructor.
    """

    def __init__(self) -> None:
        """Take the signals over; in another thread than the main one nothing happens."""
        self.taken = threading.Event()
        self._raises, self._came = True, False
        self._set(self._on_signal)

    def serving(self) -> None:
        """Raise nothing from now on."""
        self._raises = False

    def ended(self) -> None:
        """Ignore the signals until the process is gone."""
        self._raises = False
        self._set(signal.SIG_IGN)

    def restore(self) -> None:
        """Put the usual handlers back, for a program that takes this process over."""
        self._set(signal.SIG_DFL)

    def _on_signal(self, *_) -> None:
        # Once alone: a signal in the midst of `set` would wait for the lock that it interrupts.
        if not self._came:
            self._came = True
            self.taken.set()
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt

    @staticmethod
    def _set(handler) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                signal.signal(number, handler)


def leave_quietly_while_importing() -> None:
    """End a node's process at once where it is interrupted before it holds anything."""
    if is_node_process() and threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, lambda *_: os._exit(0))


def is_node_process() -> bool:
    """Return whether this process was started as a node of the suite."""
    words = sys.orig_argv[1:]
    program = Path(sys.argv[0]).name if sys.argv else ''
    return program in PROGRAMS or any(
        flag == '-m' and name in PROGRAMS.values()
        for flag, name in zip(words, words[1:]))
