"""``gripsim hand``: a first configuration, its check and picture, and what is refused."""

import json

import box_hands
from cli_cases import assert_refused, gripsim
from PIL import Image
import pytest
import yaml


def test_a_new_hand_can_be_checked_drawn_and_moved(tmp_path):
    urdf = box_hands.write_urdf(tmp_path, box_hands.sliding_gripper(1))
    code, _, err = gripsim('hand', 'new', urdf, '--out', tmp_path / 'own.yaml')
    assert code == 0 and 'gripsim hand check' in err
    code, out, err = gripsim('hand', 'check', tmp_path / 'own.yaml',
                             '--picture', tmp_path / 'own.png')
    assert code == 0 and 'can serve' in err and 'fault' not in out
    assert Image.open(tmp_path / 'own.png').size[0] > 400
    assert 'data:image/png' in (tmp_path / 'own.html').read_text()
    code, out, _ = gripsim('fk', '--hand', tmp_path / 'own.yaml', '--joints', '0.01', '--json')
    assert code == 0 and 'finger_1' in out


def test_a_hand_that_cannot_serve_is_told_in_one_line(tmp_path):
    urdf = box_hands.write_urdf(tmp_path, box_hands.sliding_gripper(2))
    gripsim('hand', 'new', urdf, '--out', tmp_path / 'own.yaml')
    facts = yaml.safe_load((tmp_path / 'own.yaml').read_text())
    facts['preshapes'] = {'still': {'open': [0.04, 0.04], 'closed': [0.04, 0.04]}}
    (tmp_path / 'own.yaml').write_text(yaml.safe_dump(facts))
    code, out, err = gripsim('hand', 'check', tmp_path / 'own.yaml')
    assert code == 2 and 'two fingers must close' in out and 'cannot serve' in err


def test_what_is_no_hand_is_refused_and_leaves_no_file(tmp_path):
    one = box_hands.write_urdf(tmp_path, box_hands.turning_hand(1))
    assert_refused(gripsim('hand', 'new', one, '--out', tmp_path / 'own.yaml'), 'two fingers')
    assert not (tmp_path / 'own.yaml').exists()
    assert_refused(gripsim('hand', 'new', one, '--package', 'a'), 'NAME=DIR')
    assert_refused(gripsim('hand', 'check', tmp_path / 'none.yaml'), 'no such file')


def test_no_verb_takes_a_hand_that_it_cannot_have(tmp_path):
    own, grasps, tape = tmp_path / 'own.yaml', tmp_path / 'grasps.json', tmp_path / 'r.mcap'
    urdf = box_hands.write_urdf(tmp_path, box_hands.turning_hand(3))
    assert gripsim('hand', 'new', urdf, '--out', own)[0] == 0
    grasps.write_text(json.dumps({'hand': {'file': str(own)}, 'grasps': [{}]}))
    tape.write_bytes(b'')
    for words, told in (
            (('execute', grasps, '--simulate'), '--simulate has the hand sdh alone'),
            (('suite', 'up', '--hand', own, '--hardware', 'sim'), 'what moves there is an SDH'),
            (('view', tape, '--hand', own), '--hand goes with the JSON of a plan'),
            (('preshape', 'x.stl', '--hand', own, '--lengths', '0.1'), '--lengths closes one'),
            *((words, 'hand: no such file') for words in (
                ('sweep', tmp_path, '--hand', 'none.yaml'), ('demo', '--hand', 'none.yaml'),
                ('suite', 'up', '--hand', 'none.yaml'), ('view', grasps, '--hand', 'none.yaml'),
                ('execute', grasps, '--hand', 'none.yaml')))):
        assert_refused(gripsim(*words), told)


def test_a_suite_tells_all_its_nodes_the_hand(tmp_path):
    pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
    from gripsim_ros.ros.clients.suite import NODES, own_parameters
    told = own_parameters(NODES, 'none', None, str(tmp_path / 'own.yaml'))
    assert {values['hand_config'] for values in told.values()} == {tmp_path / 'own.yaml'}
    assert not any('hand_config' in values for values in own_parameters(NODES, 'none').values())
