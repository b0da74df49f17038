"""``gripsim hand``: a first configuration, its check and picture, and what is refused."""

import json

import box_hands
from cli_cases import assert_refused, gripsim
from PIL import Image
import pytest
import trimesh
import yaml


@pytest.fixture(scope='module')
def slider(tmp_path_factory):
    """Return the file of a new hand: two fingers that slide by one motor."""
    folder = tmp_path_factory.mktemp('hand')
    urdf = box_hands.write_urdf(folder, box_hands.sliding_gripper(1))
    code, _, err = gripsim('hand', 'new', urdf, '--out', folder / 'own.yaml')
    assert code == 0 and 'gripsim hand check' in err
    return folder / 'own.yaml'


def test_a_new_hand_can_be_checked_drawn_and_moved(tmp_path, slider):
    code, out, err = gripsim('hand', 'check', slider, '--picture', tmp_path / 'own.png')
    assert code == 0 and 'can serve' in err and 'fault' not in out
    assert Image.open(tmp_path / 'own.png').size[0] > 400
    assert 'data:image/png' in (tmp_path / 'own.html').read_text()
    code, out, _ = gripsim('fk', '--hand', slider, '--joints', '0.01', '--json')
    assert code == 0 and 'finger_1' in out


def test_a_hand_that_cannot_serve_is_told_in_one_line(slider):
    facts = yaml.safe_load(slider.read_text())
    facts['preshapes'] = {'still': {'open': [0.04], 'closed': [0.04]}}
    still = slider.with_name('still.yaml')
    still.write_text(yaml.safe_dump(facts))
    code, out, err = gripsim('hand', 'check', still)
    assert code == 2 and 'two fingers must close' in out and 'cannot serve' in err


def test_what_is_no_hand_is_refused_and_leaves_no_file(tmp_path):
    one = box_hands.write_urdf(tmp_path, box_hands.turning_hand(1))
    assert_refused(gripsim('hand', 'new', one, '--out', tmp_path / 'own.yaml'), 'two fingers')
    assert not (tmp_path / 'own.yaml').exists()
    assert_refused(gripsim('hand', 'new', one, '--package', 'a'), 'NAME=DIR')
    assert_refused(gripsim('hand', 'check', tmp_path / 'none.yaml'), 'no such file')


def test_no_verb_takes_a_hand_that_it_cannot_have(tmp_path, slider):
    own, grasps, tape = slider, tmp_path / 'grasps.json', tmp_path / 'r.mcap'
    grasps.write_text(json.dumps({'hand': {'file': str(own)}, 'grasps': [{}]}))
    tape.write_bytes(b'')
    for words, told in (
            (('suite', 'up', '--hand', own, '--hardware', 'real'), 'driver moves an SDH alone'),
            (('view', tape, '--hand', own), '--hand goes with the JSON of a plan'),
            (('preshape', 'x.stl', '--hand', own, '--lengths', '0.1'), '--lengths closes one'),
            *((words, 'hand: no such file') for words in (
                ('sweep', tmp_path, '--hand', 'none.yaml'), ('demo', '--hand', 'none.yaml'),
                ('suite', 'up', '--hand', 'none.yaml'), ('view', grasps, '--hand', 'none.yaml'),
                ('execute', grasps, '--hand', 'none.yaml')))):
        assert_refused(gripsim(*words), told)


def test_grasps_of_another_hand_are_refused_and_of_a_changed_one_told(slider, capsys):
    from gripsim_ros.apps.cli.inputs import hand_of_grasps, InputError
    own = slider
    hand = hand_of_grasps(str(own), {})
    told = {'name': hand.name, 'id': hand.id, 'file': str(own)}
    assert hand_of_grasps('', {'hand': told}) is hand
    assert capsys.readouterr().err == ''
    with pytest.raises(InputError, match='are of the hand slider, not of sdh: name theirs'):
        hand_of_grasps('', {'hand': {**told, 'file': ''}})
    with pytest.raises(InputError, match='are of the hand sdh, not of slider'):
        hand_of_grasps(str(own), {'hand': {'name': 'sdh', 'id': '0', 'file': ''}})
    assert hand_of_grasps('', {'hand': {**told, 'id': 'f' * 64}}) is hand
    said = capsys.readouterr().err
    assert 'have changed since' in said and len(said.splitlines()) == 1


def test_a_pad_of_ones_own_hand_is_pressed_into_an_object(tmp_path, slider):
    trimesh.creation.box((0.04, 0.04, 0.04)).subdivide().subdivide().export(tmp_path / 'box.stl')
    words = ('indent', tmp_path / 'box.stl', '--at', '0 0 0.1', '--along', '0 0 -1',
             '--depth', '0.0005', '--hand', slider)
    code, out, err = gripsim(*words, '--link', 'finger_0', '--json')
    assert code == 0 and json.loads(out)['force'][2] < 0.0, err
    assert_refused(gripsim(*words, '--sphere', '0.01'), '--hand goes with --link')
    assert_refused(gripsim(*words, '--link', 'sdh_thumb_3_link'), 'one of finger_0, finger_1')


def test_a_suite_tells_all_its_nodes_the_hand(tmp_path):
    pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
    from gripsim_ros.ros.clients.suite import NODES, own_parameters
    told = own_parameters(NODES, 'none', None, str(tmp_path / 'own.yaml'))
    assert {values['hand_config'] for values in told.values()} == {tmp_path / 'own.yaml'}
    assert not any('hand_config' in values for values in own_parameters(NODES, 'none').values())
    names = (*NODES, 'sdh_simulator', 'grasp_executor')
    told = own_parameters(names, 'sim', None, str(tmp_path / 'own.yaml'))
    assert told['sdh_simulator']['preshape'] == '' and 'hand_config' in told['grasp_executor']
    assert 'preshape' not in own_parameters(names, 'sim')['sdh_simulator']
