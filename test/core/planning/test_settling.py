"""The object settles between the fingers: laws of the residual, of the asking, of the ranking."""

from collections import deque
from dataclasses import replace

from fake_stages import SphereWorld
from grasp_cases import ORIGIN, RADIUS, make_patches, random_patches, seeds, wrench_of
from hypothesis import assume, given, settings
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import DETAIL_FORCES, DETAIL_SURFACE, ConfigurationBatch
from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, shapes
from gripsim_ros.core.grasp_theory.grasp_map import load_wrenches, turned_loads
from gripsim_ros.core.grasp_theory.contact_set import TorqueOptions
from gripsim_ros.core.mechanics.stability.stability import (
    StabilityOptions, judge_stability, motion_at)
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task, rejections
from gripsim_ros.core.planning.closing.question import Question, settled_question
from gripsim_ros.core.planning.closing.knowledge import HeldGrasp
from gripsim_ros.core.planning.closing.grasp_state import extract_state, in_found_frame
from gripsim_ros.core.planning.moving_object.closing_motion import DOES_NOT_BEAR
from gripsim_ros.core.planning.settling import Settling
from gripsim_ros.core.transforms import apply, from_rotation_vector, inverse
from gripsim_ros.library.in_process import find_material, mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

FRICTION = 0.5
ATOL_ROUNDOFF = 1e-9
#: Solutions of two equilibria, each to its own tolerance: translation [m], rotation [rad].
ATOL_SHIFT = 1e-8
ATOL_MARGIN = 2e-3
#: What the planner lets pass as balanced.
BALANCED = 0.02
#: Forces of a contact told in another frame: nodes of its lattice lie elsewhere.
RTOL_FRAME = 0.01
APPLE = Material(youngs_modulus=1.0e6, poisson_ratio=0.4, density=700.0, friction=0.6)
PLANNED, WANTED = 6, 4


def twist_of(rng, size=1e-4):
    """Return a small motion: translation [m], rotation vector [rad]."""
    return np.concatenate([rng.normal(size=3), rng.normal(size=3) / RADIUS]) * size


def moved_along(patches, shift):
    """Return the same springs after the object moved; forces change with the motion."""
    motions = shift[:3] + np.cross(shift[3:], patches.points)
    changes = patches.normal_stiffness * np.einsum('ij,ij->i', motions, patches.normals)
    sizes = patches.normal_forces - changes
    return replace(patches, forces=sizes[:, None] * patches.normals), sizes


def friction_of(patches, shift):
    """Return friction (k, 3) and torsion (k, 3) against a motion, by vectors in space."""
    forces, torques = [], []
    for i in range(patches.count):
        normal, radius = patches.normals[i], patches.friction_radii[i]
        motion = shift[:3] + np.cross(shift[3:], patches.points[i])
        drag = -patches.tangential_stiffness[i] * (motion - (motion @ normal) * normal)
        twist = -3.0 * patches.tangential_stiffness[i] * radius ** 2 * (shift[3:] @ normal)
        used = np.sqrt(drag @ drag + (twist / radius) ** 2)
        factor = min(1.0, FRICTION * patches.normal_forces[i] / used)
        forces.append(factor * drag)
        torques.append(factor * twist * normal)
    return np.array(forces), np.array(torques)


# -- the residual counts the springs of friction ---------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_the_residual_is_that_of_pressures_and_friction_together(seed):
    rng = np.random.default_rng(seed)
    patches, settled = random_patches(rng, 4), twist_of(rng, 3e-4)
    verdict = judge_stability(patches, np.zeros((0, 6)), ORIGIN, FRICTION,
                              settled=settled, torques=TorqueOptions(length_scale=RADIUS))
    forces, torques = friction_of(patches, settled)
    wrench = wrench_of(patches.points, patches.forces + forces, patches.torques + torques, ORIGIN)
    wrench[3:] /= RADIUS
    total = np.linalg.norm(patches.forces, axis=1).sum()
    assert_allclose(verdict.residual, np.linalg.norm(wrench) / total, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_springs_looked_at_farther_along_their_way_come_to_rest_at_the_same_place(seed):
    rng = np.random.default_rng(seed)
    patches, settled = random_patches(rng, 4), twist_of(rng, 2e-5)
    later, sizes = moved_along(patches, settled)
    loads = np.concatenate([rng.normal(size=(5, 3)), 0.02 * rng.normal(size=(5, 3))], axis=1)
    options = StabilityOptions(friction_reserve=0.0)
    first = judge_stability(patches, loads, ORIGIN, FRICTION, options)
    second = judge_stability(later, loads, ORIGIN, FRICTION, options, settled)
    assume((sizes > 0.1).all() and first.margin > 0.0)
    assert_allclose(second.shift + settled, first.shift, rtol=1e-5, atol=ATOL_SHIFT / RADIUS)
    assert_allclose(second.margin, first.margin, atol=ATOL_MARGIN)
    assert second.holds == first.holds


def test_an_uneven_grip_is_balanced_where_it_settles_though_its_pressures_are_not():
    points = np.array([[-RADIUS, 0.0, 0.0], [RADIUS, 0.004, 0.0], [0.0, -RADIUS, 0.003]])
    normals = np.array([[1.0, 0.0, 0.1], [-1.0, 0.1, 0.0], [0.1, 1.0, 0.0]])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    patches = make_patches(points, normals, [3.0, 2.6, 0.8], 3e-3)
    first = judge_stability(patches, np.zeros((0, 6)), ORIGIN, 0.8)
    settled, _ = moved_along(patches, first.shift)
    without = judge_stability(settled, np.zeros((0, 6)), ORIGIN, 0.8)
    counted = judge_stability(settled, np.zeros((0, 6)), ORIGIN, 0.8, settled=first.shift)
    assert first.residual > 0.1 and without.residual > 0.05
    assert counted.residual < 1e-7 and np.abs(counted.shift).max() < ATOL_SHIFT


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_a_motion_is_the_same_told_at_any_point(seed):
    rng = np.random.default_rng(seed)
    T = from_rotation_vector(np.concatenate([0.01 * rng.normal(size=3), rng.normal(size=3)]))
    rotation, point = T[:3, :3], rng.normal(size=3)
    settled = np.concatenate([rotation.T @ T[:3, 3], Rotation.from_matrix(rotation).as_rotvec()])
    moved = rotation.T @ (apply(T, point[None])[0] - point)
    assert_allclose(motion_at(point, settled)[:3], moved, atol=ATOL_ROUNDOFF)
    assert_array_equal(motion_at(point, settled)[3:], settled[3:])


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_loads_keep_their_directions_while_the_object_turns(seed):
    rng = np.random.default_rng(seed)
    cases, centre = rng.normal(size=(4, 9)), rng.normal(size=3)
    settled = np.concatenate([0.01 * rng.normal(size=3), rng.normal(size=3)])
    rotation = from_rotation_vector(settled)[:3, :3]
    told = load_wrenches(turned_loads(cases, settled), 0.3, centre).reshape(-1, 3) @ rotation.T
    expected = load_wrenches(cases, 0.3, rotation @ centre)
    assert_allclose(told.reshape(-1, 6), expected, atol=ATOL_ROUNDOFF)
    assert turned_loads(cases, np.zeros(6)) is cases


# -- asking again ------------------------------------------------------------------------


def row(world, **changes):
    """Return a state of a ball between fingers that is out of balance as said."""
    hand = world._hand
    batch = ConfigurationBatch(np.eye(4)[None], hand.preshapes[0].open[None],
                               np.zeros((1, 7)), np.zeros((1, 3)))
    return replace(extract_state(world.evaluate(batch), 0), **{
        'capable': True, 'holds': True, 'residual': 0.5, 'shift': np.full(6, 1e-4), **changes})


@pytest.fixture(scope='module')
def ball():
    return GraspObject(shapes.sphere(0.04), find_material('foam'))


@pytest.fixture()
def world(ball):
    return SphereWorld(load_default_hand(), 0.04, 9.81 * ball.mass_properties.mass,
                       ball.material.friction)


def asked(hand):
    T = from_rotation_vector(np.array([0.01, 0.02, -0.2, 0.3, -0.1, 0.2]))
    return Question(DETAIL_FORCES, T, hand.preshapes[0].closed, np.zeros(7), np.zeros(3))


def test_the_palm_stays_while_the_object_moves(world):
    settling = Settling(asked(world._hand), row(world), planner_options())
    before, question = asked(world._hand), settling.question()
    T_object_settled = before.T_object_palm @ inverse(question.T_object_palm)
    again = settled_question(before, T_object_settled)
    assert_allclose(again.T_object_palm, question.T_object_palm, atol=ATOL_ROUNDOFF)
    assert_allclose(again.settled_object, question.settled_object, atol=ATOL_ROUNDOFF)
    assert_allclose(question.settled_object, np.full(6, 1e-4), atol=1e-7)
    assert_array_equal(question.joint_positions, before.joint_positions)


def test_balanced_grasps_are_not_asked_about_and_stay_as_they_are(world):
    settling = Settling(asked(world._hand), row(world, residual=0.01), planner_options())
    held = HeldGrasp(np.zeros(7), np.zeros((2, 7)), row(world, residual=0.01))
    assert settling.done and settling.balanced
    settled = settling.settled(held)
    assert_array_equal(settled.T_object_settled, np.eye(4))
    assert_array_equal(settled.state.points, held.state.points)
    assert settled.balanced


def test_a_step_that_worsens_the_balance_is_taken_back_and_halved(world):
    settling = Settling(asked(world._hand), row(world), planner_options())
    settling.answer(row(world, residual=0.7))
    assert_allclose(settling.question().settled_object, np.full(6, 0.5e-4), atol=1e-7)
    settling.answer(row(world, residual=0.2, shift=np.zeros(6)))
    assert_allclose(settling.question().settled_object, np.full(6, 0.5e-4), atol=1e-7)
    settling.answer(row(world, capable=False))
    settling.answer(row(world, residual=0.3))
    assert settling.done and not settling.balanced
    assert settling.settled(HeldGrasp(np.zeros(7), np.zeros((2, 7)), None)).state.residual == 0.2


def test_an_answer_that_fails_ends_the_asking(world):
    settling = Settling(asked(world._hand), row(world), planner_options())
    settling.fail('no answer')
    assert settling.done and not settling.balanced


def test_a_settled_state_is_told_where_the_palm_is(world):
    T = from_rotation_vector(np.array([1e-3, 0, 2e-3, 0.02, 0.01, -0.03]))
    state = replace(row(world), points=np.ones((2, 3)), normals=np.eye(3)[:2],
                    forces=np.eye(3)[:2], minimal_forces=np.eye(3)[1:],
                    minimal_torques=np.eye(3)[1:])
    told = in_found_frame(state, T)
    assert_allclose(told.points, apply(T, state.points))
    assert_allclose(told.normals, state.normals @ T[:3, :3].T)
    assert_allclose(told.centre_of_mass, T[:3, 3])


class LooseWorld(SphereWorld):
    """A ball whose forces balance once it has moved by a way that depends on the palm."""

    def evaluate(self, batch):
        """Return states whose residual falls with the motion; some lose their hold."""
        states = super().evaluate(batch)
        palms = [apply(T, np.zeros((1, 3)))[0] for T in batch.T_object_palm]
        wanted = [1e-4 * (1.0 + np.abs(np.sin(1e3 * p.sum()))) for p in palms]
        done = batch.settled_object[:, 2]
        missing = np.array([w - d if d == 0.0 else 0.0 for w, d in zip(wanted, done)])
        shift = np.zeros((batch.count, 6))
        shift[:, 2] = missing
        lost = (done > 1.7e-4) & (batch.detail == DETAIL_FORCES)
        return replace(states, residual=2e3 * missing, shift_object=shift,
                       holds=states.holds & ~lost)


def settle_all(ball, hand, world, order='first', **changes):
    planner = GraspPlanner(ball, hand, Task(), replace(planner_options(), **changes),
                           max_hypotheses=24, max_grasps=WANTED)
    late = deque()
    while not planner.finished:
        ask = planner.ask()
        if ask is not None:
            late.append((ask.batch_id, world.evaluate(ask.configurations)))
        if ask is None or len(late) > (0 if order == 'first' else 3):
            planner.tell(*(late.popleft() if order == 'first' else late.pop()))
    return planner


def test_grasps_settle_before_they_are_ranked_whatever_the_order_of_answers(ball, world):
    hand = load_default_hand()
    loose = LooseWorld(hand, 0.04, world._load, world._friction)
    planner = settle_all(ball, hand, loose)
    late = settle_all(ball, hand, loose, 'last', batch_size=1)
    kept = [(g.hypothesis, g.score, g.T_object_settled.tobytes()) for g in planner.ranked()]
    assert kept and kept == [(g.hypothesis, g.score, g.T_object_settled.tobytes())
                             for g in late.ranked()]
    assert planner.rejections == late.rejections and planner.rejections[rejections.LET_GO] > 0
    for grasp in planner.ranked():
        # The world's forces are invented: a free object need not be borne by them.
        assert grasp.residual <= BALANCED and set(grasp.warnings) <= {DOES_NOT_BEAR}
        assert 1e-4 <= grasp.T_object_settled[2, 3] < 1.7e-4 + ATOL_ROUNDOFF
    progress = planner.progress
    assert progress.stable + sum(planner.rejections.values()) == 24


def test_without_steps_nothing_settles(ball, world):
    hand = load_default_hand()
    loose = LooseWorld(hand, 0.04, world._load, world._friction)
    planner = settle_all(ball, hand, loose, settling_steps=0)
    assert not planner.rejections.get(rejections.LET_GO)
    assert all((g.T_object_settled == np.eye(4)).all() for g in planner.ranked())


# -- through all stages --------------------------------------------------------------------


@pytest.fixture(scope='module')
def planned():
    """Return an apple, a hand, and grasps of it that have settled."""
    hand, apple = load_default_hand(), GraspObject(shapes.apple(), APPLE)
    planner = GraspPlanner(apple, hand, Task(), planner_options(), max_hypotheses=PLANNED,
                           max_grasps=WANTED)
    run(planner, Pipeline(hand, apple, mechanics_options()))
    return apple, hand, planner.ranked()


def question_of(grasp, T_new_old=None):
    """Return a settled grasp as a question, the object and hand moved together."""
    T_new_old = np.eye(4) if T_new_old is None else T_new_old
    way = grasp.trajectory[-1] - grasp.trajectory[0]
    question = settled_question(
        Question(DETAIL_SURFACE, T_new_old @ grasp.T_object_palm, grasp.trajectory[-1],
                 0.01 * way / np.abs(way).max(), np.zeros(3)),
        T_new_old @ grasp.T_object_settled @ inverse(T_new_old))
    return ConfigurationBatch(
        question.T_object_palm[None], question.joint_positions[None],
        question.joint_displacements[None], np.zeros((1, 3)), np.zeros((0, 9)),
        detail=DETAIL_SURFACE, settled_object=question.settled_object[None])


@pytest.mark.slow
def test_planned_grasps_are_balanced_and_moved_by_little(planned):
    _, _, grasps = planned
    assert grasps
    for grasp in grasps:
        assert grasp.residual < BALANCED or not grasp.quantitative
        assert np.linalg.norm(grasp.T_object_settled[:3, 3]) < 2e-3
    assert any((grasp.T_object_settled != np.eye(4)).any() for grasp in grasps)


@pytest.mark.slow
def test_planned_grasps_tell_their_deformation(planned):
    _, _, grasps = planned
    for grasp in grasps:
        energies = [contact.strain_energy for contact in grasp.contacts]
        assert_allclose(sum(energies), grasp.strain_energy, rtol=1e-6)
        assert 0.0 < grasp.mean_deformation < grasp.max_deformation
        assert grasp.peak_von_mises == max(c.peak_von_mises for c in grasp.contacts)
        assert 0.0 < grasp.peak_von_mises < max(c.peak_pressure for c in grasp.contacts)


@pytest.mark.slow
def test_moving_object_and_hand_together_changes_nothing(planned):
    apple, hand, grasps = planned
    grasp = next(g for g in grasps if (g.T_object_settled != np.eye(4)).any())
    T = from_rotation_vector(np.array([0.05, -0.1, 0.03, 0.4, -0.7, 0.2]))
    there = GraspObject(TriangleMesh(apply(T, apple.mesh.vertices), apple.mesh.faces), APPLE)
    options = mechanics_options()
    here_state = Pipeline(hand, apple, options).evaluate(question_of(grasp))
    there_state = Pipeline(hand, there, options).evaluate(question_of(grasp, T))
    sizes = [np.linalg.norm(s.patch_forces_object, axis=1) for s in (here_state, there_state)]
    assert_allclose(sizes[1], sizes[0], rtol=RTOL_FRAME)
    assert_allclose(there_state.residual, here_state.residual, atol=0.01)
    assert_allclose(there_state.mean_deformation, here_state.mean_deformation, rtol=RTOL_FRAME)
