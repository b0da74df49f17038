"""The arm's node beside the suite: grasps ordered by the arm's way, over DDS."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Pose, Quaternion  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import Task  # noqa: E402
from gripsim_interfaces.srv import ShowClosing  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from gripsim_ros.core.arm import load_arm  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import latched  # noqa: E402
from suite_cases import HYPOTHESES, goal, parameters, wait_for  # noqa: E402

FILE = Path(__file__).resolve().parents[3] / 'data' / 'ur5e.yaml'
#: Poses through quaternions, to rounding [m], [-].
ROUNDOFF = 1e-9
#: How far the palm may be from where the grasp wants it [m].
REACHED = 1e-4
#: For a message to come [s].
TIMEOUT = 60.0


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    """Run the suite with an arm, and a client of it."""
    folder = tmp_path_factory.mktemp('arm')
    with Suite(os.environ, parameters=parameters(folder), arm=FILE), \
            PlanGraspClient() as planner:
        yield planner


def ask(client, x, **fields):
    """Plan for the ball in front of the arm."""
    pose = Pose(position=Point(x=x, y=0.1, z=0.3), orientation=Quaternion(w=1.0))
    return client.plan(goal(hypotheses=HYPOTHESES, object_pose=pose, **fields))


@pytest.fixture(scope='module')
def result(client):
    """Return the answer for an object within reach."""
    return ask(client, 0.45)


def poses_of(array):
    """Return the poses of what is shown, frame of the markers."""
    return [pose_from_msg(marker.pose) for marker in array.markers if marker.action == Marker.ADD]


def close(poses, wanted):
    """Return whether poses are those wanted."""
    return len(poses) == len(wanted) and np.abs(poses - wanted).max() < ROUNDOFF


@pytest.mark.slow
class TestArmOverNodes:
    """What a client of the planner gets where an arm is configured."""

    def test_grasps_come_in_the_order_of_the_arms_way(self, result):
        assert result.status == PlanGrasps.Result.SUCCEEDED, result.message
        lengths = [grasp.arm_pregrasp_length for grasp in result.grasps]
        assert lengths == sorted(lengths) and lengths[0] > 0.0, result.message
        assert all(g.arm_path_length > g.arm_pregrasp_length for g in result.grasps)
        arm, grasp = load_arm(FILE, Path), result.grasps[0]
        rows = np.array([p.positions for p in grasp.arm_trajectory.points])
        assert list(grasp.arm_trajectory.joint_names) == list(arm.joint_names)
        assert np.abs(rows[0] - arm.start).max() < 1e-9
        palms = np.array([pose_from_msg(pose) for pose in grasp.arm_hand_poses])
        assert np.abs(palms - [arm.palm_pose(row) for row in rows]).max() < ROUNDOFF
        wanted = pose_from_msg(grasp.hand_pose)
        assert np.abs(palms - wanted).max(axis=(1, 2)).min() < REACHED

    def test_the_whole_motion_of_an_answered_grasp_is_shown_with_its_arm(self, client, result):
        grasp = result.grasps[-1]
        arm, service = load_arm(FILE, Path), client.node.create_client(ShowClosing, 'show_closing')
        arrays = []
        listener = client.node.create_subscription(
            MarkerArray, 'closing/arm_markers', arrays.append, latched(1))

        def shown(at_end):
            answer = service.call(ShowClosing.Request(
                rank=grasp.rank, fraction=float(at_end), whole=True))
            assert answer.success, answer.message
            row = grasp.arm_trajectory.points[-1 if at_end else 0].positions
            wanted = arm.poses(np.array(row))[arm.part_frames]
            return wait_for(lambda: arrays and close(poses_of(arrays[-1]), wanted), TIMEOUT)
        assert service.wait_for_service(TIMEOUT)
        assert shown(False) and shown(True)
        ask(client, 2.5)                            # the next plan takes it away
        assert wait_for(lambda: not poses_of(arrays[-1]), TIMEOUT)
        client.node.destroy_subscription(listener)
        client.node.destroy_client(service)

    @pytest.mark.nightly     # by day core/arm and the command line test it
    def test_a_request_may_want_the_whole_way_short_and_the_first_of_many(self, client):
        many = ask(client, 0.45, arm_criterion='whole')
        lengths = [grasp.arm_path_length for grasp in many.grasps]
        assert len(lengths) > 1 and lengths == sorted(lengths), many.message
        first, = ask(client, 0.45, arm_criterion='whole', max_grasps=1).grasps
        assert first.hypothesis == many.grasps[0].hypothesis

    @pytest.mark.nightly
    def test_another_start_is_another_way(self, client):
        arm = load_arm(FILE, Path)
        start = JointState(name=list(arm.joint_names), position=(arm.start + 0.2).tolist())
        result = ask(client, 0.45, arm_start=start)
        assert result.grasps[0].arm_trajectory.points[0].positions == pytest.approx(
            (arm.start + 0.2).tolist())

    def test_an_object_out_of_reach_has_no_grasp_and_a_reason(self, client):
        result = ask(client, 2.5)
        assert result.status == PlanGrasps.Result.NO_GRASP and not result.grasps
        assert 'the arm does not reach' in result.message
        assert 'no motion of the arm free of collision' in result.rejection_reasons

    @pytest.mark.nightly     # by day core/arm and the command line test it
    def test_the_object_may_be_in_a_keep_out_region_and_not_in_an_obstacle(self, client):
        seed = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.005])
        pose = Pose(position=Point(x=0.45, y=0.1, z=0.3), orientation=Quaternion(w=1.0))
        regions = ask(client, 0.45, task=Task(keep_out=[seed], keep_out_poses=[pose]))
        assert regions.status == PlanGrasps.Result.SUCCEEDED, regions.message
        result = ask(client, 0.45, obstacles=[seed], obstacle_poses=[pose])
        assert result.status == PlanGrasps.Result.NO_GRASP
        assert 'the object meets obstacle 1' in result.message

    def test_a_start_outside_the_limits_is_said(self, client):
        start = JointState(name=list(load_arm(FILE, Path).joint_names), position=[9.0] * 6)
        result = ask(client, 0.45, arm_start=start)
        assert result.grasps and 'not ordered by the arm' in result.message
        assert 'shoulder_pan_joint must lie in' in result.message
