"""How well squeezes of a grip would tell a modulus, before the hand has touched anything."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...library.squeezing.grip_model import GripModel
from .options import PalpationOptions

Array = NDArray[np.float64]

#: Moduli that a hand is to tell, over the one that is believed [-].
TOLD = 0.1, 1.0, 10.0
#: A relative error that is good enough to look no further, and one that tells nothing [-].
GOOD, USELESS = 0.1, 1.0
#: Lowest force of a squeeze over its largest, and of any finger over what counts as touch.
LOWEST_SHARE, LOWEST_TOUCH = 0.15, 2.0
#: Largest force of a squeeze over its lowest, at least.
LEAST_RISE = 2.5
#: Largest pressure over that of damage by the stiffest object that agrees with what was felt [-]:
#: forces go past the largest that is aimed at by some per cent, pressures by a third of that.
UNHARMED = 0.97
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


def unharmed_force(model: GripModel, modulus: float, options: PalpationOptions,
                   max_pressure: float, max_grip: float) -> float:
    """Return the largest force of a grip [N] that an object bears; as of ``harmless_force``."""
    room = replace(options, damage_room=UNHARMED)
    return harmless_force(model, modulus, room, max_pressure, max_grip)


def grip_shares(forces: Mapping[str, float]) -> dict[str, float]:
    """Return what fingers that press bear of the grip, half the sum of their forces [N]."""
    total = 0.5 * sum(forces.values())
    return {name: force / total for name, force in forces.items() if force > 0.0}


def lowest_force(shares: Mapping[str, float], touch_force: float) -> float:
    """Return the least force of a squeeze [N] of which every finger feels its share."""
    return LOWEST_TOUCH * touch_force / min(shares.values())


def weakest_squeeze(shares: Mapping[str, float], touch_force: float) -> float:
    """Return the largest force [N] of the weakest squeeze that tells anything."""
    return LEAST_RISE * lowest_force(shares, touch_force)


def pressure_of_weakest(peaks: Array, forces: Array, weakest: float) -> float:
    """
    Return about what largest pressure the weakest squeeze of a planned grasp makes [Pa].

    By the contacts as they were planned, in no time: round contacts press as the third root of the
    force (Hertz). Edges press harder, but so they do in the plan: it tells which grasps to look at
    first, no more.

    Parameters
    ----------
    peaks, forces : (k,) float
        Largest pressures [Pa] and closing forces [N] of the planned contacts.
    weakest : float
        Force of the grip in that squeeze [N].
    """
    pressing = forces > 0.0
    if not pressing.any():
        return float('inf')
    grip = 0.5 * float(forces.sum())
    return float(peaks[pressing].max() * np.cbrt(weakest / grip))


def expected_error(model: GripModel, believed: float, options: PalpationOptions,
                   max_pressure: float = np.inf, max_grip: float = np.inf,
                   weakest: float = 0.0) -> float:
    """
    Return the relative standard error [-] with which squeezes would tell a modulus, at most 1.

    The mean for an object that is as stiff as is ``believed`` [Pa], ten times softer and ten
    times stiffer: what nobody knows of friction, of surfaces (``surface_error``), and of joints
    that are read to ``joint_resolution`` while fingers press as far as the object bears and
    ``most_strain`` allows. Where the ``weakest`` squeeze [N] would damage it already, nothing is
    told. Other parameters as of ``harmless_force``.
    """
    def told(modulus: float) -> float:
        limits = model, modulus, options, max_pressure, max_grip
        return USELESS if unharmed_force(*limits) < weakest else min(USELESS, error_at(*limits))
    return float(np.mean([told(share * believed) for share in TOLD]))


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
