"""Rest between obstacles: a uniform block finds its uniform shortening; hopeless asks end."""

from block_cases import block_solid
import numpy as np
from numpy.testing import assert_allclose

from gripsim_ros.core.bodies import Material
from gripsim_ros.core.mechanics.finite_strain.equilibrium import find_rest, Solver
from gripsim_ros.core.mechanics.finite_strain.laws import StrainLaw
from gripsim_ros.core.mechanics.finite_strain.obstacles import ContactSurface, Plane

UP = np.array([0.0, 0.0, 1.0])


def rest(gap, start=None):
    """Return a block of 20 mm and its rest between planes a gap apart."""
    solid = block_solid()
    law = StrainLaw.of_material(Material(1e5, 0.3, 1e3, 0.5))
    planes = (Plane(np.zeros(3), UP), Plane(gap * UP, -UP))
    surface = ContactSurface(solid, 1e5)
    return solid, find_rest(solid, law, surface, planes, solid.nodes if start is None else start,
                            (1e6, solid.nodes), Solver())


def test_a_slightly_shortened_block_widens_by_poissons_ratio():
    solid, pose = rest(0.0198)
    assert pose.converged
    stretch = np.ptp(pose.positions, axis=0) / 0.02 - 1.0
    assert_allclose(stretch[:2], 0.3 * -stretch[2], rtol=0.05)
    assert_allclose(stretch[2], -0.01, rtol=0.02)


def test_a_start_turned_inside_out_is_no_rest():
    solid, pose = rest(0.0198, block_solid().nodes * [1.0, 1.0, -1.0])
    assert not pose.converged
