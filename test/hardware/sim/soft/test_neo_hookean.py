"""MuJoCo's tetrahedra bear what a neo-Hookean body does, not Saint Venant's and Kirchhoff's."""

import numpy as np
import pytest

from benchmarks.hardware.flex_indentation import (
    FlexPress, POISSON_RATIO, soft_ball, structured, way_of_balls)
from gripsim_ros.core.bodies import Material, shapes
from gripsim_ros.core.mechanics.finite_strain.laws import StrainLaw
from gripsim_ros.core.mechanics.finite_strain.solid import cofactors, determinants
from gripsim_ros.hardware.sim.options import SimulationError
from gripsim_ros.hardware.sim.soft.neo_hookean import LEAST_SQUARE, NeoHookean
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedron_volumes
from gripsim_ros.hardware.sim.world_model import SoftMesh

SIDE, MODULUS = 0.04, 2e5
LAW = StrainLaw.of_material(Material(MODULUS, POISSON_RATIO, 500.0, 0.5))
RTOL = 1e-9
#: Of ways between two forces: nodes' compliance is known to 15 %.
RTOL_WAY = 0.1


def block(count=3):
    """Return a cube of tetrahedra about the origin."""
    nodes, corners = structured([np.linspace(-0.5 * SIDE, 0.5 * SIDE, count + 1)] * 3)
    turned = tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    return SoftMesh(nodes, corners, outer_faces(corners), node_masses(nodes, corners, 1.0))


@pytest.fixture
def pressed():
    """Return a cube in MuJoCo that nothing touches, and its law."""
    pytest.importorskip('mujoco')
    press = FlexPress(shapes.box((SIDE,) * 3), block(), MODULUS, 'plate')
    return press, NeoHookean(press.model, MODULUS, POISSON_RATIO)


def simulated_forces(press, law, moved):
    """Return what MuJoCo's tetrahedra do to their nodes (N, 3), which were moved [N]."""
    import mujoco
    press.data.qpos[:] = (moved - press.soft.nodes).ravel()
    press.data.qvel[:] = 0.0
    if law is not None:
        law.follow(press.data)
    mujoco.mj_forward(press.model, press.data)
    return press.data.qfrc_spring.reshape(-1, 3).copy()


def true_forces(soft, moved):
    """Return the same by the derivative of the law's energy, element by element."""
    edges = np.swapaxes(soft.nodes[soft.corners[:, 1:]] - soft.nodes[soft.corners[:, :1]], 1, 2)
    after = np.swapaxes(moved[soft.corners[:, 1:]] - moved[soft.corners[:, :1]], 1, 2)
    inverse = np.linalg.inv(edges)
    stretched = after @ inverse
    volumes = abs(np.linalg.det(edges)) / 6.0
    slopes = LAW.volume_slope(determinants(stretched)) \
        - LAW.pressure_at_rest / determinants(stretched)
    stresses = LAW.shape_stress(stretched) + slopes[:, None, None] * cofactors(stretched)
    outer = -volumes[:, None, None] * (stresses @ np.swapaxes(inverse, 1, 2))
    forces = np.zeros_like(moved)
    for k in range(3):
        np.add.at(forces, soft.corners[:, k + 1], outer[:, :, k])
        np.add.at(forces, soft.corners[:, 0], -outer[:, :, k])
    return forces


@pytest.mark.parametrize('stretch', [0.5, 0.75, 1.0, 1.4])
def test_nodes_bear_the_derivative_of_the_energy(pressed, stretch):
    press, law = pressed
    soft, rng = press.soft, np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moved = soft.nodes @ np.diag([1.0, 1.1, stretch]) @ (turn * np.linalg.det(turn))
    moved += 1e-4 * SIDE * rng.normal(size=moved.shape)
    wanted = true_forces(soft, moved)
    size = abs(wanted).max()
    np.testing.assert_allclose(simulated_forces(press, law, moved), wanted, atol=RTOL * size)
    # Saint Venant and Kirchhoff's law, which a stiffness at rest goes back to, is another.
    press.model.flex_stiffness[:] = FlexPress(
        shapes.box((SIDE,) * 3), soft, MODULUS, 'plate').model.flex_stiffness
    softer = simulated_forces(press, None, moved)
    assert abs(softer - wanted).max() > (1e-4 if stretch == 1.0 else 0.2) * size


def test_stiffness_stays_positive_however_much_is_squeezed(pressed):
    """MuJoCo's step factorises it; also of what is turned inside out."""
    press, law = pressed
    rng = np.random.default_rng(5)
    for size in (1e-9, 1e-3, 0.1, 0.4, 1.0):
        forces = simulated_forces(press, law, press.soft.nodes
                                  + size * SIDE / 3 * rng.normal(size=press.soft.nodes.shape))
        assert np.isfinite(forces).all()
        metrics = np.zeros((len(press.soft.corners), 6, 6))
        rows, columns = np.triu_indices(6)
        metrics[:, rows, columns] = metrics[:, columns, rows] = \
            press.model.flex_stiffness.reshape(len(metrics), -1)[:, :21]
        values = np.linalg.eigvalsh(metrics)
        assert (values[:, 0] > 1e-7 * values[:, -1]).all()


def test_forces_do_not_jump_where_the_law_ends(pressed):
    """Beyond, they grow with strain, and go on pressing apart."""
    press, law = pressed
    least = np.sqrt(LEAST_SQUARE)
    found = [abs(simulated_forces(press, law, press.soft.nodes * [1.0, 1.0, stretch])).max()
             / stretch for stretch in (1.01 * least, (1.0 + 1e-9) * least, (1.0 - 1e-9) * least,
                                       0.5 * least)]
    np.testing.assert_allclose(found[2], found[1], rtol=1e-6)
    assert found[0] < found[1] < found[3]


def test_another_form_of_stiffness_is_told(pressed):
    press, _ = pressed
    press.model.flex_stiffness[:] *= 1.01
    with pytest.raises(SimulationError, match='another form'):
        NeoHookean(press.model, MODULUS, POISSON_RATIO)


@pytest.mark.slow
def test_a_small_ball_pressed_deep_yields_as_hertz_says():
    """1.6 mm from both sides into 45 mm; by the law of MuJoCo's own 1.2 times as far."""
    pytest.importorskip('mujoco')
    radius, pad_radius, depths = 0.0225, 0.14, np.array([8e-4, 1.2e-3, 1.6e-3])
    press = FlexPress(shapes.sphere(radius, 0.003), soft_ball(radius, 3), MODULUS, 'ball',
                      yielding=True, pad_radius=pad_radius)
    ways = way_of_balls([one.force for one in press.press(depths)], radius, MODULUS, pad_radius)
    np.testing.assert_allclose(np.diff(ways) / np.diff(depths), 1.0, rtol=RTOL_WAY)
