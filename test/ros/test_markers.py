"""Markers as RViz wants them: cleared first, unique ids, nothing that is not finite."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from builtin_interfaces.msg import Time  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    FORCE_LENGTH, MarkerFrame, grasp_markers, live_markers, ranked_markers)
from marker_cases import assert_fit_for_rviz, pinch  # noqa: E402

ATOL_ROUNDOFF = 1e-12
FRAME = MarkerFrame('world', Time(sec=1))


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
