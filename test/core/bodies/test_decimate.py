"""Decimation: enough faces, outward, close to the body, and turning with it."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull

from gripsim_ros.core import transforms
from gripsim_ros.core.bodies import TriangleMesh, convex_hull, decimate_hull, decimate_mesh, shapes
from gripsim_ros.core.errors import MeshError

vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array)
BODIES = {
    'apple': shapes.apple(), 'mug': shapes.mug(), 'banana': shapes.banana(),
    'plate': shapes.plate(edge_length=0.004), 'sphere': shapes.sphere(jitter=0.3, seed=2),
    'torus': shapes.torus(), 'bone': shapes.bone(), 'box': shapes.box([0.1, 0.1, 0.05], 0.005)}


@pytest.mark.parametrize('name', sorted(BODIES))
@pytest.mark.parametrize('count', [100, 400])
def test_a_decimated_mesh_has_few_faces_outward_normals_and_the_volume(name, count):
    mesh = BODIES[name]
    coarse = decimate_mesh(mesh, count)
    assert 0.5 * min(count, 12) <= len(coarse.faces) <= count
    assert coarse.face_areas.min() > 0.0
    assert_allclose(coarse.volume, mesh.volume, rtol=0.12)
    assert_allclose(coarse.extents, mesh.extents, rtol=0.06, atol=2e-3)
    # The area vectors of a closed outward surface add up to nothing.
    total = coarse.face_areas @ coarse.face_normals
    assert np.linalg.norm(total) < 1e-9 * coarse.area


def test_a_mesh_with_few_faces_is_returned_as_it_is():
    mesh = shapes.box([0.1, 0.1, 0.1])
    assert decimate_mesh(mesh, 12) is mesh


@pytest.mark.parametrize('count', [4, 8, 12, 20])
def test_very_few_faces_still_make_an_outward_body(count):
    for mesh in BODIES.values():
        coarse = decimate_mesh(mesh, count)
        assert coarse.volume > 0.0 and np.isfinite(coarse.vertices).all()


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(sorted(BODIES)), rotation=vectors, translation=vectors)
def test_decimation_turns_with_the_body(name, rotation, translation):
    T_a_mesh = transforms.from_rotation_vector(np.concatenate([translation, 3.0 * rotation]))
    here = decimate_mesh(BODIES[name], 200)
    there = decimate_mesh(BODIES[name].with_transform(T_a_mesh), 200)
    assert_array_equal(there.faces, here.faces)
    assert_allclose(there.vertices, here.with_transform(T_a_mesh).vertices, atol=1e-8)


@settings(max_examples=10, deadline=None)
@given(name=st.sampled_from(sorted(BODIES)), scale=st.floats(0.05, 20.0))
def test_decimation_does_not_depend_on_the_size_of_the_body(name, scale):
    here = decimate_mesh(BODIES[name], 200)
    there = decimate_mesh(BODIES[name].with_scale(scale), 200)
    assert_array_equal(there.faces, here.faces)
    assert_allclose(there.vertices, scale * here.vertices, atol=1e-8 * scale)


def test_an_open_mesh_is_refused():
    mesh = BODIES['apple']
    with pytest.raises(MeshError, match='closed mesh with outward normals'):
        decimate_mesh(mesh.with_faces(mesh.faces[1:]), 100)


@pytest.mark.parametrize('reduce', [decimate_mesh, decimate_hull])
def test_fewer_than_four_faces_are_refused(reduce):
    with pytest.raises(MeshError, match='at least 4 faces, got 3'):
        reduce(BODIES['apple'], 3)


@pytest.mark.parametrize('name', sorted(BODIES))
def test_a_hull_is_closed_convex_and_holds_the_body(name):
    mesh = BODIES[name]
    hull = convex_hull(mesh)
    assert hull.is_closed and hull.volume >= mesh.volume * (1.0 - 1e-9)
    offsets = np.einsum('fi,fi->f', hull.face_normals, hull.triangles[:, 0])
    heights = mesh.vertices @ hull.face_normals.T - offsets
    assert heights.max() < 1e-9


@pytest.mark.parametrize('name', sorted(BODIES))
def test_a_decimated_hull_is_convex_small_and_close(name):
    hull, coarse = convex_hull(BODIES[name]), decimate_hull(BODIES[name], 150)
    assert coarse.is_closed and len(coarse.faces) <= 150
    assert coarse.dihedral_angles.min() > -1e-6
    assert_allclose(coarse.volume, hull.volume, rtol=0.06)


def test_a_flat_mesh_has_no_hull():
    mesh = shapes.box([0.1, 0.1, 0.1])
    with pytest.raises(MeshError, match='do not lie in a plane'):
        convex_hull(mesh.with_vertices(mesh.vertices * [1.0, 1.0, 0.0]))


@pytest.mark.parametrize('sections', [64, 128, 400])
@pytest.mark.parametrize('reduce', [decimate_mesh, decimate_hull])
def test_long_slivers_do_not_stop_the_decimation(reduce, sections):
    angles = 2.0 * np.pi * np.arange(sections) / sections
    rim = 0.03 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = [np.column_stack([rim, np.full(sections, z)]) for z in (-0.05, 0.05)]
    tube = convex_hull(TriangleMesh(np.concatenate(ends), ConvexHull(
        np.concatenate(ends)).simplices))
    coarse = reduce(tube, 60)
    assert len(coarse.faces) <= 60 and coarse.is_closed
    assert_allclose(coarse.volume, tube.volume, rtol=0.06)


def test_threads_do_not_mix_their_meshes():
    meshes = {'box': shapes.box([0.05, 0.05, 0.08], 0.008), 'ball': shapes.sphere(0.04, 0.004),
              'cylinder': shapes.cylinder(0.03, 0.1, edge_length=0.006)}
    alone = {name: decimate_mesh(mesh, 16) for name, mesh in meshes.items()}
    found = {name: [] for name in meshes}

    def reduce(name):
        found[name] += [decimate_mesh(meshes[name], 16) for _ in range(40)]
    threads = [threading.Thread(target=reduce, args=(name,)) for name in meshes]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    for name, mesh in alone.items():
        assert len(found[name]) == 40
        for other in found[name]:
            assert_array_equal(other.vertices, mesh.vertices)
            assert_array_equal(other.faces, mesh.faces)
