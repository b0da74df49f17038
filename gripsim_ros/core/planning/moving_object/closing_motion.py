"""How far an object moves while a hand closes on it, and whether the closed hand then bears it."""

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import load_wrenches
from ...hand import HandModel
from ...transforms import inverse
from ..options import ClosingDynamics
from ..ranked_grasp import ClosingMotion
from ..task import Task
from .free_body import Ground
from .ground import standing_points
from .motion import SPIN_RADIUS, NO_GROUND, MovingObject, along

#: Speed of the object below which it rests [m/s]; of its turn, at its radius.
REST_SPEED = 0.002
#: Normal force from which a link counts as pressing [N].
PRESSES = 0.01
#: Corrections of the grip until the joints exert its torques where the object has given way.
PRESS_STEPS = 4
#: Way of the object beyond which it counts as lost [m].
MAX_PUSH = 0.02
#: Time in which a load grows, and after which its effect is looked at [s].
GROWTH_TIME, LOAD_TIME = 0.2, 0.5
#: Speed below which an object rests under a load, looked at after so many steps [m/s].
STILL, WAIT_STEPS = 0.0005, 5
#: Largest shift and turn under a load, springs of joints included [m, rad].
MAX_SHIFT, MAX_TURN = 0.005, np.deg2rad(5.0)


def predict_closing_motion(grasp_object: GraspObject, hand: HandModel, task: Task,
                           T_object_palm: Array, rows: Array, grip: Array,
                           dynamics: ClosingDynamics, loads: Array | None = None,
                           spin_radius: float = SPIN_RADIUS) -> ClosingMotion:
    """
    Return how an object moves while a hand closes on it.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
        An obstacle on which the object stands carries it; else it floats.
    T_object_palm : (4, 4) float
        Of the palm, which stands still, in the object before.
    rows : (m, J) float
        Joint trajectory [rad].
    grip : (J,) float
        Where the joints are sent then [rad]; stretched springs exert torques.
    dynamics : ClosingDynamics
    loads : (c, 9) float, optional
        Load cases (see ``grasp_theory.load_cases``) that the closed hand is to bear, without
        the ground.
    spin_radius : float, optional
        At which friction resists the turn about a contact's normal [m].

    Returns
    -------
    ClosingMotion
    """
    ground, weight = _ground(grasp_object, task, T_object_palm)
    moving = MovingObject(grasp_object, hand, T_object_palm, rows[0], dynamics, ground,
                          spin_radius)
    moving.wrench = weight
    moving.follow(along(rows, max(1, round(dynamics.closing_time / dynamics.time_step))))
    _squeeze(moving, rows[-1], grip, dynamics)
    moved, way = moving.T_object_moved, _way(moving, grasp_object)
    pressing = int((moving.normal_forces > PRESSES).sum())
    return ClosingMotion(
        moved, way, _angle(moved),
        _lost_time(hand, moving.touched) * dynamics.time_step,
        bool(_speed(moving, _radius(grasp_object)) < REST_SPEED and pressing > 1),
        None if loads is None else _bears(
            moving, grasp_object, _pressed(moving, hand, rows[-1], grip, dynamics), loads,
            dynamics))


def _squeeze(moving: MovingObject, before: Array, grip: Array, dynamics: ClosingDynamics) -> None:
    """Send the joints from one command to another, then wait as long."""
    half = max(1, round(0.5 * dynamics.squeeze_time / dynamics.time_step))
    moving.follow(np.concatenate([along(np.stack([before, grip]), half),
                                  np.repeat(grip[None], half, axis=0)]))


def _pressed(moving: MovingObject, hand: HandModel, closed: Array, grip: Array,
             dynamics: ClosingDynamics) -> Array:
    """Press until the joints exert the torques of the grip; return their command (J,) [rad]."""
    command = grip
    for _ in range(PRESS_STEPS):
        # A spring exerts its torque where it is stretched as the grip is from the closed hand.
        wanted = np.clip(moving.joints + grip - closed, hand.joint_lower, hand.joint_upper)
        _squeeze(moving, command, wanted, dynamics)
        command = wanted
    return command


def _radius(grasp_object: GraspObject) -> float:
    return 0.5 * float(np.ptp(grasp_object.mesh.vertices, axis=0).max())


def _speed(moving: MovingObject, radius: float) -> float:
    """Return the speed of the centre of mass and of a place at a radius about it [m/s]."""
    return float(np.linalg.norm(moving.speeds[:3]) + radius * np.linalg.norm(moving.speeds[3:]))


def _way(moving: MovingObject, grasp_object: GraspObject) -> float:
    """Return how far the centre of mass has moved [m]."""
    centre, moved = grasp_object.mass_properties.centre_of_mass, moving.T_object_moved
    return float(np.linalg.norm(moved[:3, :3] @ centre + moved[:3, 3] - centre))


def _ground(grasp_object: GraspObject, task: Task, T_object_palm: Array
            ) -> tuple[Ground, Array]:
    """Return the ground in the palm's frame, and the weight (6,) that presses on it."""
    standing = standing_points(grasp_object, task)
    if standing is None:
        return NO_GROUND, np.zeros(6)
    points, up = standing
    T_palm_object = inverse(T_object_palm)
    normal = T_palm_object[:3, :3] @ up
    height = float((points @ up).min() + normal @ T_palm_object[:3, 3])
    weight = grasp_object.mass_properties.mass * task.gravity
    return Ground(points, normal, height), np.concatenate([-weight * normal, np.zeros(3)])


def _lost_time(hand: HandModel, touched: Array) -> float:
    """Return the steps between the first touches of the first finger and of the last."""
    times = [touched[list(finger.links)].min() for finger in hand.fingers]
    times = [time for time in times if np.isfinite(time)]
    return float(max(times) - min(times)) if times else 0.0


def _bears(moving: MovingObject, grasp_object: GraspObject, grip: Array, loads: Array,
           dynamics: ClosingDynamics) -> bool:
    """Return whether the closed hand bears every load, each alone, from where it has closed."""
    if _way(moving, grasp_object) > MAX_PUSH:
        return False
    moving.lift()
    mass, begin = grasp_object.mass_properties, moving.T_palm_object
    # Loads keep their directions while the object turns.
    turn = begin[:3, :3] @ moving.T_object_moved[:3, :3].T
    wrenches = load_wrenches(loads, mass.mass, mass.centre_of_mass).reshape(-1, 2, 3) @ turn.T
    for wrench in wrenches.reshape(-1, 6):
        loaded = moving.copy()
        _apply_load(loaded, grip, wrench, _radius(grasp_object), dynamics.time_step)
        change = inverse(begin) @ loaded.T_palm_object
        shift = change[:3, :3] @ mass.centre_of_mass + change[:3, 3] - mass.centre_of_mass
        if np.linalg.norm(shift) > MAX_SHIFT or _angle(change) > MAX_TURN:
            return False
    return True


def _apply_load(loaded: MovingObject, grip: Array, wrench: Array, radius: float,
                time_step: float) -> None:
    """Let a load grow, and wait until the object rests under it, ``LOAD_TIME`` in all at most."""
    growing, left = (max(1, round(time / time_step))
                     for time in (GROWTH_TIME, LOAD_TIME - GROWTH_TIME))
    loaded.follow(np.repeat(grip[None], growing, axis=0),
                  np.arange(1, growing + 1)[:, None] / growing * wrench)
    still = False
    while left > 0 and not still:
        count = min(left, WAIT_STEPS)
        loaded.follow(np.repeat(grip[None], count, axis=0), wrench)
        left, still = left - count, _speed(loaded, radius) < STILL


def _angle(T: Array) -> float:
    return float(Rotation.from_matrix(T[:3, :3]).magnitude())
