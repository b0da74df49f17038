"""A first stage long to load, deafly too, or to end; ``python -m slow_node SECONDS WHERE``."""

import sys
import time

from gripsim_ros.ros.nodes.base import node_base
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode

SECONDS, WHERE = float(sys.argv[1]), sys.argv[2]


class Deaf:
    """Takes a moment to be thrown away, and loses what is raised in it meanwhile."""

    def __del__(self):
        time.sleep(0.01)


class SlowNode(ForwardKinematicsNode):
    """Sleeps where it is told to, in pieces, as a compiler lets go now and then."""

    def warm_up(self):
        super().warm_up()
        self._sleep('load', lambda: time.sleep(0.01))
        self._sleep('deaf', Deaf)

    def close(self):
        self._sleep('end', lambda: time.sleep(0.01))
        super().close()

    def _sleep(self, where, moment):
        if where != WHERE:
            return
        print(where, flush=True)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            moment()


if __name__ == '__main__':
    node_base.is_node_process = lambda: True
    sys.exit(node_base.run(SlowNode, []))
