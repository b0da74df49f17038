"""Pads that stick make an arch of what bends, as beam theory says, and hardly touch a ball."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.mechanics.body import ElasticBody
from gripsim_ros.library.in_process import mechanics_options
from gripsim_ros.library.squeezing.sticking import GripContacts, sticking_shares, work_directions

MODULUS, STICKS = 2e5, 5.0
#: Contacts no larger than the nodes are apart, at up to three forces.
SMALL = np.zeros((3, 3))
#: Of the bar: height and half the distance of its supports [m].
HEIGHT, REACH = 0.016, 0.06
#: Way by force of the bar between three pads, simply supported [m/N].
BENDING = (2.0 * REACH) ** 3 / (48.0 * MODULUS * HEIGHT ** 4 / 12.0)
#: Supported at its lower fibres, which may not spread: a thrust 3 F L / 16 h takes away so much.
PINNED = 1.0 / (1.0 - 0.5625)


def body(mesh, friction):
    return ElasticBody(GraspObject(mesh, Material(MODULUS, 0.3, 500.0, friction), 'body'),
                       mechanics_options('body'))


@pytest.fixture(scope='module')
def bar():
    return shapes.box((2.0 * REACH + 0.03, HEIGHT, HEIGHT))


@pytest.fixture(scope='module')
def on_three():
    points = np.array([[0.0, 0.0, 0.5], [-7.5, 0.0, -0.5], [7.5, 0.0, -0.5]]) * [
        REACH / 7.5, HEIGHT, HEIGHT]
    forces = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.5]])
    return GripContacts(points, forces, forces, SMALL)


def test_a_bar_on_pads_that_stick_is_a_pinned_beam(bar, on_three):
    """Euler and Bernoulli; shear and the pads' own yielding, a tenth together, are beside it."""
    held, stuck = sticking_shares(body(bar, STICKS), on_three, np.array([BENDING]))
    np.testing.assert_allclose(stuck, PINNED, rtol=0.15)
    assert held == stuck


def test_less_friction_holds_less(bar, on_three):
    held = [sticking_shares(body(bar, friction), on_three, np.array([BENDING]))[0][0]
            for friction in (0.01, 0.2, 0.8, STICKS)]
    assert held[0] == pytest.approx(1.0, abs=0.01) and (np.diff(held) > 0.02).all()


def test_soft_contacts_let_the_ends_go(bar, on_three):
    """Where contacts yield more than the bar bends there is no thrust."""
    _, stuck = sticking_shares(body(bar, STICKS), on_three, BENDING * np.array([1.0, 2.0, 20.0]))
    assert (np.diff(stuck) < 0.0).all() and stuck[-1] == pytest.approx(1.0, abs=0.02)


def test_wide_contacts_hold_more(bar, on_three):
    """What presses on much of the bar yields less itself than what presses on a spot."""
    stuck = [sticking_shares(body(bar, STICKS), replace(on_three, radii=np.full((1, 3), radius)),
                             np.array([0.5 * BENDING]))[1][0] for radius in (0.0, 0.015)]
    assert stuck[1] > 1.05 * stuck[0]


def test_a_ball_hardly_feels_it(bar):
    """Finite elements of grips of compact bodies differ by 1 to 4 % between the two."""
    angles = 2.0 * np.pi / 3.0 * np.arange(3)
    inward = -np.column_stack([np.cos(angles), np.sin(angles), np.zeros(3)])
    contacts = GripContacts(-0.035 * inward, 2.0 / 3.0 * inward, inward,
                            np.zeros((2, 3)))
    _, stuck = sticking_shares(body(shapes.sphere(0.035, 0.006), STICKS), contacts,
                               np.array([6.0, 12.0]) / MODULUS / 0.07)
    np.testing.assert_allclose(stuck, 1.0, atol=0.04)


def test_two_pads_have_no_thrust(bar):
    forces = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    pads = GripContacts(np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5]]) * HEIGHT, forces, forces,
                        np.zeros((1, 2)))
    held, stuck = sticking_shares(body(bar, STICKS), pads, np.array([1e-3]))
    np.testing.assert_allclose([held, stuck], 1.0, rtol=1e-9)


@given(seed=st.integers(0, 10**6), count=st.integers(2, 5))
def test_an_object_that_moves_or_turns_between_the_pads_changes_no_way(seed, count):
    draw = np.random.default_rng(seed)
    points = draw.uniform(-0.05, 0.05, (count, 3))
    pushes = -points + points.mean(axis=0) + draw.uniform(-0.01, 0.01, (count, 3))
    pushes -= pushes.mean(axis=0)
    pushes *= 2.0 / np.linalg.norm(pushes, axis=1).sum()
    found = work_directions(points, pushes)
    turn, shift = draw.uniform(-1.0, 1.0, (2, 3))
    motions = shift + np.cross(turn, points / 0.05)
    assert abs((found * motions).sum()) < 1e-9
    normals = pushes / np.linalg.norm(pushes, axis=1)[:, None]
    assert (found * normals).sum() == pytest.approx(2.0)


def test_two_pads_that_do_not_face_each_other_work_along_the_line_between_them():
    points = np.array([[-0.02, 0.004, 0.0], [0.02, -0.004, 0.0]])
    found = work_directions(points, np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    assert found == pytest.approx(np.array([[1.0, -0.2, 0.0], [-1.0, 0.2, 0.0]]))


def test_what_balances_stays_as_it_is(on_three):
    assert work_directions(on_three.points, on_three.forces) == pytest.approx(on_three.forces)


def test_pads_that_only_turn_an_object_keep_their_forces():
    pushes = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert work_directions(np.array([[0.0, 0.02, 0.0], [0.0, -0.02, 0.0]]), pushes) is pushes
