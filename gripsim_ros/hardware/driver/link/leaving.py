"""Leaving a hand whose link was lost: it keeps its power, and nobody watches it."""

import logging
from collections.abc import Sequence

from ..options import LinkOptions, MotionOptions
from .channel import CommandChannel
from .errors import DriverError
from .joint_controller import SdhHand
from .transport import open_transport

log = logging.getLogger(__name__)


def reach_and_leave(link: LinkOptions, joint_names: Sequence[str], motion: MotionOptions) -> None:
    """Open the link once more, stop the hand and switch its axes off; what fails is logged."""
    transport = None
    try:
        transport = open_transport(link.address, link.connect_timeout)
        channel = CommandChannel(transport, link)
        channel.wake()
        SdhHand(channel, joint_names, motion).leave()
    except DriverError as error:
        log.warning('the axes may still be switched on: %s', error)
    finally:
        if transport is not None:
            transport.close()
