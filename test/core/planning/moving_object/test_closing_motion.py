"""What becomes of an object while a hand closes: way, turn, rest, lost time, what is borne."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.moving_object import closing_motion
from gripsim_ros.core.planning.moving_object.closing_motion import (
    bears_loads, close_on, predict_closing_motion, pressing_command)
from gripsim_ros.core.planning.ranked_grasp import (
    ClosingMotion, MAX_CLOSING_TURN, MAX_WAY)
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.library.in_process import plan_grasps, planner_options

BALL = GraspObject(shapes.sphere(0.025, 0.002), Material(1.0e6, 0.3, 500.0, 0.5))
#: Place of a ball in the middle of two fingers that face each other, frame palm [m].
MIDDLE = np.array([0.019, 0.0, 0.21])
DYNAMICS = planner_options().closing


def motion(hand, place, task=Task(), share=0.3, loads=None, squeeze=0.0):
    preshape = next(preshape for preshape in hand.preshapes if preshape.name == 'pinch')
    rows = preshape.open + np.linspace(0.0, share, 6)[:, None] * (preshape.closed - preshape.open)
    return predict_closing_motion(BALL, hand, task, inverse(transform(np.eye(3), place)), rows,
                                  rows[-1] + squeeze * (preshape.closed - preshape.open),
                                  DYNAMICS, loads)


def loads(acceleration):
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    return np.hstack([acceleration * axes, np.zeros((6, 6))])


def test_a_ball_in_the_middle_stays_and_no_time_is_lost(hand):
    found = motion(hand, MIDDLE)
    assert found.stays and found.rests and found.bears is None
    assert found.way < 2e-4 and found.lost_time <= DYNAMICS.time_step


def test_a_ball_aside_is_moved_as_far_and_the_time_is_told(hand):
    found = motion(hand, MIDDLE + [0.0, 0.005, 0.0])
    assert found.way == pytest.approx(0.005, abs=1e-3) and found.rests and not found.stays
    assert_allclose(found.T_object_moved[1, 3], -0.005, atol=1e-3)
    assert 0.1 < found.lost_time < DYNAMICS.closing_time


def test_a_hand_that_does_not_reach_the_object_leaves_it_alone(hand):
    found = motion(hand, MIDDLE + [0.0, 0.0, 0.2], loads=loads(9.81))
    assert found.way == 0.0 and not found.rests and not found.stays and found.bears is False
    assert found.lost_time == 0.0


def test_loads_are_borne_up_to_what_friction_holds(hand):
    force = 21.0        # of both fingers, by the joints' springs, at most [N]
    limit = BALL.material.friction * force / BALL.mass_properties.mass
    assert motion(hand, MIDDLE, share=0.27, squeeze=0.03, loads=loads(0.1 * limit)).bears
    assert not motion(hand, MIDDLE, share=0.27, squeeze=0.03, loads=loads(2.0 * limit)).bears
    # Fingers that touch and do not press let it go.
    assert motion(hand, MIDDLE, share=0.27, loads=loads(0.1 * limit)).bears is False


def test_what_takes_all_of_the_friction_is_not_borne(hand, monkeypatch):
    def borne(acceleration):
        return motion(hand, MIDDLE, share=0.27, squeeze=0.03, loads=loads(acceleration)).bears
    low, high = 0.5, 500.0
    with monkeypatch.context() as without:
        without.setattr(closing_motion, 'FRICTION_RESERVE', 0.0)
        assert borne(low) and not borne(high)
        while high > 1.01 * low:
            middle = np.sqrt(low * high)
            low, high = (middle, high) if borne(middle) else (low, middle)
    assert not borne(low) and borne(0.9 * low)


#: Where a hand holds a ring of 70 mm by three fingertips; the joints' ends and grip [rad].
RING_PALM = np.array([
    [-0.707107, -0.707107, 0.0, -0.001162], [0.707107, -0.707107, 0.0, -0.004326],
    [0.0, 0.0, 1.0, -0.211535], [0.0, 0.0, 0.0, 1.0]])
RING_ROWS = np.array([[1.0472, -0.5, 0.45, -0.5, 0.45, -0.5, 0.45],
                      [1.0472, -0.3766, 0.5271, -0.4228, 0.4982, -0.3769, 0.5269]])
RING_GRIP = np.array([1.0469, -0.3674, 0.5302, -0.4135, 0.5013, -0.3686, 0.5297])


def test_a_ring_is_borne_that_slips_in_long_steps_alone(hand):
    """MuJoCo's hand holds it up to 13.6 m/s^2."""
    mesh = shapes.torus()
    ring = GraspObject(mesh, Material(2e6, 0.3, 0.15 / mesh.volume, 0.5))
    held = close_on(ring, hand, Task(), RING_PALM, RING_ROWS, RING_GRIP,
                    replace(DYNAMICS, drag=0.0), 0.0017)
    assert bears_loads(held.copy(), ring, RING_GRIP, loads(10.0))
    assert not bears_loads(held.copy(), ring, RING_GRIP, loads(10.0), again=False)
    assert not bears_loads(held.copy(), ring, RING_GRIP, loads(20.0))


def test_on_a_table_an_object_does_not_sink_and_moves_otherwise_than_a_floating_one(hand):
    """One finger alone pushes: a heavy ball on the ground does not sink into it."""
    heavy = Task(gravity_directions=np.array([[0.0, 0.0, 1.0]]), obstacles=np.concatenate(
        [[1.0, 0.4, 0.4, 0.02], np.hstack([np.eye(3), [[0], [0], [0.035]]]).ravel()])[None])
    place = MIDDLE + [0.0, 0.012, 0.0]
    free, standing = motion(hand, place, share=0.25), motion(hand, place, heavy, share=0.25)
    assert free.way > 1e-4
    assert standing.T_object_moved[2, 3] < 2e-4         # gravity is along z
    assert not np.allclose(free.T_object_moved, standing.T_object_moved, atol=1e-5)


def test_what_stays_rests_and_has_moved_and_turned_little():
    still = ClosingMotion(np.eye(4), 0.0, 0.0, 0.0, True)
    assert still.stays
    for change in ({'way': 1.01 * MAX_WAY}, {'turn': 1.01 * MAX_CLOSING_TURN}, {'rests': False}):
        assert not replace(still, **change).stays


def test_the_hand_of_the_package_does_not_squeeze_out_an_egg_that_slips_more_easily(hand):
    material = Material(2.0e5, 0.4, 1000.0, 0.6, max_pressure=1.0e5)
    grasp = plan_grasps(GraspObject(shapes.egg(), material), hypotheses=20, count=1).grasps[0]
    slippery = GraspObject(shapes.egg(), replace(material, friction=0.3))
    found = predict_closing_motion(
        slippery, hand, Task(), grasp.T_object_palm, grasp.trajectory,
        pressing_command(hand, grasp), DYNAMICS)
    assert found.stays
