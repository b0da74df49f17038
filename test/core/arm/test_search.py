"""The search for the arm's shortest ways: against trying all."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gripsim_ros.core.arm.motion import WHOLE_WAY
from gripsim_ros.core.arm.choice import MotionSearch


class MadeUpWays:
    """A planner whose postures, their bounds and ways are numbers; it counts what it tries."""

    def __init__(self, ways):
        """``ways[grasp]``: pairs of the bound and the way through a posture, inf: none."""
        self.ways, self.tried = ways, 0

    def postures(self, grasp):
        return sorted(self.ways[grasp.hypothesis])

    def bound(self, posture):
        return posture[0]

    def no_posture(self, grasp):
        return SimpleNamespace(failed_step=1)

    def motion(self, grasp, posture):
        self.tried += 1
        free = np.isfinite(posture[1])
        return SimpleNamespace(failed_step=-1 if free else 3, way=lambda _: posture[1])


@st.composite
def ways_of_grasps(draw):
    """Bounds and ways no shorter than them, with ties, of up to six grasps."""
    steps = st.integers(0, 6)
    posture = st.tuples(steps, st.one_of(steps, st.just(np.inf))).map(
        lambda pair: (float(pair[0]), float(pair[0] + pair[1])))
    return draw(st.lists(st.lists(posture, max_size=4), min_size=1, max_size=6))


@given(ways=ways_of_grasps(), wanted=st.integers(0, 7), marks=st.integers(0, 63))
@settings(max_examples=60, deadline=None)
def test_pruning_changes_no_answer(ways, wanted, marks):
    """Against trying all: the same grasps in the same order, whatever number is wanted."""
    found = [RankOnly(number) for number in range(len(ways))]
    planner = MadeUpWays(ways)
    later = [bool(marks >> n & 1) for n in range(len(ways))]
    search = MotionSearch(planner, found, WHOLE_WAY, wanted, later)
    search.run(lambda _: True)
    best = {n: min((way for _, way in ways[n]), default=np.inf) for n in range(len(ways))}
    free = sorted((n for n in best if np.isfinite(best[n])), key=lambda n: (later[n], best[n], n))
    assert [g.hypothesis for g in search.free()] == free[:wanted or len(ways)]
    assert [g.arm_motion.way('') for g in search.free()] == [
        best[g.hypothesis] for g in search.free()]
    assert planner.tried <= sum(map(len, ways))
    failed = {g.hypothesis for g, _ in search.failures()}
    left = {g.hypothesis for g in search.open()}
    assert search.complete and all(not np.isfinite(best[n]) for n in failed)
    assert failed | left | set(free) == set(range(len(ways))) and not failed & left


@dataclass(frozen=True)
class RankOnly:
    """What the search reads and writes of a grasp."""

    hypothesis: int
    rank: int = 0
    arm_motion: object = None
