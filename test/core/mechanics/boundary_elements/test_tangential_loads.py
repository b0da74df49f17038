"""Forces along a body's surface: closed forms, reciprocity, a beam, and finite elements."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import (
    ElasticBody, deform_body, shift_of_centre, solve_contact)
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import prepare_compliance
from gripsim_ros.core.mechanics.boundary_elements.quadrature import (
    nodal_areas, rigid_motions, tangential_tractions)
from gripsim_ros.core.mechanics.boundary_elements.tangential_loads import TangentialLoads
from gripsim_ros.core.mechanics.deformation.metrics import fit_rigid_motion

MODULUS, RATIO = 1e6, 0.3
WIDTH, LENGTH, PLACE = 0.02, 0.16, 0.05
#: Of a rod five times as long between its forces as it is thick, by 500 nodes.
RTOL_BEAM = 0.05
#: Of tractions that are linear between 900 nodes of a ball, and of their reciprocity.
RTOL_BALL, RTOL_RECIPROCITY = 0.01, 0.02
RADIUS = 0.03
#: Of finite elements by different tetrahedra, and of the nodes [m].
ATOL_ELEMENTS = 2e-6


@pytest.fixture(scope='module')
def rod():
    """Return a rod along z, the compliance of its surface, and what it knows of friction."""
    mesh = shapes.box([WIDTH, WIDTH, LENGTH], 0.008)
    compliance = prepare_compliance(mesh, RATIO, 500)
    return mesh, compliance, TangentialLoads(compliance)


def moved(rod, points, forces):
    """Return how the rod's vertices move under forces near its surface."""
    mesh, compliance, tangential = rod
    return tangential.moves(
        compliance.interpolation(mesh.vertices),
        compliance.correction(np.asarray(points), MODULUS / (1.0 - RATIO ** 2)),
        np.asarray(forces))


def far_moved(rod, points, forces):
    """Return how the rod's vertices move as told by their sinking alone."""
    mesh, compliance, tangential = rod
    return tangential.far_moves(compliance.interpolation(mesh.vertices), tangential.sinking(
        compliance.correction(np.asarray(points), MODULUS / (1.0 - RATIO ** 2)),
        np.asarray(forces)))


def turn_of_ends(mesh, moves):
    """Return by how much the ends of the rod turn against each other about x [rad]."""
    turns = []
    for side in (1.0, -1.0):
        end = (side * mesh.vertices[:, 2] > 1.3 * PLACE).astype(float)
        rotation, _ = fit_rigid_motion(mesh.vertices, mesh.vertices + moves, end)
        turns.append(rotation[2, 1])
    return turns[0] - turns[1]


@pytest.mark.parametrize('way', [moved, far_moved])
@pytest.mark.parametrize('side', [1.0, -1.0])
def test_friction_that_pulls_at_one_side_bends_a_rod_as_a_beam(rod, side, way):
    force, height = 1e-3, 0.5 * WIDTH * side
    moves = way(rod, [[0.0, height, PLACE], [0.0, height, -PLACE]],
                [[0.0, 0.0, force], [0.0, 0.0, -force]])
    # Bernoulli: the moment over the bending stiffness, along the way between the forces.
    expected = force * height * 2.0 * PLACE / (MODULUS * WIDTH ** 4 / 12.0)
    assert_allclose(turn_of_ends(rod[0], moves), expected, rtol=RTOL_BEAM)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_the_middle_sinks_as_a_beam_sags(rod, side):
    mesh, compliance, tangential = rod
    force, height = 1e-3, 0.5 * WIDTH
    sinking = tangential.sinking(
        compliance.correction(np.array([[0.0, height, PLACE], [0.0, height, -PLACE]]),
                              MODULUS / (1.0 - RATIO ** 2)),
        np.array([[0.0, 0.0, side * force], [0.0, 0.0, -side * force]]))
    below = (np.abs(compliance.points[:, 2]) < 0.8 * PLACE) & (compliance.normals[:, 1] > 0.9)
    bent = np.polynomial.Polynomial.fit(compliance.points[below, 2], sinking[below], 2).convert()
    curvature = side * force * height / (MODULUS * WIDTH ** 4 / 12.0)
    assert_allclose(2.0 * bent.coef[2], -curvature, rtol=RTOL_BEAM)


def test_ways_agree_with_how_far_nodes_sink_and_no_force_moves_nothing(rod, rng):
    _, compliance, tangential = rod
    every = (np.arange(len(compliance.points))[:, None].repeat(6, axis=1),
             np.eye(6)[np.zeros(len(compliance.points), int)])
    sinking = rng.normal(size=len(compliance.points))
    ways = tangential.far_moves(every, sinking)
    assert_allclose((ways * compliance.normals).sum(axis=1), sinking, rtol=1e-9)
    assert not tangential.far_moves(every, 0.0 * sinking).any()


def test_friction_at_opposite_sides_stretches_a_rod_as_a_bar(rod):
    force, height = 1e-3, 0.5 * WIDTH
    places = [[0.0, side * height, end * PLACE] for side in (1, -1) for end in (1, -1)]
    moves = moved(rod, places, [[0.0, 0.0, end * force] for _ in (1, -1) for end in (1, -1)])
    ends = rod[0].vertices[:, 2]
    found = moves[ends > 1.3 * PLACE, 2].mean() - moves[ends < -1.3 * PLACE, 2].mean()
    # Hooke: the force of both sides along the way between the places.
    assert_allclose(found, 2.0 * force * 2.0 * PLACE / (MODULUS * WIDTH ** 2), rtol=RTOL_BEAM)


@pytest.fixture(scope='module')
def ball():
    """Return the compliance of a ball about the origin."""
    return prepare_compliance(shapes.sphere(RADIUS, 2.5e-3), RATIO, 1000)


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_tractions_along_an_axis_move_a_ball_by_the_closed_form(ball, axis):
    # All smooth tractions along an axis e are e less its normal part; e / 3 less that balances.
    found = ball.tangential[:, :, axis].sum(axis=1, dtype=float) * (1.0 - RATIO ** 2)
    lame, shear = RATIO / (1.0 + RATIO) / (1.0 - 2.0 * RATIO), 0.5 / (1.0 + RATIO)
    # Displacements a r^2 e + b (e.x) x: Navier's equations, and mu R (2 a + b) = 1 / 3.
    first, second = np.linalg.solve([[2.0 * lame + 8.0 * shear, 4.0 * lame + 6.0 * shear],
                                     [2.0 * shear, shear]], [0.0, 1.0 / (3.0 * RADIUS)])
    expected = second * ball.points[:, axis:axis + 1] * ball.points
    expected[:, axis] += first * RADIUS ** 2
    areas = nodal_areas(ball.points, ball.elements)
    expected -= areas @ expected / areas.sum()
    error = np.sqrt(((found - expected) ** 2).mean() / (expected ** 2).mean())
    assert error < RTOL_BALL


@pytest.mark.parametrize('name', ['ball', 'rod'])
def test_smooth_tractions_are_reciprocal_and_move_nothing_as_a_whole(name, request):
    compliance = request.getfixturevalue(name)
    compliance = compliance[1] if name == 'rod' else compliance
    areas = nodal_areas(compliance.points, compliance.elements)
    tractions = tangential_tractions(compliance.points, compliance.elements, compliance.normals)
    count = 3 * tractions.shape[2]
    ways = compliance.tangential.astype(float).reshape(len(areas), count, 3)
    fields = tractions.reshape(len(areas), 3, count)
    work = np.einsum('n,nak,nma->km', areas, fields, ways)
    difference = np.sqrt(((work - work.T) ** 2).mean())
    assert difference < RTOL_RECIPROCITY * np.sqrt((work ** 2).mean())
    assert np.linalg.eigvalsh(0.5 * (work + work.T)).min() > -1e-3 * np.abs(work).max()
    motions = rigid_motions(compliance.points, areas)
    mean = np.einsum('n,nak,nma->mk', areas, motions, ways)
    scale = np.einsum('n,nak,nma->mk', areas, np.abs(motions), np.abs(ways))
    assert np.abs(mean).max() < 1e-5 * scale.max()


def test_smooth_tractions_lie_in_the_surface_and_add_up_to_each_axis(ball, rod):
    for compliance in (ball, rod[1]):
        normals = compliance.normals
        tractions = tangential_tractions(compliance.points, compliance.elements, normals)
        assert_allclose(np.einsum('nack,na->nck', tractions, normals), 0.0, atol=1e-12)
        whole = np.eye(3) - normals[:, :, None] * normals[:, None]
        assert_allclose(tractions.sum(axis=2), whole, atol=1e-12)


def test_a_ball_between_three_pads_shifts_as_finite_elements_of_it():
    centre = pytest.importorskip('benchmarks.finite_elements.centre')
    make, rays, _ = centre.CASES['ball']
    body = ElasticBody(GraspObject(make(), Material(1e6, 0.4, 500.0, 0.5)),
                       MechanicsOptions(elasticity='body'))
    contact = centre.contact_of(centre.ContactMesh(body.mesh), rays, (5e-3, 5e-3, 7.464e-3))
    patches = solve_contact(body, contact, {})
    found = shift_of_centre(body, contact, patches, deform_body(body, contact, patches))
    # Mean of three runs of `python -m benchmarks fem_centre ball`, by random tetrahedra.
    assert_allclose(found, [-0.4e-6, 1.9e-6, 0.0], atol=ATOL_ELEMENTS)
