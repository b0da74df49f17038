"""The modulus of an object from squeezes that the hand's own joints and pads measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
class Rise:
    """
    What one squeeze tells of an object.

    Attributes
    ----------
    ways : (n,) float
        Of the fingers, from anywhere on [m].
    forces : (n,) float
        Half the sum of the normal forces [N].
    resolution : float
        Standard deviation of a way [m].
    """

    ways: Array
    forces: Array
    resolution: float


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
        Those that were read, where joints were read.
    ways, forces : tuple of (n,) float
        Of the points of each squeeze: beyond the touch that the fit found [m], and as felt [N].
    doubt : float
        Standard error of the best modulus' logarithm, that of a bound, too [-].
    stiffest : float
        Largest modulus of the table that agrees with what was felt by 95 %, none that is thought
        impossible unless the best is [Pa].
    """

    youngs_modulus: float
    best: float
    standard_error: float
    is_bound: bool
    moduli: Array
    misfit: float
    squeezes: tuple[FeltSqueeze, ...]
    ways: tuple[Array, ...]
    forces: tuple[Array, ...]
    doubt: float
    stiffest: float


def estimate_modulus(model: GripModel, squeezes: Sequence[FeltSqueeze],
                     joint_resolution: float, surface_error: float = 0.0, model_error: float = 0.0,
                     most_modulus: float = np.inf) -> FeltModulus:
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
    most_modulus : float
        Largest modulus that is thought possible [Pa].

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

    ``most_modulus`` cuts off what is believed, not what was measured: the best modulus and the
    error of ways are those of the squeezes alone, though a belief that ends there has less
    spread. Moduli above it agree no longer, so that of two that fit the squeezes the lower can be
    told, and surfaces are not asked there. A best one that is not below it is told as a bound,
    and nothing is cut off: what was felt speaks against it.
    """
    used = [one for one in squeezes if len(one.forces) >= FEWEST_POINTS]
    if not used:
        raise TaskError(f'no squeeze has the {FEWEST_POINTS} points that a modulus needs')
    rises = [Rise(model.way(one.joints), one.forces,
                  model.way_resolution(one.joints[-1], joint_resolution)) for one in used]
    told = modulus_of_rises(model, rises, surface_error, model_error, most_modulus)
    return replace(told, squeezes=tuple(used))


def modulus_of_rises(model: GripModel, rises: Sequence[Rise], surface_error: float,
                     model_error: float, most_modulus: float) -> FeltModulus:
    """Return the modulus that ways of fingers tell; as of ``estimate_modulus``."""
    fit = _Fit(model, rises)
    modulus = fit.best()
    resolution = max(one.resolution for one in rises)
    free = fit.count - len(rises) - 1
    deviation = max(resolution, np.sqrt(fit.misfit(modulus) / max(free, 1)))
    error = deviation / fit.sensitivity(modulus)
    single = [_Fit(model, [one]) for one in rises]
    alone = np.array([one.best() for one in single])
    error = max(error, _scatter(np.log(alone), [one.sensitivity(modulus) for one in single]))
    force = max(float(one.forces[-1]) for one in rises)
    error = float(np.hypot(error, model.friction_doubt(modulus, force)))
    possible = MODULI[-1] if modulus >= most_modulus else min(MODULI[-1], most_modulus)
    shapes = _shapes_error(model, [one.forces for one in rises], modulus, error, surface_error,
                           possible)
    unknown = float(np.hypot(shapes, model_error))
    error = float(np.hypot(error, unknown))
    ways = tuple(measured - start for measured, start in zip(fit.ways, fit.starts(modulus)))
    share = np.sqrt(fit.misfit(modulus) / fit.count) / max(float(np.ptp(way)) for way in ways)
    softest, stiffest = fit.agreeing(modulus, ONE_SIDED * deviation, possible)
    apart = max(np.log(modulus / softest), np.log(stiffest / modulus))
    stiff = bool(error > WORST_ERROR or modulus > 0.9 * MODULI[-1] or modulus >= most_modulus
                 or apart > APART * ONE_SIDED * error)
    stiffest = min(possible, max(stiffest * float(np.exp(ONE_SIDED * unknown)),
                                 modulus * float(np.exp(min(ONE_SIDED * error, MOST_LOG)))))
    falls = all(way[-1] - way[0] < -2.0 * resolution for way in ways)
    if falls or not stiff and modulus < 1.1 * MODULI[0]:
        raise TaskError('the forces that were felt do not rise with the way of the fingers as '
                        'those of an elastic object between them would')
    told, spread = modulus, error * modulus
    if stiff:
        told = softest / model.most_sticking(modulus, force)
        told = max(MODULI[0], told * float(np.exp(-ONE_SIDED * unknown)))
        spread = np.nan
    return FeltModulus(told, modulus, spread, stiff, alone, float(share), (), ways,
                       tuple(one.forces for one in rises), error, stiffest)


def _shapes_error(model: GripModel, squeezes: Sequence[Array], modulus: float, error: float,
                  surface_error: float, possible: float) -> float:
    """
    Return the standard error [-] of a modulus that surfaces leave, beside another error [-].

    An edge that begins to bear does so at other forces of another modulus: of all moduli that
    agree with 95 %, up to the largest that is ``possible`` [Pa], the one counts whose squeezes
    tell least.
    """
    least = model.surface_doubt(modulus, squeezes, surface_error)
    reach = min(ONE_SIDED * float(np.hypot(error, least)), MOST_REACH)
    others = (min(possible, modulus * float(np.exp(side * reach)))
              for side in (-1.0, -0.5, 0.5, 1.0))
    return max(least, *(model.surface_doubt(one, squeezes, surface_error) for one in others))


def _scatter(values: Array, sensitivities: Sequence[float]) -> float:
    """Return the error of the mean of values (k,) that tell as much as they are sensitive."""
    if len(values) < 2:
        return 0.0
    weights = np.array(sensitivities) ** 2 / np.sum(np.square(sensitivities))
    rests = values - weights @ values
    return float(np.sqrt(weights @ rests ** 2 / (len(values) - 1)))


class _Fit:
    """Sums of squares over the modulus, with the best way at the touch of each squeeze."""

    def __init__(self, model: GripModel, rises: Sequence[Rise]) -> None:
        self._model, self._forces = model, [one.forces for one in rises]
        self.ways = [one.ways for one in rises]
        self.count = sum(len(forces) for forces in self._forces)

    def _rests(self, modulus: float | Array) -> list[Array]:
        """Return measured less computed ways (n,) of each squeeze, of many moduli (m, n) [m]."""
        return [ways - self._model.way_at(modulus, forces)
                for ways, forces in zip(self.ways, self._forces)]

    def starts(self, modulus: float) -> list[float]:
        """Return the ways of the touch of each squeeze [m]."""
        return [float(rest.mean()) for rest in self._rests(modulus)]

    def misfit(self, modulus: float) -> float:
        """Return the sum of squares [m^2]."""
        return float(self._misfits(modulus))

    def _misfits(self, moduli: float | Array) -> Array:
        """Return the sums of squares of moduli [m^2]."""
        return np.sum([((rest - rest.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
                       for rest in self._rests(moduli)], axis=0)

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
        best = int(np.argmin(self._misfits(np.exp(tried))))
        ends = tried[max(best - 1, 0)], tried[min(best + 1, TRIALS - 1)]
        found = minimize_scalar(lambda one: self.misfit(np.exp(one)), bounds=ends,
                                method='bounded', options={'xatol': 1e-5})
        return float(np.exp(found.x))

    def agreeing(self, modulus: float, deviation: float, possible: float
                 ) -> tuple[float, float]:
        """
        Return the least and the largest modulus up to a possible one that agree [Pa].

        Their sums of squares are within a deviation [m] of the best one's. Between them others
        may not agree: where an edge begins to bear the way of a soft object and that of a stiff
        one may be the same.
        """
        tried = np.geomspace(MODULI[0], MODULI[-1], 10 * TRIALS)
        limit = self.misfit(modulus) + deviation ** 2
        agree = tried[(self._misfits(tried) <= limit) & (tried <= possible)]
        return float(np.min(agree, initial=modulus)), float(np.max(agree, initial=modulus))
