"""Laws of finite strain: derivatives of one energy, Hooke's law at rest, no frame preferred."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import Material
from gripsim_ros.core.errors import MaterialError
from gripsim_ros.core.mechanics.finite_strain.laws import StrainLaw
from gripsim_ros.core.transforms import from_rotation_vector

LAWS = [('neo_hookean', ()), ('yeoh', (0.2, 0.05)), ('ogden', (-3.0,)), ('ogden', (4.0,))]


def law_of(name, parameters, nu=0.4):
    """Return the law of a material of 3 MPa."""
    return StrainLaw.of_material(Material(3.0e6, nu, 1e3, 0.5, law=name,
                                          law_parameters=parameters))


def random_gradients(seed, count=4, size=0.2):
    """Return deformation gradients that turn nothing inside out."""
    rng = np.random.default_rng(seed)
    return np.eye(3) + size * rng.uniform(-1.0, 1.0, (count, 3, 3))


@pytest.mark.parametrize('name, parameters', LAWS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_stress_and_tangent_are_derivatives_of_the_energy(name, parameters, seed):
    law, F = law_of(name, parameters), random_gradients(seed)
    way, h = random_gradients(seed + 1) - np.eye(3), 1e-5
    stress = (law.shape_stress(F) * way).sum(axis=(1, 2))
    assert_allclose((law.shape_energy(F + h * way) - law.shape_energy(F - h * way)) / (2 * h),
                    stress, rtol=1e-5, atol=1e-2)
    change = (law.shape_tangent(F) @ way.reshape(-1, 9, 1)).reshape(-1, 3, 3)
    assert_allclose((law.shape_stress(F + h * way) - law.shape_stress(F - h * way)) / (2 * h),
                    change, rtol=1e-4, atol=10.0)


@pytest.mark.parametrize('name, parameters', LAWS)
def test_small_strain_is_hookes_law(name, parameters):
    law, h = law_of(name, parameters, 0.4), 1e-6
    mu, lame = 3.0e6 / 2.8, 3.0e6 * 0.4 / (1.4 * 0.2)
    for strain in np.eye(6):
        e = np.array([[strain[0], strain[3], strain[4]], [strain[3], strain[1], strain[5]],
                      [strain[4], strain[5], strain[2]]])
        F = np.eye(3) + h * e
        J, cofactor = np.linalg.det(F), np.linalg.det(F) * np.linalg.inv(F).T
        stress = law.shape_stress(F) + (law.volume_slope(J) - law.pressure_at_rest / J) * cofactor
        assert_allclose(stress / h, 2.0 * mu * e + lame * np.trace(e) * np.eye(3),
                        rtol=1e-4, atol=50.0)


@pytest.mark.parametrize('name, parameters', LAWS)
def test_energy_does_not_depend_on_the_frame(name, parameters):
    law, F = law_of(name, parameters), random_gradients(3)
    turn = from_rotation_vector(np.array([0, 0, 0, 0.3, -1.0, 0.5]))[:3, :3]
    assert_allclose(law.shape_energy(turn @ F), law.shape_energy(F), rtol=1e-9, atol=1e-6)
    assert_allclose(law.shape_energy(F @ turn), law.shape_energy(F), rtol=1e-9, atol=1e-6)


def test_yeoh_and_ogden_have_the_neo_hookean_among_them():
    F, plain = random_gradients(5), law_of('neo_hookean', ())
    for name, parameters in (('yeoh', (0.0, 0.0)), ('ogden', (2.0,))):
        law = law_of(name, parameters)
        assert_allclose(law.shape_energy(F), plain.shape_energy(F), rtol=1e-9)
        assert_allclose(law.shape_tangent(F), plain.shape_tangent(F), rtol=1e-9, atol=1.0)


def test_volume_that_is_gone_costs_endless_energy():
    law = law_of('neo_hookean', ())
    for energy in (law.volume_energy, law.swelling_energy):
        assert np.isinf(energy(np.array([0.0, -0.1]))).all()
        assert np.isfinite(energy(np.array([1e-9, 3.0]))).all()


def test_easier_laws_end_with_the_law_itself():
    law = law_of('neo_hookean', (), 0.4999)
    easier = law.easier()
    assert easier[-1] is law and len(easier) > 3
    assert [one.lame for one in easier] == sorted(one.lame for one in easier)


def test_a_negative_poisson_ratio_is_refused():
    with pytest.raises(MaterialError, match='poisson_ratio of 0 or more, got -0.1'):
        law_of('neo_hookean', (), -0.1)


def test_a_coefficient_that_leaves_nothing_to_the_volume_is_refused():
    with pytest.raises(MaterialError, match='c2 of the law yeoh must be at most'):
        law_of('yeoh', (2.0, 0.0), 0.3)
