"""Bad input of ``gripsim plan`` and ``evaluate``: exit code 2 and one clear line."""

import numpy as np
import pytest
from cli_cases import BAD_INPUT, assert_refused, box_arrays, gripsim, write_obj

MATERIAL = 'youngs_modulus: {}\npoisson_ratio: {}\ndensity: {}\nfriction: {}\n'


@pytest.fixture(scope='module')
def box_file(tmp_path_factory):
    """Return a box of 40 x 30 x 60 mm."""
    return write_obj(tmp_path_factory.mktemp('mesh') / 'box.obj', *box_arrays())


PLAN_REFUSALS = [
    (('no_such.stl',), 'no such file'),
    (('BOX', '--count', '0'), '--count must be from 1'),
    (('BOX', '--count', '-3'), 'got -3'),
    (('BOX', '--count', '1.5'), "'1.5'"),
    (('BOX', '--hypotheses', '0'), '--hypotheses must be from 1'),
    (('BOX', '--hypotheses', '99999999999999999999'), '--hypotheses must be from 1'),
    (('BOX', '--time', '0'), '--time must be'),
    (('BOX', '--time', 'nan'), '--time must be'),
    (('BOX', '--time', '-1e-3'), 'got -0.001'),
    (('BOX', '--seed', '-1'), '--seed must be'),
    (('BOX', '--scale', '0'), '--scale must be'),
    (('BOX', '--scale', '-1'), '--scale must be'),
    (('BOX', '--scale', 'inf'), '--scale must be'),
    (('BOX', '--scale', '1000'), '--scale'),
    (('BOX', '--scale', '0.001'), '--scale'),
    (('BOX', '--material', 'unobtainium'), 'foam'),
    (('BOX', '--material', 'no_such.yaml'), 'no_such.yaml'),
    (('BOX', '--task', 'no_such.yaml'), 'no such file'),
    (('BOX', '--out', '/no/such/folder/x.json'), 'folder does not exist'),
    (('BOX', '--report', '/'), 'it is a folder'),
    (('BOX', '--nodes', '--elasticity', 'body'), '--elasticity body does not go with --nodes'),
    (('BOX', '--strongest', '--nodes'), '--strongest does not go with --nodes'),
    (('BOX', '--strongest', '--robustness', '5'), '--strongest does not go with --robustness'),
    (('BOX', '--strongest', '--material', 'firm_fruit'), 'without max_pressure'),
    (('BOX', 'BOX'), 'unexpected extra argument'),
    (('BOX', '--wrong'), '--wrong'),
    ((), 'Missing argument'),
]


@pytest.mark.parametrize('arguments, said', PLAN_REFUSALS)
def test_plan_refuses_bad_input_in_one_line(box_file, arguments, said):
    words = [str(box_file) if word == 'BOX' else word for word in arguments]
    assert_refused(gripsim('plan', *words, '--json'), *([said] if said else []))


def broken_meshes(folder):
    """Yield what is wrong and a file with it."""
    vertices, faces = box_arrays()
    nan = vertices.copy()
    nan[0, 0] = np.nan
    yield 'empty file', write_obj(folder / 'nothing.obj', [], [])
    yield 'not finite', write_obj(folder / 'nan.obj', nan, faces)
    yield 'broken index', write_obj(folder / 'index.obj', vertices, faces + 50)
    yield 'open', write_obj(folder / 'open.obj', vertices, faces[:-4])
    yield 'flat', write_obj(folder / 'flat.obj', vertices * [1, 1, 0], faces)
    yield 'millimetres', write_obj(folder / 'mm.obj', vertices * 1000, faces)
    yield 'tiny', write_obj(folder / 'tiny.obj', vertices / 1000, faces)
    garbage = folder / 'garbage.stl'
    garbage.write_bytes(bytes(range(256)) * 3)
    yield 'garbage', garbage
    zero = folder / 'zero.ply'
    zero.write_bytes(b'')
    yield 'zero bytes', zero
    yield 'unknown format', write_obj(folder / 'mesh.unknown', vertices, faces)


def test_plan_refuses_broken_meshes_in_one_line(tmp_path):
    for what, path in broken_meshes(tmp_path):
        code, out, err = gripsim('plan', path, '--json')
        assert (code, out) == (BAD_INPUT, ''), (what, err)
        lines = [line for line in err.splitlines() if not line.startswith('warning: ')]
        assert len(lines) == 1 and lines[0].startswith('gripsim: '), (what, err)


@pytest.mark.parametrize('scale, proposed', [(1000, '--scale 0.001'), (0.001, '--scale 1000')])
def test_the_wrong_unit_is_answered_with_the_scale_to_take(tmp_path, scale, proposed):
    vertices, faces = box_arrays()
    assert_refused(gripsim('plan', write_obj(tmp_path / 'm.obj', scale * vertices, faces)),
                   proposed)


@pytest.mark.parametrize('values', [
    (0, 0.3, 900, 0.5), (-1e6, 0.3, 900, 0.5), ('.nan', 0.3, 900, 0.5), (1e6, 0.5, 900, 0.5),
    (1e6, -1.1, 900, 0.5), (1e6, 0.3, 0, 0.5), (1e6, 0.3, 900, -0.1), ('.inf', 0.3, 900, 0.5),
    ('soft', 0.3, 900, 0.5)])
def test_absurd_materials_are_refused(box_file, tmp_path, values):
    path = tmp_path / 'material.yaml'
    path.write_text(MATERIAL.format(*values))
    assert_refused(gripsim('plan', box_file, '--material', path))


@pytest.mark.parametrize('text', ['', '[1, 2]', 'youngs_modulus: 1e6', 'a: [1,\nb', '\x00'])
def test_material_files_that_are_none_are_refused(box_file, tmp_path, text):
    path = tmp_path / 'material.yaml'
    path.write_text(text)
    assert_refused(gripsim('plan', box_file, '--material', path))


@pytest.mark.parametrize('text', ['gravty: 9.81', 'gravity_directions: [[0, 0, 0]]',
                                  'gravity: .nan', '- 1', 'a: [1,\nb'])
def test_bad_tasks_are_refused(box_file, tmp_path, text):
    path = tmp_path / 'task.yaml'
    path.write_text(text)
    assert_refused(gripsim('plan', box_file, '--task', path), 'task')


@pytest.mark.parametrize('text, said', [
    ('', 'grasps'), ('{}', '"grasps"'), ('{"grasps": [1]}', 'grasp 1'),
    ('{"grasps": [{"hand_pose": {"position": [0, 0, 0], "orientation": [0, 0, 0, 2]}, '
     '"joint_trajectory": {"points": [[0, 0, 0, 0, 0, 0, 0]]}}]}', 'norm'),
    ('{"grasps": [{"hand_pose": {"position": [0, 0, 0], "orientation": [0, 0, 0, 1]}, '
     '"joint_trajectory": {"points": [[0, 0]]}}]}', 'rows of 7'),
    ('{"grasps": [{"hand_pose": {"position": [0, 0, 0], "orientation": [0, 0, 0, 1]}, '
     '"joint_trajectory": {"joint_names": ["elbow"], "points": [[0]]}}]}', 'elbow')])
def test_evaluate_refuses_bad_grasp_files(box_file, tmp_path, text, said):
    path = tmp_path / 'grasps.json'
    path.write_text(text)
    assert_refused(gripsim('evaluate', box_file, path), said)
