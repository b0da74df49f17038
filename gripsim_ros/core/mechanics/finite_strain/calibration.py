"""Modulus and law of a material from measured curves of force over way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import least_squares, minimize_scalar

from ...arrays import Array
from ...bodies import Material
from ...errors import TaskError
from .squeezing import SqueezedBody, Squeezing, squeeze_body

#: Points of the computed curve that measured forces are compared with.
MODEL_STEPS = 6
#: Curves from which on their scatter is told as the material's spread.
SPREAD_CURVES = 3
#: Fewest measured points inside the range of strain.
FEWEST_POINTS = 5
#: Bounds of c2 and c3 of Yeoh's law, and of the exponent of Ogden's [-].
YEOH_BOUNDS = ((-0.3, -0.1), (3.0, 3.0))
EXPONENTS = (-12.0, 12.0)
#: Smallest exponent of Ogden's law, which has none at 0 [-].
LEAST_EXPONENT = 1e-2
#: Curves computed to find coefficients at most.
MAX_TRIALS = 20


@dataclass(frozen=True, eq=False)
class MeasuredCurve:
    """
    Force over way of one squeeze between plates.

    Attributes
    ----------
    ways, forces : (n,) float
        From the first touch, rising [m], [N].
    name : str
    """

    ways: Array
    forces: Array
    name: str = ''


@dataclass(frozen=True, eq=False)
class Calibration:
    """
    A material from curves.

    Attributes
    ----------
    material : Material
        With its law, its range and its spread.
    standard_error : float
        Of the modulus: from run to run where there are several, else from the misfit [Pa].
    moduli : (k,) float
        Of each curve alone, with the law of all [Pa].
    misfit : float
        Root of the mean squared difference over the root of the mean squared force [-].
    points : int
        Measured points used.
    """

    material: Material
    standard_error: float
    moduli: Array
    misfit: float
    points: int


def calibrate_from_curves(body: SqueezedBody, curves: Sequence[MeasuredCurve],
                          material: Material, max_strain: float, bonded: bool,
                          on_trial: Callable[[int], bool | None] | None = None) -> Calibration:
    """
    Fit a material's modulus, and its law's coefficients, to curves of squeezes between plates.

    Parameters
    ----------
    body : SqueezedBody
        Ready for a way of ``max_strain`` of its thickness.
    curves : sequence of MeasuredCurve
        At least one.
    material : Material
        Law, Poisson's ratio and all that is not measured here; its modulus is not read.
    max_strain : float
        Way over thickness up to which points are used [-].
    bonded : bool
        The ends stick to the plates.
    on_trial : callable, optional
        Called with the number of computed curves; return False to end with ``TaskError``.

    Raises
    ------
    TaskError
        A curve has too few points in the range, or ends up with no modulus above 0.

    Notes
    -----
    Least squares in force: the force is proportional to the modulus, so that one computed curve
    gives it, and only the coefficients of Yeoh's and Ogden's laws are searched
    (scipy's ``least_squares`` and ``minimize_scalar``).
    """
    limit = max_strain * body.thickness
    used = [_inside(curve, limit, body.thickness) for curve in curves]
    unit = _UnitCurve(body, material, limit, bonded, on_trial)
    coefficients = _coefficients(unit, material.law, used)
    shape = unit(coefficients)
    moduli = np.array([_modulus(shape, curve) for curve in used])
    together = MeasuredCurve(np.concatenate([curve.ways for curve in used]),
                             np.concatenate([curve.forces for curve in used]))
    modulus = _modulus(shape, together)
    if not modulus > 0.0:
        raise TaskError('the curves give no modulus above 0: does the force rise with the way?')
    rest = together.forces - modulus * shape(together.ways)
    misfit = float(np.sqrt((rest ** 2).mean() / (together.forces ** 2).mean()))
    deviation = float(moduli.std(ddof=1)) if len(moduli) > 1 else misfit * modulus
    error = deviation / np.sqrt(len(moduli))
    spread = deviation if len(moduli) >= SPREAD_CURVES else 0.0
    fitted = replace(material, youngs_modulus=modulus, law_parameters=coefficients,
                     max_strain=max_strain, modulus_spread=spread / modulus)
    return Calibration(fitted, float(error), moduli, misfit, len(together.ways))


class _UnitCurve:
    """Computed force over way of a material with a modulus of 1 Pa, by its coefficients."""

    def __init__(self, body: SqueezedBody, material: Material, way: float, bonded: bool,
                 on_trial: Callable[[int], bool | None] | None) -> None:
        self._body, self._material, self._way = body, material, way
        self._bonded, self._on_trial, self._count = bonded, on_trial, 0

    def __call__(self, coefficients: tuple[float, ...]) -> Callable[[Array], Array]:
        """Return the force [N] as a function of ways (n,) [m]."""
        self._count += 1
        if self._on_trial is not None and self._on_trial(self._count) is False:
            raise TaskError('the calibration was stopped')
        material = replace(self._material, youngs_modulus=1.0, law_parameters=coefficients)
        squeezing: Squeezing = squeeze_body(self._body, material, self._way, MODEL_STEPS,
                                            self._bonded)
        if len(squeezing.curve) < MODEL_STEPS:
            raise TaskError('the computed squeeze does not reach the strain to be fitted: '
                            + '; '.join(squeezing.warnings))
        ways = [0.0] + [point.way for point in squeezing.curve]
        forces = [0.0] + [point.force for point in squeezing.curve]
        return PchipInterpolator(ways, forces)


def _coefficients(unit: _UnitCurve, law: str, curves: Sequence[MeasuredCurve]
                  ) -> tuple[float, ...]:
    """Return the coefficients of a law that curves ask for."""
    if law == 'ogden':
        found = minimize_scalar(
            lambda exponent: float((_misfits(unit(_exponent(exponent)), curves) ** 2).sum()),
            bounds=EXPONENTS, method='bounded', options={'xatol': 0.05, 'maxiter': MAX_TRIALS})
        return _exponent(found.x)
    if law == 'yeoh':
        found = least_squares(
            lambda values: _misfits(unit((float(values[0]), float(values[1]))), curves),
            (0.01, 0.01), bounds=YEOH_BOUNDS, diff_step=0.05, x_scale=(1.0, 1.0), xtol=1e-2,
            ftol=1e-3, max_nfev=MAX_TRIALS // 3)
        return float(found.x[0]), float(found.x[1])
    return ()


def _exponent(value: float) -> tuple[float]:
    """Return an exponent as Ogden's law takes it, which has none at 0."""
    return (float(np.copysign(max(abs(value), LEAST_EXPONENT), value)),)


def _inside(curve: MeasuredCurve, limit: float, thickness: float) -> MeasuredCurve:
    """Return the points of a curve from the first touch to a way [m]."""
    if curve.ways.max() >= thickness:
        raise TaskError(f'{curve.name or "a curve"} goes {1e3 * curve.ways.max():.4g} mm, more '
                        f'than the object is thick, {1e3 * thickness:.4g} mm: is the unit of '
                        'the way right?')
    inside = (curve.ways > 0.0) & (curve.ways <= limit * (1.0 + 1e-9))
    if inside.sum() < FEWEST_POINTS:
        raise TaskError(f'{curve.name or "a curve"} has {int(inside.sum())} points with a way '
                        f'above 0 and up to {1e3 * limit:.3g} mm; at least {FEWEST_POINTS} are '
                        'needed: use a larger --max-strain, or look at the unit of the way')
    if curve.ways.max() < 0.5 * limit:
        raise TaskError(f'{curve.name or "a curve"} ends at {1e3 * curve.ways.max():.3g} mm, '
                        f'far below the {1e3 * limit:.3g} mm to be fitted: use a smaller '
                        '--max-strain, or look at the unit of the way')
    return MeasuredCurve(curve.ways[inside], curve.forces[inside], curve.name)


def _modulus(shape: Callable[[Array], Array], curve: MeasuredCurve) -> float:
    """Return the modulus of least squares in force [Pa]."""
    unit = shape(curve.ways)
    return float(unit @ curve.forces / (unit @ unit))


def _misfits(shape: Callable[[Array], Array], curves: Sequence[MeasuredCurve]) -> Array:
    """Return differences of all points over the largest force [-], a modulus for each curve."""
    parts = [curve.forces - _modulus(shape, curve) * shape(curve.ways) for curve in curves]
    largest = max(float(np.abs(curve.forces).max()) for curve in curves)
    return np.concatenate(parts) / largest
