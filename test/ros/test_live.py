"""The live hand: joints merged over messages, poses found in a tree of frames."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.ros.nodes.base.frames import FrameError, FrameTree  # noqa: E402
from gripsim_ros.ros.nodes.base.live_joints import JointsError, LiveJoints  # noqa: E402

TIMEOUT, THRESHOLD = 0.5, 1e-4
NAMES = ('a', 'b', 'c')
ATOL_ROUNDOFF = 1e-12


@pytest.fixture
def joints():
    return LiveJoints(NAMES, TIMEOUT, THRESHOLD)


def test_joints_are_merged_by_name_over_partial_messages(joints):
    joints.merge(['b', 'a'], [2.0, 1.0], 0.0)
    joints.merge(['c', 'elbow'], [3.0, 9.0], 0.1)
    positions, _ = joints.sample(0.2)
    np.testing.assert_array_equal(positions, [1.0, 2.0, 3.0])
    assert joints.ignored == 1


def test_a_joint_that_is_missing_or_too_old_is_named(joints):
    joints.merge(['a', 'b'], [1.0, 2.0], 0.0)
    with pytest.raises(JointsError, match='of c$'):
        joints.sample(0.1)
    joints.merge(['c'], [3.0], 0.6)
    with pytest.raises(JointsError, match='of a, b$'):
        joints.sample(0.7)


@pytest.mark.parametrize('positions', [[1.0, float('nan'), 3.0], [1.0]])
def test_positions_that_are_missing_or_not_finite_are_refused(joints, positions):
    joints.merge(NAMES, positions, 0.0)
    assert joints.refused == 3 - np.isfinite(positions).sum()
    with pytest.raises(JointsError):
        joints.sample(0.0)


def test_the_displacement_is_the_last_motion_and_kept_while_at_rest(joints):
    joints.merge(NAMES, [0.0, 0.0, 0.0], 0.0)
    np.testing.assert_array_equal(joints.sample(0.0)[1], np.zeros(3))
    joints.merge(NAMES, [0.02, 0.0, -0.01], 0.1)
    np.testing.assert_allclose(joints.sample(0.1)[1], [0.02, 0.0, -0.01], rtol=0, atol=1e-15)
    joints.merge(NAMES, [0.02 + 0.5 * THRESHOLD, 0.0, -0.01], 0.2)
    np.testing.assert_allclose(joints.sample(0.2)[1], [0.02, 0.0, -0.01], rtol=0, atol=1e-15)


def test_a_slow_creep_adds_up_to_a_motion(joints):
    joints.merge(NAMES, [0.0, 0.0, 0.0], 0.0)
    joints.sample(0.0)
    for step in range(1, 4):
        joints.merge(NAMES, [0.4 * THRESHOLD * step, 0.0, 0.0], 0.1 * step)
        _, displacement = joints.sample(0.1 * step)
    assert displacement[0] > THRESHOLD


def random_pose(rng):
    return transform(Rotation.random(random_state=int(rng.integers(2**31))).as_matrix(),
                     rng.standard_normal(3))


def test_poses_between_branches_of_the_tree_are_composed(rng):
    tree = FrameTree(TIMEOUT)
    T_world_object, T_world_base, T_base_palm = (random_pose(rng) for _ in range(3))
    tree.update('/world', 'object', T_world_object, 0.0)
    tree.update('world', 'base', T_world_base, None)
    tree.update('base', 'palm', T_base_palm, 0.0)
    expected = np.linalg.inv(T_world_object) @ T_world_base @ T_base_palm
    np.testing.assert_allclose(tree.pose('object', 'palm', 0.1), expected, rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    assert tree.root('palm', 0.1) == 'world'


def test_an_object_given_in_the_palms_frame_needs_no_other(rng):
    tree = FrameTree(TIMEOUT)
    T_palm_object = random_pose(rng)
    tree.update('palm', 'object', T_palm_object, 0.0)
    np.testing.assert_allclose(tree.pose('object', 'palm', 0.0), np.linalg.inv(T_palm_object),
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_frames_without_a_connection_are_named():
    tree = FrameTree(TIMEOUT)
    tree.update('world', 'object', np.eye(4), 0.0)
    with pytest.raises(FrameError, match="'object' and 'palm'"):
        tree.pose('object', 'palm', 0.0)


def test_poses_grow_too_old_unless_they_are_static():
    tree = FrameTree(TIMEOUT)
    tree.update('world', 'palm', np.eye(4), None)
    tree.update('world', 'object', np.eye(4), 0.0)
    with pytest.raises(FrameError, match="'object' is 2.0 s old"):
        tree.pose('object', 'palm', 2.0)
    tree.update('world', 'object', np.eye(4), None)
    tree.pose('object', 'palm', 1e6)


def test_a_loop_of_frames_is_an_error():
    tree = FrameTree(TIMEOUT)
    tree.update('a', 'b', np.eye(4), None)
    tree.update('b', 'a', np.eye(4), None)
    with pytest.raises(FrameError, match='loop'):
        tree.pose('a', 'c', 0.0)
