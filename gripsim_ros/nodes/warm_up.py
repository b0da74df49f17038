"""A small scene that runs every kernel once, before a node says that it is ready."""

from collections.abc import Iterator

import numpy as np

from ..core.batches import (
    DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE, LOAD_CASE_WIDTH, ConfigurationBatch,
    ContactBatch)
from ..core.bodies import GraspObject, Material, shapes
from ..core.hand import HandModel

#: Radius of the ball, half the width of its two patches, and their depth [m].
RADIUS, PATCH_RADIUS, DEPTH = 0.03, 0.01, 0.001
#: Edge length of the ball's mesh [m].
EDGE_LENGTH = 0.006
#: Soft rubber: modulus [Pa], Poisson ratio, density [kg/m^3], friction.
MATERIAL = (1e6, 0.45, 1000.0, 0.6)


def warm_up_object() -> GraspObject:
    """Return a small ball."""
    return GraspObject(shapes.sphere(RADIUS, EDGE_LENGTH), Material(*MATERIAL))


def warm_up_configurations(hand: HandModel) -> Iterator[ConfigurationBatch]:
    """Yield the palm pressed into the ball, at every detail and with a sweep."""
    joints = np.zeros((1, len(hand.joint_names)))
    T_object_palm = np.eye(4)[None].copy()
    T_object_palm[0, 2, 3] = DEPTH - RADIUS - hand.links[hand.palm_index].mesh.bounds[1, 2]
    load_case = np.zeros((1, LOAD_CASE_WIDTH))
    load_case[0, 2] = -9.81
    for detail, sweep in ((DETAIL_CLEARANCE, 0.0), (DETAIL_CLEARANCE, 0.05),
                          (DETAIL_FORCES, 0.0), (DETAIL_SURFACE, 0.0)):
        yield ConfigurationBatch(
            T_object_palm, joints, joints + 0.01, np.array([[0.0, 0.0, sweep]]), load_case,
            detail=detail)


def warm_up_contacts(hand: HandModel, grasp_object: GraspObject) -> Iterator[ContactBatch]:
    """Yield the ball pinched between two links, with forces and with the surface."""
    mesh, link_count = grasp_object.mesh, len(hand.link_names)
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
                               detail=detail),
            clearance=np.zeros((1, link_count)), obstacle_clearance=np.array([np.inf]),
            self_clearance=np.array([np.inf]), depth=np.full((1, link_count), DEPTH),
            patch_offsets=np.array([0, 2]), patch_links=np.array([link_count - 2, link_count - 1]),
            patch_flags=np.zeros(2, np.int64), patch_thickness=np.full(2, 2.0 * RADIUS),
            node_offsets=counts, node_points_object=mesh.vertices[nodes],
            node_normals_object=-mesh.vertex_normals[nodes],
            node_areas=mesh.vertex_areas[nodes], node_depths=np.full(len(nodes), DEPTH),
            vertex_offsets=np.zeros(2, np.int64), vertex_points_object=np.zeros((0, 3)),
            vertex_vectors_object=np.zeros((0, 3)))
