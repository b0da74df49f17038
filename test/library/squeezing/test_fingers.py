"""An object between the fingers of a hand that go on closing."""

import numpy as np
from numpy.testing import assert_allclose
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.library.squeezing.fingers import HandSqueeze, squeeze_with_fingers
from gripsim_ros.library.in_process import evaluate_grasps, mechanics_options
from gripsim_ros.library.resources import load_default_hand

WAY, STEPS = 2e-3, 4
#: Force by way to this power, and how far it may be off from one way to the next.
HERTZ, ATOL_EXPONENT = 1.5, 0.03


@pytest.fixture(scope='module')
def ball():
    """Return a soft ball of 60 mm."""
    return GraspObject(shapes.sphere(0.03, 0.006), Material(3e5, 0.4, 500.0, 0.8))


@pytest.fixture(scope='module')
def grasp(ball):
    """Return a grasp of it."""
    return plan_by_half_spaces(ball, hypotheses=6, count=1).grasps[0]


@pytest.fixture(scope='module')
def squeezed(ball, grasp):
    """Return the ball squeezed by the grasp's fingers."""
    return squeeze_with_fingers(ball, grasp.T_object_palm, grasp.trajectory[-1], WAY, steps=STEPS,
                                elasticity='half_space')


def test_the_pads_come_nearer_by_the_way_and_press_harder(ball, grasp, squeezed):
    assert_allclose([point.way for point in squeezed.curve], WAY * np.arange(1, 5) / STEPS)
    forces = [point.force for point in squeezed.curve]
    areas = [point.area for point in squeezed.curve]
    assert 0.0 < forces[0] and (np.diff(forces) > 0.0).all() and (np.diff(areas) > 0.0).all()
    hand = load_default_hand()
    poses = forward_kinematics(hand, np.vstack([squeezed.touching, squeezed.joints[-1]]))
    numbers = [i for i, link in enumerate(hand.links) if link.name in squeezed.links]
    places = np.array([[apply(pose[i], hand.links[i].pad_point[None])[0] for i in numbers]
                       for pose in poses])
    spread = np.linalg.norm(places - places.mean(axis=1)[:, None], axis=2).mean(axis=1)
    # The pads' middles are not the points that press: fingertips turn as they close.
    assert_allclose(2.0 * (spread[0] - spread[1]), WAY, rtol=0.3)


def test_its_forces_are_those_of_a_grasp_that_is_evaluated(ball, grasp, squeezed):
    row = np.vstack([squeezed.touching, squeezed.joints[-1]])
    judged = evaluate_grasps(ball, [(grasp.T_object_palm, row)], elasticity='half_space')[0]
    closing_forces = [contact.mean_pressure * contact.area for contact in judged.contacts]
    assert_allclose(squeezed.curve[-1].force, 0.5 * sum(closing_forces), rtol=0.01)


def test_at_the_touch_nothing_presses_and_just_beyond_something_does(ball, grasp, squeezed):
    nearly = squeeze_with_fingers(ball, grasp.T_object_palm, squeezed.joints[-1], 2e-5, steps=1,
                                  elasticity='half_space')
    assert_allclose(nearly.touching, squeezed.touching, atol=1e-4)
    assert nearly.curve[0].force < 0.02 * squeezed.curve[-1].force


def test_what_cannot_be_is_refused(ball, grasp):
    def squeeze(joints, way):
        return squeeze_with_fingers(ball, grasp.T_object_palm, joints, way,
                                    elasticity='half_space')
    with pytest.raises(TaskError, match='come nearer by .* mm at most'):
        squeeze(grasp.trajectory[-1], 1.0)
    with pytest.raises(TaskError, match='0 fingers touch'):
        squeeze(grasp.trajectory[0], 1e-3)
    with pytest.raises(TaskError, match='way must be above 0'):
        squeeze(grasp.trajectory[-1], np.nan)
    with pytest.raises(TaskError, match='steps must be 1 or more'):
        squeeze_with_fingers(ball, grasp.T_object_palm, grasp.trajectory[-1], WAY, steps=0)


def test_forces_about_a_ball_rise_by_hertz_from_each_way_to_the_next():
    """Grids that are laid anew from one way to the next must not show: their forces jump."""
    ball = GraspObject(shapes.sphere(0.035, 0.004), Material(2e5, 0.3, 500.0, 0.8))
    grasp = plan_by_half_spaces(ball, hypotheses=6, count=1).grasps[0]
    squeeze = HandSqueeze(ball, hand_as_simulated(load_default_hand()), grasp.T_object_palm,
                          grasp.trajectory[-1], mechanics_options('half_space'))
    ways = np.geomspace(0.3e-3, 3e-3, 16)
    forces = [squeeze.held_at(fraction).state.normal_forces.sum()
              for fraction in squeeze.fractions_of(ways)]
    exponents = np.diff(np.log(forces)) / np.diff(np.log(ways))
    # Fingertips are no balls, and turn as they close.
    assert_allclose(exponents, HERTZ, rtol=0, atol=ATOL_EXPONENT)
