"""The commands ``gripsim squeeze`` and ``gripsim calibrate``."""

from cli_cases import assert_refused, gripsim, strict
import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh
import yaml

CURVE = '\n'.join(['Compression (mm),Load (N)']
                  + [f'{w},{3.0 * w}' for w in np.linspace(0.0, 1.2, 30)])


@pytest.fixture(scope='module')
def block(tmp_path_factory):
    """Return a block of 20 mm."""
    path = tmp_path_factory.mktemp('block') / 'block.stl'
    trimesh.creation.box((0.02, 0.02, 0.02)).export(path)
    return path


@pytest.mark.nightly
def test_what_is_calibrated_is_squeezed_with_the_measured_force(block, tmp_path):
    pytest.importorskip('pytetwild', reason='the mesher is of the extra `sim`')
    curve, out = tmp_path / 'curve.csv', tmp_path / 'made.yaml'
    curve.write_text(CURVE)
    code, text, _ = gripsim('calibrate', curve, '--mesh', block, '--plates', '--axis', '0', '0',
                            '-1', '--out', out, '--json')
    found = strict(text)
    assert code == 0 and set(found) >= {'youngs_modulus', 'standard_error', 'law', 'range',
                                        'misfit'}
    assert yaml.safe_load(out.read_text())['youngs_modulus'] == found['youngs_modulus']
    code, text, _ = gripsim('squeeze', block, '--plates', '--way', '1e-3', '--axis', '0', '0',
                            '1', '--steps', '2', '--material', out, '--json', '--picture',
                            tmp_path / 'block.png')
    answer = strict(text)
    assert code == 0 and answer['quantitative'] and len(answer['curve']) == 2
    assert set(answer['curve'][0]) == {'way', 'force', 'area'}
    assert_allclose(answer['curve'][-1]['force'], 3.0, rtol=0.03)
    assert_allclose(answer['curve'][-1]['area'], 4e-4, rtol=0.1)


def test_the_fingers_of_a_plan_squeeze_further(tmp_path):
    ball, grasps = tmp_path / 'ball.stl', tmp_path / 'grasps.json'
    trimesh.creation.icosphere(2, 0.03).export(ball)
    assert gripsim('plan', ball, '--material', 'silicone', '--hypotheses', '4', '--count', '1',
                   '--out', grasps)[0] == 0
    code, text, _ = gripsim(
        'squeeze', ball, '--material', 'silicone', '--fingers', grasps, '--way', '1e-3', '--steps',
        '2', '--elasticity', 'half_space', '--picture', tmp_path / 'hand.png', '--json')
    answer = strict(text)
    assert code == 0 and answer['quantitative'] and len(answer['links']) >= 2
    assert [set(point) for point in answer['curve']] == 2 * [{'way', 'force', 'area'}]
    assert len(answer['joint_names']) == len(answer['joint_positions'][0])
    assert 0.0 < answer['curve'][0]['force'] < answer['curve'][1]['force']
    assert (tmp_path / 'hand.png').stat().st_size > 10_000
    assert_refused(gripsim('squeeze', ball, '--fingers', grasps, '--rank', '7', '--way', '1e-3'),
                   '--rank must be 1 to 1')


@pytest.mark.parametrize('arguments, said', [
    (('--plates', '--way', '0'), '--way must be'),
    (('--way', '1e-3'), 'either --plates or --fingers'),
    (('--plates', '--fingers', 'g.json', '--way', '1e-3'), 'either --plates or --fingers'),
    (('--plates', '--elasticity', 'body', '--way', '1e-3'), '--elasticity and --hand go with'),
    (('--fingers', 'not_there.json', '--way', '1e-3'), 'not_there.json'),
    (('--plates', '--way', '1e-3', '--steps', '0'), '--steps must be'),
    (('--plates', '--way', '1e-3', '--axis', '0', '0', '0'), '--axis must not be zero'),
    (('--plates', '--way', '1e-3', '--ends', 'glued'), 'ends must be'),
    (('--plates', '--way', '1'), 'way must be above 0 and at most')])
def test_squeeze_refuses_in_one_line(block, arguments, said):
    assert_refused(gripsim('squeeze', block, *arguments), said)


@pytest.mark.parametrize('text, arguments, said', [
    ('', (), 'is empty'), (CURVE.replace('(mm)', '(rod)'), (), '--unit-way'),
    (CURVE, ('--columns', '1,1'), 'the same column'),
    (CURVE, ('--columns', 'Load'), '--columns takes'),
    (CURVE, ('--max-strain', '2'), 'max_strain must be'),
    (CURVE, ('--law', 'hooke'), 'law must be one of'),
    (CURVE, ('--unit-way', 'in', '--axis', '1', '0', '0'), 'more than the object is thick')])
def test_calibrate_refuses_in_one_line(block, tmp_path, monkeypatch, text, arguments, said):
    from gripsim_ros.core.mechanics.finite_strain import squeezing
    from block_cases import block_solid
    monkeypatch.setattr(squeezing, 'mesh_body', lambda *_: block_solid())
    curve = tmp_path / 'curve.csv'
    curve.write_text(text)
    assert_refused(gripsim('calibrate', curve, '--mesh', block, '--plates', '--out',
                           tmp_path / 'made.yaml', *arguments), said)
