"""How well squeezes of a grip would tell a modulus, before the hand has touched anything."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ...library.squeezing.grip_model import GripModel
from .options import PalpationOptions

Array = NDArray[np.float64]

#: Moduli that a hand is to tell, over the one that is believed [-].
TOLD = 0.1, 1.0, 10.0
#: A relative error that is good enough to look no further, and one that tells nothing [-].
GOOD, USELESS = 0.1, 1.0
#: Lowest force of a squeeze over its largest.
LOWEST_SHARE = 0.15
#: Forces that are tried for the largest that hurts nothing.
FORCES_TRIED = 60
#: Step of the modulus' logarithm for derivatives.
STEP = 0.01


def harmless_force(model: GripModel, modulus: float, options: PalpationOptions,
                   max_pressure: float, max_grip: float) -> float:
    """
    Return the largest force of a grip [N] that stays below damage with room to spare.

    Parameters
    ----------
    model : GripModel
    modulus : float
        Of the object [Pa].
    options : PalpationOptions
    max_pressure, max_grip : float
        Pressure [Pa] and force of the grip [N] at which damage begins, ``inf``: not known.
    """
    forces = np.geomspace(1e-3 * options.most_force, options.most_force, FORCES_TRIED)
    sound = model.pressure_at(modulus, forces) <= options.damage_room * max_pressure
    return min(float(forces[sound].max(initial=forces[0])), options.damage_room * max_grip)


def expected_error(model: GripModel, believed: float, options: PalpationOptions,
                   max_pressure: float = np.inf, max_grip: float = np.inf) -> float:
    """
    Return the relative standard error [-] with which squeezes would tell a modulus, at most 1.

    The mean for an object that is as stiff as is ``believed`` [Pa], ten times softer and ten
    times stiffer: what nobody knows of friction, of surfaces (``surface_error``), and of joints
    that are read to ``joint_resolution`` while fingers press as far as the object bears and
    ``most_strain`` allows. Other parameters as of ``harmless_force``.
    """
    return float(np.mean([min(USELESS, error_at(model, share * believed, options, max_pressure,
                                                max_grip)) for share in TOLD]))


def error_at(model: GripModel, modulus: float, options: PalpationOptions, max_pressure: float,
             max_grip: float) -> float:
    """Return the relative standard error [-] for a modulus [Pa]; as of ``expected_error``."""
    way = np.array([options.most_strain * model.width])
    top = min(harmless_force(model, modulus, options, max_pressure, max_grip),
              float(model.force_at(modulus, way)[0]))
    forces = np.linspace(LOWEST_SHARE * top, top, options.levels)
    change = (model.way_at(modulus, forces)
              - model.way_at(modulus * np.exp(STEP), forces)) / STEP
    sensitivity = np.sqrt(options.squeezes) * np.linalg.norm(change - change.mean())
    resolution = model.way_resolution(model.touching, options.joint_resolution)
    shapes = model.surface_doubt(modulus, [forces], options.surface_error)
    return float(np.linalg.norm([resolution / sensitivity, model.friction_doubt(modulus, top),
                                 shapes]))


def most_telling(errors_of: Iterable[Callable[[], float]],
                 on_error: Callable[[int, float], None]) -> int:
    """
    Return which of several grips tells a modulus: the first that does so well, or the best.

    Parameters
    ----------
    errors_of : iterable of callable
        Each returns the ``expected_error`` of a grip; those behind one that is good enough are
        not called.
    on_error : callable
        Called with the number of a grip, from 0, and its error.
    """
    errors: list[float] = []
    for k, error_of in enumerate(errors_of):
        errors.append(error_of())
        on_error(k, errors[-1])
        if errors[-1] <= GOOD:
            break
    return int(np.argmin(errors))
