"""Another arm beside the one that is planned for: what it meets, against a search of all pairs."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from arm_cases import ARM_FILE, planned_arm
from hypothesis import given, settings
from hypothesis import strategies as st

from gripsim_ros.core.arm import ArmTask, OtherArm
from gripsim_ros.core.arm.choice import make_scene
from gripsim_ros.core.arm.collision import BY_PROJECTION, WAY_STEP, groups_of_others
from gripsim_ros.core.contact.backends.convex.epa import pair_contact
from gripsim_ros.core.errors import ArmError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import from_rotation_vector, inverse, transform
from gripsim_ros.library.planned_arm import load_other_arms
from gripsim_ros.library.resources import load_default_hand
from plan_cases import apple, CLOSED

FAR = transform(np.eye(3), np.array([0.0, 0.0, 5.0]))


@lru_cache(maxsize=1)
def scene():
    """Return the scene of the arm alone, its object far away."""
    return make_scene(Task(), apple(), load_default_hand(), ArmTask(planned_arm().arm, FAR))


def first_collision(others, joints):
    """Return what the arm with its hand meets in a posture."""
    hand, made = load_default_hand(), replace(scene(), others=groups_of_others(others))
    links = planned_arm().arm.palm_pose(joints) @ forward_kinematics(hand, CLOSED[None])[0]
    return made.first_collision(joints, links, FAR)


def pairs_meet(other, joints):
    """Return whether any part of arm or hand meets one of the other, pair by pair."""
    arm, hand = planned_arm().arm, load_default_hand()
    links = arm.palm_pose(joints) @ forward_kinematics(hand, CLOSED[None])[0]
    made = scene()
    mine = [part.with_transform(T) for part, T in
            zip(arm.parts, arm.poses(joints)[arm.part_frames])] + [
        part.with_transform(T) for part, T in zip(made.hand_parts, links)]
    poses = other.T_base_other @ other.arm.poses(other.way[0])[other.arm.part_frames]
    theirs = [part.with_transform(T) for part, T in zip(other.arm.parts, poses)]
    return any(pair_contact(a, b).overlap for a in mine for b in theirs)


def row():
    """Joints well inside their limits."""
    return st.lists(st.floats(-2.5, 2.5), min_size=6, max_size=6).map(np.array)


@given(theirs=row(), away=st.floats(0.2, 1.2), turn=st.floats(-3.0, 3.0))
@settings(max_examples=8, deadline=None)
def test_the_cascade_agrees_with_a_search_of_all_pairs(theirs, away, turn):
    mine = planned_arm().arm.start
    assert not first_collision((), mine)        # alone it meets nothing
    other = OtherArm(planned_arm().arm, from_rotation_vector(
        np.array([away, 0.1, 0.0, 0.0, 0.0, turn])), theirs[None])
    found = first_collision([other], mine)
    assert bool(found) == pairs_meet(other, mine)
    assert not found or "ur5e's " in found


def test_arms_whose_ends_do_not_pass_each_other_are_told_apart_between_their_bases():
    """Two arms that reach towards each other, far enough apart: one projection each tells."""
    arm = planned_arm().arm
    for away, told in ((-3.0, True), (-1.0, False)):
        other = OtherArm(arm, from_rotation_vector(
            np.array([away, 0.0, 0.0, 0.0, 0.0, np.pi])), arm.start[None])
        made = replace(scene(), others=groups_of_others([other]), decided=Counter())
        links = arm.palm_pose(arm.start) @ forward_kinematics(
            load_default_hand(), CLOSED[None])[0]
        alone = replace(scene(), decided=Counter())
        for seen in (made, alone):
            seen.first_collision(arm.start, links, FAR)
        with_others, own = (sum(n for test, n in seen.decided.items() if test != BY_PROJECTION)
                            for seen in (made, alone))
        assert not alone.decided[BY_PROJECTION]
        assert (with_others == own) == told         # nothing finer was asked of the other arm
        assert made.decided[BY_PROJECTION] > 0


def test_a_moving_arm_is_met_wherever_it_is_on_its_way():
    """Free where it begins and where it ends, and in the way between."""
    arm = planned_arm().arm
    base = transform(np.eye(3), np.array([0.9, 0.0, 0.0]))
    ends = np.tile(np.array([0.0, -1.57, 0.0, -1.57, 0.0, 0.0]), (2, 1))
    ends[:, 0] = -np.pi / 2.0, np.pi / 2.0
    ends[:, 1] = -0.3
    for end in ends:
        assert not first_collision([OtherArm(arm, base, end[None])], arm.start)
    moving = OtherArm(arm, base, ends)
    assert "ur5e's " in first_collision([moving], arm.start)
    rows = np.array(list(moving.postures()))
    assert np.abs(np.diff(rows, axis=0)).max() <= WAY_STEP + 1e-12
    assert (rows[0] == ends[0]).all() and (rows[-1] == ends[1]).all()


def test_other_arms_are_read_from_a_file(tmp_path):
    file, pose = tmp_path / 'others.yaml', {'position': [1.0, 0.0, 0.0],
                                            'orientation': [0.0, 0.0, 0.0, 1.0]}
    file.write_text(yaml.safe_dump([{'arm': str(ARM_FILE), 'pose': pose, 'joints': [0.0] * 6}]))
    other, = load_other_arms(file)
    assert other.way.shape == (1, 6) and other.T_base_other[0, 3] == 1.0
    assert np.allclose(inverse(other.T_base_other) @ other.T_base_other, np.eye(4))


@pytest.mark.parametrize('told, words', [
    ('{}', r'needs a list of \{arm, pose, joints\}'), ('[{arm: a.yaml}]', 'cannot read'),
    ('[3]', 'arm 1 must be'), ('a: [', 'other arms'),
    ('[{{arm: {arm}, pose: {{position: [0, 0, 0], orientation: [0, 0, 0, 1]}}, joints: [9]}}]',
     r"arm 1: joints of arm 'ur5e' must have shape \(6\)"),
    ('[{{arm: {arm}, pose: {{position: [0, 0, 0], orientation: [0, 0, 0, 1]}}, joints: []}}]',
     r"joints of arm 'ur5e' must have shape \(6\)")])
def test_bad_files_are_refused_in_one_line(told, words, tmp_path):
    file = Path(tmp_path / 'others.yaml')
    file.write_text(told.format(arm=ARM_FILE) if '{{' in told else told)
    with pytest.raises(ArmError, match=words) as caught:
        load_other_arms(file)
    assert '\n' not in str(caught.value)
