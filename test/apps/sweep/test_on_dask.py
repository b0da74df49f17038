"""Sweeping by the workers of a Dask scheduler."""

from gripsim_ros.apps.sweep.on_dask import DaskEngine
from gripsim_ros.core.errors import GripsimError
from gripsim_ros.library.database.lookup import GraspDatabase
import pytest
from sweep_cases import answers, begin, database, dies, real_sweep, same, write_tokens

distributed = pytest.importorskip('distributed', reason='needs the extra dask')
dask = pytest.importorskip('dask')


@pytest.fixture(scope='module')
def cluster():
    """Yield a scheduler with one worker process, which gives up a job that kills it."""
    with dask.config.set({'distributed.scheduler.allowed-failures': 0}), \
            distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                     dashboard_address=':0') as running:
        yield running


@pytest.mark.nightly
def test_dask_finds_what_one_process_finds(cluster, tmp_path):
    folder, _ = real_sweep()
    sweep = begin(database(tmp_path / 'g.db'), folder / 'meshes')
    with DaskEngine(cluster.scheduler_address) as engine:
        state = sweep.run(engine)
    assert (state.done, state.failed, state.planned) == (2, 1, 2)
    ours = list(GraspDatabase(str(folder / 'grasps.db')).jobs())
    for one, other in zip(GraspDatabase(str(tmp_path / 'g.db')).jobs(), ours, strict=True):
        assert (one.label, one.status, one.reason) == (other.label, other.status, other.reason)
        if one.plan is not None:
            assert one.plan.key == other.plan.key
            same(one.plan.grasps, other.plan.grasps)


def test_a_scheduler_that_is_not_there_is_bad_input(monkeypatch):
    monkeypatch.setattr('gripsim_ros.apps.sweep.on_dask.TIMEOUT', 0.5)
    with pytest.raises(GripsimError, match='no Dask scheduler answers at tcp://127.0.0.1:1'):
        with DaskEngine('tcp://127.0.0.1:1'):
            pass


def test_jobs_travel_with_their_bytes_and_no_more_than_there_is_room_for(
        cluster, tmp_path, monkeypatch):
    meshes, most = write_tokens(tmp_path / 'meshes', 6), []
    monkeypatch.setattr('gripsim_ros.apps.sweep.on_dask.plan_job', answers)
    sweep = begin(database(tmp_path / 'g.db'), meshes)
    with DaskEngine(cluster.scheduler_address) as engine:
        sweep.run(engine, lambda state: most.append(len(engine._jobs)))
    assert [row['reason'] for row in sweep.finish().failures] == [
        f'{number:02}.stl 7' for number in range(6)]
    assert max(most) <= 2


def test_a_job_that_kills_its_workers_has_failed(cluster, tmp_path, monkeypatch):
    meshes = write_tokens(tmp_path / 'meshes', 1)
    monkeypatch.setattr('gripsim_ros.apps.sweep.on_dask.plan_job', dies)
    monkeypatch.setattr('gripsim_ros.apps.sweep.runner.MOST_DEATHS', 1)
    sweep = begin(database(tmp_path / 'g.db'), meshes)
    with DaskEngine(cluster.scheduler_address) as engine:
        sweep.run(engine)
    (failure,) = sweep.finish().failures
    assert 'KilledWorker' in failure['reason']
