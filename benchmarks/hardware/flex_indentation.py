"""
A tetrahedral body between two rigid pads in MuJoCo, without a hand, and referees for it.

Tetrahedra are structured: nodes lie on the true surface and crowd where the pads press, so that
meshes of growing fineness form a series. ``nodal_forces`` solves the same meshes by linear
elasticity and frictionless contact at nodes: what is left between it and MuJoCo is MuJoCo's.
"""

from dataclasses import dataclass
from functools import partial
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
import scipy.sparse as sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import splu
from scipy.special import ellipe, ellipk

from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.bodies.shapes import box, sphere
from gripsim_ros.hardware.sim.elements import LINEAR_SLOPES, stiffness_matrix
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.soft.body import SoftBody
from gripsim_ros.hardware.sim.soft.contacts import SoftContacts
from gripsim_ros.hardware.sim.soft.neo_hookean import NeoHookean
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedron_volumes
from gripsim_ros.hardware.sim.world_model import (
    add_object, nearest_motion, node_name, SKIN, SoftMesh)

Array = NDArray[np.float64]

PADS = 'upper_pad', 'lower_pad'
POISSON_RATIO, FRICTION = 0.3, 0.01
#: Density over modulus [kg/m^3/Pa]: at rest mass does not matter, and MuJoCo's solve needs it.
DENSITY_SHARE = 1e-2
#: Radius of the ball that presses [m].
BALL_RADIUS = 0.01
#: Half sides of a plate [m].
PLATE = 0.06, 0.06
#: Time for a depth, for coming to rest, and constant of the damping [s].
PRESS_TIME, REST_TIME, DAMPING_TIME = 0.1, 0.08, 0.1
#: Nodes that pads can touch at these depths, from the axis, over the ball's radius.
REACH = {'ball': 0.9, 'plate': 1.6}
#: Springs that hold the body in the referee, over the mean stiffness of a node.
HOLDING = 1e-5


def crowded(half: float, count: int, power: float) -> Array:
    """Return 2 count + 1 coordinates of [-half, half], closer at 0 for powers above 1."""
    way = np.linspace(0.0, 1.0, count + 1)**power
    return half * np.concatenate([-way[:0:-1], way])


def structured(lines) -> tuple[Array, NDArray[np.int64]]:
    """Return nodes and tetrahedra, six in each cell of a grid of three lines (Kuhn)."""
    shape = [len(line) for line in lines]
    nodes = np.stack(np.meshgrid(*lines, indexing='ij'), axis=-1).reshape(-1, 3)
    steps = np.array([shape[1] * shape[2], shape[2], 1])
    cells = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing='ij'), axis=-1)
    first = cells.reshape(-1, 3) @ steps
    corners = [np.stack([first, first + steps[a], first + steps[a] + steps[b],
                         first + steps.sum()], axis=1) for a, b, _ in permutations(range(3))]
    return nodes, np.concatenate(corners)


def ball_nodes(cube: Array, radius: float) -> Array:
    """Return points of a cube of half side 1 mapped onto a ball, its sides onto the sphere."""
    x, y, z = (cube**2).T
    factors = np.stack([1 - (y + z) / 2 + y * z / 3, 1 - (z + x) / 2 + z * x / 3,
                        1 - (x + y) / 2 + x * y / 3], axis=1)
    return radius * cube * np.sqrt(factors)


def soft_ball(radius: float, count: int) -> SoftMesh:
    """Return a ball with ``count`` cells from the middle to each pole."""
    way = crowded(1.0, count, 1.4)
    nodes, corners = structured([way, way, _outward(1.0, count)])
    nodes = ball_nodes(nodes, radius)
    turned = tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    return SoftMesh(nodes, corners, outer_faces(corners), node_masses(nodes, corners, 1.0))


def _outward(half: float, count: int) -> Array:
    """Return coordinates that are closer at the ends."""
    way = 1.0 - np.linspace(1.0, 0.0, count + 1)**1.4
    return half * np.concatenate([-way[:0:-1], way])


@dataclass(frozen=True)
class Pressed:
    """
    Force of a pad [N], mean penetration weighted by force [m], and its points.

    ``aside``: how far from the middle of the body the upper pad's force passes it, along the
    pad's first axis [m]; ``upper``: that force [N].
    """

    depth: float
    force: float
    penetration: float
    points: int
    aside: float = 0.0
    upper: float = 0.0


class FlexPress:
    """
    A soft mesh between two equal pads, ``ball`` or ``plate``, that close along z.

    ``yielding``: where pads touch it yields as in the simulated hand (``SoftContacts``), and they
    meet its true surface.
    ``turn``: of pads and way about y [rad]; the body does not turn along. ``height``: of each pad
    over the middle at the way 0 [m]; default: that of the highest node.
    """

    def __init__(self, mesh, soft: SoftMesh, modulus: float, pad: str,
                 density_share: float = DENSITY_SHARE, yielding: bool = False,
                 pad_radius: float = BALL_RADIUS, turn: float = 0.0,
                 height: float | None = None):
        import mujoco
        self._mujoco, self.pad, self._radius = mujoco, pad, pad_radius
        self._skin = 0.0 if yielding else SKIN      # where pads meet the tetrahedra
        self._look(turn)
        self._pose = partial(np.eye, 4)
        density = density_share * modulus
        self.soft = SoftMesh(soft.nodes, soft.corners, soft.faces, density * soft.masses)
        options = default_options(body='soft')
        spec = mujoco.MjSpec()
        spec.option.timestep, spec.option.gravity = options.time_step, [0.0, 0.0, 0.0]
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        for name in PADS:
            body = spec.worldbody.add_body(name=name, mocap=True, pos=[0.0, 0.0, 1.0])
            body.quat = [np.cos(0.5 * turn), 0.0, np.sin(0.5 * turn), 0.0]
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE if pad == 'ball'
                          else mujoco.mjtGeom.mjGEOM_BOX,
                          size=[pad_radius, 0.0, 0.0] if pad == 'ball'
                          else [*PLATE, pad_radius])
        body = GraspObject(mesh, Material(modulus, POISSON_RATIO, density, FRICTION), 'body')
        add_object(spec, body, np.eye(4), options, self.soft)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        nodes = [self.model.body(node_name(i)) for i in range(len(soft.nodes))]
        self._nodes = np.array([node.id for node in nodes])
        self._dofs = np.concatenate([int(n.dofadr[0]) + np.arange(3) for n in nodes])
        contacts = SoftContacts(
            self.model, self.soft, mesh, modulus, POISSON_RATIO,
            dict.fromkeys(PADS, sphere(pad_radius, 0.1 * pad_radius) if pad == 'ball' else box(
                2.0 * np.array([*PLATE, pad_radius])))) if yielding else None
        self._body = SoftBody(self.model, NeoHookean(self.model, modulus, POISSON_RATIO), contacts)
        self._height = float(soft.nodes[:, 2].max()) if height is None else height
        self._place(0.0)
        mujoco.mj_forward(self.model, self.data)

    def _place(self, depth: float) -> None:
        height = self._height + self._skin + self._radius - depth
        self.data.mocap_pos[:] = height * self._up, -height * self._up

    def press(self, depths) -> list[Pressed]:
        """Return what a pad bears at growing depths [m] at rest."""
        step, before, found = self.model.opt.timestep, 0.0, []
        for depth in depths:
            count = round(PRESS_TIME / step)
            for k in range(count + round(REST_TIME / step)):
                self._place(before + (depth - before) * min(1.0, (k + 1) / count))
                self._move_on()
            before = depth
            found.append(self._measure(depth))
        return found

    def roll(self, turns, depth: float) -> list[Pressed]:
        """
        Return what a pad bears at rest at a depth [m], as pads go round the body [rad].

        Contacts are told how the body itself turns, by some milliradians, from now on.
        """
        self._pose, before, found = self._motion, self._turn, []
        count, rests = (round(time / self.model.opt.timestep) for time in (PRESS_TIME, REST_TIME))
        for turn in turns:
            for k in range(count + rests):
                self._look(before + (turn - before) * min(1.0, (k + 1) / count))
                self._place(depth)
                self._move_on()
            before = self._turn
            found.append(self._measure(depth))
        return found

    def _look(self, turn: float) -> None:
        """Let pads come by a way that is turned about y [rad]."""
        self._turn, self._up = turn, np.array([np.sin(turn), 0.0, np.cos(turn)])

    def _move_on(self) -> None:
        self._calm(np.exp(-self.model.opt.timestep / DAMPING_TIME))
        self._step()

    def _step(self) -> None:
        self._body.step(self.data, self._touching, self._pose)

    def _motion(self) -> Array:
        """Return the nearest rigid motion of the body (4, 4)."""
        return nearest_motion(self.soft.nodes, self.data.xpos[self._nodes], self.soft.masses)

    def _touching(self):
        """Yield link, geom, sign of the force on the link and number of each contact."""
        for i, contact in enumerate(self.data.contact):
            side = int(contact.geom[1] >= 0)
            geom = int(contact.geom[side])
            name = PADS[int(self.model.geom_bodyid[geom] == self.model.body(PADS[1]).id)]
            yield name, geom, 2.0 * side - 1.0, i

    def _calm(self, share: float) -> None:
        """Damp the nodes and take away rigid motion: between two balls a body is unstable."""
        masses, points = self.soft.masses, self.data.xpos[self._nodes]
        velocities = self.data.qvel[self._dofs].reshape(-1, 3)
        velocities = velocities - np.average(velocities, axis=0, weights=masses)
        arms = points - np.average(points, axis=0, weights=masses)
        spin = masses @ np.cross(arms, velocities)
        inertia = np.eye(3) * (masses @ (arms**2).sum(axis=1)) - (masses[:, None] * arms).T @ arms
        velocities = velocities - np.cross(np.linalg.solve(inertia, spin), arms)
        self.data.qvel[self._dofs] = share * velocities.ravel()

    def _measure(self, depth: float) -> Pressed:
        wrench, forces, distances, moment, above = np.zeros(6), [], [], 0.0, 0.0
        upper, side = self.model.body(PADS[0]).id, np.cross([0.0, 1.0, 0.0], self._up)
        for i, contact in enumerate(self.data.contact):
            if contact.efc_address >= 0:
                self._mujoco.mj_contactForce(self.model, self.data, i, wrench)
                forces.append(abs((wrench[:3] @ contact.frame.reshape(3, 3))[2]))
                distances.append(contact.dist)
                if upper in self.model.geom_bodyid[contact.geom[contact.geom >= 0]]:
                    above += forces[-1]
                    moment += forces[-1] * float(contact.pos @ side)
        if not sum(forces) > 0.0:
            return Pressed(depth, 0.0, 0.0, 0)
        return Pressed(depth, 0.5 * sum(forces), -float(np.average(distances, weights=forces)),
                       len(forces) // 2, moment / max(above, 1e-12), above)

    @property
    def warned(self) -> int:
        """Return in how many steps MuJoCo's solve did not converge."""
        return int(sum(warning.number for warning in self.data.warning))


def way_of_balls(forces, radius: float, modulus: float,
                 pad_radius: float = BALL_RADIUS) -> Array:
    """
    Return how far each of two balls of ``pad_radius`` goes into a ball between them (n,) [m].

    Hertz's contact less what the far side lifts: Tatara, J. Eng. Mater. Technol. 113, 1991.
    """
    forces = np.asarray(forces, float)
    plane, gap = modulus / (1.0 - POISSON_RATIO**2), 1.0 / (1.0 / radius + 1.0 / pad_radius)
    spot = (0.75 * forces * gap / plane) ** (1.0 / 3.0)
    away = np.hypot(spot, 2.0 * radius)
    far = (2.0 * (1.0 + POISSON_RATIO) * radius**2 / away**3 + (1.0 - POISSON_RATIO**2) / away)
    return spot**2 / gap - forces * far / (np.pi * modulus)


def way_of_rod(forces, radius: float, modulus: float, pad_radius: float) -> Array:
    """
    Return how far each of two balls of ``pad_radius`` goes into a rod between them (n,) [m].

    Johnson, Contact Mechanics, 1985, section 4.2, less what the far side lifts as of a ball.
    """
    forces, plane = np.maximum(forces, 1e-12), modulus / (1.0 - POISSON_RATIO**2)
    along, across = 0.5 / pad_radius, 0.5 / pad_radius + 0.5 / radius

    def misfit(ratio):
        first, second = ellipk(1.0 - ratio**2), ellipe(1.0 - ratio**2)
        return (second / ratio**2 - first) / (first - second) - across / along
    ratio = brentq(misfit, 1e-3, 1.0 - 1e-6)
    first, second = ellipk(1.0 - ratio**2), ellipe(1.0 - ratio**2)
    longest = (1.5 * forces * second / (np.pi * plane * ratio**2 * (along + across)))**(1.0 / 3.0)
    far = (1.0 + POISSON_RATIO) / (4.0 * radius) + (1.0 - POISSON_RATIO**2) / (2.0 * radius)
    return 1.5 * forces * first / (np.pi * longest * plane) - forces * far / (np.pi * modulus)


def stiffness(soft: SoftMesh, modulus: float):
    """Return the sparse stiffness (3N, 3N) [N/m] of linear tetrahedra of linear elasticity."""
    return modulus * stiffness_matrix(soft.nodes, soft.corners, soft.corners, LINEAR_SLOPES,
                                      POISSON_RATIO)


def nodal_forces(soft: SoftMesh, modulus: float, pad: str, depths) -> list[float]:
    """Return a pad's forces [N]: linear elasticity, frictionless contact at the nodes."""
    matrix = stiffness(soft, modulus)
    matrix = matrix + sparse.eye(matrix.shape[0]) * (
        HOLDING * matrix.diagonal().mean() / len(soft.nodes))
    touch, outer = soft.nodes[:, 2].max(), np.unique(soft.faces)
    points = soft.nodes[outer]
    near = (np.hypot(points[:, 0], points[:, 1]) < REACH[pad] * BALL_RADIUS) & (
        abs(points[:, 2]) > 0.5 * touch)
    outer, points = outer[near], points[near]
    rows, inward = 3 * outer + 2, -np.sign(points[:, 2])
    loads = np.zeros((matrix.shape[0], len(rows)))
    loads[rows, np.arange(len(rows))] = inward
    compliance = inward[:, None] * splu(matrix.tocsc()).solve(loads)[rows]
    gaps = touch - abs(points[:, 2])
    if pad == 'ball':
        room = BALL_RADIUS**2 - points[:, 0]**2 - points[:, 1]**2
        gaps = gaps + np.where(room > 0.0, BALL_RADIUS - np.sqrt(np.maximum(room, 0.0)), 1.0)
    return [0.5 * float(_active_forces(compliance, depth - gaps).sum()) for depth in depths]


def _active_forces(compliance: Array, overlaps: Array) -> Array:
    """Return forces f >= 0 with C f >= overlaps, equal where f > 0, by active sets."""
    active, forces = overlaps > 0.0, np.zeros(len(overlaps))
    for _ in range(200):
        rows = np.flatnonzero(active)
        forces = np.zeros(len(overlaps))
        forces[rows] = np.linalg.solve(compliance[np.ix_(rows, rows)], overlaps[rows])
        after = np.where(active, forces > 0.0, overlaps - compliance @ forces > 1e-9)
        if (after == active).all():
            return forces
        active = after
    raise ArithmeticError('the set of nodes in contact does not settle')
