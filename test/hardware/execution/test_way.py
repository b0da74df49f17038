"""The way of a held object: its times, where the object should be, what is refused."""

from dataclasses import replace

from execution_cases import HAND, plan, PLANNED, reach, RESERVE, TIPS
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.errors import GripsimError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply, from_rotation_vector, inverse
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.execution.way import make_way

ATOL_ROUNDOFF = 1e-9
SPEED, SPIN = 0.05, 0.3


@given(st.floats(0.0, 0.2), st.floats(0.0, 1.5))
def test_neither_palm_nor_object_nor_joints_go_faster_than_they_may(rise, turn):
    told = reach(rise=rise, turn=turn)
    way = make_way(HAND, told, SPEED, SPIN)
    steps = np.diff(way.times)
    assert (steps > 0.0).all()
    slack = 1.0 + 1e-9
    for poses in (way.T_object_palm, way.T_object_moved):
        moves = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
        assert (moves <= SPEED * steps * slack + ATOL_ROUNDOFF).all()
    assert (turn / 4 <= SPIN * steps * slack + ATOL_ROUNDOFF).all()
    assert (np.abs(np.diff(told.joints, axis=0)) <= HAND.joint_velocities * steps[:, None]
            * slack).all()


@given(st.floats(0.0, 1.0), st.lists(st.floats(-0.01, 0.01), min_size=3, max_size=3),
       st.floats(-0.3, 0.3))
def test_an_object_fixed_in_the_hand_is_off_by_just_what_it_slid_and_turned(share, slid, turned):
    """Where the palm carries the object rigidly, however it lies in the hand."""
    way = make_way(HAND, reach(), SPEED, SPIN)
    held = from_rotation_vector(np.array([0.01, 0.0, 0.15, 0.0, 0.4, 0.0]))
    moved = held.copy()
    moved[:3, 3] += slid
    moved[:3, :3] = held[:3, :3] @ from_rotation_vector(
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, turned]))[:3, :3]
    slip, turn = way.deviation(share * way.length, held, moved)
    assert slip == pytest.approx(np.linalg.norm(slid), abs=ATOL_ROUNDOFF)
    assert turn == pytest.approx(abs(turned), abs=1e-7)


def test_where_the_palm_rests_the_object_goes_its_way_in_the_hand():
    told = reach('hand_only')
    told = replace(told, T_object_palm=np.array([told.T_object_palm[0]] * len(told.joints)))
    way = make_way(HAND, told, SPEED, SPIN)
    T_palm_object = inverse(told.T_object_palm[0]) @ way.T_object_moved
    for time, now in zip(way.times, T_palm_object):
        np.testing.assert_allclose(way.deviation(time, T_palm_object[0], now), 0.0, atol=1e-7)
    rested = way.deviation(way.length, T_palm_object[0], T_palm_object[0])
    assert rested[0] == pytest.approx(0.05, abs=5e-3) and rested[1] == pytest.approx(0.3)


def test_links_press_as_planned_or_with_the_least_that_holds_where_that_is_more():
    least = np.linspace(1.0, 2.0, 5)
    way = make_way(HAND, reach(forces=(1.0, 2.0)), SPEED, SPIN)
    np.testing.assert_allclose(way.forces[TIPS[2]], RESERVE * least)
    weak = [replace(step, forces=0.5 * step.minimal_forces) for step in reach().steps]
    way = make_way(HAND, replace(reach(), steps=tuple(weak)), SPEED, SPIN)
    np.testing.assert_allclose(way.forces[TIPS[2]], np.linspace(1.0, 1.5, 5))
    np.testing.assert_array_equal(way.reserve, np.zeros(7))


def test_set_points_move_on_by_the_work_of_the_forces_over_the_stiffness_of_the_joints():
    """Virtual work: torque times a joint's small turn is force times the way of its point."""
    told, small, tip = reach(), 1e-6, HAND.link_names.index(TIPS[2])
    way = make_way(HAND, told, SPEED, SPIN)

    def torques(number, force):
        joints, step, palm = told.joints[number], told.steps[number], told.T_object_palm[number]
        before = palm @ forward_kinematics(HAND, joints[None])[0, tip]
        after = palm @ forward_kinematics(HAND, joints + small * np.eye(7))[:, tip]
        moved = apply(after @ inverse(before), step.points)[:, 0] - step.points
        return moved @ force / small
    first, last = (torques(number, told.steps[number].forces[0]) for number in (0, -1))
    np.testing.assert_allclose(way.presses[-1], (last - first) / HAND.joint_stiffness, atol=1e-7)
    least = torques(0, told.steps[0].minimal_forces[0])
    np.testing.assert_allclose(way.reserve, (first - least) / HAND.joint_stiffness, atol=1e-7)
    assert np.abs(way.presses[-1]).max() > 1e-4 and np.abs(way.reserve).max() > 1e-4


def test_a_carried_grasp_closes_on_to_the_reserve_of_its_first_step():
    alone, carried = plan(Wishes()), plan(Wishes(carry=True))
    np.testing.assert_allclose(carried.rows[-1], alone.rows[-1] + carried.way.reserve)
    assert carried.contacts[2].force == pytest.approx(RESERVE)
    assert [contact.force for contact in carried.contacts[:2]] == [PLANNED, PLANNED]


@pytest.mark.parametrize('told, words', [
    (None, '2 steps or more, the grasp has 0'),
    (reach(steps=1), 'the grasp has 1'),
    (replace(reach(), shares=np.linspace(0.0, 0.5, 5)), 'ends at 50 %: the arm helps'),
    (replace(reach(), steps=()), 'forces of 0'),
    (replace(reach(), steps=tuple(replace(step, links=('sixth_link',)) for step in reach().steps)),
     "does not have: \\['sixth_link'\\]"),
    (replace(reach(), joints=np.zeros((5, 3))), '5 rows of 3 joints')])
def test_ways_that_cannot_be_carried_out_are_refused_with_numbers(told, words):
    with pytest.raises(GripsimError, match=words):
        make_way(HAND, told, SPEED, SPIN)
