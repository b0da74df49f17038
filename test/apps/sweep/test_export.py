"""Exports: order, selection, frames, and that the numbers are those stored."""

from dataclasses import fields, replace
from functools import lru_cache
import importlib.util
import json
from pathlib import Path
import random

from cli_cases import assert_refused, gripsim, strict
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from plan_cases import made_up_grasp
import pytest
from scipy.spatial.transform import Rotation
from sweep_cases import (
    BAD, begin, database, FakeEngine, HARD, HYPOTHESES, made_up_plan, real_sweep, SOFT,
    write_tokens)

from gripsim_ros.apps.sweep.arrays import ROTATION_NAMES, TRANSLATION_NAMES
from gripsim_ros.apps.sweep.export import plain, safe_name
from gripsim_ros.core.bodies import load_mesh
from gripsim_ros.core.fields import declared
from gripsim_ros.core.planning.ranked_grasp import GraspContact, RankedGrasp
from gripsim_ros.core.transforms import from_pose, to_pose
from gripsim_ros.library.database.lookup import GraspDatabase
from gripsim_ros.library.database.records import GraspFilter
from gripsim_ros.library.grasp_file import grasp_to_mapping, load_grasps
from gripsim_ros.library.in_process import evaluate_grasps, model_of
from gripsim_ros.library.resources import load_default_hand

ROOT = Path(__file__).resolve().parents[3]
ATOL_ROUNDOFF = 1e-12
#: Through a quaternion the pose changes by round-off; what is judged follows it. Forces and
#: torques follow as far as the conic programme tells them, whose optimum is flat: 1e-6 of a force
#: of 1.4 N with the kernels of some processors, which is 8.5e-6 of its least component.
RTOL_EVALUATED, RTOL_FORCES = 1e-6, 1e-5
LABELS = ('a.stl', 'b/c.stl', 'B.stl', 'b_c.stl', 'ü.stl')


@pytest.fixture(scope='module')
def exported(tmp_path_factory):
    """Return the folders of both exports of real plans, and the jobs of the database."""
    folder, _ = real_sweep()
    path, out = str(folder / 'grasps.db'), tmp_path_factory.mktemp('export')
    for form in ('json', 'dexgraspnet'):
        code, _, err = gripsim('export', path, '--format', form, '--out', out / form)
        assert code == 0, err
    return out / 'json', out / 'dexgraspnet', list(GraspDatabase(path).jobs())


def example():
    """Import the loader example."""
    spec = importlib.util.spec_from_file_location(
        'load_grasps', ROOT / 'examples' / 'load_grasps.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(jobs):
    """Return the plans of jobs."""
    return [job.plan for job in jobs if job.plan is not None]


# -- order and selection -------------------------------------------------------------


numbers = st.floats(-1.0, 2.0).map(lambda value: round(value, 1))
grasp_numbers = st.lists(st.tuples(numbers, numbers), max_size=3)
plans = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([SOFT, HARD]),
                           grasp_numbers), max_size=6, unique_by=lambda row: row[:2])


some_grasp = lru_cache(made_up_grasp)


def fill(path, rows, order):
    """Store plans in an order."""
    store = database(path)
    for index in order:
        label, material, values = rows[index]
        grasps = [replace(some_grasp(rank), score=score, margin=margin)
                  for rank, (score, margin) in enumerate(values, 1)]
        row = {'key': f'{label} {material.name}', 'request': str(index), 'label': label,
               'scale': 1.0, 'material_name': material.name}
        ((number, _),) = store.enroll([row]).values()
        assert store.claim(number)
        assert store.finish(number, made_up_plan(label, material, grasps))
    return store


def listed(path, wanted):
    """Return label, material and numbers of each grasp in the order of the export."""
    return [(job.label, job.material_name, grasp.rank, grasp.score, grasp.margin)
            for job in GraspDatabase(str(path)).jobs(wanted) for grasp in job.plan.grasps]


@settings(max_examples=15)
@given(rows=plans, seed=st.integers(0, 99), score=numbers, margin=numbers, top=st.integers(0, 3),
       pattern=st.sampled_from(['', '*', 'b*', '*.stl', 'none', 'b/*']), hard=st.booleans())
def test_selection_is_that_of_plain_python_and_order_that_of_names(
        tmp_path_factory, rows, seed, score, margin, top, pattern, hard):
    folder = tmp_path_factory.mktemp('law')
    order = list(range(len(rows)))
    fill(folder / 'one.db', rows, order)
    random.Random(seed).shuffle(order)
    fill(folder / 'other.db', rows, order)
    wanted = GraspFilter((pattern,) if pattern else (), ('hard',) if hard else (), score, margin,
                         top)
    expected = []
    for label, material, values in sorted(rows, key=lambda row: (row[0], row[1].name)):
        matches = {'': True, '*': True, 'b*': label.startswith('b'), '*.stl': True,
                   'none': False, 'b/*': label.startswith('b/')}[pattern]
        expected += [(label, material.name, rank, s, m) for rank, (s, m) in enumerate(values, 1)
                     if matches and not (hard and material is SOFT) and s >= score
                     and m >= margin and (top == 0 or rank <= top)]
    assert listed(folder / 'one.db', wanted) == expected == listed(folder / 'other.db', wanted)


def test_exports_of_equal_content_are_equal_files(tmp_path):
    rows = [(label, SOFT, [(0.5, 1.1), (0.4, 1.2)]) for label in LABELS]
    fill(tmp_path / 'one.db', rows, [0, 1, 2, 3, 4])
    fill(tmp_path / 'other.db', rows, [4, 2, 0, 3, 1])
    for form in ('json', 'dexgraspnet'):
        files = []
        for name in ('one', 'other'):
            out = tmp_path / f'{form}_{name}'
            assert gripsim('export', tmp_path / f'{name}.db', '--format', form, '--out', out)[
                0] == 0
            files.append({path.relative_to(out): path.read_bytes()
                          for path in sorted(out.rglob('*')) if path.is_file()
                          and path.suffix != '.npz'})       # a zip holds the time
        assert files[0] == files[1] and files[0]


@given(st.lists(st.text(st.characters(codec='utf-8', exclude_characters='\0'), min_size=1,
                        max_size=8), min_size=2, max_size=6, unique=True))
def test_different_labels_have_different_files(labels):
    names = [safe_name(label) for label in labels]
    assert len(set(names)) == len(labels)
    assert not any('/' in name or name in ('.', '..') for name in names)


# -- what is in the files ------------------------------------------------------------


def test_json_holds_the_very_grasps_that_plan_writes(exported):
    folder, _, jobs = exported
    names = load_default_hand().joint_names
    index = json.loads((folder / 'index.json').read_text())
    lines = [json.loads(line) for line in (folder / 'grasps.jsonl').read_text().splitlines()]
    assert [entry['object'] for entry in index['plans']] == ['a.ply', 'sub/b.ply']
    for entry, plan in zip(index['plans'], stored(jobs), strict=True):
        content = strict((folder / entry['file']).read_text())
        assert content['grasps'] == [plain(grasp_to_mapping(g, names)) for g in plan.grasps]
        mine = [line for line in lines if line['key'] == entry['key']]
        assert [{k: v for k, v in line.items() if k in content['grasps'][0]}
                for line in mine] == content['grasps']
        assert content['object']['mass'] == plan.grasp_object.mass_properties.mass


def test_exported_meshes_are_the_objects_planned_for_bit_for_bit(exported):
    for folder in exported[:2]:
        entries = json.loads((folder / 'index.json').read_text())['plans']
        for entry, plan in zip(entries, stored(exported[2]), strict=True):
            loaded = load_mesh(folder / entry['mesh'])
            assert not loaded.repairs
            assert loaded.mesh.content_hash == plan.grasp_object.mesh.content_hash


def test_exported_grasps_evaluate_to_the_numbers_stored(exported):
    folder, _, jobs = exported
    entry, plan = json.loads((folder / 'index.json').read_text())['plans'][0], stored(jobs)[0]
    given_grasps = load_grasps(folder / entry['file'], load_default_hand().joint_names)
    judged = evaluate_grasps(plan.grasp_object, [
        (grasp.T_object_palm, grasp.trajectory) for grasp in given_grasps],
        elasticity=model_of(plan.grasps))
    assert judged and len(judged) == len(plan.grasps)
    for found, told in zip(judged, plan.grasps):
        assert found.stable and not found.reason
        assert_allclose(found.grip_efforts, told.grip_efforts, rtol=RTOL_FORCES, atol=1e-9)
        for name in ('score', 'margin', 'max_displacement', 'centre_of_mass'):
            assert_allclose(getattr(found, name), getattr(told, name), rtol=RTOL_EVALUATED,
                            atol=1e-9, err_msg=name)
        assert [c.link for c in found.contacts] == [c.link for c in told.contacts]
        for one, other in zip(found.contacts, told.contacts):
            assert_allclose(one.force, other.force, rtol=RTOL_FORCES, atol=1e-7)
            for name in ('point', 'peak_pressure', 'area'):
                assert_allclose(getattr(one, name), getattr(other, name), rtol=RTOL_EVALUATED,
                                atol=1e-7, err_msg=name)


def test_all_forms_tell_the_same_pose_in_the_same_frame(exported):
    _, folder, jobs = exported
    names = load_default_hand().joint_names
    for entry, plan in zip(json.loads((folder / 'index.json').read_text())['plans'],
                           stored(jobs), strict=True):
        arrays = np.load(folder / entry['file'])
        dicts = np.load(folder / 'dexgraspnet' / f'{safe_name(entry["object"])}.npy',
                        allow_pickle=True)
        for i, grasp in enumerate(plan.grasps):
            qpos = dicts[i]['qpos']
            assert list(qpos) == [*TRANSLATION_NAMES, *ROTATION_NAMES, *names]
            # Euler angles sxyz: about the fixed axes x, then y, then z.
            x, y, z = (Rotation.from_rotvec(qpos[name] * axis).as_matrix()
                       for name, axis in zip(ROTATION_NAMES, np.eye(3)))
            for rotation, translation in (
                    (z @ y @ x, [qpos[name] for name in TRANSLATION_NAMES]),
                    (arrays['rotation'][i], arrays['translation'][i])):
                assert_allclose(rotation, grasp.T_object_palm[:3, :3], atol=ATOL_ROUNDOFF)
                assert_array_equal(translation, grasp.T_object_palm[:3, 3])
            position, orientation = to_pose(grasp.T_object_palm)
            assert_allclose(from_pose(position, orientation), grasp.T_object_palm,
                            atol=ATOL_ROUNDOFF)
            assert [qpos[name] for name in names] == grasp.trajectory[-1].tolist()
            assert_array_equal(arrays['qpos'][i], grasp.trajectory[-1])
            assert dicts[i]['score'] == arrays['score'][i] == grasp.score
            assert dicts[i]['scale'] == arrays['scale'][i] == 1.0


def test_every_number_of_a_contact_is_in_the_arrays(exported):
    _, folder, jobs = exported
    plan = stored(jobs)[0]
    arrays = np.load(folder / 'arrays' / 'a.ply.npz')
    ends = arrays['contact_offsets']
    assert ends[-1] == sum(len(grasp.contacts) for grasp in plan.grasps) > 0
    for i, grasp in enumerate(plan.grasps):
        for row, contact in enumerate(grasp.contacts, ends[i]):
            for field in fields(GraspContact):
                assert_array_equal(arrays[f'contact_{field.name}'][row],
                                   getattr(contact, field.name))


def test_the_manual_explains_every_field(exported):
    _, folder, _ = exported
    manual = (ROOT / 'docs' / 'sweep.md').read_text(encoding='utf-8')
    told = {number.name for number in declared(RankedGrasp)} | {
        f'contact_{number.name}' for number in declared(GraspContact)}      # in reference.md
    arrays = np.load(folder / 'arrays' / 'a.ply.npz')
    (item, *_) = np.load(folder / 'dexgraspnet' / 'a.ply.npy', allow_pickle=True)
    index = json.loads((folder / 'index.json').read_text())
    for name in {*arrays.files, *item, *index, *index['plans'][0]}:
        if not name.startswith('term_') or name == 'term_names':
            assert name in told or f'`{name}`' in manual, name


def test_the_example_loads_what_is_exported(exported, capsys):
    _, folder, jobs = exported
    loader = example()
    assert loader.main([str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    counts = [len(plan.grasps) for plan in stored(jobs)]
    assert [line.split(':')[0] for line in lines] == ['a.ply', 'sub/b.ply']
    assert [int(line.split()[1]) for line in lines] == counts
    (plans_of_a, _) = loader.load_index(folder).values()
    grasps, plan = loader.load_object(folder, plans_of_a), stored(jobs)[0]
    assert_array_equal(grasps.T_object_palm, [g.T_object_palm for g in plan.grasps])
    assert [len(rows) for rows in grasps.contacts] == [len(g.contacts) for g in plan.grasps]
    qpos, columns = loader.load_qpos(folder, 'a.ply')
    assert_array_equal(qpos[:, 6:], grasps.qpos)
    assert columns[6:] == grasps.joint_names
    vertices, faces = loader.load_mesh(folder / plans_of_a[0]['mesh'])
    assert_array_equal(vertices, plan.grasp_object.mesh.vertices)
    assert_array_equal(faces, plan.grasp_object.mesh.faces)


# -- the command ---------------------------------------------------------------------


def test_the_command_counts_what_it_wrote(tmp_path):
    folder, _ = real_sweep()
    code, out, err = gripsim('export', folder / 'grasps.db', '--out', tmp_path / 'out',
                             '--object', 'sub/*', '--top', 1, '--json')
    answer = strict(out)
    assert code == 0 and 'wrote' in err
    assert (answer['plans'], answer['grasps'], answer['failed']) == (1, 1, 0)
    assert (tmp_path / 'out' / answer['files'][0]).is_file()


def test_bad_input_is_refused(tmp_path):
    folder, _ = real_sweep()
    path = folder / 'grasps.db'
    assert_refused(gripsim('export', tmp_path / 'none.db', '--out', tmp_path / 'x'),
                   'there is no such file')
    assert_refused(gripsim('export', path, '--out', tmp_path / 'x', '--format', 'csv'),
                   '--format must be one of json, dexgraspnet')
    assert_refused(gripsim('export', path, '--out', tmp_path / 'x', '--top', 0), '--top')
    assert_refused(gripsim('export', path, '--out', tmp_path / 'x', '--min-score', 'nan'),
                   '--min-score')
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / 'file').write_text('')
    assert_refused(gripsim('export', path, '--out', tmp_path / 'full'), 'a new or an empty folder')


def test_failed_objects_are_counted(tmp_path):
    store = fill(tmp_path / 'g.db', [('a.stl', SOFT, [(0.5, 1.1)])], [0])
    meshes = write_tokens(tmp_path / 'meshes', 1)
    begin(store, meshes).run(FakeEngine(lambda jobs: (0, 'bad')))
    code, out, err = gripsim('export', tmp_path / 'g.db', '--out', tmp_path / 'x', '--json')
    assert code == 0 and strict(out)['failed'] == 1 and 'warning' not in err


def test_plans_of_two_versions_are_said(tmp_path):
    store = fill(tmp_path / 'g.db', [('a.stl', SOFT, [(0.5, 1.1)])], [0])
    (number,) = begin(store, write_tokens(tmp_path / 'meshes', 1))._specs
    assert store.claim(number)
    assert store.finish(number, replace(made_up_plan('00.stl'), version='1.0.0+newer'))
    code, out, err = gripsim('export', tmp_path / 'g.db', '--out', tmp_path / 'x', '--json')
    assert code == 0 and 'warning: the plans are of 2 versions' in err
    assert strict(out)['versions'] == ['0.0.0+test', '1.0.0+newer']


# -- planning from the database ------------------------------------------------------


@pytest.fixture(scope='module')
def material_file(tmp_path_factory):
    path = tmp_path_factory.mktemp('material') / 'soft.yaml'
    path.write_text('youngs_modulus: 1.0e6\npoisson_ratio: 0.45\ndensity: 800\nfriction: 0.6\n')
    return path


def plan(folder, material_file, *options):
    """Return exit code, answer and standard error of ``gripsim plan`` for a swept ball."""
    code, out, err = gripsim(
        'plan', folder / 'meshes' / 'a.ply', '--material', material_file, '--workers', 1,
        '--json', '--hypotheses', HYPOTHESES, *options)
    return code, strict(out) if out else None, err


def test_the_database_answers_what_planning_would(material_file):
    folder, _ = real_sweep()
    code, answer, err = plan(folder, material_file, '--database', folder / 'grasps.db',
                             '--robustness', 2)
    assert code == 0 and 'answered from sqlite:///' in err
    _, fresh, _ = plan(folder, material_file, '--robustness', 2)
    differing = {'planning_time', 'first_stable_time', 'times', 'database'}
    told, expected = ({name: value for name, value in content['statistics'].items()
                       if name not in differing} for content in (answer, fresh))
    assert told == expected and 'database' in answer['statistics']
    assert {**answer, 'statistics': None} == {**fresh, 'statistics': None}
    assert answer['grasps'][0]['quality']['robustness']['samples'] == 2


@pytest.mark.parametrize('other', [('--seed', 1), ('--scale', 1.001), ('--count', 3)])
def test_another_request_is_not_answered_from_the_database(
        material_file, other, monkeypatch):
    folder, _ = real_sweep()
    monkeypatch.setattr('gripsim_ros.apps.cli.plan.plan_here', refuse)
    code, _, err = plan(folder, material_file, '--database', folder / 'grasps.db', *other)
    assert code == 2 and 'does not hold this plan' in err and 'planned afresh' in err


def refuse(*_, **__):
    """Stand for planning, which would take long."""
    from gripsim_ros.core.errors import TaskError
    raise TaskError('planned afresh')


@pytest.mark.nightly
def test_the_report_of_a_stored_plan_shows_its_surfaces(material_file, tmp_path):
    folder, _ = real_sweep()
    code, _, _ = plan(folder, material_file, '--database', folder / 'grasps.db', '--report',
                      tmp_path / 'r.html')
    assert code == 0 and (tmp_path / 'r.html').stat().st_size > 100_000


def test_a_database_that_was_changed_by_other_means_does_not_answer(tmp_path):
    from gripsim_ros.library.database.schema import DatabaseError, PlanRow
    from sqlalchemy import update
    from sweep_cases import SETTINGS, token_object
    store = fill(tmp_path / 'g.db', [('a.stl', SOFT, [(0.5, 1.1)])], [0])
    source, hand = GraspDatabase(str(tmp_path / 'g.db')), load_default_hand()
    asked = token_object('a.stl', SOFT), hand.id, SETTINGS.for_key()
    assert source.find(*asked).grasps
    with store._engine.begin() as connection:
        connection.execute(update(PlanRow).values(object_id='of something else'))
    with pytest.raises(DatabaseError, match='is not of the object'):
        source.find(*asked)


def test_bad_files_are_in_no_export(exported):
    for folder in exported[:2]:
        assert BAD not in (folder / 'index.json').read_text()
