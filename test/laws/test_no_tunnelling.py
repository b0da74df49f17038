"""Closing fingers never jump over a thin wall: a mug, and a sheet of two millimetres."""

import numpy as np
import pytest

from gripsim_ros.core.batches import DETAIL_CLEARANCE, PATCH_THROUGH
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.contact.distance.mesh_distance import overlaps
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.transforms import apply
from gripsim_ros.library.in_process import link_shapes, mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

STIFF = Material(2.0e9, 0.3, 1000.0, 0.5)
OBJECTS = {'mug': shapes.mug(wall=0.004, edge_length=0.006),
           'sheet': shapes.box([0.06, 0.09, 0.002], 0.004)}
HYPOTHESES = 6
#: Positions looked at between two steps.
BETWEEN = 12


def closings(planner, pipeline):
    """Return, per hypothesis, its questions in order: joints, detail, swept, flags of patches."""
    rows = {}
    while not planner.finished:
        ask = planner.ask()
        states = pipeline.evaluate(ask.configurations)
        asked = ask.configurations
        for i in range(asked.count):
            first, end = states.patch_offsets[i:i + 2]
            rows.setdefault(asked.T_object_palm[i].tobytes(), []).append(
                (asked.T_object_palm[i], asked.joint_positions[i], asked.detail,
                 bool(asked.sweep_object[i].any()), states.patch_flags[first:end]))
        planner.tell(ask.batch_id, states)
    return rows.values()


@pytest.fixture(scope='module', params=[
    pytest.param('mug', marks=pytest.mark.nightly), 'sheet'])
def run(request):
    mesh = OBJECTS[request.param]
    grasp_object, hand = GraspObject(mesh, STIFF), load_default_hand()
    planner = GraspPlanner(grasp_object, hand, Task(), planner_options(),
                           max_hypotheses=HYPOTHESES)
    pipeline = Pipeline(hand, grasp_object, mechanics_options(), link_shapes(hand))
    return hand, ContactMesh(mesh), list(closings(planner, pipeline))


def test_no_link_enters_the_object_on_its_way_to_touch(run):
    hand, body, histories = run
    bodies = link_shapes(hand).bodies
    steps = 0
    for history in histories:
        for (T, start, _, _, _), (_, end, detail, _, _) in zip(history, history[1:]):
            if detail != DETAIL_CLEARANCE:
                break
            steps += 1
            shares = np.linspace(0.0, 1.0, BETWEEN)[:, None]
            poses = T @ forward_kinematics(hand, start + shares * (end - start))
            for row in poses:
                assert not any(overlaps(body, link, T_object_link)
                               for link, T_object_link in zip(bodies, row))
    assert steps > HYPOTHESES


def test_a_step_of_pressing_is_shorter_than_the_link_is_thick(run):
    """So a link that was before a wall is still in it or has never left it, and is reported."""
    hand, _, histories = run
    bodies, pressed = link_shapes(hand).bodies, 0
    for history in histories:
        for (_, start, _, _, flags), (_, end, detail, _, _) in zip(history, history[1:]):
            if detail == DETAIL_CLEARANCE or (flags & PATCH_THROUGH).any():
                continue
            poses = forward_kinematics(hand, np.array([start, end]))
            for link, (before, after) in zip(bodies, np.swapaxes(poses, 0, 1)):
                ways = np.linalg.norm(apply(after, link.box.corners())
                                      - apply(before, link.box.corners()), axis=1)
                assert ways.max() < 2.0 * link.box.half_lengths.min()
            pressed += 1
    assert pressed > HYPOTHESES


def test_a_link_right_through_the_wall_is_flagged(run):
    """Where a pad comes out of the other side, the patch says so and the closing ends."""
    hand, body, histories = run
    for history in histories:
        for _, _, detail, _, flags in history[:-1]:
            assert detail == DETAIL_CLEARANCE or not (flags & PATCH_THROUGH).any()
