"""The grips compared with finite elements, and the product's answer to each."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq

from benchmarks.finite_elements import sections
from benchmarks.finite_elements.contact import Ball, PadContact, PadGroup, Plane
from benchmarks.finite_elements.harmonics import HarmonicBody
from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, shapes
from gripsim_ros.core.bodies.shapes.sweeps import refine_profile, revolve
from gripsim_ros.core.contact import (ContactMesh, PatchOptions, PunchIndenter, SphereIndenter,
                                      sample_patch)
from gripsim_ros.core.mechanics.body import ContactProblem, ElasticBody, solve_contact
from gripsim_ros.core.mechanics.contact.contact_forces import (
    nodes_of, PatchNodes, solve_contact_forces)

#: All forces are those of this modulus [Pa]; they are in proportion to it.
MODULUS = 1e6
RATIOS = (0.3, 0.45, 0.49)
RADIUS = 0.04
FINGER = Ball(0.01)
#: Edges of the product's meshes [m], and nodes with overlap wanted per patch.
EDGE = 3e-3
NODE_COUNT = 400
#: Finite elements are fine so far about each of two fingers that are near each other [m].
NEAR_REACH = 7.4e-3
#: The product's stand-in for a plane, a punch this wide [m].
WIDE = 0.2


@dataclass(frozen=True)
class Pad:
    """A pad before it moves: shape, point of the object it touches, direction of motion."""

    shape: Ball | Plane
    touch: np.ndarray
    along: np.ndarray


@dataclass(frozen=True)
class Grip:
    """
    One body and the pads on it.

    ``section(step)`` gives the finite elements' section; ``groups(section, step)`` its groups
    of pads and ``fold``; ``mesh()`` the product's mesh; ``pads`` one pad of each kind and
    how many there are; ``depths`` of the study [m]. Grips of one ``body`` share a section and
    its compliances. Where there are two kinds of pads, the body
    finds its balance between them: a depth is the mean of the two.
    """

    name: str
    section: object
    groups: object
    mesh: object
    pads: tuple
    depths: tuple
    half_thickness: float
    step: float
    body: str = ''

    @property
    def balanced(self):
        """Return whether unlike pads press, between which the body settles."""
        return len(self.pads) > 1 and self.pads[0][1] != self.pads[1][1]


@dataclass(frozen=True)
class Row:
    """Force and radius of the first pad, by one model, at one depth."""

    grip: str
    poisson_ratio: float
    depth: float
    force: float
    radius: float


def _z(height):
    return np.array([0.0, 0.0, height])


def _x(distance, height=0.0):
    return np.array([distance, 0.0, height])


def _angles(reach, radius, step):
    return np.arange(int(reach / step) + 1) * step / radius


def _pole_groups(shape, height, section, step):
    count = section.breaks[0]
    none, up = np.zeros(0), _z(1.0)
    return [PadGroup(shape, np.arange(count), none, _z(height), -up),
            PadGroup(shape, np.arange(count, len(section.line)), none, _z(-height), up)], 1


def _side_groups(fold, height, reach, section, step):
    radius = float(section.line_points[:, 0].max())
    return [PadGroup(FINGER, np.arange(len(section.line)), _angles(reach, radius, step),
                     _x(radius, height), -_x(1.0))], fold


def _slab_groups(arm, half, section, step):
    count = section.breaks[0]
    quarter = np.linspace(0.0, 0.5 * np.pi, int(0.5 * np.pi * 8e-3 / step) + 1)
    fine = np.linspace(0.0, 0.5 * np.pi, int(0.5 * np.pi * arm / step) + 1)
    fine = fine[fine < np.pi / 3.0]
    return [PadGroup(FINGER, np.arange(count), fine, _x(arm, half), -_z(1.0)),
            PadGroup(FINGER, np.arange(count, len(section.line)), quarter, _z(-half),
                     _z(1.0))], 2


def _around_z(count, touch):
    """Return pads at equal angles round z, pressing towards the axis."""
    pads = []
    for k in range(count):
        c, s = np.cos(2.0 * np.pi * k / count), np.sin(2.0 * np.pi * k / count)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pads.append(Pad(FINGER, turn @ touch, turn @ -_x(1.0)))
    return pads


def cup_mesh(radius, wall, height, bottom):
    """Return the surface of the cup of ``cup_section``."""
    profile = [[0.0, -bottom], [radius, -bottom], [radius, height], [radius - wall, height],
               [radius - wall, 0.0], [0.0, 0.0]]
    return revolve(refine_profile(profile, EDGE), int(2.0 * np.pi * radius / EDGE))


def apple_height():
    """Return the height of the apple's widest circle [m]."""
    return sections.apple_section(1e-3, 1e-3)[1]


def grips() -> list[Grip]:
    """Return every grip of the study."""
    ball = partial(shapes.sphere, RADIUS, EDGE)
    deep = (1e-3, 3e-3, 6e-3)
    found = [
        Grip(f'ball, 2 {name}', partial(_poles, RADIUS, reach),
             partial(_pole_groups, shape, RADIUS), ball,
             ((Pad(shape, _z(RADIUS), -_z(1.0)), 2),), deep, RADIUS, 3e-4)
        for name, shape, reach in (('fingers', FINGER, 9e-3), ('plates', Plane(), 22e-3))]
    found += [
        Grip('ball, 3 fingers', lambda step: sections.sphere_section(RADIUS, 8e-3, step),
             partial(_side_groups, 3, 0.0, 8e-3), ball, (_sides(3, 0.0),), deep, RADIUS, 4e-4)]
    height = apple_height()
    for count in (2, 3):
        found.append(Grip(
            f'apple, {count} fingers', lambda step: sections.apple_section(8e-3, step)[0],
            partial(_side_groups, count, height, 8e-3), partial(shapes.apple, edge_length=EDGE),
            (_sides(count, height),), deep, RADIUS, 4e-4, 'apple'))
    half = 0.01
    slab = partial(shapes.cylinder, RADIUS, 2.0 * half, edge_length=EDGE)
    for name, shape, depths in (('fingers', FINGER, deep), ('balls R40', Ball(0.04),
                                                            (5e-4, 1e-3, 2e-3))):
        found.append(Grip(
            f'slab, 2 {name}', lambda step: sections.slab_section(
                RADIUS, half, (0.0, 12e-3), (0.0, 12e-3), step),
            partial(_pole_groups, shape, half), slab,
            ((Pad(shape, _z(half), -_z(1.0)), 2),), depths, half, 3e-4))
    arm = 0.015
    found.append(Grip(
        'slab, 3 fingers', lambda step: sections.slab_section(
            RADIUS, half, (arm - 7e-3, arm + 7e-3), (0.0, 8e-3), step),
        partial(_slab_groups, arm, half), slab,
        ((Pad(FINGER, _x(arm, half), -_z(1.0)), 2), (Pad(FINGER, _z(-half), _z(1.0)), 1)),
        (5e-4, 1.5e-3, 3e-3), half, 5e-4))
    for wall, bottom, reach, step, depths in (
            (1e-3, 1.4e-3, 2e-3, 1.5e-4, (1e-4, 2e-4, 4e-4)),
            (2e-3, 2.8e-3, 2.5e-3, 1.5e-4, (2e-4, 3e-4, 8e-4)),
            (3e-3, 4e-3, 3e-3, 2e-4, (2e-4, 5e-4, 1e-3)),
            (1e-2, 4e-3, 7e-3, 4e-4, (5e-4, 1.5e-3, 3e-3))):
        for count in (2, 3):
            found.append(Grip(
                f'cup {1e3 * wall:.0f} mm, {count} fingers',
                partial(_cup_section, wall, bottom, reach),
                partial(_side_groups, count, 0.045, reach),
                partial(cup_mesh, RADIUS, wall, 0.09, bottom), (_sides(count, 0.045),),
                depths, 0.5 * wall, step, f'cup {wall}'))
    return found


def near_grip(half: float, arm: float, depths) -> Grip:
    """Return two fingers near each other on a slab, and one on the axis against them."""
    return Grip(
        'slab, 2 fingers near, 1 opposite', lambda step: sections.slab_section(
            RADIUS, half, (max(arm - NEAR_REACH, 0.0), arm + NEAR_REACH), (0.0, 9e-3), step),
        partial(_slab_groups, arm, half),
        partial(shapes.cylinder, RADIUS, 2.0 * half, edge_length=EDGE),
        ((Pad(FINGER, _x(arm, half), -_z(1.0)), 2), (Pad(FINGER, _z(-half), _z(1.0)), 1)),
        depths, half, 6e-4)


def _poles(radius, reach, step):
    return sections.sphere_section(radius, reach, step, middle=0.0)


def _cup_section(wall, bottom, reach, step):
    return sections.cup_section(RADIUS, wall, 0.09, bottom, 0.045, reach, step)


def _sides(count, height):
    return Pad(FINGER, _x(RADIUS, height), -_x(1.0)), count


def reference_rows(grip: Grip, poisson_ratio: float, body: HarmonicBody | None = None,
                   step: float | None = None):
    """Return the rows of the finite elements, and the body with its compliances."""
    step = step or grip.step
    section = grip.section(step)
    body = body or HarmonicBody(section, poisson_ratio)
    groups, fold = grip.groups(section, step)
    contact = PadContact(body, groups, fold)
    rows = []
    for depth in grip.depths:
        # A group presses ``fold`` times; the sectors of a pad on the axis add up to one.
        depths = _settle(grip, depth, lambda d: [
            fold / count * abs(p.force @ g.along)
            for p, g, (_, count) in zip(contact.solve(d), groups, grip.pads)])
        pad = contact.solve(depths)[0]
        rows.append(Row(grip.name, poisson_ratio, depth,
                        MODULUS * abs(pad.force @ groups[0].along), pad.radius))
    return rows, body


def _settle(grip, depth, forces):
    """Return each kind's depth; unlike pads share twice the depth so that they balance."""
    if not grip.balanced:
        return [depth] * len(grip.pads) if len(grip.pads) > 1 else [depth, depth]
    (_, first), (_, second) = grip.pads

    def excess(own):
        a, b = forces([own, 2.0 * depth - own])
        return first * a - second * b

    own = brentq(excess, 0.3 * depth, 1.2 * depth, xtol=1e-4 * depth)
    return [own, 2.0 * depth - own]


class Product:
    """The product's contact of one grip, through its own functions."""

    def __init__(self, grip: Grip, poisson_ratio: float, node_count: int = NODE_COUNT):
        """Prepare mesh and material."""
        self.grip = grip
        mesh: TriangleMesh = grip.mesh()
        material = Material(MODULUS, poisson_ratio, 1000.0, 0.5)
        self.body = ElasticBody(GraspObject(mesh, material))
        self.surface = ContactMesh(mesh)
        self.options = PatchOptions(node_count=node_count)

    def contact(self, depths) -> ContactProblem:
        """Return the patches of all pads at each kind's depth [m]."""
        patches = []
        for (pad, count), depth in zip(self.grip.pads, depths):
            for one in self._all(pad, count):
                patches.append(self._patch(one, depth))
        nodes = nodes_of(patches, np.arange(len(patches)))
        return ContactProblem(nodes, np.array([patch.flags for patch in patches]),
                              np.array([patch.thickness for patch in patches]))

    def _all(self, pad, count):
        if count == 1:
            return [pad]
        if abs(pad.along[2]) > 0.5 and pad.touch[0] == 0.0:
            return [pad, Pad(pad.shape, -pad.touch, -pad.along)]
        if abs(pad.along[2]) > 0.5:
            return [pad, Pad(pad.shape, pad.touch * [-1.0, 1.0, 1.0], pad.along)]
        return _around_z(count, pad.touch)

    def _patch(self, pad, depth):
        pose = np.eye(4)
        side = np.eye(3)[int(np.argmin(np.abs(pad.along)))]
        pose[:3, :3] = np.stack([side, np.cross(pad.along, side), pad.along], axis=1)
        tip = pad.touch + depth * pad.along
        if isinstance(pad.shape, Ball):
            pose[:3, 3] = tip - pad.shape.radius * pad.along
            found = sample_patch(self.surface, SphereIndenter(pad.shape.radius), pose, pad.along,
                                 self.options)
        else:
            pose[:3, 3] = tip
            found = sample_patch(self.surface, PunchIndenter(WIDE, WIDE), pose, pad.along,
                                 self.options)
        facing = [patch for patch in found if patch.direction @ pad.along > 0.5]
        if len(facing) != 1:
            raise ArithmeticError(f'{self.grip.name}: {len(facing)} patches under one pad')
        return facing[0]

    def forces(self, depths):
        """Return the force of a pad of each kind along its motion [N], and what was loaded."""
        loaded = solve_contact(self.body, self.contact(depths), {})
        answer, first = [], 0
        for pad, count in self.grip.pads:
            answer.append(float(loaded.results.forces[first] @ pad.along))
            first += count
        return answer, loaded

    def rows(self):
        """Return the product's rows, and the flags of the first pad at each depth."""
        rows, flags = [], []
        for depth in self.grip.depths:
            depths = _settle(self.grip, depth, lambda d: self.forces(d)[0])
            forces, loaded = self.forces(depths)
            rows.append(Row(self.grip.name, self.body.material.poisson_ratio, depth, forces[0],
                            float(loaded.results.radii[0])))
            flags.append(int(loaded.flags[0]))
        return rows, flags

    def lone_force(self, depth):
        """Return the force of the first pad alone on a plain half-space [N]."""
        nodes = self.contact([depth] * len(self.grip.pads)).nodes
        first = nodes.patches == 0
        pad = self.grip.pads[0][0]
        flat = PatchNodes(nodes.points[first], np.tile(pad.along, (int(first.sum()), 1)),
                          nodes.areas[first], nodes.depths[first], nodes.patches[first],
                          nodes.links[:1], nodes.spreads[first])
        solution = solve_contact_forces(flat, self.body.modulus, {}, self.body.options.forces)
        return float((nodes.normals[first][solution.rows] @ pad.along) @ solution.forces)
