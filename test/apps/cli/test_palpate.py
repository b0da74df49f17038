"""``gripsim palpate``: what is sent, what is told and written, refusals, exit codes."""

import json
import subprocess
import sys
import threading

import pytest
import trimesh

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import Palpate  # noqa: E402
from palpation_cases import BALL, grasp  # noqa: E402
import rclpy  # noqa: E402
from rclpy.action import ActionServer, CancelResponse  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402
from sdh_cases import TIMEOUT  # noqa: E402

from gripsim_ros.apps.cli.main import main  # noqa: E402
from gripsim_ros.apps.cli.output import write_json  # noqa: E402
from gripsim_ros.core.bodies import load_material  # noqa: E402
from gripsim_ros.library.grasp_file import PlanAnswer  # noqa: E402
from gripsim_ros.library.planned_object import object_of_grasps  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402

Result = Palpate.Result
FELT, ERROR = 1.2e5, 4e3


@pytest.fixture(scope='module')
def grasps(tmp_path_factory):
    """Return a file with a planned grasp of a ball."""
    folder = tmp_path_factory.mktemp('palpate')
    trimesh.Trimesh(BALL.mesh.vertices, BALL.mesh.faces, process=False).export(
        folder / 'ball.ply')
    answer = PlanAnswer(load_default_hand(), BALL, str(folder / 'ball.ply'), 1.0, [grasp()], {},
                        {'evaluated': 1, 'total': 1, 'planning_time': 0.0, 'repairs': []})
    write_json(answer.to_mapping(), False, folder / 'grasps.json')
    return folder / 'grasps.json'


class Executor:
    """Stands in for `grasp_executor`: feels what it is told to feel."""

    def __init__(self):
        self.context, self.goals = rclpy.Context(), []
        self.status, self.bound, self.message = Result.SUCCEEDED, False, ''
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('grasp_executor', context=self.context)
        self.server = ActionServer(
            self.node, Palpate, 'palpate', self.palpate,
            callback_group=ReentrantCallbackGroup(),
            cancel_callback=lambda _: CancelResponse.ACCEPT)
        self.spinner = MultiThreadedExecutor(2, context=self.context)
        self.spinner.add_node(self.node)
        self.thread = threading.Thread(target=self.spin, daemon=True)
        self.thread.start()

    def spin(self):
        try:
            self.spinner.spin()
        except ExternalShutdownException:
            pass

    def palpate(self, handle):
        self.goals.append(handle.request)
        result = Result(status=self.status, message=self.message, damage_share=float('nan'))
        if self.status == Result.SUCCEEDED:
            result.material.youngs_modulus, result.standard_error = FELT, ERROR
            result.is_bound, result.moduli = self.bound, [FELT, 1.1 * FELT]
            result.offsets = [0, 1, 3]
            result.ways, result.forces = [1e-4, 2e-4, 3e-4], [1.0, 2.0, 3.0]
            handle.succeed()
        else:
            handle.abort()
        return result

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


def file_with(grasps, chosen):
    """Return a file like that of grasps, with others."""
    several = grasps.parent / 'several.json'
    several.write_text(json.dumps({**json.loads(grasps.read_text()), 'grasps': chosen}))
    return several


def test_the_first_grasp_that_tells_any_modulus_is_palpated(executor, grasps, tmp_path, capsys):
    """The ball's fingers held far apart squeeze nothing: that grasp tells none."""
    executor.status = Result.SUCCEEDED
    content = json.loads(grasps.read_text())
    useless = json.loads(json.dumps(content['grasps'][0]))
    useless['hand_pose']['position'][2] += 1.0
    several = file_with(grasps, [useless, *content['grasps'] * 2])
    assert main(['palpate', str(several), '--json']) == 0
    written = capsys.readouterr()
    assert json.loads(written.out)['rank'] == 2
    assert 'grasp 1 would tell no modulus' in written.err
    assert 'grasp 2 would tell the modulus to' in written.err
    assert main(['palpate', str(several), '--json', '--rank', '3']) == 0
    assert json.loads(capsys.readouterr().out)['rank'] == 3


def test_grasps_that_press_least_are_looked_at_first_and_few_of_many(
        executor, grasps, capsys, monkeypatch):
    """The last of a file may be the one that bears what a stiff object takes."""
    monkeypatch.setattr('gripsim_ros.apps.cli.palpate.MOST_TRIED', 2)
    executor.status = Result.SUCCEEDED
    content = json.loads(grasps.read_text())
    sharp, useless = (json.loads(json.dumps(content['grasps'][0])) for _ in range(2))
    for grasp_told, factor in ((sharp, 3.0), (useless, 0.5)):
        for contact in grasp_told['contacts']:
            contact['peak_pressure'] *= factor
    useless['hand_pose']['position'][2] += 1.0
    several = file_with(grasps, [sharp, sharp, *content['grasps'], useless])
    assert main(['palpate', str(several), '--json']) == 0
    written = capsys.readouterr()
    assert json.loads(written.out)['rank'] == 3
    assert 'grasp 4 would tell no modulus' in written.err
    assert 'grasp 1' not in written.err and 'grasp 2' not in written.err


def test_a_grasp_of_which_no_finger_presses_or_that_tells_no_pressure_comes_last(
        executor, grasps, capsys):
    executor.status = Result.SUCCEEDED
    content = json.loads(grasps.read_text())
    idle, foreign = (json.loads(json.dumps(content['grasps'][0])) for _ in range(2))
    for contact in idle['contacts']:
        contact['closing_force'] = contact['force'] = [0.0, 0.0, 0.0]
    for contact in foreign['contacts']:
        del contact['peak_pressure']
    several = file_with(grasps, [idle, foreign, *content['grasps']])
    assert main(['palpate', str(several), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['rank'] > 1


def test_the_modulus_is_told_the_material_written_and_the_grasp_closed_again(
        executor, grasps, tmp_path, capsys):
    executor.status = Result.SUCCEEDED
    material, plan = tmp_path / 'felt.yaml', tmp_path / 'felt.json'
    assert main(['palpate', str(grasps), '--json', '--squeezes', '2', '--most-force', '3',
                 '--most-modulus', '5e6',
                 '--material-out', str(material), '--plan', str(plan)]) == 0
    goal = executor.goals[-1]
    believed = object_of_grasps(json.loads(grasps.read_text()), grasps)
    assert (goal.object_id, goal.squeezes, goal.most_force, goal.most_modulus) == (
        believed.id, 2, 3.0, 5e6)
    told = json.loads(capsys.readouterr().out)
    assert told['youngs_modulus'] == FELT and told['standard_error'] == ERROR
    assert told['squeezes'] == [[{'way': 1e-4, 'force': 1.0}],
                                [{'way': 2e-4, 'force': 2.0}, {'way': 3e-4, 'force': 3.0}]]
    felt = load_material(material)
    assert felt.youngs_modulus == FELT and felt.friction == BALL.material.friction
    assert felt.modulus_spread == pytest.approx(ERROR / FELT)
    again = json.loads(plan.read_text())
    assert again['object']['material']['youngs_modulus'] == FELT
    closed, = again['grasps']
    assert closed['stable']
    # Softer than believed: the same forces are reached farther in.
    assert closed['deformation']['max'] > json.loads(
        grasps.read_text())['grasps'][0]['deformation']['max']


@pytest.mark.parametrize('status, code', [
    (Result.MISSED_CONTACT, 1), (Result.BUSY, 1), (Result.INVALID_REQUEST, 2)])
def test_what_is_not_felt_is_told_in_one_line(executor, grasps, tmp_path, capsys, status, code):
    executor.status, executor.message = status, 'said'
    material = tmp_path / 'felt.yaml'
    assert main(['palpate', str(grasps), '--material-out', str(material)]) == code
    said = capsys.readouterr()
    assert 'said' in (said.err if code == 2 else said.out) and not material.exists()


def test_a_bound_is_told_as_one(executor, grasps, capsys):
    executor.status, executor.bound, executor.message = Result.SUCCEEDED, True, ''
    assert main(['palpate', str(grasps)]) == 0
    assert 'at least 1.2e+05, too stiff to tell' in capsys.readouterr().out


@pytest.mark.parametrize('options, message', [
    (['--true-modulus', '1e5'], 'goes with --simulate'), (['--squeezes', '11'], '--squeezes'),
    (['--rank', '2'], '--rank must be from 1 to 1'),
    (['--most-modulus', '2e5'], 'most_modulus must be above the 3e+05 Pa'),
    (['--most-modulus', '-1'], 'most_modulus must be above 0 Pa')])
def test_bad_options_are_refused_before_anything_is_asked(grasps, capsys, options, message):
    assert main(['palpate', str(grasps), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.nightly
def test_a_simulated_soft_ball_is_felt(grasps):
    """Believed to have 300 kPa, it has 100; coarse tetrahedra are too stiff by about a quarter."""
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    done = subprocess.run(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'palpate', str(grasps), '--simulate',
         '--true-modulus', '1e5', '--json'], capture_output=True, text=True, timeout=20 * TIMEOUT)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told['youngs_modulus'] == pytest.approx(1e5, rel=0.4) and not told['is_bound']
