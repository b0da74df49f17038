"""
Fingers that hold by feel: their forces follow the load that is felt, and rise where it slips.

The grip is the planned one times a level, so that its inner balance stays. The level is what the
minimal-force programme needs for the felt load, with a reserve; friction is what was planned until
a slip tells that it is less.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..measurement import Measurement
from ..plan import ExecutionOptions, ExecutionPlan, FingerPlan
from ..touch import STEP_TIME, TouchWatch
from .programme import HoldProgramme, NeededGrip
from .slip import SlipWatch

Array = NDArray[np.float64]

#: Time between two solutions of the programme [s].
SOLVE_PERIOD = 0.05
#: The grip holds this multiple of the felt load, where the limits allow.
RESERVE = 1.2
#: The same after a slip: what slipped bore less than the whole weight.
SLIP_RESERVE = 1.5
#: Friction that slips is less than what would just have held, by this; bounds of one lowering.
LOWERED, LEAST_LOWERED, MOST_LOWERED = 0.9, 0.4, 0.9
#: Least friction that is believed, over the planned one.
LEAST_FRICTION = 0.2
#: Slip tells nothing of friction while the load is less than this share of the planned one.
LOADED_SHARE = 0.2
#: Time after a raise in which centres move with the fingers, and tell no slip [s].
QUIET_TIME = 0.03
#: Longest step of a finger that answers a slip [rad], and how far fingers go on in all [rad].
SLIP_STEP, HOLD_BEYOND = 0.05, 0.3
#: What cannot be held must last so long to be told [s].
CANNOT_TIME = 0.1
#: Readings of the wrist over which the load is averaged.
LOAD_READINGS = 5
#: Readings of the pads whose median counts: a contact on rough tetrahedra, or a bad frame, spikes.
FORCE_READINGS = 3
#: Forces overshoot what is asked for by no more than this: room below the limit of damage.
OVERSHOOT = 1.2
#: Round contacts stiffen as they are pressed: a long step is judged by this times what was felt.
STIFFENING = 1.2


class HoldWatch(TouchWatch):
    """
    Watches all fingers of an execution that closes by touch and holds by feel.

    Parameters
    ----------
    plan : ExecutionPlan
        With ``touch`` and ``hold``.
    options : ExecutionOptions
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Believe the plan."""
        super().__init__(plan, options)
        hold = plan.hold
        self._hold, self._most = hold, max(1.0, hold.damage / OVERSHOOT)
        self.programme = HoldProgramme(hold, self._most, options.touch_force)
        self._slip = SlipWatch(options.touch_force)
        self.level, self.friction = 1.0, hold.friction
        self.slips: list[float] = []            # when slips were seen [s]
        self._wrist: deque[Array] = deque(maxlen=LOAD_READINGS)
        self._solved, self._quiet_until, self._holds = -np.inf, -np.inf, False
        self._cannot_since: float | None = None
        self._shortfall = ''
        self._felt: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=FORCE_READINGS)
        self._known_stiffness: dict[str, float] = {}

    # -- forces wanted ---------------------------------------------------------------

    def _planned(self, finger: FingerPlan, time: float) -> float:
        return self.level * super()._planned(finger, time)

    def _limit(self, name: str, wanted: float) -> float:
        """Return the force beyond which a finger steps back [N]: that of damage, once it holds."""
        if not self._holds:
            return super()._limit(name, wanted)
        return max(wanted, wanted / self.level * self._hold.damage)

    @property
    def _beyond(self) -> float:
        return HOLD_BEYOND if self._holds else super()._beyond

    def keep_pressing(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Follow load and slip; as ``stop_fingers``."""
        if not self._holds:
            self._holds, self._quiet_until = True, measured.time + QUIET_TIME
        if measured.load is not None:
            self._wrist.append(measured.load)
        slips, before = self._slips_now(measured), self.level
        measured = self._without_spikes(measured)
        if slips:
            self.slips.append(measured.time)
        if slips or measured.time >= self._solved + SOLVE_PERIOD - 1e-6:
            self._solved = measured.time
            self._follow(measured, slips)
        if slips and not self._fault:
            self._slip.forget()
            return self._raise_now(measured, before)
        return super().keep_pressing(measured)

    def _without_spikes(self, measured: Measurement) -> Measurement:
        """Return a measurement with the median forces of the last readings."""
        if not self._felt or measured.felt_at > self._felt[-1][0]:
            self._felt.append((measured.felt_at, measured.forces))
        return replace(measured, forces={
            link: float(np.median([forces.get(link, 0.0) for _, forces in self._felt]))
            for link in measured.forces})

    def _slips_now(self, measured: Measurement) -> bool:
        """Return whether a slip is seen that fingers can answer now."""
        if measured.time < self._quiet_until:
            self._slip.forget()
            return False
        pulls = self.programme.directions(measured, self._felt_load()[:3])
        return self._slip.update(measured, pulls) and self._load_share() >= LOADED_SHARE

    def _felt_load(self) -> Array:
        """Return the load felt (6,), or the planned one where no wrist tells."""
        return np.mean(self._wrist, axis=0) if self._wrist else self._hold.load

    def _load_share(self) -> float:
        weight = float(np.linalg.norm(self._felt_load()[:3]))
        return weight / self._hold.weight if self._hold.weight > 0.0 else 1.0

    def _follow(self, measured: Measurement, slips: bool) -> None:
        """Solve the programme for what is felt; slips tell of friction and weight."""
        load, reserve = self._felt_load(), RESERVE
        if slips:
            reserve = SLIP_RESERVE
            self._lower_friction(measured, load)
            # What slips bears less than the weight: that is the planned one at least.
            load = load * max(1.0, 1.0 / max(self._load_share(), LOADED_SHARE))
        if not load.any():
            return
        needed = self.programme.solve(measured, reserve * load, self.friction)
        if np.isinf(needed.level):
            needed = self.programme.solve(measured, load, self.friction)
            if np.isfinite(needed.level):
                needed = replace(needed, level=max(needed.level, self._most))
        self._judge(needed, measured, load, slips and self.level >= self._most)
        wanted = min(needed.level, self._most)
        self.level = max(self.level, wanted if np.isfinite(wanted) else self.level)

    def _lower_friction(self, measured: Measurement, load: Array) -> None:
        """Believe less friction: at what was believed the grip would have held the load."""
        needed = self.programme.solve(measured, load, self.friction).level
        felt = self._felt_level(measured)
        share = LEAST_LOWERED if np.isinf(needed) else LOWERED * needed / max(felt, 1e-6)
        self.friction = max(LEAST_FRICTION * self._hold.friction,
                            self.friction * float(np.clip(share, LEAST_LOWERED, MOST_LOWERED)))

    def _felt_level(self, measured: Measurement) -> float:
        """Return the grip that is felt over the planned one [-]."""
        felt = sum(measured.forces.get(link, 0.0) for link in self._hold.links)
        return float(felt / self._hold.forces.sum())

    def _judge(self, needed: NeededGrip, measured: Measurement, load: Array, slips: bool) -> None:
        """Note since when no grip within the limits holds; ``slips``: in spite of the most."""
        if np.isfinite(needed.level) and not slips:
            self._cannot_since = None
            return
        if self._cannot_since is None:
            self._cannot_since = measured.time - (CANNOT_TIME if slips else 0.0)
        reason = needed.shortfall or f'it slips at {self._most:.2f} times the planned forces'
        self._shortfall = (
            f'cannot hold {np.linalg.norm(load[:3]):.2f} N with a friction of '
            f'{self.friction:.2f} (planned {self._hold.weight:.2f} N, {self._hold.friction:.2f}): '
            f'{reason}')

    def holding_fault(self, measured: Measurement) -> str:
        """Return why the object cannot be held on, or ''."""
        since = self._cannot_since
        if not self._fault and since is not None and measured.time - since >= CANNOT_TIME:
            return self._shortfall
        return super().holding_fault(measured)

    def _next_step(self, name: str, level: float, forces: dict[str, float],
                   wanted: dict[str, float]) -> float:
        if self._holds and name in forces:
            self._loaded[name].stiffness = self._stiffness(name, forces[name])
        return super()._next_step(name, level, forces, wanted)

    def _stiffness(self, name: str, felt: float) -> float:
        """
        Return what a finger's force grows by over its travel [N/rad].

        That of loading: what forces do as the weight sets in tells nothing of it.
        """
        loaded = self._loaded[name]
        known = self._known_stiffness.setdefault(name, loaded.stiffness)
        return max(known, felt / loaded.travel if loaded.travel > 0.0 else 0.0)

    # -- answering a slip ------------------------------------------------------------

    def _raise_now(self, measured: Measurement, before: float) -> tuple[Array, Array] | None:
        """
        Bring all fingers to their wanted forces in one step, by the stiffness that was felt.

        One that has lost its contact goes on by what the others are raised, from level ``before``.
        """
        for finger in self._pressing:
            loaded, wanted = self._loaded[finger.name], self._planned(finger, measured.time)
            if self._is_blind(finger, measured):
                loaded.go(0.0)
                continue
            felt = self._force(finger, measured)
            stiffness = STIFFENING * self._stiffness(finger.name, felt)
            if felt < self._options.touch_force:
                felt = wanted * before / self.level
            loaded.felt = felt
            loaded.go(float(np.clip((wanted - felt) / stiffness, 0.0,
                                    min(SLIP_STEP, self._beyond - loaded.travel))))
        self._judged = self._step_from = measured.time
        self._quiet_until = measured.time + STEP_TIME + QUIET_TIME
        return self._remaining(measured.time)
