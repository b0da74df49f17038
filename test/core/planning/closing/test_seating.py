"""Seating: least energy under contacts, and an object that gives way to the fingers."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import nnls

from gripsim_ros.core.batches import DETAIL_FORCES
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.closing.batching import Conditions
from gripsim_ros.core.planning.closing.question import Question
from gripsim_ros.core.planning.closing.grasp_state import extract_state
from gripsim_ros.core.planning.closing.seating import least_energy, Seating
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

#: Of gradients and gaps over their own size.
ROUND_OFF = 1e-7


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10 ** 6), st.integers(0, 12))
def test_the_motion_of_least_energy_fulfils_its_conditions(seed, contacts):
    generator = np.random.default_rng(seed)
    roots = np.exp(generator.uniform(-2.0, 2.0, 5))
    pull, rows = generator.normal(size=5), generator.normal(size=(contacts, 5))
    gaps = rows @ generator.normal(size=5) + generator.uniform(0.0, 1.0, contacts)  # feasible
    motion = least_energy(roots, pull, rows, gaps)
    slack = rows @ motion + gaps
    assert (slack > -ROUND_OFF).all()
    gradient = roots ** 2 * motion - pull       # = sum of forces along the rows, none of a gap
    closed = rows[slack < 1e-6]
    rest = nnls(closed.T, gradient)[1] if len(closed) else np.linalg.norm(gradient)
    assert rest <= 1e-5 * max(1.0, np.linalg.norm(pull))


@pytest.mark.parametrize('apart', [1e-6, 0.5, 1.0])
def test_nothing_moves_where_no_motion_frees_what_is_wedged(apart):
    rows, roots = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([2.0, 3.0])
    gaps = np.array([-apart, -apart])     # v_0 at least and at most
    np.testing.assert_array_equal(least_energy(roots, np.ones(2), rows, gaps), np.zeros(2))


@pytest.fixture(scope='module')
def scene():
    """Return a hand, a ball, the stages, conditions, and a planned grasp of it."""
    hand = load_default_hand()
    ball = GraspObject(shapes.sphere(0.033, 0.004), Material(1.0e6, 0.45, 500.0, 0.8))
    pipeline = Pipeline(hand, ball, mechanics_options())
    planner = GraspPlanner(ball, hand, Task(), planner_options(), max_hypotheses=4, max_grasps=1)
    run(planner, pipeline)
    conditions = Conditions.of(Task(), task_load_cases(Task(), ball.canonical_frame[:3, :3]))
    return hand, ball, pipeline, conditions, planner.ranked()[0]


def seated(scene, offset):
    """Return the place of the ball between the fingers after seating [m], from an offset."""
    hand, ball, pipeline, conditions, grasp = scene
    pose = grasp.T_object_palm.copy()
    pose[:3, 3] -= pose[:3, :3] @ offset
    rates = grasp.trajectory[-1] - grasp.trajectory[0]
    seating = Seating(Question(DETAIL_FORCES, pose, grasp.trajectory[-1] - 0.01 * np.sign(rates),
                               0.01 * rates, np.zeros(3)), hand, ball, rates)
    while not seating.done:
        batch = conditions.batch([seating.question()])
        seating.answer(extract_state(pipeline.evaluate(batch), 0))
    return np.linalg.inv(seating.T_object_palm)[:3, 3]


def test_a_ball_off_the_middle_gives_way_to_the_fingers(scene):
    middle = seated(scene, np.zeros(3))
    thumb = np.array([0.003, 0.0, 0.0])     # +x of the palm: towards or away from the thumb
    there, back = seated(scene, thumb), seated(scene, -thumb)
    assert np.linalg.norm(there - middle) < 0.003 and np.linalg.norm(back - middle) < 0.003
    assert_allclose(seated(scene, np.zeros(3)), middle, atol=0.0)      # and always alike
