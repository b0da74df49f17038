"""The longest chord's strategy with a real hand: sections, poses, closing."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import MeshError
from gripsim_ros.core.planning.planar_closing.contour import Contour
from gripsim_ros.core.planning.planar_closing.preshape import (
    choose_preshape, close_in_corner, finger_shapes, middle_section, OPPOSING, palm_line, prism_of,
    PRISM_HALF_LENGTH)
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.resources import load_default_hand

MATERIAL = Material(1e6, 0.45, 1000.0, 0.6)
RADIUS, LENGTH, GAP = 0.03, 0.15, 0.03
#: The sides of the polygon that stands for a circle.
RTOL_POLYGON = 0.02
ATOL = 1e-9
#: How far contacts may be from the wall: its polygon, and pads' outlines [m].
ATOL_TOUCH = 2e-3

#: Cosine between a contact's normal and the way to the axis, at least.
INWARDS = 0.8


@pytest.fixture(scope='module')
def hand():
    """Return the default hand."""
    return load_default_hand()


@pytest.fixture(scope='module')
def rod():
    """Return a cylinder along z, lying askew in its frame."""
    turn = Rotation.from_euler('xyz', [0.3, -0.5, 0.2]).as_matrix()
    mesh = shapes.cylinder(RADIUS, LENGTH, edge_length=0.006)
    return turn, mesh.with_vertices(mesh.vertices @ turn.T + [0.01, 0.02, 0.03])


def section(mesh, normal=None):
    """Return the middle section of a mesh."""
    return middle_section(mesh, GraspObject(mesh, MATERIAL).canonical_frame, normal)


@pytest.fixture(scope='module')
def chosen(hand, rod):
    """Return the rod's section and the hand about it."""
    contour = section(rod[1])
    return contour, choose_preshape(hand, contour, prism_of(contour), 0.6, (GAP,))


def test_a_rod_is_cut_across_its_length(rod):
    turn, mesh = rod
    contour = section(mesh)
    assert contour.closed
    assert_allclose(contour.perimeter, 2.0 * np.pi * RADIUS, rtol=RTOL_POLYGON)
    assert_allclose(np.abs(np.cross(*contour.axes) @ turn[:, 2]), 1.0, rtol=1e-3)


def test_a_plane_that_is_asked_for_cuts_through_the_centre_of_mass(rod):
    turn, mesh = rod
    contour = section(mesh, turn[:, 0])
    assert_allclose(np.abs(np.cross(*contour.axes) @ turn[:, 0]), 1.0, atol=ATOL)
    assert_allclose(contour.perimeter, 2.0 * (2.0 * RADIUS + LENGTH), rtol=RTOL_POLYGON)


def test_a_plane_that_misses_the_body_is_refused():
    ball = shapes.sphere(0.02, 0.006)
    away = transform(np.eye(3), np.array([0.0, 0.0, 0.1]))
    with pytest.raises(MeshError, match='does not cut the surface'):
        middle_section(ball, away, np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize('order', [1, -1])
def test_the_walls_of_a_prism_look_outwards_whichever_way_its_contour_runs(rod, order):
    contour = section(rod[1])
    contour = Contour(contour.points[::order], True, contour.origin, contour.axes)
    walls = prism_of(contour)
    assert_allclose(walls.face_areas.sum(), contour.perimeter * 2.0 * PRISM_HALF_LENGTH)
    centre = contour.to_source(contour.points.mean(axis=0))
    middles = walls.vertices[walls.faces].mean(axis=1) - centre
    assert (np.einsum('ij,ij->i', middles, walls.face_normals) > 0.0).all()


def test_fingers_oppose_about_a_rod_and_balance(chosen):
    contour, choice = chosen
    assert choice.closes and choice.closed_hand.fingers > 1 and choice.opposition >= OPPOSING
    assert choice.closed_hand.overlap == 0.0 and choice.unbalance < 0.1
    assert choice.gap == GAP


def test_the_palm_looks_at_the_rod_from_the_gap(hand, chosen):
    contour, choice = chosen
    normal = np.cross(*contour.axes)
    x, z = choice.T_object_palm[:3, 0], choice.T_object_palm[:3, 2]
    assert_allclose([x @ normal, z @ normal], 0.0, atol=ATOL)
    line = contour.to_source(palm_line(choice, hand, contour))
    nearest = contour.to_source(contour.points) @ z
    assert_allclose(nearest.min() - line @ z, GAP, atol=ATOL)


def test_fingers_touch_the_rods_wall_and_press_towards_its_axis(chosen):
    contour, choice = chosen
    centre = contour.to_source(contour.points.mean(axis=0))
    for contact in choice.closed_hand.contacts:
        arm = (contact.point - centre) @ contour.axes.T
        assert_allclose(np.linalg.norm(arm), RADIUS, atol=ATOL_TOUCH)
        assert contact.normal @ (arm @ contour.axes) / RADIUS < -INWARDS


def test_each_finger_is_drawn_outside_the_contour_and_nearer_to_it_when_closed(hand, chosen):
    contour, choice = chosen
    centre = contour.points.mean(axis=0)

    def gap(bars):
        along = np.linspace(0.0, 1.0, 50)[:, None, None]
        points = bars[None, :, 0] + along * (bars[None, :, 1] - bars[None, :, 0])
        return np.linalg.norm(points - centre, axis=2).min() - RADIUS
    drawn = [[gap(bars) for bars in pair] for pair in finger_shapes(choice, hand, contour)]
    assert len(drawn) == 3 and all(0.0 < closed < opened for opened, closed in drawn)


def test_what_is_chosen_turns_with_the_object(hand, chosen):
    contour, choice = chosen
    turn = transform(Rotation.from_euler('zyx', [1.0, 0.4, -0.8]).as_matrix(),
                     np.array([0.3, -0.2, 0.1]))
    moved = Contour(contour.points, True, apply(turn, contour.origin[None])[0],
                    contour.axes @ turn[:3, :3].T)
    other = choose_preshape(hand, moved, prism_of(moved), 0.6, (GAP,))
    assert other.preshape == choice.preshape
    assert_allclose(other.T_object_palm, turn @ choice.T_object_palm, atol=ATOL)
    assert_allclose(other.unbalance, choice.unbalance, atol=1e-6)


def test_a_rod_too_thick_for_the_hand_has_no_preshape_that_closes(hand):
    angles = 2.0 * np.pi * np.arange(80) / 80
    circle = 0.2 * np.column_stack([np.cos(angles), np.sin(angles)])
    contour = Contour(circle, True, np.zeros(3), np.eye(2, 3))
    assert not choose_preshape(hand, contour, prism_of(contour), 0.6, (GAP,)).closes


@pytest.mark.parametrize('pivot', [None, (0.08, 0.0)])
def test_a_chain_in_the_corner_closes_on_the_contour(pivot):
    angles = 2.0 * np.pi * np.arange(200) / 200
    circle = RADIUS * np.column_stack([np.cos(angles), np.sin(angles)])
    contour = Contour(circle, True, np.zeros(3), np.eye(2, 3))
    closure, chain, frame = close_in_corner(
        contour, np.array([0.05, 0.05, 0.03]), 0.006, 0.0,
        None if pivot is None else np.array(pivot))
    placed = frame.to_frame(contour.points)
    assert_allclose([placed[:, 0].min(), placed[:, 1].min()], 0.0, atol=RADIUS * 1e-3)
    bars, owners = chain.bars
    assert len(closure.contacts) >= 1 and len(bars) == len(owners)
    expected = placed[:, 0].max() + 0.006 if pivot is None else pivot[0]
    assert_allclose(chain.points(chain.start)[0], [expected, 0.0], atol=ATOL)
