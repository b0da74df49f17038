"""The prescreen: palm placement, hands closing in a distance field, and a diverse order."""

from itertools import combinations
import math

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.rows import run_rows
from ...numerics.vec3 import add_scaled, dot, load_vec3, placed, store_vec3, subtract, Vec3
from .distance_field import DistanceField


#: Difference of scores below which the first shares of forces are taken [-]: rounding must not
#: decide.
SCORE_TOLERANCE = 1e-9
#: Step of a pad's path where it touches nowhere.
NO_TOUCH = -1
#: Coordinates of samples that are kept at once where palms are placed: 8 MB.
SCRATCH = 1_000_000


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
def distance_at(field: DistanceField, point: Vec3) -> float:
    """Return the trilinear value at a point; beyond the grid, its border's plus the distance."""
    lower, spacing, values = field.lower, field.spacing, field.values
    u, v, w = ((point[0] - lower[0]) / spacing, (point[1] - lower[1]) / spacing,
               (point[2] - lower[2]) / spacing)
    a = min(max(u, 0.0), values.shape[0] - 1.0)
    b = min(max(v, 0.0), values.shape[1] - 1.0)
    c = min(max(w, 0.0), values.shape[2] - 1.0)
    x, y, z = u - a, v - b, w - c
    beyond = spacing * math.sqrt(x * x + y * y + z * z)
    i = min(int(a), values.shape[0] - 2)
    j = min(int(b), values.shape[1] - 2)
    k = min(int(c), values.shape[2] - 2)
    a, b, c = a - i, b - j, c - k
    low = ((1 - b) * ((1 - a) * values[i, j, k] + a * values[i + 1, j, k])
           + b * ((1 - a) * values[i, j + 1, k] + a * values[i + 1, j + 1, k]))
    high = ((1 - b) * ((1 - a) * values[i, j, k + 1] + a * values[i + 1, j, k + 1])
            + b * ((1 - a) * values[i, j + 1, k + 1] + a * values[i + 1, j + 1, k + 1]))
    return (1 - c) * low + c * high + beyond


def score_closings(field: DistanceField, palms: Array, pads: Array, shares: Array,
                   lengths: Array) -> tuple[Array, IntArray, Array, Array]:
    """
    Score closing hands by the paths of their pads through a distance field.

    Parameters
    ----------
    field : DistanceField
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
    results = (np.zeros((count, fingers, 3)), np.full((count, fingers), NO_TOUCH),
               np.full(count, -np.inf), np.zeros((count, 3)))
    run_rows(_score_rows, count, (field, palms, pads, _half_steps(pads), shares, lengths),
             (*results, np.empty((count, fingers, 3))))
    return results


@njit(cache=True, nogil=True)
def _score_rows(first: int, step: int, field: DistanceField, palms: Array, pads: Array,
                gaps: Array, shares: Array, lengths: Array,
                results: tuple[Array, IntArray, Array, Array, Array]) -> None:
    contacts, steps, scores, offsets, inward = results
    for n in range(first, len(palms), step):
        frontal, touching, late = 0.0, 0, 0.0
        for f in range(len(pads)):
            index, touches = _first_touch(field, palms[n], pads[f], gaps[f])
            contact = placed(palms[n], load_vec3(pads[f], index))
            store_vec3(contacts[n], f, contact)
            if not touches:
                continue
            steps[n, f] = index
            touching += 1
            late = lengths[4] if index >= lengths[3] else late
            motion = subtract(contact, placed(palms[n], load_vec3(pads[f], index - 1)))
            against = _inward(field, contact)
            store_vec3(inward[n], f, against)
            frontal += min(max(dot(motion, against)
                               / max(math.sqrt(dot(motion, motion)), 1e-12), 0.0), 1.0)
        if touching > 1 or len(pads) == 1:
            scores[n] = 0.2 * frontal / len(pads) - late + _balance(
                contacts[n], inward[n], steps[n], shares, lengths, offsets[n])


def _half_steps(pads: Array) -> Array:
    """Return half the longest step of each pad's path [m]."""
    return 0.5 * np.linalg.norm(np.diff(pads, axis=1), axis=2).max(axis=1, initial=0.0)


@njit(cache=True)
def _first_touch(field: DistanceField, palm: Array, pad: Array, gap: float) -> tuple[int, bool]:
    """Return the first step inside, else the nearest one; and whether the pad touches."""
    nearest, least = 0, np.inf
    for m in range(len(pad)):
        distance = distance_at(field, placed(palm, load_vec3(pad, m)))
        if distance < 0.0:
            return max(m, 1), True
        if distance < least:
            nearest, least = m, distance
    return max(nearest, 1), least < gap


@njit(cache=True)
def _inward(field: DistanceField, point: Vec3) -> Vec3:
    """Return the unit direction against the field's gradient by central differences."""
    (x, y, z), spacing = point, field.spacing
    u = (distance_at(field, (x - spacing, y, z))
         - distance_at(field, (x + spacing, y, z)))
    v = (distance_at(field, (x, y - spacing, z))
         - distance_at(field, (x, y + spacing, z)))
    w = (distance_at(field, (x, y, z - spacing))
         - distance_at(field, (x, y, z + spacing)))
    norm = max(math.sqrt(u * u + v * v + w * w), 1e-12)
    return u / norm, v / norm, w / norm


@njit(cache=True)
def _balance(contacts: Array, inward: Array, steps: IntArray, shares: Array, lengths: Array,
             offset: Array) -> float:
    """Return the score of the best shares of forces, and write their middle to ``offset``."""
    best = -1.0
    for s in range(len(shares)):
        usable, sharing = True, 0
        total, middle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for f in range(len(contacts)):
            if shares[s, f] > 0.0:
                usable = usable and steps[f] > NO_TOUCH
                sharing += 1
                total = add_scaled(total, shares[s, f], load_vec3(inward, f))
                middle = add_scaled(middle, shares[s, f], load_vec3(contacts, f))
        if not usable:
            continue
        unbalance, distance = math.sqrt(dot(total, total)), math.sqrt(dot(middle, middle))
        value = (0.4 * min(max(1.0 - unbalance / lengths[0], 0.0), 1.0)
                 + 0.4 * min(max(1.0 - distance / lengths[1], 0.0), 1.0)
                 + (lengths[2] if sharing > 2 else 0.0))
        if value > best + SCORE_TOLERANCE:
            best = value
            offset[0], offset[1], offset[2] = middle
    return best


def count_clearances(field: DistanceField, palms: Array, points: Array, starts: IntArray,
                     balls: Array, limits: Array) -> IntArray:
    """
    Return for each pose (n,) how many of ascending limits all hand points (m, 3) keep.

    Points in frame palm. ``balls (b, 4)``, centre and radius, hold the points ``starts[b]`` to
    ``starts[b + 1]``: where a ball is far from the surface, its points are skipped. The field
    changes by no more than one and a half times the distance, give or take the diagonals of two
    cells.
    """
    kept = np.empty(len(palms), np.int64)
    run_rows(_clearance_rows, len(palms), (field, palms, points, starts, balls, limits), (kept,))
    return kept


@njit(cache=True, nogil=True)
def _clearance_rows(first: int, step: int, field: DistanceField, palms: Array, points: Array,
                    starts: IntArray, balls: Array, limits: Array,
                    results: tuple[IntArray]) -> None:
    kept, spare = results[0], 3.5 * field.spacing
    for n in range(first, len(palms), step):
        count = len(limits)
        for b in range(len(balls)):
            near = limits[count - 1] + 1.5 * balls[b, 3] + spare
            ball = placed(palms[n], load_vec3(balls, b))
            if distance_at(field, ball) > near:
                continue
            for i in range(starts[b], starts[b + 1]):
                point = placed(palms[n], load_vec3(points, i))
                distance = distance_at(field, point)
                while count > 0 and distance < limits[count - 1]:
                    count -= 1
                if count == 0:
                    break
            if count == 0:
                break
        kept[n] = count


def place_palms(points: Array, rotations: Array, centroids: Array, centres: Array, palm_low: Array,
                palm_high: Array, gaps: Array) -> Array:
    """
    Return palm origins (p, n, gaps, 3): the section centred, the palm at a stand-off.

    ``points`` are surface samples, ``rotations (n, 3, 3)`` and ``centroids (n, 3)`` the palm's
    axes and the face that it approaches, ``centres (p, 3)`` where the pads of each preshape
    meet: x, y, highest z; ``gaps`` are the stand-offs [m].
    """
    bounds, at_once = np.stack([palm_low, palm_high]), max(SCRATCH // points.size, 1)
    placed_palms = [np.empty((len(centres), 0, len(gaps), 3))]
    for begin in range(0, len(rotations), at_once):
        rows = slice(begin, begin + at_once)
        count = len(rotations[rows])
        origins = np.empty((len(centres), count, len(gaps), 3))
        run_rows(_place_rows, count, (points, rotations[rows], centroids[rows], centres, bounds,
                                      gaps), (origins, np.empty((count, 3, len(points)))))
        placed_palms.append(origins)
    return np.concatenate(placed_palms, axis=1)


@njit(cache=True, nogil=True)
def _place_rows(first: int, step: int, points: Array, rotations: Array, centroids: Array,
                centres: Array, bounds: Array, gaps: Array, results: tuple[Array, Array]) -> None:
    (origins, samples), palm_low, palm_high = results, bounds[0], bounds[1]
    half = 0.5 * (palm_high[0] - palm_low[0]), 0.5 * (palm_high[1] - palm_low[1])
    for n in range(first, len(rotations), step):
        local, turn, centroid = samples[n], rotations[n], load_vec3(centroids, n)
        for i in range(len(points)):
            way = subtract(load_vec3(points, i), centroid)
            for k in range(3):
                local[k, i] = way[0] * turn[0, k] + way[1] * turn[1, k] + way[2] * turn[2, k]
        for c in range(len(centres)):
            centre = load_vec3(centres, c)
            depth = centre[2] - palm_high[2]
            start = _nearest_below(local, -centre[0], -centre[1], palm_low, palm_high)
            for g in range(len(gaps)):
                x, y, nearest = 0.0, 0.0, start
                for _ in range(2):
                    x, y = _section_middle(local, x, y, nearest + depth - gaps[g], half)
                    nearest = _nearest_below(local, x - centre[0], y - centre[1],
                                             palm_low, palm_high)
                u, v, w = x - centre[0], y - centre[1], nearest - gaps[g] - palm_high[2]
                for k in range(3):
                    origins[c, n, g, k] = (centroid[k] + turn[k, 0] * u + turn[k, 1] * v
                                           + turn[k, 2] * w)


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
                    half: tuple[float, float]) -> tuple[float, float]:
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
