"""
Hypotheses again, where a free object comes to rest between the fingers that close on it.

A closing holds the object where it is. Where its forces do not balance there, a free object gives
way to them: the palm is set to where it then is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from ...bodies import GraspObject
from ...hand import HandModel
from ...transforms import inverse
from ..hypotheses.generate import Hypothesis, in_approach_cone
from ..options import ClosingDynamics
from ..task import Task
from .closing_motion import squeeze
from .motion import MovingObject
from .touch_closing import close_by_touch, pressing_beyond

#: Torques with which joints press on after the touch, as a share of their limit [-]: light, since
#: what a light press does not bring to rest is squeezed out by a firm one.
SEATING_SHARE = 0.1
#: Way of the centre of mass beyond which the object has left the fingers [m].
LOST = 0.05
#: Hypotheses looked at at most: a second of a core.
MOST_SEATED = 60


def seated_hypotheses(hypotheses: Iterable[Hypothesis], grasp_object: GraspObject,
                      hand: HandModel, task: Task, dynamics: ClosingDynamics
                      ) -> Iterator[Hypothesis | None]:
    """
    Yield hypotheses with the palm where the object comes to rest between the fingers.

    Each takes some 20 ms: whoever serves others takes a few at a time.

    Parameters
    ----------
    hypotheses : iterable of Hypothesis
        The first ``MOST_SEATED`` count.
    grasp_object : GraspObject
        It floats.
    hand : HandModel
    task : Task
        Its approach cone is respected.
    dynamics : ClosingDynamics

    Yields
    ------
    Hypothesis or None
        For each, with its number and score; None for those that push the object out, touch it
        with one finger alone, or would approach as the task does not allow.

    Notes
    -----
    Own formulation. A proposal alone: whether such a hypothesis holds is judged as of any other,
    by a hand that opens at the new palm and closes on the object where it stands.

    """
    for hypothesis in islice(hypotheses, MOST_SEATED):
        seated = seated_hypothesis(hypothesis, grasp_object, hand, dynamics)
        allowed = seated and in_approach_cone(seated.T_object_palm[None], hand, task)[0]
        yield seated if allowed else None


def seated_hypothesis(hypothesis: Hypothesis, grasp_object: GraspObject, hand: HandModel,
                      dynamics: ClosingDynamics) -> Hypothesis | None:
    """Return a hypothesis where the object rests between the fingers; None: it does not."""
    preshape = hand.preshapes[hypothesis.preshape]
    rates = preshape.closed - preshape.open
    rates = rates / np.abs(rates).max()
    moving = MovingObject(grasp_object, hand, hypothesis.T_object_palm, preshape.open, dynamics)
    command, touching = close_by_touch(moving, hand, preshape.open, rates, dynamics)
    if len(touching) < 2:
        return None
    press = SEATING_SHARE * pressing_beyond(hand, rates, touching)
    squeeze(moving, command, np.clip(command + press, hand.joint_lower, hand.joint_upper),
            dynamics)
    moved, centre = moving.T_object_moved, grasp_object.mass_properties.centre_of_mass
    if np.linalg.norm(moved[:3, :3] @ centre + moved[:3, 3] - centre) > LOST:
        return None
    return replace(hypothesis, T_object_palm=inverse(moving.T_palm_object))
