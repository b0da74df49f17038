"""Contact on regular grids: closed forms, complementarity, and the nodal solution."""

from benchmarks.mechanics import flat_grid
from benchmarks.mechanics.flat_grid import rectangle_potential, solve_flat_contact
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from lattice_cases import one_patch

MODULUS, RADIUS, DEPTH = 1e5, 8e-3, 1e-3
CONTACT_RADIUS = np.sqrt(RADIUS * DEPTH)

ATOL_PRINTED_6_DIGITS = 1e-6
RTOL_ROUNDOFF = 1e-9
#: Of Hertz' force and peak pressure, 64 cells on three contact radii.
RTOL_GRID = 5e-4
RTOL_GRID_AREA = 0.02
RTOL_GRID_OUTSIDE = 1e-3
#: Of a punch's force on grids of 64 to 256 cells a side, of 0.012 m.
RTOL_GRID_PUNCH = 0.005
#: The singular edge makes a punch of cells act as one narrower by this part of a cell: of 340
#: radii and places on three grids between 0.1026 and 0.1239, on average 0.115.
EDGE_SHARE, ATOL_EDGE_SHARE = 0.115, 0.013
#: Steps of the edge of a disc of squares.
RTOL_DISC = 1e-3
RTOL_NODAL = 2e-3


def grid(count, width):
    """Return the middles of the cells of a square grid about the origin, and their side."""
    side = width / count
    return (np.arange(count) + 0.5) * side - 0.5 * width, side


def hertz_depths(count):
    """Return depths under a paraboloid on a grid three contact radii wide, and its side."""
    x, side = grid(count, 3.0 * CONTACT_RADIUS)
    return DEPTH - (x[:, None] ** 2 + x[None] ** 2) / (2.0 * RADIUS), side


def rough(seed, shape, spread=1.0):
    """Return the depths of a rough surface pressed on a half-space."""
    rng = np.random.default_rng(seed)
    return 1e-4 * (spread * rng.normal(size=shape) + rng.normal())


def love_matrix(shape, spacing, modulus):
    """Return the compliance (n, n) between pressures and displacements of all cells."""
    x, y = (np.arange(count) * side for count, side in zip(shape, spacing))
    p = np.stack(np.meshgrid(x, y, indexing='ij'), axis=-1).reshape(-1, 2)
    between = p[:, None] - p[None]
    return rectangle_potential(between[..., 0], between[..., 1], 0.5 * spacing[0],
                               0.5 * spacing[1]) / (np.pi * modulus)


@pytest.mark.parametrize('x, y, value', [(0.0, 0.0, 4.812118), (1.0, 0.5, 2.406059),
                                         (1.5, 0.4, 1.460867)])
def test_a_rectangle_has_loves_potential(x, y, value):
    found = rectangle_potential(np.array(x), np.array(y), 1.0, 0.5)
    assert_allclose(found, value, rtol=0, atol=ATOL_PRINTED_6_DIGITS)


def test_the_middle_of_a_rectangle_has_its_closed_form():
    a, b = 1.7, 0.4
    expected = 4.0 * (a * np.arcsinh(b / a) + b * np.arcsinh(a / b))
    assert_allclose(rectangle_potential(np.zeros(1), np.zeros(1), a, b), expected,
                    rtol=RTOL_ROUNDOFF)


def triangle_potential(corners, point):
    """Return the integral of 1/r over a triangle from a point in its plane (by edges)."""
    total = 0.0
    for k in range(3):
        start, end = corners[k] - point, corners[(k + 1) % 3] - point
        along = (end - start) / np.hypot(*(end - start))
        height = start @ [along[1], -along[0]]
        if abs(height) > 1e-14:
            total += height * (np.arcsinh(end @ along / abs(height))
                               - np.arcsinh(start @ along / abs(height)))
    return total


@pytest.mark.parametrize('point, value', [((0.4, 0.3), 2.3088982), ((0.0, 0.0), 1.0997096),
                                          ((1.7, 0.5), 0.3457091)])
def test_a_triangle_has_the_published_potential(point, value):
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.2, 0.9]])
    assert_allclose(triangle_potential(corners, np.array(point)), value, rtol=0, atol=1e-7)


@given(x=st.floats(-3.0, 3.0), y=st.floats(-3.0, 3.0))
def test_two_triangles_have_the_potential_of_their_rectangle(x, y):
    corners = np.array([[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5]])
    halves = sum(triangle_potential(corners[rows], np.array([x, y]))
                 for rows in ([0, 1, 2], [0, 2, 3]))
    assert_allclose(rectangle_potential(np.array(x), np.array(y), 1.0, 0.5), halves,
                    rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('radius, value', [(0.0, 1.82), (1.0, 1.158648)])
def test_an_even_pressure_on_a_disc_moves_middle_and_edge_as_published(radius, value):
    # p = a = E = 1, nu = 0.3 (Johnson 1985, section 3.4b).
    x, side = grid(400, 2.0)
    inside = x[:, None] ** 2 + x[None] ** 2 < 1.0
    cells = rectangle_potential(x[:, None] - radius, x[None], 0.5 * side, 0.5 * side)
    moved = cells[inside].sum() / np.pi * (1.0 - 0.3 ** 2)
    assert_allclose(moved * np.pi / (inside.sum() * side ** 2), value, rtol=RTOL_DISC)


def test_an_even_pressure_on_a_disc_moves_its_mean_as_published():
    x, side = grid(50, 2.0)
    points = np.stack(np.meshgrid(x, x), axis=-1)[x[:, None] ** 2 + x[None] ** 2 < 1.0]
    between = points[:, None] - points[None]
    cells = rectangle_potential(between[..., 0], between[..., 1], 0.5 * side, 0.5 * side)
    mean = cells.sum(axis=1).mean() / np.pi * (1.0 - 0.3 ** 2)
    assert_allclose(mean / np.sqrt(len(points) * side ** 2 / np.pi), 1.544864, rtol=RTOL_DISC)


def test_force_and_peak_are_those_of_hertz():
    depths, side = hertz_depths(64)
    contact = solve_flat_contact(depths, (side, side), MODULUS)
    assert contact.converged
    assert_allclose(contact.force, 0.3771236, rtol=RTOL_GRID)
    assert_allclose(contact.pressures.max(), 22507.908, rtol=RTOL_GRID)
    assert_allclose(np.sqrt(contact.area / np.pi), 2.828427e-3, rtol=RTOL_GRID_AREA)


def test_the_contact_of_a_paraboloid_is_half_of_its_overlap():
    depths, side = hertz_depths(64)
    contact = solve_flat_contact(depths, (side, side), MODULUS)
    assert_allclose(contact.area / ((depths > 0.0).sum() * side ** 2), 0.5,
                    rtol=RTOL_GRID_AREA)


def test_the_surface_outside_moves_as_johnson_has_it():
    x, side = grid(193, 10.4 * CONTACT_RADIUS)
    depths = DEPTH - (x[:, None] ** 2 + x[None] ** 2) / (2.0 * RADIUS)
    contact = solve_flat_contact(depths, (side, side), MODULUS)
    moved = np.interp(CONTACT_RADIUS * np.array([1.0, 1.5, 2.0, 3.0, 5.0]), x,
                      contact.displacements[96]) / DEPTH
    assert_allclose(moved, [0.5, 0.297811, 0.217996, 0.143102, 0.085227],
                    rtol=5.0 * RTOL_GRID_OUTSIDE)
    # The first is on the edge, where the grid shows; the others are within a thousandth.
    assert_allclose(moved[1:], [0.297811, 0.217996, 0.143102, 0.085227],
                    rtol=RTOL_GRID_OUTSIDE)


def punch(count, radius, offset=(0.0, 0.0)):
    """Return the force of a round punch 1 mm deep, the radius of its cells' area, their side."""
    x, side = grid(count, 0.012)
    away = np.hypot(x[:, None] - offset[0] * side, x[None] - offset[1] * side)
    depths = np.where(away < radius, 1e-3, -1.0)
    force = solve_flat_contact(depths, (side, side), MODULUS).force
    return force, np.sqrt((away < radius).sum() * side ** 2 / np.pi), side


@pytest.mark.parametrize('count', [64, 128, 256])
def test_a_flat_punch_meets_its_closed_form(count):
    # 2 a E* d = 1 N
    force, _, _ = punch(count, 0.005)
    assert_allclose(force, 1.0, rtol=RTOL_GRID_PUNCH)


@pytest.mark.parametrize('count', [48, 64, 128])
@settings(max_examples=3, deadline=None)
@given(radius=st.floats(0.003, 0.0055), x=st.floats(-0.5, 0.5), y=st.floats(-0.5, 0.5))
def test_what_a_punch_lacks_is_its_steps_and_a_part_of_a_cell_at_its_edge(count, radius, x, y):
    force, even_radius, side = punch(count, radius, (x, y))
    lacking = even_radius - force / (2.0 * MODULUS * 1e-3)
    assert_allclose(lacking / side, EDGE_SHARE, atol=ATOL_EDGE_SHARE)


@pytest.mark.nightly     # by day the punch has its closed form
@given(seed=st.integers(0, 2 ** 32 - 1), rows=st.integers(1, 40), columns=st.integers(1, 40))
@settings(max_examples=40)
def test_cells_are_closed_under_load_or_open_and_free(seed, rows, columns):
    depths, spacing = rough(seed, (rows, columns)), (2e-4, 3e-4)
    contact = solve_flat_contact(depths, spacing, MODULUS)
    scale = np.abs(depths).max()
    assert contact.converged and (contact.pressures >= 0.0).all()
    expected = love_matrix(depths.shape, spacing, MODULUS) @ contact.pressures.ravel()
    assert_allclose(contact.displacements.ravel(), expected, atol=1e-7 * scale)
    gaps = contact.displacements - depths
    if depths.max() > 0.0:
        assert gaps.min() > -1e-7 * scale
        assert_allclose(gaps[contact.pressures > 0.0], 0.0, atol=1e-7 * scale)


@given(seed=st.integers(0, 2 ** 32 - 1))
@settings(max_examples=10)
def test_pressures_are_those_of_nonnegative_least_squares(seed):
    depths, spacing = rough(seed, (7, 9)) + 1e-4, (2e-4, 3e-4)
    matrix = love_matrix(depths.shape, spacing, MODULUS)
    lower = np.linalg.cholesky(matrix)
    expected, _ = nnls(lower.T, np.linalg.solve(lower, depths.ravel()))
    found = solve_flat_contact(depths, spacing, MODULUS).pressures.ravel()
    assert_allclose(found, expected, atol=1e-5 * max(expected.max(), 1.0))


@given(seed=st.integers(0, 2 ** 32 - 1), factor=st.floats(1e-3, 1e3))
@settings(max_examples=10)
def test_pressures_grow_in_proportion_to_the_modulus(seed, factor):
    depths = rough(seed, (12, 12)) + 1e-4
    soft, stiff = (solve_flat_contact(depths, (1e-4, 1e-4), each).pressures
                   for each in (MODULUS, factor * MODULUS))
    assert_allclose(stiff, factor * soft, rtol=RTOL_ROUNDOFF, atol=0.0)


@given(seed=st.integers(0, 2 ** 32 - 1), offset=st.tuples(st.floats(-0.5, 0.5),
                                                          st.floats(-0.5, 0.5)))
@settings(max_examples=8)
def test_nodes_and_cells_agree_on_the_same_lattice(seed, offset):
    # Two solutions that share no line: softened points and rectangles, factors and transforms.
    rotation = Rotation.random(random_state=seed).as_matrix()
    count, side = 30, 3.0 * CONTACT_RADIUS / 30
    x = (np.arange(count) - 14.5 + offset[0]) * side
    y = (np.arange(count) - 14.5 + offset[1]) * side
    depths = DEPTH - x[:, None] ** 2 / (2.0 * RADIUS) - y[None] ** 2 / RADIUS
    cells = solve_flat_contact(depths, (side, side), MODULUS)
    points = np.stack([*np.meshgrid(x, y, indexing='ij'), np.zeros((count, count))], axis=-1)
    nodes = one_patch(points.reshape(-1, 3) @ rotation.T,
                      np.tile(rotation[:, 2], (count * count, 1)), side ** 2, depths.ravel())
    assert_allclose(solve_contact_forces(nodes, MODULUS, {}).forces.sum(), cells.force,
                    rtol=RTOL_NODAL)


def test_without_overlap_there_is_no_pressure():
    contact = solve_flat_contact(np.full((5, 4), -1e-6), (1e-4, 1e-4), MODULUS)
    assert contact.converged and contact.force == 0.0 and contact.area == 0.0
    assert_array_equal(contact.displacements, 0.0)


@pytest.mark.parametrize('depths', [np.zeros(3), np.zeros((0, 2)), np.full((2, 2), np.nan)])
def test_depths_that_are_no_grid_are_refused(depths):
    with pytest.raises(ShapeError, match='depths must be a finite'):
        solve_flat_contact(depths, (1e-4, 1e-4), MODULUS)


@pytest.mark.parametrize('spacing, modulus, tolerance, said', [
    ((0.0, 1e-4), 1e5, 1e-8, 'spacing'), ((1e-4, 1e-4), np.inf, 1e-8, 'modulus'),
    ((1e-4, 1e-4), 1e5, 0.0, 'tolerance')])
def test_numbers_out_of_range_are_refused(spacing, modulus, tolerance, said):
    with pytest.raises(TaskError, match=f'{said} must be above 0'):
        solve_flat_contact(np.ones((3, 3)), spacing, modulus, tolerance)


def test_a_search_cut_short_says_that_it_has_not_converged(monkeypatch):
    places = np.linspace(-0.02, 0.02, 24)
    depths = DEPTH - (places[:, None] ** 2 + places ** 2) / (2.0 * RADIUS)
    spacing = (places[1] - places[0],) * 2
    assert solve_flat_contact(depths, spacing, MODULUS).converged
    monkeypatch.setattr(flat_grid, 'MAX_SETS', 1)
    cut = solve_flat_contact(depths, spacing, MODULUS)
    assert not cut.converged and (cut.pressures >= 0.0).all()


def test_steps_that_do_not_close_the_gaps_are_no_solution(monkeypatch):
    depths, side = hertz_depths(32)
    monkeypatch.setattr(flat_grid, 'MAX_STEPS', 1)
    monkeypatch.setattr(flat_grid, 'MAX_SETS', 6)
    assert not solve_flat_contact(depths, (side, side), MODULUS).converged
