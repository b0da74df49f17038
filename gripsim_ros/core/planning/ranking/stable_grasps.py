"""The grasps that hold so far, and the best of them."""

from collections import UserDict
from dataclasses import replace

from ..ranked_grasp import RankedGrasp
from .assemble import rank_key


class StableGrasps(UserDict[int, RankedGrasp]):
    """Grasps by the numbers of their hypotheses; the best is looked for where it may change."""

    def __init__(self) -> None:
        """Start without grasps."""
        super().__init__()
        self._best: RankedGrasp | None = None

    def __setitem__(self, number: int, grasp: RankedGrasp) -> None:
        """Take a grasp, or other numbers of it."""
        super().__setitem__(number, grasp)
        best = self._best
        if best is None or best.hypothesis == number or rank_key(grasp) < rank_key(best):
            self._best = None

    def __delitem__(self, number: int) -> None:
        """Let go of a grasp."""
        super().__delitem__(number)
        self._best = None

    @property
    def best(self) -> RankedGrasp | None:
        """Return the best grasp, with rank 1; None where none holds."""
        if self._best is None and self:
            self._best = replace(min(self.values(), key=rank_key), rank=1)
        return self._best
