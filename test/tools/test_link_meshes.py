"""The SDH's link meshes: closed, fine enough, like the real bodies, made from one table."""

from pathlib import Path
import sys

import numpy as np
import pytest
import trimesh

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

import generate_link_meshes as generator  # noqa: E402
import prism_stack  # noqa: E402

NAMES = ('finger', 'finger_tip', 'knuckle', 'palm')
MILLIMETRE = 1e-3
MAX_EDGE = 3.0 * MILLIMETRE
MAX_CHORD_DEVIATION = 0.01 * MILLIMETRE
#: STL stores single precision: of 0.1 m, to 4e-9.
ATOL_SINGLE = 1e-8
MAX_FACES = {'finger': 12000, 'finger_tip': 12000, 'knuckle': 12000, 'palm': 30000}
MAX_BYTES = 3_000_000
#: Against the real bodies.
MAX_BOX_DIFFERENCE = 1.0 * MILLIMETRE
MAX_VOLUME_RATIO = 0.1
MAX_PALMAR_DISTANCE = 0.5 * MILLIMETRE


@pytest.fixture(scope='module')
def table():
    return generator.read_dimensions()


@pytest.fixture(scope='module', params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope='module')
def mesh(name):
    return trimesh.load_mesh(ROOT / 'urdf' / 'meshes' / f'{name}.stl')


@pytest.fixture
def real(name, data_directory):
    path = data_directory / 'schunk_sdh' / f'{name}.stl'
    if not path.is_file():
        pytest.skip(f'no real mesh to compare with at {path}')
    return trimesh.load_mesh(path)


def test_a_mesh_is_one_closed_consistently_wound_body(mesh):
    assert mesh.is_watertight and mesh.is_winding_consistent
    assert mesh.body_count == 1 and mesh.euler_number == 2
    assert mesh.volume > 0.0


def test_no_edge_is_longer_than_three_millimetres(mesh):
    assert mesh.edges_unique_length.max() <= MAX_EDGE


def test_meshes_are_small(name, mesh):
    assert len(mesh.faces) <= MAX_FACES[name]
    assert sum((ROOT / 'urdf' / 'meshes' / f'{n}.stl').stat().st_size for n in NAMES) <= MAX_BYTES


@pytest.mark.nightly     # by day the files are compared with one run
def test_two_runs_make_the_same_bytes(name, table):
    make = generator.MAKERS[name]
    assert generator.stl_bytes(*make(table)) == generator.stl_bytes(*make(table))


# A palm takes ten times as long as a finger.
@pytest.mark.parametrize('name', [
    'finger', 'finger_tip', 'knuckle', pytest.param('palm', marks=pytest.mark.nightly)],
    indirect=True)
def test_the_files_are_what_the_table_makes(name, mesh, table):
    vertices, faces = generator.MAKERS[name](table)
    made = trimesh.Trimesh(vertices * MILLIMETRE, faces, process=False)
    np.testing.assert_allclose(mesh.bounds, made.bounds, rtol=0.0, atol=ATOL_SINGLE)
    np.testing.assert_allclose(mesh.area, made.area, rtol=1e-6, atol=0.0)
    np.testing.assert_allclose(mesh.volume, made.volume, rtol=1e-6, atol=0.0)


def distance_to_finger_pad(table, points):
    return points[:, 0] - table['finger']['pad_face'] * MILLIMETRE


def distance_to_tip_pad(table, points):
    """Distance to the flat part, and beyond its end to the cylinder that continues it."""
    (z, x), radius, _, _ = generator.palmar_arc(table, outer=True)
    z, x, radius = z * MILLIMETRE, x * MILLIMETRE, radius * MILLIMETRE
    round_part = np.hypot(points[:, 0] - x, points[:, 2] - z) - radius
    return np.where(points[:, 2] > z, round_part, points[:, 0] - x - radius)


def pad_points(name, table, mesh):
    """Vertices, middles of edges and of faces whose faces all lie on the pad."""
    d = table[name]
    distance = distance_to_finger_pad if name == 'finger' else distance_to_tip_pad
    first, last = d['pad_range'] if name == 'finger' else (d['pad_start'], d['pad_end'])
    low = np.array([0.0, -d['pad_half_width'], first]) * MILLIMETRE - ATOL_SINGLE
    high = np.array([1e3, d['pad_half_width'], last]) * MILLIMETRE + ATOL_SINGLE
    on = (np.abs(distance(table, mesh.vertices)) < 10.0 * ATOL_SINGLE) \
        & (mesh.vertices >= low).all(axis=1) & (mesh.vertices <= high).all(axis=1)
    corners = mesh.vertices[mesh.faces[on[mesh.faces].all(axis=1)]]
    middles = 0.5 * (corners + np.roll(corners, 1, axis=1))
    return distance, np.vstack([corners.reshape(-1, 3), middles.reshape(-1, 3),
                                corners.mean(axis=1)]), corners


@pytest.mark.parametrize('name', ['finger', 'finger_tip'], indirect=True)
def test_pads_lie_on_their_analytic_surface(name, table, mesh):
    distance, points, corners = pad_points(name, table, mesh)
    assert np.abs(distance(table, points)).max() <= MAX_CHORD_DEVIATION
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                         corners[:, 2] - corners[:, 0]), axis=1).sum()
    d = table[name]
    if name == 'finger':
        length = np.ptp(d['pad_range'])
    else:
        _, radius, start, end = generator.palmar_arc(table, outer=True)
        length = d['flat_end'] - d['pad_start'] + radius * (start - end)
    whole = 2.0 * d['pad_half_width'] * length * MILLIMETRE ** 2
    np.testing.assert_allclose(area, whole, rtol=1e-3, atol=0.0)


def test_the_tip_ends_in_a_fine_round_nose(table):
    vertices, faces = generator.make_finger_tip(table)
    d = table['finger_tip']
    edges = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    middles = vertices[edges].mean(axis=1)
    for key in ('nose_front', 'nose_back'):
        z, x = d[key]
        ends = np.hypot(vertices[:, 0] - x, vertices[:, 2] - z) - d['nose_radius']
        beyond = (vertices[:, 2] > z + 1.0) & ((vertices[:, 0] > x) == (key == 'nose_front'))
        on = (np.abs(ends) < 1e-6) & beyond
        assert on.sum() > 50
        middle = np.hypot(middles[:, 0] - x, middles[:, 2] - z) - d['nose_radius']
        assert np.abs(middle[on[edges].all(axis=1)]).max() * MILLIMETRE <= MAX_CHORD_DEVIATION


def test_a_mesh_has_the_box_and_the_volume_of_the_real_body(mesh, real):
    np.testing.assert_allclose(mesh.bounds, real.bounds, rtol=0.0, atol=MAX_BOX_DIFFERENCE)
    np.testing.assert_allclose(mesh.volume, real.volume, rtol=MAX_VOLUME_RATIO, atol=0.0)


@pytest.mark.parametrize('name', ['finger', 'finger_tip'], indirect=True)
def test_the_palmar_side_is_that_of_the_real_body(mesh, real):
    for a, b in ((mesh, real), (real, mesh)):
        samples, _ = trimesh.sample.sample_surface(a, 3000, seed=1)
        _, distance, _ = trimesh.proximity.closest_point(b, samples[samples[:, 0] > 0.0])
        assert distance.max() <= MAX_PALMAR_DISTANCE


def test_a_stack_of_two_boxes_has_their_volume():
    big = np.array([[0, 0], [4, 0], [4, 3], [0, 3]], float)
    small = np.array([[1, 1], [3, 1], [3, 2], [1, 2]], float)
    layers = [prism_stack.Layer(0, 2, (big,)), prism_stack.Layer(2, 5, (small,))]
    vertices, faces = prism_stack.build(layers, 0.5, 0.5)
    made = trimesh.Trimesh(vertices, faces, process=False)
    assert made.is_watertight and made.is_winding_consistent
    assert made.volume == pytest.approx(4 * 3 * 2 + 2 * 1 * 3, rel=1e-12)


def test_a_loop_within_a_loop_is_a_hole():
    outer = np.array([[0, 0], [4, 0], [4, 4], [0, 4]], float)
    inner = np.array([[1, 1], [3, 1], [3, 3], [1, 3]], float)
    vertices, faces = prism_stack.build([prism_stack.Layer(0, 1, (outer, inner))], 0.5, 0.5)
    made = trimesh.Trimesh(vertices, faces, process=False)
    assert made.is_watertight and made.euler_number == 0
    assert made.volume == pytest.approx(16 - 4, rel=1e-12)
