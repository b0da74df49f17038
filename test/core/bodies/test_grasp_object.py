"""Objects: identity by content, and a frame that turns with the body."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gripsim_ros.core import transforms
from gripsim_ros.core.bodies import (
    GraspObject, Material, mass_properties, shapes, TriangleMesh)
from gripsim_ros.core.bodies.grasp_object import _facing_shares

ATOL_ROUNDOFF = RTOL_ROUNDOFF = 1e-9
MATERIAL = Material(5e5, 0.4, 950.0, 0.5)
vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array)
BODIES = {
    'apple': shapes.apple(edge_length=0.01), 'sphere': shapes.sphere(0.04, 0.01),
    'cube': shapes.box([0.05, 0.05, 0.05]), 'box': shapes.box([0.02, 0.05, 0.08]),
    'bar': shapes.box([0.02, 0.02, 0.08], 0.01), 'mug': shapes.mug(edge_length=0.01),
    'plate': shapes.plate(), 'banana': shapes.banana(edge_length=0.01),
    'egg': shapes.egg(edge_length=0.01), 'torus': shapes.torus(edge_length=0.01)}


def test_the_id_names_vertices_faces_and_material_but_not_the_label():
    box = BODIES['box']
    name = GraspObject(box, MATERIAL).id
    assert len(name) == 32 and set(name) <= set('0123456789abcdef')
    assert GraspObject(box, MATERIAL, 'a box').id == name
    assert GraspObject(shapes.box([0.02, 0.05, 0.08]), Material(
        *MATERIAL.numbers, name='other')).id == name
    assert GraspObject(box.with_scale(1.0 + 1e-15), MATERIAL).id != name
    assert GraspObject(box.with_faces(np.roll(box.faces, 1, axis=0)), MATERIAL).id != name
    for changed in range(5):
        numbers = list(MATERIAL.numbers)
        numbers[changed] = 0.45 if changed < 4 else 1e5
        assert GraspObject(box, Material(*numbers)).id != name
    fragile = replace(MATERIAL, max_force=5.0)
    ids = {GraspObject(box, stuff).id for stuff in (
        MATERIAL, fragile, replace(fragile, max_force=4.0),
        replace(fragile, max_force_spread=0.1))}
    assert len(ids) == 4
    assert GraspObject(box, replace(MATERIAL, max_force_spread=0.1)).id == name     # of nothing


def test_mass_properties_are_those_of_the_mesh_at_the_density():
    grasp_object = GraspObject(BODIES['mug'], MATERIAL)
    expected = mass_properties(BODIES['mug'], 950.0)
    assert grasp_object.mass_properties.mass == expected.mass
    assert grasp_object.mass_properties is grasp_object.mass_properties


@pytest.mark.parametrize('name', sorted(BODIES))
def test_the_canonical_frame_is_right_handed_and_diagonalises_the_inertia(name):
    grasp_object = GraspObject(BODIES[name], MATERIAL)
    frame, properties = grasp_object.canonical_frame, grasp_object.mass_properties
    axes = frame[:3, :3]
    assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert_allclose(np.linalg.det(axes), 1.0, atol=1e-12)
    assert_allclose(frame[:3, 3], properties.centre_of_mass, atol=0.0)
    inertia = axes.T @ properties.inertia @ axes
    tie = 1e-3 * np.trace(inertia)
    assert_allclose(inertia, np.diag(np.diag(inertia)), atol=tie)
    assert (np.diff(np.diag(inertia)) > -tie).all()


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(sorted(BODIES)), rotation=vectors, translation=vectors)
def test_the_canonical_frame_turns_with_the_body(name, rotation, translation):
    mesh = BODIES[name]
    T_a_mesh = transforms.from_rotation_vector(np.concatenate([translation, 3.0 * rotation]))
    here = GraspObject(mesh, MATERIAL).canonical_frame
    there = GraspObject(mesh.with_transform(T_a_mesh), MATERIAL).canonical_frame
    assert_allclose(there, T_a_mesh @ here, atol=ATOL_ROUNDOFF)


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(['mug', 'banana']), seed=st.integers(0, 1000))
def test_the_canonical_frame_of_a_body_without_symmetry_ignores_the_numbering(name, seed):
    mesh = BODIES[name]
    skewed = mesh.with_vertices(mesh.vertices * (1.0 + 8.0 * mesh.vertices))
    order = np.random.default_rng(seed).permutation(len(mesh.vertices))
    shuffled = TriangleMesh(skewed.vertices[order], np.argsort(order)[mesh.faces])
    assert_allclose(GraspObject(shuffled, MATERIAL).canonical_frame,
                    GraspObject(skewed, MATERIAL).canonical_frame, atol=ATOL_ROUNDOFF)


def test_the_frame_points_where_the_third_moment_is_positive():
    frame = GraspObject(shapes.cone(0.02, 0.2), MATERIAL).canonical_frame
    assert_allclose(frame[:3, 0], [0.0, 0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize('sides', [(0.06, 0.06, 0.06), (0.05, 0.05, 0.1), (0.08, 0.08, 0.01)])
@given(rotation=vectors)
def test_the_axes_of_cubes_and_square_bars_are_square_to_their_sides(sides, rotation):
    turn = transforms.from_rotation_vector(np.concatenate([np.zeros(3), 3.0 * rotation]))
    box = shapes.box(sides).with_transform(turn)
    axes = GraspObject(box, MATERIAL).canonical_frame[:3, :3]
    square = np.abs(box.face_normals @ axes)
    assert_allclose(square.max(axis=1), 1.0, atol=ATOL_ROUNDOFF)


def test_a_ball_has_no_side_that_its_axes_could_be_square_to():
    ball = shapes.sphere(0.03, 0.004)
    axes = GraspObject(ball, MATERIAL).canonical_frame[:3, :3]
    centre = ball.vertices - ball.vertices.mean(axis=0)
    assert np.isclose(centre[0] / np.linalg.norm(centre[0]) @ axes[:, 0], 1.0)


def test_facets_are_weighed_one_by_one_as_all_at_once(rng):
    normals = rng.normal(size=(519, 3))
    units = normals / np.linalg.norm(normals, axis=1)[:, None]
    tried, weights = np.arange(0, len(units), 97), rng.random(len(units))
    at_once = ((units[tried] @ units.T) ** 16) @ weights
    shares = _facing_shares(units[tried].T.copy(), units, weights)
    assert_allclose(shares, at_once, rtol=RTOL_ROUNDOFF)
