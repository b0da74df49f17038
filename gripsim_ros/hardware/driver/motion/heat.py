"""Whether the hand is too hot to move."""

from collections.abc import Mapping

from ..options import MotionOptions


class HeatGuard:
    """
    Hot from one temperature on, until all are below a lower one.

    Attributes
    ----------
    hot : bool
    temperatures : dict of str to float
        As last told [deg C].
    """

    def __init__(self, options: MotionOptions) -> None:
        """Start cool."""
        self._options = options
        self.hot = False
        self.temperatures: dict[str, float] = {}

    def take(self, temperatures: Mapping[str, float]) -> str:
        """Take what was measured; return what became too hot, or ''."""
        self.temperatures = dict(temperatures)
        hottest = max(self.temperatures, key=self.temperatures.get)
        degrees = self.temperatures[hottest]
        if degrees < self._options.cool_temperature:
            self.hot = False
        if degrees < self._options.max_temperature or self.hot:
            return ''
        self.hot = True
        return (f'{hottest} is at {degrees:.0f} deg C, '
                f'allowed are {self._options.max_temperature:.0f}')
