"""A grasp tells the load that fails first, and that load alone gives its margin."""

from types import SimpleNamespace

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.grasp_theory.grasp_map import load_wrenches, turned_loads
from gripsim_ros.core.planning.ranking.assemble import limiting_load
from gripsim_ros.core.planning.task import Task
from gripsim_ros.core.transforms import apply, inverse, transform
from gripsim_ros.library.in_process import evaluate_grasps

RUBBER = Material(2e6, 0.45, 1100.0, 0.8)
HYPOTHESES = 6
#: The margin is found to 0.05 %, once with all loads and once with one.
RTOL_MARGIN = 2e-3


@pytest.fixture(scope='module')
def planned():
    """Return a box, off the axes of the planner's making, and its grasps under any gravity."""
    thing = GraspObject(shapes.box([0.05, 0.06, 0.08]), RUBBER)
    return thing, plan_by_half_spaces(thing, Task(), hypotheses=HYPOTHESES).grasps


def only(thing, force):
    """Return the task of one gravity, which pulls as a force does."""
    size = np.linalg.norm(force)
    return Task(gravity_directions=(force / size)[None],
                gravity=size / thing.mass_properties.mass)


@pytest.mark.slow
def test_the_limiting_load_alone_gives_the_margin(planned):
    thing, grasps = planned
    assert grasps
    for grasp in grasps:
        assert grasp.limiting_load is not None and grasp.margin < 5.0
        force, torque = np.split(grasp.limiting_load, 2)
        np.testing.assert_allclose(np.linalg.norm(force), 9.81 * thing.mass_properties.mass,
                                   rtol=1e-3)
        np.testing.assert_array_equal(torque, 0.0)
        pose = (grasp.T_object_palm, grasp.trajectory)
        both = [evaluate_grasps(thing, [pose], only(thing, sign * force))[0]
                for sign in (1.0, -1.0)]
        np.testing.assert_allclose(both[0].margin, grasp.margin, rtol=RTOL_MARGIN)
        np.testing.assert_allclose(both[0].limiting_load[:3], force, rtol=0, atol=1e-9)
        assert both[1].margin >= grasp.margin * (1.0 - RTOL_MARGIN)


@given(seed=st.integers(0, 10**6))
def test_a_load_is_that_of_the_settled_object_seen_from_where_it_was_found(seed):
    rng = np.random.default_rng(seed)
    cases, mass, worst = rng.normal(size=(4, 9)), rng.uniform(0.05, 2.0), int(rng.integers(4))
    centre = rng.normal(size=3)
    T_found_settled = transform(Rotation.random(random_state=seed).as_matrix(),
                                rng.normal(size=3))
    told = limiting_load(SimpleNamespace(worst_case=worst, centre_of_mass=centre),
                         T_found_settled, SimpleNamespace(load_cases=cases, mass=mass))
    settled = np.concatenate([np.zeros(3), Rotation.from_matrix(
        T_found_settled[:3, :3]).as_rotvec()])
    wrench = load_wrenches(turned_loads(cases, settled), mass,
                           apply(inverse(T_found_settled), centre[None])[0])[worst]
    turned = wrench.reshape(2, 3) @ T_found_settled[:3, :3].T
    np.testing.assert_allclose(told, turned.ravel(), atol=1e-12)


def test_without_a_load_examined_there_is_none():
    reference = SimpleNamespace(load_cases=np.zeros((2, 9)), mass=1.0)
    for worst in (-1, 2):
        state = SimpleNamespace(worst_case=worst, centre_of_mass=np.zeros(3))
        assert limiting_load(state, np.eye(4), reference) is None
