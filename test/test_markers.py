"""Markers as RViz wants them: cleared first, unique ids, nothing that is not finite."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from builtin_interfaces.msg import Time  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from gripsim_ros.core.batches import GraspStateBatch  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    FORCE_LENGTH, MarkerFrame, grasp_markers, live_markers, ranked_markers)
from gripsim_ros.ros.nodes.ring.warm_up import warm_up_contacts, warm_up_object  # noqa: E402

ATOL_ROUNDOFF = 1e-12
FRAME = MarkerFrame('world', Time(sec=1))


def assert_fit_for_rviz(array):
    """Assert what RViz rejects whole arrays for."""
    seen, cleared = set(), set()
    for marker in array.markers:
        if marker.action == Marker.DELETEALL:
            cleared.add(marker.ns)
            continue
        assert marker.ns in cleared, f'{marker.ns} is not cleared first'
        assert (marker.ns, marker.id) not in seen
        seen.add((marker.ns, marker.id))
        points = np.array([(p.x, p.y, p.z) for p in marker.points])
        assert np.isfinite(points).all() and marker.color.a > 0.0
        if marker.type == Marker.TRIANGLE_LIST:
            assert len(points) % 3 == 0 and len(points)
            assert len(marker.colors) in (0, len(points))
            assert all(color.a > 0.0 for color in marker.colors)
        orientation = marker.pose.orientation
        norm = np.linalg.norm([orientation.x, orientation.y, orientation.z, orientation.w])
        assert norm == pytest.approx(1.0, abs=1e-9)
    return {ns for ns, _ in seen}


def pinch():
    """Return contacts and states of an object between two links."""
    hand, body = load_default_hand(), warm_up_object()
    contacts = list(warm_up_contacts(hand, body))[-1]
    links = contacts.clearance.shape[1]
    rows = len(body.mesh.vertices)
    normals = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    shapes = {'patch_links': (2,), 'patch_offsets': (2,), 'patch_flags': (2,)}
    values = {field.name: np.zeros(shapes.get(field.name, (1,)))
              for field in dataclasses.fields(GraspStateBatch)}
    values.update(
        clearance=np.zeros((1, links)), patch_offsets=np.array([0, 2]),
        patch_points_object=-0.03 * normals, patch_forces_object=2.0 * normals,
        centre_of_mass_object=np.zeros((1, 3)), vertices_object=body.mesh.vertices[None],
        vertex_pressures=np.linspace(0.0, 1e5, rows)[None])
    contacts = dataclasses.replace(
        contacts, vertex_offsets=np.array([0, 1]), vertex_points_object=np.zeros((1, 3)),
        vertex_vectors_object=np.ones((1, 3)))
    return contacts, GraspStateBatch(**values), body


def test_live_markers_show_every_layer():
    array = live_markers(*pinch(), FRAME)
    assert assert_fit_for_rviz(array) == {
        'contacts', 'depths', 'forces', 'deformation', 'pressure_legend', 'centre_of_mass',
        'scale'}


def test_numbers_that_are_not_finite_are_left_out():
    contacts, states, body = pinch()
    states.patch_forces_object[0] = np.nan
    states.centre_of_mass_object[:] = np.inf
    contacts.vertex_vectors_object[:] = np.nan
    shown = assert_fit_for_rviz(live_markers(contacts, states, body, FRAME))
    assert shown == {'contacts', 'forces', 'deformation', 'pressure_legend', 'scale'}


def test_a_live_hand_without_contact_clears_what_was_shown():
    contacts, states, body = pinch()
    empty = np.zeros((0, 3))
    contacts = dataclasses.replace(
        contacts, patch_offsets=np.zeros(2, int), node_offsets=np.zeros(1, int),
        node_points_object=empty, node_depths=np.zeros(0), vertex_offsets=np.zeros(2, int),
        vertex_points_object=empty, vertex_vectors_object=empty)
    states = dataclasses.replace(
        states, patch_offsets=np.zeros(2, int), patch_points_object=empty,
        patch_forces_object=empty,
        vertex_pressures=np.zeros_like(states.vertex_pressures))
    array = live_markers(contacts, states, body, FRAME)
    assert assert_fit_for_rviz(array) == {'deformation', 'centre_of_mass', 'scale'}
    cleared = {m.ns for m in array.markers if m.action == Marker.DELETEALL}
    assert {'contacts', 'depths', 'forces', 'pressure_legend'} <= cleared


def test_the_length_of_an_arrow_is_that_of_the_force():
    array = live_markers(*pinch(), FRAME)
    arrow = next(m for m in array.markers if m.ns == 'forces' and m.action == Marker.ADD)
    assert arrow.points[1].x - arrow.points[0].x == pytest.approx(
        2.0 * FORCE_LENGTH, abs=ATOL_ROUNDOFF)
    assert arrow.points[1].x == pytest.approx(-0.03, abs=ATOL_ROUNDOFF)     # where it acts


def test_the_scale_is_as_long_as_it_says():
    array = grasp_markers(None, apple(), load_default_hand(), FRAME)
    shown = [m for m in array.markers if m.ns == 'scale' and m.action == Marker.ADD]
    texts = [m.text for m in shown if m.text]
    bar = next(m for m in shown if m.type == Marker.CUBE)
    assert texts[0] == f'{1e3 * bar.scale.x:.0f} mm'
    arrow = next(m for m in shown if m.type == Marker.ARROW)
    length = arrow.points[1].x - arrow.points[0].x
    assert texts[1] == f'force on the object, {length / FORCE_LENGTH:.0f} N'


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_legends_stand_where_the_palm_is_not(side):
    grasp, body = made_up_grasp(1), apple()
    T_object_palm = grasp.T_object_palm.copy()
    T_object_palm[0, 3] = side * 0.2
    array = grasp_markers(dataclasses.replace(grasp, T_object_palm=T_object_palm), body,
                          load_default_hand(), FRAME)
    words = [m.pose.position.x for m in array.markers
             if m.ns in ('pressure_legend', 'scale') and m.text]
    assert words and all(side * x < -np.abs(body.mesh.vertices[:, 0]).max() for x in words)


@pytest.mark.parametrize('surface', [True, False])
def test_the_best_grasp_shows_hand_forces_and_object(surface):
    grasp, body = made_up_grasp(1), apple()
    if not surface:
        grasp = dataclasses.replace(grasp, vertices=None, vertex_pressures=None)
    array = grasp_markers(grasp, body, load_default_hand(), FRAME)
    layer = 'deformation' if surface else 'object'
    legend = {'pressure_legend'} if surface else set()
    assert assert_fit_for_rviz(array) == {
        layer, 'hand', 'forces', 'contacts', 'centre_of_mass', 'scale', *legend}
    faces = next(m for m in array.markers if m.ns == layer and m.points)
    assert len(faces.points) == 3 * len(body.mesh.faces) and bool(faces.colors) == surface


def test_no_grasp_shows_the_object_alone():
    array = grasp_markers(None, apple(), load_default_hand(), FRAME)
    assert assert_fit_for_rviz(array) == {'object', 'centre_of_mass', 'scale'}


@pytest.mark.parametrize('count', [0, 1, 3])
def test_every_ranked_grasp_has_an_arrow_and_its_rank(count):
    array = ranked_markers([made_up_grasp(i + 1) for i in range(count)], FRAME)
    assert assert_fit_for_rviz(array) == ({'ranked_grasps', 'ranks'} if count else set())
    assert sum(m.ns == 'ranks' and m.action == Marker.ADD for m in array.markers) == count
