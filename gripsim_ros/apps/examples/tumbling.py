"""
A box tumbles down stairs, or along a track of sine waves, and comes to rest.

Contact manifolds at work: the ground is made of convex columns; points and normals of contact
come from GJK, EPA and clipping; impulses stop what approaches, with friction and without bounce.

Nothing pushes the box out of the ground. A step in time that would press it in deeper than
``SLOP`` is halved instead, and of impulses that never pull and only oppose motion none adds
energy: with u the velocity after gravity and v its projection by them, the energy changes by
-|v - v0|^2 / 2 in the metric of the masses. Scene after the box on stairs of A. A. Stadukhin
2016 (figure 7), which gives no dimensions; the sine track is of ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.bodies import shapes, TriangleMesh
from ...core.contact.backends.convex.decomposition import convex_part, ConvexPart
from ...core.contact.backends.convex.manifold import Manifold, WarmStart, contact_manifold
from ...core.transforms import transform

Array = NDArray[np.float64]

GRAVITY, FRICTION = 9.81, 0.7
#: Steps: how many, their depth, height and width [m].
STEPS, TREAD, RISE, WIDTH = 7, 0.30, 0.17, 1.2
#: Sine track: waves, columns a wave, its length and amplitude [m], fall over its length [-].
WAVES, COLUMNS, LENGTH, AMPLITUDE, FALL = 3, 10, 0.9, 0.08, 0.12
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


def _column(start: float, end: float, first: float, last: float, bottom: float) -> TriangleMesh:
    """Return a column of ground from x to x, its top from height to height [m]."""
    unit = shapes.box([1.0, WIDTH, 1.0])
    share = unit.vertices[:, 0] + 0.5
    top = unit.vertices[:, 2] > 0.0
    heights = np.where(top, first + share * (last - first), bottom)
    return TriangleMesh(np.stack([start + share * (end - start), unit.vertices[:, 1], heights],
                                 axis=1), unit.faces)


def stairs() -> list[TriangleMesh]:
    """Return one column for each step; step k has its tread at height -k RISE."""
    return [_column(k * TREAD, (k + 1) * TREAD, -k * RISE, -k * RISE, -(STEPS + 1) * RISE)
            for k in range(STEPS)]


def sine_height(x: Array) -> Array:
    """Return the height of the sine track at x (n,) [m]: down hill, from the top of a wave."""
    height: Array = AMPLITUDE * (np.cos(2.0 * np.pi * x / LENGTH) - 1.0) - FALL * x
    return height


def sine_track() -> list[TriangleMesh]:
    """Return the columns of the sine track."""
    edges = np.linspace(0.0, WAVES * LENGTH, WAVES * COLUMNS + 1)
    heights = sine_height(edges)
    return [_column(*edges[k:k + 2], *heights[k:k + 2], float(heights.min()) - RISE)
            for k in range(len(edges) - 1)]


#: What each track is, and how it is made.
TRACKS: Mapping[str, tuple[str, Callable[[], list[TriangleMesh]]]] = {
    'stairs': ('a box tumbles down stairs (physics of contact, no plan)', stairs),
    'sine': ('a box tumbles along a track of sine waves (physics of contact, no plan)',
             sine_track)}


def box_part() -> ConvexPart:
    """Return the box about its centre."""
    return convex_part(shapes.box(SIDES).vertices)


def inertia(rotation: Array) -> Array:
    """Return the inertia (3, 3) of the box about its centre, frame world."""
    own = MASS / 12.0 * (np.sum(SIDES ** 2) - SIDES ** 2)
    return rotation @ np.diag(own) @ rotation.T


def energy(state: State) -> float:
    """Return kinetic and potential energy [J]."""
    turning = state.spin @ inertia(state.rotation) @ state.spin
    return float(0.5 * (MASS * state.velocity @ state.velocity + turning)
                 + MASS * GRAVITY * state.centre[2])


def first_state() -> State:
    """Return the box in the air over the beginning of a track, tilted, on its way down."""
    rotation = Rotation.from_euler('zyx', [0.15, 0.5, 0.1]).as_matrix()
    return State(0.0, np.array([0.10, 0.0, 0.30]), rotation, np.array([0.9, 0.0, 0.0]),
                 np.array([0.0, 3.0, 0.0]))


def moved(state: State, step: float) -> State:
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


def stopped(state: State, contacts: Manifold) -> State:
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


def advanced(state: State, contacts: Manifold, ground: Sequence[ConvexPart], box: ConvexPart,
             warm: WarmStart) -> tuple[State, Manifold]:
    """Return the next state and its contacts: gravity, impulses, motion up to a contact."""
    step = TIME_STEP
    allowed = max(SLOP, contacts.depth)
    while True:
        pulled = State(state.time, state.centre, state.rotation,
                       state.velocity - [0.0, 0.0, GRAVITY * step], state.spin)
        after = moved(stopped(pulled, contacts), step)
        found = contact_manifold(ground, [box], after.pose, warm)
        if found.depth <= allowed or step <= LEAST_STEP:
            return after, found
        step /= 2.0


def simulate(start: State, track: Sequence[TriangleMesh], longest: float = 8.0
             ) -> tuple[list[State], Array, NDArray[np.int64]]:
    """
    Let the box fall until it rests.

    Parameters
    ----------
    start : State
    track : sequence of TriangleMesh
        Convex bodies that make up the ground, frame world [m].
    longest : float
        Time at which it ends, resting or not [s].

    Returns
    -------
    states : list of State, length n
    depths : (n,) float
        Deepest penetration in each [m].
    touching : (n,) int
        Points of contact in each.
    """
    ground, box, warm = [convex_part(body.vertices) for body in track], box_part(), WarmStart()
    state, contacts = start, contact_manifold(ground, [box], start.pose, warm)
    states, depths, touching = [state], [contacts.depth], [len(contacts.points)]
    resting_since = None
    while state.time < longest:
        state, contacts = advanced(state, contacts, ground, box, warm)
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


def draw(states: Sequence[State], track: Sequence[TriangleMesh], path: Path, count: int = 12
         ) -> None:
    """Write a picture of a track and of poses spread over the way."""
    from PIL import Image

    from ...library.drawing.raster import Camera, make_surface, merge_surfaces, render_layer
    from ...library.drawing.render import OVERSAMPLING, background, look_along, over, shrink
    surfaces = [make_surface(body.vertices, body.faces, np.array([0.72, 0.73, 0.76]))
                for body in track]
    mesh = shapes.box(SIDES)
    way = np.concatenate([[0.0], np.cumsum([
        np.linalg.norm(b.centre - a.centre) for a, b in zip(states, states[1:])])])
    for share in np.linspace(0.0, 1.0, count):
        state = states[int(np.searchsorted(way, share * way[-1]))]
        colour = (1.0 - share) * np.array([0.98, 0.80, 0.35]) + share * np.array([0.75, 0.15, 0.1])
        surfaces.append(make_surface(mesh.vertices @ state.rotation.T + state.centre, mesh.faces,
                                     colour))
    corners = np.concatenate([body.vertices for body in track])
    camera = look_along(np.array([0.35, 1.0, -0.35]), np.array([0.0, 0.0, 1.0]),
                        0.5 * (corners.min(axis=0) + corners.max(axis=0)),
                        0.55 * float(np.ptp(corners[:, 0])), (1000, 700))
    fine = Camera(camera.T_world_camera, OVERSAMPLING * camera.focal_length,
                  OVERSAMPLING * camera.width, OVERSAMPLING * camera.height)
    layer = render_layer(merge_surfaces(surfaces), fine)
    image = shrink(over(background(fine), layer, np.isfinite(layer.depth).astype(np.float32)))
    Image.fromarray((255.0 * image + 0.5).astype(np.uint8)).save(path, optimize=True)


def rows_shown(states: Sequence[State], depths: Array, touching: NDArray[np.int64]
               ) -> list[tuple[str, ...]]:
    """Return the rows of a table, one for each tenth of a second and the last."""
    times = [state.time for state in states]
    shown = [*np.searchsorted(times, np.arange(0.0, times[-1], 0.1)), len(states) - 1]
    return [(f'{states[i].time:.3f}', f'{states[i].centre[0]:.3f}', f'{states[i].centre[2]:.3f}',
             str(touching[i]), f'{energy(states[i]):.4f}', f'{1e3 * depths[i]:.4f}')
            for i in shown]
