"""Planar closing: where the phalanges of a finger touch a contour as it closes."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, IntArray
from ...errors import HandError
from ...fields import checked_array
from .advance import close_chain
from .first_touch import chain_points, first_turn, place_bars


#: Largest overlap of the open finger with the contour that counts as 0 [m].
OVERLAP_TOLERANCE = 1e-6
#: Distance from the line below which the normal is that of the line [m].
THIN = 1e-8


@dataclass(frozen=True, eq=False)
class PlanarChain:
    """
    A finger in its plane of closing: phalanges one after the other from a pivot.

    Attributes
    ----------
    base : (2,) float
        Pivot of the first phalanx [m].
    direction : float
        Direction of the straight finger about the pivot, anticlockwise from +x [rad].
    lengths : (L,) float
        From pivot to pivot, the last to the centre of the finger's round end [m].
    half_thickness : (L,) float
        Distance of the palmar surface from the middle line [m]; 0: a line.
    start : (L,) float
        Joint angles of the open finger, flexion (anticlockwise) positive [rad].
    limits : (L,) float
        Largest joint angles [rad].
    outlines : tuple of (k, 2) float, optional
        A polyline for each phalanx, in a frame at its pivot with x along its middle line and
        y towards the palmar side [m]. ``half_thickness`` is then the distance of the surface
        from the polyline. None: the middle lines themselves.

    Raises
    ------
    HandError
        The arrays differ in length, a length is not positive, or a number is not finite.
    """

    base: Array
    direction: float
    lengths: Array
    half_thickness: Array
    start: Array
    limits: Array
    outlines: tuple[Array, ...] | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        count = len(self.lengths)
        if not count:
            raise HandError('a planar chain needs at least one length')
        for name in ('base', 'lengths', 'half_thickness', 'start', 'limits'):
            object.__setattr__(self, name, checked_array(
                getattr(self, name), f'{name} of a planar chain', 2 if name == 'base' else count,
                finite=name != 'limits', error=HandError).copy())
        object.__setattr__(self, 'direction', float(self.direction))
        if not (self.lengths > 0.0).all() or not (self.half_thickness >= 0.0).all():
            raise HandError('phalanges need lengths above 0 and a half thickness of 0 or more, '
                            f'got {self.lengths.tolist()} and {self.half_thickness.tolist()}')
        if not (self.limits >= self.start).all():
            raise HandError('joint limits must not lie below the start, got '
                            f'{self.limits.tolist()} and {self.start.tolist()}')
        if self.outlines is not None:
            self._check_outlines(count)

    def _check_outlines(self, count: int) -> None:
        lines = tuple(np.asarray(line, float) for line in self.outlines or ())
        if len(lines) != count or any(
                line.ndim != 2 or line.shape[1] != 2 or len(line) < 2 or
                not np.isfinite(line).all() for line in lines):
            raise HandError('outlines must be one polyline of 2 or more points a phalanx, got '
                            f'shapes {[line.shape for line in lines]}')
        object.__setattr__(self, 'outlines', lines)

    @classmethod
    def straight(cls, base: ArrayLike, lengths: ArrayLike, half_thickness: float = 0.0,
                 direction: float = 0.0, limit: float = np.inf) -> 'PlanarChain':
        """Return a chain that begins straight, with one thickness and one limit."""
        count = len(np.atleast_1d(np.asarray(lengths, float)))
        return cls(np.asarray(base, float), direction, np.atleast_1d(np.asarray(lengths, float)),
                   np.full(count, float(half_thickness)), np.zeros(count), np.full(count, limit))

    @cached_property
    def bars(self) -> tuple[Array, IntArray]:
        """Return straight pieces ``(K, 2, 2)`` in their phalanges' frames, and their phalanges."""
        outlines = self.outlines or tuple(
            np.array([[0.0, 0.0], [length, 0.0]]) for length in self.lengths)
        pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in outlines]
        owners = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
        return np.ascontiguousarray(np.concatenate(pieces), float), owners

    def points(self, angles: ArrayLike) -> Array:
        """Return pivots and end ``(L + 1, 2)`` at joint angles ``(L,)``."""
        return chain_points(self.base, self.direction, self.lengths, np.asarray(angles, float))


@dataclass(frozen=True, eq=False)
class PlanarContact:
    """
    The contact of a phalanx with the contour.

    Attributes
    ----------
    phalanx : int
    point : (2,) float
        Of the contour [m].
    normal : (2,) float
        From the phalanx into the contour, unit.
    distance : float
        Of the contact along the phalanx's middle line from its pivot [m].
    segment : int
        Of the contour.
    """

    phalanx: int
    point: Array
    normal: Array
    distance: float
    segment: int


@dataclass(frozen=True, eq=False)
class ClosedFinger:
    """
    A closed finger.

    ``angles (L,)`` [rad]; ``contacts`` from the pivot outwards, at most one a phalanx;
    ``points (L + 1, 2)`` pivots and end [m]; ``overlap`` [m] is how deep the open finger
    already was in the contour, 0 where it was free.
    """

    angles: Array
    contacts: tuple[PlanarContact, ...]
    points: Array
    overlap: float


def close_sequentially(chain: PlanarChain, segments: ArrayLike,
                       clearance: float = 0.0) -> ClosedFinger:
    """
    Return how a finger closes, joint after joint from the pivot outwards.

    A joint turns with all phalanges beyond it as one body until one of them touches; the
    joints up to that phalanx stop, the next one goes on. Without contact it goes to its
    limit.

    Parameters
    ----------
    chain : PlanarChain
    segments : (n, 2, 2) float
        Pieces of the contour, in any order [m].
    clearance : float
        Kept between palmar surface and contour [m]; negative: interference, at most the
        half thickness.

    Returns
    -------
    ClosedFinger

    Raises
    ------
    ShapeError
        The segments are not ``(n, 2, 2)`` or not finite.
    HandError
        The interference is larger than a half thickness.

    Notes
    -----
    Source: seed 003, closing angles and iteration, for chains of any number of phalanges.
    Departures: phalanges are finite; edges and their thickness count, not vertices and
    lines alone; both schemes are one (the smallest turn); clearance grows the phalanges, which
    is equidistant, instead of shifting coordinates. Every contact is a closed formula: a
    circle about the pivot cut by a line or a circle.
    """
    pieces, radii = _prepared(chain, segments, clearance)
    (bars, owners), angles, contacts = chain.bars, chain.start.copy(), []
    joint = 0
    while joint < len(angles):
        points = chain.points(angles)
        turn, bar, row, x, y = first_turn(
            points[joint], place_bars(points, bars, owners), owners, joint, pieces, radii[owners])
        if bar < 0 or angles[joint] + turn > chain.limits[joint]:
            if np.isfinite(chain.limits[joint]):
                angles[joint] = chain.limits[joint]
            joint += 1
            continue
        angles[joint] += turn
        contacts.append(_contact(chain, angles, pieces, bar, row, np.array([x, y])))
        joint = int(owners[bar]) + 1
    *_, gap = close_chain(chain.base, chain.direction, chain.lengths, chain.start, chain.start,
                          bars, owners, pieces, radii)
    return ClosedFinger(angles, tuple(contacts), chain.points(angles), _overlap(gap))


def close_simultaneously(chain: PlanarChain, segments: ArrayLike, closed: ArrayLike,
                         clearance: float = 0.0) -> ClosedFinger:
    """
    Return how a finger closes whose joints move together from ``start`` to ``closed``.

    The hand's preshapes close in this way: when a phalanx touches, the joints up to it stop
    and those beyond go on at their rates.

    Parameters
    ----------
    chain : PlanarChain
        Its limits are not used.
    segments, clearance
        As in ``close_sequentially``.
    closed : (L,) float
        Joint angles at the end of the motion [rad].

    Returns
    -------
    ClosedFinger
        Contacts are within 1e-6 m of touching.

    Raises
    ------
    ShapeError, HandError
        As in ``close_sequentially``.
    """
    pieces, radii = _prepared(chain, segments, clearance)
    bars, owners = chain.bars
    angles, count, touching, touched, angles_then, gap = close_chain(
        chain.base, chain.direction, chain.lengths, chain.start, np.asarray(closed, float), bars,
        owners, pieces, radii)
    contacts = tuple(_contact(chain, then, pieces, int(bar), int(row), point)
                     for then, (bar, row), point in zip(
                         angles_then[:count], touching[:count], touched[:count]))
    return ClosedFinger(angles, contacts, chain.points(angles), _overlap(gap))


def _prepared(chain: PlanarChain, segments: ArrayLike, clearance: float) -> tuple[Array, Array]:
    """Return checked pieces (n, 2, 2) and the phalanges' distances from them in contact (L,)."""
    pieces = checked_array(segments, 'segments of a contour', 'n', 2, 2)
    if not (np.isfinite(clearance) and clearance >= -chain.half_thickness.min()):
        raise HandError('the clearance may be negative by at most the half thickness, '
                        f'{chain.half_thickness.min():.4g} m, got {clearance}')
    return pieces, chain.half_thickness + clearance


def _overlap(gap: float) -> float:
    return float(-gap) if gap < -OVERLAP_TOLERANCE else 0.0


def _contact(chain: PlanarChain, angles: Array, pieces: Array, bar: int, row: int,
             point: Array) -> PlanarContact:
    """Return the contact with its normal: across the bar, or radial at its round end."""
    bars, owners = chain.bars
    points = chain.points(angles)
    a, b = place_bars(points, bars, owners)[bar]
    line = b - a
    length = math.sqrt(line.dot(line))
    along = line / length
    share = float((point - a) @ along / length)
    away = point - (a + min(1.0, max(0.0, share)) * line)
    gap = math.sqrt(away.dot(away))
    if gap > THIN:
        normal = away / gap
    else:
        along = along if 0.0 < share < 1.0 else _unit(pieces[row, 1] - pieces[row, 0])
        normal = np.array([-along[1], along[0]])
        arm = point - points[owners[bar]]       # a turn moves the point along the normal
        normal = normal if arm[0] * normal[1] - arm[1] * normal[0] >= 0.0 else -normal
    link = int(owners[bar])
    middle = _unit(points[link + 1] - points[link])
    return PlanarContact(link, point, normal, float((point - points[link]) @ middle), int(row))


def _unit(vector: Array) -> Array:
    return vector / max(math.sqrt(vector.dot(vector)), 1e-300)
