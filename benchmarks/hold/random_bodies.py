"""Bodies that nobody chose: random shapes, sizes, masses, materials and friction."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.hold.bodies import MATERIALS
from gripsim_ros.core.bodies import Material, TriangleMesh, convex_hull, mass_properties, shapes
from gripsim_ros.core.bodies.shapes.sweeps import revolve

Array = NDArray[np.float64]

#: Masses [kg], densities [kg/m^3] within them, and friction [-].
MASSES, DENSITIES, FRICTION = (0.03, 1.0), (300.0, 2000.0), (0.4, 0.8)
#: Side lengths that the hand can get round [m].
SIDES = (0.03, 0.09)
#: Round bodies come of it; the largest have triangles' sides of 3 mm in the mean.
BALL = shapes.sphere(1.0, 0.003 / SIDES[1] * 2.0)


def random_body(seed: int, number: int) -> tuple[str, TriangleMesh, float, Material]:
    """Return the name, mesh about its centre of mass, mass [kg] and material of a body."""
    generator = np.random.default_rng([seed, number])
    kind = tuple(KINDS)[number % len(KINDS)]
    mesh = KINDS[kind](generator)
    turn = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    middle = mass_properties(mesh, 1.0).centre_of_mass
    mesh = TriangleMesh((mesh.vertices - middle) @ turn.T, mesh.faces)
    stuff = tuple(MATERIALS)[int(generator.integers(len(MATERIALS)))]
    modulus, poisson, _ = MATERIALS[stuff]
    mass = float(np.clip(mesh.volume * generator.uniform(*DENSITIES), *MASSES))
    friction = float(generator.uniform(*FRICTION))
    return (f'{seed}.{number} {stuff} {kind}', mesh, mass,
            Material(modulus, poisson, mass / mesh.volume, friction))


def _stone(generator) -> TriangleMesh:
    """Return the hull of few points."""
    points = generator.normal(size=(int(generator.integers(6, 30)), 3))
    points *= generator.uniform(0.6, 1.0, (len(points), 1)) / np.linalg.norm(
        points, axis=1, keepdims=True)
    return _hull(0.5 * generator.uniform(*SIDES, 3) * points)


def _hull(points: Array) -> TriangleMesh:
    """Return the hull of points, which any triangles may name."""
    names = np.arange(len(points))
    return convex_hull(TriangleMesh(points, np.column_stack(
        [names, np.roll(names, 1), np.roll(names, 2)])))


def _superellipsoid(generator) -> TriangleMesh:
    """Return something between a ball and a box, rounded."""
    power = generator.uniform(2.0, 7.0)
    radii = (np.abs(BALL.vertices) ** power).sum(axis=1) ** (-1.0 / power)
    return _stretched(radii, generator)


def _lump(generator) -> TriangleMesh:
    """Return an ellipsoid with bumps and dents."""
    radii = np.ones(len(BALL.vertices))
    for _ in range(6):
        towards = generator.normal(size=3)
        radii += generator.uniform(-0.2, 0.25) * np.exp(
            4.0 * (BALL.vertices @ towards / np.linalg.norm(towards) - 1.0))
    return _stretched(radii, generator)


def _stretched(radii: Array, generator) -> TriangleMesh:
    """Return the unit ball with other radii, of three random lengths."""
    return TriangleMesh(0.5 * generator.uniform(*SIDES, 3) * radii[:, None] * BALL.vertices,
                        BALL.faces)


def _box(generator) -> TriangleMesh:
    return shapes.box(generator.uniform(*SIDES, 3))


def _prism(generator) -> TriangleMesh:
    """Return a regular prism of three to eight sides, leaning and tapered."""
    count = int(generator.integers(3, 9))
    angles = 2.0 * np.pi * np.arange(count) / count
    foot = generator.uniform(0.018, 0.04) * np.column_stack([np.cos(angles), np.sin(angles)])
    height, lean = generator.uniform(0.03, 0.12), generator.uniform(-0.3, 0.3, 2)
    head = (1.0 - generator.uniform(0.0, 0.5)) * (foot + height * lean)
    return _hull(np.concatenate([np.column_stack([foot, np.zeros(count)]),
                                 np.column_stack([head, np.full(count, height)])]))


def _angle(generator) -> TriangleMesh:
    """Return a thick L."""
    width, depth, height = generator.uniform(*SIDES, 3)
    arm = generator.uniform(0.3, 0.6)
    outline = np.array([[0, 0], [1, 0], [1, arm], [arm, arm], [arm, 1], [0, 1]])
    outline = outline * [width, depth]
    count = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(count, z)])
                               for z in (0.0, height)])
    head = np.array([[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]])
    k = np.arange(count)
    after = (k + 1) % count
    sides = np.concatenate([np.column_stack([k, after, after + count]),
                            np.column_stack([k, after + count, k + count])])
    return TriangleMesh(vertices, np.concatenate([head[:, ::-1], head + count, sides]))


def _turned(generator) -> TriangleMesh:
    """Return a bottle or bead of a wavy profile."""
    along = np.linspace(0.0, 1.0, 40)
    waves, phase = generator.uniform(0.5, 2.0), generator.uniform(0.0, 2.0 * np.pi)
    radii = generator.uniform(0.015, 0.035) * (
        1.0 + 0.35 * np.sin(2.0 * np.pi * waves * along + phase))
    profile = np.column_stack([radii, generator.uniform(0.05, 0.14) * along])
    profile = np.concatenate([[[0.0, 0.0]], profile, [[0.0, profile[-1, 1]]]])
    return revolve(profile, 64)


KINDS = {'stone': _stone, 'superellipsoid': _superellipsoid, 'L': _angle, 'box': _box,
         'lump': _lump, 'turned body': _turned, 'prism': _prism}
