"""The command ``gripsim contact``: the files' own indices, exits along the motion."""

import numpy as np
import pytest
import trimesh
from cli_cases import assert_refused, box_arrays, gripsim, strict, write_obj
from numpy.testing import assert_allclose

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
    (('--backend', 'gjk_epa'), 'not built yet'),
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
