"""The arm: inverse kinematics, collisions against a full search, choice of the shortest way."""

from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
import json
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gripsim_ros.apps.cli.answers.arm import order_by_arm, read_arm_task
from gripsim_ros.apps.cli.main import main
from gripsim_ros.core.arm import ArmTask, choose_by_arm, load_arm
from gripsim_ros.core.arm.choice import make_scene
from gripsim_ros.core.arm.collision import BY_EXACT_DISTANCE, BY_PLANE, BY_TRIANGLE
from gripsim_ros.core.arm.model import ArmInverseKinematics, joint_distance
from gripsim_ros.core.arm.motion import PHASES, TO_PREGRASP, WHOLE_WAY, ArmPlanner
from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_SPHERE
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact.backends.convex.decomposition import convex_part
from gripsim_ros.core.contact.backends.convex.epa import pair_contact
from gripsim_ros.core.errors import ArmError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.hypotheses.primitives import cylinder_points, sphere_points
from gripsim_ros.core.planning.ranked_grasp import HAND_ONLY, ManipulationResult
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.resources import load_default_hand

from plan_cases import CLOSED, made_up_answer, made_up_grasp

FILE = Path(__file__).resolve().parents[2] / 'data' / 'ur5e.yaml'
#: Where the palm must be [m], [-].
REACHED = 1e-5
#: The published pose of the tool of a UR5e with all joints at 0 [m] (from its D-H table).
TOOL_AT_ZERO = np.array([-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997])


@lru_cache(maxsize=1)
def arm():
    """Return a real arm, the UR5e."""
    return load_arm(FILE, Path)


@lru_cache(maxsize=1)
def body():
    """Return an apple."""
    return GraspObject(shapes.apple(edge_length=0.008), Material(5e5, 0.45, 900.0, 0.6), 'apple')


def joints():
    """Joints of the arm well inside their limits."""
    return st.lists(st.floats(-2.5, 2.5), min_size=6, max_size=6).map(np.array)


def box(sides, centre):
    """Return the row of a box."""
    return np.concatenate([[OBSTACLE_BOX, *sides], transform(np.eye(3), np.array(centre))[:3]
                           .ravel()])


def before(centre):
    """Return the pose of the object before the arm's base."""
    return transform(np.eye(3), np.array(centre, float))


class TestInverse:
    """Inverse kinematics against forward kinematics, and against the maker's table."""

    def test_the_tool_is_where_the_makers_table_puts_it(self):
        tool = arm().poses(np.zeros(6))[arm().tip]
        assert tool[:3, 3] == pytest.approx(TOOL_AT_ZERO, abs=1e-12)

    @given(wanted=joints(), error=st.floats(-0.2, 0.2))
    @settings(max_examples=10, deadline=None)
    def test_a_pose_nearby_is_found(self, wanted, error):
        """Unless the search ends at a singularity, the palm is where it shall be."""
        found = ArmInverseKinematics(arm()).solve(arm().palm_pose(wanted), wanted + error)
        if found is None:
            return
        assert arm().palm_pose(found) == pytest.approx(arm().palm_pose(wanted), abs=10 * REACHED)
        assert (found >= arm().joint_lower).all() and (found <= arm().joint_upper).all()

    def test_a_pose_is_found_within_limits_that_newtons_method_leaves(self):
        start = arm().start
        narrow = replace(arm(), joint_lower=start - 0.6, joint_upper=start + 0.6)
        inverse, rng, left = ArmInverseKinematics(narrow), np.random.default_rng(1), 0
        for _ in range(20):
            wanted, near = start + rng.uniform(-0.6, 0.6, (2, 6))
            pose = narrow.palm_pose(wanted)
            left += not len(inverse._newton(pose @ np.linalg.inv(narrow.T_tip_palm), near[None]))
            found = inverse.solve(pose, near)
            assert narrow.palm_pose(found) == pytest.approx(pose, abs=10 * REACHED)
            assert np.abs(found - start).max() <= 0.6
        assert left > 3

    def test_a_regular_pose_has_eight_postures(self):
        """Shoulder left or right, elbow up or down, wrist flipped or not (Hawkins 2013)."""
        wanted = arm().start + 0.1
        found = ArmInverseKinematics(arm()).solutions(arm().palm_pose(wanted), arm().start, 80)
        inside = {tuple(np.round(np.mod(q + np.pi, 2 * np.pi), 4)) for q in found}
        assert len(inside) == 8
        assert found[0] == pytest.approx(wanted, abs=REACHED)

    def test_a_pose_out_of_reach_has_none(self):
        far = before([3.0, 0.0, 0.0])
        assert ArmInverseKinematics(arm()).solutions(far, arm().start, 2) == []


class TestShapes:
    """Polyhedra that stand for round shapes contain them."""

    def test_round_shapes_lie_inside(self):
        rng = np.random.default_rng(1)
        directions = rng.normal(size=(500, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        ball = convex_part(sphere_points(0.3))
        assert (0.3 * directions @ ball.normals.T <= ball.offsets + 1e-12).all()
        angles = rng.uniform(0.0, 2.0 * np.pi, 500)
        rim = np.column_stack([0.3 * np.cos(angles), 0.3 * np.sin(angles),
                               rng.uniform(-0.5, 0.5, 500)])
        prism = convex_part(cylinder_points(0.3, 1.0))
        assert (rim @ prism.normals.T <= prism.offsets + 1e-12).all()
        assert prism.radius < 1.1 * np.hypot(0.3, 0.5)


def full_search(scene, q, T_base_link, T_base_object):
    """Return whether anything meets, by the exact distance of every pair of parts."""
    model, poses = scene.arm, scene.arm.poses(q)
    arm_parts = [part.with_transform(poses[f]) for part, f in zip(model.parts, model.part_frames)]
    hand = [part.with_transform(T) for part, T in zip(scene.hand_parts, T_base_link)]
    thing = scene.object_part.with_transform(T_base_object)
    pairs = [(arm_parts[i], arm_parts[j], 0.0) for i, j in combinations(range(len(arm_parts)), 2)
             if model.apart[i, j]]
    pairs += [(a, h, 0.0) for i, a in enumerate(arm_parts) for k, h in enumerate(hand)
              if not (k == 0 and model.part_names()[i] == 'wrist_3_link')]
    pairs += [(a, thing, scene.touch) for a in arm_parts]
    walls = scene.obstacles
    pairs += [(a, w, 0.0) for a, n in zip(arm_parts, model.part_names()) for w in walls
              if n != 'base_link']
    pairs += [(h, w, 0.0) for h, w in product(hand, walls)]
    pairs += [(thing, w, scene.touch) for w in walls]
    contacts = [(pair_contact(a, b), slack) for a, b, slack in pairs]
    return any(c.overlap and c.depth > slack for c, slack in contacts)


class TestCollision:
    """Triangles, planes and exact distances together say what exact distances alone say."""

    @pytest.mark.slow
    def test_the_cascade_agrees_with_a_full_search(self):
        hand, rng = load_default_hand(), np.random.default_rng(3)
        T_object = before([0.45, 0.1, 0.1])
        task = Task(obstacles=np.array([
            box([2.0, 2.0, 0.05], [0.0, 0.0, -0.2]), box([0.1, 0.5, 0.6], [0.25, 0.2, 0.1]),
            np.concatenate([[OBSTACLE_SPHERE, 0.1, 0.0, 0.0],
                            before([-0.1, -0.4, 0.3])[:3].ravel()])]))
        scene = make_scene(task, body(), hand, ArmTask(arm(), T_object))
        verdicts = []
        for _ in range(16):
            q = arm().start + rng.uniform(-2.0, 2.0, 6)
            fingers = rng.uniform(hand.joint_lower, hand.joint_upper)
            T_link = arm().palm_pose(q) @ forward_kinematics(hand, fingers[None])[0]
            found = scene.first_collision(q, T_link, T_object)
            verdicts.append(bool(found))
            assert bool(found) == full_search(scene, q, T_link, T_object), found
        assert 2 < sum(verdicts) < 14         # the question is neither always yes nor always no
        assert set(scene.decided) == {BY_TRIANGLE, BY_PLANE, BY_EXACT_DISTANCE}

    def test_who_meets_whom_is_said(self):
        hand = load_default_hand()
        scene = make_scene(Task(obstacles=box([0.3, 0.3, 0.3], [0.0, 0.0, 0.3])[None]), body(),
                           hand, ArmTask(arm(), before([0.0, 0.0, 0.0])))
        T_link = arm().palm_pose(arm().start) @ forward_kinematics(hand, hand.preshapes[0].open[
            None])[0]
        said = scene.first_collision(arm().start, T_link, before([5.0, 0.0, 0.0]))
        assert said.endswith('meets obstacle 1')


@lru_cache(maxsize=1)
def grasps():
    """Return three grasps from above, turned about the vertical."""
    return [made_up_grasp(rank) for rank in (1, 2, 3)]


def choose(task, centre=(0.5, 0.1, 0.0), count=1, **more):
    """Choose among the first grasps of an object before the arm."""
    return choose_by_arm(grasps()[:count], task, body(), load_default_hand(),
                         ArmTask(arm(), before(centre), **more))


@pytest.mark.slow
class TestChoice:
    """Which grasp is taken, and what is said of the others."""

    def test_the_shortest_way_is_first_and_its_postures_are_where_they_shall(self):
        choice = choose(Task(), count=3)
        lengths = [g.arm_motion.pregrasp_length for g in choice.grasps]
        assert lengths == sorted(lengths) and [g.rank for g in choice.grasps] == [1, 2, 3]
        assert choice.complete and not choice.left
        for grasp in choice.grasps:
            motion = grasp.arm_motion
            assert motion.length == pytest.approx(joint_distance(motion.joints))
            to_pregrasp = motion.joints[:motion.phases.count('start')]
            assert arm().palm_pose(to_pregrasp[-1]) == pytest.approx(
                before((0.5, 0.1, 0.0)) @ grasp.T_object_pregrasp, abs=10 * REACHED)
            assert motion.pregrasp_length == pytest.approx(joint_distance(to_pregrasp))
            assert motion.phases[0] == 'start' and motion.phases[-1] == 'lift'
            assert np.abs(np.diff(motion.joints, axis=0)).max() < 0.8
            last = max(i for i, phase in enumerate(motion.phases) if phase == 'approach')
            assert arm().palm_pose(motion.joints[last]) == pytest.approx(
                before((0.5, 0.1, 0.0)) @ grasp.T_object_palm, abs=10 * REACHED)

    @pytest.mark.nightly     # by day each alone, below
    def test_who_cannot_be_reached_is_a_failure_and_who_need_not_be_asked_is_left(self):
        far = replace(grasps()[0], T_object_palm=before([5.0, 0.0, 0.0]), hypothesis=99,
                      T_object_pregrasp=before([5.0, 0.0, 0.0]))

        def asked(wanted):
            choice = choose_by_arm([far, *grasps()[:2]], Task(), body(), load_default_hand(),
                                   ArmTask(arm(), before((0.5, 0.1, 0.0))), wanted=wanted)
            return len(choice.grasps), len(choice.failures), len(choice.left), choice.complete
        assert asked(1) == (1, 1, 1, True) and asked(0) == (2, 1, 0, True)

    def test_an_arm_out_of_time_says_so(self):
        calls = []
        choice = choose_by_arm(grasps(), Task(), body(), load_default_hand(),
                               ArmTask(arm(), before((0.5, 0.1, 0.0))),
                               lambda progress: calls.append(progress) or not progress.free)
        assert not choice.complete and choice.left
        assert len(choice.grasps) + len(choice.left) + len(choice.failures) == 3
        assert calls[-1].total == 3 and calls[-1].free == len(choice.grasps) == 1

    def test_a_criterion_of_no_such_name_is_refused(self):
        with pytest.raises(ArmError, match='must be one of pregrasp, whole, got .quickest'):
            choose(Task(), criterion='quickest')

    def test_a_displacement_is_carried_to_its_end_and_the_hand_drawn_back(self):
        T = transform(np.eye(3), np.array([0.0, 0.15, 0.05]))
        T_end = before((0.5, 0.1, 0.0)) @ T
        grasp, = choose(Task(displacement_object=T)).grasps
        ends = dict(zip(grasp.arm_motion.phases, grasp.arm_motion.joints))
        assert list(ends) == list(PHASES)
        for phase, wanted in (('lower', grasp.T_object_palm),
                              ('retreat', grasp.T_object_pregrasp)):
            assert arm().palm_pose(ends[phase]) == pytest.approx(T_end @ wanted,
                                                                 abs=10 * REACHED)

    @pytest.mark.nightly     # by day one that is a region to keep out of
    def test_a_lid_over_the_object_is_the_reason(self):
        lid = box([0.6, 0.6, 0.02], [0.0, 0.0, 0.3])
        choice = choose(Task(obstacles=lid[None]))
        (_, motion), = choice.failures
        assert choice.grasps == ()
        assert motion.failed_step >= 0 and 'obstacle 1' in motion.message

    def test_an_object_out_of_reach_is_the_reason(self):
        choice = choose(Task(), (2.0, 0.0, 0.0))
        (_, motion), = choice.failures
        assert not choice.grasps
        away = float(re.search(r': (.*) m from its first joint', motion.message)[1])
        assert 'does not reach' in motion.message and away == pytest.approx(2.0, abs=0.3)

    @pytest.mark.nightly     # by day a region to keep out of
    def test_a_post_under_the_object_may_be_touched_by_it(self):
        low = float(body().mesh.vertices[:, 2].min())
        post = box([0.02, 0.02, 0.02], [0.0, 0.0, low - 0.01])
        assert len(choose(Task(obstacles=post[None])).grasps) == 1

    def test_an_object_that_the_fingers_move_meets_what_is_in_its_way(self):
        """Down by 20 mm between the fingers: free, until a post stands 11 mm below it."""
        way = np.array([0.0, 0.0, -0.02])
        grasp = made_up_grasp(1)
        shares = np.linspace(0.0, 1.0, 6)
        moved = replace(grasp, reach=ManipulationResult(
            HAND_ONLY, 0.0, 0.0, np.tile(CLOSED, (len(shares), 1)),
            np.tile(grasp.T_object_palm, (len(shares), 1, 1)), shares, -1, ''))
        low = float(body().mesh.vertices[:, 2].min())
        post = box([0.02, 0.02, 0.02], [0.0, 0.0, low - 0.011 - 0.01])

        def motions(**task):
            task = Task(displacement_object=transform(np.eye(3), way), **task)
            return choose_by_arm([moved], task, body(), load_default_hand(),
                                 ArmTask(arm(), before((0.5, 0.1, 0.0))))
        free, = motions().grasps
        carried = [phase == 'carry' for phase in free.arm_motion.phases]
        assert sum(carried) == len(shares)
        assert np.ptp(free.arm_motion.joints[carried], axis=0).max() < REACHED
        (_, motion), = motions(obstacles=post[None]).failures
        assert motion.message == 'the object meets obstacle 1 (carry)'

    @pytest.mark.nightly
    def test_the_shortest_ways_are_those_of_a_full_search(self):
        """Every posture of two grasps is tried; fewer wanted are the first of them."""
        T, two = before((0.5, 0.1, 0.0)), grasps()[:2]
        planner = ArmPlanner(arm(), load_default_hand(), make_scene(
            Task(), body(), load_default_hand(), ArmTask(arm(), T)), T, arm().start, None)
        motions = {grasp.hypothesis: [
            motion for posture in planner.postures(grasp)
            if (motion := planner.motion(grasp, posture)).failed_step < 0] for grasp in two}
        for criterion in (TO_PREGRASP, WHOLE_WAY):
            best = {number: min(motion.way(criterion) for motion in found)
                    for number, found in motions.items()}
            expected = sorted(best, key=lambda number: (best[number], number))
            first, = choose_by_arm(two, Task(), body(), load_default_hand(),
                                   ArmTask(arm(), T, criterion=criterion), wanted=1).grasps
            assert first.hypothesis == expected[0]
            assert first.arm_motion.way(criterion) == pytest.approx(best[expected[0]])


@pytest.mark.slow
class TestKeepOut:
    """Keep-out regions bind the hand and the arm, not the object."""

    def order(self, tmp_path, region):
        pose = tmp_path / 'pose.yaml'
        pose.write_text(yaml.safe_dump({'position': [0.5, 0.1, 0.0],
                                        'orientation': [0, 0, 0, 1]}))
        return order_by_arm(made_up_answer(1), Task(keep_out=region[None]),
                            read_arm_task(FILE, pose))[0]

    def test_the_object_may_stand_in_one(self, tmp_path):
        low = float(body().mesh.vertices[:, 2].min())
        foot = box([0.02, 0.02, 0.02], [0.0, 0.0, low - 0.005])
        assert len(self.order(tmp_path, foot).grasps) == 1

    def test_hand_and_arm_may_not(self, tmp_path, capsys):
        lid = box([0.6, 0.6, 0.02], [0.0, 0.0, 0.3])
        assert not self.order(tmp_path, lid).grasps
        assert 'meets keep-out region 1' in capsys.readouterr().err


class TestFiles:
    """One clear line for each thing that can be wrong with an arm's file."""

    @pytest.mark.parametrize('change, said', [
        ({'joints': ['elbow']}, "joint 'elbow' is not in the URDF"),
        ({'base_link': 'floor'}, "base_link 'floor' is not a link"),
        ({'tip_link': 'finger'}, "tip_link 'finger' is not a link"),
        ({'start': [0.0] * 5}, r'must have shape \(6\), got'),
        ({'start': [0.0, 0.0, 9.0, 0.0, 0.0, 0.0]}, 'elbow_joint must lie in -3.142 to 3.142'),
        ({'tip_palm': [0, 0, 0]}, 'tip_palm must be'),
        ({'urdf': 'missing.urdf'}, 'cannot read'),
        ({'adjacent': [['base_link', 'moon']]}, 'adjacent needs pairs of links'),
        ({'lift': -1.0}, 'lift must be from 0 to 2 m'),
        ({'colour': 'blue'}, 'an arm needs the keys')])
    def test_what_is_wrong_is_said(self, tmp_path, change, said):
        values = {**yaml.safe_load(FILE.read_text()), **change}
        (tmp_path / 'ur5e.urdf').write_text((FILE.parent / 'ur5e.urdf').read_text())
        path = tmp_path / 'arm.yaml'
        path.write_text(yaml.safe_dump(values))
        with pytest.raises(ArmError, match=said):
            load_arm(path, Path)

    @pytest.mark.parametrize('tag, instead, said', [
        (r'<limit[^>]*/>', '', "joint '.*' of the arm is revolute and has no limits in the URDF"),
        (r'lower="[^"]*"', 'lower="9"', 'lower must be below upper, got 9 and')])
    def test_joints_without_limits_are_named(self, tmp_path, tag, instead, said):
        (tmp_path / 'ur5e.yaml').write_text(FILE.read_text())
        urdf = re.sub(tag, instead, (FILE.parent / 'ur5e.urdf').read_text())
        (tmp_path / 'ur5e.urdf').write_text(urdf)
        with pytest.raises(ArmError, match=said):
            load_arm(tmp_path / 'ur5e.yaml', Path)

    def test_points_of_links_move_with_their_frames(self):
        poses = arm().poses(arm().start)
        point = apply(poses[arm().tip], np.zeros((1, 3)))[0]
        assert point == pytest.approx(poses[arm().tip][:3, 3])


@pytest.mark.slow
class TestCommand:
    """``gripsim plan --arm`` and what it refuses."""

    def plan(self, tmp_path, capsys, position, *more):
        mesh, pose = tmp_path / 'ball.stl', tmp_path / 'pose.yaml'
        write_ball(mesh)
        pose.write_text(yaml.safe_dump({'position': position, 'orientation': [0, 0, 0, 1]}))
        code = main(['plan', str(mesh), '--hypotheses', '4', '--workers', '1', '--json',
                     '--elasticity', 'half_space', '--count', '2', '--arm', str(FILE),
                     '--object-pose', str(pose), *more])
        return code, json.loads(capsys.readouterr().out)

    def test_grasps_are_ordered_and_carry_the_way(self, tmp_path, capsys):
        code, told = self.plan(tmp_path, capsys, [0.45, 0.1, 0.3])
        lengths = [grasp['arm']['pregrasp_length'] for grasp in told['grasps']]
        assert code == 0 and lengths and lengths == sorted(lengths)
        assert told['statistics']['arm']['complete']
        assert told['grasps'][0]['arm']['joint_names'] == list(arm().joint_names)
        assert set(told['statistics']['arm']['pairs_settled']) <= {
            BY_TRIANGLE, BY_PLANE, BY_EXACT_DISTANCE}

    def test_out_of_reach_is_told_with_numbers(self, tmp_path, capsys):
        (tmp_path / 'pose.json').write_text('{"position": [4.0, 0.0, 0.0]}')
        write_ball(tmp_path / 'ball.stl')
        code = main(['plan', str(tmp_path / 'ball.stl'), '--arm', str(FILE), '--object-pose',
                     str(tmp_path / 'pose.json')])
        told = capsys.readouterr()
        assert code == 2 and told.out == ''
        assert re.fullmatch(r'gripsim: the object stands 3\.9\d m from the first joint of the '
                            r'arm, whose links and hand reach 1\.\d\d m at most\n', told.err)

    def test_one_without_the_other_is_bad_input(self, capsys):
        assert main(['plan', 'ball.stl', '--arm', str(FILE)]) == 2
        assert '--arm and --object-pose go together' in capsys.readouterr().err


def write_ball(path):
    """Write a ball of 35 mm radius as STL."""
    ball = shapes.sphere(0.035, 0.008)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(path)
