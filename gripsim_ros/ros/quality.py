"""Quality of service of what many call at once: every call is answered, BUSY at worst."""

from rclpy.qos import QoSProfile

#: Calls, and answers to them, that wait at once; by default ROS keeps ten and drops the others
#: without a word. Answers of a service go to all of its clients, so that these, too, keep many.
MOST_WAITING = 512


def many_calls() -> QoSProfile:
    """Return the quality of a service and of its clients."""
    return QoSProfile(depth=MOST_WAITING)


def many_goals() -> dict[str, QoSProfile]:
    """Return the qualities of an action's services, by argument of its server or client."""
    return {f'{name}_service_qos_profile': many_calls() for name in ('goal', 'result', 'cancel')}
