"""Grips in which one finger opposes others: a closing of its own for each finger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from ...core.bodies.mesh import TriangleMesh
from ...core.hand import HandModel, forward_kinematics
from ...core.planning.hypotheses.hand_geometry import even_directions
from ...core.transforms import apply
from .fingers import Bend, FoundFinger, start_posture

Array = NDArray[np.float64]

#: Distance of opposed pads of the open hand [m], which closes until they meet; the least at which
#: they are to face each other, and the number of distances between both that are looked at.
WIDE, NARROW, STEPS = 0.09, 0.012, 5
#: Errors that count alike: of places [m], of directions [-], of an empty room [m].
PLACE, DIRECTION, ROOM = 0.01, 0.3, 0.006
#: Error of the direction along which pads oppose each other that counts as one [-].
ALIGNMENT = 0.1
#: Movement of the middle between the pads that counts as one error [m].
DRIFT = 0.02
#: Least distance of pads side by side [m], the largest of one from their middle [m], and the
#: least of links of different fingers [m].
SIDE_BY_SIDE, FROM_MIDDLE, APART = 0.022, 0.025, 0.002
#: Weight of joints away from the middle of their range, in shares of it [-].
POSTURE = 0.15
#: Random postures of each finger of which starts are made, and starts tried.
DRAWS, STARTS = 400, 2
#: Width at which starts are looked for [m], and what counts as an error of normals there [-].
START_WIDTH, START_DIRECTION = 0.045, 0.15
#: Distance from the thumb's normal [m] that each of the fingers it opposes may have.
START_SIDE = 0.012
#: Part of the bend by which starts open and close.
START_BEND = 0.3
#: Largest number of evaluations of a solution, and of groups of fingers that are tried.
EVALUATIONS, MOST_GROUPS = 30, 20
#: Gain of cost for each further finger, and largest cost, in squared errors a step.
FINGER_GAIN, MOST_COST = 0.4, 4.0
#: Range of joints left at either end for the squeeze, of joints that turn [rad] and slide [m].
RESERVES = (0.06, 0.001)
#: Points that stand for a link's outline, and balls along it.
OUTLINE, BALLS = 24, 4
#: Step of the numerical derivative, [rad] or [m].
DIFFERENCE = 1e-5


@dataclass(frozen=True, eq=False)
class Grip:
    """
    A finger against others: joints ``open`` and ``closed`` (J,), [rad] or [m]; pads meet closed.

    ``cost`` is in squared errors a step of the closing, less the gain of further fingers.
    """

    thumb: int
    others: tuple[int, ...]
    open: Array
    closed: Array
    cost: float


def opposed_grips(hand: HandModel, fingers: list[FoundFinger], bend: Bend) -> list[Grip]:
    """
    Return grips of one finger against one or more others, the best first.

    Every finger closes between its own values, found by least squares so that, at widths from
    ``WIDE`` to ``NARROW``, the pads face each other across the same place, where a ball of that
    width meets no other link, and links of different fingers stay apart.

    Parameters
    ----------
    hand : HandModel
        With palmar surfaces of the fingers' outermost links.
    fingers : list of FoundFinger
        None of them where two bend by the same joint: such close as their motor does.
    bend : Bend
        How fingers bend; fingers that are not part of a grip stay open.

    Returns
    -------
    list of Grip

    Notes
    -----
    Own formulation.
    """
    bending = [set(finger.bending) for finger in fingers]
    if any(a & b for a, b in combinations(bending, 2)):
        return []
    draws = _draws(hand, fingers)
    guesses = sorted((_guess(fingers, draws, group) for group in _groups(len(fingers))),
                     key=lambda guess: guess.cost / len(guess.group.others))[:MOST_GROUPS]
    grips = (_Closing(hand, fingers, guess.group, bend).best(guess.postures)
             for guess in guesses)
    return sorted(grips, key=lambda grip: grip.cost)


def aligned(hand: HandModel, fingers: list[FoundFinger], bend: Bend, grips: list[Grip],
            across: Array) -> list[Grip]:
    """
    Return grips that also close along one direction (3,), frame palm; see ``opposed_grips``.

    Palms are turned to bodies by that direction: pads that oppose each other along another
    meet flat sides at an angle.
    """
    found = (_Closing(hand, fingers, _Group(grip.thumb, grip.others), bend, across).near(grip)
             for grip in grips)
    return sorted((grip for grip in found if grip.cost <= MOST_COST), key=lambda grip: grip.cost)


def _groups(count: int) -> Iterator[_Group]:
    """Yield each finger with each group of others; of two fingers one order only."""
    for thumb in range(count):
        rest = [i for i in range(count) if i != thumb]
        for size in range(1, count):
            for others in combinations(rest, size):
                if size > 1 or thumb < others[0]:
                    yield _Group(thumb, others)


@dataclass(frozen=True)
class _Group:
    """A finger and others that it opposes."""

    thumb: int
    others: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Guess:
    """Postures (n, J) in which a finger faces others about ``START_WIDTH`` apart."""

    group: _Group
    postures: Array
    cost: float


def _draws(hand: HandModel, fingers: list[FoundFinger]) -> tuple[Array, Array, Array]:
    """Return random postures (n, J) with middles and normals of all pads (n, fingers, 3)."""
    draws = np.random.default_rng(0).uniform(size=(DRAWS, len(hand.joint_names)))
    rows = hand.joint_lower + draws * (hand.joint_upper - hand.joint_lower)
    return rows, *_pads(hand, fingers, list(range(len(fingers))), forward_kinematics(hand, rows))


def _guess(fingers: list[FoundFinger], draws: tuple[Array, Array, Array], group: _Group
           ) -> _Guess:
    """Return postures of which each finger's is the one of many that suits the thumb's best."""
    rows, points, normals = draws
    thumb, others = group.thumb, group.others
    total, chosen = np.zeros(len(rows)), list[NDArray[np.intp]]()
    for k in others:
        offsets = points[None, :, k] - points[:, None, thumb]
        along = np.einsum('abi,ai->ab', offsets, normals[:, thumb])
        aside = np.sqrt(np.maximum(np.einsum('abi,abi->ab', offsets, offsets) - along ** 2, 0.0))
        cost = (((along - START_WIDTH) / PLACE) ** 2
                + (np.maximum(aside - START_SIDE * len(others), 0.0) / PLACE) ** 2
                + ((normals[:, thumb] @ normals[:, k].T + 1.0) / START_DIRECTION) ** 2)
        chosen.append(cost.argmin(axis=1))
        total += cost.min(axis=1)
    best = np.argsort(total, kind='stable')[:STARTS]
    postures = rows[best]
    for other, choice in zip(others, chosen):
        own = list(fingers[other].joints)
        postures[:, own] = rows[choice[best]][:, own]
    return _Guess(group, postures, float(total[best[0]]))


def _pads(hand: HandModel, fingers: list[FoundFinger], used: list[int], T_palm_link: Array
          ) -> tuple[Array, Array]:
    """Return middles and normals of the outermost pads (n, fingers, 3), frame palm."""
    links = [fingers[f].link for f in used]
    points = np.stack([apply(T_palm_link[:, i], hand.links[i].pad_point[None])[:, 0]
                       for i in links], axis=1)
    normals = np.stack([T_palm_link[:, i, :3, :3] @ hand.links[i].pad_normal for i in links],
                       axis=1)
    return points, normals


class _Closing:
    """
    The errors of a closing as a function of its values: least squares.

    Values are those of the joints that bend the fingers of the group, open and then closed, and
    those of their other joints, which stay.
    """

    def __init__(self, hand: HandModel, fingers: list[FoundFinger], group: _Group, bend: Bend,
                 across: Array | None = None) -> None:
        self._hand, self._fingers, self._group, self._bend = hand, fingers, group, bend
        self._across = across
        self._used = [group.thumb, *group.others]
        self._bending = [j for f in self._used for j in fingers[f].bending]
        self._held = sorted({j for f in self._used for j in fingers[f].joints}
                            - set(self._bending))
        self._columns = [*self._bending, *self._bending, *self._held]
        reserve = np.where(hand.prismatic, RESERVES[1], RESERVES[0])
        reserve = np.minimum(reserve, 0.05 * (hand.joint_upper - hand.joint_lower))
        self._lower, self._upper = hand.joint_lower + reserve, hand.joint_upper - reserve
        self._still = np.where(bend.open == bend.closed, start_posture(hand), bend.open)
        pads = {fingers[f].link for f in self._used}
        self._outlines = {i: _outline(link.mesh) for i, link in enumerate(hand.links)
                          if i not in pads}
        self._balls = [[(i, *_balls(hand.links[i].mesh)) for i in _links_of(hand, finger)]
                       for finger in fingers]

    def best(self, postures: Array) -> Grip:
        """Return the grip with the least errors from any start about postures (n, J)."""
        return min((self._solved(self._start(posture)) for posture in postures),
                   key=lambda grip: grip.cost)

    def near(self, grip: Grip) -> Grip:
        """Return the grip with the least errors near another one."""
        return self._solved(np.concatenate([grip.open[self._bending], grip.closed[self._bending],
                                            grip.open[self._held]]))

    def _start(self, posture: Array) -> Array:
        """Return values about a posture (J,)."""
        part = START_BEND * (self._bend.closed - self._bend.open)
        return np.concatenate([(posture - part)[self._bending], (posture + part)[self._bending],
                               posture[self._held]])

    def _ends(self, values: Array) -> tuple[Array, Array]:
        """Return the joints (n, J) of the open and of the closed hand for values (n, V)."""
        count = len(self._bending)
        first = np.tile(self._still, (len(values), 1))
        first[:, self._held] = values[:, 2 * count:]
        last = first.copy()
        first[:, self._bending] = values[:, :count]
        last[:, self._bending] = values[:, count:2 * count]
        return first, last

    def _solved(self, start: Array) -> Grip:
        """Return the best grip from values to start with."""
        lower, upper = self._lower[self._columns], self._upper[self._columns]
        inside = 1e-4 * (upper - lower)
        found = least_squares(lambda x: self._errors(x[None])[0],
                              np.clip(start, lower + inside, upper - inside), self._derivative,
                              bounds=(lower, upper), tr_solver='lsmr', max_nfev=EVALUATIONS)
        opened, closed = (rows[0] for rows in self._ends(found.x[None]))
        others = self._group.others
        return Grip(self._group.thumb, others, opened, closed,
                    2.0 * float(found.cost) / STEPS - FINGER_GAIN * (len(others) - 1))

    def _derivative(self, x: Array) -> Array:
        errors = self._errors(np.vstack([x, x + DIFFERENCE * np.eye(len(x))]))
        return ((errors[1:] - errors[0]) / DIFFERENCE).T

    def _errors(self, values: Array) -> Array:
        """Return the errors (n, E) of values (n, V)."""
        first, last = self._ends(values)
        shares = np.linspace(0.0, 1.0 - NARROW / WIDE, STEPS)[:, None]
        rows = first[:, None] + shares * (last - first)[:, None]
        T = forward_kinematics(self._hand, rows.reshape(-1, rows.shape[2]))
        points, normals = _pads(self._hand, self._fingers, self._used, T)
        widths = np.tile(np.linspace(WIDE, NARROW, STEPS), len(values))
        facing, middles, across = _facing(points, normals, widths)
        still = [_changes(middles, len(values)) / DRIFT, _changes(across, len(values)) / DIRECTION]
        errors = [*facing, self._room(T, middles, widths), self._meeting(T)]
        if self._across is not None:
            along = np.sign(across @ self._across)[:, None] * self._across
            errors.append((across - along) / ALIGNMENT)
        spans = (self._upper - self._lower)[self._columns]
        away = values - 0.5 * (self._lower + self._upper)[self._columns]
        return np.concatenate([*(e.reshape(len(values), -1) for e in [*errors, *still]),
                               POSTURE * away / spans], axis=1)

    def _room(self, T_palm_link: Array, middles: Array, widths: Array) -> Array:
        """Return how far links other than the pads' reach into a ball between the pads (n,)."""
        reach = np.min([_nearest(apply(T_palm_link[:, i], points), middles)
                        for i, points in self._outlines.items()], axis=0)
        return np.maximum(0.5 * widths + ROOM - reach, 0.0) / ROOM

    def _meeting(self, T_palm_link: Array) -> Array:
        """Return how far links of different fingers reach into each other (n, pairs)."""
        placed = [(np.concatenate([apply(T_palm_link[:, i], c) for i, c, _ in balls], axis=1),
                   np.concatenate([np.full(len(c), r) for _, c, r in balls]))
                  for balls in self._balls]
        gaps = [(_distances(a, b) - r[:, None] - s).min(axis=(1, 2))
                for (a, r), (b, s) in combinations(placed, 2)]
        return np.maximum(APART - np.stack(gaps, axis=1), 0.0) / (0.5 * ROOM)


def _facing(points: Array, normals: Array, widths: Array) -> tuple[list[Array], Array, Array]:
    """
    Return the errors of pads (n, fingers, 3) that face the first, middles and directions (n, 3).

    The direction goes from the middle of the other pads to the first.
    """
    mean = points[:, 1:].mean(axis=1)
    offset = points[:, 0] - mean
    length = np.linalg.norm(offset, axis=1)
    across = offset / np.maximum(length, 1e-9)[:, None]
    share = 0.4 / np.sqrt(points.shape[1] - 1.0)
    errors = [(length - widths) / PLACE, (normals[:, 0] + across) / DIRECTION,
              (normals[:, 1:].mean(axis=1) - across) / DIRECTION,
              share * (normals[:, 1:] - across[:, None]) / DIRECTION,
              0.6 * np.einsum('nfi,ni->nf', points[:, 1:] - mean[:, None], across) / PLACE]
    errors += [np.maximum(SIDE_BY_SIDE - np.linalg.norm(points[:, i] - points[:, j], axis=1), 0.0)
               / (0.4 * PLACE) for i, j in combinations(range(1, points.shape[1]), 2)]
    aside = np.linalg.norm(points[:, 1:] - mean[:, None], axis=2)
    errors.append(np.maximum(aside - FROM_MIDDLE, 0.0) / PLACE)
    return errors, 0.5 * (points[:, 0] + mean), across


def _nearest(points: Array, places: Array) -> Array:
    """Return the least distance (n,) of points (n, m, 3) from places (n, 3)."""
    offsets = points - places[:, None]
    return np.sqrt(np.einsum('nmi,nmi->nm', offsets, offsets).min(axis=1))


def _distances(one: Array, other: Array) -> Array:
    """Return the distances (n, a, b) of points (n, a, 3) and (n, b, 3)."""
    squares = (np.einsum('nai,nai->na', one, one)[:, :, None]
               + np.einsum('nbi,nbi->nb', other, other)[:, None]
               - 2.0 * one @ other.swapaxes(1, 2))
    return np.sqrt(np.maximum(squares, 0.0))


def _changes(vectors: Array, count: int) -> Array:
    """Return by how much vectors (count * steps, 3) differ from their mean over the steps."""
    steps = vectors.reshape(count, -1, 3)
    return steps - steps.mean(axis=1, keepdims=True)


def _outline(mesh: TriangleMesh) -> Array:
    """Return a mesh's vertices (n, 3) farthest out in directions spread over the sphere."""
    return mesh.vertices[np.unique((mesh.vertices @ even_directions(OUTLINE).T).argmax(axis=0))]


def _balls(mesh: TriangleMesh) -> tuple[Array, float]:
    """Return centres (n, 3) of balls along a link, and their radius: about as thick as it."""
    lower, upper = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    half, middle = 0.5 * (upper - lower), 0.5 * (upper + lower)
    longest = int(half.argmax())
    radius = 0.6 * float(np.delete(half, longest).sum())
    centres = np.tile(middle, (BALLS, 1))
    reach = max(half[longest] - radius, 0.0)
    centres[:, longest] += np.linspace(-reach, reach, BALLS)
    return centres, radius


def _links_of(hand: HandModel, finger: FoundFinger) -> list[int]:
    """Return the links that joints of a finger move."""
    return [int(i) for i in np.flatnonzero(hand.moves_link[:, list(finger.joints)].any(axis=1))]
