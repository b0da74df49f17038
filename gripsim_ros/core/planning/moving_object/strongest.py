"""Palms whose hand bears most when it closes by touch on a free object and presses on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...hand import HandModel
from ..hypotheses.generate import Hypothesis, propose_hypotheses
from ..hypotheses.hand_geometry import closing_rows, find_mechanisms
from ..options import PlannerOptions
from ..ranked_grasp import RankedGrasp
from ..task import Task, task_load_cases
from .closing_motion import some_loads
from .motion import MovingObject
from .touch_closing import press_margins, PRESS_SHARES, pressing_beyond

#: How much deeper palms stand than those proposed, whose pads close about the centre of mass [m].
DEPTHS = (0.0, 0.02, 0.03, 0.04, 0.05)
#: Palms of a preshape that are nearer and less turned than this are one proposal [m, rad].
NEAR, TURN = 0.01, np.deg2rad(15.0)
#: Palms told for each grasp wanted: of some the fingers or the way meet what they must not.
TOLD = 3


@dataclass(frozen=True, eq=False)
class StrongPalm:
    """A hypothesis, which multiple of the loads its hand bears, and pressed with which share."""

    hypothesis: Hypothesis
    margin: float
    share: float


def strongest_palms(grasp_object: GraspObject, hand: HandModel, task: Task,
                    options: PlannerOptions, count: int, palms: int, seed: int = 0,
                    go_on: Callable[[int], bool] = lambda tried: True
                    ) -> tuple[list[StrongPalm], int]:
    """
    Return the palms of which the hand bears most, the strongest first, and how many were tried.

    Parameters
    ----------
    grasp_object : GraspObject
        It floats, and is as rigid as ``touch_margin`` has it.
    hand : HandModel
    task : Task
    options : PlannerOptions
    count : int
        Grasps wanted; ``TOLD`` times as many palms are told, if there are.
    palms : int
        Looked at at most.
    seed : int
        As ``propose_hypotheses``.
    go_on : callable
        Asked before each palm, with the number of those tried.

    Notes
    -----
    Own choice. Proposals close their pads about the centre of mass, so that the object is held by
    the ends of the fingers. Nearer to the palm levers are shorter, the same torques press harder,
    and fingers reach round the object: each proposal is tried at ``DEPTHS``, too.
    """
    proposed, _ = propose_hypotheses(grasp_object, hand, task, options, palms, seed)
    loads = some_loads(task_load_cases(task, grasp_object.canonical_frame[:3, :3]))
    found: list[StrongPalm] = []
    tried = 0
    for hypothesis in deeper(unlike(proposed), grasp_object, hand, options):
        if tried == palms or not go_on(tried):
            break
        tried += 1
        enough = found[-1].margin if len(found) == TOLD * count else 0.0
        way = hand.preshapes[hypothesis.preshape]
        margin, share = max(zip(press_margins(
            grasp_object, hand, hypothesis.T_object_palm, way.open, way.closed - way.open, loads,
            options.closing, enough), PRESS_SHARES))
        if margin > enough:
            found = nlargest(TOLD * count, [*found, StrongPalm(hypothesis, margin, share)],
                             key=lambda palm: palm.margin)
    return found, tried


def unlike(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return hypotheses in their order without those that are much like one before."""
    kept: list[Hypothesis] = []
    for hypothesis in hypotheses:
        if not any(_alike(hypothesis, other) for other in kept):
            kept.append(hypothesis)
    return kept


def _alike(a: Hypothesis, b: Hypothesis) -> bool:
    first, second = a.T_object_palm, b.T_object_palm
    return a.preshape == b.preshape and bool(
        np.linalg.norm(first[:3, 3] - second[:3, 3]) < NEAR
        and (first[:3, :3] * second[:3, :3]).sum() > 1.0 + 2.0 * np.cos(TURN))


def deeper(hypotheses: Sequence[Hypothesis], grasp_object: GraspObject, hand: HandModel,
           options: PlannerOptions) -> Iterator[Hypothesis]:
    """Yield each hypothesis at ``DEPTHS`` until its open hand touches the object, numbered."""
    number = 0
    for hypothesis in hypotheses:
        opened = hand.preshapes[hypothesis.preshape].open
        inward = hypothesis.T_object_palm[:3, :3] @ hand.approach
        for depth in DEPTHS:
            palm = hypothesis.T_object_palm.copy()
            palm[:3, 3] += depth * inward
            moving = MovingObject(grasp_object, hand, palm, opened, options.closing)
            moving.follow(opened[None])
            if moving.normal_forces.any():
                break
            yield replace(hypothesis, number=number, T_object_palm=palm)
            number += 1


def from_open_hand(grasp: RankedGrasp, palm: StrongPalm, hand: HandModel, count: int
                   ) -> RankedGrasp:
    """
    Return a closed grasp as that of a palm.

    Its trajectory (count, J) leads from the open hand, and its grip presses as hard as it must to
    bear what its margin says.
    """
    way, closed = hand.preshapes[palm.hypothesis.preshape], grasp.trajectory[-1]
    rates = way.closed - way.open
    shares: Array = np.divide(closed - way.open, rates, out=np.zeros(len(rates)),
                              where=rates != 0.0)
    links = {hand.link_index(contact.link) for contact in grasp.contacts}
    press = palm.share * pressing_beyond(hand, rates, {
        number for number, finger in enumerate(hand.fingers) if links & set(finger.links)})
    return replace(
        grasp, hypothesis=palm.hypothesis.number, grip_efforts=press * hand.joint_stiffness,
        grip_positions=np.clip(closed + press, hand.joint_lower, hand.joint_upper),
        trajectory=closing_rows(way.open, rates, np.maximum(shares, 0.0), find_mechanisms(hand),
                                count))
