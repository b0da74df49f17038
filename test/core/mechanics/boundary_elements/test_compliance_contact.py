"""Contact on a body's own compliance: forces, choice of the model, flags, deformed surface."""

from dataclasses import replace

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from compliance_cases import ball_response

from gripsim_ros.core.batches import (
    PATCH_CLOSE, PATCH_SPREAD, PATCH_STRAINED, PATCH_THIN, PATCH_THROUGH)
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics import MechanicsOptions, body as bodies
from gripsim_ros.core.mechanics.body import (
    ContactProblem, ElasticBody, deform_body, shift_of_centre, solve_contact)
from gripsim_ros.core.mechanics.boundary_elements import body_compliance
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import (
    MIN_SPACINGS, BodyCompliance, prepare_compliance)
from gripsim_ros.core.mechanics.boundary_elements.cells import bracket
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import ComplianceOptions
from gripsim_ros.core.mechanics.contact.contact_forces import PatchNodes, solve_contact_forces
from gripsim_ros.core.mechanics.deformation.volume import volume_and_centre
from gripsim_ros.core.transforms import transform
from lattice_cases import ball_under_pad, join, paraboloid

MODULUS, RATIO = 1e6, 0.3
SLAB_RADIUS, HALF = 0.04, 0.01
#: Two balls of 40 mm pressed 0.5, 1 and 2 mm into the slab: forces of the finite elements in
#: docs/validation/finite_elements.md [N].
SLAB_FORCES = {5e-4: 4.844, 1e-3: 16.38, 2e-3: 58.53}
#: With half of the nodes that are usual.
RTOL_SLAB = 0.03
#: Against the half-space, at a contact radius of a thousandth of a ball's.
RTOL_LARGE = 2e-3
#: Displacement of a ball's flanks over the depth of the press.
ATOL_FLANK = 0.0025
#: Uniform stress in a block, loaded up to its edges.
RTOL_BLOCK = 0.012
FEW = ComplianceOptions(900)


def elastic_body(mesh, elasticity, options=FEW, material=None):
    """Return a body of unit modulus."""
    return ElasticBody(GraspObject(mesh, material or Material(MODULUS, RATIO, 1000.0, 0.5)),
                       MechanicsOptions(elasticity=elasticity, compliance=options))


@pytest.fixture(scope='module')
def slab(tmp_path_factory):
    """Return a slab with each elasticity, all with one folder."""
    mesh = shapes.cylinder(SLAB_RADIUS, 2.0 * HALF, edge_length=4e-3)
    folder = str(tmp_path_factory.mktemp('kept'))
    return {name: elastic_body(mesh, name, replace(FEW, folder=folder))
            for name in ('half_space', 'body', 'auto')}


@pytest.fixture(scope='module')
def sheet():
    """Return a sheet of 3 mm, a shell."""
    return elastic_body(shapes.box([0.06, 0.06, 3e-3], edge_length=0.01), 'body',
                        ComplianceOptions(400))


def pinch(depth, count=100, radius=0.04):
    """Return two balls pressed into both sides of the slab."""
    above = paraboloid(radius, depth, count)
    turned = above.points * [1.0, -1.0, -1.0]
    below = PatchNodes(turned - [0.0, 0.0, HALF], above.normals, above.areas, above.depths,
                       above.patches, above.links)
    above = PatchNodes(above.points + [0.0, 0.0, HALF], -above.normals, above.areas,
                       above.depths, above.patches, above.links)
    nodes = join(above, below)
    return ContactProblem(nodes, np.zeros(2, np.int64), np.full(2, 2.0 * HALF))


@pytest.mark.parametrize('sides', [(0.05, 0.05, 0.04), (0.03, 0.03, 0.08), (0.02, 0.06, 0.06)])
def test_a_block_pressed_on_its_whole_ends_yields_as_under_uniform_stress(sides):
    # Half-spaces are off by -16, +105 and +55 %.
    a, b, length = sides
    depth, cell = 5e-3 * length, np.sqrt(a * b) / 18.0
    x, y = (side * ((np.arange(cells) + 0.5) / cells - 0.5)
            for side, cells in ((side, round(side / cell)) for side in (a, b)))
    plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    count, up = len(plane), np.array([0.0, 0.0, 1.0])
    ends = [(np.column_stack([plane, np.full(count, side * length / 2.0)]), -side * up)
            for side in (1.0, -1.0)]
    nodes = PatchNodes(np.concatenate([points for points, _ in ends]),
                       np.repeat([normal for _, normal in ends], count, axis=0),
                       np.full(2 * count, a * b / count), np.full(2 * count, depth),
                       np.repeat([0, 1], count), np.arange(2))
    body = elastic_body(shapes.box(sides), 'body', ComplianceOptions())
    found = solve_contact(body, ContactProblem(nodes, np.zeros(2, int), np.full(2, length)), {})
    assert_allclose(found.results.magnitudes, MODULUS * a * b * 2.0 * depth / length,
                    rtol=RTOL_BLOCK)


@pytest.mark.parametrize('depth', SLAB_FORCES)
def test_a_pinched_slab_meets_the_force_of_finite_elements(slab, depth):
    force = solve_contact(slab['body'], pinch(depth), {}).results.magnitudes
    assert_allclose(force, SLAB_FORCES[depth], rtol=RTOL_SLAB)
    plain = solve_contact(slab['half_space'], pinch(depth), {}).results.magnitudes
    assert (plain < 0.82 * SLAB_FORCES[depth]).all()


def test_gaps_are_closed_under_load_and_open_elsewhere(slab):
    contact = pinch(1e-3)
    solution = solve_contact(slab['body'], contact, {}).solution
    gaps = solution.displacements - contact.nodes.depths[solution.rows]
    assert np.abs(gaps[solution.loaded]).max() < 1e-9 * contact.nodes.depths.max()
    assert gaps.min() > -1e-9 * contact.nodes.depths.max()
    assert_allclose(solution.object_compliance @ solution.forces,
                    solution.displacements[solution.loaded], rtol=1e-9)


def test_on_a_large_ball_the_body_is_a_half_space():
    nodes = paraboloid(8e-3, 1e-4, 100)
    mesh = shapes.sphere(1.0, 0.2).with_transform(transform(np.eye(3), np.array([0., 0., 1.])))
    own = prepare_compliance(mesh, RATIO, 400)
    plain = solve_contact_forces(nodes, 1e6, {})
    finite = solve_contact_forces(nodes, 1e6, {}, body=own)
    assert_allclose(finite.forces.sum(), plain.forces.sum(), rtol=RTOL_LARGE)


@pytest.mark.parametrize('depth, same', [(5e-5, 'half_space'), (1e-3, 'body')])
def test_auto_takes_the_body_where_the_half_space_is_too_thick(slab, depth, same):
    found, expected = (solve_contact(slab[name], pinch(depth), {}) for name in ('auto', same))
    assert_array_equal(found.solution.forces, expected.solution.forces)
    assert_array_equal(found.flags, expected.flags)
    other = solve_contact(slab['body' if same == 'half_space' else 'half_space'], pinch(depth),
                          {})
    assert not np.array_equal(found.solution.forces, other.solution.forces)


def test_answers_do_not_depend_on_what_was_asked_before_or_kept(slab):
    fresh = elastic_body(slab['auto'].mesh, 'auto')
    assert_array_equal(solve_contact(fresh, pinch(1e-3), {}).solution.forces,
                       solve_contact(slab['auto'], pinch(1e-3), {}).solution.forces)


def test_half_spaces_are_never_prepared(monkeypatch, slab):
    monkeypatch.setattr(bodies.LazyCompliance, 'get', None)
    fresh = elastic_body(slab['auto'].mesh, 'half_space')
    solve_contact(fresh, pinch(1e-3), {})
    solve_contact(elastic_body(fresh.mesh, 'auto'), pinch(5e-5), {})


def test_thin_is_what_the_nodes_do_not_resolve(slab):
    own = slab['body'].compliance
    limit = MIN_SPACINGS * own.surface.spacing
    assert own.resolves([0.99 * limit, 1.01 * limit]).tolist() == [False, True]
    contact = pinch(1e-3)
    assert (solve_contact(slab['half_space'], contact, {}).flags == PATCH_THIN).all()
    assert not solve_contact(slab['body'], contact, {}).flags.any()
    unresolved = replace(contact, thickness=np.array([2.0 * HALF, 0.99 * limit]))
    assert solve_contact(slab['body'], unresolved, {}).flags.tolist() == [0, PATCH_THIN]


@pytest.mark.parametrize('elasticity, way, links, close', [
    ('half_space', 0.015, (0, 1), True), ('body', 0.015, (0, 1), False),
    ('body', 0.005, (0, 1), True), ('body', 0.015, (0, 0), True)])
def test_neighbours_are_close_on_half_spaces_or_where_they_overlap_or_are_of_one_link(
        slab, elasticity, way, links, close):
    # Contact radii are about 3 mm.
    one = paraboloid(0.04, 5e-4, 60)
    places = one.points + [0.0, 0.0, HALF] - [0.5 * way, 0.0, 0.0]
    left = replace(one, points=places, normals=-one.normals)
    right = replace(left, points=places + [way, 0.0, 0.0])
    nodes = replace(join(left, right), links=np.array(links))
    contact = ContactProblem(nodes, np.zeros(2, np.int64), np.full(2, 2.0 * HALF))
    flags = solve_contact(slab[elasticity], contact, {}).flags
    assert ((flags & PATCH_CLOSE > 0) == close).all()


@pytest.mark.parametrize('elasticity, spread, flagged', [
    ('half_space', 35.0, True), ('body', 35.0, False), ('body', 42.0, True)])
def test_normals_spread_by_what_takes_a_tenth_of_their_sum(slab, elasticity, spread, flagged):
    """Of Hertz's pressures, whose directions lean in proportion to the way from the middle."""
    contact = pinch(1e-3)
    loaded = solve_contact(slab[elasticity], contact, {})
    nodes, results = contact.nodes, loaded.results
    own = loaded.solution.rows[loaded.solution.forces > 0.0]
    arms = (nodes.points - results.points[nodes.patches]) * [1.0, 1.0, 0.0]
    ways = np.linalg.norm(arms, axis=1)
    leans = np.deg2rad(spread) * ways / ways[own].max()
    fan = np.cos(leans)[:, None] * nodes.normals + np.sinc(leans / np.pi)[:, None] * arms * (
        np.deg2rad(spread) / ways[own].max())
    leaning = replace(contact, nodes=replace(nodes, normals=fan))
    found = solve_contact(slab[elasticity], leaning, {})
    # The contact grows a little as its normals lean.
    assert_allclose(np.rad2deg(found.results.spreads), spread, atol=4.5)
    assert ((found.flags & PATCH_SPREAD > 0) == flagged).all()
    upright = loaded.results.magnitudes / loaded.solution.forces.sum() * 2.0
    kept = found.results.magnitudes / found.solution.forces.sum() * 2.0
    assert_allclose(kept / upright, 1.0 - found.results.spreads ** 2 / 5.0, atol=0.02)


def test_a_press_of_a_third_of_the_thickness_is_flagged(slab):
    assert (solve_contact(slab['body'], pinch(3.1e-3), {}).flags & PATCH_THIN).all()


def test_a_wall_that_bends_is_not_strained_by_that():
    # A wide thin plate pressed by one ball on one side: it bends far, and hardly dents.
    mesh = shapes.box([0.12, 0.12, 0.01], 6e-3)
    contact = ContactProblem(paraboloid(2e-3, 1e-3, 60), np.zeros(1, np.int64), np.array([0.01]))
    contact = replace(contact, nodes=replace(
        contact.nodes, points=contact.nodes.points + [0.0, 0.0, -0.005]))
    body = elastic_body(mesh, 'body', ComplianceOptions(1000))
    patches = solve_contact(body, contact, {})
    local = solve_contact(elastic_body(mesh, 'half_space'), contact, {})
    assert patches.results.magnitudes < 0.7 * local.results.magnitudes
    assert not (patches.flags & PATCH_STRAINED).any()
    assert (patches.results.indentations > 0.9 * patches.results.radii).all()


@pytest.mark.parametrize('elasticity, through', [('half_space', True), ('body', False),
                                                 ('auto', False)])
def test_a_wall_that_gives_way_is_not_pressed_through(sheet, elasticity, through):
    """A pad goes deeper than the sheet is thick, which bends; one face is dented by a tenth."""
    wall, depth = 3e-3, 5e-3
    patch = paraboloid(0.01, depth, 80)
    patch = replace(patch, points=patch.points * [1.0, -1.0, -1.0] + [0.0, 0.0, 0.5 * wall],
                    normals=-patch.normals)
    contact = ContactProblem(patch, np.array([PATCH_THROUGH]), np.array([wall]))
    found = solve_contact(sheet.answering(elasticity), contact, {})
    assert (found.flags & PATCH_THROUGH > 0).tolist() == [through]
    assert (found.flags & PATCH_THIN).all()
    assert_allclose(found.results.depths, 0.45 * wall if through else depth)
    assert through or found.solution.dents.max() < 0.1 * wall


def test_a_link_through_a_wall_that_gives_way_presses_one_face(sheet):
    """Where it would come out of the undeformed sheet it touches nothing."""
    wall = 3e-3
    near, far = paraboloid(0.01, 5e-3, 80), paraboloid(0.01, 15e-3, 80)
    turned = replace(near, points=near.points * [1.0, -1.0, -1.0] + [0.0, 0.0, 0.5 * wall],
                     normals=-near.normals)
    both = join(turned, replace(far, points=far.points - [0.0, 0.0, 0.5 * wall]))
    both = replace(both, links=np.zeros(2, np.int64))
    alone = solve_contact(sheet, ContactProblem(turned, np.zeros(1, int), np.full(1, wall)), {})
    found = solve_contact(sheet, ContactProblem(both, np.zeros(2, int), np.full(2, wall)), {})
    assert found.results.rows.tolist() == [0]
    assert_allclose(found.results.forces, alone.results.forces)


@pytest.mark.parametrize('elasticity', ['half_space', 'body'])
def test_a_body_that_is_dented_itself_is_pressed_through(slab, elasticity):
    """Depths end at a share of the thickness, as if contact had found no more."""
    contact = replace(pinch(1e-3), flags=np.full(2, PATCH_THROUGH), thickness=np.full(2, 2e-3))
    cut = replace(contact, nodes=replace(contact.nodes,
                                         depths=np.minimum(contact.nodes.depths, 0.45 * 2e-3)))
    deep, ended = (solve_contact(slab[elasticity], one, {}) for one in (contact, cut))
    assert_array_equal(deep.solution.forces, ended.solution.forces)
    assert (deep.flags & PATCH_THROUGH).all()


def test_a_compliance_too_coarse_for_the_patches_is_left_out(slab):
    contact = pinch(1e-3)
    own = slab['body'].compliance
    body = elastic_body(slab['body'].mesh, 'auto')
    body._source._compliance = BodyCompliance(own.points, own.elements,
                                              -1e6 * np.abs(own.displacements),
                                              own.least_thickness, own.errors, own.tangential)
    plain = solve_contact(slab['half_space'], contact, {})
    found = solve_contact(body, contact, {})
    assert_array_equal(found.solution.forces, plain.solution.forces)
    assert found.flags.tolist() == plain.flags.tolist() == [PATCH_THIN] * 2


@pytest.mark.parametrize('elasticity', ['body', 'auto'])
def test_a_body_that_cannot_be_prepared_is_a_half_space_with_a_warning(elasticity, monkeypatch):
    monkeypatch.setattr(bracket, 'MOST_CELLS', 10)
    monkeypatch.setattr(body_compliance, 'MORE_NODES', 150)
    mesh, few = shapes.torus(), ComplianceOptions(150)
    nodes = paraboloid(0.04, 1e-3, 50)
    contact = ContactProblem(nodes, np.zeros(1, np.int64), np.array([0.01]))
    body = elastic_body(mesh, elasticity, few)
    found = solve_contact(body, contact, {})
    plain = solve_contact(elastic_body(mesh, 'half_space', few), contact, {})
    assert_array_equal(found.solution.forces, plain.solution.forces)
    assert found.flags.tolist() == [PATCH_THIN]
    warning, = body.warnings
    assert 'own compliance cannot be prepared (the body has more cubes of' in warning


def test_an_unknown_elasticity_is_refused():
    with pytest.raises(TaskError, match='one of half_space, body, auto, got .plastic.'):
        MechanicsOptions(elasticity='plastic')


@pytest.mark.slow
def test_flanks_of_a_pinched_ball_move_as_the_exact_series_has_them():
    radius, depth = 0.04, 1e-3
    body = elastic_body(shapes.sphere(radius, 3e-3), 'body')
    nodes = join(*(ball_under_pad(radius, [0.0, 0.0, side], depth, 0.01, 60, link)
                   for link, side in enumerate((1.0, -1.0))))
    contact = ContactProblem(nodes, np.zeros(2, np.int64), np.full(2, 2.0 * radius))
    patches = solve_contact(body, contact, {})
    surface = deform_body(body, contact, patches)
    moves = surface.vertices - body.mesh.vertices
    cosine = body.mesh.vertices[:, 2] / radius
    flanks = np.abs(cosine) < 0.5
    force = patches.results.magnitudes.mean()
    # Even orders of two opposite forces; a ring of the contact's width damps the high ones.
    out = np.zeros(len(cosine))
    for order in range(0, 60, 2):
        width = patches.results.radii.mean() / radius
        pressure = (2 * order + 1) * force / (2.0 * np.pi * radius ** 2)
        factor = ball_response(order, RATIO)[0] if order else 2.0 * RATIO - 1.0
        out += (np.exp(-0.1 * (order * width) ** 2) * pressure * radius / MODULUS * factor
                * legval(cosine, np.eye(order + 1)[order]))
    radial = (moves * body.mesh.vertices).sum(axis=1) / radius
    assert_allclose(radial[flanks], out[flanks], rtol=0.0, atol=ATOL_FLANK * depth)
    assert out[flanks].max() > 5.0 * ATOL_FLANK * depth
    assert radial[np.abs(cosine) < 0.1].min() > 0.0
    volume, _ = volume_and_centre(surface.vertices, body.mesh.faces)
    assert_allclose(volume - body.mesh.volume, surface.volume_change, rtol=1e-6)


def test_friction_shifts_the_centre_of_mass_of_a_body_of_its_own_compliance_alone(
        slab, monkeypatch):
    contact, shifts = pinch(1e-3), {}
    for name in ('half_space', 'body'):
        patches = solve_contact(slab[name], contact, {})
        surface = deform_body(slab[name], contact, patches)
        for factor in (0.0, 1.0, 2.0):
            monkeypatch.setattr(bodies, 'least_friction', lambda loads, *_, factor=factor: (
                factor * np.sign(loads.points[:, 2:]) * [1e-3, 0.0, 0.0]))
            shifts[name, factor] = shift_of_centre(slab[name], contact, patches, surface)
    assert_array_equal(shifts['half_space', 0.0], shifts['half_space', 2.0])
    once, twice = (shifts['body', factor] - shifts['body', 0.0] for factor in (1.0, 2.0))
    assert np.linalg.norm(once) > 1e-9
    assert_allclose(twice, 2.0 * once, rtol=1e-3, atol=1e-3 * np.linalg.norm(once))
