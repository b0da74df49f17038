"""
The joint controller's firmware: a line in, lines out.

Written from the notes of what hosts send and accept. [I] marks what is inferred: numbers have
one decimal, the answer to `stop`, the order of range checks, that closing the link switches the
axes off, and what temperatures do.
"""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .motion import AXES, RAMP, Motors

#: Error codes that are used.
NOT_ENOUGH_PARAMS, NO_PARAMS_EXPECTED, CMD_UNKNOWN, CMD_FORMAT = 11, 12, 13, 14
INVALID_PARAMETER, RANGE_ERROR, INDEX, AXIS_DISABLED, OVER_TEMPERATURE = 23, 24, 26, 28, 29
_REQUEST = re.compile(r'([a-z_]+)(?:\((\d+)\))?\s*(?:=\s*(.*))?')


class Refused(Exception):
    """An error code is the answer."""

    def __init__(self, code: int) -> None:
        """Keep the code."""
        super().__init__(f'E{code}')
        self.code = code


@dataclass
class Identity:
    """What the hand says of itself, and its limits [deg], [deg/s], [deg/s^2], [A]."""

    version: str = '0.0.3.3'
    serial: str = '000042'
    decimals: int = 1
    vlim: tuple = (83.0, 140.0, 200.0, 140.0, 200.0, 140.0, 200.0)
    alim: tuple = (5000.0, 400.0, 1500.0, 400.0, 1500.0, 400.0, 1500.0)
    p_min: tuple = (0.0, *6 * (-90.0,))
    p_max: tuple = 7 * (90.0,)
    angles: tuple = 7 * (0.0,)
    power_off_on_disconnect: bool = True


@dataclass
class Record:
    """
    What was asked of the hand, for tests: that nothing unsafe ever was.

    ``commands`` are (time, request) of all that was understood; ``moves`` are
    (time, angles at the start, targets, speeds, accelerations) of each `m`.
    """

    commands: list = field(default_factory=list)
    moves: list = field(default_factory=list)
    stops: list = field(default_factory=list)


class Firmware:
    """
    The joint controller; may be asked from several threads.

    Parameters
    ----------
    identity : Identity
    clock : callable
        Seconds.

    Attributes
    ----------
    motors : Motors
    temperatures : list of float, (9,)
        Seven motors, FPGA, board [deg C]; set them as you like.
    hot : float
        [I] From here on `m` is refused with OVER_TEMPERATURE.
    record : Record
    """

    def __init__(self, identity: Identity | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Switch on."""
        self.identity = identity or Identity()
        self._clock, self._last = clock, clock()
        self.lock = threading.RLock()
        self.motors = Motors(self.identity.angles)
        self.temperatures = [*AXES * [35.0], 42.0, 40.0]
        self.hot = 100.0
        self.record = Record()
        self.sets = {'p': list(self.identity.angles), 'v': AXES * [40.0], 'a': AXES * [100.0],
                     'ilim': [1.0] + 6 * [0.8], 'igrip': AXES * [0.5], 'ihold': AXES * [0.2],
                     'p_offset': AXES * [0.0]}
        self.profile, self.controller = 0, 0
        self._duration = 0.0

    def advance(self) -> None:
        """Let time pass up to now."""
        with self.lock:
            now = self._clock()
            self.motors.advance(min(now - self._last, 5.0))
            self._last = now

    def disconnected(self) -> None:
        """[I] Closing the connection switches the axes off, the vendor says."""
        with self.lock:
            self.advance()
            if self.identity.power_off_on_disconnect:
                self.motors.switch(AXES * [False])

    def answer(self, line: str) -> str | None:
        """Return the answer to a request, None to an empty one."""
        text = line.strip()
        if not text:
            return None
        with self.lock:
            self.advance()
            try:
                return self._answer(text)
            except Refused as refused:
                return f'E{refused.code}'

    def _answer(self, text: str) -> str:
        found = _REQUEST.fullmatch(text)
        if not found:
            raise Refused(CMD_FORMAT)
        name, axis, value = found[1], found[2], found[3]
        handler = getattr(self, f'_do_{name}', None)
        if handler is None and name not in ('pos', 'vel', *self.sets, *LISTS, *TEXTS):
            raise Refused(CMD_UNKNOWN)
        index = int(axis) if axis is not None else None
        if index is not None and index >= AXES:
            raise Refused(INDEX)
        self.record.commands.append((self._last, text))
        if handler is not None:
            return handler(value, index)
        if name in TEXTS:
            self._no_value(value)
            return f'{name.upper()}={TEXTS[name](self.identity)}'
        return self._axes(name, value, index)

    def _axes(self, name: str, value: str | None, index: int | None) -> str:
        """Answer the generic commands of the axes."""
        if value is not None:
            if name not in self.sets:
                raise Refused(NO_PARAMS_EXPECTED)
            self._set(name, self._numbers(value, 1 if index is not None else AXES), index)
        values = {'pos': [axis.angle for axis in self.motors.axes],
                  'vel': [axis.velocity for axis in self.motors.axes]}.get(name)
        if values is None:
            values = self.sets[name] if name in self.sets else list(
                getattr(self.identity, name))
        return self._told(name, values, index)

    def _told(self, name: str, values, index: int | None) -> str:
        words = [f'{value:.{self.identity.decimals}f}' for value in values]
        if index is not None:
            return f'{name.upper()}({index})={words[index]}'
        return f'{name.upper()}=' + ','.join(words)

    def _set(self, name: str, values: list[float], index: int | None) -> None:
        axes = range(AXES) if index is None else (index,)
        low, high = self._range(name)
        for axis, value in zip(axes, values):
            if not low[axis] - 1e-6 <= value <= high[axis] + 1e-6:
                raise Refused(RANGE_ERROR)
        for axis, value in zip(axes, values):
            self.sets[name][axis] = value

    def _range(self, name: str) -> tuple:
        me = self.identity
        return {'p': (me.p_min, me.p_max), 'v': (AXES * [0.0], me.vlim),
                'a': (AXES * [0.0], me.alim)}.get(name, (AXES * [-360.0], AXES * [360.0])) \
            if name not in ('ilim', 'igrip', 'ihold') else (AXES * [0.0], AXES * [1.0])

    @staticmethod
    def _numbers(value: str, count: int) -> list[float]:
        try:
            numbers = [float(word) for word in value.split(',')]
        except ValueError:
            raise Refused(CMD_FORMAT) from None
        if len(numbers) != count:
            raise Refused(NOT_ENOUGH_PARAMS if len(numbers) < count else INVALID_PARAMETER)
        return numbers

    @staticmethod
    def _no_value(value: str | None) -> None:
        if value is not None:
            raise Refused(NO_PARAMS_EXPECTED)

    # -- commands of their own -----------------------------------------------------------

    def _do_m(self, value, index) -> str:
        self._no_value(value)
        if max(self.temperatures[:AXES]) >= self.hot:
            raise Refused(OVER_TEMPERATURE)
        if self.controller != 0:
            raise Refused(INVALID_PARAMETER)
        sets = self.sets
        self.record.moves.append((self._last, [axis.angle for axis in self.motors.axes],
                                  list(sets['p']), list(sets['v']), list(sets['a'])))
        self._duration = self.motors.move(sets['p'], self.profile, sets['v'], sets['a'])
        return f'M={self._duration:.2f}'

    def _do_get_duration(self, value, index) -> str:
        self._no_value(value)
        duration = self.motors.duration(self.sets['p'], self.profile, self.sets['v'],
                                        self.sets['a'])
        return f'GET_DURATION={duration:.2f}'

    def _do_stop(self, value, index) -> str:
        self._no_value(value)
        self.record.stops.append(self._last)
        self.motors.stop(self.sets['a'])
        return 'STOP'                                   # [I]

    def _do_vp(self, value, index) -> str:
        if value is not None:
            (number,) = self._numbers(value, 1)
            if number not in (0, 1):
                raise Refused(INVALID_PARAMETER)
            self.profile = RAMP if number else 0
        return f'VP={self.profile}'

    def _do_con(self, value, index) -> str:
        if value is not None:
            (number,) = self._numbers(value, 1)
            if number not in (0, 1, 2):
                raise Refused(INVALID_PARAMETER)
            self.controller = int(number)
            self.sets['v'] = AXES * [40.0 if number == 0 else 0.0]
            self.sets['a'] = AXES * [100.0]
            self.sets['p'] = AXES * [0.0]               # so that `m` now would go to zero
        return f'CON={self.controller}'

    def _do_power(self, value, index) -> str:
        if value is not None:
            numbers = self._numbers(value, 1 if index is not None else AXES)
            power = list(self.motors.power)
            for axis, number in zip(range(AXES) if index is None else (index,), numbers):
                power[axis] = number != 0.0
            self.motors.switch(power)
        flags = [str(int(on)) for on in self.motors.power]
        return 'POWER=' + ','.join(flags) if index is None else f'POWER({index})={flags[index]}'

    def _do_state(self, value, index) -> str:
        self._no_value(value)
        states = [str(state) for state in self.motors.states()]
        return 'STATE=' + ','.join(states) if index is None else f'STATE({index})={states[index]}'

    def _do_temp(self, value, index) -> str:
        self._no_value(value)
        return 'TEMP=' + ','.join(f'{degrees:.1f}' for degrees in self.temperatures)

    def _do_numaxis(self, value, index) -> str:
        self._no_value(value)
        return f'NUMAXIS={AXES}'


#: Limits that are read like axis values.
LISTS = ('vlim', 'alim', 'p_min', 'p_max')
#: Texts of the identity.
TEXTS = {'ver': lambda me: me.version, 'ver_date': lambda me: '2011-02-01', 'id': lambda me: 'SDH',
         'sn': lambda me: me.serial, 'soc': lambda me: '0.0.1.0',
         'soc_date': lambda me: '2010-06-01'}
