"""How a command that listens only finds the running suite."""

import os

from .inputs import InputError
from .output import say


def join_running_suite(instead: str) -> None:
    """
    Point this process at the running suite: one of ``gripsim suite up``, else of domain 0.

    Nodes that ``ros2 launch`` began tell nobody of their domain; where ``ROS_DOMAIN_ID`` is not
    set, it is that of ROS 2.

    Parameters
    ----------
    instead : str
        What else the user may do, for the error.

    Raises
    ------
    InputError
        There is none.
    """
    from ...ros.environment import DEFAULT_DOMAIN, DOMAIN, join_suite
    if join_suite():
        return
    from ...ros.clients.suite import has_nodes
    before = dict(os.environ)
    os.environ[DOMAIN] = str(DEFAULT_DOMAIN)
    join_suite()    # one looks as one listens: on this machine alone, with the same profile
    if not has_nodes(DEFAULT_DOMAIN):
        os.environ.clear()
        os.environ.update(before)
        raise InputError(f'no suite is running here: none of `gripsim suite up`, and no node of '
                         f'one in ROS domain {DEFAULT_DOMAIN}; start one, set {DOMAIN}, or '
                         f'{instead}')
    say(f'{DOMAIN} is not set: the suite of ROS domain {DEFAULT_DOMAIN}')
