"""Loads on an object in a closed hand, one after the other: a compiled kernel."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from .free_body import Body, Fingers, follow, Ground, Motion, Resistance
from .link_samples import Felt


class Trial(NamedTuple):
    """
    How long loads act, and how far an object may yield.

    Attributes
    ----------
    step : float
        Of the integration [s].
    growing, longest : int
        Steps in which a load grows, and within which it is looked at.
    waits : int
        Steps after which it is looked whether the object rests.
    still : float
        Speed below which it does [m/s].
    radius : float
        At which its turn's speed counts [m].
    most_shift, most_turn : float
        Of the centre of mass, and of the object [m, rad].
    """

    step: float
    growing: int
    longest: int
    waits: int
    still: float
    radius: float
    most_shift: float
    most_turn: float


@njit(cache=True, nogil=True)
def first_not_borne(command: Array, wrenches: Array, body: Body, fingers: Fingers,
                    ground: Ground, resistance: Resistance, begin: Motion, trial: Trial) -> int:
    """
    Return the number of the first load under which an object yields too far, -1: of none.

    Parameters
    ----------
    command : (J,) float
        Where the joints are sent meanwhile [rad].
    wrenches : (c, 6) float
        Each alone, from where the object is; frame palm [N, N m].
    body, fingers, ground, resistance : Body, Fingers, Ground, Resistance
    begin : Motion
        Left as it is.
    trial : Trial
    """
    commands = np.empty((max(trial.growing, trial.waits), len(command)))
    for k in range(len(commands)):
        for j in range(len(command)):
            commands[k, j] = command[j]
    growing, full = np.empty((trial.growing, 6)), np.empty((trial.waits, 6))
    touched = np.zeros(len(fingers.link_frames))
    resistance = Resistance(resistance.drag, resistance.joint_damping, resistance.stiffness,
                            resistance.spin_radius, trial.step)
    for load in range(len(wrenches)):
        for a in range(6):
            for k in range(trial.growing):
                growing[k, a] = wrenches[load, a] * ((k + 1) / trial.growing)
            for k in range(trial.waits):
                full[k, a] = wrenches[load, a]
        motion = copied(begin, fingers.samples.starts)
        follow(commands[:trial.growing], growing, body, fingers, ground, resistance, motion,
               touched)
        left = trial.longest - trial.growing
        while left > 0:
            count = min(left, trial.waits)
            follow(commands[:count], full[:count], body, fingers, ground, resistance, motion,
                   touched)
            left -= count
            if _speed(motion, trial.radius) < trial.still:
                break
        if _yields_too_far(begin, motion, trial):
            return load
    return -1


@njit(cache=True)
def copied(motion: Motion, starts: IntArray) -> Motion:
    """Return a copy of a motion; ``starts``: where each link's samples begin (L + 1,)."""
    old = motion.felt
    felt = Felt(old.poses.copy(), np.empty(len(old.near), np.int64), np.empty(len(old.near)),
                old.counts.copy(), old.least.copy())
    for link in range(len(old.counts)):
        for k in range(starts[link], starts[link] + old.counts[link]):
            felt.near[k], felt.distances[k] = old.near[k], old.distances[k]
    return Motion(motion.rotation.copy(), motion.place.copy(), motion.joints.copy(),
                  motion.speeds.copy(), motion.forces.copy(), felt)


@njit(cache=True)
def _speed(motion: Motion, radius: float) -> float:
    """Return the speed of the centre of mass and of a place at a radius about it [m/s]."""
    way, turn = 0.0, 0.0
    for a in range(3):
        way += motion.speeds[a] ** 2
        turn += motion.speeds[3 + a] ** 2
    return float(np.sqrt(way) + radius * np.sqrt(turn))


@njit(cache=True)
def _yields_too_far(begin: Motion, motion: Motion, trial: Trial) -> bool:
    shift, trace = 0.0, 0.0
    for a in range(3):
        shift += (motion.place[a] - begin.place[a]) ** 2
        for b in range(3):
            trace += motion.rotation[a, b] * begin.rotation[a, b]
    # Cosine of the turn between both: below that of the largest, it is larger.
    return bool(np.sqrt(shift) > trial.most_shift
                or 0.5 * (trace - 1.0) < np.cos(trial.most_turn))
