"""The smallest forces: closed forms, an independent linear programme, and laws."""

from dataclasses import replace

from grasp_cases import all_directions, make_patches, move, ORIGIN, pinch, pull, RADIUS
from grasp_cases import random_patches, ring, rotations, seeds, translations, wrench_of
from hypothesis import assume, given, settings
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.optimize import linprog

from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.grasp_theory.grasp_map import contact_frames, grasp_map
from gripsim_ros.core.grasp_theory.grasp_force_socp import assemble_socp
from gripsim_ros.core.mechanics.stability.grasp_forces import (
    MinimalForceOptions, Shortfall, cone_violation, force_space, solve_in_space,
    solve_minimal_forces)

WEIGHT = 9.81
RTOL_BALANCE = 1e-6
RTOL_SOLVER = 1e-6
RTOL_FORCES = 1e-4
RTOL_PRINTED_6_DIGITS = 1e-6
ATOL_PRINTED_5_DIGITS = 1e-5
ATOL_ROUNDOFF = 1e-9


def solve(patches, wrenches, friction=0.5, centre=ORIGIN, joints=(None, None), explain=False,
          **options):
    """Return the minimal forces with options by keyword."""
    return solve_minimal_forces(patches, wrenches, centre, friction, *joints,
                                MinimalForceOptions(**options), explain=explain)


def polygon_bound(patches, wrench, friction, edge_count, inside, limit=np.inf):
    """Return the least largest normal of a linear programme with pyramids for cones."""
    count = len(patches.points)
    frames = contact_frames(patches.normals)
    matrix = grasp_map(patches.points, frames, ORIGIN, soft=False)
    angles = 2.0 * np.pi * np.arange(edge_count) / edge_count
    reach = friction * (np.cos(np.pi / edge_count) if inside else 1.0)
    faces = np.zeros((count * edge_count, 3 * count + 1))
    for i in range(count):
        rows = slice(i * edge_count, (i + 1) * edge_count)
        faces[rows, 3 * i] = -reach
        faces[rows, 3 * i + 1], faces[rows, 3 * i + 2] = np.cos(angles), np.sin(angles)
    below = np.zeros((count, 3 * count + 1))
    below[np.arange(count), 3 * np.arange(count)] = 1.0
    below[:, -1] = -1.0
    answer = linprog(np.eye(3 * count + 1)[-1], np.vstack([faces, below]),
                     np.zeros(len(faces) + count), np.hstack([matrix, np.zeros((6, 1))]),
                     -wrench, bounds=[*[(0, limit), (None, None), (None, None)] * count,
                                      (0, None)])
    return answer.fun if answer.status == 0 else np.inf


@pytest.mark.parametrize('friction', [0.2, 0.5, 1.0])
def test_a_pinch_holds_a_weight_with_half_of_it_over_friction(friction):
    found = solve(pinch(), pull([0, 0, -1], WEIGHT), friction)
    assert found.capable
    assert_allclose(found.largest_normal, WEIGHT / (2.0 * friction), rtol=RTOL_SOLVER, atol=0)
    assert_allclose(found.forces[:, 2], WEIGHT / 2.0, rtol=RTOL_SOLVER, atol=0)


@pytest.mark.parametrize('friction, force', [(0.3, 10.9), (0.5, 6.54), (0.8, 4.0875)])
def test_three_contacts_share_a_vertical_weight(friction, force):
    found = solve(ring(3), pull([0, 0, -1], WEIGHT), friction)
    assert_allclose(found.largest_normal, force, rtol=RTOL_PRINTED_6_DIGITS, atol=0)


@pytest.mark.parametrize('angle_deg, force', [(0, 9.81), (30, 8.69903), (60, 5.25716)])
def test_three_contacts_hold_a_load_in_their_plane(angle_deg, force):
    angle = np.deg2rad(angle_deg)
    found = solve(ring(3), pull([np.cos(angle), np.sin(angle), 0], WEIGHT))
    assert_allclose(found.largest_normal, force, rtol=0, atol=ATOL_PRINTED_5_DIGITS)


def test_a_soft_pinch_bears_the_moment_of_a_weight_off_its_axis():
    radius, arm = 3.534e-3, 0.01
    found = solve(pinch(friction_radius=radius), pull([0, 0, -1], WEIGHT),
                  centre=np.array([0.0, arm, 0.0]))
    expected = np.hypot(WEIGHT / 2.0, WEIGHT * arm / (2.0 * radius)) / 0.5
    assert_allclose(expected, 29.4414, rtol=0, atol=1e-4)
    assert_allclose(found.largest_normal, expected, rtol=RTOL_SOLVER, atol=0)
    assert_allclose(np.abs(found.torques[:, 0]), WEIGHT * arm / 2.0, rtol=RTOL_SOLVER, atol=0)


def test_a_hard_pinch_cannot_bear_that_moment():
    found = solve(pinch(), pull([0, 0, -1], WEIGHT), centre=np.array([0.0, 0.01, 0.0]))
    assert not found.capable and found.largest_normal == np.inf
    assert not found.forces.any() and found.worst_case == 0
    assert str(found.shortfall) == 'no force balances the load at this friction'


def test_two_contacts_at_a_right_angle_hold_nothing_up():
    points = RADIUS * np.array([[1.0, 0, 0], [0, 1.0, 0]])
    found = solve(make_patches(points, -points / RADIUS, 3.0, 2e-3), pull([0, 0, -1], WEIGHT))
    assert not found.capable


@settings(max_examples=30)
@given(seeds)
def test_the_force_lies_between_those_of_pyramids_inside_and_about_the_cones(seed):
    rng = np.random.default_rng(seed)
    patches = random_patches(rng, int(rng.integers(3, 6)), friction_radius=0.0)
    wrench = np.concatenate([rng.normal(size=3), 0.02 * rng.normal(size=3)])
    found = solve(patches, wrench[None], 0.6)
    lower = polygon_bound(patches, wrench, 0.6, 24, inside=False)
    upper = polygon_bound(patches, wrench, 0.6, 24, inside=True)
    if found.capable:
        assert lower * (1 - 1e-5) <= found.largest_normal <= upper * (1 + 1e-5)
    else:
        assert upper == np.inf


@settings(max_examples=30)
@given(seeds)
def test_the_forces_balance_the_worst_load_within_friction(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(2.0)
    found = solve(patches, wrenches, 0.6)
    assume(found.capable)
    total = wrench_of(patches.points, found.forces, found.torques, ORIGIN)
    assert_allclose(total + wrenches[found.worst_case], 0.0, rtol=0, atol=2.0 * RTOL_BALANCE)
    normal = np.einsum('ij,ij->i', found.forces, patches.normals)
    tangential = np.linalg.norm(found.forces - normal[:, None] * patches.normals, axis=1)
    torsion = np.linalg.norm(found.torques, axis=1) / patches.friction_radii
    size = np.hypot(tangential, torsion)
    assert (size <= 0.6 * normal + found.largest_normal * RTOL_BALANCE).all()
    assert found.violation <= found.largest_normal * RTOL_BALANCE
    assert_allclose(normal.max(), found.largest_normal, rtol=RTOL_BALANCE, atol=0)


@settings(max_examples=20)
@given(seeds)
def test_the_worst_load_is_that_of_the_largest_force_alone(seed):
    patches, wrenches = random_patches(np.random.default_rng(seed), 4), all_directions(2.0)
    found = solve(patches, wrenches, 0.8)
    assume(found.capable)
    alone = [solve(patches, wrenches[i:i + 1], 0.8) for i in range(0, 26)]
    largest = max(item.largest_normal for item in alone)
    assert_allclose(found.largest_normal, largest, rtol=RTOL_SOLVER, atol=0)
    assert_allclose(found.normal_envelope, np.max([item.normal_envelope for item in alone], 0),
                    rtol=RTOL_FORCES, atol=RTOL_FORCES * largest)


@settings(max_examples=20)
@given(seeds)
def test_more_friction_never_needs_more_force(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(2.0)[:5]
    low, high = sorted(rng.uniform(0.1, 1.2, 2))
    less, more = solve(patches, wrenches, high), solve(patches, wrenches, low)
    assert less.largest_normal <= more.largest_normal * (1.0 + RTOL_SOLVER)


@settings(max_examples=20)
@given(seeds)
def test_forces_scale_with_the_load(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(2.0)[3:5]
    factor = 10.0 ** rng.uniform(-3, 3)
    one, many = solve(patches, wrenches, 0.6), solve(patches, factor * wrenches, 0.6)
    assume(one.capable)
    assert one.worst_case == many.worst_case
    assert_allclose(many.forces, factor * one.forces, rtol=RTOL_SOLVER,
                    atol=RTOL_SOLVER * factor * one.largest_normal)


@settings(max_examples=20)
@given(seeds, rotations, translations)
def test_forces_turn_with_the_frame(seed, rotation, translation):
    patches, wrenches = random_patches(np.random.default_rng(seed), 4), all_directions(2.0)[:4]
    moved, turned, centre = move(patches, wrenches, ORIGIN, rotation, translation)
    here, there = solve(patches, wrenches, 0.6), solve(moved, turned, 0.6, centre)
    assert here.capable == there.capable
    assume(here.capable)
    assert_allclose(there.largest_normal, here.largest_normal, rtol=RTOL_SOLVER, atol=0)
    assert_allclose(there.forces, here.forces @ rotation.T, rtol=0,
                    atol=RTOL_FORCES * here.largest_normal)


@settings(max_examples=20)
@given(seeds)
def test_the_order_of_patches_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 5), all_directions(2.0)[:4]
    order = rng.permutation(5)
    one, other = solve(patches, wrenches, 0.6), solve(patches.select(order), wrenches, 0.6)
    assume(one.capable)
    assert_allclose(other.forces, one.forces[order], rtol=0,
                    atol=RTOL_FORCES * one.largest_normal)


def test_a_limit_of_normal_force_is_kept_or_the_grasp_is_not_capable():
    wrenches = pull([0, 0, -1], WEIGHT)
    assert solve(pinch(max_normal=9.82), wrenches).capable
    found = solve(pinch(max_normal=9.80), wrenches)
    assert not found.capable
    assert_allclose(found.shortfall.needed_force, 9.81, rtol=RTOL_SOLVER, atol=0)
    assert found.shortfall.allowed_force == 9.80
    assert str(found.shortfall) == 'needs 9.81 N at a patch; patches allow 9.8 N'


def test_the_friction_that_would_do_is_found_on_request():
    wrenches = pull([0, 0, -1], WEIGHT)
    found = solve(pinch(max_normal=6.0), wrenches, explain=True)
    assert_allclose(found.shortfall.needed_friction, WEIGHT / 12.0, rtol=2e-3, atol=0)
    assert np.isnan(solve(pinch(max_normal=6.0), wrenches).shortfall.needed_friction)
    assert 'a friction of' in str(found.shortfall)
    none = solve(pinch(), pull([0, 0, -1], WEIGHT), centre=np.array([0.0, 0.01, 0.0]),
                 explain=True)
    assert none.shortfall.needed_friction == np.inf
    assert 'nor would' in str(none.shortfall)


def test_joint_torques_are_kept_within_their_limits():
    wrenches = pull([0, 0, -1], WEIGHT)
    # Two joints that bear the normal force of one patch each on an arm of 0.1 m.
    torque_map = np.zeros((2, 12))
    torque_map[0, 0], torque_map[1, 6] = -0.1, 0.1
    for limit, capable in ((0.982, True), (0.980, False)):
        found = solve(pinch(), wrenches, joints=(torque_map, np.array([limit, np.inf])))
        assert found.capable == capable
    assert 'together do not allow' in str(replace(found.shortfall, allowed_force=np.inf))


def test_torsion_counts_in_the_joint_torques():
    patches = pinch(friction_radius=3.534e-3)
    torque_map = np.zeros((1, 12))
    torque_map[0, 3] = 1.0
    bearing = {'centre': np.array([0.0, 0.01, 0.0])}
    wrenches = pull([0, 0, -1], WEIGHT)
    free = solve(patches, wrenches, **bearing)
    assert_allclose(np.abs(torque_map @ np.hstack([free.forces, free.torques]).reshape(-1)),
                    WEIGHT * 0.005, rtol=RTOL_SOLVER, atol=0)
    held = solve(patches, wrenches, joints=(torque_map, np.array([0.02])), **bearing)
    assert held.largest_normal > free.largest_normal
    assert_allclose(abs(held.torques[0, 0]), 0.02, rtol=RTOL_BALANCE, atol=0)


def test_passive_patches_carry_nothing_unless_they_may():
    patches = replace(ring(3, forces=20.0), passive=np.array([True, False, False]))
    wrenches = pull([0, 0, -1], WEIGHT)
    assert not solve(patches, wrenches).capable
    found = solve(patches, wrenches, passive_share=1.0)
    assert found.capable
    assert found.forces[0] @ patches.normals[0] <= 20.0 + RTOL_BALANCE
    weak = replace(patches, forces=0.1 * patches.forces)
    assert not solve(weak, wrenches, passive_share=1.0).capable


def test_a_hand_with_passive_patches_alone_is_not_capable():
    patches = replace(ring(3), passive=np.ones(3, bool))
    found = solve(patches, pull([0, 0, -1], WEIGHT), passive_share=1.0)
    assert not found.capable and found.largest_normal == np.inf


def test_no_load_needs_no_force():
    for wrenches in (np.zeros((0, 6)), np.zeros((2, 6))):
        found = solve(ring(3), wrenches)
        assert found.capable and found.largest_normal == 0.0 and not found.forces.any()
    assert solve(ring(0), np.zeros((1, 6))).capable
    assert not solve(ring(0), pull([0, 0, 1], 1.0)).capable


def test_without_friction_normals_alone_must_balance():
    assert not solve(pinch(), pull([0, 0, -1], WEIGHT), 0.0).capable
    found = solve(pinch(), pull([1, 0, 0], WEIGHT), 0.0)
    assert_allclose(found.forces, [[-WEIGHT, 0, 0], [0, 0, 0]], rtol=0, atol=1e-5)


def test_the_violation_is_of_the_cone_or_of_a_pull():
    gamma = np.array([[1.0, 0.3, 0.4, 0.0], [-2.0, 0.0, 0.0, 0.0]])
    assert_allclose(cone_violation(gamma, 0.25), [0.25, 2.0], rtol=0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('joints, message', [
    ((np.zeros((2, 6)), np.ones(2)), r'torque_map must have shape \(2, 12\), got \(2, 6\)'),
    ((np.full((1, 12), np.nan), np.ones(1)), 'torque_map must be finite'),
    ((np.zeros((1, 12)), -np.ones(1)), r'torque_limits must not be negative, got \[-1.0\]')])
def test_joints_that_do_not_fit_are_refused(joints, message):
    with pytest.raises(ShapeError, match=message):
        solve(pinch(), pull([0, 0, -1], 1.0), joints=joints)


@pytest.mark.parametrize('values, message', [
    ({'mode': 'fast'}, "mode must be one of conic, seed, got 'fast'"),
    ({'sum_weight': 0.0}, 'sum_weight must be above 0 and at most 0.1, got 0.0'),
    ({'passive_share': -1.0}, 'passive_share must be at least 0 and below inf, got -1.0'),
    ({'speed': 1}, "unknown option 'speed'; known are mode")])
def test_options_out_of_range_are_refused(values, message):
    with pytest.raises(TaskError, match=message):
        MinimalForceOptions.from_mapping(values)


def test_wrenches_and_friction_out_of_range_are_refused():
    with pytest.raises(ShapeError, match=r'wrenches must have shape \(c, 6\), got \(6,\)'):
        solve(pinch(), np.zeros(6))
    with pytest.raises(TaskError, match='friction must be 0 or above and finite, got nan'):
        solve(pinch(), np.zeros((1, 6)), np.nan)


def test_a_shortfall_without_search_names_no_friction():
    assert 'friction of' not in str(Shortfall(2.0, 1.0))


@pytest.mark.parametrize('count, tilts, joints', [(3, False, 0), (2, True, 2), (4, True, 1)])
def test_a_programme_is_that_of_its_contacts_limits_and_joints(count, tilts, joints):
    rng = np.random.default_rng(count)
    size = 4 * count * (1 + tilts)
    columns, torques = rng.normal(size=(6, size)), rng.normal(size=(joints, size))
    most, strengths = rng.uniform(1.0, 2.0, count), rng.uniform(1.0, 2.0, joints)
    active = np.arange(count) > 0
    most[0] = np.inf
    factors, right, objective, balance, rows = assemble_socp(
        columns, count, 0.4, 1e-3, active, most, torques, strengths)
    heads, none = 4 * np.arange(count), np.zeros((joints, 1))
    assert_array_equal(factors, [1.0, 0.4, 0.4, 0.4] * count + [1.0] * (size - 4 * count))
    wanted = np.zeros(size + 1)
    wanted[heads], wanted[-1] = 1e-3, 1.0
    assert_array_equal(objective, wanted)
    assert_array_equal(balance[:6], np.hstack([columns * factors, np.zeros((6, 1))]))
    x = rng.normal(size=size + 1)
    assert_array_equal(balance[6:] @ x, x[4 * count + heads] - x[heads] if tilts else [])
    asked = np.hstack([torques * factors, none])
    assert_array_equal(rows[2 * (count - 1):], np.vstack([asked, -asked]))
    assert_array_equal(rows[:2 * (count - 1)] @ x,
                       np.concatenate([x[heads[1:]] - x[-1], x[heads[1:]]]))
    assert_array_equal(right, np.concatenate([np.zeros(count - 1), most[1:], strengths,
                                              strengths]))


@given(seeds)
@settings(max_examples=20)
def test_a_space_that_was_moved_is_one_made_there(seed):
    rng = np.random.default_rng(seed)
    patches, options = random_patches(rng, 4), MinimalForceOptions()
    torque_map = rng.normal(size=(2, 6 * patches.count))
    joints, wrenches = (torque_map, np.array([30.0, np.inf])), rng.normal(size=(3, 6))
    centre = 0.01 * rng.normal(size=3)
    space = force_space(patches, ORIGIN, *joints, options)
    space.place(centre)
    found = solve_in_space(space, wrenches, 0.6, options)
    wanted = solve_minimal_forces(patches, wrenches, centre, 0.6, *joints, options)
    assert (found.capable, found.worst_case) == (wanted.capable, wanted.worst_case)
    assert_array_equal(found.forces, wanted.forces)
    assert_array_equal(found.torques, wanted.torques)
    verdict = solve_in_space(space, wrenches, 0.6, options, forces=False)
    assert verdict.capable == wanted.capable
    assert verdict.worst_case == (-1 if wanted.capable else wanted.worst_case)
