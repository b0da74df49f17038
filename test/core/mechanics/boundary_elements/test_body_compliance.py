"""A body's own compliance: coarse surfaces, boundary integrals, and laws of elasticity."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.polynomial.legendre import legval
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
from threadpoolctl import threadpool_limits

from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.contact.geometry.closest_point import closest_points
from gripsim_ros.core.contact.geometry.vp_tree import build_vp_tree
from gripsim_ros.core.errors import MaterialError, MeshError
from gripsim_ros.core.mechanics.boundary_elements import (
    body_compliance as compliances, edge_collapse)
from gripsim_ros.core.mechanics.boundary_elements.edge_collapse import coarse_triangles
from gripsim_ros.core.mechanics.boundary_elements.integrals import assemble
from gripsim_ros.core.mechanics.boundary_elements.quadrature import (
    enclosed_volume, nodal_areas, rigid_motions)
from gripsim_ros.core.mechanics.boundary_elements.remesh import (
    cut_at_edges, QuadraticSurface, quadratic_surfaces)
from compliance_cases import ball_response

RADIUS, RATIO = 0.04, 0.3
#: Displacements of the coarse surfaces used here, a few hundred nodes.
RTOL_DISCRETE = 0.01
#: A linear field on flat elements is exact but for quadrature near the nodes.
RTOL_QUADRATURE = 2e-3
RTOL_ROUNDOFF = 1e-7
#: In the mean, six spacings apart and more, where it does not matter how a force is spread.
RTOL_RECIPROCITY = 0.05
#: The same four spacings apart on a bar of few nodes.
RTOL_COARSE = 0.12
#: Volume between quadratic triangles of a coarse surface.
RTOL_VOLUME = 0.02
#: Displacements are kept in single precision.
RTOL_SINGLE = 2e-6
BODIES = {'ball': shapes.sphere(RADIUS, 3e-3), 'box': shapes.box([0.05, 0.07, 0.1]),
          'prism': shapes.cylinder(), 'ring': shapes.torus(), 'mug': shapes.mug(),
          'banana': shapes.banana()}


def quadratic_surface(mesh, node_count):
    """Return the most faithful surface."""
    return next(quadratic_surfaces(mesh, node_count))


@pytest.fixture(scope='module')
def ball():
    """Return a ball's surface of a few hundred nodes."""
    return quadratic_surface(BODIES['ball'], 640)


@pytest.fixture(scope='module')
def ball_moves(ball):
    """Return normals and displacements by unit loads of the ball."""
    normals = compliances.node_normals(ball)
    return normals, compliances.solve_unit_loads(ball, normals, RATIO)[0]


@pytest.mark.parametrize('name', BODIES)
def test_a_coarse_surface_is_closed_of_the_same_kind_and_on_the_body(name):
    mesh = BODIES[name]
    surface = quadratic_surface(mesh, 1200)
    coarse = TriangleMesh(surface.points, surface.parts)
    assert coarse.is_closed and len(surface.points) <= 1200

    def euler(body):
        return len(np.unique(body.faces)) - len(body.edges) + len(body.faces)

    assert euler(coarse) == euler(mesh)
    volume = enclosed_volume(surface.points, surface.elements)
    assert_allclose(volume, mesh.volume, rtol=RTOL_VOLUME)
    tree = build_vp_tree(mesh.vertices, mesh.faces)
    assert closest_points(tree, surface.points, np.inf)[0].max() < 1e-9


@pytest.mark.parametrize('name, wanted', [
    ('ball', 0.008), ('box', 0.01), ('prism', 0.01), ('ring', 0.01), ('banana', 0.01),
    pytest.param('mug', 0.014, marks=pytest.mark.nightly)])
def test_edges_of_a_coarse_surface_are_about_as_long_as_wanted(name, wanted):
    vertices, faces = coarse_triangles(BODIES[name], wanted)
    lengths = np.linalg.norm(vertices[faces] - vertices[np.roll(faces, 1, axis=1)], axis=2)
    assert lengths.max() <= 2.0 * wanted
    assert np.quantile(lengths, 0.1) >= 0.4 * wanted


def test_edges_of_a_scan_that_are_noise_are_none():
    # Where each fold is an edge, 4,045 of its 7,507 vertices are left.
    mesh = shapes.cylinder(0.03, 0.1, edge_length=2e-3)
    rough = np.random.default_rng(3).normal(scale=3e-4, size=mesh.vertices.shape)
    noisy = mesh.with_vertices(mesh.vertices + rough)
    surface = quadratic_surface(noisy, 600)
    assert TriangleMesh(surface.points, surface.parts).is_closed
    assert 300 < len(surface.points) <= 600
    assert_allclose(enclosed_volume(surface.points, surface.elements), noisy.volume,
                    rtol=RTOL_VOLUME)


def test_where_a_surface_is_spoilt_the_hull_of_a_body_that_nearly_is_one_stands_for_it():
    cup = shapes.mug(wall=0.004)
    assert len(list(quadratic_surfaces(BODIES['ball'], 300))) == 2
    assert len(list(quadratic_surfaces(cup, 2400))) == 1


def test_a_surface_finer_than_its_nodes_is_refused():
    with pytest.raises(MeshError, match='nodes are too few for the surface: they enclose'):
        quadratic_surface(shapes.plate(), 150)


def test_a_ball_under_pressure_shrinks_as_lame_found(ball, ball_moves):
    # u = p R (1 - 2 nu) / E.
    normals, moves = ball_moves
    pressed = moves @ nodal_areas(ball.points, ball.elements)
    assert_allclose((normals * pressed).sum(axis=1), RADIUS * (1.0 - 2.0 * RATIO),
                    rtol=RTOL_DISCRETE)


@pytest.mark.parametrize('order', [2, 3, 5])
def test_a_ball_under_waves_of_pressure_moves_as_lure_found(ball, ball_moves, order):
    _, moves = ball_moves
    radial = ball.points / RADIUS
    cosine = radial[:, 2]
    series = np.eye(order + 1)[order]
    pressed = moves @ (nodal_areas(ball.points, ball.elements) * legval(cosine, series))
    out, along = ball_response(order, RATIO)
    # dP/d theta = -sin theta P'; the polar direction times sin theta.
    polar = cosine[:, None] * radial - [0.0, 0.0, 1.0]
    slope = legval(cosine, np.polynomial.legendre.legder(series))
    expected = RADIUS * (out * legval(cosine, series)[:, None] * radial
                         - along * slope[:, None] * polar)
    error = np.sqrt(((pressed - expected) ** 2).mean() / (expected ** 2).mean())
    # Hats of mean square h^2 / 4 take (k h)^2 / 16 from a wave, and so does its interpolation.
    wave = np.sqrt(order * (order + 1.0)) / RADIUS
    assert error < RTOL_DISCRETE + (wave * ball.spacing) ** 2 / 8.0


def test_a_box_between_two_pulls_changes_its_length_by_hooke():
    mesh = shapes.box([0.03, 0.03, 0.03], 0.015)
    surface = quadratic_surface(mesh, 600)
    points = surface.points
    moves = np.stack([-RATIO * points[:, 0], -RATIO * points[:, 1], points[:, 2]], 1)
    matrix = assemble(points, surface.elements, compliances.node_normals(surface), RATIO,
                      np.zeros((len(points), 3, 1)))[0]
    right = side_load(surface, 2, -1.0) + side_load(surface, 2, 1.0)
    assert_allclose(matrix @ moves.ravel(), right,
                    atol=RTOL_QUADRATURE * np.abs(right).max())


def side_load(surface, axis, sign):
    """Return the right side of a unit pull on the side of a box that faces ``sign * axis``."""
    ends = surface.points[:, axis]
    level = ends.max() if sign > 0.0 else ends.min()
    side = np.isclose(surface.points[surface.elements][:, :, axis], level).all(axis=1)
    pull = np.zeros((len(surface.points), 3, 1))
    pull[:, axis, 0] = sign
    up = np.tile([0.0, 0.0, 1.0], (len(surface.points), 1))
    return assemble(surface.points, surface.elements[side], up, RATIO, pull)[1][:, -1]


def test_a_force_here_moves_there_as_a_force_there_moves_here(ball, ball_moves):
    normals, moves = ball_moves
    own = (normals[:, :, None] * moves).sum(axis=1)
    apart = np.linalg.norm(ball.points[:, None] - ball.points, axis=2) > 6.0 * ball.spacing
    difference = np.sqrt(((own - own.T)[apart] ** 2).mean())
    assert difference < RTOL_RECIPROCITY * np.sqrt((own[apart] ** 2).mean())


def test_normals_that_cancel_leave_that_of_the_largest_part():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    middles = 0.5 * (corners + np.roll(corners, -1, axis=0))
    middles[2] = [0.0, 0.4, 0.0]
    surface = QuadraticSurface(np.vstack([corners, middles]),
                               np.array([[0, 1, 2, 3, 4, 5], [2, 1, 0, 4, 3, 5]]))
    normals = compliances.node_normals(surface)
    assert_allclose(np.abs(normals), np.tile([0.0, 0.0, 1.0], (6, 1)))


def test_forces_that_do_not_balance_are_carried_evenly():
    # Where the balance is left to the equations, the ends carry most: 0.43 instead of 0.08.
    surface = quadratic_surface(shapes.box([0.02, 0.02, 0.1], 0.01), 400)
    normals = compliances.node_normals(surface)
    moves = compliances.solve_unit_loads(surface, normals, RATIO)[0]
    own = (normals[:, :, None] * moves).sum(axis=1)
    apart = np.linalg.norm(surface.points[:, None] - surface.points,
                           axis=2) > 4.0 * surface.spacing
    difference = np.sqrt(((own - own.T)[apart] ** 2).mean())
    assert difference < RTOL_COARSE * np.sqrt((own[apart] ** 2).mean())


@pytest.mark.parametrize('ratio', [0.0, 0.3, 0.49])
def test_no_load_takes_energy_out_of_a_free_body(ratio):
    surface = quadratic_surface(BODIES['box'], 300)
    normals = compliances.node_normals(surface)
    own = (normals[:, :, None] * compliances.solve_unit_loads(surface, normals, ratio)[0]
           ).sum(axis=1)
    assert np.linalg.eigvalsh(0.5 * (own + own.T)).min() > 0.0


def test_a_rigid_motion_takes_no_load(ball):
    motions = rigid_motions(ball.points, nodal_areas(ball.points, ball.elements))
    matrix = assemble(ball.points, ball.elements, compliances.node_normals(ball), RATIO,
                      motions)[0]
    flat = motions.reshape(-1, 6)
    assert_allclose(matrix @ flat, 0.0,
                    atol=RTOL_QUADRATURE * np.abs(matrix.diagonal()).mean() * np.abs(flat).max())


def test_displacements_have_no_mean_rigid_motion(ball, ball_moves):
    areas = nodal_areas(ball.points, ball.elements)
    motions = rigid_motions(ball.points, areas)
    mean = np.einsum('n,nak,naj->kj', areas, motions, ball_moves[1])
    scale = np.einsum('n,nak,naj->kj', areas, np.abs(motions), np.abs(ball_moves[1]))
    assert np.abs(mean).max() < RTOL_ROUNDOFF * scale.max()


def test_compliances_do_not_depend_on_the_frame(ball, ball_moves):
    turn = Rotation.random(random_state=4).as_matrix()
    moved = QuadraticSurface(ball.points @ turn.T + [0.1, -0.2, 0.3], ball.elements)
    normals = compliances.node_normals(moved)
    moves = compliances.solve_unit_loads(moved, normals, RATIO)[0]
    first = (ball_moves[0][:, :, None] * ball_moves[1]).sum(axis=1)
    second = (normals[:, :, None] * moves).sum(axis=1)
    assert_allclose(second, first, atol=1e-6 * np.abs(first).max())


def test_a_body_twice_as_large_is_half_as_compliant(ball, ball_moves):
    large = QuadraticSurface(2.0 * ball.points, ball.elements)
    moves = compliances.solve_unit_loads(large, ball_moves[0], RATIO)[0]
    assert_allclose(moves, 0.5 * ball_moves[1], atol=1e-7 * np.abs(moves).max())


def test_answers_do_not_depend_on_the_number_of_threads():
    mesh = shapes.sphere(0.02, 4e-3)
    answers = []
    for count in (1, 2):
        with threadpool_limits(limits=count, user_api='blas'):
            answers.append(compliances.prepare_compliance(mesh, RATIO, 400).displacements)
    assert_array_equal(answers[0], answers[1])


@pytest.fixture(scope='module')
def body():
    """Return the compliance of a small ball."""
    return compliances.prepare_compliance(shapes.sphere(0.02, 6e-3), RATIO, 250)


@given(seed=st.integers(0, 2 ** 32 - 1))
@settings(max_examples=30)
def test_interpolation_is_exact_at_nodes_and_for_constants(body, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(body.points), 5)
    nodes, weights = body.interpolation(body.points[rows])
    for row, near, weight in zip(rows, nodes, weights):
        assert_allclose(weight[near == row].sum(), 1.0, atol=1e-9)
    _, weights = body.interpolation(rng.normal(size=(5, 3)) * 0.02)
    assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)


def test_rows_of_a_correction_are_those_of_a_symmetric_matrix(body):
    points = body.points[:60] * [[1.0, 0.99, 1.0]]
    correction = body.correction(points, 2.0)
    every, part = np.zeros((60, 60)), np.zeros((7, 60))
    correction.add_rows(np.arange(60), every)
    correction.add_rows(np.arange(20, 27), part)
    assert_array_equal(part, every[20:27])
    assert_allclose(every, every.T, rtol=0.0, atol=RTOL_SINGLE * np.abs(every).max())
    forces = np.random.default_rng(1).normal(size=60)
    nodes, weights = body.interpolation(points)
    loads = np.zeros(len(body.points))
    np.add.at(loads, nodes, weights * forces[:, None])
    along = np.einsum('jia,ia->ji', body.displacements, body.normals)
    moves = np.einsum('ki,ki->k', weights, (0.25 * (along + along.T) @ loads)[nodes])
    assert_allclose(every @ forces, moves, atol=1e-5 * np.abs(moves).max())


def test_a_push_over_an_edge_is_normal_forces_on_both_sides():
    box = compliances.prepare_compliance(BODIES['box'], RATIO, 400)
    edge, spacing = np.array([0.025, 0.01, 0.05]), box.surface.spacing
    points = edge - np.array([[0.0, 0.0, 0.4], [0.4, 0.0, 0.0], [0.0, 0.0, 2.0]]) * spacing
    pushes = -np.array([[0.6, 0.0, 0.8], [1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])
    correction = box.correction(points, 1.0, pushes)
    for force, push in zip(np.eye(3)[:2], pushes):
        loads = correction.node_forces(force)
        assert_allclose(loads @ box.normals[correction.used], push, atol=RTOL_ROUNDOFF)
    # Where no edge is near, as where pushes are normal, it is a normal force.
    normal = box.correction(points, 1.0)
    assert_allclose(correction.node_forces(np.eye(3)[2]) @ box.normals[correction.used],
                    normal.node_forces(np.eye(3)[2]) @ box.normals[normal.used],
                    atol=RTOL_ROUNDOFF)
    same = box.correction(points[:1], 1.0, np.array([[-1.0, 0.0, 0.0]]))
    assert_array_equal(same.responses, box.correction(points[:1], 1.0).responses)


def test_a_far_side_is_no_other_side_of_an_edge():
    """Of a thin plate it is nearer than the rim, and no force on it leans a push."""
    plate = compliances.prepare_compliance(shapes.box((0.06, 0.06, 0.004)), RATIO, 400)
    points, pushes = np.array([[0.0, 0.0, 0.002]]), -np.array([[0.6, 0.0, 0.8]])
    assert plate.surface.spacing > 0.003
    assert_array_equal(plate.correction(points, 1.0, pushes).node_forces(np.ones(1)),
                       plate.correction(points, 1.0).node_forces(np.ones(1)))


def test_bodies_in_several_pieces_are_refused_but_not_cavities():
    far = BODIES['box'].with_vertices(BODIES['box'].vertices + [0.2, 0.0, 0.0])
    inner = BODIES['box'].with_vertices(0.5 * BODIES['box'].vertices)
    count = len(far.vertices)
    pair = TriangleMesh(np.concatenate([far.vertices, BODIES['box'].vertices]),
                        np.concatenate([far.faces, BODIES['box'].faces + count]))
    hollow = TriangleMesh(np.concatenate([BODIES['box'].vertices, inner.vertices]),
                          np.concatenate([BODIES['box'].faces, inner.faces[:, ::-1] + count]))
    with pytest.raises(MeshError, match='one piece for a compliance of the whole body, got 2'):
        compliances.prepare_compliance(pair, RATIO, 300)
    assert len(compliances.prepare_compliance(hollow, RATIO, 300).points) > 100


def test_an_open_mesh_is_refused():
    mesh = BODIES['box'].with_faces(BODIES['box'].faces[:-1])
    with pytest.raises(MeshError, match='must be closed'):
        compliances.prepare_compliance(mesh, 0.3)


def test_a_mesh_turned_inside_out_is_told_so():
    mesh = BODIES['box'].with_faces(BODIES['box'].faces[:, ::-1])
    with pytest.raises(MeshError, match='inside out'):
        compliances.prepare_compliance(mesh, 0.3)


def test_a_body_much_smaller_than_its_edges_keeps_the_least_surface_of_its_kind():
    for body in (shapes.sphere(RADIUS, 0.02), shapes.cylinder(0.01, 0.03, 16)):
        vertices, faces = coarse_triangles(body, 10.0)
        mesh = TriangleMesh(vertices, faces)
        assert mesh.is_closed and 4 <= len(faces) < len(body.faces) / 2
        assert len(vertices) - len(faces) // 2 == 2
    # The rims are sharp and long against the nodes' distance: each keeps a triangle at its end.
    vertices, _ = coarse_triangles(body, 0.02)
    ends = np.abs(vertices[:, 2])
    assert (np.isclose(ends, 0.015, rtol=RTOL_ROUNDOFF)).sum() >= 6


def test_where_edges_could_be_halved_for_ever_it_ends(monkeypatch):
    monkeypatch.setattr(edge_collapse, 'SPLIT_PASSES', 1)
    box = BODIES['box']
    vertices, faces = coarse_triangles(box, 1e-4)
    mesh = TriangleMesh(vertices, faces)
    assert mesh.is_closed and len(faces) == 2 * len(box.faces)
    assert_allclose(mesh.volume, box.volume, rtol=RTOL_ROUNDOFF)


def test_nodes_at_edges_are_there_for_each_side_with_its_normal():
    surface = quadratic_surface(BODIES['box'], 600)
    cut, sources = cut_at_edges(surface, BODIES['box'])
    assert_array_equal(cut.points, surface.points[sources])
    assert_array_equal(sources[cut.elements], surface.elements)
    on_faces = np.isclose(np.abs(surface.points), [0.025, 0.035, 0.05]).sum(axis=1)
    assert_array_equal(np.bincount(sources), on_faces)
    assert {1, 2, 3} == set(on_faces)
    normals = compliances.node_normals(cut)
    assert_allclose(np.abs(normals).max(axis=1), 1.0, rtol=RTOL_ROUNDOFF)
    assert (np.einsum('ka,ka->k', normals, cut.points) < 0.0).all()


@pytest.mark.parametrize('name', ['ball', 'ring', 'banana'])
def test_nodes_of_a_smooth_body_are_there_once(name):
    surface = quadratic_surface(BODIES[name], 900)
    cut, sources = cut_at_edges(surface, BODIES[name])
    assert_array_equal(sources, np.arange(len(surface.points)))
    assert_array_equal(cut.elements, surface.elements)


def test_where_forces_pull_a_surface_outwards_cubes_of_a_grid_answer(monkeypatch):
    monkeypatch.setattr(compliances, 'solve_unit_loads', lambda surface, normals, *_: (
        -np.repeat(normals[:, :, None], len(normals), axis=2),
        np.zeros((len(normals), 0, 3, 3)), np.zeros((len(normals), 3))))
    with pytest.raises(MeshError, match='a force would pull it outwards'):
        compliances._of_boundary(shapes.sphere(0.02, 6e-3), RATIO, 250)
    found = compliances.prepare_compliance(shapes.sphere(0.02, 6e-3), RATIO, 250)
    assert (found.errors > 0.0).all()


@pytest.mark.parametrize('ratio', [0.5, -1.0, np.nan])
def test_a_poisson_ratio_that_no_material_has_is_refused(ratio):
    with pytest.raises(MaterialError, match='above -1 and below 0.5, got'):
        compliances.prepare_compliance(BODIES['ball'], ratio)
