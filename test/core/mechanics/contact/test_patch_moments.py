"""Sums over the nodes of patches: definitions, numpy's own order, patches near each other."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.mechanics.contact.patch_moments import (
    AREA, CENTRE, COSINE, DEPTH, DIRECTION, FEW_NODES, FORCE, HERTZ_PEAK, INDENTATION, LEVER,
    near_others, pairwise_sum, PEAK, RESULTANT, SMOOTHING_REACH, smoothed_pressures,
    sum_patches, TORQUE, WORK)
from gripsim_ros.core.mechanics.contact.rocking_stiffness import (
    LANES, rigid_motion_fields, rocking_springs, tangent_basis)

RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-9, 1e-11
#: Nodes of patches: none, without load, few, many, and more patches than lanes.
SIZES = [5, 0, 2, FEW_NODES, 1, 3, FEW_NODES - 1, 4, 2, 9, 3, 2]

seeds = st.integers(0, 2 ** 32 - 1)


@pytest.mark.parametrize('count', [0, 1, 7, 8, 9, 127, 128, 129, 135, 136, 255, 257, 1000, 4099])
def test_sums_have_the_bits_of_numpys(count):
    rng = np.random.default_rng(count)
    values = rng.normal(size=count) * 10.0 ** rng.integers(-6, 6, count)
    assert pairwise_sum(values) == values.sum()


@pytest.mark.parametrize('ratio', [0.1, 3.0, 30.0])
def test_near_others_lie_patches_of_a_small_gap_on_one_side(ratio):
    rng = np.random.default_rng(3)
    points, normals = rng.uniform(-0.1, 0.1, (12, 3)), rng.normal(size=(12, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    radii = rng.uniform(1e-3, 1e-2, 12)
    gaps = np.linalg.norm(points[:, None] - points, axis=2) - radii[:, None] - radii
    near = (normals @ normals.T > 0.0) & (gaps < ratio * np.maximum(radii[:, None], radii))
    near &= ~np.eye(12, dtype=bool)
    assert_array_equal(near_others(points, normals, radii, ratio), near.any(axis=1))


def plain_pressures(points, areas, forces):
    """Return pressures smoothed twice by the weights of a parabola."""
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    reach = SMOOTHING_REACH ** 2 * np.maximum(areas, np.median(areas))
    weights = areas * np.maximum(1.0 - squares / reach[:, None], 0.0)
    weights /= weights.sum(axis=1)[:, None]
    means = weights @ (forces / areas)
    return means + weights @ (forces / areas - means)


@pytest.mark.nightly     # by day test_patch_resultants adds them up
@given(seeds)
@settings(max_examples=20)
def test_sums_of_patches_are_those_of_their_definitions(seed):
    rng = np.random.default_rng(seed)
    patches = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    count, wide = len(patches), len(patches) + 5
    points, normals = rng.uniform(-1.0, 1.0, (2, count, 3)) + [0.0, 0.0, 0.5]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    areas, depths, forces, shifts = rng.uniform(0.5, 2.0, (4, count))
    forces[patches == 5] = 0.0
    loaded, order = np.sort(rng.permutation(wide)[:count]), rng.permutation(count)
    own, root = rng.normal(size=(count, wide)), rng.normal(size=(count, count))
    compliance = root @ root.T + count * np.eye(count)
    factor = np.ascontiguousarray(np.linalg.cholesky(compliance[np.ix_(order, order)]).T)
    rows, counts, vectors, numbers, stiffness, rocking, tilting = sum_patches(
        (points, normals, areas, depths, patches), (forces, shifts, loaded),
        (factor, order, own), len(SIZES))
    assert_array_equal(rows, [i for i, size in enumerate(SIZES) if size and i != 5])
    assert_array_equal(counts, np.array(SIZES)[rows])
    for number, patch in enumerate(rows):
        part = np.flatnonzero(patches == patch)
        f, x, n = forces[part], points[part], normals[part]
        centre, resultant = f @ x / f.sum(), f @ n
        direction = resultant / np.linalg.norm(resultant)
        torque = np.cross(x - centre, f[:, None] * n).sum(axis=0)
        for row, wanted in ((CENTRE, centre), (DIRECTION, direction), (RESULTANT, resultant),
                            (TORQUE, torque)):
            assert_allclose(vectors[row, number], wanted, rtol=0.0, atol=ATOL_ROUNDOFF)
        tangents = tangent_basis(direction)
        fields = rigid_motion_fields(x, n, centre, direction, tangents)
        moves = np.zeros((count, LANES))
        moves[part, :5] = fields
        springs = rocking_springs(fields, areas[part], tangents,
                                  np.linalg.solve(factor.T, moves[order]))
        for found, wanted in zip((rocking, tilting), springs):
            assert_allclose(found[number], wanted, rtol=RTOL_ROUNDOFF, atol=ATOL_ROUNDOFF)
        added = np.linalg.solve(compliance, moves[:, 0])
        peak = (HERTZ_PEAK * f.sum() / areas[part].sum() if len(part) < FEW_NODES
                else plain_pressures(x, areas[part], f).max())
        for row, wanted in (
                (AREA, areas[part].sum()), (FORCE, f.sum()), (DEPTH, depths[part].max()),
                (LEVER, f @ np.linalg.norm(x - centre, axis=1)), (PEAK, peak),
                (COSINE, (n @ direction).min()), (INDENTATION, shifts[part].max()),
                (WORK, added @ (own.T @ added)[loaded])):
            assert_allclose(numbers[row, number], wanted, rtol=RTOL_ROUNDOFF, atol=ATOL_ROUNDOFF)
        for other, patch_pressed in enumerate(rows):
            here = np.flatnonzero(patches == patch_pressed)
            along = normals[here] @ vectors[DIRECTION, other]
            assert_allclose(stiffness[other, number], along @ added[here], rtol=RTOL_ROUNDOFF,
                            atol=ATOL_ROUNDOFF)


@given(seeds)
@settings(max_examples=20)
def test_pressures_are_smoothed_by_a_parabola_over_neighbours_twice(seed):
    rng = np.random.default_rng(seed)
    points, (areas, forces) = rng.uniform(-1.0, 1.0, (12, 3)), rng.uniform(0.1, 1.0, (2, 12))
    assert_allclose(smoothed_pressures(points, areas, forces),
                    plain_pressures(points, areas, forces), rtol=RTOL_ROUNDOFF)


def test_a_patch_whose_forces_cancel_has_the_direction_of_its_first_normal():
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    nodes = np.zeros((2, 3)), normals, np.ones(2), np.ones(2), np.zeros(2, int)
    vectors = sum_patches(nodes, (np.ones(2), np.ones(2), np.arange(2)),
                          (np.eye(2), np.arange(2), np.eye(2)), 1)[2]
    assert_array_equal(vectors[DIRECTION, 0], normals[0])
