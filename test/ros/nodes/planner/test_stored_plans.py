"""The planner's node answers from a grasp database first, and only where it holds the plan."""

import os
import subprocess
import sys

import numpy as np
from numpy.testing import assert_allclose
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros import load_object, Task  # noqa: E402
from gripsim_ros.core.planning.ranking.robustness import STATED_SAMPLES  # noqa: E402
from gripsim_ros.library.database.lookup import GraspDatabase  # noqa: E402
from gripsim_ros.library.in_process import robust_grasps  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.plan import plan_request, PlanGraspClient, STATUS_NAMES  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402
from sweep_cases import HYPOTHESES, real_sweep, SOFT  # noqa: E402

ATOL_ROUNDOFF = 1e-12
LONG = 120.0


@pytest.fixture(scope='module')
def client():
    """Yield a client of a planner that is alone: without a stage it cannot plan."""
    folder, _ = real_sweep()
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


def request(**changes):
    """Return a request for an object of the sweep."""
    folder, _ = real_sweep()
    return plan_request(folder / 'meshes' / 'a.ply', SOFT, max_hypotheses=HYPOTHESES, **changes)


@pytest.mark.slow
def test_the_planner_answers_from_the_database(client):
    folder, _ = real_sweep()
    expected = next(GraspDatabase(str(folder / 'grasps.db')).jobs()).plan
    answer = client.plan(request())
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
def test_grasps_are_judged_under_the_error_of_the_pose_that_a_task_tells(client):
    asked = request()
    asked.task.pose_uncertainty = [0.004, 0.07]
    answer, plain = client.plan(asked), client.plan(request())
    expected = judged_here(asked)
    assert [(grasp.rank, grasp.hypothesis, grasp.robustness) for grasp in answer.grasps] == [
        (grasp.rank, grasp.hypothesis, grasp.robustness.holding) for grasp in expected]
    assert all(grasp.robustness_samples == STATED_SAMPLES for grasp in answer.grasps)
    assert not any(grasp.robustness_samples for grasp in plain.grasps)
    asked.task.pose_uncertainty = [0.004]
    refused = client.plan(asked)
    assert STATUS_NAMES[refused.status] == 'INVALID_REQUEST'
    assert 'pose_uncertainty must be a way in metres' in refused.message


def judged_here(asked):
    """Return the grasps of the database, judged in this process."""
    folder, _ = real_sweep()
    job = next(GraspDatabase(str(folder / 'grasps.db')).jobs())
    return robust_grasps(load_object(folder / 'meshes' / 'a.ply', SOFT), list(job.plan.ranked()),
                         Task(pose_uncertainty=asked.task.pose_uncertainty), STATED_SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize('changes', [{'seed': 1}, {'elasticity': 'half_space'}])
def test_another_request_goes_to_the_stages(client, changes):
    assert STATUS_NAMES[client.plan(request(**changes)).status] == 'STAGE_MISSING'


@pytest.mark.slow
def test_a_request_that_asks_for_two_stages_asks_for_the_default(client):
    asked, left_out = (client.plan(request(**words)) for words in ({'elasticity': 'auto'}, {}))
    assert STATUS_NAMES[asked.status] == 'SUCCEEDED'
    assert [grasp.score for grasp in asked.grasps] == [grasp.score for grasp in left_out.grasps]
    assert {grasp.elasticity for grasp in asked.grasps} == {'body'}


@pytest.mark.nightly     # a start of a node for one line
def test_a_database_that_is_not_there_ends_the_node_with_one_line(tmp_path):
    run = subprocess.run(
        [sys.executable, '-m', PROGRAMS['grasp_planner'], '--ros-args', '-p',
         f'grasp_database:={tmp_path / "none.db"}'], capture_output=True, text=True, timeout=LONG)
    assert run.returncode == 2
    assert 'there is no such file' in run.stderr.splitlines()[-1]
