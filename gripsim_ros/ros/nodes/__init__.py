"""
One process each: ``python -m gripsim_ros.ros.nodes.NAME``.

``node_base`` and ``stage_node`` are what the nodes have in common, ``dispatcher`` is
the planner's end of the ring, without ROS.
"""

from ..environment import require_interfaces
from .base.interrupts import leave_quietly_while_importing

leave_quietly_while_importing()
require_interfaces()
