"""Regions for contacts: what lies in them, and that plans keep to them."""

from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from plan_cases import plan_by_half_spaces
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.planning import Task, rejections
from gripsim_ros.core.planning.hypotheses.primitives import within_region
from gripsim_ros.core.planning.task import moved_region
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.in_process import evaluate_grasps, find_material

HYPOTHESES = 10
#: Points nearer to a boundary than round-off and the facets of trimesh's bodies are left out [m].
BOUNDARY = 2e-3
KINDS = {OBSTACLE_BOX: (0.06, 0.04, 0.1), OBSTACLE_SPHERE: (0.04, 0.0, 0.0),
         OBSTACLE_CYLINDER: (0.08, 0.03, 0.0)}


def body(kind):
    """Return a primitive as trimesh makes it."""
    a, b, _ = KINDS[kind]
    if kind == OBSTACLE_BOX:
        return trimesh.creation.box(KINDS[kind])
    if kind == OBSTACLE_SPHERE:
        return trimesh.creation.icosphere(subdivisions=4, radius=a)
    return trimesh.creation.cylinder(radius=b, height=a, sections=96)


@pytest.mark.parametrize('kind', KINDS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_points_in_a_region_are_those_in_the_body_that_trimesh_makes(kind, seed):
    rng = np.random.default_rng(seed)
    T = transform(Rotation.random(random_state=seed).as_matrix(), rng.uniform(-0.1, 0.1, 3))
    row = np.array([[kind, *KINDS[kind], *T[:3].ravel()]])
    solid = body(kind)
    points = rng.uniform(-0.07, 0.07, (60, 3))
    distance = trimesh.proximity.signed_distance(solid, points)
    clear = np.abs(distance) > BOUNDARY
    inside = within_region(apply(T, points), row)
    np.testing.assert_array_equal(inside[clear], distance[clear] > 0.0)


def test_slack_grows_and_several_primitives_add_up():
    sphere = np.array([OBSTACLE_SPHERE, 0.01, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0])
    other = moved_region(sphere[None], transform(np.eye(3), np.array([0.1, 0.0, 0.0])))
    points = np.array([[0.0, 0, 0.009], [0.0, 0, 0.012], [0.1, 0, 0]])
    assert within_region(points, sphere[None]).tolist() == [True, False, False]
    assert within_region(points, sphere[None], 0.003).tolist() == [True, True, False]
    assert within_region(points, np.vstack([sphere, other])).tolist() == [True, False, True]
    assert within_region(points, np.zeros((0, 16))).all()


@lru_cache(maxsize=1)
def bar():
    return GraspObject(shapes.box((0.04, 0.04, 0.16), 0.012), find_material('foam'))


@lru_cache(maxsize=1)
def flat_bar():
    """Return one whose sides differ, so that candidates are not alike."""
    return GraspObject(shapes.box((0.04, 0.036, 0.16), 0.012), find_material('foam'))


def upper_end():
    """Return a task whose contacts lie in the upper part of the bar."""
    row = [OBSTACLE_BOX, 0.2, 0.2, 0.1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.06]
    return Task(contact_region=np.array([row]))


def heights(grasps):
    return np.array([c.point[2] for grasp in grasps for c in grasp.contacts])


@pytest.mark.parametrize('body', [flat_bar, pytest.param(bar, marks=pytest.mark.nightly)])
def test_planned_contacts_lie_in_the_region_and_elsewhere_without_it(body):
    anywhere = plan_by_half_spaces(body(), hypotheses=HYPOTHESES)
    within = plan_by_half_spaces(body(), upper_end(), hypotheses=HYPOTHESES)
    assert heights(anywhere.grasps).min() < 0.01
    assert within.grasps and heights(within.grasps).min() >= 0.01
    judged = evaluate_grasps(
        body(), [(g.T_object_palm, g.trajectory) for g in anywhere.grasps], upper_end())
    for grasp, given_back in zip(anywhere.grasps, judged):
        outside = heights([grasp]).min() < 0.01
        assert (given_back.reason == rejections.OUTSIDE_REGION) == outside


def test_a_region_too_small_for_two_fingers_is_said():
    row = [OBSTACLE_BOX, 0.2, 0.005, 0.2, 1, 0, 0, 0.02, 0, 1, 0, 0.0, 0, 0, 1, 0.0]
    result = plan_by_half_spaces(bar(), Task(contact_region=np.array([row]) * 1.0), hypotheses=4)
    none = plan_by_half_spaces(bar(), Task(contact_region=np.array(
        [[OBSTACLE_SPHERE, 0.01, 0, 0, 1, 0, 0, 1.0, 0, 1, 0, 0, 0, 0, 1, 0]])), hypotheses=4)
    assert none.grasps == [] and none.total == 0
    assert none.hint.startswith('no open hand finds opposed places')
    for grasp in result.grasps:
        assert np.abs([c.point[1] for c in grasp.contacts]).max() <= 0.0025
    assert result.grasps or rejections.OUTSIDE_REGION in result.rejections
