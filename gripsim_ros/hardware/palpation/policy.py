"""How hard the next squeeze of a grip may press, by what those before it have told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError
from ...library.squeezing.grip_model import GripModel, MODULI
from ...library.squeezing.palpated import (
    estimate_modulus, FeltModulus, FeltSqueeze, FEWEST_POINTS, modulus_of_rises, Rise)
from .options import PalpationOptions

Array = NDArray[np.float64]

#: Squeezes over those that were asked for while the object is too stiff to tell: each tells more.
MORE_SQUEEZES = 2
#: Largest force of a squeeze over that of the one before while the object is too stiff to tell:
#: only more force tells more, and pressure grows by its cube root.
BOUND_GROWTH = 2.5
#: Moduli that a hand is to tell, over the one that is believed [-].
TOLD = 0.1, 1.0, 10.0
#: Moduli that are tried for the stiffest object which the weakest squeeze does not damage.
MODULI_TRIED = 16
#: Modulus over the one that is believed for which the first squeeze does no damage, either [-].
MOST_SURPRISING = 100.0
#: By how much the model of a grip is off itself [-]: so far from it were finite elements of whole
#: grips, by the root of the mean square (docs/validation/palpate.md).
MODEL_ERROR = 0.07
#: Power of the force to which the way of a round contact grows (Hertz): where it will end.
HERTZ = 2.0 / 3.0
#: Lowest force of a squeeze over its largest, and of any finger over what counts as touch.
LOWEST_SHARE, LOWEST_TOUCH = 0.15, 2.0
#: Largest force of a squeeze over its lowest, at least.
LEAST_RISE = 2.5
#: Largest pressure over that of damage by the stiffest object that agrees with what was felt [-]:
#: forces go past the largest that is aimed at by some per cent, pressures by a third of that.
UNHARMED = 0.97
#: Forces that are tried for the largest that hurts nothing.
FORCES_TRIED = 60


def grip_shares(forces: Mapping[str, float]) -> dict[str, float]:
    """Return what fingers that press bear of the grip, half the sum of their forces [N]."""
    total = 0.5 * sum(forces.values())
    return {name: force / total for name, force in forces.items() if force > 0.0}


def weakest_squeeze(shares: Mapping[str, float], touch_force: float) -> float:
    """Return the largest force [N] of the weakest squeeze that tells anything."""
    return LEAST_RISE * lowest_force(shares, touch_force)


def lowest_force(shares: Mapping[str, float], touch_force: float) -> float:
    """Return the least force of a squeeze [N] of which every finger feels its share."""
    return LOWEST_TOUCH * touch_force / min(shares.values())


@dataclass(frozen=True, eq=False)
class SqueezePolicy:
    """
    What a palpation knows before it begins, and what it makes of what was felt.

    Forces are those of the grip, half the sum of its normal forces [N].

    Attributes
    ----------
    model : GripModel
    options : PalpationOptions
    believed : float
        Modulus that is believed before anything is felt [Pa].
    shares : mapping of str to float
        Of the grip's force that each finger bears which presses.
    touch_force : float
        Of a finger that counts as touch [N].
    max_pressure, max_force : float
        Pressure [Pa] and normal force of a link [N] at which damage begins, ``inf``: not known.

    Raises
    ------
    TaskError
        The object is believed to be as stiff as it is said to be at most, or no finger presses.
    """

    model: GripModel
    options: PalpationOptions
    believed: float
    shares: Mapping[str, float]
    touch_force: float
    max_pressure: float = np.inf
    max_force: float = np.inf

    def __post_init__(self) -> None:
        """Check what is believed, and that something presses."""
        self.options.check_believed(self.believed)
        if not self.shares:
            raise TaskError('no finger of the grasp presses')

    # -- what the object bears -------------------------------------------------------

    @property
    def lowest(self) -> float:
        """Return the least force of a squeeze: every finger feels it."""
        return lowest_force(self.shares, self.touch_force)

    @property
    def least(self) -> float:
        """Return the largest force of the weakest squeeze that tells anything."""
        return weakest_squeeze(self.shares, self.touch_force)

    @property
    def max_grip(self) -> float:
        """Return the force at which the first finger bears too much, ``inf``: not known."""
        return self.max_force / max(self.shares.values())

    def harmless(self, modulus: float) -> float:
        """Return the largest force that stays below damage with ``damage_room`` to spare."""
        return self._below(modulus, self.options.damage_room)

    def unharmed(self, modulus: float) -> float:
        """Return the largest force that an object of a modulus [Pa] bears undamaged."""
        return self._below(modulus, UNHARMED)

    def _below(self, modulus: float, room: float) -> float:
        """Return the largest force by which pressure and force keep to a share of damage."""
        most = self.options.most_force
        forces = np.geomspace(1e-3 * most, most, FORCES_TRIED)
        sound = self.model.pressure_at(modulus, forces) <= room * self.max_pressure
        return min(float(forces[sound].max(initial=forces[0])), room * self.max_grip)

    @property
    def told(self) -> list[float]:
        """Return the moduli that a hand is to tell [Pa]: none that is thought impossible."""
        return [share * self.believed for share in TOLD
                if share * self.believed <= self.options.most_modulus]

    def stiffest_borne(self) -> float:
        """Return the largest modulus to be told that the weakest squeeze spares [Pa], or inf."""
        most = min(TOLD[-1] * self.believed, self.options.most_modulus)
        tried = np.geomspace(self.believed, most, MODULI_TRIED)
        borne = [float(one) for one in tried if self.unharmed(one) >= self.least]
        return np.inf if len(borne) == MODULI_TRIED else max(borne, default=0.0)

    def refusal(self) -> str:
        """Return why an object that is as believed is not squeezed, or ''."""
        tells = f'a squeeze that tells anything takes {self.least:.2f} N of the grip, '
        if self.least > self.max_grip:
            return f'{tells}the object bears {self.max_grip:.2f} N'
        if self.unharmed(self.believed) < self.least:
            return (f'{tells}which damages an object of {self.believed:.2g} Pa, as is believed')
        return ''

    # -- what was felt ---------------------------------------------------------------

    def estimate(self, squeezes: Sequence[FeltSqueeze]) -> FeltModulus:
        """Return the modulus of squeezes; errors as of ``estimate_modulus``."""
        options = self.options
        return estimate_modulus(self.model, squeezes, options.joint_resolution,
                                options.surface_error, MODEL_ERROR, options.most_modulus)

    def estimate_rises(self, rises: Sequence[Rise]) -> FeltModulus:
        """Return the modulus of ways and forces; errors as of ``estimate_modulus``."""
        return modulus_of_rises(self.model, rises, self.options.surface_error, MODEL_ERROR,
                                self.options.most_modulus)

    def is_beyond(self, felt: FeltModulus) -> bool:
        """Return whether what was felt is at least as stiff as it is said to be at most."""
        return felt.best >= self.options.most_modulus

    def is_surely_beyond(self, felt: FeltModulus) -> bool:
        """Return whether even the softest object that agrees is as stiff as that."""
        return felt.is_bound and felt.youngs_modulus >= self.options.most_modulus

    def ends(self, felt: FeltModulus) -> bool:
        """
        Return whether no squeeze is to follow.

        It is stiffer than was said, or what tells more damages the softest object that agrees.
        """
        return self.is_surely_beyond(felt) or self.unharmed(felt.youngs_modulus) < self.least

    # -- the next squeeze ------------------------------------------------------------

    def wanted(self, felt: FeltModulus | None, made: int) -> int:
        """Return how many squeezes there will be, by what was felt of those that were made."""
        asked = self.options.squeezes
        too_stiff = felt is not None and felt.is_bound
        return MORE_SQUEEZES * asked if too_stiff and made >= asked else asked

    def levels(self, felt: FeltModulus | None, before: float) -> Array:
        """
        Return the forces (n,) of the next squeeze, rising.

        Parameters
        ----------
        felt : FeltModulus, optional
            By the squeezes before.
        before : float
            Largest force that the last of them was to reach.
        """
        top = max(self._largest(felt, before), self.least)
        return np.linspace(max(LOWEST_SHARE * top, self.lowest), top, self.options.levels)

    def _largest(self, felt: FeltModulus | None, before: float) -> float:
        """Return the largest force of the next squeeze, by what has been felt."""
        options = self.options
        if felt is None:
            surprising = min(MOST_SURPRISING * self.believed, MODULI[-1], options.most_modulus)
            return min(options.first_force, options.most_force, self.harmless(self.believed),
                       self.unharmed(surprising))
        stiffest, growth = felt.best, BOUND_GROWTH
        if not felt.is_bound:
            stiffest, growth = felt.stiffest, options.force_growth
        way = options.most_strain * self.model.width
        return min(options.most_force, growth * before,
                   self.harmless(min(stiffest, MODULI[-1])), self.unharmed(felt.stiffest),
                   float(self.model.force_at(felt.youngs_modulus, np.array([way]))[0]))

    def may_rise(self, after: float, ways: Array, forces: Array,
                 estimate: Callable[[], FeltModulus]) -> bool:
        """
        Return whether a squeeze may go on to its next force.

        Parameters
        ----------
        after : float
            That force.
        ways, forces : (k,) float
            Of its rests until now, ways from anywhere on [m].
        estimate : callable
            Returns the modulus by all that was felt until now.
        """
        if len(forces) < FEWEST_POINTS:
            return True
        if self._goes_too_far(after, ways, forces):
            return False
        if after <= self.least:
            return True
        try:
            felt = estimate()
        except TaskError:
            return True
        return after <= self.unharmed(felt.stiffest) and not self.is_surely_beyond(felt)

    def _goes_too_far(self, after: float, ways: Array, forces: Array) -> bool:
        """Return whether a force would take the fingers farther than they may go."""
        roots = forces ** HERTZ
        rate = (ways[-1] - ways[0]) / max(roots[-1] - roots[0], 1e-12)
        return bool(rate * after ** HERTZ > self.options.most_strain * self.model.width)
