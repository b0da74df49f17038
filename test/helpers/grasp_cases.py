"""Grasps of known answers, and strategies for others, shared by the mechanics' tests."""

from dataclasses import replace

from hypothesis import strategies as st
import numpy as np
from scipy.spatial.transform import Rotation

from gripsim_ros.core.grasp_theory.contact_set import ContactSet

RADIUS = 0.04
ORIGIN = np.zeros(3)


def make_patches(points, normals, forces, friction_radius=0.0, normal_stiffness=5000.0,
                 tangential_stiffness=4000.0, max_normal=np.inf):
    """Return active patches with pure normal forces (k,) [N]."""
    points, normals = np.asarray(points, float), np.asarray(normals, float)
    count = len(points)
    forces = np.broadcast_to(np.asarray(forces, float), (count,))
    return ContactSet(points, normals, forces[:, None] * normals, np.zeros((count, 3)),
                      np.full(count, friction_radius), np.full(count, normal_stiffness),
                      np.full(count, tangential_stiffness), np.full(count, max_normal),
                      np.zeros(count, bool))


def ring(count, forces=3.0, radius=RADIUS, **values):
    """Return patches evenly about the z axis of a sphere, the first on +x."""
    angles = 2.0 * np.pi * np.arange(count) / count
    points = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], 1)
    return make_patches(points, -points / radius, forces, **values)


def pinch(forces=3.0, **values):
    """Return two opposite patches on the x axis."""
    points = np.array([[RADIUS, 0.0, 0.0], [-RADIUS, 0.0, 0.0]])
    return make_patches(points, -points / RADIUS, forces, **values)


def tetrahedron(forces=3.0, **values):
    """Return four patches on a sphere's inscribed regular tetrahedron."""
    points = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
    return make_patches(RADIUS * points, -points, forces, **values)


def pull(direction, force):
    """Return one wrench (1, 6): a force along a direction at the centre of mass."""
    direction = np.asarray(direction, float)
    return np.concatenate([force * direction / np.linalg.norm(direction), np.zeros(3)])[None]


def all_directions(force):
    """Return 26 wrenches: a force along faces, edges and corners of a cube."""
    grid = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)
                     if x or y or z], float)
    grid *= force / np.linalg.norm(grid, axis=1)[:, None]
    return np.hstack([grid, np.zeros((26, 3))])


def random_patches(rng, count, friction_radius=2e-3):
    """Return patches about an object of 40 mm radius, not balanced among themselves."""
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    points = -RADIUS * normals + rng.normal(scale=4e-3, size=(count, 3))
    patches = make_patches(points, normals, rng.uniform(1.0, 6.0, count), friction_radius)
    return replace(patches, normal_stiffness=rng.uniform(2e3, 1e4, count),
                   tangential_stiffness=rng.uniform(1e3, 8e3, count))


def move(patches, wrenches, centre, rotation, translation):
    """Return patches, wrenches and centre of mass in another frame."""
    turned = {name: getattr(patches, name) @ rotation.T
              for name in ('normals', 'forces', 'torques')}
    moved = replace(patches, points=patches.points @ rotation.T + translation, **turned)
    wrenches = np.hstack([wrenches[:, :3] @ rotation.T, wrenches[:, 3:] @ rotation.T])
    return moved, wrenches, rotation @ centre + translation


def wrench_of(points, forces, torques, centre):
    """Return the wrench (6,) of forces at points about a centre, by its definition."""
    torque = np.cross(points - centre, forces).sum(0) + np.asarray(torques).sum(0)
    return np.concatenate([forces.sum(0), torque])


seeds = st.integers(0, 2**32 - 1)
rotations = seeds.map(lambda seed: Rotation.random(random_state=seed).as_matrix())
translations = st.tuples(*[st.floats(-0.5, 0.5)] * 3).map(np.array)
