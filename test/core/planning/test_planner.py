"""The planner as an ask-and-tell object: laws of its protocol, without any stage."""

from collections import deque
from dataclasses import replace
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import fake_stages
from fake_stages import RADIUS, SphereWorld

from gripsim_ros.core.batches import DETAIL_SURFACE
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.pipeline import run
from gripsim_ros.core.planning import GraspPlanner, Progress, Task, rejections
from gripsim_ros.core.planning import planner as planner_module
from gripsim_ros.core.planning.closing import closing
from gripsim_ros.core.planning.closing.batching import run_closings
from gripsim_ros.core.planning.closing.grasp_state import extract_state
from gripsim_ros.core.planning.progress import SEATED
from gripsim_ros.core.transforms import apply, from_rotation_vector
from gripsim_ros.library.in_process import find_material, planner_options

HYPOTHESES = 24
ATOL_POSE = 1e-6


@pytest.fixture(scope='module')
def reference(ball, hand, world):
    """Return a planner that has finished, with every batch answered as it was asked."""
    return run_in_order(new_planner(ball, hand), world)


def new_planner(ball, hand, **changes):
    options = replace(planner_options(), **changes)
    return GraspPlanner(ball, hand, Task(), options, max_hypotheses=HYPOTHESES)


def run_in_order(planner, world):
    while not planner.finished:
        ask = planner.ask()
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    return planner


def signature(planner):
    return [(g.rank, g.hypothesis, g.score, g.trajectory.tobytes()) for g in planner.ranked()]


def test_planner_finds_grasps_of_a_ball_and_accounts_for_every_hypothesis(reference):
    progress = reference.progress
    assert progress.stable > 0
    assert progress.evaluated == progress.total == HYPOTHESES
    assert progress.stable + sum(reference.rejections.values()) == HYPOTHESES


def test_ranking_does_not_depend_on_batch_sizes(ball, hand, world, reference):
    small = run_in_order(new_planner(ball, hand, batch_size=1, clearance_batch_size=2,
                                     active_hypotheses=5), world)
    assert signature(reference) == signature(small)


def test_ranking_does_not_depend_on_the_order_or_repetition_of_answers(
        ball, hand, world, reference):
    planner, late = new_planner(ball, hand, batch_size=2), deque()
    while not planner.finished:
        ask = planner.ask()
        if ask is not None:
            late.append((ask.batch_id, world.evaluate(ask.configurations)))
        if ask is None or len(late) > 3:
            newest = late.pop()
            planner.tell(*newest)
            planner.tell(*newest)
    assert signature(planner) == signature(reference)


def test_answers_are_used_as_they_come(ball, hand, world):
    planner = new_planner(ball, hand, clearance_batch_size=4)
    asks = [planner.ask(), planner.ask()]
    assert planner.ask() is None
    planner.tell(asks[1].batch_id, world.evaluate(asks[1].configurations))
    assert planner.ask() is not None


def carried(planner, world, group):
    while closings := planner.begin(group):
        planner.end(run_closings(closings, planner, world.evaluate))
    return run_in_order(planner, world)


@pytest.mark.parametrize('group', [pytest.param(1, marks=pytest.mark.nightly), 5])
def test_hypotheses_given_out_whole_come_to_the_same(ball, hand, world, reference, group):
    planner = carried(new_planner(ball, hand), world, group)
    assert signature(planner) == signature(reference)
    assert planner.rejections == reference.rejections
    assert planner.progress.evaluated == HYPOTHESES
    assert planner.contacts_evaluated == reference.contacts_evaluated


def completed(planner, one, world):
    """Carry on one closing until its forces are the least."""
    while not one.done:
        question = one.question()
        batch = planner.conditions.batch([question])
        one.answer(extract_state(world.evaluate(batch), 0))
    return one.held


def test_a_closing_goes_on_from_the_course_of_another(ball, hand, world):
    planner, elsewhere = new_planner(ball, hand), new_planner(ball, hand)
    here, there = planner.begin(1)[0], elsewhere.begin(1)[0]
    known, = run_closings([there], elsewhere, world.evaluate).values()
    assert there.judged and not there.done
    here.known = pickle.loads(pickle.dumps(known))
    held, expected = completed(planner, here, world), completed(elsewhere, there, world)
    assert held.state.margin == expected.state.margin
    np.testing.assert_array_equal(held.trajectory, expected.trajectory)


def test_outcomes_after_a_stop_are_ignored(ball, hand, world):
    planner = new_planner(ball, hand)
    closings = planner.begin(3)
    outcomes = run_closings(closings, planner, world.evaluate)
    planner.end(dict([*outcomes.items()][:1]))
    planner.stop()
    planner.end(outcomes)
    run_in_order(planner, world)
    assert planner.progress.evaluated == 1
    assert planner.rejections[rejections.NOT_EVALUATED] == HYPOTHESES - 1


FEW = {'heat_size': 2, 'max_grasps': 1}
#: From one hypothesis to the next the hand reaches farther over the ball [m].
ADVANCE = 0.0008


@pytest.fixture()
def light_touch(monkeypatch):
    """Let the first touch be too light to hold, so that there is something to be saved."""
    monkeypatch.setattr(closing, 'TOUCH_FORCE_RATIO', 0.05)


def uneven_planner(ball, hand, **changes):
    """Return a planner whose later hypotheses hold the ball farther from its middle."""
    planner = new_planner(ball, hand, **{**FEW, **changes})
    for waiting in planner._search.waiting:
        pose = waiting.hypothesis.T_object_palm.copy()
        pose[:3, 3] += ADVANCE * waiting.hypothesis.number * pose[:3, 2]
        waiting._hypothesis = replace(waiting.hypothesis, T_object_palm=pose)
    return planner


def test_the_grasps_returned_and_not_all_have_the_least_forces(ball, hand, world):
    planner = run_in_order(uneven_planner(ball, hand, set_aside_slack=1.0), world)
    done = {number for number, one in planner._found.verdicts.closings.items() if one.done}
    assert {grasp.hypothesis for grasp in planner.ranked()} <= done
    assert len(done) < planner.progress.stable


def test_closings_set_aside_change_no_ranking(ball, hand, world, light_touch):
    everything = run_in_order(uneven_planner(ball, hand, set_aside_slack=1.0), world)
    planner = run_in_order(uneven_planner(ball, hand, set_aside_slack=0.0), world)
    assert rejections.DEFERRED not in everything.rejections
    assert planner.rejections[rejections.DEFERRED] > 0
    assert signature(planner) == signature(everything)
    progress = planner.progress
    assert progress.evaluated == HYPOTHESES
    assert progress.stable + sum(planner.rejections.values()) == HYPOTHESES


@pytest.mark.nightly     # by day batches, and what is set aside, alone
def test_what_is_set_aside_depends_on_no_batches_nor_groups(ball, hand, world, light_touch):
    planner = run_in_order(uneven_planner(ball, hand), world)
    small = run_in_order(uneven_planner(ball, hand, batch_size=1, clearance_batch_size=2,
                                        active_hypotheses=5), world)
    assert planner.rejections[rejections.DEFERRED] > 0
    for other in (small, *(carried(uneven_planner(ball, hand), world, n) for n in (1, 5))):
        assert planner.rejections == other.rejections
        assert signature(planner) == signature(other)


def test_closings_set_aside_are_recalled_where_grasps_let_go(ball, hand, world, light_touch):
    planner = uneven_planner(ball, hand, set_aside_slack=0.0)
    while closings := planner.begin(4):
        planner.end(run_closings(closings, planner, world.evaluate))
    assert planner.rejections[rejections.DEFERRED] > 0
    found = planner._found
    assert found.rounds.unfinished() == []      # all that settle in the first round have settled
    found.verdicts.grasps.clear()               # and let go
    run_in_order(planner, world)
    assert rejections.DEFERRED not in planner.rejections
    assert len(planner.ranked()) == FEW['max_grasps']


#: Way from where the ball is held to palms beside it that do not balance it [m], and the least
#: mean of the normals that counts as unbalanced there [-].
BESIDE, LEAST_MEAN = 0.03, 0.2


@pytest.fixture()
def even_grips(monkeypatch):
    """Let grips hold whose normals are even alone, and seating find the palm of such ones."""
    def even(patches):
        normals = [patch['patch_normals_object'] for patch in patches]
        return len(normals) > 1 and np.linalg.norm(np.mean(normals, axis=0)) < LEAST_MEAN

    monkeypatch.setattr(fake_stages, '_balanced', even)
    monkeypatch.setattr(planner_module, 'seated_hypotheses', lambda found, *_: iter([
        moved_aside(hypothesis, -BESIDE) if hypothesis.number else None for hypothesis in found]))


def go_on(planner):
    """Go on until there is work again; return whether there is, and in how many parts."""
    parts = 1
    while planner.go_on():
        if not planner.finished:
            return True, parts
        parts += 1
    return False, parts


def moved_aside(hypothesis, way):
    """Return a hypothesis with its palm moved along its first axis [m]."""
    pose = hypothesis.T_object_palm.copy()
    pose[:3, 3] += way * pose[:3, 0]
    return replace(hypothesis, T_object_palm=pose)


def planner_beside(ball, hand):
    """Return a planner of hypotheses beside the ball."""
    planner = new_planner(ball, hand)
    for waiting in planner._search.waiting:
        waiting._hypothesis = moved_aside(waiting.hypothesis, BESIDE)
    return planner


@pytest.mark.parametrize('whole', [False, True])
def test_where_nothing_holds_palms_are_tried_where_a_free_object_comes_to_rest(
        ball, hand, world, even_grips, whole):
    planner = run_in_order(planner_beside(ball, hand), world)
    assert not planner.ranked() and sum(planner.rejections.values()) == HYPOTHESES
    assert planner.go_on() and planner.finished and planner.progress.step == SEATED
    assert go_on(planner) == (True, -(-HYPOTHESES // planner_module.SEATED_AT_ONCE))
    assert planner.progress.evaluated == 1      # of one no seat was found
    carried(planner, world, 5) if whole else run_in_order(planner, world)
    progress = planner.progress
    assert planner.ranked() and progress.evaluated == HYPOTHESES
    assert progress.stable + sum(planner.rejections.values()) == HYPOTHESES
    assert not planner.go_on() and planner.ranked()


@pytest.mark.parametrize('held, wanted, seats', [(1, 2, False), (1, 3, True), (2, 5, True)])
def test_where_less_than_half_of_those_wanted_hold_others_are_tried_at_rest_beside_them(
        ball, hand, world, even_grips, held, wanted, seats):
    planner = new_planner(ball, hand, max_grasps=wanted)
    for waiting in list(planner._search.waiting)[held:]:
        waiting._hypothesis = moved_aside(waiting.hypothesis, BESIDE)
    run_in_order(planner, world)
    first = {grasp.hypothesis for grasp in planner.ranked(HYPOTHESES)}
    assert len(first) == held
    assert go_on(planner)[0] == seats
    run_in_order(planner, world)
    found = {grasp.hypothesis for grasp in planner.ranked(HYPOTHESES)}
    assert found >= first and (len(found) > held) == seats and not planner.go_on()
    assert planner.progress.stable + sum(planner.rejections.values()) == HYPOTHESES


def test_verdicts_are_those_of_the_search_where_nothing_holds_at_rest_either(ball, hand):
    world = SphereWorld(hand, RADIUS, 1e6, ball.material.friction)
    planner = run_in_order(new_planner(ball, hand), world)
    before, miss, asked = planner.rejections, planner.nearest_miss, world.questions
    assert go_on(planner)[0]
    run_in_order(planner, world)
    assert world.questions > asked and not planner.go_on()
    assert planner.rejections == before and planner.progress.step == ''
    assert planner.nearest_miss.hypothesis == miss.hypothesis and planner.hint


def test_nothing_is_tried_again_after_a_stop_or_where_something_holds(ball, hand, reference):
    assert not reference.go_on()
    world = SphereWorld(hand, RADIUS, 1e6, ball.material.friction)
    planner = new_planner(ball, hand)
    ask = planner.ask()
    planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    planner.stop()
    run_in_order(planner, world)
    assert not planner.go_on()


def test_a_stop_while_seats_are_looked_for_leaves_the_verdicts(ball, hand):
    world = SphereWorld(hand, RADIUS, 1e6, ball.material.friction)
    planner = run_in_order(new_planner(ball, hand), world)
    before = planner.rejections
    assert planner.go_on() and planner.finished
    planner.stop()
    assert not planner.go_on() and planner.rejections == before


def test_trajectories_never_turn_back_and_start_at_the_open_hand(hand, reference):
    for grasp in reference.ranked():
        preshape = next(p for p in hand.preshapes if p.name == grasp.preshape)
        steps = np.diff(grasp.trajectory, axis=0) * np.sign(preshape.closed - preshape.open)
        assert (steps >= 0.0).all()
        np.testing.assert_array_equal(grasp.trajectory[0], preshape.open)


def test_closing_ends_with_a_margin_in_the_band(reference):
    low, high = reference.options.margin_band
    margins = [grasp.margin for grasp in reference.ranked()]
    assert min(margins) >= low
    assert np.median(margins) <= high


def test_a_failed_stage_rejects_its_hypotheses_and_planning_goes_on(ball, hand, world):
    planner = new_planner(ball, hand)
    first = planner.ask()
    planner.tell_failed(first.batch_id)
    run_in_order(planner, world)
    assert sum(planner.rejections.values()) + planner.progress.stable == HYPOTHESES
    assert any('could not evaluate' in reason for reason in planner.rejections)


def test_a_stopped_planner_finishes_with_what_it_has(ball, hand, world):
    planner = new_planner(ball, hand, active_hypotheses=4)
    while planner.progress.stable == 0:
        ask = planner.ask()
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    planner.stop()
    run_in_order(planner, world)
    assert 1 <= len(planner.ranked()) <= 4
    assert any('budget' in reason for reason in planner.rejections)


def test_an_answer_of_another_size_is_refused(ball, hand, world):
    planner = new_planner(ball, hand, batch_size=4)
    first, second = planner.ask(), None
    answer = world.evaluate(first.configurations)
    planner.tell(first.batch_id, answer)
    second = planner.ask()
    other = new_planner(ball, hand, clearance_batch_size=1)
    other_ask = other.ask()
    assert second is not None
    with pytest.raises(TaskError, match='configurations'):
        other.tell(other_ask.batch_id, answer)


@pytest.mark.parametrize('name', ['max_hypotheses', 'max_grasps', 'seed'])
@pytest.mark.parametrize('count', [-1, 1.5, 'a', None, True])
def test_counts_that_are_negative_or_not_whole_are_refused(ball, hand, name, count):
    with pytest.raises(TaskError, match=f'^{name} must be a whole number and not negative, got'):
        GraspPlanner(ball, hand, Task(), planner_options(), **{name: count})


def test_hypotheses_turn_with_the_object(hand):
    apple = shapes.apple()
    turned_by = from_rotation_vector(np.array([0.01, -0.02, 0.03, 0.4, -0.7, 0.2]))
    material = find_material('firm_fruit')
    plain = GraspPlanner(GraspObject(apple, material), hand, Task(), planner_options(),
                         max_hypotheses=HYPOTHESES)
    moved = apple.with_vertices(apply(turned_by, apple.vertices))
    turned = GraspPlanner(GraspObject(moved, material), hand, Task(), planner_options(),
                          max_hypotheses=HYPOTHESES)
    np.testing.assert_allclose(
        turned.ask().configurations.T_object_palm,
        turned_by @ plain.ask().configurations.T_object_palm, rtol=0.0, atol=ATOL_POSE)


def test_failures_of_unknown_or_answered_questions_are_ignored(ball, hand, world):
    planner = new_planner(ball, hand, active_hypotheses=4)
    first = planner.ask()
    planner.tell(first.batch_id, world.evaluate(first.configurations))
    for batch_id in (first.batch_id, 99):
        planner.tell_failed(batch_id)
    assert rejections.EVALUATION_FAILED not in planner.rejections


def test_a_grasp_whose_details_cannot_be_had_stays_without_them(ball, hand, world):
    planner, failed = new_planner(ball, hand, active_hypotheses=4), 0
    while not planner.finished:
        ask = planner.ask()
        if ask.configurations.detail == DETAIL_SURFACE:
            planner.tell_failed(ask.batch_id)
            failed += 1
        else:
            planner.tell(ask.batch_id, world.evaluate(ask.configurations))
        if planner.progress.stable and not failed:
            planner.stop()
    grasps = planner.ranked()
    assert len(grasps) == failed > 0
    assert all(grasp.stable and grasp.vertices is None for grasp in grasps)


def test_motions_that_no_stage_can_judge_are_none(ball, hand, world):
    task = Task(displacement_object=from_rotation_vector(np.array([0, 0, 1e-3, 0, 0, 0.0])))
    planner = GraspPlanner(ball, hand, task, planner_options(), max_hypotheses=4)
    search = planner._found.manipulation
    while not planner.finished:
        ask = planner.ask()
        if planner.progress.stable and planner._asked[ask.batch_id][0] is search:
            planner.tell_failed(ask.batch_id)
        else:
            planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    assert planner.rejections[rejections.CANNOT_MOVE] > 0 and planner.ranked() == []


@pytest.mark.parametrize('answered', [True, False])
def test_details_of_near_misses_are_asked_for_once_each_answered_or_not(
        ball, hand, answered):
    world = SphereWorld(hand, RADIUS, 1e6, ball.material.friction)
    planner = GraspPlanner(ball, hand, Task(), planner_options(), max_hypotheses=6)
    while (ask := planner.ask()).configurations.detail != DETAIL_SURFACE:
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    asks = [ask]
    while (ask := planner.ask()) is not None:
        asks.append(ask)
        assert len(asks) <= planner.progress.total
    assert len(asks) > 1 and not planner.finished
    poses = {ask.configurations.T_object_palm.tobytes() for ask in asks}
    assert len(poses) == len(asks)
    for ask in asks:
        if answered:
            planner.tell(ask.batch_id, world.evaluate(ask.configurations))
        else:
            planner.tell_failed(ask.batch_id)
    assert planner.finished and planner.ask() is None
    assert planner.nearest_miss.links and planner.hint


def test_closings_carried_for_somebody_who_has_gone_end_without_outcome(ball, hand, world):
    planner = new_planner(ball, hand)
    asked = world.questions
    assert run_closings(planner.begin(2), planner, world.evaluate, lambda: False) == {}
    assert world.questions == asked + 2


def test_a_planner_with_nothing_to_ask_ends_the_run():
    told = []
    idle = SimpleNamespace(finished=False, ask=lambda: told.append('asked'),
                           begin=lambda count: [], progress=Progress(0, 0, 0, None))
    assert run(idle, None) is False
    assert told == ['asked']
