"""A small scene that runs every kernel once, before a node says that it is ready."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...core.batches import (
    DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE, LOAD_CASE_WIDTH, OBSTACLE_BOX,
    OBSTACLE_CYLINDER, OBSTACLE_SPHERE, OBSTACLE_WIDTH, ConfigurationBatch, ContactBatch)
from ...core.bodies import GraspObject, Material, shapes
from ...core.hand import HandModel

#: Radius of the ball, half the width of its two patches, and their depth [m].
RADIUS, PATCH_RADIUS, DEPTH = 0.03, 0.01, 0.001
#: Where the ball is above the palm while fingers close, the obstacles beyond it, and the way
#: of a sweep [m]; closing steps, and the motion of a joint in one [rad].
BALL_HEIGHT, OBSTACLE_DISTANCE, SWEEP, CLOSING_STEPS, STEP = 0.13, 0.1, 0.05, 6, 0.02
#: Configurations in which links may meet; their joints follow square roots of primes.
CROSSING_COUNT, PRIMES = 64, np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47])
#: Edge length of the ball's mesh, and distance of the nodes of its patches [m].
EDGE_LENGTH, NODE_SPACING = 0.006, 0.002
#: Soft rubber: modulus [Pa], Poisson ratio, density [kg/m^3], friction.
MATERIAL = (1e6, 0.45, 1000.0, 0.6)


def warm_up_object() -> GraspObject:
    """Return a small ball."""
    return GraspObject(shapes.sphere(RADIUS, EDGE_LENGTH), Material(*MATERIAL))


def warm_up_obstacles() -> NDArray[np.float64]:
    """Return an obstacle of each kind beyond the ball (3, 16)."""
    obstacles = np.zeros((3, OBSTACLE_WIDTH))
    obstacles[:, 0] = (OBSTACLE_BOX, OBSTACLE_SPHERE, OBSTACLE_CYLINDER)
    obstacles[:, 1:4] = RADIUS
    obstacles[:, 4:] = _moved(OBSTACLE_DISTANCE)[:3].ravel()
    return obstacles


def warm_up_configurations(hand: HandModel) -> Iterator[ConfigurationBatch]:
    """
    Yield the hand on its way to the ball, pressed on it, and closing about it.

    Every detail, a sweep and each kind of obstacle occur, and links that cross, or nearly.
    """
    load_case = np.zeros((1, LOAD_CASE_WIDTH))
    load_case[0, 2] = -9.81
    palm_top = hand.links[hand.palm_index].mesh.bounds[1, 2]
    pressed = _moved(DEPTH - RADIUS - palm_top)[None].repeat(CLOSING_STEPS, axis=0)
    around = _moved(-BALL_HEIGHT)[None].repeat(CLOSING_STEPS, axis=0)
    shares = np.linspace(0.0, 1.0, CLOSING_STEPS)[:, None]
    for preshape in hand.preshapes[:1]:
        joints = preshape.open + shares * (preshape.closed - preshape.open)
        for poses, detail, sweep in (
                (around, DETAIL_CLEARANCE, SWEEP), (around, DETAIL_CLEARANCE, 0.0),
                (pressed, DETAIL_FORCES, 0.0), (around, DETAIL_FORCES, 0.0),
                (around, DETAIL_SURFACE, 0.0)):
            yield ConfigurationBatch(
                poses, joints, np.full_like(joints, STEP),
                np.tile([0.0, 0.0, sweep], (CLOSING_STEPS, 1)), load_case, warm_up_obstacles(),
                detail)
    crossing = _crossing_joints(hand)
    yield ConfigurationBatch(
        _moved(-BALL_HEIGHT)[None].repeat(len(crossing), axis=0), crossing,
        np.zeros_like(crossing), np.zeros((len(crossing), 3)), detail=DETAIL_CLEARANCE)


def _crossing_joints(hand: HandModel) -> np.ndarray:
    """Return joints spread over their ranges, so that many links meet."""
    steps = np.arange(1, CROSSING_COUNT + 1)[:, None]
    shares = (steps * np.sqrt(PRIMES)[np.arange(len(hand.joint_names)) % len(PRIMES)]) % 1.0
    return hand.joint_lower + shares * (hand.joint_upper - hand.joint_lower)


def _moved(height: float) -> np.ndarray:
    """Return the pose that is moved along z."""
    T = np.eye(4)
    T[2, 3] = height
    return T


def warm_up_contacts(hand: HandModel, elasticity: str) -> Iterator[ContactBatch]:
    """Yield the ball pinched between two links, with forces and with the surface, by a model."""
    mesh, link_count = shapes.sphere(RADIUS, NODE_SPACING), len(hand.link_names)
    patches = []
    for side in (-1.0, 1.0):
        pole = np.array([side * RADIUS, 0.0, 0.0])
        patches.append(np.flatnonzero(
            np.linalg.norm(mesh.vertices - pole, axis=1) < PATCH_RADIUS))
    nodes = np.concatenate(patches)
    counts = np.array([0, len(patches[0]), len(nodes)])
    joints = np.zeros((1, len(hand.joint_names)))
    load_case = np.zeros((1, LOAD_CASE_WIDTH))
    load_case[0, 2] = -9.81
    for detail in (DETAIL_FORCES, DETAIL_SURFACE):
        yield ContactBatch(
            ConfigurationBatch(np.eye(4)[None], joints, joints, np.zeros((1, 3)), load_case,
                               detail=detail, elasticity=elasticity),
            clearance=np.zeros((1, link_count)), obstacle_clearance=np.array([np.inf]),
            self_clearance=np.array([np.inf]), depth=np.full((1, link_count), DEPTH),
            patch_offsets=np.array([0, 2]), patch_links=np.array([link_count - 2, link_count - 1]),
            patch_flags=np.zeros(2, np.int64), patch_thickness=np.full(2, 2.0 * RADIUS),
            node_offsets=counts, node_points_object=mesh.vertices[nodes],
            node_normals_object=-mesh.vertex_normals[nodes],
            node_areas=mesh.vertex_areas[nodes], node_spreads=np.ones(len(nodes)),
            node_depths=np.full(len(nodes), DEPTH),
            vertex_offsets=np.zeros(2, np.int64), vertex_points_object=np.zeros((0, 3)),
            vertex_vectors_object=np.zeros((0, 3)))
