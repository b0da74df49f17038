"""Widths of an object, and the openings between which a hand closes."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist

from ...arrays import Array
from ...bodies import TriangleMesh
from ...hand import HandModel, Preshape, forward_kinematics
from ...transforms import apply
from .hand_geometry import even_directions, free_closing_share, moving_fingers, pad_paths


#: Largest number of edges of a convex hull whose pairs of edges are examined.
MOST_EDGES = 300
#: Largest number of the hull's faces examined, the largest first.
MOST_FACES = 1000
#: Angle of edges below which they count as parallel [rad].
LEAST_ANGLE = 1e-6
#: Largest number of points used as they are, and the number of even directions whose farthest
#: points stand for more.
MOST_POINTS, EVEN_DIRECTIONS = 20_000, 1000
#: Largest number of points times directions in one block.
MOST_ENTRIES = 2_000_000
#: Smallest difference, across the palm, of the normals of pads that oppose each other [-].
LEAST_OPPOSITION = 0.5
#: Postures from open to closed in which that is looked for.
CLOSING_LOOKS = 13


def least_width(mesh: TriangleMesh) -> float:
    """
    Return the least distance of two parallel planes that hold the object between them [m].

    Parameters
    ----------
    mesh : TriangleMesh

    Returns
    -------
    float

    Notes
    -----
    Source: Houle & Toussaint 1988: it is attained with a face of the convex hull on one plane,
    or with an edge on each. Pairs of edges are left out where the hull has more than
    ``MOST_EDGES``, and faces beyond the ``MOST_FACES`` largest: it is smooth there. Of more
    than ``MOST_POINTS`` vertices, which takes seconds, smooth bodies come out to 0.5 %.

    """
    vertices = _outermost(mesh.vertices, MOST_POINTS)
    hull = ConvexHull(vertices)
    points = vertices[hull.vertices]
    directions, rows = np.unique(np.round(hull.equations[:, :3], 9), axis=0, return_inverse=True)
    corners = vertices[hull.simplices]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
                           axis=1)
    largest = np.argsort(-np.bincount(rows.ravel(), areas), kind='stable')[:MOST_FACES]
    directions = directions[largest]
    pairs = np.unique(np.sort(hull.simplices[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0)
    if len(pairs) <= MOST_EDGES:
        edges = vertices[pairs[:, 1]] - vertices[pairs[:, 0]]
        edges /= np.linalg.norm(edges, axis=1, keepdims=True)
        across = np.cross(edges[:, None], edges[None]).reshape(-1, 3)
        lengths = np.linalg.norm(across, axis=1)
        apart = lengths > LEAST_ANGLE
        directions = np.vstack([directions, across[apart] / lengths[apart, None]])
    return float(min(np.ptp(heights, axis=1).min() for heights in _heights(points, directions)))


def largest_width(mesh: TriangleMesh) -> float:
    """Return the largest distance of two vertices of an object [m]; of smooth ones to 0.5 %."""
    points = _outermost(mesh.vertices, MOST_POINTS)
    points = _outermost(points[ConvexHull(points).vertices], EVEN_DIRECTIONS)
    return float(pdist(points).max())


def _outermost(points: Array, most: int) -> Array:
    """Return the points farthest along even directions; up to ``most`` points are all kept."""
    if len(points) <= most:
        return points
    return points[np.unique(np.concatenate(
        [row.argmax(axis=1) for row in _heights(points, even_directions(EVEN_DIRECTIONS))]))]


def _heights(points: Array, directions: Array) -> Iterator[Array]:
    """Yield the points' heights ``(some, n)`` along all directions, block by block."""
    blocks = 1 + len(points) * len(directions) // MOST_ENTRIES
    columns = np.ascontiguousarray(points.T)
    return (part @ columns for part in np.array_split(directions, blocks) if len(part))


@lru_cache(maxsize=8)
def largest_opening(hand: HandModel) -> float:
    """
    Return the largest free gap between the outermost links of two opposed fingers [m].

    The gap is taken along the direction, across the palm's axis, in which the two pads
    oppose each other, with the hand open in any of its preshapes; where pads of an open hand all
    look one way, in which they first oppose each other as it closes.

    Parameters
    ----------
    hand : HandModel

    Returns
    -------
    float
    """
    return max((gap for preshape in hand.preshapes for gap in _gaps(hand, preshape)), default=0.0)


def _gaps(hand: HandModel, preshape: Preshape) -> list[float]:
    fingers = moving_fingers(hand, preshape)
    _, normals = pad_paths(hand, preshape, CLOSING_LOOKS)
    T_palm_link = forward_kinematics(hand, preshape.open[None])[0]
    links = [finger.links[-1] for finger in fingers]
    points = [apply(T_palm_link[link], hand.links[link].mesh.vertices) for link in links]
    gaps = []
    for i, j in combinations(range(len(fingers)), 2):
        across = normals[i] - normals[j]
        across = across - (across @ hand.approach)[:, None] * hand.approach
        lengths = np.linalg.norm(across, axis=1)
        opposed = np.flatnonzero(lengths >= LEAST_OPPOSITION)
        if len(opposed):
            way = across[opposed[0]] / lengths[opposed[0]]
            gaps.append(float((points[j] @ way).min() - (points[i] @ way).max()))
    return gaps


@lru_cache(maxsize=8)
def meeting_gap(hand: HandModel) -> float:
    """
    Return the smallest distance of two pads where closing fingers meet [m].

    Parameters
    ----------
    hand : HandModel

    Returns
    -------
    float
        The least over preshapes and pairs of fingers: nothing smaller comes between two pads;
        0 for a hand without two fingers that close.

    Notes
    -----
    Own choice: between the pads' middles, where fingers that close on nothing first meet.
    """
    return min((float(pdist(_pads_where_fingers_meet(hand, preshape)).min())
                for preshape in hand.preshapes if len(moving_fingers(hand, preshape)) > 1),
               default=0.0)


def _pads_where_fingers_meet(hand: HandModel, preshape: Preshape) -> Array:
    change = free_closing_share(hand, preshape) * (preshape.closed - preshape.open)
    points, _ = pad_paths(hand, replace(preshape, closed=preshape.open + change), 2)
    return points[:, -1]
