"""The whole motion of a grasp as it is shown: from the pre-grasp to the hand drawn back."""

from dataclasses import replace

import arm_cases
import numpy as np
import pytest
from arm_cases import LIFT, T_BASE_OBJECT, planned_arm
from execution_cases import reach
from numpy.testing import assert_allclose
from plan_cases import CLOSED, OPEN, made_up_grasp

from gripsim_ros.core.errors import ArmError, TaskError
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.planned_arm import arm_of_grasps, motion_of
from gripsim_ros.library.whole_motion import MOST, moment_at, whole_motion

#: To rounding; and to where inverse kinematics ends [m], [rad].
ATOL, REACHED = 1e-12, 1e-5
#: From a moment to the next, the palm moves by less [m]: nothing jumps.
MOST_STEP = 0.02


@pytest.fixture(scope='module')
def grasp():
    way = reach(steps=40)
    begins = np.tile(CLOSED, (len(way.joints), 1)) + way.joints - way.joints[0]
    palm = way.T_object_palm[0]
    pregrasp = palm.copy()
    pregrasp[:3, 3] -= 0.1 * palm[:3, 2]
    return made_up_grasp(1, T_object_palm=palm, T_object_pregrasp=pregrasp,
                         reach=replace(way, joints=begins))


def test_it_runs_from_the_pregrasp_to_the_hand_drawn_back_and_nothing_jumps(grasp):
    moments = whole_motion(grasp)
    phases = [moment.phase for moment in moments]
    assert list(dict.fromkeys(phases)) == [
        'approach', 'closing', 'carrying', 'opening', 'retreat']
    assert sum(phase == 'carrying' for phase in phases) == MOST
    first, last = moments[0], moments[-1]
    np.testing.assert_allclose(first.T_object_palm, grasp.T_object_pregrasp, atol=ATOL)
    assert (first.joints == OPEN).all() and (last.joints == OPEN).all()
    end = grasp.reach.steps[-1].T_object_moved
    np.testing.assert_allclose(last.T_object_moved, end, atol=ATOL)
    np.testing.assert_allclose(inverse(end) @ last.T_object_palm, grasp.T_object_pregrasp,
                               atol=1e-9)        # here the palm goes with the object
    palms = np.array([moment.T_object_palm[:3, 3] for moment in moments])
    assert np.linalg.norm(np.diff(palms, axis=0), axis=1).max() < MOST_STEP
    joints = np.array([moment.joints for moment in moments])
    assert np.abs(np.diff(joints, axis=0)).max() < 0.2


def test_forces_are_told_on_the_way_alone(grasp):
    for moment in whole_motion(grasp):
        assert (moment.step is not None) == (moment.phase == 'carrying')
        if moment.step is not None:
            assert (moment.T_object_moved == moment.step.T_object_moved).all()


@pytest.mark.parametrize('way', [None, replace(reach(), shares=np.linspace(0.0, 0.9, 5)),
                                 replace(reach(), steps=())])
def test_a_grasp_without_a_way_to_its_end_has_no_whole_motion(way):
    moments = whole_motion(made_up_grasp(1, reach=way))
    assert moments == ()
    with pytest.raises(TaskError, match='plan with a displacement'):
        moment_at(moments, 0.5)


@pytest.mark.parametrize('fraction', [-0.1, 1.1, np.nan])
def test_a_moment_outside_is_refused(grasp, fraction):
    with pytest.raises(TaskError, match='fraction must be from 0'):
        moment_at(whole_motion(grasp), fraction)


@pytest.fixture(scope='module')
def arm():
    """Return an arm before the object."""
    return planned_arm()


@pytest.fixture(scope='module')
def brought(grasp):
    """Return the grasp as the arm brings it and carries its object."""
    return arm_cases.brought(grasp)


def test_with_an_arm_it_begins_where_the_arm_stands_and_runs_through_every_phase(brought, arm):
    moments = motion_of(brought, arm)
    assert list(dict.fromkeys(moment.phase for moment in moments)) == [
        'reaching', 'approach', 'closing', 'lifting', 'carrying', 'setting down', 'opening',
        'retreat']
    assert (moments[0].arm_joints == arm.arm.start).all()
    for moment in moments:      # the arm carries the palm, wherever it is
        assert_allclose(T_BASE_OBJECT @ moment.T_object_palm,
                        arm.arm.palm_pose(moment.arm_joints), atol=ATOL)


def test_with_an_arm_the_object_rests_until_it_is_held_and_where_it_is_set_down(brought, arm):
    moments = {phase: [m for m in motion_of(brought, arm) if m.phase == phase]
               for phase in ('closing', 'lifting', 'carrying', 'setting down', 'retreat')}
    assert all((m.T_object_moved == np.eye(4)).all() for m in moments['closing'])
    assert_allclose(moments['lifting'][-1].T_object_moved[:3, 3], LIFT, atol=REACHED)
    steps = brought.reach.steps
    assert_allclose([moments['carrying'][i].T_object_moved[:3, 3] for i in (0, -1)],
                    [step.T_object_moved[:3, 3] + LIFT for step in (steps[0], steps[-1])],
                    atol=REACHED)
    last = moments['carrying'][-1].step
    assert_allclose(last.points, steps[-1].points + LIFT, atol=REACHED)
    assert_allclose(last.minimal_forces, steps[-1].minimal_forces, atol=REACHED)
    assert_allclose(moments['retreat'][-1].T_object_moved, steps[-1].T_object_moved, atol=REACHED)


def test_an_arm_without_a_displacement_ends_with_the_lift(brought, arm):
    motion = brought.arm_motion
    lifted = motion.phases.index('lift') + 1
    short = replace(brought, reach=None, arm_motion=replace(
        motion, joints=motion.joints[:lifted], phases=motion.phases[:lifted]))
    assert motion_of(short, arm)[-1].phase == 'lifting'
    assert motion_of(short, None) == ()     # of an arm that is not known nothing can be shown


def test_a_file_tells_its_arm_and_says_where_one_is_lacking(arm, tmp_path):
    content = {'arm': {**arm.to_mapping(), 'object_pose': {
        'position': [0.5, 0.1, 0.3], 'orientation': [0.0, 0.0, 0.0, 1.0]}}}
    again = arm_of_grasps(content, tmp_path / 'grasps.json')
    assert again.arm.name == arm.arm.name
    assert_allclose(again.T_base_object, T_BASE_OBJECT, atol=ATOL)
    assert arm_of_grasps({}, tmp_path / 'grasps.json') is None
    content['arm']['file'] = '/elsewhere/arm.yaml'
    with pytest.raises(ArmError, match='/elsewhere/arm.yaml, which is neither there nor beside'):
        arm_of_grasps(content, tmp_path / 'grasps.json')
