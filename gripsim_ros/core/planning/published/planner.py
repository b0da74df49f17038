"""
The grasp paper's planner as a whole, asked and told as ours.

Its hypotheses are formed as printed, the hand before the middle of each face, or as ours.
"""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np

from ...arrays import Array
from ...batches import AS_PRINTED, ConfigurationBatch
from ...bodies import GraspObject, TriangleMesh
from ...errors import TaskError
from ...hand import HandModel
from ...planning import rejections
from ...transforms import apply, inverse, transform
from ..ask_and_tell import AskAndTell
from ..closing.batching import Conditions, ItemWork
from ..closing.grasp_state import GraspState
from ..hypotheses.coarse_object import decimated
from ..hypotheses.generate import Hypothesis, grasp_axes, propose_hypotheses
from ..manipulation.kinematics import object_path
from ..options import PlannerOptions
from ..progress import Progress
from ..ranked_grasp import CONES_LEFT, HAND_ONLY, PUBLISHED, NearestMiss, RankedGrasp
from ..ranking.assemble import make_grasp
from ..ranking.score import score_reference
from ..task import Task, check_counts, task_load_cases
from .common_closing import CommonClosing
from .object_way import PublishedWay, PublishedWays
from .rules import PublishedRules


#: First warning of each grasp: messages carry it, too.
TOLD = 'planned as the grasp paper prints it, for comparison, see docs/model/published.md'


class PublishedPlanner(AskAndTell):
    """
    Plan grasps as the grasp paper prints it; parameters and errors as of ``GraspPlanner``.

    Parameters
    ----------
    rules : PublishedRules
        Which rules are as printed; the stages that answer must follow the same.

    Raises
    ------
    TaskError
        The task has obstacles, regions or a direction of approach, which the method knows not.

    Notes
    -----
    Source: seed 001. Without an arm, by whose way it chooses, grasps are ordered by the sum of
    the computed forces, least first. Scores are told, and order nothing.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, seed: int = 0, max_hypotheses: int = 0,
                 max_grasps: int = 0, rules: PublishedRules = PublishedRules()) -> None:
        check_counts(seed=seed, max_hypotheses=max_hypotheses, max_grasps=max_grasps)
        _check_task(task)
        load_cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        self._hand, self._options = hand, options
        self._wanted = max_grasps or options.max_grasps
        self._reference = score_reference(grasp_object, hand, load_cases)
        count = max_hypotheses or options.max_hypotheses
        if rules.hypotheses == 'faces':
            hypotheses, self.proposed = face_hypotheses(grasp_object, hand, options, count, seed)
        else:
            hypotheses, self.proposed = propose_hypotheses(grasp_object, hand, task, options,
                                                           count, seed)
        conditions = Conditions.of(task, load_cases, AS_PRINTED)
        self._work = _Closings(
            {hypothesis.number: CommonClosing(hypothesis, hand, options, task.displacement_object)
             for hypothesis in hypotheses}, conditions, options)
        motion, reach = task.displacement_object, options.reach
        self._path = np.eye(4)[None] if motion is None else object_path(
            motion, reach.translation_step, reach.rotation_step)
        self._ways = PublishedWays(task, self._path, conditions, options, self._begin_ways)
        super().__init__(((self._work,), (self._ways,)), conditions)

    @property
    def progress(self) -> Progress:
        """Return how far planning is."""
        work, held = self._work, self._held
        best = self.ranked(1)[0] if held else None
        return Progress(len(work.judged), len(work.items), len(held), best)

    @property
    def contacts_evaluated(self) -> int:
        """Return how many hypotheses got a verdict after two links came into contact."""
        return sum(closing.reached_contact for closing in self._work.judged)

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many hypotheses were excluded for each reason, most frequent first."""
        lost = Counter(way.reason for way in self._ways.items.values() if way.reason)
        return dict((self._work.rejections + lost).most_common())

    @property
    def reach_levels(self) -> dict[str, int]:
        """Return how many grasps were followed along the way of the object to its end."""
        followed = sum(way.result is not None for way in self._ways.items.values())
        return {HAND_ONLY: followed} if followed else {}

    @property
    def nearest_miss(self) -> NearestMiss | None:
        """Return None: the method knows no nearest miss."""
        return None

    @property
    def hint(self) -> str:
        """Return one sentence on why there is no grasp, '' where there is one."""
        rejected = self.rejections
        if self._held or not rejected:
            return ''
        reason, number = next(iter(rejected.items()))
        return f'by the published method {number} of {len(self._work.items)} fail: {reason}'

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return the best ``count`` grasps so far (0: as in the request), gentlest first."""
        grasps = sorted((self._grasp(closing) for closing in self._held), key=_force)
        return [replace(grasp, rank=i + 1)
                for i, grasp in enumerate(grasps[:count or self._wanted])]

    @property
    def _held(self) -> list[CommonClosing]:
        """Return the closings that hold, but those that lose the object on its way."""
        ways = self._ways.items
        return [closing for closing in self._work.held if not (
            closing.hypothesis.number in ways and ways[closing.hypothesis.number].reason)]

    def _begin_ways(self) -> dict[int, PublishedWay]:
        """Return the ways of all grasps that hold, nothing before all have their verdicts."""
        if len(self._path) == 1 or self._work.unfinished():
            return {}
        return {closing.hypothesis.number: PublishedWay(
            self._hand, closing.hypothesis, closing.held, self._path, self._options)
            for closing in self._work.held if closing.held is not None}

    def _grasp(self, closing: CommonClosing) -> RankedGrasp:
        held = closing.held
        assert held is not None
        grasp = make_grasp(closing.hypothesis, held, self._hand, self._reference, self._options)
        way = self._ways.items.get(closing.hypothesis.number)
        return replace(
            grasp, method=PUBLISHED, reach=way.result if way else None,
            warnings=(TOLD, *grasp.warnings, *_cone_warning(held.state,
                                                            self._reference.friction)))


class _Closings(ItemWork[CommonClosing]):
    """The closings of all hypotheses as one kind of work."""

    @property
    def judged(self) -> list[CommonClosing]:
        """Return the closings with a verdict."""
        return [closing for closing in self.items.values() if closing.done]

    @property
    def held(self) -> list[CommonClosing]:
        """Return the closings that hold."""
        return [closing for closing in self.judged if closing.held is not None]

    @property
    def rejections(self) -> Counter[str]:
        """Return how many were excluded, by reason."""
        counts = Counter(closing.reason for closing in self.judged if closing.reason)
        if self._stopped:
            counts[rejections.NOT_EVALUATED] = len(self.items) - len(self.judged)
        return +counts

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the first closings that are free, of one detail, and their question."""
        first = self.items[free[0]].question().detail
        return self.ask([number for number in free[:self._options.clearance_batch_size]
                         if self.items[number].question().detail == first])


def _check_task(task: Task) -> None:
    for name in ('obstacles', 'keep_out', 'contact_region', 'approach_direction'):
        value = getattr(task, name)
        if value is not None and len(value):
            raise TaskError(f'the published method knows no task.{name}: plan without it, or '
                            'without the published method')


def _force(grasp: RankedGrasp) -> tuple[float, int]:
    """Return the sum of the computed forces [N] and the hypothesis, by which grasps are ranked."""
    total = float(sum(np.linalg.norm(contact.force) for contact in grasp.contacts))
    return total, grasp.hypothesis


def _cone_warning(state: GraspState, friction: float) -> tuple[str, ...]:
    """Return a warning where the computed forces pull, or ask for more friction than there is."""
    normal = np.einsum('ij,ij->i', state.minimal_forces, state.normals)
    sliding = np.linalg.norm(state.minimal_forces - normal[:, None] * state.normals, axis=1)
    lacking = float(np.maximum(sliding - friction * normal, -normal).max(initial=0.0))
    if lacking <= 1e-9:
        return ()
    return (f'{CONES_LEFT}: they leave the cones of friction by {lacking:.2f} N',)


def face_hypotheses(grasp_object: GraspObject, hand: HandModel, options: PlannerOptions,
                    count: int, seed: int = 0) -> tuple[list[Hypothesis], int]:
    """
    Return hypotheses at the faces of the decimated object, in an order drawn from the seed.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    options : PlannerOptions
        Its ``face_count``, ``roll_count`` and ``palm_gaps``.
    count : int
        Largest number of hypotheses.
    seed : int

    Returns
    -------
    hypotheses : list of Hypothesis
    proposed : int
        How many there are in all.

    Notes
    -----
    Source: seed 001: normals of the faces of a decimated mesh at their centroids, the hand at
    given distances along them, its fingers towards the object. Choices where it is silent: the
    middle of the palm's front lies on the normal; the hand stands at ``roll_count`` angles about
    it, from the object's canonical axes, with every preshape; where fewer are to be judged than
    there are, they are drawn.
    """
    T_object_canonical = grasp_object.canonical_frame
    mesh = TriangleMesh(apply(inverse(T_object_canonical), grasp_object.mesh.vertices),
                        grasp_object.mesh.faces)
    faces = decimated(mesh, options.face_count)
    rolls = 2.0 * np.pi * np.arange(options.roll_count) / options.roll_count
    every = list(product(range(len(faces.faces)), rolls, options.palm_gaps,
                         range(len(hand.preshapes))))
    chosen = [every[i] for i in np.random.default_rng(seed).permutation(len(every))[:count]]
    centroids = faces.vertices[faces.faces].mean(axis=1)
    return [Hypothesis(number, T_object_canonical @ _before(
                hand, centroids[face], faces.face_normals[face], roll, gap), preshape, 0.0)
            for number, (face, roll, gap, preshape) in enumerate(chosen)], len(every)


def _before(hand: HandModel, centroid: Array, normal: Array, roll: float, gap: float) -> Array:
    """Return the pose of a palm whose front's middle stands at a gap before a point."""
    axes = grasp_axes(normal[None], np.array([roll]))[0]
    palm = hand.links[hand.palm_index].mesh.vertices @ hand.palm_axes
    low, high = palm.min(axis=0), palm.max(axis=0)
    front = np.array([*0.5 * (low + high)[:2], high[2]])
    return transform(axes @ hand.palm_axes.T, centroid + gap * normal - axes @ front)
