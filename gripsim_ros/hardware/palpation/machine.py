"""
One palpation as a state machine: measurements in, actions out, a modulus at the end.

    PRESHAPE -> REACHING -> APPROACHING -> CLOSING -> LOADING -> RELEASING -> DONE

An execution by touch whose loading is a number of squeezes, each a rise over some forces at which
the hand rests, and a fall. The first is so small that it hurts nothing; what it tells bounds the
force of the next.
"""

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError
from ...library.squeezing.grip_model import GripModel, MODULI
from ...library.squeezing.palpated import (
    estimate_modulus, FeltModulus, FeltSqueeze, FEWEST_POINTS)
from ..execution.actions import Action, Phase, SendRows, Status
from ..execution.machine import GraspExecution
from ..execution.measurement import Measurement
from ..execution.plan import ExecutionOptions, ExecutionPlan
from .options import PalpationOptions
from .squeeze_watch import SqueezeWatch
from .telling import (
    harmless_force, lowest_force, LOWEST_SHARE, TOLD, unharmed_force, weakest_squeeze)

Array = NDArray[np.float64]

#: Squeezes over those that were asked for while the object is too stiff to tell: each tells more.
MORE_SQUEEZES = 2
#: Largest force of a squeeze over that of the one before while the object is too stiff to tell:
#: only more force tells more, and pressure grows by its cube root.
BOUND_GROWTH = 2.5
#: Moduli that are tried for the stiffest object which the weakest squeeze does not damage.
MODULI_TRIED = 16
#: Modulus over the one that is believed for which the first squeeze does no damage, either [-].
MOST_SURPRISING = 100.0
#: A force of the grip over the largest that is aimed at, or with which the squeeze began (fingers
#: meet what is stiff with more), and over so many measurements, that stops the hand.
OVERSHOOT, OVERSHOOT_COUNT = 1.5, 3
#: By how much the model of a grip is off itself [-]: so far from it were finite elements of whole
#: grips, by the root of the mean square (docs/validation/palpate.md).
MODEL_ERROR = 0.07
#: Power of the force to which the way of a round contact grows (Hertz): where it will end.
HERTZ = 2.0 / 3.0


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
    palpation : PalpationOptions
    model : GripModel
        Of the same grip.
    nominal : float
        Modulus that is believed before anything is felt [Pa].
    max_pressure, max_force : float
        Pressure [Pa] and normal force of a link [N] at which damage begins, ``inf``: not known.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions, carries: bool,
                 palpation: PalpationOptions, model: GripModel, nominal: float,
                 max_pressure: float = np.inf, max_force: float = np.inf) -> None:
        """Begin with the first measurement."""
        super().__init__(plan, options, carries)
        self._touch = self._watch = self._squeeze = SqueezeWatch(plan, options)
        self.palpation, self.model, self.max_pressure = palpation, model, max_pressure
        # A finger bears its share of the grip's force.
        self.max_grip = max_force / max(self._squeeze.shares.values())
        self.squeezes: list[FeltSqueeze] = []
        self.modulus: FeltModulus | None = None
        self.peak_force = 0.0       # of the grip [N]
        self._nominal = nominal
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
        asked, too_stiff = self.palpation.squeezes, self.modulus and self.modulus.is_bound
        return MORE_SQUEEZES * asked if too_stiff and len(self.squeezes) >= asked else asked

    @property
    def damage_share(self) -> float:
        """Return the largest pressure or force over that of damage, as felt best; NaN: unknown."""
        if self.modulus is None or np.isinf(self.max_pressure) and np.isinf(self.max_grip):
            return np.nan
        peak = self.model.pressure_at(self.modulus.best, np.array([self.peak_force]))
        return float(max(peak[0] / self.max_pressure, self.peak_force / self.max_grip))

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
        if self._least > self.max_grip:
            return Status.MISSED_CONTACT, (
                f'a squeeze that tells anything takes {self._least:.2f} N of the '
                f'grip, the object bears {self.max_grip:.2f} N')
        if not len(self._levels) and self._unharmed(self._nominal) < self._least:
            return Status.MISSED_CONTACT, (
                f'a squeeze that tells anything takes {self._least:.2f} N of the grip, which '
                f'damages an object of {self._nominal:.2g} Pa, as is believed')
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

    @property
    def _lowest(self) -> float:
        """Return the least force of a squeeze [N]: every finger feels it."""
        return lowest_force(self._squeeze.shares, self.options.touch_force)

    @property
    def _least(self) -> float:
        """Return the largest force of the weakest squeeze that tells anything [N]."""
        return weakest_squeeze(self._squeeze.shares, self.options.touch_force)

    def _note_danger(self) -> None:
        """Say which stiffer objects the weakest squeeze damages already, before it is made."""
        borne = [share for share in np.geomspace(1.0, TOLD[-1], MODULI_TRIED)
                 if self._unharmed(share * self._nominal) >= self._least]
        if len(borne) < MODULI_TRIED:
            self._squeeze.notes.append(
                f'an object of more than {max(borne) * self._nominal:.2g} Pa is damaged by the '
                f'weakest squeeze that tells anything, {self._least:.2f} N')

    def _begin_squeeze(self, measured: Measurement) -> None:
        """Choose the forces of the next squeeze and go to the lowest."""
        if not len(self._levels):
            self._note_danger()
        lowest = self._lowest
        top = max(self._largest_force(), self._least)
        self._levels = np.linspace(max(LOWEST_SHARE * top, lowest), top, self.palpation.levels)
        self._level, self._rises, self._rows, self._forces = 0, True, [], []
        self._begun_with = self._squeeze.felt(measured)
        self._aim(measured)

    def _largest_force(self) -> float:
        """Return the largest force of the next squeeze [N], by what has been felt."""
        felt, palpation = self.modulus, self.palpation
        if felt is None:
            known = min(self._harmless(self._nominal),
                        self._unharmed(min(MOST_SURPRISING * self._nominal, MODULI[-1])))
            return min(palpation.first_force, palpation.most_force, known)
        stiffest, growth = felt.best, BOUND_GROWTH
        if not felt.is_bound:
            stiffest, growth = felt.stiffest, palpation.force_growth
        way = palpation.most_strain * self.model.width
        return min(palpation.most_force, growth * float(self._levels[-1]),
                   self._harmless(min(stiffest, MODULI[-1])), self._unharmed(felt.stiffest),
                   float(self.model.force_at(felt.youngs_modulus, np.array([way]))[0]))

    def _harmless(self, modulus: float) -> float:
        """Return the largest force [N] that stays below damage with room to spare."""
        return harmless_force(self.model, modulus, self.palpation, self.max_pressure,
                              self.max_grip)

    def _unharmed(self, modulus: float) -> float:
        """Return the largest force [N] that an object of a modulus [Pa] bears undamaged."""
        return unharmed_force(self.model, modulus, self.palpation, self.max_pressure,
                              self.max_grip)

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
        if self._level + 1 < len(self._levels) and not (
                self._would_go_too_far() or self._would_hurt()):
            self._level += 1
            self._aim(measured)
            return []
        return self._end_squeeze(measured)

    def _would_go_too_far(self) -> bool:
        """Return whether the next force would take the fingers farther than they may go."""
        if len(self._rows) < FEWEST_POINTS:
            return False
        ways, roots = self.model.way(np.array(self._rows)), np.array(self._forces) ** HERTZ
        rate = (ways[-1] - ways[0]) / max(roots[-1] - roots[0], 1e-12)
        after = rate * float(self._levels[self._level + 1]) ** HERTZ
        return bool(after > self.palpation.most_strain * self.model.width)

    def _would_hurt(self) -> bool:
        """Return whether the next force may damage the object, by what was felt up to now."""
        after = float(self._levels[self._level + 1])
        if len(self._rows) < FEWEST_POINTS or after <= self._least:
            return False
        try:
            felt = self._estimate([*self.squeezes, self._risen])
        except TaskError:
            return False
        return after > self._unharmed(felt.stiffest)

    @property
    def _risen(self) -> FeltSqueeze:
        """Return what was felt of the squeeze that rises."""
        return FeltSqueeze(np.array(self._rows), np.array(self._forces))

    def _estimate(self, squeezes: list[FeltSqueeze]) -> FeltModulus:
        """Return the modulus of squeezes; errors as of ``estimate_modulus``."""
        return estimate_modulus(self.model, squeezes, self.palpation.joint_resolution,
                                self.palpation.surface_error, MODEL_ERROR)

    def _end_squeeze(self, measured: Measurement) -> list[Action]:
        self.squeezes.append(self._risen)
        try:
            self.modulus = self._estimate(self.squeezes)
        except TaskError as error:
            if len(self.squeezes) >= self.palpation.squeezes:
                self._judge_closing(measured)
                return self._fail(Status.MISSED_CONTACT, str(error))
        if self.modulus is not None and self._unharmed(self.modulus.youngs_modulus) < self._least:
            self._squeeze.notes.append('any squeeze that tells more presses harder than the '
                                       'object bears')
            return self._end_palpation(measured)
        if len(self.squeezes) < self._wanted:
            self._level, self._rises = 0, False
            self._aim(measured)
            return []
        return self._end_palpation(measured)

    def _end_palpation(self, measured: Measurement) -> list[Action]:
        self._judge_closing(measured)
        self.message = '; '.join(self._squeeze.notes)
        return self._finish(measured)
