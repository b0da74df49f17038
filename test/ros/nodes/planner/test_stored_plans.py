"""The planner's node answers from a grasp database first, and only where it holds the plan."""

import os
import subprocess
import sys

import numpy as np
from numpy.testing import assert_allclose
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros import load_object, Task  # noqa: E402
from gripsim_ros.core.planning.task import POSE_UNCERTAINTY  # noqa: E402
from gripsim_ros.library.database.lookup import GraspDatabase  # noqa: E402
from gripsim_ros.library.in_process import planner_options, robust_grasps  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.plan import plan_request, PlanGraspClient, STATUS_NAMES  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402
from plan_cases import plan_by_half_spaces  # noqa: E402
from sweep_cases import HYPOTHESES, SOFT, store_made_up, write_ball  # noqa: E402

ATOL_ROUNDOFF = 1e-12
LONG = 120.0


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with a ball, and the database that holds its plan."""
    made = tmp_path_factory.mktemp('stored')
    ball = load_object(write_ball(made / 'a.ply', 0.033), SOFT)
    grasps = plan_by_half_spaces(ball, hypotheses=HYPOTHESES, workers=1).grasps
    store_made_up(made / 'grasps.db', ball, grasps, HYPOTHESES)
    return made


def stored(folder):
    """Return the plan of the database."""
    return next(GraspDatabase(str(folder / 'grasps.db')).jobs()).plan


@pytest.fixture(scope='module')
def client(folder):
    """Yield a client of a planner that is alone: without a stage it cannot plan."""
    command = [sys.executable, '-m', PROGRAMS['grasp_planner'], '--ros-args', '-p',
               f'grasp_database:={folder / "grasps.db"}', '-p', 'answer_timeout:=0.2', '-p',
               'max_attempts:=1']
    with subprocess.Popen(command, env=os.environ) as process:
        try:
            with PlanGraspClient() as connected:
                connected.wait_for_server(LONG)
                yield connected
        finally:
            process.terminate()


def request(folder, **changes):
    """Return a request for the ball."""
    return plan_request(folder / 'a.ply', SOFT, max_hypotheses=HYPOTHESES, **changes)


@pytest.mark.slow
def test_the_planner_answers_from_the_database(client, folder):
    expected = stored(folder)
    answer = client.plan(request(folder))
    assert STATUS_NAMES[answer.status] == 'SUCCEEDED' and len(answer.grasps) == len(
        expected.grasps) > 0
    for msg, grasp in zip(answer.grasps, expected.grasps):
        assert (msg.rank, msg.hypothesis, msg.score, msg.margin) == (
            grasp.rank, grasp.hypothesis, grasp.score, grasp.margin)
        points = [point.positions for point in msg.joint_trajectory.points]
        assert_allclose(np.array(points), grasp.trajectory, atol=0)
        position = msg.hand_pose.position
        assert_allclose([position.x, position.y, position.z], grasp.T_object_palm[:3, 3],
                        atol=ATOL_ROUNDOFF)
        assert list(msg.joint_trajectory.joint_names) == list(load_default_hand().joint_names)
    assert answer.evaluated == expected.summary.evaluated


@pytest.mark.slow
def test_grasps_are_judged_under_the_error_of_the_pose_that_a_task_tells(client, folder):
    asked = request(folder)
    asked.task.pose_uncertainty = [0.004, 0.07]
    answer, plain = client.plan(asked), client.plan(request(folder))
    expected = judged_here(folder, asked)
    assert [(grasp.rank, grasp.hypothesis, grasp.robustness) for grasp in answer.grasps] == [
        (grasp.rank, grasp.hypothesis, grasp.robustness.holding) for grasp in expected]
    samples = planner_options().robustness_samples
    assert all(grasp.robustness_samples == samples > 0 for grasp in answer.grasps + plain.grasps)
    assert [grasp.robustness for grasp in plain.grasps] == [
        grasp.robustness.holding for grasp in judged_here(folder, request(folder))]
    asked.task.pose_uncertainty = [0.004]
    refused = client.plan(asked)
    assert STATUS_NAMES[refused.status] == 'INVALID_REQUEST'
    assert 'pose_uncertainty must be a way in metres' in refused.message


def judged_here(folder, asked):
    """Return the grasps of the database, judged in this process."""
    return robust_grasps(load_object(folder / 'a.ply', SOFT), list(stored(folder).ranked()),
                         Task(pose_uncertainty=asked.task.pose_uncertainty or POSE_UNCERTAINTY))


@pytest.mark.slow
@pytest.mark.parametrize('changes', [{'seed': 1}, {'elasticity': 'half_space'}])
def test_another_request_goes_to_the_stages(client, folder, changes):
    assert STATUS_NAMES[client.plan(request(folder, **changes)).status] == 'STAGE_MISSING'


@pytest.mark.slow
def test_a_request_that_asks_for_two_stages_asks_for_the_default(client, folder):
    asked, left_out = (client.plan(request(folder, **words))
                       for words in ({'elasticity': 'auto'}, {}))
    assert STATUS_NAMES[asked.status] == STATUS_NAMES[left_out.status] == 'SUCCEEDED'
    scores = [grasp.score for grasp in stored(folder).grasps]
    assert [grasp.score for grasp in asked.grasps] == scores
    assert [grasp.score for grasp in left_out.grasps] == scores


@pytest.mark.nightly     # a start of a node for one line
def test_a_database_that_is_not_there_ends_the_node_with_one_line(tmp_path):
    run = subprocess.run(
        [sys.executable, '-m', PROGRAMS['grasp_planner'], '--ros-args', '-p',
         f'grasp_database:={tmp_path / "none.db"}'], capture_output=True, text=True, timeout=LONG)
    assert run.returncode == 2
    assert 'there is no such file' in run.stderr.splitlines()[-1]
