"""Messages: every batch survives the way over the wire bit for bit."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench  # noqa: E402
from gripsim_interfaces.msg import ContactPatch  # noqa: E402
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg  # noqa: E402
from gripsim_interfaces.msg import Material as MaterialMsg  # noqa: E402
from gripsim_interfaces.msg import RingHeader  # noqa: E402
from gripsim_interfaces.msg import Task as TaskMsg  # noqa: E402
from gripsim_interfaces.srv import PlanGrasp  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from shape_msgs.msg import Mesh, SolidPrimitive  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

from gripsim_ros.core import batches  # noqa: E402
from gripsim_ros.core.batches import (  # noqa: E402
    ConfigurationBatch, ContactBatch, GraspStateBatch, LinkStateBatch)
from gripsim_ros.apps.cli.output import plain  # noqa: E402
from gripsim_ros.core.bodies import GraspObject, Material, shapes  # noqa: E402
from gripsim_ros.core.errors import (  # noqa: E402
    GripsimError, HandError, MaterialError, MeshError, ShapeError, TaskError)
from gripsim_ros.core.planning.ranked_grasp import (  # noqa: E402
    GraspContact, ManipulationResult, ManipulationStep, NearestMiss, RankedGrasp, Robustness,
    ScoreTerm)
from gripsim_ros.core.planning.rejections import NOT_EVALUATED  # noqa: E402
from gripsim_ros.core.planning.task import REACHES  # noqa: E402
from gripsim_ros.core.planning.task import Task  # noqa: E402
from gripsim_ros.core.transforms import apply, from_pose, inverse, transform  # noqa: E402
from gripsim_ros.library.grasp_file import grasp_to_mapping  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.conversions import GraspFrame, RequestReader, arrays  # noqa: E402
from gripsim_ros.ros.conversions.requests.grasp_files import grasp_to_execute  # noqa: E402
from gripsim_ros.ros.conversions.requests.misses import miss_from_msg, miss_to_msg  # noqa: E402
from gripsim_ros.ros.conversions.requests.ranked import ranked_grasp_from_msg  # noqa: E402
from gripsim_ros.ros.conversions.requests.reach import reach_from_msg  # noqa: E402
from plan_cases import made_up_grasp  # noqa: E402

#: Quaternions and back: a few roundings of numbers around 1.
ATOL_ROUNDOFF = 1e-12
JOINTS, LINKS = 7, 10
RUBBER = Material(1e6, 0.45, 1100.0, 0.8, name='rubber')


def over_the_wire(msg):
    """Return the message as another process receives it."""
    return deserialize_message(serialize_message(msg), type(msg))


def random_array(rng, *shape):
    """Return finite numbers over the whole range of exponents."""
    return rng.standard_normal(shape) * 10.0 ** rng.integers(-300, 300, shape)


def random_poses(rng, n):
    """Return rigid transforms with finite translations over the whole range of exponents."""
    turns = Rotation.from_quat(rng.normal(size=(n, 4))).as_matrix() if n else np.zeros((0, 3, 3))
    return transform(turns, random_array(rng, n, 3))


def random_obstacles(rng, k):
    """Return primitives of all kinds in random places."""
    return np.hstack([rng.integers(1, 4, (k, 1)), np.abs(random_array(rng, k, 3)),
                      random_poses(rng, k)[:, :3].reshape(k, 12)])


def offsets(rng, rows, total):
    inner = np.sort(rng.integers(0, total + 1, max(0, rows - 1)))
    return np.concatenate([[0], inner, [total]]) if rows else np.zeros(1, int)


def random_configurations(rng, n):
    return ConfigurationBatch(
        random_poses(rng, n), random_array(rng, n, JOINTS), random_array(rng, n, JOINTS),
        random_array(rng, n, 3), random_array(rng, int(rng.integers(0, 4)), 9),
        random_obstacles(rng, int(rng.integers(0, 3))), int(rng.integers(0, 3)),
        random_array(rng, n, 6))


def random_contacts(rng, n):
    patches, nodes, vertices = (int(rng.integers(0, 9)) if n else 0 for _ in range(3))
    nodes = nodes if patches else 0
    return ContactBatch(
        random_configurations(rng, n), random_array(rng, n, LINKS), np.full(n, np.inf),
        random_array(rng, n), random_array(rng, n, LINKS), offsets(rng, n, patches),
        rng.integers(0, LINKS, patches), rng.integers(0, 256, patches),
        random_array(rng, patches), offsets(rng, patches, nodes), random_array(rng, nodes, 3),
        random_array(rng, nodes, 3), *(random_array(rng, nodes) for _ in range(3)),
        offsets(rng, n, vertices), random_array(rng, vertices, 3),
        random_array(rng, vertices, 3))


def random_states(rng, n, surface):
    patches = int(rng.integers(0, 9)) if n else 0
    rows = n if surface else 0
    values = {}
    for field in dataclasses.fields(GraspStateBatch):
        shape = conversions.ring.stages.GRASP_STATE_SHAPES[field.name]
        sizes = {'n': n, 'P': patches, 'L': LINKS, 'V': 5 if rows else 0, 'n?': rows}
        if field.name != 'patch_offsets':
            values[field.name] = random_array(rng, *[sizes.get(s, s) for s in shape])
    values['patch_offsets'] = offsets(rng, n, patches)
    values['patch_links'] = rng.integers(0, LINKS, patches)
    values['patch_flags'] = rng.integers(0, 256, patches)
    values['link_stiffness'] = np.abs(values['link_stiffness']) + np.eye(LINKS)
    values['worst_case'] = rng.integers(-1, 30, n)
    values['epsilon'] = np.full(n, np.nan)
    for name in ('capable', 'holds', 'quantitative', 'own_compliance'):
        values[name] = rng.integers(0, 2, n).astype(bool)
    return GraspStateBatch(**values)


def assert_same(a, b):
    """Assert that two batches are equal bit for bit, in value, shape and kind."""
    for field in dataclasses.fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if dataclasses.is_dataclass(x):
            assert_same(x, y)
        elif isinstance(x, int):
            assert x == y
        else:
            x, y = np.asarray(x), np.asarray(y)
            assert x.shape == y.shape and x.dtype.kind == y.dtype.kind, field.name
            assert x.tobytes() == y.astype(x.dtype).tobytes(), field.name


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 5))
def test_every_batch_survives_the_wire_bit_for_bit(seed, n):
    rng = np.random.default_rng(seed)
    ring = RingHeader(request_id='7')
    question = random_configurations(rng, n)
    assert_same(question, conversions.configurations_from_msg(over_the_wire(
        conversions.configurations_to_msg(question, ring)), JOINTS))
    links = LinkStateBatch(question, random_array(rng, n, LINKS, 4, 4),
                           random_array(rng, n, LINKS, 6))
    if n:
        assert_same(links, conversions.link_states_from_msg(over_the_wire(
            conversions.link_states_to_msg(links, ring)), LINKS))
        contacts = random_contacts(rng, n)
        assert_same(contacts, conversions.contacts_from_msg(over_the_wire(
            conversions.contacts_to_msg(contacts, ring)), LINKS))
        states = random_states(rng, n, surface=bool(seed % 2))
        assert_same(states, conversions.grasp_states_from_msg(over_the_wire(
            conversions.grasp_states_to_msg(states, question, ring))))


def test_a_field_of_the_wrong_length_is_refused_by_name():
    batch = random_configurations(np.random.default_rng(0), 2)
    msg = conversions.configurations_to_msg(batch)
    msg.joint_positions = msg.joint_positions[:-1]
    with pytest.raises(ShapeError, match='joint_positions'):
        conversions.configurations_from_msg(msg)


def test_a_question_that_is_not_finite_is_refused():
    batch = random_configurations(np.random.default_rng(0), 2)
    batch.joint_positions[1, 3] = np.nan
    with pytest.raises(ShapeError, match='joint_positions must be finite'):
        conversions.configurations_from_msg(conversions.configurations_to_msg(batch))


@pytest.mark.parametrize('field, value', [('patch_links', LINKS), ('patch_offsets', 100)])
def test_indices_that_lead_past_the_end_are_refused(field, value):
    rng = np.random.default_rng(3)
    contacts = random_contacts(rng, 3)
    msg = conversions.contacts_to_msg(contacts, RingHeader())
    getattr(msg, field)[-1] = value
    with pytest.raises(ShapeError, match=field):
        conversions.contacts_from_msg(msg, LINKS)


@pytest.mark.parametrize('stiffness', [0.0, -1.0])
def test_a_link_that_bears_forces_without_a_stiffness_is_refused(stiffness):
    rng = np.random.default_rng(4)
    states = random_states(rng, 3, False)
    link, owner = states.patch_links[-1], np.searchsorted(
        states.patch_offsets, len(states.patch_links) - 1, side='right') - 1
    states.link_stiffness[owner, link, link] = stiffness
    msg = conversions.grasp_states_to_msg(states, random_configurations(rng, 3), RingHeader())
    with pytest.raises(ShapeError, match='link_stiffness must be above 0'):
        conversions.grasp_states_from_msg(msg)


def test_integers_that_do_not_fit_the_wire_are_refused():
    with pytest.raises(ShapeError, match='integers'):
        arrays.sequence_to_msg(np.array([-1]), 'sequence<uint32>')


def test_an_object_keeps_its_identity_over_the_wire():
    ball = GraspObject(shapes.sphere(0.03, 0.01), RUBBER, 'ball')
    received = conversions.grasp_object_from_msg(
        over_the_wire(conversions.grasp_object_to_msg(ball)))
    assert received.id == ball.id and received.label == 'ball'
    assert received.material == RUBBER


def test_an_object_that_is_not_what_its_id_says_is_refused():
    msg = conversions.grasp_object_to_msg(GraspObject(shapes.sphere(0.03, 0.01), RUBBER))
    msg.vertices[0] += 1e-9
    with pytest.raises(MeshError, match='hash of the content'):
        conversions.grasp_object_from_msg(msg)


def test_limits_of_pressure_and_force_travel_and_their_absence_too():
    for stuff in (RUBBER, dataclasses.replace(RUBBER, max_force=6.6, max_force_spread=0.44),
                  dataclasses.replace(RUBBER, max_pressure=3e5)):
        assert conversions.material_from_msg(conversions.material_to_msg(stuff), {}) == stuff


def test_a_material_is_found_by_name_and_an_unknown_one_names_the_known():
    library = {'rubber': RUBBER}
    assert conversions.material_from_msg(MaterialMsg(name='rubber'), library) is RUBBER
    with pytest.raises(MaterialError, match="rubber .*got 'jelly'"):
        conversions.material_from_msg(MaterialMsg(name='jelly'), library)
    with pytest.raises(MaterialError, match='youngs_modulus'):
        conversions.material_from_msg(MaterialMsg(name='rubber', youngs_modulus=-1.0), library)


def random_pose(rng):
    quaternion = rng.standard_normal(4)
    return from_pose(rng.standard_normal(3), quaternion / np.linalg.norm(quaternion))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_poses_survive_the_way_to_a_message_and_back(seed):
    T_a_b = random_pose(np.random.default_rng(seed))
    np.testing.assert_allclose(conversions.pose_from_msg(conversions.pose_to_msg(T_a_b)), T_a_b,
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_an_all_zero_orientation_is_the_identity():
    pose = Pose(orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=0.0))
    np.testing.assert_array_equal(conversions.pose_from_msg(pose), np.eye(4))


#: Fields of a task that hold numbers.
NUMBERS_OF_TASKS = [field for field in dataclasses.fields(Task) if field.name != 'reach']


def random_task(rng):
    return Task(
        gravity_directions=rng.standard_normal((2, 3)), gravity=3.7,
        external_wrenches=rng.standard_normal((3, 6)), displacement_object=random_pose(rng),
        approach_direction=rng.standard_normal(3), approach_half_angle=0.4,
        obstacles=np.array([[1, .1, .2, .3, *random_pose(rng)[:3].ravel()]]),
        keep_out=np.array([[2, .1, 0, 0, *random_pose(rng)[:3].ravel()],
                           [3, .2, .1, 0, *random_pose(rng)[:3].ravel()]]),
        contact_region=np.array([[2, .3, 0, 0, *random_pose(rng)[:3].ravel()]]),
        reach=str(rng.choice(REACHES)), pose_uncertainty=rng.uniform(0.0, 0.1, 2))


def read(request, **known):
    reader = RequestReader({'rubber': RUBBER}, lambda uri: uri, known.get)
    return reader.read(request)


def plan_request(task=None, **fields):
    ball = shapes.sphere(0.03, 0.01)
    request = PlanGrasp.Request(mesh=conversions.mesh_to_msg(ball.vertices, ball.faces),
                                material=MaterialMsg(name='rubber'), **fields)
    if task is not None:
        request.task, request.obstacles, request.obstacle_poses = conversions.task_to_msg(task)
    return request


def test_what_a_request_brings_is_told_before_it_is_read(tmp_path):
    def refuse(uri):
        if uri == 'confined':
            raise MeshError('not here')
        return Path(uri)
    reader, ball = RequestReader({}, refuse, {}.get), shapes.sphere(0.03, 0.005)
    path = tmp_path / 'ball.stl'
    trimesh.Trimesh(ball.vertices, ball.faces).export(path)
    in_message = plan_request()
    assert reader.triangle_estimate(in_message) == len(in_message.mesh.triangles) > 0
    in_file = PlanGrasp.Request(mesh_resource=str(path))
    assert reader.triangle_estimate(in_file) == pytest.approx(len(ball.faces), abs=2)
    for uri in ('', 'confined', str(tmp_path / 'none.stl'), 'nul\0'):
        assert reader.triangle_estimate(PlanGrasp.Request(mesh_resource=uri)) == 0


def assert_same_task(a, b):
    assert a.reach == b.reach
    for field in NUMBERS_OF_TASKS:
        np.testing.assert_allclose(getattr(a, field.name), getattr(b, field.name), rtol=0.0,
                                   atol=ATOL_ROUNDOFF, err_msg=field.name)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_task_in_the_objects_own_frame_survives_the_wire(seed):
    task = random_task(np.random.default_rng(seed))
    assert_same_task(read(over_the_wire(plan_request(task))).task, task)


def test_a_task_without_gravity_is_refused_as_a_message_would_read_it_as_standard():
    assert read(plan_request()).task.gravity == Task().gravity  # what 0 in a message means
    with pytest.raises(TaskError, match='gravity must be above 0 m/s.2 over nodes, got 0'):
        conversions.task_to_msg(Task(gravity=0.0))


@pytest.mark.parametrize('field', [field.name for field in NUMBERS_OF_TASKS])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), wrong=st.sampled_from([np.nan, np.inf, -np.inf]))
def test_a_task_with_a_number_that_is_not_finite_is_refused_by_name(field, seed, wrong):
    rng = np.random.default_rng(seed)
    values = vars(random_task(rng))
    numbers = np.array(values[field], float)
    numbers.flat[rng.integers(numbers.size)] = wrong
    with pytest.raises(TaskError, match=field):
        Task(**(values | {field: numbers if numbers.ndim else float(numbers)}))


@pytest.mark.parametrize('field', [
    'gravity_directions', 'external_wrenches', 'displacement_object', 'approach_direction',
    'obstacles', 'keep_out', 'contact_region'])
def test_a_task_with_an_array_of_another_shape_is_refused_by_name(field):
    with pytest.raises(TaskError, match=field):
        Task(**{field: np.ones(5)})


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_request_told_in_another_frame_is_the_same_task(seed):
    rng = np.random.default_rng(seed)
    task, T_frame_object = random_task(rng), random_pose(rng)
    turn = T_frame_object[:3, :3]
    moved = task.displacement_object
    told = Task(
        task.gravity_directions @ turn.T, task.gravity,
        (task.external_wrenches.reshape(-1, 2, 3) @ turn.T).reshape(-1, 6),
        from_turned(turn, moved), turn @ task.approach_direction, task.approach_half_angle,
        in_frame(task.obstacles, T_frame_object), in_frame(task.keep_out, T_frame_object),
        in_frame(task.contact_region, T_frame_object), task.reach, task.pose_uncertainty)
    request = plan_request(told, object_pose=conversions.pose_to_msg(T_frame_object))
    assert_same_task(read(request).task, task)


def from_turned(turn, T_motion):
    """Return a motion told in axes that are turned against the object's."""
    result = np.eye(4)
    result[:3, :3] = turn @ T_motion[:3, :3] @ turn.T
    result[:3, 3] = turn @ T_motion[:3, 3]
    return result


def in_frame(rows, T_frame_object):
    rows = rows.copy()
    for row in rows:
        pose = np.vstack([row[4:].reshape(3, 4), [0, 0, 0, 1]])
        row[4:] = (T_frame_object @ pose)[:3].ravel()
    return rows


@pytest.mark.parametrize('change, message', [
    ({'mesh': Mesh()}, 'mesh_resource or mesh'),
    ({'mesh_resource': 'a.stl'}, 'exactly one'),
    ({'scale': -1.0}, 'scale must be above 0'),
    ({'scale': float('nan')}, 'scale'),
    ({'max_planning_time': -1.0}, 'max_planning_time'),
    ({'material': MaterialMsg(name='jelly')}, 'jelly'),
    ({'object_pose': Pose(orientation=Quaternion(x=3.0))}, 'object_pose'),
    ({'object_pose': Pose(position=Point(x=float('inf')))}, 'object_pose'),
    ({'obstacles': [SolidPrimitive(type=4, dimensions=[1.0, 1.0])], 'obstacle_poses': [Pose()]},
     'box .1., sphere .2. or cylinder .3.'),
    ({'obstacles': [SolidPrimitive(type=1, dimensions=[1.0])], 'obstacle_poses': [Pose()]},
     '3 dimensions'),
    ({'obstacles': [SolidPrimitive(type=2, dimensions=[-1.0])], 'obstacle_poses': [Pose()]},
     'above 0'),
    ({'obstacles': [SolidPrimitive(type=2, dimensions=[1.0])]}, 'one pose each'),
    ({'task': TaskMsg(gravity=-1.0)}, 'gravity'),
    ({'task': TaskMsg(gravity_directions=[Vector3()])}, 'zero length'),
    ({'task': TaskMsg(approach_direction=Vector3(x=1.0), approach_half_angle=0.0)},
     'approach_half_angle'),
    ({'object_id': 'x' * 10_000_000}, 'at most 256 characters, got 10000000'),
    ({'task': TaskMsg(gravity_directions=[Vector3(z=-1.0)] * 100,
                      external_wrenches=[Wrench()] * 1000)}, 'load cases, got 100000'),
    ({'task': TaskMsg(external_wrenches=[Wrench()] * 5000)}, 'at most 1000, got 5000'),
    ({'obstacles': [SolidPrimitive()] * 1001}, 'at most 1000, got 1001'),
])
def test_a_malformed_request_is_refused_in_one_clear_line(change, message):
    request = plan_request()
    for name, value in change.items():
        setattr(request, name, value)
    with pytest.raises(GripsimError, match=message) as caught:
        read(request)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('vertices, faces, message', [
    ([[0, 0, 0]], np.zeros((0, 3)), '0 triangles'),
    ([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]], [[0, 1, 2]], 'finite'),
    ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]], 'index 3'),
])
def test_a_broken_mesh_message_is_refused(vertices, faces, message):
    msg = conversions.mesh_to_msg(np.array(vertices, float), np.array(faces, int))
    with pytest.raises(MeshError, match=message):
        conversions.mesh_from_msg(msg)


@pytest.mark.parametrize('faces, vertices', [(11, 4), (4, 31)])
def test_a_mesh_message_may_be_as_large_as_a_file(monkeypatch, faces, vertices):
    monkeypatch.setattr(conversions.geometry, 'MAX_FACES', 10)
    with pytest.raises(MeshError, match=f'10 triangles .* got {faces} and {vertices}'):
        conversions.mesh_from_msg(conversions.mesh_to_msg(
            np.zeros((vertices, 3)), np.zeros((faces, 3), int)))
    with pytest.raises(MeshError, match=f'10 triangles .* got {faces} and {vertices}'):
        conversions.grasp_object_from_msg(GraspObjectMsg(
            vertices=[0.0] * (3 * vertices), faces=[0] * (3 * faces)))


def test_a_published_object_is_found_by_its_label_and_may_get_another_material():
    ball = GraspObject(shapes.sphere(0.03, 0.01), RUBBER, 'ball')
    request = PlanGrasp.Request(object_id='ball')
    assert read(request, ball=ball).grasp_object is ball
    request.material = MaterialMsg(youngs_modulus=5e5, poisson_ratio=0.3, density=900.0,
                                   friction=0.5)
    other = read(request, ball=ball).grasp_object
    assert other.id != ball.id and other.material.density == 900.0


def make_grasp(rng):
    vectors = ('point', 'normal', 'force', 'torque', 'closing_force', 'closing_torque')
    contact = GraspContact(link='link', **dict(zip(vectors, rng.standard_normal((6, 3)))))
    return RankedGrasp(
        rank=1, hypothesis=17, preshape='wide', stable=True, T_object_palm=random_pose(rng),
        T_object_pregrasp=random_pose(rng), trajectory=rng.standard_normal((5, JOINTS)),
        grip_positions=rng.standard_normal(JOINTS), grip_efforts=rng.standard_normal(JOINTS),
        contacts=(contact,), score=0.7, terms=(ScoreTerm('margin', 1.2, '-', 0.3, 0.25),),
        margin=1.2, quantitative=True, max_displacement=0.002,
        centre_of_mass=rng.standard_normal(3), warnings=('thin',))


NAMES = tuple(f'joint_{i}' for i in range(JOINTS))


def test_a_grasp_is_told_in_the_frame_of_the_request_and_read_back():
    rng = np.random.default_rng(5)
    grasp, T_frame_object = make_grasp(rng), random_pose(rng)
    frame = GraspFrame(Header(frame_id='table'), T_frame_object, NAMES, np.full(JOINTS, 100.0))
    msg = over_the_wire(conversions.grasp_to_msg(grasp, frame))
    assert msg.header.frame_id == 'table' and msg.quality[0].name == 'margin'
    T, rows = conversions.grasp_from_msg(msg, T_frame_object, NAMES)
    np.testing.assert_allclose(T, grasp.T_object_palm, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_array_equal(rows, grasp.trajectory)
    point = apply(inverse(T_frame_object), conversions.xyz(msg.contacts[0].point)[None])[0]
    np.testing.assert_allclose(point, grasp.contacts[0].point, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_trajectory_rows_are_evenly_spaced_and_within_the_velocity_limits():
    rng = np.random.default_rng(6)
    velocities = np.full(JOINTS, 0.5)
    frame = GraspFrame(Header(), np.eye(4), NAMES, velocities)
    points = conversions.grasp_to_msg(make_grasp(rng), frame).joint_trajectory.points
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points])
    rows = np.array([p.positions for p in points])
    np.testing.assert_allclose(np.diff(times), times[1], rtol=1e-6, atol=1e-8)
    assert (np.abs(np.diff(rows, axis=0)) / times[1] <= velocities * (1 + 1e-6)).all()


def test_joints_of_a_grasp_come_in_any_order_but_all_of_them_and_no_others():
    rng = np.random.default_rng(7)
    frame = GraspFrame(Header(), np.eye(4), NAMES, np.full(JOINTS, 1.0))
    msg = conversions.grasp_to_msg(make_grasp(rng), frame)
    wanted = conversions.grasp_from_msg(msg, np.eye(4), NAMES)[1]
    msg.joint_trajectory.joint_names = list(NAMES[::-1])
    for point in msg.joint_trajectory.points:
        point.positions = point.positions[::-1]
    np.testing.assert_array_equal(conversions.grasp_from_msg(msg, np.eye(4), NAMES)[1], wanted)
    msg.joint_trajectory.joint_names[0] = 'elbow'
    with pytest.raises(HandError, match=r"unknown \['elbow'\], missing \['joint_6'\]"):
        conversions.grasp_from_msg(msg, np.eye(4), NAMES)
    msg.joint_trajectory.points = []
    msg.joint_trajectory.joint_names = list(NAMES)
    with pytest.raises(TaskError, match='at least one point'):
        conversions.grasp_from_msg(msg, np.eye(4), NAMES)


def test_what_a_grasp_says_of_itself_survives_the_wire():
    T_frame_object = random_pose(np.random.default_rng(10))
    grasp = dataclasses.replace(
        make_grasp(np.random.default_rng(8)), damage_margin=2.5,
        terms=(ScoreTerm('support', 0.01, 'm', 0.3, 0.15, 0.5),), max_deformation=2e-3,
        mean_deformation=1e-4, strain_energy=3e-3, peak_von_mises=4e4, residual=0.01,
        T_object_settled=random_pose(np.random.default_rng(9)),
        robustness=Robustness(20, 0.9, 0.07, 1.4),
        limiting_load=np.random.default_rng(11).normal(size=6), epsilon=0.1, wrench_volume=0.02,
        centre_shift=3e-6, elasticity='body')
    names = [field.name for field in dataclasses.fields(GraspContact) if field.type is float]
    numbers = dict(zip(names, np.random.default_rng(13).uniform(size=99)))
    grasp = dataclasses.replace(grasp, contacts=(dataclasses.replace(
        grasp.contacts[0], closing_torque=np.array([1.0, 2.0, 3.0]), flags=18, **numbers),))
    frame = GraspFrame(Header(), T_frame_object, NAMES, np.full(JOINTS, 1.0))
    msg = over_the_wire(conversions.grasp_to_msg(grasp, frame))
    back = ranked_grasp_from_msg(msg, T_frame_object, NAMES)
    np.testing.assert_allclose(
        conversions.xyz(msg.limiting_load.force), T_frame_object[:3, :3] @ grasp.limiting_load[:3])
    np.testing.assert_allclose(back.limiting_load, grasp.limiting_load, atol=ATOL_ROUNDOFF)
    assert back.robustness == grasp.robustness and back.terms == grasp.terms
    for name in ('damage_margin', 'max_deformation', 'mean_deformation', 'strain_energy',
                 'peak_von_mises', 'residual', 'epsilon', 'wrench_volume', 'centre_shift',
                 'elasticity'):
        assert getattr(back, name) == getattr(grasp, name)
    assert back.contacts[0].flags == 18
    assert {name: getattr(back.contacts[0], name) for name in names} == numbers
    for name in ('force', 'closing_force', 'closing_torque'):
        np.testing.assert_allclose(getattr(back.contacts[0], name),
                                   getattr(grasp.contacts[0], name), atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(back.T_object_settled, grasp.T_object_settled, atol=ATOL_ROUNDOFF)
    plain = conversions.grasp_to_msg(make_grasp(np.random.default_rng(8)), frame)
    again = ranked_grasp_from_msg(over_the_wire(plain), np.eye(4), NAMES)
    assert again.robustness is None and again.limiting_load is None


def test_given_grasps_that_were_not_judged_come_back_as_they_were_given():
    rng = np.random.default_rng(21)
    T_frame_object = random_pose(rng)
    frame = GraspFrame(Header(frame_id='table'), T_frame_object, NAMES, np.full(JOINTS, 1.0))
    given = [make_grasp(rng) for _ in range(4)]
    given = [dataclasses.replace(
        grasp, rank=i + 1, hypothesis=i, T_object_pregrasp=grasp.T_object_palm,
        grip_positions=grasp.trajectory[-1]) for i, grasp in enumerate(given)]
    asked = [conversions.grasp_to_msg(grasp, frame) for grasp in given]
    bare = dict(contacts=(), terms=(), score=0.0, stable=False, grip_efforts=np.zeros(JOINTS),
                centre_of_mass=np.zeros(3), reason=NOT_EVALUATED)
    judged = [given[0], *(dataclasses.replace(grasp, **bare) for grasp in given[1:3]), given[3]]
    answer = conversions.judged_to_msgs(judged, asked, frame)
    expected = [conversions.grasp_to_msg(grasp, frame) for grasp in judged]
    assert list(map(repr, answer)) == list(map(repr, expected))      # NaN is not equal to NaN
    assert conversions.judged_to_msgs([], [], frame) == []


def _step(rng, by_arm):
    """Return a step of a moved object, of two contacts with made-up numbers."""
    vectors = rng.standard_normal((4, 2, 3))
    return ManipulationStep(random_pose(rng), ('sdh_thumb_3_link', 'sdh_finger_13_link'),
                            *vectors, rng.standard_normal(JOINTS), rng.standard_normal(3), 1.3,
                            0.25, by_arm)


def _way(rng):
    """Return a way of three steps with made-up numbers."""
    return ManipulationResult('with_arm', 0.25, 0.5, rng.standard_normal((3, JOINTS)),
                              np.array([random_pose(rng) for _ in range(3)]),
                              np.array([0.0, 0.3, 1.0]), 2, 'the arm helps',
                              tuple(_step(rng, i == 2) for i in range(3)))


def test_a_way_in_a_file_is_carried_out_as_planned_whatever_the_order_of_its_joints():
    hand, rng = load_default_hand(), np.random.default_rng(13)
    given = dataclasses.replace(_way(rng), slip_share=np.inf)
    turned = [*hand.joint_names[3:], *hand.joint_names[:3]]
    order = [hand.joint_names.index(name) for name in turned]
    steps = tuple(dataclasses.replace(step, joint_efforts=step.joint_efforts[order])
                  for step in given.steps)
    told = dataclasses.replace(given, joints=given.joints[:, order], steps=steps)
    written = plain(grasp_to_mapping(made_up_grasp(1, reach=told), turned))
    back = reach_from_msg(grasp_to_execute(written, hand, 'object', 'grasp 1'), np.eye(4))
    for name in ('joints', 'T_object_palm', 'shares', 'level', 'message', 'failed_step'):
        wanted = getattr(given, name)
        np.testing.assert_array_equal(getattr(back, name), wanted) if isinstance(wanted, str) \
            else np.testing.assert_allclose(getattr(back, name), wanted, atol=1e-8)
    for wanted, step in zip(given.steps, back.steps, strict=True):
        for name in ('T_object_moved', 'minimal_forces', 'normals', 'joint_efforts'):
            np.testing.assert_allclose(getattr(step, name), getattr(wanted, name), atol=1e-8)
    del written['reach']['hand_poses']
    with pytest.raises(ShapeError, match='grasp 1: reach is not as plan writes it; .*hand_poses'):
        grasp_to_execute(written, hand, 'object', 'grasp 1')


def test_how_the_object_is_moved_survives_the_wire():
    rng = np.random.default_rng(12)
    reach = _way(rng)
    grasp, T_frame_object = dataclasses.replace(make_grasp(rng), reach=reach), random_pose(rng)
    frame = GraspFrame(Header(), T_frame_object, NAMES, np.full(JOINTS, 1.0))
    msg = over_the_wire(conversions.grasp_to_msg(grasp, frame))
    back = ranked_grasp_from_msg(msg, T_frame_object, NAMES).reach
    assert len(back.steps) == len(reach.steps)
    for told, read in ((reach, back), *zip(reach.steps, back.steps)):
        for name, value in vars(told).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_allclose(getattr(read, name), value, atol=1e-9)
            else:
                assert name == 'steps' or getattr(read, name) == value
    plain = conversions.grasp_to_msg(make_grasp(rng), frame)
    assert plain.reach == plain.REACH_NOT_ASKED and plain.reach_failed_step == -1
    assert ranked_grasp_from_msg(plain, np.eye(4), NAMES).reach is None


def test_a_nearest_miss_is_told_in_the_frame_of_the_request_and_read_back():
    rng = np.random.default_rng(9)
    miss = NearestMiss('slips', 3, 'pinch', random_pose(rng), rng.standard_normal(JOINTS),
                       ('tip', 'thumb'), False, 0.0, 0.05, 0.23, np.inf, 5.0, np.nan, 2e4, 1e6)
    T_frame_object = random_pose(rng)
    back = miss_from_msg(over_the_wire(miss_to_msg(miss, T_frame_object)), T_frame_object)
    for field in dataclasses.fields(NearestMiss):
        expected, given = getattr(miss, field.name), getattr(back, field.name)
        if isinstance(expected, (str, tuple)):
            assert given == expected
        else:
            np.testing.assert_allclose(given, expected, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_the_flags_of_a_patch_are_those_of_the_core():
    told = {name: getattr(ContactPatch, name) for name in (
        'REACHES_LINK_EDGE', 'REACHES_OBJECT_EDGE', 'COARSE', 'THROUGH', 'THIN', 'STRAINED',
        'SPREAD', 'CLOSE', 'OVER_EDGE', 'GUESSED', 'SWINGS')}
    assert told == {name: getattr(batches, f'PATCH_{name}') for name in told}
    assert set(told.values()) == set(batches.PATCH_FLAG_TEXTS)
