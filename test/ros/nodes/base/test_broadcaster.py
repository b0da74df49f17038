"""Whoever knows a pose tells it: one tree of frames, one parent a frame, in every launch."""

from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from launch_cases import hand_names, launched, start  # noqa: E402
from plan_cases import apple  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.suite import HAND_NODES, own_parameters  # noqa: E402
from gripsim_ros.ros.conversions import pose_to_msg, transform_from_msg  # noqa: E402
from gripsim_ros.ros.nodes.base.broadcaster import FrameBroadcaster  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import default_values  # noqa: E402
from gripsim_ros.ros.nodes.planner.plan_shown import PlanShown  # noqa: E402
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode  # noqa: E402

STAMP = Time(sec=1700000000, nanosec=500)
T_WORLD_OBJECT = transform(np.eye(3), np.array([0.3, 0.0, 0.1]))
T_WORLD_PALM = transform(np.diag([1.0, -1.0, -1.0]), np.array([0.3, 0.0, 0.4]))
ATOL_ROUNDOFF = 1e-12
HARDWARE = tuple(HAND_NODES)


@pytest.fixture()
def told(monkeypatch):
    """Return the transforms that are broadcast, with or without tf2_msgs."""
    transforms = []
    monkeypatch.setattr(FrameBroadcaster, 'publish', lambda self, some: transforms.extend(some))
    return transforms


def planner(**values):
    """Return what `PlanShown` needs of a planner node."""
    return SimpleNamespace(
        values={**default_values('grasp_planner'), **values}, hand=load_default_hand(),
        housekeeping=None, arrays=[], report_error=None,
        steady_timer=lambda *given: None,
        get_clock=lambda: SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time)),
        create_publisher=lambda *given: SimpleNamespace())


@pytest.fixture(scope='module')
def context():
    """Yield a ROS context."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    yield context
    context.try_shutdown()


def hear(context, publish_tf):
    """Let `forward_kinematics` hear poses and joints, as a simulator or a real hand sends them."""
    node = ForwardKinematicsNode(context=context, namespace='tree_test', cli_args=[
        '--ros-args', '-p', f'publish_tf:={str(publish_tf).lower()}'])
    try:
        node.active, header = True, Header(frame_id='world', stamp=STAMP)
        for child, T in (('object', T_WORLD_OBJECT), (node.hand.base_link, T_WORLD_PALM)):
            node._on_pose(PoseStamped(header=header, pose=pose_to_msg(T)), child)
        node._on_joints(JointState(header=header, name=list(node.hand.joint_names),
                                   position=[0.1] * len(node.hand.joint_names)))
        return node._frames
    finally:
        node.close()
        node.destroy_node()


@pytest.mark.parametrize('hardware', HARDWARE)
def test_there_is_one_tree_in_every_launch(context, told, hardware):
    own = own_parameters(hand_names(hardware), hardware)
    PlanShown(planner(**own['grasp_planner']))
    if hardware != 'none':
        hear(context, own['forward_kinematics']['publish_tf'])
    parents = {}
    for t in told:
        parents.setdefault(t.child_frame_id, set()).add(t.header.frame_id)
    assert all(len(some) == 1 for some in parents.values()), parents
    assert {p for some in parents.values() for p in some} - set(parents) == {'world'}
    hand = load_default_hand()
    assert set(parents) == {'object'} | (set(hand.frame_names) if hardware != 'none' else set())
    markers = {default_values(name)[key] for name, key in (
        ('deformation', 'object_frame'), ('grasp_planner', 'marker_frame'),
        ('sdh_simulator', 'frame'))}
    assert markers <= {'world', *parents}


@pytest.mark.parametrize('hardware', HARDWARE)
def test_launch_file_and_suite_tell_nodes_the_same(hardware):
    own = own_parameters(hand_names(hardware), hardware)
    nodes = {name: values for name, values in launched(hardware=hardware).items()
             if name in hand_names(hardware)}
    assert set(nodes) == set(own)
    for name, values in own.items():
        given = {key: nodes[name].get(key, False) for key in (
            *values, 'publish_tf', 'use_sim_time', 'publish_clock')}
        assert given == {**dict.fromkeys(given, False), **values}, name


def test_arguments_say_whose_they_are_and_former_names_still_work_with_a_warning():
    wanted = {'object': 'cup.stl', 'object_scale': 0.001, 'material': 'wood'}
    for arguments in ({'object_mesh': 'cup.stl', 'object_scale': '0.001',
                       'object_material': 'wood'},
                      {'object': 'cup.stl', 'scale': '0.001', 'material': 'wood'}):
        nodes, said = start(**arguments)
        given = nodes['grasp_planner']
        assert {name: given[name] for name in wanted} == wanted
        former = [name for name in arguments if not name.startswith('object_')]
        assert [line.split(':=')[0].split()[-1] for line in said] == former
    assert launched()['grasp_planner']['object_scale'] == 1.0


def test_frames_that_others_tell_are_left_to_them():
    for hardware in HARDWARE:
        nodes = launched(hardware=hardware, publish_tf='false')
        assert not any(values.get('publish_tf') for values in nodes.values())


@pytest.mark.parametrize('hardware, config', [
    ('none', 'gripsim.rviz'), ('sim', 'gripsim_live.rviz'), ('real', 'gripsim_live.rviz')])
def test_rviz_shows_what_there_is_by_the_clock_of_all(hardware, config):
    nodes = launched(hardware=hardware, use_rviz='true')
    assert nodes['rviz2']['arguments'][1].endswith(f'config/{config}')
    assert 'robot_state_publisher' not in nodes
    clocks = {values['use_sim_time'] for values in nodes.values()}
    assert clocks == {hardware == 'sim'}


def test_poses_and_links_have_the_stamps_of_the_measurement(context, told):
    frames = hear(context, True)
    stamps = {(t.header.stamp.sec, t.header.stamp.nanosec) for t in told}
    assert stamps == {(STAMP.sec, STAMP.nanosec)}
    poses = {t.child_frame_id: transform_from_msg(t.transform) for t in told}
    np.testing.assert_allclose(poses['object'], T_WORLD_OBJECT, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(poses[load_default_hand().base_link], T_WORLD_PALM,
                               atol=ATOL_ROUNDOFF)
    assert frames.root('object', 0.0) == 'world'


def test_nobody_asked_for_frames(context, told):
    hear(context, False)
    PlanShown(planner(publish_tf=False))
    assert not told


def test_the_object_is_where_the_last_request_has_it(told):
    shown = PlanShown(planner(publish_tf=True))
    request = SimpleNamespace(frame_id='table', T_frame_object=T_WORLD_OBJECT,
                              grasp_object=apple(), task=SimpleNamespace(obstacles=None))
    shown.show_object(apple(), request)
    assert [(t.header.frame_id, t.child_frame_id) for t in told] == [
        ('world', 'object'), ('table', 'object')]
    np.testing.assert_allclose(transform_from_msg(told[-1].transform), T_WORLD_OBJECT,
                               atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('parent', ['', 'object', '/object'])
def test_a_frame_in_itself_or_in_none_is_not_told(told, parent):
    FrameBroadcaster(planner(), None).send(parent, [('object', np.eye(4))])
    assert not told
