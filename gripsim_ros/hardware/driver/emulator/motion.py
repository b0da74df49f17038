"""
Seven axes in time: poses by sin-square and ramp profiles, velocities, stops, things in the way.

Degrees and seconds. What the firmware does is known from outside alone: durations of sin-square
motions, that all axes start and end together, that a new target while moving is smooth with
ramps, that velocities act at once and have a sign. The rest is inferred and marked [I].
"""

import math

AXES = 7
SIN_SQUARE, RAMP = 0, 1
#: States of an axis, as `state` tells them.
IDLE, POSITIONING, SPEED_MODE, BLOCKED_CW, BLOCKED_CCW, DISABLED, LIMITS = 0, 1, 2, 4, 5, 6, 7
#: Step of the integration [s].
STEP = 0.002
#: An axis this near its target, and slower than the second number, is there [deg], [deg/s].
NEAR, SLOW = 0.01, 0.5
#: [I] A driven axis that is blocked presses as if it went on, up to here [deg].
MOST_SQUEEZE = 12.0
#: [I] One that pressed and is let go of comes after at this speed, if it is driven slower [deg/s].
COMING_AFTER = 30.0


class Axis:
    """One axis: angle, velocity, and how it gets to its target."""

    def __init__(self, angle: float) -> None:
        """Rest."""
        self.angle, self.velocity = angle, 0.0
        self.target = angle
        self.speed = self.acceleration = 0.0
        self.moving = self.stopping = False
        self.block_low, self.block_high = -math.inf, math.inf
        self.blocked = 0
        self.driven, self.wanted, self.reference = False, 0.0, 0.0
        self.at_limit = False
        self._start = angle
        self._elapsed, self._duration = 0.0, 0.0
        self._profile = RAMP

    def begin(self, target: float, profile: int, speed: float, acceleration: float,
              duration: float) -> None:
        """Go to a target; with ramps from the present velocity, else from rest at once."""
        self.target, self._profile = target, profile
        self.speed, self.acceleration = speed, acceleration
        self._start, self._elapsed, self._duration = self.angle, 0.0, duration
        self.moving, self.stopping, self.driven = True, False, False
        self.reference, self.at_limit = 0.0, False
        if profile == SIN_SQUARE:
            self.velocity = 0.0

    def drive(self, velocity: float, acceleration: float) -> None:
        """Turn at a signed velocity from now on, reached with an acceleration."""
        if not self.driven:
            self.target, self.reference = self.angle, self.velocity
            self.moving = self.stopping = False
            self.driven = True
        self.wanted, self.acceleration = velocity, acceleration

    def stop(self, acceleration: float) -> None:
        """[I] Brake with the ramp's acceleration, whatever the profile or controller."""
        if self.driven:
            self.wanted = 0.0
        elif self.moving:
            self.stopping, self.acceleration = True, max(acceleration, 1.0)

    def halt(self) -> None:
        """Stand still where it is, at once."""
        self.velocity, self.moving, self.stopping = 0.0, False, False
        self.wanted = self.reference = 0.0

    def advance(self, dt: float, low: float, high: float) -> None:
        """Move on by ``dt``; a driven axis stops at the limits of its range [deg]."""
        if self.driven:
            self._advance_driven(dt, low, high)
        if not self.moving:
            return
        if self.stopping:
            change = self.acceleration * dt
            if abs(self.velocity) <= change:
                self.halt()
            else:
                self.velocity -= math.copysign(change, self.velocity)
                self.angle += self.velocity * dt
        elif self._profile == SIN_SQUARE:
            self._advance_sin_square(dt)
        else:
            self._advance_ramp(dt)
        self._meet_obstacles()

    def _advance_driven(self, dt: float, low: float, high: float) -> None:
        """Let the target run ahead of what is in the way: the more, the harder it presses."""
        change = self.acceleration * dt
        self.reference += max(-change, min(change, self.wanted - self.reference))
        ahead = self.target + self.reference * dt
        inside = max(min(low, self.target), min(max(high, self.target), ahead))
        self.at_limit = inside != ahead
        if self.at_limit:
            self.reference = 0.0
        free = max(self.block_low, min(self.block_high, inside))
        self.target = free + max(-MOST_SQUEEZE, min(MOST_SQUEEZE, inside - free))
        most = max(COMING_AFTER, abs(self.reference))
        self.velocity = max(-most, min(most, (free - self.angle) / dt))
        self.angle += self.velocity * dt
        self.blocked = (0 if free == self.target
                        else BLOCKED_CCW if self.target > free else BLOCKED_CW)

    def _advance_sin_square(self, dt: float) -> None:
        self._elapsed += dt
        if self._duration <= 0.0 or self._elapsed >= self._duration:
            self.angle = self.target
            self.halt()
            return
        share = self._elapsed / self._duration
        way = self.target - self._start
        self.angle = self._start + way * (share - math.sin(2 * math.pi * share) / (2 * math.pi))
        self.velocity = way / self._duration * (1.0 - math.cos(2 * math.pi * share))

    def _advance_ramp(self, dt: float) -> None:
        left = self.target - self.angle
        if abs(left) < NEAR and abs(self.velocity) < SLOW:
            self.angle = self.target
            self.halt()
            return
        # The fastest from which it can still brake in time; one step is held back.
        a, lost = self.acceleration, 0.5 * self.acceleration * dt
        fastest = min(self.speed, math.sqrt(lost * lost + 2 * a * abs(left)) - lost)
        wanted = math.copysign(fastest, left)
        change = max(-a * dt, min(a * dt, wanted - self.velocity))
        self.velocity += change
        self.angle += self.velocity * dt

    def _meet_obstacles(self) -> None:
        if self.angle > self.block_high:
            self.angle, self.blocked = self.block_high, BLOCKED_CCW
            self.halt()
        elif self.angle < self.block_low:
            self.angle, self.blocked = self.block_low, BLOCKED_CW
            self.halt()


class Motors:
    """
    The seven axes and what holds for all.

    Attributes
    ----------
    axes : list of Axis
    power : list of bool
    fastest : list of float
        Highest speed that each axis ever had [deg/s].
    """

    def __init__(self, angles) -> None:
        """Rest at angles [deg]."""
        self.axes = [Axis(angle) for angle in angles]
        self.power = AXES * [False]
        self.fastest = AXES * [0.0]
        self._rest = 0.0

    def duration(self, targets, profile: int, speeds, accelerations) -> float:
        """
        Return how long a motion takes [s]: the slowest axis sets it.

        [I] Sin-square 2 |way| / v in steps of 10 ms; ramps as trapezoids.
        """
        return max(self._time_of(axis, target, v, a, profile)
                   for axis, target, v, a in zip(self.axes, targets, speeds, accelerations))

    def move(self, targets, profile: int, speeds, accelerations) -> float:
        """
        Start all axes at once so that they end together; return the duration [s].

        [I] The slower axes take the profile of the slowest, scaled: a straight line.
        """
        duration = self.duration(targets, profile, speeds, accelerations)
        ways = [abs(target - axis.angle) for axis, target in zip(self.axes, targets)]
        slowest = max(range(AXES), key=lambda i: self._time_of(
            self.axes[i], targets[i], speeds[i], accelerations[i], profile))
        longest = ways[slowest] or 1.0
        for i, axis in enumerate(self.axes):
            share = ways[i] / longest
            # An axis that moves already must be able to brake.
            floor = 0.1 * accelerations[i] if abs(axis.velocity) > SLOW else 0.0
            axis.blocked = 0
            axis.begin(targets[i], profile, max(share * speeds[slowest], 1e-3),
                       max(share * accelerations[slowest], floor, 1e-3), duration)
        self.power = AXES * [True]
        return duration

    @staticmethod
    def _time_of(axis: Axis, target: float, v: float, a: float, profile: int) -> float:
        """Return how long an axis alone takes [s]; one that turns already as if begun earlier."""
        way = target - axis.angle
        if (abs(way) < 1e-9 and not axis.velocity) or v <= 0.0 or a <= 0.0:
            return 0.0
        if profile == SIN_SQUARE:
            return round(2.0 * abs(way) / v, 2)
        towards = math.copysign(axis.velocity, axis.velocity * way)
        braking = axis.velocity ** 2 / (2.0 * a)
        if towards >= 0.0 and braking > abs(way):           # it overshoots, and comes back
            whole, begun = braking - abs(way), -abs(towards) / a
        else:
            whole = abs(way) + braking
            begun = towards / a
        rest = whole / v + v / a if whole >= v * v / a else 2.0 * math.sqrt(whole / a)
        return math.ceil(100.0 * (rest - begun)) / 100.0

    def stop(self, accelerations) -> None:
        """Brake all axes."""
        for axis, acceleration in zip(self.axes, accelerations):
            axis.stop(acceleration)

    def drive(self, velocities, accelerations) -> None:
        """Turn each axis that has power at a velocity from now on."""
        for axis, on, v, a in zip(self.axes, self.power, velocities, accelerations):
            if on:
                axis.drive(v, a)

    def pose(self) -> None:
        """[I] Leave velocity control: what turns brakes at once, and holds where it is."""
        for axis in self.axes:
            if axis.driven:
                axis.driven = False
                axis.halt()

    @property
    def moving(self) -> bool:
        """Return whether any axis is on its way."""
        return any(axis.moving or axis.velocity != 0.0 for axis in self.axes)

    def switch(self, power) -> None:
        """Switch axes on or off; one without power stands still."""
        self.power = [bool(on) for on in power]
        for axis, on in zip(self.axes, self.power):
            if not on:
                axis.halt()

    def advance(self, seconds: float, low, high) -> None:
        """Move on within ranges [deg]; what is left of a step is kept for the next time."""
        self._rest += seconds
        while self._rest >= STEP:
            self._rest -= STEP
            for i, axis in enumerate(self.axes):
                axis.advance(STEP, low[i], high[i])
                self.fastest[i] = max(self.fastest[i], abs(axis.velocity))

    def states(self) -> list[int]:
        """Return the state of each axis."""
        return [DISABLED if not on else self._state(axis)
                for axis, on in zip(self.axes, self.power)]

    @staticmethod
    def _state(axis: Axis) -> int:
        if axis.moving:
            return POSITIONING
        if axis.driven and axis.at_limit:
            return LIMITS
        if axis.driven and not axis.blocked and (axis.wanted or axis.reference):
            return SPEED_MODE
        return axis.blocked or IDLE
