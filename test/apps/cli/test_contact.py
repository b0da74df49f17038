"""The command ``gripsim contact``: the files' own indices, exits along the motion."""

import numpy as np
import pytest
import trimesh
from cli_cases import assert_refused, box_arrays, gripsim, strict, write_obj
from numpy.testing import assert_allclose
from PIL import Image

from gripsim_ros.apps.report.contact_picture import (
    LEGEND_HEIGHT, LEGEND_ROW, POINT_COLOURS, PROJECTION_COLOUR, VIEW_SIDE)

ATOL_ROUNDOFF, ATOL_SINGLE = 1e-12, 1e-8


@pytest.fixture(scope='module')
def box_file(tmp_path_factory):
    """Return a box of 40 x 30 x 60 mm."""
    return write_obj(tmp_path_factory.mktemp('mesh') / 'box.obj', *box_arrays())


def test_contact_uses_the_files_own_indices(tmp_path):
    paths = [tmp_path / 'a.stl', tmp_path / 'b.obj']
    trimesh.creation.box((0.1, 0.1, 0.1)).export(paths[0])
    vertices, faces = box_arrays()
    write_obj(paths[1], [[9.0, 9.0, 9.0], *(vertices + [0.0, 0.0, 0.075])], faces + 1)
    code, out, _ = gripsim('contact', *paths, '--direction', '0', '-0', '1e-9', '--json')
    answer = strict(out)
    assert code == 0 and set(answer) >= {'a_in_b', 'b_in_a', 'edges'}
    lower = [1 + k for k in range(8) if vertices[k, 2] < 0]
    assert answer['b_in_a']['vertices'] == lower
    # B moves up, so its vertices leave downwards, through the whole box.
    assert_allclose(answer['b_in_a']['depths'], 0.095, atol=ATOL_ROUNDOFF)
    assert_allclose(np.array(answer['b_in_a']['points'])[:, 2], -0.05, atol=ATOL_ROUNDOFF)
    assert answer['a_in_b']['vertices'] == []


def test_contact_of_an_stl_counts_corners(tmp_path):
    paths = [tmp_path / 'a.stl', tmp_path / 'b.stl']
    trimesh.creation.box((0.1, 0.1, 0.1)).export(paths[0])
    trimesh.creation.box((0.2, 0.2, 0.2)).export(paths[1])
    pose = tmp_path / 'pose.yaml'
    pose.write_text('position: [0.1, 0.1, 0.1]\norientation: [0, 0, 0, 1]\n')
    _, out, _ = gripsim('contact', *paths, '--transform', pose, '--json')
    corners = trimesh.load(paths[0], process=False).vertices
    expected = np.flatnonzero((corners > 0).all(axis=1)).tolist()
    answer = strict(out)['a_in_b']
    assert answer['vertices'] == expected and len(expected) > 1
    assert_allclose(answer['depths'], 0.05, atol=ATOL_SINGLE)


@pytest.mark.parametrize('arguments, said', [
    (('--direction', '0', '0', '0'), 'must not be zero'),
    (('--direction', '0', '0', 'nan'), 'finite'),
    (('--direction', '0', '0'), 'takes 3 numbers'),
    (('--backend', 'seed'), 'needs --direction'),
    (('--picture', 'no_such_folder/x.png'), 'folder does not exist'),
    (('--backend', 'magic'), 'magic'),
    (('--transform', 'no_such.yaml'), 'no such file'),
])
def test_contact_refuses_bad_input(box_file, arguments, said):
    assert_refused(gripsim('contact', box_file, box_file, *arguments, '--json'), said)


@pytest.mark.parametrize('text', ['position: [0, 0]', 'position: [0, 0, .nan]', '[0, 0, 0]',
                                  'orientation: [0, 0, 0, 2]', 'place: [0, 0, 0]'])
def test_contact_refuses_bad_poses(box_file, tmp_path, text):
    path = tmp_path / 'pose.yaml'
    path.write_text(text)
    assert_refused(gripsim('contact', box_file, box_file, '--transform', path), 'transform')


def test_crossing_wedges_without_a_vertex_inside_are_found_by_their_edges(tmp_path):
    tent = trimesh.Trimesh(
        [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, 0, 1], [1, 0, 1]],
        [[0, 2, 1], [0, 3, 2], [0, 1, 5], [0, 5, 4], [2, 3, 4], [2, 4, 5], [1, 2, 5], [3, 0, 4]])
    assert tent.is_volume
    tent.apply_scale(0.05)
    turned = tent.copy()
    turned.apply_transform(trimesh.transformations.rotation_matrix(np.pi, [1, 1, 0]))
    turned.apply_translation([0.0, 0.0, 0.1 - 0.001])
    for name, mesh in (('a.off', tent), ('b.off', turned)):
        mesh.export(tmp_path / name)
    code, out, _ = gripsim('contact', tmp_path / 'a.off', tmp_path / 'b.off',
                           '--direction', '0', '0', '-1', '--json')
    answer = strict(out)
    assert code == 0
    assert answer['a_in_b']['vertices'] == answer['b_in_a']['vertices'] == []
    [crossing] = answer['edges']
    assert sorted(crossing['a']) == sorted(crossing['b']) == [4, 5]
    assert_allclose(crossing['depth'], 0.001, atol=ATOL_SINGLE)


@pytest.fixture(scope='module')
def cubes(tmp_path_factory):
    """Return two cubes of side 2, the second moved by (1.5, 0.2, 0.1)."""
    folder = tmp_path_factory.mktemp('cubes')
    box = trimesh.creation.box((2.0, 2.0, 2.0))
    return (write_obj(folder / 'a.obj', box.vertices, box.faces),
            write_obj(folder / 'b.obj', box.vertices + [1.5, 0.2, 0.1], box.faces))


def answer_of(*arguments):
    code, out, err = gripsim('contact', *arguments, '--json')
    assert code == 0, err
    return strict(out)


def test_the_manifold_of_two_cubes(cubes):
    answer = answer_of(*cubes, '--backend', 'gjk_epa')
    manifold = answer['manifold']
    assert manifold['overlap'] and not answer['approximate']
    assert_allclose(manifold['depth'], 0.5, atol=ATOL_ROUNDOFF)
    assert_allclose(manifold['normal'], [1, 0, 0], atol=ATOL_ROUNDOFF)
    assert_allclose(sorted(manifold['points']), [
        [1, -0.8, -0.9], [1, -0.8, 1], [1, 1, -0.9], [1, 1, 1]], atol=ATOL_ROUNDOFF)
    assert_allclose(manifold['depths'], 0.5, atol=ATOL_ROUNDOFF)
    assert answer['a_in_b']['vertices'] == answer['b_in_a']['vertices'] == answer['edges'] == []


def test_the_common_plane_of_two_cubes(cubes, tmp_path):
    plane = answer_of(*cubes, '--backend', 'common_plane')['plane']
    assert not plane['apart'] and plane['gap'] <= -0.5 + ATOL_ROUNDOFF
    pose = tmp_path / 'pose.yaml'
    pose.write_text('position: [1.5, 0, 0]\norientation: [0, 0, 0, 1]\n')
    answer = answer_of(*cubes, '--backend', 'common_plane', '--transform', pose)
    plane = answer['plane']
    assert plane['apart'] and 0.9 < plane['gap'] <= 1.0 + ATOL_ROUNDOFF
    assert answer['a_in_b']['vertices'] == answer['b_in_a']['vertices'] == answer['edges'] == []
    assert 1.0 < plane['point'][0] < 2.0


def test_the_papers_rule_is_labelled_approximate(cubes):
    motion = ('--direction', '-1', '0', '0')
    answer = answer_of(*cubes, '--backend', 'seed', *motion)
    exact = answer_of(*cubes, *motion)
    assert answer['approximate'] and not exact['approximate']
    # Eight corners are too few for the rule: the corner nearest in projection is not hit.
    assert set(answer['b_in_a']['vertices']) <= set(exact['b_in_a']['vertices'])


def test_auto_is_the_exact_back_end(cubes):
    motion = ('--direction', '-1', '0.1', '0')
    assert answer_of(*cubes, *motion) == answer_of(*cubes, '--backend', 'vp_tree', *motion)
    assert answer_of(*cubes, *motion)['backend'] == 'vp_tree'


@pytest.mark.parametrize('backend', ['vp_tree', 'gjk_epa', 'common_plane', 'seed'])
def test_each_back_end_prints_a_table(cubes, backend):
    code, out, _ = gripsim('contact', *cubes, '--backend', backend, '--direction', '-1', '0', '0')
    assert code == 0 and len(out.splitlines()) > 4


def test_an_open_mesh_is_refused_in_one_line(box_file, tmp_path):
    vertices, faces = box_arrays()
    path = write_obj(tmp_path / 'open.obj', vertices, faces[:-3])
    assert_refused(gripsim('contact', box_file, path), 'open.obj', 'open', 'hole')
    assert_refused(gripsim('contact', path, box_file), 'open.obj', 'open')


def test_a_small_hole_is_filled_and_said_and_indices_stay(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.03)
    holed = write_obj(tmp_path / 'holed.obj', ball.vertices, ball.faces[1:])
    whole = write_obj(tmp_path / 'whole.obj', ball.vertices, ball.faces)
    other = tmp_path / 'box.stl'
    trimesh.creation.box((0.04, 0.04, 0.04)).export(other)
    code, out, err = gripsim('contact', holed, other, '--direction', '0', '0', '1', '--json')
    assert code == 0 and 'filled 1 hole' in err
    found, closed = strict(out), answer_of(whole, other, '--direction', '0', '0', '1')
    for answer in (found, closed):      # any axes are a ball's: one triangle turns its box
        del answer['boxes'], answer['regions']
    assert found == closed


def test_a_mesh_turned_inside_out_is_turned_back(box_file, tmp_path):
    vertices, faces = box_arrays()
    inverted = write_obj(tmp_path / 'inverted.obj', vertices + 0.01, faces[:, ::-1])
    plain = write_obj(tmp_path / 'plain.obj', vertices + 0.01, faces)
    for motion in ((), ('--direction', '1', '0.1', '0.2')):
        answer = answer_of(box_file, inverted, *motion)
        expected = answer_of(box_file, plain, *motion)
        assert answer['a_in_b'] == expected['a_in_b'] and answer['a_in_b']['vertices']


@pytest.mark.parametrize('hollow, said', [(False, 'united'), (True, 'crosses itself')])
def test_overlapping_pieces_of_one_mesh_hide_nothing(tmp_path, hollow, said):
    # Two boxes that cross; the probe's tip is in the first alone, and moves to the second. With
    # a cavity in the first, off the tip's way, they are not united.
    box, hole = trimesh.creation.box((0.04, 0.04, 0.04)), trimesh.creation.box((0.004,) * 3)
    hole.invert()
    pair = trimesh.util.concatenate([
        box, box.copy().apply_translation([0.03, 0.001, 0.002]),
        *([hole.apply_translation([-0.012, -0.012, -0.012])] if hollow else [])])
    tip = trimesh.creation.box((0.002, 0.002, 0.002))
    paths = [write_obj(tmp_path / 'pair.obj', pair.vertices, pair.faces),
             write_obj(tmp_path / 'tip.obj', tip.vertices, tip.faces)]
    code, out, err = gripsim('contact', *paths, '--direction', '-1', '0', '0', '--json')
    answer = strict(out)
    assert code == 0 and said in err
    assert answer['b_in_a']['vertices'] == list(range(8))
    assert_allclose(np.array(answer['b_in_a']['points'])[:, 0], 0.05, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('backend, colours', [
    ('vp_tree', {0, 1}), pytest.param('seed', {0}, marks=pytest.mark.nightly),
    pytest.param('gjk_epa', {1}, marks=pytest.mark.nightly),
    pytest.param('common_plane', set(), marks=pytest.mark.nightly)])
def test_a_picture_shows_what_was_found(cubes, tmp_path, backend, colours):
    path = tmp_path / 'contact.png'
    code, _, err = gripsim('contact', *cubes, '--direction', '-1', '0', '0', '--backend', backend,
                           '--picture', path)
    assert code == 0 and f'wrote {path}' in err
    with Image.open(path) as picture:
        more = 2 * LEGEND_ROW if backend == 'seed' else 0
        assert picture.size == (2 * VIEW_SIDE, VIEW_SIDE + LEGEND_HEIGHT + more)
        pixels = np.asarray(picture.convert('RGB'), float) / 255.0
    # Above the legend; lit balls and arrows keep the ratios of their colour.
    seen = pixels[:VIEW_SIDE]
    for number, wanted in [*enumerate(POINT_COLOURS), ('seed', PROJECTION_COLOUR)]:
        alike = (seen / seen.sum(axis=2, keepdims=True)
                 - np.array(wanted) / sum(wanted))
        count = int((np.abs(alike).max(axis=2) < 0.1).sum())
        assert (count > 20) == (number in {*colours, backend}), number


def test_a_rod_through_a_plate_intersects_it_without_a_vertex_inside(tmp_path):
    rod, plate = trimesh.creation.box((0.01, 0.01, 0.1)), trimesh.creation.box((0.1, 0.1, 0.01))
    paths = [write_obj(tmp_path / 'plate.obj', plate.vertices, plate.faces),
             write_obj(tmp_path / 'rod.obj', rod.vertices + [0.003, 0.002, 0.0], rod.faces)]
    answer = answer_of(*paths, '--direction', '0', '0', '-1')
    assert answer['a_in_b']['vertices'] == answer['b_in_a']['vertices'] == []
    assert answer['intersecting']
    pose = tmp_path / 'pose.yaml'
    pose.write_text('position: [0.2, 0, 0]\norientation: [0, 0, 0, 1]\n')
    assert not answer_of(*paths, '--transform', pose)['intersecting']


def test_boxes_and_regions_are_told_in_the_frame_of_a(box_file, tmp_path):
    pose = tmp_path / 'pose.yaml'
    pose.write_text('position: [0.03, 0.01, -0.05]\norientation: [0, 0, 0, 1]\n')
    answer = answer_of(box_file, box_file, '--transform', pose)
    for name, centre in (('a', [0.0, 0.0, 0.0]), ('b', [0.03, 0.01, -0.05])):
        box, region = answer['boxes'][name], answer['regions'][name]
        assert_allclose(box['centre'], centre, atol=ATOL_ROUNDOFF)
        assert_allclose(box['half_lengths'], [0.03, 0.02, 0.015], atol=ATOL_ROUNDOFF)
        # What both share: 10 x 20 x 10 mm about half of the way.
        assert_allclose(region['half_lengths'], [0.005, 0.005, 0.01], atol=ATOL_ROUNDOFF)
        assert_allclose(region['centre'], [0.015, 0.005, -0.025], atol=ATOL_ROUNDOFF)
    pose.write_text('position: [0.3, 0, 0]\norientation: [0, 0, 0, 1]\n')
    assert answer_of(box_file, box_file, '--transform', pose)['regions'] == {'a': None, 'b': None}


def plane_of(folder, a, b):
    for name, points in (('a.csv', a), ('b.csv', b)):
        np.savetxt(folder / name, points, delimiter=',')
    return answer_of(folder / 'a.csv', folder / 'b.csv', '--backend', 'common_plane')['plane']


def test_the_common_plane_of_the_papers_triangles(tmp_path):
    h = 85.4618
    plane = plane_of(tmp_path,
                     [[170.1521, 48.3081, 100], [170.1521, 48.3081, -50], [80.3917, 92.3885, -50]],
                     [[191.1489, 77.5045, -h], [274.0921, 162.9021, 0], [223.1945, 152.6198, h]])
    # From the published gap of the first plane to the distance (quadratic programme).
    assert plane['apart'] and 34.39 < plane['gap'] <= 47.606


def test_a_plane_parts_crossed_segments_and_proves_nothing_of_a_point_on_one(tmp_path):
    segment = [[0, 0, 0], [1, 0, 0]]
    plane = plane_of(tmp_path, segment, [[0.5, -1, 1], [0.5, 1, 1]])
    assert plane['apart'] and plane['gap'] == pytest.approx(1.0)
    plane = plane_of(tmp_path, [[0.2, 0, 0]], segment)
    assert plane['apart'] is None and plane['gap'] <= 0.0


def test_points_are_read_for_a_plane_alone_and_need_three_columns(tmp_path, box_file):
    path = tmp_path / 'flat.csv'
    path.write_text('0,0\n1,0\n')
    assert_refused(gripsim('contact', path, box_file, '--backend', 'common_plane'), '3 columns')
    assert_refused(gripsim('contact', path, box_file), 'mesh format')
    path.write_text('0,0,0\n')
    assert_refused(gripsim('contact', path, box_file, '--backend', 'common_plane', '--picture',
                           tmp_path / 'x.png'), 'draws meshes')
