"""Links and soft objects where they touch: law and gap are those of their surfaces."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.hardware.flex_indentation import soft_ball
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.geometry.ray_casting import direction_frame
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.hardware.sim.soft.contact_law import contact_law, lattice
from gripsim_ros.hardware.sim.soft.touch_shape import Place, points_on_edges, TouchSurfaces
from gripsim_ros.library.resources import load_default_hand

RADIUS, LINK_RADIUS, MODULUS, REACH = 0.035, 0.01, 2e5, 2e-3
RTOL = 0.03
UP = np.array([0.0, 0.0, 1.0])


def surfaces(link, count=3):
    return TouchSurfaces({'link': link}, shapes.sphere(RADIUS, 0.003), soft_ball(RADIUS, count),
                         MODULUS)


def place_on(direction, on_link, turn=np.eye(3)):
    """Return where a link's point touches a ball, its own frame turned against the ball's."""
    frame = direction_frame(direction)
    return Place(on_link, RADIUS * frame[2], frame @ turn, frame)


def test_a_ball_bears_what_hertz_says_wherever_it_is_touched(rng):
    touching = surfaces(shapes.sphere(LINK_RADIUS, 0.001))
    stiffness = 4.0 / 3.0 * MODULUS * np.sqrt(1.0 / (1.0 / RADIUS + 1.0 / LINK_RADIUS))
    for direction in rng.normal(size=(5, 3)):
        frame = direction_frame(direction)
        shape = touching.shape('link', place_on(direction, -LINK_RADIUS * frame[2]), REACH)
        for depth in shape.law.depths:
            np.testing.assert_allclose(shape.law.force(depth), stiffness * depth**1.5, rtol=RTOL)


def test_an_edge_bears_as_an_edge_does_not_as_some_ball():
    """A right angle on a ball: the gap is known, and force grows less steeply than a ball's."""
    turn = np.array([[1.0, 0.0, 0.0], [0.0, np.sqrt(0.5), np.sqrt(0.5)],
                     [0.0, -np.sqrt(0.5), np.sqrt(0.5)]])
    touching = surfaces(shapes.box((0.04, 0.02, 0.02)))
    edge = turn.T @ (-np.sqrt(0.5) * 0.02 * UP)
    place = Place(edge, RADIUS * UP, turn, np.eye(3))
    law = touching.shape('link', place, REACH).law
    points, area = lattice(1.6 * REACH)
    true = contact_law(abs(points[:, 1]) + RADIUS - np.sqrt(
        RADIUS**2 - (points**2).sum(axis=1)), points, area, MODULUS)
    for depth in law.depths:
        np.testing.assert_allclose(law.force(depth), true.force(depth), rtol=RTOL)
    steep = np.log(law.forces[3] / law.forces[1]) / np.log(law.depths[3] / law.depths[1])
    assert steep < 1.4


def test_tetrahedra_are_touched_first_somewhere_and_nowhere_before(rng):
    touching, soft = surfaces(shapes.sphere(LINK_RADIUS, 0.001)), soft_ball(RADIUS, 3)
    corners = soft.nodes[soft.faces]
    for direction in rng.normal(size=(5, 3)):
        frame = direction_frame(direction)
        shape = touching.shape('link', place_on(direction, -LINK_RADIUS * frame[2]), REACH)
        middles = np.einsum('kj,fji->fki', rng.dirichlet(np.ones(3), 100), corners).reshape(-1, 3)
        middles = middles[(middles @ frame[2] > 0.0)
                          & (np.linalg.norm(middles @ frame[:2].T, axis=1) < 0.006)]
        gaps = touching.gaps('link', shape, middles)
        # Gaps between balls grow with the square of the way, those of facets with the way.
        assert min(gaps) < 1e-4 and max(gaps) > 5e-4
        heights = LINK_RADIUS - np.sqrt(LINK_RADIUS**2 - ((middles @ frame[:2].T)**2).sum(axis=1))
        between = heights - (middles @ frame[2] - RADIUS)
        np.testing.assert_allclose(np.subtract(gaps, min(gaps)), between - between.min(),
                                   atol=5e-5)


def test_a_ball_meets_an_edge_of_tetrahedra_where_it_does(rng):
    """By very many points of edges and facets, not by those of some lattice."""
    touching, soft = surfaces(shapes.sphere(LINK_RADIUS, 0.0005)), soft_ball(RADIUS, 3)
    corners = soft.nodes[soft.faces]
    shares = np.concatenate([rng.dirichlet(np.ones(3), 300), *(
        np.roll(np.stack([ticks, 1.0 - ticks, 0.0 * ticks], axis=1), k, axis=1)
        for ticks in [np.linspace(0.0, 1.0, 300)] for k in range(3))])
    points = np.einsum('kj,fji->fki', shares, corners).reshape(-1, 3)
    for middle in corners[rng.choice(len(corners), 6, replace=False), :2].mean(axis=1):
        frame = direction_frame(middle)
        beside = middle + rng.uniform(-1e-3, 1e-3, 2) @ frame[:2]
        shape = touching.shape('link', Place(-LINK_RADIUS * UP, beside, np.eye(3), frame), REACH)
        flat = (points - beside) @ frame.T
        flat = flat[(np.linalg.norm(flat[:, :2], axis=1) < LINK_RADIUS)
                    & (abs(flat[:, 2]) < LINK_RADIUS)]
        rises = LINK_RADIUS - np.sqrt(LINK_RADIUS**2 - (flat[:, :2]**2).sum(axis=1))
        np.testing.assert_allclose(shape.first, (rises - flat[:, 2]).min(), atol=5e-6)


def test_points_are_on_all_edges_each_with_both_its_ends():
    mesh = shapes.box((0.02, 0.03, 0.04))
    points = points_on_edges(mesh, 5)
    assert len(points) == 5 * 3 * len(mesh.faces) // 2
    assert {tuple(one) for one in mesh.vertices} <= {tuple(one) for one in points}
    halves = 0.5 * np.ptp(mesh.vertices, axis=0)
    np.testing.assert_allclose((abs(points) / halves).max(axis=1), 1.0)


def test_gaps_where_the_link_has_no_surface_are_as_the_others():
    touching, soft = surfaces(shapes.sphere(LINK_RADIUS, 0.001)), soft_ball(RADIUS, 3)
    shape = touching.shape('link', place_on(UP, -LINK_RADIUS * UP), REACH)
    top = soft.nodes[np.argsort(soft.nodes[:, 2])[-2:]]
    each = touching.gaps('link', shape, top)
    beside = np.array([[0.0, 0.03, 0.0]])       # where the link has no surface
    np.testing.assert_allclose(touching.gaps('link', shape, np.vstack([top, beside])),
                               [*each, each.mean()])
    assert touching.gaps('link', shape, beside) == 0.0


@pytest.mark.parametrize('way, reach, kept', [
    (0.0, 1.0, True), (0.1, 1.0, True), (0.3, 1.0, False), (0.0, 0.3, False), (0.0, 1.5, False)])
def test_a_shape_is_kept_until_the_link_slides_or_the_contact_grows(way, reach, kept):
    touching = surfaces(shapes.sphere(LINK_RADIUS, 0.001))
    place = place_on(UP, -LINK_RADIUS * UP)
    shape = touching.shape('link', place, REACH)
    moved = Place(place.on_link + [way * REACH, 0.0, 0.0], place.on_object, place.link_frame,
                  place.object_frame)
    assert shape.has_law_of(moved, reach * REACH) == kept


@pytest.mark.parametrize('way, angle, kept', [
    (1e-5, 0.0, True), (3e-5, 0.0, False), (0.0, 2e-4, True), (0.0, 1e-3, False)])
def test_surfaces_are_looked_at_anew_long_before_the_law_is(way, angle, kept):
    """And are then those of a shape that is found there, but for the law."""
    touching = surfaces(shapes.sphere(LINK_RADIUS, 0.001))
    place = place_on(UP, -LINK_RADIUS * UP)
    shape = touching.shape('link', place, REACH)
    turn = Rotation.from_euler('y', angle).as_matrix()
    other = Place(place.on_link + [way, 0.0, 0.0], place.on_object, turn @ place.link_frame,
                  place.object_frame)
    assert shape.has_law_of(other, REACH) and shape.is_at(other) == kept
    moved, found = touching.moved('link', shape, other), touching.shape('link', other, REACH)
    assert moved.law is shape.law and moved.solved_at is place and moved.place is other
    assert (moved.first, moved.early) == (found.first, found.early) != (shape.first, shape.early)
    np.testing.assert_array_equal(moved.middle, found.middle)


def test_a_turned_link_has_another_shape():
    touching = surfaces(shapes.sphere(LINK_RADIUS, 0.001))
    shape = touching.shape('link', place_on(UP, -LINK_RADIUS * UP), REACH)
    turned = direction_frame(np.array([0.1, 0.0, 1.0]))
    assert not shape.has_law_of(Place(-LINK_RADIUS * UP, RADIUS * UP, turned, np.eye(3)), REACH)


def on_a_face(name):
    """Return what touches if a link of the hand is on a box, and its place there by a turn."""
    hand = load_default_hand()
    number = hand.link_names.index(name)
    pad, mesh = hand.links[number], hand_as_simulated(hand).links[number].mesh
    touching = TouchSurfaces({'link': mesh}, shapes.box((0.2, 0.2, 0.04)),
                             soft_ball(RADIUS, 2), MODULUS)

    def place(turn):
        turned = Rotation.from_euler('zyx', turn).as_matrix()
        return Place(pad.pad_point, 0.02 * UP, turned @ direction_frame(-pad.pad_normal),
                     np.eye(3))
    return touching, place


@pytest.mark.parametrize('name', ['sdh_thumb_3_link', 'sdh_finger_12_link'])
def test_a_link_on_a_face_has_one_place_however_it_is_turned(name, rng):
    """Both are convex; the curved surfaces between their facets are not, and nodes miss edges."""
    touching, place = on_a_face(name)
    for turn in rng.uniform(-1.0, 1.0, (6, 3)) * [1.0, 0.05, 0.05]:
        assert len(touching.terrain('link', place(turn)).lows) == 1


#: Turns of a fingertip that lies along a face [rad], how deep its end is pressed [m], how far its
#: force goes from one turn to the next at most [m], and by how much it changes [-]: the mean depth
#: along its 24 mm does by a sixth, and force rises by a power of 1.5 of the depth at most.
ROCKS, DEEP, WAY, CHANGE = np.linspace(-0.012, 0.012, 7), 3e-4, 3.5e-3, 0.25


def test_what_a_fingertip_bears_goes_from_one_end_to_the_other_as_it_rocks():
    """Its line of 24 mm on the face is one contact, whichever end meets the face first."""
    touching, place = on_a_face('sdh_thumb_3_link')
    forces, middles = [], []
    for rock in ROCKS:
        there = place([0.0, 0.0, rock])
        shape = touching.shape('link', there, 0.012, touching.terrain('link', there).lows)
        forces.append(shape.law.force(DEEP))
        middles.append((-shape.aside(there.on_link[None], forces[-1], np.zeros(2)))[0, 1])
    np.testing.assert_allclose(forces, forces[::-1], rtol=RTOL)
    np.testing.assert_allclose(middles, -np.array(middles[::-1]), atol=RTOL * WAY)
    assert np.argmax(forces) == len(ROCKS) // 2
    assert abs(np.diff(np.log(forces))).max() < CHANGE
    assert (np.diff(middles) < 0.0).all() and np.diff(middles).min() > -WAY
