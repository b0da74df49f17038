"""
One palpation as a state machine: measurements in, actions out, a modulus at the end.

    PRESHAPE -> REACHING -> APPROACHING -> CLOSING -> LOADING -> RELEASING -> DONE

An execution by touch whose loading is a number of squeezes, each a rise over some forces at which
the hand rests, and a fall. The first is so small that it hurts nothing; what it tells bounds the
force of the next (``SqueezePolicy``).
"""

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError
from ...library.squeezing.grip_model import GripModel
from ...library.squeezing.palpated import FeltModulus, FeltSqueeze
from ..execution.actions import Action, Phase, SendRows, Status
from ..execution.machine import GraspExecution
from ..execution.measurement import Measurement
from ..execution.plan import ExecutionOptions, ExecutionPlan
from .options import PalpationOptions
from .policy import SqueezePolicy
from .squeeze_watch import SqueezeWatch

Array = NDArray[np.float64]

#: A force of the grip over the largest that is aimed at, or with which the squeeze began (fingers
#: meet what is stiff with more), and over so many measurements, that stops the hand.
OVERSHOOT, OVERSHOOT_COUNT = 1.5, 3


class Palpation(GraspExecution):
    """
    One palpation.

    Parameters
    ----------
    plan : ExecutionPlan
        With ``touch``.
    options : ExecutionOptions
    carries : bool
        As of ``GraspExecution``.
    palpation, model, nominal, max_pressure, max_force
        ``options``, ``model``, ``believed`` and limits of ``SqueezePolicy``; the model is of the
        same grip.

    Raises
    ------
    TaskError
        The object is believed to be as stiff as it is said to be at most, or no finger presses.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions, carries: bool,
                 palpation: PalpationOptions, model: GripModel, nominal: float,
                 max_pressure: float = np.inf, max_force: float = np.inf) -> None:
        """Begin with the first measurement."""
        super().__init__(plan, options, carries)
        self._touch = self._watch = self._squeeze = SqueezeWatch(plan, options)
        self.palpation, self.model = palpation, model
        self.policy = SqueezePolicy(model, palpation, nominal, self._squeeze.shares,
                                    options.touch_force, max_pressure, max_force)
        self.squeezes: list[FeltSqueeze] = []
        self.modulus: FeltModulus | None = None
        self.peak_force = 0.0       # of the grip [N]
        self._rows: list[Array] = []
        self._forces: list[float] = []
        self._readings: list[tuple[Array, float]] = []
        self._levels, self._level, self._rises = np.zeros(0), 0, True
        self._rest_from: float | None = None
        self._begun_with = 0.0      # force of the grip [N] until it is let go of to the aim
        self._beyond = 0            # measurements in a row with too much force

    @property
    def progress(self) -> float:
        """Return how far the phase is, 0 to 1; while squeezing, by squeezes."""
        if self.phase != Phase.LOADING:
            return super().progress
        share = self._level / max(len(self._levels), 1)
        return min(1.0, (len(self.squeezes) + share * self._rises) / self._wanted)

    @property
    def _wanted(self) -> int:
        """Return how many squeezes there will be, by what has been felt."""
        return self.policy.wanted(self.modulus, len(self.squeezes))

    @property
    def damage_share(self) -> float:
        """Return the largest pressure or force over that of damage, as felt best; NaN: unknown."""
        most, most_grip = self.policy.max_pressure, self.policy.max_grip
        if self.modulus is None or np.isinf(most) and np.isinf(most_grip):
            return np.nan
        peak = self.model.pressure_at(self.modulus.best, np.array([self.peak_force]))
        return float(max(peak[0] / most, self.peak_force / most_grip))

    # -- squeezing -------------------------------------------------------------------

    def _load(self, measured: Measurement) -> list[Action]:
        """Bring the grip from force to force; read joints and pads where it rests."""
        force = self._squeeze.felt(measured)
        self.peak_force = max(self.peak_force, force)
        if len(self._levels) and force <= OVERSHOOT * self._levels[-1]:
            self._begun_with = 0.0
        beyond = len(self._levels) and force > OVERSHOOT * max(self._levels[-1], self._begun_with)
        self._beyond = self._beyond + 1 if beyond else 0
        wrong = self._wrong(measured)
        if wrong:
            self._judge_closing(measured)
            return self._fail(*wrong)
        if self._is_late(measured):
            return self._end_palpation(measured)      # what was asked for is known: a bound
        if not len(self._levels):
            self._begin_squeeze(measured)
        if self._rest_from is None and not self._squeeze.rests(measured):
            remaining = self._squeeze.go_on(measured)
            return [] if remaining is None else [SendRows(*remaining, measured.time)]
        self._read(measured)
        if measured.felt_at - self._rest_from < self.palpation.rest_time:
            return []
        return self._go_to_next(measured)

    def _wrong(self, measured: Measurement) -> tuple[Status, str] | None:
        """Return status and reason of what keeps the hand from squeezing on, or None."""
        if self._squeeze.blind:
            return Status.MISSED_CONTACT, (f'{", ".join(self._squeeze.blind)} cannot feel: all '
                                           'fingers that press need their pads')
        if self._squeeze.fault:
            return Status.MISSED_CONTACT, self._squeeze.fault
        refusal = '' if len(self._levels) else self.policy.refusal()
        if refusal:
            return Status.MISSED_CONTACT, refusal
        if self._beyond >= OVERSHOOT_COUNT:
            return Status.MISSED_CONTACT, (
                f'the grip presses with {self._squeeze.felt(measured):.2f} N, at most '
                f'{self._levels[-1]:.2f} N were aimed at: something stiff is between the fingers')
        if self._is_late(measured) and len(self.squeezes) < self.palpation.squeezes:
            return Status.TIMED_OUT, (f'{len(self.squeezes)} of {self.palpation.squeezes} '
                                      f'squeezes in {self.palpation.palpation_time:g} s')
        return None

    def _is_late(self, measured: Measurement) -> bool:
        return measured.time - self._since > self.palpation.palpation_time

    def _begin_squeeze(self, measured: Measurement) -> None:
        """Choose the forces of the next squeeze and go to the lowest."""
        before = 0.0
        if len(self._levels):
            before = float(self._levels[-1])
        else:
            self._note_danger()
        self._levels = self.policy.levels(self.modulus, before)
        self._level, self._rises, self._rows, self._forces = 0, True, [], []
        self._begun_with = self._squeeze.felt(measured)
        self._aim(measured)

    def _note_danger(self) -> None:
        """Say which stiffer objects the weakest squeeze damages already, before it is made."""
        borne, least = self.policy.stiffest_borne(), self.policy.least
        if np.isfinite(borne):
            self._squeeze.notes.append(
                f'an object of more than {borne:.2g} Pa is damaged by the weakest squeeze that '
                f'tells anything, {least:.2f} N')

    def _aim(self, measured: Measurement) -> None:
        self._rest_from, self._readings = None, []
        self._squeeze.aim(float(self._levels[self._level]), measured)

    def _read(self, measured: Measurement) -> None:
        """Keep what is measured in the second half of a rest."""
        if self._rest_from is None:
            self._rest_from = measured.felt_at
        if measured.felt_at - self._rest_from >= 0.5 * self.palpation.rest_time:
            self._readings.append((measured.joints, self._squeeze.felt(measured)))

    def _go_to_next(self, measured: Measurement) -> list[Action]:
        """Leave a force for the next, or end the squeeze."""
        if not self._rises:
            self._begin_squeeze(measured)
            return []
        self._rows.append(np.mean([joints for joints, _ in self._readings], axis=0))
        self._forces.append(float(np.mean([force for _, force in self._readings])))
        if self._may_rise():
            self._level += 1
            self._aim(measured)
            return []
        return self._end_squeeze(measured)

    def _may_rise(self) -> bool:
        """Return whether the squeeze goes on to a next force."""
        if self._level + 1 >= len(self._levels):
            return False
        risen = self._risen
        return self.policy.may_rise(
            float(self._levels[self._level + 1]), self.model.way(risen.joints), risen.forces,
            lambda: self.policy.estimate([*self.squeezes, risen]))

    @property
    def _risen(self) -> FeltSqueeze:
        """Return what was felt of the squeeze that rises."""
        return FeltSqueeze(np.array(self._rows), np.array(self._forces))

    def _end_squeeze(self, measured: Measurement) -> list[Action]:
        self.squeezes.append(self._risen)
        try:
            self.modulus = self.policy.estimate(self.squeezes)
        except TaskError as error:
            if len(self.squeezes) >= self.palpation.squeezes:
                self._judge_closing(measured)
                return self._fail(Status.MISSED_CONTACT, str(error))
        if self.modulus is not None and self.policy.ends(self.modulus):
            if not self.policy.is_surely_beyond(self.modulus):
                self._squeeze.notes.append('any squeeze that tells more presses harder than the '
                                           'object bears')
            return self._end_palpation(measured)
        if len(self.squeezes) < self._wanted:
            self._level, self._rises = 0, False
            self._aim(measured)
            return []
        return self._end_palpation(measured)

    def _end_palpation(self, measured: Measurement) -> list[Action]:
        if self.modulus is not None and self.policy.is_beyond(self.modulus):
            self._squeeze.notes.append(
                f'what was felt fits an object of {self.modulus.best:.2g} Pa best, stiffer than '
                f'the {self.palpation.most_modulus:.2g} Pa that it is said to have at most')
        self._judge_closing(measured)
        self.message = '; '.join(self._squeeze.notes)
        return self._finish(measured)
