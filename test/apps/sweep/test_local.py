"""Real processes, really killed: nothing is lost, nothing comes twice, the bits are the same."""

import os
import signal
import sqlite3
import time

from cli_cases import start
from gripsim_ros.apps.sweep import local
from gripsim_ros.apps.sweep.jobs import plan_job
from gripsim_ros.apps.sweep.local import LocalEngine
from gripsim_ros.library.database.lookup import GraspDatabase
import pytest
from sweep_cases import BAD, begin, database, HYPOTHESES, real_sweep, SOFT, write_ball, write_bad
from sweep_cases import same

MATERIAL = 'youngs_modulus: 1.0e6\npoisson_ratio: 0.45\ndensity: 800\nfriction: 0.6\nname: soft\n'
#: Patience with a process that is starting or planning on a busy machine [s].
LONG = 300.0
STEP = 0.05


def rows(path, query):
    """Return the rows of a query, none while there is no database."""
    if not path.exists():
        return []
    try:
        with sqlite3.connect(f'file:{path}?mode=ro', uri=True) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def wait_until(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(STEP)


def sweep_process(folder):
    """Start ``gripsim sweep`` with one worker; its session is its own."""
    return start('sweep', folder / 'meshes', '--database', folder / 'g.db', '--material',
                 folder / 'soft.yaml', '--hypotheses', HYPOTHESES, '--workers', 1, '--json',
                 start_new_session=True)


@pytest.mark.nightly     # by day test_runner draws what is killed, and a worker is killed below
def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path):
    (tmp_path / 'soft.yaml').write_text(MATERIAL)
    names = ['a.ply', 'b.ply', 'c.ply', 'd.ply']
    for name, radius in zip(names, (0.033, 0.036, 0.034, 0.035)):
        write_ball(tmp_path / 'meshes' / name, radius)
    write_bad(tmp_path / 'meshes')
    path, done = tmp_path / 'g.db', 'select id, label from jobs where status = "done"'

    with sweep_process(tmp_path) as process:
        wait_until(lambda: rows(path, done) or process.poll() is not None)
        assert process.poll() is None, process.communicate()[1]
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    before = rows(path, done)
    assert 1 <= len(before) < len(names)
    plans = rows(path, 'select id, key, summary from plans')
    assert len(plans) == len(before)

    with sweep_process(tmp_path) as process:
        out, err = process.communicate(timeout=LONG)
    assert process.returncode == 0, err
    assert [label for _, label in rows(path, done + ' order by label')] == names
    assert rows(path, 'select label from jobs where status = "failed"') == [(BAD,)]
    assert set(plans) < set(rows(path, 'select id, key, summary from plans'))  # kept as they were
    assert rows(path, 'select count(*), count(distinct key) from plans') == [(4, 4)]
    ranks = rows(path, 'select count(*), count(distinct plan_id * 1000 + rank) from grasps')[0]
    assert ranks[0] == ranks[1] > 0

    # The object of the first sweep has the bits of a plan made without any database.
    folder, _ = real_sweep()
    expected = {job.plan.key: job.plan for job in GraspDatabase(str(folder / 'grasps.db')).jobs()
                if job.plan is not None}
    found = {job.plan.key: job.plan for job in GraspDatabase(str(path)).jobs()
             if job.plan is not None}
    assert len(expected.keys() & found.keys()) == 2
    for key in expected.keys() & found.keys():
        same(found[key].grasps, expected[key].grasps)


def sweep_with_one_killed(tmp_path):
    """Sweep with one worker, which is killed as soon as it has a job; return how all ended."""
    store, killed = database(tmp_path / 'g.db'), []
    sweep = begin(store, tmp_path / 'meshes')
    with LocalEngine(1) as engine:
        submit = engine.submit

        def submit_and_kill(number, job):
            submit(number, job)
            if not killed:
                killed.extend(engine.process_ids)
                os.kill(killed[0], signal.SIGKILL)

        engine.submit = submit_and_kill
        state = sweep.run(engine)
        assert engine.process_ids != killed
    for process in killed:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    return state, *GraspDatabase(str(tmp_path / 'g.db')).jobs()


def test_the_job_of_a_killed_worker_is_done_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(local, 'PRELOADED', [])     # kernels that a bad file does not need
    (tmp_path / 'meshes').mkdir()
    write_bad(tmp_path / 'meshes')
    state, job = sweep_with_one_killed(tmp_path)
    assert (state.done, state.failed) == (0, 1)
    assert (job.status, job.reason) == ('failed', f'{BAD}: holds no triangles')


@pytest.mark.nightly     # by day the next one reads a file that is no mesh
def test_the_plan_of_a_killed_worker_is_made_by_the_next_one(tmp_path):
    write_ball(tmp_path / 'meshes' / 'a.ply', 0.033)
    state, job = sweep_with_one_killed(tmp_path)
    assert (state.done, state.failed, state.planned) == (1, 0, 1)
    folder, _ = real_sweep()
    first = next(GraspDatabase(str(folder / 'grasps.db')).jobs())
    same(job.plan.grasps, first.plan.grasps)


def test_the_workers_of_an_engine_end_with_it(tmp_path):
    with LocalEngine(1) as engine:
        (process,) = engine.process_ids
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_bad_mesh_is_recorded_with_its_reason_and_the_sweep_goes_on():
    folder, state = real_sweep()
    assert (state.total, state.done, state.failed) == (3, 2, 1)
    jobs = list(GraspDatabase(str(folder / 'grasps.db')).jobs())
    assert [job.label for job in jobs] == ['a.ply', BAD, 'sub/b.ply']
    assert jobs[1].status == 'failed' and jobs[1].reason == f'{BAD}: holds no triangles'
    assert all(jobs[i].plan.grasps for i in (0, 2))


def test_a_plan_that_takes_too_long_is_no_plan(tmp_path):
    from dataclasses import replace
    from gripsim_ros.apps.sweep.jobs import context_of, make_job
    from sweep_cases import SETTINGS, spec
    folder, _ = real_sweep()
    short = replace(SETTINGS, time=1e-9)
    job = make_job(spec(folder / 'meshes', 'a.ply', SOFT), short, context_of(short))
    assert plan_job(job).reason.startswith('time is up after 1e-09 s: ')


def test_memory_goes_back_after_each_object_whatever_came_of_it(monkeypatch):
    from gripsim_ros.apps.sweep import jobs
    calls = []
    monkeypatch.setattr(jobs, 'manage_memory', lambda: calls.append('managed'))
    monkeypatch.setattr(jobs, 'return_memory', lambda: calls.append('returned'))
    monkeypatch.setattr(jobs, 'context_of', lambda settings: 'ours')
    monkeypatch.setattr(jobs, '_plan', lambda job: calls.append('planned'))
    job = jobs.Job('a', '.ply', b'', 1.0, None, None, 'ours')
    assert plan_job(job) is None and calls == ['managed', 'planned', 'returned']
    monkeypatch.setattr(jobs, '_plan', lambda job: 1 / 0)
    assert 'ZeroDivisionError' in plan_job(job).reason and calls[3:] == ['managed', 'returned']


def test_a_worker_of_another_version_refuses():
    from gripsim_ros.apps.sweep.jobs import make_job
    from sweep_cases import SETTINGS, spec
    folder, _ = real_sweep()
    job = make_job(spec(folder / 'meshes', 'a.ply', SOFT), SETTINGS, 'another context')
    assert 'another version, hand or configuration' in plan_job(job).reason
