"""Which preshape's way of closing given joints belong to."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.planning.hypotheses.closing_ways import nearest_preshape, way_of_finger
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()


@pytest.mark.parametrize('share', [0.0, 0.3, 1.0])
@pytest.mark.parametrize('number', range(len(HAND.preshapes)))
def test_joints_on_the_way_of_a_preshape_close_by_it(number, share):
    own = HAND.preshapes[number]
    joints = own.open + share * (own.closed - own.open)
    found = HAND.preshapes[nearest_preshape(HAND, joints)]
    spread = np.abs(own.closed - own.open) < 1e-9
    assert_allclose(found.open[spread], own.open[spread])     # the pivot decides first
    way = found.closed - found.open
    on_it = (joints - found.open) @ way / (way @ way)
    assert_allclose(found.open + np.clip(on_it, 0.0, 1.0) * way, joints, atol=1e-9)


def test_of_preshapes_that_move_a_finger_the_nearest_tells_its_way():
    thumb = [5, 6]
    for own in HAND.preshapes:
        if (own.closed != own.open)[thumb].any():
            joints = own.open + 0.25 * (own.closed - own.open)
            way = way_of_finger(HAND, thumb, joints)
            on_it = [p for p in HAND.preshapes
                     if np.allclose(p.closed[thumb] - p.open[thumb], way)]
            past = [joints[thumb] - p.open[thumb] for p in on_it]
            assert min(abs(x * way[1] - y * way[0]) for x, y in past) < 1e-9
        else:
            assert (way_of_finger(HAND, thumb, own.open) != 0.0).any()
