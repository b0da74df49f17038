"""Order of candidates: promising ones first, from many sides, none twice."""

import numpy as np

from ...arrays import Array, IntArray


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
