"""What the hand of a palm bears that closes by touch and presses, and palms near it of more."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...bodies import GraspObject
from ...hand import HandModel
from ...transforms import transform
from ..hypotheses.closing_ways import nearest_preshape
from ..hypotheses.generate import Hypothesis, in_approach_cone
from ..options import PlannerOptions
from ..task import Task, task_load_cases
from .closing_motion import some_loads
from .motion import MovingObject
from .touch_closing import press_margins

#: Torques with which the joints press, as a share of their limit [-].
PRESS = 0.6
#: Bends of the fingers from which a search begins, besides the palm's own: how far their inner
#: joint opens and the outer ones close [rad], and how much deeper the palm stands then [m].
BENDS, BENT_DEPTHS = ((0.2, 0.35), (0.4, 0.7)), (-0.01, 0.01, 0.03)
#: Steps of a round, and their deviations at first: shift [m], turn and bend [rad].
STEPS, SHIFT, TURN, BEND = 90, 0.008, 0.1, 0.15
#: By what steps grow after a better palm and shrink after none [-], least and most.
GROWTH, SHRINKAGE, LEAST_STEP, MOST_STEP = 1.5, 0.9, 0.15, 1.5


@dataclass(frozen=True, eq=False)
class StrongPalm:
    """
    A hypothesis, the joints from which its fingers close, and what they bear.

    ``opened (J,)`` [rad] is the open hand of the preshape or one of bent fingers; ``margin`` is
    the multiple of the loads that is borne, the lesser of those by ``firm_presses``.
    """

    hypothesis: Hypothesis
    opened: Array
    margin: float


def firm_presses(most: Array) -> tuple[Array, Array]:
    """
    Return two ways to press firmly (J,) [rad], of all that the joints can (J,) [rad].

    With ``PRESS`` of the limit of each joint, and by the same angle all, as they are sent on by
    position. What is strong by one of them alone slips where inner and outer joints share the
    torques otherwise.
    """
    alike = np.minimum(PRESS * np.abs(most).max(), np.abs(most)) * np.sign(most)
    return PRESS * most, alike


class PressTrial:
    """
    Judges palms by what their fingers bear that close by touch on a free object and press.

    Parameters
    ----------
    grasp_object : GraspObject
        It floats, and is as rigid as ``touch_margin`` has it.
    hand : HandModel
    task : Task
    options : PlannerOptions
    approaches : callable
        Whether an open hand (J,) [rad] comes clear of everything to a palm (4, 4) in the object.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, approaches: Callable[[Array, Array], bool]) -> None:
        self.object, self.hand, self.task, self.options = grasp_object, hand, task, options
        self._approaches = approaches
        self._loads = some_loads(task_load_cases(task, grasp_object.canonical_frame[:3, :3]))

    def palm(self, hypothesis: Hypothesis, opened: Array, at_least: float = 0.0) -> StrongPalm:
        """Return what fingers bear that close from joints (J,); margin 0 below ``at_least``."""
        way = self.hand.preshapes[hypothesis.preshape]
        least = np.inf
        for margin in press_margins(
                self.object, self.hand, hypothesis.T_object_palm, opened, way.closed - way.open,
                self._loads, self.options.closing, firm_presses, at_least):
            least = min(least, margin)
            if least == 0.0:
                break
        return StrongPalm(hypothesis, opened, least)

    def touches(self, T_object_palm: Array, opened: Array) -> bool:
        """Return whether an open hand (J,) [rad] touches the object."""
        moving = MovingObject(self.object, self.hand, T_object_palm, opened,
                              self.options.closing)
        moving.follow(opened[None])
        return bool(moving.normal_forces.any())

    def is_reached(self, T_object_palm: Array, opened: Array) -> bool:
        """Return whether an open hand comes to its palm as the task allows, and clear."""
        return bool(in_approach_cone(T_object_palm[None], self.hand, self.task)[0]
                    ) and self._approaches(T_object_palm, opened)


class Climb:
    """
    The search for stronger palms near one, to which the hand comes freely.

    Parameters
    ----------
    palm : StrongPalm
        Closing from the open hand of its preshape. Where the hand does not come to it freely,
        its margin does not count.
    trial : PressTrial

    Notes
    -----
    Own choice: an evolution strategy of one parent and one child (Rechenberg 1973), over shift
    and turn of the palm about the centre of mass and two angles by which fingers are bent. A
    bent finger touches with its tip beside the axis of its inner joint, where the same torque
    presses harder.
    """

    def __init__(self, palm: StrongPalm, trial: PressTrial) -> None:
        reached = trial.is_reached(palm.hypothesis.T_object_palm, palm.opened)
        #: The strongest palm found.
        self.best = palm if reached else replace(palm, margin=0.0)
        self._origin, self._trial, self._bend, self._step = palm, trial, np.zeros(2), 1.0

    def bend(self, go_on: Callable[[], bool]) -> None:
        """Try the palm with ``BENDS`` of the fingers as long as ``go_on`` says so."""
        for angles in np.array(BENDS):
            for depth in BENT_DEPTHS:
                if not go_on():
                    return
                self._try(further_in(self._origin.hypothesis.T_object_palm, self._trial.hand,
                                     depth), angles)

    def step(self, steps: int, rng: np.random.Generator, go_on: Callable[[], bool]) -> None:
        """Try palms by random steps from the best so far as long as ``go_on`` says so."""
        for _ in range(steps):
            if not go_on():
                return
            draws = self._step * rng.normal(size=8)
            better = self._try(_moved(
                self.best.hypothesis.T_object_palm, SHIFT * draws[2:5], TURN * draws[5:],
                self._trial.object.mass_properties.centre_of_mass),
                self._bend + BEND * draws[:2])
            self._step = float(np.clip(self._step * (GROWTH if better else SHRINKAGE),
                                       LEAST_STEP, MOST_STEP))

    def _try(self, T_object_palm: Array, angles: Array) -> bool:
        """Take a palm with bent fingers (2,) [rad] for the best, if it is reached and is so."""
        trial, hypothesis = self._trial, self._origin.hypothesis
        opened = bent_fingers(trial.hand, hypothesis.preshape, angles)
        preshape = nearest_preshape(trial.hand, opened)
        found = trial.palm(replace(hypothesis, T_object_palm=T_object_palm, preshape=preshape),
                           opened, self.best.margin)
        # The way to a palm takes as long to judge as what it bears, and most bear less.
        if found.margin <= self.best.margin or not trial.is_reached(T_object_palm, opened):
            return False
        self.best, self._bend = found, angles
        return True


def strengthened(palms: list[StrongPalm], trial: PressTrial, rng: np.random.Generator,
                 go_on: Callable[[], bool] = lambda: True) -> list[StrongPalm]:
    """
    Return for palms the strongest near each, in their order.

    ``go_on`` is asked before each of the ``steps_at_most`` palms tried; the best so far are
    returned once it says no. Only the better half goes on after each round, so that most steps
    are taken from the best (successive halving, Jamieson and Talwalkar 2016).
    """
    climbs = [Climb(palm, trial) for palm in palms]
    for climb in climbs:
        climb.bend(go_on)
    for number in _rounds(len(climbs)):
        for climb in sorted(climbs, key=lambda climb: -climb.best.margin)[:number]:
            climb.step(STEPS, rng, go_on)
    return [climb.best for climb in climbs]


def steps_at_most(palms: int) -> int:
    """Return how many palms ``strengthened`` tries near so many at most."""
    return palms * len(BENDS) * len(BENT_DEPTHS) + STEPS * sum(_rounds(palms))


def _rounds(number: int) -> list[int]:
    """Return how many go on in each round: all, and half of them until one is left."""
    return [number] if number <= 1 else [number, *_rounds(number // 2)]


def bent_fingers(hand: HandModel, preshape: int, angles: Array) -> Array:
    """
    Return the open hand (J,) [rad] of a preshape with bent fingers.

    Of each finger that closes by two or more revolute joints the innermost is opened by the
    first of angles (2,) and the others are closed by the second, within their limits.
    """
    way = hand.preshapes[preshape]
    senses, opened = np.sign(way.closed - way.open), way.open.copy()
    for finger in hand.fingers:
        own = [j for j in finger.joints if senses[j] != 0.0 and not hand.prismatic[j]]
        if len(own) > 1:
            opened[own[0]] = way.open[own[0]] - angles[0] * senses[own[0]]
            opened[own[1:]] = way.open[own[1:]] + angles[1] * senses[own[1:]]
    return np.clip(opened, hand.joint_lower, hand.joint_upper)


def further_in(T_object_palm: Array, hand: HandModel, way: float) -> Array:
    """Return a palm (4, 4) that stands further in by a way [m] along its approach."""
    palm = T_object_palm.copy()
    palm[:3, 3] += way * (T_object_palm[:3, :3] @ hand.approach)
    return palm


def _moved(T_object_palm: Array, shift: Array, turn: Array, centre: Array) -> Array:
    """Return a palm (4, 4) turned about a centre (3,) [m] by a turn (3,) [rad], and shifted."""
    rotation = Rotation.from_rotvec(turn).as_matrix()
    moved: Array = transform(
        rotation, centre + shift - rotation @ centre) @ T_object_palm
    return moved
