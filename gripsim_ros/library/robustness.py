"""Monte Carlo robustness of given grasps, by the stages in this process."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.batches import DETAIL_FORCES, ConfigurationBatch
from ..core.bodies import GraspObject
from ..core.contact import ContactScene, LinkShapes
from ..core.hand import HandModel
from ..core.mechanics import MechanicsOptions
from ..core.pipeline import Pipeline
from ..core.planning import PlannerOptions, RankedGrasp, Task, task_load_cases
from ..core.planning.closing.grasp_state import GraspState, extract_state
from ..core.planning.ranking.robustness import (
    balanced, commanded_joints, draw_samples, Sample, summarise)
from ..core.transforms import inverse

Array = NDArray[np.float64]

#: Steps at most in which joints and object come to balance.
MAX_STEPS = 16
#: Step of a joint over the springs' longest stretch below which the joints are in balance [-].
REST_SHARE = 0.02
#: Directions of motion are told by this part of the way of closing.
DIRECTION_SHARE = 0.01


def add_robustness(grasp_object: GraspObject, grasps: list[RankedGrasp], task: Task,
                   hand: HandModel, options: PlannerOptions, mechanics: MechanicsOptions,
                   shapes: LinkShapes, samples: int, seed: int) -> list[RankedGrasp]:
    """
    Return the grasps with the share of samples under which they hold.

    Parameters
    ----------
    grasp_object : GraspObject
    grasps : list of RankedGrasp
    task : Task
        Its loads and obstacles turn with the object where the object's pose is varied.
    hand : HandModel
    options : PlannerOptions
        Their ``uncertainty`` says how much varies.
    mechanics : MechanicsOptions
    shapes : LinkShapes
        Of the same hand.
    samples, seed : int
        The same give the same numbers; 0 samples leave the grasps as they are.

    Returns
    -------
    list of RankedGrasp

    Notes
    -----
    Own choice: the joints are springs of the hand's joint stiffness, sent so far that at the
    end of the trajectory they would press ``squeeze`` times as hard as closing did; joints and
    object come to balance together. The mesh is prepared once for all samples.
    """
    if not samples or not grasps:
        return grasps
    scene = ContactScene(hand, grasp_object, shapes)
    question = _question(grasp_object, grasps, task)
    commands = np.array([commanded_joints(hand, grasp, options.uncertainty.squeeze)
                         for grasp in grasps])
    verdicts = [_verdicts(sample, question, commands, hand, Pipeline(
        hand, sample.grasp_object, mechanics, scene=scene))
        for sample in draw_samples(grasp_object, options.uncertainty, samples, seed)]
    return [replace(grasp, robustness=summarise([row[i] for row in verdicts]))
            for i, grasp in enumerate(grasps)]


def _question(grasp_object: GraspObject, grasps: list[RankedGrasp], task: Task
              ) -> ConfigurationBatch:
    """Return the last rows of all grasps as one question."""
    rows = np.array([grasp.trajectory[-1] for grasp in grasps])
    first = np.array([grasp.trajectory[0] for grasp in grasps])
    return ConfigurationBatch(
        T_object_palm=np.array([grasp.T_object_palm for grasp in grasps]), joint_positions=rows,
        joint_displacements=DIRECTION_SHARE * (rows - first),
        sweep_object=np.zeros((len(grasps), 3)),
        load_cases=task_load_cases(task, grasp_object.canonical_frame[:3, :3]),
        obstacles=np.vstack([task.obstacles, task.keep_out]), detail=DETAIL_FORCES)


def _verdicts(sample: Sample, question: ConfigurationBatch, commands: Array, hand: HandModel,
              pipeline: Pipeline) -> list[tuple[bool, float]]:
    """Return whether each grasp holds the sample's object, and with which margin."""
    T_object_palm = inverse(sample.T_object_moved) @ question.T_object_palm
    joints, radius = question.joint_positions, 0.5 * float(
        np.ptp(sample.grasp_object.mesh.vertices, axis=0).max())
    for _ in range(MAX_STEPS):
        states = pipeline.evaluate(replace(
            question, T_object_palm=T_object_palm, joint_positions=joints))
        rows = [extract_state(states, i) for i in range(question.count)]
        before = joints
        moved = [balanced(hand, q, command, T, row, radius) for q, command, T, row in
                 zip(joints, commands, T_object_palm, rows)]
        joints, T_object_palm = (np.array([row[i] for row in moved]) for i in (0, 1))
        if np.abs(joints - before).max() < REST_SHARE * np.abs(commands - joints).max():
            break
    return [(_holds(row), row.margin) for row in rows]


def _holds(state: GraspState) -> bool:
    return state.holds and min(state.self_clearance, state.obstacle_clearance) > 0.0
