"""Small made-up hands, as files, for tests of loading and kinematics."""

from pathlib import Path

import numpy as np
import trimesh

#: Axes, limits and a mimic unlike the SDH's; one prismatic joint.
GRIPPER_URDF = """<?xml version="1.0"?>
<robot name="gripper">
  <link name="body"><collision><geometry>
    <mesh filename="block.stl"/></geometry></collision></link>
  <link name="rail"/>
  <link name="left"><collision><origin xyz="0 0 0.02" rpy="0 0 0.3"/><geometry>
    <mesh filename="block.stl" scale="0.5 0.5 0.5"/></geometry></collision></link>
  <link name="right"><collision><geometry>
    <mesh filename="block.stl"/></geometry></collision></link>
  <link name="right_tip"><collision><geometry>
    <mesh filename="block.stl"/></geometry></collision></link>
  <joint name="mount" type="fixed"><parent link="body"/><child link="rail"/>
    <origin xyz="0 0 0.05" rpy="0.2 0 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="left"/>
    <origin xyz="0.05 0 0" rpy="0 0 1.0"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-0.02" upper="0.03" effort="20" velocity="0.1"/></joint>
  <joint name="swing" type="revolute"><parent link="rail"/><child link="right"/>
    <origin xyz="-0.05 0 0" rpy="0 0.4 0"/><axis xyz="1 2 0"/>
    <limit lower="-1" upper="1.5" effort="3" velocity="2"/></joint>
  <joint name="curl" type="revolute"><parent link="right"/><child link="right_tip"/>
    <origin xyz="0 0 0.06" rpy="0 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="3" velocity="2"/>
    <mimic joint="swing" multiplier="-0.8" offset="0.1"/></joint>
  <ros2_control name="x" type="system"/>
</robot>
"""

GRIPPER_CONFIG = """
name: gripper
base_link: body
joints: [swing, slide]
joint_stiffness: {slide: 4000.0, swing: 15.0}
fingers: {left: left, right: right_tip}
pads: {soft: {youngs_modulus: 1.0e+6, poisson_ratio: 0.4, thickness: 0.002}}
surfaces: {right_tip: {pad: soft, outward: [0, 0, 1]}}
preshapes: {wide: {open: [-0.5, -0.01], closed: {slide: 0.02, swing: 0.9}}}
"""

#: Two links of length 1 m turning about z, as in a planar arm.
PLANAR_URDF = """<?xml version="1.0"?>
<robot name="planar">
  <link name="base"><collision><geometry><mesh filename="block.stl"/></geometry></collision></link>
  <link name="upper"><collision><geometry>
    <mesh filename="block.stl"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="1 0 0"/><geometry>
    <mesh filename="block.stl"/></geometry></collision></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="b" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
</robot>
"""

PLANAR_CONFIG = """
name: planar
base_link: base
joints: [a, b]
joint_stiffness: 1.0
fingers: {arm: lower}
preshapes: {flat: {open: [0, 0], closed: [1, 1]}}
"""


def write_hand(folder: Path, urdf: str = GRIPPER_URDF, config: str = GRIPPER_CONFIG) -> tuple:
    """Write a hand's files; return the arguments of ``HandModel.load``."""
    folder.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box(np.array([0.02, 0.03, 0.04])).export(folder / 'block.stl')
    (folder / 'hand.urdf').write_text(urdf)
    (folder / 'hand.yaml').write_text(config)
    return folder / 'hand.urdf', folder / 'hand.yaml', lambda uri: folder / uri
