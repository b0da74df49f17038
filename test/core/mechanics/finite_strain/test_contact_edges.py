"""How fine elements are wanted where plates touch: as fine as the contact is small there."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.finite_strain.contact_edges import (
    CONTACT_SHARE, FINEST, contact_edges)

UP = np.array([0.0, 0.0, 1.0])
#: Of elements elsewhere, way, and its first part [m].
EDGE, WAY, FIRST = 0.02, 0.002, 0.0002


@pytest.mark.parametrize('spacing', [0.002, 0.006])
def test_edges_on_a_ball_grow_with_the_distance_from_where_plates_first_touch(spacing):
    """The overlap of a cap of radius r with a plate is pi r^2, whatever the facets."""
    found = contact_edges(shapes.sphere(0.04, spacing), UP, WAY, FIRST, EDGE)
    radii = np.linalg.norm(found.points[:, :2], axis=1)
    first, last = (np.sqrt(0.04 * way) for way in (FIRST, WAY))
    assert not found.is_prism
    assert 0.9 * last < radii.max() < 1.1 * last
    beyond = radii > 1.5 * first
    assert_allclose(found.edges[beyond], CONTACT_SHARE * np.sqrt(np.pi) * radii[beyond],
                    rtol=0.2)
    least = found.edges.min()
    assert_allclose(least, max(CONTACT_SHARE * np.sqrt(np.pi) * first, FINEST * EDGE), rtol=0.35)
    assert set(np.sign(found.points[:, 2])) == {-1.0, 1.0}


def test_a_flat_end_needs_no_finer_elements():
    found = contact_edges(shapes.box([0.02, 0.02, 0.02]), UP, WAY, FIRST, EDGE)
    assert found.is_prism and (found.edges == EDGE).all()


def test_a_point_that_is_pressed_in_has_the_floor():
    """The tip of a cone, its facets at the tip ever finer than what is wanted there."""
    found = contact_edges(shapes.cone(0.01, 0.03), UP, 1e-5, 1e-6, EDGE)
    assert found.edges.min() >= FINEST * EDGE
    assert np.isfinite(found.points).all() and len(found.points) == len(found.edges)
