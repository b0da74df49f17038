"""First configurations of generated hands: fingers, axes, preshapes, and grasps with them."""

import box_hands
import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import HandError
from gripsim_ros.core.hand import HandModel
from gripsim_ros.library.hands.check import check_hand
from gripsim_ros.library.hands.descriptions import find_base, parsed, urdf_text
from gripsim_ros.library.hands.fingers import _cost
from gripsim_ros.library.hands.proposal import propose_hand


def proposed(folder, text, base=''):
    urdf = box_hands.write_urdf(folder, text)
    return propose_hand(urdf, folder / 'own.yaml', base).hand


@pytest.mark.parametrize('motors', [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_sliding_gripper_is_understood_and_grasps(tmp_path, motors):
    hand = proposed(tmp_path, box_hands.sliding_gripper(motors))
    assert len(hand.joint_names) == motors and len(hand.fingers) == 2
    assert hand.prismatic.all() and not check_hand(hand).faults
    np.testing.assert_allclose(hand.approach, [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(np.abs(hand.palm_axes[:, 0]), [1, 0, 0], atol=1e-3)
    preshape = hand.preshapes[0]
    assert (preshape.open > 0.035).all() and (preshape.closed < 0.005).all()
    body = GraspObject(shapes.box((0.04, 0.03, 0.05), 0.006), Material(1e6, 0.45, 800.0, 0.6))
    result = plan_by_half_spaces(body, hand=hand, hypotheses=6, count=2)
    assert result.grasps, result.rejections
    best = result.grasps[0]
    assert {contact.link for contact in best.contacts} == {'finger_0', 'finger_1'}
    # Each finger's inner face is its distance from the middle: together as wide as the body.
    width = 2.0 * best.trajectory[-1].mean()
    assert np.abs(width - np.array([0.03, 0.04, 0.05])).min() < 0.003
    forces = [sum(contact.force for contact in best.contacts if contact.link == link)
              for link in ('finger_0', 'finger_1')]
    assert np.linalg.norm(forces[0] + forces[1]) == pytest.approx(0.048 * 9.81, rel=1e-3)


@pytest.mark.parametrize('count, axis', [
    (2, 'z'), *(pytest.param(count, axis, marks=pytest.mark.nightly)
                for count, axis in ((3, '-z'), (3, 'x'), (5, '-z')))])
def test_turning_hands_face_where_their_fingers_are(tmp_path, count, axis):
    hand = proposed(tmp_path, box_hands.turning_hand(count, axis), 'palm')
    wanted = {'z': [0, 0, 1], 'x': [1, 0, 0], '-z': [0, 0, -1]}[axis]
    assert len(hand.fingers) == count and not check_hand(hand).faults
    np.testing.assert_allclose(hand.approach, wanted, atol=1e-9)
    assert hand.base_link == 'palm' and len(hand.links[0].mesh.faces)   # of what is fixed to it
    for preshape in hand.preshapes:
        inner = [j for j, name in enumerate(hand.joint_names) if name.startswith('inner')]
        closing = preshape.closed[inner] - preshape.open[inner]
        moving = np.abs(closing) > 1e-9        # fingers that are not part of a grip stay open
        assert moving.sum() > 1 and (closing[moving] > 0.0).all()


def test_the_palm_is_found_where_the_fingers_begin(tmp_path):
    assert proposed(tmp_path, box_hands.turning_hand(2)).base_link == 'body'


def test_the_file_alone_is_the_hand(tmp_path):
    hand = proposed(tmp_path, box_hands.sliding_gripper(1))
    assert HandModel.load(tmp_path / 'own.yaml').id == hand.id


def test_a_world_that_is_no_link_is_not_the_root(tmp_path):
    text = box_hands.turning_hand(2).replace('</robot>', (
        '<joint name="stand" type="fixed"><parent link="world"/><child link="ROOT"/></joint>'
        '</robot>'))
    robot = parsed(text.encode(), 'hand.urdf')
    children = {joint.child for joint in robot.joints}
    root, = {link.name for link in robot.links} - children
    robot = parsed(text.replace('ROOT', root).encode(), 'hand.urdf')
    assert find_base(robot, 'hand.urdf') == 'body'


def box(size, middle='0 0 0'):
    return (f'<collision><origin xyz="{middle}"/><geometry><box size="{size}"/></geometry>'
            '</collision>')


def rail_gripper(more=''):
    """Return two fingers on one rail, at 0 together; each opens to its own side of the rail."""
    parts = [f'<link name="palm">{box("0.12 0.04 0.04", "0 0 -0.02")}</link>']
    for name, side, limits in (('left', -1, '"-0.055" upper="-0.0027"'),
                               ('right', 1, '"0.0027" upper="0.055"')):
        parts.append(
            f'<link name="{name}">{box("0.01 0.02 0.06", f"{0.0027 * side} 0 0.03")}</link>'
            f'<joint name="{name}_slide" type="prismatic"><parent link="palm"/>'
            f'<child link="{name}"/><axis xyz="1 0 0"/>'
            f'<limit lower={limits} effort="40" velocity="0.1"/></joint>')
    return f'<robot name="rail">{"".join(parts)}{more}</robot>'


def test_fingers_that_move_side_by_side_do_not_close(tmp_path):
    hand = proposed(tmp_path, rail_gripper())
    assert not check_hand(hand).faults
    preshape, = hand.preshapes
    assert preshape.open[0] < -0.03 and preshape.open[1] > 0.03
    np.testing.assert_allclose(preshape.closed, [-0.0027, 0.0027], atol=0.003)


def test_a_gap_that_shrinks_by_rounding_alone_is_no_closing():
    gaps = np.full(15, 0.0577)
    gaps[7] = np.nextafter(gaps[7], 0.0)
    assert _cost(gaps) > 1.0 > _cost(gaps - np.linspace(0.0, 0.02, 15))


def test_what_turns_in_place_is_no_finger(tmp_path):
    spin = (f'<link name="spin">{box("0.03 0.006 0.004")}</link><joint name="motor" '
            'type="continuous"><parent link="palm"/><child link="spin"/>'
            '<origin xyz="0 0.03 -0.02"/><axis xyz="0 0 1"/>'
            '<limit effort="1" velocity="1"/></joint>')
    hand = proposed(tmp_path, rail_gripper(spin))
    assert {hand.link_names[finger.links[-1]] for finger in hand.fingers} == {'left', 'right'}
    assert not check_hand(hand).faults


def test_two_hands_are_told_to_be_named_apart(tmp_path):
    with pytest.raises(HandError, match='10 fingers found below .* --base LINK names the palm'):
        proposed(tmp_path, box_hands.turning_hand(10))


def test_one_finger_is_no_hand(tmp_path):
    with pytest.raises(HandError, match='two fingers'):
        proposed(tmp_path, box_hands.turning_hand(1))


XACRO = """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">
  <xacro:arg name="wide" default="1"/><xacro:property name="size" value="$(arg wide)"/>
  BODY
</robot>
"""


def xacro(folder, text, body=''):
    pytest.importorskip('xacro')
    path = folder / 'hand.urdf.xacro'
    path.write_text(text.replace('BODY', body))
    return path


def test_arguments_of_a_xacro_are_given_by_name(tmp_path):
    path = xacro(tmp_path, XACRO, '<link name="palm${size}"/>')
    for arguments, name, link in (({'name': 'a'}, b'"a"', b'palm1'),
                                  ({'name': 'b', 'wide': '2'}, b'"b"', b'palm2')):
        text = urdf_text(path, {}, arguments)
        assert b'robot name=' + name in text.replace(b'  ', b' ') and link in text
    with pytest.raises(HandError, match='argument name; give it with --arg name:=VALUE'):
        urdf_text(path, {})


def test_a_package_that_a_xacro_misses_is_named(tmp_path):
    path = xacro(tmp_path, XACRO.replace('$(arg name)', 'hand'), (
        '<xacro:include filename="$(find lost)/a.xacro"/>'))
    with pytest.raises(HandError, match="^hand.urdf.xacro: no package 'lost' is .*lost=DIR$"):
        urdf_text(path, {})


@pytest.mark.parametrize('name', ['', 'name="hand"'])
def test_a_xacro_of_macros_alone_is_told(tmp_path, name):
    path = xacro(tmp_path, XACRO.replace('name="$(arg name)"', name), (
        '<xacro:macro name="gripper" params="prefix"><link name="${prefix}palm"/></xacro:macro>'))
    with pytest.raises(HandError, match='it has no links; a xacro that only defines a macro'):
        propose_hand(path, tmp_path / 'own.yaml')
