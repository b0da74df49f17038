"""Where hypotheses come from: the approach cone, the preshapes, the seed."""


import numpy as np
from numpy.testing import assert_allclose
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.contact import LinkShapes
from gripsim_ros.core.contact.distance.clearance import pair_clearances
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.core.planning.hypotheses.hand_geometry import free_closing_share
from gripsim_ros.library.in_process import find_material, planner_options
from gripsim_ros.library.resources import load_default_hand

HALF_ANGLE = np.deg2rad(35.0)
ATOL_ANGLE = 1e-6
COUNT = 400
#: By so much of the closing the meeting of fingers may be told too late or too early: hulls
#: of some of the vertices are too small.
MEETING_ERROR = 0.03
#: Hypotheses that small things are planned with.
SMALL = 12


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def box():
    return GraspObject(shapes.box([0.03, 0.05, 0.08]), find_material('wood'))


def approaches(grasp_object, hand, task, seed=0):
    """Return the directions in which palms come (n, 3), and all hypotheses."""
    found, _ = propose_hypotheses(grasp_object, hand, task, planner_options(), COUNT, seed)
    return np.array([one.T_object_palm[:3, 2] for one in found]).reshape(-1, 3), found


@pytest.mark.parametrize('direction', [(0.0, 0.0, -2.0), (1.0, -0.5, 0.3)])
def test_palms_come_from_within_the_approach_cone_and_only_there(box, hand, direction):
    axis = np.array(direction) / np.linalg.norm(direction)
    inside, _ = approaches(box, hand, Task(approach_direction=direction,
                                           approach_half_angle=HALF_ANGLE))
    assert len(inside)
    assert (np.arccos(np.clip(inside @ axis, -1.0, 1.0)) <= HALF_ANGLE + ATOL_ANGLE).all()
    everywhere, _ = approaches(box, hand, Task())
    assert (np.arccos(np.clip(everywhere @ axis, -1.0, 1.0)) > 2.0 * HALF_ANGLE).any()


def test_the_hand_has_the_preshapes_of_its_maker_and_tries_several(box, hand):
    pivots = {shape.name: shape.open[0] for shape in hand.preshapes}
    for name, degrees in (('parallel', 0.0), ('cylindrical', 0.0), ('oblique', 30.0),
                          ('spherical', 60.0), ('pinch', 90.0)):
        assert_allclose(np.rad2deg(pivots[name]), degrees, atol=0.1)
    _, found = approaches(box, hand, Task())
    assert len({one.preshape for one in found}) >= 4


def test_scores_fall_but_for_faces_seen_before_and_a_seed_turns_the_rolls(box, hand):
    first, found = approaches(box, hand, Task())
    assert found[0].score == max(one.score for one in found)
    again, _ = approaches(box, hand, Task())
    assert_allclose(again, first, rtol=0, atol=0)
    poses = {one.T_object_palm.round(9).tobytes() for one in found}
    _, other = approaches(box, hand, Task(), seed=7)
    assert any(one.T_object_palm.round(9).tobytes() not in poses for one in other)


def test_what_nobody_waits_for_any_more_is_not_looked_at(box, hand):
    asked = []

    def is_wanted():
        asked.append(True)
        return len(asked) < 2
    found, _ = propose_hypotheses(box, hand, Task(), planner_options(), COUNT, 0, is_wanted)
    first = propose_hypotheses(box, hand, Task(), planner_options(), COUNT)[0]
    assert {one.preshape for one in found if np.isfinite(one.score)} < {
        one.preshape for one in first}


def test_a_cone_without_a_palm_in_it_has_no_hypotheses(box, hand):
    task = Task(approach_direction=(0.3, 0.5, 0.8), approach_half_angle=1e-9)
    assert propose_hypotheses(box, hand, task, planner_options(), COUNT) == ([], 0)


def test_fingers_meet_where_their_hulls_do(hand):
    links = LinkShapes.of_hand(hand)
    for preshape in hand.preshapes:
        met = free_closing_share(hand, preshape)
        rates = preshape.closed - preshape.open
        for share, apart in ((met - MEETING_ERROR, True), (met + MEETING_ERROR, False)):
            places = forward_kinematics(hand, (preshape.open + share * rates)[None])[0]
            bounds = pair_clearances(links.hulls, links.pairs, places)
            assert (bounds.min() > 0.0) == apart, preshape.name


@pytest.mark.parametrize('radius', [0.04, *(
    pytest.param(radius, marks=pytest.mark.nightly) for radius in (0.03, 0.035))])
def test_no_palm_is_proposed_whose_open_hand_the_planner_would_refuse(hand, radius):
    """Also of a ball that just fits into the hand, open in one of its preshapes."""
    ball = GraspObject(shapes.sphere(radius, 0.007), find_material('silicone'))
    result = plan_by_half_spaces(ball, hypotheses=2 * SMALL)
    assert not any('open hand' in reason for reason in result.rejections)
    assert result.in_contact == result.evaluated == 2 * SMALL


@pytest.mark.parametrize('mesh', [
    shapes.sphere(0.009, 0.004), *(pytest.param(mesh, marks=pytest.mark.nightly) for mesh in (
        shapes.sphere(0.01, 0.004), shapes.box([0.015] * 3)))])
def test_small_things_are_held_between_two_fingers(hand, mesh):
    result = plan_by_half_spaces(GraspObject(mesh, find_material('silicone')), hypotheses=SMALL)
    assert result.grasps and result.grasps[0].preshape == 'pinch'
