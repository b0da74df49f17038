"""
Closed triangle meshes of bodies that are stacks of prisms.

A body is a list of layers along one axis; in each layer its cross-section is a set of
closed loops (even-odd). All loops go into one planar triangulation, so that caps and
sides of all layers share their vertices: the mesh is closed and consistently wound by
construction. Lengths are in whatever unit the loops are in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay, cKDTree

#: Points nearer than this are one point.
MERGE = 1e-6


@dataclass(frozen=True, eq=False)
class Layer:
    """Cross-section ``loops`` (each ``(k, 2)``, closed implicitly) from ``low`` to ``high``."""

    low: float
    high: float
    loops: tuple


@dataclass(frozen=True, eq=False)
class Plane:
    """Planar triangulation: ``points (p, 2)``, counter-clockwise ``triangles (t, 3)``."""

    points: np.ndarray
    triangles: np.ndarray


def arc(centre, radius, start, end, chord):
    """Return points of a circular arc from angle ``start`` to ``end`` [rad], both included."""
    steps = max(1, int(np.ceil(abs(end - start) * radius / chord - 1e-9)))
    angles = np.linspace(start, end, steps + 1)
    return np.asarray(centre) + radius * np.column_stack([np.cos(angles), np.sin(angles)])


def circle(centre, radius, chord):
    """Return a closed loop; the first point is not repeated."""
    return arc(centre, radius, 0.0, 2.0 * np.pi, chord)[:-1]


def path(*parts):
    """Join points and arcs to one loop, repeated points dropped."""
    points = np.vstack([np.atleast_2d(part) for part in parts])
    far = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) > MERGE
    return points[far]


def build(layers, edge, level_edge, warp: Callable | None = None, levels=(), longest=None):
    """
    Return ``(vertices (V, 3), faces (F, 3))`` in (u, v, w), w the axis of the stack.

    Parameters
    ----------
    layers : list of Layer
    edge : float
        Longest edge of the planar triangulation's outlines.
    level_edge : float
        Largest step along w.
    warp : callable, optional
        Maps ``(points (p, 2), w)`` to the points where that level has them.
    levels : sequence of float
        Further levels along w.
    longest : float, optional
        Longest edge within caps before the warp; 1.3 times ``edge`` by default.
    """
    loops = [loop for layer in layers for loop in layer.loops]
    plane = triangulate(loops, edge, 1.3 * edge if longest is None else longest)
    w = _levels(layers, level_edge, levels)
    inside = np.array([_filled(plane, layers, 0.5 * (a + b)) for a, b in zip(w[:-1], w[1:])])
    faces = _caps(plane, inside) + _sides(plane, inside)
    faces = np.array(faces, np.int64)
    used, compact = np.unique(faces, return_inverse=True)
    sheets = [plane.points if warp is None else warp(plane.points, level) for level in w]
    vertices = np.column_stack([np.vstack(sheets), np.repeat(w, len(plane.points))])
    return vertices[used], compact.reshape(-1, 3)


def _levels(layers, step, further):
    ends = np.unique(np.round([e for la in layers for e in (la.low, la.high)] + list(further), 9))
    parts = [np.linspace(a, b, int(np.ceil((b - a) / step - 1e-9)) + 1)[:-1]
             for a, b in zip(ends[:-1], ends[1:])]
    return np.append(np.concatenate(parts), ends[-1])


def _filled(plane, layers, w):
    centres = plane.points[plane.triangles].mean(axis=1)
    filled = np.zeros(len(centres), bool)
    for layer in layers:
        if layer.low < w < layer.high:
            odd = np.zeros(len(centres), bool)
            for loop in layer.loops:
                odd ^= inside_loop(loop, centres)
            filled |= odd
    return filled


def inside_loop(loop, points):
    """Return which ``points (n, 2)`` a closed loop encloses (crossing number)."""
    a, b = loop, np.roll(loop, -1, axis=0)
    u, v = points[:, 0, None], points[:, 1, None]
    spans = (a[:, 1] > v) != (b[:, 1] > v)
    rise = np.where(b[:, 1] == a[:, 1], 1.0, b[:, 1] - a[:, 1])
    return ((u < a[:, 0] + (v - a[:, 1]) / rise * (b[:, 0] - a[:, 0])) & spans).sum(1) % 2 == 1


def _caps(plane, inside):
    """Faces where a triangle is filled on one side of a level only."""
    count = len(plane.points)
    none = np.zeros((1, inside.shape[1]), bool)
    below, above = np.vstack([none, inside]), np.vstack([inside, none])
    faces = []
    for level in range(len(below)):
        base = plane.triangles + level * count
        faces.extend(base[below[level] & ~above[level]].tolist())
        faces.extend(base[above[level] & ~below[level]][:, ::-1].tolist())
    return faces


def _sides(plane, inside):
    """Two faces for each edge of the filled triangles and each step between levels."""
    count, faces = len(plane.points), []
    edges = np.vstack([plane.triangles[:, [0, 1]], plane.triangles[:, [1, 2]],
                       plane.triangles[:, [2, 0]]])
    owner = {(int(a), int(b)): i % len(plane.triangles) for i, (a, b) in enumerate(edges)}
    for step, filled in enumerate(inside):
        for (a, b), triangle in owner.items():
            twin = owner.get((b, a))
            if not filled[triangle] or (twin is not None and filled[twin]):
                continue
            a0, b0 = a + step * count, b + step * count
            a1, b1 = a0 + count, b0 + count
            if (a + b + step) % 2:
                faces += [[a0, b0, b1], [a0, b1, a1]]
            else:
                faces += [[a0, b0, a1], [b0, b1, a1]]
    return faces


def triangulate(loops, edge, longest):
    """Return a ``Plane`` whose edges include all loops and are about ``edge`` long."""
    points, segments = _arrange(loops)
    points, segments = _subdivide(points, segments, edge)
    points = np.vstack([points, _interior(points, 0.85 * longest, 0.7 * edge)])
    for _ in range(60):
        triangles = _delaunay(points)
        missing = _missing(triangles, segments)
        split = [segments[i] for i in missing]
        if not split:
            long = _long_edges(points, triangles, segments, loops, longest)
            if not len(long):
                return Plane(points, triangles)
            points = np.vstack([points, points[long].mean(axis=1)])
            continue
        kept = [s for i, s in enumerate(segments) if i not in set(missing)]
        middle = points[np.array(split)].mean(axis=1)
        new = np.arange(len(points), len(points) + len(split))
        points = np.vstack([points, middle])
        segments = kept + [(a, int(m)) for (a, _), m in zip(split, new)] \
            + [(int(m), b) for (_, b), m in zip(split, new)]
    raise RuntimeError('the planar triangulation does not settle')


def _arrange(loops):
    """Merge the loops' points and split their segments where they meet."""
    raw = np.vstack(loops)
    tree = cKDTree(raw)
    first = np.array([min(group) for group in tree.query_ball_point(raw, 10.0 * MERGE)])
    kept, index = np.unique(first, return_inverse=True)
    points, segments, start = raw[kept], set(), 0
    for loop in loops:
        ids = index[start:start + len(loop)]
        start += len(loop)
        segments |= {(min(a, b), max(a, b)) for a, b in zip(ids.tolist(),
                                                            np.roll(ids, -1).tolist()) if a != b}
    return _split_crossings(points, sorted(segments))


def _split_crossings(points, segments):
    a, b = points[[s[0] for s in segments]], points[[s[1] for s in segments]]
    extra, cuts = [], [[] for _ in segments]
    for i in range(len(segments)):
        r, s = b[i] - a[i], b - a
        cross = r[0] * s[:, 1] - r[1] * s[:, 0]
        d = a - a[i]
        with np.errstate(divide='ignore', invalid='ignore'):
            t = (d[:, 0] * s[:, 1] - d[:, 1] * s[:, 0]) / cross
            u = (d[:, 0] * r[1] - d[:, 1] * r[0]) / cross
        crossing = (np.abs(cross) > 1e-12) & (t > 1e-9) & (t < 1 - 1e-9) & (u > -1e-9) \
            & (u < 1 + 1e-9)
        cuts[i] = [a[i] + t[j] * r for j in np.flatnonzero(crossing)]
        along = (points - a[i]) @ r / (r @ r)
        off = np.abs((points - a[i]) @ np.array([-r[1], r[0]])) / np.sqrt(r @ r)
        on = (off < 10.0 * MERGE) & (along > 1e-9) & (along < 1 - 1e-9)
        cuts[i] += list(points[on])
        extra += cuts[i]
    everything = np.vstack([points, *extra]) if extra else points
    tree = cKDTree(everything)
    first = np.array([min(g) for g in tree.query_ball_point(everything, 20.0 * MERGE)])
    kept = np.unique(first)
    final, look = everything[kept], cKDTree(everything[kept])
    result = set()
    for (i, j), inner in zip(segments, cuts):
        chain = np.vstack([points[i], points[j], *inner])
        chain = chain[np.argsort((chain - points[i]) @ (points[j] - points[i]), kind='stable')]
        ids = look.query(chain)[1].tolist()
        result |= {(min(p, q), max(p, q)) for p, q in zip(ids, ids[1:]) if p != q}
    return final, sorted(result)


def _subdivide(points, segments, edge):
    fresh, result = [points], []
    count = len(points)
    for i, j in segments:
        steps = int(np.ceil(np.linalg.norm(points[j] - points[i]) / edge - 1e-9))
        inner = np.linspace(points[i], points[j], steps + 1)[1:-1]
        ids = [i, *range(count, count + len(inner)), j]
        result += list(zip(ids, ids[1:]))
        fresh.append(inner)
        count += len(inner)
    return np.vstack(fresh), result


def _interior(points, step, gap):
    """Hexagonal grid over the bounding box, ``gap`` away from the outlines' points."""
    low, high = points.min(axis=0), points.max(axis=0)
    rows = np.arange(low[1], high[1], step * np.sqrt(0.75))
    grid = np.vstack([np.column_stack([
        np.arange(low[0] + 0.5 * step * (k % 2), high[0], step),
        np.full(len(np.arange(low[0] + 0.5 * step * (k % 2), high[0], step)), v)])
        for k, v in enumerate(rows)])
    return grid[cKDTree(points).query(grid)[0] > gap]


def _delaunay(points):
    """Counter-clockwise Delaunay triangles; distant corners keep the hull out of the way."""
    low, high = points.min(axis=0), points.max(axis=0)
    far = 10.0 * (high - low).max()
    corners = 0.5 * (low + high) + far * np.array([[-1, -1.1], [1, -0.9], [1.1, 1], [-0.9, 1]])
    triangles = Delaunay(np.vstack([points, corners])).simplices
    triangles = triangles[(triangles < len(points)).all(axis=1)]
    p = points[triangles]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    triangles[area < 0.0] = triangles[area < 0.0][:, [0, 2, 1]]
    triangles = np.roll(triangles, 0, axis=1)[np.abs(area) > 1e-9]
    return triangles[np.lexsort(np.sort(triangles, axis=1).T[::-1])]


def _missing(triangles, segments):
    present = set()
    for k in range(3):
        pairs = np.sort(triangles[:, [k, (k + 1) % 3]], axis=1)
        present |= set(map(tuple, pairs.tolist()))
    return [i for i, (a, b) in enumerate(segments) if (min(a, b), max(a, b)) not in present]


def _long_edges(points, triangles, segments, loops, limit):
    """Edges of filled triangles that are too long and no part of an outline."""
    centres = points[triangles].mean(axis=1)
    filled = np.any([inside_loop(loop, centres) for loop in loops], axis=0)
    edges = np.vstack([np.sort(triangles[filled][:, [k, (k + 1) % 3]], axis=1)
                       for k in range(3)])
    edges = np.unique(edges, axis=0)
    edges = edges[np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1) > limit]
    outline = {(min(a, b), max(a, b)) for a, b in segments}
    edges = np.array([e for e in edges.tolist() if tuple(e) not in outline],
                     np.int64).reshape(-1, 2)
    # One new point at a time in each neighbourhood.
    chosen, taken = [], np.zeros((0, 2))
    for e in edges:
        middle = points[e].mean(axis=0)
        if not len(taken) or np.linalg.norm(taken - middle, axis=1).min() > limit:
            chosen.append(e)
            taken = np.vstack([taken, middle])
    return np.array(chosen, np.int64).reshape(-1, 2)
