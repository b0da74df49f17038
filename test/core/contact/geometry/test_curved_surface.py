"""Polyhedra are taken at their word; samples of something round are not."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh

from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.contact import ContactMesh, SphereIndenter, sample_patch
from gripsim_ros.core.contact.geometry.curved_surface import control_points, is_polyhedron
from gripsim_ros.core.transforms import transform

ATOL = 1e-12
#: Directions of the corners of a hull of few points, half of whose folds turn by less than 30
#: degrees.
FEW = np.random.default_rng(5).normal(size=(16, 3))


def hull_of(points):
    """Return the hull of points."""
    hull = trimesh.Trimesh(points, process=False).convex_hull
    return TriangleMesh(hull.vertices, hull.faces)


def few_points():
    """Return a hull of few points, 60 mm across."""
    return hull_of(0.03 * FEW / np.linalg.norm(FEW, axis=1)[:, None])


def rod(count, height=0.06):
    """Return a regular prism of sides, 60 mm across."""
    angles = 2.0 * np.pi * np.arange(count) / count
    ring = 0.03 * np.column_stack([np.cos(angles), np.sin(angles)])
    return hull_of(np.concatenate([np.insert(ring, 2, z, axis=1) for z in (0.0, height)]))


def cone(count=64):
    """Return a cone, whose tip has a quarter of what its corners turn by."""
    angles = 2.0 * np.pi * np.arange(count) / count
    ring = 0.03 * np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    return hull_of(np.concatenate([ring, [[0.0, 0.0, 0.052]]]))


def half_round(count):
    """Return half a cylinder, flat from corner to corner: these have half of what it turns by."""
    angles = np.pi * np.arange(count + 1) / count
    arc = 0.03 * np.column_stack([np.cos(angles), np.sin(angles)])
    return hull_of(np.concatenate([np.insert(arc, 2, z, axis=1) for z in (0.0, 0.06)]))


@pytest.mark.parametrize('mesh, polyhedron', [
    (shapes.box([0.05, 0.07, 0.1]), True), (shapes.box([0.05, 0.07, 0.1], 0.01), True),
    (few_points(), True), (rod(3), True), (rod(11), True), (rod(13), False), (rod(64), False),
    (cone(), False), (half_round(12), False), (shapes.cylinder(0.03, 0.12), False),
    (shapes.sphere(0.03), False), (shapes.sphere(0.03, 0.02), False)],
    ids=['box', 'box of many', 'few points', 'of 3', 'of 11', 'of 13', 'of 64', 'cone',
         'half round', 'cylinder', 'ball', 'coarse ball'])
def test_a_polyhedron_turns_at_few_corners_what_round_bodies_turn_everywhere(mesh, polyhedron):
    assert is_polyhedron(mesh) == polyhedron


def test_an_open_mesh_is_none():
    box = shapes.box([0.05, 0.07, 0.1])
    assert not is_polyhedron(box.with_faces(box.faces[1:]))


def test_the_surface_of_a_polyhedron_is_its_triangles_where_folds_are_blunt_too():
    mesh = few_points()
    folds = np.abs(mesh.dihedral_angles)
    assert 0.2 < ((folds > 0.05) & (folds < np.deg2rad(30.0))).mean()
    body = ContactMesh(mesh)
    normals = mesh.face_normals[body.tree.faces]
    assert_allclose(body.surface.normals, np.repeat(normals[:, None], 3, axis=1), atol=ATOL)
    points = control_points(body.tree.corners, body.surface).reshape(len(normals), 10, 3)
    heights = ((points - body.tree.corners[:, :1]) * normals[:, None]).sum(axis=2)
    assert_allclose(heights, 0.0, atol=ATOL)


def test_a_ball_is_as_deep_in_a_face_of_a_polyhedron_as_in_its_plane():
    mesh, radius, depth = few_points(), 0.01, 2e-4
    face = int(mesh.face_areas.argmax())
    normal, middle = mesh.face_normals[face], mesh.vertices[mesh.faces[face]].mean(axis=0)
    pose = transform(np.eye(3), middle + (radius - depth) * normal)
    patch, = sample_patch(ContactMesh(mesh), SphereIndenter(radius), pose, -normal)
    aside = patch.points - middle
    assert_allclose(aside @ normal, 0.0, atol=ATOL)
    squares = (aside ** 2).sum(axis=1)
    loaded = patch.depths > 0.0
    assert_allclose(patch.depths[loaded], (depth - radius + np.sqrt(
        radius ** 2 - squares))[loaded], atol=1e-9)
