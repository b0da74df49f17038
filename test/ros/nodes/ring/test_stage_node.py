"""Parts of the nodes that need no other process: parameters, objects, copies, frames."""

import subprocess
import sys
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from geometry_msgs.msg import TransformStamped  # noqa: E402
from gripsim_interfaces.msg import RingHeader  # noqa: E402

from gripsim_ros.core.batches import ConfigurationBatch  # noqa: E402
from gripsim_ros.core.bodies import GraspObject, Material, shapes  # noqa: E402
from gripsim_ros.core.errors import GripsimError  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.conversions.ring.stages import RingMessageError  # noqa: E402
from gripsim_ros.ros.nodes.base.broadcaster import FrameBroadcaster  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import COMMON_PARAMETERS, LATCHED_OBJECTS  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import (  # noqa: E402
    NodeParameter, ParameterError, default_values, unknown_parameters)
from gripsim_ros.ros.nodes.planner import grasp_planner  # noqa: E402
from gripsim_ros.ros.nodes.planner.grasp_planner import GraspPlannerNode  # noqa: E402
from gripsim_ros.ros.nodes.ring import (  # noqa: E402
    contact_detection, deformation, forward_kinematics, stage_node)
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode  # noqa: E402
from gripsim_ros.ros.nodes.ring.stage_node import (  # noqa: E402
    PLAN_DEPTH, STAGE_PARAMETERS, ObjectStore)

PARAMETERS = {
    'forward_kinematics': (*STAGE_PARAMETERS, *forward_kinematics.PARAMETERS),
    'contact_detection': (*STAGE_PARAMETERS, *contact_detection.PARAMETERS),
    'deformation': (*STAGE_PARAMETERS, *deformation.PARAMETERS),
    'grasp_planner': grasp_planner.PARAMETERS}
INFO = {'received_timestamp': 0}


@pytest.fixture(scope='module')
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def node(ros):
    """Return a way to make first stages whose answers are kept in ``sent``."""
    made = []

    def make(**parameters):
        arguments = ['--ros-args']
        for name, value in parameters.items():
            arguments += ['-p', f'{name}:={value}']
        stage = ForwardKinematicsNode(cli_args=arguments)
        stage.sent = []
        stage.publish = lambda side, answer: stage.sent.append(answer)
        stage.start()
        made.append(stage)
        return stage

    yield make
    for stage in made:
        stage.destroy_node()


def question(node, /, batch_id=0, attempt=0, **ring):
    joints = np.zeros((1, len(node.hand.joint_names)))
    batch = ConfigurationBatch(np.eye(4)[None], joints, joints, np.zeros((1, 3)))
    return conversions.configurations_to_msg(batch, RingHeader(
        **{'hand_id': node.hand.id, 'batch_id': batch_id, 'attempt': attempt, **ring}))


def test_a_question_that_comes_again_is_not_worked_on_twice(node, monkeypatch):
    stage, worked = node(), []
    answer = stage.answer
    monkeypatch.setattr(stage, 'answer', lambda *a: worked.append(a) or answer(*a))
    first = question(stage, 7, planner_id='p', request_id='r')
    again = question(stage, 7, 1, planner_id='p', request_id='r')
    other = question(stage, 7, 2, planner_id='p', request_id='r')
    other.joint_positions[0] = 0.25
    for message in (first, again, other):
        stage._on_input('plan', message, INFO)
    assert len(worked) == 2
    assert [msg.ring.attempt for msg in stage.sent[1:]] == [1, 2]
    assert stage.sent[0] is stage.sent[1] is not stage.sent[2]


def test_a_lost_answer_is_forgotten_after_a_while(node, monkeypatch):
    stage, worked = node(), []
    answer = stage.answer
    monkeypatch.setattr(stage, 'answer', lambda *a: worked.append(a) or answer(*a))
    for batch in range(2 * PLAN_DEPTH):
        stage._on_input('plan', question(stage, batch), INFO)
    stage._on_input('plan', question(stage, 2 * PLAN_DEPTH - 1, 1), INFO)
    assert len(worked) == 2 * PLAN_DEPTH
    stage._on_input('plan', question(stage, 0, 1), INFO)
    assert len(worked) == 2 * PLAN_DEPTH + 1


@pytest.mark.parametrize('name', list(PARAMETERS))
def test_every_parameter_has_a_default_in_its_range_and_a_description(name):
    parameters = {p.name: p for p in (*COMMON_PARAMETERS, *PARAMETERS[name])}
    defaults = default_values(name)
    assert set(defaults) == set(parameters)
    for key, parameter in parameters.items():
        assert parameter.checked(defaults[key]) == defaults[key]
        assert parameter.descriptor().description


def test_a_whole_number_may_stand_for_a_double_but_nothing_else():
    rate = NodeParameter('rate', float, 'A rate.', 0.1, 100.0)
    assert rate.checked(50) == 50.0 and isinstance(rate.checked(50), float)
    for wrong in (True, '50', 0.01, 1000, float('nan')):
        with pytest.raises(ParameterError, match='rate must be float from 0.1 to 100.0, got'):
            rate.checked(wrong)


def test_a_parameter_that_is_misspelt_is_told_with_the_nearest_name():
    lines = unknown_parameters(['copis', 'copies', 'use_sim_time', 'qos_overrides./tf.depth',
                                'nothing like it'], PARAMETERS['contact_detection'])
    assert lines == ["there is no parameter 'copis', it is ignored: did you mean copies?",
                     "there is no parameter 'nothing like it', it is ignored"]


def test_of_two_copies_each_batch_is_answered_by_one_and_a_retry_by_the_other(node):
    copies = [node(copies=2, copy=k) for k in range(2)]
    for attempt in range(2):
        for batch_id in range(4):
            for stage in copies:
                stage._on_input('plan', question(stage, batch_id, attempt), INFO)
    done = [{(a.ring.batch_id, a.ring.attempt) for a in stage.sent} for stage in copies]
    assert not done[0] & done[1] and len(done[0] | done[1]) == 8
    assert (0, 0) in done[0] and (0, 1) in done[1]


def test_a_failure_is_passed_on_untouched(node):
    stage = node()
    message = question(stage, status=RingHeader.FAILED, stage='elsewhere', message='why')
    stage._on_input('plan', message, INFO)
    ring = stage.sent[0].ring
    assert (ring.status, ring.stage, ring.message) == (RingHeader.FAILED, 'elsewhere', 'why')


def test_a_message_that_no_stage_sends_is_dropped_and_counted(node, monkeypatch):
    stage = node()

    def refuse(*_):
        raise RingMessageError('field depth must be finite, got NaN or infinity')
    monkeypatch.setattr(stage, 'answer', refuse)
    for _ in range(2):
        stage._on_input('plan', question(stage), INFO)
    assert not stage.sent and stage.dropped == 2
    assert stage.diagnose()[1]['messages dropped'] == 2 and 'depth' in stage.last_error
    monkeypatch.undo()
    stage._on_input('plan', question(stage), INFO)
    assert stage.sent[0].ring.status == RingHeader.OK


def test_a_node_that_is_not_active_answers_nothing(node):
    stage = node(autostart='false')
    stage._on_input('plan', question(stage), INFO)
    assert not stage.sent
    stage.trigger_configure()
    stage.trigger_activate()
    stage._on_input('plan', question(stage), INFO)
    assert len(stage.sent) == 1


def test_transforms_of_tf_lead_to_the_pose_of_the_palm(node):
    stage = node()
    for parent, child, x in (('world', 'object', 1.0), ('/world', stage.hand.base_link, 3.0)):
        stamped = TransformStamped(child_frame_id=child)
        stamped.header.frame_id = parent
        stamped.transform.translation.x = x
        stage._on_tf(SimpleNamespace(transforms=[stamped]), static=True)
    T_object_palm = stage._frames.pose('object', stage.hand.base_link, 0.0)
    np.testing.assert_array_equal(T_object_palm[:3, 3], [2.0, 0.0, 0.0])


def test_all_frames_of_the_hand_are_published_where_asked(node, monkeypatch):
    stage = node()
    published = []
    monkeypatch.setattr(FrameBroadcaster, 'publish', lambda self, sent: published.extend(sent))
    stage._broadcaster = FrameBroadcaster(stage, None)
    stage._tell_links(np.zeros(len(stage.hand.joint_names)))
    stage._broadcaster = None
    names = {t.child_frame_id for t in published}
    assert names == set(stage.hand.frame_names) - {stage.hand.base_link} > {'sdh_tip_link'}
    assert all(t.header.frame_id == stage.hand.base_link for t in published)


def named(i, label=''):
    material = Material(1e5 + i, 0.4, 500.0, 0.5)
    return GraspObject(shapes.sphere(0.03, 0.02), material, label)


def test_the_store_keeps_the_newest_objects_and_prepares_each_once():
    calls = []
    store = ObjectStore(lambda body: calls.append(body.id) or body.id, 2)
    bodies = [named(i) for i in range(LATCHED_OBJECTS + 3)]
    for body in bodies:
        store.add(body)
    assert len(store) == LATCHED_OBJECTS
    assert store.prepared(bodies[0].id) is None and not calls
    for body in (bodies[-1], bodies[-1], bodies[-2], bodies[-3], bodies[-1]):
        assert store.prepared(body.id) == body.id
    assert calls == [bodies[-1].id, bodies[-2].id, bodies[-3].id, bodies[-1].id]


def test_the_same_content_is_found_by_each_of_its_labels():
    store = ObjectStore(lambda body: body, 2)
    apple, pear, other = named(0, 'apple'), named(0, 'pear'), named(1)
    for body in (apple, pear, other):
        store.add(body)
    assert store.find('apple').id == store.find('pear').id == apple.id
    assert store.find('') is other and store.find(apple.id).id == apple.id
    assert store.find('plum') is None


@pytest.mark.parametrize('field', ['label', 'material.name'])
def test_a_label_as_long_as_a_book_is_refused_in_a_short_line(field):
    store, msg = ObjectStore(lambda body: body, 2), conversions.grasp_object_to_msg(named(0))
    setattr(msg.material if field == 'material.name' else msg, field.split('.')[-1], 'x' * 10**7)
    with pytest.raises(GripsimError, match=f'{field} must have at most 256 characters') as error:
        store.add_message(msg)
    assert len(str(error.value)) < 100 and len(store) == 0


def test_memory_is_given_back_when_a_large_object_is_prepared_or_forgotten(monkeypatch):
    class Scene:
        pass

    def prepare(body):
        arrays.append(weakref.ref(body.mesh.triangles))
        return Scene()
    store, scenes, arrays, living = ObjectStore(prepare, 1), [], [], []
    monkeypatch.setattr(stage_node, 'LARGE_MESH', 1)
    monkeypatch.setattr(stage_node, 'return_memory', lambda: living.append(
        [scene() is not None for scene in scenes]))
    for i in range(2):
        store.add(named(i))
        scenes.append(weakref.ref(store.prepared(named(i).id)))
    assert living == [[], [False]], 'the first scene is forgotten before memory is given back'
    assert [array() is None for array in arrays] == [True, False], 'and what it computed'
    bodies = [named(i) for i in range(2, LATCHED_OBJECTS + 2)]
    for body in bodies:
        store.add(body)
    assert living[2:] == [[False, True], [False, False]], 'the last scene goes with its object'
    monkeypatch.setattr(stage_node, 'LARGE_MESH', 100_000)
    store.add(named(-1))
    store.prepared(named(-1).id)
    assert len(living) == 4, 'small objects are not worth it'


def test_an_object_that_is_told_again_is_the_newest_under_its_label(monkeypatch):
    apple, pear = (conversions.grasp_object_to_msg(named(i, 'fruit')) for i in range(2))
    store = ObjectStore(lambda body: body, 2)
    for msg in (apple, pear):
        store.add_message(msg)
    assert store.find('fruit').id == store.find('').id == pear.object_id
    monkeypatch.setattr(stage_node, 'grasp_object_from_msg', None)      # is not read again
    store.add_message(apple)
    assert store.find('fruit').id == store.find('').id == apple.object_id


def test_a_planner_hears_of_known_objects_from_others_but_not_from_itself(ros, monkeypatch):
    apple, pear = (named(i, 'fruit') for i in range(2))
    node = GraspPlannerNode()
    stamps = []
    monkeypatch.setattr(node._object_publisher, 'publish',
                        lambda msg: stamps.append(time.time_ns()))
    try:
        node.publish_object(apple)
        node.publish_object(pear)
        node._send_object(apple)        # a stage lacks it, and that says nothing of the label
        for body, stamp in zip((apple, pear, apple), stamps, strict=True):
            node._on_object(conversions.grasp_object_to_msg(body), {'source_timestamp': stamp})
        assert node.objects.find('fruit') is pear
        now = {'source_timestamp': time.time_ns()}
        node._on_object(conversions.grasp_object_to_msg(apple), now)
        assert node.objects.find('fruit') is apple
    finally:
        node.close()
        node.destroy_node()


def test_a_planner_tells_others_of_the_object_that_took_its_label_back(ros, monkeypatch):
    apple, pear, nut = named(0, 'fruit'), named(1, 'fruit'), named(2)
    node, listener = GraspPlannerNode(), ObjectStore(lambda body: body, 2)
    sent = []
    monkeypatch.setattr(node._object_publisher, 'publish', sent.append)
    try:
        for body in (apple, nut, pear, apple, apple, nut):
            node.publish_object(body)
        assert [msg.object_id for msg in sent] == [b.id for b in (apple, nut, pear, apple)]
        for msg in sent:
            listener.add_message(msg)
        assert listener.find('fruit').id == node.objects.find('fruit').id == apple.id
    finally:
        node.close()
        node.destroy_node()


def test_a_planner_brings_an_object_again_after_many_others(ros, monkeypatch):
    body, *others = [named(i) for i in range(LATCHED_OBJECTS + 2)]
    node = GraspPlannerNode()
    sent = []
    monkeypatch.setattr(node._object_publisher, 'publish', sent.append)
    try:
        for each in (body, *others):
            node.publish_object(each)
        assert node.objects.find(body.id) is None
        node._send_object(body)
        assert [msg.object_id for msg in sent] == [b.id for b in (body, *others, body)]
    finally:
        node.close()
        node.destroy_node()


def test_nodes_with_a_hand_load_nothing_that_others_than_requests_need():
    """A parser of a dozen formats, and what it brings along, is 35 MB in each process."""
    code = ('import sys; from gripsim_ros.ros.nodes.ring import '
            'contact_detection, deformation, forward_kinematics; '
            'from gripsim_ros.library.resources import load_hand; load_hand(); '
            'print(*{"trimesh", "networkx", "PIL", "shapely"} & set(sys.modules))')
    done = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
