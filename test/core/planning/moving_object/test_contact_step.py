"""One implicit step of bodies that touch: the least of a convex energy, and Coulomb's law."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp

from gripsim_ros.core.planning.moving_object.contact_step import (
    contact_slope, CREEP, fill_derivatives, share_of_way, solve_step)

GRAVITY = 9.81
#: Of an energy's gradient over the momentum: Newton's method ends by the energy.
RTOL_NEWTON = 1e-4


def energy(u, mass, momentum, contacts, rub, step, forces):
    """Return the energy of the docstring, in numpy."""
    rows, gaps, stiffness = contacts
    overlap = np.minimum(0.0, gaps + step * rows[:, 0] @ u)
    slides = rows[:, 1:] @ u
    return (0.5 * u @ mass @ u - momentum @ u + 0.5 * stiffness @ overlap ** 2
            + rub * step * forces @ np.sqrt((slides ** 2).sum(axis=1) + CREEP ** 2))


@pytest.mark.nightly     # by day test_closing_motion moves bodies by them
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10 ** 6), st.integers(1, 5))
def test_velocities_are_those_of_least_energy(seed, count):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(5, 5))
    mass = root @ root.T + np.eye(5)
    contacts = (generator.normal(size=(count, 4, 5)), generator.uniform(-0.01, 0.001, count),
                generator.uniform(1e2, 1e4, count))
    momentum, forces, u = generator.normal(size=5), generator.uniform(0, 3, count), np.zeros(5)
    for _ in range(20):     # until friction's limit has settled
        solve_step(mass, momentum, contacts, 0.5, 0.01, forces, u)
    least = energy(u, mass, momentum, contacts, 0.5, 0.01, forces)
    for _ in range(20):
        beside = u + 1e-3 * generator.normal(size=5)
        rise = energy(beside, mass, momentum, contacts, 0.5, 0.01, forces) - least
        assert rise > -RTOL_NEWTON * np.linalg.norm(momentum) * 1e-3


def sliding_contacts(seed, count):
    """Return a mass, contacts that overlap and slide, forces, velocities and a way from there."""
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(5, 5))
    contacts = (generator.normal(size=(count, 4, 5)), generator.uniform(-0.02, 0.01, count),
                generator.uniform(1e2, 1e4, count))
    return (root @ root.T + np.eye(5), generator.normal(size=5), contacts,
            generator.uniform(0.1, 3, count), generator.normal(size=5), generator.normal(size=5))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10 ** 6), st.integers(1, 5))
def test_derivatives_are_those_of_the_energy(seed, count):
    mass, momentum, contacts, forces, u, _ = sliding_contacts(seed, count)
    rows, step, rub = contacts[0], 0.01, 0.5
    motions, gradient, hessian = rows @ u, np.empty(5), np.empty((5, 5))
    fill_derivatives(mass, momentum, contacts, rub * step, step, forces, u, motions, gradient,
                     hessian)

    def found(place):
        return energy(place, mass, momentum, contacts, rub, step, forces)

    small = 1e-5 * np.eye(5)
    slopes = [(found(u + way) - found(u - way)) / 2e-5 for way in small]
    assert_allclose(gradient, slopes, atol=1e-5 * np.abs(slopes).max())
    for a in range(5):
        for b in range(a, 5):
            bent = (found(u + 10 * (small[a] + small[b])) - found(u + 10 * (small[a] - small[b]))
                    - found(u - 10 * (small[a] - small[b]))
                    + found(u - 10 * (small[a] + small[b]))) / 4e-8
            assert hessian[a, b] == pytest.approx(bent, abs=1e-3 * np.abs(np.diag(hessian)).max())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10 ** 6), st.integers(1, 5), st.sampled_from([1.0, 1e-3]))
def test_a_way_is_cut_where_the_energy_is_about_least_along_it(seed, count, size):
    mass, momentum, contacts, forces, u, way = sliding_contacts(seed, count)
    way *= size
    step, rub, rows = 0.01, 0.5, contacts[0]

    def found(share):
        return energy(u + share * way, mass, momentum, contacts, rub, step, forces)

    def slope(share):
        return (found(share + 1e-6) - found(share - 1e-6)) / 2e-6

    if slope(0.0) > 0.0:
        way = -way
    motions, ways = rows @ u, rows @ way
    for share in (0.0, 0.3, 1.0):
        bent, growth = contact_slope(contacts, rub * step, step, forces, motions, ways, share)
        own = way @ (mass @ (u + share * way) - momentum)
        assert own + bent == pytest.approx(slope(share), abs=1e-4 * (1.0 + abs(slope(share))))
        rise = (slope(share + 1e-4) - slope(share - 1e-4)) / 2e-4 - way @ mass @ way
        assert growth == pytest.approx(rise, abs=1e-2 * (1.0 + abs(growth)))
    share = share_of_way(contacts, rub * step, step, forces, motions, ways, slope(0.0),
                         way @ mass @ way)
    assert 0.0 < share <= 1.0 and found(share) < found(0.0)
    if slope(1.0) < 0.0:
        assert share == 1.0
    else:
        assert abs(slope(share)) <= 0.11 * abs(slope(0.0)) + 1e-6


def push(force, steps, mass=0.2, friction=0.5, drag=0.0, step=0.005):
    """Return way and speed of a block on a plane that is pushed along it."""
    rows = np.zeros((1, 4, 2))
    rows[0, 0, 1] = rows[0, 1, 0] = 1.0
    matrix, u, forces = np.diag([mass + step * drag, mass]), np.zeros(2), np.zeros(1)
    height, way = 0.0, 0.0
    for _ in range(steps):
        momentum = mass * u + step * np.array([force, -mass * GRAVITY])
        solve_step(matrix, momentum, (rows, np.array([height]), np.array([1e5])), friction, step,
                   forces, u)
        height, way = height + step * u[1], way + step * u[0]
    return way, u[0], forces[0]


def test_a_block_stays_until_the_push_exceeds_friction_and_then_speeds_up_by_the_rest():
    limit = 0.5 * 0.2 * GRAVITY
    way, speed, weight = push(0.95 * limit, 100)
    assert way < 4.0 * CREEP and speed < 4.0 * CREEP
    assert_allclose(weight, 0.2 * GRAVITY, rtol=1e-4)
    _, speed, _ = push(1.2 * limit, 100)
    assert_allclose(speed, 0.2 * limit / 0.2 * 0.5, rtol=0.02)


@pytest.mark.parametrize('share', [0.3, 0.5, 0.9])
def test_what_stands_creeps_by_what_the_smoothed_friction_says_and_turns_by_little(share):
    _, speed, _ = push(share * 0.5 * 0.2 * GRAVITY, 100)
    assert_allclose(speed, CREEP * share / np.sqrt(1.0 - share ** 2), rtol=1e-3)
    # Grasps are looked at for seconds, and given up where they have turned by 5 degrees.
    assert np.rad2deg(speed / 0.002) < 1.0


def test_a_pushed_block_ends_at_the_speed_at_which_drag_bears_the_rest():
    limit = 0.5 * 0.2 * GRAVITY
    _, speed, _ = push(2.0 * limit, 400, drag=2.0)
    assert_allclose(speed, limit / 2.0, rtol=1e-3)


def test_a_dragged_body_that_a_spring_pushes_follows_the_damped_equation_of_motion():
    mass, drag, stiffness, speed, end = 0.1, 2.0, 2000.0, 0.05, 0.03

    def equation(time, x):
        return [x[1], (stiffness * max(0.0, speed * time - x[0]) - drag * x[1]) / mass]

    truth = solve_ivp(equation, (0.0, end), [0.0, 0.0], rtol=1e-9, atol=1e-12).y[0, -1]
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        rows = np.zeros((1, 4, 2))
        rows[0, 0] = [1.0, -1.0]
        # The pusher is so heavy that nothing slows it.
        matrix, u, forces = np.diag([mass + step * drag, 1e4]), np.zeros(2), np.zeros(1)
        x, wall = 0.0, 0.0
        for _ in range(round(end / step)):
            momentum = np.array([mass * u[0], 1e4 * speed])
            solve_step(matrix, momentum, (rows, np.array([x - wall]), np.array([stiffness])), 0.0,
                       step, forces, u)
            x, wall = x + step * u[0], wall + step * u[1]
        errors.append(abs(x - truth))
    assert errors[-1] < 2e-5 < 0.02 * truth
    assert_allclose(np.divide(errors[:-1], errors[1:]), 2.0, rtol=0.3)      # first order in time


def test_friction_is_against_the_slip_and_the_normal_force_times_its_coefficient():
    rows = np.zeros((1, 4, 3))
    rows[0, 0, 2] = rows[0, 1, 0] = rows[0, 2, 1] = 1.0
    u, forces, mass = np.array([0.3, 0.4, 0.0]), np.array([4.0]), np.eye(3)
    before = u.copy()
    solve_step(mass, mass @ before + 0.01 * np.array([0.0, 0.0, -4.0]),
               (rows, np.array([-4.0 / 1e5]), np.array([1e5])), 0.5, 0.01, forces, u)
    lost = (before - u)[:2] / 0.01
    assert_allclose(lost, 0.5 * forces[0] * np.array([0.6, 0.8]), rtol=1e-3)
