"""
The joint controller's firmware: a request in, its answer out, as a line or as a binary frame.

Written from the notes of what hosts send and accept. [I] marks what is inferred: numbers have
one decimal, the answer to `stop`, the order of range checks, and what temperatures do.
"""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .grips import POSTURES, SELECT_VELOCITY, posture
from .motion import AXES, RAMP, SIN_SQUARE, Motors
from .requests import CODES, BinaryRequest, binary_answer

#: Error codes that are used.
ALREADY_RUNNING, FEATURE_NOT_SUPPORTED, CRC_ERROR = 3, 4, 33
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
    power_off_on_disconnect: bool = False


@dataclass
class Record:
    """
    What was asked of the hand, for tests: that nothing unsafe ever was.

    ``commands`` are (time, request) of all that was understood; ``moves`` are
    (time, angles at the start, targets, speeds, accelerations) of each `m`, ``drives`` are
    (time, angles, velocities) in velocity control, at most one each ``DRIVE_PERIOD``.
    """

    commands: list = field(default_factory=list)
    moves: list = field(default_factory=list)
    drives: list = field(default_factory=list)
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
                     'p_offset': AXES * [0.0], 'p_min': list(self.identity.p_min),
                     'p_max': list(self.identity.p_max), 'kv': AXES * [1.0],
                     'pos_save': AXES * [0.0], 'ref': AXES * [0.0]}
        self.switches = dict.fromkeys(SWITCHES, 0)
        self.pid = [[0.0, 0.0, 0.0] for _ in range(AXES)]
        self.profile, self.controller, self.grip = 0, 0, 0
        self._deaf_until = 0.0

    def advance(self) -> None:
        """Let time pass up to now."""
        with self.lock:
            now = self._clock()
            self.motors.advance(min(now - self._last, 5.0), self.sets['p_min'],
                                self.sets['p_max'])
            self._last = now

    def deaf(self) -> float:
        """Return for how long nothing is answered: a grip of its own is under way [s]."""
        with self.lock:
            return self._deaf_until - self._clock()

    def disconnected(self) -> None:
        """Keep the axes as they are, as the hand does; or switch them off, as it may be told."""
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

    def answer_binary(self, request: BinaryRequest) -> bytes:
        """Return the answer to a binary request."""
        name = CODES.get(request.code)
        with self.lock:
            self.advance()
            try:
                if not request.intact:
                    raise Refused(CRC_ERROR)
                if name is None:
                    raise Refused(FEATURE_NOT_SUPPORTED)
                self._note(f'{name}={",".join(f"{v:.6f}" for v in request.values)}'
                           if request.values else name)
                return binary_answer(request, 0, self._axes(name, request.values, None))
            except Refused as refused:
                return binary_answer(request, refused.code)

    def _note(self, text: str) -> None:
        self.record.commands.append((self._last, text))

    def _answer(self, text: str) -> str:
        found = _REQUEST.fullmatch(text)
        if not found:
            raise Refused(CMD_FORMAT)
        name, axis, value = found[1], found[2], found[3]
        handler = getattr(self, f'_do_{name}', None)
        if handler is None and name not in (*READ, *self.sets, *COMBINED, *LISTS, *TEXTS,
                                            *SWITCHES):
            raise Refused(CMD_UNKNOWN)
        index = int(axis) if axis is not None else None
        if index is not None and index >= AXES:
            raise Refused(INDEX)
        self._note(text)
        if handler is not None:
            return handler(value, index)
        if name in TEXTS:
            self._no_value(value)
            return f'{name.upper()}={TEXTS[name](self.identity)}'
        if name in SWITCHES:
            return self._switch(name, value)
        if name in ONE_AXIS and index is None:
            raise Refused(NOT_ENOUGH_PARAMS)
        values = () if value is None else self._numbers(value, 1 if index is not None else AXES)
        return self._told(name, self._axes(name, values, index), index)

    def _switch(self, name: str, value: str | None) -> str:
        """[I] `terminal` echoes requests; what the others do is not seen here."""
        if value is not None:
            (number,) = self._numbers(value, 1)
            if number not in (0, 1):
                raise Refused(INVALID_PARAMETER)
            self.switches[name] = int(number)
        return f'{name.upper()}={self.switches[name]}'

    def _axes(self, name: str, values, index: int | None) -> list[float]:
        """Set what is given of one axis or of all, and return what the answer tells of all."""
        setting, reading = COMBINED.get(name, (name, name))
        if values:
            if setting not in (*self.sets, 'power'):
                raise Refused(NO_PARAMS_EXPECTED)
            self._set(setting, values, index)
        return self._read(reading)

    def _read(self, name: str) -> list[float]:
        axes = self.motors.axes
        if name == 'rvel' and self.controller != 2:
            raise Refused(FEATURE_NOT_SUPPORTED)                # [I]
        if name in READ:
            return {'pos': [axis.angle for axis in axes],
                    'vel': [axis.velocity for axis in axes],
                    'rvel': [axis.reference for axis in axes],
                    'power': [float(on) for on in self.motors.power],
                    'state': [float(state) for state in self.motors.states()]}[name]
        return list(self.sets[name] if name in self.sets else getattr(self.identity, name))

    def _told(self, name: str, values, index: int | None) -> str:
        decimals = 0 if name in ('state', 'power') else self.identity.decimals
        words = [f'{value:.{decimals}f}' for value in values]
        if index is not None:
            return f'{name.upper()}({index})={words[index]}'
        return f'{name.upper()}=' + ','.join(words)

    def _set(self, name: str, values, index: int | None) -> None:
        axes = range(AXES) if index is None else (index,)
        low, high = self._range(name)
        for axis, value in zip(axes, values):
            if not low[axis] - ROUNDING <= value <= high[axis] + ROUNDING:
                raise Refused(RANGE_ERROR)
        if name == 'power':
            power = list(self.motors.power)
            for axis, value in zip(axes, values):
                power[axis] = value != 0.0
            self.motors.switch(power)
        for axis, value in zip(axes, values if name != 'power' else ()):
            self.sets[name][axis] = value
        if name in ('v', 'a', 'power') and self.controller:
            self._drive()
        if name == 'ref':
            self._refer([(axis, value) for axis, value in zip(axes, values) if value])

    def _refer(self, axes) -> None:
        """[I] Let axes find their blocks, the limits here, one way (1) or the other (2)."""
        for axis, way in axes:
            self.motors.power[axis] = True
            one = self.motors.axes[axis]
            target = self.sets['p_max' if way == 1.0 else 'p_min'][axis]
            one.begin(target, RAMP, REFER_VELOCITY, 100.0, 0.0)
            took = abs(target - one.angle) / REFER_VELOCITY + REFER_VELOCITY / 100.0
            self._deaf_until = max(self._deaf_until, self._clock() + took)

    def _drive(self) -> None:
        """Let velocities act; the first of the two controllers knows no ramp."""
        drives = self.record.drives
        if any(self.sets['v']) and (not drives or self._last - drives[-1][0] > DRIVE_PERIOD):
            drives.append((self._last, [axis.angle for axis in self.motors.axes],
                           list(self.sets['v'])))
        self.motors.drive(self.sets['v'], self.sets['a'] if self.controller == 2
                          else AXES * [float('inf')])

    def _range(self, name: str) -> tuple:
        vlim, sets = self.identity.vlim, self.sets
        slowest = [-v for v in vlim] if self.controller else AXES * [0.0]
        return {'p': (sets['p_min'], sets['p_max']), 'v': (slowest, vlim),
                'a': (AXES * [0.0], self.identity.alim), 'ref': (AXES * [0.0], AXES * [2.0]),
                'power': (AXES * [0.0], AXES * [1.0]), 'pos_save': (AXES * [0.0], AXES * [1.0]),
                'p_min': (AXES * [-360.0], sets['p_max']),
                'p_max': (sets['p_min'], AXES * [360.0]),
                **dict.fromkeys(('ilim', 'igrip', 'ihold'), (AXES * [0.0], AXES * [1.0])),
                }.get(name, (AXES * [-1e6], AXES * [1e6]))

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
        if self.controller:
            raise Refused(INVALID_PARAMETER)
        sets = self.sets
        self.record.moves.append((self._last, [axis.angle for axis in self.motors.axes],
                                  list(sets['p']), list(sets['v']), list(sets['a'])))
        duration = self.motors.move(sets['p'], self.profile, sets['v'], sets['a'])
        return f'M={duration:.2f}'

    def _do_get_duration(self, value, index) -> str:
        self._no_value(value)
        duration = self.motors.duration(self.sets['p'], self.profile, self.sets['v'],
                                        self.sets['a'])
        return f'GET_DURATION={duration:.2f}'

    def _do_stop(self, value, index) -> str:
        self._no_value(value)
        self.record.stops.append(self._last)
        self.motors.stop(self.sets['a'])
        if self.controller:
            self.sets['v'] = AXES * [0.0]
        return 'STOP'                                   # [I]

    def _do_vp(self, value, index) -> str:
        if value is not None:
            (number,) = self._numbers(value, 1)
            if number not in (0, 1):
                raise Refused(INVALID_PARAMETER)
            if bool(number) != bool(self.profile) and self.motors.moving:
                raise Refused(ALREADY_RUNNING)                  # [I] the code
            self.profile = RAMP if number else SIN_SQUARE
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
            if self.controller:
                self._drive()
            else:
                self.motors.pose()
        return f'CON={self.controller}'

    def _do_pid(self, value, index) -> str:
        if index is None:
            raise Refused(NOT_ENOUGH_PARAMS)
        if value is not None:
            self.pid[index] = self._numbers(value, 3)
        return f'PID({index})=' + ','.join(f'{gain:.3f}' for gain in self.pid[index])

    def _do_selgrip(self, value, index) -> str:
        """Choose one of the hand's own grips and open it."""
        (number,) = self._numbers(value or '', 1)
        if number not in range(len(POSTURES)):
            raise Refused(RANGE_ERROR)
        self.grip = int(number)
        return f'SELGRIP={self._grip(0.0, SELECT_VELOCITY):.2f},{self.grip}'

    def _do_grip(self, value, index) -> str:
        """Close the chosen grip by a share; it holds with the currents of gripping."""
        share, velocity = self._numbers(value or '', 2)
        if not 0.0 <= share <= 1.0 or not 0.0 < velocity <= 100.0:
            raise Refused(RANGE_ERROR)
        self.sets['ilim'] = list(self.sets['igrip'])
        return f'GRIP={self._grip(share, velocity):.2f},{share:g}'

    def _grip(self, share: float, velocity: float) -> float:
        """Move, deaf until it has ended; return how long that takes [s]."""
        if self.controller:
            raise Refused(INVALID_PARAMETER)
        self.sets['p'] = posture(self.grip, share)
        self.sets['v'] = [min(velocity, limit) for limit in self.identity.vlim]
        told = self._do_m(None, None)
        self._deaf_until = self._clock() + float(told.partition('=')[2])
        return float(told.partition('=')[2])

    def _do_temp(self, value, index) -> str:
        self._no_value(value)
        return 'TEMP=' + ','.join(f'{degrees:.1f}' for degrees in self.temperatures)

    def _do_numaxis(self, value, index) -> str:
        self._no_value(value)
        return f'NUMAXIS={AXES}'


#: Axis values that are measured, and limits; neither can be set.
READ, LISTS = ('pos', 'vel', 'rvel', 'state', 'power'), ('vlim', 'alim')
#: What one command sets and another value that its answer tells.
COMBINED = {'tpap': ('p', 'pos'), 'tvav': ('v', 'vel')}
#: Asked for one axis at a time.
ONE_AXIS = ('kv',)
SWITCHES = ('user_errors', 'terminal', 'debug', 'demo')
#: Between two entries of the record [s].
DRIVE_PERIOD = 0.05
#: Velocity of `ref` [deg/s].
REFER_VELOCITY = 25.0
#: A value at a limit, rounded to a float of 32 bits or to a decimal, is within it [deg].
ROUNDING = 1e-4
#: Texts of the identity.
TEXTS = {'ver': lambda me: me.version, 'ver_date': lambda me: '2011-02-01', 'id': lambda me: 'SDH',
         'sn': lambda me: me.serial, 'soc': lambda me: '0.0.1.0',
         'soc_date': lambda me: '2010-06-01'}
