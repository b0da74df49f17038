"""Structures part by part against their equations solved at once."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.sparse import block_diag
from scipy.sparse.linalg import spsolve

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements import shell, substructures
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import node_normals
from gripsim_ros.core.mechanics.boundary_elements.remesh import quadratic_surfaces
from gripsim_ros.core.mechanics.boundary_elements.substructures import (
    FREEDOMS, responses, Structure)

WALL = 3e-3
#: The same equations, whose factors differ by rounding alone; of displacements beside a node that
#: is held, as they turn about it.
RTOL = 1e-8


def sheet():
    """Return a sheet as a structure, and normals of its places."""
    surface = next(quadratic_surfaces(shapes.box([0.06, 0.05, WALL], edge_length=0.01), 400))
    stiffness, chosen, *_ = shell._assemble(surface, 0.3, WALL)
    reading, hosts, _ = shell._reading(surface.points, surface, chosen)
    elements = surface.elements[chosen]
    middles = surface.points[elements].mean(axis=1)
    return Structure(stiffness, elements, middles, reading, hosts), node_normals(surface)


def at_once(structure, forces):
    """Return displacements of places by forces (3 n, l), by all equations together."""
    held = structure.elements[substructures._order(structure.middles)[0], 0]
    nodes = np.setdiff1d(structure.elements, held)
    free = (FREEDOMS * nodes[:, None] + np.arange(FREEDOMS)).ravel()
    reading = structure.reading[:, free]
    return reading @ spsolve(structure.stiffness[free][:, free].tocsc(), reading.T @ forces)


@pytest.mark.parametrize('few', [3, 40, 10_000])
def test_parts_answer_as_the_whole(monkeypatch, few):
    """Halved down to three elements, to forty, or never; by loads along normals and any."""
    monkeypatch.setattr(substructures, 'FEW_ELEMENTS', few)
    structure, normals = sheet()
    assert (len(structure.elements) > few) == (few < 10_000)
    others = np.random.default_rng(3).normal(size=(normals.size, 4))
    count = len(normals)
    units = np.zeros((count, 3, count))
    units[np.arange(count), :, np.arange(count)] = normals
    for found, forces in zip(responses(structure, normals, others),
                             (units.reshape(-1, count), others)):
        expected = at_once(structure, forces)
        assert_allclose(found, expected, rtol=0.0, atol=RTOL * np.abs(expected).max())


def test_a_part_that_nothing_holds_is_refused():
    """Beside a sheet, of which a node is held, another one."""
    one, normals = sheet()
    count = one.stiffness.shape[0] // FREEDOMS
    two = Structure(
        block_diag([one.stiffness] * 2).tocsr(),
        np.concatenate([one.elements, one.elements + count]),
        np.concatenate([one.middles, one.middles + [0.0, 0.0, 1.0]]),
        block_diag([one.reading] * 2).tocsr(),
        np.concatenate([one.hosts, one.hosts + len(one.elements)]))
    with pytest.raises(np.linalg.LinAlgError):
        responses(two, np.concatenate([normals] * 2), np.zeros((2 * normals.size, 1)))
