"""The modulus of an object from squeezes that the hand's own joints and pads measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ...core.arrays import Array
from ...core.errors import TaskError
from .grip_model import GripModel, MODULI

#: Fewest points of a squeeze whose differences count.
FEWEST_POINTS = 3
#: Moduli that are tried before the best is sought [-].
TRIALS = 60
#: Step of the modulus for derivatives [-].
RELATIVE_STEP = 0.01
#: A standard error above this share of the modulus says that it cannot be told [-].
WORST_ERROR = 0.25
#: Standard errors from the mean to the end of a one-sided interval of 95 %.
ONE_SIDED = 1.645
#: Another modulus that agrees, over the end of the interval of 95 %, that makes it a bound [-].
APART = 2.0
#: Largest logarithm of a ratio of moduli that is told: the table is not longer.
MOST_LOG = float(np.log(MODULI[-1] / MODULI[0]))
#: Logarithm of the ratio of moduli by which surfaces are looked at, at most [-].
MOST_REACH = 1.0


@dataclass(frozen=True, eq=False)
class FeltSqueeze:
    """
    What was measured while one squeeze rose, at rest each time.

    Attributes
    ----------
    joints : (n, J) float
        [rad].
    forces : (n,) float
        Half the sum of the normal forces of all pads that press [N].
    """

    joints: Array
    forces: Array


@dataclass(frozen=True, eq=False)
class FeltModulus:
    """
    A modulus that was felt, or its bound.

    Attributes
    ----------
    youngs_modulus : float
        [Pa]; where it cannot be told, the least that agrees with what was felt, if pads stick.
    best : float
        The modulus of least squares, however little it is known [Pa].
    standard_error : float
        Of what was measured, of friction, of shapes and of the model [Pa]; NaN of a bound.
    is_bound : bool
        The object is too stiff for the hand to tell: it is at least as stiff as this.
    moduli : (k,) float
        Of each squeeze alone [Pa].
    misfit : float
        Root of the mean squared difference of ways over the range of ways [-].
    squeezes : tuple of FeltSqueeze
        Those that were read.
    ways : tuple of (n,) float
        Of the points of each of them beyond the touch that the fit found [m].
    doubt : float
        Standard error of the best modulus' logarithm, that of a bound, too [-].
    stiffest : float
        Largest modulus of the table that agrees with what was felt by 95 % [Pa].
    """

    youngs_modulus: float
    best: float
    standard_error: float
    is_bound: bool
    moduli: Array
    misfit: float
    squeezes: tuple[FeltSqueeze, ...]
    ways: tuple[Array, ...]
    doubt: float
    stiffest: float


def estimate_modulus(model: GripModel, squeezes: Sequence[FeltSqueeze],
                     joint_resolution: float, surface_error: float = 0.0, model_error: float = 0.0
                     ) -> FeltModulus:
    """
    Return the modulus with which the model's grip follows what was felt.

    Parameters
    ----------
    model : GripModel
        Of the same grip.
    squeezes : sequence of FeltSqueeze
        Those with fewer than three points are not read.
    joint_resolution : float
        Error of each measured joint [rad].
    surface_error : float
        Standard deviation of the surfaces that touch from those of the model [m].
    model_error : float
        Standard deviation of what the model itself makes of a modulus [-].

    Raises
    ------
    TaskError
        No squeeze has enough points, or forces do not rise with the way.

    Notes
    -----
    Where the fingers first touched is not known well enough: at the touch a force is too small to
    be felt. So each squeeze has a way of its own at the touch, and only the differences of ways
    between forces count: least squares of w_i - w_0 - W(F_i; E) in the ways, E by search.
    The error is the larger of the ways' scatter, their resolution, and the scatter from squeeze
    to squeeze, beside that of not knowing how far pads stick (``GripModel.friction_doubt``) and
    where surfaces are (``GripModel.surface_doubt``), and ``model_error``.
    """
    used = [one for one in squeezes if len(one.forces) >= FEWEST_POINTS]
    if not used:
        raise TaskError(f'no squeeze has the {FEWEST_POINTS} points that a modulus needs')
    fit = _Fit(model, used)
    modulus = fit.best()
    resolution = max(model.way_resolution(one.joints[-1], joint_resolution) for one in used)
    free = fit.count - len(used) - 1
    deviation = max(resolution, np.sqrt(fit.misfit(modulus) / max(free, 1)))
    error = deviation / fit.sensitivity(modulus)
    single = [_Fit(model, [one]) for one in used]
    alone = np.array([one.best() for one in single])
    error = max(error, _scatter(np.log(alone), [one.sensitivity(modulus) for one in single]))
    force = max(float(one.forces[-1]) for one in used)
    error = float(np.hypot(error, model.friction_doubt(modulus, force)))
    shapes = _shapes_error(model, [one.forces for one in used], modulus, error, surface_error)
    unknown = float(np.hypot(shapes, model_error))
    error = float(np.hypot(error, unknown))
    ways = tuple(measured - start for measured, start in zip(fit.ways, fit.starts(modulus)))
    share = np.sqrt(fit.misfit(modulus) / fit.count) / max(float(np.ptp(way)) for way in ways)
    softest, stiffest = fit.agreeing(modulus, ONE_SIDED * deviation)
    apart = max(np.log(modulus / softest), np.log(stiffest / modulus))
    stiff = error > WORST_ERROR or modulus > 0.9 * MODULI[-1] or (
        apart > APART * ONE_SIDED * error)
    stiffest = min(MODULI[-1], max(stiffest * float(np.exp(ONE_SIDED * unknown)),
                                   modulus * float(np.exp(min(ONE_SIDED * error, MOST_LOG)))))
    falls = all(way[-1] - way[0] < -2.0 * resolution for way in ways)
    if falls or not stiff and modulus < 1.1 * MODULI[0]:
        raise TaskError('the forces that were felt do not rise with the way of the fingers as '
                        'those of an elastic object between them would')
    if stiff:
        least = softest / model.most_sticking(modulus, force)
        least = max(MODULI[0], least * float(np.exp(-ONE_SIDED * unknown)))
        return FeltModulus(least, modulus, np.nan, True, alone, float(share), tuple(used), ways,
                           error, stiffest)
    return FeltModulus(modulus, modulus, error * modulus, False, alone, float(share), tuple(used),
                       ways, error, stiffest)


def _shapes_error(model: GripModel, squeezes: Sequence[Array], modulus: float, error: float,
                  surface_error: float) -> float:
    """
    Return the standard error [-] of a modulus that surfaces leave, beside another error [-].

    An edge that begins to bear does so at other forces of another modulus: of all moduli that
    agree with 95 % the one counts whose squeezes tell least.
    """
    least = model.surface_doubt(modulus, squeezes, surface_error)
    reach = min(ONE_SIDED * float(np.hypot(error, least)), MOST_REACH)
    return max(least, *(model.surface_doubt(modulus * float(np.exp(side * reach)), squeezes,
                                            surface_error) for side in (-1.0, -0.5, 0.5, 1.0)))


def _scatter(values: Array, sensitivities: Sequence[float]) -> float:
    """Return the error of the mean of values (k,) that tell as much as they are sensitive."""
    if len(values) < 2:
        return 0.0
    weights = np.array(sensitivities) ** 2 / np.sum(np.square(sensitivities))
    rests = values - weights @ values
    return float(np.sqrt(weights @ rests ** 2 / (len(values) - 1)))


class _Fit:
    """Sums of squares over the modulus, with the best way at the touch of each squeeze."""

    def __init__(self, model: GripModel, squeezes: Sequence[FeltSqueeze]) -> None:
        self._model, self._forces = model, [one.forces for one in squeezes]
        self.ways = [model.way(one.joints) for one in squeezes]
        self.count = sum(len(forces) for forces in self._forces)

    def _rests(self, modulus: float) -> list[Array]:
        """Return measured less computed ways of each squeeze [m]."""
        return [ways - self._model.way_at(modulus, forces)
                for ways, forces in zip(self.ways, self._forces)]

    def starts(self, modulus: float) -> list[float]:
        """Return the ways of the touch of each squeeze [m]."""
        return [float(rest.mean()) for rest in self._rests(modulus)]

    def misfit(self, modulus: float) -> float:
        """Return the sum of squares [m^2]."""
        return sum(float(((rest - rest.mean()) ** 2).sum()) for rest in self._rests(modulus))

    def sensitivity(self, modulus: float) -> float:
        """Return the change of all differences of ways by that of the modulus' logarithm [m]."""
        total = 0.0
        for before, after in zip(self._rests(modulus),
                                 self._rests(modulus * (1.0 + RELATIVE_STEP))):
            change = (after - before) / RELATIVE_STEP
            total += float(((change - change.mean()) ** 2).sum())
        return float(np.sqrt(total))

    def best(self) -> float:
        """Return the modulus of least squares [Pa]."""
        tried = np.linspace(np.log(MODULI[0]), np.log(MODULI[-1]), TRIALS)
        best = int(np.argmin([self.misfit(np.exp(one)) for one in tried]))
        ends = tried[max(best - 1, 0)], tried[min(best + 1, TRIALS - 1)]
        found = minimize_scalar(lambda one: self.misfit(np.exp(one)), bounds=ends,
                                method='bounded', options={'xatol': 1e-5})
        return float(np.exp(found.x))

    def agreeing(self, modulus: float, deviation: float) -> tuple[float, float]:
        """
        Return the least and the largest modulus that agree with what was felt [Pa].

        Their sums of squares are within a deviation [m] of the best one's. Between them others
        may not agree: where an edge begins to bear the way of a soft object and that of a stiff
        one may be the same.
        """
        limit = self.misfit(modulus) + deviation ** 2
        agree = [modulus, *(one for one in np.geomspace(MODULI[0], MODULI[-1], 10 * TRIALS)
                            if self.misfit(one) <= limit)]
        return float(min(agree)), float(max(agree))
