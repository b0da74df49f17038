"""Sweeps: every job settled once, whatever dies; the database; what is refused."""

import sqlite3
import subprocess
import sys

from hypothesis import given, settings, strategies as st
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sweep_cases import (
    begin, database, FakeEngine, HARD, made_up_plan, SOFT, write_tokens)

from gripsim_ros.apps.sweep.jobs import list_jobs
from gripsim_ros.apps.sweep.runner import MOST_DEATHS
from gripsim_ros.core.errors import GripsimError, MeshError
from gripsim_ros.library.database import schema, store as store_module
from gripsim_ros.library.database.lookup import GraspDatabase
from gripsim_ros.library.database.schema import (
    database_url, DatabaseError, GraspRow, JobRow, open_database, PlanRow)
from gripsim_ros.library.database.store import is_gone, LEASE, process_name, SweepStore

JOBS = 4
GRASPS = 2


def count(store, column):
    """Return the number of rows of a table."""
    with Session(store._engine) as session:
        return session.scalar(select(func.count()).select_from(column))


def states(store):
    """Return the state of each job by label."""
    with Session(store._engine) as session:
        return {(row.label, row.material_name): row.status
                for row in session.scalars(select(JobRow))}


class _Killed(BaseException):
    """Stands for the end of the program: nothing is given back or written any more."""


def run_until_killed(sweep, engine, monkeypatch):
    """Run a sweep; where it is killed it leaves its claims behind."""
    with monkeypatch.context() as patch:
        patch.setattr(SweepStore, 'release', lambda self: None)
        try:
            sweep.run(engine)
        except _Killed:
            return True
    return False


@settings(max_examples=20)
@given(events=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(
    ['done', 'done', 'bad', 'dies', 'killed'])), max_size=12), room=st.integers(1, 3))
def test_every_job_is_settled_once_whatever_is_killed(tmp_path_factory, events, room):
    folder = tmp_path_factory.mktemp('law')
    meshes, waiting, settled = write_tokens(folder / 'meshes', JOBS), list(events), []

    def choose(jobs):
        place, how = waiting.pop(0) if waiting else (0, 'done')
        if how == 'killed':
            raise _Killed
        if how != 'dies':
            settled.append(jobs[place % len(jobs)][1].label)
        return place, how

    with pytest.MonkeyPatch.context() as monkeypatch:
        for life in range(len(events) + 2):
            store = database(folder / 'grasps.db')
            store.owner = f'life {life}'
            monkeypatch.setattr(store_module, 'is_gone', lambda owner: True)
            sweep = begin(store, meshes)
            if not run_until_killed(sweep, FakeEngine(choose, room), monkeypatch):
                break
    done = sweep.state.done
    assert done + sweep.state.failed == JOBS and len(states(store)) == JOBS
    assert set(states(store).values()) <= {'done', 'failed'}
    assert len(settled) == len(set(settled))            # nothing twice, nothing in vain
    assert count(store, PlanRow) == done and count(store, GraspRow) == GRASPS * done
    assert begin(store, meshes).is_over


def test_a_job_whose_worker_dies_again_and_again_has_failed(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 2), database(tmp_path / 'g.db')
    engine = FakeEngine(lambda jobs: (0, 'dies' if jobs[0][1].label == '00.stl' else 'done'))
    sweep = begin(store, meshes)
    sweep.run(engine)
    (failure,) = sweep.finish().failures
    assert engine.asked.count(('00.stl', 'soft')) == MOST_DEATHS
    assert failure['object'] == '00.stl' and 'died 3 times, last of signal 9' in failure['reason']
    assert states(store)['01.stl', 'soft'] == 'done'


def test_failed_jobs_are_tried_again_when_asked_for_and_others_are_not(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 3), database(tmp_path / 'g.db')
    begin(store, meshes).run(FakeEngine(
        lambda jobs: (0, 'bad' if jobs[0][1].label == '01.stl' else 'done')))
    assert begin(store, meshes).is_over
    again, engine = begin(store, meshes, retry_failed=True), FakeEngine()
    again.run(engine)
    assert engine.asked == [('01.stl', 'soft')]
    assert (again.state.done, again.state.failed, again.finish().failures) == (3, 0, [])


def test_new_materials_and_files_are_added_to_what_is_there(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 2), database(tmp_path / 'g.db')
    begin(store, meshes).run(FakeEngine())
    write_tokens(meshes, 3)
    sweep, engine = begin(store, meshes, (SOFT, HARD)), FakeEngine()
    sweep.run(engine)
    assert sorted(engine.asked) == [('00.stl', 'hard'), ('01.stl', 'hard'), ('02.stl', 'hard'),
                                    ('02.stl', 'soft')]


def test_the_same_bytes_under_another_name_are_planned_once(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 1), database(tmp_path / 'g.db')
    (meshes / 'copy.stl').write_bytes((meshes / '00.stl').read_bytes())
    sweep, engine = begin(store, meshes), FakeEngine(room=1)
    sweep.run(engine)
    assert engine.asked == [('00.stl', 'soft')]
    assert (sweep.state.done, sweep.state.planned, sweep.state.adopted) == (2, 1, 1)
    first, second = GraspDatabase(str(tmp_path / 'g.db')).jobs()
    assert (first.label, second.label) == ('00.stl', 'copy.stl')
    assert first.plan.key == second.plan.key


def test_equal_objects_of_different_files_share_one_plan(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 2), database(tmp_path / 'g.db')
    sweep = begin(store, meshes)
    numbers = sorted(sweep._specs)
    for number in numbers:
        assert store.claim(number) and store.finish(number, made_up_plan('the same'))
    assert count(store, PlanRow) == 1 and count(store, GraspRow) == GRASPS
    assert set(states(store).values()) == {'done'}


def test_a_job_has_one_owner(tmp_path):
    meshes, one = write_tokens(tmp_path / 'meshes', 1), database(tmp_path / 'g.db')
    other = database(tmp_path / 'g.db')
    other.owner = 'elsewhere'
    (number,) = begin(one, meshes)._specs
    assert one.claim(number) and not other.claim(number)
    assert not other.finish(number, made_up_plan('x')) and not other.fail(number, 'no')
    assert count(one, PlanRow) == 0
    assert begin(other, meshes).state.elsewhere == 1
    assert one.finish(number, made_up_plan('x'))


def test_a_claim_ends_with_its_lease_and_what_comes_later_is_not_stored(tmp_path):
    meshes, now = write_tokens(tmp_path / 'meshes', 1), [1000.0]
    engine = open_database(str(tmp_path / 'g.db'), create=True)
    slow, next_one = (SweepStore(engine, lambda: now[0]) for _ in range(2))
    slow.owner, next_one.owner = 'machine:boot:1:1', 'machine:boot:2:2'
    (number,) = begin(slow, meshes)._specs
    assert slow.claim(number)
    now[0] += 0.9 * LEASE
    slow.renew()
    now[0] += 0.9 * LEASE
    assert next_one.reclaim() == 0
    now[0] += 0.2 * LEASE
    assert next_one.reclaim() == 1 and next_one.claim(number)
    assert not slow.finish(number, made_up_plan('late')) and count(slow, PlanRow) == 0


def test_a_process_that_has_ended_is_known_to_be_gone():
    code = ('from gripsim_ros.library.database.store import process_name\n'
            'print(process_name()); input()')
    with subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        name = process.stdout.readline().strip()
        assert not is_gone(name) and not is_gone(process_name())
        process.kill()
    assert is_gone(name)
    # The same number, but of a process that began at another time; of another machine.
    begun_before = ':'.join([*process_name().split(':')[:-1], '1'])
    assert is_gone(begun_before)
    assert not is_gone('elsewhere:boot:1:1') and not is_gone('')


def test_an_interrupted_sweep_gives_back_what_it_has_claimed(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 3), database(tmp_path / 'g.db')
    state = begin(store, meshes).run(FakeEngine(), lambda state: state.done < 1)
    assert state.interrupted and state.done == 1
    assert sorted(states(store).values()) == ['done', 'waiting', 'waiting']


def test_a_file_that_changes_meanwhile_has_failed_and_the_others_go_on(tmp_path):
    meshes, store = write_tokens(tmp_path / 'meshes', 3), database(tmp_path / 'g.db')
    sweep = begin(store, meshes)
    (meshes / '00.stl').write_text('another one')
    (meshes / '01.stl').unlink()
    sweep.run(FakeEngine())
    reasons = [failure['reason'] for failure in sweep.finish().failures]
    assert 'has changed since' in reasons[0] and 'cannot be read' in reasons[1]
    assert sweep.state.done == 1


def test_jobs_are_named_by_their_path_below_the_folder(tmp_path):
    write_tokens(tmp_path / 'sub', 1)
    (tmp_path / 'notes.txt').write_text('no mesh')
    (tmp_path / 'A.STL').write_text('x')
    jobs = list_jobs([tmp_path, tmp_path / 'sub'], [SOFT, HARD], [1.0, 0.001])
    assert [(j.label, j.material.name, j.scale) for j in jobs] == [
        (label, name, scale) for label in ('A.STL', 'sub/00.stl')
        for name in ('soft', 'hard') for scale in (1.0, 0.001)]
    (only,) = list_jobs([tmp_path / 'A.STL'], [SOFT], [1.0])
    assert only.label == 'A.STL'


def test_folders_without_a_mesh_are_bad_input(tmp_path):
    with pytest.raises(MeshError, match='there is no such folder'):
        list_jobs([tmp_path / 'none'], [SOFT], [1.0])
    with pytest.raises(MeshError, match='holds no mesh; read are .3dxml'):
        list_jobs([tmp_path], [SOFT], [1.0])


def test_readers_and_a_writer_work_side_by_side(tmp_path):
    store = database(tmp_path / 'g.db')
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql('PRAGMA journal_mode').scalar() == 'wal'
        assert connection.exec_driver_sql('PRAGMA foreign_keys').scalar() == 1


def test_a_database_that_is_not_there_is_not_made_by_asking(tmp_path):
    with pytest.raises(DatabaseError, match='there is no such file'):
        GraspDatabase(str(tmp_path / 'none.db'))
    assert not (tmp_path / 'none.db').exists()


def test_other_databases_are_refused_and_left_as_they_are(tmp_path):
    other = tmp_path / 'other.db'
    with sqlite3.connect(other) as connection:
        connection.execute('create table birds (name text)')
    with pytest.raises(DatabaseError, match='is no grasp database'):
        GraspDatabase(str(other))
    (tmp_path / 'text.db').write_text('no database at all, but long enough to be one' * 20)
    with pytest.raises(DatabaseError, match='text.db: file is not a database'):
        open_database(str(tmp_path / 'text.db'), create=True)
    with pytest.raises(DatabaseError, match='cannot be written there'):
        open_database(str(tmp_path / 'none' / 'g.db'), create=True)


def test_another_version_of_the_schema_is_refused(tmp_path, monkeypatch):
    database(tmp_path / 'g.db')
    monkeypatch.setattr(schema, 'SCHEMA_VERSION', 99)
    with pytest.raises(DatabaseError, match=r'schema version \[1\], this program needs 99'):
        open_database(str(tmp_path / 'g.db'), create=True)


def test_urls_that_name_no_database_are_bad_input():
    with pytest.raises(DatabaseError, match='a database is needed'):
        database_url(' ')
    with pytest.raises(DatabaseError, match='driver is not installed'):
        open_database('nosuchdatabase://host/x')
    with pytest.raises(DatabaseError, match='needs a file'):
        open_database('sqlite://')


def test_passwords_are_not_told():
    pytest.importorskip('psycopg')
    with pytest.raises(DatabaseError) as refused:
        open_database('postgresql://user:secret@127.0.0.1:1/grasps')
    assert 'secret' not in str(refused.value) and '127.0.0.1' in str(refused.value)


def test_without_sqlalchemy_one_line_says_what_to_install():
    code = ('import sys; sys.modules["sqlalchemy"] = None\n'
            'from gripsim_ros.apps.cli.main import main\n'
            'sys.exit(main(["export", "x", "--out", "y"]))')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.count('\n') == 1
    assert 'gripsim_ros[sweep]' in run.stderr


def test_without_dask_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    from gripsim_ros.apps.sweep.on_dask import DaskEngine
    with pytest.raises(GripsimError, match=r'gripsim_ros\[dask\]'):
        DaskEngine('tcp://127.0.0.1:1')
