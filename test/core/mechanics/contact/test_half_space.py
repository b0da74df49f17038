"""Compliance between nodes: half-space and pad against sums, and a layer's own equations."""

from gripsim_ros.core.mechanics.contact import bonded_layer, half_space
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.linalg import expm, null_space

RTOL_ROUNDOFF = 1e-12
#: A growing and a falling exponential of half a dozen thicknesses, in one matrix.
RTOL_LAYER = 1e-7
#: Gradient of a fit, of the size of its terms: its normal equations are ill-conditioned.
RTOL_FIT = 1e-9
LAYER = 3e6, 2e-3 * bonded_layer.IMAGE_DEPTHS, np.array([0.5, -0.8, 2.0, 0.3, -1.0])

seeds = st.integers(0, 2 ** 32 - 1)


def random_nodes(seed, count):
    """Return points, unit normals, areas, and the generator."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return rng.normal(scale=2e-3, size=(count, 3)), normals, rng.uniform(1e-7, 4e-6, count), rng


def squares_between(points):
    """Return the squared distances (n, n)."""
    return ((points[:, None] - points) ** 2).sum(axis=2)


def assert_close(found, expected):
    """Compare within round-off of the largest entry."""
    assert_allclose(found, expected, rtol=0.0, atol=RTOL_ROUNDOFF * np.abs(expected).max())


@given(seeds, st.integers(1, 9), st.floats(0.01, 1.0))
@settings(max_examples=30)
def test_rows_of_the_object_are_those_of_softened_distances(seed, count, softening):
    points, normals, areas, rng = random_nodes(seed, count)
    squares = squares_between(points) + softening * (areas[:, None] + areas) / np.pi
    expected = normals @ normals.T / (np.pi * 2e5 * np.sqrt(squares))
    rows = np.arange(len(points))
    assert_close(half_space.half_space_rows(rows, points, normals, areas, 2e5, softening),
                 expected)
    rows = rng.integers(0, count, 4)
    assert_close(half_space.half_space_rows(rows, points, normals, areas, 2e5, softening),
                 expected[rows])
    radii = bonded_layer.softening_radii(areas, softening)
    assert_allclose(expected.diagonal() * np.pi * 2e5 * radii, 1.0, rtol=RTOL_ROUNDOFF)


@given(seeds, st.sampled_from([1, 2, 7, bonded_layer.TILE, bonded_layer.TILE + 3]),
       st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=15)
def test_a_pad_adds_its_images_between_its_own_nodes_alone(seed, count, sharing):
    points, normals, areas, rng = random_nodes(seed, count)
    radii = np.sqrt(areas)
    rows = np.sort(rng.choice(count + 3, count, replace=False))
    before = rng.normal(size=(count + 3, count + 3))
    before += before.T
    soft, squares = 0.5 * (radii[:, None] + radii), squares_between(points)
    modulus, depths, weights = LAYER
    part = 1.0 / np.sqrt(squares + soft ** 2)
    for depth, weight in zip(depths, weights):
        part = part - weight / np.sqrt(squares + (depth + sharing * soft) ** 2)
    # The pad's part is as large as what it is added to.
    before *= np.abs(part).max() / (np.pi * modulus)
    expected = before.copy()
    expected[np.ix_(rows, rows)] += normals @ normals.T * part / (np.pi * modulus)
    found = before.copy()
    bonded_layer.add_layer_compliance(found, rows, points, normals, radii, LAYER, sharing)
    assert_close(found, expected)
    assert_array_equal(found, found.T)
    others = np.setdiff1d(np.arange(count + 3), rows)
    assert_array_equal(found[others], before[others])


@given(seeds, st.integers(1, 40), st.booleans())
@settings(max_examples=20)
def test_a_pad_is_added_on_the_plane_of_its_nodes(seed, count, safe):
    points, normals, areas, rng = random_nodes(seed, count + 2)
    rows = np.sort(rng.choice(count + 2, count, replace=False))
    layer = bonded_layer.fit_layer(1e6, 0.45, 2e-3)
    mean = (normals[rows] * areas[rows, None]).sum(axis=0)
    mean = mean / np.sqrt((mean * mean).sum())
    flat = points[rows] - (points[rows] * mean).sum(axis=1)[:, None] * mean
    radii = bonded_layer.softening_radii(areas[rows], half_space.GRID_SOFTENING)
    images = layer.modulus, layer.depths, layer.weights
    found, expected = np.zeros((2, count + 2, count + 2))
    sharing = 1.0 if safe else bonded_layer.image_sharing(layer.depths, layer.weights, radii)
    bonded_layer.add_layer_compliance(expected, rows, flat, normals[rows], radii, images, sharing)
    bonded_layer.add_pad(found, rows, (points, normals, areas), half_space.GRID_SOFTENING,
                         images, safe)
    assert_array_equal(found, expected)


@pytest.mark.parametrize('count', [1, bonded_layer.TILE, 2 * bonded_layer.TILE + 5])
def test_all_that_is_left_of_the_diagonal_is_mirrored(count):
    rows = np.append(np.arange(1, count), count + 1)
    wanted = np.arange((count + 2.0) ** 2).reshape(count + 2, count + 2)
    matrix, lower = wanted.copy(), np.tril(wanted[np.ix_(rows, rows)])
    matrix[np.ix_(rows, rows)] = np.where(np.tri(count), lower, np.nan)
    bonded_layer._symmetrise(matrix, rows)
    wanted[np.ix_(rows, rows)] = lower + np.tril(lower, -1).T
    assert_array_equal(matrix, wanted)


def compliance_of_layer(wave, nu):
    """
    Return what a bonded layer of thickness 1 yields under a wave of pressure, over a half-space.

    ``(U sin kx, W cos kx)`` in Navier's equations of plane strain, an initial value problem in
    depth: pressure 1 and no shear at the top, no displacement at the bottom; E = 1.
    """
    free, both = 1.0 - 2.0 * nu, 2.0 * (1.0 - nu)
    system = np.zeros((4, 4))  # of U, W, U', W'
    system[:2, 2:] = np.eye(2)
    system[2, [0, 3]] = both * wave ** 2 / free, wave / free
    system[3, [1, 2]] = free * wave ** 2 / both, -wave / both
    top = np.zeros((4, 2))  # by U and W there
    top[[0, 1, 2], [0, 1, 1]] = 1.0, 1.0, wave
    top[3, 0] = -nu * wave / (1.0 - nu)
    pressed = np.array([0.0, 0.0, 0.0, -(1.0 + nu) * free / (1.0 - nu)])
    bottom = expm(system)[:2]
    sunk = np.linalg.solve(bottom @ top, -bottom @ pressed)[1]
    return sunk * wave / (2.0 * (1.0 - nu ** 2))


@given(st.floats(0.02, 6.0), st.floats(-0.9, 0.49))
@settings(max_examples=40)
def test_the_transform_of_a_layer_solves_its_equations(wave, nu):
    assert_allclose(bonded_layer.layer_transform(np.array([wave]), nu),
                    [compliance_of_layer(wave, nu)], rtol=RTOL_LAYER)
    assert_allclose(bonded_layer.layer_transform(np.array([0.0, 40.0]), nu), [0.0, 1.0],
                    rtol=0.0, atol=RTOL_ROUNDOFF)


@given(st.floats(-0.5, 0.499), st.floats(1e5, 1e7), st.floats(5e-4, 2e-2))
@settings(max_examples=30)
def test_images_fit_a_layer_best_of_those_that_are_right_at_long_waves(nu, young, thickness):
    layer = bonded_layer.fit_layer(young, nu, thickness)
    used = layer.poisson_ratio
    assert_allclose(layer.depths, thickness * bonded_layer.IMAGE_DEPTHS, rtol=RTOL_ROUNDOFF)
    assert_allclose([layer.modulus, layer.shear_modulus, layer.thickness],
                    [young / (1.0 - used ** 2), young / (2.0 + 2.0 * used), thickness],
                    rtol=RTOL_ROUNDOFF)
    confined = thickness * (1.0 + used) * (1.0 - 2.0 * used) / (young * (1.0 - used))
    tolerance = RTOL_FIT * np.abs(layer.weights).sum()
    assert_allclose(layer.weights.sum(), 1.0, rtol=tolerance)
    assert_allclose(2.0 * (layer.weights @ layer.depths) / layer.modulus, confined,
                    rtol=0.0, atol=tolerance * thickness / layer.modulus)
    transform = bonded_layer.layer_transform(bonded_layer._FIT_NUMBERS, used)
    terms = np.exp(-np.outer(bonded_layer._FIT_NUMBERS, bonded_layer.IMAGE_DEPTHS))
    terms /= (transform + bonded_layer._FIT_FLOOR)[:, None]
    goals = (1.0 - transform) / (transform + bonded_layer._FIT_FLOOR)
    ways = null_space(np.stack([np.ones(5), bonded_layer.IMAGE_DEPTHS]))
    gradient = ways.T @ terms.T @ (terms @ layer.weights - goals)
    assert_allclose(gradient, 0.0, atol=tolerance * (terms ** 2).sum())


@given(st.floats(-0.9, 0.48), st.floats(1e5, 1e7))
@settings(max_examples=20)
def test_a_layer_is_as_compressible_as_its_confined_modulus_may_be(nu, young):
    largest = bonded_layer.CONFINED_MODULUS_RATIO
    for wanted, confined in ((nu, False), (0.49, True), (0.4999, True)):
        used = bonded_layer.fit_layer(young, wanted, 1e-3).poisson_ratio
        ratio = (1.0 - used) / ((1.0 + used) * (1.0 - 2.0 * used))
        assert used < wanted if confined else used == wanted
        assert abs(ratio - largest) < 1e-9 * largest if confined else ratio <= largest


def test_images_share_the_radii_only_where_a_lattice_is_coarser_than_its_layer():
    layer = bonded_layer.fit_layer(2e6, 0.3, 1e-3)
    length = bonded_layer.SHARING_SAFETY * float(layer.weights @ layer.depths)
    for coarse, share in ((0.5, 0.0), (0.999, 0.0), (1.25, 0.2), (4.0, 0.75)):
        radii = length * np.array([0.1, coarse, 0.3])
        found = bonded_layer.image_sharing(layer.depths, layer.weights, radii)
        assert_allclose(found, share, atol=RTOL_ROUNDOFF)
