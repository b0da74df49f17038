"""A real arm before an object, and grasps that it brings: by inverse kinematics alone."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from gripsim_ros.core.arm import ArmMotion, load_arm
from gripsim_ros.core.arm.model import ArmInverseKinematics
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.library.planned_arm import PlannedArm

ARM_FILE = Path(__file__).resolve().parents[1] / 'data' / 'ur5e.yaml'
#: The object before the arm's base, and how far it is lifted [m].
T_BASE_OBJECT, LIFT = transform(np.eye(3), np.array([0.5, 0.1, 0.3])), np.array([0.0, 0.0, 0.05])


@lru_cache(maxsize=1)
def planned_arm():
    """Return the arm of the file before the object."""
    return PlannedArm(load_arm(ARM_FILE, Path), T_BASE_OBJECT, str(ARM_FILE))


def brought(grasp):
    """Return a grasp whose object is carried along its way, with the arm's motion for it."""
    arm, way = planned_arm().arm, grasp.reach
    inverse_kinematics, T_lift = ArmInverseKinematics(arm), transform(np.eye(3), LIFT)
    back = inverse(grasp.T_object_palm) @ grasp.T_object_pregrasp
    palms = [('approach', grasp.T_object_palm), ('lift', T_lift @ grasp.T_object_palm),
             *(('carry', T_lift @ T) for T in way.T_object_palm),
             ('lower', way.T_object_palm[-1]), ('retreat', way.T_object_palm[-1] @ back)]
    start = inverse_kinematics.solutions(
        T_BASE_OBJECT @ grasp.T_object_pregrasp, arm.start, 20)[0]
    rows, phases = [arm.start, start], ['start', 'start']
    for phase, T in palms:
        rows.append(inverse_kinematics.solve(T_BASE_OBJECT @ T, rows[-1]))
        phases.append(phase)
    return replace(grasp, arm_motion=ArmMotion(
        np.array(rows), tuple(phases), 1.0, -1, '', arm.joint_names))
