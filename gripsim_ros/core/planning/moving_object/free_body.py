"""The steps of a rigid object that is free between the links of a hand: compiled kernels."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...hand.kinematics import TreeArguments, tree_jacobians, tree_poses
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross
from .contact_step import ROWS, solve_step
from .distance_band import DistanceBand
from .link_samples import MOST, Felt, LinkSamples, Touch, feel


#: Largest gap of a contact with the ground [m].
GROUND_REACH = 0.002


class Body(NamedTuple):
    """
    A rigid object.

    Attributes
    ----------
    mass : float
        [kg].
    inertia : (3, 3) float
        About the centre of mass, frame object [kg m^2].
    centre : (3,) float
        Of mass, frame object [m].
    friction : float
        [-].
    band : DistanceBand
        Its surface.
    """

    mass: float
    inertia: Array
    centre: Array
    friction: float
    band: DistanceBand


class Fingers(NamedTuple):
    """
    The links of a hand and what drives them.

    Attributes
    ----------
    tree : tuple
        As ``tree_arguments``.
    link_frames : (L,) int
        Frame of each link.
    samples : LinkSamples
    stiffness : (J,) float
        Of the position control [N m/rad].
    errors : (J,) float
        Largest distance of a joint from its command that counts [rad]: the torque is limited.
    """

    tree: TreeArguments
    link_frames: IntArray
    samples: LinkSamples
    stiffness: Array
    errors: Array


class Resistance(NamedTuple):
    """
    What resists motion: see ``ClosingDynamics``.

    ``drag`` [N s/m], ``joint_damping`` [N m s/rad], ``stiffness`` [N/m] of a link's contacts
    together, ``spin_radius`` [m], ``step`` [s].
    """

    drag: float
    joint_damping: float
    stiffness: float
    spin_radius: float
    step: float


class Ground(NamedTuple):
    """
    A plane that carries the object.

    ``points (s, 3)`` of the object may touch it, frame object [m]; ``normal (3,)`` points to the
    object, frame palm, and ``height`` is the plane's along it [m]. Without points there is none.
    """

    points: Array
    normal: Array
    height: float


class Closing(NamedTuple):
    """
    How fingers are sent on until they press.

    ``ways (J,)`` of a step, ``lower`` and ``upper (J,)`` [rad]; ``joints (F, J)`` and
    ``links (F, L)`` say which are each finger's; ``least`` is the normal force of a link from
    which its finger presses [N], and there are ``most`` steps.
    """

    ways: Array
    lower: Array
    upper: Array
    joints: BoolArray
    links: BoolArray
    least: float
    most: int


class Motion(NamedTuple):
    """
    Where all is, and how it moves; every array is renewed by a step. Frame palm.

    Attributes
    ----------
    rotation : (3, 3) float
        Of the object.
    place : (3,) float
        Of its centre of mass [m].
    joints : (J,) float
        [rad].
    speeds : (6 + J,) float
        Of the centre of mass, of the object's turn, and of the joints [m/s, rad/s].
    forces : (L + 1,) float
        Normal force of each link, and of the ground, on the object [N].
    felt : Felt
    """

    rotation: Array
    place: Array
    joints: Array
    speeds: Array
    forces: Array
    felt: Felt


@njit(cache=True, nogil=True)
def follow(commands: Array, wrenches: Array, body: Body, fingers: Fingers, ground: Ground,
           resistance: Resistance, motion: Motion, touched: Array) -> None:
    """
    Move on by a step for each command.

    Parameters
    ----------
    commands : (n, J) float
        Where the joints are sent [rad].
    wrenches : (n, 6) float
        On the object at its centre of mass, frame palm [N, N m].
    body, fingers, ground, resistance : Body, Fingers, Ground, Resistance
    motion : Motion
        Renewed.
    touched : (L,) float
        Number of steps until each link first pressed the object, inf: not yet; renewed.
    """
    size, links = len(motion.speeds), len(fingers.link_frames)
    touch = Touch(np.empty((MOST * links, 3)), np.empty((MOST * links, 3)),
                  np.empty(MOST * links), np.empty(MOST * links, np.int64))
    mass, momentum, u = np.zeros((size, size)), np.empty(size), np.empty(size)
    in_object, q = np.zeros((links, 4, 4)), np.empty((1, size - 6))
    for k in range(len(commands)):
        q[0] = motion.joints
        poses = tree_poses(q, *fingers.tree)
        _into_object(poses[0], fingers.link_frames, body.centre, motion, in_object)
        count = feel(fingers.samples, body.band, in_object, motion.felt, body.band.spacing, touch)
        _fill_bodies(commands[k], wrenches[k], body, fingers, resistance, motion, mass, momentum)
        if count + len(ground.points) == 0:
            _solve_diagonal(mass, momentum, motion.speeds)
        else:
            jacobians = tree_jacobians(poses, fingers.link_frames, size - 6, *fingers.tree)
            rows, gaps, owners = _contacts(poses[0], jacobians[0], fingers.link_frames, touch,
                                           count, body.centre, ground,
                                           resistance.spin_radius, motion)
            stiffness, forces = _shared(owners, gaps, resistance.stiffness, motion.forces)
            u[:] = motion.speeds
            solve_step(mass, momentum, (rows, gaps, stiffness), body.friction, resistance.step,
                       forces, u)
            motion.speeds[:] = u
            motion.forces[:] = 0.0
            for i in range(len(owners)):
                motion.forces[owners[i]] += forces[i]
        _move(motion, resistance.step)
        for link in range(links):
            if motion.forces[link] > 0.0 and touched[link] == np.inf:
                touched[link] = k


@njit(cache=True, nogil=True)
def follow_to_touch(command: Array, wrench: Array, closing: Closing, body: Body, fingers: Fingers,
                    ground: Ground, resistance: Resistance, motion: Motion, touched: Array
                    ) -> tuple[BoolArray, int]:
    """
    Send each finger on until it presses; return which do (F,), and the steps taken.

    ``command (J,)`` [rad] is renewed, of a finger that presses to where it is; ``wrench (6,)``
    is as a row of ``wrenches``, and the others as ``follow`` has them.
    """
    pressing, taken = np.zeros(len(closing.joints), np.bool_), 0
    while taken < closing.most and not pressing.all():
        for finger in range(len(pressing)):
            for j in range(len(command)):
                if closing.joints[finger, j] and not pressing[finger]:
                    command[j] = min(max(command[j] + closing.ways[j], closing.lower[j]),
                                     closing.upper[j])
        fresh = np.isinf(touched)
        follow(command.reshape(1, -1), wrench.reshape(1, -1), body, fingers, ground, resistance,
               motion, touched)
        touched[fresh] += taken
        taken += 1
        for finger in range(len(pressing)):
            forces = motion.forces[:-1][closing.links[finger]]
            if not pressing[finger] and (forces > closing.least).any():
                pressing[finger] = True
                for j in range(len(command)):
                    if closing.joints[finger, j]:
                        command[j] = motion.joints[j]
    return pressing, taken


@njit(cache=True)
def _into_object(poses: Array, link_frames: IntArray, centre: Array, motion: Motion,
                 in_object: Array) -> None:
    """Fill the poses (L, 4, 4) of the links in the object."""
    turn, place = motion.rotation, motion.place
    for link in range(len(link_frames)):
        pose, out = poses[link_frames[link]], in_object[link]
        for a in range(3):
            for b in range(3):
                out[a, b] = (turn[0, a] * pose[0, b] + turn[1, a] * pose[1, b]
                             + turn[2, a] * pose[2, b])
            out[a, 3] = (turn[0, a] * (pose[0, 3] - place[0])
                         + turn[1, a] * (pose[1, 3] - place[1])
                         + turn[2, a] * (pose[2, 3] - place[2])) + centre[a]


@njit(cache=True)
def _fill_bodies(command: Array, wrench: Array, body: Body, fingers: Fingers,
                 resistance: Resistance, motion: Motion, mass: Array, momentum: Array) -> None:
    """Fill the mass matrix of a step, and the momentum that there is without contacts."""
    step, turn = resistance.step, motion.rotation
    inertia = turn @ body.inertia @ turn.T
    for a in range(3):
        mass[a, a] = body.mass + step * resistance.drag
        momentum[a] = body.mass * motion.speeds[a] + step * wrench[a]
        momentum[3 + a] = step * wrench[3 + a]
        for b in range(3):
            mass[3 + a, 3 + b] = inertia[a, b]
            momentum[3 + a] += inertia[a, b] * motion.speeds[3 + b]
    for j in range(len(command)):
        way = command[j] - motion.joints[j]
        way = min(max(way, -fingers.errors[j]), fingers.errors[j])
        mass[6 + j, 6 + j] = step * (resistance.joint_damping + step * fingers.stiffness[j])
        momentum[6 + j] = step * fingers.stiffness[j] * way


@njit(cache=True)
def _solve_diagonal(mass: Array, momentum: Array, speeds: Array) -> None:
    """Fill the velocities of bodies that nothing touches; the turn goes on as it was."""
    for a in range(len(speeds)):
        if a < 3 or a > 5:
            speeds[a] = momentum[a] / mass[a, a]


@njit(cache=True)
def _contacts(poses: Array, jacobians: Array, link_frames: IntArray, touch: Touch, count: int,
              centre: Array, ground: Ground, radius: float, motion: Motion
              ) -> tuple[Array, Array, IntArray]:
    """Return rows (c, 4, n), gaps (c,) and owners (c,) of the contacts of links and ground."""
    size, total = len(motion.speeds), count + len(ground.points)
    rows, gaps = np.zeros((total, ROWS, size)), np.empty(total)
    owners = np.empty(total, np.int64)
    for i in range(count):
        link = touch.links[i]
        normal, arm = _turned(motion.rotation, touch.normals[i], centre, False), _turned(
            motion.rotation, touch.points[i], centre, True)
        pose, jacobian = poses[link_frames[link]], jacobians[link]
        lever = (arm[0] + motion.place[0] - pose[0, 3], arm[1] + motion.place[1] - pose[1, 3],
                 arm[2] + motion.place[2] - pose[2, 3])
        _fill_object_rows(normal, arm, -1.0, radius, rows[i])
        _fill_link_rows(normal, lever, jacobian, radius, rows[i])
        gaps[i], owners[i] = touch.gaps[i], link
    up, used = (ground.normal[0], ground.normal[1], ground.normal[2]), count
    for s in range(len(ground.points)):
        arm = _turned(motion.rotation, ground.points[s], centre, True)
        gap = (up[0] * (arm[0] + motion.place[0]) + up[1] * (arm[1] + motion.place[1])
               + up[2] * (arm[2] + motion.place[2])) - ground.height
        if gap < GROUND_REACH:
            _fill_object_rows(up, arm, 1.0, radius, rows[used])
            gaps[used], owners[used] = gap, len(link_frames)
            used += 1
    return rows[:used], gaps[:used], owners[:used]


@njit(cache=True, forceinline=True)
def _turned(turn: Array, vector: Array, centre: Array, is_place: bool) -> Vec3:
    """Return a vector of the object in the palm's frame; a place from the centre of mass."""
    x, y, z = vector[0], vector[1], vector[2]
    if is_place:
        x, y, z = x - centre[0], y - centre[1], z - centre[2]
    return (turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z,
            turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z,
            turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z)


@njit(cache=True)
def tangents(normal: Vec3) -> tuple[Vec3, Vec3]:
    """Return two unit vectors square to a unit vector and to each other."""
    x, y, z = abs(normal[0]), abs(normal[1]), abs(normal[2])
    axis = (1.0, 0.0, 0.0)
    if y < x and y <= z:
        axis = (0.0, 1.0, 0.0)
    elif z < x and z < y:
        axis = (0.0, 0.0, 1.0)
    first = cross(normal, axis)
    size = np.sqrt(first[0] ** 2 + first[1] ** 2 + first[2] ** 2)
    first = (first[0] / size, first[1] / size, first[2] / size)
    return first, cross(normal, first)


@njit(cache=True)
def _fill_object_rows(normal: Vec3, arm: Vec3, sign: float, radius: float, rows: Array) -> None:
    """Fill a contact's rows of the object's motion."""
    first, second = tangents(normal)
    directions = (normal, first, second)
    for k in range(3):
        turning = cross(arm, directions[k])
        for a in range(3):
            rows[k, a] = sign * directions[k][a]
            rows[k, 3 + a] = sign * turning[a]
    for a in range(3):
        rows[3, 3 + a] = sign * radius * normal[a]


@njit(cache=True)
def _fill_link_rows(normal: Vec3, lever: Vec3, jacobian: Array, radius: float, rows: Array
                    ) -> None:
    """Fill a contact's rows of the joints' motion; lever: from the link's origin."""
    first, second = tangents(normal)
    directions = (normal, first, second)
    for j in range(jacobian.shape[1]):
        turn = (jacobian[3, j], jacobian[4, j], jacobian[5, j])
        way = cross(turn, lever)
        for k in range(3):
            rows[k, 6 + j] = (directions[k][0] * (jacobian[0, j] + way[0])
                              + directions[k][1] * (jacobian[1, j] + way[1])
                              + directions[k][2] * (jacobian[2, j] + way[2]))
        rows[3, 6 + j] = radius * (normal[0] * turn[0] + normal[1] * turn[1]
                                   + normal[2] * turn[2])


@njit(cache=True)
def _shared(owners: IntArray, gaps: Array, stiffness: float, pressed: Array
            ) -> tuple[Array, Array]:
    """
    Return stiffness and the last force (c,) of contacts.

    Those of a link share its stiffness equally, and the force as they overlap.
    """
    counts, overlaps = np.zeros(len(pressed)), np.zeros(len(pressed))
    for i in range(len(owners)):
        counts[owners[i]] += 1.0
        overlaps[owners[i]] -= min(0.0, gaps[i])
    shares, forces = np.empty(len(owners)), np.empty(len(owners))
    for i in range(len(owners)):
        owner = owners[i]
        shares[i] = stiffness / counts[owner]
        part = -min(0.0, gaps[i]) / overlaps[owner] if overlaps[owner] > 0.0 \
            else 1.0 / counts[owner]
        forces[i] = pressed[owner] * part
    return shares, forces


@njit(cache=True)
def _move(motion: Motion, step: float) -> None:
    """Move the object and the joints by a step at their velocities (Rodrigues)."""
    for a in range(3):
        motion.place[a] += step * motion.speeds[a]
    for j in range(len(motion.joints)):
        motion.joints[j] += step * motion.speeds[6 + j]
    x, y, z = step * motion.speeds[3], step * motion.speeds[4], step * motion.speeds[5]
    angle = np.sqrt(x * x + y * y + z * z)
    if angle < 1e-12:
        return
    x, y, z = x / angle, y / angle, z / angle
    sine, rest = np.sin(angle), 1.0 - np.cos(angle)
    for b in range(3):
        column = (motion.rotation[0, b], motion.rotation[1, b], motion.rotation[2, b])
        along = rest * (x * column[0] + y * column[1] + z * column[2])
        turned = cross((x, y, z), column)
        motion.rotation[0, b] += sine * turned[0] + along * x - rest * column[0]
        motion.rotation[1, b] += sine * turned[1] + along * y - rest * column[1]
        motion.rotation[2, b] += sine * turned[2] + along * z - rest * column[2]
