"""The command ``gripsim``: what it writes where, exit codes, one line for bad input."""

from itertools import pairwise
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from cli_cases import assert_refused, gripsim, start, strict
from numpy.testing import assert_allclose
from plan_cases import made_up_answer

from gripsim_ros.apps.cli import main as cli_main
from gripsim_ros.apps.cli.main import main
from gripsim_ros.apps.cli.output import plain, write_json
from gripsim_ros.apps.cli.tables import print_answer
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import from_pose, to_pose
from gripsim_ros.library.grasp_file import load_grasps
from gripsim_ros.library.resources import load_default_hand

ATOL_ROUNDOFF = 1e-12
#: Scores nearer than this are tied and ranked by the hypothesis.
ATOL_TIE = 1e-9
JOINTS = ('0.5', '-0.3', '1e-1', '-9.9e-05', '0', '-1E-2', '.2')


def test_help_lists_every_verb():
    code, out, _ = gripsim('--help')
    assert code == 0
    for verb in ('plan', 'evaluate', 'contact', 'indent', 'fk', 'sweep', 'export', 'suite',
                 'demo'):
        assert f' {verb} ' in out


def test_the_command_alone_shows_its_help():
    assert gripsim()[:2] == gripsim('--help')[:2]


@pytest.mark.parametrize('verb', ['plan', 'evaluate', 'contact', 'indent', 'fk', 'sweep',
                                  'export', 'demo'])
def test_every_verb_has_help(verb):
    code, out, _ = gripsim(verb, '--help')
    assert code == 0 and 'Usage' in out


def test_help_imports_nothing_heavy():
    code = ('import sys, gripsim_ros.apps.cli.main as m; m.main(["--help"]); '
            'print([n for n in ("numpy", "scipy", "trimesh", "numba", "yaml", "rclpy", "PIL", '
            '"sqlalchemy") '
            'if n in sys.modules])')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == '[]', run.stderr


@pytest.mark.parametrize('thread, ended', [('compliance', False), ('other', True)])
def test_a_preparation_that_nobody_waits_for_does_not_outlive_the_answer(thread, ended):
    code = ('import atexit, sys, threading, time\n'
            'import gripsim_ros.apps.cli.main as m\n'
            'def guarded(*_):\n'
            f'    threading.Thread(target=time.sleep, args=(60,), name={thread!r},\n'
            '                     daemon=True).start()\n'
            '    print("answer")\n'
            '    return 2\n'
            'm._guarded = guarded\n'
            'atexit.register(lambda: print("interpreter ended"))\n'
            'sys.argv = ["gripsim", "plan"]\n'
            'sys.exit(m.main())\n')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=50)
    assert run.returncode == 2, run.stderr
    assert run.stdout.splitlines() == ['answer'] + ['interpreter ended'] * ended


def test_version_is_printed():
    from gripsim_ros import __version__
    assert gripsim('--version') == (0, f'{__version__}\n', '')


def test_fk_writes_the_pose_of_every_link():
    code, out, err = gripsim('fk', '--joints', *JOINTS, '--json')
    assert (code, err) == (0, '')
    links, hand = strict(out)['links'], load_default_hand()
    poses = forward_kinematics(hand, np.array([[float(q) for q in JOINTS]]))[0]
    assert list(links) == list(hand.link_names)
    for T_palm_link, name in zip(poses, hand.link_names):
        position, orientation = to_pose(T_palm_link)
        assert_allclose(links[name]['position'], position, atol=ATOL_ROUNDOFF)
        assert_allclose(links[name]['orientation'], orientation, atol=ATOL_ROUNDOFF)


def test_fk_is_a_table_without_json():
    code, out, _ = gripsim('fk', '--joints', *JOINTS)
    assert code == 0 and 'sdh_thumb_3_link' in out and '{' not in out


def test_out_writes_a_file_and_json_goes_to_standard_output_alone(tmp_path):
    path = tmp_path / 'fk.json'
    code, out, err = gripsim('fk', '--joints', *JOINTS, '--out', path, '--json')
    assert code == 0 and strict(out) == strict(path.read_text()) and str(path) in err


def test_what_a_library_prints_by_itself_is_no_part_of_the_answer():
    code = ('import os, sys, gripsim_ros.apps.cli.main as m; os.write(1, b"before|"); '
            f'sys.argv[1:] = {["fk", "--joints", *JOINTS, "--json"]!r}; code = m.main(); '
            'os.write(1, b"printed in C++|"); sys.exit(code)')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    before, told = run.stdout.split('|', 1)
    assert before == 'before' and 'links' in strict(told)
    assert run.returncode == 0 and run.stderr == 'printed in C++|'


@pytest.mark.parametrize('arguments, said', [
    ((), 'Missing option'),
    (('--joints', '0', '0'), 'takes 7 angles'),
    (('--joints', *'0000000', '0'), 'got 8'),
    (('--joints', 'nan', *'000000'), 'finite'),
    (('--joints', *'000000', 'x'), 'x'),
    (('--joints', *'0000000', '--no-such'), '--no-such'),
    (('--joints', *'0000000', '--out', '/no/such/folder/x.json'), 'folder does not exist'),
])
def test_fk_refuses_bad_joints(arguments, said):
    assert_refused(gripsim('fk', *arguments), said)


def test_an_unknown_verb_is_refused():
    assert_refused(gripsim('grab'), "'grab'")


def test_a_fault_has_its_own_exit_code_and_one_line(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError('of our own')
    monkeypatch.setattr(cli_main, '_command', fail)
    code, out, err = gripsim('fk', '--joints', *JOINTS)
    assert (code, out) == (1, '') and err.count('\n') == 1 and '--debug' in err
    assert 'Traceback' in gripsim('--debug', 'fk', '--joints', *JOINTS)[2]


def test_json_is_strict():
    assert plain({'a': np.array([1.0, np.nan]), 'b': (np.float32(2), np.inf), 3: np.bool_(True)}) \
        == {'a': [1.0, None], 'b': [2.0, None], '3': True}


def test_a_plan_is_written_with_every_key_of_the_contract(tmp_path):
    write_json(made_up_answer().to_mapping(), False, tmp_path / 'grasps.json')
    data = strict((tmp_path / 'grasps.json').read_text())
    assert set(data) >= {'object', 'hand', 'grasps', 'rejected', 'statistics'}
    assert set(data['object']) >= {'mesh', 'scale', 'mass', 'centre_of_mass'}
    assert data['hand']['base_link'] == 'sdh_palm_link' and len(data['hand']['joint_names']) == 7
    assert data['statistics']['repairs'] == ['merged 2 <b>']
    grasp = data['grasps'][0]
    assert set(grasp) >= {'rank', 'stable', 'hand_pose', 'pregrasp_pose', 'joint_trajectory',
                          'grip', 'contacts', 'quality', 'deformation'}
    assert set(grasp['joint_trajectory']) == {'joint_names', 'points'}
    assert set(grasp['grip']) == {'joint_positions', 'joint_efforts'}
    assert set(grasp['contacts'][0]) >= {'link', 'point', 'normal', 'force', 'torque', 'area',
                                         'peak_pressure'}
    assert set(grasp['deformation']) >= {'max', 'centre_of_mass'}


def test_grasps_read_back_are_those_that_were_written(tmp_path):
    answer, hand = made_up_answer(), load_default_hand()
    write_json(answer.to_mapping(), False, tmp_path / 'grasps.json')
    for given, grasp in zip(load_grasps(tmp_path / 'grasps.json', hand.joint_names),
                            answer.grasps, strict=True):
        assert_allclose(given.T_object_palm, grasp.T_object_palm, atol=ATOL_ROUNDOFF)
        assert_allclose(given.trajectory, grasp.trajectory, atol=0.0)


def test_joints_in_a_grasp_file_are_taken_by_name(tmp_path):
    answer, hand = made_up_answer(1), load_default_hand()
    data = plain(answer.to_mapping())
    trajectory = data['grasps'][0]['joint_trajectory']
    trajectory['joint_names'].reverse()
    trajectory['points'] = [row[::-1] for row in trajectory['points']]
    path = tmp_path / 'grasps.json'
    path.write_text(json.dumps(data))
    assert_allclose(load_grasps(path, hand.joint_names)[0].trajectory,
                    answer.grasps[0].trajectory, atol=0.0)


def test_tables_show_grasps_and_reasons(capsys):
    print_answer(made_up_answer())
    out = capsys.readouterr().out
    assert 'three_finger' in out and 'open hand collides' in out


@pytest.fixture(scope='module')
def planned(tmp_path_factory):
    """Return the answer to planning a soft ball, and the file it went to."""
    folder = tmp_path_factory.mktemp('plan')
    ball = shapes.sphere(0.035, 0.006)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(folder / 'ball.ply')
    arguments = ['plan', folder / 'ball.ply', '--material', 'foam', '--hypotheses', '16',
                 '--count', '3', '--seed', '1', '--out', folder / 'grasps.json']
    assert main([str(argument) for argument in arguments]) == 0
    return folder, strict((folder / 'grasps.json').read_text())


def test_plan_finds_stable_grasps_in_rank_order(planned):
    _, data = planned
    assert 1 <= len(data['grasps']) <= 3
    assert [grasp['rank'] for grasp in data['grasps']] == list(range(1, len(data['grasps']) + 1))
    assert all(grasp['stable'] for grasp in data['grasps'])
    told = [(grasp['quality']['score'], grasp['quality']['robustness']['holding'])
            for grasp in data['grasps']]
    assert all(later[0] <= before[0] + ATOL_TIE or later[1] < before[1]
               for before, later in pairwise(told))
    assert data['statistics']['evaluated'] <= 16


def test_planned_poses_are_of_the_palm_in_the_mesh_frame(planned):
    hand = load_default_hand()
    for grasp in planned[1]['grasps']:
        T_object_palm = from_pose(*(np.array(grasp['hand_pose'][part])
                                    for part in ('position', 'orientation')))
        last = np.array(grasp['joint_trajectory']['points'])[-1:]
        T_object_link = T_object_palm @ forward_kinematics(hand, last)[0]
        for contact in grasp['contacts']:
            assert_allclose(np.linalg.norm(contact['point']), 0.035, atol=0.006)
            link = T_object_link[list(hand.link_names).index(contact['link'])]
            assert np.linalg.norm(contact['point'] - link[:3, 3]) < 0.15


@pytest.mark.nightly     # by day laws/test_grasp_contract writes the same file twice
def test_the_same_seed_gives_the_same_grasps(planned):
    folder, data = planned
    _, out, _ = gripsim('plan', folder / 'ball.ply', '--material', 'foam', '--hypotheses',
                        16, '--count', 3, '--seed', 1, '--json')
    assert strict(out)['grasps'] == data['grasps']


def test_evaluate_agrees_with_plan(planned):
    folder, data = planned
    code, out, _ = gripsim('evaluate', folder / 'ball.ply', folder / 'grasps.json', '--material',
                           'foam', '--json')
    judged = strict(out)['grasps']
    assert code == 0 and len(judged) == len(data['grasps'])
    assert all(grasp['stable'] for grasp in judged)


def test_evaluate_close_says_what_moved(planned, tmp_path):
    folder, data = planned
    first = data['grasps'][0]
    (tmp_path / 'first.json').write_text(json.dumps({**data, 'grasps': [first]}))
    code, out, _ = gripsim('evaluate', folder / 'ball.ply', tmp_path / 'first.json', '--material',
                           'foam', '--close', '--json')
    judged = strict(out)['grasps']
    assert code == 0 and len(judged) == 1
    assert judged[0]['stable'] and judged[0]['quality']['margin'] > first['quality']['margin']
    assert judged[0]['closing']['joints_given'] == first['joint_trajectory']['points'][-1]
    assert judged[0]['closing']['joints_closed'] == judged[0]['joint_trajectory']['points'][-1]


@pytest.mark.nightly     # by day the first command of the README does
def test_plan_writes_a_report_and_tables(planned, tmp_path):
    folder, _ = planned
    code, out, err = gripsim('plan', folder / 'ball.ply', '--material', 'foam',
                             '--hypotheses', 4, '--elasticity', 'half_space', '--report',
                             tmp_path / 'r.html')
    assert code == 0 and '<canvas' in (tmp_path / 'r.html').read_text()
    assert 'hypotheses judged' in err and 'Grasps of' in out


@pytest.mark.nightly     # by day Ctrl-C ends an execution, and a stopped planner
@pytest.mark.slow
def test_ctrl_c_ends_a_plan_with_the_best_so_far(planned, tmp_path):
    import signal
    folder, _ = planned
    with start('plan', folder / 'ball.ply', '--hypotheses', 1000, '--time', 500,
               '--elasticity', 'half_space', '--out', tmp_path / 'g.json',
               env={**os.environ, 'PYTHONUNBUFFERED': '1'}) as process:
        assert 'hypotheses' in process.stderr.readline()    # a first line of progress
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    assert process.returncode == 130
    assert strict((tmp_path / 'g.json').read_text())['statistics']['interrupted'] is True
