"""The command ``gripsim indent``: forces on the object, refused indenters."""

import numpy as np
import pytest
import trimesh
import yaml
from cli_cases import assert_refused, gripsim, strict
from numpy.testing import assert_allclose

from gripsim_ros.core.bodies import shapes


@pytest.fixture(scope='module')
def ball_file(tmp_path_factory):
    """Return a ball of 60 mm."""
    path = tmp_path_factory.mktemp('ball') / 'ball.ply'
    ball = shapes.sphere(0.03, 0.003)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(path)
    return path


def test_indent_pushes_along_and_reports_every_key(ball_file):
    code, out, _ = gripsim('indent', ball_file, '--at', '0', '0', '-0.1', '--along', '-0', '0',
                           '5e-3', '--sphere', '0.01', '--depth', '1e-3', '--material',
                           'foam', '--json')
    answer = strict(out)
    assert code == 0 and set(answer) >= {
        'force', 'normal_force', 'contact_radius', 'area', 'peak_pressure', 'loaded_vertices',
        'max_displacement', 'strain_energy', 'volume', 'volume_change', 'centre_of_mass',
        'peak_von_mises', 'max_deformation', 'mean_deformation', 'quantitative', 'warnings'}
    assert answer['normal_force'] > 0.0 and answer['force'][2] > 0.0
    assert_allclose(answer['contact_radius'], np.sqrt(answer['area'] / np.pi))


def test_indent_takes_the_elasticity_it_is_told_and_half_spaces_else(ball_file):
    push = ('indent', ball_file, '--at', '0', '0', '-0.1', '--along', '0', '0', '1', '--sphere',
            '0.02', '--depth', '2e-3', '--json')
    plain, told, body = (strict(gripsim(*push, *more)[1]) for more in (
        (), ('--elasticity', 'half_space'), ('--elasticity', 'body')))
    assert plain == told
    # A half-space's far part yields, by F / (pi E* r), a free ball's does not on the mean: the
    # force differs by less than the contact's radius over the ball's.
    change = body['normal_force'] / plain['normal_force'] - 1.0
    assert 0.0 < change < plain['contact_radius'] / 0.03


@pytest.mark.parametrize('arguments, said', [
    (('--sphere', '0.01', '--depth', '1e-3', '--elasticity', 'steel'), 'half_space, body, auto'),
    (('--sphere', '0.01', '--depth', '0'), '--depth must be'),
    (('--sphere', '-1e-2', '--depth', '1e-3'), '--sphere must be'),
    (('--depth', '1e-3'), '--sphere'),
    (('--sphere', '0.01', '--cylinder', '0.01', '--depth', '1e-3'), '--sphere and --cylinder'),
    (('--link', 'sdh_palm_thumb', '--depth', '1e-3'), 'sdh_thumb_3_link'),
    (('--sphere', '0.01'), '--depth'),
])
def test_indent_refuses_bad_indenters(ball_file, arguments, said):
    assert_refused(gripsim('indent', ball_file, '--at', '0', '0', '-0.1', '--along', '0', '0',
                           '1', *arguments), said)


def test_indent_refuses_a_ray_that_misses(ball_file):
    assert_refused(gripsim('indent', ball_file, '--at', '1', '1', '1', '--along', '0', '0', '1',
                           '--sphere', '0.01', '--depth', '1e-3'))


def test_a_soft_pad_presses_less_than_a_rigid_ball_at_equal_depth(ball_file):
    forces = []
    for indenter in (('--sphere', '1.0'), ('--link', 'sdh_thumb_3_link')):
        code, out, _ = gripsim('indent', ball_file, '--at', '0', '0', '0.1', '--along', '0', '0',
                               '-1', *indenter, '--depth', '1e-3', '--material', 'silicone',
                               '--json')
        assert code == 0
        forces.append(strict(out)['normal_force'])
    assert 0.0 < forces[1] < forces[0]


def test_indent_is_a_table_without_json(ball_file):
    code, out, _ = gripsim('indent', ball_file, '--at', '0', '0', '0.1', '--along', '0', '0',
                           '-1', '--cylinder', '5e-3', '--depth', '5e-4')
    assert code == 0 and 'normal force' in out


@pytest.mark.parametrize('changes, said', [
    ({'youngs_modulus': 0.0}, 'youngs_modulus'), ({'youngs_modulus': -1e5}, 'youngs_modulus'),
    ({'poisson_ratio': 0.5}, 'poisson_ratio'), ({'poisson_ratio': -1.0}, 'poisson_ratio'),
    ({'youngs_modulus': float('nan')}, 'youngs_modulus'),
    ({'density': float('inf')}, 'density')])
def test_indent_refuses_materials_that_cannot_be(ball_file, tmp_path, changes, said):
    material = {'youngs_modulus': 5e5, 'poisson_ratio': 0.3, 'density': 100.0, 'friction': 0.5}
    path = tmp_path / 'material.yaml'
    path.write_text(yaml.safe_dump(material | changes))
    assert_refused(gripsim('indent', ball_file, '--at', '0', '0', '0.1', '--along', '0', '0',
                           '-1', '--sphere', '0.01', '--depth', '1e-3', '--material', path), said)


@pytest.mark.parametrize('at, along, depth, said', [
    ('0 0 0.1', '0 0 0', '1e-3', '--along'), ('0 0 nan', '0 0 -1', '1e-3', '--at'),
    ('0 0 0.1', '0 0 -1', '0.07', 'thickness'), ('0 0 0.1', '0 0 -1', 'inf', '--depth'),
    ('0 0 0', '0 0 -1', '1e-3', 'inside')])
def test_indent_refuses_pushes_that_make_no_sense(ball_file, at, along, depth, said):
    assert_refused(gripsim('indent', ball_file, '--at', *at.split(), '--along', *along.split(),
                           '--sphere', '0.01', '--depth', depth), said)


@pytest.mark.parametrize('arguments', [
    ('--sphere', '0.01', '--depth', '0.0195'), ('--sphere', '0.01', '--depth', '0.03'),
    ('--sphere', '0.01', '--depth', '0.058'), ('--link', 'sdh_thumb_3_link', '--depth', '0.05')])
def test_indent_refuses_a_buried_indenter(ball_file, arguments):
    assert_refused(gripsim('indent', ball_file, '--at', '0', '0', '0.1', '--along', '0', '0',
                           '-1', *arguments), 'buried')


def test_indent_refuses_an_open_mesh(tmp_path):
    ball = trimesh.creation.icosphere(3, 0.03)
    ball.update_faces(ball.triangles_center[:, 2] < 0.0)
    ball.export(tmp_path / 'bowl.ply')
    assert_refused(gripsim('indent', tmp_path / 'bowl.ply', '--at', '0', '0', '-0.1', '--along',
                           '0', '0', '1', '--sphere', '0.01', '--depth', '1e-3'), 'open')
