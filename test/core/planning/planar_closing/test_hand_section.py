"""Contours, and planar closing of the hand."""

from hypothesis import given, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.errors import HandError, MeshError, ShapeError
from gripsim_ros.core.hand import forward_kinematics, HandModel
from gripsim_ros.core.planning.hypotheses.distance_field import sample_surface
from gripsim_ros.core.planning.planar_closing.contour import (
    contour_of_points, cut_contours, cut_faces, mirrored)
from gripsim_ros.core.planning.planar_closing.finger_chain import PlanarChain
from gripsim_ros.core.planning.planar_closing.hand_section import (
    ROUNDING_RADIUS, close_hand, finger_planes, palmar_outline)
from gripsim_ros.core.planning.planar_closing.preshape import prism_of
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.resources import load_default_hand
from hand_cases import PLANAR_CONFIG, PLANAR_URDF, write_hand

ATOL_ROUNDOFF = 1e-12
# Outlines leave out corners of 0.2 mm, and round those that they keep.
ATOL_OUTLINE = 6e-4
# Planes lie within 3/4 of a finger's width; its edges go on, and lean in oblique preshapes.
ATOL_EDGES = 2e-3
XY = np.eye(2, 3)
CIRCLE = 0.03 * np.column_stack([f(2 * np.pi * np.arange(60) / 60) for f in (np.cos, np.sin)])


def test_the_cut_through_a_box_is_its_rectangle():
    contour, = cut_contours(shapes.box((0.04, 0.06, 0.08)), (0.0, 0.0, 0.01), XY)
    assert contour.closed
    assert contour.perimeter == pytest.approx(0.2, abs=ATOL_ROUNDOFF)
    assert_allclose(np.ptp(contour.points, axis=0), (0.04, 0.06), rtol=0.0, atol=ATOL_ROUNDOFF)


@given(st.floats(-0.02, 0.02), st.floats(0.0, 3.1))
def test_loops_hold_all_pieces_of_a_cut(height, turn):
    mesh = shapes.torus(0.03, 0.012)
    axes = np.array([[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0]])
    origin = height * np.cross(*axes)
    pieces, *_ = cut_faces(mesh.vertices, mesh.faces, origin[None], *axes, np.inf)
    length = np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1).sum()
    loops = cut_contours(mesh, origin, axes)
    assert sum(contour.perimeter for contour in loops) == pytest.approx(length, abs=1e-9)


def test_an_open_mesh_has_no_section():
    mesh = shapes.box((0.1, 0.1, 0.1))
    with pytest.raises(MeshError, match='closed mesh'):
        cut_contours(mesh.with_faces(mesh.faces[:-1]), np.zeros(3), XY)


@pytest.mark.parametrize('points, closed, note', [
    (CIRCLE, True, ''), (np.random.default_rng(1).permutation(CIRCLE), True, 'ordered'),
    (CIRCLE[:40], False, 'is open: '), (np.vstack([CIRCLE, [[np.nan, 0.0]]]), True, 'dropped 1'),
    (CIRCLE @ [[1.0, 0.0, 0.2], [0.0, 1.0, 0.3]] + 0.5, True, '')])
def test_scanned_points_become_a_contour(points, closed, note):
    contour, notes = contour_of_points(points)
    assert contour.closed is closed
    assert note in ''.join(notes) and bool(notes) is bool(note)
    places = points[np.isfinite(points).all(axis=1)]
    back = contour.to_source(contour.points)[:, :places.shape[1]]
    assert_allclose(np.sort(back, axis=0), np.sort(places, axis=0), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize('points, message', [
    (CIRCLE[:2], 'at least 3 different finite points, got 2'),
    (np.full((9, 2), np.nan), 'at least 3 different finite points, got 0'),
    (np.outer(np.arange(9.0), (0.1, 0.2)), 'lie on one line'),
    (1000.0 * CIRCLE, '--scale 0.001'), (1e-3 * CIRCLE, '--scale 1000'),
    (CIRCLE[:, :1], r'got \(60, 1\)'), (np.zeros((1_000_001, 2)), 'at most 1000000 points'),
    (np.random.default_rng(1).normal(size=(50, 3)), 'must lie in one plane'),
    ([['a', 'b']], 'must be numbers')])
def test_points_that_are_no_contour_are_refused(points, message):
    with pytest.raises(MeshError if 'scale' in message else ShapeError, match=message):
        contour_of_points(points)


def test_points_in_an_order_that_no_other_beats_by_far_stay_a_contour_as_given():
    swapped, gap = CIRCLE.copy(), np.abs(np.arctan2(*CIRCLE.T[::-1])) > 1.4
    swapped[[20, 21]] = CIRCLE[[21, 20]]
    across = np.roll(CIRCLE, 29, axis=0)[np.roll(gap, 29)]   # from -pi, over a gap at 0
    for points in (swapped, across):
        contour, notes = contour_of_points(points)
        assert contour.closed and not notes
        assert_allclose(contour.points, points, rtol=0.0, atol=1e-12)


def test_half_a_circle_is_mirrored_to_a_whole_one():
    contour, _ = contour_of_points(CIRCLE[:31])
    whole = mirrored(contour)
    assert whole.closed and len(whole.points) == len(CIRCLE)
    assert_allclose(np.linalg.norm(whole.points, axis=1), 0.03, rtol=0.0, atol=1e-9)


def test_outlines_follow_the_links_palmar_sides():
    hand = load_default_hand()
    for plane in finger_planes(hand, 1):
        for outline, link in zip(plane.chain.outlines, plane.links):
            mesh = hand.links[link].mesh
            low, high = outline[:, 0].min(), outline[:, 0].max() + ROUNDING_RADIUS
            assert high == pytest.approx(mesh.bounds[1, 2], abs=ATOL_OUTLINE)
            assert low < 0.0
            top = outline[:, 1].max() + ROUNDING_RADIUS
            assert top == pytest.approx(mesh.bounds[1, 0], abs=ATOL_OUTLINE)


@pytest.mark.parametrize('number', range(6))
def test_closed_fingers_stand_on_the_object_and_not_in_it(number):
    hand, radius = load_default_hand(), 0.03
    along_y = transform(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
                        np.zeros(3))
    mesh = shapes.cylinder(radius, 0.3, 400).with_transform(along_y)
    T_object_palm = transform(np.eye(3), np.array([0.0095, 0.0, -0.20]))
    closure = close_hand(hand, number, T_object_palm, mesh)
    assert closure.fingers == len(finger_planes(hand, number))
    T_palm_link = forward_kinematics(hand, closure.joint_positions[None])[0]
    for index in {contact.link for contact in closure.contacts}:
        samples, _ = sample_surface(hand.links[index].mesh, 0.001)
        points = apply(T_object_palm @ T_palm_link[index], samples)
        gap = np.hypot(points[:, 0], points[:, 2]).min() - radius
        oblique = 0.1 < hand.preshapes[number].open[0] < 1.5
        assert -(ATOL_EDGES if oblique else ATOL_OUTLINE) < gap < ATOL_OUTLINE


def test_a_prism_closes_like_the_body_it_is_cut_from():
    hand, body = load_default_hand(), shapes.cylinder(0.03, 0.3)
    contour, = cut_contours(body, np.zeros(3), XY)
    T_object_palm = transform(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]),
                              np.array([0.0095, 0.20, 0.0]))
    real = close_hand(hand, 1, T_object_palm, body)
    prism = close_hand(hand, 1, T_object_palm, prism_of(contour))
    assert_allclose(prism.joint_positions, real.joint_positions, rtol=0.0, atol=1e-6)


def test_meshes_of_prisms_face_outwards():
    contour, _ = contour_of_points(CIRCLE[::-1])
    mesh = prism_of(contour)
    assert isinstance(mesh, TriangleMesh)
    outward = mesh.face_centroids * [1.0, 1.0, 0.0]
    assert (np.einsum('ij,ij->i', outward, mesh.face_normals) > 0.0).all()


def test_a_finger_whose_axes_are_not_parallel_is_no_planar_chain(tmp_path):
    urdf = PLANAR_URDF.replace('<origin xyz="1 0 0"/><axis xyz="0 0 1"/>',
                               '<origin xyz="1 0 0"/><axis xyz="0 1 0"/>')
    hand = HandModel.load(*write_hand(tmp_path, urdf, PLANAR_CONFIG))
    with pytest.raises(HandError, match=r"'planar': the axes of a finger's joints \['a', 'b'\]"):
        finger_planes(hand, 0)


def test_a_phalanx_thinner_than_its_rounding_is_refused():
    with pytest.raises(HandError, match='a phalanx is thinner than 5 mm'):
        palmar_outline(np.array([[0.0, 0.0], [0.04, 0.0], [0.04, 0.004], [0.0, 0.004]]),
                       ROUNDING_RADIUS)


def test_the_outline_of_a_wedge_runs_inside_its_palmar_sides():
    wedge = np.array([[0.0, 0.0], [0.05, 0.0], [0.03, 0.03]])
    outline = palmar_outline(wedge, ROUNDING_RADIUS)
    distances = []
    for a, b in zip(wedge, np.roll(wedge, -1, axis=0)):
        inward = np.array([-(b - a)[1], (b - a)[0]]) / np.linalg.norm(b - a)
        distances.append((outline - a) @ inward)
    # Every corner lies on two of the sides moved in, none nearer to any.
    assert_allclose(np.sort(distances, axis=0)[:2], ROUNDING_RADIUS, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert len(outline) == 3


@pytest.mark.parametrize('together', [True, False])
def test_an_object_out_of_reach_leaves_every_joint_where_its_law_ends(together):
    hand, far = load_default_hand(), transform(np.eye(3), np.array([0.0, 0.0, -9.0]))
    closure = close_hand(hand, 1, far, shapes.box((0.1, 0.1, 0.1)), together=together)
    planes = finger_planes(hand, 1)
    assert (closure.fingers, closure.contacts, closure.overlap) == (0, (), 0.0)
    for plane in planes:
        ends = plane.closed if together else plane.chain.limits
        assert_allclose(closure.joint_positions[plane.joints], plane.to_joints(ends),
                        rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_closed_contour_is_its_own_mirror_image():
    contour, _ = contour_of_points(CIRCLE)
    assert mirrored(contour) is contour


def test_a_plane_that_but_grazes_a_corner_has_no_section():
    corners = np.array([[0.0, 0.0, 0.02], [0.01, 0.0, 0.0], [-0.01, 0.01, 0.0],
                        [-0.01, -0.01, 0.0]])
    mesh = TriangleMesh(corners, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]))
    assert cut_contours(mesh, (0.0, 0.0, 0.02), XY) == []
    assert len(cut_contours(mesh, (0.0, 0.0, 0.01), XY)) == 1


@pytest.mark.parametrize('changes, said', [
    ({'limits': [-0.1, 1.0]}, 'joint limits must not lie below the start'),
    ({'outlines': ([[0.0, 0.0], [1.0, 0.0]],)}, 'one polyline of 2 or more points a phalanx'),
    ({'outlines': ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]])}, 'one polyline of 2 or more points')])
def test_chains_that_cannot_be_are_refused(changes, said):
    values = {'base': (0.0, 0.0), 'direction': 0.0, 'lengths': [0.04, 0.03],
              'half_thickness': [0.0, 0.0], 'start': [0.0, 0.0], 'limits': [1.0, 1.0]}
    with pytest.raises(HandError, match=said):
        PlanarChain(**{**values, **changes})
