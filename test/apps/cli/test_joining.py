"""How view, record and doctor find a suite that `gripsim suite up` did not start."""

from functools import partial
import os

import pytest

from gripsim_ros.apps.cli.inputs import InputError
from gripsim_ros.apps.cli.main import main
from gripsim_ros.apps.doctor import BAD, running_suite
from gripsim_ros.ros import environment

rclpy = pytest.importorskip('rclpy')
#: Time to look where nothing is, however long one looks [s].
BRIEF = 0.5


@pytest.fixture
def default_domain(tmp_path, monkeypatch):
    """Take a domain in which no other test has left a node for the default one; hide all locks."""
    held = {}
    monkeypatch.setattr(environment, '_held', held)
    domain = environment.claim_domain()
    lock = held.pop(domain)
    monkeypatch.setattr(environment.tempfile, 'gettempdir', lambda: str(tmp_path))
    for module in (environment, running_suite):
        monkeypatch.setattr(module, 'DEFAULT_DOMAIN', domain)
    monkeypatch.delenv('ROS_DOMAIN_ID')
    yield domain
    lock.close()


@pytest.fixture
def launched(default_domain):
    """Begin a node of the suite as `ros2 launch` does: in the default domain, without a lock."""
    context = rclpy.context.Context()
    rclpy.init(context=context, domain_id=default_domain)
    node = rclpy.create_node('deformation', context=context, namespace='/left')
    yield default_domain
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize('command', [
    ['view'], pytest.param(['record', '--out', 'suite.mcap'], marks=pytest.mark.nightly)])
def test_where_no_suite_was_found_is_said(default_domain, tmp_path, monkeypatch, capsys, command):
    from gripsim_ros.ros.clients import suite
    monkeypatch.setattr(suite, 'has_nodes', partial(suite.has_nodes, timeout=BRIEF))
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    told = capsys.readouterr().err
    assert 'no suite is running here: none of `gripsim suite up`' in told
    assert f'no node of one in ROS domain {default_domain};' in told
    assert 'ROS_DOMAIN_ID' not in os.environ


def test_a_suite_in_the_default_domain_is_joined(launched, capsys):
    from gripsim_ros.apps.cli.joining import join_running_suite
    join_running_suite('wait')
    assert os.environ['ROS_DOMAIN_ID'] == str(launched)
    assert f'the suite of ROS domain {launched}' in capsys.readouterr().err


def test_one_looks_for_a_suite_as_one_listens_to_it(default_domain, monkeypatch):
    from gripsim_ros.apps.cli.joining import join_running_suite
    from gripsim_ros.ros.clients import suite
    names = ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'FASTRTPS_DEFAULT_PROFILES_FILE',
             'RMW_FASTRTPS_USE_QOS_FROM_XML')
    for name in names:
        monkeypatch.delenv(name, raising=False)
    looked, before = [], dict(os.environ)

    def look(_):
        looked.append([os.environ.get(name) for name in names])
        return len(looked) > 1
    monkeypatch.setattr(suite, 'has_nodes', look)
    with pytest.raises(InputError):
        join_running_suite('wait')
    assert dict(os.environ) == before
    join_running_suite('wait')
    assert looked == [[os.environ[name] for name in names]] * 2
    for name in names:      # what the command sets, the next test shall not find
        os.environ.pop(name)


def test_the_doctor_looks_at_a_suite_in_the_default_domain(launched, monkeypatch):
    monkeypatch.setattr(running_suite, 'LONGEST_LOOK', 1.0)     # most of it never comes
    told = []
    suite = next(found for found in running_suite.check_suite('', told.append)
                 if found.subject == 'suite')
    assert suite.state == BAD
    assert f'ROS domain {launched}: 3 s, up to ' in told[0]
    assert suite.found.startswith(f'domain {launched}, namespace /left: forward_kinematics, ')


def test_the_doctor_says_in_which_domain_nothing_is(default_domain, monkeypatch):
    monkeypatch.setattr(running_suite, 'DISCOVERY_TIME', BRIEF)
    found = list(running_suite.check_suite('', lambda line: None))
    assert [finding.found for finding in found] == [f'no node of it in domain {default_domain}']
