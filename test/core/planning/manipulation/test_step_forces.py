"""The forces wanted at a step of a moved grasp: those of closing, with the grasp's reserve."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.manipulation.step_forces import StepForces
from gripsim_ros.library.in_process import planner_options

LINKS = (3, 6, 9)
#: A search by factors of at most 2.5 comes from one end of the forces to the other.
STEPS = 12


def state(forces, minimal, margin):
    """Return a state of three contacts with normal forces and minimal ones [N]."""
    values = {field.name: np.nan for field in fields(GraspState)}
    normals = np.tile([0.0, 0.0, 1.0], (3, 1))
    return GraspState(**{**values, 'links': np.array(LINKS), 'normals': normals,
                         'forces': np.asarray(forces)[:, None] * normals,
                         'minimal_envelope': np.asarray(minimal, float), 'margin': margin,
                         'capable': True, 'holds': margin >= 1.0})


@given(minimal=st.lists(st.floats(0.2, 5.0), min_size=3, max_size=3),
       first=st.floats(0.3, 4.0), strength=st.floats(0.3, 3.0))
@settings(max_examples=60, deadline=None)
def test_contacts_that_come_to_the_wanted_forces_end_at_the_least_with_the_reserve(
        minimal, first, strength):
    """Margins grow with the force: the ends are the middle of the band, or the minimal forces."""
    options, minimal = planner_options(), np.array(minimal)
    minimal = np.maximum(minimal, options.min_force_share * minimal.max())
    grasp = state(1.3 * minimal, minimal, 1.3)
    forces, level = StepForces(LINKS, grasp, options), first
    for _ in range(STEPS):
        forces.take(state(level * minimal, minimal, strength * level))
        wanted = forces.wanted
        assert forces.excess == pytest.approx(level * minimal.sum() / wanted.sum())
        level = wanted.sum() / minimal.sum()
        assert wanted == pytest.approx(level * minimal)
    low, high = options.margin_band
    assert level >= 1.0
    if strength < 1.0:
        assert low <= strength * level <= high * (1.0 + options.force_tolerance)
    elif strength > high:
        assert level == pytest.approx(1.0, abs=options.force_tolerance)


def test_a_grasp_with_less_than_the_reserve_is_asked_for_no_more():
    options, ones = planner_options(), np.ones(3)
    assert StepForces(LINKS, state(ones, ones, 2.0), options).reserve == options.margin_band[0]
    assert StepForces(LINKS, state(ones, ones, 1.05), options).reserve == 1.05


def test_where_no_forces_hold_the_wanted_ones_stay():
    ones = np.ones(3)
    forces = StepForces(LINKS, state(1.3 * ones, ones, 1.3), planner_options())
    before = list(forces.wanted)
    forces.take(replace(state(2.0 * ones, ones, 0.0), capable=False, minimal_envelope=ones * 0))
    assert list(forces.wanted) == before and forces.excess == 1.0
