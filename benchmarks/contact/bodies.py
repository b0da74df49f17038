"""Links, objects and poses of the contact benchmark; everything seeded."""

import os
import zlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.bodies.shapes.sweeps import revolve
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.contact.geometry.ray_casting import AHEAD, cast_rays
from gripsim_ros.core.transforms import apply, inverse, transform
from gripsim_ros.library.resources import share_directory

SEED = 0
#: Depths below the first touch [m]; negative: a near miss.
DEPTHS = (-1e-3, -5e-5, 5e-4, 2e-3, 5e-3, 1.2e-2)
#: Standard deviation of the sideways offset of link and object [m].
OFFSET = 6e-3
#: Edge lengths [m] that give about 500, 5,000 and 50,000 triangles.
CAPSULE_EDGES = {'500': 0.0052, '5k': 0.0016, '50k': 0.0005}
ROUNDED_BOX_EDGES = {'500': 0.0063, '5k': 0.0018, '50k': 0.00055}
#: Files of the Schunk SDH's links.
SDH_NAMES = {'sdh_tip': 'finger_tip', 'sdh_finger': 'finger', 'sdh_knuckle': 'knuckle',
             'sdh_palm': 'palm'}
LINKS = ('cap500', 'cap5k', 'cap50k', 'rbox500', 'rbox5k', 'rbox50k', *SDH_NAMES)
OBJECTS = ('sphere', 'apple5k', 'torus', 'blob', 'mug')


class Pose(NamedTuple):
    """A pose of the object in the link's frame, and the object's motion against the link."""

    T_link_object: np.ndarray
    direction: np.ndarray


def rounded_box(edge_length: float) -> TriangleMesh:
    """Return a box of 24 x 24 x 68 mm whose edges are rounded by 6 mm."""
    half, radius = np.array([0.012, 0.012, 0.034]), 0.006
    mesh = shapes.box(2.0 * half, edge_length)
    core = np.clip(mesh.vertices, -(half - radius), half - radius)
    out = mesh.vertices - core
    return mesh.with_vertices(core + radius * out / np.linalg.norm(out, axis=1, keepdims=True))


def blob(edge_length: float) -> TriangleMesh:
    """Return a ball of 36 mm with bumps of 3 mm."""
    mesh = shapes.sphere(0.036, edge_length)
    x, y, z = (mesh.vertices / 0.036).T
    bumps = np.sin(5.0 * x) * np.cos(4.0 * y) + np.sin(6.0 * z + 1.0)
    return mesh.with_vertices(mesh.vertices * (1.0 + 0.042 * bumps)[:, None])


def slivered_mug() -> TriangleMesh:
    """Return a cup with a wall of 4 mm, all of slivers as long as the cup."""
    profile = [[0.0, 0.0], [0.04, 0.0], [0.04, 0.08], [0.036, 0.08], [0.036, 0.004],
               [0.0, 0.004]]
    return revolve(profile, 128)


def _sdh(name: str) -> TriangleMesh:
    folder = Path(os.environ.get('GRIPSIM_DATA', '')) / 'schunk_sdh'
    path = folder / f'{SDH_NAMES[name]}.stl'
    if not path.is_file():   # Our own meshes of the same links have the same names.
        path = share_directory() / 'urdf' / 'meshes' / path.name
    loaded = trimesh.load(path, process=True)
    return TriangleMesh(np.array(loaded.vertices), np.array(loaded.faces))


MAKERS = {
    'sphere': lambda: shapes.sphere(0.04, 0.003),
    'torus': lambda: shapes.torus(0.03, 0.012, 0.0024),
    'apple1k': lambda: shapes.apple(0.08, 0.0063), 'apple5k': lambda: shapes.apple(0.08, 0.003),
    'apple20k': lambda: shapes.apple(0.08, 0.00153),
    'apple80k': lambda: shapes.apple(0.08, 0.00077),
    'sphere20k': lambda: shapes.sphere(0.04, 0.0015), 'blob': lambda: blob(0.0027),
    'mug': slivered_mug, 'mug_fine': lambda: shapes.mug(edge_length=0.00133),
}


@lru_cache(maxsize=None)
def mesh(name: str) -> TriangleMesh:
    """Return a link or an object by name."""
    if name.startswith('cap'):
        return shapes.capsule(0.012, 0.045, CAPSULE_EDGES[name[len('cap'):]])
    if name.startswith('rbox'):
        return rounded_box(ROUNDED_BOX_EDGES[name[len('rbox'):]])
    return _sdh(name) if name in SDH_NAMES else MAKERS[name]()


@lru_cache(maxsize=None)
def contact_mesh(name: str) -> ContactMesh:
    """Return a link or an object prepared for contact."""
    return ContactMesh(mesh(name))


def generator(link: str, body: str) -> np.random.Generator:
    """Return the generator of random numbers of a pair."""
    return np.random.default_rng([SEED, zlib.crc32((link + body).encode())])


def poses(link: str, body: str, depths: tuple[float, ...] = DEPTHS) -> list[Pose]:
    """
    Return a link pushed into an object to depths below its first touch, each its own way.

    The first touch is that of vertices and faces; it places the bodies and judges nothing.
    """
    rng = generator(link, body)
    return [_placed(link, body, depth, rng) for depth in depths]


def _placed(link: str, body: str, depth: float, rng: np.random.Generator) -> Pose:
    rotations = Rotation.random(2, random_state=int(rng.integers(2 ** 31))).as_matrix()
    motion = rng.normal(size=3)
    motion /= np.linalg.norm(motion)
    sideways = rng.normal(size=3) * OFFSET
    sideways -= (sideways @ motion) * motion
    own, other = mesh(link), mesh(body)
    start = -0.5 * motion + sideways - rotations[0] @ own.vertices.mean(axis=0)
    T_world_link = transform(rotations[0], start)
    T_world_object = transform(rotations[1], -rotations[1] @ other.vertices.mean(axis=0))
    way = min(_way(link, body, T_world_link, T_world_object, motion),
              _way(body, link, T_world_object, T_world_link, -motion))
    if not np.isfinite(way):
        return _placed(link, body, depth, rng)
    T_world_link = transform(rotations[0], start + (way + depth) * motion)
    T_link_object = inverse(T_world_link) @ T_world_object
    return Pose(T_link_object, -T_world_link[:3, :3].T @ motion)


def _way(moving: str, still: str, T_world_moving: np.ndarray, T_world_still: np.ndarray,
         motion: np.ndarray) -> float:
    """Return how far vertices may move until the first of them meets a mesh."""
    T = inverse(T_world_still) @ T_world_moving
    points = apply(T, mesh(moving).vertices)
    hits = cast_rays(contact_mesh(still).tree, points, T_world_still[:3, :3].T @ motion, 0.0)
    return float(hits.distances[:, AHEAD].min())
