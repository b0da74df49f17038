"""The name of a plan: whatever changes grasps changes it, and nothing else does."""

from dataclasses import dataclass, fields, replace

from hypothesis import given, strategies as st
import numpy as np
from plan_cases import made_up_grasp
import pytest
from sweep_cases import made_up_plan

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.planning.options import PlannerOptions
from gripsim_ros.core.planning.ranked_grasp import NearestMiss, RankedGrasp
from gripsim_ros.core.planning.task import Task
from gripsim_ros.library.database import codec, key as key_module
from gripsim_ros.library.database.key import (
    canonical, default_mechanics, plan_key, PlanSettings, program_version, WITHOUT_EFFECT)
from gripsim_ros.library.database.records import Summary
from gripsim_ros.library.in_process import planner_options
from sweep_cases import same

HAND = 'a hand'
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
BOX = np.array([[1.0, 0.1, 0.1, 0.1, 1, 0, 0, 1.0, 0, 1, 0, 0, 0, 0, 1, 0]])
# One other value for each field of a task.
OTHER_TASKS = {
    'gravity_directions': np.array([[0.0, 0.0, -1.0]]), 'gravity': 1.62,
    'external_wrenches': np.array([[0.0, 0.0, -2.0, 0.0, 0.01, 0.0]]),
    'displacement_object': np.diag([-1.0, -1.0, 1.0, 1.0]),
    'approach_direction': np.array([0.0, 0.0, -1.0]), 'approach_half_angle': 0.5,
    'obstacles': BOX, 'keep_out': BOX, 'contact_region': BOX,
    'reach': 'prefer_fingers'}


def ball():
    return GraspObject(shapes.sphere(0.03, 0.02), Material(1e6, 0.45, 800.0, 0.6))


def settings(**changes):
    return PlanSettings(**{'task': Task(), 'options': planner_options(),
                           'mechanics': default_mechanics(), **changes})


def key(grasp_object=None, hand=HAND, **changes):
    return plan_key(grasp_object or ball(), hand, settings(**changes))


def changed(value):
    """Return another value of the same kind."""
    if isinstance(value, (int, float)):
        return np.nextafter(value, np.inf) if isinstance(value, float) else value + 1
    if isinstance(value, tuple):
        return (*value[:-1], changed(value[-1]))
    if isinstance(value, dict):
        name = min(value, default=None)
        return {**value, name: changed(value[name])} if value else {'more': 1}
    if isinstance(value, (bool, str)):
        return f'{value} or so'
    first = fields(value)[0].name
    return replace(value, **{first: changed(getattr(value, first))})


def test_equal_content_has_one_name():
    options = planner_options()
    assert key() == key() == key(
        GraspObject(ball().mesh, replace(ball().material, name='x'), 'another label'),
        task=Task(gravity_directions=np.zeros((0, 3))),
        hypotheses=options.max_hypotheses, count=options.max_grasps)
    assert key(task=Task(gravity_directions=np.array([[0.0, -0.0, -1.0]]))) == key(
        task=Task(gravity_directions=np.array([[0.0, 0.0, -1.0]])))


def test_the_least_change_of_an_object_changes_the_name():
    mesh, material = ball().mesh, ball().material
    vertices = mesh.vertices.copy()
    vertices[3, 1] = np.nextafter(vertices[3, 1], np.inf)
    others = [GraspObject(mesh.with_vertices(vertices), material),
              GraspObject(mesh.with_faces(mesh.faces[::-1]), material),
              GraspObject(mesh.with_scale(1.0 + 1e-15), material)]
    others += [GraspObject(mesh, replace(material, **{name: getattr(material, name) * 1.01}))
               for name in ('youngs_modulus', 'poisson_ratio', 'density', 'friction')]
    others += [GraspObject(mesh, replace(material, max_pressure=1e9))]
    assert len({key(), *(key(other) for other in others)}) == 1 + len(others)


@dataclass(frozen=True, eq=False)
class SeenObject(GraspObject):
    """An object that carries something beside what its id is made of."""

    seen_from: np.ndarray | None = None


def test_what_an_object_carries_beside_its_id_is_in_the_name():
    one, other = (SeenObject(ball().mesh, ball().material, seen_from=np.array([x, 0.0, 0.0]))
                  for x in (1.0, 1.5))
    assert one.id == other.id == ball().id
    assert len({key(), key(one), key(other)}) == 3


def test_every_field_of_a_task_is_in_the_name():
    assert set(OTHER_TASKS) == {field.name for field in fields(Task)} - {'pose_uncertainty'}
    assert key(task=Task(pose_uncertainty=[0.002, 0.03])) == key()      # grasps are the same
    moved = {'displacement_object': OTHER_TASKS['displacement_object']}
    names = {key(task=Task(**{**(moved if name == 'reach' else {}), name: value}))
             for name, value in OTHER_TASKS.items()}
    assert len(names | {key()}) == 1 + len(OTHER_TASKS)


@pytest.mark.parametrize('name', [field.name for field in fields(PlannerOptions)])
def test_every_option_with_an_effect_is_in_the_name(name):
    options = planner_options()
    other = replace(options, **{name: changed(getattr(options, name))})
    if name in ('max_hypotheses', 'max_grasps'):    # they enter as what a request asks for
        assert key(options=other) != key()
        assert key(options=other, hypotheses=5, count=5) == key(hypotheses=5, count=5)
    else:
        assert (key(options=other) == key()) == (name in WITHOUT_EFFECT)


def test_hand_mechanics_counts_seed_and_program_are_in_the_name(monkeypatch):
    mechanics = default_mechanics()
    names = [key(), key(hand='another'), key(seed=1), key(hypotheses=5), key(count=5),
             key(hypotheses=6), key(count=6)]
    names += [key(mechanics={**mechanics, name: changed(value)})
              for name, value in mechanics.items()]
    monkeypatch.setattr(key_module, 'program_version', lambda: 'another')
    assert len({*names, key()}) == len(names) + 1


def test_the_version_changes_with_the_sources(tmp_path, monkeypatch):
    package = tmp_path / 'gripsim_ros'
    (package / 'core' / 'sub').mkdir(parents=True)
    (package / 'library' / 'database').mkdir(parents=True)
    (package / 'library' / 'in_process.py').write_text('')
    monkeypatch.setattr(key_module, '__file__', str(package / 'library' / 'database' / 'key.py'))
    versions = []
    for text in ('a = 1\n', 'a = 2\n', 'a = 1\n'):
        (package / 'core' / 'sub' / 'module.py').write_text(text)
        versions.append(program_version.__wrapped__())
    assert versions[0] == versions[2] != versions[1]


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4))
def test_numbers_have_one_form_for_each_value(one, other):
    same = len(one) == len(other) and all(
        a == b or (a != a and b != b) for a, b in zip(one, other))
    assert (canonical(one) == canonical(other)) == same
    if same and not np.isnan(one).any():
        assert canonical(np.array(one)) == canonical(np.array(other))


def test_what_has_no_canonical_form_names_nothing():
    with pytest.raises(TaskError, match='cannot be named by a set'):
        canonical({1, 2})


@given(values=st.lists(NUMBERS, min_size=12, max_size=12), text=st.text(max_size=5))
def test_what_is_stored_comes_back_in_every_bit(values, text):
    grasp = replace(
        made_up_grasp(1), T_object_palm=np.array([*values, 0, 0, 0, 1.0]).reshape(4, 4),
        score=values[0], damage_margin=values[1], warnings=(text, 'NaN'), vertices=None,
        vertex_pressures=None, centre_of_mass=np.array(values[2:5]))
    same(codec.load(RankedGrasp, codec.dump(grasp)), grasp)
    miss = replace(made_up_plan('x', grasps=[]).nearest_miss, needed_friction=values[5],
                   needed_force=values[6], contacts=grasp.contacts)
    same(codec.load(NearestMiss, codec.dump(miss)), miss)


def test_a_plan_without_grasps_comes_back_with_its_nearest_miss():
    summary = made_up_plan('x', grasps=[]).summary
    back = codec.load(Summary, codec.dump(summary))
    same(back, replace(summary, rejections=dict(summary.rejections)))


def test_empty_arrays_keep_their_shape():
    task = Task()
    same(codec.load(Task, codec.dump(task)), task)


def test_another_type_is_refused():
    with pytest.raises(ShapeError, match='no RankedGrasp in the database'):
        codec.load(RankedGrasp, '{"rank": 1}')
    with pytest.raises(ShapeError, match='a set cannot be stored'):
        codec.dump({1})
