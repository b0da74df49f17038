"""Does a position-held hand hold: closed forms, independent oracles, laws."""

from dataclasses import replace

from grasp_cases import all_directions, make_patches, move, ORIGIN, pinch, pull, RADIUS
from grasp_cases import random_patches, ring, rotations, seeds, tetrahedron, translations
from grasp_cases import wrench_of
from hypothesis import assume, example, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.optimize import least_squares

from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.grasp_theory.contact_set import ContactSet, TorqueOptions
from gripsim_ros.core.mechanics.stability.grasp_forces import solve_minimal_forces
from gripsim_ros.core.mechanics.stability.stability import (
    StabilityOptions, find_equilibrium, judge_stability)

#: 250 g.
WEIGHT = 0.25 * 9.81
CAP = 5.0
#: Share of random grasps whose margin is sharp to 1 %: 2 % slide along another way, see
#: docs/model/stability.md.
SEPARATED = 0.97
#: Largest bisection interval of the margin: a quarter of the cap, halved nine times.
ATOL_MARGIN = CAP / 4 / 2 ** 9
ATOL_ROUNDOFF = 1e-9
RTOL_BALANCE = 1e-6
#: Two solvers on the same equations, each stopped at its own tolerance.
ATOL_SOLVERS_TRANSLATION = 1e-8
RTOL_LAW = 1e-6
#: Slopes this near to the friction left, over friction, are not decided by round-off alone.
SLOPE_BAND = 1e-3
#: Path dependence of slip: the incremental law against the total one.
RTOL_PATH = 0.02


def judge(patches, wrenches, friction=0.5, centre=ORIGIN, torques=TorqueOptions(), **options):
    """Return the verdict with options by keyword, without a reserve of friction unless told."""
    return judge_stability(patches, wrenches, centre, friction,
                           StabilityOptions(**{'friction_reserve': 0.0, **options}),
                           torques=torques)


def contact_forces(patches, shift, friction, torsional_ratio=3.0):
    """
    Return forces and torques of the contacts at a twist, by vectors in space.

    Independent of the compiled law: no frames, no matrices, patch by patch.
    """
    forces, torques = [], []
    for point, normal, force, radius, stiff, shear in zip(
            patches.points, patches.normals, patches.forces, patches.friction_radii,
            patches.normal_stiffness, patches.tangential_stiffness):
        moved = shift[:3] + np.cross(shift[3:], point)
        size = max(0.0, force @ normal - stiff * moved @ normal)
        drag = -shear * (moved - (moved @ normal) * normal)
        twist = -shear * torsional_ratio * radius ** 2 * (shift[3:] @ normal)
        used = np.sqrt(drag @ drag + (twist / radius) ** 2)
        factor = min(1.0, friction * size / used) if used > 0.0 else 1.0
        forces.append(size * normal + factor * drag)
        torques.append(factor * twist * normal)
    return np.array(forces), np.array(torques)


def ramp_incrementally(patches, wrench, friction, steps=4000, torsional_ratio=3.0):
    """
    Return the largest multiple of a wrench borne when it grows in small steps.

    Incremental plasticity with an explicit tangent: each contact keeps its friction
    force, and slips when the step would lead beyond its limit.
    """
    scale = np.array([1.0, 1, 1, RADIUS, RADIUS, RADIUS])
    basis = [np.linalg.svd(n[None])[2][1:] for n in patches.normals]
    rows = []
    for point, normal, tangents, radius in zip(patches.points, patches.normals, basis,
                                               patches.friction_radii):
        motion = [np.concatenate([a, np.cross(point, a)]) for a in (normal, *tangents)]
        motion.append(np.concatenate([np.zeros(3), radius * normal]))
        rows.append(np.array(motion) / scale)
    stiffness = [np.array([k, t, t, torsional_ratio * t]) for k, t in zip(
        patches.normal_stiffness, patches.tangential_stiffness)]
    elastic = sum(m.T @ (k[:, None] * m) for m, k in zip(rows, stiffness))
    state = [np.array([f @ n, 0, 0, 0]) for f, n in zip(patches.forces, patches.normals)]
    x, load = np.zeros(6), wrench / scale
    for step in range(1, steps + 1):
        target = load * CAP * step / steps
        committed = [s.copy() for s in state]
        start = x.copy()
        for _ in range(400):
            total = target.copy()
            for i, (m, k) in enumerate(zip(rows, stiffness)):
                state[i] = committed[i] - k * (m @ (x - start))
                state[i][0] = max(state[i][0], 0.0)
                used = np.linalg.norm(state[i][1:])
                if used > friction * state[i][0]:
                    state[i][1:] *= friction * state[i][0] / used
                total += m.T @ state[i]
            if np.linalg.norm(total) < 1e-6 * np.linalg.norm(load):
                break
            x = x + np.linalg.solve(elastic, total)
        else:
            return CAP * (step - 1) / steps
        if np.linalg.norm(x[:3]) > 2e-3 or np.linalg.norm(x[3:]) > np.deg2rad(2) * RADIUS:
            return CAP * (step - 1) / steps
    return CAP


def test_weight_along_the_grip_axis_is_held_by_redistribution():
    assert judge(pinch(3.0, friction_radius=1.3e-3), pull([1, 0, 0], WEIGHT)).holds


def test_a_thumb_against_two_fingers_holds_weight_along_the_grip_axis():
    points = RADIUS * np.array([[-1.0, 0, 0], [1.0, 0, 0.3], [1.0, 0, -0.3]])
    normals = np.array([[1.0, 0, 0], [-1.0, 0, 0], [-1.0, 0, 0]])
    patches = make_patches(points, normals, [6.0, 3.0, 3.0], 1.5e-3)
    for direction in ([1, 0, 0], [-1, 0, 0]):
        assert judge(patches, pull(direction, WEIGHT)).holds


@pytest.mark.parametrize('force', [1.0, 2.0, 3.0, 6.0])
def test_a_pinch_loses_a_finger_when_weight_along_its_axis_is_twice_the_grip(force):
    found = judge(pinch(force, friction_radius=2e-3), pull([1, 0, 0], WEIGHT))
    assert_allclose(found.margin, 2.0 * force / WEIGHT, rtol=0, atol=ATOL_MARGIN)
    assert found.holds == (2.0 * force > WEIGHT)


@pytest.mark.parametrize('friction', [0.3, 0.5])
@pytest.mark.parametrize('force', [2.0, 3.0, 6.0])
def test_a_pinch_slips_below_half_the_weight_over_friction(force, friction):
    found = judge(pinch(force, friction_radius=2e-3), pull([0, 0, 1], WEIGHT), friction)
    expected = 2.0 * friction * force / WEIGHT
    assert_allclose(found.margin, min(expected, CAP), rtol=0, atol=ATOL_MARGIN)
    assert found.holds == (expected > 1.0)


def test_the_object_moves_by_load_over_stiffness():
    patches = pinch(3.0, friction_radius=2e-3)
    along = find_equilibrium(patches, pull([1, 0, 0], WEIGHT)[0], ORIGIN, 0.5)
    across = find_equilibrium(patches, pull([0, 1, 0], WEIGHT)[0], ORIGIN, 0.5)
    assert_allclose(along.shift, [WEIGHT / 1e4, 0, 0, 0, 0, 0], rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(across.shift, [0, WEIGHT / 8e3, 0, 0, 0, 0], rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(along.forces[:, 0], [-3.0 - WEIGHT / 2, 3.0 - WEIGHT / 2], rtol=0,
                    atol=1e-6)


def test_torsion_turns_the_object_by_moment_over_stiffness():
    radius, moment = 5e-3, 2e-3
    patches = pinch(3.0, friction_radius=radius)
    found = find_equilibrium(patches, [0, 0, 0, moment, 0, 0], ORIGIN, 0.5)
    assert_allclose(found.shift[3], moment / (2 * 3.0 * 4000.0 * radius ** 2), rtol=RTOL_LAW,
                    atol=0)
    assert_allclose(found.torques[:, 0], -moment / 2, rtol=RTOL_LAW, atol=0)


def test_a_hard_pinch_is_not_held_against_turning_about_its_axis():
    assert not judge(pinch(3.0), pull([0, 0, 1], 0.1), centre=np.array([0, 0.01, 0])).holds


def wedge(angle, force=3.0):
    """Return two fingers whose normal forces press a wedge out along z, by their sine each."""
    normals = np.array([[np.cos(angle), 0, np.sin(angle)], [-np.cos(angle), 0, np.sin(angle)]])
    return make_patches(RADIUS * np.array([[-1.0, 0, 0], [1.0, 0, 0]]), normals,
                        [force, force], 2e-3)


@settings(max_examples=60)
@example(friction=0.5, reserve=0.5, share=0.875, force=3.0)     # slides out within the limits
@example(friction=0.8, reserve=0.15, share=0.97, force=1.0)
@given(friction=st.floats(0.2, 0.8), reserve=st.floats(0.0, 0.5),
       share=st.floats(0.05, 1.3), force=st.floats(1.0, 20.0))
def test_a_wedge_is_held_without_load_where_the_friction_left_exceeds_its_slope(
        friction, reserve, share, force):
    assume(abs(share - 1.0) > SLOPE_BAND and abs(share - 1.0 + reserve) > SLOPE_BAND)
    patches = wedge(np.arctan(share * friction), force)
    found = judge(patches, np.zeros((0, 6)), friction, friction_reserve=reserve)
    assert found.holds == (share < 1.0 - reserve)
    assert found.margin == (CAP if found.holds else 0.0)


def test_a_friction_reserve_that_is_kept_changes_no_margin():
    patches, load = wedge(np.arctan(0.3)), pull([0, 1, 0], 0.5)
    kept, plain = judge(patches, load, friction_reserve=0.3), judge(patches, load)
    assert (kept.holds, kept.margin, kept.worst_case) == (True, plain.margin, plain.worst_case)
    assert_array_equal(kept.shift, plain.shift)
    assert judge(patches, load, friction_reserve=0.45).margin == 0.0


def test_a_limit_of_normal_force_bounds_the_margin():
    found = judge(pinch(3.0, friction_radius=2e-3, max_normal=4.0), pull([1, 0, 0], WEIGHT))
    assert_allclose(found.margin, 2.0 / WEIGHT, rtol=0, atol=ATOL_MARGIN)
    crushed = judge(pinch(3.0, friction_radius=2e-3, max_normal=2.0), pull([1, 0, 0], 0.1))
    assert not crushed.holds and crushed.margin == 0.0


def test_a_limit_of_motion_bounds_the_margin():
    found = judge(pinch(6.0, friction_radius=2e-3), pull([1, 0, 0], 1.0),
                  max_translation=2e-4)
    assert_allclose(found.margin, 2.0, rtol=0, atol=ATOL_MARGIN)


def test_one_contact_holds_nothing_though_forces_would_balance():
    patches = pinch(3.0, friction_radius=2e-3).select([0])
    found = judge(patches, pull([1, 0, 0], 3.0))
    assert not found.holds and found.margin == 0.0


def test_unequal_fingers_shift_the_object_to_balance():
    found = judge(pinch([4.0, 2.0], friction_radius=2e-3), pull([0, 0, 1], 1.0))
    assert_allclose(found.residual, 2.0 / 6.0, rtol=RTOL_LAW, atol=0)
    assert_allclose(found.shift, [-2.0 / 1e4, 0, 0, 0, 0, 0], rtol=0, atol=ATOL_ROUNDOFF)
    balanced = judge(pinch(3.0, friction_radius=2e-3), pull([0, 0, 1], 1.0))
    assert_allclose(found.margin, balanced.margin, rtol=0, atol=ATOL_MARGIN)


def test_a_moment_of_the_pressures_counts_in_the_balance():
    patches = replace(pinch(3.0, friction_radius=2e-3),
                      torques=np.array([[0, 0, 6e-3], [0, 0, 0.0]]))
    found = judge(patches, pull([0, 0, 1], 1.0))
    assert_allclose(found.residual, 6e-3 / RADIUS / 6.0, rtol=RTOL_LAW, atol=0)
    assert found.shift[5] > 0.0


def test_the_residual_scales_torques_by_the_length_given():
    patches = replace(pinch(3.0), torques=np.array([[0, 0, 6e-3], [0, 0, 0.0]]))
    found = judge(patches, np.zeros((0, 6)), torques=TorqueOptions(length_scale=0.1))
    assert_allclose(found.residual, 0.06 / 6.0, rtol=RTOL_LAW, atol=0)


def test_the_worst_case_is_the_load_that_fails_first():
    wrenches = np.vstack([pull([1, 0, 0], 1.0), pull([0, 0, 1], 1.6), pull([0, 1, 0], 1.5)])
    found = judge(pinch(3.0, friction_radius=2e-3), wrenches)
    assert found.worst_case == 1
    assert_allclose(found.margin, 3.0 / 1.6, rtol=0, atol=ATOL_MARGIN)


def test_a_margin_beyond_the_cap_is_the_cap():
    found = judge(pinch(3.0, friction_radius=2e-3), pull([0, 0, 1], 0.1))
    assert found.holds and found.margin == CAP


def test_without_a_margin_the_verdict_is_the_same():
    for force in (2.0, 3.0):
        patches, wrenches = pinch(force, friction_radius=2e-3), pull([0, 0, 1], WEIGHT)
        found = judge(patches, wrenches, margin_cap=0.0)
        assert found.holds == judge(patches, wrenches).holds
        assert np.isnan(found.margin) and found.worst_case == 0


def test_no_loads_and_no_patches_have_an_answer():
    found = judge(pinch(3.0, friction_radius=2e-3), np.zeros((0, 6)))
    assert found.holds and found.margin == CAP and found.worst_case == -1
    none = judge(ring(0), pull([0, 0, 1], 1.0))
    assert not none.holds and none.margin == 0.0 and none.worst_case == 0


def test_touching_patches_that_press_nothing_hold_nothing():
    found = judge(ring(3, forces=0.0, friction_radius=2e-3), pull([0, 0, 1], 1.0))
    assert not found.holds and found.residual == 0.0


@settings(max_examples=40)
@given(seeds)
def test_the_equilibrium_balances_the_load_by_an_independent_law(seed):
    rng = np.random.default_rng(seed)
    patches = random_patches(rng, int(rng.integers(2, 6)))
    wrench = np.concatenate([rng.normal(size=3), 0.02 * rng.normal(size=3)])
    found = find_equilibrium(patches, wrench, ORIGIN, 0.6)
    assume(found.utilisation < np.inf)
    forces, torques = contact_forces(patches, found.shift, 0.6)
    assert_allclose(found.forces, forces, rtol=0, atol=RTOL_BALANCE)
    assert_allclose(found.torques, torques, rtol=0, atol=RTOL_BALANCE * RADIUS)
    total = wrench_of(patches.points, forces, torques, ORIGIN) + wrench
    assert_allclose(total, 0.0, rtol=0, atol=1e-6)


@settings(max_examples=25)
@given(seeds)
def test_least_squares_on_an_independent_law_finds_the_same_equilibrium(seed):
    rng = np.random.default_rng(seed)
    patches = random_patches(rng, int(rng.integers(3, 6)))
    patches = replace(patches, forces=patches.normals * rng.uniform(3.0, 6.0, (1, 1)))
    wrench = np.concatenate([0.6 * rng.normal(size=3), 0.01 * rng.normal(size=3)])
    verdict = judge(patches, wrench[None], 0.8)
    assume(verdict.margin > 1.05)
    unit = np.array([1.0, 1, 1, RADIUS, RADIUS, RADIUS])

    def residual(x):
        forces, torques = contact_forces(patches, x / unit / 1e3, 0.8)
        return (wrench_of(patches.points, forces, torques, ORIGIN) + wrench) / unit

    start = find_equilibrium(patches, np.zeros(6), ORIGIN, 0.8).shift * unit * 1e3
    answer = least_squares(residual, start, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assume(np.linalg.norm(answer.fun) < 1e-8)
    found = find_equilibrium(patches, wrench, ORIGIN, 0.8)
    assert found.utilisation <= 1.0
    assert_allclose(found.shift * unit, answer.x / 1e3, rtol=0, atol=ATOL_SOLVERS_TRANSLATION)


@pytest.mark.parametrize('patches, direction', [
    (pinch(3.0, friction_radius=2e-3), [1, 2, 0]), (ring(3, friction_radius=2e-3), [0, 0, 1]),
    (ring(3, friction_radius=2e-3), [1, 0, 2]), (tetrahedron(friction_radius=2e-3), [1, 2, 3])])
def test_a_load_grown_in_small_steps_fails_at_the_same_multiple(patches, direction):
    wrench = pull(direction, 2.0 * WEIGHT)
    found = judge(patches, wrench)
    expected = ramp_incrementally(patches, wrench[0], 0.5, steps=400)
    assert 0.1 < expected < CAP
    assert_allclose(found.margin, expected, rtol=RTOL_PATH, atol=CAP / 400)


@settings(max_examples=25)
@given(seeds)
def test_what_is_held_could_be_held_by_forces_at_the_same_normals(seed):
    """Limit analysis is an upper bound: cones and balance, normals as in equilibrium."""
    rng = np.random.default_rng(seed)
    patches = random_patches(rng, 4)
    wrenches = all_directions(1.0)[rng.integers(0, 26, 1)]
    verdict = judge(patches, wrenches, 0.8)
    assume(0.1 < verdict.margin < CAP)
    at_limit = 0.999 * verdict.margin * wrenches
    state = find_equilibrium(patches, at_limit[0], ORIGIN, 0.8)
    assume(state.utilisation < np.inf)
    normals = np.einsum('ij,ij->i', state.forces, patches.normals)
    bounded = replace(patches, max_normal_forces=normals * (1.0 + 1e-5) + 1e-6)
    assert solve_minimal_forces(bounded, at_limit, ORIGIN, 0.8, None, None).capable


def test_margins_separate_what_holds_from_what_does_not():
    """A load found by growing it and one set at once slide along other ways now and then."""
    separated = []
    for seed in range(200):
        patches, wrenches = random_patches(np.random.default_rng(seed), 4), all_directions(1.0)
        found = judge(patches, wrenches, 0.8)
        assert found.holds == (found.margin >= 1.0)
        if 0.1 < found.margin < CAP:
            separated.append(
                judge(patches, 0.99 * found.margin * wrenches, 0.8).holds
                and not judge(patches, (1.01 * found.margin + ATOL_MARGIN) * wrenches, 0.8).holds)
    assert len(separated) > 100 and np.mean(separated) >= SEPARATED


@settings(max_examples=60)
@given(seeds)
def test_margins_of_uneven_rings_are_confirmed_by_their_verdicts(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = ring(int(rng.integers(2, 5)), friction_radius=3e-3), all_directions(1.0)
    normals = patches.normals + rng.normal(scale=0.1, size=patches.normals.shape)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    sizes = rng.uniform(1.0, 6.0) * rng.uniform(0.8, 1.2, (len(normals), 1))
    patches = replace(patches, normals=normals, forces=sizes * normals)
    margin = judge(patches, wrenches).margin
    assume(0.1 < margin < CAP)
    for factor, holds in ((0.99, True), (1.01, False)):
        again = factor * margin * wrenches
        assert judge(patches, again).holds == holds
        assert judge(patches, again, margin_cap=0.0).holds == holds


@settings(max_examples=25)
@given(seeds, rotations, translations)
def test_the_verdict_does_not_depend_on_the_frame(seed, rotation, translation):
    patches, wrenches = random_patches(np.random.default_rng(seed), 4), all_directions(1.0)
    moved, turned, centre = move(patches, wrenches, ORIGIN, rotation, translation)
    here, there = judge(patches, wrenches), judge(moved, turned, centre=centre)
    assert_allclose(there.margin, here.margin, rtol=0, atol=2 * ATOL_MARGIN)
    assert_allclose(there.residual, here.residual, rtol=RTOL_LAW, atol=0)
    assume(find_equilibrium(patches, np.zeros(6), ORIGIN, 0.5).utilisation < np.inf)
    assert_allclose(there.shift[:3], rotation @ here.shift[:3], rtol=0, atol=1e-7)
    assert_allclose(there.shift[3:], rotation @ here.shift[3:], rtol=0, atol=1e-5)


@settings(max_examples=25)
@given(seeds)
def test_the_order_of_patches_and_loads_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(1.0)
    order, shuffled = rng.permutation(4), rng.permutation(26)
    one, other = judge(patches, wrenches), judge(patches.select(order), wrenches[shuffled])
    assert_allclose(other.margin, one.margin, rtol=0, atol=2 * ATOL_MARGIN)
    assert one.holds == other.holds


@settings(max_examples=25)
@given(seeds)
def test_forces_loads_and_stiffness_scale_together(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(1.0)
    factor = 10.0 ** rng.uniform(-2, 2)
    scaled = replace(patches, forces=factor * patches.forces,
                     normal_stiffness=factor * patches.normal_stiffness,
                     tangential_stiffness=factor * patches.tangential_stiffness)
    assert_allclose(judge(scaled, factor * wrenches).margin, judge(patches, wrenches).margin,
                    rtol=0, atol=2 * ATOL_MARGIN)


@settings(max_examples=15)
@given(seeds)
def test_a_firmer_ring_holds_more(seed):
    rng = np.random.default_rng(seed)
    count, wrenches = int(rng.integers(2, 5)), all_directions(WEIGHT)
    low, high = sorted(rng.uniform(1.0, 8.0, 2))
    found = [judge(ring(count, forces=force, friction_radius=2e-3), wrenches).margin
             for force in (low, high)]
    assert found[0] <= found[1] + 2 * ATOL_MARGIN


def test_the_margin_follows_the_grip_without_jumps():
    wrenches = all_directions(WEIGHT)
    grips = np.linspace(2.0, 8.0, 121)
    margins = np.array([judge(ring(3, forces=force, friction_radius=2e-3), wrenches).margin
                        for force in grips])
    slope = np.diff(margins) / np.diff(grips)
    assert (slope >= -ATOL_MARGIN / 0.05).all()
    assert slope.max() <= 2.0 * margins[-1] / grips[-1]


@pytest.mark.parametrize('name, value, message', [
    ('points', np.zeros((3, 3)), r'patches.points must be \(2, 3\), got \(3, 3\)'),
    ('forces', np.full((2, 3), np.nan), 'patches.forces must be finite'),
    ('passive', np.zeros(3, bool), r'patches.passive must be \(2,\), got \(3,\)'),
    ('normal_stiffness', np.zeros(2), 'patches.normal_stiffness must be above 0'),
    ('max_normal_forces', -np.ones(2), 'patches.max_normal_forces must not be negative'),
    ('friction_radii', -np.ones(2), 'patches.friction_radii must not be negative')])
def test_patches_that_make_no_sense_are_refused(name, value, message):
    with pytest.raises(ShapeError, match=message):
        replace(pinch(), **{name: value})


@pytest.mark.parametrize('values, message', [
    ({'max_translation': 0.0}, 'stability.max_translation must be above 0 and below inf, got 0.0'),
    ({'margin_cap': 0.5}, 'stability.margin_cap must be 0.0 or at least 1 and below inf, got 0.5'),
    ({'friction_reserve': 1.0}, 'stability.friction_reserve must be at least 0 and below 1'),
    ({'friction_reserve': -0.1}, 'stability.friction_reserve must be at least 0 and below 1'),
    ({'margin_steps': 0}, 'stability.margin_steps must be at least 1 and at most 50, got 0'),
    ({'speed': 1}, "stability: unknown option 'speed'; known are max_translation")])
def test_options_out_of_range_are_refused(values, message):
    with pytest.raises(TaskError, match=message):
        StabilityOptions.from_mapping(values)


def test_wrenches_may_lie_in_memory_in_any_order():
    patches, loads = pinch(3.0, friction_radius=2e-3), np.vstack([pull(d, 1.0) for d in np.eye(3)])
    for other in (np.asfortranarray(loads), np.ascontiguousarray(loads.T).T):
        assert judge(patches, other).margin == judge(patches, loads).margin


def test_wrenches_and_friction_out_of_range_are_refused():
    with pytest.raises(ShapeError, match=r'wrenches must have shape \(c, 6\), got \(6,\)'):
        judge(pinch(), np.zeros(6))
    with pytest.raises(TaskError, match='friction must be 0 or above and finite, got -0.5'):
        judge(pinch(), np.zeros((1, 6)), -0.5)


def test_a_patch_set_without_rows_is_one_of_no_patches():
    assert isinstance(ring(0), ContactSet) and ring(0).count == 0


@pytest.mark.parametrize('between', [-1500.0, 0.0, 2000.0, 3500.0])
def test_a_pinch_comes_to_rest_as_contacts_that_feel_each_other_let_it(between):
    """One of two opposite fingers presses more: N1 - (k - c) s = N2 + (k - c) s."""
    forces, own = np.array([3.0, 2.6]), 5000.0
    patches = replace(      # the diagonal does not count
        pinch(forces, friction_radius=0.004, normal_stiffness=own),
        cross_stiffness=np.array([[77.0, between], [between, -77.0]]))
    shift = (forces[0] - forces[1]) / (2.0 * (own - between))
    verdict = judge_stability(patches, pull([0.0, 0.0, 1.0], 0.1), ORIGIN, 0.5)
    assert verdict.holds
    assert_allclose(verdict.shift, [-shift, 0, 0, 0, 0, 0], rtol=0.02, atol=1e-9)
    at_rest = find_equilibrium(patches, np.zeros(6), ORIGIN, 0.5)
    assert_allclose(at_rest.forces @ [1.0, 0.0, 0.0], 2.8 * np.array([-1.0, 1.0]), rtol=0.01)


@pytest.mark.parametrize('between', [-1e5, -6e3])
def test_contacts_whose_effect_on_each_other_has_no_rest_are_as_if_alone(between):
    patches = pinch(np.array([3.0, 2.6]), friction_radius=0.004)
    alone, coupled = (judge_stability(one, pull([0.0, 0.0, 1.0], 0.1), ORIGIN, 0.5) for one in (
        patches, replace(patches, cross_stiffness=between * (1.0 - np.eye(2)))))
    assert_array_equal(coupled.shift, alone.shift)
