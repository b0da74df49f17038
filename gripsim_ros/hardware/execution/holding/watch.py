"""
Fingers that hold by feel: their forces follow the load that is felt, and rise where it slips.

The grip is the planned one times a level, so that its inner balance stays. The level is what the
minimal-force programme needs for the load, with a reserve, at the least friction that leaves room
below damage: half of what is believed where that can be. A slip tells what friction truly is.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..measurement import Measurement
from ..plan import ExecutionOptions, ExecutionPlan, FingerPlan
from ..touch.loading import TouchWatch
from .belief import GripBelief
from .programme import HoldProgramme, NeededGrip
from .slip import falls_on, SlipWatch

Array = NDArray[np.float64]

#: Time between two solutions of the programme [s].
SOLVE_PERIOD = 0.05
#: The grip holds this multiple of the felt load, where the limits allow.
RESERVE = 1.2
#: The same after a slip: what slipped bore less than the whole weight.
SLIP_RESERVE = 1.5
#: Slip tells nothing of friction while the load is less than this share of the planned one.
LOADED_SHARE = 0.2
#: Time in which all fingers are raised after a slip [s]: what slips falls meanwhile.
RAISE_TIME = 0.04
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
#: Fingers step back from so much below damage: the weight rests on some more than on others.
BACK = 1.15
#: Round contacts stiffen as they are pressed: force over travel grows by this, as Hertz's does.
STIFFENING = 1.5
#: A slip at the largest grip is believed when a second comes within this [s].
AGAIN = 0.3


def motor_room(plan: ExecutionPlan) -> float:
    """Return up to which multiple of the planned forces the motors can press; ``inf``: unknown."""
    if plan.torques is None or plan.hold is None:
        return np.inf
    turns = np.abs(plan.torques) > 0.0
    return float((plan.hold.hand.joint_efforts[turns] / np.abs(plan.torques[turns])).min(
        initial=np.inf))


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
        self._hold, self._most = hold, max(1.0, min(hold.damage / OVERSHOOT, motor_room(plan)))
        self.programme = HoldProgramme(hold, self._most, options.touch_force)
        self._slip, self.belief = SlipWatch(options.touch_force), GripBelief(
            hold, self.programme, self._most)
        self.level = self._first_level(plan)
        self.slips: list[float] = []            # when slips were seen [s]
        self._wrist: deque[Array] = deque(maxlen=LOAD_READINGS)
        self._solved, self._quiet_until, self._holds = -np.inf, -np.inf, False
        self._cannot_since: float | None = None
        self._raised_at = np.inf                        # when fingers were raised last [s]
        self._raised: Measurement | None = None         # the first felt half way up
        self._slipped_at_most = -np.inf         # when the largest grip slipped last [s]
        self._shortfall, self._slips_on = '', False
        self._felt: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=FORCE_READINGS)
        self._known_stiffness: dict[str, float] = {}

    @property
    def friction(self) -> float:
        """Return the coefficient that is believed [-]."""
        return self.belief.friction

    # -- forces wanted ---------------------------------------------------------------

    def _planned(self, finger: FingerPlan, time: float) -> float:
        return self.level * super()._planned(finger, time)

    def loading_fault(self, late: bool) -> str:
        """Begin with less, the planned forces at least, where the first grip is not reached."""
        if late and not self.borne:
            less = max(1.0 / self.level, self._borne_share())
            self.level *= less
            self._shares = {name: share / less for name, share in self._shares.items()}
        return super().loading_fault(late)

    def _limit(self, name: str, wanted: float) -> float:
        """Return the force beyond which a finger steps back [N]: below damage, once it holds."""
        if not self._holds:
            return super()._limit(name, wanted)
        return max(wanted, wanted / self.level * self._hold.damage / BACK)

    @property
    def _beyond(self) -> float:
        return HOLD_BEYOND if self._holds else super()._beyond

    def keep_pressing(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Follow load and slip; as ``stop_fingers``."""
        if not self._holds:
            self._holds, self._quiet_until = True, measured.time + QUIET_TIME
        if measured.load is not None:
            self._wrist.append(measured.load)
        calm, before = self._without_spikes(measured), self.level
        slips, measured = self._slips_now(measured, calm), calm
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

    def _slips_now(self, measured: Measurement, calm: Measurement) -> bool:
        """Return whether a slip is seen that fingers can answer now; ``calm``: no spikes."""
        if measured.felt_at < self._quiet_until:
            self._slip.forget()
            return self._goes_on(calm)
        pulls = self.programme.directions(measured, self._felt_load()[:3])
        return self._slip.update(measured, pulls) and self._load_share() >= LOADED_SHARE

    def _goes_on(self, measured: Measurement) -> bool:
        """Return whether it falls in spite of the largest grip, while fingers still rise."""
        if not self._at_most or measured.felt_at < self._raised_at + 0.5 * RAISE_TIME:
            return False
        if self._raised is None:        # older news are of what slipped before
            self._raised = measured
            return False
        pulls = self.programme.directions(measured, self._felt_load()[:3])
        return falls_on(self._raised, measured, pulls)

    @property
    def _at_most(self) -> bool:
        return self.level >= self._most - 1e-9

    def _felt_load(self) -> Array:
        """Return the load felt (6,), or the planned one where no wrist tells."""
        return np.mean(self._wrist, axis=0) if self._wrist else self._hold.load

    def _load_share(self) -> float:
        weight = float(np.linalg.norm(self._felt_load()[:3]))
        return weight / self._hold.weight if self._hold.weight > 0.0 else 1.0

    def _first_level(self, plan: ExecutionPlan) -> float:
        """Return the grip that the planned load needs at the planned contacts, 1 at least."""
        if not self._hold.load.any():
            return 1.0
        planned = Measurement(0.0, plan.closed, dict.fromkeys(self._hold.links, np.inf))
        level = self.belief.grip_for(planned, self._hold.load, RESERVE).level
        return float(np.clip(level, 1.0, self.belief.room)) if np.isfinite(level) else 1.0

    def _follow(self, measured: Measurement, slips: bool) -> None:
        """Solve the programme for what is felt; slips tell of friction and weight."""
        load = self._felt_load()
        if not load.any() or self._load_share() < LOADED_SHARE:
            return
        needed = self.belief.grip_for(measured, load, RESERVE)
        if slips:
            self.belief.learn_of_slip(measured, load)
            # What slips bears less than the weight: that is the planned one at least.
            weight = load * max(1.0, 1.0 / max(self._load_share(), LOADED_SHARE))
            needed = self.belief.grip_for(measured, weight, SLIP_RESERVE)
        self._judge(needed, measured, load, slips and self._at_most)
        wanted = min(needed.level, self._most)
        self.level = max(self.level, wanted if np.isfinite(wanted) else self.level)
        if slips and self._at_most:
            self._slipped_at_most = measured.time

    def _judge(self, needed: NeededGrip, measured: Measurement, load: Array, at_most: bool
               ) -> None:
        """
        Note since when no grip within the limits holds; ``at_most``: the largest one slips.

        What a slip tells of friction is rough: then only slipping on, at the largest grip, counts.
        """
        twice = at_most and measured.time - self._slipped_at_most <= AGAIN
        if not twice and (self.belief.slipped or np.isfinite(needed.level)):
            self._cannot_since = None if not self._slips_on else self._cannot_since
            return
        self._slips_on |= twice
        since = measured.time - (CANNOT_TIME if twice else 0.0)
        self._cannot_since = min(since, np.inf if self._cannot_since is None
                                 else self._cannot_since)
        reason = needed.shortfall or f'it slips at {self._most:.2f} times the planned forces'
        self._shortfall = (
            f'cannot hold {np.linalg.norm(load[:3]):.2f} N with a friction of '
            f'{self.belief.friction:.2f} (planned {self._hold.weight:.2f} N, '
            f'{self._hold.friction:.2f}): {reason}')

    def holding_fault(self, measured: Measurement) -> str:
        """Return why the object cannot be held on, or ''."""
        since = self._cannot_since
        if not self._fault and since is not None and measured.time - since >= CANNOT_TIME:
            return self._shortfall
        return super().holding_fault(measured)

    @property
    def largest_grip(self) -> str:
        """Return at which grip the object slips, where it is the largest, or ''."""
        return f'at {self.level:.2f} times the planned forces, the most that is allowed' \
            if self.slips and self._at_most else ''

    def _next_step(self, name: str, forces: dict[str, float], wanted: dict[str, float]) -> float:
        if self._holds and name in forces:
            self._loaded[name].stiffness = self._stiffness(name, forces[name])
        return super()._next_step(name, forces, wanted)

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
        Raise all fingers from level ``before`` in one step, by the stiffness that was felt.
        """
        for finger in self._pressing:
            loaded, wanted = self._loaded[finger.name], self._planned(finger, measured.time)
            if self._is_blind(finger, measured):
                loaded.go(0.0)
                continue
            felt = self._force(finger, measured)
            stiffness = STIFFENING * self._stiffness(finger.name, felt)
            touches = felt >= self._options.touch_force and loaded.travel > 0.0
            # No more than the grip rises: a pad may be saturated, or have lost its contact.
            felt = max(felt, wanted * before / self.level)
            if touches:
                stiffness = STIFFENING * felt / loaded.travel       # alike for all: in balance
            loaded.felt = felt
            loaded.go(float(np.clip((wanted - felt) / stiffness, 0.0,
                                    min(SLIP_STEP, self._beyond - loaded.travel))))
        self._judged = self._step_from = measured.time
        self._step_time = RAISE_TIME
        self._raised_at, self._raised = measured.time, None
        if self.level > before:         # else fingers rest, and centres tell
            self._quiet_until = measured.time + RAISE_TIME + QUIET_TIME
        return self._remaining(measured.time)
