"""The grip that a felt load needs: laws of the programme at measured contacts."""

from dataclasses import replace

from execution_cases import TIPS
from holding_cases import FORCES, FRICTION, hold_plan, HoldingHand, WEIGHT
import numpy as np
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.hold_plan import HeldContact, make_hold_plan
from gripsim_ros.hardware.execution.holding.programme import HoldProgramme

RTOL_SOLVER = 1e-5


@pytest.fixture
def measured():
    told = HoldingHand().measure()
    return replace(told, forces=dict(zip(TIPS, FORCES)), centres={})


def balanced(measured, force):
    """Return a load (6,) that pulls at the middle of the contacts."""
    plan = hold_plan()
    poses = forward_kinematics(plan.hand, measured.joints[None])[0]
    points = [apply(poses[plan.hand.link_names.index(link)], point[None])[0]
              for link, point in zip(plan.links, plan.points_link)]
    return np.concatenate([force, np.cross(np.mean(points, axis=0), force)])


def test_the_grip_grows_with_the_load_and_falls_with_friction(measured):
    programme, load = HoldProgramme(hold_plan(), np.inf, 0.05), balanced(measured, [0, 0, -WEIGHT])
    once, twice = (programme.solve(measured, k * load, FRICTION).level for k in (1.0, 2.0))
    assert twice == pytest.approx(2.0 * once, rel=RTOL_SOLVER)
    assert programme.solve(measured, load, 0.5 * FRICTION).level > 1.5 * once


def test_what_the_limits_do_not_allow_is_said_with_numbers(measured):
    load = balanced(measured, [0, 0, -WEIGHT])
    needed = HoldProgramme(hold_plan(), np.inf, 0.05).solve(measured, load, FRICTION).level
    lacks = HoldProgramme(hold_plan(), 0.9 * needed, 0.05).solve(measured, load, FRICTION)
    assert np.isinf(lacks.level) and lacks.shortfall.needed_force > lacks.shortfall.allowed_force
    assert np.isfinite(HoldProgramme(hold_plan(), 1.1 * needed, 0.05).solve(
        measured, load, FRICTION).level)


def test_a_contact_that_pads_do_not_feel_bears_nothing(measured):
    programme, load = HoldProgramme(hold_plan(), np.inf, 0.05), balanced(measured, [0, 0, -WEIGHT])
    alone = replace(measured, forces={**measured.forces, TIPS[2]: 0.0})
    assert np.isinf(programme.solve(alone, load, FRICTION).level)


def test_measured_centres_count(measured):
    """Where the contacts have moved to one side of the load, the grip must be firmer."""
    plan = hold_plan()
    programme, load = HoldProgramme(plan, np.inf, 0.05), balanced(measured, [0, 0, -WEIGHT])
    moved = replace(measured, centres={link: point + [0.0, 0.02, 0.0] for link, point
                                       in zip(plan.links, plan.points_link)})
    needed = [programme.solve(told, load, FRICTION).level for told in (measured, moved)]
    assert needed[1] > 1.02 * needed[0]


def test_directions_turn_with_the_links(measured):
    plan, force = hold_plan(), np.array([0.0, 3.0, 4.0])
    poses = forward_kinematics(plan.hand, measured.joints[None])[0]
    for link, pull in HoldProgramme(plan, 1.0, 0.05).directions(measured, force).items():
        pose = poses[plan.hand.link_names.index(link)]
        np.testing.assert_allclose(pose[:3, :3] @ pull, force / 5.0, atol=1e-12)


def test_a_plan_needs_contacts_friction_and_load():
    hand, T = hold_plan().hand, np.eye(4)
    contact = HeldContact(TIPS[0], np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0, 0.0)
    for contacts, friction, load in (([replace(contact, force=0.0)], 0.5, np.zeros(6)),
                                     ([contact], 0.0, np.zeros(6)), ([contact], 0.5, np.zeros(5))):
        with pytest.raises(TaskError, match='holding by feel needs'):
            make_hold_plan(hand, np.zeros(7), T, contacts, friction, load, np.inf)


def test_a_load_keeps_its_line_in_the_palms_frame():
    hand, T = hold_plan().hand, np.eye(4)
    T[:3, 3] = [0.1, -0.2, 0.3]                 # of the palm in the object
    contact = HeldContact(TIPS[0], np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0, 0.0)
    made = make_hold_plan(hand, np.zeros(7), T, [contact], 0.5,
                          np.array([0.0, 0.0, -2.0, 0.0, 0.0, 0.0]), 0.5)
    np.testing.assert_allclose(made.load[3:], np.cross(-T[:3, 3], [0.0, 0.0, -2.0]), atol=1e-12)
    assert made.weight == pytest.approx(2.0) and made.damage == 1.0
