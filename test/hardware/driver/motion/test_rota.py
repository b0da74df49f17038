"""Questions in their turn: none is forgotten, and on a slow link one makes a cycle longer."""

import numpy as np
import pytest

from gripsim_ros.hardware.driver.motion.rota import EVEN, Rota

#: After how long each question is due again [s].
PERIODS = {'states': 0.2, 'heat': 1.0, 'controller': 1.0}


def test_all_that_is_due_is_asked_where_there_is_time():
    rota = Rota(PERIODS, 0.0)
    assert rota.choose(0.0, False) == list(PERIODS)
    assert rota.choose(0.1, False) == []
    assert rota.choose(0.11, False, 'states') == ['states']
    assert rota.choose(0.3, False) == [] and rota.choose(0.32, False) == ['states']
    assert rota.loads(0.32, False) == EVEN


@pytest.mark.parametrize('seed', range(5))
def test_on_a_slow_link_one_is_asked_a_cycle_as_was_told_before(seed):
    draw, rota, now = np.random.default_rng(seed), Rota(PERIODS, 0.0), 0.0
    last, told, longest = dict.fromkeys(PERIODS, 0.0), None, 0.15
    for _ in range(300):
        chosen = rota.choose(now, True)
        assert len(chosen) <= 1 and told in (None, len(chosen))
        for one in chosen:
            assert now - last[one] < PERIODS[one] + (1 + len(PERIODS)) * longest
            last[one] = now
        this, following = rota.loads(now, True)
        assert this == 1.0 + 0.5 * len(chosen)
        told = round(2.0 * (following - 1.0))
        now += draw.uniform(0.05, longest)
    assert min(last.values()) > now - 2.0


def test_what_was_chosen_is_asked_also_where_the_link_is_slow_no_more():
    rota = Rota(PERIODS, 0.0)
    rota.choose(0.0, True)
    assert rota.loads(0.0, True) == (1.5, 1.5)
    assert rota.choose(0.1, False) == ['heat'] and rota.choose(0.1, False) == ['controller']
