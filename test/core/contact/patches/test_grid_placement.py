"""Windows of lattices against the plain formulas."""

from gripsim_ros.core.bodies.oriented_box import OrientedBox
from gripsim_ros.core.contact.patches.grid_placement import (
    COARSE_COUNT, MAX_PER_SIDE, MAX_POINTS, REFINED_COUNT, STEP_TOLERANCE, coarse_grid,
    fitted_grid, grid_frame, refined_grid)
from gripsim_ros.core.contact.patches.sampling_grid import SamplingGrid, mask_near
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation

RTOL = 1e-12


def rotation(seed):
    return Rotation.random(random_state=seed).as_matrix()


@pytest.mark.parametrize('seed', range(8))
def test_a_frame_follows_the_axis_that_is_not_along_the_normal(seed):
    axes = rotation(seed)
    normal = axes[:, 0] if seed % 2 else rotation(seed + 100)[0]
    axis = axes[:, 0] if abs(axes[:, 0] @ normal) < 0.9 else axes[:, 1]
    u = axis - normal * (axis @ normal)
    u /= np.linalg.norm(u)
    assert_allclose(grid_frame(normal, axes), [u, np.cross(normal, u), normal],
                    rtol=0.0, atol=1e-15)


@pytest.mark.parametrize('seed', range(10))
def test_the_first_lattice_covers_its_region(seed):
    rng = np.random.default_rng(seed)
    half = rng.uniform(1e-4 if seed % 2 else 5e-3, 1e-2, 3) * (1.0, 1.0 + 30.0 * (seed == 3), 1.0)
    box, frame = OrientedBox(rotation(seed), rng.normal(size=3), half), rotation(seed + 50)
    if seed >= 8:     # a strip along one axis of the lattice
        box = OrientedBox(frame, box.centre, np.roll([0.2, 0.005, 0.005], seed - 8))
    window, behind = coarse_grid(box.axes, box.centre, box.half_lengths, frame)
    local = box.corners() @ frame.T
    lower, upper = local.min(axis=0), local.max(axis=0)
    size = upper - lower
    spacing = max(np.sqrt(size[0] * size[1] / COARSE_COUNT), 4.0 * size[:2].max() / MAX_PER_SIDE)
    counts = (size[:2] / spacing + STEP_TOLERANCE).astype(int) + 2
    assert_allclose(behind, np.linalg.norm(size) / 2.0, rtol=RTOL)
    assert_allclose(window.spacing, spacing, rtol=RTOL)
    assert window.mask.shape == tuple(counts) and window.mask.all()
    assert_allclose(window.start, (lower + upper)[:2] / 2.0 - 0.5 * spacing * (counts - 1))
    assert (window.heights - lower[2] < 0.0).tolist() == [True, False]
    assert (window.heights - upper[2] > 0.0).tolist() == [False, True]


@pytest.mark.nightly     # by day test_patch samples on such grids
@pytest.mark.parametrize('seed', range(8))
def test_the_last_lattice_holds_the_nodes_and_a_margin(seed):
    rng = np.random.default_rng(seed)
    count, frame, axes, spacing = 30, rotation(seed), rotation(seed + 9), 1e-3
    points = rng.uniform(-5e-3, 5e-3, (count, 3)) * (1.0, 20.0 if seed == 5 else 1.0, 0.1) @ frame
    lean = {6: 0.9, 7: 1.2}.get(seed, 0.0)     # of the contact from the old lattice [rad]
    normals = (np.cos(lean) * frame[2] + np.sin(lean) * frame[0]
               + rng.normal(size=(count, 3)) * 0.1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    depths = rng.uniform(-1e-3, 1e-3, count)
    own = np.flatnonzero(depths > 0.0)
    window, deepest = fitted_grid(points, normals, depths, own, frame, spacing, axes, 70)
    total = depths[own] @ normals[own]
    turned = grid_frame(total / np.linalg.norm(total), axes)
    local = points[own] @ turned.T
    centre = np.average(local[:, :2], axis=0, weights=depths[own])
    area = len(own) * spacing ** 2 / max(turned[2] @ frame[2], 0.5)
    radius = np.sqrt(area / (2.0 * np.pi))
    before = centre - local[:, :2].min(axis=0) + radius + 0.5 * spacing
    after = local[:, :2].max(axis=0) - centre + radius + 0.5 * spacing
    size = before + after
    wanted = max(np.sqrt(area / 70), np.sqrt(size.prod() / MAX_POINTS), size.max() / MAX_PER_SIDE)
    assert deepest == depths.max()
    assert_allclose(window.frame, turned, rtol=0.0, atol=1e-15)
    assert_allclose(window.spacing, wanted, rtol=RTOL)
    first = np.ceil(before / wanted - STEP_TOLERANCE)
    assert_allclose(window.start, centre - first * wanted, rtol=0.0, atol=1e-15)
    assert window.mask.shape == tuple((first + np.ceil(after / wanted
                                                       - STEP_TOLERANCE)).astype(int) + 1)
    assert_array_equal(window.mask, mask_near(local, window.start, window.spacing,
                                              window.mask.shape, radius + spacing))
    reach = size.max() + deepest
    assert_allclose(window.heights, [local[:, 2].min() - reach, local[:, 2].max() + reach],
                    rtol=RTOL)


@pytest.mark.parametrize('seed', range(8))
def test_a_zoom_covers_the_cells_round_a_spot_and_shares_its_middle(seed):
    rng = np.random.default_rng(seed)
    old = SamplingGrid(rotation(seed), rng.normal(size=2), rng.uniform(1e-3, 1e-2),
                       rng.normal(size=2), np.ones((1, 1), bool))
    first = rng.integers(0, 9, 2)
    last = first + rng.integers(0, 5, 2)
    window = refined_grid(*old[:4], np.column_stack([first, last]).ravel())
    lower, upper = (old.start + cells * old.spacing for cells in (first - 1.5, last + 1.5))
    spacing = (upper - lower).max() / (REFINED_COUNT - 1)
    steps = np.array(window.mask.shape) - 1
    assert_allclose(window.spacing, spacing, rtol=RTOL)
    assert_allclose(window.start + 0.5 * steps * spacing, (lower + upper) / 2.0)
    assert_array_equal(steps, np.floor((upper - lower) / spacing + STEP_TOLERANCE) + 1)
    assert window.mask.all()
    assert_array_equal(window.frame, old.frame)
    assert_array_equal(window.heights, old.heights)
