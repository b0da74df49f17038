"""Grasps from elsewhere: their questions, and the reason why one does not hold."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspEvaluator, GraspPlanner, rejections, Task
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

MATERIAL = Material(1.0e6, 0.45, 500.0, 0.8)
#: The motion that closed the hand tells directions; a single row knows none.
MARGIN_RTOL = 0.05
FAR_BALL = np.array([[2.0, 0.001, 0, 0, 1, 0, 0, 1.0, 0, 1, 0, 0, 0, 0, 1, 0]])


@pytest.fixture(scope='module')
def scene():
    """Return a hand, a ball, the stages, and a grasp of it: palm pose and trajectory."""
    hand, ball = load_default_hand(), GraspObject(shapes.sphere(0.033, 0.008), MATERIAL)
    pipeline = Pipeline(hand, ball, mechanics_options())
    planner = GraspPlanner(ball, hand, Task(), planner_options(), max_hypotheses=4, max_grasps=1)
    run(planner, pipeline)
    grasp = planner.ranked()[0]
    return hand, ball, pipeline, (grasp.T_object_palm, grasp.trajectory)


@pytest.fixture(scope='module')
def told(scene):
    """Return the stages' answers to approach and closed hand."""
    judge = evaluator(scene)
    asks = [judge.ask() for _ in range(2)]
    return [scene[2].evaluate(ask.configurations) for ask in asks]


def evaluator(scene, task=None, count=1, **options):
    """Return the judge of the scene's grasp, so often."""
    hand, ball, _, grasp = scene
    return GraspEvaluator(ball, hand, task or Task(), replace(planner_options(), **options),
                          [grasp] * count)


def judged(judge, approach, closed):
    """Return the only grasp after these answers, the object held where it is."""
    for answer in (approach, closed):
        judge.tell(judge.ask().batch_id, answer)
    assert judge.ask() is None and judge.finished
    return judge.ranked()[0]


def test_a_planned_grasp_holds_and_says_nothing(scene):
    judge = evaluator(scene)
    assert not run(judge, scene[2])
    grasp, = judge.ranked()
    assert grasp.stable and grasp.reason == '' and grasp.margin > 1.0
    assert judge.rejections == {} and judge.progress.evaluated == 1


@pytest.mark.parametrize('of, change, reason', [
    (0, {'clearance': 0.0}, rejections.OPEN_HAND_COLLIDES),
    (0, {'obstacle_clearance': 0.0}, rejections.SURROUNDINGS_COLLIDE),
    (1, {'obstacle_clearance': 0.0}, rejections.SURROUNDINGS_COLLIDE),
    (0, {'self_clearance': 0.0}, rejections.SELF_COLLISION),
    (1, {'self_clearance': 0.0}, rejections.SELF_COLLISION),
    (1, {'patch_links': 3}, rejections.TOO_FEW_FINGERS),
    (1, {'capable': False}, rejections.CANNOT_BALANCE),
    (1, {'margin': 0.99, 'holds': False}, rejections.DOES_NOT_HOLD),
    (1, {'holds': False}, rejections.OVERLOADED)])
def test_the_first_thing_that_is_wrong_is_the_reason(scene, told, of, change, reason):
    answers = list(told)
    answers[of] = replace(answers[of], **{
        name: np.full_like(getattr(answers[of], name), value) for name, value in change.items()})
    judge = evaluator(scene, settling_steps=0)
    grasp = judged(judge, *answers)
    assert not grasp.stable and grasp.reason == reason
    assert judge.rejections == {reason: 1}


def test_a_link_that_presses_harder_than_the_object_bears_is_the_reason(scene, told):
    hand, ball, _, grasp = scene
    fragile = GraspObject(ball.mesh, replace(ball.material, max_force=0.01))
    judge = GraspEvaluator(fragile, hand, Task(), replace(planner_options(), settling_steps=0),
                           [grasp])
    grasp = judged(judge, told[0], replace(told[1], holds=np.array([False])))
    assert grasp.reason == rejections.TOO_MUCH_FORCE and grasp.damage_margin < 1.0


def test_contacts_outside_the_tasks_region_are_the_reason(scene, told):
    grasp = judged(evaluator(scene, Task(contact_region=FAR_BALL), settling_steps=0), *told)
    assert grasp.reason == rejections.OUTSIDE_REGION


def test_answers_may_come_late_twice_and_in_any_order(scene, told):
    grasps = []
    for order in ((0, 1, 2, 3), (3, 3, 0, 2, 1, 0)):
        judge = evaluator(scene, count=2, settling_steps=0)
        asks = [judge.ask() for _ in range(4)]
        for i in order:
            judge.tell(asks[i].batch_id, told[i % 2])
        assert judge.finished and judge.progress.evaluated == judge.progress.total == 2
        grasps.append(judge.ranked())
    for one, other in zip(*grasps):
        assert one.score == other.score and one.reason == other.reason == ''
        assert_array_equal(one.grip_efforts, other.grip_efforts)


def test_a_question_without_answer_is_the_reason_and_another_answer_comes_too_late(scene, told):
    judge = evaluator(scene)
    first, second = judge.ask(), judge.ask()
    judge.tell_failed(first.batch_id, 'lost')
    judge.tell(first.batch_id, told[0])
    judge.tell_failed(second.batch_id)
    grasp, = judge.ranked()
    assert judge.finished and not grasp.stable and grasp.margin == 0.0
    assert grasp.reason == rejections.EVALUATION_FAILED      # of the closed hand, the later one
    assert_array_equal(grasp.trajectory, scene[3][1])


def test_a_settling_that_is_not_answered_ends_where_the_object_was_found(scene, told):
    judge = evaluator(scene, settling_residual=0.0)
    for answer in told:
        judge.tell(judge.ask().batch_id, answer)
    assert not judge.finished
    judge.tell_failed(judge.ask().batch_id)
    assert judge.finished
    still = judged(evaluator(scene, settling_steps=0), *told)
    assert judge.ranked()[0].score == still.score


@pytest.mark.parametrize('answers, reason', [(0, rejections.NOT_EVALUATED),
                                             (1, rejections.NOT_EVALUATED), (2, '')])
def test_stopped_it_judges_what_was_answered(scene, told, answers, reason):
    judge = evaluator(scene, settling_residual=0.0)
    for answer in told[:answers]:
        judge.tell(judge.ask().batch_id, answer)
    judge.stop()
    assert judge.finished and judge.ask() is None and judge.begin(4) == []
    assert judge.ranked()[0].reason == reason
    assert judge.progress.evaluated == (reason == '') and judge.progress.total == 1


def test_of_one_row_only_the_closed_hand_is_judged(scene):
    hand, ball, pipeline, (palm, rows) = scene
    both = [(palm, rows[-1:]), (palm, rows)]
    judge = GraspEvaluator(ball, hand, Task(), planner_options(), both)
    assert not run(judge, pipeline) and judge.progress.evaluated == 2
    alone, whole = judge.ranked()
    assert alone.stable and alone.reason == '' and alone.trajectory.shape == (1, 7)
    assert whole.stable and alone.margin == pytest.approx(whole.margin, rel=MARGIN_RTOL)


def test_a_lost_question_about_one_row_is_the_reason(scene):
    hand, ball, _, (palm, rows) = scene
    judge = GraspEvaluator(ball, hand, Task(), planner_options(), [(palm, rows[-1:])])
    judge.tell_failed(judge.ask().batch_id, 'lost')
    assert judge.ask() is None and judge.finished and judge.ranked()[0].reason == 'lost'


@pytest.mark.parametrize('change, said', [
    (lambda q: q[:, :-1], r'must have shape \(rows, 7\)'),
    (lambda q: q[0], r'must have shape \(rows, 7\)'),
    (lambda q: q[:0], 'needs at least one row'),
    (lambda q: np.where(np.arange(7) == 2, np.nan, q), 'must be finite'),
    (lambda q: 'abc', r"must be numbers of shape \(rows, 7\), got 'abc'"),
    (lambda q: [[0.0], [0.0, 1.0]], 'must be numbers of shape'),
    (lambda q: q + 9.0 * (np.arange(7) == 0), 'grasp 2: sdh_knuckle_joint leaves its limits: '
     r'got \S+ rad in row 1, allowed are -?0 to 1\.5708')])
def test_a_trajectory_that_no_hand_can_follow_is_refused(scene, change, said):
    hand, ball, _, (palm, rows) = scene
    with pytest.raises(TaskError, match=said):
        GraspEvaluator(ball, hand, Task(), planner_options(), [(palm, rows), (palm, change(rows))])


@pytest.mark.parametrize('pose, said', [
    ('a', r"must be numbers of shape \(4, 4\), got 'a'"),
    (np.zeros(4), r'shape \(4, 4\), got \(4,\)'),
    (np.eye(4)[None], r'shape \(4, 4\), got \(1, 4, 4\)'), (2.0 * np.eye(4), 'must be rigid'),
    (np.full((4, 4), np.nan), 'must be rigid')])
def test_a_pose_that_is_none_is_refused_with_its_number(scene, pose, said):
    hand, ball, _, (palm, rows) = scene
    with pytest.raises(TaskError, match=f"grasp 2: the hand's pose .*{said}"):
        GraspEvaluator(ball, hand, Task(), planner_options(), [(palm, rows), (pose, rows)])
