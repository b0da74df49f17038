"""Poses in messages, against transforms3d, which writes quaternions w first."""

import numpy as np
import pytest

pytest.importorskip('geometry_msgs', reason='needs the built interfaces: `make setup`')

from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from transforms3d import affines, quaternions  # noqa: E402

from gripsim_ros.ros.conversions.geometry import (  # noqa: E402
    pose_from_msg, pose_to_msg, transform_from_msg, transform_to_msg)

#: Products of rotations by quaternions, in double precision.
ROUND_OFF = 1e-12
NUMBERS = st.floats(-10.0, 10.0)
POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
QUATERNIONS = st.tuples(*4 * [st.floats(-1.0, 1.0)]).map(np.array).filter(
    lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))


@given(position=POINTS, quaternion=QUATERNIONS)
def test_poses_and_transforms_of_messages_are_those_of_transforms3d(position, quaternion):
    wanted = affines.compose(position, quaternions.quat2mat(quaternion), np.ones(3))
    w, x, y, z = quaternion
    turned = Quaternion(x=x, y=y, z=z, w=w)
    px, py, pz = position
    pose = pose_from_msg(Pose(position=Point(x=px, y=py, z=pz), orientation=turned))
    moved = transform_from_msg(Transform(translation=Vector3(x=px, y=py, z=pz), rotation=turned))
    np.testing.assert_allclose(pose, wanted, atol=ROUND_OFF)
    np.testing.assert_array_equal(moved, pose)
    for back in (pose_to_msg(wanted).orientation, transform_to_msg(wanted).rotation):
        said = np.array([back.w, back.x, back.y, back.z])
        assert abs(said @ quaternion) == pytest.approx(1.0, abs=ROUND_OFF)
