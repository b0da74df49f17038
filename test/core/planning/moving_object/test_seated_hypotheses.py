"""Hypotheses where a free object comes to rest between the fingers."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.core.planning.moving_object.seated_hypotheses import (
    MOST_SEATED, seated_hypotheses, seated_hypothesis)
from gripsim_ros.core.transforms import apply, from_rotation_vector
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

HAND, OPTIONS = load_default_hand(), planner_options()
#: What a seated object still moves by, over what it moved by at first [-].
SHARE_LEFT = 0.25
#: Place of the ball across the palm, where the grid of its distances is turned; how far from the
#: palm it rests is not told so well, since friction holds it at any height [m].
ATOL_FRAME = 0.001


def ball(mesh=None):
    return GraspObject(mesh or shapes.sphere(0.03, 0.006), Material(1e9, 0.3, 900.0, 0.5))


@pytest.fixture(scope='module')
def beside():
    """Return hypotheses with their palms 12 mm beside the middle of a ball."""
    found, _ = propose_hypotheses(ball(), HAND, Task(), OPTIONS, 3)
    moved = [h.T_object_palm.copy() for h in found]
    for pose in moved:
        pose[:3, 3] += 0.012 * pose[:3, 0]
    return [replace(h, T_object_palm=pose) for h, pose in zip(found, moved)]


def way(before, after):
    """Return how far the ball's middle has moved in the palm's frame [m]."""
    return float(np.linalg.norm(np.linalg.inv(after.T_object_palm)[:3, 3]
                                - np.linalg.inv(before.T_object_palm)[:3, 3]))


def test_a_seated_object_stays_where_it_is(beside):
    for hypothesis in beside:
        once = seated_hypothesis(hypothesis, ball(), HAND, OPTIONS.closing)
        twice = seated_hypothesis(once, ball(), HAND, OPTIONS.closing)
        assert way(hypothesis, once) > 0.002
        assert way(once, twice) < SHARE_LEFT * way(hypothesis, once)


def test_seating_turns_with_the_object(beside):
    turned_by = from_rotation_vector(np.array([0.01, -0.02, 0.03, 0.4, -0.7, 0.2]))
    mesh = ball().mesh
    turned = ball(mesh.with_vertices(apply(turned_by, mesh.vertices)))
    hypothesis = beside[0]
    here = seated_hypothesis(hypothesis, ball(), HAND, OPTIONS.closing)
    there = seated_hypothesis(replace(hypothesis, T_object_palm=(
        turned_by @ hypothesis.T_object_palm)), turned, HAND, OPTIONS.closing)
    middles = [apply(np.linalg.inv(seated.T_object_palm), middle) for seated, middle in (
        (here, np.zeros((1, 3))), (there, turned_by[:3, 3][None]))]
    here, there = (middle[0, :2] for middle in middles)
    np.testing.assert_allclose(here, there, rtol=0.0, atol=ATOL_FRAME)


def test_what_the_fingers_miss_is_left_out(beside):
    pose = beside[0].T_object_palm.copy()
    pose[:3, 3] += 0.2 * pose[:3, 0]
    far = replace(beside[0], T_object_palm=pose)
    assert list(seated_hypotheses([far], ball(), HAND, Task(), OPTIONS.closing)) == [None]


def test_seated_palms_keep_to_the_cone_of_approach(beside):
    some = beside[:1]
    (seated,) = seated_hypotheses(some, ball(), HAND, Task(), OPTIONS.closing)
    towards = seated.T_object_palm[:3, :3] @ HAND.approach
    for axis, count in ((towards, True), (-towards, False)):
        task = Task(approach_direction=axis, approach_half_angle=0.1)
        (found,) = seated_hypotheses(some, ball(), HAND, task, OPTIONS.closing)
        assert (found is not None) == count


def test_there_are_no_more_than_so_many_and_each_when_it_is_wanted(beside):
    taken = []
    many = (taken.append(k) or beside[0] for k in range(MOST_SEATED + 2))
    found = seated_hypotheses(many, ball(), HAND, Task(), OPTIONS.closing)
    next(found)
    assert taken == [0]
    assert len(list(found)) == MOST_SEATED - 1
