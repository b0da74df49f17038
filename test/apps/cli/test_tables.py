"""What ``gripsim plan`` says beside grasps: hint, nearest miss, terms, robustness."""

from dataclasses import replace
import time

from cli_cases import assert_refused, gripsim, strict
import numpy as np
from plan_cases import made_up_answer
import trimesh

from gripsim_ros.apps.cli.tables import print_answer
from gripsim_ros.apps.report.html import render_report
from gripsim_ros.core.planning import NearestMiss

SLIPPERY = 'youngs_modulus: 1000000.0\npoisson_ratio: 0.4\ndensity: 1000\nfriction: {}\n'
HINT = 'too slippery: friction is <0.05>'


def without_grasps():
    """Return an answer with a made-up nearest miss."""
    miss = NearestMiss('slips', 3, 'pinch', np.eye(4), np.zeros(7), ('tip', 'thumb'), False,
                       0.0, 0.05, 0.23, np.inf, 5.0, np.nan, 2e4, 1e6)
    return replace(made_up_answer(), grasps=[], nearest_miss=miss, hint=HINT)


def plan_ball(tmp_path, friction, *options):
    """Return the JSON of a plan for a ball of 70 mm."""
    trimesh.creation.icosphere(subdivisions=3, radius=0.035).export(tmp_path / 'ball.stl')
    (tmp_path / 'stuff.yaml').write_text(SLIPPERY.format(friction))
    code, out, _ = gripsim('plan', tmp_path / 'ball.stl', '--material', tmp_path / 'stuff.yaml',
                           '--hypotheses', 4, '--workers', 1, '--json', *options)
    assert code == 0
    return strict(out)


def test_the_table_shows_hint_and_nearest_miss(capsys):
    print_answer(without_grasps())
    out = capsys.readouterr().out
    assert f'Hint: {HINT}' in out and 'hypothesis 3, pinch, 2 links in contact: slips' in out


def test_the_report_shows_hint_and_nearest_miss_as_text():
    text = render_report(without_grasps())
    assert 'friction is &lt;0.05&gt;' in text and 'Nearest miss' in text


def test_the_last_line_tells_each_part_of_the_time(capsys):
    answer = made_up_answer()
    print_answer(replace(answer, statistics={**answer.statistics, 'times': {
        'reading': 0.125, 'planning': 1.5}}))
    assert capsys.readouterr().err.endswith(' s (reading 0.12, planning 1.50 s)\n')


def test_the_parts_of_the_time_add_up(tmp_path):
    begin = time.monotonic()
    told = plan_ball(tmp_path, 0.6)['statistics']
    times = told['times']
    assert list(times) == ['reading', 'loading', 'preparing', 'planning']
    assert min(times.values()) >= 0.0 and times['reading'] > 0.0 < times['preparing']
    np.testing.assert_allclose(times['preparing'] + times['planning'], told['planning_time'])
    assert sum(times.values()) < time.monotonic() - begin


def test_no_grasp_is_an_answer_in_json(tmp_path):
    data = plan_ball(tmp_path, 0.05)
    miss = data['nearest_miss']
    assert data['grasps'] == [] and data['hint'].startswith('too slippery')
    assert miss['friction'] == 0.05 < miss['needed_friction'] < 1.0
    assert f'{miss["needed_friction"]:.3g}' in data['hint']
    assert miss['reason'] in data['rejected'] and len(miss['joint_positions']) == 7
    assert not data['statistics']['timed_out']


def test_a_grasp_explains_itself_in_json(tmp_path):
    data = plan_ball(tmp_path, 0.6, '--robustness', 3, '--count', 1)
    assert data['nearest_miss'] is None and data['hint'] == ''
    quality = data['grasps'][0]['quality']
    assert set(quality['robustness']) == {'samples', 'holding', 'error', 'mean_margin'}
    assert quality['robustness']['samples'] == 3 and quality['damage_margin'] > 1.0
    for term in quality['terms'].values():
        assert set(term) == {'value', 'unit', 'weight', 'normalised', 'contribution'}
    deformation, contacts = data['grasps'][0]['deformation'], data['grasps'][0]['contacts']
    assert 0.0 < deformation['mean_deformation'] < deformation['max_deformation']
    for whole, part, combine in (('strain_energy', 'strain_energy', sum),
                                 ('peak_von_mises', 'peak_von_mises', max),
                                 ('peak_pressure', 'peak_pressure', max)):
        np.testing.assert_allclose(combine(c[part] for c in contacts), deformation[whole])
    assert 0.0 <= data['grasps'][0]['settled']['residual'] < 0.02
    total = sum(term['contribution'] for term in quality['terms'].values())
    np.testing.assert_allclose(total, quality['score'], rtol=1e-9)


def test_negative_robustness_is_bad_input(tmp_path):
    assert_refused(gripsim('plan', tmp_path / 'x.stl', '--robustness', '-1'), '--robustness')
