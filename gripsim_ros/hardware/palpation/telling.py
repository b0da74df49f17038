"""How well squeezes of a grip would tell a modulus, before the hand has touched anything."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError
from ...library.squeezing.palpated import FeltModulus, Rise
from .policy import MODEL_ERROR, SqueezePolicy

Array = NDArray[np.float64]

#: A relative error that is good enough to look no further, a fifth above the model's own, and one
#: that tells nothing [-].
GOOD, USELESS = 1.2 * MODEL_ERROR, 1.0
#: Modulus that one weak squeeze may take an object for, over its own [-]: surfaces of 0.02 mm and
#: edges made 1.6 of it. Where that one is damaged by the next, palpation ends with what it has.
MISTAKEN = 2.0


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


def expected_error(policy: SqueezePolicy) -> float:
    """
    Return the relative standard error [-] that a palpation would tell, at most 1.

    Root of the mean square for an object that is as stiff as is believed, ten times softer and
    ten times stiffer, but none stiffer than it is said to be at most.
    """
    if policy.refusal():
        return USELESS
    errors = np.array([error_at(policy, modulus) for modulus in policy.told])
    return float(np.sqrt(np.mean(errors**2)))


def error_at(policy: SqueezePolicy, modulus: float) -> float:
    """
    Return the relative standard error [-] told of an object of a modulus [Pa], at most 1.

    1 where a bound is told, where the weakest squeeze that tells anything damages the object or
    one that it may be taken for, or where the forces of a squeeze would not balance: the object
    turns in the fingers then, by no way that the model knows.
    """
    if policy.unharmed(min(MISTAKEN * modulus, policy.options.most_modulus)) < policy.least:
        return USELESS
    felt = foretell(policy, modulus)
    if felt is None or felt.is_bound or not policy.model.is_balanced(
            modulus, np.concatenate(felt.forces)):
        return USELESS
    return min(USELESS, felt.doubt)


def foretell(policy: SqueezePolicy, modulus: float) -> FeltModulus | None:
    """
    Return what squeezes of an object of a modulus [Pa] would tell, or None: nothing.

    They are made as the hand makes them, each as hard as those before allow, by what the model
    says; forces are those that are aimed at, and joints are read exactly.
    """
    model, options = policy.model, policy.options
    resolution = model.way_resolution(model.touching, options.joint_resolution)
    rises: list[Rise] = []
    felt, before = None, 0.0
    while len(rises) < policy.wanted(felt, len(rises)):
        levels = policy.levels(felt, before)
        rises.append(_rise(policy, levels, model.way_at(modulus, levels), resolution, rises))
        before = float(levels[-1])
        try:
            felt = policy.estimate_rises(rises)
        except TaskError:
            if len(rises) >= options.squeezes:
                return None
        if felt is not None and policy.ends(felt):
            break
    return felt


def _rise(policy: SqueezePolicy, levels: Array, ways: Array, resolution: float,
          before: list[Rise]) -> Rise:
    """Return the part of a squeeze over levels (n,) [N], at ways (n,) [m], that is made."""
    risen = Rise(ways[:1], levels[:1], resolution)
    for count in range(1, len(levels)):
        if not policy.may_rise(
                float(levels[count]), risen.ways, risen.forces,
                lambda made=risen: policy.estimate_rises([*before, made])):
            break
        risen = Rise(ways[:count + 1], levels[:count + 1], resolution)
    return risen


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
