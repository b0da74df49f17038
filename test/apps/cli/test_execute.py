"""``gripsim execute``: what is sent to the executor, Ctrl-C, exit codes."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import trimesh

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from rclpy.action import ActionServer, CancelResponse  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402
from sdh_cases import CLOSED, NAMES, OPEN, TIMEOUT, wait_for  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from gripsim_ros.apps.cli.main import main  # noqa: E402
from gripsim_ros.core.bodies import shapes  # noqa: E402
from gripsim_ros.ros.clients import execute  # noqa: E402
from gripsim_ros.ros.conversions.geometry import pose_from_msg  # noqa: E402

Result, Feedback = ExecuteGrasp.Result, ExecuteGrasp.Feedback
POSE = {'position': [0.0, 0.0, -0.3], 'orientation': [0.0, 0.0, 0.0, 1.0]}
FORCE = [0.0, 0.0, 1.5]


@pytest.fixture
def grasps(tmp_path):
    """Return a file with a grasp that touches nothing, its joints in another order."""
    ball = shapes.sphere(0.035, 0.01)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(tmp_path / 'ball.stl')
    rows = np.linspace(OPEN, CLOSED, 4)[:, ::-1]
    grasp = {'hand_pose': POSE, 'pregrasp_pose': {**POSE, 'position': [0.0, 0.0, -0.4]},
             'joint_trajectory': {'joint_names': NAMES[::-1], 'points': rows.tolist()},
             'grip': {'joint_positions': CLOSED[::-1].tolist()}, 'contacts': [
                 {'link': 'sdh_thumb_3_link', 'normal': [0.0, 0.0, 1.0], 'force': FORCE}]}
    content = {'object': {'mesh': str(tmp_path / 'ball.stl'), 'scale': 1.0, 'material': {
        'youngs_modulus': 1e8, 'poisson_ratio': 0.3, 'density': 500.0, 'friction': 0.5,
        'max_pressure': None, 'name': 'wood'}}, 'grasps': [grasp]}
    path = tmp_path / 'grasps.json'
    path.write_text(json.dumps(content))
    return path


class Executor:
    """Stands in for `grasp_executor`: ends as it is told to, or waits to be cancelled."""

    def __init__(self):
        self.context, self.goals, self.later = rclpy.Context(), [], []
        self.status, self.gone, self.cancelled = Result.SUCCEEDED, threading.Event(), False
        rclpy.init(context=self.context)
        self.node, group = rclpy.create_node('grasp_executor', context=self.context), \
            ReentrantCallbackGroup()
        self.server = ActionServer(self.node, ExecuteGrasp, 'execute_grasp', self.execute,
                                   callback_group=group,
                                   cancel_callback=lambda _: CancelResponse.ACCEPT)
        self.node.create_service(Trigger, 'go', self.go, callback_group=group)
        self.spinner = MultiThreadedExecutor(4, context=self.context)
        self.spinner.add_node(self.node)
        self.thread = threading.Thread(target=self.spin, daemon=True)
        self.thread.start()

    def spin(self):
        try:
            self.spinner.spin()
        except ExternalShutdownException:
            pass

    def go(self, _, response):
        self.gone.set()
        response.success = True
        return response

    def execute(self, handle):
        self.goals.append(handle.request)
        result = Result(status=self.status, message='said', contact_links=['a'],
                        planned_forces=[1.5], found_forces=[float('nan')],
                        finger_names=['thumb'], force_times=[1.0, 2.0, 3.0],
                        finger_planned_forces=[1.5, 1.5, 1.5],
                        finger_felt_forces=[0.0, 0.7, 1.4], phases=[2, 12],
                        phase_times=[1.0, 2.0])
        if handle.request.wait_for_go:
            waited = wait_for(lambda: self.tell(handle, Feedback.WAITING) or self.gone.is_set())
            self.cancelled = waited and wait_for(
                lambda: self.tell(handle, Feedback.CLOSING) or handle.is_cancel_requested)
            result.status = Result.CANCELED
            handle.canceled()
        elif self.status == Result.SUCCEEDED:
            handle.succeed()
        else:
            handle.abort()
        self.status = self.later.pop(0) if self.later else self.status
        return result

    @staticmethod
    def tell(handle, phase):
        handle.publish_feedback(Feedback(phase=phase))

    def close(self):
        self.spinner.shutdown()
        self.context.try_shutdown()
        self.thread.join(TIMEOUT)
        self.server.destroy()
        self.node.destroy_node()


@pytest.fixture(scope='module')
def executor():
    running = Executor()
    yield running
    running.close()


@pytest.mark.parametrize('status, code', [
    (Result.SUCCEEDED, 0), (Result.MISSED_CONTACT, 1), (Result.HAND_LOST, 1),
    (Result.INVALID_REQUEST, 2)])
def test_the_exit_code_tells_how_it_ended(executor, grasps, capsys, status, code):
    executor.status = status
    assert main(['execute', str(grasps), '--json', '--squeeze', '0.01', '--release']) == code
    said = capsys.readouterr()
    if code == 2:
        assert said.out == '' and said.err.strip() == 'gripsim: said'
        return
    told = json.loads(said.out)
    assert told['status'] == execute.RESULT_NAMES[status]
    assert told['contacts'] == [{'link': 'a', 'planned_force': 1.5, 'found_force': None}]


def test_planned_and_felt_forces_are_drawn_in_a_page(executor, grasps, tmp_path, capsys):
    executor.status = Result.SUCCEEDED
    assert main(['execute', str(grasps), '--report', str(tmp_path / 'r.html')]) == 0
    page = (tmp_path / 'r.html').read_text()
    assert 'aria-label="thumb [N]"' in page and 'loading' in page and '://' not in page
    assert 'wrote' in capsys.readouterr().err and 'asked for' not in page


def test_by_feel_the_page_tells_the_planned_grip_beside_what_is_asked_for(
        executor, grasps, tmp_path):
    executor.status = Result.SUCCEEDED
    assert main(['execute', str(grasps), '--hold-by-feel', '--report',
                 str(tmp_path / 'r.html')]) == 0
    assert 'asked for, by feel' in (tmp_path / 'r.html').read_text()


def test_the_grasp_of_the_file_is_sent_in_the_hands_order(executor, grasps):
    executor.status = Result.SUCCEEDED
    assert main(['execute', str(grasps), '--lift-height', '0.04', '--speed-scale', '0.5']) == 0
    goal = executor.goals[-1]
    assert (goal.lift_height, goal.speed_scale, goal.release) == (0.04, 0.5, False)
    grasp = goal.grasp
    assert grasp.header.frame_id == 'object' and not goal.object_id
    assert tuple(grasp.joint_trajectory.joint_names) == NAMES
    rows = np.array([point.positions for point in grasp.joint_trajectory.points])
    np.testing.assert_allclose(rows, np.linspace(OPEN, CLOSED, 4))
    np.testing.assert_allclose(grasp.grip_joint_positions, CLOSED)
    assert pose_from_msg(grasp.pregrasp_pose)[2, 3] == -0.4
    assert grasp.contacts[0].force.z == FORCE[2]


@pytest.mark.parametrize('policy, ends, code, rank', [
    ('replan', [Result.MISSED_CONTACT, Result.SUCCEEDED], 0, 2),
    ('replan', [Result.MISSED_CONTACT, Result.MISSED_CONTACT], 1, 3),
    ('replan', [Result.SLIPPED, Result.SUCCEEDED], 1, 1),
    ('release', [Result.MISSED_CONTACT, Result.SUCCEEDED], 1, 1)])
def test_the_next_grasps_are_tried_where_a_contact_is_missed(executor, grasps, capsys, policy,
                                                             ends, code, rank):
    content = json.loads(grasps.read_text())
    content['grasps'] *= 3
    grasps.write_text(json.dumps(content))
    executor.status, *executor.later = ends
    before = len(executor.goals)
    assert main(['execute', str(grasps), '--json', '--missed-contact', policy]) == code
    executor.later = []
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told['rank'] == rank == len(executor.goals) - before
    assert [one['rank'] for one in told['missed']] == list(range(1, rank))
    assert ('trying grasp 2' in said.err) == (rank > 1)
    assert {goal.missed_contact for goal in executor.goals[before:]} == {policy}


def test_an_unknown_policy_is_refused(grasps, capsys):
    assert main(['execute', str(grasps), '--missed-contact', 'hope']) == 2
    assert 'keep, replan, release, stop' in capsys.readouterr().err


def test_enter_lets_the_hand_close_and_ctrl_c_cancels(executor, grasps):
    process = subprocess.Popen(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'execute', str(grasps), '--wait-for-go'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(process.stderr.readline, '')
        heard = []
        assert any(heard.append(line) or 'press Enter' in line for line in lines), heard
        assert not executor.gone.is_set()
        process.stdin.write('\n')
        process.stdin.flush()
        assert any('closing' in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        assert executor.cancelled and 'CANCELED' in process.stdout.read()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize('change, words', [
    (lambda content: content['grasps'].clear(), 'there is no grasp'),
    (lambda content: content['grasps'][0].pop('grip'), 'needs pregrasp_pose, grip'),
    (lambda content: content['grasps'][0]['grip']['joint_positions'].pop(), '7 finite'),
    (lambda content: content['grasps'][0].pop('hand_pose'), 'needs hand_pose')])
def test_a_file_that_cannot_be_carried_out_is_refused_in_one_line(executor, grasps, capsys,
                                                                  change, words):
    content, count = json.loads(grasps.read_text()), len(executor.goals)
    change(content)
    grasps.write_text(json.dumps(content))
    assert main(['execute', str(grasps)]) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.strip().splitlines()) == 1
    assert len(executor.goals) == count


@pytest.mark.parametrize('options, words', [
    (('--simulate',), '--mesh names the object where it is elsewhere'),
    (('--simulate', '--mesh', 'nowhere.stl'), 'nowhere.stl'),
    (('--mesh', 'ball.stl'), '--mesh goes with --simulate')])
def test_a_mesh_that_is_elsewhere_can_be_named(grasps, capsys, options, words):
    (grasps.parent / 'ball.stl').rename(grasps.parent / 'moved.stl')
    assert main(['execute', str(grasps), *options]) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.strip().splitlines()) == 1


def test_an_executor_that_is_not_there_is_a_fault(grasps, capsys, monkeypatch):
    monkeypatch.setattr(execute, 'DISCOVERY_TIMEOUT', 0.1)
    monkeypatch.setenv('ROS_DOMAIN_ID', '0')
    assert main(['execute', str(grasps)]) == 1
    assert 'no grasp_executor was found' in capsys.readouterr().err


@pytest.mark.nightly
def test_a_simulated_hand_is_started_for_a_grasp_and_recorded(grasps):
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    pytest.importorskip('mcap', reason='needs the extra `record`')
    from gripsim_ros.ros.record.mcap_file import read_messages
    content = json.loads(grasps.read_text())
    content['grasps'][0]['contacts'] = []
    grasps.write_text(json.dumps(content))
    moved = (grasps.parent / 'ball.stl').rename(grasps.parent / 'moved.stl')
    program, recording = [sys.executable, '-m', 'gripsim_ros.apps.cli'], grasps.parent / 'x.mcap'
    done = subprocess.run(
        [*program, 'record', '--out', str(recording), '--', *program, 'execute', str(grasps),
         '--simulate', '--mesh', str(moved), '--json'],
        capture_output=True, text=True, timeout=4 * TIMEOUT)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told['status'] == 'SUCCEEDED'
    np.testing.assert_allclose(told['joint_positions'], CLOSED, atol=0.05)
    assert any(message.topic.endswith('/joint_states') for message in read_messages(recording))


@pytest.mark.nightly
def test_what_is_ended_from_outside_while_the_hand_moves_ends_without_a_traceback(grasps):
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    process = subprocess.Popen(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'execute', str(grasps), '--simulate'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith('closing'):
            process.terminate()
    assert process.wait(TIMEOUT) == -signal.SIGTERM
    assert any(line.startswith('closing') for line in said)
    assert 'Error' not in ''.join(said) and 'Traceback' not in ''.join(said)


# -- on an arm ---------------------------------------------------------------------------

UR5E = Path(__file__).resolve().parents[2] / 'data' / 'ur5e.yaml'
#: A ball on a table before the arm, to be carried sideways; grasped from above.
PLACE = 'position: [0.5, 0.1, 0.035]\norientation: [0, 0, 0, 1]\n'
TABLE = """frame: arm
displacement: {position: [0.0, 0.04, 0.0]}
approach_direction: [0, 0, -1]
approach_half_angle: 0.9
obstacles: [{type: box, dimensions: [0.8, 1.0, 0.02]}]
obstacle_poses: [{position: [0.5, 0.1, -0.01], orientation: [0, 0, 0, 1]}]
"""
#: Of the carried ball in the hand [m, rad].
MOST_SLIP, MOST_TURN = 0.003, 0.05


@pytest.fixture
def scene(tmp_path):
    """Return the options that mount the hand on an arm before a table."""
    (tmp_path / 'pose.yaml').write_text(PLACE)
    (tmp_path / 'task.yaml').write_text(TABLE)
    return ['--arm', str(UR5E), '--object-pose', str(tmp_path / 'pose.yaml'),
            '--task', str(tmp_path / 'task.yaml')]


@pytest.mark.parametrize('changed, words', [
    (lambda options: options, 'go with --simulate: a hand that runs has its arm'),
    (lambda options: ['--simulate', *options[2:]], '--arm and --object-pose go together'),
    (lambda options: ['--simulate', *options[:2]], '--arm and --object-pose go together'),
    (lambda options: ['--simulate', *options[4:]], 'task.frame is arm: give the pose'),
    (lambda options: ['--simulate', '--arm', options[3], *options[2:]], 'an arm needs the keys'),
    (lambda options: ['--simulate', *options[:5], '/nowhere.yaml'], '/nowhere.yaml')])
def test_an_arm_that_cannot_be_is_refused_in_one_line_before_anything_starts(
        grasps, scene, capsys, changed, words):
    assert main(['execute', str(grasps), *changed(scene)]) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.strip().splitlines()) == 1


@pytest.fixture
def started(monkeypatch):
    """Return what the simulator is told of its world; nothing is started."""
    from gripsim_ros.apps.cli import execute as verb
    worlds = []

    def executor(_, world, hand):
        assert hand.name == 'sdh'
        worlds.append(world)
        raise verb.InputError('not started')
    monkeypatch.setattr(verb, 'executor', executor)
    return worlds


def with_world(grasps, **told):
    """Let a file of grasps tell its arm and its task."""
    content = {**json.loads(grasps.read_text()), **told}
    grasps.write_text(json.dumps(content))


def test_arm_and_obstacles_are_those_of_the_plan_unless_others_are_named(grasps, scene, started):
    place = {'position': [0.5, 0.1, 0.3], 'orientation': [0.0, 0.0, 0.0, 1.0]}
    with_world(grasps, arm={'name': 'ur5e', 'file': '/gone/ur5e.yaml', 'object_pose': place},
               task={'obstacles': [{'type': 'sphere', 'dimensions': [0.01]}],
                     'obstacle_poses': [{'position': [0.0, 0.0, 0.2]}]})
    for name in ('ur5e.yaml', 'ur5e.urdf'):     # beside the file, since it is not where it was
        (grasps.parent / name).write_text((UR5E.parent / name).read_text())
    assert main(['execute', str(grasps), '--simulate']) == 2
    assert main(['execute', str(grasps), '--simulate', *scene]) == 2
    told, named = started
    assert told['arm_config'] == str(grasps.parent / 'ur5e.yaml')
    assert told['surroundings'] == str(grasps)
    assert [float(x) for x in told['object_start'].split()] == [0.5, 0.1, 0.3, 0, 0, 0, 1]
    assert named['arm_config'] == str(UR5E) and named['surroundings'] == scene[-1]
    assert named['object_start'].startswith('0.5 0.10000000000000001 0.0350')


def test_without_arm_and_obstacles_in_the_plan_the_hand_is_free(grasps, started, capsys):
    assert main(['execute', str(grasps), '--simulate']) == 2
    with_world(grasps, task={'gravity': 9.81})
    assert main(['execute', str(grasps), '--simulate']) == 2
    assert started == [{}, {}]
    capsys.readouterr()
    with_world(grasps, arm={'file': '/gone/arm.yaml', 'object_pose': {}})
    assert main(['execute', str(grasps), '--simulate']) == 2
    said = capsys.readouterr().err
    assert '/gone/arm.yaml, which is neither there nor beside' in said
    assert len(said.strip().splitlines()) == 1 and len(started) == 2


@pytest.mark.nightly      # a minute; its parts are tested by day
def test_the_arm_of_a_plan_carries_the_whole_operation_out(grasps, scene, tmp_path):
    """To the pre-grasp, approach, closing, lift, carrying, setting down, opening, retreat."""
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    ball, planned, told = (tmp_path / name for name in ('ball.stl', 'planned.json', 'told.json'))
    for arguments in (
            ['plan', str(ball), '--material', 'wood', '--hypotheses', '4', '--count', '1',
             '--time', '300', '--workers', '1', '--out', str(planned), *scene],
            ['execute', str(planned), '--simulate', '--carry', '--release', '--out', str(told)]):
        done = subprocess.run(
            [sys.executable, '-m', 'gripsim_ros.apps.cli', *arguments],
            capture_output=True, text=True, timeout=8 * TIMEOUT)
        assert done.returncode == 0, done.stderr
    result = json.loads(told.read_text())
    assert result['status'] == 'SUCCEEDED' and result['lifted'] and result['carried']
    assert result['slip'] < MOST_SLIP and result['turn'] < MOST_TURN
    assert [phase['phase'] for phase in result['phases']] == [
        'preshape', 'reaching', 'approaching', 'waiting', 'closing', 'holding', 'lifting',
        'carrying', 'setting_down', 'releasing', 'retreating']


@pytest.mark.slow
@pytest.mark.nightly
def test_a_grasp_planned_without_an_arm_is_refused_on_one(grasps, scene):
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    done = subprocess.run(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'execute', str(grasps), '--simulate',
         *scene], capture_output=True, text=True, timeout=4 * TIMEOUT)
    assert done.returncode == 2 and done.stderr.strip().splitlines()[-1] == (
        'gripsim: an arm carries the hand, and the grasp has no arm_trajectory: plan with the arm')
