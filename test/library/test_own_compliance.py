"""Planning in two stages: half-spaces search, the object's own compliance decides."""

from dataclasses import replace

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import MeshError
from gripsim_ros.core.mechanics.boundary_elements import disk_cache
from gripsim_ros.core.planning import Progress
from gripsim_ros.core.planning.closings import NEGLIGIBLE, yields_as_a_whole
from gripsim_ros.core.planning.planner import ENDED_EARLY
from gripsim_ros.core.planning.progress import PREPARING
from gripsim_ros.library import in_process, own_compliance
from gripsim_ros.library.grasp_file import elasticity_of
from gripsim_ros.library.in_process import (
    evaluate_grasps, find_material, mechanics_options, plan_grasps, planner_options)
from gripsim_ros.library.resources import load_default_hand
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
import trimesh

from cli_cases import gripsim, strict

HYPOTHESES, COUNT = 8, 2
PLAN = {'hypotheses': HYPOTHESES, 'count': COUNT, 'budget': 300.0}
#: Two orders of summation of the same forces.
RTOL_SUMMATION = 1e-9


def ball():
    return GraspObject(shapes.sphere(0.035, 0.006), Material(1.0e6, 0.45, 800.0, 0.6))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Keep what is prepared in a folder of these tests, and its preparations in a list there."""
    place = tmp_path_factory.mktemp('cache')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(place))
        prepare = disk_cache.prepare_compliance

        def counted(*arguments):
            with (place / 'prepared').open('a') as file:
                file.write('once\n')
            return prepare(*arguments)
        patch.setattr(disk_cache, 'prepare_compliance', counted)
        mechanics_options.cache_clear()
        yield place
    mechanics_options.cache_clear()


@pytest.fixture(scope='module')
def beside(folder):
    """Return a plan whose compliance was prepared beside two workers, and its steps."""
    steps = []
    found = plan_grasps(ball(), elasticity='auto', workers=2, **PLAN,
                        on_progress=lambda progress: steps.append(progress.step))
    return found, steps


@pytest.fixture(scope='module')
def searched(folder):
    return plan_grasps(ball(), elasticity='half_space', **PLAN)


def force_of(grasp):
    return sum(touch.mean_pressure * touch.equivalent_radius ** 2 for touch in grasp.contacts)


def numbers(grasps):
    return [(g.rank, g.hypothesis, g.score, g.margin, g.max_displacement, g.elasticity,
             *g.trajectory[-1], *g.grip_efforts, *g.T_object_settled.ravel(),
             *(g.warnings)) for g in grasps]


def test_the_grasps_of_two_stages_have_the_numbers_of_the_objects_own_compliance(beside):
    grasps = beside[0].grasps
    assert len(grasps) == COUNT and {g.elasticity for g in grasps} == {'body'}
    judged = evaluate_grasps(ball(), [(g.T_object_palm, g.trajectory) for g in grasps],
                             elasticity='body')
    for grasp, other in zip(grasps, judged):
        assert other.stable and other.elasticity == 'body'
        assert other.score == pytest.approx(grasp.score, rel=RTOL_SUMMATION)
        assert other.margin == pytest.approx(grasp.margin, rel=RTOL_SUMMATION)
        assert_allclose(other.grip_efforts, grasp.grip_efforts, rtol=RTOL_SUMMATION)


def test_they_are_among_those_that_the_search_found_and_ranked_anew(beside, searched):
    scores = [grasp.score for grasp in beside[0].grasps]
    assert scores == sorted(scores, reverse=True)
    assert {g.elasticity for g in searched.grasps} == {'half_space'}
    assert beside[0].evaluated == searched.evaluated == HYPOTHESES
    assert not np.array_equal(beside[0].grasps[0].grip_efforts, searched.grasps[0].grip_efforts)


def test_when_preparation_ends_changes_no_bit_and_nothing_is_prepared_twice(beside, folder):
    kept = plan_grasps(ball(), elasticity='auto', workers=2, **PLAN)
    after = plan_grasps(ball(), elasticity='auto', workers=1, **PLAN)
    assert numbers(kept.grasps) == numbers(after.grasps) == numbers(beside[0].grasps)
    for grasp, other in zip(after.grasps, beside[0].grasps):
        assert_array_equal(grasp.vertices, other.vertices)
    assert (folder / 'prepared').read_text().split() == ['once']
    assert not list((folder / 'gripsim' / 'compliance').glob('*draft*'))


def test_progress_tells_what_goes_on_after_the_search(beside):
    steps = [step for step in dict.fromkeys(beside[1]) if step]
    assert steps in (['closing the best again'], [PREPARING, 'closing the best again'])


@pytest.mark.parametrize('step', [
    pytest.param('', marks=pytest.mark.nightly), 'closing the best again'])
def test_an_end_before_the_decision_leaves_the_answer_of_half_spaces(step, searched, folder):
    judged = []

    def watch(progress: Progress):
        judged.append(progress.evaluated)
        return not (progress.step == step and progress.evaluated == HYPOTHESES)
    found = plan_grasps(ball(), elasticity='auto', **PLAN, on_progress=watch)
    assert found.grasps and judged[-1] == HYPOTHESES
    assert {g.elasticity for g in found.grasps} == {'half_space'}
    assert all(g.warnings[-1] == ENDED_EARLY for g in found.grasps)
    if step:
        assert found.rejections == searched.rejections
        assert [numbers([g])[0][:-1] for g in found.grasps] == numbers(searched.grasps)


def test_the_wait_for_preparation_can_be_ended(monkeypatch, folder, searched):
    monkeypatch.setattr(in_process.OwnCompliance, 'is_there',
                        lambda self, search, go_on: None if not go_on() else pytest.fail('goes'))
    found = plan_grasps(ball(), elasticity='auto', **PLAN,
                        on_progress=lambda progress: progress.step != PREPARING)
    assert [numbers([g])[0][:-1] for g in found.grasps] == numbers(searched.grasps)
    assert all(g.warnings == (ENDED_EARLY,) for g in found.grasps)


@pytest.mark.parametrize('error', [MeshError('too odd'), np.linalg.LinAlgError('singular')])
def test_what_cannot_be_prepared_is_answered_by_half_spaces_with_one_warning(
        monkeypatch, tmp_path, error, searched):
    def refuse(*_):
        raise error
    monkeypatch.setattr(disk_cache, 'prepare_compliance', refuse)
    monkeypatch.setattr(in_process, 'cache_directory', lambda: tmp_path)
    mechanics_options.cache_clear()
    found = plan_grasps(ball(), elasticity='auto', workers=2, **PLAN)
    mechanics_options.cache_clear()
    assert [numbers([g])[0][:-1] for g in found.grasps] == numbers(searched.grasps)
    assert all(len(g.warnings) == 1 and f'({error}): half-spaces' in g.warnings[0]
               for g in found.grasps)


@pytest.mark.nightly     # by day test_disk_cache has none
def test_without_a_folder_it_is_prepared_after_the_search(monkeypatch, tmp_path, beside):
    (tmp_path / 'gripsim').write_text('a file, no folder')
    monkeypatch.setattr(in_process, 'cache_directory', lambda: tmp_path / 'gripsim')
    mechanics_options.cache_clear()
    found = plan_grasps(ball(), elasticity='auto', workers=2, **PLAN)
    mechanics_options.cache_clear()
    assert [row[:-1] for row in numbers(found.grasps)] == numbers(beside[0].grasps)
    assert all('cannot be kept' in g.warnings[-1] for g in found.grasps)


def test_no_grasp_needs_no_preparation(monkeypatch, folder):
    slippery = GraspObject(ball().mesh, Material(1.0e6, 0.45, 800.0, 0.03))
    monkeypatch.setattr(in_process.OwnCompliance, 'is_there', pytest.fail)
    found = plan_grasps(slippery, elasticity='auto', hypotheses=4, budget=300.0)
    assert not found.grasps and 'slippery' in found.hint and found.nearest_miss is not None


def test_evaluate_judges_by_the_model_that_the_grasps_of_a_file_name(folder, tmp_path):
    path, file, stuff = tmp_path / 'ball.ply', tmp_path / 'grasps.json', tmp_path / 'soft.yaml'
    trimesh.Trimesh(ball().mesh.vertices, ball().mesh.faces, process=False).export(path)
    stuff.write_text('{youngs_modulus: 1.0e6, poisson_ratio: 0.45, density: 800, friction: 0.6}')
    code, out, err = gripsim('plan', path, '--material', stuff, '--elasticity', 'auto', '--count',
                             1, '--hypotheses', 4, '--workers', 1, '--out', file)
    assert code == 0 and 'own compliance' in out and 'closing the best again' in err
    _, said, _ = gripsim('evaluate', path, file, '--material', stuff, '--json')
    planned, judged = (strict(text)['grasps'][0] for text in (file.read_text(), said))
    assert planned['elasticity'] == judged['elasticity'] == 'body'
    assert judged['quality']['score'] == pytest.approx(planned['quality']['score'],
                                                       rel=RTOL_SUMMATION)


@pytest.mark.parametrize('told, wanted', [
    (['body', 'body'], 'body'), (['half_space'], 'half_space'), (['body', 'half_space'], None),
    ([None, 'body'], None), (['steel'], None), ([], None)])
def test_a_file_of_several_models_or_of_none_names_none(told, wanted):
    grasps = [{} if name is None else {'elasticity': name} for name in told]
    assert elasticity_of(grasps) == wanted


def test_what_is_not_asked_for_is_planned_as_in_the_options(beside, searched):
    assert numbers(plan_grasps(ball(), **PLAN).grasps) == numbers(beside[0].grasps)
    fast = replace(planner_options(), elasticity='half_space')
    assert numbers(plan_grasps(ball(), options=fast, **PLAN).grasps) == numbers(searched.grasps)


@pytest.mark.parametrize('workers', [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_stiff_object_is_planned_by_half_spaces_and_nothing_is_prepared(monkeypatch, workers):
    def fail(*_):
        pytest.fail('prepares')
    monkeypatch.setattr(in_process.OwnCompliance, 'is_there', fail)
    monkeypatch.setattr(own_compliance, '_prepare', fail)
    wood = GraspObject(ball().mesh, find_material('wood'))
    plans = [plan_grasps(wood, elasticity=name, hypotheses=4, count=1, budget=300.0,
                         workers=workers).grasps for name in (None, 'half_space')]
    assert numbers(plans[0]) == numbers(plans[1]) and plans[0]
    assert plans[0][0].elasticity == 'half_space' and not plans[0][0].warnings


@pytest.mark.parametrize('mesh', [
    shapes.box([0.02, 0.08, 0.1], 0.006),
    pytest.param(shapes.sphere(0.025, 0.005), marks=pytest.mark.nightly),
    pytest.param(shapes.box([0.02, 0.02, 0.18], 0.006), marks=pytest.mark.nightly),
    pytest.param(shapes.box([0.05, 0.06, 0.1], 0.006), marks=pytest.mark.nightly)])
def test_what_is_left_to_half_spaces_has_the_forces_of_its_own_compliance(mesh, folder):
    hand, soft = load_default_hand(), Material(1.0e6, 0.3, 600.0, 0.6)
    moduli = np.geomspace(1e6, 1e12, 601)
    stiff = next(thing for thing in (GraspObject(mesh, replace(soft, youngs_modulus=modulus))
                                     for modulus in moduli) if not yields_as_a_whole(thing, hand))
    grasps = plan_grasps(stiff, hypotheses=16, count=2, budget=300.0).grasps
    given = [(grasp.T_object_palm, grasp.trajectory) for grasp in grasps]
    half, own = (np.array([force_of(grasp) for grasp in evaluate_grasps(
        stiff, given, elasticity=name)]) for name in ('half_space', 'body'))
    assert len(half) and (half != own).all()
    assert_allclose(half, own, rtol=NEGLIGIBLE)
