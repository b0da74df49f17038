"""Displacements of the surface against sums over loads, vertex by vertex."""

from dataclasses import replace

from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from gripsim_ros.core.mechanics.contact.patch_resultants import summarise_patches
from gripsim_ros.core.mechanics.deformation.boussinesq import (
    boussinesq_displacements, INTERPOLATION_REACH, LONGEST_GAP, place_under_pads,
    slip_displacements, surface_loads, SurfaceLoads)
from hypothesis import given, settings, strategies as st
from lattice_cases import ball_under_pad, join
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

RTOL_ROUNDOFF = 1e-11
#: Second moments of a patch, a hundred of its radii away.
RTOL_LUMPED = 1e-3
MODULUS, NU = 3e5, 0.3

seeds = st.integers(0, 2 ** 32 - 1)


def units(rng, count):
    """Return unit vectors (n, 3)."""
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def random_loads(rng, counts=(3, 1, 4)):
    """Return patches of a few loads of 10 mm about places within 100 mm, nodes about these."""
    offsets = np.concatenate([[0], np.cumsum(counts)])
    count, places = offsets[-1], rng.uniform(-0.1, 0.1, (len(counts), 3))
    points = np.repeat(places, counts, axis=0) + rng.uniform(-5e-3, 5e-3, (count, 3))
    forces = rng.normal(size=(count, 3))
    totals = np.add.reduceat(forces, offsets[:-1])
    centres = places + rng.uniform(-5e-3, 5e-3, places.shape)
    return SurfaceLoads(
        points, forces, rng.uniform(1e-7, 1e-4, count), offsets, centres, totals,
        rng.uniform(1e-3, 2e-2, len(counts)), points, units(rng, count),
        rng.uniform(1e-5, 1e-4, count), rng.uniform(-1e-3, 1e-3, count),
        rng.choice([0.0, 1e3, 2e4], count))


def vertices_about(rng, loads, count=12):
    """Return vertices from beside a load to several hundred millimetres away."""
    chosen = loads.points[rng.integers(0, len(loads.points), count)]
    return chosen + rng.normal(size=(count, 3)) * rng.choice([2e-3, 1e-2, 0.2], (count, 1))


def sum_of(vertices, loads, part=slice(None)):
    """Return pi E* times the displacement (n, 3) under some loads, each for itself."""
    gaps = vertices[:, None] - loads.points[part]
    return (loads.forces[part] / np.sqrt((gaps ** 2).sum(axis=2) + loads.softening[part]
                                         )[:, :, None]).sum(axis=1)


@given(seeds)
@settings(max_examples=30)
def test_near_loads_count_one_by_one_and_far_patches_by_two_moments(seed):
    rng = np.random.default_rng(seed)
    loads, ratio = random_loads(rng), rng.uniform(2.0, 6.0)
    vertices = vertices_about(rng, loads)
    expected = np.zeros_like(vertices)
    for patch, centre in enumerate(loads.centres):
        part = slice(loads.offsets[patch], loads.offsets[patch + 1])
        arms, gaps = loads.points[part] - centre, vertices - centre
        radius = max(loads.radii[patch], np.linalg.norm(arms, axis=1).max())
        far = np.linalg.norm(gaps, axis=1) > ratio * radius
        expected[~far] += sum_of(vertices[~far], loads, part)
        lengths = np.linalg.norm(gaps[far], axis=1)[:, None]
        # 1/|x - r| = 1/|x| + x.r / |x|^3
        expected[far] += loads.totals[patch] / lengths + (
            gaps[far] @ arms.T / lengths ** 3) @ loads.forces[part]
    found = boussinesq_displacements(vertices, loads, MODULUS, ratio)
    assert_allclose(np.pi * MODULUS * found, expected, rtol=0.0,
                    atol=RTOL_ROUNDOFF * np.abs(expected).max())


@given(seeds)
@settings(max_examples=20)
def test_lumping_costs_little_far_away_and_nothing_nearby(seed):
    rng = np.random.default_rng(seed)
    loads = random_loads(rng)
    loads = replace(loads, softening=1e-3 * loads.softening)
    vertices = 3.0 * units(rng, 5)
    scale = np.abs(loads.forces).sum() / (np.pi * MODULUS * 3.0)
    exact = sum_of(vertices, loads) / (np.pi * MODULUS)
    assert_allclose(boussinesq_displacements(vertices, loads, MODULUS), exact, rtol=0.0,
                    atol=RTOL_LUMPED * scale)
    assert_allclose(boussinesq_displacements(vertices, loads, MODULUS, np.inf), exact, rtol=0.0,
                    atol=RTOL_ROUNDOFF * scale)


@given(seeds, st.floats(-0.5, 0.5))
@settings(max_examples=30)
def test_slip_leads_towards_loads_within_their_planes_and_along_the_surface(seed, nu):
    rng = np.random.default_rng(seed)
    loads = random_loads(rng)
    loads.forces[2] = 0.0  # pulls nothing, and has no plane
    loads.forces[1] *= 0.3
    vertices, normals = vertices_about(rng, loads), units(rng, 12)
    expected = np.zeros_like(vertices)
    for point, force, soft in zip(loads.points, loads.forces, loads.softening):
        if force.any():
            within = np.eye(3) - np.outer(force, force) / (force @ force)
            gaps = vertices - point
            expected -= np.linalg.norm(force) * (gaps @ within) / (
                (gaps ** 2).sum(axis=1) + soft)[:, None]
    expected *= (1.0 - 2.0 * nu) / (2.0 * (1.0 - nu) * np.pi * MODULUS)
    expected -= np.einsum('ij,ij,ik->ik', expected, normals, normals)
    found = slip_displacements(vertices, normals, loads, MODULUS, nu)
    assert_allclose(found, expected, rtol=0.0,
                    atol=RTOL_ROUNDOFF * max(np.abs(expected).max(), 1e-6))


@pytest.mark.nightly     # by day test_deformed_surface
@given(seeds)
@settings(max_examples=30)
def test_vertices_under_pads_are_placed_by_the_nodes_about_them(seed):
    rng = np.random.default_rng(seed)
    loads = random_loads(rng, rng.integers(1, 2 * LONGEST_GAP, 2))
    vertices, moved = vertices_about(rng, loads, 20), 1e-3 * rng.normal(size=(20, 3))
    found, touched, pressures = place_under_pads(vertices, moved, loads)
    for v, vertex in enumerate(vertices):
        squares = ((vertex - loads.node_points) ** 2).sum(axis=1)
        shares = squares / (INTERPOLATION_REACH ** 2 * loads.node_areas)
        weights = np.where(shares < 1.0, (1.0 - shares) ** 2, 0.0)
        under = weights[loads.node_pressures > 0.0].sum() > 0.5 * weights.sum()
        assert touched[v] == under
        if not under:
            assert pressures[v] == 0.0
            assert_array_equal(found[v], moved[v])
            continue
        weights /= weights.sum()
        normal = weights @ loads.node_normals
        normal /= np.linalg.norm(normal)
        wanted = moved[v] + (weights @ loads.node_displacements - moved[v] @ normal) * normal
        assert_allclose(found[v], wanted, rtol=0.0, atol=RTOL_ROUNDOFF * 1e-2)
        assert_allclose(pressures[v], weights @ loads.node_pressures, rtol=RTOL_ROUNDOFF)


def one_node(area, pressure=1e3):
    """Return loads with one node at the origin, which has sunk by 1 mm along z."""
    return replace(random_loads(np.random.default_rng(0), (1,)), node_points=np.zeros((1, 3)),
                   node_normals=np.array([[0.0, 0.0, 1.0]]), node_areas=np.array([area]),
                   node_displacements=np.array([1e-3]), node_pressures=np.array([pressure]))


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_a_node_speaks_for_what_lies_within_its_reach(axis, sign):
    reach = INTERPOLATION_REACH * 5e-3
    vertices = sign * reach * np.array([0.0, 0.01, 0.99, 1.01])[:, None] * np.eye(3)[axis]
    before = np.tile([4e-4, 5e-4, 6e-4], (4, 1))
    moved, touched, pressures = place_under_pads(vertices, before, one_node(2.5e-5))
    assert_array_equal(touched, [True, True, True, False])
    assert_allclose(pressures, [1e3, 1e3, 1e3, 0.0], rtol=RTOL_ROUNDOFF)
    assert_allclose(moved[:, 2], [1e-3, 1e-3, 1e-3, 6e-4], rtol=RTOL_ROUNDOFF)
    assert_allclose(moved[:, :2], before[:, :2], rtol=RTOL_ROUNDOFF)
    assert_array_equal(place_under_pads(vertices, before, one_node(2.5e-5, 1e-3))[1], touched)
    nothing = place_under_pads(vertices, before, one_node(2.5e-5, pressure=0.0))
    assert not nothing[1].any() and not nothing[2].any()
    assert_array_equal(nothing[0], before)


def test_a_solution_of_the_contact_problem_is_told_as_loads():
    nodes = join(*(ball_under_pad(0.04, [sign, 0.0, 0.0], 2e-3, 0.01, 12) for sign in (1, -1)))
    solution = solve_contact_forces(nodes, MODULUS, {})
    results = summarise_patches(nodes, solution, NU, {})
    loads = surface_loads(nodes, solution, results, 0.2)
    rows = solution.rows[solution.loaded]
    assert_array_equal(loads.points, nodes.points[rows])
    assert_allclose(np.linalg.norm(loads.forces, axis=1), solution.forces[solution.loaded],
                    rtol=RTOL_ROUNDOFF)
    assert (np.einsum('ij,ij->i', loads.forces, nodes.normals[rows]) > 0.0).all()
    # What a node is away from itself: its own column of the kernel, twice an area's softening.
    assert_allclose(loads.softening, 0.2 * (nodes.areas[rows] + nodes.areas[rows]) / np.pi,
                    rtol=RTOL_ROUNDOFF)
    assert_array_equal(loads.offsets, np.searchsorted(nodes.patches[rows], [0, 1, 2]))
    assert_allclose(loads.node_pressures * loads.node_areas, solution.forces,
                    rtol=RTOL_ROUNDOFF)
