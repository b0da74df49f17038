"""
Nodes beside a rim of the indenter: where it ends, or steps back, between two nodes.

A node stands for a square of the grid. Where the indenter ends within it, or goes on into the next
one, whose node it does not meet, the node stands for what is pressed of both, and lies in the
middle of that: a row of nodes along a rim, where a tilted link presses hardest, would be up to
half a square too wide or too narrow. Beside a rim pressure grows to infinity, and nodes, of which
each has an even one, bear as if the indenter ended a fifth of a spacing sooner: their load is
spread wider for that.
"""

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import dot, load_vec3, subtract
from .indenters import Indenter
from .sampling_grid import GridSamples


#: Fall of the depth from a node to the next, over the spacing, from which on a rim may be between;
#: a steep flank is halved as if there were none. Fall that tells one side from the other [-].
RIM_FALL, TOLD_FALL = 0.5, 2.0
#: Times that the way between two nodes is quartered to find a rim, and least share of the fall
#: from one to the other in the last of these parts: of a flank it is a sixteenth.
QUARTERINGS, SUDDEN = 2, 0.5
#: By how much wider the load of a node beside a rim is spread than over its own area [-]: at which
#: a square punch of four to twenty nodes a side bears what theory says.
RIM_SPREAD = 0.7
#: Largest way to a neighbour on the same piece of the surface, over the spacing [-].
MOST_APART = 2.0


def fit_to_rims(samples: GridSamples, indenter: Indenter, T_object_indenter: Array,
                way: Array | None = None) -> tuple[GridSamples, Array, Array]:
    """
    Move nodes beside rims into the middle of what they stand for.

    Parameters
    ----------
    samples : GridSamples
        With ``n`` nodes.
    indenter : Indenter
    T_object_indenter : (4, 4) float
    way : (3,) float, optional
        Unit direction along which overlaps are measured; else the grid's own.

    Returns
    -------
    GridSamples
        With other points and depths.
    (n,) float
        Areas of the nodes over those of squares of the grid: 1 away from rims [-].
    (n,) float
        Areas over which their loads are spread over their own: 1 away from rims [-].

    Notes
    -----
    A rim at a share t of the way from a node to the next gives it a length of 1/2 + t on that
    hand, whose middle is (t - 1/2) / 2 away from the node, and the next one 3/2 - t. Of a rim
    that is met along both axes each row of the grid alone has the whole area, and the mean of
    both is taken. Own derivation; docs/model/contact.md, "Rims".
    """
    shares, spreads = np.ones((2, len(samples.depths)))
    own, others, axes = _pairs_at_rims(samples.node, samples.points, samples.depths,
                                       samples.grid.spacing)
    if not len(own):
        return samples, shares, spreads
    ways, sudden = _ways_to_rims(samples, own, others, indenter, T_object_indenter, way)
    points = samples.points.copy()
    _fit(shares, points, own, others, axes, ways)
    _spread(spreads, own[sudden], axes[sudden])
    moved = np.unique(own)
    depths = samples.depths.copy()
    found = _depths_at(samples, points[moved], samples.slopes[moved], indenter,
                       T_object_indenter, way)
    met = found > 0.0
    points[moved[~met]] = samples.points[moved[~met]]
    depths[moved[met]] = found[met]
    return samples._replace(points=points, depths=depths), shares, spreads


@njit(cache=True)
def _pairs_at_rims(node: IntArray, points: Array, depths: Array, spacing: float
                   ) -> tuple[IntArray, IntArray, IntArray]:
    """Return overlapping nodes, their neighbours beyond a rim, and the axis between them."""
    nu, nv = node.shape
    own = np.empty(4 * nu * nv, np.int64)
    others, axes, count = np.empty_like(own), np.empty_like(own), 0
    for i in range(nu):
        for j in range(nv):
            here = node[i, j]
            if here < 0 or not depths[here] > 0.0:
                continue
            for k in range(4):
                a, b = i + (1, -1, 0, 0)[k], j + (0, 0, 1, -1)[k]
                if not (0 <= a < nu and 0 <= b < nv) or node[a, b] < 0:
                    continue
                there = node[a, b]
                arm = subtract(load_vec3(points, there), load_vec3(points, here))
                if (depths[here] - depths[there] > RIM_FALL * spacing
                        and dot(arm, arm) <= (MOST_APART * spacing) ** 2):
                    own[count], others[count], axes[count] = here, there, k // 2
                    count += 1
    return own[:count], others[:count], axes[:count]


def _ways_to_rims(samples: GridSamples, own: IntArray, others: IntArray, indenter: Indenter,
                  T_object_indenter: Array, way: Array | None) -> tuple[Array, BoolArray]:
    """
    Return which share (k,) of the way from nodes to others lies before the rim [-].

    And whether it is one (k,), where depths fall at once.
    """
    begins, slopes = samples.points[own], samples.slopes[own]
    arms = samples.points[others] - begins
    floors = np.maximum(samples.depths[others],
                        samples.depths[own] - TOLD_FALL * samples.grid.spacing)
    before, after = samples.depths[own], floors
    least = 0.5 * (before + after)
    low, step = np.zeros(len(own)), 0.5
    for _ in range(QUARTERINGS):
        tried = low + step * np.array([[0.5], [1.0], [1.5]])
        depths = _depths_at(samples, (begins + tried[..., None] * arms).reshape(-1, 3),
                            np.tile(slopes, 3), indenter, T_object_indenter, way).reshape(3, -1)
        for found in (depths[1], np.where(depths[1] > least, depths[2], depths[0])):
            inside = found > least
            low = np.where(inside, low + step, low)
            before = np.where(inside, found, before)
            after = np.where(inside, after, np.maximum(found, floors))
            step *= 0.5
    return low + step, before - after > SUDDEN * (samples.depths[own] - floors)


def _depths_at(samples: GridSamples, places: Array, slopes: Array, indenter: Indenter,
               T_object_indenter: Array, way: Array | None) -> Array:
    """Return overlaps (k,) at places of slopes, as nodes have them [m]."""
    rotation = T_object_indenter[:3, :3]
    direction = samples.grid.frame[2] if way is None else way
    depths, _ = indenter.ray_depths((places - T_object_indenter[:3, 3]) @ rotation,
                                    direction @ rotation, 4.0 * samples.grid.spacing)
    return np.asarray(depths * slopes if way is None else depths)


@njit(cache=True)
def _fit(shares: Array, points: Array, own: IntArray, others: IntArray, axes: IntArray,
         ways: Array) -> None:
    """Add what rims give to nodes and take from their neighbours, and move nodes, in place."""
    met = np.zeros((len(shares), 2))
    for k in range(len(own)):
        met[own[k], axes[k]] = met[others[k], axes[k]] = 1.0
    starts = points.copy()
    for k in range(len(own)):
        i, j, more = own[k], others[k], ways[k] - 0.5
        shares[i] += more / (met[i, 0] + met[i, 1])
        shares[j] -= more / (met[j, 0] + met[j, 1])
        for c in range(3):
            points[i, c] += 0.5 * more / (met[i, 0] + met[i, 1]) * (starts[j, c] - starts[i, c])


@njit(cache=True)
def _spread(spreads: Array, own: IntArray, axes: IntArray) -> None:
    """Spread the loads of nodes by the rims beside them, in place; what is met aslant is one."""
    rims = np.zeros((len(spreads), 2))
    for k in range(len(own)):
        rims[own[k], axes[k]] += 1.0
    for i in range(len(spreads)):
        spreads[i] = 1.0 + RIM_SPREAD * np.sqrt(rims[i, 0] ** 2 + rims[i, 1] ** 2)
