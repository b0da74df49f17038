"""Quality of service of what many call at once: every call is answered, BUSY at worst."""

from rclpy.qos import QoSProfile

#: Calls, and answers to them, that wait at once; by default ROS keeps ten and drops the others
#: without a word. Answers of a service go to all of its clients, so that these, too, keep many.
MOST_WAITING = 512
#: Feedback that waits, of seconds: on a busy machine whoever listens misses none of the phases.
FEEDBACK_DEPTH = 100


def many_calls() -> QoSProfile:
    """Return the quality of a service and of its clients."""
    return QoSProfile(depth=MOST_WAITING)


def action_server_quality() -> dict[str, QoSProfile]:
    """Return the qualities of an action's server, by argument."""
    return {**_action_calls(), 'feedback_pub_qos_profile': _feedback()}


def action_client_quality() -> dict[str, QoSProfile]:
    """Return the qualities of an action's client, by argument."""
    return {**_action_calls(), 'feedback_sub_qos_profile': _feedback()}


def _action_calls() -> dict[str, QoSProfile]:
    return {f'{name}_service_qos_profile': many_calls() for name in ('goal', 'result', 'cancel')}


def _feedback() -> QoSProfile:
    return QoSProfile(depth=FEEDBACK_DEPTH)
