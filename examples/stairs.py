"""
A box tumbles down stairs and comes to rest: contact manifolds at work.

``python examples/stairs.py [--picture stairs.png]`` prints where the box is, its energy and
what it touches, and draws its poses. The stairs are convex parts, one box a step; points and
normals of contact come from GJK, EPA and clipping; impulses stop what approaches, with
friction and without bounce.

Nothing pushes the box out of the stairs. A step in time that would press it in deeper than
``SLOP`` is halved instead, and of impulses that never pull and only oppose motion none adds
energy: with u the velocity after gravity and v its projection by them, the energy changes by
-|v - v0|^2 / 2 in the metric of the masses. Scene after the box on stairs of A. A. Stadukhin
2016 (figure 7), which gives no dimensions.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
import sys

import numpy as np
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.backends.convex.decomposition import convex_part
from gripsim_ros.core.contact.backends.convex.manifold import WarmStart, contact_manifold
from gripsim_ros.core.transforms import transform

GRAVITY, FRICTION = 9.81, 0.7
#: Steps: how many, their depth, height and width [m].
STEPS, TREAD, RISE, WIDTH = 7, 0.30, 0.17, 1.2
#: Sides of the box [m] and its mass [kg].
SIDES, MASS = np.array([0.24, 0.16, 0.20]), 4.0
#: Longest and shortest step in time [s]; deepest penetration aimed at [m].
TIME_STEP, LEAST_STEP, SLOP = 2e-3, 2e-6, 2e-4
#: Passes of the impulse solver; the box rests where it is slower than this for so long.
PASSES, REST_SPEED, REST_TIME = 60, 2e-3, 0.1


@dataclass(frozen=True)
class State:
    """Time [s], centre (3,) [m], rotation (3, 3), velocity and angular velocity (3,)."""

    time: float
    centre: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray

    @property
    def pose(self):
        """Return the pose of the box in the world."""
        return transform(self.rotation, self.centre)


def stair_parts():
    """Return one convex part for each step; step k has its tread at height -k RISE."""
    parts = []
    for step in range(STEPS):
        top, bottom = -step * RISE, -(STEPS + 1) * RISE
        body = shapes.box([TREAD, WIDTH, top - bottom])
        parts.append(convex_part(body.vertices + [(step + 0.5) * TREAD, 0.0,
                                                  (top + bottom) / 2.0]))
    return parts


def box_part():
    """Return the box about its centre."""
    return convex_part(shapes.box(SIDES).vertices)


def inertia(rotation):
    """Return the inertia (3, 3) of the box about its centre, frame world."""
    own = MASS / 12.0 * (np.sum(SIDES ** 2) - SIDES ** 2)
    return rotation @ np.diag(own) @ rotation.T


def energy(state):
    """Return kinetic and potential energy [J]."""
    turning = state.spin @ inertia(state.rotation) @ state.spin
    return (0.5 * (MASS * state.velocity @ state.velocity + turning)
            + MASS * GRAVITY * state.centre[2])


def first_state():
    """Return the box in the air over the topmost step, tilted, on its way down."""
    rotation = Rotation.from_euler('zyx', [0.15, 0.5, 0.1]).as_matrix()
    return State(0.0, np.array([0.10, 0.0, 0.30]), rotation, np.array([0.9, 0.0, 0.0]),
                 np.array([0.0, 3.0, 0.0]))


def moved(state, step):
    """Return the state after free motion; spin and angular momentum turn with the box."""
    turn = Rotation.from_rotvec(step * state.spin).as_matrix()
    rotation = turn @ state.rotation
    momentum = inertia(state.rotation) @ state.spin
    spin = np.linalg.solve(inertia(rotation), momentum)
    # The momentum is kept exactly, the energy to second order: what it gains is taken back.
    before = state.spin @ momentum
    after = spin @ momentum
    if after > before > 0.0:
        spin = spin * np.sqrt(before / after)
    return State(state.time + step, state.centre + step * state.velocity, rotation,
                 state.velocity, spin)


def stopped(state, contacts):
    """
    Return the state after the impulses at the points of contact.

    Projected Gauss-Seidel: in each pass every point's normal impulse, kept above 0, undoes
    its approach, then two tangential ones, kept within friction, its sliding.
    """
    if not len(contacts.points):
        return state
    inverse_inertia = np.linalg.inv(inertia(state.rotation))
    velocity, spin = state.velocity.copy(), state.spin.copy()
    rows = []
    for point, normal in zip(contacts.points, contacts.normals):
        arm = point - state.centre
        across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        across /= np.linalg.norm(across)
        for direction in (normal, across, np.cross(normal, across)):
            lever = np.cross(arm, direction)
            rows.append((direction, lever, inverse_inertia @ lever,
                         1.0 / (1.0 / MASS + lever @ inverse_inertia @ lever)))
    impulses = np.zeros(len(rows))
    for _ in range(PASSES):
        for row, (direction, lever, turned, effective) in enumerate(rows):
            wanted = impulses[row] - effective * (direction @ velocity + lever @ spin)
            limit = FRICTION * impulses[row - row % 3]
            new = max(wanted, 0.0) if row % 3 == 0 else min(max(wanted, -limit), limit)
            change, impulses[row] = new - impulses[row], new
            velocity += change / MASS * direction
            spin += change * turned
    return State(state.time, state.centre, state.rotation, velocity, spin)


def advanced(state, contacts, stairs, box, warm):
    """Return the next state and its contacts: gravity, impulses, motion up to a contact."""
    step = TIME_STEP
    allowed = max(SLOP, contacts.depth)
    while True:
        pulled = State(state.time, state.centre, state.rotation,
                       state.velocity - [0.0, 0.0, GRAVITY * step], state.spin)
        after = moved(stopped(pulled, contacts), step)
        found = contact_manifold(stairs, [box], after.pose, warm)
        if found.depth <= allowed or step <= LEAST_STEP:
            return after, found
        step /= 2.0


def simulate(start, longest=8.0):
    """
    Let the box fall until it rests.

    Returns states, deepest penetration of each [m], and how many points touch in each.
    """
    stairs, box, warm = stair_parts(), box_part(), WarmStart()
    state, contacts = start, contact_manifold(stairs, [box], start.pose, warm)
    states, depths, touching = [state], [contacts.depth], [len(contacts.points)]
    resting_since = None
    while state.time < longest:
        state, contacts = advanced(state, contacts, stairs, box, warm)
        states.append(state)
        depths.append(contacts.depth)
        touching.append(len(contacts.points))
        radius = 0.5 * np.linalg.norm(SIDES)
        slow = np.linalg.norm(state.velocity) + radius * np.linalg.norm(state.spin) < REST_SPEED
        if not (slow and touching[-1] >= 3):
            resting_since = None
        elif resting_since is None:
            resting_since = state.time
        elif state.time - resting_since >= REST_TIME:
            break
    return states, np.array(depths), np.array(touching)


def step_under(state):
    """Return the number of the step under the box's centre, from 0 at the top."""
    return int(np.floor(state.centre[0] / TREAD))


def draw(states, path, count=12):
    """Write a picture of the stairs and of poses spread over the way."""
    from PIL import Image
    from gripsim_ros.library.drawing.raster import (
        Camera, make_surface, merge_surfaces, render_layer)
    from gripsim_ros.library.drawing.render import (
        OVERSAMPLING, background, look_along, over, shrink)
    surfaces = []
    for step in range(STEPS):
        top, bottom = -step * RISE, -(STEPS + 1) * RISE
        body = shapes.box([TREAD, WIDTH, top - bottom])
        surfaces.append(make_surface(body.vertices + [(step + 0.5) * TREAD, 0.0, (
            top + bottom) / 2.0], body.faces, np.array([0.72, 0.73, 0.76])))
    mesh = shapes.box(SIDES)
    way = np.concatenate([[0.0], np.cumsum([
        np.linalg.norm(b.centre - a.centre) for a, b in zip(states, states[1:])])])
    for share in np.linspace(0.0, 1.0, count):
        state = states[int(np.searchsorted(way, share * way[-1]))]
        colour = (1.0 - share) * np.array([0.98, 0.80, 0.35]) + share * np.array([0.75, 0.15, 0.1])
        surfaces.append(make_surface(mesh.vertices @ state.rotation.T + state.centre, mesh.faces,
                                     colour))
    camera = look_along(np.array([0.35, 1.0, -0.35]), np.array([0.0, 0.0, 1.0]),
                        np.array([0.5 * STEPS * TREAD, 0.0, -0.45 * STEPS * RISE]), 1.15,
                        (1000, 700))
    fine = Camera(camera.T_world_camera, OVERSAMPLING * camera.focal_length,
                  OVERSAMPLING * camera.width, OVERSAMPLING * camera.height)
    layer = render_layer(merge_surfaces(surfaces), fine)
    image = shrink(over(background(fine), layer, np.isfinite(layer.depth).astype(np.float32)))
    Image.fromarray((255.0 * image + 0.5).astype(np.uint8)).save(path, optimize=True)


def main():
    """Run the scene, print a table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--picture', type=Path, help='write a PNG of the poses')
    options = parser.parse_args()
    states, depths, touching = simulate(first_state())
    print(f'{"time [s]":>9}{"x [m]":>9}{"z [m]":>9}{"step":>6}{"points":>8}{"energy [J]":>12}'
          f'{"depth [mm]":>12}')
    shown = np.searchsorted([state.time for state in states], np.arange(0.0, states[-1].time, 0.1))
    for index in [*shown, len(states) - 1]:
        state = states[index]
        print(f'{state.time:9.3f}{state.centre[0]:9.3f}{state.centre[2]:9.3f}'
              f'{step_under(state):6d}{touching[index]:8d}{energy(state):12.4f}'
              f'{1e3 * depths[index]:12.4f}')
    print(f'{len(states) - 1} steps, deepest {1e3 * depths.max():.3f} mm')
    if options.picture:
        draw(states, options.picture)
        print(f'wrote {options.picture}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
