"""The SROS 2 policy allows each node what its sources open, and nothing else."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

from opened_names import OPENERS, SOURCES, Names, opened  # noqa: E402

from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402

FOLDER = ROOT / 'config' / 'sros2'
XI = '{http://www.w3.org/2001/XInclude}include'
#: Where the openers themselves are defined.
NOT_NODES = {'node_base.py', 'ring_reader.py', 'action_client.py'}


def names(found):
    """Return kind and name of what is opened, without types."""
    return {(kind, name) for kind, name, _ in found}


def rules(profile):
    """Return kind and name of everything that a profile allows; includes are left out."""
    return {(kind, entry.text) for group in profile if group.tag != XI
            for kind, permission in group.attrib.items() if permission == 'ALLOW'
            for entry in group}


@pytest.fixture(scope='module')
def profiles():
    """Return the profiles of the policy by the names of their nodes."""
    tree = ElementTree.parse(FOLDER / 'policy.xml')
    return {profile.get('node'): profile for profile in tree.iter('profile')}


@pytest.mark.parametrize('node', SOURCES)
def test_a_node_is_allowed_what_its_sources_open(profiles, node):
    assert rules(profiles[node]) == names(opened(node))


def test_every_source_that_opens_a_name_belongs_to_a_node():
    opening = {path.name for path in (ROOT / 'gripsim_ros' / 'ros' / 'nodes').rglob('*.py')
               if any(f'{opener}(' in path.read_text(encoding='utf-8') for opener in OPENERS)}
    assert opening - NOT_NODES <= {Path(source).name for sources in SOURCES.values()
                                   for source in sources}


def test_the_file_is_walked_as_sros2_walks_it():
    # `ros2 security generate_artifacts` takes each child of `enclaves` for one, comments too.
    from lxml import etree
    children = list(etree.parse(str(FOLDER / 'policy.xml')).find('enclaves'))
    assert children and all(child.tag == 'enclave' and child.get('path') for child in children)


def test_every_node_that_is_installed_has_an_enclave_of_its_own():
    tree = ElementTree.parse(FOLDER / 'policy.xml')
    paths = [enclave.get('path') for enclave in tree.iter('enclave')]
    assert len(paths) == len(set(paths))
    assert set(paths) == {
        f'/gripsim/{node}' for node in (*PROGRAMS, 'client', 'recorder', 'replay')}


def test_clients_may_ask_for_what_the_servers_offer(profiles):
    offered = {('call' if kind == 'execute' else 'request', name)
               for node in ('grasp_planner', 'grasp_executor', 'arm_planner')
               for kind, name in rules(profiles[node]) if kind in ('execute', 'reply')}
    client = rules(profiles['gripsim_client'])
    assert offered <= client
    asked = names(Names(ROOT / 'gripsim_ros' / 'ros' / 'clients' / 'plan.py', {}).found)
    assert asked <= client
    states = {('request', f'{node}/get_state') for node in SOURCES}
    assert states <= client


def test_a_recorder_may_read_what_it_records_and_nothing_else(profiles):
    pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')
    from gripsim_ros.ros.record.recorder import FRAMES, TOPICS
    recorded = {topic.name for topic in TOPICS} | {name for name, _ in FRAMES}
    assert rules(profiles['gripsim_record']) == {('subscribe', name) for name in recorded}


def test_a_replay_may_ask_the_stages_as_a_planner_does(profiles):
    pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')
    from gripsim_ros.ros.record.replay import ANSWERS, OBJECTS, QUESTIONS
    assert rules(profiles['gripsim_replay']) == {
        ('publish', OBJECTS), ('publish', QUESTIONS), ('subscribe', ANSWERS)}


def test_nothing_is_allowed_by_a_pattern(profiles):
    for profile in profiles.values():
        for _, name in rules(profile):
            assert not set(name) & set('*?['), name


def test_every_node_includes_the_common_rules(profiles):
    for profile in profiles.values():
        include = profile.find(XI)
        assert include is not None
        assert (FOLDER / include.get('href')).is_file()
    common = rules(ElementTree.parse(FOLDER / 'common' / 'node.xml').getroot())
    base = Names(ROOT / 'gripsim_ros' / 'ros' / 'nodes' / 'base' / 'node_base.py', {}).found
    assert names(base) <= common
