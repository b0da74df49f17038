"""What the prescreen knows of an object: kept with it, and nearly the same however it is made."""

import gc
import weakref

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core import transforms
from gripsim_ros.core.bodies import GraspObject, decimate, shapes
from gripsim_ros.core.planning.hypotheses import coarse_object as module
from gripsim_ros.core.planning.hypotheses.coarse_object import coarse_object
from gripsim_ros.library.in_process import find_material


def test_what_the_quick_look_needs_is_kept_as_long_as_its_object():
    body = GraspObject(shapes.sphere(0.03, 0.01), find_material('wood'))
    look = coarse_object(body, 100, 50)
    assert coarse_object(body, 100, 50) is look
    assert coarse_object(body, 100, 40) is not look
    faces = weakref.ref(look[2])
    del look
    gc.collect()
    assert faces() is not None
    del body
    gc.collect()
    assert faces() is None


@pytest.fixture
def many(monkeypatch):
    """Let a mesh of 2,900 faces count as one of many."""
    monkeypatch.setattr(module, 'MANY_FACES', 2000)
    monkeypatch.setattr(module, 'FINE_FACES', 1500)


def test_a_mesh_of_many_faces_is_decimated_once_and_keeps_its_shape(many, monkeypatch):
    handed = []
    simplify = decimate.fast_simplification.simplify
    monkeypatch.setattr(decimate.fast_simplification, 'simplify', lambda points, faces, **limits: (
        handed.append(len(faces)), simplify(points, faces, **limits))[1])
    mesh = shapes.banana(edge_length=0.004)
    samples, _, faces = coarse_object(GraspObject(mesh, find_material('wood')), 400, 48)
    assert len(mesh.faces) > 2000 and handed.count(len(mesh.faces)) == 1
    assert_allclose(faces.volume, mesh.volume, rtol=0.12)
    assert_allclose(np.ptp(samples, axis=0), np.ptp(faces.vertices, axis=0), rtol=0.1)


def test_a_mesh_that_is_decimated_to_an_open_one_is_decimated_from_all_its_faces(
        many, monkeypatch):
    def opened(mesh, count, *frame):
        coarse = decimate.decimate_mesh(mesh, count, *frame)
        return coarse.with_faces(coarse.faces[1:]) if count == module.FINE_FACES else coarse

    monkeypatch.setattr(module, 'decimate_mesh', opened)
    mesh = shapes.banana(edge_length=0.004)
    samples, _, faces = coarse_object(GraspObject(mesh, find_material('wood')), 400, 48)
    assert len(faces.faces) <= 48 and len(samples) <= 2 * 400
    assert_allclose(faces.volume, mesh.volume, rtol=0.12)


def test_the_coarse_mesh_of_many_faces_turns_with_the_body(many):
    mesh, wood = shapes.banana(edge_length=0.004), find_material('wood')
    T_a_mesh = transforms.from_rotation_vector(np.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.2]))
    here = coarse_object(GraspObject(mesh, wood), 400, 48)
    there = coarse_object(GraspObject(mesh.with_transform(T_a_mesh), wood), 400, 48)
    assert_allclose(there[0], here[0], atol=1e-8)
    assert_allclose(there[2].vertices, here[2].vertices, atol=1e-8)
