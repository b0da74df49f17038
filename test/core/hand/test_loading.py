"""Loading of hands: the SDH's facts, any other hand, and what is refused."""

import hand_cases
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.errors import HandError, MeshError
from gripsim_ros.core.hand import HandModel, Pad
from gripsim_ros.core.hand.tree import parse_urdf
from gripsim_ros.library.resources import load_default_hand

ATOL_ROUNDOFF = 1e-9

SDH_JOINTS = ('sdh_knuckle_joint', 'sdh_finger_12_joint', 'sdh_finger_13_joint',
              'sdh_finger_22_joint', 'sdh_finger_23_joint', 'sdh_thumb_2_joint',
              'sdh_thumb_3_joint')


@pytest.fixture(scope='module')
def sdh():
    return load_default_hand()


@pytest.fixture
def gripper(tmp_path):
    return HandModel.load(*hand_cases.write_hand(tmp_path))


def load_changed(folder, urdf=(), config=()):
    """Load the made-up hand with pieces of its files replaced."""
    texts = []
    for text, changes in ((hand_cases.GRIPPER_URDF, urdf), (hand_cases.GRIPPER_CONFIG, config)):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        texts.append(text)
    return HandModel.load(*hand_cases.write_hand(folder, *texts))


def test_sdh_has_the_contract_s_names(sdh):
    assert sdh.base_link == 'sdh_palm_link'
    assert sdh.joint_names == SDH_JOINTS
    assert len(sdh.link_names) == 10
    assert {'sdh_grasp_link', 'sdh_tip_link'} == set(sdh.frame_names) - set(sdh.link_names)


def test_links_with_equal_shapes_have_the_same_mesh(sdh):
    by_finger = [[link.mesh for link in sdh.links if f'_{name}' in link.name]
                 for name in ('finger_1', 'finger_2', 'thumb_')]
    assert len({id(mesh) for finger in by_finger for mesh in finger}) == 3
    assert all(a is b for finger in by_finger for a, b in zip(by_finger[0], finger))


def test_sdh_has_real_torque_and_velocity_limits(sdh):
    np.testing.assert_allclose(sdh.joint_efforts, [2.1, 2.1, 1.4, 2.1, 1.4, 2.1, 1.4],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(np.rad2deg(sdh.joint_velocities), [80.0] + 6 * [100.0],
                               rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(sdh.joint_stiffness, 20.0, rtol=0.0, atol=0.0)


def test_sdh_limits_are_those_of_the_published_description(sdh):
    np.testing.assert_allclose(sdh.joint_lower, [0.0] + 6 * [-np.pi / 2],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(sdh.joint_upper, 7 * [np.pi / 2], rtol=0.0, atol=ATOL_ROUNDOFF)


def test_sdh_fingers_have_rubber_pads_and_the_palm_none(sdh):
    padded = {link.name for link in sdh.links if link.pad is not None}
    assert padded == {f'sdh_{finger}{k}_link' for finger in ('finger_1', 'finger_2', 'thumb_')
                      for k in (2, 3)}


def test_pads_face_the_palmar_side(sdh):
    for link in sdh.links:
        outward = [0.0, 0.0, 1.0] if link.name == 'sdh_palm_link' else [1.0, 0.0, 0.0]
        assert link.pad_normal @ outward > 0.95
        np.testing.assert_allclose(np.linalg.norm(link.pad_normal), 1.0,
                                   rtol=0.0, atol=ATOL_ROUNDOFF)


def test_each_preshape_closes_inwards(sdh):
    for preshape in sdh.preshapes:
        motion = preshape.closed - preshape.open
        assert motion[0] == 0.0
        assert (motion[1:] >= 0.0).all() and (motion[1:5] > 0.0).all()


def test_fingers_are_chains_from_the_palm_to_the_tip(sdh):
    names = [tuple(sdh.link_names[i] for i in finger.links) for finger in sdh.fingers]
    assert names[2] == ('sdh_thumb_1_link', 'sdh_thumb_2_link', 'sdh_thumb_3_link')
    assert [finger.joints for finger in sdh.fingers] == [(0, 1, 2), (0, 3, 4), (5, 6)]


def test_neighbours_are_links_that_a_joint_connects(sdh):
    assert sdh.neighbours[sdh.link_index('sdh_palm_link'), sdh.link_index('sdh_thumb_1_link')]
    assert not sdh.neighbours[sdh.link_index('sdh_palm_link'), sdh.link_index('sdh_thumb_2_link')]
    np.testing.assert_array_equal(sdh.neighbours, sdh.neighbours.T)


def test_joint_vector_orders_names(sdh):
    values = {name: float(i) for i, name in enumerate(sdh.joint_names)}
    np.testing.assert_array_equal(sdh.joint_vector(dict(reversed(values.items()))), np.arange(7.0))


def test_joint_vector_refuses_an_unknown_name(sdh):
    with pytest.raises(HandError, match="unknown joint 'elbow'"):
        sdh.joint_vector({'elbow': 0.0})


def test_joint_vector_refuses_a_missing_joint(sdh):
    with pytest.raises(HandError, match="no value for joint 'sdh_knuckle_joint'"):
        sdh.joint_vector({'sdh_thumb_2_joint': 0.0})


def test_joint_vector_refuses_values_that_are_no_numbers(gripper):
    with pytest.raises(HandError, match='must be numbers'):
        gripper.joint_vector({'swing': 'far', 'slide': 0.0})


def test_joint_vector_refuses_values_that_are_not_finite(gripper):
    with pytest.raises(HandError, match='must be finite'):
        gripper.joint_vector({'swing': np.inf, 'slide': 0.0})


def test_link_index_refuses_an_unknown_name(gripper):
    with pytest.raises(HandError, match="no link 'nose'"):
        gripper.link_index('nose')


def test_a_hand_of_two_files_needs_no_code(gripper):
    assert gripper.joint_names == ('swing', 'slide')
    assert gripper.link_names == ('body', 'left', 'right', 'right_tip')
    assert gripper.links[3].pad == Pad(1e6, 0.4, 0.002)
    np.testing.assert_array_equal(gripper.joint_stiffness, [15.0, 4000.0])
    np.testing.assert_array_equal(gripper.preshapes[0].closed, [0.9, 0.02])
    np.testing.assert_allclose(gripper.links[3].pad_point, [0.0, 0.0, 0.02],
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_scale_and_origin_of_a_collision_mesh_are_applied(gripper):
    np.testing.assert_allclose(gripper.links[1].mesh.vertices.mean(axis=0), [0.0, 0.0, 0.02],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    assert np.ptp(gripper.links[1].mesh.vertices[:, 2]) == pytest.approx(0.02, abs=ATOL_ROUNDOFF)


def test_limits_of_a_mimic_joint_narrow_those_of_its_leader(gripper):
    # curl = 0.1 - 0.8 swing must stay within -1 and 1.
    np.testing.assert_allclose([gripper.joint_lower[0], gripper.joint_upper[0]], [-1.0, 1.375],
                               rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('kind, value', [('revolute', 0.7), ('prismatic', 0.02)])
def test_a_joint_with_no_room_is_fixed_at_its_value(tmp_path, gripper, kind, value):
    """What hangs on it is where it would be if the joint turned or slid that far."""
    stuck = load_changed(tmp_path / 'stuck', [(
        'name="mount" type="fixed"', f'name="mount" type="{kind}"'), (
        '<child link="rail"/>', f'<child link="rail"/><axis xyz="0 2 1"/><limit lower="{value}" '
        f'upper="{value}" effort="1" velocity="1"/>')])
    assert stuck.joint_names == gripper.joint_names
    frame, axis = stuck.tree.names.index('rail'), np.array([0.0, 2.0, 1.0]) / np.sqrt(5.0)
    moved = np.eye(4)
    if kind == 'revolute':
        moved[:3, :3] = Rotation.from_rotvec(value * axis).as_matrix()
    else:
        moved[:3, 3] = value * axis
    np.testing.assert_allclose(
        stuck.tree.T_parent_joint[frame],
        gripper.tree.T_parent_joint[gripper.tree.names.index('rail')] @ moved,
        rtol=0.0, atol=ATOL_ROUNDOFF)


def test_id_is_of_contents_not_of_places(tmp_path):
    hands = [HandModel.load(*hand_cases.write_hand(tmp_path / name)) for name in ('a', 'b')]
    assert hands[0].id == hands[1].id


@pytest.mark.parametrize('change', [
    {'urdf': [('upper="1.5"', 'upper="1.4"')]}, {'config': [('15.0', '16.0')]}])
def test_id_changes_with_the_files(tmp_path, gripper, change):
    assert load_changed(tmp_path / 'b', **change).id != gripper.id


def test_id_changes_with_a_mesh(tmp_path, gripper):
    files = hand_cases.write_hand(tmp_path / 'b')
    mesh = tmp_path / 'b' / 'block.stl'
    data = bytearray(mesh.read_bytes())
    data[0] ^= 1
    mesh.write_bytes(bytes(data))
    assert HandModel.load(*files).id != gripper.id


def test_unknown_tags_are_no_noise(tmp_path, capfd):
    HandModel.load(*hand_cases.write_hand(tmp_path))
    assert capfd.readouterr().err == ''


def test_an_encoding_declaration_is_no_obstacle(tmp_path):
    hand = load_changed(tmp_path, [('version="1.0"', 'version="1.0" encoding="utf-8"')])
    assert hand.name == 'gripper'


def test_prefixes_that_nobody_declares_are_no_obstacle(tmp_path):
    hand = load_changed(tmp_path, [('</robot>', '<drake:proximity drake:of="x"/><!-- a:b = c -->'
                                    '<sim:x xmlns:sim="urn:x" sim:y="1"/></robot>')])
    assert hand.name == 'gripper'


@pytest.mark.parametrize('elsewhere', [
    '<transmission type="t/Wrist" name="w"><rightActuator name="l"/></transmission>',
    '<!-- <transmission> --><transmission name="a"/>', '<gazebo reference="a/b"><x/></gazebo>'])
def test_what_drives_and_simulates_joints_is_no_obstacle(tmp_path, elsewhere):
    hand = load_changed(tmp_path, [('</robot>', f'{elsewhere}</robot>')])
    assert hand.name == 'gripper' and 'right_tip' in hand.link_names


def test_a_robot_without_a_name_is_called_like_its_file():
    robot = parse_urdf(b'<?xml version="1.0"?>\n<robot version="1.0"><link name="name"/></robot>',
                       'my hand.urdf.xacro')
    assert robot.name == 'my_hand' and [link.name for link in robot.links] == ['name']


def test_joints_beside_the_hand_may_be_of_any_kind(tmp_path):
    hand = load_changed(tmp_path, [('</robot>', (
        '<link name="world"/><joint name="drift" type="floating"><parent link="world"/>'
        '<child link="lost"/></joint></robot>'))])
    assert hand.name == 'gripper'


@pytest.mark.parametrize('text, name', [
    ('<sdf version="1.6"><model name="hand"/></sdf>', r'Gazebo \(SDF\)'),
    ('<mujoco model="hand"><worldbody/></mujoco>', r'MuJoCo \(MJCF\)')])
def test_other_descriptions_of_robots_are_told(text, name):
    with pytest.raises(HandError, match=f'hand.xml: is a file of {name}, allowed is URDF'):
        parse_urdf(f'<?xml version="1.0"?>{text}'.encode(), 'hand.xml')


def test_a_dot_that_stands_for_a_frame_is_no_obstacle(tmp_path):
    hand = load_changed(tmp_path, [('</robot>', (
        '<link name="dot"><collision><geometry><box size="0.001 0.001 0.001"/></geometry>'
        '</collision></link><joint name="glue" type="fixed"><parent link="left"/>'
        '<child link="dot"/></joint></robot>'))])
    np.testing.assert_allclose(hand.links[hand.link_index('dot')].mesh.extents, 0.001)


@pytest.mark.parametrize('shape', [
    '<sphere radius="0.0"/>', '<box size="0 0 0"/>', '<cylinder radius="0" length="0"/>'])
def test_a_shape_without_any_size_is_none(tmp_path, shape):
    hand = load_changed(tmp_path, [('</robot>', (
        f'<link name="dot"><collision><geometry>{shape}</geometry></collision></link>'
        '<joint name="glue" type="fixed"><parent link="left"/><child link="dot"/></joint>'
        '</robot>'))])
    assert 'dot' not in hand.link_names


def test_a_link_in_another_unit_is_named(tmp_path):
    with pytest.raises(MeshError, match="link 'body': the largest extent is 40 m, .* to 5 m$"):
        load_changed(tmp_path, [('<mesh filename="block.stl"/>', '<box size="10 20 40"/>')])


URDF_FAULTS = {
    'not a readable URDF': [('</robot>', '')],
    "joint 'swing' is not in the URDF": [('"swing" type', '"swung" type'),
                                         ('joint="swing"', 'joint="swung"')],
    "follows 'ghost', which is not in the URDF": [('joint="swing"', 'joint="ghost"')],
    "follows 'mount', which is not an actuated": [('joint="swing"', 'joint="mount"')],
    'reached twice': [('<ros2_control name="x" type="system"/>',
                       '<joint name="loop" type="fixed"><parent link="left"/>'
                       '<child link="right_tip"/></joint>')],
    'not supported': [('<child link="rail"/>', '<child link="body"/>')],
    "of type 'floating'": [('name="mount" type="fixed"', 'name="mount" type="floating"')],
    'connects a link that does not exist': [('<child link="left"/>', '<child link="lost"/>')],
    'not all zero': [('xyz="1 2 0"', 'xyz="0 0 0"')],
    'lower < upper': [('lower="-0.02" upper="0.03"', 'lower="0.03" upper="-0.02"')],
    'no mesh at lost.stl': [('filename="block.stl"', 'filename="lost.stl"')],
    'scale of a mesh must be three numbers': [('0.5 0.5 0.5', '0.5 0 0.6')],
    'a box needs sizes above 0': [('<mesh filename="block.stl"/>', '<box size="1 0 1"/>')],
    'follows itself': [('<mimic joint="swing"', '<mimic joint="curl"')],
    'needs <limit>': [('<limit lower="-1" upper="1.5" effort="3" velocity="2"/>', '')],
}

CONFIG_FAULTS = {
    "base_link 'arm' is not a link": [('base_link: body', 'base_link: arm')],
    "base_link 'rail' has no collision geometry": [('base_link: body', 'base_link: rail')],
    'is not in the URDF': [('[swing, slide]', '[swing, slide, ghost]')],
    'can move but is not among': [('[swing, slide]', '[swing]')],
    'cannot be an actuated joint': [('[swing, slide]', '[swing, slide, curl]')],
    'without repeats': [('[swing, slide]', '[swing, swing]')],
    'unknown key': [('name: gripper', 'name: gripper\ncolour: red')],
    "key 'name' is missing": [('name: gripper', '')],
    'not readable YAML': [('name: gripper', 'name: [')],
    'joints must be a list': [('[swing, slide]', 'swing')],
    'base_link must be a str': [('base_link: body', 'base_link: [body]')],
    'no pad': [('pad: soft', 'pad: hard')],
    'expected the keys': [('pad: soft', 'pod: soft')],
    'misses the mesh': [('outward: [0, 0, 1]', 'outward: [0, 0, 1], through: [1, 0, 0]')],
    'numbers, not all 0': [('outward: [0, 0, 1]', 'outward: [0, 0, 0]')],
    'three finite numbers': [('outward: [0, 0, 1]', 'outward: [0, 1]')],
    'is not a link with geometry': [('{right_tip: {pad', '{rail: {pad')],
    'poisson_ratio must be': [('poisson_ratio: 0.4', 'poisson_ratio: 0.5')],
    'thickness must be above 0': [('thickness: 0.002', 'thickness: 0')],
    "pad 'soft'": [('thickness: 0.002', 'width: 0.002')],
    'is outside its limits': [('[-0.5, -0.01]', '[-5.0, -0.01]')],
    '2 values are needed': [('[-0.5, -0.01]', '[-0.5]')],
    'expected a list or a mapping': [('[-0.5, -0.01]', 'ajar')],
    'needs the keys open and closed': [('closed:', 'shut:')],
    'at least one is needed': [('preshapes: {wide', 'preshapes: {}\nadjacent: []\n#{wide')],
    'joint_stiffness must be above 0': [('swing: 15.0', 'swing: 0.0')],
    'joint_stiffness must be a number': [('{slide: 4000.0, swing: 15.0}', 'stiff')],
    'is not a finger link': [('right: right_tip}', 'right: rail}')],
    'adjacent: expected pairs': [('name: gripper', 'name: gripper\nadjacent: [[left]]')],
}


@pytest.mark.parametrize('message', URDF_FAULTS)
def test_a_faulty_urdf_is_refused_in_one_line(tmp_path, message):
    with pytest.raises(HandError, match=message) as error:
        load_changed(tmp_path, urdf=URDF_FAULTS[message])
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('message', CONFIG_FAULTS)
def test_a_faulty_configuration_is_refused_in_one_line(tmp_path, message):
    with pytest.raises(HandError, match=message) as error:
        load_changed(tmp_path, config=CONFIG_FAULTS[message])
    assert '\n' not in str(error.value)


def test_a_mimic_of_a_mimic_follows_the_joint_that_moves_both(tmp_path):
    hand = load_changed(
        tmp_path, [('upper="1.5" effort="3" velocity="2"/>', 'upper="1.5" effort="3" '
                    'velocity="2"/><mimic joint="slide" multiplier="2" offset="0.5"/>')],
        [('[swing, slide]', '[slide]'), ('{slide: 4000.0, swing: 15.0}', '{slide: 4000.0}'),
         ('open: [-0.5, -0.01], closed: {slide: 0.02, swing: 0.9}',
          'open: [-0.01], closed: {slide: 0.02}')])
    curl = hand.tree.names.index('right_tip')
    # curl = -0.8 swing + 0.1, swing = 2 slide + 0.5
    assert hand.tree.multiplier[curl] == pytest.approx(-1.6)
    assert hand.tree.offset[curl] == pytest.approx(-0.3)


def test_several_shapes_of_a_link_are_one_closed_surface(tmp_path):
    wider = ('<link name="right_tip"><collision><origin xyz="0.01 0 0"/><geometry>'
             '<box size="0.02 0.03 0.04"/></geometry></collision>')
    hand = load_changed(tmp_path, [('<link name="right_tip">', wider)])
    mesh = hand.links[hand.link_index('right_tip')].mesh
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.03, 0.03, 0.04], atol=1e-9)
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(0.03 * 0.03 * 0.04)


@pytest.mark.parametrize('shape, volume', [
    ('<box size="0.02 0.03 0.04"/>', 2.4e-5), ('<sphere radius="0.02"/>', 4e-6 / 3 * 8 * np.pi),
    ('<cylinder radius="0.01" length="0.05"/>', 5e-6 * np.pi)])
def test_primitives_have_their_volume(tmp_path, shape, volume):
    hand = load_changed(tmp_path, [('<mesh filename="block.stl" scale="0.5 0.5 0.5"/>', shape)])
    mesh = hand.links[hand.link_index('left')].mesh
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(volume, rel=0.01)


def test_an_open_mesh_counts_as_its_hull_and_is_told(tmp_path):
    arguments = hand_cases.write_hand(tmp_path)
    block = trimesh.load(tmp_path / 'block.stl')
    trimesh.Trimesh(block.vertices, block.faces[:-4]).export(tmp_path / 'open.stl')
    urdf = hand_cases.GRIPPER_URDF.replace('block.stl', 'open.stl', 1)
    arguments[0].write_text(urdf)
    hand = HandModel.load(*arguments)
    assert any('body: open.stl' in note and 'hull' in note for note in hand.notes)


def test_fixed_links_are_parts_of_what_carries_them(tmp_path):
    tip = ('<link name="cap"><collision><geometry><box size="0.01 0.01 0.01"/></geometry>'
           '</collision></link><joint name="glue" type="fixed"><parent link="left"/>'
           '<child link="cap"/><origin xyz="0 0 0.1"/></joint></robot>')
    apart = load_changed(tmp_path / 'apart', [('</robot>', tip)])
    merged = load_changed(tmp_path / 'merged', [('</robot>', tip)],
                          [('name: gripper', 'name: gripper\nmerge_fixed: true')])
    assert 'cap' in apart.link_names and 'cap' not in merged.link_names
    left = merged.links[merged.link_index('left')].mesh
    assert left.vertices[:, 2].max() == pytest.approx(0.105)


def test_a_file_that_names_its_urdf_is_enough(tmp_path):
    urdf, config, _ = hand_cases.write_hand(tmp_path / 'robot')
    own = tmp_path / 'own.yaml'
    own.write_text('urdf: robot/hand.urdf\n' + config.read_text())
    assert HandModel.load(own).link_names == HandModel.load(urdf, config).link_names
    with pytest.raises(HandError, match='names no URDF'):
        HandModel.load(config)


@pytest.mark.parametrize('name, found', [('hand_description', True), ('hand', False)])
def test_a_clone_of_another_name_is_found_by_its_manifest(tmp_path, name, found):
    hand_cases.write_hand(tmp_path / 'Clone_1' / 'urdf', hand_cases.GRIPPER_URDF.replace(
        'block.stl', f'package://{name}/urdf/block.stl'))
    (tmp_path / 'Clone_1' / 'package.xml').write_text(
        '<package format="3"><name>\n  hand_description </name></package>')
    own = tmp_path / 'own.yaml'
    own.write_text('urdf: Clone_1/urdf/hand.urdf\n'
                   + (tmp_path / 'Clone_1' / 'urdf' / 'hand.yaml').read_text())
    if found:
        assert 'right_tip' in HandModel.load(own).link_names
    else:
        with pytest.raises(HandError, match='no folder around the URDF is called so'):
            HandModel.load(own)


@pytest.mark.parametrize('scheme', ['package', 'model'])
@pytest.mark.parametrize('packages', [{}, {'robot_package': 'robot'}])
def test_packages_are_named_or_found_around_the_urdf(tmp_path, packages, scheme):
    name = 'robot_package' if packages else 'robot'
    urdf, config, _ = hand_cases.write_hand(
        tmp_path / 'robot', hand_cases.GRIPPER_URDF.replace('block.stl',
                                                            f'{scheme}://{name}/block.stl'))
    own = tmp_path / 'own.yaml'
    own.write_text(f'urdf: robot/hand.urdf\npackages: {packages}\n' + config.read_text())
    assert 'right_tip' in HandModel.load(own).link_names
    urdf.write_text(urdf.read_text().replace(name, 'unheard_of'))
    with pytest.raises(HandError, match='--package unheard_of=DIR'):
        HandModel.load(own)


def test_the_axes_of_grasping_are_square_and_named(tmp_path):
    hand = load_changed(tmp_path, config=[
        ('name: gripper', 'name: gripper\napproach: [2, 0, 0]\nacross: [1, 0, 3]')])
    np.testing.assert_allclose(hand.palm_axes, np.transpose([[0, 0, 1], [0, -1, 0], [1, 0, 0]]),
                               atol=1e-12)
    np.testing.assert_array_equal(hand.approach, hand.palm_axes[:, 2])
    with pytest.raises(HandError, match='parallel'):
        load_changed(tmp_path / 'b', config=[
            ('name: gripper', 'name: gripper\napproach: [1, 0, 0]\nacross: [1, 0, 0]')])


def test_efforts_of_the_file_replace_those_of_the_urdf(tmp_path):
    hand = load_changed(tmp_path, config=[
        ('name: gripper', 'name: gripper\njoint_efforts: {swing: 1.0, slide: 30.0}')])
    np.testing.assert_array_equal(hand.joint_efforts, [1.0, 30.0])
    np.testing.assert_array_equal(hand.prismatic, [False, True])


def test_a_missing_file_is_refused(tmp_path):
    urdf, _, resolve = hand_cases.write_hand(tmp_path)
    with pytest.raises(HandError, match='cannot read'):
        HandModel.load(urdf, tmp_path / 'none.yaml', resolve)


def test_adjacent_links_are_neighbours(tmp_path):
    hand = load_changed(tmp_path, config=[('name: gripper',
                                           'name: gripper\nadjacent: [[left, right]]')])
    assert hand.neighbours[hand.link_index('left'), hand.link_index('right')]


def test_a_joint_above_the_base_is_not_the_hands(tmp_path):
    with pytest.raises(HandError, match=r"joints \['a'\] do not hang on base_link 'upper'"):
        HandModel.load(*hand_cases.write_hand(
            tmp_path, hand_cases.PLANAR_URDF,
            hand_cases.PLANAR_CONFIG.replace('base_link: base', 'base_link: upper')))
