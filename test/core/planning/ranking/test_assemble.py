"""The best of the grasps that hold, while they come, change and go."""

from dataclasses import dataclass, replace
import random

import numpy as np

from gripsim_ros.core.planning.ranked_grasp import ClosingMotion
from gripsim_ros.core.planning.ranking.assemble import StableGrasps, rank_key


STILL, MOVED = (ClosingMotion(np.eye(4), way, 0.0, 0.0, True) for way in (0.0, 0.01))
LOST = ClosingMotion(np.eye(4), 0.0, 0.0, 0.0, True, bears=False)


@dataclass(frozen=True)
class Grasp:
    """What ranking looks at."""

    hypothesis: int
    score: float
    quantitative: bool
    balanced: bool
    closing_motion: ClosingMotion | None = None
    rank: int = 0


def test_the_best_is_that_of_all_after_every_change():
    rng, grasps = random.Random(1), StableGrasps()
    assert grasps.best is None
    for _ in range(400):
        number = rng.randrange(20)
        if number in grasps and rng.random() < 0.4:
            del grasps[number]
        else:
            grasps[number] = Grasp(number, rng.randrange(9) / 9.0, rng.random() < 0.5,
                                   rng.random() < 0.5, rng.choice((None, STILL, MOVED, LOST)))
        best = min(grasps.values(), key=rank_key, default=None)
        assert grasps.best == (best and replace(best, rank=1))
    grasps.clear()
    assert grasps.best is None and not grasps


def test_numbers_rank_before_guesses_then_what_rests_then_what_stays_and_is_borne():
    order = [Grasp(3, 0.1, True, True), Grasp(5, 0.1, True, True, STILL),
             Grasp(4, 0.9, True, True, MOVED), Grasp(6, 0.95, True, True, LOST),
             Grasp(0, 0.3, False, True), Grasp(2, 0.2, False, True),
             Grasp(1, 0.9, False, False)]
    assert sorted(reversed(order), key=rank_key) == order
