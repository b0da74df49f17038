"""Moving the held object: what joints alone can do, and grasps followed along a path."""

from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact.backends.convex.decomposition import convex_part
from gripsim_ros.core.contact.backends.convex.epa import pair_contact
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.closing.batching import Conditions
from gripsim_ros.core.planning.closing.knowledge import HeldGrasp
from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.hypotheses.primitives import primitive_points
from gripsim_ros.core.planning.task import moved_region
from gripsim_ros.core.planning.manipulation.kinematics import (
    Fingertips, attainable_twists, bounded_least_squares, can_follow, contact_jacobian,
    follow_object, object_jacobian, object_path)
from gripsim_ros.core.planning.manipulation.search import (
    ALLOWED_DEPTH, ManipulationSearch, first_colliding_pose, thin_steps, way_unknown)
from gripsim_ros.core.planning.options import REACH_TERM, ManipulationOptions
from gripsim_ros.core.planning.ranked_grasp import (
    COMPLIANT, HAND_ONLY, NOT_ASKED, NOWHERE, WITH_ARM)
from gripsim_ros.core.planning.rejections import CANNOT_MOVE, FINGERS_CANNOT_MOVE
from gripsim_ros.core.planning.task import ANY, FINGERS_ONLY, PREFER_FINGERS
from gripsim_ros.core.transforms import apply, from_rotation_vector, inverse, transform
from gripsim_ros.library.in_process import link_shapes, mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

#: Spherical posture: three fingertips evenly round an axis.
SPHERICAL = np.array([np.pi / 3.0, -0.3, 0.5, -0.3, 0.5, -0.3, 0.5])
TIPS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
#: What linear algebra in double precision leaves, relative.
ROUND_OFF = 1e-9
#: A millionth part of a step counts as followed (METHODS 5).
FOLLOWED = 1e-6
#: A joint's arm is no longer [m]: steps q of joints bend the ways of points by at most half of it
#: times q^2.
LONGEST_FINGER = 0.3
#: Where a step of 0.1 mm asks for joints that turn by whole rotations: an undamped step landed
#: 4 cm away.
NEARLY_SINGULAR = np.array([0.78539816, 1.00869544, -0.99609066, 0.4912866, 0.0, -0.05326688,
                            -0.40274665])

small = st.floats(-1.0, 1.0)
vectors = st.tuples(small, small, small).map(np.array)


def fingertips(joints, height=0.03):
    """Return a point at the pad side of each fingertip."""
    hand = load_default_hand()
    links = np.array([hand.link_index(name) for name in TIPS])
    T_palm_link = forward_kinematics(hand, joints[None])[0][links]
    points = np.array([apply(T, np.array([[0.012, 0.0, height]]))[0] for T in T_palm_link])
    return Fingertips(links, points)


def postures():
    """Postures well inside the joints' ranges."""
    hand = load_default_hand()
    middle, half = 0.5 * (hand.joint_upper + hand.joint_lower), hand.joint_upper - hand.joint_lower
    return st.lists(st.floats(-0.35, 0.35), min_size=7, max_size=7).map(
        lambda shares: middle + np.array(shares) * half)


class TestKinematics:
    """The joints' equation (2) of the source, and its generalisation."""

    @given(joints=postures())
    @settings(max_examples=25, deadline=None)
    def test_three_hard_fingertips_move_an_object_in_four_ways(self, joints):
        """Seven joints and six freedoms less nine constraints leave four, in general."""
        tips = fingertips(joints)
        basis = attainable_twists(load_default_hand(), joints, tips, tips.points_palm.mean(0),
                                  0.05)
        assert basis.shape == (6, 4)

    def test_symmetric_fingertips_cannot_push_sideways_nor_turn_about_their_axis(self):
        """The SDH in its spherical posture: x, z, rx, ry follow; y and rz do not."""
        hand, tips = load_default_hand(), fingertips(SPHERICAL)
        centre = tips.points_palm.mean(axis=0)
        possible = [can_follow(hand, SPHERICAL, tips, twist, centre) for twist in np.eye(6)]
        residuals = np.array([residual for _, residual in possible])
        assert [flag for flag, _ in possible] == list(residuals < FOLLOWED)
        assert (residuals < FOLLOWED).sum() <= 4
        assert residuals[2] < FOLLOWED        # along the palm's axis
        assert residuals[5] > 0.5             # about it

    @given(joints=postures(), amounts=st.lists(small, min_size=4, max_size=4))
    @settings(max_examples=25, deadline=None)
    def test_every_free_twist_is_followed_and_no_other(self, joints, amounts):
        hand, tips = load_default_hand(), fingertips(joints)
        centre, length = tips.points_palm.mean(axis=0), 0.05
        basis = attainable_twists(hand, joints, tips, centre, length)
        scale = np.array([1, 1, 1, length, length, length])
        free = basis @ np.array(amounts) / scale
        if np.linalg.norm(amounts) > 0.1:
            assert can_follow(hand, joints, tips, free, centre)[1] < FOLLOWED
        blocked = np.linalg.svd(basis.T)[2][-1] / scale
        possible, residual = can_follow(hand, joints, tips, blocked, centre)
        assert not possible and residual > FOLLOWED

    @given(joints=postures(), direction=vectors)
    @example(NEARLY_SINGULAR, np.array([-0.82387703, 0.89579695, 0.42701726]))
    @settings(max_examples=25, deadline=None)
    def test_a_free_motion_leaves_slips_of_second_order(self, joints, direction):
        """In the joints' first step, long near a singular posture; never more than without one."""
        hand, tips = load_default_hand(), fingertips(joints)
        centre, length = tips.points_palm.mean(axis=0), 0.05
        basis = attainable_twists(hand, joints, tips, centre, length)
        twist = basis @ (basis.T @ np.concatenate([direction, direction[::-1]]))
        if np.linalg.norm(twist) < 0.1:
            return
        step = 1e-4
        turn = Rotation.from_rotvec(step * twist[3:] / length).as_matrix()
        motion = transform(turn, centre + step * twist[:3] - turn @ centre)
        _, slips = follow_object(hand, joints, tips, motion, hand.joint_lower, hand.joint_upper)
        wanted = apply(motion, tips.points_palm) - tips.points_palm
        first = np.linalg.lstsq(contact_jacobian(hand, joints, tips), wanted.ravel(), 1e-6)[0]
        assert np.abs(slips).max() <= LONGEST_FINGER * (first @ first) + ROUND_OFF
        assert np.linalg.norm(slips) <= np.linalg.norm(wanted) + ROUND_OFF

    def test_contact_velocities_agree_with_differences(self):
        """The Jacobians of joints and of the object against finite differences."""
        hand, tips = load_default_hand(), fingertips(SPHERICAL)
        step, rates = 1e-6, np.array([0.3, -0.5, 0.2, 0.7, -0.1, 0.4, 0.6])
        poses = forward_kinematics(hand, SPHERICAL[None])[0][tips.links]
        local = [apply(inverse(T), p[None])[0] for T, p in zip(poses, tips.points_palm)]
        moved = forward_kinematics(hand, (SPHERICAL + step * rates)[None])[0][tips.links]
        speeds = np.array([apply(T, p[None])[0] for T, p in zip(moved, local)])
        expected = ((speeds - tips.points_palm) / step).ravel()
        assert contact_jacobian(hand, SPHERICAL, tips) @ rates == pytest.approx(
            expected, abs=1e-6)
        twist, centre = np.array([0.1, 0.2, -0.3, 0.4, -0.5, 0.6]), np.array([0.0, 0.01, 0.1])
        turned = Rotation.from_rotvec(step * twist[3:]).apply(tips.points_palm - centre)
        expected = ((turned + centre + step * twist[:3] - tips.points_palm) / step).ravel()
        assert object_jacobian(tips, centre) @ twist == pytest.approx(expected, abs=1e-6)

    def test_an_object_at_rest_leaves_the_joints_at_rest(self):
        hand, tips = load_default_hand(), fingertips(SPHERICAL)
        joints, slips = follow_object(hand, SPHERICAL, tips, np.eye(4), hand.joint_lower,
                                      hand.joint_upper)
        assert joints == pytest.approx(SPHERICAL, abs=ROUND_OFF)
        assert np.abs(slips).max() < ROUND_OFF

    @given(seed=st.integers(0, 10_000))
    @settings(max_examples=40, deadline=None)
    def test_bounded_least_squares_against_scipy(self, seed):
        random = np.random.default_rng(seed)
        matrix, wanted = random.normal(size=(9, 7)), random.normal(size=9)
        lower, upper = -random.uniform(0.0, 0.5, 7), random.uniform(0.0, 0.5, 7)
        x = bounded_least_squares(matrix, wanted, lower, upper)
        assert (x >= lower - ROUND_OFF).all() and (x <= upper + ROUND_OFF).all()
        best = lsq_linear(matrix, wanted, (lower - 1e-12, upper + 1e-12), tol=1e-14)
        assert np.linalg.norm(matrix @ x - wanted) == pytest.approx(
            np.linalg.norm(matrix @ best.x - wanted), rel=1e-5)


class TestPath:
    """The object's straight way."""

    @given(way=vectors, turn=vectors)
    @settings(max_examples=40, deadline=None)
    def test_steps_are_even_and_short_enough(self, way, turn):
        T = from_rotation_vector(np.concatenate([0.1 * way, turn]))
        path = object_path(T, 0.002, 0.035)
        assert path[0] == pytest.approx(np.eye(4)) and path[-1] == pytest.approx(T)
        changes = [inverse(a) @ b for a, b in zip(path[:-1], path[1:])]
        turns = [np.linalg.norm(Rotation.from_matrix(c[:3, :3]).as_rotvec()) for c in changes]
        ways = np.linalg.norm(np.diff(path[:, :3, 3], axis=0), axis=1)
        assert max(turns, default=0.0) <= 0.035 + ROUND_OFF
        assert max(ways, default=0.0) <= 0.002 + ROUND_OFF
        assert np.ptp(ways) < ROUND_OFF if len(ways) else True

    @pytest.mark.parametrize('way', [1e3, 1e6, 1e308, np.inf])
    def test_a_way_of_kilometres_is_refused_before_it_is_made(self, way):
        T = np.eye(4)
        T[0, 3] = way
        with np.errstate(over='ignore'), pytest.raises(TaskError, match='steps of 0.002 m'):
            object_path(T, 0.002, 0.035)

    def test_no_way_is_one_pose(self):
        assert object_path(np.eye(4), 0.002, 0.035).shape == (1, 4, 4)

    @given(way=vectors, turn=vectors)
    @settings(max_examples=20, deadline=None)
    def test_primitives_move_with_their_frame(self, way, turn):
        T = from_rotation_vector(np.concatenate([way, turn]))
        row = np.concatenate([[OBSTACLE_BOX, 0.1, 0.2, 0.3], np.eye(4)[:3].ravel()])[None]
        moved = moved_region(row, T)
        assert moved[0, 4:].reshape(3, 4) == pytest.approx(T[:3])
        assert moved_region(moved, inverse(T)) == pytest.approx(row)


def primitive(kind, sizes, T):
    """Return the row of a primitive."""
    return np.concatenate([[kind, *sizes], T[:3].ravel()])


def places():
    """Poses with the origin up to 80 mm away."""
    return st.tuples(vectors, vectors).map(lambda pair: from_rotation_vector(
        np.concatenate([0.08 * pair[0], 3.0 * pair[1]])))


#: A body of 60 x 40 x 30 mm, by its corners.
BLOCK = primitive_points(primitive(OBSTACLE_BOX, (0.06, 0.04, 0.03), np.eye(4)))


class TestObjectsWay:
    """What the carried object itself meets."""

    @given(T=places(), kind=st.sampled_from([OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE]))
    @settings(max_examples=15, deadline=None)
    def test_depth_is_that_of_expanding_polytopes(self, T, kind):
        """Against the contact stage's own depth of two convex parts."""
        row = primitive(kind, (0.05, 0.02, 0.03), np.eye(4))
        far = transform(np.eye(3), np.array([9.0, 0.0, 0.0]))
        path = np.array([far, T]) @ inverse(far)
        contact = pair_contact(convex_part(apply(T, BLOCK)), convex_part(primitive_points(row)))
        depth = contact.depth if contact.overlap else 0.0
        if abs(depth - ALLOWED_DEPTH) > FOLLOWED:
            meets = first_colliding_pose(apply(far, BLOCK), row[None], path)[0] == 1
            assert meets == (depth > ALLOWED_DEPTH)

    @pytest.mark.parametrize('thickness', [0.2, 0.0005])
    def test_the_step_is_that_which_goes_deeper_than_touching(self, thickness):
        """Down in steps of 1 mm on a plate 4.5 mm below; a thin one counts as a thick one."""
        low = -0.015
        plate = primitive(OBSTACLE_BOX, (0.2, 0.2, thickness), transform(
            np.eye(3), np.array([0.0, 0.0, low - 0.0045 - 0.5 * thickness])))
        path = object_path(transform(np.eye(3), np.array([0.0, 0.0, -0.02])), 0.001, 1.0)
        assert first_colliding_pose(BLOCK, plate[None], path) == (7, 0)

    def test_what_it_stands_on_and_in_does_not_count(self):
        """A table touched, and one in which it stands by a wrong pose; deeper counts."""
        path = object_path(transform(np.eye(3), np.array([0.1, 0.0, 0.0])), 0.002, 1.0)
        for depth in (0.0, 0.004):
            table = primitive(OBSTACLE_BOX, (1.0, 1.0, 0.1), transform(
                np.eye(3), np.array([0.0, 0.0, -0.015 - 0.05 + depth])))
            assert first_colliding_pose(BLOCK, table[None], path) == (-1, -1)
            down = object_path(transform(np.eye(3), np.array([0.0, 0.0, -0.0095])), 0.001, 1.0)
            assert first_colliding_pose(BLOCK, table[None], down) == (3, 0)


class Answers:
    """Stands for the stages: a grasp that holds but at the steps told, one set an attempt."""

    def __init__(self, *failing, vertices=None, **task):
        hand, tips = load_default_hand(), fingertips(SPHERICAL)
        numbers = {name: np.nan for name in GraspState.__dataclass_fields__}
        ones, inward = np.ones(3), tips.points_palm.mean(axis=0) - tips.points_palm
        normals = inward / np.linalg.norm(inward, axis=1)[:, None]
        self.state = GraspState(**{
            **numbers, 'links': tips.links, 'points': tips.points_palm, 'normals': normals,
            'forces': normals, 'minimal_envelope': ones, 'normal_stiffness': 1e4 * ones,
            'minimal_forces': normals, 'minimal_torques': np.zeros((3, 3)),
            'centre_of_mass': np.zeros(3),
            'tangential_stiffness': ones, 'obstacle_clearance': 1.0, 'self_clearance': 1.0,
            'capable': True, 'holds': True, 'margin': 1.2})
        task = Task(**task)
        verdicts = SimpleNamespace(
            grasps={0: None}, options=planner_options(), hand=hand, exclude=lambda *_: None,
            reference=SimpleNamespace(friction=0.5, radius=0.05))
        self.search = ManipulationSearch(task, verdicts, list,
                                         Conditions.of(task, np.zeros((1, 9))), vertices)
        self.failing = failing

    def result(self, carried=1.2):
        """Follow one grasp; an attempt ends with a step that is told to fail."""
        failing = iter(self.failing)
        steps = next(failing, ())
        grasp = SimpleNamespace(held_hypothesis=SimpleNamespace(T_object_palm=np.eye(4)))
        self.search.begin(0, grasp, HeldGrasp(SPHERICAL, SPHERICAL[None], self.state))
        while self.search.result(0) is None:
            step = self.search.items[0].step
            if step in steps:
                self.search.fail(0, f'told at {step}')
                steps = next(failing, ())
            else:
                by_arm = bool(self.failing) and step > 2
                self.search.take(0, replace(self.state, margin=carried) if by_arm
                                 else self.state)
        return self.search.result(0)


#: The object is lifted off the palm by 20 mm: ten steps.
OFF = transform(np.eye(3), np.array([0.0, 0.0, 0.02]))


class TestFailedStep:
    """Which step is told, and why."""

    def test_with_the_arm_it_is_where_the_fingers_alone_fail(self):
        """The arm's attempt loses the fingers' part later, and carries on without it."""
        reach = Answers((2,), (7,), displacement_object=OFF).result()
        assert reach.level == WITH_ARM and reach.failed_step == 2
        assert reach.message == 'the arm helps; the fingers alone fail at step 2 of 10: told at 2'

    def test_without_a_way_it_is_where_the_farthest_attempt_fails(self):
        reach = Answers((2,), (7,), (10,), displacement_object=OFF).result()
        assert reach.level == NOWHERE and reach.failed_step == 10

    def test_an_arm_that_carries_with_less_reserve_is_told(self):
        """Contacts of this hand do not move, so that no correction brings the margin back."""
        least = planner_options().margin_band[0]
        kept = Answers((2,), (3,), displacement_object=OFF).result(carried=least)
        assert kept.level == WITH_ARM and not thin_steps(kept.steps, least)
        thin = Answers((2,), (3,), displacement_object=OFF).result(carried=1.07)
        warning, = thin_steps(thin.steps, least)
        lower = sum(step.margin < least for step in thin.steps)
        assert thin.level == WITH_ARM and f'in {lower} of {len(thin.steps) - 1} steps: 1.07' \
            in warning and 0 < lower < len(thin.steps)
        assert not thin_steps(thin.steps, 1.05)          # a reserve of less is kept

    def test_what_no_arm_was_asked_and_what_time_left_is_said(self):
        far = transform(Rotation.from_euler('x', 90.0, degrees=True).as_matrix(),
                        np.array([0.0, 0.0, 3.0]))
        assert way_unknown(far, {WITH_ARM: 3, COMPLIANT: 2}) == (
            'no arm is asked whether it carries the object 3000 mm and 90° away, as 3 of 5 '
            'grasps need')
        assert way_unknown(far, {NOT_ASKED: 4, COMPLIANT: 1}) == (
            "time was up before the object's way was followed with 4 of 5 grasps")
        assert not way_unknown(far, {COMPLIANT: 2, NOWHERE: 1}) and not way_unknown(far, {})

    def test_an_object_that_would_meet_its_surroundings_is_refused(self):
        """A plate 9 mm ahead, met by more than touching at the sixth step of 2 mm."""
        plate = primitive(OBSTACLE_BOX, (0.2, 0.2, 0.01), transform(
            np.eye(3), np.array([0.0, 0.0, 0.015 + 0.009 + 0.005])))
        for level, failing in ((HAND_ONLY, ()), (WITH_ARM, ((2,), (3,)))):
            task = {'displacement_object': OFF, 'obstacles': plate[None]}
            free = Answers(*failing, vertices=BLOCK, displacement_object=OFF).result()
            assert free.level in (level, COMPLIANT) and free.shares[-1] == 1.0
            with pytest.raises(TaskError, match=r'into obstacle 1 of 1, by more than 2 mm after 6 '
                               r'of 10 steps \(12 mm, 0°\)'):
                Answers(*failing, vertices=BLOCK, **task)
            kept_out = Answers(*failing, vertices=BLOCK, displacement_object=OFF,
                               keep_out=plate[None]).result()
            assert kept_out.level == free.level          # regions are for the hand


@lru_cache(maxsize=1)
def apple():
    """Return a light, firm apple and the stages about it."""
    body = GraspObject(shapes.apple(edge_length=0.008), Material(5e5, 0.45, 900.0, 0.6), 'apple')
    hand = load_default_hand()
    return body, Pipeline(hand, body, mechanics_options(), link_shapes(hand))


def plan(T_object_moved, count=12, **task):
    """Plan for a displacement."""
    body, pipeline = apple()
    planner = GraspPlanner(body, load_default_hand(),
                           Task(displacement_object=T_object_moved, **task), planner_options(),
                           max_hypotheses=count, max_grasps=1)
    run(planner, pipeline)
    return planner


@lru_cache(maxsize=1)
def first_grasp():
    """Return the best grasp where nothing is to be moved."""
    return plan(None).ranked()[0]


def along_the_palm(way, turn=0.0):
    """Return a displacement along and about the palm's axis through the contacts' middle."""
    grasp = first_grasp()
    T_object_middle = transform(grasp.T_object_palm[:3, :3],
                                np.mean([c.point for c in grasp.contacts], axis=0))
    step = from_rotation_vector(np.array([0.0, 0.0, way, 0.0, 0.0, turn]))
    return T_object_middle @ step @ inverse(T_object_middle)


@lru_cache(maxsize=1)
def pulled():
    """Return the best grasp that moves the object a little along the palm."""
    return plan(along_the_palm(0.004)).ranked()[0]


@pytest.mark.slow
class TestHeldObject:
    """Grasps followed along a path, every step judged by the stages."""

    def test_without_displacement_nothing_is_followed(self):
        assert first_grasp().reach is None

    def test_fingers_pull_an_object_along_the_palm(self):
        """A few millimetres along the palm's axis are what symmetric fingertips can do."""
        grasp = pulled()
        assert grasp.reach.level in (HAND_ONLY, COMPLIANT)
        assert grasp.reach.slip_share <= 1.0 and grasp.reach.failed_step == -1
        assert grasp.reach.shares == pytest.approx([0.0, 0.5, 1.0])
        assert np.abs(np.diff(grasp.reach.joints, axis=0)).max() > 0.01

    def test_palm_of_fingers_alone_stays(self):
        """The palm's pose in the first frame of the object is the same at every step."""
        reach = pulled().reach
        assert reach.T_object_palm == pytest.approx(
            np.broadcast_to(reach.T_object_palm[0], reach.T_object_palm.shape), abs=ROUND_OFF)

    def test_a_long_way_takes_the_arm(self):
        T = along_the_palm(-0.15, 0.4)
        grasp = plan(T).ranked()[0]
        assert grasp.reach.level == WITH_ARM and grasp.reach.shares[-1] == 1.0
        assert grasp.reach.failed_step > 0 and 'fingers alone fail' in grasp.reach.message
        moved = T @ grasp.T_object_palm
        ways = np.linalg.norm(moved[:3, 3] - grasp.reach.T_object_palm[-1, :3, 3])
        assert ways < 0.05                    # the palm goes along, but for the fingers' part

    def test_every_step_keeps_the_reserve_and_presses_no_less_than_the_least(self):
        """On the way of fingers alone and on that with the arm; gravity turns in both."""
        down = -first_grasp().T_object_palm[:3, 2]
        for grasp in (pulled(), *plan(along_the_palm(-0.05, 0.8),
                                      gravity_directions=down[None]).ranked()):
            steps, options = grasp.reach.steps, planner_options()
            assert len(steps) == len(grasp.reach.shares) > 2
            reserve = min(options.margin_band[0], steps[0].margin)
            assert min(step.margin for step in steps) >= reserve - ROUND_OFF
            for step in steps:
                # Shares of the contacts are held to a band, so a sum may fall a little below.
                assert step.normal_force > 0.95 * step.minimal_normal_force
                assert step.slip_share <= 1.0 and step.joint_efforts.shape == (7,)

    @pytest.mark.nightly
    def test_who_may_move_the_object_is_kept(self):
        """A way that few hypotheses can follow with the fingers alone."""
        T = along_the_palm(0.008)

        def planned(reach):
            planner = plan(T, count=24, reach=reach)
            return planner, planner.ranked(1 if reach == ANY else 5)
        _, (anyone,) = planned(ANY)
        planner, preferred = planned(PREFER_FINGERS)
        alone, only = planned(FINGERS_ONLY)
        by_fingers = [grasp.reach.by_fingers for grasp in preferred]
        assert by_fingers == sorted(by_fingers, reverse=True) and by_fingers[0]
        assert not all(by_fingers), 'the question is whether all are asked'
        levels = planner.reach_levels
        moved = levels.get(HAND_ONLY, 0) + levels.get(COMPLIANT, 0)
        assert sum(by_fingers) == moved == len(only) and levels[WITH_ARM] > 0
        assert [g.hypothesis for g in only] == [g.hypothesis for g in preferred[:moved]]
        assert alone.reach_levels.get(WITH_ARM, 0) == 0
        assert alone.rejections[FINGERS_CANNOT_MOVE] == alone.reach_levels[NOWHERE] > 0
        term, = [t for t in preferred[0].terms if t.name == REACH_TERM]
        assert (term.value, term.contribution) == (1.0, term.weight) and term.weight > 0.0
        assert preferred[0].score == pytest.approx(sum(t.contribution for t in preferred[0].terms))
        assert [t.weight for t in anyone.terms if t.name == REACH_TERM] == [0.0]

    def test_a_wall_in_the_way_is_told_before_anything_is_planned(self):
        T = transform(np.eye(3), np.array([0.0, 0.0, 0.5]))
        wall = np.concatenate([[OBSTACLE_BOX, 3.0, 3.0, 0.1],
                               transform(np.eye(3), np.array([0.0, 0.0, 0.45]))[:3].ravel()])
        with pytest.raises(TaskError, match='into obstacle 1 of 1.* of 250 steps'):
            plan(T, count=4, obstacles=wall[None])

    def test_a_grasp_strong_for_one_direction_of_gravity_turns_with_the_object(self):
        """Weight along the palm only; the object is to be laid on its side."""
        down = -first_grasp().T_object_palm[:3, 2]
        side = first_grasp().T_object_palm[:3, 0]
        T = transform(Rotation.from_rotvec(0.5 * np.pi * side).as_matrix(), np.zeros(3))
        planner = plan(T, gravity_directions=down[None])
        for grasp in planner.ranked():
            assert grasp.reach.level != NOWHERE and grasp.reach.shares[-1] == 1.0
        assert planner.ranked() or planner.rejections[CANNOT_MOVE]

    def test_too_long_a_way_is_bad_input(self):
        with pytest.raises(TaskError, match='task.displacement takes 50000 steps'):
            plan(transform(np.eye(3), np.array([100.0, 0.0, 0.0])))


def test_options_name_what_is_wrong():
    reach = vars(planner_options().reach)
    for name in reach:
        for value in (-1.0, 0.0, np.inf, True, 'a'):
            with pytest.raises(TaskError, match=f'reach.{name} must be finite and above 0, got'):
                ManipulationOptions(**{**reach, name: value})
