"""
The intersection paper's own narrow phase, to the letter: approximate, for comparison.

The triangles tried for a vertex are those round the *nearest projected vertex* of the
other body, and only vertices in the regions of potential interaction take part. Real
contacts are missed where triangles are uneven or large, and vertices in front of two
layers are reported; ``penetrating_vertices`` is the exact answer to the same question.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...bodies.oriented_box import OrientedBox, fit_oriented_box, interaction_region
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross, dot, load_mat3, load_vec3, subtract
from ...transforms import apply, inverse
from ..geometry.closest_point import points_in_box
from ..geometry.ray_casting import direction_frame
from ..vertices.penetrating_vertices import PenetratingVertices, VertexContacts, unit_direction


#: Largest number of points in a leaf, and number of candidates for a vantage point.
LEAF_SIZE, CANDIDATES = 16, 5
#: Relative difference of the three areas of the test and the triangle's that is allowed [-].
AREA_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class RuleMesh:
    """
    A closed mesh prepared for the paper's rule.

    Attributes
    ----------
    mesh : TriangleMesh
        In its own frame [m]; indices in answers are its own.
    """

    mesh: TriangleMesh

    @cached_property
    def box(self) -> OrientedBox:
        """Return the box along the principal axes of the vertices, as the paper has it."""
        return fit_oriented_box(self._welded[0])

    @cached_property
    def _welded(self) -> tuple[Array, IntArray]:
        """Return the used positions and the faces on them: a soup knows no neighbours."""
        used, faces = np.unique(self.mesh.faces, return_inverse=True)
        places, merged = np.unique(self.mesh.vertices[used], axis=0, return_inverse=True)
        return (np.ascontiguousarray(places),
                np.ascontiguousarray(merged.reshape(-1)[faces.reshape(-1, 3)]))

    @cached_property
    def fans(self) -> tuple[Array, IntArray, IntArray, IntArray]:
        """
        Return positions ``(v, 3)`` and the faces round each of them.

        ``faces (m, 3)`` name positions; those round position i are
        ``incident[starts[i]:starts[i + 1]]``.
        """
        places, faces = self._welded
        order = np.argsort(faces.ravel(), kind='stable')
        starts = np.searchsorted(faces.ravel()[order], np.arange(len(places) + 1))
        return places, faces, starts.astype(np.int64), (order // 3).astype(np.int64)


@dataclass(frozen=True, eq=False)
class RulePairs:
    """
    What the rule looks at: vertices in a region, each with its nearest one of the other body.

    Attributes
    ----------
    points : (k, 3) float
        The vertices, frame a [m].
    partners : (k, 3) float
        The vertices of the other body whose projections along the motion are nearest to theirs.
    projections : (p, 3) float
        Where the lines along the motion meet the triangles round the partners, of the vertices
        that lie behind these.
    """

    points: Array
    partners: Array
    projections: Array


def rule_contacts(a: RuleMesh, b: RuleMesh, T_a_b: Array, direction: Array,
                  one_sided: bool = False) -> VertexContacts:
    """
    Look for the vertices of each of two meshes inside the other by the paper's rule.

    Parameters
    ----------
    a, b : RuleMesh
        Closed.
    T_a_b : (4, 4) float
        Pose of b in a.
    direction : (3,) float
        Motion of b relative to a, frame a, any length above 0.
    one_sided : bool
        Search the tree as printed: down one branch, without looking back. The nearest
        vertex found is then not always the nearest.

    Returns
    -------
    VertexContacts
        Approximate: vertices are missed and some are false. How many, and why:
        ``docs/model/contact_backends.md``.

    Raises
    ------
    ShapeError
        The direction has no length or is not finite.

    Notes
    -----
    Source: Leskov and Seliverstova 2016, sections on the regions of potential interaction
    and the narrow phase. Errata applied: the box's centre, max for min in one condition,
    indices in the area test. Where several triangles round the vertex are hit, the
    nearest hit ahead counts; the paper does not say.
    """
    (_, a_in_b), (_, b_in_a) = _both_ways(a, b, T_a_b, direction, one_sided)
    return VertexContacts(a_in_b.with_transform(T_a_b), b_in_a)


def rule_pairs(a: RuleMesh, b: RuleMesh, T_a_b: Array, direction: Array
               ) -> tuple[RulePairs, RulePairs]:
    """
    Return the pairs of vertices that the rule compares, and the projections: to be drawn.

    Parameters and errors as of ``rule_contacts``.

    Returns
    -------
    RulePairs
        Of the vertices of a.
    RulePairs
        Of those of b.

    Notes
    -----
    Source: Leskov and Seliverstova 2016, figures 5 and 7.
    """
    (first, _), (second, _) = _both_ways(a, b, T_a_b, direction, False)
    return RulePairs(*(apply(T_a_b, rows) for rows in (
        first.points, first.partners, first.projections))), second


#: Pairs and contacts of the vertices of one body in its region, in the frame of the other.
_Side = tuple[RulePairs, PenetratingVertices]


def _nothing() -> tuple[_Side, _Side]:
    rows = np.zeros((0, 3))
    return ((RulePairs(rows, rows, rows), PenetratingVertices.none()),) * 2


def _both_ways(a: RuleMesh, b: RuleMesh, T_a_b: Array, direction: Array, one_sided: bool
               ) -> tuple[_Side, _Side]:
    """Apply the rule to the vertices of a, in frame b, and to those of b, in frame a."""
    d = unit_direction(direction)
    T_b_a = inverse(T_a_b)
    region_a = interaction_region(a.box, b.box.with_transform(T_a_b))
    region_b = interaction_region(b.box, a.box.with_transform(T_b_a))
    if region_a is None or region_b is None:
        return _nothing()
    queries_a, queries_b = _inside(a.mesh.vertices, region_a), _inside(b.mesh.vertices, region_b)
    targets_a, targets_b = _inside(a.fans[0], region_a), _inside(b.fans[0], region_b)
    if not (len(targets_a) and len(targets_b)):
        return _nothing()
    return (_apply_rule(apply(T_b_a, a.mesh.vertices[queries_a]), queries_a, b, targets_b,
                        T_b_a[:3, :3] @ d, one_sided),
            _apply_rule(apply(T_a_b, b.mesh.vertices[queries_b]), queries_b, a, targets_a,
                        -d, one_sided))


def _inside(points: Array, region: OrientedBox) -> IntArray:
    return points_in_box(points, np.eye(4), region)


def _apply_rule(points: Array, numbers: IntArray, target: RuleMesh, candidates: IntArray,
                direction: Array, one_sided: bool) -> _Side:
    """Return which query points, in the target's frame, the rule takes for contacts."""
    direction = np.ascontiguousarray(direction)
    depths, triangles, weights, partners = _nearest_fans(
        np.ascontiguousarray(points), *target.fans, candidates, direction, one_sided)
    found = triangles >= 0
    exits = points[found] + depths[found, None] * direction
    return (RulePairs(points, target.fans[0][partners], exits), PenetratingVertices(
        numbers[found], depths[found], exits, triangles[found], weights[found]))


@njit(cache=True)
def _nearest_fans(points: Array, places: Array, faces: IntArray, starts: IntArray,
                  incident: IntArray, candidates: IntArray, direction: Array,
                  one_sided: bool) -> tuple[Array, IntArray, Array, IntArray]:
    """Return depth, triangle (-1: none), weights and partner of each point by the rule."""
    rows = load_mat3(direction_frame(direction))
    flat, motion = np.empty((len(candidates), 2)), (direction[0], direction[1], direction[2])
    for i in range(len(candidates)):
        vertex = load_vec3(places, candidates[i])
        flat[i, 0], flat[i, 1] = dot(rows[0], vertex), dot(rows[1], vertex)
    order, vantages, radii, children, ranges = _build_tree(flat)
    count = len(points)
    depths, triangles = np.empty(count), np.full(count, -1)
    weights, trial = np.empty((count, 3)), np.empty(3)
    partners = np.empty(count, np.int64)
    stack = np.empty(len(radii) + 1, np.int64)
    for i in range(count):
        point = load_vec3(points, i)
        near = candidates[_nearest(flat, order, vantages, radii, children, ranges,
                                   dot(rows[0], point), dot(rows[1], point), one_sided, stack)]
        partners[i] = near
        # The angle between the way to the nearest vertex and the motion must not be obtuse.
        if dot(rows[2], load_vec3(places, near)) < dot(rows[2], point):
            continue
        depths[i] = np.inf
        for place in range(starts[near], starts[near + 1]):
            face = incident[place]
            depth = _line_meets(point, motion, places, faces, face, trial)
            if 0.0 < depth < depths[i]:
                depths[i], triangles[i] = depth, face
                weights[i] = trial
    return depths, triangles, weights, partners


@njit(cache=True)
def _line_meets(start: Vec3, direction: Vec3, places: Array, faces: IntArray, face: int,
                weights: Array) -> float:
    """
    Return the way along the direction to a triangle, infinite where the line passes it.

    Writes the barycentric weights of the hit: by areas, as the paper tests it.
    """
    first = load_vec3(places, faces[face, 0])
    normal = _double_area(first, load_vec3(places, faces[face, 1]),
                          load_vec3(places, faces[face, 2]))
    slope = dot(normal, direction)
    if slope == 0.0:
        return np.inf
    way = dot(normal, subtract(first, start)) / slope
    hit = (start[0] + way * direction[0], start[1] + way * direction[1],
           start[2] + way * direction[2])
    whole, total = np.sqrt(dot(normal, normal)), 0.0
    for k in range(3):
        part = _double_area(hit, load_vec3(places, faces[face, (k + 1) % 3]),
                            load_vec3(places, faces[face, (k + 2) % 3]))
        weights[k] = np.sqrt(dot(part, part)) / whole
        total += weights[k]
    # Less than the whole is round-off alone: so far away that the corners look like one point.
    return way if abs(total - 1.0) <= AREA_SLACK else np.inf


@njit(cache=True, forceinline=True)
def _double_area(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return twice the area vector of a triangle."""
    return cross(subtract(b, a), subtract(c, a))


@njit(cache=True)
def _build_tree(points: Array) -> tuple[IntArray, IntArray, Array, IntArray, IntArray]:
    """
    Build a vantage-point tree over points of the plane.

    Source: the paper, after Yianilos 1993: the vantage point is chosen statistically, the
    radius is the *mean* distance from it, nearer points go to the inner branch.
    """
    count = len(points)
    order = np.arange(count)
    capacity = 2 * count + 1
    vantages, radii = np.full(capacity, -1), np.zeros(capacity)
    children, ranges = np.full((capacity, 2), -1), np.empty((capacity, 2), np.int64)
    ranges[0, 0], ranges[0, 1] = 0, count
    work = np.empty(count, np.int64)
    nodes, node = 1, 0
    while node < nodes:
        start, end = ranges[node]
        if end - start > LEAF_SIZE:
            chosen = _choose_vantage(points, order, start, end)
            order[start], order[chosen] = order[chosen], order[start]
            radius, middle = _divide(points, order, start, end, work)
            if start + 1 < middle < end:
                vantages[node], radii[node] = order[start], radius
                for side in range(2):
                    children[node, side] = nodes
                    ranges[nodes, 0] = start + 1 if side == 0 else middle
                    ranges[nodes, 1] = middle if side == 0 else end
                    nodes += 1
        node += 1
    return order, vantages[:nodes], radii[:nodes], children[:nodes], ranges[:nodes]


@njit(cache=True, forceinline=True)
def _distance(points: Array, i: int, u: float, v: float) -> float:
    return np.sqrt((points[i, 0] - u) ** 2 + (points[i, 1] - v) ** 2)


@njit(cache=True)
def _choose_vantage(points: Array, order: IntArray, start: int, end: int) -> int:
    """Return the place of the candidate whose distances to a sample spread most."""
    step = max((end - start) // CANDIDATES, 1)
    best, chosen = -1.0, start
    for place in range(start, end, step):
        u, v = points[order[place], 0], points[order[place], 1]
        total, squares, number = 0.0, 0.0, 0
        for other in range(start + step // 2, end, step):
            distance = _distance(points, order[other], u, v)
            total, squares, number = total + distance, squares + distance ** 2, number + 1
        spread = squares / number - (total / number) ** 2
        if spread > best:
            best, chosen = spread, place
    return chosen


@njit(cache=True)
def _divide(points: Array, order: IntArray, start: int, end: int,
            work: IntArray) -> tuple[float, int]:
    """Sort a node's points into nearer and farther than the mean; return it and the border."""
    u, v = points[order[start], 0], points[order[start], 1]
    radius = 0.0
    for place in range(start + 1, end):
        radius += _distance(points, order[place], u, v)
    radius /= end - start - 1
    middle, farther = start + 1, 0
    for place in range(start + 1, end):
        if _distance(points, order[place], u, v) < radius:
            order[middle] = order[place]
            middle += 1
        else:
            work[farther] = order[place]
            farther += 1
    order[middle:end] = work[:farther]
    return radius, middle


@njit(cache=True)
def _nearest(points: Array, order: IntArray, vantages: IntArray, radii: Array, children: IntArray,
             ranges: IntArray, u: float, v: float, one_sided: bool, stack: IntArray) -> int:
    """Return the point nearest to (u, v), or on one branch of the tree the nearest there."""
    best, nearest = np.inf, -1
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if children[node, 0] < 0:
            for place in range(ranges[node, 0], ranges[node, 1]):
                distance = _distance(points, order[place], u, v)
                if distance < best:
                    best, nearest = distance, order[place]
            continue
        distance = _distance(points, vantages[node], u, v)
        if distance < best:
            best, nearest = distance, vantages[node]
        inner_first = distance < radii[node]
        near, far = children[node, 0], children[node, 1]
        if not inner_first:
            near, far = far, near
        # The other branch holds points nearer than the best only across the circle.
        if not one_sided and abs(distance - radii[node]) <= best:
            stack[top] = far
            top += 1
        stack[top] = near
        top += 1
    return nearest
