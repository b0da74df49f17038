"""Closing given grasps: the way of closing, and what comes of a hand that only touches."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.hand import Preshape
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspEvaluator, GraspPlanner, rejections, Task
from gripsim_ros.core.planning.evaluator import RIGID
from gripsim_ros.core.planning.hypotheses.closing_ways import nearest_preshape
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()
MATERIAL = Material(1.0e6, 0.45, 500.0, 0.8)
#: The largest multiple of the load is found to a fiftieth.
MARGIN_RTOL = 0.05


@pytest.fixture(scope='module')
def scene():
    """Return a ball, the stages, and a planned grasp of it."""
    ball = GraspObject(shapes.sphere(0.033, 0.008), MATERIAL)
    pipeline = Pipeline(HAND, ball, mechanics_options())
    planner = GraspPlanner(ball, HAND, Task(), planner_options(), max_hypotheses=4, max_grasps=1)
    run(planner, pipeline)
    return ball, pipeline, planner.ranked()[0]


def judged(scene, joints, T_object_palm=None, task=None, close=True):
    """Return the verdict on the scene's palm with these joints, closed or as they are."""
    ball, pipeline, planned = scene
    pose = planned.T_object_palm if T_object_palm is None else T_object_palm
    judge = GraspEvaluator(ball, HAND, task or Task(), planner_options(), [(pose, joints[None])],
                           close)
    run(judge, pipeline)
    assert judge.finished
    return judge.ranked()[0]


@pytest.fixture(scope='module')
def closed(scene):
    """Return the planned grasp closed again from its own last row."""
    return judged(scene, scene[2].trajectory[-1])


def test_a_planned_grasp_closed_again_holds_with_the_same_contacts(scene, closed):
    planned = scene[2]
    assert closed.stable and closed.reason == '' and closed.preshape == planned.preshape
    assert {c.link for c in closed.contacts} == {c.link for c in planned.contacts}
    assert_allclose(closed.closing.joints_closed, planned.trajectory[-1], atol=0.1)


def parked_thumb(joints):
    """Return a hand whose nearest preshape leaves the thumb, and another that moves it."""
    own = HAND.preshapes[nearest_preshape(HAND, joints)]
    rows = []
    for row in (own.open, own.closed):
        row = row.copy()
        row[5:] = joints[5:]
        rows.append(row)
    turned = own.open.copy()
    turned[0] += 0.3        # the pivot decides: not that by which the hand closes
    return replace(HAND, preshapes=(
        Preshape('parked', *rows), Preshape('turned', turned, turned + own.closed - own.open)))


def test_a_finger_at_the_object_closes_though_the_preshape_leaves_it(scene, closed):
    ball, pipeline, planned = scene
    joints = planned.trajectory[-1]
    hand = parked_thumb(joints)
    assert hand.preshapes[nearest_preshape(hand, joints)].name == 'parked'
    judge = GraspEvaluator(ball, hand, Task(), planner_options(),
                           [(planned.T_object_palm, joints[None])], True)
    run(judge, pipeline)
    found = judge.ranked()[0]
    assert found.stable and found.reason == ''
    assert {c.link for c in found.contacts} == {c.link for c in planned.contacts}
    assert_allclose(found.margin, closed.margin, rtol=MARGIN_RTOL)
    assert_allclose(found.closing.touch_margin, closed.closing.touch_margin, rtol=MARGIN_RTOL)


def test_its_margin_is_that_of_a_firmer_grip(closed):
    low, high = planner_options().margin_band
    assert low <= closed.closing.gentlest_margin <= 1.5 * high
    assert closed.margin > 2.0 * closed.closing.gentlest_margin


def test_the_margin_is_the_load_at_which_no_force_holds_any_more(scene, closed):
    heavy = judged(scene, scene[2].trajectory[-1], task=Task(gravity=2.0 * 9.81))
    assert_allclose(heavy.margin, 0.5 * closed.margin, rtol=0.25)    # pressed harder it is wider


def with_tender_pads(most=1e3):
    """Return the hand with pads that stand no pressure [Pa] worth the name."""
    return replace(HAND, links=tuple(
        link if link.pad is None else replace(link, pad=replace(link.pad, max_pressure=most))
        for link in HAND.links))


def judged_by_tender_pads(planned, material):
    ball = GraspObject(shapes.sphere(0.033, 0.008), material)
    hand = with_tender_pads()
    judge = GraspEvaluator(ball, hand, Task(), planner_options(),
                           [(planned.T_object_palm, planned.trajectory[-1:])], close=True)
    run(judge, Pipeline(hand, ball, mechanics_options()))
    return judge.ranked()[0]


def test_pads_limits_warn(scene):
    free = judged_by_tender_pads(scene[2], MATERIAL)
    assert free.stable and free.reason == '' and free.margin > 1.0
    assert any('those of a gentler hand' in warning for warning in free.warnings)


@pytest.mark.parametrize('changes', [
    {'max_force': 1e6}, *(pytest.param(changes, marks=pytest.mark.nightly) for changes in (
        {'max_pressure': 1e9}, {'youngs_modulus': 0.9 * RIGID}))])
def test_an_object_s_own_limits_or_its_softness_judge(scene, changes):
    judged = judged_by_tender_pads(scene[2], replace(MATERIAL, **changes))
    assert not judged.stable and judged.reason == rejections.CANNOT_BALANCE


def test_what_a_free_object_does_not_bear_is_not_stable(scene, closed):
    weight = Task(gravity=1.2 * closed.margin * 9.81)
    heavy = judged(scene, scene[2].trajectory[-1], task=weight)
    assert 0.5 < heavy.margin < 1.0 and not heavy.stable
    assert heavy.margin == heavy.closing.touch_margin


def test_where_a_rigid_hand_first_touches_closing_finds_the_grasp(scene):
    planned = scene[2]
    touch = planned.trajectory[-1] - 0.06 * np.sign(planned.trajectory[-1]
                                                    - planned.trajectory[0])
    as_given, closed = (judged(scene, touch, close=way) for way in (False, True))
    assert not as_given.stable and as_given.closing is None
    assert closed.stable
    assert_allclose(closed.closing.joints_given, touch)
    assert_allclose(closed.trajectory[0], closed.closing.joints_opened)
    assert_allclose(closed.trajectory[-1], closed.closing.joints_closed)


def test_a_hand_inside_the_object_opens_first(scene, closed):
    deep = scene[2].trajectory[-1] + 0.1 * np.sign(scene[2].trajectory[-1]
                                                   - scene[2].trajectory[0])
    again = judged(scene, deep)
    assert again.stable
    assert_allclose(again.margin, closed.margin, rtol=0.3)


def test_a_palm_in_the_object_and_a_hand_far_from_it_are_told(scene):
    joints = scene[2].trajectory[-1]
    inside = judged(scene, joints, np.eye(4))
    far = judged(scene, joints, transform(np.eye(3), np.array([0.0, 0.0, -1.0])))
    assert inside.reason == rejections.OPEN_HAND_COLLIDES
    assert far.reason == rejections.SELF_COLLISION       # it closes on nothing but itself
    assert not (inside.stable or far.stable) and inside.margin == far.margin == 0.0


def test_stopped_it_says_that_nothing_was_judged(scene):
    ball, _, planned = scene
    judge = GraspEvaluator(ball, HAND, Task(), planner_options(),
                           [(planned.T_object_palm, planned.trajectory)], close=True)
    assert not judge.finished
    judge.stop()
    assert judge.finished and judge.ranked()[0].reason == rejections.NOT_EVALUATED
    assert judge.ranked()[0].closing is None or np.isnan(judge.ranked()[0].closing.touch_margin)


def test_a_question_without_answer_ends_the_closing(scene):
    ball, pipeline, planned = scene
    judge = GraspEvaluator(ball, HAND, Task(), replace(planner_options(), settling_steps=0),
                           [(planned.T_object_palm, planned.trajectory[-1:])], close=True)
    judge.tell_failed(judge.ask().batch_id, 'lost')
    run(judge, pipeline)
    assert not judge.ranked()[0].stable and judge.ranked()[0].reason == 'lost'


@pytest.mark.parametrize('open_row, stable', [(0, True), (-1, False)])
def test_a_hand_that_cannot_come_there_is_not_stable_however_it_then_closes(
        scene, open_row, stable):
    ball, pipeline, planned = scene
    rows = planned.trajectory[[open_row, -1]]
    judge = GraspEvaluator(ball, HAND, Task(), planner_options(),
                           [(planned.T_object_palm, rows)], close=True)
    run(judge, pipeline)
    (grasp,) = judge.ranked()
    assert grasp.stable == stable and grasp.margin > 1.0
    assert grasp.reason == ('' if stable else rejections.OPEN_HAND_COLLIDES)
