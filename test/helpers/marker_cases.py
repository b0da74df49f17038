"""What tests of markers share."""

import dataclasses
import numpy as np
import pytest
from visualization_msgs.msg import Marker
from gripsim_ros.core.batches import AS_CONFIGURED, GraspStateBatch
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.hands.warm_up_scene import warm_up_contacts, warm_up_object
from gripsim_ros.ros.markers import (
    MarkerFrame)


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
    contacts = list(warm_up_contacts(hand, AS_CONFIGURED))[-1]
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


FRAME = MarkerFrame('object')
