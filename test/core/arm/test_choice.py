"""What is too far for an arm is refused before anything is planned, and nothing else."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gripsim_ros.core.arm import ArmTask, check_distances, load_arm
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import ArmError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import apply, from_rotation_vector, transform
from gripsim_ros.library.resources import load_default_hand, resolve_uri

FILE = Path(__file__).resolve().parents[2] / 'data' / 'ur5e.yaml'
RADIUS = 0.03


@lru_cache(maxsize=1)
def parts():
    """Return an arm, a hand and a ball."""
    ball = GraspObject(shapes.sphere(RADIUS, 0.01), Material(1e6, 0.4, 900.0, 0.6))
    return load_arm(FILE, resolve_uri), load_default_hand(), ball


def at(x, y, z):
    return transform(np.eye(3), np.array([x, y, z], float))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_a_posture_of_arm_and_hand_touches_is_never_refused(seed, displaced):
    """Wherever arm and hand are, however the object is turned that a link's point touches."""
    arm, hand, ball = parts()
    random = np.random.default_rng(seed)
    palm = arm.palm_pose(random.uniform(arm.joint_lower, arm.joint_upper))
    joints = random.uniform(hand.joint_lower, hand.joint_upper)
    link = int(random.integers(len(hand.links)))
    points = apply(palm @ forward_kinematics(hand, joints[None])[0, link],
                   hand.links[link].mesh.vertices)
    point = points[np.linalg.norm(points, axis=1).argmax()]
    away = point / np.linalg.norm(point)
    T_base_object = from_rotation_vector(np.array([*(point + 0.9 * RADIUS * away),
                                                   *random.uniform(-3.0, 3.0, 3)]))
    near = at(0.4, 0.0, 0.3)
    if displaced:       # there from a place near the arm
        check_distances(Task(displacement_object=np.linalg.inv(near) @ T_base_object), ball, hand,
                        ArmTask(arm, near))
    else:
        check_distances(Task(), ball, hand, ArmTask(arm, T_base_object))


@pytest.mark.parametrize('place, displacement, words', [
    (at(3.0, 0.0, 0.0), None, r'the object stands 2\.97 m from the first joint of the arm, whose '
     r'links and hand reach 1\.\d\d m at most'),
    (at(0.5, 0.0, 0.2), at(0.0, 0.0, 3.0), r'task.displacement brings the object 3\.\d\d m')])
def test_what_is_too_far_is_refused_with_numbers(place, displacement, words):
    arm, hand, ball = parts()
    with pytest.raises(ArmError, match=words):
        check_distances(Task(displacement_object=displacement), ball, hand, ArmTask(arm, place))
