"""Planning in worker processes: the same grasps, whatever happens to a worker."""

from dataclasses import replace
import os
from pathlib import Path
import signal
import subprocess
import threading

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import MeshError, ShapeError, TaskError
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.library import workers as module
from gripsim_ros.library.in_process import (
    link_shapes, mechanics_options, planner_options, warm_up)
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.workers import run_with_workers, worker_count, Workers
import numpy as np
from numpy.testing import assert_array_equal
import pytest

from plan_cases import plan_by_half_spaces

HYPOTHESES = 10
SOFT = Material(1.0e6, 0.45, 800.0, 0.6)


def ball():
    return GraspObject(shapes.sphere(0.035, 0.006), SOFT)


def prepared(**changed):
    warm_up()
    hand = load_default_hand()
    planner = GraspPlanner(
        ball(), hand, Task(), replace(planner_options(), **changed), 0, HYPOTHESES)
    return planner, Pipeline(hand, ball(), mechanics_options(), link_shapes(hand))


def same(one, other):
    assert [g.hypothesis for g in one] == [g.hypothesis for g in other]
    for a, b in zip(one, other):
        assert a.score == b.score
        assert_array_equal(a.trajectory, b.trajectory)


def test_grasps_do_not_depend_on_the_number_of_workers():
    alone = plan_by_half_spaces(ball(), hypotheses=HYPOTHESES, budget=300.0)
    shared = plan_by_half_spaces(ball(), hypotheses=HYPOTHESES, budget=300.0, workers=2)
    assert alone.grasps
    assert alone.rejections == shared.rejections
    assert alone.evaluated == shared.evaluated == HYPOTHESES
    same(alone.grasps, shared.grasps)


@pytest.mark.parametrize('fails', [False, True])
def test_the_object_is_prepared_beside_the_quick_look_before_workers_are_forked(
        monkeypatch, fails):
    inner, threads, prepare = [], [], Pipeline.prepare

    def watched(pipeline):
        threads.append(threading.current_thread())
        if fails:       # who asks first is told, and here nobody is
            raise MeshError('too odd')
        prepare(pipeline)
        inner.append('surface' in vars(pipeline._scene.body))

    def begin(planner, pipeline, *_):
        assert threads and not threads[0].is_alive()
        return run_with_workers(planner, pipeline, *_)
    monkeypatch.setattr(Pipeline, 'prepare', watched)
    monkeypatch.setattr('gripsim_ros.library.in_process.run_with_workers', begin)
    result = plan_by_half_spaces(ball(), hypotheses=2, budget=300.0, workers=2)
    assert result.evaluated == 2 and inner == ([] if fails else [True])
    assert threads[0] is not threading.main_thread()


@pytest.mark.parametrize('killed', [2, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_batch_of_a_killed_worker_is_evaluated_all_the_same(monkeypatch, killed):
    planner, pipeline = prepared()
    expected = plan_by_half_spaces(ball(), hypotheses=HYPOTHESES, budget=300.0).grasps
    started = []
    submit = Workers.submit

    def kill_at_once(self, *batch):
        submit(self, *batch)
        while len(started) < killed:
            process = self._processes[len(started)]
            os.kill(process.pid, signal.SIGKILL)
            started.append(process.pid)

    monkeypatch.setattr(module.Workers, 'submit', kill_at_once)
    assert not run_with_workers(planner, pipeline, None, 2)
    assert len(started) == killed
    same(planner.ranked(), expected)


@pytest.mark.parametrize('killed', [False, True])
def test_workers_find_prospects_once_the_first_wave_has_begun(monkeypatch, killed):
    planner, pipeline = prepared(heat_size=2)
    alone, _ = prepared(heat_size=2)
    assert not run_with_workers(alone, pipeline, None, 1)
    sought, submit = [], Workers.submit

    def note(self, number, job):
        submit(self, number, job)
        if number == module.PROSPECTS:
            if killed and not sought:
                os.kill(self._processes[0].pid, signal.SIGKILL)
            sought.extend(job)
    monkeypatch.setattr(module.Workers, 'submit', note)
    assert not run_with_workers(planner, pipeline, None, 2)
    assert len(sought) == len(set(sought)) and 0 < len(sought) <= HYPOTHESES - 2
    assert planner.rejections == alone.rejections
    same(planner.ranked(), alone.ranked())


def test_planning_stops_when_told_to_and_leaves_no_process():
    planner, pipeline = prepared()
    seen, before = [], children()
    assert run_with_workers(planner, pipeline, lambda p: bool(seen.append(p.evaluated)), 2)
    assert planner.progress.evaluated < HYPOTHESES
    assert children() <= before


def test_an_error_in_a_worker_is_raised_here(monkeypatch):
    planner, pipeline = prepared()

    def broken(configurations):
        raise ShapeError('of the wrong shape')

    monkeypatch.setattr(pipeline, 'evaluate', broken)
    with pytest.raises(ShapeError, match='of the wrong shape'):
        run_with_workers(planner, pipeline, None, 2)


def children():
    """Return the processes that this one has begun and not yet waited for."""
    return {int(stat.parent.name) for stat in Path('/proc').glob('[0-9]*/stat')
            if parent(stat) == os.getpid()}


def parent(stat):
    """Return the parent of a process by its `/proc/<pid>/stat`, None once it has gone."""
    try:
        return int(stat.read_text(errors='replace').rpartition(')')[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_a_child_is_seen_until_it_is_waited_for():
    process = subprocess.Popen(['true'])
    assert process.pid in children()
    process.wait()
    assert process.pid not in children()


def test_a_process_with_threads_is_not_forked(monkeypatch):
    others, count = threading.active_count() - 1, threading.active_count
    monkeypatch.setattr(module.threading, 'active_count', lambda: count() - others)
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert worker_count(2) == 1
    finally:
        release.set()
        thread.join()
    assert worker_count(3) == 3
    assert worker_count(1) == 1
    assert 1 <= worker_count(0) <= max(1, len(os.sched_getaffinity(0)))


@pytest.mark.parametrize('wanted', [-2, 1.5, 'all'])
def test_workers_that_cannot_be_counted_are_refused(wanted):
    said = 'workers must be a whole number and not negative'
    with pytest.raises(TaskError, match=said):
        worker_count(wanted)
    with pytest.raises(TaskError, match=said):
        plan_by_half_spaces(ball(), workers=wanted)


@pytest.mark.parametrize('name', ['seed', 'count', 'hypotheses'])
def test_counts_of_a_plan_are_refused_by_the_callers_names(name):
    with pytest.raises(TaskError, match=f'^{name} must be a whole number'):
        plan_by_half_spaces(ball(), **{name: 'a'})


def test_answers_come_with_the_numbers_of_their_batches():
    planner, pipeline = prepared()
    ask = planner.ask()
    expected = pipeline.evaluate(ask.configurations)
    with Workers(pipeline, 2) as workers:
        workers.submit(7, ask.configurations)
        workers.submit(5, ask.configurations)
        assert not workers.has_idle
        answers = []
        while workers.is_busy:
            answers += workers.collect()
    assert sorted(number for number, _ in answers) == [5, 7]
    for _, states in answers:
        assert_array_equal(states.clearance, expected.clearance)
        assert np.array_equal(states.margin, expected.margin)
