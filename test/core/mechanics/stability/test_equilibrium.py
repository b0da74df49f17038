"""Kernels of a held object's equilibrium against springs, friction cones and statics."""

from itertools import product

from gripsim_ros.core.mechanics.stability import equilibrium
from gripsim_ros.core.mechanics.stability.contact_springs import (
    SLIDING, all_contact_forces, contact_rows, radial_return)
from gripsim_ros.core.mechanics.stability.equilibrium import (
    DAMPING_FACTOR, ESCAPE_RATIO, FIRST_DAMPING, MAX_DAMPING, MAX_STEP, MAX_TRIALS,
    MIN_STIFFNESS_RATIO, RELATIVE_PIVOT, SUFFICIENT_DECREASE, elastic_stiffness, excursion,
    is_restrained, line_search, next_damping, norm6, solve6, solve_equilibrium, solve_load_case,
    utilisation)
from gripsim_ros.core.mechanics.stability.margin import grow_load, has_reserve, judge_load_cases
from hypothesis import assume, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest

#: By day test_stability judges whole grasps by independent laws.
pytestmark = pytest.mark.nightly

RTOL_ROUNDOFF = 1e-10
#: Central differences of forces of about unit size.
STEP, ATOL_DIFFERENCE = 1e-5, 1e-7
FRICTION = 0.4
#: How often the last growth of a load is halved.
STEPS = 9
PRESSED, ALONG = [0, 4, 5], slice(1, SLIDING)

seeds = st.integers(0, 2 ** 32 - 1)


def widened(rows):
    """Return rows of six with the two zeros behind that kernels take."""
    return np.concatenate([rows, np.zeros((*rows.shape[:-1], 2))], axis=-1)


def found_below(margin):
    """Return the least that may be found for a margin: a growth by a quarter, or an eighth."""
    return margin - max(0.125, 0.25 * margin) / 2 ** STEPS - RTOL_ROUNDOFF


def judge_loads(wrenches, grip, start, cap, steps):
    """Return the verdict without a reserve of friction."""
    return judge_load_cases(wrenches, grip, start, cap, steps, 0.0)


def force_law(moved, start, stiffness, friction):
    """Return the forces (6,) of a contact at its displacements (6,): springs, cut along rays."""
    forces = -stiffness * moved
    forces[PRESSED] += start
    if forces[0] <= 0.0:
        return np.zeros(6)
    for part, share in ((ALONG, friction), (slice(SLIDING, 6), 1.0)):
        size, limit = np.linalg.norm(forces[part]), share * forces[0]
        if size > limit:
            forces[part] *= limit / size
    return forces


def unbalanced(x, load, grip):
    """Return the residual (6,) of a load at a twist."""
    motion, action, starts, stiffness = grip[0]
    return load + sum(
        action[i, :, :6].T @ force_law(motion[i, :, :6] @ x, starts[i], stiffness[i], grip[2])
        for i in range(len(starts)))


def derivative(function, x):
    """Return the derivative of a function of six numbers by central differences."""
    return np.stack([(function(x + way) - function(x - way)) / (2.0 * STEP)
                     for way in STEP * np.eye(6)], axis=1)


def balance(load, grip, state):
    """Fill residual and derivative at a twist; return the residual's size."""
    response = np.empty((6, 8))
    equilibrium.fill_derivative(grip, response, state)
    return equilibrium.fill_residual(load, grip, response, state)


def respond(x, motion, start, stiffness, friction):
    """Return the forces (6,) of one contact at a twist and their derivatives (6, 6) by it."""
    contacts = widened(motion[None]), widened(np.eye(6)[None]), start[None], stiffness[None]
    state = np.full((8, 8), 7.0)
    state[7, :6] = x
    balance(np.zeros(6), (contacts, np.full(1, np.inf), friction, np.ones(2), 1e-9), state)
    assert_allclose(all_contact_forces(x, contacts, friction), state[:1, :6], rtol=RTOL_ROUNDOFF)
    assert not state[:7, 6:].any()
    return state[0, :6], state[1:7, :6]


def contact_at(rng, x, lost, slides, tilts):
    """Return motion, start and stiffness of a contact that does so at a twist."""
    motion, stiffness, normal = rng.normal(size=(6, 6)), rng.uniform(0.5, 2.0, 6), 1.5
    drag = np.linalg.norm(stiffness[ALONG] * (motion[ALONG] @ x))
    motion[ALONG] *= FRICTION * normal * (1.5 if slides else 0.6) / drag
    turn = rng.normal(size=2)
    turn *= normal * (1.5 if tilts else 0.6) / np.linalg.norm(turn)
    start = np.array([-0.1 if lost else normal, *turn]) + (stiffness * (motion @ x))[PRESSED]
    return motion, start, stiffness


def grip_at(rng, x):
    """Return a grip whose contacts stick, slide, tilt and are lost at a twist."""
    cases = [(False, False, False), (False, True, False), (False, False, True),
             (False, True, True), (True, True, True)]
    motion, starts, stiffness = map(np.array, zip(*(contact_at(rng, x, *each) for each in cases)))
    action = motion.copy()
    action[:, 0] += 0.3 * rng.normal(size=(len(cases), 6))
    return ((widened(motion), widened(action), starts, stiffness), np.full(len(cases), np.inf),
            FRICTION, np.array([1.0, 2.0]), 1e-9)


@given(seeds)
@settings(max_examples=20)
def test_contacts_stick_slide_tilt_and_let_go_with_their_derivatives(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=6)
    for case in product((False, True), repeat=3):
        motion, start, stiffness = contact_at(rng, x, *case)
        forces, slopes = respond(x, motion, start, stiffness, FRICTION)
        assert_allclose(forces, force_law(motion @ x, start, stiffness, FRICTION), rtol=0.0,
                        atol=RTOL_ROUNDOFF)
        assert_allclose(slopes, derivative(
            lambda there: force_law(motion @ there, start, stiffness, FRICTION), x), rtol=0.0,
            atol=1e2 * ATOL_DIFFERENCE)


def test_rows_of_contacts_are_their_motions_and_wrenches():
    rng = np.random.default_rng(5)
    frames = np.linalg.qr(rng.normal(size=(3, 3, 3)))[0]
    arms, forces, torques = rng.normal(size=(3, 3, 3))
    rocking, radii, scale, reach = rng.normal(size=(3, 2, 6)), rng.uniform(size=3), 0.7, 0.5
    normals = np.array([2.0, 0.0, 3.0])
    motion, action = contact_rows(frames, arms, radii, rocking, normals, forces, torques, scale,
                                  reach)
    axes, springs = frames.transpose(0, 2, 1), reach * rocking
    turning = axes[:, 0] * radii[:, None] / scale
    for i in range(3):
        wanted = np.zeros((6, 6))
        wanted[:3] = np.hstack([axes[i], np.cross(arms[i], axes[i]) / scale])
        wanted[3, 3:] = turning[i]
        wanted[4:, 3:] = springs[i, :, 3:] / scale
        if normals[i] > 0.0:
            moment = np.cross(arms[i], forces[i]) + torques[i]
            wanted[0] = np.concatenate([forces[i], moment / scale]) / normals[i]
        assert_allclose(action[i], widened(wanted), rtol=0.0, atol=RTOL_ROUNDOFF)
        wanted[0] = np.concatenate([axes[i, 0], np.cross(arms[i], axes[i, 0]) / scale])
        wanted[4:, :3] = springs[i, :, :3]
        wanted[4:, 3:] += np.cross(arms[i], springs[i, :, :3]) / scale
        assert_allclose(motion[i], widened(wanted), rtol=0.0, atol=RTOL_ROUNDOFF)


def test_a_contact_at_its_very_limits_does_what_lies_within_them():
    """Not pressed at all; without friction, or just as much as it bears."""
    ones = np.ones(6)
    assert not np.any(respond(np.zeros(6), np.eye(6), np.zeros(3), ones, FRICTION)[0])
    assert not np.any(respond(np.zeros(6), np.eye(6), np.zeros(3), ones, FRICTION)[1])
    x = np.array([0.0, 0.0, 0.0, 0.0, -1.0, 0.0])
    forces, slopes = respond(x, np.eye(6), np.array([1.0, 0.0, 0.0]), ones, 0.0)
    assert_allclose(forces, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert_allclose(slopes, -np.eye(6))


@given(seeds)
@settings(max_examples=20)
def test_the_balance_is_that_of_all_contacts_with_its_derivative(seed):
    rng = np.random.default_rng(seed)
    x, load = rng.normal(size=(2, 6))
    grip, state = grip_at(rng, x), np.full((8, 8), np.nan)
    state[7] = widened(x)
    size = balance(load, grip, state)
    expected = unbalanced(x, load, grip)
    assert_allclose(state[0], widened(expected), rtol=0.0, atol=RTOL_ROUNDOFF)
    assert_allclose(size, np.linalg.norm(expected), rtol=RTOL_ROUNDOFF)
    assert_allclose(state[1:7, :6], derivative(lambda there: unbalanced(there, load, grip), x),
                    rtol=0.0, atol=1e2 * ATOL_DIFFERENCE)
    assert (state[7] == widened(x)).all()


@given(seeds, st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=30)
def test_six_equations_are_solved_whatever_their_order_and_unit(seed, unit):
    rng = np.random.default_rng(seed)
    matrix = unit * (rng.normal(size=(6, 6)) + 3.0 * np.eye(6))[rng.permutation(6)]
    matrix[rng.integers(6), 0] = 0.0
    assume(np.linalg.cond(matrix) < 1e2)
    matrix[rng.integers(6)] *= 1e-9  # as pivot of the others it would spoil them
    wanted, found = rng.normal(size=6), np.empty(6)
    right = matrix @ wanted
    assert solve6(widened(matrix), right.copy(), found, RELATIVE_PIVOT)
    assert_allclose(found, wanted, rtol=0.0, atol=1e-5)
    rows = np.abs(matrix).sum(axis=1) > 1e-6 * unit
    assert_allclose((matrix @ found - right)[rows], 0.0, atol=1e-8 * unit)
    singular = unit * rng.normal(size=(6, 5)) @ rng.normal(size=(5, 6))
    assert not solve6(widened(singular), right, found, RELATIVE_PIVOT)


@pytest.mark.parametrize('place', range(5))
def test_equations_in_another_order_have_the_same_solution(place):
    order = np.arange(6)
    order[[place, place + 1]] = place + 1, place
    found = np.empty(6)
    assert solve6(widened(np.eye(6)[order]), np.arange(6.0)[order], found, RELATIVE_PIVOT)
    assert_allclose(found, np.arange(6.0))


@pytest.mark.parametrize('unit', [1e-6, 1.0, 1e6])
@pytest.mark.parametrize('place', range(6))
def test_pivots_of_nothing_are_a_share_of_the_largest_entry(place, unit):
    for share, solved in ((0.0, False), (0.5, False), (2.0, True)):
        matrix = unit * np.eye(6)
        matrix[place, place] *= share * RELATIVE_PIVOT
        assert solve6(widened(matrix), np.ones(6), np.empty(6), RELATIVE_PIVOT) == solved


@given(seeds)
@settings(max_examples=20)
def test_lengths_and_stiffness_are_those_of_their_definitions(seed):
    rng = np.random.default_rng(seed)
    x, limits = rng.normal(size=6), rng.uniform(0.5, 2.0, 2)
    assert_allclose(norm6(x), np.linalg.norm(x), rtol=RTOL_ROUNDOFF)
    assert_allclose(excursion(x, limits), max(np.linalg.norm(x[:3]) / limits[0],
                                              np.linalg.norm(x[3:]) / limits[1]),
                    rtol=RTOL_ROUNDOFF)
    contacts = grip_at(rng, x)[0]
    motion, _, starts, stiffness = contacts
    loads = np.array([1.0, 0.0, 1e-9, 2.0, 0.0])
    for rows in (SLIDING, 6):
        expected = sum(motion[i, :rows, :6].T @ (stiffness[i, :rows, None] * motion[i, :rows])
                       for i in np.flatnonzero(loads))
        assert_allclose(elastic_stiffness(contacts, loads, rows), expected, rtol=0.0,
                        atol=RTOL_ROUNDOFF * np.abs(expected).max())
    assert_allclose(all_contact_forces(x, contacts, 1.0)[:, 0], np.maximum(
        starts[:, 0] - stiffness[:, 0] * (motion[:, 0, :6] @ x), 0.0), rtol=0.0,
        atol=RTOL_ROUNDOFF)


def rig(press=(10.0, 10.0), stiffness=1.0, friction=1e3, most=np.inf):
    """
    Return two contacts that press against each other along the first axis.

    Along it they are twice as stiff as along the others, each of which has one spring.
    Displacements up to 1 are held.
    """
    motion = np.zeros((2, 6, 8))
    motion[0, :4, :4] = np.eye(4)
    motion[1, 0, 0], motion[1, 1, 4], motion[1, 2, 5] = -1.0, 1.0, 1.0
    starts = np.zeros((2, 3))
    starts[:, 0] = press
    contacts = motion, motion.copy(), starts, np.full((2, 6), stiffness)
    return contacts, np.full(2, most), friction, np.ones(2), 1e-10


def along(axis, length):
    """Return a vector (6,) along an axis."""
    return length * np.eye(6)[axis]


@pytest.mark.parametrize('unit', [1e-6, 1.0, 1e6])
@pytest.mark.parametrize('contact, row', [(0, 1), (0, 3), (1, 1), (1, 2)])
def test_contacts_restrain_by_a_share_of_the_stiffest(contact, row, unit):
    loads = np.ones(2)
    for share, held in ((0.5, False), (2.0, True)):
        contacts = rig(stiffness=unit)[0]
        # The stiffest is the first axis, of two springs.
        contacts[3][contact, row] *= 2.0 * share * MIN_STIFFNESS_RATIO
        assert is_restrained(contacts, loads) == held


@given(seeds, st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=30)
def test_contacts_that_leave_one_twist_free_do_not_restrain(seed, unit):
    rng = np.random.default_rng(seed)
    motion = widened(rng.normal(size=(3, 6, 6)))
    contacts = motion, motion, np.zeros((3, 3)), unit * rng.uniform(0.5, 2.0, (3, 6))
    whole = np.concatenate(motion[:2, :SLIDING, :6])
    assume(np.linalg.cond(whole) < 30.0)
    assert is_restrained(contacts, np.array([1.0, 2.0, 0.0]))
    assert not is_restrained(contacts, np.array([0.0, 0.0, 1.0]))  # by four rows
    free = widened(rng.normal(size=6))
    free /= np.linalg.norm(free)
    motion[:2, :SLIDING] -= (motion[:2, :SLIDING] @ free)[:, :, None] * free
    assert not is_restrained(contacts, np.array([1.0, 2.0, 0.0]))


@given(seeds)
@settings(max_examples=20)
def test_the_utilisation_is_the_largest_share_of_a_limit(seed):
    rng = np.random.default_rng(seed)
    x = 0.5 * rng.normal(size=6)
    contacts, _, friction, limits, tolerance = rig((10.0, 8.0))
    normals = np.array([10.0 - x[0], 8.0 + x[0]])
    most = normals / rng.uniform(0.0, 2.0, 2)
    found = utilisation(x, (contacts, most, friction, limits, tolerance))
    assert_allclose(all_contact_forces(x, contacts, friction)[:, 0], normals, rtol=RTOL_ROUNDOFF)
    assert_allclose(found, max(excursion(x, limits), *(normals / most)), rtol=RTOL_ROUNDOFF)


def test_what_may_bear_nothing_bears_nothing_or_all_is_lost():
    contacts, _, *others = rig((10.0, 10.0))
    x = along(1, 0.5)
    with np.errstate(divide='raise'):  # as the compiled kernel would
        assert utilisation(x, (contacts, np.zeros(2), *others)) == np.inf
        assert utilisation(x, (contacts, np.array([np.inf, 0.0]), *others)) == np.inf
    assert utilisation(x, (contacts, np.array([0.5, 40.0]), *others)) == 20.0
    lost = rig((0.0, 10.0))[0]
    assert utilisation(x, (lost, np.full(2, np.inf), *others)) == np.inf
    # A third contact that touches and may bear nothing.
    three = tuple(np.concatenate([part, 0.0 * part[:1]]) for part in contacts)
    free = np.array([np.inf, np.inf, 0.0])
    assert utilisation(x, (three, free, *others)) == 0.5


@pytest.mark.parametrize('reach', [0.5, 2.0])
@pytest.mark.parametrize('length', [1.0, 1.9995, 3.0, 7.0, 15.0, 15.96, 31.0, -1.0])
def test_a_step_is_cut_to_the_limits_and_halved_until_the_residual_falls(length, reach):
    """The residual at parts f of so many Newton steps is ``|1 - f length|`` of the first."""
    rng = np.random.default_rng(7)
    load, x = 0.1 * rng.normal(size=(2, 6))
    contacts, most, friction, _, tolerance = rig()
    stiffness = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    newton = load / stiffness - x
    limits = np.full(2, abs(length) * excursion(newton, np.ones(2)) / (MAX_STEP * reach))
    grip = contacts, most, friction, limits, tolerance
    state, trial, response = *np.full((2, 8, 8), 1e3), np.empty((6, 8))
    state[7, :6] = x
    size = balance(load, grip, state)
    assert_allclose(size, np.linalg.norm(stiffness * newton), rtol=RTOL_ROUNDOFF)
    first = min(1.0, 1.0 / reach)
    parts = first * 0.5 ** np.arange(MAX_TRIALS)
    falls = np.abs(1.0 - parts * length) < 1.0 - SUFFICIENT_DECREASE * parts
    part = parts[falls.argmax()] if falls.any() else first
    found, lower = line_search(state, size, length * newton, (load, grip), response, trial)
    assert lower == falls.any()
    assert_allclose(trial[7, :6], x + part * length * newton, rtol=RTOL_ROUNDOFF)
    assert_allclose(found, abs(1.0 - part * length) * size, rtol=0.0, atol=RTOL_ROUNDOFF * size)
    assert_allclose(trial[0, :6], unbalanced(trial[7, :6], load, grip), rtol=0.0,
                    atol=RTOL_ROUNDOFF)


def test_damping_grows_after_steps_that_do_not_lower_and_falls_after_those_that_do():
    grown, factor = FIRST_DAMPING * DAMPING_FACTOR, DAMPING_FACTOR
    for damping, lower, wanted in (
            (0.0, False, FIRST_DAMPING), (0.01 * FIRST_DAMPING, False, FIRST_DAMPING),
            (FIRST_DAMPING, False, grown), (grown, False, factor * grown),
            (MAX_DAMPING / factor, False, MAX_DAMPING), (0.3 * MAX_DAMPING, False, 0.0),
            (MAX_DAMPING, False, 0.0), (0.0, True, 0.0), (MAX_DAMPING, True, 1.0),
            (grown, True, FIRST_DAMPING), (FIRST_DAMPING, True, FIRST_DAMPING / factor),
            (FIRST_DAMPING / factor, True, 0.0)):
        assert_allclose(next_damping(damping, lower), wanted, rtol=RTOL_ROUNDOFF)


def random_grip(rng, friction, press):
    """Return three contacts with springs along random twists, pressed so much."""
    motion, stiffness = rng.normal(size=(3, 6, 6)), rng.uniform(0.5, 2.0, (3, 6))
    action, starts = motion.copy(), rng.normal(size=(3, 3))
    action[:, 0] += 0.1 * rng.normal(size=(3, 6))
    starts[:, 0] = press * rng.uniform(1.0, 2.0, 3)
    return ((widened(motion), widened(action), starts, stiffness), np.full(3, np.inf), friction,
            np.array([30.0, 40.0]), 1e-9)


@given(seeds)
@settings(max_examples=20)
def test_where_nothing_slides_the_equilibrium_is_that_of_springs(seed):
    rng = np.random.default_rng(seed)
    grip, load = random_grip(rng, 1e3, 10.0), rng.normal(size=6)
    motion, action, starts, stiffness = grip[0]
    pull, springs = load.copy(), np.zeros((6, 6))
    for i in range(3):
        pull += (action[i][PRESSED].T @ starts[i])[:6]
        springs += (action[i].T @ (stiffness[i, :, None] * motion[i]))[:6, :6]
    assume(np.linalg.cond(springs) < 1e2)
    wanted = np.linalg.solve(springs, pull)
    free = [start[:1] - (k * (m[:, :6] @ wanted))[:1]
            for m, start, k in zip(motion, starts, stiffness)]
    assume(np.min(free) > 0.0 and np.linalg.norm(unbalanced(wanted, load, grip)) < 1e-9)
    x = 0.1 * rng.normal(size=6)
    assert solve_equilibrium(x, load, grip)
    assert_allclose(x, wanted, rtol=0.0, atol=1e-6)


@given(seeds, st.floats(0.0, 3.0))
@settings(max_examples=30)
def test_what_is_solved_is_in_balance_and_what_is_not_is_not(seed, pull):
    rng = np.random.default_rng(seed)
    grip, load = random_grip(rng, FRICTION, 3.0), pull * rng.normal(size=6)
    x = np.zeros(6)
    solved = solve_equilibrium(x, load, grip)
    clamped = np.abs(grip[0][2][:, 0]).sum() + np.linalg.norm(load)
    size = np.linalg.norm(unbalanced(x, load, grip))
    assert size <= 1.001 * grip[4] * clamped if solved else size >= 0.999 * grip[4] * clamped


def test_a_load_that_leads_far_outside_is_given_up_after_the_first_step_there():
    for size in (1.0, 1.45):
        x = np.zeros(6)
        assert solve_equilibrium(x, along(1, size), rig())
        assert_allclose(x, along(1, size), rtol=0.0, atol=RTOL_ROUNDOFF)
    x = np.zeros(6)
    assert not solve_equilibrium(x, along(1, 10.0), rig())
    assert_allclose(x, along(1, MAX_STEP * np.ceil(ESCAPE_RATIO / MAX_STEP)), rtol=RTOL_ROUNDOFF)
    x = np.zeros(6)
    assert not solve_equilibrium(x, along(1, 0.5), rig(friction=0.0))
    assert solve_load_case(np.zeros(6), along(1, 0.5), rig(friction=0.0)) == np.inf
    assert_allclose(solve_load_case(np.zeros(6), along(1, 0.5), rig()), 0.5)


@pytest.mark.parametrize('away, moves', [(0.99, False), (1.01, True)])
def test_a_share_of_pressing_and_load_may_be_left_out_of_balance(away, moves):
    contacts, most, friction, limits, _ = rig()
    share, load = 1e-2, along(1, 1.0)
    x = along(1, 1.0 - away * share * (10.0 + 10.0 + 1.0))
    start = x.copy()
    assert solve_equilibrium(x, load, (contacts, most, friction, limits, share))
    assert_allclose(x, load if moves else start, rtol=RTOL_ROUNDOFF)


def test_friction_that_falls_by_just_one_a_unit_counts_in_the_derivative():
    """Terms are left out where a slope is 0, and there alone."""
    x, grip = along(1, 6.0), rig(stiffness=2.0, friction=0.5)
    state = np.zeros((8, 8))
    state[7, :6] = x
    balance(np.zeros(6), grip, state)
    assert_allclose(state[2, :6], along(0, 1.0), atol=RTOL_ROUNDOFF)
    assert_allclose(state[1:7, :6],
                    derivative(lambda there: unbalanced(there, np.zeros(6), grip), x), rtol=0.0,
                    atol=ATOL_DIFFERENCE)


@pytest.mark.parametrize('axis', range(1, 6))
def test_a_search_that_starts_where_contacts_slide_finds_back(axis):
    """There the tangent is singular: only the damping of the springs leads anywhere."""
    x = along(axis, 1.3)
    assert solve_equilibrium(x, np.zeros(6), rig(friction=0.1))
    assert_allclose(x, 0.0, atol=1e-8)


@pytest.mark.parametrize('limit, interval, steps, wanted', [
    (0.05, (0.0, 5.0), 0, 0.0), (0.45, (0.0, 5.0), 0, 0.375), (0.7, (0.0, 5.0), 0, 0.625),
    (0.99, (0.0, 5.0), 0, 0.9765625), (1.1, (0.0, 5.0), 0, 1.0), (1.3, (0.0, 5.0), 0, 1.25),
    (1.9, (0.0, 5.0), 0, 1.5625), (2.0, (0.0, 1.4), 0, 1.4), (2.0, (0.5, 3.0), 0, 1.953125),
    (1.1, (1.0, 5.0), 0, 1.0), (1.1, (1.0, 5.0), 1, 1.0), (1.1, (1.0, 5.0), 2, 1.0625),
    (1.1, (1.0, 5.0), 3, 1.09375), (0.01, (0.0, 5.0), 3, 0.0), (0.02, (0.0, 5.0), 3, 0.015625),
    (2.0, (1.0, 1.0), 3, 1.0), (2.0, (0.0, 1.0), 3, 1.0)])
def test_a_load_grows_by_a_quarter_passes_one_and_is_bisected(limit, interval, steps, wanted):
    """It is held up to a multiple ``limit``; the twist grows with it."""
    load = along(1, 1.0 / limit)
    x = interval[0] * load
    found = grow_load(load, rig(), x, interval, steps)
    assert_allclose(found, wanted, rtol=RTOL_ROUNDOFF)
    assert_allclose(x, found * load, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize('limits, cap, worst', [
    ((3.0, 1.3), 5.0, 1), ((0.9, 3.0, 1.3), 5.0, 0), ((8.0, 7.0, 9.0), 5.0, 1), ((), 5.0, -1),
    ((3.0, 0.3, 0.7), 5.0, 1), ((3.0, 1.3), 2.0, 1), ((1.3,), 1.0, 0), ((2.0, 1.2, 1.7), 1.5, 1),
    ((3.0, 1.3), 0.0, 1), ((0.9, 3.0, 0.5, 0.7), 0.0, 2), ((), 0.0, -1)])
def test_the_margin_is_that_of_the_load_that_fails_first(limits, cap, worst):
    wrenches = np.array([along(1 + i, 1.0 / limit) for i, limit in enumerate(limits)])
    start = 0.05 * np.ones(6)
    shift, holds, margin, found = judge_loads(wrenches.reshape(-1, 6), rig(), start, cap, STEPS)
    least = min(limits, default=np.inf)
    assert_allclose(shift, 0.0, atol=1e-8)
    assert (holds, found) == (least >= 1.0, worst)
    if cap == 0.0:
        assert np.isnan(margin)
        return
    wanted = min(least, cap)
    assert found_below(wanted) <= margin <= wanted


def test_the_load_that_uses_most_at_once_need_not_be_the_first_to_fail():
    """One leads from a shift of 0.5 on, one back across: 0.95 and 0.9, but 1.11 and 1.07."""
    wrenches = np.array([along(0, -2.8), along(0, 0.9), along(1, 0.1)])
    shift, holds, margin, worst = judge_loads(wrenches, rig((11.0, 10.0)), np.zeros(6), 5.0,
                                              STEPS)
    assert_allclose(shift, along(0, 0.5), rtol=0.0, atol=1e-8)
    assert holds and worst == 0
    assert found_below(1.5 / 1.4) <= margin <= 1.5 / 1.4
    for cap in (0.0, 1.0):
        assert judge_loads(wrenches, rig((11.0, 10.0)), np.zeros(6), cap, STEPS)[1::2] == (
            True, 1)


@pytest.mark.parametrize('cap, worst, least', [(5.0, 1, 0.5 / 0.7), (0.0, 0, np.nan)])
def test_of_loads_that_fail_at_once_the_least_multiple_counts(cap, worst, least):
    """From a shift of 0.5 they use 1.25 and 1.2 at once, and fail at 0.86 and 0.71."""
    wrenches = np.array([along(0, -3.5), along(0, 1.4)])
    _, holds, margin, found = judge_loads(wrenches, rig((11.0, 10.0)), np.zeros(6), cap, STEPS)
    assert not holds and found == worst
    assert np.isnan(margin) if cap == 0.0 else found_below(least) <= margin <= least


def test_what_is_just_at_its_limit_is_held():
    contacts, _, *others = rig((12.0, 10.0))
    for most, held in ((11.0, True), (10.999, False)):
        grip = contacts, np.full(2, most), *others
        assert judge_loads(np.zeros((0, 6)), grip, along(0, 1.0), 5.0, STEPS)[1] == held
        loads = np.zeros((1, 6))
        assert judge_loads(loads, grip, along(0, 1.0), 5.0, STEPS)[1:] == (held, 5.0 * held, 0)


@pytest.mark.parametrize('reserve, kept', [(0.0, True), (0.4, True), (0.6, False), (1.0, False)])
def test_a_reserve_is_what_friction_may_lose_before_contacts_slip(reserve, kept):
    """The first contact presses aside with a 20th of its force; friction may be a tenth."""
    contacts, *others = rig(friction=0.1)
    contacts[1][0, 0, 1] = 0.05
    for x in (along(1, 0.5), along(1, 0.1)):
        assert has_reserve(x, (contacts, *others), reserve) == kept
        found = judge_load_cases(np.zeros((1, 6)), (contacts, *others), x, 5.0, STEPS, reserve)
        assert_allclose(found[0], along(1, 0.5), rtol=0.0, atol=1e-8)
        assert found[1:] == (kept, 5.0 * kept, 0)


def test_a_reserve_is_kept_by_what_is_just_at_its_limit():
    contacts, _, *others = rig()
    for most, kept in ((10.0, True), (9.999, False)):
        grip = contacts, np.full(2, most), *others
        assert has_reserve(np.zeros(6), grip, 0.5) == kept


@given(seeds)
@settings(max_examples=20)
def test_forces_up_to_a_limit_stay_as_they_are_and_others_come_to_it(seed):
    forces = np.random.default_rng(seed).normal(size=3)
    for trial in (forces, forces * [1.0, 1.0, 0.0]):
        size = np.sqrt(sum(trial[k] * trial[k] for k in range(3)))
        assert radial_return(*trial, size) == radial_return(*trial, 1.5 * size) == tuple(trial)
        assert_allclose(radial_return(*trial, 0.7 * size), 0.7 * trial, rtol=RTOL_ROUNDOFF)
        assert radial_return(*0.0 * trial, 0.0) == tuple(0.0 * trial)


@pytest.mark.parametrize('cap', [0.0, 5.0])
def test_a_grip_that_is_not_held_without_load_has_no_margin(cap):
    """It rests at 1.2; one load draws it to 0.6, and one aside to 1.3."""
    wrenches = np.array([along(0, -1.2), along(1, 0.5)])
    shift, holds, margin, worst = judge_loads(wrenches, rig((12.4, 10.0)), np.zeros(6), cap,
                                              STEPS)
    assert_allclose(shift, along(0, 1.2), rtol=0.0, atol=1e-8)
    assert not holds and worst == 1
    assert np.isnan(margin) if cap == 0.0 else margin == 0.0
    assert judge_loads(np.zeros((0, 6)), rig((12.4, 10.0)), np.zeros(6), cap, STEPS)[3] == -1
