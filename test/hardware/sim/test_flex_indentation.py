"""MuJoCo's tetrahedra bear what linear elasticity bears on the same mesh."""

import numpy as np
import pytest

from benchmarks.hardware.flex_indentation import FlexPress, nodal_forces, soft_ball
from gripsim_ros.core.bodies import shapes

RADIUS, MODULUS, DEPTH = 0.04, 1e6, 1e-3
#: Finite elements of second order, docs/validation/finite_elements.md [N].
PLATE_FORCE = 9.835
RTOL_LINEAR = 1e-6
#: Finite strains and contact on faces; found: 4 %.
RTOL_SIMULATED = 0.06


def test_linear_tetrahedra_are_too_stiff_and_in_proportion_to_the_modulus():
    soft = soft_ball(RADIUS, 3)
    force, = nodal_forces(soft, MODULUS, 'plate', [DEPTH])
    assert force > PLATE_FORCE
    half, = nodal_forces(soft, 0.5 * MODULUS, 'plate', [DEPTH])
    np.testing.assert_allclose(half, 0.5 * force, rtol=RTOL_LINEAR)


@pytest.mark.slow
def test_mujoco_presses_as_linear_elasticity_on_its_mesh():
    pytest.importorskip('mujoco')
    soft = soft_ball(RADIUS, 3)
    press = FlexPress(shapes.sphere(RADIUS, 0.005), soft, MODULUS, 'plate')
    found, = press.press([DEPTH])
    assert press.warned == 0
    wanted, = nodal_forces(soft, MODULUS, 'plate', [DEPTH])
    np.testing.assert_allclose(found.force, wanted, rtol=RTOL_SIMULATED)
