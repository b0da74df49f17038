"""Palms whose hand bears most when it closes by touch on a free object and presses on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import nlargest

import numpy as np

from ...arrays import Array
from ...hand import HandModel
from ..hypotheses.generate import Hypothesis, propose_hypotheses
from ..hypotheses.hand_geometry import closing_rows, find_mechanisms
from ..ranked_grasp import RankedGrasp
from .stronger import further_in, PRESS, PressTrial, steps_at_most, strengthened, StrongPalm
from .touch_closing import pressing_beyond

#: How much deeper palms stand than those proposed, whose pads close about the centre of mass [m].
DEPTHS = (0.0, 0.02, 0.03, 0.04, 0.05)
#: Palms of a preshape that are nearer and less turned than this are one proposal [m, rad].
NEAR, TURN = 0.01, np.deg2rad(15.0)
#: Palms told for each grasp wanted: of some the fingers or the way meet what they must not.
TOLD = 3


def strongest_palms(trial: PressTrial, count: int, palms: int, seed: int = 0,
                    go_on: Callable[[int], bool] = lambda tried: True
                    ) -> tuple[list[StrongPalm], int]:
    """
    Return the palms of which the hand bears most, the strongest first, and how many were tried.

    Parameters
    ----------
    trial : PressTrial
        Of the object, hand, and task.
    count : int
        Grasps wanted; ``TOLD`` times as many palms are told, if there are.
    palms : int
        Proposals looked at at most; near the best come ``tried_at_most`` in all.
    seed : int
        As ``propose_hypotheses``.
    go_on : callable
        Asked before each palm, with the number of those tried.

    Notes
    -----
    Own choice. Proposals close their pads about the centre of mass, so that the object is held by
    the ends of the fingers. Nearer to the palm levers are shorter, the same torques press harder,
    and fingers reach round the object: each proposal is tried at ``DEPTHS``, too. From the best
    that are not much alike, as many as grasps are wanted, ``strengthened`` goes on.
    """
    proposed, _ = propose_hypotheses(trial.object, trial.hand, trial.task, trial.options, palms,
                                     seed)
    found: list[StrongPalm] = []
    tried = 0
    for hypothesis in deeper(unlike(proposed), trial):
        if tried == palms or not go_on(tried):
            break
        tried += 1
        enough = found[-1].margin if len(found) == TOLD * count else 0.0
        palm = trial.palm(hypothesis, trial.hand.preshapes[hypothesis.preshape].open, enough)
        if palm.margin > enough:
            found = _best([*found, palm], count)
    return _strengthened(found, trial, count, seed, tried, go_on)


def tried_at_most(palms: int, count: int) -> int:
    """Return how many palms are tried at most, of proposals and of grasps wanted."""
    return palms + steps_at_most(count)


def _strengthened(found: list[StrongPalm], trial: PressTrial, count: int, seed: int, tried: int,
                  go_on: Callable[[int], bool]) -> tuple[list[StrongPalm], int]:
    """Return palms with what is stronger near the first that are not alike, and the number."""
    rng, looked_at = np.random.default_rng(seed), tried

    def next_wanted() -> bool:
        nonlocal looked_at
        wanted = go_on(looked_at)
        looked_at += wanted
        return wanted

    kept = set(map(id, unlike([palm.hypothesis for palm in found])[:count]))
    first = [palm for palm in found if id(palm.hypothesis) in kept]
    better = [replace(now, hypothesis=replace(now.hypothesis, number=tried + number))
              for number, (before, now) in enumerate(zip(first, strengthened(
                  first, trial, rng, next_wanted))) if now is not before and now.margin > 0.0]
    return _best([*better, *found], count), looked_at


def _best(palms: list[StrongPalm], count: int) -> list[StrongPalm]:
    return nlargest(TOLD * count, palms, key=lambda palm: palm.margin)


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


def deeper(hypotheses: Sequence[Hypothesis], trial: PressTrial) -> Iterator[Hypothesis]:
    """Yield each hypothesis at ``DEPTHS`` until its open hand touches the object, numbered."""
    number = 0
    for hypothesis in hypotheses:
        opened = trial.hand.preshapes[hypothesis.preshape].open
        for depth in DEPTHS:
            palm = further_in(hypothesis.T_object_palm, trial.hand, depth)
            if trial.touches(palm, opened):
                break
            yield replace(hypothesis, number=number, T_object_palm=palm)
            number += 1


def from_open_hand(grasp: RankedGrasp, palm: StrongPalm, hand: HandModel, count: int
                   ) -> RankedGrasp:
    """
    Return a closed grasp as that of a palm.

    Its trajectory (count, J) leads from the palm's open hand, its grip presses with ``PRESS``,
    and its margin is the palm's.
    """
    way, closed = hand.preshapes[palm.hypothesis.preshape], grasp.trajectory[-1]
    rates = way.closed - way.open
    shares: Array = np.divide(closed - palm.opened, rates, out=np.zeros(len(rates)),
                              where=rates != 0.0)
    links = {hand.link_index(contact.link) for contact in grasp.contacts}
    press = PRESS * pressing_beyond(hand, rates, {
        number for number, finger in enumerate(hand.fingers) if links & set(finger.links)})
    return replace(
        grasp, hypothesis=palm.hypothesis.number, margin=palm.margin,
        grip_efforts=press * hand.joint_stiffness,
        grip_positions=np.clip(closed + press, hand.joint_lower, hand.joint_upper),
        trajectory=closing_rows(palm.opened, rates, np.maximum(shares, 0.0),
                                find_mechanisms(hand), count))
