"""The data of a whole motion inside a report: poses of arm, hand and object, and where to look."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.hand import forward_kinematics
from ...core.transforms import apply
from ...library.display import ARM_COLOUR
from ...library.drawing.render import Viewpoint, best_viewpoint
from ...library.drawing.scene import DisplayScene
from ...library.whole_motion import FEW, Moment
from .packing import numbers, packed, packed_mesh

Array = NDArray[np.float64]

#: Height of the eye before an arm [rad].
ELEVATION = 0.3


def arm_data(scene: DisplayScene) -> dict[str, Any] | None:
    """Return the convex parts of the plan's arm and their colour, None without one."""
    arm = scene.arm
    return None if arm is None else {
        'parts': [packed_mesh(mesh) for mesh in arm.meshes], 'colour': list(ARM_COLOUR)}


def surroundings_data(scene: DisplayScene) -> list[dict[str, Any]]:
    """Return what stands about the object in its first frame, each with its colour."""
    return [{**packed_mesh(one.mesh), 'colour': list(one.colour)} for one in scene.surroundings]


def motion_data(scene: DisplayScene, index: int) -> dict[str, Any] | None:
    """
    Return a grasp's whole motion with the forces on the way, if it has one.

    Parameters
    ----------
    scene : DisplayScene
    index : int
        Of the grasp.
    """
    moments = scene.motion(index)
    if not moments:
        return None
    T_object_link = np.array([moment.T_object_palm for moment in moments])[:, None] \
        @ forward_kinematics(scene.hand, np.array([moment.joints for moment in moments]))
    steps = [moment.step for moment in moments]
    arm_poses = part_poses(scene, moments)
    return {
        **_seen_from(scene, index, moments),
        'phases': [moment.phase + ('' if step is None else f', margin {step.margin:.2f}')
                   for moment, step in zip(moments, steps)],
        'poses': packed(T_object_link, '<f4'),
        'arm': None if arm_poses is None else packed(arm_poses, '<f4'),
        'object': packed(np.array([moment.T_object_moved for moment in moments]), '<f4'),
        'forces': [[] if step is None else [
            [numbers(point), numbers(force)]
            for point, force in zip(step.points, step.minimal_forces)] for step in steps]}


def part_poses(scene: DisplayScene, moments: tuple[Moment, ...]) -> Array | None:
    """Return ``T_object_part (m, p, 4, 4)`` of the arm at some moments, None without it."""
    joints = [moment.arm_joints for moment in moments if moment.arm_joints is not None]
    if scene.arm is None or len(joints) < len(moments):
        return None
    return np.array([scene.arm.part_poses(row) for row in joints])


def motion_viewpoint(scene: DisplayScene, index: int, moments: tuple[Moment, ...]) -> Viewpoint:
    """Return where a whole motion is seen from: an arm from its side, else as the grasp is."""
    view, poses = best_viewpoint(scene, index), part_poses(scene, moments)
    if poses is None or scene.arm is None:
        moves = np.array([moment.T_object_moved[:3, 3] for moment in moments])
        palms = np.array([moment.T_object_palm[:3, 3] - moments[FEW].T_object_palm[:3, 3]
                          for moment in moments])
        low, high = (end(np.concatenate([moves, palms]), axis=0) for end in (np.min, np.max))
        return Viewpoint(view.focus + 0.5 * (low + high),
                         float(view.radius + 0.5 * np.linalg.norm(high - low)), view.towards,
                         view.up)
    points = np.concatenate([apply(T, mesh.vertices) for row in poses
                             for T, mesh in zip(row, scene.arm.meshes)] + [
        apply(T, scene.vertices[::10]) for T in (moment.T_object_moved for moment in moments)])
    focus = 0.5 * (points.min(axis=0) + points.max(axis=0))
    up, base = scene.arm.T_base_object[2, :3], poses[0, 0, :3, 3]
    towards = np.cross(up, scene.vertices.mean(axis=0) - base)
    towards = np.cos(ELEVATION) * towards / np.linalg.norm(towards) + np.sin(ELEVATION) * up
    radius = 0.85 * float(np.linalg.norm(points - focus, axis=1).max())
    return Viewpoint(focus, radius, towards, up)


def _seen_from(scene: DisplayScene, index: int, moments: tuple[Moment, ...]) -> dict[str, Any]:
    """Return the ball that is to be seen and, of an arm, the directions up and to the eye."""
    view = motion_viewpoint(scene, index, moments)
    ball = {'centre': numbers(view.focus), 'radius': float(view.radius)}
    if moments[0].arm_joints is None:
        return ball
    across = np.cross(view.up, np.cross(view.towards, view.up))
    return {**ball, 'up': numbers(view.up), 'across': numbers(across), 'turn': [0.0, ELEVATION]}
