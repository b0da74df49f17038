"""Following a held object: what is told where answers of the stages stand against it."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.closing.batching import Conditions
from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.hypotheses.primitives import primitive_points
from gripsim_ros.core.planning.manipulation.follow_path import PathFollower
from gripsim_ros.core.planning.manipulation.kinematics import Fingertips, attainable_twists
from gripsim_ros.core.planning.manipulation.search import ManipulationSearch
from gripsim_ros.core.planning.ranked_grasp import HAND_ONLY, NOWHERE, WITH_ARM
from gripsim_ros.core.transforms import (
    apply, from_rotation_vector, inverse, transform)
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

#: Spherical posture: three fingertips evenly round the palm's axis, along which they follow.
SPHERICAL = np.array([np.pi / 3.0, -0.3, 0.5, -0.3, 0.5, -0.3, 0.5])
TIPS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
#: The hand alone, then with the arm, then the arm alone.
ATTEMPTS = 3
#: Stiffnesses [N/m]; with a force of 1 N a contact bears 1 mm without slip.
STIFFNESS = 1e3
STEP = 1e-4
ATOL_ROUNDOFF = 1e-12


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


def held_state(hand, names=TIPS, **changes):
    """Return a state in which links press with 1 N each towards the palm's axis."""
    links = np.array([hand.link_index(name) for name in names])
    poses = forward_kinematics(hand, SPHERICAL[None])[0][links]
    points = np.array([apply(T, np.array([[0.012, 0.0, 0.03]]))[0] for T in poses])
    normals = -points * [1.0, 1.0, 0.0]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    ones = np.ones(len(links))
    values = {field.name: np.nan for field in fields(GraspState)}
    values.update(
        links=links, points=points, normals=normals, forces=normals,
        clearance=np.zeros(len(hand.link_names)), self_clearance=np.inf,
        obstacle_clearance=np.inf, normal_stiffness=STIFFNESS * ones,
        tangential_stiffness=STIFFNESS * ones, minimal_envelope=ones, margin=1.25,
        minimal_forces=normals, minimal_torques=np.zeros((len(links), 3)),
        centre_of_mass=np.zeros(3),
        capable=True, holds=True)
    return GraspState(**{**values, **changes})


def motion_of(hand, state, steps=1, step=STEP, T_object_palm=None, **more):
    """Return the following of a grasp along the palm's axis."""
    path = np.array([transform(np.eye(3), np.array([0.0, 0.0, step * i]))
                     for i in range(steps + 1)])
    return PathFollower(hand, SPHERICAL, np.eye(4) if T_object_palm is None else T_object_palm,
                        state, path, 1.0, 0.05,
                        planner_options(), **more)


def answered(motion, *answers):
    """Return how many answers, the last one again and again, it takes to the end."""
    count = 0
    while not motion.done:
        motion.question()
        motion.answer(answers[min(count, len(answers) - 1)])
        count += 1
    return count


def without(state, link):
    """Return a state without the contacts of a link."""
    kept = state.links != link
    names = ('links', 'points', 'normals', 'forces', 'normal_stiffness', 'tangential_stiffness',
             'minimal_envelope', 'minimal_forces', 'minimal_torques')
    return replace(state, **{name: getattr(state, name)[kept] for name in names})


def test_an_object_that_shall_stay_is_there_at_once(hand):
    motion = motion_of(hand, held_state(hand), steps=0)
    result = motion.result
    assert motion.done and (result.level, result.failed_step) == (HAND_ONLY, -1)
    assert_allclose(result.joints, SPHERICAL[None])
    assert result.shares.tolist() == [0.0] and result.residual == 0.0


@pytest.mark.parametrize('changes, reason', [
    ({'self_clearance': 0.0}, 'the hand collides with itself'),
    ({'obstacle_clearance': 0.0}, 'the hand collides with its surroundings')])
def test_no_force_mends_a_collision_so_each_attempt_ends_with_it(hand, changes, reason):
    motion = motion_of(hand, held_state(hand))
    assert answered(motion, held_state(hand, **changes)) == ATTEMPTS
    assert (motion.result.level, motion.result.failed_step) == (NOWHERE, 1)
    assert motion.result.message.endswith(f'as wanted; step 1 of 1: {reason}')
    assert motion.result.shares.tolist() == [0.0]


def test_a_grasp_that_holds_too_little_is_corrected_as_often_as_allowed(hand):
    motion = motion_of(hand, held_state(hand))
    judged = 1 + planner_options().reach.max_corrections
    assert answered(motion, held_state(hand, holds=False, margin=0.5)) == ATTEMPTS * judged
    assert motion.result.level == NOWHERE
    assert motion.result.message.endswith('the grasp holds 0.50 of the loads only')


def test_forces_that_cannot_hold_though_as_great_as_before_are_not_corrected(hand):
    motion = motion_of(hand, held_state(hand))
    assert answered(motion, held_state(hand, capable=False, holds=False)) == ATTEMPTS
    assert motion.result.message.endswith(
        'no forces within friction, pressure and torque limits hold the task')


def test_a_link_that_has_lost_contact_is_named_and_led_back(hand):
    state = held_state(hand)
    motion, thumb = motion_of(hand, state), hand.link_index(TIPS[2])
    before = motion.question().joint_positions
    motion.answer(replace(without(state, thumb), clearance=np.full(len(hand.link_names), 1e-3)))
    after = motion.question().joint_positions
    poses = forward_kinematics(hand, np.array([before, after]))[:, thumb]
    moved = apply(poses[1], np.array([[0.012, 0.0, 0.03]])) \
        - apply(poses[0], np.array([[0.012, 0.0, 0.03]]))
    assert (moved @ state.normals[2])[0] > 0.0
    answered(motion, without(state, thumb))
    assert motion.result.message.endswith(f'{TIPS[2]} loses contact')


def test_the_arm_helps_where_the_fingers_alone_collide(hand):
    motion = motion_of(hand, held_state(hand))
    assert answered(motion, held_state(hand, self_clearance=0.0), held_state(hand)) == 2
    assert motion.result.level == WITH_ARM and motion.result.shares.tolist() == [0.0, 1.0]
    assert motion.result.message == ('the arm helps; the fingers alone fail at step 1 of 1: '
                                     'the hand collides with itself')


def test_where_only_fingers_may_move_it_their_failure_is_the_answer(hand):
    motion = motion_of(hand, held_state(hand), arm_may_help=False)
    assert answered(motion, held_state(hand, self_clearance=0.0)) == 1
    assert motion.result.level == NOWHERE and not motion.result.by_fingers
    free = motion_of(hand, held_state(hand), arm_may_help=False)
    answered(free, held_state(hand))
    assert free.result.by_fingers


def test_a_step_keeps_the_reserve_of_the_grasp(hand):
    """Margin 1.10 holds, but less than closing leaves: the fingers do not go on with it."""
    motion = motion_of(hand, held_state(hand))
    judged = 1 + planner_options().reach.max_corrections
    assert answered(motion, held_state(hand, margin=1.1)) == ATTEMPTS * judged
    assert motion.result.level == WITH_ARM      # the arm carries what holds, where nothing else
    assert motion.result.message.endswith('the grasp holds 1.10 of the loads only, not 1.20')
    assert [step.margin for step in motion.result.steps] == [1.25, 1.1]
    weak = motion_of(hand, held_state(hand, margin=1.1))
    assert answered(weak, held_state(hand, margin=1.1)) == 1        # as the grasp had no more


def test_forces_above_the_least_are_lowered(hand):
    """With 2 N where 1 N would hold with a margin of 1.25, the joints give way; by stiffness."""
    state = held_state(hand)
    motion = motion_of(hand, state)
    before = motion.question().joint_positions
    motion.answer(replace(state, forces=2.0 * state.normals, margin=2.5))
    after = motion.question().joint_positions
    poses = forward_kinematics(hand, np.array([before, after]))[:, state.links]
    pads = np.array([[0.012, 0.0, 0.03]])
    moved = np.array([apply(poses[1][i], pads)[0] - apply(poses[0][i], pads)[0]
                      for i in range(3)])
    given = np.einsum('ij,ij->i', moved, state.normals)
    wanted = 1.3 / 2.5 * 2.0     # the middle of the band; margins grow with the forces
    assert_allclose(given, (wanted - 2.0) / STIFFNESS, rtol=0.1)


def test_the_arm_takes_over_before_the_fingers_press_harder_than_at_first(hand):
    state = held_state(hand)
    hard = replace(state, forces=2.0 * state.normals, minimal_forces=2.0 * state.normals,
                   minimal_envelope=2.0 * state.minimal_envelope)
    alone = motion_of(hand, state)
    assert answered(alone, hard) == 1 and alone.result.by_fingers
    helped = motion_of(hand, state)
    answered(helped, replace(hard, self_clearance=0.0), hard)
    assert helped.result.level == WITH_ARM
    assert [step.by_arm for step in helped.result.steps] == [False, True]
    assert_allclose(helped.result.joints[1], SPHERICAL, atol=1e-3)      # they rest


def test_each_step_is_told_in_the_objects_first_frame(hand):
    state = held_state(hand)
    motion = motion_of(hand, state, steps=2)
    answered(motion, state)
    assert len(motion.result.steps) == len(motion.result.joints) == 3
    for i, step in enumerate(motion.result.steps):
        up = np.array([0.0, 0.0, STEP * i])
        assert_allclose(step.T_object_moved[:3, 3], up, atol=ATOL_ROUNDOFF)
        assert_allclose(step.points, state.points + up, atol=ATOL_ROUNDOFF)
        assert_allclose(step.centre_of_mass, up, atol=ATOL_ROUNDOFF)
        assert step.normal_force == pytest.approx(3.0)
        assert step.minimal_normal_force == pytest.approx(3.0)
        assert step.joint_efforts.shape == (7,) and np.abs(step.joint_efforts).max() > 0.0


def test_the_palms_pose_stays_rigid_on_a_long_way(hand):
    """Round-off of a step that grew threefold a step would be a thousandth after 30."""
    turned = from_rotation_vector(np.array([0.0, 0.0, 0.0, 0.3, -0.5, 0.7]))
    motion = motion_of(hand, held_state(hand), 60, 1e-2 * STEP, turned)
    while motion.step < 60 and not motion.done:
        palm = inverse(motion.question().T_object_palm)
        assert_allclose(palm[:3, :3] @ palm[:3, :3].T, np.eye(3), atol=ATOL_ROUNDOFF)
        motion.answer(held_state(hand))
    assert motion.step == 60


def test_the_palms_contact_takes_no_part_in_a_correction(hand):
    trials = []
    for names in (TIPS, ('sdh_palm_link', *TIPS)):
        motion = motion_of(hand, held_state(hand, names))
        motion.answer(held_state(hand, names, holds=False, margin=0.5))
        trials.append(motion.question().joint_positions)
    assert np.abs(trials[0] - SPHERICAL).max() > 1e-4
    assert_allclose(trials[1], trials[0], rtol=0.0, atol=ATOL_ROUNDOFF)


def test_where_only_the_palm_touches_nothing_is_corrected(hand):
    state = held_state(hand, ('sdh_palm_link',))
    motion = motion_of(hand, state)
    assert answered(motion, replace(state, capable=False, holds=False)) == ATTEMPTS
    assert motion.result.level == NOWHERE


def test_joints_at_both_their_limits_correct_nothing(hand):
    stiff = replace(hand, joint_lower=SPHERICAL, joint_upper=SPHERICAL)
    motion = motion_of(stiff, held_state(hand))
    assert answered(motion, held_state(hand, holds=False, margin=0.5)) == ATTEMPTS
    assert motion.result.message.endswith('the grasp holds 0.50 of the loads only')


def test_a_slip_names_the_joints_at_their_limits(hand):
    upper = np.where(np.arange(7) == 2, SPHERICAL, hand.joint_upper)
    lower = np.where(np.arange(7) == 2, SPHERICAL, hand.joint_lower)
    stiff = replace(hand, joint_lower=lower, joint_upper=upper)
    motion = motion_of(stiff, held_state(hand))
    hard = held_state(hand, tangential_stiffness=np.full(3, 1e9))
    while motion.question() and motion.step == 1 and not motion.done:
        motion.answer(hard)
    assert motion.result.level == WITH_ARM
    assert motion.result.message == (
        'the arm helps; the fingers alone fail at step 1 of 1: a contact slips: the joints '
        f'cannot follow the object; at its limit: {hand.joint_names[2]}')


def test_one_fingertip_alone_is_followed_in_every_way(hand):
    state = held_state(hand, TIPS[:1])
    tips = Fingertips(state.links, state.points)
    free = attainable_twists(hand, SPHERICAL, tips, state.points[0], 0.05)
    assert_allclose(free, np.eye(6))


@pytest.mark.parametrize('beyond, refused', [(0, False), (1, True)])
def test_a_way_of_more_steps_than_allowed_is_refused(hand, beyond, refused):
    options = replace(planner_options().reach, max_steps=20)
    way = (options.max_steps + beyond) * options.translation_step
    task = Task(displacement_object=transform(np.eye(3), np.array([way, 0.0, 0.0])))
    verdicts = SimpleNamespace(options=replace(planner_options(), reach=options))
    arguments = task, verdicts, list, Conditions.of(task, np.zeros((0, 9)))
    if refused:
        with pytest.raises(TaskError, match=f'takes {options.max_steps + 1} steps of .* at most '
                                            f'{options.max_steps} are allowed'):
            ManipulationSearch(*arguments)
    else:
        ManipulationSearch(*arguments)


def test_obstacles_of_no_known_kind_are_refused():
    row = np.array([7.0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0])
    with pytest.raises(TaskError, match=r'a box \(1\), a sphere \(2\) or a cylinder \(3\), got 7'):
        primitive_points(row)
