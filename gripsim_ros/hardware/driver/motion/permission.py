"""Whether anything may move: the latch of the emergency stop, the motors, heat."""

import threading

from ..link.errors import StateError
from ..options import MotionOptions
from .heat import HeatGuard

#: As the hand does by itself (a motion switches them on), or as was asked for.
MOTORS_AUTO, MOTORS_ON, MOTORS_OFF = 'auto', 'on', 'off'


class Permission:
    """
    What forbids motion; the latch may be closed from any thread, at once.

    Attributes
    ----------
    latched : str
        Why the hand was stopped for good; '' where it was not.
    motors : str
    heat : HeatGuard
    cuts : int
        Emergency stops so far.
    """

    def __init__(self, options: MotionOptions) -> None:
        """Forbid nothing."""
        self._lock = threading.Lock()
        self.latched, self.motors, self.cuts = '', MOTORS_AUTO, 0
        self.heat = HeatGuard(options)

    def latch(self, reason: str) -> None:
        """Close the latch; the first reason stands."""
        with self._lock:
            self.latched = self.latched or reason
            self.cuts += 1

    def unlatch(self, cuts: int) -> None:
        """
        Open the latch, as it was closed when there had been ``cuts`` stops.

        Raises
        ------
        StateError
            Another stop came meanwhile.
        """
        with self._lock:
            if cuts != self.cuts:
                raise StateError('stopped again while recovering')
            self.latched, self.motors = '', MOTORS_AUTO

    def why_not(self) -> str:
        """Return why nothing may move; '' where it may."""
        if self.latched:
            return f'stopped until recover: {self.latched}'
        if self.motors == MOTORS_OFF:
            return 'the motors are switched off'
        return 'the hand is too hot' if self.heat.hot else ''
