"""The way of a held object: its times, where the object should be, what is refused."""

from dataclasses import replace

from execution_cases import HAND, reach, TIPS
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.transforms import from_rotation_vector, inverse
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


def test_the_forces_of_each_step_are_told_link_by_link_and_torques_grow_with_them():
    """The pads press with twice the least forces there, whose torques are told."""
    way = make_way(HAND, reach(forces=(1.0, 2.0)), SPEED, SPIN)
    np.testing.assert_allclose(way.forces[TIPS[2]], np.linspace(1.0, 2.0, 5))
    np.testing.assert_allclose(way.presses[-1], 2.0 * 0.1 / HAND.joint_stiffness)


@pytest.mark.parametrize('told, words', [
    (None, '2 steps or more, the grasp has 0'),
    (reach(steps=1), 'the grasp has 1'),
    (replace(reach(), shares=np.linspace(0.0, 0.5, 5)), 'ends at 50 %: the arm helps'),
    (replace(reach(), steps=()), 'forces of 0'),
    (replace(reach(), joints=np.zeros((5, 3))), '5 rows of 3 joints')])
def test_ways_that_cannot_be_carried_out_are_refused_with_numbers(told, words):
    with pytest.raises(TaskError, match=words):
        make_way(HAND, told, SPEED, SPIN)
