"""Limits of closing: which links pass them, and when no more force can be had."""

from types import SimpleNamespace

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import rejections
from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.closing.limits import ClosingLimits, ContactCompliance

LIMITS = ClosingLimits(1.0, ContactCompliance(1e6), max_pressure=1e5, force_limit=4.0)


def state_of(forces, peaks=(1e4, 1e4, 1e4)):
    """Return a state whose first two patches are of link 2, the third of link 7."""
    state = SimpleNamespace(links=np.array([2, 2, 7]), normal_forces=np.array(forces),
                            peak_pressures=np.array(peaks))
    state.normal_forces_by_link = GraspState.normal_forces_by_link.func(state)
    return state


def test_a_link_passes_its_limit_with_the_sum_of_its_patches():
    assert not len(LIMITS.links_beyond(state_of([2.0, 1.9, 3.9])))
    assert set(LIMITS.links_beyond(state_of([2.0, 2.1, 3.9]))) == {2}
    assert set(LIMITS.links_beyond(state_of([0.1, 0.1, 0.1], (1e4, 1e4, 2e5)))) == {7}


@pytest.mark.parametrize('forces, wanted, reason', [
    ([3.0, 3.0], [3.5, 3.5], ''),                               # there is room
    ([3.7, 3.0], [5.0, 3.5], rejections.EXCESSIVE_FORCE),       # as hard as may be, and not enough
    ([3.0, 3.0], [5.0, 3.5], ''),                               # not yet as hard as may be
    ([4.1, 3.0], [3.5, 3.5], '')])                              # too hard, yet less is wanted
def test_closing_ends_where_more_force_is_wanted_than_a_link_may_press_with(
        forces, wanted, reason):
    state = state_of([forces[0] / 2, forces[0] / 2, forces[1]])
    assert LIMITS.reason_to_end(state, np.array(forces), dict(zip((2, 7), wanted))) == reason


def test_planned_forces_stay_below_the_limit_of_a_link_or_the_numbers_are_told():
    def planned(limit):
        stuff = Material(1e6, 0.4, 1000.0, 0.5, max_force=limit)
        return plan_by_half_spaces(GraspObject(shapes.sphere(0.035, 0.01), stuff), hypotheses=4)

    def largest(grasp):
        return max(sum(float(c.closing_force @ c.normal) for c in grasp.contacts if c.link == link)
                   for link in {c.link for c in grasp.contacts})
    free = planned(np.inf).grasps[0]
    limit = 1.3 * largest(free)         # forces grow as the load sets in
    bound = planned(limit).grasps[0]
    assert largest(bound) < limit and bound.margin >= 1.0
    assert bound.damage_margin == pytest.approx(limit / largest(bound), rel=1e-9)
    for share in (0.3, 0.8):
        refused = planned(share * largest(free))
        assert not refused.grasps
        assert refused.hint.startswith('too fragile: ') and 'of a link' in refused.hint
