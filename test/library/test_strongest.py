"""The grasps that bear most."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning import rejections, Task
from gripsim_ros.core.planning.moving_object.strongest import tried_at_most
from gripsim_ros.library import strongest
from gripsim_ros.library.in_process import evaluate_grasps, plan_grasps
from gripsim_ros.library.strongest import plan_strongest

#: Weights along the axes: what is borne of them.
AXES = Task(gravity_directions=np.concatenate([np.eye(3), -np.eye(3)]))
#: What the strongest grasp of a packet bears over the best of ten planned for gentleness, at
#: least; in MuJoCo twice as much (docs/validation/published_grasps.md).
GAIN = 1.3


def box(**limits):
    return GraspObject(shapes.box((0.065, 0.07, 0.145)),
                       Material(2e9, 0.3, 700.0, 0.5, **limits))


@pytest.mark.slow
def test_the_strongest_grasp_of_a_packet_bears_more_than_any_planned_for_gentleness():
    result = plan_strongest(box(), AXES, count=3, palms=80)
    told = [grasp.margin for grasp in result.grasps]
    assert [grasp.rank for grasp in result.grasps] == [1, 2, 3]
    assert 80 < result.evaluated <= tried_at_most(80, 3)
    assert all(grasp.stable for grasp in result.grasps) and min(told) >= 1.0
    planned = plan_grasps(box(), AXES, count=10, hypotheses=60).grasps
    again = evaluate_grasps(box(), [(g.T_object_palm, g.trajectory[-1:]) for g in planned], AXES,
                            close=True)
    assert told[0] > GAIN * max(grasp.margin for grasp in again)


@pytest.mark.slow
def test_it_ends_when_it_is_told_to_with_what_it_has():
    result = plan_strongest(box(), AXES, count=1, palms=40,
                            on_progress=lambda progress: progress.evaluated < 5)
    assert result.timed_out and (result.evaluated, result.total) == (5, tried_at_most(40, 1))
    assert len(result.grasps) <= 1


def test_a_grasp_that_touches_with_nothing_is_not_told(monkeypatch):
    def touching_nothing(*arguments, **options):
        return [replace(grasp, stable=True, reason='', contacts=())
                for grasp in evaluate_grasps(*arguments, **options)]

    monkeypatch.setattr(strongest, 'evaluate_grasps', touching_nothing)
    result = plan_strongest(box(), AXES, count=1, palms=2,
                            on_progress=lambda progress: progress.evaluated < 2)
    assert not result.grasps
    assert result.in_contact == result.rejections[rejections.NOT_HELD] > 0


@pytest.mark.parametrize('thing', [
    box(max_pressure=1e5), box(max_force=20.0),
    GraspObject(shapes.sphere(0.03), Material(5e4, 0.45, 100.0, 0.8))])
def test_what_must_not_be_pressed_as_hard_as_joints_can_is_refused(thing):
    with pytest.raises(TaskError, match='as hard as they can: without max_pressure'):
        plan_strongest(thing, AXES)
