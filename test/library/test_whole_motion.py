"""The whole motion of a grasp as it is shown: from the pre-grasp to the hand drawn back."""

from dataclasses import replace

import numpy as np
import pytest
from execution_cases import reach
from plan_cases import CLOSED, OPEN, made_up_grasp

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.whole_motion import MOST, moment_at, whole_motion

ATOL = 1e-12
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
