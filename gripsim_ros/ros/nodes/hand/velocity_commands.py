"""Velocities of the joints by a topic, for programs that close a loop of their own."""

import threading

import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_msgs.msg import Float64MultiArray

from ....core.errors import GripsimError
from ....hardware.driver.link.errors import DriverError
from ....hardware.driver.motion.motions import Motion, Outcome
from ....hardware.driver.session import HandSession
from ..base.node_base import SuiteNode, one_line, reliable

#: Messages that may wait; an old one is worth nothing.
DEPTH = 1


class VelocityCommands:
    """
    Takes `~/velocities` in velocity mode, and only then.

    Parameters
    ----------
    node : SuiteNode
    session : HandSession
    order : threading.Lock
        Held while something is begun, and while a stop is noted: none comes after it.

    Attributes
    ----------
    on : bool
        Whether it is velocity mode. Stops and faults end it: what goes on being sent moves
        nothing then, until the mode is asked for again.
    """

    def __init__(self, node: SuiteNode, session: HandSession, order: threading.Lock) -> None:
        """Listen; in position mode."""
        self._node, self._session, self._order = node, session, order
        self._motion: Motion | None = None
        self.on = False
        node.create_subscription(Float64MultiArray, '~/velocities', self._take, reliable(DEPTH),
                                 callback_group=MutuallyExclusiveCallbackGroup())

    def _take(self, msg: Float64MultiArray) -> None:
        """Let the joints turn, in the order of `joint_states` [rad/s]."""
        try:
            velocities = np.array(msg.data)
            count = len(self._node.hand.joint_names)
            if velocities.shape != (count,):
                raise DriverError(f'must be {count} numbers, got {len(velocities)}')
            with self._order:
                if not self.on or not self._node.active:
                    raise DriverError('are taken in velocity mode alone: call ~/velocity_mode')
                if self._motion is None or self._motion.done.is_set():
                    self._motion = Motion(self._node.hand.joint_names, [], [], on_done=self._end)
                self._session.steer(self._motion, velocities)
        except GripsimError as error:
            self._node.report_error(f'velocities: {one_line(error)}')

    def _end(self, motion: Motion) -> None:
        if motion.outcome in (Outcome.FAILED, Outcome.STOPPED):
            self.on = False
        if motion.outcome in (Outcome.FAILED, Outcome.REFUSED):
            self._node.report_error(f'velocities: {motion.message}')
