"""What follows from the corners of triangles, against numpy's own words for it."""

import numpy as np
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.bodies.triangles import (
    corner_bounds, face_heights, face_middles, face_vectors, sphere_sums, turns_at_edges)

RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-12, 1e-18
BALL = shapes.sphere(0.03, 0.006, jitter=0.3)
CORNERS = BALL.vertices[BALL.faces]
A, B, C = CORNERS[:, 0], CORNERS[:, 1], CORNERS[:, 2]


def check_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RTOL_ROUNDOFF, atol=ATOL_ROUNDOFF)


def test_vectors_and_middles_of_faces():
    check_close(face_vectors(BALL.vertices, BALL.faces), np.cross(B - A, C - A) / 2.0)
    np.testing.assert_array_equal(
        face_middles(BALL.vertices, BALL.faces), CORNERS.mean(axis=1))


def test_the_box_and_the_sum_of_corners():
    bounds, total = corner_bounds(BALL.vertices, BALL.faces[:50])
    some = CORNERS[:50].reshape(-1, 3)
    np.testing.assert_array_equal(bounds, [some.min(axis=0), some.max(axis=0)])
    check_close(total, some.sum(axis=0))


@pytest.mark.parametrize('shape', [(-1, 3), (2, -1, 3)])
def test_heights_are_twice_the_area_over_the_longest_side(shape):
    faces = BALL.faces[:len(BALL.faces) // 2 * 2].reshape(shape)
    corners = BALL.vertices[faces]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=-2), axis=-1)
    doubled = np.linalg.norm(np.cross(corners[..., 1, :] - corners[..., 0, :],
                                      corners[..., 2, :] - corners[..., 0, :]), axis=-1)
    check_close(face_heights(BALL.vertices, faces), doubled / sides.max(axis=-1))


def test_faces_without_extent_have_no_height():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    np.testing.assert_array_equal(face_heights(points, np.array([[0, 1, 2], [1, 1, 1]])), 0.0)


def test_sphere_sums_point_to_the_centre_of_the_ball_that_holds_the_vertices():
    sums = sphere_sums(BALL.vertices, BALL.faces)
    units = sums / np.linalg.norm(sums, axis=1)[:, None]
    np.testing.assert_allclose(units, BALL.vertices / 0.03, rtol=0.0, atol=1e-9)


def test_a_repeated_corner_adds_nothing_to_sphere_sums():
    np.testing.assert_array_equal(sphere_sums(np.eye(3), np.array([[0, 0, 1]])), 0.0)


def test_turns_at_edges_are_the_dihedral_angles_of_a_prism():
    points = np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    normals = np.array([[0.0, 0.0, 1.0], [np.sin(0.4), 0.0, np.cos(0.4)]])
    sine, cosine = turns_at_edges(points, np.array([[0, 1], [1, 0], [0, 0]]), normals,
                                  np.array([[0, 1], [0, 1], [-1, -1]]))
    check_close(sine, [np.sin(0.4), -np.sin(0.4), 0.0])
    check_close(cosine[:2], np.cos(0.4))
