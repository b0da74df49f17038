"""Polygons are cut into triangles of their own area, in any plane and order."""

from gripsim_ros.core.bodies.formats.polygons import triangulated
from hypothesis import given, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation


def star(generator, count):
    """Return a simple polygon about the origin, concave where its radii say so (count, 2)."""
    angles = (np.arange(count) + generator.uniform(0.1, 0.9, count)) * (2.0 * np.pi / count)
    radii = generator.uniform(0.2, 1.0, count)
    return radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def area(outline):
    """Return the signed area within an outline (n, 2)."""
    x, y = outline.T
    return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))


@given(st.integers(0, 2 ** 32 - 1))
def test_triangles_of_a_polygon_cover_it_once(seed):
    generator = np.random.default_rng(seed)
    counts = generator.integers(3, 12, 5)
    outlines = [star(generator, count) for count in counts]
    turn = Rotation.random(rng=generator).as_matrix()
    vertices = np.concatenate([np.pad(flat, ((0, 0), (0, 1))) for flat in outlines]) @ turn.T + 3.0
    faces = triangulated(vertices, np.arange(len(vertices)), counts)
    a, b, c = np.swapaxes(vertices[faces], 0, 1)
    normals = np.cross(b - a, c - a) @ turn
    owner = np.repeat(np.arange(5), counts - 2)
    assert normals[:, 2].min() > -1e-9
    assert_allclose(np.bincount(owner, 0.5 * normals[:, 2]), list(map(area, outlines)), rtol=1e-9)
    assert_array_equal(np.searchsorted(np.cumsum(counts), faces, 'right'),
                       np.repeat(owner[:, None], 3, axis=1))


def test_a_convex_polygon_is_the_fan_about_its_first_corner():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    assert_array_equal(triangulated(vertices, np.array([2, 3, 0, 1]), np.array([4])),
                       [[2, 3, 0], [2, 0, 1]])


def test_polygons_of_no_area_or_no_numbers_are_fans():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [np.nan, 0, 0]])
    fan = np.array([[0, 1, 2], [0, 2, 1], [0, 1, 2], [0, 2, 3]])
    assert_array_equal(triangulated(vertices, np.array([0, 1, 2, 1, 0, 1, 2, 3]),
                                    np.array([4, 4])), fan)
