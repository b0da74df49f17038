"""Tells others where frames are, by TF."""

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher

from ...conversions import transform_to_msg

try:
    from tf2_msgs.msg import TFMessage
except ModuleNotFoundError:
    TFMessage = None

Array = NDArray[np.float64]


class FrameBroadcaster:
    """
    Sends transforms.

    Parameters
    ----------
    node : Node
    publisher : Publisher or None
        Of `/tf`, or `/tf_static` where frames rest; None where tf2_msgs is not installed.
    """

    def __init__(self, node: Node, publisher: Publisher | None) -> None:
        """Keep the topic."""
        self._node, self._publisher = node, publisher

    def send(self, parent: str, poses: Sequence[tuple[str, Array]],
             stamp: Time | None = None) -> None:
        """
        Tell where frames are in their parent; a parent without a name tells nothing.

        Parameters
        ----------
        parent : str
        poses : sequence of (str, (4, 4) float)
            Names of frames and ``T_parent_frame``; a frame in itself is left out.
        stamp : Time, optional
            When they were there; None or 0: now.
        """
        if stamp is None or not (stamp.sec or stamp.nanosec):
            stamp = self._node.get_clock().now().to_msg()
        transforms = []
        for name, T_parent_frame in poses:
            stamped = TransformStamped(child_frame_id=name.lstrip('/'),
                                       transform=transform_to_msg(T_parent_frame))
            stamped.header.frame_id, stamped.header.stamp = parent.lstrip('/'), stamp
            if stamped.header.frame_id not in ('', stamped.child_frame_id):
                transforms.append(stamped)
        if transforms:
            self.publish(transforms)

    def publish(self, transforms: list[TransformStamped]) -> None:
        """Send transforms."""
        if self._publisher is not None:
            self._publisher.publish(TFMessage(transforms=transforms))
