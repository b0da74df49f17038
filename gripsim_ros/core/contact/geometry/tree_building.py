"""
How the nodes of a vantage-point tree come about: triangles are sorted, balls and slabs fitted.

A vertex counts once for a node however many of its triangles have it, and what belongs to a
node lies together, so that nodes of a few thousand triangles never leave the processor's cache.
"""

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross, dot, load_vec3, subtract

#: Nodes that wait at once at most, one a level: enough for any mesh that fits memory.
WAITING = 128
#: Largest number of keys that are sorted by insertion.
FEW = 24
#: Steps in which a ball is tightened.
ATTEMPTS = 8


@njit(cache=True, nogil=True)
def build_nodes(vertices: Array, faces: IntArray, leaf_size: int
                ) -> tuple[IntArray, IntArray, IntArray, tuple[Array, Array, Array]]:
    """
    Return order of the triangles, children and ranges, and centres, radii and slabs.

    Subtrees lie together, and so do the two children of a node; leaves have at most
    ``leaf_size`` triangles.
    """
    count, capacity = len(faces), _node_count(len(faces), leaf_size)
    centres, radii, slabs = np.empty((capacity, 3)), np.empty(capacity), np.empty((capacity, 5))
    children, ranges = np.full((capacity, 2), -1), np.empty((capacity, 2), np.int64)
    order, corners = np.arange(count), np.empty((count, 3), np.int32)
    middles = np.empty((count, 3))
    for f in range(count):
        for k in range(3):
            corners[f, k] = faces[f, k]
            middles[f, k] = (vertices[faces[f, 0], k] + vertices[faces[f, 1], k]
                             + vertices[faces[f, 2], k]) / 3.0
    most = min(len(vertices), 3 * count)
    points, distances = np.empty((3, most)), np.empty(most)
    seen, keys = np.full(len(vertices), -1, np.int32), np.empty(count)
    spare = (np.empty(count, np.int64), np.empty((count, 3), np.int32), np.empty((count, 3)))
    sorting = np.empty(count, np.int64), np.empty(count, np.int64)
    stack = np.zeros(WAITING, np.int64)
    ranges[0, 0], ranges[0, 1] = 0, count
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node = stack[top]
        start, end = ranges[node]
        met, area = _gather(vertices, corners[start:end], node, seen, points)
        radii[node] = _fit_ball(points[:, :met], distances[:met], centres[node])
        _fit_slab(points[:, :met], centres[node], area, slabs[node])
        if end - start <= leaf_size:
            continue
        _distances_from_vantage(middles[start:end], keys[start:end])
        sort_stably(keys[start:end], sorting[0][start:end], sorting[1][start:end])
        _rearrange(sorting[0][start:end], order[start:end], corners[start:end],
                   middles[start:end], spare)
        half = start + (end - start) // 2
        for side in range(2):
            child = nodes + side
            children[node, side], stack[top + 1 - side] = child, child
            ranges[child, 0] = start if side == 0 else half
            ranges[child, 1] = half if side == 0 else end
        nodes += 2
        top += 2
    return order, children, ranges, (centres, radii, slabs)


@njit(cache=True, nogil=True)
def _node_count(count: int, leaf_size: int) -> int:
    """Return the number of nodes over so many triangles; a level has two sizes at most."""
    low, some, more, nodes = count, 1, 0, 0     # nodes of size low, and of low + 1
    while some + more > 0:
        nodes += some + more
        some = some if low > leaf_size else 0
        more = more if low + 1 > leaf_size else 0
        if low % 2 == 0:
            some, more = 2 * some + more, more
        else:
            some, more = some, some + 2 * more
        low //= 2
    return nodes


@njit(cache=True, nogil=True)
def _gather(vertices: Array, corners: NDArray[np.int32], node: int, seen: NDArray[np.int32],
            points: Array) -> tuple[int, Vec3]:
    """Write each vertex of a node's triangles once, by first use; return how many, and area."""
    met, u, v, w = 0, 0.0, 0.0, 0.0
    for f in range(len(corners)):
        a, b, c = (load_vec3(vertices, corners[f, 0]), load_vec3(vertices, corners[f, 1]),
                   load_vec3(vertices, corners[f, 2]))
        x, y, z = cross(subtract(b, a), subtract(c, a))
        u, v, w = u + x, v + y, w + z
        for k in range(3):
            vertex = corners[f, k]
            if seen[vertex] != node:
                seen[vertex] = node
                for axis in range(3):
                    points[axis, met] = vertices[vertex, axis]
                met += 1
    return met, (u, v, w)


@njit(cache=True, nogil=True)
def _fit_ball(points: Array, distances: Array, centre: Array) -> float:
    """Write the centre of a tight ball round ``points (3, n)``; return its radius [m]."""
    for k in range(3):
        low, high = points[k, 0], points[k, 0]
        for i in range(points.shape[1]):
            low, high = min(low, points[k, i]), max(high, points[k, i])
        centre[k] = 0.5 * (low + high)
    best, least = load_vec3(centre.reshape(1, 3), 0), np.inf
    for attempt in range(ATTEMPTS):
        farthest = _measure(points, centre[0], centre[1], centre[2], distances)
        if farthest < least:
            best, least = (centre[0], centre[1], centre[2]), farthest
        far = 0
        while distances[far] != farthest:
            far += 1
        step = 1.0 / (attempt + 2.0) ** 2
        for k in range(3):
            centre[k] += step * (points[k, far] - centre[k])
    centre[0], centre[1], centre[2] = best
    return np.sqrt(least)


@njit(cache=True, nogil=True, fastmath={'nnan', 'nsz'})
def _measure(points: Array, x: float, y: float, z: float, distances: Array) -> float:
    """Write the squared distances of points from a centre, and return the largest."""
    farthest = 0.0
    for i in range(points.shape[1]):
        u, v, w = points[0, i] - x, points[1, i] - y, points[2, i] - z
        distances[i] = u * u + v * v + w * w
        farthest = max(farthest, distances[i])
    return farthest


@njit(cache=True, nogil=True)
def _fit_slab(points: Array, centre: Array, area: Vec3, slab: Array) -> None:
    """Write a node's mean normal, and the extent of its points along it from the centre."""
    norm = np.sqrt(dot(area, area))
    normal = ((area[0] / norm, area[1] / norm, area[2] / norm) if norm > 0.0
              else (0.0, 0.0, 0.0))
    slab[0], slab[1], slab[2] = normal
    low, high = np.inf, -np.inf
    for i in range(points.shape[1]):
        height = dot(normal, (points[0, i] - centre[0], points[1, i] - centre[1],
                              points[2, i] - centre[2]))
        low, high = min(low, height), max(high, height)
    slab[3], slab[4] = low, high


@njit(cache=True, nogil=True)
def _distances_from_vantage(middles: Array, keys: Array) -> None:
    """Write the squared distances of a node's triangles from the farthest one from their mean."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(middles)):
        x, y, z = x + middles[i, 0], y + middles[i, 1], z + middles[i, 2]
    mean = x / len(middles), y / len(middles), z / len(middles)
    vantage, farthest = 0, -1.0
    for i in range(len(middles)):
        way = subtract(load_vec3(middles, i), mean)
        distance = dot(way, way)
        if distance > farthest:
            vantage, farthest = i, distance
    point = load_vec3(middles, vantage)
    for i in range(len(middles)):
        way = subtract(load_vec3(middles, i), point)
        keys[i] = dot(way, way)


@njit(cache=True, nogil=True)
def sort_stably(keys: Array, order: IntArray, numbers: IntArray) -> None:
    """
    Write to ``order`` the places of numbers from 0 up by size, equal ones in their order.

    Each goes into one of as many equal cells as there are numbers, and cells are sorted: that
    takes time that grows with their count where they are spread, as distances are.
    """
    count, highest = len(keys), 0.0
    for i in range(count):
        order[i] = i
        highest = max(highest, keys[i])
    if count <= FEW or not highest > 1e-280:
        _sort_few(keys, order) if count <= FEW else _sort_many(keys, order)
        return
    scale, starts = (count - 1) / highest, np.zeros(count + 1, np.int64)
    for i in range(count):
        numbers[i] = min(int(keys[i] * scale), count - 1)
        starts[numbers[i] + 1] += 1
    for i in range(count):
        starts[i + 1] += starts[i]
    for i in range(count):
        order[starts[numbers[i]]] = i
        starts[numbers[i]] += 1
    begin = 0
    for cell in range(count):       # where the next one starts, since all have moved on by one
        end = starts[cell]
        if end - begin > FEW:
            _sort_many(keys, order[begin:end])
        elif end - begin > 1:
            _sort_few(keys, order[begin:end])
        begin = end


@njit(cache=True, nogil=True)
def _sort_few(keys: Array, order: IntArray) -> None:
    for i in range(1, len(order)):
        moved, j = order[i], i
        while j > 0 and keys[order[j - 1]] > keys[moved]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved


@njit(cache=True, nogil=True)
def _sort_many(keys: Array, order: IntArray) -> None:
    values, before = np.empty(len(order)), order.copy()
    for i in range(len(order)):
        values[i] = keys[before[i]]
    places = np.argsort(values, kind='mergesort')
    for i in range(len(order)):
        order[i] = before[places[i]]


@njit(cache=True, nogil=True)
def _rearrange(places: IntArray, order: IntArray, corners: NDArray[np.int32], middles: Array,
               spare: tuple[IntArray, NDArray[np.int32], Array]) -> None:
    """Put a node's triangles, their corners and middles in another order."""
    for i in range(len(places)):
        place = places[i]
        spare[0][i] = order[place]
        for k in range(3):
            spare[1][i, k], spare[2][i, k] = corners[place, k], middles[place, k]
    for i in range(len(places)):
        order[i] = spare[0][i]
        for k in range(3):
            corners[i, k], middles[i, k] = spare[1][i, k], spare[2][i, k]
