"""Preshapes of a hand by search: postures from which opposed pads close on a body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from ...core.contact.distance.clearance import pair_clearances
from ...core.contact.stage import LinkShapes
from ...core.hand import HandModel, forward_kinematics
from ...core.hand.description import Preshape
from ...core.planning.hypotheses.prescreen import many_fingers_shares
from ...core.transforms import apply, inverse
from .fingers import STEPS, Bend, FoundFinger, start_posture
from .opposition import MOST_COST, WIDE, Grip, aligned, opposed_grips

Array = NDArray[np.float64]

#: Largest number of postures of the joints that do not bend fingers.
MOST_SPREADS = 240
#: Values tried of each of these joints.
SPREAD_VALUES = 5
#: Where outer joints begin and end, in parts of their bend [-].
OUTER_STYLES = ((0.0, 0.0), (0.1, 0.25), (0.3, 0.4), (0.25, 0.75), (0.5, 0.65))
#: Share of an inner joint's bend backwards from its middle with which it may open [-].
BACKWARDS = (0.0, 0.35)
#: Widths of bodies that a preshape is looked for [m].
WIDTHS = {'narrow': (0.008, 0.03), 'medium': (0.03, 0.06), 'wide': (0.06, 0.1)}
#: Length over which torques of opposed forces count as forces [m].
TORQUE_LENGTH = 0.04
#: Largest unbalance of pads that oppose each other [-], and gain for each further finger [-].
MOST_UNBALANCE, FINGER_GAIN = 0.75, 0.06
#: Part of the closing left before links meet [-], and steps in which that is looked for.
MEETING_RESERVE, MEETING_STEPS = 0.02, 25
#: Part of the closing before a body of that width is touched, and after it [-].
LEAST_SHARE = 0.12
#: Largest number of grips of one finger against others.
MOST_GRIPS = 4
#: Width of bodies at which links of such a grip may meet at the latest [m], and the part of its
#: closing until there [-], with the reserve after it.
LATEST_MEETING = 0.03
MEETING_SHARE = 1.0 - LATEST_MEETING / WIDE - LEAST_SHARE
#: Part of the largest opposition from which those of other pads count as the same direction [-].
ALIKE = 0.95
#: Cosine to itself from which a direction turned square to that across is left as it was [-].
NEARLY_SQUARE = 0.9994
#: Largest cosine to the direction across of one that is turned square to it [-], and gain of room
#: where that is an axis of the palm [m].
MOST_ALONG, STRAIGHT_GAIN = 0.6, 0.012
#: Largest number of candidates of a width that are looked at for links that meet.
MOST_TRIED = 40
#: Postures in which links that meet in all of them count as neighbours, and in which links with
#: one link between them do that meet in any.
SAMPLES, JOINED_SAMPLES = 24, 100
#: Distance of two joints of a link below which it is a knuckle [m].
KNUCKLE = 0.025


@dataclass(frozen=True, eq=False)
class Candidate:
    """
    Postures ``open`` and ``closed`` (J,), and the pads' unbalance at a width [m].

    ``share`` is the part of the closing at which they are that wide apart.
    """

    open: Array
    closed: Array
    unbalance: float
    width: float
    share: float = 0.0


def meeting_pairs(hand: HandModel, bend: Bend) -> list[tuple[str, str]]:
    """
    Return the pairs of links that overlap whatever the joints do: hulls of neighbours do.

    Taken are pairs that overlap with the hand open or in most random postures, and links of one
    finger with one link between them that overlap in any: their joints' limits are to keep them
    apart, and coarse shapes do not show it. So are the palm and the link beyond a knuckle, whose
    joints are less than ``KNUCKLE`` apart.
    """
    shapes = LinkShapes.of_hand(hand)
    draws = np.random.default_rng(0).uniform(size=(SAMPLES, len(hand.joint_names)))
    bends = np.vstack([bend.open, start_posture(hand),
                       bend.open + draws * (bend.closed - bend.open)])
    hits = np.array([_meeting(shapes, T) for T in forward_kinematics(hand, bends)])
    always = hits[:2].any(axis=0) | (hits.mean(axis=0) > 0.9)
    near = np.array([_next_but_one(hand, i, j) for i, j in shapes.pairs], bool)
    if near.any():
        draws = np.random.default_rng(0).uniform(size=(JOINED_SAMPLES, len(hand.joint_names)))
        rows = hand.joint_lower + draws * (hand.joint_upper - hand.joint_lower)
        joined = replace(shapes, pairs=shapes.pairs[near])
        always[near] |= hits[:, near].any(axis=0) | np.any(
            [_meeting(joined, T) for T in forward_kinematics(hand, rows)], axis=0)
    return [(hand.link_names[i], hand.link_names[j]) for i, j in shapes.pairs[always]]


def _next_but_one(hand: HandModel, one: int, other: int) -> bool:
    """Return True if one link of a finger, or a knuckle between it and the palm, is between."""
    between = np.flatnonzero(hand.neighbours[one] & hand.neighbours[other])
    if hand.palm_index not in (one, other):
        return bool((between != hand.palm_index).any())
    outer = other if one == hand.palm_index else one
    T = forward_kinematics(hand, start_posture(hand)[None])[0]
    return any(np.linalg.norm(T[outer, :3, 3] - T[i, :3, 3]) < KNUCKLE for i in between)


def _meeting(shapes: LinkShapes, T_palm_link: Array) -> NDArray[np.bool_]:
    """Return which pairs of links meet (k,)."""
    from ...core.contact.distance.mesh_distance import mesh_distance
    bounds = pair_clearances(shapes.hulls, shapes.pairs, T_palm_link)
    for k in np.flatnonzero(bounds <= 0.0):
        i, j = shapes.pairs[k]
        bounds[k] = mesh_distance(shapes.bodies[i], shapes.bodies[j],
                                  inverse(T_palm_link[i]) @ T_palm_link[j])
    return bounds <= 0.0


def propose_preshapes(hand: HandModel, fingers: list[FoundFinger], bend: Bend
                      ) -> list[Preshape]:
    """
    Return preshapes in which pads oppose each other.

    Where fingers bend by joints of their own and one can face others, they are those of
    ``opposed_grips`` whose links stay apart, with different fingers each. Else all fingers close
    by one common fraction, and there is one preshape for each range of widths: every posture of
    the joints that spread fingers, on a grid or drawn from it, is closed in a few styles. At each
    step the best shares of forces along the pads' normals are looked for: their resultant, force
    and torque, is the unbalance of the posture at that width.
    """
    shapes = LinkShapes.of_hand(hand)
    grips = opposed_grips(hand, fingers, bend)
    return (_of_grips(hand, shapes, fingers, bend, [g for g in grips if g.cost <= MOST_COST])
            or _of_common_closings(hand, shapes, fingers, bend, grips))


def _of_grips(hand: HandModel, shapes: LinkShapes, fingers: list[FoundFinger], bend: Bend,
              grips: list[Grip]) -> list[Preshape]:
    """Return the best grips of different fingers that close along one direction."""
    free = _free_grips(hand, shapes, grips)
    if not free:
        return []
    _, across = approach_axes(hand, fingers, free)
    straight = _free_grips(hand, shapes, aligned(hand, fingers, bend, grips, across))
    return (straight + [preshape for preshape in free
                        if preshape.name not in {p.name for p in straight}])[:MOST_GRIPS]


def _free_grips(hand: HandModel, shapes: LinkShapes, grips: list[Grip]) -> list[Preshape]:
    """
    Return grips of different fingers each, closed until links meet.

    First the best of each number of fingers, the most fingers first, and then the best of all.
    """
    chosen: dict[frozenset[int], tuple[int, int, Preshape]] = {}
    for grip in grips:
        used = frozenset([grip.thumb, *grip.others])
        if used in chosen:
            continue
        free = _until_meeting(hand, shapes, Candidate(grip.open, grip.closed, grip.cost,
                                                      LATEST_MEETING, MEETING_SHARE))
        if free is not None:
            name = f'finger_{grip.thumb + 1}_to_' + '_'.join(str(i + 1) for i in grip.others)
            place = sum(len(other) == len(used) for other in chosen)
            chosen[used] = place, -len(used), Preshape(name, free.open, free.closed)
    order = sorted(chosen.values(), key=lambda row: row[:2])
    return [preshape for _, _, preshape in order[:MOST_GRIPS]]


def _of_common_closings(hand: HandModel, shapes: LinkShapes, fingers: list[FoundFinger],
                        bend: Bend, grips: list[Grip]) -> list[Preshape]:
    """Return a preshape for each range of widths; of the grips where there is none at all."""
    candidates = [c for row in _candidates(hand, fingers, bend) for c in row]
    chosen = _for_widths(hand, shapes, candidates)
    if not chosen:
        opened = _opened(hand, fingers, bend, grips)
        candidates += opened
        chosen = _for_widths(hand, shapes, opened)
    if not chosen:
        best = min(candidates, key=lambda c: c.unbalance, default=None)
        best = best or Candidate(bend.open, bend.closed, np.inf, 0.0)
        chosen['grip'] = _until_meeting(hand, shapes, best) or best
    return _distinct(hand, chosen)


def _opened(hand: HandModel, fingers: list[FoundFinger], bend: Bend, grips: list[Grip]
            ) -> list[Candidate]:
    """Return the closings of grips from fingers opened all the way: they may face at a width."""
    found: list[Candidate] = []
    for grip in grips:
        bending = [j for i in (grip.thumb, *grip.others) for j in fingers[i].bending]
        first = grip.open.copy()
        first[bending] = bend.open[bending]
        found += _judged(hand, fingers, first, grip.closed)
    return found


def _for_widths(hand: HandModel, shapes: LinkShapes, candidates: list[Candidate]
                ) -> dict[str, Candidate]:
    """Return the least unbalanced candidate for each range of widths, where there is one."""
    chosen: dict[str, Candidate] = {}
    for name, (low, high) in WIDTHS.items():
        found = sorted((c for c in candidates if low <= c.width < high),
                       key=lambda c: c.unbalance)
        for candidate in found[:MOST_TRIED]:
            if candidate.unbalance > MOST_UNBALANCE:
                break
            free = _until_meeting(hand, shapes, candidate)
            if free is not None:
                chosen[name] = free
                break
    return chosen


def _distinct(hand: HandModel, chosen: dict[str, Candidate]) -> list[Preshape]:
    span = hand.joint_upper - hand.joint_lower
    preshapes: list[Preshape] = []
    for name, candidate in chosen.items():
        if not any(np.abs((p.open - candidate.open) / span).max() < 0.02
                   and np.abs((p.closed - candidate.closed) / span).max() < 0.1
                   for p in preshapes):
            preshapes.append(Preshape(name, candidate.open, candidate.closed))
    return preshapes


def _until_meeting(hand: HandModel, shapes: LinkShapes, candidate: Candidate
                   ) -> Candidate | None:
    """Return a candidate that ends before links meet; None where they meet at once."""
    change = candidate.closed - candidate.open
    shares = np.linspace(0.0, 1.0, MEETING_STEPS + 1)
    poses = forward_kinematics(hand, candidate.open + shares[:, None] * change)
    first = next((k for k, T in enumerate(poses) if _meeting(shapes, T).any()), None)
    if first is None:
        return candidate
    if first == 0:
        return None
    low, high = shares[first - 1], shares[first]
    for _ in range(5):
        middle = 0.5 * (low + high)
        T = forward_kinematics(hand, (candidate.open + middle * change)[None])[0]
        low, high = (low, middle) if _meeting(shapes, T).any() else (middle, high)
    if low < min(candidate.share + LEAST_SHARE, 1.0 - MEETING_RESERVE):
        return None
    end = candidate.open + max(low - MEETING_RESERVE, 0.5 * (low + candidate.share)) * change
    return replace(candidate, closed=end)


def _candidates(hand: HandModel, fingers: list[FoundFinger], bend: Bend
                ) -> list[list[Candidate]]:
    spreads = _spreads(hand, fingers)
    ends = [_styled(hand, fingers, bend, *style) for style in product(OUTER_STYLES, BACKWARDS)]
    ends = [pair for i, pair in enumerate(ends)
            if not any(np.allclose(pair, other) for other in ends[:i])]
    bending = np.zeros(len(hand.joint_names), bool)
    bending[[j for finger in fingers for j in finger.bending]] = True
    return [_judged(hand, fingers, np.where(bending, first, spread),
                    np.where(bending, last, spread))
            for spread in spreads for first, last in ends]


def _spreads(hand: HandModel, fingers: list[FoundFinger]) -> Array:
    """Return postures (m, J) of the joints that do not bend fingers; the first at 0."""
    start, bending = start_posture(hand), {j for finger in fingers for j in finger.bending}
    free = [j for j in range(len(start)) if j not in bending]
    if not free:
        return start[None]
    values = [np.linspace(hand.joint_lower[j], hand.joint_upper[j], SPREAD_VALUES) for j in free]
    if SPREAD_VALUES ** len(free) <= MOST_SPREADS:
        rows = np.array(list(product(*values))).reshape(-1, len(free))
    else:
        rng = np.random.default_rng(0)
        rows = np.stack([rng.choice(choice, MOST_SPREADS) for choice in values], axis=1)
    spreads = np.tile(start, (len(rows) + 1, 1))
    spreads[1:, free] = rows
    return spreads


def _styled(hand: HandModel, fingers: list[FoundFinger], bend: Bend,
            outer: tuple[float, float], backwards: float) -> tuple[Array, Array]:
    """Return open and closed postures of a style: how outer joints bend, and where it opens."""
    first, last = bend.open.copy(), bend.closed.copy()
    change = bend.closed - bend.open
    for finger in fingers:
        inner, *others = finger.bending
        if not hand.prismatic[inner]:
            back = bend.open[inner] - backwards * np.sign(change[inner])
            first[inner] = np.clip(back, hand.joint_lower[inner], hand.joint_upper[inner])
        for j in others:
            first[j] = bend.open[j] + outer[0] * change[j]
            last[j] = bend.open[j] + outer[1] * change[j]
    return first, last


def _judged(hand: HandModel, fingers: list[FoundFinger], first: Array, last: Array
            ) -> list[Candidate]:
    """Return the least unbalance of a closing in each range of widths."""
    shares = np.linspace(0.0, 1.0, STEPS + 1)[:, None]
    T = forward_kinematics(hand, first + shares * (last - first))
    points = np.stack([apply(T[:, f.link], hand.links[f.link].pad_point[None])[:, 0]
                       for f in fingers], axis=1)
    normals = np.stack([T[:, f.link, :3, :3] @ hand.links[f.link].pad_normal
                        for f in fingers], axis=1)
    moved = np.diff(points, axis=0, append=points[-1:])
    closing = np.einsum('nfi,nfi->nf', moved, normals) > -1e-6
    found = []
    for row in many_fingers_shares(len(fingers)):
        used = row > 0.0
        middle = np.einsum('f,nfi->ni', row, points)
        arms = (points - middle[:, None]) / TORQUE_LENGTH
        force = np.einsum('f,nfi->ni', row, normals)
        torque = np.einsum('f,nfi->ni', row, np.cross(arms, normals))
        inward = np.einsum('f,nfi,nfi->n', row, normals, middle[:, None] - points)
        widths = 2.0 * np.einsum('f,nf->n', row, np.linalg.norm(
            points - middle[:, None], axis=2))
        unbalance = (np.linalg.norm(force, axis=1) + np.linalg.norm(torque, axis=1)
                     - FINGER_GAIN * (used.sum() - 2))
        possible = (inward > 0.35 * widths) & closing[:, used].all(axis=1)
        for low, high in WIDTHS.values():
            inside = np.flatnonzero(possible & (widths >= low) & (widths < high)
                                    & (shares[:, 0] >= LEAST_SHARE))
            if len(inside):
                best = inside[unbalance[inside].argmin()]
                found.append(Candidate(first, last, float(unbalance[best]),
                                       float(widths[best]), float(shares[best, 0])))
    return found


def approach_axes(hand: HandModel, fingers: list[FoundFinger], preshapes: list[Preshape]
                  ) -> tuple[Array, Array]:
    """
    Return the directions ``approach`` and ``across`` (3,), frame palm.

    Across is the direction in which pads oppose each other most. The approach is square to it:
    of the directions that lead from the palm to the place where the pads meet, that along which
    most room is free between the open fingers, seen from that place.
    """
    votes = []
    for preshape in preshapes:
        T = forward_kinematics(hand, np.stack([preshape.open, preshape.closed]))
        tips = np.array([apply(T[1, f.link], hand.links[f.link].pad_point[None])[0]
                         for f in _closing(fingers, preshape)])
        cloud = np.concatenate([apply(T[0, i], link.mesh.vertices)
                                for i, link in enumerate(hand.links)])
        votes.append((tips.mean(axis=0), cloud))
    palm = hand.links[hand.palm_index].mesh
    centre = 0.5 * (palm.vertices.min(axis=0) + palm.vertices.max(axis=0))
    across = _across(hand, fingers, preshapes)
    directions, straight = _square_to(across)
    scores = np.zeros(len(directions))
    for meeting, cloud in votes:
        away = meeting - centre
        away = away / max(np.linalg.norm(away), 1e-9)
        for k, direction in enumerate(directions):
            offsets = cloud - meeting
            along = offsets @ direction
            beside = offsets - along[:, None] * direction
            ahead = along > 0.0
            room = np.linalg.norm(beside[ahead], axis=1).min() if ahead.any() else 0.1
            scores[k] += (min(float(room), 0.06) + straight[k]) * max(0.0, direction @ away) ** 0.5
    return directions[int(scores.argmax())], across


def _square_to(across: Array) -> tuple[Array, Array]:
    """Return directions (n, 3) square to one, and the gain of score of those along an axis."""
    around = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
    straight = np.where(np.count_nonzero(around, axis=1) == 1, STRAIGHT_GAIN, 0.0)
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    beside = np.abs(around @ across) < MOST_ALONG
    flat = around[beside] - (around[beside] @ across)[:, None] * across
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    same = np.einsum('ni,ni->n', flat, around[beside]) > NEARLY_SQUARE
    return np.where(same[:, None], around[beside], flat), straight[beside]


def _closing(fingers: list[FoundFinger], preshape: Preshape) -> list[FoundFinger]:
    """Return the fingers that close in a preshape."""
    moving = np.abs(preshape.closed - preshape.open) > 1e-9
    return [finger for finger in fingers if moving[list(finger.joints)].any()]


def _across(hand: HandModel, fingers: list[FoundFinger], preshapes: list[Preshape]) -> Array:
    """Return the mean direction (3,) of the pads that oppose each other most, half closed."""
    found = [np.array([1e-6, 0.0, 0.0])]
    for preshape in preshapes:
        half = 0.5 * (preshape.open + preshape.closed)
        T = forward_kinematics(hand, half[None])[0]
        normals = [T[f.link, :3, :3] @ hand.links[f.link].pad_normal
                   for f in _closing(fingers, preshape)]
        found += [a - b for a, b in combinations(normals, 2)]
    rows = np.array(found)
    best = rows[int(np.linalg.norm(rows, axis=1).argmax())]
    along = rows @ best / np.linalg.norm(best)
    like = np.abs(along) >= ALIKE * np.linalg.norm(best)
    mean = np.sum(np.sign(along[like])[:, None] * rows[like], axis=0)
    return mean / np.linalg.norm(mean)
