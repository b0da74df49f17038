"""The prescreen: palm placement, hands closing in a distance field, and a diverse order."""

from itertools import combinations

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import copy_entries, njit
from ...numerics.vec3 import placed


#: Difference of scores below which the first shares of forces are taken [-]: rounding must not
#: decide.
SCORE_TOLERANCE = 1e-9
#: Step of a pad's path where it touches nowhere.
NO_TOUCH = -1


def many_fingers_shares(count: int) -> Array:
    """Return shares (s, count) of closing forces [-]: all alike, pairs, one against others."""
    one = np.eye(count)
    rows = [] if count == 2 else [np.full(count, 1.0 / count)]
    rows += [0.5 * (one[i] + one[j]) for i, j in combinations(range(count), 2)]
    rows += [0.5 * one[i] + 0.5 / size * one[list(group)].sum(axis=0)
             for i in range(count) for size in range(2, count)
             for group in combinations([j for j in range(count) if j != i], size)]
    return np.array(rows)


@njit(cache=True)
def distance_at(lower: Array, spacing: float, values: Array, x: float, y: float,
                z: float) -> float:
    """Return the trilinear value at a point; beyond the grid, its border's plus the distance."""
    u, v, w = (x - lower[0]) / spacing, (y - lower[1]) / spacing, (z - lower[2]) / spacing
    a = min(max(u, 0.0), values.shape[0] - 1.0)
    b = min(max(v, 0.0), values.shape[1] - 1.0)
    c = min(max(w, 0.0), values.shape[2] - 1.0)
    beyond = spacing * np.sqrt((u - a) ** 2 + (v - b) ** 2 + (w - c) ** 2)
    i = min(int(a), values.shape[0] - 2)
    j = min(int(b), values.shape[1] - 2)
    k = min(int(c), values.shape[2] - 2)
    a, b, c = a - i, b - j, c - k
    low = ((1 - b) * ((1 - a) * values[i, j, k] + a * values[i + 1, j, k])
           + b * ((1 - a) * values[i, j + 1, k] + a * values[i + 1, j + 1, k]))
    high = ((1 - b) * ((1 - a) * values[i, j, k + 1] + a * values[i + 1, j, k + 1])
            + b * ((1 - a) * values[i, j + 1, k + 1] + a * values[i + 1, j + 1, k + 1]))
    return (1 - c) * low + c * high + beyond


@njit(cache=True, nogil=True)
def score_closings(lower: Array, spacing: float, values: Array, palms: Array, pads: Array,
                   shares: Array, lengths: Array) -> tuple[Array, IntArray, Array, Array]:
    """
    Score closing hands by the paths of their pads through a distance field.

    Parameters
    ----------
    lower, spacing, values
        Of the field.
    palms (n, 4, 4)
    pads (f, m, 3)
        Path of each pad, frame palm [m].
    shares (s, f)
        Shares of the closing forces to try.
    lengths (5,)
        Unbalance without score [-], offset without score [m], gain for a third finger, steps
        before fingers meet, loss for pads that touch later.

    Returns
    -------
    contacts (n, f, 3), steps (n, f), scores (n,), offsets (n, 3)
        Points where pads touch, and the steps of their paths, ``NO_TOUCH`` where they do not;
        scores of the balance of forces along the normals about the origin and of frontal
        contact; the middle of the forces.
    """
    count, fingers = len(palms), len(pads)
    contacts = np.zeros((count, fingers, 3))
    steps = np.full((count, fingers), NO_TOUCH)
    scores, offsets = np.full(count, -np.inf), np.zeros((count, 3))
    inward, motion, before = np.empty((fingers, 3)), np.empty(3), np.empty(3)
    gaps = _half_steps(pads)
    for n in range(count):
        frontal, touching, late = 0.0, 0, 0.0
        for f in range(fingers):
            first, touches = _first_touch(lower, spacing, values, palms[n], pads[f], gaps[f])
            place_point(palms[n], pads[f, first], contacts[n, f])
            if not touches:
                continue
            steps[n, f] = first
            touching += 1
            late = lengths[4] if first >= lengths[3] else late
            place_point(palms[n], pads[f, first - 1], before)
            for k in range(3):
                motion[k] = contacts[n, f, k] - before[k]
            _inward(lower, spacing, values, contacts[n, f], inward[f])
            frontal += min(max(_dot(motion, inward[f])
                               / max(np.sqrt(_dot(motion, motion)), 1e-12), 0.0), 1.0)
        if touching > 1 or fingers == 1:
            scores[n] = 0.2 * frontal / fingers - late + _balance(
                contacts[n], inward, steps[n] > NO_TOUCH, shares, lengths, offsets[n])
    return contacts, steps, scores, offsets


@njit(cache=True)
def _half_steps(pads: Array) -> Array:
    """Return half the longest step of each pad's path [m]."""
    gaps = np.zeros(len(pads))
    for f in range(len(pads)):
        for m in range(1, pads.shape[1]):
            step = pads[f, m] - pads[f, m - 1]
            gaps[f] = max(gaps[f], 0.5 * np.sqrt(_dot(step, step)))
    return gaps


@njit(cache=True)
def _first_touch(lower: Array, spacing: float, values: Array, palm: Array, pad: Array,
                 gap: float) -> tuple[int, bool]:
    """Return the first step inside, else the nearest one; and whether the pad touches."""
    nearest, least, point = 0, np.inf, np.empty(3)
    for m in range(len(pad)):
        place_point(palm, pad[m], point)
        distance = distance_at(lower, spacing, values, point[0], point[1], point[2])
        if distance < 0.0:
            return max(m, 1), True
        if distance < least:
            nearest, least = m, distance
    return max(nearest, 1), least < gap


@njit(cache=True, forceinline=True)
def place_point(pose: Array, point: Array, result: Array) -> None:
    """Write a point (3,) of a frame of pose (4, 4) where it is there."""
    result[0], result[1], result[2] = placed(pose, (point[0], point[1], point[2]))


@njit(cache=True, forceinline=True)
def _dot(a: Array, b: Array) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def _inward(lower: Array, spacing: float, values: Array, point: Array, result: Array) -> None:
    """Write the unit direction against the field's gradient by central differences."""
    x, y, z = point
    result[0] = (distance_at(lower, spacing, values, x - spacing, y, z)
                 - distance_at(lower, spacing, values, x + spacing, y, z))
    result[1] = (distance_at(lower, spacing, values, x, y - spacing, z)
                 - distance_at(lower, spacing, values, x, y + spacing, z))
    result[2] = (distance_at(lower, spacing, values, x, y, z - spacing)
                 - distance_at(lower, spacing, values, x, y, z + spacing))
    norm = max(np.sqrt(_dot(result, result)), 1e-12)
    for k in range(3):
        result[k] /= norm


@njit(cache=True)
def _balance(contacts: Array, inward: Array, touched: BoolArray, shares: Array, lengths: Array,
             offset: Array) -> float:
    """Return the score of the best shares of forces, and write their middle to ``offset``."""
    best, total, middle = -1.0, np.empty(3), np.empty(3)
    for s in range(len(shares)):
        usable, sharing = True, 0
        total[:], middle[:] = 0.0, 0.0
        for f in range(len(contacts)):
            if shares[s, f] > 0.0:
                usable = usable and touched[f]
                sharing += 1
                for k in range(3):
                    total[k] += shares[s, f] * inward[f, k]
                    middle[k] += shares[s, f] * contacts[f, k]
        if not usable:
            continue
        unbalance, distance = np.sqrt(_dot(total, total)), np.sqrt(_dot(middle, middle))
        value = (0.4 * min(max(1.0 - unbalance / lengths[0], 0.0), 1.0)
                 + 0.4 * min(max(1.0 - distance / lengths[1], 0.0), 1.0)
                 + (lengths[2] if sharing > 2 else 0.0))
        if value > best + SCORE_TOLERANCE:
            best = value
            copy_entries(middle, offset)
    return best


@njit(cache=True, nogil=True)
def hand_is_free(lower: Array, spacing: float, values: Array, palms: Array, points: Array,
                 starts: IntArray, balls: Array, limit: float) -> BoolArray:
    """
    Return for each pose (n,) whether all hand points (m, 3), frame palm, are beyond a limit.

    ``balls (b, 4)``, centre and radius, hold the points ``starts[b]`` to ``starts[b + 1]``:
    where a ball is far from the surface, its points are skipped. The field changes by no more
    than one and a half times the distance, give or take the diagonals of two cells.
    """
    free = np.ones(len(palms), dtype=np.bool_)
    spare, point = 3.5 * spacing, np.empty(3)
    for n in range(len(palms)):
        for b in range(len(balls)):
            place_point(palms[n], balls[b], point)
            near = limit + 1.5 * balls[b, 3] + spare
            if distance_at(lower, spacing, values, point[0], point[1], point[2]) > near:
                continue
            for i in range(starts[b], starts[b + 1]):
                place_point(palms[n], points[i], point)
                if distance_at(lower, spacing, values, point[0], point[1], point[2]) < limit:
                    free[n] = False
                    break
            if not free[n]:
                break
    return free


@njit(cache=True, nogil=True)
def place_palms(points: Array, rotations: Array, centroids: Array, centres: Array, palm_low: Array,
                palm_high: Array, gaps: Array) -> Array:
    """
    Return palm origins (p, n, gaps, 3): the section centred, the palm at a stand-off.

    ``points`` are surface samples, ``rotations (n, 3, 3)`` and ``centroids (n, 3)`` the palm's
    axes and the face that it approaches, ``centres (p, 3)`` where the pads of each preshape
    meet: x, y, highest z; ``gaps`` are the stand-offs [m].
    """
    origins = np.empty((len(centres), len(rotations), len(gaps), 3))
    half = 0.5 * (palm_high[:2] - palm_low[:2])
    for n in range(len(rotations)):
        local = np.ascontiguousarray(((points - centroids[n]) @ rotations[n]).T)
        for c in range(len(centres)):
            centre = centres[c]
            depth = centre[2] - palm_high[2]
            first = _nearest_below(local, -centre[0], -centre[1], palm_low, palm_high)
            for g in range(len(gaps)):
                x, y, nearest = 0.0, 0.0, first
                for _ in range(2):
                    x, y = _section_middle(local, x, y, nearest + depth - gaps[g], half)
                    nearest = _nearest_below(local, x - centre[0], y - centre[1],
                                             palm_low, palm_high)
                offset = np.array([x - centre[0], y - centre[1], nearest - gaps[g] - palm_high[2]])
                copy_entries(centroids[n] + rotations[n] @ offset, origins[c, n, g])
    return origins


@njit(cache=True, fastmath={'nnan', 'nsz'})
def _nearest_below(local: Array, x: float, y: float, palm_low: Array, palm_high: Array) -> float:
    """Return the lowest z of the samples (3, n) over the palm, whose middle is at (x, y)."""
    low_x, high_x, low_y, high_y = (palm_low[0] + x, palm_high[0] + x, palm_low[1] + y,
                                    palm_high[1] + y)
    over, anywhere = np.inf, np.inf
    for i in range(local.shape[1]):
        u, v, w = local[0, i], local[1, i], local[2, i]
        anywhere = min(anywhere, w)
        inside = (u >= low_x) & (u <= high_x) & (v >= low_y) & (v <= high_y)
        over = min(over, w if inside else np.inf)
    return over if over < np.inf else anywhere


@njit(cache=True, fastmath={'nnan', 'nsz'})
def _section_middle(local: Array, x: float, y: float, top: float,
                    half: Array) -> tuple[float, float]:
    """Return the middle of the section below ``top`` near (x, y), in each axis where it fits."""
    low_x, high_x, low_y, high_y = np.inf, -np.inf, np.inf, -np.inf
    for i in range(local.shape[1]):
        u, v = local[0, i], local[1, i]
        inside = (local[2, i] < top) & (abs(u - x) < half[0]) & (abs(v - y) < half[1])
        low_x, high_x = min(low_x, u if inside else np.inf), max(high_x, u if inside else -np.inf)
        low_y, high_y = min(low_y, v if inside else np.inf), max(high_y, v if inside else -np.inf)
    if high_x < low_x:
        return x, y
    new_x = 0.5 * (low_x + high_x) if high_x - low_x < 1.9 * half[0] else x
    new_y = 0.5 * (low_y + high_y) if high_y - low_y < 1.9 * half[1] else y
    return new_x, new_y


#: Resolution of scores [-], so that rounding never decides an order.
SCORE_RESOLUTION = 1e-7
#: Loss of score for each better hypothesis of the same face [-]: keeps the choice diverse.
SAME_FACE_LOSS = 0.02
#: Resolution of poses [m] and of their axes' components [-]; faces of one plane side give the
#: same pose.
DUPLICATE_RESOLUTION = 1e-5


def diverse_order(scores: Array, faces: IntArray) -> IntArray:
    """Return the order of candidates, best first, with a loss for crowding one face."""
    rounded = np.round(scores / SCORE_RESOLUTION) * SCORE_RESOLUTION
    order = np.lexsort((np.arange(len(scores)), -rounded))
    order = order[rounded[order] > 0.0]
    by_face = np.argsort(faces[order], kind='stable')
    starts = np.searchsorted(faces[order][by_face], faces[order][by_face])
    rank = np.empty(len(order))
    rank[by_face] = np.arange(len(order)) - starts
    adjusted = rounded[order] - SAME_FACE_LOSS * rank
    return order[np.lexsort((np.arange(len(order)), -adjusted))]


def without_duplicates(order: IntArray, poses: Array, preshapes: IntArray, count: int) -> IntArray:
    """Return the first ``count`` without those that centring moved to the pose of another."""
    seen: set[bytes] = set()
    kept: list[int] = []
    for row in order:
        key = np.round(poses[row, :3] / DUPLICATE_RESOLUTION)
        name = bytes([preshapes[row]]) + (key + 0.0).tobytes()
        if name not in seen:
            seen.add(name)
            kept.append(row)
            if len(kept) == count:
                break
    return np.array(kept, dtype=np.int64)
