"""A first stage that is long to load, or to end; run as ``python -m slow_node SECONDS WHERE``."""

import sys
import time

from gripsim_ros.ros.nodes.base import node_base
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode

SECONDS, WHERE = float(sys.argv[1]), sys.argv[2]


class SlowNode(ForwardKinematicsNode):
    """Sleeps where it is told to, in pieces, as a compiler lets go now and then."""

    def warm_up(self):
        super().warm_up()
        self._sleep('load')

    def close(self):
        self._sleep('end')
        super().close()

    def _sleep(self, where):
        end = time.monotonic() + SECONDS * (where == WHERE)
        while time.monotonic() < end:
            time.sleep(0.01)


if __name__ == '__main__':
    node_base.is_node_process = lambda: True
    sys.exit(node_base.run(SlowNode, []))
