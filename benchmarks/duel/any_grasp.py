"""
Any planner's grasp by any hand in MuJoCo: open until free, close to the touch, squeeze, pull.

A grasp is a pose of the palm in the object's frame and joints, wherever they come from: touching,
pressing, or as far in as a planner allows. No planner has a part in what is done with it here.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.hold.shake import CLOSING_TIME, HeldObject, judge, Shaker, TIME_STEP, Verdict
from gripsim_ros.core.hand import HandModel

#: A finger has touched above this normal force [N].
TOUCH_FORCE = 0.05
#: Gap at which a finger counts as free [m], step [rad] and most [rad] of its opening, and how far
#: beyond the given joints it may close [rad].
FREE_GAP, OPENING_STEP, MAX_OPENING, MAX_CLOSING = 0.002, 0.02, 1.0, 0.5
#: Way that joints are sent beyond the touch [rad]: 0.6 N m at the simulated hand's 20 N m/rad.
SQUEEZE = 0.03
#: Time of each pull [s], and the hardest pull that is tried [m/s^2].
PULL_TIME, MOST_PULL = 1.0, 120.0


@dataclass(frozen=True, eq=False)
class FingerWay:
    """Links of a finger, joints that are its alone, and how they close, the fastest by 1."""

    links: tuple[str, ...]
    joints: list[int]
    way: np.ndarray


def finger_ways(hand: HandModel) -> list[FingerWay]:
    """Return how each finger closes in the first preshape; joints of two fingers stay."""
    moves = hand.preshapes[0].closed - hand.preshapes[0].open
    shared = [joint for finger in hand.fingers for joint in finger.joints]
    found = []
    for finger in hand.fingers:
        own = [j for j in finger.joints if shared.count(j) == 1 and abs(moves[j]) > 1e-6]
        way = moves[own] / np.abs(moves[own]).max() if own else np.zeros(0)
        found.append(FingerWay(tuple(hand.link_names[i] for i in finger.links), own, way))
    return found


class GraspTrial:
    """
    One grasp of an object by a hand in MuJoCo.

    Parameters
    ----------
    held : HeldObject
    hand : HandModel
    T_object_palm : (4, 4) float
    joints : (J,) float
        [rad].
    """

    def __init__(self, held: HeldObject, hand: HandModel, T_object_palm, joints) -> None:
        self._fingers = finger_ways(hand)
        joints = np.clip(joints, hand.joint_lower, hand.joint_upper)
        self.shaker = Shaker(held, T_object_palm, hand, None, joints)
        self._limits = hand.joint_lower, hand.joint_upper
        self._start = self._opened(joints)
        #: How deep the hand that is opened overlaps the object all the same [m].
        self.overlap = self.shaker.penetration

    def _opened(self, joints) -> np.ndarray:
        """Return the joints with each finger opened until its links are free."""
        found = np.array(joints, float)
        for finger in self._fingers:
            for _ in range(int(MAX_OPENING / OPENING_STEP)):
                if self.shaker.links_gap(finger.links, found) > FREE_GAP:
                    break
                found[finger.joints] -= OPENING_STEP * finger.way
                found = np.clip(found, *self._limits)
        self.shaker.place(found)
        return found

    def _touching(self) -> list[int]:
        """Return the numbers of the fingers that press the object."""
        pressing = {link for link, force in self.shaker.link_forces().items()
                    if force > TOUCH_FORCE}
        return [i for i, finger in enumerate(self._fingers) if pressing & set(finger.links)]

    def close(self, squeeze: float = SQUEEZE) -> int:
        """Close each finger to its touch, then send it on [rad]; return how many touch."""
        shaker, steps = self.shaker, int(CLOSING_TIME / TIME_STEP)
        target, stopped = self._start.copy(), set()
        way = (MAX_OPENING + MAX_CLOSING) / steps
        for _ in range(steps):
            for i, finger in enumerate(self._fingers):
                if i not in stopped:
                    target[finger.joints] += way * finger.way
            target = np.clip(target, *self._limits)
            shaker.move([target, target], TIME_STEP)
            for i in set(self._touching()) - stopped:
                stopped.add(i)
                own = self._fingers[i].joints
                target[own] = shaker.joints[own]
            if len(stopped) == len(self._fingers):
                break
        for i in stopped:
            target[self._fingers[i].joints] += squeeze * self._fingers[i].way
        shaker.squeeze(np.clip(target, *self._limits))
        return len(self._touching())

    def verdict(self) -> Verdict:
        """Return whether the closed hand holds the object against six pulls in turn."""
        return judge(self.shaker, PULL_TIME)

    def pull_borne(self) -> float:
        """Return the least pull over the mass, of six axes, that frees the object [m/s^2]."""
        return self.shaker.failing_acceleration(MOST_PULL)


def try_grasp(held: HeldObject, hand: HandModel, T_object_palm, joints,
              squeeze: float = SQUEEZE) -> dict:
    """Return what becomes of a grasp: held or not, pull borne [m/s^2], push, turn, overlap."""
    trial = GraspTrial(held, hand, T_object_palm, joints)
    fingers = trial.close(squeeze)
    pull = trial.pull_borne() if fingers else 0.0
    verdict = trial.verdict()
    return {'held': bool(verdict.held and fingers), 'pull': pull, 'fingers': fingers,
            'push': verdict.push, 'shift': verdict.shift, 'turn': verdict.turn,
            'overlap': trial.overlap}
