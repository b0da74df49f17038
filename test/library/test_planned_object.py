"""The object of a file of grasps is read again as it was planned for, wherever both have gone."""

import numpy as np
import pytest
import trimesh

from gripsim_ros.core.bodies import GraspObject, material_from_mapping, shapes
from gripsim_ros.core.bodies.scans.complete import complete_scan
from gripsim_ros.core.errors import GripsimError
from gripsim_ros.library.planned_object import (
    Completion, completion_of_grasps, object_of_grasps)

MATERIAL = {'youngs_modulus': 1e6, 'poisson_ratio': 0.4, 'density': 500.0, 'friction': 0.6,
            'max_pressure': None, 'name': 'felt'}
CAMERA = (0.0, 0.0, 0.6)


@pytest.fixture(scope='module')
def cap():
    """Return the points of a ball that a camera above it sees, in millimetres."""
    points = shapes.sphere(0.04, 0.006).vertices
    return 1e3 * points[points[:, 2] > 0.005]


def told(mesh, scale, completion=None):
    """Return the content of a file of grasps."""
    return {'object': {'mesh': str(mesh), 'scale': scale, 'material': MATERIAL, **(
        {} if completion is None else {'completion': completion.to_mapping()})}, 'grasps': []}


@pytest.mark.parametrize('viewpoint', [None, tuple(1e3 * np.array(CAMERA))])
@pytest.mark.parametrize('method', ['mirror', 'convex'])
def test_points_are_completed_as_for_the_plan(tmp_path, cap, method, viewpoint):
    np.save(tmp_path / 'cap.npy', cap)
    content = told(tmp_path / 'cap.npy', 0.001, Completion(method, viewpoint))
    completed = complete_scan(cap, method, 0.001, viewpoint)
    wanted = GraspObject(completed.mesh, material_from_mapping(MATERIAL), 'cap', completed.seen)
    read = object_of_grasps(content, tmp_path / 'grasps.json')
    assert read.id == wanted.id and read.label == 'cap'
    np.testing.assert_array_equal(read.seen.points, completed.seen.points)


def test_a_mesh_or_points_that_moved_with_the_grasps_are_found_beside_them(tmp_path, cap):
    ball, there = shapes.sphere(0.03, 0.01), tmp_path / 'there'
    there.mkdir()
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(there / 'ball.ply')
    np.save(there / 'cap.npy', cap)
    gone = tmp_path / 'gone'
    assert object_of_grasps(told(gone / 'ball.ply', 1.0), there / 'g.json').label == 'ball'
    assert object_of_grasps(told('ball.ply', 1.0), there / 'g.json').seen is None
    assert object_of_grasps(told(gone / 'cap.npy', 0.001, Completion('mirror')),
                            there / 'g.json').seen.method == 'mirror'
    with pytest.raises(GripsimError, match='nothing.ply.*--mesh names the object'):
        object_of_grasps(told(gone / 'nothing.ply', 1.0), there / 'g.json')


def test_a_whole_mesh_named_instead_of_the_points_is_not_completed(tmp_path):
    ball = shapes.sphere(0.03, 0.01)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(tmp_path / 'ball.stl')
    read = object_of_grasps(told('cap.npy', 1.0, Completion('mirror')), tmp_path / 'g.json',
                            str(tmp_path / 'ball.stl'))
    assert read.seen is None and read.mesh.volume == pytest.approx(ball.volume, rel=1e-6)


@pytest.mark.parametrize('completion', [
    'mirror', {}, {'method': 'mirror', 'viewpoint': [1.0]},
    {'method': 'mirror', 'viewpoint': [0.0, 0.0, None]}])
def test_a_completion_told_otherwise_than_plan_writes_it_is_refused(completion):
    with pytest.raises(GripsimError, match='completion must be {method, viewpoint'):
        completion_of_grasps({'object': {'completion': completion}})


@pytest.mark.parametrize('content', [
    [], {}, {'object': {}}, {'object': {'mesh': 'a.stl', 'scale': 'much', 'material': {}}},
    {'object': {'mesh': 'a.stl', 'scale': 1.0, 'material': 3}}])
def test_a_file_that_does_not_tell_its_object_is_refused(tmp_path, content):
    with pytest.raises(GripsimError, match='does not tell its object'):
        object_of_grasps(content, tmp_path / 'g.json')
