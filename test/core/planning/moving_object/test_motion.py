"""A free object between closing fingers: laws of its motion."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, shapes
from gripsim_ros.core.planning.moving_object.free_body import Ground
from gripsim_ros.core.planning.moving_object.motion import along, MovingObject
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.library.in_process import planner_options

DYNAMICS = planner_options().closing
STUFF = Material(1.0e6, 0.3, 500.0, 0.5)
#: Place of a ball between two fingers that face each other, frame palm [m].
MIDDLE = np.array([0.019, 0.0, 0.21])
#: How far fingers close that press the ball with some newtons [-].
SHARE = 0.3
#: What points of links 2 mm apart and a grid leave of symmetry [m].
SAMPLED = 1e-4


@pytest.fixture(scope='module')
def pinch(hand):
    return next(preshape for preshape in hand.preshapes if preshape.name == 'pinch')


@pytest.fixture(scope='module')
def ball():
    return GraspObject(shapes.sphere(0.025, 0.002), STUFF)


def closed(hand, body, T_palm_object, preshape, share=SHARE, dynamics=DYNAMICS):
    """Return an object after the fingers closed on it, and its way in the palm [m]."""
    end = preshape.open + share * (preshape.closed - preshape.open)
    moving = MovingObject(body, hand, inverse(T_palm_object), preshape.open, dynamics)
    moving.follow(along(np.stack([preshape.open, end]), 150))
    moving.follow(np.repeat(end[None], 50, axis=0))
    return moving, moving.T_palm_object[:3, 3] - T_palm_object[:3, 3]


def test_closing_alike_from_both_sides_moves_nothing(hand, ball, pinch):
    moving, way = closed(hand, ball, transform(np.eye(3), MIDDLE), pinch)
    assert moving.normal_forces.max() > 0.5
    assert abs(way[1]) < SAMPLED


@pytest.mark.parametrize('aside', [0.006, -0.006])
def test_a_ball_moves_towards_the_finger_that_arrives_later(hand, ball, pinch, aside):
    place = MIDDLE + [0.0, aside, 0.0]
    moving, way = closed(hand, ball, transform(np.eye(3), place), pinch)
    first, last = np.sort(moving.touched)[:2]
    assert 0 < last - first < 150
    assert (moving.normal_forces > 0.5).sum() >= 2
    # Fingers 1 and 2 stand at +y and -y: it comes to the middle.
    assert_allclose(way[1], -aside, atol=1e-3)


def test_the_motion_does_not_depend_on_the_frame_of_the_object(hand, ball, pinch):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    shift = np.array([0.1, -0.2, 0.05])
    turned = GraspObject(TriangleMesh(ball.mesh.vertices @ turn.T + shift, ball.mesh.faces), STUFF)
    T_palm_object = transform(np.eye(3), MIDDLE + [0.002, 0.004, 0.0])
    first, _ = closed(hand, ball, T_palm_object, pinch)
    T_palm_turned = T_palm_object @ inverse(transform(turn, shift))
    second, _ = closed(hand, turned, T_palm_turned, pinch)
    there = second.T_palm_object @ transform(turn, shift)
    assert_allclose(there[:3, 3], first.T_palm_object[:3, 3], atol=2.0 * SAMPLED)


def test_half_the_time_step_changes_the_way_little(hand, ball, pinch):
    T_palm_object = transform(np.eye(3), MIDDLE + [0.0, 0.005, 0.0])
    _, way = closed(hand, ball, T_palm_object, pinch)
    fine = MovingObject(ball, hand, inverse(T_palm_object), pinch.open,
                        replace(DYNAMICS, time_step=0.005))
    end = pinch.open + SHARE * (pinch.closed - pinch.open)
    fine.follow(along(np.stack([pinch.open, end]), 300))
    fine.follow(np.repeat(end[None], 100, axis=0))
    assert_allclose(fine.T_palm_object[:3, 3] - T_palm_object[:3, 3], way, atol=3e-4)


def far_from(hand, body, ground=None, dynamics=DYNAMICS):
    """Return an object that the hand does not reach, at the origin of the palm's frame."""
    there = transform(np.eye(3), np.array([0.0, 0.0, -1.0]))
    args = () if ground is None else (ground,)
    return MovingObject(body, hand, inverse(there), hand.preshapes[0].open, dynamics, *args)


def test_a_floating_object_drifts_as_the_damped_equation_of_motion_says(hand, ball):
    mass, drag, force, time = ball.mass_properties.mass, 2.0, 0.1, 0.5
    ways = []
    for step in (0.01, 0.005):
        moving = far_from(hand, ball, dynamics=replace(DYNAMICS, drag=drag, time_step=step))
        count = round(time / step)
        commands = np.repeat(hand.preshapes[0].open[None], count, axis=0)
        moving.follow(commands, np.tile([force, 0, 0, 0, 0, 0], (count, 1)))
        ways.append(moving.T_object_moved[0, 3])
    truth = force / drag * (time - mass / drag * (1.0 - np.exp(-drag * time / mass)))
    errors = np.abs(np.array(ways) - truth)
    assert errors[1] < 0.02 * truth and errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize('share, moves', [(0.9, False), (1.2, True)])
def test_on_a_table_an_object_stays_until_the_push_exceeds_friction(hand, share, moves):
    box = GraspObject(shapes.box([0.05, 0.06, 0.04]), STUFF)
    mass = box.mass_properties
    up = np.array([0.0, 0.0, 1.0])
    foot = box.mesh.vertices[box.mesh.vertices[:, 2] < 0.0]
    table = Ground(foot, up, float((foot @ up).min()) - 1.0)
    moving = far_from(hand, box, table)
    moving.wrench = np.array([0.0, 0.0, -9.81 * mass.mass, 0.0, 0.0, 0.0])
    commands = np.repeat(hand.preshapes[0].open[None], 100, axis=0)
    push = share * STUFF.friction * 9.81 * mass.mass
    moving.follow(commands, np.tile([push, 0, 0, 0, 0, 0], (100, 1)))
    way = moving.T_object_moved[:3, 3]
    assert (way[0] > 0.01) == moves and (moves or np.linalg.norm(way) < 5e-4)


def test_a_copy_goes_its_own_way(hand, ball, pinch):
    moving, _ = closed(hand, ball, transform(np.eye(3), MIDDLE), pinch)
    before, other = moving.T_palm_object, moving.copy()
    other.follow(np.repeat(moving.joints[None], 20, axis=0),
                 np.tile([0, 0, 5.0, 0, 0, 0], (20, 1)))
    assert_allclose(moving.T_palm_object, before, atol=0.0)
    assert np.linalg.norm(other.T_palm_object[:3, 3] - before[:3, 3]) > 1e-4
    assert np.linalg.norm(other.speeds) > 0.0


def test_commands_lead_evenly_along_the_rows():
    rows = np.array([[0.0], [1.0], [1.5]])
    assert_allclose(along(rows, 4)[:, 0], [0.5, 1.0, 1.25, 1.5])
    assert_allclose(along(rows[:1], 3)[:, 0], [0.0, 0.0, 0.0])
