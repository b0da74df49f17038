"""
Closing by touch: fingers wait where they touch, then go to their planned forces together.

A finger is under position control: its force is a spring's between where it is sent and what it
touches. Steps of the set-points are small, each is judged by forces that were felt after it, and
none asks for more than the stiffest object would bear; so neither late news nor an object that is
softer or stiffer than planned makes a force overshoot.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..closing import SHORTEST
from ..feeling.loaded import Loaded
from ..measurement import Measurement
from ..plan import ExecutionOptions, ExecutionPlan
from .seeking import SeekingWatch, WAITING_SHARE
from .together import STEP_SHARE, Together

Array = NDArray[np.float64]

#: Time of a step, and of the rest after it before forces are judged [s].
STEP_TIME, REST_TIME = 0.05, 0.05
#: Share of that rest after which forces count: the median of what is felt from then on.
CHATTER_SHARE = 0.5
#: Longest step of a finger [rad].
LONGEST_STEP = 0.02
#: The planned forces are borne where no more than this share of them is missing.
MISSING_SHARE = 0.1
#: Forces are held, too, where loading ends with this share of them.
LEAST_SHARE = 0.7
#: Readings in which the force does not change at all although its finger goes on: a pad is stuck.
STUCK_READINGS = 3
#: Steps without a force at any finger after which the object has gone; simulated eggs that were
#: held in the end had up to five, knocked about between the fingers.
GONE_STEPS = 10


class TouchWatch(SeekingWatch):
    """
    Watches all fingers of an execution that closes by touch.

    Parameters
    ----------
    plan : ExecutionPlan
        With ``touch``.
    options : ExecutionOptions
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Nothing has touched yet."""
        super().__init__(plan, options)
        self._loaded = {finger.name: Loaded(plan.touch.stiffest[finger.name])
                        for finger in self._pressing}
        self._judged, self._step_from, self._step_time = -np.inf, -np.inf, STEP_TIME
        self._shares: dict[str, float] = {}
        self._holding, self._gone, self._together = False, 0, Together(options.touch_force)
        self._rested: list[Measurement] = []    # since the fingers came to rest after a step

    def setpoint(self, time: float) -> Array:
        """Return where the joints are sent (J,) at a time [rad], with what loading added."""
        wanted = super().setpoint(time)
        share = np.clip((time - self._step_from) / self._step_time, 0.0, 1.0)
        for name, loaded in self._loaded.items():
            wanted += self._touch.directions[name] * (
                loaded.before + share * (loaded.travel - loaded.before))
        return np.clip(wanted, self._plan.lower, self._plan.upper)

    def give_up(self, names: Sequence[str], measured: Measurement) -> None:
        """Go on without fingers; see ``SeekingWatch``."""
        super().give_up(names, measured)
        for name in names:
            self._loaded.pop(name, None)

    # -- loading ---------------------------------------------------------------------

    def begin_loading(self, measured: Measurement) -> None:
        """From now on forces rise together."""
        self._judged = self._step_from = measured.time

    def load(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Judge the last step and begin the next; as ``stop_fingers``."""
        if self._is_silent(measured):
            return None
        measured, rests = self._without_chatter(measured)
        if not rests:
            return None
        forces = {finger.name: self._force(finger, measured) for finger in self._pressing
                  if not self._is_blind(finger, measured)}
        wanted = {finger.name: self._options.force_factor * self._planned(finger, measured.time)
                  for finger in self._pressing}
        self._loads, self._shares = True, {name: forces[name] / wanted[name] for name in forces}
        self._together.judge(forces, wanted, {name: self._limit(name, wanted[name])
                                              for name in forces})
        for finger in self._pressing:
            loaded = self._loaded[finger.name]
            if finger.name in forces:
                loaded.judge(forces[finger.name], self._options.touch_force)
            loaded.go(self._next_step(finger.name, forces, wanted))
        self._fault = (self._fault or self._find_gone(forces) or self._find_stuck()
                       or self._find_pushed())
        self._judged = self._step_from = measured.time
        self._step_time = STEP_TIME
        if all(loaded.step == 0.0 for loaded in self._loaded.values()):
            return None
        return self._remaining(measured.time)

    def _without_chatter(self, measured: Measurement) -> tuple[Measurement, bool]:
        """Return median forces of the last part of a rest, and whether that is over."""
        rests_from = self._judged + STEP_TIME + self._options.step_delay
        self._rested = [one for one in self._rested
                        if one.felt_at >= rests_from + CHATTER_SHARE * REST_TIME]
        if not self._rested or measured.felt_at > self._rested[-1].felt_at:
            self._rested.append(measured)
        if measured.felt_at < rests_from + REST_TIME:
            return measured, False
        told = [one.forces for one in self._rested]
        medians = {link: float(np.median([forces[link] for forces in told if link in forces]))
                   for link in measured.forces}
        return replace(measured, forces=medians), True

    def _next_step(self, name: str, forces: dict[str, float], wanted: dict[str, float]) -> float:
        """Return how far a finger goes on [rad]; back only where its force is beyond its limit."""
        loaded, most, level = self._loaded[name], LONGEST_STEP, self._together.level
        if name not in forces:
            missing = level * self._touch.blind_travel[name] - loaded.travel
            return float(np.clip(missing, 0.0, most))
        missing = level * wanted[name] - forces[name]
        if forces[name] > self._limit(name, wanted[name]):
            return float(max(wanted[name] - forces[name], -most * loaded.stiffness)
                         / loaded.stiffness)
        enough = 1.0 - (0.5 if self._holding else 0.2) * MISSING_SHARE
        if missing <= 0.0 or self._shares[name] >= enough:
            return 0.0
        if name in self._by_motors and self._holding:
            return 0.0              # the load is in its torques, too
        if forces[name] < self._options.touch_force and self._holding:
            return 0.0              # a dead pad, or the object has left: that is told, not chased
        if forces[name] < self._options.touch_force:    # the object has gone away: after it
            step = WAITING_SHARE * wanted[name] / self._touch.stiffest[name]
        else:
            room = np.inf if self._holding else self._together.rise(name)
            step = min(missing, STEP_SHARE * wanted[name], room) / loaded.stiffest
            step *= 0.5 ** loaded.same      # a pad may be stuck or saturated
        return float(min(step, most, self._beyond - loaded.travel))

    def _limit(self, name: str, wanted: float) -> float:
        """Return the force beyond which a finger steps back [N]."""
        return self._touch.room * wanted

    @property
    def _beyond(self) -> float:
        """Return how far a finger goes on at most [rad]."""
        return self._options.touch_beyond

    def _find_gone(self, forces: dict[str, float]) -> str:
        """Return that the object has gone, or ''; fingers that go on would meet each other."""
        nothing = bool(forces) and max(forces.values()) < self._options.touch_force
        self._gone = self._gone + 1 if nothing and not self._holding else 0
        return ('no finger feels anything any more: the object has slipped out'
                if self._gone >= GONE_STEPS else '')

    def _find_pushed(self) -> str:
        """Return that fingers which wait are pressed by others that feel nothing, or ''."""
        pressed, lost = self._together.pressed, self._together.lost
        return '' if self._holding or not pressed else (
            f'{", ".join(pressed)} is pressed while {", ".join(sorted(lost))} feels nothing: a '
            'silent pad, or another link touches')

    def _find_stuck(self) -> str:
        stuck = [name for name, loaded in self._loaded.items() if loaded.same >= STUCK_READINGS]
        if not self._holding and stuck and all(self._motors.tells(name) for name in stuck):
            for name in stuck:
                self._instead(name, 'has a pad that is stuck or saturated')
                self._loaded[name].same = 0
            return ''
        return (f'{", ".join(stuck)} feels the same however far it goes: its pad is stuck or '
                'saturated') if stuck else ''

    def keep_pressing(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Let fingers go on that press less than planned while they hold; as ``stop_fingers``."""
        self._holding = True
        return None if self._fault else self.load(measured)

    def holding_fault(self, measured: Measurement) -> str:
        """Return which pad cannot be trusted while the hand holds, or ''."""
        return self._fault

    def _remaining(self, time: float) -> tuple[Array, Array]:
        """Return the rows still to come, with the end of the step that has begun."""
        rows, times = super()._remaining(time)
        end = self._step_from + self._step_time - time
        if end < SHORTEST:
            return rows, times
        times = np.unique(np.round(np.append(times, end), 6))
        return np.array([self.setpoint(time + after) for after in times]), times

    @property
    def borne(self) -> bool:
        """Return whether the pads bear the planned forces."""
        return self._loads and self._borne_share() >= 1.0 - MISSING_SHARE and all(
            loaded.travel >= self._touch.blind_travel[name] - 1e-9
            for name, loaded in self._loaded.items() if name not in self._shares)

    def loading_fault(self, late: bool) -> str:
        """Return why loading has failed, or ''; less than planned, once it is late, is noted."""
        if self._fault or not late or self.borne:
            return self._fault
        if self._borne_share() < LEAST_SHARE:
            return (f'the planned forces were not reached in {self._options.loading_time:g} s: '
                    f'{self._shares_text()}')
        self.notes.append(f'held with less than planned: {self._shares_text()}')
        return ''

    def _borne_share(self) -> float:
        """Return the share of the planned forces that is borne by fingers that feel."""
        if not self._shares:
            return 1.0          # none feels: they close by angle alone
        force = {finger.name: finger.force for finger in self._pressing}
        total = sum(force[name] for name in self._shares)
        return sum(force[name] * min(1.0, share)
                   for name, share in self._shares.items()) / total

    @property
    def least_share(self) -> float:
        """Return the least share of its planned force that a finger bears, 0 after a fault."""
        return 0.0 if self._fault else min(self._shares.values(), default=1.0)

    def _shares_text(self) -> str:
        """Return what share of its planned force each finger bears."""
        return ', '.join(f'{name} {100.0 * share:.0f} %' for name, share in self._shares.items())
