"""Quadratic tetrahedra: forces and stiffness from one energy; no force in rigid motion."""

from block_cases import block_solid
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import Material
from gripsim_ros.core.mechanics.finite_strain.laws import StrainLaw
from gripsim_ros.core.transforms import from_rotation_vector

LAWS = [StrainLaw.of_material(Material(1.0, nu, 1e3, 0.5, law=name, law_parameters=values))
        for nu, name, values in ((0.3, 'neo_hookean', ()), (0.499, 'yeoh', (0.1, 0.02)),
                                 (0.45, 'ogden', (-2.0,)))]


def moved(solid, seed=0, size=0.05):
    """Return positions after a random small deformation."""
    rng = np.random.default_rng(seed)
    stretch = np.eye(3) + 0.1 * rng.uniform(-1.0, 1.0, (3, 3))
    return solid.nodes @ stretch.T + size * np.ptp(solid.nodes) * rng.uniform(
        -0.3, 0.3, solid.nodes.shape)


@pytest.mark.parametrize('law', LAWS)
def test_forces_and_stiffness_are_derivatives_of_the_energy(law):
    solid = block_solid((1.0, 1.2, 0.9))
    x, h = moved(solid), 1e-6
    way = np.random.default_rng(1).normal(size=x.shape)
    forces = solid.forces(law, x)
    assert_allclose((solid.energy(law, x + h * way) - solid.energy(law, x - h * way)) / (2 * h),
                    (forces * way).sum(), rtol=1e-5)
    matrix = solid.pattern.matrix(solid.pattern.blocks(solid.stiffness(law, x)),
                                  np.zeros(len(x)))
    change = (solid.forces(law, x + h * way) - solid.forces(law, x - h * way)) / (2 * h)
    assert_allclose(matrix @ way.ravel(), change.ravel(), rtol=1e-4,
                    atol=1e-5 * np.abs(change).max())


def test_a_rigid_motion_takes_no_force():
    solid = block_solid((1.0, 1.2, 0.9))
    T = from_rotation_vector(np.array([3.0, -1.0, 2.0, 0.4, 1.0, -0.7]))
    x = solid.nodes @ T[:3, :3].T + T[:3, 3]
    for law in LAWS:
        assert np.abs(solid.forces(law, x)).max() < 1e-10


def test_volume_and_surface_are_those_of_the_box():
    solid = block_solid((1.0, 1.2, 0.9), (2, 1, 2))
    assert_allclose(solid.volumes.sum(), 1.0 * 1.2 * 0.9)
    assert_allclose(solid.node_volumes.sum(), 1.0 * 1.2 * 0.9)
    assert_allclose(np.linalg.det(solid.nodes[solid.faces[:, :3]]).sum() / 6.0, 1.0 * 1.2 * 0.9)
    middles = solid.nodes[solid.faces[:, 3:]]
    ends = solid.nodes[solid.faces[:, :3]]
    assert_allclose(middles, 0.5 * (ends + ends[:, [1, 2, 0]]), atol=1e-12)


def test_an_inverted_body_has_endless_energy():
    solid = block_solid()
    assert np.isinf(solid.energy(LAWS[0], solid.nodes * [1.0, 1.0, -1.0]))
