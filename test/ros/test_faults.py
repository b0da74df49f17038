"""The suite under faults: killed, paused, lost and repeated messages, every field wrong."""

import os
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from fault_cases import is_line, reader, rich_requests  # noqa: E402
from fault_harness import Harness  # noqa: E402
from fault_messages import spoilt, ways_to_spoil  # noqa: E402
from fault_resources import MARK, Segments  # noqa: E402
from fault_run import Run  # noqa: E402
import numpy as np  # noqa: E402

from gripsim_ros.core.errors import GripsimError  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import one_line  # noqa: E402

#: Fields that a request of this kind does not use, and where infinity means "no limit".
UNUSED = ('polygon', 'arm_start')
NO_LIMIT = (('material.max_pressure', 'inf'), ('material.max_force', 'inf'))
SEED = 1
#: What is done to which node, each once somebody was answered after the one before.
FAULTS = (('kill', 'contact_detection'), ('flood', ''), ('pause', 'deformation'), ('object', ''),
          ('kill', 'grasp_planner'))
#: Callers, and broken requests of one more.
CLIENTS, SPOILT = 2, 10


def understood(request):
    """Return every number of an understood request."""
    task = request.task
    rows = [task.gravity_directions, task.external_wrenches, task.keep_out, task.obstacles,
            task.contact_region, request.T_frame_object, request.grasp_object.mesh.vertices]
    return np.concatenate([np.ravel(np.asarray(row, float)) for row in rows if row is not None])


@pytest.mark.slow
def test_a_request_with_any_field_wrong_is_refused_in_one_line_or_understood():
    request, here, refused, taken = rich_requests()['mesh'], reader(), 0, 0
    for mutant in ways_to_spoil(request):
        broken = spoilt(request, mutant)
        if broken is None:
            continue
        what = f'{mutant.path} = {mutant.label}'
        try:
            with np.errstate(all='ignore'):
                numbers = understood(here.read(broken))
        except GripsimError as error:
            assert is_line(one_line(error)), what
            refused += 1
            continue
        assert np.isfinite(numbers).all(), what
        unused = any(name in mutant.path for name in UNUSED)
        assert not mutant.not_finite or unused or (mutant.path, mutant.label) in NO_LIMIT, what
        taken += 1
    assert refused > 400 and taken > 400


@pytest.mark.nightly     # by day the short trial kills and stops every node
def test_callers_get_right_answers_or_clear_failures_while_nodes_are_killed(tmp_path):
    with Harness(SEED, tmp_path, clients=CLIENTS, spoilt=SPOILT, case_count=1) as harness:
        for fault in FAULTS:
            harness.wait_for_calls(1)
            harness.make(*fault)
        harness.wait_for_calls(1, 'SUCCEEDED')
        harness.wait_for_status('INVALID_REQUEST')
    run = harness.run
    assert not run.wrong, (run.summary(), run.wrong)
    assert [kind for _, kind, *_ in run.faults if kind != 'object'] == [
        kind for kind, _ in FAULTS if kind != 'object']
    assert any(call['status'] == 'INVALID_REQUEST' for call in run.calls)


def run_of(minutes, **rates):
    """Return a run whose nodes were killed for ten minutes, with what grows a minute by rates."""
    run = Run(seed=0, begin=0.0)
    run.faults = [(60.0 * t, 'kill' if t < 10 else 'object', 'deformation', 0.0)
                  for t in range(minutes)]
    for t in range(minutes):
        busy = 500.0 * (t % 10 != 5)
        run.samples.append({
            'time': 60.0 * t,
            'memory': {'deformation': 180.0 + busy + rates.get('memory', 0.0) * t},
            'shared': 200.0 + rates.get('shared', 0.0) * t,
            'segments': 40 + int(rates.get('segments', 0) * t)})
        if t % 10 == 5:
            run.rested(60.0 * t)
    return run


@pytest.mark.parametrize('rates, said', [
    ({}, ''), ({'memory': 4.0}, 'the memory of deformation grew by'),
    ({'shared': 3.0}, 'the shared memory grew by'), ({'segments': 1}, 'segments grew by')])
def test_what_grows_while_no_node_is_killed_is_told(rates, said):
    run = run_of(60, **rates)
    run.judge_growth()
    assert run.growth_judged and bool(run.wrong) == bool(said)
    assert all(said in line for line in run.wrong)


@pytest.fixture
def mapping(tmp_path):
    """Return a way to start a process of a run, or '', that has a file mapped."""
    processes = []

    def start(name, mark=''):
        (tmp_path / name).write_bytes(bytes(10))
        process = subprocess.Popen(
            [sys.executable, '-c', 'import mmap, sys; file = open(sys.argv[1], "r+b"); '
             'kept = mmap.mmap(file.fileno(), 0); print(flush=True); sys.stdin.read()',
             str(tmp_path / name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, MARK: mark})
        processes.append(process)
        process.stdout.readline()
        return process

    yield start
    for process in processes:
        process.communicate()


def test_segments_of_a_run_are_told_from_those_of_others(tmp_path, mapping):
    before, mine, others, shared, left = (f'fastrtps_{i:016x}' for i in range(5))
    (tmp_path / f'{before}_el').touch()
    segments = Segments('a run', tmp_path)
    killed = mapping(mine, 'a run')
    mapping(others)
    mapping(shared)
    mapping(shared, 'a run')
    for name in (f'{mine}_el', f'{others}_el', left):
        (tmp_path / name).touch()
    expected = {mine, f'{mine}_el', shared, left}
    assert {path.name for path in segments.look()} == expected
    killed.communicate()
    assert {path.name for path in segments.look()} == expected, 'what the killed left counts'


def test_a_run_too_short_for_a_verdict_says_so():
    run = run_of(45, memory=100.0)
    run.judge_growth()
    assert not run.wrong and run.summary()['growth judged'] is False


@pytest.mark.parametrize('lost, wrong', [(1, False), (3, True)])
def test_callers_that_often_lose_a_planner_which_lives_are_told(lost, wrong):
    run = Run(seed=0, begin=0.0)
    run.calls = [{'what': 'plan', 'begin': 10.0 * i, 'took': 1.0,
                  'status': 'LOST' if i < lost else 'SUCCEEDED', 'wrong': ''} for i in range(100)]
    run.judge_losses()
    assert bool(run.wrong) == wrong


def test_a_line_shows_what_cannot_be_printed():
    line = one_line(GripsimError('cannot read \x1b[31m\x00é:\n there is no such file'))
    assert is_line(line) and line == r'cannot read \x1b[31m\x00é: there is no such file'
