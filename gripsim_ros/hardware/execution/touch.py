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

from .closing import FingerWatch, SHORTEST
from .measurement import Measurement
from .feeling.loaded import Loaded
from .feeling.motors import MotorSense, TOUCH_SHARE
from .plan import ExecutionOptions, ExecutionPlan, FingerPlan

Array = NDArray[np.float64]

#: Share of the planned forces by which one step raises them.
STEP_SHARE = 0.2
#: A force on its way to the end of a step rises by up to this multiple of what the step brings:
#: the joints' own motion is in it, and chatter of the contact.
ON_THE_WAY = 2.5
LEAST_COMMON = 0.02     # Forces rise by this share at least, whatever room another has.
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
#: A finger that waits is pressed by this share of its planned force at most, or of what those that
#: go on are to press with, over so many measurements, beyond what it felt when it began to wait.
WAITING_SHARE, WAITING_COUNT = 0.6, 5
#: Fingers do not go on by forces that were felt longer ago than this [s].
STALE = 0.15
#: A joint that is early or late by more than this is told [rad].
NOTED = 0.03


class TouchWatch(FingerWatch):
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
        touch = plan.touch
        super().__init__(replace(plan, rows=touch.rows, times=touch.times), options)
        self._touch = touch
        self._pressing = [finger for finger in plan.fingers if finger.force > 0.0]
        self._loaded = {finger.name: Loaded(touch.stiffest[finger.name])
                        for finger in self._pressing}
        self._judged, self._step_from, self._pushed = -np.inf, -np.inf, 0
        self._touched = dict.fromkeys(self._loaded, 0.0)    # what each felt first [N]
        self._shares: dict[str, float] = {}
        self._loads, self._holding, self._fault, self._common = False, False, '', STEP_SHARE
        self._rested: list[Measurement] = []    # since the fingers came to rest after a step
        self._paused: set[str] = set()          # fingers that wait for news of their pads
        self._silent_since: float | None = None
        self._has_felt: set[str] = set()        # fingers of whose pads there was news
        self._motors = MotorSense(plan.fingers, {
            contact.link: contact.force for contact in plan.contacts}, plan.torques)
        self._by_motors: set[str] = set()       # fingers whose motors tell in place of their pads

    # -- what is believed ------------------------------------------------------------

    def sense(self, measured: Measurement, closing: bool) -> Measurement:
        """
        Return a measurement in which motors stand for pads that are not there, or not believed.

        Whose pads are believed is judged while the hand is ``closing`` alone: once it holds, the
        load on a finger is in its torques too.
        """
        believed, self._by_motors = measured, set()
        for finger in self._pressing:
            force = self._motor_force(finger, measured)
            if force is None:
                continue
            if self._is_blind(finger, measured):
                if finger.name not in self._has_felt:
                    self._instead(finger.name, 'has no pad that tells')
            elif closing and self._motors.doubt(finger, self._force(finger, measured), force,
                                                measured):
                self._instead(finger.name, 'has a pad that tells too little')
            if finger.name in self._motors.believed_instead:
                self._by_motors.add(finger.name)
                believed = self._motors.put(believed, finger, force)
        return believed

    def _motor_force(self, finger: FingerPlan, measured: Measurement) -> float | None:
        """Return what a finger presses with by its motors [N], None where they cannot tell."""
        way, seeks = self._way[finger.name], not self._loads
        if seeks and not way.stopped:
            slowly = self._options.touch_beyond / self._options.touch_speed
            since = way.along(measured.time - self._start) - self._touch.closed_time + slowly
            self._motors.note_free(finger, measured, since)
        return self._motors.force(finger, measured, seeks and not way.stopped)

    def _instead(self, name: str, why: str) -> None:
        """From now on a finger's motors count, in place of its pads."""
        if name not in self._motors.believed_instead:
            self._motors.believed_instead[name] = why
            self.notes.append(f"{name} {why}: its motors' torque counts")

    def differences(self, measured: Measurement) -> list[str]:
        """Return which pads and motors differ; to be asked once fingers rest."""
        return list(filter(None, (
            self._motors.differs(finger, self._force(finger, measured), measured)
            for finger in self._pressing if not self._is_blind(finger, measured))))

    def start(self, measured: Measurement) -> tuple[Array, Array]:
        """Closing begins, as slowly as pads tell what they feel; return as ``FingerWatch``."""
        period, slower = self.pad_news.period, self.pad_news.slower(self._options.touch_speed)
        if slower > 1.0:
            self._touch = self._touch.slowed(slower)
            self._plan = replace(self._plan, times=self._touch.times)
            self.notes.append(f'pads tell {1.0 / period:.0f} times a second: closed at '
                              f'{self._options.touch_speed / slower:.2g} rad/s')
        return super().start(measured)

    # -- seeking ---------------------------------------------------------------------

    def setpoint(self, time: float) -> Array:
        """Return where the joints are sent (J,) at a time [rad], with what loading added."""
        wanted = super().setpoint(time)
        share = np.clip((time - self._step_from) / STEP_TIME, 0.0, 1.0)
        for name, loaded in self._loaded.items():
            wanted += self._touch.directions[name] * (
                loaded.before + share * (loaded.travel - loaded.before))
        return np.clip(wanted, self._plan.lower, self._plan.upper)

    def stop_fingers(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Let fingers wait that touch, or that cannot tell and are where they were planned."""
        elapsed = measured.time - self._start
        changed = self._wait_for_news(measured)
        for finger in self._pressing:
            way = self._way[finger.name]
            if way.stopped:
                continue
            if self._is_blind(finger, measured):
                if elapsed >= self._touch.closed_time:
                    changed |= way.stop(self._touch.closed_time)
                    self.notes.append(f'{finger.name} cannot feel: closed by angle alone')
            elif self._force(finger, measured) >= self._least_touch(finger):
                changed |= way.stop(measured.felt_at - self._start)
                self._touched[finger.name] = self._force(finger, measured)
                self._note_touch(finger, way.along(elapsed))
        self._look_for_push(measured)
        return self._remaining(measured.time) if changed else None

    def _least_touch(self, finger: FingerPlan) -> float:
        """Return the force that counts as touch [N]: motors tell less finely than pads."""
        motors = TOUCH_SHARE * finger.force if finger.name in self._by_motors else 0.0
        return max(motors, self._options.touch_force)

    def _is_silent(self, measured: Measurement) -> bool:
        """Return whether a pad tells nothing new that told something before; note for how long."""
        blind = {f.name for f in self._pressing if self._is_blind(f, measured)}
        self._has_felt |= {f.name for f in self._pressing} - blind - self._by_motors
        silent = bool(self._has_felt & blind) or (
            bool(self._has_felt) and measured.time - measured.felt_at > STALE)
        if not silent:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = measured.time
        if silent and measured.time - self._silent_since >= self._options.lag_time:
            self._fault = self._fault or 'the pads are silent: nobody knows how hard it presses'
        return silent

    def _wait_for_news(self, measured: Measurement) -> bool:
        """Let fingers wait while pads are silent, and go on after it; return if that changes."""
        elapsed = measured.time - self._start
        if self._is_silent(measured):
            going = {f.name for f in self._pressing if not self._way[f.name].stopped}
            self._paused |= going
            return any([self._way[name].stop(elapsed) for name in going])
        waited, self._paused = self._paused, set()
        return any([self._way[name].go_on(elapsed) for name in waited])

    def _note_touch(self, finger: FingerPlan, along: float) -> None:
        joints = list(finger.joints)
        off = (self._plan.setpoint(along) - self._plan.closed)[joints] * self._closing[joints]
        worst = off[np.abs(off).argmax()]
        if abs(worst) > NOTED:
            self.notes.append(f'{finger.name} touched {abs(worst):.2f} rad '
                              f'{"late" if worst > 0.0 else "early"}')

    def _is_blind(self, finger: FingerPlan, measured: Measurement) -> bool:
        """Return whether nothing is known of what a finger feels."""
        return not any(link in measured.forces for link in finger.links)

    def _look_for_push(self, measured: Measurement) -> None:
        """Note a fault where fingers that wait are pressed while others still feel nothing."""
        going = [f.name for f in self._pressing if not self._way[f.name].stopped]
        # Who goes on is what presses: by no more, then, than that is to press itself.
        most = sum(f.force for f in self._pressing if f.name in going)
        pushed = [f.name for f in self._pressing if f.name not in going
                  and self._force(f, measured) - self._touched[f.name]
                  > WAITING_SHARE * min(f.force, most)]
        self._pushed = self._pushed + 1 if going and pushed else 0
        if self._pushed >= WAITING_COUNT:
            self._fault = (f'{", ".join(pushed)} is pressed while {", ".join(going)} feels '
                           'nothing: a silent pad, or another link touches')

    @property
    def all_touch(self) -> bool:
        """Return whether every finger that is to press waits for the others."""
        return not self._paused and all(
            self._way[finger.name].stopped for finger in self._pressing)

    def seeking_fault(self, measured: Measurement) -> str:
        """Return why seeking has failed, or ''."""
        over = self._touch.times[-1] + self._options.settle_time
        if self._fault or measured.felt_at - self._start < over or self.all_touch:
            return self._fault
        untouched = [f.name for f in self._pressing if not self._way[f.name].stopped]
        return (f'{", ".join(untouched)} found nothing up to {self._options.touch_beyond:g} rad '
                'behind where it was planned to touch')

    @property
    def unfound(self) -> list[str]:
        """Return the fingers that have found nothing, where the pads can be trusted."""
        return [] if self._fault else [
            f.name for f in self._pressing if not self._way[f.name].stopped]

    def give_up(self, names: Sequence[str], measured: Measurement) -> None:
        """Go on without fingers: they stay where they are, and nothing is expected of them."""
        for finger in [f for f in self._pressing if f.name in names]:
            self._pressing.remove(finger)
            self._way[finger.name].stop(measured.time - self._start)
            self._loaded.pop(finger.name)
            self.given_up |= set(finger.links)

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
        # Together: no force is raised by more than a step beyond the mean of all.
        mean = np.mean([min(1.0, share) for share in self._shares.values()] or [1.0])
        level = min(1.0, float(mean) + STEP_SHARE)
        # Nor so far that another, onto which the object is pushed, would pass its limit.
        rooms = [self._limit(name, wanted[name]) / wanted[name] - share
                 for name, share in self._shares.items()]
        self._common = max(LEAST_COMMON, min(rooms, default=1.0) / ON_THE_WAY)
        for finger in self._pressing:
            loaded = self._loaded[finger.name]
            if finger.name in forces:
                loaded.judge(forces[finger.name], self._options.touch_force)
            loaded.go(self._next_step(finger.name, level, forces, wanted))
        self._fault = self._fault or self._find_stuck()
        self._judged = self._step_from = measured.time
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

    def _next_step(self, name: str, level: float, forces: dict[str, float],
                   wanted: dict[str, float]) -> float:
        """Return how far a finger goes on [rad]; back only where its force is beyond its limit."""
        loaded, most = self._loaded[name], LONGEST_STEP
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
            room = (self._limit(name, wanted[name]) - forces[name]) / ON_THE_WAY
            step = (min(missing, STEP_SHARE * wanted[name]) / loaded.stiffness if self._holding
                    else min(missing, min(STEP_SHARE, self._common) * wanted[name], room)
                    / loaded.stiffest)
            step *= 0.5 ** loaded.same      # a pad may be stuck or saturated
        return float(min(step, most, self._beyond - loaded.travel))

    def _limit(self, name: str, wanted: float) -> float:
        """Return the force beyond which a finger steps back [N]."""
        return self._touch.room * wanted

    @property
    def _beyond(self) -> float:
        """Return how far a finger goes on at most [rad]."""
        return self._options.touch_beyond

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
        end = self._step_from + STEP_TIME - time
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
