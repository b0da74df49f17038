"""How many nodes a body's surface needs."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements.node_count import (
    LEAST_NODES, SPACINGS, thickness, wanted_nodes)

#: Rays from middles of triangles through a body of flat sides.
RTOL_FLAT = 1e-4


def test_a_slab_is_as_thick_as_it_is_and_a_wall_as_the_wall():
    assert_allclose(thickness(shapes.box([0.08, 0.1, 0.02])), 0.02, rtol=RTOL_FLAT)
    assert thickness(shapes.mug(wall=0.004)) < 0.0045
    assert thickness(shapes.sphere(0.04, 4e-3)) > 0.075


def test_compact_bodies_take_the_fewest_nodes_and_walls_as_many_as_allowed():
    assert wanted_nodes(shapes.sphere(0.04, 4e-3), 0.03, 2400) == LEAST_NODES
    assert wanted_nodes(shapes.mug(), 0.03, 2400) == 2400


@pytest.mark.parametrize('tolerance', [0.03, 0.01, 0.005])
def test_nodes_of_a_plate_lie_as_near_as_its_thickness_and_the_tolerance_ask_for(tolerance):
    plate = shapes.box([0.12, 0.12, 0.01])
    spacing = np.sqrt(plate.area / (np.sqrt(0.75) * wanted_nodes(plate, tolerance, 10 ** 6)))
    assert_allclose(spacing, 0.01 / SPACINGS * np.sqrt(tolerance / 0.03), rtol=1e-3)
