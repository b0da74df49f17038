"""A suite that plans as the grasp paper prints it."""

import os

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import numpy as np  # noqa: E402
from suite_cases import ball, goal, parameters, quick_options  # noqa: E402

from gripsim_ros import plan_grasps  # noqa: E402
from gripsim_ros.core.planning import PlannerOptions  # noqa: E402
from gripsim_ros.core.planning.published.planner import TOLD  # noqa: E402
from gripsim_ros.core.planning.published.rules import PublishedRules  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient, STATUS_NAMES  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.conversions.requests.ranked import ranked_grasp_from_msg  # noqa: E402

#: Of which some hold by the paper's rules.
HYPOTHESES, LONG = 12, 600.0
#: A pose travels as a quaternion.
ATOL_ROTATION = 1e-12


@pytest.mark.nightly     # by day its rules alone, and a replay over nodes
def test_it_answers_as_one_process_does_to_the_last_bit(tmp_path):
    values = parameters(tmp_path)
    for node in ('grasp_planner', 'contact_detection', 'deformation'):
        values.setdefault(node, {})['published'] = True
    right = plan_grasps(ball(), hypotheses=HYPOTHESES, budget=LONG, workers=1,
                        options=PlannerOptions.from_mapping(quick_options()),
                        published=PublishedRules())
    with Suite(os.environ, parameters=values), PlanGraspClient() as client:
        client.wait_for_server(LONG)
        answer = client.plan(goal(hypotheses=HYPOTHESES, max_planning_time=LONG))
        refused = goal(hypotheses=HYPOTHESES)
        refused.task.approach_direction.z, refused.task.approach_half_angle = -1.0, 0.5
        assert STATUS_NAMES[client.plan(refused).status] == 'INVALID_REQUEST'
    assert right.grasps and STATUS_NAMES[answer.status] == 'SUCCEEDED', answer.message
    told = dict(zip(answer.rejection_reasons, answer.rejection_counts))
    assert told == right.rejections and len(answer.grasps) == len(right.grasps)
    names = load_default_hand().joint_names
    for msg, grasp in zip(answer.grasps, right.grasps):
        here = ranked_grasp_from_msg(msg, np.eye(4), names)
        assert here.hypothesis == grasp.hypothesis
        assert here.warnings == grasp.warnings and here.warnings[0] == TOLD
        np.testing.assert_allclose(here.T_object_palm, grasp.T_object_palm, atol=ATOL_ROTATION)
        for name in ('trajectory', 'grip_positions', 'centre_of_mass'):
            np.testing.assert_array_equal(getattr(here, name), getattr(grasp, name), name)
        for one, other in zip(here.contacts, grasp.contacts, strict=True):
            np.testing.assert_array_equal(one.force, other.force)
