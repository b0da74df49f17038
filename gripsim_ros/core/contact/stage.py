"""The contact stage: link states in, distances, patches and contact vertices out."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..arrays import Array, IntArray
from ..batches import (DETAIL_CLEARANCE, DETAIL_SURFACE, OWN_COMPLIANCE, ConfigurationBatch,
                       ContactBatch, LinkStateBatch)
from ..bodies import GraspObject
from ..hand import HandModel
from ..numerics import vec3
from ..numerics.kernels import njit
from ..transforms import inverse
from .distance.clearance import obstacle_clearance, obstacle_shapes, pair_clearances
from .distance.clearance_cache import ClearanceCache
from .distance.gjk import Shape
from .distance.link_hulls import Hulls, build_hulls
from .distance.mesh_distance import mesh_distance
from .geometry.contact_mesh import ContactMesh
from .patches.indenters import MeshIndenter
from .patches.patch import Patch, PatchOptions, sample_patch
from .vertices.penetrating_vertices import vertex_contacts


#: Least displacement over the link's size that counts as motion [-].
MOTIONLESS = 1e-9


@dataclass(frozen=True, eq=False)
class LinkShapes:
    """
    Trees and hulls of a hand's links, the same for every object.

    Attributes
    ----------
    hand_id : str
    bodies : tuple of ContactMesh, (L,)
    hulls : Hulls
    pairs : (k, 2) int
        Links that can hit each other: no neighbours, and moved by different joints.
    """

    hand_id: str
    bodies: tuple[MeshIndenter, ...]
    hulls: Hulls
    pairs: IntArray

    @staticmethod
    def of_hand(hand: HandModel) -> 'LinkShapes':
        """Return trees and hulls of a hand's links, kept for the next object."""
        return _link_shapes(hand)


@lru_cache(maxsize=4)
def _link_shapes(hand: HandModel) -> LinkShapes:
    """Build trees and hulls of a hand's links; equal meshes share theirs."""
    keys = [link.mesh.content_hash for link in hand.links]
    known = {key: MeshIndenter(link.mesh) for key, link in zip(keys, hand.links)}
    order = {key: i for i, key in enumerate(known)}
    hulls = build_hulls(list(known.values()), np.array([order[key] for key in keys]))
    moved = hand.moves_link
    differ = (moved[:, None] != moved[None]).any(axis=-1) & ~hand.neighbours
    for body in known.values():
        body.mesh.clear_derived()
    return LinkShapes(hand.id, tuple(known[key] for key in keys), hulls,
                      np.ascontiguousarray(np.argwhere(np.triu(differ, 1))))


class ContactScene:
    """
    A hand and an object, prepared once for any number of configurations.

    Parameters
    ----------
    hand : HandModel
    grasp_object : GraspObject
    shapes : LinkShapes, optional
        Of the same hand. None: they are built, once for each hand that was loaded.
    options : PatchOptions
    """

    def __init__(self, hand: HandModel, grasp_object: GraspObject,
                 shapes: LinkShapes | None = None,
                 options: PatchOptions = PatchOptions()) -> None:
        if shapes is None or shapes.hand_id != hand.id:
            shapes = LinkShapes.of_hand(hand)
        self.shapes = shapes
        self.body = ContactMesh(grasp_object.mesh)
        self.options = options
        self.clearance_cache = ClearanceCache(shapes.hulls, self.body)

    def prepare(self) -> None:
        """Build now what the first question would build of the object: its tree and surface."""
        self.body.bulge     # follows from both


class Row(NamedTuple):
    """The answer for one configuration, in the parts of ``ContactBatch``."""

    clearance: Array
    obstacle_clearance: float
    self_clearance: float
    depth: Array
    links: list[int]
    patches: list[Patch]
    vertices: Array
    vectors: Array


def detect_contacts(scene: ContactScene, batch: LinkStateBatch) -> ContactBatch:
    """
    Find distances, patches and contact vertices of every configuration of a batch.

    Parameters
    ----------
    scene : ContactScene
    batch : LinkStateBatch

    Returns
    -------
    ContactBatch
        Distances only at ``DETAIL_CLEARANCE``, patches from ``DETAIL_FORCES``, contact
        vertices at ``DETAIL_SURFACE``. Each configuration's answer depends on it alone.
    """
    questions = batch.configurations
    obstacles = obstacle_shapes(questions.obstacles)
    rows = [_detect(scene, questions, batch.T_object_link[i], batch.twists_object[i],
                    questions.sweep_object[i], obstacles) for i in range(questions.count)]
    return assemble(questions, rows, len(scene.shapes.bodies))


def _detect(scene: ContactScene, questions: ConfigurationBatch, T_object_link: Array,
            twists: Array, sweep: Array, obstacles: list[Shape]) -> Row:
    """Answer for one configuration."""
    shapes, detail = scene.shapes, questions.detail
    # Half-spaces know no edges.
    over_edges = questions.elasticity == OWN_COMPLIANCE
    count = len(shapes.bodies)
    clearance = scene.clearance_cache.clearances(T_object_link, sweep)
    depth = np.zeros(count)
    links: list[int] = []
    patches: list[Patch] = []
    vertices, vectors = [np.zeros((0, 3))], [np.zeros((0, 3))]
    swept = bool(sweep.any())
    for link in range(count):
        T = T_object_link[link]
        if clearance[link] > 0.0 or (swept and detail == DETAIL_CLEARANCE):
            continue
        found = [] if detail == DETAIL_CLEARANCE else sample_patch(
            scene.body, shapes.bodies[link], T, _motion(scene, link, T, twists[link]),
            scene.options, over_edges)
        links += [link] * len(found)
        patches += found
        depth[link] = max([0.0, *(float(patch.depths.max()) for patch in found)])
        if not found and not swept:
            # The hull is met, not necessarily the surface.
            clearance[link] = mesh_distance(scene.body, shapes.bodies[link], T)
        if detail == DETAIL_SURFACE and clearance[link] <= 0.0:
            where, ways = _contact_vertices(scene, link, T, twists[link], found)
            vertices.append(where)
            vectors.append(ways)
    return Row(clearance, obstacle_clearance(shapes.hulls, T_object_link, sweep, obstacles),
               self_clearance(shapes, T_object_link), depth, links, patches,
               np.concatenate(vertices), np.concatenate(vectors))


def _motion(scene: ContactScene, link: int, T_object_link: Array, twist: Array,
            at: Array | None = None) -> Array | None:
    """Return the unit direction in which a point of a link moves, None at rest."""
    box, origin = scene.shapes.bodies[link].box, T_object_link[:3, 3]
    arm = T_object_link[:3, :3] @ box.centre if at is None else at - origin
    size = np.sqrt(box.half_lengths @ box.half_lengths) * np.sqrt(twist @ twist)
    moves, direction = _direction(twist, arm, float(MOTIONLESS * size))
    return direction if moves else None


@njit(cache=True)
def _direction(twist: Array, arm: Array, least: float) -> tuple[bool, Array]:
    """Return whether a point at an arm is faster than the least speed, and its unit velocity."""
    turning = vec3.cross((twist[3], twist[4], twist[5]), (arm[0], arm[1], arm[2]))
    velocity = twist[0] + turning[0], twist[1] + turning[1], twist[2] + turning[2]
    speed = np.sqrt(vec3.dot(velocity, velocity))
    if not speed > least:
        return False, np.zeros(3)
    return True, np.array(velocity) / speed


def _contact_vertices(scene: ContactScene, link: int, T: Array, twist: Array,
                      patches: list[Patch]) -> tuple[Array, Array]:
    """Return vertices of object and link inside each other, and their ways out."""
    body, other = scene.body, scene.shapes.bodies[link]
    at = None
    if patches:
        deepest = max(patches, key=lambda patch: float(patch.depths.max()))
        at = deepest.points[int(np.argmax(deepest.depths))]
    found = vertex_contacts(body, other, T, _motion(scene, link, T, twist, at))
    own = body.mesh.vertices[found.a_in_b.vertices]
    theirs = other.mesh.vertices[found.b_in_a.vertices] @ T[:3, :3].T + T[:3, 3]
    return (np.concatenate([own, theirs]),
            np.concatenate([found.a_in_b.points - own, found.b_in_a.points - theirs]))


def self_clearance(shapes: LinkShapes, T_object_link: Array) -> float:
    """
    Return the least bound of distance over the pairs of links that can hit each other.

    Parameters
    ----------
    shapes : LinkShapes
    T_object_link : (L, 4, 4) float
        In any common frame.

    Returns
    -------
    float
        Of the hulls where they are apart, else of the surfaces; 0 where these meet [m].
    """
    bounds = pair_clearances(shapes.hulls, shapes.pairs, T_object_link)
    for k in np.flatnonzero(bounds <= 0.0):
        i, j = shapes.pairs[k]
        T_i_j = inverse(T_object_link[i]) @ T_object_link[j]
        bounds[k] = mesh_distance(shapes.bodies[i], shapes.bodies[j], T_i_j)
        if bounds[k] <= 0.0:
            return 0.0
    return float(bounds.min(initial=np.inf))


def assemble(questions: ConfigurationBatch, rows: list[Row], links: int) -> ContactBatch:
    """Lay the answers for configurations of a hand of so many links end to end."""
    patches = [patch for row in rows for patch in row.patches]
    owners = np.array([link for row in rows for link in row.links], dtype=np.int64)
    return ContactBatch(
        questions, np.array([row.clearance for row in rows]).reshape(len(rows), links),
        np.array([row.obstacle_clearance for row in rows]),
        np.array([row.self_clearance for row in rows]),
        np.array([row.depth for row in rows]).reshape(len(rows), links),
        _offsets([len(row.patches) for row in rows]), owners,
        np.array([patch.flags for patch in patches], dtype=np.int64),
        np.array([patch.thickness for patch in patches], dtype=float),
        _offsets([len(patch.points) for patch in patches]),
        _rows([patch.points for patch in patches]), _rows([patch.normals for patch in patches]),
        np.concatenate([np.zeros(0), *(patch.areas for patch in patches)]),
        np.concatenate([np.zeros(0), *(patch.spreads for patch in patches)]),
        np.concatenate([np.zeros(0), *(patch.depths for patch in patches)]),
        _offsets([len(row.vertices) for row in rows]),
        _rows([row.vertices for row in rows]), _rows([row.vectors for row in rows]))


def _offsets(counts: list[int]) -> IntArray:
    return np.array([0, *accumulate(counts)], np.int64)


def _rows(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros((0, 3)), *parts])
