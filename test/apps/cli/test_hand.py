"""``gripsim hand``: a first configuration, its check and picture, and what is refused."""

import box_hands
from cli_cases import assert_refused, gripsim
from PIL import Image
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
