"""Finite strains of a vessel's wall: the laws of its elements, and small strains within them."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

pytest.importorskip('skfem', reason='finite elements need scikit-fem: run `make bench-setup`')
pytest.importorskip('pypardiso', reason='finite elements need pypardiso: run `make bench-setup`')

from benchmarks.finite_elements.soft_bodies import cup  # noqa: E402
from benchmarks.finite_elements.strained_walls import MODULUS, Sector  # noqa: E402

pytestmark = pytest.mark.slow

HEIGHT, EDGE = 0.015, 2e-3
RTOL_ROUNDOFF, RTOL_DIFFERENCES = 1e-9, 1e-6
#: Of the sink by a force that moves the wall by 1e-4 of its thickness.
RTOL_SMALL = 1e-4


@pytest.fixture(scope='module')
def sector():
    return Sector(cup(3e-3, 4e-3, 0.02, 0.03), HEIGHT, 3, EDGE)


def _moved(sector, turn, way):
    places = sector._basis.doflocs
    parts = np.arange(sector._basis.N)
    moved = np.zeros(sector._basis.N)
    for k in range(3):
        rows = np.concatenate([sector._basis.nodal_dofs[k], sector._basis.edge_dofs[k]])
        moved[parts[rows]] = (turn @ places[:, rows])[k] + way[k] - places[k, rows]
    return moved


def test_a_turned_body_bears_nothing(sector):
    turn = np.linalg.qr(np.array([[1.0, 2.0, 0.3], [-0.4, 1.0, 0.7], [0.2, 0.1, 1.0]]))[0]
    turn *= np.sign(np.linalg.det(turn))
    inner, _ = sector._state(_moved(sector, turn, [0.1, -0.2, 0.3]))
    stretched, _ = sector._state(_moved(sector, 1.01 * np.eye(3), np.zeros(3)))
    assert np.abs(inner).max() < RTOL_ROUNDOFF * np.abs(stretched).max()


def test_the_stiffness_is_the_change_of_the_forces(sector):
    rng = np.random.default_rng(4)
    base, way = 1e-5 * rng.standard_normal((2, sector._basis.N))
    step = 1e-3
    change = (sector._state(base + step * way)[0] - sector._state(base - step * way)[0])
    expected = sector._state(base)[1] @ way
    assert_allclose(change / (2.0 * step), expected,
                    atol=RTOL_DIFFERENCES * np.abs(expected).max())


def test_a_pad_presses_by_the_force_told(sector):
    """Half of it on a sector, along the ray."""
    along = sector._load @ _moved(sector, np.eye(3), [1.0, 0.0, 0.0])
    assert_allclose(along, -0.5, rtol=RTOL_ROUNDOFF)
    assert_allclose(sector._load @ _moved(sector, np.eye(3), [0.0, 1.0, 1.0]), 0.0,
                    atol=RTOL_ROUNDOFF)


def test_small_forces_are_those_of_small_strains(sector):
    force = 3e-7 / abs(sector.compliance)
    assert_allclose(sector.sinks([force]), force * sector.compliance, rtol=RTOL_SMALL)


def test_a_wall_gives_way_more_the_deeper_it_is_pressed(sector):
    forces = np.array([0.1, 0.3]) * 3e-3 / sector.compliance
    ratios = np.array(sector.sinks(forces)) / (forces * sector.compliance)
    assert 1.0 < ratios[0] < ratios[1] < 1.2
    assert MODULUS * sector.compliance > 0.0
