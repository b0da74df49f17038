"""Kernels of the prescreen among obstacles: a closing hand's shortest way out of them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...batches import OBSTACLE_BOX, OBSTACLE_SPHERE
from ...hand import HandLink, HandModel, Preshape
from ...numerics.kernels import njit
from ...numerics.vec3 import load_vec3, placed, Vec3
from ...transforms import apply
from .hand_geometry import closing_poses, moving_fingers


#: About the number of a link's points, and of those in a bounding ball.
LINK_POINTS, BALL_POINTS = 40, 8
#: Parts of a hand in one ball.
GROUP_PARTS = 8
#: Longest edge of a finely meshed link, and side of the cubes of other links' points [m].
LONG_EDGE, POINT_SPACING = 0.004, 0.01
#: Parts of the straight way to the grasp at which the open hand is looked at [-].
APPROACH_PARTS = (0.0, 0.5, 1.0)
#: Number of obstacles, the nearest ones, from which palms come straight.
MOST_RAYS = 6
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
    part_starts : (p + 1,) int
        Part ``p``, a link at a place, holds balls ``part_starts[p]`` to ``part_starts[p + 1]``.
    parts : (p, 4) float
        Ball about each part [m].
    groups : (1 + g, 4) float
        Ball about the whole, then about ``GROUP_PARTS`` parts each [m].
    fingers, steps : (p,) int
        Finger and step of its closing; ``ALWAYS``: the open hand, and its approach.
    """

    points: Array
    starts: IntArray
    balls: Array
    part_starts: IntArray
    parts: Array
    groups: Array
    fingers: IntArray
    steps: IntArray

    @classmethod
    def of(cls, parts: list[tuple[int, int, Array]]) -> 'HandSweep':
        """Return the sweep of parts: finger, step and points (k, 3) of each."""
        counts = np.cumsum([0, *(1 + len(points) // BALL_POINTS for _, _, points in parts)])
        points, starts, balls = point_balls([points for _, _, points in parts])
        around = np.array([_ball(points) for _, _, points in parts])
        groups = np.array([_ball(points), *(
            _ball(np.concatenate([part[2] for part in parts[i:i + GROUP_PARTS]]))
            for i in range(0, len(parts), GROUP_PARTS))])
        fingers, steps = np.array([part[:2] for part in parts]).T
        return cls(points, starts, balls, counts, around, groups, np.ascontiguousarray(fingers),
                   np.ascontiguousarray(steps))


def link_points(link: HandLink) -> Array:
    """
    Return points of a link's surface, sorted along its longest side (m, 3).

    About ``LINK_POINTS`` of its vertices; of a mesh with an edge longer than ``LONG_EDGE`` one in
    every cube of ``POINT_SPACING``: its vertices are few, or lie anywhere.
    """
    mesh = link.mesh
    edges = mesh.vertices[mesh.faces] - mesh.vertices[np.roll(mesh.faces, 1, axis=1)]
    points = mesh.vertices[::max(1, len(mesh.vertices) // LINK_POINTS)]
    if np.linalg.norm(edges, axis=2).max() > LONG_EDGE:
        cubes = np.round(mesh.vertices / POINT_SPACING)
        points = mesh.vertices[np.unique(cubes, axis=0, return_index=True)[1]]
    return points[np.argsort(points[:, np.ptp(points, axis=0).argmax()], kind='stable')]


@lru_cache(maxsize=8)
def _hand_points(hand: HandModel) -> list[Array]:
    """Return the points of each of a hand's links, which all its preshapes have in common."""
    return [link_points(link) for link in hand.links]


def point_balls(parts: list[Array]) -> tuple[Array, IntArray, Array]:
    """Return points (m, 3), and the starts (b + 1,) and balls (b, 4) that hold them in order."""
    groups = [group for points in parts
              for group in np.array_split(points, 1 + len(points) // BALL_POINTS)]
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    return np.concatenate(groups), starts, np.array([_ball(group) for group in groups])


def _ball(points: Array) -> Array:
    """Return centre and radius (4,) of a ball that holds points."""
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return np.append(centre, np.linalg.norm(points - centre, axis=1).max())


@lru_cache(maxsize=64)
def hand_sweep(hand: HandModel, preshape: Preshape, steps: int, approach_distance: float
               ) -> HandSweep:
    """
    Return the points of a hand that arrives along its direction of approach and closes.

    Parameters
    ----------
    hand : HandModel
    preshape : Preshape
    steps : int
        Number of steps of the closing, ends included.
    approach_distance : float
        Straight way before the grasp [m].
    """
    poses, points = closing_poses(hand, preshape, steps), _hand_points(hand)
    parts = [(ALWAYS, ALWAYS, apply(poses[0, i], points[i])
              - part * approach_distance * hand.approach)
             for part in APPROACH_PARTS for i in range(len(points))]
    parts += [(number, step, apply(poses[step, i], points[i]))
              for number, finger in enumerate(moving_fingers(hand, preshape))
              for step in range(1, steps)
              for i in np.flatnonzero(hand.moves_link[:, list(finger.joints)].any(axis=1))]
    return HandSweep.of(parts)


@njit(cache=True)
def primitive_distance(row: Array, point: Array, outward: Array) -> float:
    """
    Return the signed distance of a point to a primitive [m], negative inside; write its gradient.

    ``row (16,)`` is one of ``ConfigurationBatch.obstacles`` in the point's frame, ``outward (3,)``
    takes the unit direction in which the distance grows.
    """
    local, across = np.empty(3), np.empty(3)
    for k in range(3):
        local[k] = (row[4 + k] * (point[0] - row[7]) + row[8 + k] * (point[1] - row[11])
                    + row[12 + k] * (point[2] - row[15]))
    beyond = _beyond(row, (local[0], local[1], local[2]))
    distance, face, total = _distance_of(beyond), 0, 0.0
    # Axes that are measured as one: all of a ball, those across a cylinder, none of a box.
    together = 3 if row[0] == OBSTACLE_SPHERE else 0 if row[0] == OBSTACLE_BOX else 2
    for k in range(3):
        face = k if beyond[k] > beyond[face] else face
        total += local[k] ** 2 if k < together else 0.0
    radius = max(np.sqrt(total), 1e-12)
    for k in range(3):
        measured = 0 if k < together else k
        slope = 1.0 if measured == face else 0.0
        if distance > 0.0:
            slope = max(beyond[measured], 0.0) / distance
        if k < together:
            across[k] = slope * local[k] / radius
        else:
            across[k] = slope if local[k] >= 0.0 else -slope
    for k in range(3):
        outward[k] = (row[4 + 4 * k] * across[0] + row[5 + 4 * k] * across[1]
                      + row[6 + 4 * k] * across[2])
    return distance


def rays_away(obstacles: Array) -> tuple[Array, Array]:
    """Return unit directions (k, 3) to the origin from what is nearest, and distances (k,) [m]."""
    rays, origin = np.zeros((len(obstacles), 3)), np.zeros(3)
    distances = np.array([primitive_distance(row, origin, ray)
                          for row, ray in zip(obstacles, rays)])
    nearest = np.argsort(distances, kind='stable')[:MOST_RAYS]
    return rays[nearest], distances[nearest]


@njit(cache=True, forceinline=True)
def _beyond(row: Array, point: Vec3) -> Vec3:
    """
    Return how far a point in a primitive's own frame lies beyond it [m].

    Along each axis of a box, away from and along a cylinder's axis, away from a ball's middle.
    """
    x, y, z = point
    if row[0] == OBSTACLE_SPHERE:
        return np.sqrt(x * x + y * y + z * z) - row[1], -np.inf, -np.inf
    if row[0] == OBSTACLE_BOX:
        return abs(x) - 0.5 * row[1], abs(y) - 0.5 * row[2], abs(z) - 0.5 * row[3]
    return np.sqrt(x * x + y * y) - row[2], -np.inf, abs(z) - 0.5 * row[1]


@njit(cache=True, forceinline=True)
def _distance_of(beyond: Vec3) -> float:
    """Return the signed distance to a primitive."""
    x, y, z = beyond
    inside = max(x, y, z)
    if inside <= 0.0:
        return inside
    return np.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2)


@njit(cache=True)
def _distance(row: Array, frame: Array, point: Array) -> float:
    """Return the signed distance to a primitive of a point (3,) of a frame (3, 4) in its own."""
    return _distance_of(_beyond(row, placed(frame, (point[0], point[1], point[2]))))


@njit(cache=True, nogil=True)
def ways_out(palms: Array, touch_steps: IntArray, hand: HandSweep, obstacles: Array,
             margin: float) -> Array:
    """
    Return for each palm the shortest shift that clears its deepest point of obstacles (n, 3) [m].

    Parameters
    ----------
    palms (n, 4, 4)
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
    shifts = np.zeros((len(palms), 3))
    frame, point, outward = np.empty((3, 4)), np.empty(3), np.empty(3)
    for n in range(len(palms)):
        least, deepest, nearest, near = margin, -1, 0, True
        for k in range(len(obstacles)):
            row = obstacles[k]
            _in_own_frame(row, palms[n], frame)
            if _distance(row, frame, hand.groups[0]) - hand.groups[0, 3] >= least:
                continue
            for p in range(len(hand.parts)):
                if p % GROUP_PARTS == 0:
                    group = hand.groups[1 + p // GROUP_PARTS]
                    near = _distance(row, frame, group) - group[3] < least
                if not near:
                    continue
                step = hand.steps[p]
                if step != ALWAYS and 0 <= touch_steps[n, hand.fingers[p]] < step:
                    continue
                if _distance(row, frame, hand.parts[p]) - hand.parts[p, 3] >= least:
                    continue
                for b in range(hand.part_starts[p], hand.part_starts[p + 1]):
                    if _distance(row, frame, hand.balls[b]) - hand.balls[b, 3] >= least:
                        continue
                    for i in range(hand.starts[b], hand.starts[b + 1]):
                        distance = _distance(row, frame, hand.points[i])
                        if distance < least:
                            least, deepest, nearest = distance, i, k
        if deepest >= 0:
            point[0], point[1], point[2] = placed(palms[n], load_vec3(hand.points, deepest))
            distance = primitive_distance(obstacles[nearest], point, outward)
            for a in range(3):
                shifts[n, a] = (margin - distance) * outward[a]
    return shifts


@njit(cache=True)
def _in_own_frame(row: Array, palm: Array, frame: Array) -> None:
    """Write the pose (3, 4) of a palm in a primitive's frame."""
    for a in range(3):
        for b in range(3):
            frame[a, b] = (row[4 + a] * palm[0, b] + row[8 + a] * palm[1, b]
                           + row[12 + a] * palm[2, b])
        frame[a, 3] = (row[4 + a] * (palm[0, 3] - row[7]) + row[8 + a] * (palm[1, 3] - row[11])
                       + row[12 + a] * (palm[2, 3] - row[15]))
