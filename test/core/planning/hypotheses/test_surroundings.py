"""Hands among obstacles: distances to primitives, ways out, and things that stand on a table."""

import numpy as np
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plan_cases import plan_by_half_spaces
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import (
    OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE, OBSTACLE_WIDTH)
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.core.planning.hypotheses.hand_geometry import moving_fingers
from gripsim_ros.core.planning.hypotheses.prescreen import NO_TOUCH
from gripsim_ros.core.planning.hypotheses.primitives import within_region
from gripsim_ros.core.planning.hypotheses.surroundings import (
    ALWAYS, GROUP_PARTS, hand_sweep, HandSweep, link_points, primitive_distance, ways_out)
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.in_process import find_material, planner_options
from gripsim_ros.library.resources import load_default_hand

#: Of distances of some tenths of a metre [m].
ATOL_ROUNDOFF = 1e-12
#: Of the optimiser that looks for the nearest point [m].
ATOL_SEARCH = 1e-5
#: Step of difference quotients [m], and their error [-].
STEP, ATOL_GRADIENT = 1e-7, 1e-5
#: Table: side and thickness [m].
SIDE, THICKNESS = 0.6, 0.02
#: Hypotheses of a plan; of 200 there are more grasps.
FEW = 60
#: For a plan on a busy machine [s].
LONG = 600.0
#: Parts of a hand made up, in several balls of such.
PARTS = 2 * GROUP_PARTS + 3
#: Grasps that everything on a table has at least.
LEAST = 3

seeds = st.integers(0, 2 ** 32 - 1)
kinds = st.sampled_from([OBSTACLE_BOX, OBSTACLE_SPHERE, OBSTACLE_CYLINDER])


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


def random_primitive(rng, kind):
    """Return a primitive (16,) at a random pose."""
    pose = np.column_stack([Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix(),
                            rng.uniform(-0.2, 0.2, 3)])
    return np.concatenate([[kind], rng.uniform(0.05, 0.2, 3), pose.ravel()])


def table(mesh):
    """Return a table (1, 16) under a mesh."""
    row = np.zeros((1, OBSTACLE_WIDTH))
    row[0, :4] = OBSTACLE_BOX, SIDE, SIDE, THICKNESS
    row[0, [4, 9, 14]] = 1.0
    row[0, 15] = mesh.vertices[:, 2].min() - 0.5 * THICKNESS
    return row


@given(seeds, kinds)
def test_inside_is_where_the_distance_is_negative(seed, kind):
    rng = np.random.default_rng(seed)
    row, points = random_primitive(rng, kind), rng.uniform(-0.4, 0.4, (50, 3))
    distances = np.array([primitive_distance(row, p, np.empty(3)) for p in points])
    assert_array_equal(distances <= 0.0, within_region(points, row[None]))


@settings(max_examples=25)
@given(seeds, kinds)
def test_the_distance_is_that_to_the_nearest_point(seed, kind):
    rng = np.random.default_rng(seed)
    row, point, outward = random_primitive(rng, kind), rng.uniform(-0.4, 0.4, 3), np.empty(3)
    distance = primitive_distance(row, point, outward)
    assert_allclose(np.linalg.norm(outward), 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)
    on_it = point - distance * outward
    assert within_region(on_it[None], row[None], 1e-9).all()
    assert not within_region(on_it[None], row[None], -1e-9).any()
    if distance > 0.0:      # the primitives are convex: a search from anywhere ends there
        pose = row[4:].reshape(3, 4)
        found = minimize(lambda q: np.linalg.norm(pose[:, :3] @ into(row, q) + pose[:, 3] - point),
                         np.zeros(3), method='Nelder-Mead',
                         options={'xatol': 1e-10, 'fatol': 1e-10, 'maxiter': 4000})
        assert distance <= found.fun + ATOL_SEARCH


def into(row, local):
    """Return the point of a primitive nearest to one in its own frame (3,)."""
    kind, sizes = row[0], row[1:4]
    if kind == OBSTACLE_BOX:
        return np.clip(local, -0.5 * sizes, 0.5 * sizes)
    if kind == OBSTACLE_SPHERE:
        return local * min(1.0, sizes[0] / max(np.linalg.norm(local), 1e-300))
    flat = local[:2] * min(1.0, sizes[1] / max(np.linalg.norm(local[:2]), 1e-300))
    return np.append(flat, np.clip(local[2], -0.5 * sizes[0], 0.5 * sizes[0]))


@given(seeds, kinds)
def test_the_direction_out_is_the_gradient(seed, kind):
    rng = np.random.default_rng(seed)
    row, point, outward = random_primitive(rng, kind), rng.uniform(-0.4, 0.4, 3), np.empty(3)
    distance = primitive_distance(row, point, outward)
    further = primitive_distance(row, point + STEP * outward, np.empty(3))
    assert_allclose((further - distance) / STEP, 1.0, rtol=0.0, atol=ATOL_GRADIENT)


@settings(max_examples=30)
@given(seeds, st.floats(0.0, 0.1))
def test_the_way_out_is_that_of_the_deepest_point(seed, margin):
    rng = np.random.default_rng(seed)
    parts = [rng.uniform(-0.1, 0.1, 3) + rng.uniform(-0.02, 0.02, (5, 3)) for _ in range(PARTS)]
    owner = rng.integers(-1, 2, len(parts))
    steps = np.where(owner == ALWAYS, ALWAYS, rng.integers(1, 5, len(parts)))
    sweep = HandSweep.of(list(zip(owner, steps, parts)))
    rotations = Rotation.random(6, random_state=seed).as_matrix()
    origins, touch = rng.uniform(-0.3, 0.3, (6, 3)), rng.integers(NO_TOUCH, 4, (6, 2))
    obstacles = np.array([random_primitive(rng, kind) for kind in (1, 2, 3)])
    shifts = ways_out(transform(rotations, origins), touch, sweep, obstacles, margin)
    for n in range(6):
        counts = [p for p in range(len(parts)) if owner[p] == ALWAYS
                  or touch[n, owner[p]] == NO_TOUCH or steps[p] <= touch[n, owner[p]]]
        placed = np.concatenate([parts[p] for p in counts] or [np.full((1, 3), 10.0)]
                                ) @ rotations[n].T + origins[n]
        least = min(primitive_distance(row, point, np.empty(3))
                    for row in obstacles for point in placed)
        assert_allclose(np.linalg.norm(shifts[n]), max(0.0, margin - least), rtol=0.0,
                        atol=ATOL_ROUNDOFF)


def test_a_sweep_holds_the_approach_and_every_step_of_the_closing(hand):
    preshape, steps, way = hand.preshapes[0], 5, 0.1
    fingers = moving_fingers(hand, preshape)
    sweep = hand_sweep(hand, preshape, steps, way)
    middle = preshape.open + 0.5 * (preshape.closed - preshape.open)
    places = forward_kinematics(hand, np.array([preshape.open, middle]))
    tip = fingers[1].links[-1]
    points = link_points(hand.links[tip])
    held = [sweep.points[a:b] for a, b in zip(sweep.starts, sweep.starts[1:])]
    parts = [np.concatenate(held[a:b]) for a, b in zip(sweep.part_starts, sweep.part_starts[1:])]
    for chosen, expected in (
            (sweep.steps == ALWAYS, apply(places[0, tip], points) - [0.0, 0.0, way]),
            ((sweep.fingers == 1) & (sweep.steps == 2), apply(places[1, tip], points))):
        found = np.concatenate([parts[p] for p in np.flatnonzero(chosen)])
        distances = np.linalg.norm(found[:, None] - expected[None], axis=2)
        assert (distances.min(axis=0) < ATOL_ROUNDOFF).all()
    groups = [sweep.points, *(np.concatenate(parts[i:i + GROUP_PARTS])
                              for i in range(0, len(parts), GROUP_PARTS))]
    balls = [*zip(held, sweep.balls, strict=True), *zip(parts, sweep.parts, strict=True),
             *zip(groups, sweep.groups, strict=True)]
    for points, (*centre, radius) in balls:
        assert (np.linalg.norm(points - centre, axis=1) <= radius + ATOL_ROUNDOFF).all()


def test_hypotheses_know_the_table_and_come_from_several_sides(hand):
    can = GraspObject(shapes.cylinder(0.033, 0.09), find_material('foam'))
    found, _ = propose_hypotheses(can, hand, Task(obstacles=table(can.mesh)), planner_options(),
                                  200)
    assert len(found) == 200
    down = np.array([h.T_object_palm[2, 2] for h in found])     # -1: from above
    assert (down < -0.9).any() and (np.abs(down) < 0.5).any() and (down < 0.5).all()


@pytest.mark.parametrize('name, mesh, material', [
    ('flat box', shapes.box([0.05, 0.08, 0.02], 0.005), 'foam'),
    # By day laws/test_lifting_from_a_table lifts one.
    pytest.param('tomato', shapes.ellipsoid([0.035, 0.0355, 0.028], 0.004), 'ripe_fruit',
                 marks=pytest.mark.nightly),
    pytest.param('box', shapes.box([0.05, 0.06, 0.04], 0.005), 'foam', marks=pytest.mark.nightly),
    pytest.param('tall can', shapes.cylinder(0.033, 0.09, edge_length=0.006), 'foam',
                 marks=pytest.mark.nightly),
    pytest.param('cherry', shapes.sphere(0.01, 0.003), 'firm_fruit',
                 marks=pytest.mark.nightly)])
def test_things_on_a_table_have_grasps(name, mesh, material):
    task = Task(gravity_directions=[[0.0, 0.0, -1.0]], obstacles=table(mesh))
    result = plan_by_half_spaces(GraspObject(mesh, find_material(material)), task,
                                 hypotheses=FEW, budget=LONG)
    assert len(result.grasps) >= LEAST, (name, result.rejections, result.hint)
