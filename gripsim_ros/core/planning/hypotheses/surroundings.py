"""Kernels of the prescreen among obstacles: a closing hand's shortest way out of them."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...arrays import Array, IntArray
from ...batches import OBSTACLE_BOX, OBSTACLE_SPHERE
from ...hand import HandLink, HandModel, Preshape, forward_kinematics
from ...transforms import apply
from .hand_geometry import Finger


#: About the number of a link's points, and of those in a bounding ball.
LINK_POINTS, BALL_POINTS = 40, 8
#: Parts of the straight way to the grasp at which the open hand is looked at [-].
APPROACH_PARTS = (0.0, 0.5, 1.0)
#: Step of a hand's points that count whatever the fingers touch.
ALWAYS = -1


class HandSweep(NamedTuple):
    """
    Points of a hand on its way to a grasp and while it closes, in balls, frame palm.

    Attributes
    ----------
    points : (m, 3) float
        [m]
    starts : (b + 1,) int
        Ball ``b`` holds the points ``starts[b]`` to ``starts[b + 1]``.
    balls : (b, 4) float
        Centre and radius of each [m].
    fingers, steps : (b,) int
        Finger and step of its closing; ``ALWAYS``: the open hand, and its approach.
    """

    points: Array
    starts: IntArray
    balls: Array
    fingers: IntArray
    steps: IntArray


def link_points(link: HandLink) -> Array:
    """Return about ``LINK_POINTS`` of a link's vertices, sorted along its longest side (m, 3)."""
    points = link.mesh.vertices[::max(1, len(link.mesh.vertices) // LINK_POINTS)]
    return points[np.argsort(points[:, np.ptp(points, axis=0).argmax()], kind='stable')]


def point_balls(parts: list[Array]) -> tuple[Array, IntArray, Array]:
    """Return points (m, 3), and the starts (b + 1,) and balls (b, 4) that hold them in order."""
    groups = [group for points in parts
              for group in np.array_split(points, 1 + len(points) // BALL_POINTS)]
    centres = np.array([0.5 * (group.min(axis=0) + group.max(axis=0)) for group in groups])
    radii = [np.linalg.norm(g - c, axis=1).max() for g, c in zip(groups, centres)]
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    return np.concatenate(groups), starts, np.column_stack([centres, radii])


def hand_sweep(hand: HandModel, fingers: tuple[Finger, ...], preshape: Preshape, steps: int,
               approach_distance: float) -> HandSweep:
    """
    Return the points of a hand that arrives along the palm's z axis and closes.

    Parameters
    ----------
    hand : HandModel
    fingers : tuple of Finger
        Those that close.
    preshape : Preshape
    steps : int
        Number of steps of the closing, ends included.
    approach_distance : float
        Straight way before the grasp [m].
    """
    shares = np.linspace(0.0, 1.0, steps)[:, None]
    poses = forward_kinematics(hand, preshape.open + shares * (preshape.closed - preshape.open))
    parts = [(ALWAYS, ALWAYS, apply(poses[0, i], link_points(link))
              - [0.0, 0.0, part * approach_distance])
             for part in APPROACH_PARTS for i, link in enumerate(hand.links)]
    parts += [(number, step, apply(poses[step, i], link_points(hand.links[i])))
              for number, finger in enumerate(fingers) for step in range(1, steps)
              for i in np.flatnonzero(hand.moves_link[:, list(finger.joints)].any(axis=1))]
    points, starts, balls = point_balls([points for _, _, points in parts])
    ends = np.cumsum([len(points) for _, _, points in parts])
    owners = np.searchsorted(ends, starts[:-1], side='right')
    fingers_of, steps_of = np.array([part[:2] for part in parts])[owners].T
    return HandSweep(points, starts, balls, np.ascontiguousarray(fingers_of),
                     np.ascontiguousarray(steps_of))


@njit(cache=True)
def primitive_distance(row: Array, point: Array, outward: Array) -> float:
    """
    Return the signed distance of a point to a primitive [m], negative inside; write its gradient.

    ``row (16,)`` is one of ``ConfigurationBatch.obstacles`` in the point's frame, ``outward (3,)``
    takes the unit direction in which the distance grows.
    """
    local, across = np.empty(3), np.zeros(3)
    for k in range(3):
        local[k] = (row[4 + k] * (point[0] - row[7]) + row[8 + k] * (point[1] - row[11])
                    + row[12 + k] * (point[2] - row[15]))
    if row[0] == OBSTACLE_BOX:
        distance: float = _box_distance(0.5 * row[1:4], local, across)
    elif row[0] == OBSTACLE_SPHERE:
        length = np.sqrt(local[0] ** 2 + local[1] ** 2 + local[2] ** 2)
        across[:] = local / max(length, 1e-12)
        distance = length - row[1]
    else:
        radius = np.sqrt(local[0] ** 2 + local[1] ** 2)
        flat = np.array([radius, abs(local[2]), 0.0])
        grown = np.zeros(3)
        distance = _box_distance(np.array([row[2], 0.5 * row[1], np.inf]), flat, grown)
        across[:2] = grown[0] * local[:2] / max(radius, 1e-12)
        across[2] = grown[1] * np.sign(local[2])
    for k in range(3):
        outward[k] = (row[4 + 4 * k] * across[0] + row[5 + 4 * k] * across[1]
                      + row[6 + 4 * k] * across[2])
    return distance


@njit(cache=True)
def _box_distance(half: Array, local: Array, across: Array) -> float:
    """Return the signed distance to a box of half sides [m] about the origin, and its gradient."""
    outside, face, least = 0.0, 0, -np.inf
    for k in range(3):
        beyond = abs(local[k]) - half[k]
        if beyond > least:
            face, least = k, beyond
        if beyond > 0.0:
            across[k] = np.sign(local[k]) * beyond
            outside += beyond ** 2
    if outside > 0.0:
        length: float = np.sqrt(outside)
        across /= length
        return length
    across[face] = 1.0 if local[face] >= 0.0 else -1.0
    return least


@njit(cache=True, nogil=True)
def ways_out(rotations: Array, origins: Array, touch_steps: IntArray, hand: HandSweep,
             obstacles: Array, margin: float) -> Array:
    """
    Return for each palm the shortest shift that clears its deepest point of obstacles (n, 3) [m].

    Parameters
    ----------
    rotations (n, 3, 3), origins (n, 3)
        Palms.
    touch_steps (n, f)
        Step at which each finger touches; later ones do not count. Negative: it never does.
    hand
        Its points.
    obstacles (k, 16)
        In the palms' frame of reference.
    margin
        Wanted clearance [m].

    Returns
    -------
    shifts (n, 3)
        Zero where the hand is clear.

    """
    shifts, point, outward = np.zeros((len(rotations), 3)), np.empty(3), np.empty(3)
    for n in range(len(rotations)):
        least = margin
        for b in range(len(hand.balls)):
            step = hand.steps[b]
            if step != ALWAYS and touch_steps[n, hand.fingers[b]] >= 0 and (
                    step > touch_steps[n, hand.fingers[b]]):
                continue
            _place(rotations[n], origins[n], hand.balls[b], point)
            for row in obstacles:
                if primitive_distance(row, point, outward) - hand.balls[b, 3] >= least:
                    continue
                for i in range(hand.starts[b], hand.starts[b + 1]):
                    _place(rotations[n], origins[n], hand.points[i], point)
                    distance = primitive_distance(row, point, outward)
                    if distance < least:
                        least = distance
                        for k in range(3):
                            shifts[n, k] = (margin - distance) * outward[k]
                _place(rotations[n], origins[n], hand.balls[b], point)
    return shifts


@njit(cache=True)
def _place(rotation: Array, origin: Array, local: Array, point: Array) -> None:
    for k in range(3):
        point[k] = (rotation[k, 0] * local[0] + rotation[k, 1] * local[1]
                    + rotation[k, 2] * local[2] + origin[k])
