"""The search for the shortest ways of the arm: lowest bounds first, until nothing can change."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..planning.ranked_grasp import RankedGrasp
from .motion import ArmMotion, ArmPlanner


#: Lengths are compared to this many decimals [rad]: searches for postures end within 1e-9.
DECIMALS = 7


@dataclass(frozen=True)
class ArmProgress:
    """
    How far the search is.

    Of ``total`` grasps ``decided`` are known to have a free motion or none, ``free`` of them have
    one; ``shortest`` is the least way so far [rad], None before there is one.
    """

    decided: int
    total: int
    free: int
    shortest: float | None


class MotionSearch:
    """
    Find which of some grasps have the shortest ways of the arm.

    Every posture of a pre-grasp is a candidate. Its bound is the straight way to it, which no
    way through it falls short of. Candidates are tried from the lowest bound on; the search ends
    where the ``wanted`` shortest ways are no longer than the next bound, or where no candidate
    is left. So the answer is that of trying all, and the first grasps do not depend on
    ``wanted``.

    Parameters
    ----------
    planner : ArmPlanner
    grasps : sequence of RankedGrasp
        Of equal ways the earlier counts as shorter.
    criterion : str
        ``TO_PREGRASP`` or ``WHOLE_WAY``.
    wanted : int
        0: all that have a free motion.
    later : sequence of bool, (grasps,)
        Grasps that come after all others, however short their ways.

    Attributes
    ----------
    complete : bool
        False where ``run`` was told to end before the answer was settled.

    Notes
    -----
    Own derivation: best-first branch and bound (Land and Doig 1960).
    """

    def __init__(self, planner: ArmPlanner, grasps: Sequence[RankedGrasp], criterion: str,
                 wanted: int, later: Sequence[bool]) -> None:
        self._planner, self._grasps, self._later = planner, list(grasps), list(later)
        self._criterion, self._wanted = criterion, wanted or len(self._grasps)
        self._postures: dict[int, list[Array]] = {}
        self._untried: dict[int, int] = {}
        self._free: dict[int, ArmMotion] = {}
        self._farthest: dict[int, ArmMotion] = {}
        self.complete = False

    def run(self, go_on: Callable[[ArmProgress], bool]) -> None:
        """Search; ``go_on`` is asked before each grasp's postures and before each motion."""
        candidates: list[tuple[bool, float, int, int]] = []
        for number, grasp in enumerate(self._grasps):
            if not go_on(self.progress):
                return
            postures = self._planner.postures(grasp)
            self._postures[number], self._untried[number] = postures, len(postures)
            candidates += [
                (self._later[number], round(self._planner.bound(posture), DECIMALS), number, k)
                for k, posture in enumerate(postures)]
            if not postures:
                self._farthest[number] = self._planner.no_posture(grasp)
        heapq.heapify(candidates)
        while candidates and not self._is_settled(candidates[0]):
            _, bound, number, k = candidates[0]
            if bound < self._way(number):
                if not go_on(self.progress):
                    return
                self._try(number, self._postures[number][k])
            heapq.heappop(candidates)
            self._untried[number] -= 1
        self.complete = True

    @property
    def progress(self) -> ArmProgress:
        """Return how far the search is."""
        ways = [motion.way(self._criterion) for motion in self._free.values()]
        return ArmProgress(len(self._free) + len(self._failed()), len(self._grasps), len(ways),
                           min(ways, default=None))

    def free(self) -> list[RankedGrasp]:
        """Return the grasps wanted with their motions, the shortest way first, ranked anew."""
        return [replace(self._grasps[number], rank=rank, arm_motion=self._free[number])
                for rank, (*_, number) in enumerate(self._order()[:self._wanted], start=1)]

    def failures(self) -> list[tuple[RankedGrasp, ArmMotion]]:
        """Return the grasps without a free motion, each with the attempt that came farthest."""
        return [(self._grasps[number], self._farthest[number]) for number in self._failed()]

    def open(self) -> list[RankedGrasp]:
        """Return the grasps of which it is not known whether there is a free motion."""
        known = {*self._free, *self._failed()}
        return [grasp for number, grasp in enumerate(self._grasps) if number not in known]

    # -- one candidate ---------------------------------------------------------------

    def _try(self, number: int, posture: Array) -> None:
        found = self._planner.motion(self._grasps[number], posture)
        if found.failed_step < 0:
            if round(found.way(self._criterion), DECIMALS) < self._way(number):
                self._free[number] = found
        elif (number not in self._farthest
                or found.failed_step > self._farthest[number].failed_step):
            self._farthest[number] = found

    def _is_settled(self, candidate: tuple[bool, float, int, int]) -> bool:
        """Return True if no candidate from this one on can change the grasps wanted."""
        order = self._order()
        return len(order) >= self._wanted and order[self._wanted - 1] <= candidate[:3]

    def _order(self) -> list[tuple[bool, float, int]]:
        """Return the ways of the free grasps and their numbers, in the order of the answer."""
        return sorted((self._later[number], self._way(number), number) for number in self._free)

    def _way(self, number: int) -> float:
        found = self._free.get(number)
        return np.inf if found is None else round(found.way(self._criterion), DECIMALS)

    def _failed(self) -> list[int]:
        """Return the grasps none of whose postures leads to a free motion."""
        return [number for number, left in self._untried.items()
                if not left and number not in self._free]
