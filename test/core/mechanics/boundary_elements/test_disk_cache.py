"""Compliances kept on disk: found again, mended, bounded, and no part of an answer."""

from concurrent.futures import ThreadPoolExecutor
import os

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.errors import MeshError, TaskError
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.boundary_elements import disk_cache as store
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import prepare_compliance
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import (
    ComplianceOptions, LazyCompliance)
from gripsim_ros.library.resources import cache_directory

MESH, RATIO, NODES = shapes.sphere(0.02, 4e-3), 0.3, 300


@pytest.fixture
def folder(tmp_path):
    """Return a folder that keeps one compliance."""
    store.load_compliance(tmp_path / 'kept', MESH, RATIO, NODES)
    return tmp_path / 'kept'


def forbid_preparing(patch):
    """Let no compliance be prepared."""
    patch.setattr(store, 'prepare_compliance', None)


def test_kept_compliances_are_found_again_and_only_read(folder, monkeypatch):
    forbid_preparing(monkeypatch)
    found, warnings = store.load_compliance(folder, MESH, RATIO, NODES)
    assert isinstance(found.displacements, np.memmap) and warnings == ()
    assert not found.displacements.flags.writeable


def test_what_was_kept_is_what_was_prepared_in_every_bit(folder):
    prepared = prepare_compliance(MESH, RATIO, NODES)
    found, _ = store.load_compliance(folder, MESH, RATIO, NODES)
    for name in ('points', 'elements', 'displacements'):
        assert_array_equal(getattr(found, name), getattr(prepared, name))


# By day each file and each damage once.
@pytest.mark.parametrize('damage, name', [
    ('missing', 'sha256'), ('short', 'displacements.npy'), ('changed', 'points.npy'), *(
        pytest.param(damage, name, marks=pytest.mark.nightly) for damage, name in (
            ('missing', 'points.npy'), ('missing', 'displacements.npy'), ('short', 'points.npy'),
            ('short', 'sha256'), ('changed', 'displacements.npy'), ('changed', 'sha256')))])
def test_what_is_damaged_is_made_anew_with_a_warning(folder, name, damage):
    place = folder / store.cache_key(MESH, RATIO, NODES)
    before = (place / 'displacements.npy').read_bytes()
    content = (place / name).read_bytes()
    (place / name).unlink()
    if damage != 'missing':
        (place / name).write_bytes(content[:-1] if damage == 'short'
                                   else content[:-1] + bytes([content[-1] ^ 1]))
    _, warnings = store.load_compliance(folder, MESH, RATIO, NODES)
    assert len(warnings) == 1 and 'was damaged and has been made anew' in warnings[0]
    assert (place / 'displacements.npy').read_bytes() == before
    assert store.load_compliance(folder, MESH, RATIO, NODES)[1] == ()


def test_the_name_of_a_compliance_tells_all_that_it_depends_on():
    other = shapes.sphere(0.021, 4e-3)
    names = {store.cache_key(*each) for each in (
        (MESH, 0.3, 150), (other, 0.3, 150), (MESH, 0.31, 150), (MESH, 0.3, 151))}
    assert len(names) == 4


def test_what_was_used_longest_ago_is_forgotten_first(folder):
    names = [store.cache_key(MESH, ratio, NODES) for ratio in (0.3, 0.35, 0.4)]
    size = sum(file.stat().st_size for file in (folder / names[0]).iterdir())
    store.load_compliance(folder, MESH, 0.35, NODES)
    os.utime(folder / names[0], (1e9, 1e9))
    os.utime(folder / names[1], (5e8, 5e8))
    store.load_compliance(folder, MESH, 0.4, NODES, max_size=2.5 * size)
    assert [(folder / name).is_dir() for name in names] == [True, False, True]
    store.load_compliance(folder, MESH, 0.4, NODES, max_size=0.0)
    assert [(folder / name).is_dir() for name in names] == [False, False, True]


def test_a_folder_that_cannot_be_written_costs_time_alone(tmp_path):
    (tmp_path / 'file').write_text('')
    source = LazyCompliance(MESH, RATIO, ComplianceOptions(NODES, str(tmp_path / 'file')))
    assert_array_equal(source.get().displacements,
                       prepare_compliance(MESH, RATIO, NODES).displacements)
    assert len(source.warnings) == 1 and 'cannot be kept' in source.warnings[0]


def test_a_source_prepares_once_for_all_threads(monkeypatch):
    calls = []

    def prepare(*wanted):
        calls.append(wanted)
        return prepare_compliance(*wanted)

    monkeypatch.setattr(store, 'prepare_compliance', prepare)
    source = LazyCompliance(MESH, RATIO, ComplianceOptions(NODES))
    assert not calls
    with ThreadPoolExecutor(3) as pool:
        answers = {id(answer) for answer in pool.map(lambda _: source.get(), range(6))}
    assert len(calls) == len(answers) == 1


def test_an_open_mesh_is_refused_each_time_it_is_asked_for(tmp_path):
    source = LazyCompliance(MESH.with_faces(MESH.faces[:-1]), RATIO,
                            ComplianceOptions(NODES, str(tmp_path)))
    for _ in range(2):
        with pytest.raises(MeshError, match='must be closed'):
            source.get()


def test_compliances_are_kept_in_the_users_cache_unless_a_folder_is_named(
        monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    options = MechanicsOptions().with_folder(cache_directory())
    assert options.compliance.folder == str(tmp_path / 'gripsim' / 'compliance')
    assert options.with_folder(tmp_path / 'other') is options
    monkeypatch.setenv('XDG_CACHE_HOME', 'not/absolute')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert cache_directory() == tmp_path / '.cache' / 'gripsim'


@pytest.mark.parametrize('given, taken', [
    (0.3, 0.3), (0.31, 0.3), (0.33, 0.35), (0.49, 0.49), (0.499, 0.49), (-0.99, -0.95)])
def test_compliances_are_made_for_few_poisson_ratios(given, taken):
    assert store.nearest_ratio(given) == pytest.approx(taken, abs=1e-12)


@pytest.mark.parametrize('values, said', [
    ({'node_count': 50}, 'at least 100, got 50'), ({'node_count': 1e3}, 'whole number'),
    ({'folder': 3}, 'folder must be text, got 3'), ({'max_size': -1.0}, 'at least 0, got -1.0'),
    ({'max_size': float('nan')}, 'at least 0, got nan')])
def test_options_out_of_range_are_refused(values, said):
    with pytest.raises(TaskError, match=said):
        ComplianceOptions(**values)


def test_a_folder_that_keeps_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(store, '_store', lambda place, compliance: None)
    monkeypatch.setattr(store, 'prepare_compliance', lambda *arguments: None)
    with pytest.raises(OSError, match='cannot be read back'):
        store.load_compliance(tmp_path, MESH, RATIO, NODES)
