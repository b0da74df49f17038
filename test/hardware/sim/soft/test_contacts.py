"""Soft objects of the simulated hand yield where a link touches them as Hertz says."""

import numpy as np
import pytest

from benchmarks.hardware.flex_indentation import FlexPress, soft_ball, structured, way_of_balls
from gripsim_ros.core.bodies import shapes
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedron_volumes
from gripsim_ros.hardware.sim.world_model import SoftMesh

RADIUS = 0.04
#: Of ways between two forces: nodes' compliance is known to 15 %, and finite strains.
RTOL_WAY = 0.1
MODULUS = 2e5
#: Ways of each pad [m].
DEPTHS, SMALL_DEPTHS = (4e-4, 8e-4, 1.6e-3), (2e-4, 4e-4, 8e-4)


@pytest.mark.slow
@pytest.mark.parametrize('pad_radius', [0.01, 0.14], ids=['small', 'as flat as a fingertip'])
def test_a_ball_of_large_tetrahedra_yields_between_balls_as_one_that_has_none(pad_radius):
    pytest.importorskip('mujoco')
    mesh, soft = shapes.sphere(RADIUS, 0.005), soft_ball(RADIUS, 3)
    shares = {}
    for yielding in (False, True):
        press = FlexPress(mesh, soft, MODULUS, 'ball', yielding=yielding, pad_radius=pad_radius)
        ways = way_of_balls([one.force for one in press.press(DEPTHS)], RADIUS, MODULUS,
                            pad_radius)
        shares[yielding] = np.diff(ways) / np.diff(DEPTHS)
    np.testing.assert_allclose(shares[True], 1.0, rtol=RTOL_WAY)
    assert (abs(shares[False] - 1.0) > 1.5 * RTOL_WAY).any()      # tetrahedra alone do not


@pytest.mark.slow
@pytest.mark.parametrize('turn', [0.15, 0.3])
def test_a_turned_plate_presses_where_it_touches_a_ball(turn):
    """Nodes stand 15 mm apart, and alone bear it where they are, a millimetre aside."""
    pytest.importorskip('mujoco')
    mesh, soft = shapes.sphere(RADIUS, 0.005), soft_ball(RADIUS, 3)
    aside = [abs(FlexPress(mesh, soft, MODULUS, 'plate', yielding=yielding, turn=turn)
                 .press(DEPTHS)[-1].aside) for yielding in (False, True)]
    assert aside[1] < 4.5e-4 and aside[1] < 0.6 * aside[0]


@pytest.mark.slow
def test_a_node_beside_a_small_contact_does_not_bear_it_alone():
    """The nearest node stands 2 mm aside, where stiff bodies touch over 2 to 4 mm."""
    pytest.importorskip('mujoco')
    press = FlexPress(shapes.sphere(RADIUS, 0.005), soft_ball(RADIUS, 3), MODULUS, 'plate',
                      yielding=True, turn=0.2)
    assert max(abs(one.aside) for one in press.press(SMALL_DEPTHS)) < 3e-4


@pytest.mark.filterwarnings('error')
def test_an_object_of_few_nodes_yields_too():
    """MuJoCo keeps the rows of so small a model in another form, if it is not told."""
    pytest.importorskip('mujoco')
    nodes, corners = structured([np.array([-RADIUS, RADIUS])] * 3)
    turned = tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    soft = SoftMesh(nodes, corners, outer_faces(corners), node_masses(nodes, corners, 1.0))
    press = FlexPress(shapes.box((2 * RADIUS,) * 3), soft, MODULUS, 'ball', yielding=True)
    first, second = press.press([5e-4, 1e-3])
    assert 0.0 < first.force < second.force
