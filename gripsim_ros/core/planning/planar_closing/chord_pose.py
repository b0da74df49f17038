"""The pose of a hand at a contour: the strategy of the longest chord."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array


#: Relative difference of lengths up to which chords count as equal [-]: the first point decides.
SAME_CHORD = 1e-9


@dataclass(frozen=True, eq=False)
class ChordFrame:
    """
    The published frame of a contour: chord, outermost point, and the hand's corner.

    ``first``, ``second (2,)`` are the ends of the longest chord, ``outermost (2,)`` the point
    farthest from it on the chosen side [m]; ``origin (2,)`` is the corner of palm and thumb
    and ``x``, ``y (2,)`` its unit axes: x along the chord from first to second, y across it
    from the outermost point towards the chord.
    """

    first: Array
    second: Array
    outermost: Array
    origin: Array
    x: Array
    y: Array

    def to_frame(self, points: Array) -> Array:
        """Return points ``(..., 2)`` of the contour's plane in the frame."""
        return (points - self.origin) @ np.stack([self.x, self.y]).T


def longest_chord(points: Array) -> tuple[int, int]:
    """Return the numbers, lower first, of two points ``(n, 2)`` that lie farthest apart."""
    hull = np.sort(ConvexHull(points).vertices)
    corners = points[hull]
    gaps = np.linalg.norm(corners[:, None] - corners, axis=2)
    rows, columns = np.nonzero(gaps >= gaps.max() * (1.0 - SAME_CHORD))
    return int(hull[rows[0]]), int(hull[columns[0]])


def chord_frame(points: Array, side: int = 1, turned: bool = False) -> ChordFrame:
    """
    Return the frame of the longest chord.

    Parameters
    ----------
    points : (n, 2) float
        The contour [m].
    side : {1, -1}
        Side of the chord, seen from its first to its second end, on which the palm
        stands: 1 right, -1 left.
    turned : bool
        Exchange the ends: the thumb stands at the other one.

    Returns
    -------
    ChordFrame

    Notes
    -----
    Source: seed 003, strategy of the maximal chord. Its printed origin violates the right
    angle (signs); here it is the foot of the first end on the parallel through the
    outermost point. The frame is right-handed for side 1 and left-handed for -1: the finger
    closes anticlockwise in it.
    """
    i, j = longest_chord(points)
    first, second = (points[j], points[i]) if turned else (points[i], points[j])
    x = (second - first) / np.linalg.norm(second - first)
    y = side * np.array([-x[1], x[0]])
    outermost = points[int(np.argmin((points - first) @ y))]
    origin = outermost + ((first - outermost) @ x) * x
    return ChordFrame(first, second, outermost, origin, x, y)
