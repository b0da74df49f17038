"""A small plan that runs every kernel of the planner once, before the node offers its services."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....core.batches import DETAIL_SURFACE, ConfigurationBatch, GraspStateBatch
from ....core.fields import DTYPES, declared
from ....core.hand import HandModel, forward_kinematics
from ....core.planning import GraspPlanner, PlannerOptions, Task
from ....core.planning.hypotheses.surroundings import rays_away
from ....core.planning.moving_object.motion import MovingObject
from ....core.planning.moving_object.touch_closing import close_by_touch
from ....core.planning.options import ClosingDynamics
from ....core.transforms import apply
from ....library.hands.warm_up_scene import RADIUS, warm_up_object, warm_up_obstacles

Array = NDArray[np.float64]

#: Force of a link that overlaps the ball [N/m], and what must press to hold it [N].
STIFFNESS, HOLDING_FORCE = 5e3, 2.0
#: Hypotheses of the plan; questions after which it ends, whatever is left.
HYPOTHESES, MOST_QUESTIONS = 4, 200
#: Faces and rolls from which they are proposed: kernels are as soon loaded for few.
FACES, ROLLS = 8, 1
#: Normals that oppose each other by less than this cosine hold the ball.
OPPOSED = -0.2


def warm_up_planner(hand: HandModel, options: PlannerOptions) -> int:
    """
    Plan grasps of a small ball from made-up answers; return how many hypotheses got a verdict.

    The stages are elsewhere: what a link that overlaps the ball presses is a straight line.
    """
    rays_away(warm_up_obstacles())      # where surroundings leave too few hypotheses
    few = replace(options, face_count=FACES, roll_count=ROLLS)
    planner = GraspPlanner(warm_up_object(), hand, Task(obstacles=warm_up_obstacles()), few,
                           max_hypotheses=HYPOTHESES)
    for _ in range(MOST_QUESTIONS):
        ask = None if planner.finished else planner.ask()
        if ask is None:
            break
        if ask.batch_id == 0:
            _close_by_touch(hand, ask.configurations, options.closing)
        planner.tell(ask.batch_id, _answer(hand, ask.configurations))
    return planner.progress.evaluated


def _close_by_touch(hand: HandModel, asked: ConfigurationBatch, dynamics: ClosingDynamics) -> None:
    """Close the hand on the free ball, as where few hold one that stays."""
    joints = asked.joint_positions[0]
    moving = MovingObject(warm_up_object(), hand, asked.T_object_palm[0], joints, dynamics)
    close_by_touch(moving, hand, joints, np.ones(len(joints)), dynamics)


def _answer(hand: HandModel, asked: ConfigurationBatch) -> GraspStateBatch:
    """Return made-up states of configurations about the ball."""
    gaps, points = zip(*(_gaps(hand, asked, i) for i in range(asked.count)))
    pressing = [np.flatnonzero((gap < 0.0) & ~asked.sweep_object[i].any())
                for i, gap in enumerate(gaps)]
    arrays = _blank(asked, len(hand.link_names), sum(map(len, pressing)))
    arrays['clearance'] = np.maximum(gaps, 0.0)
    arrays['depth'] = np.maximum(np.negative(gaps), 0.0)
    arrays['patch_offsets'] = np.cumsum([0, *map(len, pressing)])
    arrays['patch_links'] = np.concatenate(pressing)
    for i, links in enumerate(pressing):
        rows = slice(*arrays['patch_offsets'][i:i + 2])
        _press(arrays, rows, points[i][links], -gaps[i][links])
        arrays['link_stiffness'][i, links, links] = STIFFNESS
        normals = arrays['patch_normals_object'][rows]
        held = len(links) > 1 and (normals @ normals.T).min() < OPPOSED
        forces = np.linalg.norm(arrays['patch_forces_object'][rows], axis=1)
        arrays['capable'][i] = held
        arrays['margin'][i] = forces.min() / HOLDING_FORCE if held else 0.0
        arrays['minimal_forces_object'][rows] = held * HOLDING_FORCE * normals
        arrays['minimal_envelope'][rows] = held * HOLDING_FORCE
    arrays['holds'] = arrays['margin'] >= 1.0
    return GraspStateBatch(**arrays)


def _gaps(hand: HandModel, asked: ConfigurationBatch, i: int) -> tuple[Array, Array]:
    """Return each link's distance from the ball (L,) [m], and its nearest vertex (L, 3)."""
    nearest = []
    for link, T in zip(hand.links, forward_kinematics(hand, asked.joint_positions[i:i + 1])[0]):
        corners = apply(asked.T_object_palm[i] @ T, link.mesh.vertices)
        nearest.append(corners[np.argmin((corners ** 2).sum(axis=1))])
    return np.linalg.norm(nearest, axis=1) - RADIUS, np.array(nearest)


def _press(arrays: dict[str, NDArray], rows: slice, points: Array, depths: Array) -> None:
    """Set the patches of one configuration, of links that reach ``depths`` into the ball."""
    normals = -points / np.linalg.norm(points, axis=1)[:, None]
    arrays['patch_points_object'][rows] = points
    arrays['patch_normals_object'][rows] = normals
    arrays['patch_forces_object'][rows] = STIFFNESS * depths[:, None] * normals
    arrays['patch_normal_stiffness'][rows] = STIFFNESS


def _blank(asked: ConfigurationBatch, link_count: int, patch_count: int) -> dict[str, NDArray]:
    """Return arrays of the shapes of a batch: nothing is touched, nothing is in the way."""
    n = asked.count
    sizes = {'n': n, 'n+1': n + 1, 'L': link_count, 'P': patch_count, 'V': 1,
             'n?': n if asked.detail == DETAIL_SURFACE else 0}
    arrays: dict[str, NDArray] = {
        number.name: np.zeros([sizes.get(str(axis), axis) for axis in number.metadata['shape']],
                              DTYPES[number.type])
        for number in declared(GraspStateBatch)}
    arrays['obstacle_clearance'] = arrays['self_clearance'] = np.full(n, np.inf)
    arrays['quantitative'] |= True
    for number in declared(GraspStateBatch):
        if number.metadata['shape'] == ('P',) and number.metadata['contact'] and (
                number.metadata['unit'] != '-'):
            arrays[number.name] += 1e-3
    return arrays
