"""Objects as MuJoCo takes them: tetrahedra fill them."""

from itertools import permutations

import numpy as np
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.hardware.sim import solids
from gripsim_ros.hardware.sim.options import SimulationError
from gripsim_ros.hardware.sim.solids import tetrahedra_of, tetrahedron_volumes

#: Of a cube of a unit edge: nodes, and tetrahedra of positive volume, one an order of the axes.
NODES = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)


def corners_of_cube():
    """Return six tetrahedra (6, 4) of a cube's corners, of positive volume."""
    found = []
    for order in permutations(np.eye(3, dtype=int)):
        way = np.cumsum([np.zeros(3, int), *order], axis=0)
        turned = np.linalg.det(np.array(order)) < 0
        found.append((way @ [4, 2, 1])[[0, 2, 1, 3] if turned else [0, 1, 2, 3]])
    return np.array(found)


@pytest.mark.parametrize('losses', [(0.06, 0.04), (0.06, -0.06, 0.051, 0.0)])
def test_tetrahedra_that_lose_too_much_are_made_smaller(monkeypatch, losses):
    edges = []

    def fill(body, edge, envelope):
        edges.append(edge)
        share = 1.0 - losses[len(edges) - 1]
        return 0.05 * share**(1.0 / 3.0) * NODES, corners_of_cube()
    monkeypatch.setattr(solids, 'fill_with_tetrahedra', fill)
    volume = tetrahedron_volumes(*tetrahedra_of(shapes.box([0.05] * 3), 0.03)).sum()
    assert abs(volume / 0.05**3 - 1.0) <= solids.VOLUME_TOLERANCE
    np.testing.assert_allclose(edges, 0.03 * solids.FINER ** np.arange(len(losses)))


def test_a_body_that_no_tetrahedra_fill_is_refused(monkeypatch):
    monkeypatch.setattr(solids, 'fill_with_tetrahedra',
                        lambda *_: (0.04 * NODES, corners_of_cube()))
    with pytest.raises(SimulationError, match='use a smaller node_spacing'):
        tetrahedra_of(shapes.box([0.05] * 3), 0.03)
