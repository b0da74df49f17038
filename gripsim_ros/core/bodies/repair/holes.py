"""Holes of a surface: their boundary loops and the triangles that close them."""

from collections import defaultdict

import numpy as np

from ...arrays import Array, IntArray
from ..topology import EdgeTable

#: Largest loop that is triangulated; others are closed by a fan about their centroid.
MAX_TRIANGULATED_LOOP = 64
#: Relative difference below which areas count as equal: the first triangulation is taken, so
#: that rounding errors of a rigid motion change nothing.
TIE_AREA = 1e-9


def boundary_loops(faces: IntArray, table: EdgeTable) -> list[IntArray]:
    """
    Return the loops of vertices round the holes of ``faces (F, 3)`` with their edges.

    Each runs so that a face ``(loop[i], loop[i + 1], x)`` fits the winding of the
    surface. Boundary edges that form no loop are left out. Loops that meet in a vertex
    are kept apart.
    """
    alone = table.counts[table.edge_of_side] == 1
    tails, heads = np.roll(faces, -1, axis=1)[alone], faces[alone]
    following: dict[int, list[int]] = defaultdict(list)
    for tail, head in zip(tails.tolist(), heads.tolist()):
        following[tail].append(head)
    loops = []
    for start in list(following):
        while following[start]:
            loops.extend(_walk(start, following))
    return loops


def _walk(start: int, following: dict[int, list[int]]) -> list[IntArray]:
    """Follow boundary edges from ``start`` until they end; cut off each loop closed."""
    path, place, loops = [start], {start: 0}, []
    while following[path[-1]]:
        vertex = following[path[-1]].pop()
        if vertex in place:
            loop = path[place[vertex]:]
            for other in loop[1:]:
                del place[other]
            del path[place[vertex] + 1:]
            if len(loop) >= 3:
                loops.append(np.array(loop, dtype=np.int64))
        else:
            place[vertex] = len(path)
            path.append(vertex)
    return loops


def triangulate_loop(vertices: Array, loop: IntArray, table: EdgeTable) -> tuple[IntArray, float]:
    """
    Return triangles of least total area that close a loop.

    Parameters
    ----------
    vertices : (V, 3) float
        [m].
    loop : (n,) int
        At most ``MAX_TRIANGULATED_LOOP`` vertices.
    table : EdgeTable
        Of the surface: edges that no new inner edge may repeat.

    Returns
    -------
    (n - 2, 3) int
        Faces, or none where every triangulation repeats an edge.
    float
        Their area [m^2].

    Notes
    -----
    Dynamic programming over sub-polygons, Barequet and Sharir, Filling gaps in the
    boundary of a polyhedron, 1995; the weight is the area alone.
    """
    n = len(loop)
    points = vertices[loop]
    allowed = table.counts_between(loop[:, None], loop) == 0
    ring = np.arange(n)
    allowed[ring, (ring + 1) % n] = allowed[(ring + 1) % n, ring] = True
    cost = np.zeros((n, n))
    split = np.zeros((n, n), dtype=np.int64)
    for span in range(2, n):
        for i in range(n - span):
            k = i + span
            middle = np.arange(i + 1, k)
            normal = np.cross(points[middle] - points[i], points[k] - points[i])
            sums = cost[i, middle] + cost[middle, k] + 0.5 * np.linalg.norm(normal, axis=1)
            best = int(np.argmax(sums <= sums.min() * (1.0 + TIE_AREA)))
            split[i, k] = middle[best]
            cost[i, k] = sums[best] if allowed[i, k] else np.inf
    if not np.isfinite(cost[0, n - 1]):
        return np.zeros((0, 3), dtype=np.int64), np.inf
    faces, stack = [], [(0, n - 1)]
    while stack:
        i, k = stack.pop()
        if k - i >= 2:
            j = int(split[i, k])
            faces.append((i, j, k))
            stack += [(i, j), (j, k)]
    return loop[np.array(faces)], float(cost[0, n - 1])
