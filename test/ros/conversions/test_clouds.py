"""Point clouds in requests: what is read from them, what is refused, what they are closed to."""

from hypothesis import given, strategies as st
import numpy as np
from numpy.testing import assert_array_equal
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from sensor_msgs.msg import PointCloud2, PointField  # noqa: E402
from scan_cases import RADIUS, eye, half_sphere  # noqa: E402

from gripsim_ros.core.bodies import GraspObject, Material  # noqa: E402
from gripsim_ros.core.errors import GripsimError, MeshError, ShapeError  # noqa: E402
from gripsim_ros.ros.clients.plan import plan_request  # noqa: E402
from gripsim_ros.ros.conversions import RequestReader  # noqa: E402
from gripsim_ros.ros.conversions.clouds import cloud_from_msg, cloud_to_msg  # noqa: E402

STUFF = Material(1e6, 0.45, 1000.0, 0.5, name='default')
READER = RequestReader({'default': STUFF}, lambda uri: uri, lambda label: None)
KINDS = {PointField.FLOAT32: 'f4', PointField.FLOAT64: 'f8'}


def packed(points, kind, big, width, gap):
    """Return a cloud as a driver may send it: organised, of any kind and order, with gaps."""
    order = '>' if big else '<'
    size = np.dtype(KINDS[kind]).itemsize
    step = 4 + 3 * size + gap
    rows = np.zeros((len(points) // width, width * step + gap), np.uint8)
    for row, line in enumerate(points.reshape(-1, width, 3)):
        for column, point in enumerate(line):
            start = column * step + 4
            rows[row, start:start + 3 * size] = np.frombuffer(
                point.astype(order + KINDS[kind]).tobytes(), np.uint8)
    fields = [PointField(name=name, offset=4 + i * size, datatype=kind, count=1)
              for i, name in enumerate('xyz')]
    fields.append(PointField(name='rgb', offset=0, datatype=PointField.UINT32, count=1))
    return PointCloud2(height=len(rows), width=width, point_step=step, row_step=rows.shape[1],
                       is_bigendian=big, fields=fields, data=rows.tobytes())


@given(st.sampled_from(sorted(KINDS)), st.booleans(), st.sampled_from([1, 3, 12]),
       st.integers(0, 5))
def test_points_arrive_as_they_were_sent(kind, big, width, gap):
    points = np.linspace(-1.0, 1.0, 36).reshape(12, 3)
    points[4, 1] = np.nan
    arrived, viewpoint = cloud_from_msg(packed(points, kind, big, width, gap))
    assert_array_equal(arrived, points.astype(KINDS[kind]).astype(float))
    assert viewpoint is None


def test_the_viewpoint_travels_with_the_points():
    points = half_sphere(20)
    arrived, viewpoint = cloud_from_msg(cloud_to_msg(points, np.array([1.0, 2.0, 3.0])))
    assert_array_equal(arrived, points)
    assert_array_equal(viewpoint, [1.0, 2.0, 3.0])


def changed(**values):
    """Return a good cloud with some fields set."""
    msg = cloud_to_msg(half_sphere(50))
    for name, value in values.items():
        setattr(msg, name, value)
    return msg


@pytest.mark.parametrize('msg, message', [
    (changed(width=0), 'must have points'),
    (changed(width=2_000_000, height=2_000), 'at most 2000000 points, got 4000000000'),
    (changed(data=b'123'), 'cloud.data must have row_step x height'),
    (changed(row_step=5), 'row_step must be at least'),
    (changed(fields=[]), r'fields x, y and z, got \[\]'),
    (changed(fields=[PointField(name=n, datatype=PointField.INT32, count=1) for n in 'xyz']),
     r'FLOAT32 \(7\) or FLOAT64 \(8\), got 1 of datatype 5'),
    (changed(fields=[PointField(name=n, offset=20, datatype=8, count=1) for n in 'xyz']),
     'at offset 20 does not fit point_step 24'),
    (changed(fields=[PointField(name=n, datatype=8, count=2) for n in 'xyz']), 'got 2 of')])
def test_clouds_of_another_layout_are_refused(msg, message):
    with pytest.raises(ShapeError, match=message):
        cloud_from_msg(msg)


def test_a_request_with_a_cloud_becomes_an_object_that_knows_where_it_was_seen():
    points = np.concatenate([half_sphere(), np.full((3, 3), np.nan)])
    goal = plan_request(cloud=cloud_to_msg(points, eye()), completion='mirror')
    request = READER.read(goal)
    assert request.grasp_object.mesh.is_closed
    assert request.grasp_object.seen.method == 'mirror'
    assert request.repairs[0] == 'dropped 3 points that are not finite'
    assert np.ptp(request.grasp_object.mesh.vertices[:, 2]) == pytest.approx(
        2.0 * RADIUS, abs=0.005)


@pytest.mark.parametrize('change, error, message', [
    ({'completion': 'guess'}, ShapeError, 'one of mirror, extrude, convex'),
    ({'mesh_resource': 'a.stl'}, MeshError, 'a cloud or a mesh, got both'),
    ({'cloud': PointCloud2()}, GripsimError, 'cloud must have points'),
    ({'scale': 1000.0}, MeshError, '--scale')])
def test_requests_with_unfit_clouds_are_refused(change, error, message):
    goal = plan_request(cloud=cloud_to_msg(half_sphere(), eye()), completion='mirror')
    for name, value in change.items():
        setattr(goal, name, value)
    with pytest.raises(error, match=message):
        READER.read(goal)


def test_another_material_keeps_what_was_seen():
    seen = READER.read(plan_request(cloud=cloud_to_msg(half_sphere(), eye()))).grasp_object
    reader = RequestReader({'default': STUFF, 'rubber': Material(1e6, 0.4, 900.0, 0.9)},
                           lambda uri: uri, lambda label: seen)
    goal = PlanGrasps.Goal(object_id='ball')
    goal.material.name = 'rubber'
    other = reader.read(goal).grasp_object
    assert isinstance(other, GraspObject) and other.seen is seen.seen
