"""Meshes as their files give them, asked by each back end."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.contact.backends.find_contacts import (
    EXTENT_RANGE, MAX_OFFSET_RATIO, ContactBody, find_contacts)
from gripsim_ros.core.errors import MeshError, ShapeError
from gripsim_ros.core.transforms import apply, transform
from convex_cases import step_mesh

BALL, BOX = trimesh.creation.icosphere(2, 0.03), trimesh.creation.box([0.05, 0.04, 0.06])
#: Poses at which bodies just touch are left to rounding: parted by so much they are apart [m].
CLEAR = 1e-7
ATOL = 1e-12

seeds = st.integers(0, 2 ** 32 - 1)


def body(mesh, scale=1.0, shift=0.0):
    """Return a mesh made ready."""
    return ContactBody.from_arrays(scale * mesh.vertices + shift, mesh.faces)


def joined(*meshes):
    """Return meshes as one, which may cross itself."""
    return trimesh.util.concatenate(list(meshes))


def shifted(*offset):
    """Return a pose without turn."""
    return transform(np.eye(3), np.array(offset, float))


@given(seed=seeds)
@settings(max_examples=12)
def test_convex_bodies_meet_for_all_exact_back_ends_or_for_none(seed):
    rng = np.random.default_rng(seed)
    pose = transform(Rotation.from_quat(rng.normal(size=4)).as_matrix(),
                     rng.uniform(-0.07, 0.07, 3))
    a, b = body(BALL), body(BOX)
    plane = find_contacts(a, b, pose, backend='common_plane')
    if abs(plane.plane.gap) < CLEAR:
        return
    met = find_contacts(a, b, pose).intersecting
    assert met == (not plane.apart)
    assert find_contacts(a, b, pose, backend='gjk_epa').intersecting == met


@pytest.mark.parametrize('direction', [None, [1.0, 0.0, 0.0]])
def test_a_corner_in_a_cube_leaves_by_the_nearest_face_or_along_the_motion(direction):
    cube = trimesh.creation.box([2.0, 2.0, 2.0])
    contacts = find_contacts(body(cube), body(cube), shifted(1.8, 1.7, 1.6), direction)
    assert contacts.backend == 'vp_tree' and contacts.intersecting and not contacts.crossing
    corner = contacts.b_in_a.vertices
    assert_allclose(cube.vertices[corner], [[-1.0, -1.0, -1.0]])
    # b moves along +x: its vertices leave a against the motion.
    assert_allclose(contacts.b_in_a.depths, [0.2] if direction is None else [1.8], atol=ATOL)


@pytest.mark.parametrize('crossing', [('b',), ()], ids=['hollow, not united', 'united'])
def test_the_inside_of_two_balls_that_cross_is_their_union(crossing):
    other, hole = BALL.copy(), trimesh.creation.icosphere(1, 0.003)
    other.apply_translation([0.02, 0.0, 0.0])
    hole.invert()
    hole.apply_translation([-0.015, 0.018, 0.0])     # a cavity, off the probe's way
    both = joined(BALL, other, *([hole] if crossing else []))
    rng = np.random.default_rng(1)
    probe = trimesh.creation.icosphere(3, 0.012)
    pose = shifted(0.01, 0.0, 0.0)
    contacts = find_contacts(body(probe), body(both), pose)
    assert contacts.crossing == crossing and contacts.intersecting
    points = apply(np.linalg.inv(pose), probe.vertices)
    inside = BALL.contains(points) | other.contains(points)
    assert_array_equal(np.sort(contacts.a_in_b.vertices), np.flatnonzero(inside))
    along = find_contacts(body(probe), body(both), pose, rng.normal(size=3))
    assert along.crossing == crossing
    assert_array_equal(np.sort(along.a_in_b.vertices), np.flatnonzero(inside))


def test_the_papers_rule_is_approximate_and_needs_a_direction():
    a, b, pose = body(BALL), body(BOX), shifted(0.04, 0.0, 0.0)
    found = find_contacts(a, b, pose, [-1.0, 0.0, 0.0], 'seed')
    assert found.approximate and found.backend == 'seed' and len(found.a_in_b.vertices)
    with pytest.raises(ShapeError, match='seed needs a direction'):
        find_contacts(a, b, pose, backend='seed')


def test_a_body_in_the_notch_of_another_is_parted_from_its_parts():
    pytest.importorskip('coacd', reason='the extra "convex" is not installed')
    notch, pebble = body(step_mesh()), body(trimesh.creation.icosphere(1, 0.008))
    assert not notch.is_convex and pebble.is_convex
    found = find_contacts(notch, pebble, shifted(0.07, 0.02, 0.07), backend='common_plane')
    assert found.apart
    # The ball is 12 mm from the step, seen as a polyhedron and by planes.
    assert 0.005 < found.plane.gap < 0.0125


BRICK = ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize('bounds, meet', [
    (BRICK, True), (([0.0, 0.0, 1.0], [1.0, 2.0, 4.0]), True),
    (([0.2, 0.5, 0.0], [0.7, 1.5, 3.0]), True), (([0.0, 0.0, 3.0], [1.0, 2.0, 4.0]), False),
    (([1.0, 0.0, 0.0], [2.0, 2.0, 3.0]), False), (([1.0, 2.0, 0.0], [2.0, 3.0, 3.0]), False),
    (([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), False)])
@pytest.mark.parametrize('pose', [shifted(0.0, 0.0, 0.0), shifted(2.0 ** 10, -64.0, 16.0)])
def test_bodies_with_common_faces_meet_where_they_share_what_lies_below(bounds, meet, pose):
    one, other = (body(trimesh.creation.box(bounds=box)) for box in (BRICK, bounds))
    far = ContactBody.from_arrays(apply(pose, one.given.mesh.vertices), one.given.mesh.faces)
    for backend in ('auto', 'gjk_epa'):
        assert find_contacts(one, other, np.eye(4), backend=backend).intersecting == meet
        assert find_contacts(other, one, np.eye(4), backend=backend).intersecting == meet
        assert find_contacts(far, other, pose, backend=backend).intersecting == meet


def test_a_turned_body_meets_itself_and_not_its_like_beside_it():
    turn = transform(Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix(), np.ones(3))
    box = body(BOX)
    turned = ContactBody.from_arrays(apply(turn, box.given.mesh.vertices), BOX.faces)
    assert find_contacts(turned, box, turn).intersecting
    beside = turn @ shifted(0.05 + CLEAR, 0.0, 0.0)
    assert not find_contacts(turned, box, beside).intersecting


def test_a_back_end_that_nobody_knows_is_refused():
    with pytest.raises(ShapeError, match='backend must be one of auto, vp_tree'):
        find_contacts(body(BALL), body(BOX), np.eye(4), backend='bullet')


@pytest.mark.parametrize('scale', [0.1 * EXTENT_RANGE[0], 20.0 * EXTENT_RANGE[1]])
def test_a_mesh_in_no_sensible_unit_is_refused(scale):
    with pytest.raises(MeshError, match='the largest extent is'):
        body(trimesh.creation.box([1.0, 0.5, 0.5]), scale)


def test_a_mesh_too_far_away_to_be_resolved_is_refused():
    with pytest.raises(MeshError, match='from the origin, allowed are'):
        body(trimesh.creation.box([1.0, 0.5, 0.5]), shift=2.0 * MAX_OFFSET_RATIO)


@pytest.mark.parametrize('unit', [1e-3, 1.0, 1e3])
def test_lengths_are_told_in_the_unit_of_the_file_taken_for_metres(unit):
    box, ball = trimesh.creation.box([0.05, 0.03, 0.04]), trimesh.creation.icosphere(3, 0.03)
    hole, limit = 1e3 * unit * np.hypot(0.03, 0.05), 1e2 * unit * np.linalg.norm(box.extents)
    side = np.isclose(box.face_normals[:, 2], 1.0)
    with pytest.raises(MeshError, match='open') as caught:
        ContactBody.from_arrays(unit * box.vertices, box.faces[~side])
    assert f'{hole:.3g} mm across' in str(caught.value)
    assert f'up to {limit:.3g} mm' in str(caught.value)
    across = 1e3 * unit * np.linalg.norm(np.diff(
        ball.vertices[ball.faces[0][[0, 1, 2, 0]]], axis=0), axis=1).max()
    repairs = ContactBody.from_arrays(unit * ball.vertices, ball.faces[1:]).repairs
    assert repairs == (f'filled 1 hole {across:.3g} mm across',)


@pytest.mark.parametrize('unit', [1e-3, 1.0, 1e3])
def test_answers_scale_with_the_unit_of_the_file(unit):
    pose = shifted(0.04 * unit, 0.0, 0.0)
    contacts = find_contacts(body(BALL, unit), body(BOX, unit), pose)
    one = find_contacts(body(BALL), body(BOX), shifted(0.04, 0.0, 0.0))
    assert_array_equal(contacts.a_in_b.vertices, one.a_in_b.vertices)
    assert_allclose(contacts.a_in_b.depths, unit * one.a_in_b.depths, rtol=1e-9)
