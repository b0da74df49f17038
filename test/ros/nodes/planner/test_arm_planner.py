"""
The arm's node beside the suite: grasps ordered by the arm's way, over DDS.

By day the node is asked alone; at night by a planner, for grasps that it has stored or plans.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import Task  # noqa: E402
from gripsim_interfaces.srv import EvaluateGrasp, ShowClosing  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from gripsim_ros.core.arm import load_arm  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.conversions.requests.grasps import (  # noqa: E402
    GraspFrame, grasp_to_msg)
from gripsim_ros.ros.nodes.base.node_base import latched  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from sdh_cases import answer_of  # noqa: E402
from suite_cases import HYPOTHESES, as_request, goal, parameters, wait_for  # noqa: E402
from sweep_cases import store_made_up  # noqa: E402

FILE = Path(__file__).resolve().parents[3] / 'data' / 'ur5e.yaml'
#: Poses through quaternions, to rounding [m], [-].
ROUNDOFF = 1e-9
#: How far the palm may be from where the grasp wants it [m].
REACHED = 1e-4
#: For a message to come [s].
TIMEOUT = 60.0
#: Who answers where the ring is not asked.
ANSWERING = ('grasp_planner', 'arm_planner')


@pytest.fixture(scope='class')
def client(request, tmp_path_factory):
    """Run the suite with an arm, or what of it a class of tests needs, and a client of it."""
    folder = tmp_path_factory.mktemp('arm')
    values, names = request.cls.begin(folder)
    suite = Suite(os.environ, parameters=values, arm=FILE)
    try:
        suite.start(names)
        suite.wait_until_ready(names)
        with PlanGraspClient() as planner:
            yield planner
    finally:
        suite.stop(names)


#: A table, 50 mm below the ball, and the pose of its middle.
TABLE = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.4, 0.4, 0.1])
BELOW = Pose(position=Point(x=0.45, y=0.1, z=0.3 - 0.035 - 0.05 - 0.05),
             orientation=Quaternion(w=1.0))


WITHIN_REACH, BEYOND = (Pose(position=Point(x=x, y=0.1, z=0.3), orientation=Quaternion(w=1.0))
                        for x in (0.45, 1.2))


def moved(x, y, z):
    """Return a task that displaces the object."""
    return Task(has_displacement=True, displacement=Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(w=1.0)))


def ask(client, x, body=None, **fields):
    """Plan for an object in front of the arm, the ball unless another is given."""
    pose = Pose(position=Point(x=x, y=0.1, z=0.3), orientation=Quaternion(w=1.0))
    return client.plan(goal(body, hypotheses=HYPOTHESES, object_pose=pose, **fields))


@pytest.fixture(scope='class')
def result(request, client):
    """Return the answer for an object within reach."""
    return ask(client, 0.45, request.cls.body)


@contextmanager
def arm_planner(*arguments):
    """Run the node alone."""
    process = subprocess.Popen(
        [sys.executable, '-m', PROGRAMS['arm_planner'], '--ros-args', *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT)


def poses_of(array):
    """Return the poses of what is shown, frame of the markers."""
    return [pose_from_msg(marker.pose) for marker in array.markers if marker.action == Marker.ADD]


def close(poses, wanted):
    """Return whether poses are those wanted."""
    return len(poses) == len(wanted) and np.abs(poses - wanted).max() < ROUNDOFF


def check_order(result):
    """Assert that grasps come by the length of their ways, the first to its grasp."""
    assert result.status == PlanGrasps.Result.SUCCEEDED, result.message
    lengths = [grasp.arm_pregrasp_length for grasp in result.grasps]
    assert lengths == sorted(lengths) and lengths[0] > 0.0, result.message
    for grasp in result.grasps:
        check_way(grasp)


def check_way(grasp):
    """Assert that a grasp's way leads from the arm's start to the grasp."""
    assert grasp.arm_path_length > grasp.arm_pregrasp_length > 0.0
    arm = load_arm(FILE, Path)
    rows = np.array([p.positions for p in grasp.arm_trajectory.points])
    assert list(grasp.arm_trajectory.joint_names) == list(arm.joint_names)
    assert np.abs(rows[0] - arm.start).max() < 1e-9
    palms = np.array([pose_from_msg(pose) for pose in grasp.arm_hand_poses])
    assert np.abs(palms - [arm.palm_pose(row) for row in rows]).max() < ROUNDOFF
    wanted = pose_from_msg(grasp.hand_pose)
    assert np.abs(palms - wanted).max(axis=(1, 2)).min() < REACHED


def evaluated_at(pose):
    """Return the question about two grasps of an object there."""
    hand, request = load_default_hand(), as_request(
        goal(apple(), object_pose=pose), EvaluateGrasp.Request)
    frame = GraspFrame(Header(frame_id='world'), pose_from_msg(pose), hand.joint_names,
                       hand.joint_velocities)
    request.grasps = [grasp_to_msg(made_up_grasp(rank), frame) for rank in (5, 6)]
    return request


@pytest.mark.slow
def test_the_node_alone_tells_the_way_to_each_grasp_and_what_is_out_of_reach():
    with PlanGraspClient() as client, arm_planner(
            '-r', '__ns:=/alone', '-p', f'arm_config:={FILE}'):
        service = client.node.create_client(EvaluateGrasp, '/alone/choose_by_arm')
        assert service.wait_for_service(TIMEOUT)
        near, far = (answer_of(lambda: service.call_async(evaluated_at(pose)), wait_for)[0]
                     for pose in (WITHIN_REACH, BEYOND))
        client.node.destroy_client(service)
    assert len(near.grasps) == 2 and not any(near.reasons), near.message
    for grasp in near.grasps:
        check_way(grasp)
    assert len(far.reasons) == 2
    assert all(re.search(r'1\.\d\d m from its first joint, the links reach \d\.\d\d m', reason)
               for reason in far.reasons), far.reasons


@pytest.mark.nightly     # by day the node alone, test_arm_choice and core/arm
@pytest.mark.slow
class TestArmOverNodes:
    """What a client gets where an arm is configured, of grasps that a database holds."""

    body = apple()

    @staticmethod
    def begin(folder):
        """Store grasps; return the parameters of the nodes that answer, and their names."""
        grasps = [made_up_grasp(rank) for rank in (5, 6)]       # the way to the last is shortest
        database = store_made_up(folder / 'grasps.db', apple(), grasps, HYPOTHESES)
        return {'grasp_planner': {'grasp_database': database}}, ANSWERING

    def test_grasps_come_in_the_order_of_the_arms_way(self, result):
        check_order(result)

    def test_the_whole_motion_of_an_answered_grasp_is_shown_with_its_arm(self, client, result):
        grasp = result.grasps[-1]
        arm, service = load_arm(FILE, Path), client.node.create_client(ShowClosing, 'show_closing')
        arrays = []
        listener = client.node.create_subscription(
            MarkerArray, 'closing/arm_markers', arrays.append, latched(1))

        def shown(at_end):
            request = ShowClosing.Request(rank=grasp.rank, fraction=float(at_end), whole=True)
            answer, _ = answer_of(lambda: service.call_async(request), wait_for)
            assert answer.success, answer.message
            row = grasp.arm_trajectory.points[-1 if at_end else 0].positions
            wanted = arm.poses(np.array(row))[arm.part_frames]
            return wait_for(lambda: arrays and close(poses_of(arrays[-1]), wanted), TIMEOUT)
        assert service.wait_for_service(TIMEOUT)
        assert shown(False) and shown(True)
        closed = ShowClosing.Request(rank=grasp.rank, fraction=1.0)     # shows the hand alone
        assert answer_of(lambda: service.call_async(closed), wait_for)[0].success
        assert wait_for(lambda: not poses_of(arrays[-1]), TIMEOUT)
        client.node.destroy_subscription(listener)
        client.node.destroy_client(service)

    def test_an_object_out_of_reach_has_no_grasp_and_a_reason(self, client):
        result = ask(client, 1.2, self.body)
        assert result.status == PlanGrasps.Result.NO_GRASP and not result.grasps
        assert re.search(r'the arm does not reach .*: 1\.\d\d m from its first joint, the links '
                         r'reach \d\.\d\d m', result.message), result.message
        assert 'no motion of the arm free of collision' in result.rejection_reasons

    @pytest.mark.parametrize('x, fields, words', [
        (2.5, {}, r'the object stands 2\.\d\d m from the first joint of the arm, whose links and '
         r'hand reach 1\.\d\d m at most'),
        (0.45, {'task': moved(0.0, 0.0, 2.5)}, r'task\.displacement brings the object 2\.\d\d m '
         r'from the first joint'),
        (0.45, {'task': moved(0.0, 0.0, -0.1), 'obstacles': [TABLE], 'obstacle_poses': [BELOW]},
         r'task\.displacement leads the object into obstacle 1 of 1, by more than \d')])
    def test_what_no_grasp_can_do_is_refused_before_anything_is_planned(
            self, client, x, fields, words):
        result = ask(client, x, **fields)
        assert result.status == PlanGrasps.Result.INVALID_REQUEST, result.message
        assert re.search(words, result.message) and '\n' not in result.message, result.message
        assert not result.grasps and result.evaluated == 0

    def test_a_start_outside_the_limits_is_said(self, client):
        start = JointState(name=list(load_arm(FILE, Path).joint_names), position=[9.0] * 6)
        result = ask(client, 0.45, self.body, arm_start=start)
        assert result.grasps and 'not ordered by the arm' in result.message
        assert 'shoulder_pan_joint must lie in' in result.message


@pytest.mark.nightly        # by day those that were stored, core/arm and the command line
@pytest.mark.slow
class TestArmBesideTheRing:
    """What a client gets of grasps that are planned for it."""

    body = None

    @staticmethod
    def begin(folder):
        """Return the parameters of the nodes, and their names: all."""
        return parameters(folder), None

    def test_grasps_come_in_the_order_of_the_arms_way(self, result):
        check_order(result)

    def test_a_request_may_want_the_whole_way_short_and_the_first_of_many(self, client):
        many = ask(client, 0.45, arm_criterion='whole')
        lengths = [grasp.arm_path_length for grasp in many.grasps]
        assert len(lengths) > 1 and lengths == sorted(lengths), many.message
        first, = ask(client, 0.45, arm_criterion='whole', max_grasps=1).grasps
        assert first.hypothesis == many.grasps[0].hypothesis

    def test_another_start_is_another_way(self, client):
        arm = load_arm(FILE, Path)
        start = JointState(name=list(arm.joint_names), position=(arm.start + 0.2).tolist())
        result = ask(client, 0.45, arm_start=start)
        assert result.grasps[0].arm_trajectory.points[0].positions == pytest.approx(
            (arm.start + 0.2).tolist())

    def test_the_object_may_be_in_a_keep_out_region_and_not_in_an_obstacle(self, client):
        seed = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.005])
        pose = Pose(position=Point(x=0.45, y=0.1, z=0.3), orientation=Quaternion(w=1.0))
        regions = ask(client, 0.45, task=Task(keep_out=[seed], keep_out_poses=[pose]))
        assert regions.status == PlanGrasps.Result.SUCCEEDED, regions.message
        result = ask(client, 0.45, obstacles=[seed], obstacle_poses=[pose])
        assert result.status == PlanGrasps.Result.NO_GRASP
        assert 'the object meets obstacle 1' in result.message

    def test_where_another_arm_stands_there_is_no_way(self, client, result, tmp_path):
        others = tmp_path / 'others.yaml'
        others.write_text(yaml.safe_dump([{
            'arm': str(FILE), 'joints': load_arm(FILE, Path).start.tolist(),
            'pose': {'position': [0.45, 0.1, 0.1], 'orientation': [0.0, 0.0, 0.0, 1.0]}}]))
        request = as_request(goal(object_pose=WITHIN_REACH), EvaluateGrasp.Request)
        request.grasps = list(result.grasps)
        service = client.node.create_client(EvaluateGrasp, '/beside/choose_by_arm')
        with arm_planner('-r', '__ns:=/beside', '-p', f'arm_config:={FILE}',
                         '-p', f'other_arms:={others}'):
            assert service.wait_for_service(TIMEOUT)
            answer, _ = answer_of(lambda: service.call_async(request), wait_for)
        client.node.destroy_client(service)
        assert len(answer.reasons) == len(result.grasps) > 0, answer.message
        assert all(re.search(r"^step \d+: .* meets ur5e's ", text) for text in answer.reasons)


@pytest.mark.nightly     # a start of a node for one line; by day core/arm names the joints
def test_an_arm_without_limits_ends_the_node_with_one_line(tmp_path):
    text = (FILE.parent / 'ur5e.urdf').read_text(encoding='utf-8')
    (tmp_path / 'ur5e.urdf').write_text(re.sub(r'<limit[^>]*/>', '', text))
    (tmp_path / 'ur5e.yaml').write_text(FILE.read_text(encoding='utf-8'))
    with arm_planner('-p', f'arm_config:={tmp_path / "ur5e.yaml"}') as process:
        said = process.communicate(timeout=TIMEOUT)[1].strip()
        assert process.returncode == 2 and '\n' not in said, said
        assert re.search(r'arm_planner: .*shoulder_pan_joint.* limit', said), said
