"""Grasp hypotheses: faces of the decimated object x rolls x preshapes x stand-offs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import GraspObject, TriangleMesh
from ...grasp_theory.grasp_map import cube_directions
from ...hand import HandModel, forward_kinematics
from ...transforms import apply, inverse, transform
from ..options import PlannerOptions
from ..task import Task, moved_region
from .coarse_object import coarse_object
from .distance_field import THREADS, DistanceField
from .hand_geometry import free_closing_share, pad_paths, tip_paths
from .prescreen import (
    NO_TOUCH, count_clearances, diverse_order, many_fingers_shares, place_palms, score_closings,
    without_duplicates)
from .primitives import within_region
from .surroundings import hand_sweep, link_points, point_balls, rays_away, ways_out


#: Smallest clearance of an open hand by the estimate of the distance field [m].
FIELD_CLEARANCE = 0.001
#: Share of the score that is left where the open hand may be nearer to the object than the planner
#: allows [-]: an opening that hardly holds the object is asked after those that do.
TIGHT_SHARE = 0.7
#: Axes of the canonical frame, longest first (smallest moment of inertia first).
LONG_AXES = (0, 1)
#: Allowed error of a contact's middle in the prescreen [m].
REGION_SLACK = 0.01
#: Distance from the region's border [m] within which contacts cost score, and the loss [-]: more
#: than any offset from the centre of mass, else those just outside come first.
REGION_BORDER, REGION_LOSS = 0.005, 0.6
#: Smallest cosine to an axis with which a palm approaches along it [-].
ALONG_AXIS = 0.95
#: Gain of score where more than two fingers share the load [-]: a pinch resists torsion badly.
THIRD_FINGER_GAIN = 0.08
#: Loss of score where pads touch after fingers would have met each other [-]: only contacts of
#: links nearer to the palm can keep them apart.
LATE_LOSS = 0.3
#: Number of attempts to move a palm towards the centre of mass.
CENTRING_STEPS = 2
#: Resultant of the normal forces over their sum at which the score is 0 [-].
UNBALANCE_LIMIT = 0.7
#: Number of steps of the pads' paths.
PATH_STEPS = 14
#: Number of attempts to move a hand out of its surroundings.
CLEARING_STEPS = 4
#: Clearance beyond the smallest allowed [m]: links are known by samples of their points.
SAMPLES_SLACK = 0.002
#: Distances beyond the smallest at which palms that come straight from an obstacle stand [m].
LIFTS = (0.0, 0.003, 0.006, 0.01, 0.015)
#: Offset from the centre of mass at which its score is 0 [m].
OFFSET_LENGTH = 0.03


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A palm pose in the object's frame with a preshape, and the score of the prescreen."""

    number: int
    T_object_palm: Array
    preshape: int
    score: float


@dataclass(frozen=True, eq=False)
class _Scene:
    """The object in its canonical frame, hand, options and region common to all candidates."""

    points: Array
    field: DistanceField
    faces: TriangleMesh
    hand: HandModel
    options: PlannerOptions
    contact_region: Array
    obstacles: Array


def propose_hypotheses(grasp_object: GraspObject, hand: HandModel, task: Task,
                       options: PlannerOptions, count: int, seed: int = 0,
                       is_wanted: Callable[[], bool] = lambda: True
                       ) -> tuple[list[Hypothesis], int]:
    """
    Return the most promising hypotheses, best first.

    The direction of approach points against the outward normal of a face of the decimated
    object; the object's section before the fingers is centred between them.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
        Its approach cone is respected, and its contact region as far as the prescreen can tell.
    options : PlannerOptions
    count : int
        Largest number of hypotheses.
    seed : int
        0: rolls from the canonical axes; else also from an angle drawn from the seed.
    is_wanted : callable
        Returns whether anybody still waits; where not, what is returned means nothing.

    Returns
    -------
    hypotheses : list of Hypothesis
        Clear of what stands around the object as far as the prescreen can tell; where no hand
        is, those that would be best without it, so that the plan can tell what is in the way.
    proposed : int
        Number of candidates before the prescreen.

    Notes
    -----
    Source: seed 001, 'formation of grasp hypotheses' (decimated object, not a box or
    sphere). Departures: centred on the section instead of the face's centroid; ordered
    by a prescreen along the pads' paths through a distance field. Where surroundings leave less
    than ``count``, palms also come straight away from each obstacle, as from above a table.

    """
    T_object_canonical = grasp_object.canonical_frame
    T_canonical_object = inverse(T_object_canonical)
    scene = _Scene(
        *coarse_object(grasp_object, options.sample_faces, options.face_count), hand, options,
        moved_region(task.contact_region, T_canonical_object),
        moved_region(np.vstack([task.obstacles, task.keep_out]), T_canonical_object))
    candidates = _candidates(scene, seed, *_approach_rays(scene.faces))
    poses, faces, preshapes = _in_approach_cone(*candidates, hand, T_object_canonical, task)
    moved, scores = _prescreened(scene, poses, preshapes, is_wanted)
    if len(scene.obstacles) and np.isfinite(scores).sum() < count:
        candidates = _straight_from_obstacles(scene, seed)
        more, rays, kinds = _in_approach_cone(*candidates, hand, T_object_canonical, task)
        poses, faces, preshapes, moved, scores = (np.concatenate(pair) for pair in zip(
            (poses, faces, preshapes, moved, scores),
            (more, -1 - rays, kinds, *_prescreened(scene, more, kinds, is_wanted))))
    if len(poses) == 0:
        return [], 0
    if len(scene.obstacles) and np.isneginf(scores).all():  # rejections say what is in the way
        moved, scores = _prescreened(replace(scene, obstacles=scene.obstacles[:0]),
                                     poses, preshapes, is_wanted)
    order = without_duplicates(diverse_order(scores, faces), moved, preshapes, count)
    T_object_palm = T_object_canonical @ moved[order]
    return [Hypothesis(i, T_object_palm[i], int(preshapes[row]), float(scores[row]))
            for i, row in enumerate(order)], len(poses)


def _prescreened(scene: _Scene, poses: Array, preshapes: IntArray,
                 is_wanted: Callable[[], bool]) -> tuple[Array, Array]:
    """Return poses moved to where they score best, and their scores; as they were if unwanted."""
    moved, scores = poses.copy(), np.full(len(poses), -np.inf)

    def prescreen(rows: IntArray) -> None:
        if is_wanted():
            moved[rows], scores[rows] = _centred(scene, int(preshapes[rows[0]]), poses[rows])

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(prescreen, [
            rows for number in range(len(scene.hand.preshapes))
            for rows in np.array_split(np.flatnonzero(preshapes == number), 2) if len(rows)]))
    return moved, scores


def _candidates(scene: _Scene, seed: int, normals: Array, stands: Array
                ) -> tuple[Array, IntArray, IntArray]:
    """Return palm poses (n, 4, 4) in the canonical frame, their faces and preshapes."""
    options, hand = scene.options, scene.hand
    rolls = 2.0 * np.pi * np.arange(options.roll_count) / options.roll_count
    if seed:
        step = 2.0 * np.pi / options.roll_count
        rolls = np.concatenate([rolls, rolls + np.random.default_rng(seed).uniform(0.0, step)])
    rotations = grasp_axes(np.repeat(normals, len(rolls), axis=0), np.tile(rolls, len(normals)))
    centroids = np.repeat(stands, len(rolls), axis=0)
    palm = hand.links[hand.palm_index].mesh.vertices @ hand.palm_axes
    gaps = np.array(options.palm_gaps)
    centres = np.array([_closing_centre(hand, i) for i in range(len(hand.preshapes))])
    with ThreadPoolExecutor(THREADS) as pool:
        origins = np.concatenate(list(pool.map(lambda rows: place_palms(
            scene.points, rotations[rows], centroids[rows], centres, palm.min(axis=0),
            palm.max(axis=0), gaps), np.array_split(np.arange(len(rotations)), THREADS))), axis=1)
    palms = rotations @ hand.palm_axes.T
    poses = [transform(palms[:, None], origin).reshape(-1, 4, 4) for origin in origins]
    faces = np.repeat(np.arange(len(rotations)) // len(rolls), len(gaps))
    preshapes = np.repeat(np.arange(len(poses)), len(faces))
    return np.concatenate(poses), np.tile(faces, len(poses)), preshapes


def _approach_rays(faces: TriangleMesh) -> tuple[Array, Array]:
    """Return normals and points of approach: of the faces, and 26 through the centre of mass."""
    rays = cube_directions(np.eye(3))
    centroids = faces.vertices[faces.faces].mean(axis=1)
    return (np.concatenate([rays, faces.face_normals]),
            np.concatenate([np.zeros_like(rays), centroids]))


def grasp_axes(normals: Array, rolls: Array) -> Array:
    """
    Return the axes of grasping (n, 3, 3) as columns: z against the normals, x at angles about it.

    At angle 0 the fingers close along x across the object's longest axis, or across the
    next one where the palm approaches along it.
    """
    z = -normals
    along = np.abs(z[:, LONG_AXES[0]]) >= ALONG_AXIS
    x = np.cross(np.eye(3)[np.where(along, LONG_AXES[1], LONG_AXES[0])], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x = np.cos(rolls)[:, None] * x + np.sin(rolls)[:, None] * np.cross(z, x)
    return np.stack([x, np.cross(z, x), z], axis=2)


def _closing_centre(hand: HandModel, number: int) -> Array:
    """
    Return the lateral middle in which a preshape's pads meet and their highest z (3,).

    Both along the axes of grasping.
    """
    points = pad_paths(hand, hand.preshapes[number])[0] @ hand.palm_axes
    late = points[:, points.shape[1] // 2:]
    lateral = 0.5 * (late[..., :2].min(axis=0) + late[..., :2].max(axis=0)).mean(axis=0)
    return np.array([*lateral, points[..., 2].max()])


def _straight_from_obstacles(scene: _Scene, seed: int) -> tuple[Array, IntArray, IntArray]:
    """
    Return palms as of ``_candidates`` that come straight away from each obstacle.

    Their open hand is clear of it, with ``LIFTS`` to spare.
    """
    rays, distances = rays_away(scene.obstacles)
    poses, faces, preshapes = _candidates(scene, seed, rays, np.zeros_like(rays))
    lifts = np.tile(np.resize(LIFTS, len(scene.options.palm_gaps)),
                    len(poses) // len(scene.options.palm_gaps))
    margin = scene.options.min_clearance + SAMPLES_SLACK
    for number in range(len(scene.hand.preshapes)):
        rows = np.flatnonzero(preshapes == number)
        points, away = _prescreen_hand(scene.hand, number)[-1][0], rays[faces[rows]]
        lowest = np.einsum('ni,nij,mj->nm', away, poses[rows, :3, :3], points).min(axis=1)
        place = margin - distances[faces[rows]] - lowest + lifts[rows]
        now = np.einsum('ni,ni->n', away, poses[rows, :3, 3])
        poses[rows, :3, 3] += (place - now)[:, None] * away
    return poses, faces, preshapes


def _in_approach_cone(poses: Array, faces: IntArray, preshapes: IntArray, hand: HandModel,
                      T_object_canonical: Array, task: Task) -> tuple[Array, IntArray, IntArray]:
    """Return those candidates that approach as the task allows."""
    if task.approach_direction is None:
        return poses, faces, preshapes
    keep = in_approach_cone(T_object_canonical @ poses, hand, task)
    return poses[keep], faces[keep], preshapes[keep]


def in_approach_cone(T_object_palm: Array, hand: HandModel, task: Task) -> BoolArray:
    """Return for palms (n, 4, 4) whether they approach as the task allows (n,)."""
    if task.approach_direction is None:
        return np.ones(len(T_object_palm), dtype=bool)
    axis = task.approach_direction / np.linalg.norm(task.approach_direction)
    cosines: Array = T_object_palm[:, :3, :3] @ hand.approach @ axis
    return cosines >= np.cos(task.approach_half_angle) - 1e-9


def _centred(scene: _Scene, number: int, poses: Array) -> tuple[Array, Array]:
    """
    Return poses moved so that the pads meet about the centre of mass, and their scores.

    Where the hand would meet its surroundings, it is moved out of them first.
    """
    if len(scene.obstacles):
        poses = _moved_clear(scene, number, poses)
    scores, offsets = _score(scene, number, poses, np.full(len(poses), -np.inf))
    for _ in range(CENTRING_STEPS):
        rows = np.flatnonzero(offsets.any(axis=1))
        moved = poses[rows]
        moved[:, :3, 3] -= offsets[rows]
        better, further = _score(scene, number, moved, scores[rows])
        gain = better > scores[rows]
        poses[rows[gain]], scores[rows[gain]] = moved[gain], better[gain]
        offsets[rows] = np.where(gain[:, None], further, 0.5 * offsets[rows])
    return poses, scores


def _moved_clear(scene: _Scene, number: int, poses: Array) -> Array:
    """Return poses of palms drawn back from the surroundings, the deepest point first."""
    poses, rows = poses.copy(), np.arange(len(poses))
    for _ in range(CLEARING_STEPS):
        _, steps, _, _ = _closings(scene, number, poses[rows])
        shifts = _ways_out(scene, number, poses[rows], steps)
        moving = shifts.any(axis=1)
        rows = rows[moving]
        poses[rows, :3, 3] += shifts[moving]
    return poses


def _ways_out(scene: _Scene, number: int, poses: Array, steps: IntArray) -> Array:
    sweep = hand_sweep(scene.hand, scene.hand.preshapes[number], PATH_STEPS,
                       scene.options.approach_distance)
    return ways_out(poses, steps, sweep, scene.obstacles,
                    scene.options.min_clearance + SAMPLES_SLACK)


def _closings(scene: _Scene, number: int, poses: Array) -> tuple[Array, IntArray, Array, Array]:
    """
    Return contacts, steps, scores and offsets of closing hands, as of ``score_closings``.

    Among obstacles a finger may also touch with the end of its pad, as of a hand that is held
    back by a table.
    """
    pads, tips, free_steps, shares, _ = _prescreen_hand(scene.hand, number)
    lengths = np.array([UNBALANCE_LIMIT, OFFSET_LENGTH, THIRD_FINGER_GAIN, free_steps, LATE_LOSS])
    best = score_closings(scene.field, poses, pads, shares, lengths)
    if len(scene.obstacles):
        by_tips = score_closings(scene.field, poses, tips, shares, lengths)
        better = by_tips[2] > best[2]
        for mine, other in zip(best, by_tips):
            mine[better] = other[better]
    return best


def _score(scene: _Scene, number: int, poses: Array, known: Array) -> tuple[Array, Array]:
    """
    Return the scores (n,): opposition, centring, frontal contact; and the offsets (n, 3).

    Offsets are from the centre of mass to the middle of the forces. Pads that touch after the
    fingers would have met each other lose score, and so do open hands that hardly hold the
    object. A pad also touches a wall so thin that it lies between two samples of its path. The
    clearance of the open hand, and of the closing one to obstacles, is only tested where the
    score is better than the known one.
    """
    contacts, steps, scores, offsets = _closings(scene, number, poses)
    if len(scene.contact_region):
        scores = scores + _region_score(scene.contact_region, contacts, steps > NO_TOUCH)
    rows = np.flatnonzero((scores > 0.0) & (scores > known))
    points = _prescreen_hand(scene.hand, number)[-1]
    limits = np.array([FIELD_CLEARANCE, scene.options.min_clearance + SAMPLES_SLACK])
    kept = count_clearances(scene.field, poses[rows], *points, np.sort(limits))
    rows, wide = rows[kept > 0], kept[kept > 0] == len(limits)
    if len(scene.obstacles):
        clear = ~_ways_out(scene, number, poses[rows], steps[rows]).any(axis=1)
        rows, wide = rows[clear], wide[clear]
    result = np.full(len(poses), -np.inf)
    result[rows] = np.where(wide, 1.0, TIGHT_SHARE) * scores[rows]
    return result, offsets


@lru_cache(maxsize=64)
def _prescreen_hand(hand: HandModel, number: int
                    ) -> tuple[Array, Array, float, Array, tuple[Array, IntArray, Array]]:
    """
    Return paths of pads and of their ends, steps before fingers meet, shares of forces, points.

    The points are those of the open hand, with bounding balls.
    """
    preshape = hand.preshapes[number]
    pads, _ = pad_paths(hand, preshape, PATH_STEPS)
    share = free_closing_share(hand, preshape)
    free = (PATH_STEPS - 1) * share if share < 1.0 else np.inf
    T_palm_link = forward_kinematics(hand, preshape.open[None])[0]
    return (pads, tip_paths(hand, preshape, PATH_STEPS), free, many_fingers_shares(len(pads)),
            point_balls([apply(T, link_points(link)) for T, link in zip(T_palm_link, hand.links)]))


def _region_score(region: Array, contact: Array, touched: BoolArray) -> Array:
    """Return the loss of score (n,) of contacts outside the region, or at its border."""
    outside = (touched & ~within_region(contact, region, REGION_SLACK)).any(axis=1)
    border = (touched & ~within_region(contact, region, -REGION_BORDER)).any(axis=1)
    return np.where(outside, -np.inf, np.where(border, -REGION_LOSS, 0.0))
