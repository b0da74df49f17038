"""Patches that answer an object that tilts: closed forms, and the law that defines them."""

from dataclasses import replace

from grasp_cases import make_patches, ORIGIN, seeds
from hypothesis import given, settings
from lattice_cases import ball_under_pad, flat_punch, hertz_force, one_patch, paraboloid
from lattice_cases import transformed
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.grasp_theory.contact_set import TorqueOptions
from gripsim_ros.core.mechanics.contact import bonded_layer
from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from gripsim_ros.core.mechanics.contact.patch_resultants import summarise_patches
from gripsim_ros.core.mechanics.contact.rocking_stiffness import (
    LANES, SINGULARITY_TOLERANCE, rigid_motion_fields, rocking_springs, tangent_basis)
from gripsim_ros.core.mechanics.stability.grasp_forces import (
    solve_minimal_forces)
from gripsim_ros.core.mechanics.stability.stability import (
    find_equilibrium, judge_stability, StabilityOptions)

MODULUS, POISSON = 1e5, 0.3
RADIUS, DEPTH = 8e-3, 1e-4
RUBBER = bonded_layer.fit_layer(2e6, 0.45, 3e-3)
#: The last cell of a punch holds its edge's singularity; the lever enters to the third power.
RTOL_PUNCH = 0.06
RTOL_HERTZ = 0.03
#: A chord of the contact against its arc, (a/R)^2.
RTOL_ARC = 0.03
RTOL_FINITE_DIFFERENCE = 0.01
RTOL_MARGIN = 0.01
RTOL_PROGRAMME = 1e-4
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-9, 1e-12
#: A plate of this thickness between a thumb and two fingers in one line.
THICKNESS, WIDTH = 4e-3, 0.03
LEVER, SHARE, FRICTION = 4e-3, 0.5, 0.5


def results_of(nodes, layers=None):
    """Return the results of a rigid indenter, or of a pad."""
    solution = solve_contact_forces(nodes, MODULUS, layers or {})
    return summarise_patches(nodes, solution, POISSON, layers or {})


def stiffness_of(results):
    """Return the stiffness (6, 6) against slides and turns at the centre of pressure."""
    rows = results.rocking[0]
    return rows.T @ (results.rocking_stiffness[0][:, None] * rows)


def in_line(forces=2.0, **values):
    """Return two fingers below a plate and a thumb above, all on the x axis."""
    points = np.array([[-WIDTH, 0.0, -THICKNESS / 2], [WIDTH, 0.0, -THICKNESS / 2],
                       [0.0, 0.0, THICKNESS / 2]])
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    patches = make_patches(points, normals, np.array([0.5, 0.5, 1.0]) * forces,
                           friction_radius=1e-3, **values)
    rows = np.zeros((3, 2, 6))
    rows[:, 0, 3], rows[:, 1, 4] = LEVER, LEVER
    return replace(patches, rocking=rows, rocking_stiffness=np.full((3, 2), 2e5))


def turning(moment):
    """Return one load that turns the plate about the line."""
    return np.array([[0.0, 0.0, 0.0, moment, 0.0, 0.0]])


@given(seeds)
@settings(max_examples=20)
def test_fields_are_the_motions_of_nodes_along_their_normals(seed):
    rng = np.random.default_rng(seed)
    points, normals, (centre, direction) = *rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3))
    direction /= np.linalg.norm(direction)
    tangents = tangent_basis(direction)
    frame = np.vstack([direction, tangents])
    assert_allclose(frame @ frame.T, np.eye(3), rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(np.linalg.det(frame), 1.0, rtol=RTOL_ROUNDOFF)
    motions = [np.broadcast_to(way, (5, 3)) for way in frame]
    motions += [np.cross(axis, points - centre) for axis in tangents]
    assert_allclose(rigid_motion_fields(points, normals, centre, direction, tangents),
                    np.einsum('fix,ix->if', np.array(motions), normals), rtol=0.0,
                    atol=ATOL_ROUNDOFF)


def random_springs(rng, nodes, aspect=1.0, share=1.0):
    """Return what springs come from; turns about the second axis have so small a part."""
    fields, solved = rng.normal(size=(nodes, 5)), rng.normal(size=(nodes + 6, LANES))
    fields[:, 4] *= aspect
    solved[:, 4] = solved[:, 3] + share * (solved[:, 4] - solved[:, 3])
    return fields, rng.uniform(0.5, 2.0, nodes), tangent_basis(np.array([0.6, 0.0, 0.8])), solved


@given(seeds)
@settings(max_examples=20)
def test_springs_bear_what_turning_and_sliding_meet_where_the_approach_is_free(seed):
    """Their lengths are principal, of unit size where turned by the levers' extent."""
    fields, areas, tangents, solved = random_springs(np.random.default_rng(seed), 4)
    gram = solved[:, :5].T @ solved[:, :5]
    free = gram[1:, 1:] - np.outer(gram[1:, 0], gram[0, 1:]) / gram[0, 0]
    turning, sliding = free[2:, 2:], free[2:, :2]
    moved = np.hstack([np.linalg.solve(turning, sliding @ tangents), tangents])
    square = 4.0 * np.einsum('i,ia,ib->ab', areas, fields[:, 3:], fields[:, 3:]) / areas.sum()
    rows, stiffness = rocking_springs(fields, areas, tangents, solved)
    for found, wanted in ((rows.T @ (stiffness[:, None] * rows), turning),
                          (rows.T @ rows, square)):
        wanted = moved.T @ wanted @ moved
        assert_allclose(found, wanted, rtol=0.0, atol=RTOL_ROUNDOFF * np.abs(wanted).max())


@pytest.mark.parametrize('unit', [1e-4, 1.0, 1e4])
@pytest.mark.parametrize('nodes, aspect, share, sprung', [
    (3, 1.0, 1.0, True), (2, 1.0, 1.0, False), (4, 30.0 * SINGULARITY_TOLERANCE, 1.0, True),
    (4, 0.03 * SINGULARITY_TOLERANCE, 1.0, False), (4, 1.0, 30.0 * np.sqrt(SINGULARITY_TOLERANCE),
                                                    True),
    (4, 1.0, 0.03 * np.sqrt(SINGULARITY_TOLERANCE), False)])
def test_springs_need_three_nodes_an_extent_and_a_stiffness_across_it(nodes, aspect, share,
                                                                      sprung, unit):
    for seed in range(3):
        fields, areas, tangents, solved = random_springs(
            np.random.default_rng(seed), nodes, aspect, share)
        fields[:, 3:], solved[:, 3:] = unit * fields[:, 3:], unit * solved[:, 3:]
        rows, stiffness = rocking_springs(fields, areas, tangents, solved)
        assert bool(rows.any()) == bool(stiffness.any()) == sprung


def test_a_flat_punch_rocks_as_johnson_has_it():
    # Moment 4/3 E* a^3 a radian; a disc's extent is its radius.
    results = results_of(flat_punch(5e-3, 1e-4, 900))
    turn = np.linalg.eigvalsh(stiffness_of(results)[3:, 3:])
    assert_allclose(turn[1:], 4.0 / 3.0 * MODULUS * 5e-3 ** 3, rtol=RTOL_PUNCH)
    assert_allclose(turn[0], 0.0, atol=1e-9 * turn[1])
    assert_allclose(np.linalg.norm(results.rocking[0, :, 3:], axis=1), 5e-3, rtol=RTOL_HERTZ)


def test_a_ball_rolls_as_hertz_has_it():
    # The contact moves by R times the angle, so the moment is N R times it.
    results = results_of(ball_under_pad(RADIUS, [0.2, -0.5, 1.0], DEPTH, np.inf, 300))
    turn = np.linalg.eigvalsh(stiffness_of(results)[3:, 3:])
    assert_allclose(turn[1:], hertz_force(MODULUS, RADIUS, DEPTH) * RADIUS, rtol=RTOL_HERTZ)


def test_turning_a_ball_about_its_own_middle_moves_no_pressure():
    results = results_of(ball_under_pad(RADIUS, [0.2, -0.5, 1.0], DEPTH, np.inf, 300))
    for turn in np.eye(3):
        motion = np.concatenate([np.cross(turn, results.points[0]), turn])
        lengths = results.rocking[0] @ motion
        assert_allclose(lengths, 0.0, atol=RTOL_ARC * np.linalg.norm(results.rocking[0, 0, 3:]))


@pytest.mark.parametrize('layers', [{}, {0: RUBBER}])
def test_the_stiffness_is_the_derivative_of_the_moment(layers):
    nodes = paraboloid(RADIUS, DEPTH, 250, (0.0, 0.0))
    results = results_of(nodes, layers)
    angle = 1e-3 * np.sqrt(DEPTH / RADIUS)
    moments = []
    for sign in (1.0, -1.0):
        tilted = replace(nodes, depths=nodes.depths - sign * angle * nodes.points[:, 1])
        solution = solve_contact_forces(tilted, MODULUS, layers)
        moments.append(float(solution.forces @ nodes.points[solution.rows, 1]))
    found = stiffness_of(results)[3, 3]
    assert_allclose(found, (moments[1] - moments[0]) / (2.0 * angle),
                    rtol=RTOL_FINITE_DIFFERENCE)


def test_springs_turn_with_the_frame():
    nodes = ball_under_pad(RADIUS, [0.2, -0.5, 1.0], DEPTH, 0.02, 120)
    rotation = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
    both = np.kron(np.eye(2), rotation)
    first = stiffness_of(results_of(nodes))
    second = stiffness_of(results_of(transformed(nodes, rotation, np.array([0.1, 0.0, -0.2]))))
    assert_allclose(second, both @ first @ both.T, rtol=0, atol=1e-7 * np.abs(first).max())


def test_nodes_in_a_line_and_single_nodes_have_no_springs():
    for count in (1, 2, 5):
        points = np.zeros((count, 3))
        points[:, 0] = 1e-3 * np.arange(count)
        nodes = one_patch(points, np.tile([0.0, 0, 1], (count, 1)), 1e-6, np.full(count, 1e-4))
        assert not results_of(nodes).rocking_stiffness.any()


def test_a_plate_tilts_by_moment_over_stiffness():
    patches = in_line()
    moment = 1e-3
    turn = find_equilibrium(patches, turning(moment)[0], ORIGIN, FRICTION).shift[3]
    # Two slides below and one above, about their own middle: 2/3 of a thickness squared.
    whole = 3.0 * 2e5 * LEVER ** 2 + 4000.0 * THICKNESS ** 2 * 2.0 / 3.0
    assert_allclose(turn, moment / whole, rtol=1e-6)


def test_a_plate_turns_out_where_pressures_have_moved_aside_and_friction_slips():
    patches, wrench = in_line(), turning(1e-2)
    most = patches.normal_forces.sum() * (SHARE * LEVER + FRICTION * THICKNESS / 2)
    found = judge_stability(patches, wrench, ORIGIN, FRICTION, StabilityOptions(max_rotation=0.2),
                            torques=TorqueOptions(tilting_share=SHARE))
    assert_allclose(found.margin, most / 1e-2, rtol=RTOL_MARGIN)


def test_without_a_share_tilting_meets_no_moment():
    patches, wrench = in_line(), turning(1e-2)
    bare = replace(patches, rocking=None, rocking_stiffness=None)
    none = judge_stability(patches, wrench, ORIGIN, FRICTION,
                           torques=TorqueOptions(tilting_share=0.0))
    assert none.margin == judge_stability(bare, wrench, ORIGIN, FRICTION).margin
    assert none.margin < 0.9 * judge_stability(patches, wrench, ORIGIN, FRICTION).margin


def test_equilibrium_forces_and_couples_balance_the_load():
    patches, wrench = in_line(), turning(6e-3)[0]
    found = find_equilibrium(patches, wrench, ORIGIN, FRICTION)
    moments = np.cross(patches.points, found.forces) + found.torques
    assert_allclose(found.forces.sum(axis=0), 0.0, atol=1e-7)
    assert_allclose(moments.sum(axis=0) + wrench[3:], 0.0, atol=1e-9)


def test_what_lies_on_one_flat_finger_is_not_held():
    patches = in_line().select([0])
    assert judge_stability(patches, turning(1e-4), ORIGIN, FRICTION).margin == 0.0


@pytest.mark.parametrize('share', [0.0, 0.5, 1.0])
def test_minimal_forces_on_a_plate_are_those_of_statics(share):
    # Thumb against both fingers: 2 t (share lever + mu thickness / 2) is the moment.
    moment = 0.02
    found = solve_minimal_forces(in_line(), turning(moment), ORIGIN, FRICTION, None, None,
                                 torques=TorqueOptions(tilting_share=share))
    arm = share * LEVER + FRICTION * THICKNESS / 2
    assert_allclose(found.largest_normal, moment / (2.0 * arm), rtol=RTOL_PROGRAMME)
    balance = (np.cross(in_line().points, found.forces) + found.torques).sum(axis=0)
    assert_allclose(balance, [-moment, 0.0, 0.0], atol=1e-9)


def test_joint_torques_count_the_moments_of_tilting():
    # A joint that bears the first patch's moment about the line, and nothing else.
    torque_map = np.zeros((1, 18))
    torque_map[0, 3] = 1.0
    free = solve_minimal_forces(in_line(), turning(0.02), ORIGIN, FRICTION, None, None)
    bound = solve_minimal_forces(in_line(), turning(0.02), ORIGIN, FRICTION, torque_map,
                                 np.zeros(1))
    assert bound.capable and abs(bound.torques[0, 0]) < 1e-9 < abs(free.torques[0, 0])
    assert bound.largest_normal > 1.01 * free.largest_normal


@pytest.mark.parametrize('name, value', [('rocking', np.zeros((2, 6))),
                                         ('rocking_stiffness', np.full((3, 2), -1.0))])
def test_springs_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ShapeError, match=f'patches.{name}'):
        replace(in_line(), **{name: value})


def test_shares_out_of_range_are_refused():
    with pytest.raises(TaskError, match='tilting_share must be at least 0 and at most 1'):
        TorqueOptions(tilting_share=1.5)
