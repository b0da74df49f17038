"""Lattices on few triangles and spots on small fields, each step against a plain answer."""

from gripsim_ros.core.contact import ContactMesh, MeshIndenter, SphereIndenter
from gripsim_ros.core.contact.geometry.curved_surface import CurvedSurface, lift_onto_surface
from gripsim_ros.core.contact.geometry.ray_casting import COVERAGE_TOLERANCE
from gripsim_ros.core.contact.geometry.vp_tree import build_vp_tree
from gripsim_ros.core.contact.patches.rasterise import MIN_SLOPE, _index_range, rasterise
from gripsim_ros.core.contact.patches.sampling_grid import (
    MAX_REACH, UNKNOWN_RISE, SamplingGrid, _deepest_nodes, _largest_step, find_contact_spots,
    mask_near, nodes_deeper_than, overlapping_nodes, sample_grid)
from gripsim_ros.core.transforms import apply, inverse, transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

ATOL_ROUNDOFF = 1e-12
ATOL_WEIGHTS = 1e-9

seeds = st.integers(0, 2 ** 31)


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


@settings(max_examples=60)
@given(st.integers(-6, 20), st.integers(0, 20), st.integers(-3, 3),
       st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 6))
def test_a_span_is_that_of_the_lattice_points_between_two_values(least, width, start, spacing,
                                                                 count):
    low, high = least / 2.0, (least + width) / 2.0
    first, last = _index_range(low, high, float(start), spacing, count, COVERAGE_TOLERANCE)
    expected = [i for i in range(count) if low <= start + i * spacing <= high]
    assert list(range(first, last + 1)) == expected


@pytest.mark.parametrize('share, expected', [(0.5, [1, 2, 3]), (2.0, [2])])
def test_a_span_takes_in_what_rounding_left_out(share, expected):
    slack = share * COVERAGE_TOLERANCE * 0.25
    first, last = _index_range(0.25 + slack, 0.75 - slack, 0.0, 0.25, 9, COVERAGE_TOLERANCE)
    assert list(range(first, last + 1)) == expected


@settings(max_examples=30)
@given(seeds, st.integers(0, 20))
def test_of_the_nodes_over_a_point_the_deepest_is_picked(seed, count):
    rng = np.random.default_rng(seed)
    mask = rng.random((3, 4)) < 0.7
    cells = rng.choice(np.flatnonzero(mask), count) if mask.any() else np.zeros(0, np.int64)
    depths = rng.normal(size=len(cells))
    depths[rng.random(len(cells)) < 0.2] = -np.inf
    check_picks(_deepest_nodes(cells, depths, mask), cells, depths, mask)


def check_picks(node, cells, depths, mask):
    """Check that each lattice point has the deepest of its nodes, -1 for none, -2 unasked."""
    for cell, (found, asked) in enumerate(zip(node.ravel(), mask.ravel())):
        here = np.flatnonzero(cells == cell)
        if not len(here):
            assert found == (-1 if asked else -2)
            continue
        assert found in here and depths[found] == depths[here].max()


def soup(rng, count, whole):
    """Return tree and surface of triangles without order, normals leaning from -z or not."""
    corners = (rng.integers(-2, 4, (count, 3, 3)).astype(float) if whole
               else rng.normal(size=(count, 3, 3)) * [2.0, 2.0, 0.5] + [1.0, 1.0, 0.0])
    normals = rng.normal(size=(count, 3, 3)) * 0.8 - [0.0, 0.0, 1.0]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    limits = rng.choice([0.0, 0.1], count)
    tree = build_vp_tree(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    order = tree.faces
    sides = rng.integers(0, 2, count)
    return tree, CurvedSurface(np.ascontiguousarray(normals[order]), limits[order], sides)


def turned(tree, surface, frame):
    """Return tree and surface in a frame whose rows are given: the lattice's axes turn along."""
    vertices = np.empty((3 * len(tree.faces), 3))
    vertices.reshape(-1, 3, 3)[tree.faces] = tree.corners
    moved = build_vp_tree(vertices @ frame, np.arange(len(vertices)).reshape(-1, 3))
    back = np.empty(len(tree.faces), np.int64)
    back[tree.faces] = np.arange(len(back))
    at = back[moved.faces]
    return moved, CurvedSurface(np.ascontiguousarray(surface.normals[at] @ frame),
                                surface.limits[at], surface.sides[at])


def raster_of_all(tree, surface, side, frame, start, spacing, heights, mask):
    """Return rows of cell, position, point and inward normal, point by point."""
    rows, steps = [], np.array(mask.shape) - 1
    for position in np.flatnonzero(surface.sides == side):
        projected = tree.corners[position] @ frame.T
        low, high = projected.min(axis=0), projected.max(axis=0)
        if ((high[:2] < start).any() or (low[:2] > start + steps * spacing).any()
                or high[2] < heights[0] or low[2] > heights[1]):
            continue
        (ax, ay), (bx, by), (cx, cy) = projected[:, :2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area >= 0.0:
            continue   # not met from before it
        for i, j in np.argwhere(mask):
            u, v = start + np.array([i, j]) * spacing
            weights = np.array([(bx - u) * (cy - v) - (by - v) * (cx - u),
                                (cx - u) * (ay - v) - (cy - v) * (ax - u),
                                (ax - u) * (by - v) - (ay - v) * (bx - u)]) / area
            if weights.min() < 0.0:
                continue
            _, point, normal = lift_onto_surface(tree.corners, surface.normals, surface.limits,
                                                 position, tuple(weights), tuple(frame[2]))
            if -np.array(normal) @ frame[2] >= MIN_SLOPE:
                rows.append([i * mask.shape[1] + j, position, *point, *-np.array(normal)])
    return np.array(rows).reshape(-1, 8)


def check_raster(tree, surface, *window):
    cells, points, normals, positions = rasterise(tree, surface, *window)
    found = np.column_stack([cells, positions, points, normals])
    expected = raster_of_all(tree, surface, *window)
    assert len(found) == len(expected)
    assert_allclose(found[np.lexsort(found.T[1::-1])],
                    expected[np.lexsort(expected.T[1::-1])], rtol=0.0, atol=ATOL_WEIGHTS)
    return len(found)


#: Right-handed frames along the axes, in which whole numbers stay exact.
FRAMES = [np.eye(3), np.eye(3)[[1, 2, 0]], np.diag([1.0, -1.0, -1.0]),
          np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])]


@settings(max_examples=25)
@given(seeds, st.booleans())
def test_nodes_are_those_of_every_triangle_at_every_point(seed, whole):
    rng = np.random.default_rng(seed)
    frame = FRAMES[seed % 4] if whole else rotation(rng)
    tree, surface = turned(*soup(rng, 25, whole), frame)
    spacing = 0.5 if whole else rng.uniform(0.4, 0.6)
    start = rng.integers(-4, 3, 2) / 2.0 if whole else rng.normal(size=2)
    heights = np.sort(rng.integers(-3, 4, 2) + 0.5)
    mask = rng.random(rng.integers(1, 8, 2)) < 0.8
    for side in (0, 1):
        check_raster(tree, surface, side, frame, start, spacing, heights, mask)


def test_more_nodes_than_points_are_kept():
    flat = np.array([[0.0, 0, 0], [0, 9, 0], [9, 0, 0]])
    corners = flat + np.arange(45.0)[:, None, None] * [0.0, 0, 1]
    tree = build_vp_tree(corners.reshape(-1, 3), np.arange(135).reshape(-1, 3))
    surface = CurvedSurface(np.tile([0.0, 0.0, -1.0], (45, 3, 1)), np.zeros(45),
                            np.zeros(45, np.int64))
    count = check_raster(tree, surface, 0, np.eye(3), np.ones(2), 1.0, np.array([-1.0, 99.0]),
                         np.ones((3, 3), bool))
    assert count == 9 * 45


def small_mesh(subdivisions, radius):
    mesh = trimesh.creation.icosphere(subdivisions, radius)
    return ContactMesh.from_arrays(mesh.vertices, mesh.faces)


BODY, OTHER = small_mesh(1, 0.04), small_mesh(1, 0.03)


@settings(max_examples=8)
@given(seeds, st.booleans())
def test_a_field_has_the_indenters_depths_along_the_normals(seed, as_mesh):
    rng = np.random.default_rng(seed)
    indenter = MeshIndenter(OTHER.mesh) if as_mesh else SphereIndenter(0.03)
    frame = rotation(rng)
    window = SamplingGrid(frame, np.array([-0.015, -0.01]), 0.01, np.array([-0.05, 0.0]),
                          rng.random((4, 3)) < 0.8)
    T = transform(rotation(rng), -0.066 * frame[2] + 0.004 * rng.normal(size=3))
    side = int(BODY.surface.sides[0])
    field = sample_grid(BODY, side, window, indenter, T, 0.01)
    cells, points, normals, positions = rasterise(BODY.tree, BODY.surface, side, *window[:4],
                                                  window.mask)
    assert field.grid is window
    for found, expected in ((field.points, points), (field.normals, normals),
                            (field.positions, positions)):
        assert_array_equal(found, expected)
    depths, labels = indenter.ray_depths(apply(inverse(T), points), T[:3, :3].T @ frame[2], 0.01)
    assert_allclose(field.slopes, normals @ frame[2], rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(field.depths, depths * field.slopes, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_array_equal(field.labels, labels)
    check_picks(field.node, cells, field.depths, window.mask)


def largest_steps(grid, spacing):
    """Return the largest step of each point to its neighbours, of the known and the unknown."""
    wide = np.pad(grid, 1, constant_values=-np.inf)
    steps = np.zeros(grid.shape)
    for i, j in np.argwhere(grid > -np.inf):
        near = wide[i:i + 3, j:j + 3].ravel()
        known = near[near > -np.inf]
        steps[i, j] = np.abs(known - grid[i, j]).max()
        if len(known) < 9:
            steps[i, j] = max(steps[i, j], UNKNOWN_RISE * spacing)
    return steps


@settings(max_examples=20)
@given(seeds, st.booleans())
def test_the_largest_step_is_that_to_the_eight_neighbours(seed, holes):
    rng = np.random.default_rng(seed)
    grid = rng.normal(size=(6, 7)).cumsum(axis=seed % 2)
    grid[(rng.random(grid.shape) < 0.1) & holes] = -np.inf
    expected = largest_steps(grid, 0.3)
    for i, j in np.argwhere(grid > -np.inf):
        assert _largest_step(grid, i, j, 0.3) == expected[i, j]


def groups_of(points, reach):
    """Return a number for each point: those within reach along both axes share one."""
    numbers = np.arange(len(points))
    near = (np.abs(points[:, None] - points[None]) <= reach).all(axis=-1)
    for _ in points:
        numbers = np.where(near, numbers, len(points)).min(axis=1)
    return np.unique(numbers, return_inverse=True)[1]


@settings(max_examples=60)
@given(seeds, st.tuples(st.integers(1, 13), st.integers(1, 9)), st.floats(0.0, 1.0),
       st.sampled_from([0.0, 0.0, 0.02, 0.1, 0.3, 0.9]))
def test_spots_are_groups_of_points_in_contact_else_of_promising_ones(seed, shape, density,
                                                                      share):
    rng = np.random.default_rng(seed)
    size = shape[0] * shape[1]
    node = np.where(rng.random(shape) < density, rng.permutation(size).reshape(shape),
                    -rng.integers(1, 3, shape))
    # No two depths alike, exact in binary, one of them 0.
    depths = (rng.permutation(size) - size + 1 + round(share * size)) / 8.0
    depths[rng.random(size) < 0.05] = -np.inf
    spacing = float(rng.choice([0.25, 2.0, 8.0]))
    grid = np.where(node >= 0, depths[np.maximum(node, 0)], -np.inf)
    overlapping = int((grid > 0.0).sum())
    reach = min(max(1, int(1.2 * np.sqrt(overlapping))), MAX_REACH) if overlapping else 1
    chosen = grid > 0.0 if overlapping else grid + largest_steps(grid, spacing) > 0.0
    places = np.argwhere(chosen & (grid > -np.inf))
    groups = groups_of(places, reach)
    spots = find_contact_spots(node, depths, spacing)
    count = len(np.unique(groups))
    assert spots.counts.shape == (count,) and spots.bounds.shape == (count, 4)
    expected = np.full(shape, -1)
    firsts = [np.flatnonzero(groups == group)[0] for group in range(count)]
    for number, group in enumerate(np.argsort(firsts)):
        own = places[groups == group]
        expected[tuple(own.T)] = number
        values = grid[tuple(own.T)]
        assert spots.counts[number] == (values > 0.0).sum()
        at = own[values > 0.0] if overlapping else own[[values.argmax()]]
        low, high = at.min(axis=0), at.max(axis=0)
        assert_array_equal(spots.bounds[number], [low[0], high[0], low[1], high[1]])
    assert_array_equal(spots.labels, expected)


def test_many_points_in_contact_reach_no_farther_than_a_limit():
    grid = np.full((8, 30), -1.0)
    grid[:, :8] = 1.0
    for gap, count in ((MAX_REACH, 1), (MAX_REACH + 1, 2)):
        depths = grid.copy()
        depths[3, 7 + gap] = 1.0
        spots = find_contact_spots(np.arange(240).reshape(8, 30), depths.ravel(), 1.0)
        assert len(spots.counts) == count and spots.counts.sum() == 65


@settings(max_examples=40)
@given(seeds, st.booleans())
def test_a_round_mask_holds_the_points_within_the_radius(seed, whole):
    rng = np.random.default_rng(seed)
    counts = tuple(int(count) for count in rng.integers(1, 9, 2))
    spacing = 0.5 if whole else rng.uniform(0.2, 0.7)
    start = rng.integers(-3, 2, 2).astype(float) if whole else rng.normal(size=2)
    local = (rng.integers(-4, 6, (3, 2)) / 2.0 if whole else 1.5 * rng.normal(size=(3, 2)))
    radius = float(rng.choice([0.0, 0.5, 1.0, 2.5])) if whole else rng.uniform(0.1, 1.5)
    found = mask_near(local, start, spacing, counts, radius)
    steps = np.stack(np.meshgrid(np.arange(counts[0]), np.arange(counts[1]), indexing='ij'), -1)
    ways = (start + steps * spacing)[:, :, None] - local
    assert_array_equal(found, ((ways ** 2).sum(axis=-1) <= radius ** 2).any(axis=-1))


@settings(max_examples=20)
@given(st.integers(0, 2 ** 31))
def test_nodes_are_picked_by_depth_and_spot(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, 2))
    node = rng.permutation(rng.integers(1, 3) * np.prod(shape))[:np.prod(shape)].reshape(shape)
    depths = rng.normal(size=node.max() + 1)
    node = np.where(rng.random(shape) < 0.3, -1 - rng.integers(0, 2, shape), node)
    labels = rng.integers(-1, 2, shape)
    held = node[node >= 0]
    assert_array_equal(nodes_deeper_than(node, depths, -0.3), held[depths[held] > -0.3])
    own = np.unique(node[(labels == 1) & (node >= 0)])
    assert_array_equal(overlapping_nodes(node, depths, labels, 1), own[depths[own] > 0.0])
