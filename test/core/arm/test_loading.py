"""Arms from files: collision shapes, limits, and one clear line for what is wrong."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
import yaml
from yourdfpy import Box, Cylinder, Mesh, Sphere

from gripsim_ros.core.arm import load_arm
from gripsim_ros.core.arm.loading import shape_points
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.errors import ArmError

NO_MESH = Path('/nowhere')
#: Polyhedra about round shapes stand off by at most so much of the radius.
ROUND = 0.2

URDF = """<robot name="two">
  <link name="base"/>
  <link name="upper">{upper}</link>
  <link name="lower"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="aside"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="turn" type="{kind}"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/>{limit}</joint>
  <joint name="lean" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="1" velocity="1"/></joint>
</robot>"""
BOX = '<collision><geometry><box size="0.1 0.1 0.3"/></geometry></collision>'
LIMIT = '<limit lower="-2" upper="2" effort="1" velocity="1"/>'


def write(folder, content=None, upper=BOX, kind='revolute', limit=LIMIT, **changes):
    """Write an arm's files; return the path of its configuration."""
    (folder / 'arm.urdf').write_text(URDF.format(upper=upper, kind=kind, limit=limit))
    values = {'name': 'two', 'urdf': 'arm.urdf', 'base_link': 'base', 'tip_link': 'lower',
              'joints': ['turn', 'lean'], 'start': [0.0, 0.5],
              'tip_palm': {'position': [0, 0, 0.1], 'orientation': [0, 0, 0, 1]}, **changes}
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump(values) if content is None else content)
    return path


@pytest.mark.parametrize('kind, limit', [('continuous', ''), ('continuous', LIMIT)])
def test_a_joint_without_end_may_turn_once_each_way(tmp_path, kind, limit):
    arm = load_arm(write(tmp_path, kind=kind, limit=limit), Path)
    assert_allclose(arm.joint_lower, [-2.0 * np.pi, -1.0])
    assert_allclose(arm.joint_upper, [2.0 * np.pi, 1.5])


def test_only_links_of_the_chain_have_parts(tmp_path):
    arm = load_arm(write(tmp_path), Path)
    assert [arm.tree.names[frame] for frame in arm.part_frames] == ['upper', 'lower']
    assert_array_equal(np.abs(arm.parts[0].vertices).max(axis=0), [0.05, 0.05, 0.15])


@pytest.mark.parametrize('content, said', [
    ('[1, 2]', 'an arm needs the keys'), ('a: [', 'arm.yaml: '), ('', 'an arm needs the keys')])
def test_a_file_that_is_no_arm_is_refused(tmp_path, content, said):
    with pytest.raises(ArmError, match=said):
        load_arm(write(tmp_path, content), Path)


@pytest.mark.parametrize('change, said', [
    ({'joints': 'turn'}, 'joints and start must be lists'),
    ({'start': 0.0}, 'joints and start must be lists'),
    ({'lift': True}, 'lift must be from 0 to 2 m'),
    ({'tip_palm': {'position': [0, 0], 'orientation': [0, 0, 0, 1]}}, 'tip_palm must be'),
    ({'adjacent': [['base', 'upper', 'lower']]}, 'adjacent needs pairs of links')])
def test_a_value_of_the_wrong_kind_is_refused(tmp_path, change, said):
    with pytest.raises(ArmError, match=said):
        load_arm(write(tmp_path, **change), Path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ArmError, match='cannot read .*no.yaml'):
        load_arm(tmp_path / 'no.yaml', Path)


def test_an_urdf_without_any_collision_shape_is_refused(tmp_path):
    path = write(tmp_path, upper='')
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(urdf.read_text().replace('collision>', 'visual>'))
    with pytest.raises(ArmError, match='no collision geometry'):
        load_arm(path, Path)


def test_meshes_are_found_beside_the_urdf_or_by_the_resolver_of_addresses(tmp_path):
    mesh = shapes.box((0.1, 0.1, 0.3))
    (tmp_path / 'link.obj').write_text(
        ''.join(f'v {x} {y} {z}\n' for x, y, z in mesh.vertices)
        + ''.join(f'f {a + 1} {b + 1} {c + 1}\n' for a, b, c in mesh.faces))
    parts = []
    for address in ('link.obj', 'package://two/link.obj'):
        upper = (f'<collision><geometry><mesh filename="{address}" scale="1 1 2"/></geometry>'
                 '</collision>')
        arm = load_arm(write(tmp_path, upper=upper),
                       lambda uri: tmp_path / uri.rsplit('/', 1)[1])
        parts.append(arm.parts[0].vertices)
    assert_array_equal(parts[0], parts[1])
    assert_allclose(np.ptp(parts[0], axis=0), [0.1, 0.1, 0.6])


@pytest.mark.parametrize('geometry, half', [
    (Box(size=[0.2, 0.4, 0.6]), [0.1, 0.2, 0.3]),
    (Cylinder(radius=0.1, length=0.6), [0.1, 0.1, 0.3]), (Sphere(radius=0.1), [0.1] * 3)])
def test_a_shapes_points_surround_it_closely(geometry, half):
    points = shape_points(geometry, 'link', lambda uri: NO_MESH)
    largest = np.abs(points).max(axis=0)
    assert (largest >= np.array(half) * (1.0 - 1e-9)).all()
    assert (largest <= np.array(half) + ROUND * half[0]).all()


def test_a_mesh_that_cannot_be_read_is_refused_with_its_link():
    with pytest.raises(ArmError, match="link 'wrist': .*there is no such file"):
        shape_points(Mesh(filename='wrist.stl'), 'wrist', lambda uri: NO_MESH / uri)


def test_a_shape_of_an_unknown_kind_is_refused():
    with pytest.raises(ArmError, match="link 'wrist': unknown collision shape int"):
        shape_points(3, 'wrist', lambda uri: NO_MESH)
