"""Grasp hypotheses: faces of the decimated object x rolls x preshapes x stand-offs."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..bodies import GraspObject, TriangleMesh, decimate_mesh
from ..errors import MeshError
from ..hand import HandModel, forward_kinematics
from ..transforms import apply, inverse, transform
from .distance_field import DistanceField, build_distance_field
from .hand_geometry import moving_fingers, pad_paths
from .options import PlannerOptions
from .quick_look import hand_is_free, place_palms
from .regions import moved_region, within_region
from .types import Task

Array = NDArray[np.float64]

#: Scores this near count as equal, so that rounding never decides an order.
SCORE_RESOLUTION = 1e-7
#: Loss of score for each better hypothesis of the same face: keeps the choice varied.
SAME_FACE_LOSS = 0.02
#: Poses that differ by less are one hypothesis [m] and in the axes' components; faces of one
#: plane side give the same pose.
TWIN_RESOLUTION = 1e-5
#: The quick look drops open hands that come nearer by the field's estimate [m].
FIELD_CLEARANCE = 0.001
#: Axes of the canonical frame, longest first (smallest moment of inertia first).
LONG_AXES = (0, 1)
#: By so much the quick look may miss the middle of a contact [m].
REGION_SLACK = 0.01
#: Contacts that it sees nearer to the region's border [m], or outside, lose so much score.
REGION_BORDER, REGION_LOSS = 0.005, 0.2
#: Above this cosine a palm comes along an axis.
ALONG_AXIS = 0.95
#: Gain of score where more than two fingers share the load: a pinch resists turning badly.
THIRD_FINGER = 0.08
#: Times that a palm is moved towards the centre of mass, if that is better.
CENTRING_STEPS = 2
#: Length over which an offset of the centre of mass loses its score [m].
OFFSET_LENGTH = 0.03
#: Shares of the closing forces tried in the quick look at opposition, by fingers.
FORCE_SHARES = {
    2: np.array([[0.5, 0.5]]),
    3: np.array([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25],
                 [0.25, 0.25, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])}


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A palm pose in the object's frame with a preshape, and the quick look's score."""

    number: int
    T_object_palm: Array
    preshape: int
    score: float


@dataclass(frozen=True, eq=False)
class _Scene:
    """The object in its canonical frame, with what every candidate is held against."""

    points: Array
    field: DistanceField
    faces: TriangleMesh
    hand: HandModel
    options: PlannerOptions
    contact_region: Array


def propose_hypotheses(grasp_object: GraspObject, hand: HandModel, task: Task,
                       options: PlannerOptions, count: int, seed: int = 0
                       ) -> tuple[list[Hypothesis], int]:
    """
    Return the most promising hypotheses, best first.

    The palm's +z axis points against the outward normal of a face of the decimated
    object; the object's section before the fingers is centred between them.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
        Its approach cone is respected, and its contact region as far as the quick look sees.
    options : PlannerOptions
    count : int
        Hypotheses wanted at most.
    seed : int
        0: rolls from the canonical axes; else also from an angle drawn from the seed.

    Returns
    -------
    hypotheses : list of Hypothesis
    proposed : int
        Candidates before the quick look chose.

    Notes
    -----
    Source: seed 001, 'formation of grasp hypotheses' (decimated object, not a box or
    sphere). Departures: centred on the section instead of the face's centroid; ordered
    by a quick look along the pads' paths through a distance field.

    """
    T_object_canonical = grasp_object.canonical_frame
    scene = _scene(grasp_object, hand, T_object_canonical, options, task)
    poses, faces, preshapes = _candidates(scene, seed)
    keep = _in_approach_cone(poses, T_object_canonical, task)
    poses, faces, preshapes = poses[keep], faces[keep], preshapes[keep]
    if len(poses) == 0:
        return [], 0
    scores = np.full(len(poses), -np.inf)
    for number in range(len(hand.preshapes)):
        rows = np.flatnonzero(preshapes == number)
        if len(rows):
            poses[rows], scores[rows] = _centred(scene, number, poses[rows])
    order = _without_twins(_varied_order(scores, faces), poses, preshapes)[:count]
    T_object_palm = T_object_canonical @ poses[order]
    return [Hypothesis(i, T_object_palm[i], int(preshapes[row]), float(scores[row]))
            for i, row in enumerate(order)], len(poses)


def _scene(grasp_object: GraspObject, hand: HandModel, T_object_canonical: Array,
           options: PlannerOptions, task: Task) -> _Scene:
    vertices = apply(inverse(T_object_canonical), grasp_object.mesh.vertices)
    mesh = TriangleMesh(vertices, grasp_object.mesh.faces)
    coarse = _coarse(mesh, options.sample_faces)
    points = np.concatenate([coarse.vertices, coarse.vertices[coarse.faces].mean(axis=1)])
    return _Scene(points, build_distance_field(mesh), _coarse(mesh, options.face_count), hand,
                  options, moved_region(task.contact_region, inverse(T_object_canonical)))


def _coarse(mesh: TriangleMesh, face_count: int) -> TriangleMesh:
    """Return the decimated mesh, with more faces where so few cannot keep the shape."""
    while face_count < len(mesh.faces):
        try:
            return decimate_mesh(mesh, face_count)
        except MeshError:
            face_count *= 2
    return mesh


def _candidates(scene: _Scene, seed: int) -> tuple[Array, NDArray, NDArray]:
    """Return palm poses (n, 4, 4) in the canonical frame, their faces and preshapes."""
    options, hand = scene.options, scene.hand
    rolls = 2.0 * np.pi * np.arange(options.roll_count) / options.roll_count
    if seed:
        step = 2.0 * np.pi / options.roll_count
        rolls = np.concatenate([rolls, rolls + np.random.default_rng(seed).uniform(0.0, step)])
    normals, stands = _stands(scene.faces)
    rotations = _palm_axes(np.repeat(normals, len(rolls), axis=0), np.tile(rolls, len(normals)))
    centroids = np.repeat(stands, len(rolls), axis=0)
    palm = hand.links[hand.palm_index].mesh.vertices
    gaps = np.array(options.palm_gaps)
    poses = [transform(rotations[:, None], place_palms(
        scene.points, rotations, centroids, _closing_centre(hand, number), palm.min(axis=0),
        palm.max(axis=0), gaps)).reshape(-1, 4, 4) for number in range(len(hand.preshapes))]
    faces = np.repeat(np.arange(len(rotations)) // len(rolls), len(gaps))
    preshapes = np.repeat(np.arange(len(poses)), len(faces))
    return np.concatenate(poses), np.tile(faces, len(poses)), preshapes


def _stands(faces: TriangleMesh) -> tuple[Array, Array]:
    """Return normals and points to stand on: the faces, and 26 ways to the centre of mass."""
    ways = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    centroids = faces.vertices[faces.faces].mean(axis=1)
    return (np.concatenate([ways, faces.face_normals]),
            np.concatenate([np.zeros_like(ways), centroids]))


def _palm_axes(normals: Array, rolls: Array) -> Array:
    """
    Return the palms' axes (n, 3, 3) as columns: z against the normals, x at angles about it.

    At angle 0 the fingers close along x across the object's longest axis, or across the
    next one where the palm comes along it.
    """
    z = -normals
    along = np.abs(z[:, LONG_AXES[0]]) >= ALONG_AXIS
    x = np.cross(np.eye(3)[np.where(along, LONG_AXES[1], LONG_AXES[0])], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x = np.cos(rolls)[:, None] * x + np.sin(rolls)[:, None] * np.cross(z, x)
    return np.stack([x, np.cross(z, x), z], axis=2)


def _closing_centre(hand: HandModel, number: int) -> Array:
    """Return where the pads of a preshape meet (2,), lateral, and their highest z, palm."""
    preshape = hand.preshapes[number]
    points, _ = pad_paths(hand, moving_fingers(hand, preshape), preshape)
    late = points[:, points.shape[1] // 2:]
    lateral = 0.5 * (late[..., :2].min(axis=0) + late[..., :2].max(axis=0)).mean(axis=0)
    return np.array([*lateral, points[..., 2].max()])


def _in_approach_cone(poses: Array, T_object_canonical: Array, task: Task) -> NDArray:
    if task.approach_direction is None:
        return np.ones(len(poses), dtype=bool)
    axis = task.approach_direction / np.linalg.norm(task.approach_direction)
    approach = poses[:, :3, 2] @ T_object_canonical[:3, :3].T
    return approach @ axis >= np.cos(task.approach_half_angle) - 1e-9


def _centred(scene: _Scene, number: int, poses: Array) -> tuple[Array, Array]:
    """Return poses moved so that the pads meet about the centre of mass, and their scores."""
    scores, offsets = _score(scene, number, poses)
    for _ in range(CENTRING_STEPS):
        moved = poses.copy()
        moved[:, :3, 3] -= offsets
        better, further = _score(scene, number, moved)
        gain = better > scores
        poses, scores = np.where(gain[:, None, None], moved, poses), np.where(gain, better, scores)
        offsets = np.where(gain[:, None], further, 0.5 * offsets)
    return poses, scores


def _score(scene: _Scene, number: int, poses: Array) -> tuple[Array, Array]:
    """
    Return the quick look's score (n,): opposition, centring, frontal contact.

    And how far from the centre of mass the pads press (n, 3). A pad also touches a wall that
    is so thin that it lies between two samples of the pad's path.
    """
    preshape = scene.hand.preshapes[number]
    points, _ = pad_paths(scene.hand, moving_fingers(scene.hand, preshape), preshape, 14)
    fingers = len(points)
    path = _map(poses, points.reshape(-1, 3)).reshape(len(poses), fingers, -1, 3)
    distances = scene.field(path)
    inside = distances < 0.0
    nearest = distances.argmin(axis=2)
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2).max(axis=1)
    passed = np.take_along_axis(distances, nearest[..., None], axis=2)[..., 0] < 0.5 * steps
    touched = inside.any(axis=2) | passed
    first = np.where(inside.any(axis=2), inside.argmax(axis=2), nearest)
    first = np.maximum(first, 1)[..., None, None]
    contact = np.take_along_axis(path, first, axis=2)[:, :, 0]
    motion = contact - np.take_along_axis(path, first - 1, axis=2)[:, :, 0]
    motion /= np.maximum(np.linalg.norm(motion, axis=-1, keepdims=True), 1e-12)
    inward = -scene.field.gradient(contact)
    frontal = np.clip(np.einsum('nfx,nfx->nf', motion, inward), 0.0, 1.0) * touched
    balance, offsets = _balance_score(contact, inward, touched)
    score = 0.2 * frontal.mean(axis=1) + balance
    if len(scene.contact_region):
        score = score + _region_score(scene.contact_region, contact, touched)
    promising = np.flatnonzero(score > 0.0)
    free = np.zeros(len(poses), bool)
    free[promising] = _open_hand_is_free(scene, preshape.open, poses[promising])
    return np.where(free, score, -np.inf), offsets


def _region_score(region: Array, contact: Array, touched: NDArray) -> Array:
    """Return what contacts outside the region, or at its border, lose (n,)."""
    outside = (touched & ~within_region(contact, region, REGION_SLACK)).any(axis=1)
    border = (touched & ~within_region(contact, region, -REGION_BORDER)).any(axis=1)
    return np.where(outside, -np.inf, np.where(border, -REGION_LOSS, 0.0))


def _balance_score(contact: Array, inward: Array, touched: NDArray) -> tuple[Array, Array]:
    """
    Return how well forces along the normals balance, with the centre of mass between.

    And the middle of the forces for the best shares (n, 3).
    """
    fingers = contact.shape[1]
    shares = FORCE_SHARES.get(fingers)
    if shares is None:
        shares = np.full((1, fingers), 1.0 / fingers)
    best, offsets = np.full(len(contact), -1.0), np.zeros((len(contact), 3))
    for share in shares:
        usable = touched[:, share > 0.0].all(axis=1)
        unbalance = np.linalg.norm(np.einsum('f,nfx->nx', share, inward), axis=1)
        middle = np.einsum('f,nfx->nx', share, contact)
        offset = np.linalg.norm(middle, axis=1)
        value = (0.4 * np.clip(1.0 - unbalance / 0.7, 0.0, 1.0)
                 + 0.4 * np.clip(1.0 - offset / OFFSET_LENGTH, 0.0, 1.0)
                 + THIRD_FINGER * (np.count_nonzero(share) > 2))
        better = usable & (value > best)
        best = np.where(better, value, best)
        offsets = np.where(better[:, None], middle, offsets)
    return best, offsets


def _open_hand_is_free(scene: _Scene, open_joints: Array, poses: Array) -> NDArray:
    hand = scene.hand
    T_palm_link = forward_kinematics(hand, open_joints[None])[0]
    points = np.concatenate([
        apply(T_palm_link[i], link.mesh.vertices[::max(1, len(link.mesh.vertices) // 40)])
        for i, link in enumerate(hand.links)])
    field = scene.field
    return hand_is_free(field.lower, field.spacing, field.values,
                        np.ascontiguousarray(poses[:, :3, :3]),
                        np.ascontiguousarray(poses[:, :3, 3]), points, FIELD_CLEARANCE)


def _map(poses: Array, points: Array) -> Array:
    return points @ poses[:, :3, :3].transpose(0, 2, 1) + poses[:, None, :3, 3]


def _varied_order(scores: Array, faces: NDArray) -> NDArray[np.int64]:
    """Return the order of candidates, best first, with a loss for crowding one face."""
    rounded = np.round(scores / SCORE_RESOLUTION) * SCORE_RESOLUTION
    order = np.lexsort((np.arange(len(scores)), -rounded))
    order = order[rounded[order] > 0.0]
    seen: dict[int, int] = {}
    adjusted = np.empty(len(order))
    for i, row in enumerate(order):
        rank = seen.get(int(faces[row]), 0)
        adjusted[i] = rounded[row] - SAME_FACE_LOSS * rank
        seen[int(faces[row])] = rank + 1
    return order[np.lexsort((np.arange(len(order)), -adjusted))]


def _without_twins(order: NDArray[np.int64], poses: Array, preshapes: NDArray
                   ) -> NDArray[np.int64]:
    """Keep the first of candidates that centring brought to one pose of one preshape."""
    keys = np.column_stack([preshapes[order], np.round(
        poses[order, :3].reshape(-1, 12) / TWIN_RESOLUTION)])
    _, first = np.unique(keys, axis=0, return_index=True)
    return order[np.sort(first)]
