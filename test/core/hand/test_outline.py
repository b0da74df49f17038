"""A hand without its meshes: what it tells is what the whole hand tells."""

import subprocess
import sys

import hand_cases
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.errors import HandError
from gripsim_ros.core.hand import HandModel, HandOutline
from gripsim_ros.library.resources import load_default_hand, load_outline

#: Compares 50 postures by kernels that run as Python with the same by the compiled ones.
COMPARED = """
import sys
import numpy as np
from gripsim_ros.core.hand import forward_kinematics, link_poses_and_jacobians
from gripsim_ros.core.numerics.kernels import interpreted
from gripsim_ros.core.transforms import to_pose
from gripsim_ros.library.resources import load_outline
hand = load_outline()
q = np.random.default_rng(5).uniform(-1.5, 1.5, (50, 7))
def answers():
    poses = forward_kinematics(hand, q)
    turns = np.array([np.concatenate(to_pose(T)) for T in poses.reshape(-1, 4, 4)])
    return poses, turns, *link_poses_and_jacobians(hand, q)
with interpreted():
    slow = answers()
assert 'numba' not in sys.modules
for a, b in zip(slow, answers()):
    assert a.dtype == b.dtype and (a == b).all()
assert 'numba' in sys.modules
"""


@pytest.fixture(params=['sdh', 'gripper'])
def pair(request, tmp_path):
    """Return a hand and its outline."""
    if request.param == 'sdh':
        return load_default_hand(), load_outline()
    files = hand_cases.write_hand(tmp_path)
    return HandModel.load(*files), HandOutline.load(*files)


def test_it_has_the_numbers_of_the_whole_hand(pair):
    hand, outline = pair
    for name in ('name', 'base_link', 'joint_names', 'link_names', 'files'):
        assert getattr(outline, name) == getattr(hand, name)
    assert outline.content_id() == hand.id
    assert_array_equal(outline.link_frames, hand.link_frames)
    assert_array_equal(outline.tree.T_parent_joint, hand.tree.T_parent_joint)


def test_it_is_read_where_a_mesh_is_missing_but_has_no_content_then(tmp_path):
    files = hand_cases.write_hand(tmp_path)
    (tmp_path / 'block.stl').unlink()
    with pytest.raises(HandError, match='no mesh at'):
        HandModel.load(*files)
    outline = HandOutline.load(*files)
    assert len(outline.link_frames) == len(outline.link_names) > 1
    with pytest.raises(HandError, match='no mesh at'):
        outline.content_id()


def test_a_change_of_a_mesh_changes_what_it_is_known_by(tmp_path):
    files = hand_cases.write_hand(tmp_path)
    before = HandOutline.load(*files).content_id()
    mesh = tmp_path / 'block.stl'
    mesh.write_bytes(mesh.read_bytes() + b' ')
    assert HandOutline.load(*files).content_id() != before


def test_its_kinematics_without_the_compiler_are_those_of_the_kernels_to_the_bit():
    subprocess.run([sys.executable, '-c', COMPARED], check=True)
