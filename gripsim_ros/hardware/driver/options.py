"""
Options of the driver; SI units. The node's parameters of the same names fill them.

``[I]`` marks what the protocol notes infer rather than saw in a listing of the vendor's host
library: check it on the real hand.
"""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LinkOptions:
    """
    How the link is kept.

    Attributes
    ----------
    address : str
        See ``transport.open_transport``.
    connect_timeout, reply_timeout : float
        [s].
    tries : int
        How often a request is sent in all while the hand rests; while it moves, once.
    retry_first, retry_longest : float
        Pause before connecting again; it doubles from the first to the longest [s].
    skip_echo : bool
        [I] Whether a line equal to the request is the terminal's echo.
    """

    address: str
    connect_timeout: float = 2.0
    reply_timeout: float = 0.5
    tries: int = 3
    retry_first: float = 0.5
    retry_longest: float = 10.0
    skip_echo: bool = True


@dataclass(frozen=True)
class MotionOptions:
    """
    What motions are allowed, and how they are carried out.

    Attributes
    ----------
    rate : float
        Of asking for the measured joints [Hz].
    follow : bool
        Follow trajectories in time, by velocities, where the firmware has them; else from
        corner to corner, each from rest to rest, which ends by itself where the host is lost.
    follow_acceleration : float
        The most on the way [rad/s^2]; at most what the hand allows is used.
    velocity_timeout : float
        Velocities that are sent one by one act for so long at most [s].
    acceleration : float
        Of the ramps from corner to corner [rad/s^2]; likewise.
    max_velocity : float
        Beside the limits of the URDF and of the hand [rad/s].
    self_clearance : float
        Least distance between links that can hit each other [m].
    path_tolerance : float
        By how much a motion may leave the trajectory that it stands for [rad].
    goal_tolerance : float
        A joint farther than this from its target at the end has not reached it [rad].
    limit_slack : float
        Targets this far beyond a limit are taken to it, not refused [rad].
    echo_tolerance : float
        [I] By how much the hand's echo of a value may differ from it: it rounds to one
        decimal [degrees].
    rest_velocity : float
        A joint below this rests [rad/s].
    late : float
        A motion that takes longer than announced by this is stopped [s].
    max_temperature, cool_temperature : float
        [I] Above the first the hand is stopped, and refuses until below the second [deg C].
    default_current_limits : float
        [I] Given back by `recover` where the hand's own were not seen before [A].
    move_current, hold_current, grip_current : float
        Limits of each motor's current while it moves, [I] at rest, and [I] in the hand's own
        grips, set when connecting [A]; 0: as found. How much force a current is is not known.
    """

    rate: float = 50.0
    follow: bool = True
    follow_acceleration: float = math.radians(400.0)
    velocity_timeout: float = 0.2
    acceleration: float = math.radians(100.0)
    max_velocity: float = math.radians(80.0)
    self_clearance: float = 0.001
    path_tolerance: float = 0.005
    goal_tolerance: float = 0.02
    limit_slack: float = 0.002
    echo_tolerance: float = 0.06
    rest_velocity: float = 0.02
    late: float = 2.0
    max_temperature: float = 80.0
    cool_temperature: float = 65.0
    default_current_limits: float = 0.5
    move_current: float = 0.0
    hold_current: float = 0.0
    grip_current: float = 0.0


@dataclass(frozen=True)
class TactileOptions:
    """
    How the tactile sensors are read.

    Attributes
    ----------
    link : LinkOptions or None
        None: there are none.
    run_length : bool
        Let frames be run-length coded; [I] needed for 30 frames a second on a serial port.
    frame_rate : int
        Asked for [1/s]; the controller sends as fast as it can where this is above 0.
    silence : float
        After this long without a frame the sensors are lost [s].
    pressure_per_count : float
        [I] Nominal, not calibrated [Pa].
    contact_threshold : int
        Readings below are no contact and count as 0.
    """

    link: LinkOptions | None = None
    run_length: bool = True
    frame_rate: int = 30
    silence: float = 2.0
    pressure_per_count: float = 0.7988
    contact_threshold: int = 10


@dataclass(frozen=True)
class DriverOptions:
    """All of them."""

    link: LinkOptions
    motion: MotionOptions = field(default_factory=MotionOptions)
