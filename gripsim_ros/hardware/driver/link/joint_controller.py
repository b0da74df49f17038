"""
The hand's joint controller in SI units and in the joint order of the caller.

Degrees and the firmware's order of axes end here. Pose control with the ramp profile is used, and
velocities with a ramp; `grip` and `selgrip` are not, because nothing interrupts them.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..options import MotionOptions
from .channel import CommandChannel
from .errors import CMD_UNKNOWN, FirmwareError, MalformedError
from .protocol import (
    AXIS_COUNT, AXIS_JOINTS, TEMPERATURE_NAMES, parse_duration, parse_numbers, parse_version,
    set_all)

Array = NDArray[np.float64]
DEGREE = math.pi / 180.0
#: Reply time of the first question after connecting [s].
VERSION_TIMEOUT = 1.0
#: Firmware that has limits of acceleration, and of velocity.
VERSION_ALIM, VERSION_VLIM = (0, 0, 2, 7), (0, 0, 2, 1)
#: What the vendor's library assumes of older firmware, by axis [deg/s], [deg/s^2].
OLD_VLIM = (85.7, 200.0, 157.8, 200.0, 157.8, 200.0, 157.8)
OLD_ALIM = (5000.0, 400.0, 1500.0, 400.0, 1500.0, 400.0, 1500.0)
#: Controllers: targets with `m`; velocities with a ramp.
POSE, VELOCITY_RAMP = 0, 2
#: Velocities of zero, for sending without waiting; for so long a hand that brakes is waited [s].
STILL, BRAKING = 'v=' + ','.join(AXIS_COUNT * ['0']), 2.0
#: Power of all axes off, likewise.
OFF = 'power=' + ','.join(AXIS_COUNT * ['0'])
#: Range of the axes where the hand does not tell [deg].
RANGE_LOW = (0.0, *6 * (-90.0,))
RANGE_HIGH = 7 * (90.0,)


@dataclass(frozen=True, eq=False)
class HandIdentity:
    """
    What the hand says of itself when it is connected; arrays in the caller's joint order.

    Attributes
    ----------
    version : tuple of int
        Of the firmware.
    names : dict of str
        Texts by command: ``ver``, ``sn``, ``id``, ….
    velocity_limits, acceleration_limits : (7,) float
        [rad/s], [rad/s^2].
    lower, upper : (7,) float
        Soft limits [rad].
    current_limits : (7,) float
        For moving [A].
    """

    version: tuple[int, ...]
    names: dict[str, str]
    velocity_limits: Array
    acceleration_limits: Array
    lower: Array
    upper: Array
    current_limits: Array


class SdhHand:
    """
    Commands of the hand; every method raises what ``CommandChannel.request`` does.

    Parameters
    ----------
    channel : CommandChannel
    joint_names : sequence of str, (7,)
        The caller's order.
    options : MotionOptions
    """

    def __init__(self, channel: CommandChannel, joint_names: Sequence[str],
                 options: MotionOptions) -> None:
        """Work out the order."""
        if sorted(joint_names) != sorted(AXIS_JOINTS):
            raise MalformedError(f'the SDH has the joints {list(AXIS_JOINTS)}, '
                                 f'got {list(joint_names)}')
        self.channel, self._options = channel, options
        self._axis_of_joint = [AXIS_JOINTS.index(name) for name in joint_names]
        self._joint_of_axis = [list(joint_names).index(name) for name in AXIS_JOINTS]
        #: How often a request is sent in all; None: as in the link's options.
        self.tries: int | None = None
        #: Whether velocities act, as far as this host set it; and, then, those measured when the
        #: last ones were sent [rad/s].
        self.velocity_control = False
        self.turning = np.zeros(AXIS_COUNT)

    def connect(self) -> HandIdentity:
        """
        Find out who is there and prepare pose control with ramps; nothing moves.

        A motion that is under way (another host's, or one begun before the link broke) is
        stopped. `con` sets all targets to zero, so they are set to the measured angles after.
        """
        self.channel.wake()
        self.channel.synchronise()
        self.channel.send_blind(STILL)              # refused in pose control
        self.stop()
        identity = self._identify()
        self._come_to_rest()
        self.take_pose_control()
        self.hold_here(identity)
        return identity

    def _come_to_rest(self) -> None:
        """Wait while the hand brakes: what is under way refuses another profile."""
        end = time.monotonic() + BRAKING
        while (np.abs(self.velocities()) > self._options.rest_velocity).any() \
                and time.monotonic() < end:
            time.sleep(BRAKING / 20.0)

    def take_pose_control(self) -> None:
        """Let targets act by `m`, with ramps; all of them are 0 now: ``hold_here`` comes next."""
        self._expect(f'con={POSE}', 'CON', POSE)
        self.velocity_control = False
        self._expect('vp=1', 'VP', 1)

    def take_velocity_control(self, accelerations: Array) -> None:
        """Let velocities act, reached with accelerations [rad/s^2]; all are 0 now."""
        self._expect(f'con={VELOCITY_RAMP}', 'CON', VELOCITY_RAMP)
        self.velocity_control, self.turning = True, np.zeros(AXIS_COUNT)
        self.set_accelerations(accelerations)
        self.set_power(True)

    def drive(self, velocities: Array) -> None:
        """Let the axes turn from now on [rad/s]; the answer tells how fast they do."""
        values = np.asarray(velocities, float)[self._joint_of_axis] / DEGREE
        self.turning = DEGREE * self._joints(self._numbers(set_all('tvav', values)))

    def controller_changed(self) -> bool:
        """Return whether another controller acts than this host set; it is noted as what acts."""
        acts = self._numbers('con', 1)[0]
        changed = acts != (VELOCITY_RAMP if self.velocity_control else POSE)
        self.velocity_control = acts != POSE
        return changed

    def _identify(self) -> HandIdentity:
        version = self.channel.request('ver', timeout=VERSION_TIMEOUT,
                                       read=lambda _, value: parse_version(value))
        names = {'ver': '.'.join(str(number) for number in version)}
        self._expect('numaxis', 'NUMAXIS', AXIS_COUNT)
        for command in ('sn', 'id', 'ver_date', 'soc', 'soc_date'):
            names[command] = self._optional(self.channel.request, command, '')
        old = version < VERSION_VLIM, version < VERSION_ALIM
        return HandIdentity(
            version, names,
            self._limits('vlim', OLD_VLIM, old[0]),
            self._limits('alim', OLD_ALIM, old[1]),
            self._limits('p_min', RANGE_LOW, False),
            self._limits('p_max', RANGE_HIGH, False),
            self._joints(self._numbers('ilim')))

    @staticmethod
    def _optional(ask: Callable[[str], Any], command: str, default: Any) -> Any:
        """Return an answer, or a default where the hand does not know the question."""
        try:
            return ask(command)
        except FirmwareError as error:
            if error.code != CMD_UNKNOWN:
                raise
            return default

    def _limits(self, command: str, default: Sequence[float], old: bool) -> Array:
        """Return limits that old firmware does not tell; degrees become radians."""
        return DEGREE * self._joints(
            default if old else self._optional(self._numbers, command, default))

    def _expect(self, command: str, name: str, value: float) -> None:
        """Ask, and refuse any other answer than ``value``."""
        (answer,) = self._numbers(command, 1)
        if answer != value:
            raise MalformedError(f'{command!r} should be answered with {name}={value:g}, '
                                 f'got {answer:g}')

    # -- reading -----------------------------------------------------------------------

    def positions(self) -> Array:
        """Return the measured angles [rad]."""
        return self._joints(self._numbers('pos')) * DEGREE

    def timed_positions(self) -> tuple[Array, float]:
        """Return the angles [rad], and when they were true: half-way from question to answer."""
        begun = time.monotonic()
        return self.positions(), 0.5 * (begun + time.monotonic())

    def velocities(self) -> Array:
        """Return the measured velocities [rad/s]."""
        return self._joints(self._numbers('vel')) * DEGREE

    def axis_states(self) -> NDArray[np.int64]:
        """Return the state of each axis, 0 to 7."""
        states = self._joints(self._numbers('state'))
        if not np.isin(states, range(8)).all():
            raise MalformedError(f"'state' should be answered with 0 to 7, got {states.tolist()}")
        return states.astype(np.int64)

    def current_limits(self) -> Array:
        """Return the motors' current limits for moving [A]."""
        return self._joints(self._numbers('ilim'))

    def powers(self) -> NDArray[np.bool_]:
        """Return which axes are switched on."""
        return self._joints(self._numbers('power')) != 0.0

    def temperatures(self) -> dict[str, float]:
        """Return temperatures by name [deg C]."""
        return dict(zip(TEMPERATURE_NAMES, self._numbers('temp', len(TEMPERATURE_NAMES))))

    def _numbers(self, command: str, count: int = AXIS_COUNT) -> list[float]:
        return self.channel.request(
            command, self.tries, read=lambda asked, value: parse_numbers(asked, value, count))

    def _joints(self, by_axis: Sequence[float]) -> Array:
        return np.asarray(by_axis, float)[self._axis_of_joint]

    # -- setting -----------------------------------------------------------------------

    def set_targets(self, positions: Array) -> None:
        """Store targets [rad] without moving; the hand must echo them."""
        self._set('p', positions / DEGREE)

    def set_velocities(self, velocities: Array) -> None:
        """Set the velocities of the next motion [rad/s]."""
        self._set('v', velocities / DEGREE)

    def set_accelerations(self, accelerations: Array) -> None:
        """Set the accelerations of the ramps [rad/s^2]."""
        self._set('a', accelerations / DEGREE)

    def set_current_limits(self, limits: Array) -> None:
        """Set the motors' current limits for moving [A]."""
        self._set('ilim', limits)

    def set_wanted_currents(self, found: Array, saved: Array) -> Array:
        """
        Set the current limits that the options name; those for moving stay cut where they are.

        Parameters
        ----------
        found, saved : (7,) float
            Limits for moving that the hand has now, and those to restore where it has none [A].

        Returns
        -------
        (7,) float
            Limits for moving that a recovery restores [A].
        """
        options, cut = self._options, not (found > 0.0).all()
        for name, limit in (('ihold', options.hold_current), ('igrip', options.grip_current),
                            ('ilim', 0.0 if cut else options.move_current)):
            if limit > 0.0:
                self._set(name, np.full(AXIS_COUNT, limit))
        if options.move_current > 0.0:
            return np.full(AXIS_COUNT, options.move_current)
        return saved if cut else found

    def set_power(self, on: bool) -> None:
        """Switch all axes on or off."""
        self._set('power', np.full(AXIS_COUNT, float(on)))

    def _set(self, name: str, by_joint: Array) -> None:
        """Set all seven, and compare with what the hand says that it took."""
        values = np.asarray(by_joint, float)[self._joint_of_axis]
        command = set_all(name, values)
        echo = self._numbers(command)
        if np.abs(echo - values).max() > self._options.echo_tolerance:
            raise MalformedError(f'{command!r} was taken as {echo}')

    def hold_here(self, identity: HandIdentity) -> Array:
        """Make the measured angles the targets, within the limits; return them [rad]."""
        here = np.clip(self.positions(), identity.lower, identity.upper)
        self.set_targets(here)
        return here

    def start(self) -> float:
        """Move to the targets; return how long it takes [s]. All seven move."""
        return self.channel.request('m', self.tries, read=parse_duration)

    def stop(self) -> None:
        """
        Stop the motion; the axes stay on.

        [I] The text of the answer is not known, so none is waited for; what it is, is skipped
        while finding back into step, which also shows that the hand has read it. [I] Whether it
        stops velocity control is not known either, so velocities of zero go before it.
        """
        if self.velocity_control:
            self.channel.send_blind(STILL)
        self.channel.send_blind('stop')
        self.channel.synchronise()

    def leave(self) -> None:
        """
        Stop, and switch all axes off: closing the link leaves them as they are.

        Raises
        ------
        DriverError
            The hand did not confirm; it was told all the same, as far as it hears.
        """
        self.channel.send_blind(STILL)
        self.channel.send_blind('stop')
        self.channel.send_blind(OFF)
        self.channel.synchronise()
        self.set_power(False)

    def cut_power(self, identity: HandIdentity | None) -> None:
        """
        Stop for good: switch all axes off, limit their currents to nothing, forget the targets.

        Fingers go limp. It goes as far as the hand answers; the first error is raised at the
        end. ``recover`` undoes it.
        """
        first = None
        steps = [lambda: self.set_power(False),
                 lambda: self.set_current_limits(np.zeros(AXIS_COUNT))]
        if self.velocity_control:
            steps.append(self.take_pose_control)
        if identity is not None:
            steps.append(lambda: self.hold_here(identity))
        self.channel.send_blind(OFF)
        self.channel.send_blind('stop')
        self.channel.synchronise()
        for step in steps:
            try:
                step()
            except (FirmwareError, MalformedError) as error:
                first = first or error
        if first:
            raise first

    def recover(self, identity: HandIdentity, limits: Array) -> None:
        """Undo ``cut_power``: hold the measured angles, restore the currents, switch on."""
        self.stop()
        if self.velocity_control:
            self.take_pose_control()
        self.hold_here(identity)
        self.set_current_limits(limits)
        self.set_power(True)
