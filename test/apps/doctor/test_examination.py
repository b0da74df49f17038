"""What `gripsim doctor` finds: a sound installation, and each thing that may be wrong."""

import json
import os
import pickle
import re
import runpy
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gripsim_ros.apps.cli.main import main
from gripsim_ros.apps.doctor import BAD, GOOD, NOTE, examination, examine, packages, running_suite

rclpy = pytest.importorskip('rclpy')
ROOT = Path(__file__).resolve().parents[3]


def by_subject(findings):
    """Return findings by what they are about."""
    return {finding.subject: finding for finding in findings}


@pytest.mark.parametrize('thorough', [False, True])
def test_this_installation_is_sound(thorough):
    found = by_subject(examine(with_network=False, thorough=thorough))
    assert [f.subject for f in found.values() if f.state == BAD] == []
    assert found['hand'].found.startswith('sdh: 7 joints')
    assert found['configuration'].found == 'planner, mechanics, 23 materials'


def test_every_note_and_fault_says_what_to_do():
    for finding in examine(with_network=False):
        assert bool(finding.advice) == (finding.state != GOOD), finding


def test_what_is_missing_or_old_is_said(monkeypatch):
    monkeypatch.setattr(packages, 'NEEDED', {'numpy': '999.0', 'not_there': '1.0'})
    monkeypatch.setattr(packages, 'OPTIONAL', (('not_there_either', 'flying', 'wings'),))
    found = by_subject(examine(with_network=False))
    assert found['numpy'].state == NOTE and 'older than the tested 999.0' in found['numpy'].advice
    assert found['not_there'].state == BAD
    assert found['not_there_either'].found == 'not installed; it is for: flying'


def canonical(requirement):
    """Return name and lower bound of a requirement, the name as package indices compare it."""
    name, _, oldest = re.match(r'([\w.-]+)(?:\[.*\])?(>=([\d.]+))?', requirement).groups()
    return re.sub('[-_.]+', '-', name).lower(), oldest


def distribution(module):
    """Return the name, as package indices compare it, of what brings a module."""
    return canonical(packages.DISTRIBUTIONS.get(module, module))[0]


def test_what_is_needed_is_what_is_required():
    lines = (ROOT / 'requirements.txt').read_text().splitlines()
    assert {distribution(module): oldest for module, oldest in packages.NEEDED.items()} == dict(
        canonical(line) for line in lines if not line.startswith('#'))


def test_what_is_optional_is_what_the_extras_bring(monkeypatch):
    given = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr('setuptools.setup', lambda **options: given.update(options))
    runpy.run_path('setup.py')
    extras = {name: {canonical(line)[0] for line in lines}
              for name, lines in given['extras_require'].items() if name != 'test'}
    told = {distribution(module): re.fullmatch(r'pip install "gripsim_ros\[(\w+)\]"', how)
            for module, _, how in packages.OPTIONAL if how.startswith('pip')}
    assert set(told) == set().union(*extras.values())
    assert [name for name, how in told.items() if name not in extras[how[1]]] == []


def test_what_is_said_of_discovery_holds_for_launch_too(monkeypatch):
    monkeypatch.delenv('ROS_AUTOMATIC_DISCOVERY_RANGE', raising=False)
    found = by_subject(examination._environment())['ROS_AUTOMATIC_DISCOVERY_RANGE']
    assert found.state == NOTE and 'SUBNET, the default of ROS 2, for `ros2 launch`' in found.found


def test_a_lost_profile_of_the_middleware_is_said(monkeypatch):
    monkeypatch.setenv('FASTRTPS_DEFAULT_PROFILES_FILE', '/not/there.xml')
    found = by_subject(examine(with_network=False))
    assert found['FASTRTPS_DEFAULT_PROFILES_FILE'].state == BAD


def test_a_check_that_fails_is_a_finding_and_the_others_go_on(monkeypatch):
    def broken(*_):
        raise OSError('the hand fell off')
        yield
    monkeypatch.setattr(examination, '_hand', broken)
    findings = list(examine(with_network=False))
    failed = next(f for f in findings if f.state == BAD)
    assert re.fullmatch(r'OSError: the hand fell off \(test_examination.py, line \d+\)',
                        failed.found)
    assert '--debug' not in failed.advice
    assert findings[-1].subject == '/dev/shm'


@pytest.fixture(scope='module')
def node():
    """Return a node in a context of its own."""
    context = rclpy.context.Context()
    rclpy.init(context=context)
    made = rclpy.create_node('doctor_test', context=context)
    yield made
    made.destroy_node()     # else it stays in the graph
    rclpy.shutdown(context=context)


class TestTopics:
    """Publishers and subscribers of one topic: none, unlike, matching."""

    def test_nobody(self, node):
        finding = running_suite._topic_finding(node, 'nobody_is_here')
        assert finding.state == BAD and finding.found == 'has no publisher'

    def test_a_publisher_alone(self, node):
        from std_msgs.msg import String
        node.create_publisher(String, 'alone', 1)
        wait(lambda: running_suite._topic_finding(node, 'alone').found == 'has no subscriber')

    def test_unlike_qualities(self, node):
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from std_msgs.msg import String
        node.create_publisher(String, 'unlike', QoSProfile(
            depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
        node.create_subscription(String, 'unlike', print, QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE))
        wait(lambda: 'do not match' in running_suite._topic_finding(node, 'unlike').found)

    def test_unlike_types(self):
        def ends(kind):
            return lambda topic: [SimpleNamespace(topic_type=kind)]
        two = SimpleNamespace(get_publishers_info_by_topic=ends('a/msg/A'),
                              get_subscriptions_info_by_topic=ends('b/msg/B'))
        finding = running_suite._topic_finding(two, 'types')
        assert finding.state == BAD
        assert finding.found == "has several types: ['a/msg/A', 'b/msg/B']"

    def test_a_pair(self, node):
        from std_msgs.msg import String
        node.create_publisher(String, 'pair', 1)
        node.create_subscription(String, 'pair', print, 1)
        wait(lambda: running_suite._topic_finding(node, 'pair').state == GOOD)

    def test_no_suite(self, node):
        findings = list(running_suite._suite_findings(node, 1))
        assert len(findings) == 1 and findings[0].state == NOTE


class TestSuite:
    """What is found of a suite of which two nodes are there, in a namespace."""

    def test_what_is_missing_is_said_in_its_namespace(self):
        context = rclpy.context.Context()
        rclpy.init(context=context)
        nodes = [rclpy.create_node(name, context=context, namespace='/left')
                 for name in ('deformation', 'grasp_planner')]
        from std_msgs.msg import String
        nodes[0].create_publisher(String, 'plan/grasp_states', 1)
        nodes[1].create_subscription(String, 'plan/grasp_states', print, 1)
        try:
            def found():
                return by_subject(running_suite._suite_findings(nodes[0], 1))
            wait(lambda: '/left/plan/grasp_states' in found()
                 and found()['/left/plan/grasp_states'].state == GOOD)
            suite = found()['suite']
            assert suite.state == BAD and suite.found.endswith(
                'namespace /left: forward_kinematics, contact_detection missing')
            assert found()['/left/plan/contacts'].state == BAD
            assert found()['services'].state == NOTE
        finally:
            for made in nodes:
                made.destroy_node()
            rclpy.shutdown(context=context)

    def test_what_nodes_say_of_themselves_is_passed_on(self):
        def status(level, message, **values):
            return SimpleNamespace(level=level, message=message, values=[
                SimpleNamespace(key=key.replace('_', ' '), value=value)
                for key, value in values.items()])
        found = by_subject(running_suite._told_findings({
            'a': status(bytes([0]), 'active', hand='sdh 1'),
            'b': status(bytes([1]), 'waiting for a', hand='claw 2', last_error='it fell off'),
            'c': status(bytes([2]), 'not connected')}))
        assert [found[name].state for name in 'abc'] == [GOOD, NOTE, BAD]
        assert found['b'].found == 'waiting for a; last error: it fell off'
        assert found['hands'].state == BAD and 'claw 2, sdh 1' in found['hands'].found

    def test_two_of_one_name_are_said(self):
        context = rclpy.context.Context()
        rclpy.init(context=context)
        nodes = [rclpy.create_node('deformation', context=context, namespace='/twice')
                 for _ in range(2)]
        try:
            def found():
                return by_subject(running_suite._suite_findings(nodes[0], 1))
            wait(lambda: 'suites' in found())
            suites = found()['suites']
            assert suites.state == NOTE and 'ROS_DOMAIN_ID' in suites.advice
            assert suites.found.endswith('namespace /twice: 2 nodes are called deformation')
        finally:
            for made in nodes:
                made.destroy_node()
            rclpy.shutdown(context=context)


class TestBusyMachine:
    """What is there is found also where everything takes long."""

    def test_it_is_looked_for_until_all_is_there(self, monkeypatch):
        monkeypatch.setattr(running_suite, 'DISCOVERY_TIME', 0.0)
        monkeypatch.setattr(running_suite, 'LOOK_AGAIN', 0.0)
        looks, connection = [], SimpleNamespace(look=lambda _: looks.append(1))
        running_suite._look(connection, lambda: len(looks) == 7)
        assert len(looks) == 7

    def test_what_is_not_there_is_given_up(self, monkeypatch):
        monkeypatch.setattr(running_suite, 'LONGEST_LOOK', 0.05)
        running_suite._look(SimpleNamespace(look=lambda _: None), lambda: False)

    def test_a_suite_that_this_machine_started_is_waited_for(self, monkeypatch, node):
        monkeypatch.setattr(running_suite, 'find_suite_domain', lambda: 1)
        assert not running_suite._is_settled(node, 1, {})
        assert running_suite._is_settled(node, 2, {})

    def test_kernels_that_load_slowly_were_not_compiled(self, monkeypatch):
        from gripsim_ros.library import in_process
        monkeypatch.setattr(in_process, 'warm_up', lambda: None)
        times = iter([0.0, 60.0])
        monkeypatch.setattr(packages, 'time', SimpleNamespace(monotonic=lambda: next(times)))
        found = by_subject(packages.check_kernels(True))['kernels']
        assert (found.state, found.found) == (GOOD, 'loaded in 60.0 s')


class TestCompiled:
    """Whether kernels are compiled is told by the files of numba's cache, without numba."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path, monkeypatch):
        """Have numba keep compiled kernels in a folder of the test."""
        monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path))
        (tmp_path / '__pycache__').mkdir()
        return tmp_path

    def write(self, folder, name, version, written):
        """Write the begin of an index as numba does, at a time [s]."""
        tag = f'py{sys.version_info[0]}{sys.version_info[1]}'
        index = folder / '__pycache__' / f'{name}-12.{tag}.nbi'
        index.write_bytes(pickle.dumps(version) + b'the rest')
        os.utime(index, (written, written))

    def test_where_there_are_none_the_first_plan_compiles_them(self):
        found, = packages.check_kernels(False)
        assert found.state == NOTE and '--thorough' in found.advice

    @pytest.mark.parametrize('version, written, state', [
        ('', 1e9 + 10.0, GOOD), ('', 1e9 - 10.0, NOTE), ('0.1.2', 1e9 + 10.0, NOTE)],
        ids=['compiled', 'source changed', 'another numba'])
    def test_those_that_numba_will_not_use_are_told(self, cache, version, written, state):
        (cache / 'kinematics.py').touch()
        os.utime(cache / 'kinematics.py', (1e9, 1e9))
        current = version or metadata.version('numba')
        self.write(cache, 'kinematics.tree_poses', current, written)
        self.write(cache, 'kinematics.an_older_one', current, 1e9 - 100.0)
        found, = packages.check_kernels(False)
        assert found.state == state

    def test_an_index_of_numba_begins_with_its_version(self):
        """So that the above is as numba writes it."""
        from gripsim_ros.core.hand import kinematics
        index = Path(kinematics.tree_poses.from_python._cache._cache_file._index_path)
        kinematics.tree_poses(np.zeros((1, 1)), np.array([-1]), np.eye(4)[None], np.zeros((1, 3)),
                              np.array([0]), np.array([-1]), np.zeros(1), np.zeros(1))
        assert metadata.version('numba').encode() in index.read_bytes()[:64]


@pytest.mark.parametrize('domain', ['-1', '233', 'seven'])
def test_a_domain_that_is_none_is_said(monkeypatch, domain):
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    assert by_subject(examination._environment())['ROS_DOMAIN_ID'].state == BAD


def wait(condition):
    """Wait until something is so."""
    from suite_cases import wait_for
    assert wait_for(condition)


def test_the_command_tells_it_as_json(capsys):
    assert main(['doctor', '--no-network', '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['bad'] == 0 and len(told['findings']) > 20


def test_the_command_ends_with_a_fault_where_something_is_bad(monkeypatch, capsys):
    monkeypatch.setattr(packages, 'NEEDED', {'not_there': '1.0'})
    assert main(['doctor', '--no-network']) == 1
    assert 'BAD not_there' in capsys.readouterr().out


def test_the_suites_hand_is_compared_with_that_of_a_file(tmp_path):
    import box_hands
    from gripsim_ros.library.hands.proposal import propose_hand
    from gripsim_ros.library.resources import load_default_hand
    urdf = box_hands.write_urdf(tmp_path, box_hands.sliding_gripper(1))
    own, sdh = propose_hand(urdf, tmp_path / 'own.yaml').hand, load_default_hand()

    def hands(held, file):
        pair = SimpleNamespace(key='hand', value=f'{held.name} {held.id[:12]}')
        status = SimpleNamespace(level=0, message='', values=[pair])
        return list(running_suite._told_findings({'grasp_planner': status}, file))[-1]
    file = str(tmp_path / 'own.yaml')
    assert hands(own, file).state == GOOD and 'as the file' in hands(own, file).found
    assert hands(own, '').state == GOOD and own.id[:12] in hands(own, '').found
    other = hands(sdh, file)
    assert other.state == BAD and sdh.id[:12] in other.found and own.id[:12] in other.found
    assert f'--hand {file}' in other.advice


def test_the_file_of_a_hand_is_looked_at(tmp_path):
    (tmp_path / 'own.yaml').write_text('name: x')
    found = list(examination._hand(str(tmp_path / 'own.yaml'), False))
    assert [f.state for f in found] == [BAD] and 'gripsim hand check' in found[0].advice
    assert main(['doctor', '--no-network', '--hand', str(tmp_path / 'none.yaml')]) == 2
