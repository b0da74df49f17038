"""The URDF: up to date with its xacro, physically sound, with the published frames."""

from pathlib import Path
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
ATOL_ROUNDOFF = 1e-12
#: Sum of the published link masses [kg].
TOTAL_MASS = 1.9495


@pytest.fixture(scope='module')
def robot():
    return ElementTree.parse(ROOT / 'urdf' / 'sdh.urdf').getroot()


@pytest.fixture
def generate_urdf(monkeypatch):
    pytest.importorskip('xacro')
    monkeypatch.syspath_prepend(str(ROOT / 'tools'))
    import generate_urdf
    return generate_urdf


def test_the_plain_urdf_is_up_to_date(generate_urdf):
    assert generate_urdf.expand() == (ROOT / 'urdf' / 'sdh.urdf').read_text(encoding='utf-8')


def test_the_check_tells_a_stale_file(generate_urdf, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, 'argv', ['generate_urdf.py', '--check'])
    assert generate_urdf.main() == 0
    monkeypatch.setattr(generate_urdf, 'TARGET', tmp_path / 'sdh.urdf')
    (tmp_path / 'sdh.urdf').write_text('<robot/>')
    assert generate_urdf.main() == 1


def test_the_macro_puts_a_prefix_before_each_name_and_hangs_on_a_parent(generate_urdf, tmp_path):
    import xacro
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(f"""<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
        <xacro:include filename="{ROOT / 'urdf' / 'sdh.urdf.xacro'}"/><link name="flange"/>
        <xacro:sdh prefix="left_" parent="flange"><origin xyz="0 0 0.1"/></xacro:sdh></robot>""")
    arm = ElementTree.fromstring(xacro.process_file(str(file)).toxml())
    names = [e.get('name') for e in arm.iter() if e.tag in ('link', 'joint')]
    assert all(n.startswith('left_sdh_') for n in names if n not in (None, 'flange'))
    mount = arm.find("joint[@name='left_sdh_palm_joint']")
    assert mount.find('parent').get('link') == 'flange'
    assert mount.find('origin').get('xyz') == '0 0 0.1'
    assert arm.find('.//mimic').get('joint') == 'left_sdh_knuckle_joint'


def test_the_links_have_the_published_mass(robot):
    assert sum(float(m.get('value')) for m in robot.iter('mass')) == \
        pytest.approx(TOTAL_MASS, abs=1e-3)


def test_inertias_are_those_of_bodies(robot):
    for inertia in robot.iter('inertia'):
        xx, xy, xz, yy, yz, zz = (float(inertia.get(k)) for k in
                                  ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert moments[0] > 0.0
        assert moments[2] <= moments[0] + moments[1]


def test_the_distal_centre_of_mass_is_its_own(robot):
    for finger in ('finger_13', 'finger_23', 'thumb_3'):
        origin = robot.find(f"link[@name='sdh_{finger}_link']/inertial/origin")
        np.testing.assert_allclose([float(x) for x in origin.get('xyz').split()],
                                   [0.00099, 0.00200, 0.03159], rtol=0.0, atol=ATOL_ROUNDOFF)


def test_fixed_frames_are_above_the_palm(robot):
    for name, height in (('sdh_grasp', 0.15), ('sdh_tip', 0.22)):
        joint = robot.find(f"joint[@name='{name}_joint']")
        assert joint.find('parent').get('link') == 'sdh_palm_link'
        assert float(joint.find('origin').get('xyz').split()[2]) == pytest.approx(height)
