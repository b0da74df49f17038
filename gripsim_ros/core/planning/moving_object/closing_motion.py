"""
How far an object moves while a hand closes on it, and whether the closed hand then bears it.

An object may stand on an obstacle. The motion is told with grasps.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...batches import OBSTACLE_BOX
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import joint_torque_map, load_wrenches
from ...hand import HandModel
from ...transforms import inverse
from ..options import ClosingDynamics
from ..ranked_grasp import ClosingMotion, RankedGrasp
from ..task import Task
from .free_body import Ground
from .load_trial import Trial
from .motion import NO_GROUND, SPIN_RADIUS, MovingObject, along


#: Speed of the object below which it rests [m/s]; of its turn, at its radius.
REST_SPEED = 0.002
#: Normal force from which a link counts as pressing [N].
PRESSES = 0.01
#: Corrections of the grip until the joints exert its torques where the object has given way.
PRESS_STEPS = 4
#: Share of friction without which an object must be borne, all the way from the open hand [-]:
#: friction is known no better, and what takes all of it is lost as often as not.
FRICTION_RESERVE = 0.05
#: Way of the object beyond which it counts as lost [m].
MAX_PUSH = 0.02
#: Time in which a load grows, and after which its effect is looked at [s].
GROWTH_TIME, LOAD_TIME = 0.2, 0.5
#: Time step of the integration meanwhile [s]: what rests at the end is looked for, not the way.
#: A load that seems not to be borne so is looked at again by the finer one.
LOAD_STEP, FINE_LOAD_STEP = 0.05, 0.01
#: Speed below which an object rests under a load, looked at after so many steps [m/s].
STILL, WAIT_STEPS = 0.0005, 1
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
        Load cases (see ``grasp_map.load_cases``) that the closed hand is to bear, without
        the ground, and with ``FRICTION_RESERVE`` less of friction.
    spin_radius : float, optional
        At which friction resists the turn about a contact's normal [m].

    Returns
    -------
    ClosingMotion
    """
    def closed(friction_share: float) -> MovingObject:
        return close_on(grasp_object, hand, task, T_object_palm, rows, grip, dynamics,
                        spin_radius, friction_share)
    moving = closed(1.0)
    moved, way = moving.T_object_moved, _way(moving, grasp_object)
    rests = (_speed(moving, _radius(grasp_object)) < REST_SPEED
             and int((moving.normal_forces > PRESSES).sum()) > 1)
    bears = None
    if loads is not None:
        slippery = closed(1.0 - FRICTION_RESERVE)
        bears = bears_loads(slippery, grasp_object,
                            _pressed(slippery, hand, rows[-1], grip, dynamics), loads)
    return ClosingMotion(moved, way, _angle(moved),
                         _lost_time(hand, moving.touched) * dynamics.time_step, bool(rests), bears)


def close_on(grasp_object: GraspObject, hand: HandModel, task: Task, T_object_palm: Array,
             rows: Array, grip: Array, dynamics: ClosingDynamics,
             spin_radius: float = SPIN_RADIUS, friction_share: float = 1.0) -> MovingObject:
    """
    Return an object when a hand has its grip; parameters are ``predict_closing_motion``'s.

    But ``friction_share``: friction over that of the object's material [-].
    """
    ground, weight = _ground(grasp_object, task, T_object_palm)
    moving = MovingObject(grasp_object, hand, T_object_palm, rows[0], dynamics, ground,
                          spin_radius, friction_share)
    moving.wrench = weight
    moving.follow(along(rows, max(1, round(dynamics.closing_time / dynamics.time_step))))
    squeeze(moving, rows[-1], grip, dynamics)
    return moving


def squeeze(moving: MovingObject, before: Array, grip: Array, dynamics: ClosingDynamics) -> None:
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
        squeeze(moving, command, wanted, dynamics)
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


def bears_loads(moving: MovingObject, grasp_object: GraspObject, grip: Array, loads: Array,
                max_shift: float = MAX_SHIFT, max_turn: float = MAX_TURN, again: bool = True
                ) -> bool:
    """
    Return whether the closed hand bears every load, each alone, from where it has closed.

    Parameters
    ----------
    moving : MovingObject
        In the closed hand; the ground is taken away.
    grasp_object : GraspObject
    grip : (J,) float
        Where the joints are sent meanwhile [rad].
    loads : (c, 9) float
        Load cases, see ``grasp_map.load_cases``.
    max_shift, max_turn : float, optional
        By which the object may yield under a load [m, rad].
    again : bool, optional
        Look again, by finer steps, at a load that seems not to be borne: in long ones friction
        lags behind the normal forces, and some slip that would not.
    """
    if _way(moving, grasp_object) > MAX_PUSH:
        return False
    moving.lift()
    mass = grasp_object.mass_properties
    # Loads keep their directions while the object turns.
    turn = moving.T_palm_object[:3, :3] @ moving.T_object_moved[:3, :3].T
    wrenches = load_wrenches(loads, mass.mass, mass.centre_of_mass).reshape(-1, 2, 3) @ turn.T
    coarse, fine = (_trial(step, grasp_object, max_shift, max_turn)
                    for step in (LOAD_STEP, FINE_LOAD_STEP))
    left = wrenches.reshape(-1, 6)
    while (lost := moving.first_not_borne(grip, left, coarse)) is not None:
        if not again or moving.first_not_borne(grip, left[lost:lost + 1], fine) is not None:
            return False
        left = left[lost + 1:]
    return True


def _trial(step: float, grasp_object: GraspObject, max_shift: float, max_turn: float) -> Trial:
    """Return how long loads act, integrated by steps [s]."""
    growing, longest = (round(time / step) for time in (GROWTH_TIME, LOAD_TIME))
    return Trial(step, growing, longest, WAIT_STEPS, STILL, _radius(grasp_object), max_shift,
                 max_turn)


def _angle(T: Array) -> float:
    return float(Rotation.from_matrix(T[:3, :3]).magnitude())


#: Largest gap between an object and a box that carries it [m], and cosine of the least tilt at
#: which a face does not.
NEAR, LEVEL = 0.002, np.cos(np.deg2rad(3.0))
#: Height of what of an object may touch the ground when it tips a little [m], and side of the
#: cubes of which one point each is kept.
FOOT, FOOT_SPACING = 0.004, 0.004
#: Difference of heights that counts as none [m].
SAME_HEIGHT = 1e-4


def standing_points(grasp_object: GraspObject, task: Task) -> tuple[Array, Array] | None:
    """
    Return what an object stands with on an obstacle of its task.

    Parameters
    ----------
    grasp_object : GraspObject
    task : Task
        With one direction of gravity, and a box among its obstacles whose upper face the object
        touches below its centre of mass.

    Returns
    -------
    points : (s, 3) float
        Of the object, that may touch the ground [m].
    up : (3,) float
        Unit vector, frame object.

    None where nothing carries the object, or gravity has several directions.
    """
    if len(task.gravity_directions) != 1 or task.gravity == 0.0:
        return None
    up = -task.gravity_directions[0] / np.linalg.norm(task.gravity_directions[0])
    heights = grasp_object.mesh.vertices @ up
    lowest, centre = float(heights.min()), grasp_object.mass_properties.centre_of_mass
    if not any(_carries(row, up, lowest, centre) for row in task.obstacles):
        return None
    foot = grasp_object.mesh.vertices[heights < lowest + FOOT]
    cubes = np.floor((foot - foot.min(axis=0)) / FOOT_SPACING)
    # The lowest of every cube, of those the outermost, so that the foot is not cut short.
    order = np.lexsort((-np.linalg.norm(foot - foot.mean(axis=0), axis=1),
                        np.round((foot @ up) / SAME_HEIGHT)))
    _, kept = np.unique(cubes[order], axis=0, return_index=True)
    return foot[order][kept], up


def _carries(row: Array, up: Array, lowest: float, centre: Array) -> bool:
    """Return whether a box (16,) has a face below the centre at the lowest point's height."""
    if row[0] != OBSTACLE_BOX:
        return False
    pose = row[4:].reshape(3, 4)
    axis = int(np.argmax(np.abs(up @ pose[:, :3])))
    if abs(float(up @ pose[:, axis])) < LEVEL:
        return False
    top = float(up @ pose[:, 3]) + 0.5 * row[1 + axis]
    local = np.abs((centre - pose[:, 3]) @ pose[:, :3])
    beside = np.delete(local <= 0.5 * row[1:4], axis)
    return bool(abs(top - lowest) < NEAR and beside.all())


#: Loads tried at most of a task that has more.
MOST_LOADS = 12
#: Grasps at most of which the motion is predicted: the best of a plan, the first given.
MOST_TOLD = 20
#: Threads in which what free objects do is followed side by side; kernels release the lock.
THREADS = 4
#: Of a grasp that its forces hold, but not a free object.
DOES_NOT_BEAR = 'an object that is free while the hand closes then yields under the loads'


def some_loads(loads: Array) -> Array:
    """Return load cases (c, 9), of more than ``MOST_LOADS`` some, evenly chosen."""
    return loads[::-(-len(loads) // MOST_LOADS)]


def mean_friction_radius(grasp: RankedGrasp) -> float:
    """Return the radius at which friction resists turns of a grasp's contacts, by force [m]."""
    forces = np.array([abs(c.closing_force @ c.normal) for c in grasp.contacts])
    radii = np.array([contact.friction_radius for contact in grasp.contacts])
    return float(radii @ forces / forces.sum()) if forces.sum() > 0.0 else SPIN_RADIUS


def pressing_command(hand: HandModel, grasp: RankedGrasp, times: float = 1.0) -> Array:
    """Return set points of the joints' springs that press as closing did, or so many times."""
    wanted = grasp.trajectory[-1] + times * closing_torques(hand, grasp) / hand.joint_stiffness
    return np.clip(wanted, hand.joint_lower, hand.joint_upper)


def closing_torques(hand: HandModel, grasp: RankedGrasp) -> Array:
    """Return the torques with which closed joints bear a grasp's closing forces (J,) [N m]."""
    joints, contacts = grasp.trajectory[-1], grasp.contacts
    if not contacts:
        return np.zeros(len(joints))
    links = np.array([hand.link_index(contact.link) for contact in contacts])
    wrenches = np.hstack([[c.closing_force for c in contacts],
                          [c.closing_torque for c in contacts]])
    torques: Array = joint_torque_map(hand, joints, grasp.T_object_palm, links, np.array(
        [contact.point for contact in contacts])) @ wrenches.ravel()
    return torques


class ClosingPredictions:
    """
    Predictions of the object's motion while hands close, each made once.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
    dynamics : ClosingDynamics
    loads : (c, 9) float
        Load cases of the task, see ``grasp_map.load_cases``; of more than ``MOST_LOADS`` some
        are tried, evenly chosen.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 dynamics: ClosingDynamics, loads: Array) -> None:
        self._object, self._hand, self._task, self._dynamics = grasp_object, hand, task, dynamics
        self._loads = some_loads(loads)
        self._known: dict[int, tuple[Array, Array, ClosingMotion]] = {}
        self._told: dict[int, tuple[RankedGrasp, RankedGrasp]] = {}
        self._left = MOST_TOLD

    def stop(self) -> None:
        """Predict nothing more: nobody waits for it."""
        self._left = 0

    def told(self, grasps: Sequence[RankedGrasp]) -> list[RankedGrasp]:
        """
        Return grasps with the motion of an object that is pressed with their closed forces.

        They come back as they are once ``MOST_TOLD`` have been predicted, or none is to be any
        more. Those not known yet are predicted side by side.
        """
        fresh = [grasp for grasp in grasps      # planning asks for the same after every answer
                 if self._told.get(grasp.hypothesis, (None,))[0] is not grasp]
        grips = [pressing_command(self._hand, grasp) for grasp in fresh]
        wanted = [(grasp, grip) for grasp, grip in zip(fresh, grips)
                  if not self._is_known(grasp, grip)][:self._left]
        self._left -= len(wanted)
        with ThreadPoolExecutor(THREADS) as pool:
            for (grasp, grip), motion in zip(wanted, pool.map(self._predicted, *zip(*wanted))):
                self._known[grasp.hypothesis] = grasp.trajectory, grip, motion
        for grasp, grip in zip(fresh, grips):
            known = self._is_known(grasp, grip)
            self._told[grasp.hypothesis] = grasp, (
                _with_motion(grasp, self._known[grasp.hypothesis][2]) if known else grasp)
        return [self._told[grasp.hypothesis][1] for grasp in grasps]

    def _is_known(self, grasp: RankedGrasp, grip: Array) -> bool:
        known = self._known.get(grasp.hypothesis)
        return known is not None and (np.array_equal(known[0], grasp.trajectory)
                                      and np.array_equal(known[1], grip))

    def _predicted(self, grasp: RankedGrasp, grip: Array) -> ClosingMotion:
        return predict_closing_motion(
            self._object, self._hand, self._task, grasp.T_object_palm, grasp.trajectory, grip,
            self._dynamics, self._loads, mean_friction_radius(grasp))


def _with_motion(grasp: RankedGrasp, motion: ClosingMotion) -> RankedGrasp:
    """Return a grasp with the object's motion, and a warning where it does not stay or hold."""
    warnings = grasp.warnings if motion.stays else (*grasp.warnings, _warning(motion))
    if motion.bears is False:
        warnings = (*warnings, DOES_NOT_BEAR)
    return replace(grasp, closing_motion=motion, warnings=warnings)


def _warning(motion: ClosingMotion) -> str:
    rest = '' if motion.rests else ', and does not bring it to rest'
    return (f'closing moves the object by {1e3 * motion.way:.1f} mm and turns it by '
            f'{np.rad2deg(motion.turn):.1f} degrees{rest}')
