"""The best of the grasps that hold, while they come, change and go."""

from dataclasses import dataclass, replace
import random

from gripsim_ros.core.planning.ranking.assemble import StableGrasps, rank_key


@dataclass(frozen=True)
class Grasp:
    """What ranking looks at."""

    hypothesis: int
    score: float
    quantitative: bool
    balanced: bool
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
                                   rng.random() < 0.5)
        best = min(grasps.values(), key=rank_key, default=None)
        assert grasps.best == (best and replace(best, rank=1))
    grasps.clear()
    assert grasps.best is None and not grasps


def test_what_does_not_come_to_rest_ranks_behind_what_does_and_numbers_before_guesses():
    order = [Grasp(3, 0.1, True, True), Grasp(0, 0.3, False, True), Grasp(2, 0.2, False, True),
             Grasp(1, 0.9, False, False)]
    assert sorted(reversed(order), key=rank_key) == order
