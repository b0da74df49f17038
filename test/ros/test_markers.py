"""Markers as RViz wants them: cleared first, unique ids, nothing that is not finite."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from plan_cases import apple, made_up_grasp  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from gripsim_ros.core.hand import forward_kinematics  # noqa: E402
from gripsim_ros.core.planning.ranked_grasp import (  # noqa: E402
    ManipulationResult, ManipulationStep)
from gripsim_ros.core.transforms import inverse  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    DEPTH_FACTOR, FingerForces, FORCE_LENGTH, MAGENTA, MarkerFrame, closing_markers,
    force_markers, grasp_markers, live_markers, no_grasp, ranked_markers)
from gripsim_ros.ros.markers.layers import GREEN, ORANGE  # noqa: E402
from gripsim_ros.ros.markers.way import WAY_LAYERS  # noqa: E402
from marker_cases import assert_fit_for_rviz, pinch  # noqa: E402

ATOL_ROUNDOFF = 1e-12
FRAME = MarkerFrame('world')


def test_live_markers_show_every_layer():
    array = live_markers(*pinch(), load_default_hand(), FRAME)
    assert assert_fit_for_rviz(array) == {
        'contacts', 'depths', 'forces', 'deformation', 'pressure_legend', 'centre_of_mass',
        'scale'}


def test_numbers_that_are_not_finite_are_left_out():
    contacts, states, body = pinch()
    states.patch_forces_object[0] = np.nan
    states.centre_of_mass_object[:] = np.inf
    shown = assert_fit_for_rviz(live_markers(contacts, states, body, load_default_hand(), FRAME))
    assert shown == {'contacts', 'depths', 'forces', 'deformation', 'pressure_legend', 'scale',
                     'centre_of_mass'}


def test_a_live_hand_without_contact_clears_what_was_shown():
    contacts, states, body = pinch()
    empty = np.zeros((0, 3))
    contacts = dataclasses.replace(
        contacts, patch_offsets=np.zeros(2, int), node_offsets=np.zeros(1, int),
        node_points_object=empty, node_normals_object=empty, node_depths=np.zeros(0))
    states = dataclasses.replace(
        states, patch_offsets=np.zeros(2, int), patch_points_object=empty,
        patch_forces_object=empty,
        vertex_pressures=np.zeros_like(states.vertex_pressures))
    array = live_markers(contacts, states, body, load_default_hand(), FRAME)
    assert assert_fit_for_rviz(array) == {'deformation', 'centre_of_mass', 'scale'}
    cleared = {m.ns for m in array.markers if m.action == Marker.DELETEALL}
    assert {'contacts', 'depths', 'forces', 'pressure_legend'} <= cleared


def test_the_length_of_an_arrow_is_that_of_the_force():
    array = live_markers(*pinch(), load_default_hand(), FRAME)
    arrow = next(m for m in array.markers if m.ns == 'forces' and m.action == Marker.ADD)
    assert arrow.points[1].x - arrow.points[0].x == pytest.approx(
        2.0 * FORCE_LENGTH, abs=ATOL_ROUNDOFF)
    assert arrow.points[1].x == pytest.approx(-0.03, abs=ATOL_ROUNDOFF)     # where it acts


def test_the_scale_is_as_long_as_it_says():
    array = grasp_markers(None, apple(), load_default_hand(), FRAME)
    shown = [m for m in array.markers if m.ns == 'scale' and m.action == Marker.ADD]
    texts = [m.text for m in shown if m.text]
    bar = next(m for m in shown if m.type == Marker.LINE_LIST)
    assert texts[0] == f'{1e3 * length(*bar.points):.0f} mm'
    arrow = next(m for m in shown if m.type == Marker.ARROW)
    assert texts[1] == f'force, {length(*arrow.points) / FORCE_LENGTH:.0f} N'


@pytest.mark.parametrize('surface', [True, False])
def test_the_best_grasp_shows_hand_forces_and_object(surface):
    grasp, body = made_up_grasp(1), apple()
    if not surface:
        grasp = dataclasses.replace(grasp, vertices=None, vertex_pressures=None)
    array = grasp_markers(grasp, body, load_default_hand(), FRAME)
    layer = 'deformation' if surface else 'object'
    legend = {'pressure_legend'} if surface else set()
    assert assert_fit_for_rviz(array) == {
        layer, 'hand', 'forces', 'contacts', 'centre_of_mass', 'scale', 'boxes', 'regions',
        *legend}
    parts = [m for m in array.markers if m.ns == layer and m.points]
    assert sum(len(m.points) for m in parts) == 3 * len(body.mesh.faces)
    assert [bool(m.colors) for m in parts] == ([False, True] if surface else [False])


def test_a_way_shows_what_presses_along_it_and_how_it_ends():
    mesh, steps = apple().mesh, tuple(way_step(0.25 * k) for k in range(5))
    reach = ManipulationResult('with_arm', 0.0, 0.0, np.zeros((5, 7)), np.zeros((5, 4, 4)),
                               np.linspace(0.0, 1.0, 5), 1, '', steps)
    grasp = dataclasses.replace(made_up_grasp(1), reach=reach)
    array = grasp_markers(grasp, apple(), load_default_hand(), FRAME)
    assert set(WAY_LAYERS) <= assert_fit_for_rviz(array)
    line, = shown(array, 'way')
    assert length(line.points[0], line.points[-1]) == pytest.approx(0.1, abs=ATOL_ROUNDOFF)
    arrows, balls = shown(array, 'way_forces'), shown(array, 'way_least_forces')
    for arrow, ball, step in zip(arrows, balls, steps[1:], strict=True):
        assert place(arrow.points[1]) == pytest.approx(step.points[0], abs=ATOL_ROUNDOFF)
        assert length(ball.points[0], arrow.points[1]) == pytest.approx(
            FORCE_LENGTH * np.linalg.norm(step.minimal_forces[0]), abs=ATOL_ROUNDOFF)
    assert [m.text for m in shown(array, 'way_margins')] == [
        f'margin {step.margin:.2f}' for step in steps[1:]]
    end, = shown(array, 'way_end')
    assert end.pose.position.z == pytest.approx(0.1) and len(end.points) == 3 * len(mesh.faces)
    assert [m.text for m in shown(array, 'scale') if m.text][-2:] == ['its way', 'least force']
    cleared = {m.ns for m in grasp_markers(made_up_grasp(1), apple(), load_default_hand(),
                                           FRAME).markers if m.action == Marker.DELETEALL}
    assert set(WAY_LAYERS) <= cleared


def way_step(share):
    """Return a step of a way of 0.1 m upwards that one contact bears."""
    moved = np.eye(4)
    moved[2, 3] = 0.1 * share
    push = np.array([[1.0 + share, 0.0, 0.0]])
    return ManipulationStep(
        moved, ('thumb',), moved[None, :3, 3] - [0.03, 0.0, 0.0], np.array([[1.0, 0.0, 0.0]]),
        push, 0.5 * push, np.zeros(7), moved[:3, 3], 2.0 - share, 0.0, True)


def test_no_grasp_shows_the_object_alone():
    array = grasp_markers(None, apple(), load_default_hand(), FRAME)
    assert assert_fit_for_rviz(array) == {'object', 'centre_of_mass', 'scale'}


@pytest.mark.parametrize('count', [0, 1, 3])
def test_every_ranked_grasp_has_an_arrow_and_its_rank(count):
    array = ranked_markers([made_up_grasp(i + 1) for i in range(count)], FRAME)
    assert assert_fit_for_rviz(array) == ({'ranked_grasps', 'ranks'} if count else set())
    assert sum(m.ns == 'ranks' and m.action == Marker.ADD for m in array.markers) == count


# -- as RViz draws them ------------------------------------------------------------------


def length(a, b):
    """Return the distance of two points [m]."""
    return float(np.linalg.norm(place(b) - place(a)))


def place(p):
    """Return a point as an array."""
    return np.array([p.x, p.y, p.z])


def arrays(frame=FRAME):
    """Return what is shown of a plan, a closing and a live hand."""
    grasp, body, hand = made_up_grasp(1), apple(), load_default_hand()
    return [grasp_markers(grasp, body, hand, frame, OBSTACLE),
            closing_markers(grasp, 0.5, None, body, hand, frame),
            live_markers(*pinch(), hand, frame)]


OBSTACLE = np.array([[1, 0.3, 0.3, 0.02, 1, 0, 0, 0.0, 0, 1, 0, 0.0, 0, 0, 1, -0.1]])


def shown(array, *namespaces):
    """Return the markers that namespaces add, all if none is named."""
    return [m for m in array.markers
            if m.action == Marker.ADD and (not namespaces or m.ns in namespaces)]


@pytest.mark.parametrize('k', range(3))
def test_markers_need_no_clock(k):
    for marker in shown(arrays()[k]):
        assert marker.frame_locked and marker.header.frame_id == 'world'
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)


@pytest.mark.parametrize('k', range(3))
def test_solids_hide_what_is_behind_them(k):
    """RViz writes no depth for anything below alpha 1."""
    for marker in shown(arrays()[k]):
        assert marker.color.a == 1.0 and all(c.a == 1.0 for c in marker.colors), marker.ns


def test_what_nothing_presses_is_lit():
    """RViz lights no triangle whose corners have colours."""
    lit, coloured = shown(arrays()[0], 'deformation')
    assert not lit.colors and len(coloured.colors) == len(coloured.points)
    pressures, faces = made_up_grasp(1).vertex_pressures, apple().mesh.faces
    assert len(coloured.points) == 3 * np.count_nonzero((pressures[faces] > 0.0).any(axis=1))
    assert not shown(arrays()[1], 'object')[0].colors


def test_blanks_are_as_wide_as_letters_are_high():
    """RViz makes them half a metre wide where nothing is said (ros2/rviz #1336)."""
    texts = [m for array in (*arrays(), ranked_markers([made_up_grasp(1)], FRAME))
             for m in shown(array) if m.type == Marker.TEXT_VIEW_FACING]
    assert len(texts) > 20
    for marker in texts:
        assert marker.scale.x == pytest.approx(0.55 * marker.scale.z), marker.text


def test_contacts_are_balls_of_4_mm():
    for k in (0, 2):
        contacts, = shown(arrays()[k], 'contacts')
        assert contacts.type == Marker.SPHERE_LIST and contacts.scale.x == 0.004


def test_crosses_at_the_centre_of_mass_reach_out_of_the_object():
    grasp, body = made_up_grasp(1), apple()
    low, high = body.mesh.vertices.min(axis=0), body.mesh.vertices.max(axis=0)
    before, after = shown(arrays()[0], 'centre_of_mass')
    only, = shown(grasp_markers(None, body, load_default_hand(), FRAME), 'centre_of_mass')
    assert only.points == before.points
    for marker, centre in ((before, body.mass_properties.centre_of_mass),
                           (after, grasp.centre_of_mass)):
        ends = np.array([place(p) for p in marker.points]).reshape(3, 2, 3)
        for axis, (a, b) in enumerate(ends):
            assert a[axis] < low[axis] - 0.005 and b[axis] > high[axis] + 0.005
            np.testing.assert_allclose(np.delete(a, axis), np.delete(centre, axis))
    colours = {(m.color.r, m.color.g, m.color.b) for m in (before, after)}
    assert len(colours) == 2


def test_depths_are_indentations_out_of_the_surface_magnified():
    contacts, states, body = pinch()
    depths, = shown(live_markers(contacts, states, body, load_default_hand(), FRAME), 'depths')
    nodes = slice(0, int(contacts.node_offsets[contacts.patch_offsets[1]]))
    inside = contacts.node_depths[nodes] > 0.0
    ends = np.array([place(p) for p in depths.points]).reshape(-1, 2, 3)
    vectors = -DEPTH_FACTOR * (contacts.node_depths[nodes, None]
                               * contacts.node_normals_object[nodes])[inside]
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], vectors, atol=ATOL_ROUNDOFF)
    array = live_markers(contacts, states, body, load_default_hand(), FRAME)
    told = [m.text for m in shown(array, 'scale')]
    assert f'1 mm deep, x {DEPTH_FACTOR:g}' in told


@pytest.mark.parametrize('tilt', [0.7, 1.6, 3.0])
def test_the_live_legend_stands_upright_while_the_object_is_turned(tilt):
    """As where the hand lifts it palm up: its frame turns about a horizontal axis."""
    (contacts, states, body), hand = pinch(), load_default_hand()
    R_world_object = Rotation.from_rotvec([0.8 * tilt, -0.6 * tilt, 0.0]).as_matrix()

    def words(R):
        cases = np.zeros((1, 9))
        cases[0, :3] = np.array([0.0, 0.0, -9.81]) @ R
        asked = dataclasses.replace(contacts.configurations, load_cases=cases)
        array = live_markers(dataclasses.replace(contacts, configurations=asked), states, body,
                             hand, FRAME)
        places = np.array([place(m.pose.position) @ R.T for m in shown(array, 'scale')
                           if m.type == Marker.TEXT_VIEW_FACING])
        return places - places[0]

    assert len(words(np.eye(3))) == 6
    np.testing.assert_allclose(words(R_world_object), words(np.eye(3)), rtol=0, atol=1e-9)


def test_the_hand_that_closes_is_not_taken_for_the_grasp():
    best, closing = ({(m.color.r, m.color.g, m.color.b) for m in shown(array, 'hand')}
                     for array in arrays()[:2])
    assert len(best) == len(closing) == 1 and best != closing


def test_what_takes_a_grasp_away_leaves_obstacles():
    kept = {m.ns for array in arrays()[:2] for m in array.markers} - {
        m.ns for m in no_grasp(FRAME).markers}
    assert kept == {'obstacles'} and not shown(no_grasp(FRAME))


def test_bars_of_forces_grow_with_them_behind_the_fingertips():
    hand, joints = load_default_hand(), np.zeros(7)
    links = ('sdh_thumb_3_link', 'sdh_finger_13_link')
    forces = FingerForces(('thumb', 'finger_1'), links, np.array([1.0, 2.0]),
                          np.array([0.5, np.nan]))
    array = force_markers(forces, hand, joints, FRAME)
    assert assert_fit_for_rviz(array) == {'planned_forces', 'felt_forces', 'force_texts'}
    bars = [m for m in array.markers if m.type == Marker.CYLINDER]
    assert [bar.ns for bar in bars] == ['planned_forces', 'felt_forces', 'planned_forces']
    np.testing.assert_allclose([bar.scale.z for bar in bars], FORCE_LENGTH * np.array([1, 0.5, 2]))
    poses = forward_kinematics(hand, joints[None])[0]
    for bar, link in zip(bars, (links[0], links[0], links[1])):
        number = hand.link_names.index(link)
        T_link_bar = inverse(poses[number]) @ pose_from_msg(bar.pose)
        outward = hand.links[number].pad_normal
        np.testing.assert_allclose(T_link_bar[:3, 2], -outward, atol=1e-9)
        assert (T_link_bar[:3, 3] - hand.links[number].pad_point) @ outward < -0.02
    texts = [m.text for m in array.markers if m.type == Marker.TEXT_VIEW_FACING]
    assert texts == ['0.50 of 1.00 N', '? of 2.00 N']


@pytest.mark.parametrize('felt, colour', [(1.0, GREEN), (0.7, ORANGE), (1.3, MAGENTA)])
def test_the_colour_of_a_bar_tells_whether_the_planned_force_is_felt(felt, colour):
    array = force_markers(FingerForces(('thumb',), ('sdh_thumb_3_link',), np.ones(1),
                                       np.array([felt])), load_default_hand(), np.zeros(7), FRAME)
    bar, = [m for m in array.markers if m.ns == 'felt_forces' and m.type == Marker.CYLINDER]
    np.testing.assert_allclose([bar.color.r, bar.color.g, bar.color.b], colour[:3], atol=1e-6)
