"""The object is shown at once, then the best grasp; a moment of its closing takes its place."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from plan_cases import apple, made_up_grasp  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from gripsim_ros.core.planning import Task  # noqa: E402
from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.ros.conversions.plan_told import plan_from_yaml  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import default_values  # noqa: E402
from gripsim_ros.ros.nodes.planner.plan_shown import PlanShown  # noqa: E402

BOX = np.array([[1, 0.1, 0.1, 0.02, 1, 0, 0, 0.0, 0, 1, 0, 0.0, 0, 0, 1, -0.1]])


class Topic:
    """Where a node publishes; somebody looks, or nobody."""

    def __init__(self, looked_at):
        self.looked_at, self.arrays = looked_at, []
        self.publish = self.arrays.append

    def get_subscription_count(self):
        """Return how many look."""
        return int(self.looked_at)


@pytest.fixture(params=[True])
def shown(request):
    """Return what is shown, with its topics and a clock that ticks when asked to."""
    topics, ticks = {}, []

    def create_publisher(kind, name, quality):
        return topics.setdefault(name, Topic(request.param))

    node = SimpleNamespace(
        values=default_values('grasp_planner'), hand=load_default_hand(), housekeeping=None,
        errors=[], create_publisher=create_publisher,
        steady_timer=lambda period, tick, group: ticks.append(tick))
    node.report_error = node.errors.append
    shown = PlanShown(node)
    shown.open()
    shown.node, shown.best = node, topics['plan/markers']
    shown.ranked, shown.told, shown.tick = (
        topics['ranked_grasps'], topics['plan/told'], ticks[0])
    yield shown
    assert not node.errors


def asked(frame_id='', grasp_object=None, x=0.0):
    """Return a request for an object at x [m] in a frame."""
    return SimpleNamespace(
        frame_id=frame_id, T_frame_object=transform(np.eye(3), np.array([x, 0.0, 0.0])),
        grasp_object=grasp_object or apple(), task=Task(obstacles=BOX))


def layers(topic):
    """Return the namespaces that the last message of a topic shows."""
    return {m.ns for m in topic.arrays[-1].markers if m.action == Marker.ADD}


def test_the_object_is_shown_before_any_plan(shown):
    shown.show_object(apple())
    shown.tick()
    assert layers(shown.best) == {'object', 'centre_of_mass', 'scale'}
    assert not layers(shown.ranked)
    assert {m.header.frame_id for m in shown.best.arrays[-1].markers} == {'world'}


@pytest.mark.parametrize('shown', [False], indirect=True)
def test_nothing_is_made_where_nobody_looks_and_all_is_once_somebody_does(shown):
    shown.show_object(apple())
    shown.tick()
    assert not shown.best.arrays
    shown.best.looked_at = True
    shown.tick()
    shown.tick()
    assert len(shown.best.arrays) == 1 and 'object' in layers(shown.best)


def test_a_request_shows_its_object_and_its_obstacles_where_they_are(shown):
    shown.show_object(apple(), asked('table', x=0.4))
    shown.tick()
    assert layers(shown.best) == {'object', 'centre_of_mass', 'scale', 'obstacles'}
    body = next(m for m in shown.best.arrays[-1].markers if m.ns == 'object' and m.points)
    assert body.header.frame_id == 'table' and body.pose.position.x == pytest.approx(0.4)


def test_the_best_grasp_stays_until_the_same_object_is_planned_anew(shown):
    shown.show_plan([made_up_grasp(1)], asked(), {})
    shown.tick()
    assert 'hand' in layers(shown.best) and 'ranks' in layers(shown.ranked)
    shown.show_object(apple(), asked())
    shown.show_any_object(apple())
    shown.tick()
    assert len(shown.best.arrays) == 1
    shown.show_object(apple(), asked(x=0.1))        # it lies elsewhere
    shown.tick()
    assert 'hand' not in layers(shown.best) and not layers(shown.ranked)


def test_objects_of_others_are_shown_where_nothing_else_is(shown):
    shown.show_any_object(apple())
    shown.tick()
    assert 'object' in layers(shown.best)


def test_a_closing_takes_the_place_of_the_best_grasp(shown):
    shown.show_plan([made_up_grasp(1)], asked(), {})
    shown.tick()
    shown.hide_grasp()
    shown.hide_grasp()
    assert len(shown.best.arrays) == 2
    gone = {m.ns for m in shown.best.arrays[-1].markers if m.action == Marker.DELETEALL}
    assert gone >= layers_of(shown.best.arrays[0]) - {'obstacles'} and not layers(shown.best)
    assert 'obstacles' not in gone


def layers_of(array):
    """Return the namespaces that an array shows."""
    return {m.ns for m in array.markers if m.action == Marker.ADD}


def test_a_grasp_that_comes_late_is_not_shown_over_its_closing(shown):
    shown.show_plan([made_up_grasp(1)], asked(), {})
    shown.hide_grasp()
    shown.tick()
    assert not layers(shown.best) and 'ranks' in layers(shown.ranked)
    shown.show_plan([made_up_grasp(2)], asked(), {})
    shown.tick()
    assert 'hand' in layers(shown.best)


def test_a_plan_is_told_in_words_with_the_terms_of_each_score(shown):
    grasp = made_up_grasp(1)
    shown.show_plan([grasp], asked(), {'evaluated': 7, 'planning_time': 0.25, 'hint': ''})
    shown.tick()
    shown.tick()
    msg, = shown.told.arrays
    told = plan_from_yaml(msg.data)
    assert told.request['hypotheses'] == '7 judged' and told.request['obstacles'] == '1'
    assert told.grasp(1).terms == pytest.approx({t.name: t.contribution for t in grasp.terms})
    shown.show_plan([], asked(), {'hint': 'too heavy'})
    shown.tick()
    assert plan_from_yaml(shown.told.arrays[-1].data).request['no grasp'] == 'too heavy'


@pytest.mark.parametrize('shown', [False], indirect=True)
def test_words_wait_for_a_reader(shown):
    shown.show_plan([made_up_grasp(1)], asked(), {})
    shown.tick()
    assert not shown.told.arrays
    shown.told.looked_at = True
    shown.tick()
    assert len(shown.told.arrays) == 1
