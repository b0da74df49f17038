"""The best of the grasps that hold, while they come, change and go."""

from dataclasses import dataclass, replace
import random
from types import SimpleNamespace

import pytest

from gripsim_ros.core.planning.ranking.assemble import (
    bending_warnings, StableGrasps, rank_key)

#: Of docs/validation/finite_elements.md: depth of the thumb [mm], shift by the own compliance,
#: and how far that is from finite elements with friction [µm].
SHIFTS = [(1.5, 0.9, 0.4), (4.5, 4.2, 3.7), (1.5, 1.7, 0.2), (4.4, 5.3, 2.8), (1.3, 24.2, 9.7),
          (3.0, 95.9, 42.2), (5.3, 268.8, 107.8), (1.6, 8.8, 1.7), (4.8, 46.7, 9.5)]


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


@pytest.mark.parametrize('deep, shift, off', SHIFTS)
def test_a_shift_that_friction_turns_has_a_warning(deep, shift, off):
    state = SimpleNamespace(own_compliance=True, centre_shift=1e-6 * shift,
                            max_displacement=1e-3 * deep)
    wrong = off > 10.0 and off > 0.2 * shift
    assert len(bending_warnings(state)) == wrong
    state.own_compliance = False
    assert bending_warnings(state) == ()
