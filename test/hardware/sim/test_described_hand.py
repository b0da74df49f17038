"""Any hand in MuJoCo: links where kinematics says, and grasps that are held."""

import box_hands
from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hardware.lifting import hold
import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.hand.tree import PRISMATIC
from gripsim_ros.hardware.execution.plan import finger_plans, PlannedContact, Wishes
from gripsim_ros.hardware.sim.described_hand import (
    described_hand, joint_leaders, link_pieces)
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated, joint_pace, STIFFNESS
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.touch import texels_of
from gripsim_ros.hardware.sim.world import World
from gripsim_ros.library.hands.proposal import propose_hand

mujoco = pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
HANDS = {'slider, one motor': box_hands.sliding_gripper(1),
         'three fingers': box_hands.turning_hand(3),
         'three fingers, one motor, palm along x': box_hands.turning_hand(3, 'x', 1)}
ATOL_ROUNDOFF = 1e-9
#: How far joints that follow may lag behind at rest [rad], [m].
ATOL_FOLLOWS = 1e-3
#: Forces of closing by touch over those planned: its steps end within so much [-].
RTOL_TOUCH = 0.2
#: Torques of a joint at rest over those told by stiffness and error [-].
RTOL_SPRING = 0.02


@pytest.fixture(scope='module', params=HANDS)
def hand(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp('hand')
    urdf = box_hands.write_urdf(folder, HANDS[request.param])
    return propose_hand(urdf, folder / 'own.yaml').hand


def test_links_are_where_the_hands_kinematics_says(hand):
    model = described_hand(hand, 0.004).compile()
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    leaders = joint_leaders(hand)
    for joints in rng.uniform(hand.joint_lower, hand.joint_upper, (5, len(hand.joint_names))):
        values = dict(zip(hand.joint_names, joints))
        for j in range(model.njnt):
            name = model.joint(j).name
            if name in leaders:
                relation = next(model.eq_data[i, :2] for i in range(model.neq)
                                if model.eq_obj1id[i] == j)
                values[name] = relation[0] + relation[1] * values[leaders[name]]
            data.qpos[model.joint(j).qposadr[0]] = values[name]
        mujoco.mj_forward(model, data)
        for name, T in zip(hand.link_names, forward_kinematics(hand, joints[None])[0]):
            body = data.body(name)
            np.testing.assert_allclose(body.xpos, T[:3, 3], rtol=0, atol=ATOL_ROUNDOFF)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), T[:3, :3], rtol=0,
                                       atol=ATOL_ROUNDOFF)


def test_joints_go_where_they_are_sent_and_others_follow(hand):
    preshape = hand.preshapes[0]
    world = World(hand, default_options(), np.eye(4), preshape.open)
    goal = preshape.open + 0.5 * (preshape.closed - preshape.open)
    world.setpoints = goal
    for _ in range(500):
        world.step()
    np.testing.assert_allclose(world.joints, goal, rtol=0, atol=ATOL_FOLLOWS)
    found = {name: world.link_pose(name) for name in hand.link_names}
    wanted = forward_kinematics(hand, world.joints[None])[0]
    for name, T in zip(hand.link_names, wanted):
        np.testing.assert_allclose(found[name][:3, 3], T[:3, 3], rtol=0, atol=ATOL_FOLLOWS)


def test_motors_give_the_torque_of_their_spring_up_to_their_limit(hand):
    start = hand.preshapes[0].open
    world = World(hand, default_options(), np.eye(4), start)
    room = np.minimum(0.5 * hand.joint_efforts / hand.joint_stiffness, hand.joint_upper - start)
    world.setpoints = start + room
    world.step()
    efforts = hand.joint_stiffness * (room - world.joints + start)
    np.testing.assert_allclose(world.joint_efforts, efforts,
                               rtol=RTOL_SPRING, atol=RTOL_SPRING * hand.joint_efforts.max())
    world.setpoints = np.where(hand.joint_upper - start > 0.0, hand.joint_upper, start)
    world.step()
    assert (np.abs(world.joint_efforts) <= hand.joint_efforts + ATOL_ROUNDOFF).all()


def test_a_joint_that_slides_is_as_quick_as_one_that_turns(hand):
    slides = hand.tree.kind == PRISMATIC
    np.testing.assert_allclose(joint_pace(hand) * STIFFNESS, hand.joint_stiffness)
    assert slides.any() == bool((joint_pace(hand) > 10.0).any())


def test_each_pad_has_texels_on_its_link(hand):
    for link in hand.links:
        if link.pad is not None:
            texels = texels_of(link, default_options())
            low, high = link.mesh.bounds
            assert len(texels) and np.isfinite(texels).all()
            assert (texels >= low - 1e-6).all() and (texels <= high + 1e-6).all()


@pytest.mark.parametrize('text, by_touch', [
    ('slider, one motor', True), *(
        pytest.param(*case, marks=pytest.mark.nightly) for case in (
            ('slider, one motor', False), ('three fingers', False), ('three fingers', True)))])
def test_the_first_ranked_grasp_is_held_with_the_planned_forces(text, by_touch, tmp_path):
    hand = propose_hand(box_hands.write_urdf(tmp_path, HANDS[text]), tmp_path / 'own.yaml').hand
    body = GraspObject(shapes.box((0.04, 0.03, 0.05), 0.006), Material(1e6, 0.45, 800.0, 0.6))
    grasp = plan_by_half_spaces(body, hand=hand, hypotheses=16, count=1).grasps[0]
    found = hold(hand, body, grasp)
    assert found.held and found.shift < 5e-3, found
    wishes = Wishes(lift_height=0.04, by_touch=by_touch)
    done = SimulatedGrasp(hand, body, grasp, wishes, execution_options(), body='rigid').run()
    assert done.lifted, done.message
    planned = sum(contact.force for contact in done.plan.contacts)
    assert sum(done.closed.forces.values()) == pytest.approx(planned, rel=RTOL_TOUCH)


def test_fingers_of_one_motor_count_as_one(tmp_path):
    texts = {1: box_hands.sliding_gripper(1), 2: box_hands.sliding_gripper(2)}
    for motors, text in texts.items():
        urdf = box_hands.write_urdf(tmp_path, text)
        hand = propose_hand(urdf, tmp_path / 'own.yaml').hand
        contacts = [PlannedContact(link, 1.5) for link in hand.link_names[1:]]
        fingers = finger_plans(hand, contacts)
        assert len(fingers) == motors and [f.joints for f in fingers] == [(0,), (1,)][:motors]
        assert [f.force for f in fingers] == [3.0 / motors] * motors


def test_links_that_are_not_convex_are_pieces_and_alike_ones_are_shared(tmp_path):
    bent = ''.join(box_hands._box(size, place) for size, place in (
        ((0.01, 0.02, 0.05), (-0.005, 0.0, 0.025)), ((0.03, 0.02, 0.01), (-0.015, 0.0, 0.005))))
    text = box_hands.sliding_gripper(2)
    for i in range(2):
        begin = text.index(f'<link name="finger_{i}">')
        end = text.index('</link>', begin)
        text = f'{text[:begin]}<link name="finger_{i}">{bent}{text[end:]}'
    pytest.importorskip('coacd', reason='it comes with the extra `convex`')
    hand = propose_hand(box_hands.write_urdf(tmp_path, text), tmp_path / 'own.yaml').hand
    palm, first, second = link_pieces(hand)
    assert len(palm) == 1 and len(first) > 1 and first is second
    felt = hand_as_simulated(hand).links
    assert len(felt[0].mesh.faces) <= len(hand.links[0].mesh.faces)
    assert felt[1].mesh is hand.links[1].mesh and felt[1].pad is None
