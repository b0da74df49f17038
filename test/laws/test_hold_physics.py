"""The simulation that judges planned grasps keeps Coulomb's law itself."""

import numpy as np
import pytest

from benchmarks.hold.blind import close_blindly
from benchmarks.hold.bodies import CONCAVITY, CONVEX_SHARE, true_pieces
from benchmarks.hold.shake import convex_pieces_of, HeldObject, Shaker
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.resources import load_default_hand, share_directory

pytest.importorskip('mujoco', reason='the simulator comes with `make bench-setup`')

MASS, PALM_DISTANCE = 0.2, 0.17
#: A body that floats passes for still below 3 cm/s, which it has at 1 m/s^2 of a growing pull.
FREE = 1.2
#: The pull grows by 20 m/s^3 and still objects move by up to 3 cm/s: 5 % of the least pull.
RTOL_COULOMB = 0.05
#: What facets of a millimetre cut off a ball of 20 mm, and convex pieces off a body [m].
FACET = 2e-5
#: Between what convex pieces fill of a bone's waist, fine and coarse [m].
NEAR = 5e-4


@pytest.fixture(scope='module')
def cube():
    return convex_pieces_of(shapes.box([0.06, 0.06, 0.06]))


def gripped(cube, friction, force):
    hand = load_default_hand()
    preshape = next(p for p in hand.preshapes if p.name == 'cylindrical')
    shaker = Shaker(HeldObject(cube, MASS, friction, 0.002),
                    transform(np.eye(3), np.array([0.0, 0.0, -PALM_DISTANCE])), hand,
                    share_directory() / 'urdf' / 'meshes', preshape.open)
    fingers = close_blindly(shaker, preshape.open, preshape.closed, force)
    return shaker, fingers


@pytest.mark.parametrize('friction, force', [(0.3, 3.0), (0.3, 6.0)])
def test_a_gripped_cube_slips_along_the_fingers_at_friction_times_force(cube, friction, force):
    shaker, fingers = gripped(cube, friction, force)
    assert fingers == 3
    expected = friction * sum(shaker.link_forces().values()) / MASS
    assert expected > friction * 3.0 / MASS     # else it has slipped out
    measured = shaker.ramp(np.array([0.0, 0.0, 1.0]), 1.5 * expected)
    np.testing.assert_allclose(measured, expected, rtol=RTOL_COULOMB)


def test_pressing_reaches_the_joint_torques_asked_for(cube):
    shaker, _ = gripped(cube, 0.3, 3.0)
    wanted = np.array([0.0, 0.5, 0.15, 0.5, 0.15, 1.0, 0.3])
    shaker.press(wanted)
    np.testing.assert_allclose(shaker.data.actuator_force[1::2], wanted[1::2], rtol=0.1)


def test_an_open_hand_holds_nothing(cube):
    hand = load_default_hand()
    preshape = hand.preshapes[0]
    shaker = Shaker(HeldObject(cube, MASS, 0.5), transform(np.eye(3), np.array([0.0, 0.0, -0.3])),
                    hand, share_directory() / 'urdf' / 'meshes', preshape.open)
    assert shaker.failing_acceleration() < FREE


def depths_in(pieces, points):
    """Return how deep points lie in a union of convex pieces, at most (n,) [m]."""
    depths = [np.min(-(points @ piece.face_normals.T - np.einsum(
        'ij,ij->i', piece.face_normals, piece.triangles[:, 0])), axis=1) for piece in pieces]
    return np.max(depths, axis=0)


def test_round_bodies_of_physics_have_facets_that_do_not_count():
    piece, = true_pieces('small ball', shapes.sphere(0.02))
    flat = np.einsum('ij,ij->i', piece.face_normals, piece.triangles[:, 0])
    assert flat.min() > 0.02 - FACET and flat.max() <= 0.02


@pytest.mark.nightly
def test_convex_pieces_of_physics_are_nearer_the_body_than_those_of_the_simulated_hand():
    pytest.importorskip('coacd', reason='extra convex')
    body = shapes.bone()
    middles = body.vertices[body.faces].mean(axis=1)
    coarse = depths_in(convex_pieces_of(body), middles)
    fine = depths_in(convex_pieces_of(body, CONCAVITY, CONVEX_SHARE), middles)
    assert fine.max() < NEAR < coarse.max()
    assert min(fine.min(), coarse.min()) > -FACET
