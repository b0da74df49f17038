"""Planning by a running suite: which hand its answer is of."""

import box_hands
from cli_cases import gripsim
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.apps.cli.answers import nodes  # noqa: E402
from gripsim_ros.apps.cli.inputs import InputError  # noqa: E402


@pytest.fixture(scope='module')
def own(tmp_path_factory):
    """Return the file of a hand of boxes."""
    folder = tmp_path_factory.mktemp('hand')
    urdf = box_hands.write_urdf(folder, box_hands.sliding_gripper(1))
    assert gripsim('hand', 'new', urdf, '--out', folder / 'own.yaml')[0] == 0
    return str(folder / 'own.yaml')


def test_the_hand_is_the_one_that_the_suite_holds(own):
    assert nodes._hand_of_suite('', '', '') == ''
    assert nodes._hand_of_suite('', '', own) == own
    assert nodes._hand_of_suite(own, '', own) == own
    assert nodes._hand_of_suite(own, '/elsewhere/a.urdf', '/elsewhere/a.yaml') == own


def test_another_hand_and_one_that_is_not_here_are_told(own):
    with pytest.raises(InputError, match='the suite holds the hand sdh, not the slider of'):
        nodes._hand_of_suite(own, '', '')
    with pytest.raises(InputError, match='which is not here: name the hand with --hand'):
        nodes._hand_of_suite('', '', '/elsewhere/own.yaml')
