"""The SROS 2 policy allows each node what its sources open, and nothing else."""

import ast
import xml.etree.ElementTree as ElementTree
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'config' / 'sros2'
XI = '{http://www.w3.org/2001/XInclude}include'
#: Sources of each node beside node_base.py and what all nodes share.
STAGE = ('nodes/stage_node.py',)
SOURCES = {
    'forward_kinematics': ('nodes/forward_kinematics.py', *STAGE),
    'contact_detection': ('nodes/contact_detection.py', *STAGE),
    'deformation': ('nodes/deformation.py', *STAGE),
    'grasp_planner': ('nodes/grasp_planner.py', 'nodes/arm_choice.py', 'nodes/moveit_service.py'),
    'arm_planner': ('nodes/arm_planner.py',),
    'grasp_executor': ('nodes/grasp_executor.py',),
    'sdh_simulator': ('nodes/sdh_simulator.py', 'nodes/sdh_simulator_action.py'),
    'sdh_driver': ('nodes/sdh_driver.py', 'nodes/sdh_driver_action.py')}
#: Calls that open a name: what the policy calls it, and which argument the name is.
OPENERS = {
    'create_publisher': ('publish', 1), 'create_subscription': ('subscribe', 1),
    'read_ring': ('subscribe', 1), 'create_service': ('reply', 1),
    'create_client': ('request', 1), 'ActionServer': ('execute', 2), 'ActionClient': ('call', 2)}
#: Names that only parameters or subclasses know.
KNOWN = {'service': ('choose_by_arm',), 'hand': ('sdh_simulator', 'sdh_driver'),
         'side': ('plan', 'live')}
#: Where the openers themselves are defined.
NOT_NODES = {'node_base.py', 'ring_reader.py'}


class Names(ast.NodeVisitor):
    """Names that a source opens; those in loops over literals are written out."""

    def __init__(self, path, known):
        self.found, self.bound = set(), [dict(known)]
        self.visit(ast.parse(path.read_text(encoding='utf-8')))

    def visit_For(self, node):
        self.bound.append(_bindings(node.target, node.iter))
        self.generic_visit(node)
        self.bound.pop()

    def visit_DictComp(self, node):
        for generator in node.generators:
            self.bound.append(_bindings(generator.target, generator.iter))
        self.generic_visit(node)
        del self.bound[-len(node.generators):]

    def visit_Call(self, node):
        name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        if name in OPENERS:
            kind, place = OPENERS[name]
            self.found |= {(kind, text) for text in self._texts(node.args[place])}
        self.generic_visit(node)

    def _texts(self, node):
        """Return all texts that an expression may be."""
        if isinstance(node, ast.Constant):
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            return [''.join(parts) for parts in product(*map(self._texts, node.values))]
        if isinstance(node, ast.FormattedValue):
            return self._texts(node.value)
        for values in reversed(self.bound):
            if isinstance(node, ast.Name) and node.id in values:
                return values[node.id]
        raise AssertionError(f'line {node.lineno}: which names are opened here?')


def _bindings(target, values):
    """Return the texts that the variables of a loop over literals take."""
    rows = [value.elts if isinstance(value, ast.Tuple) else [value]
            for value in getattr(values, 'elts', [])]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    return {variable.id: [row[place].value for row in rows] for place, variable in
            enumerate(targets) if rows and all(
                len(row) > place and isinstance(row[place], ast.Constant) for row in rows)}


def constants(path):
    """Return texts and truth values set in the classes of a source, tuples by their text."""
    values = {}
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value.elts[-1] if isinstance(node.value, ast.Tuple) and \
                node.value.elts else node.value
            if isinstance(value, ast.Constant):
                values[node.targets[0].id] = value.value
    return values


def opened(node):
    """Return kind and name of everything that the sources of a node open."""
    found = set()
    for name in SOURCES[node]:
        known = dict(KNOWN)
        if name in STAGE:
            here = constants(ROOT / 'gripsim_ros' / SOURCES[node][0])
            known.update(input_topic=[here['INPUT']], output_topic=[here['OUTPUT']])
        found |= Names(ROOT / 'gripsim_ros' / name, known).found
    if SOURCES[node][1:] == STAGE and here.get('HAS_LIVE_INPUT') is False:
        found.remove(('subscribe', f'live/{here["INPUT"]}'))
    return found


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
    assert rules(profiles[node]) == opened(node)


def test_every_source_that_opens_a_name_belongs_to_a_node():
    opening = {path.name for path in (ROOT / 'gripsim_ros' / 'nodes').glob('*.py')
               if any(f'{opener}(' in path.read_text(encoding='utf-8') for opener in OPENERS)}
    assert opening - NOT_NODES <= {Path(name).name for names in SOURCES.values()
                                   for name in names}


def test_every_node_that_is_installed_has_an_enclave_of_its_own():
    text = (ROOT / 'setup.py').read_text()
    nodes = {line.split("'")[1].split(' ')[0] for line in text.splitlines()
             if 'gripsim_ros.nodes.' in line}
    tree = ElementTree.parse(FOLDER / 'policy.xml')
    paths = [enclave.get('path') for enclave in tree.iter('enclave')]
    assert len(paths) == len(set(paths))
    assert set(paths) == {f'/gripsim/{node}' for node in (*nodes, 'client')}


def test_clients_may_ask_for_what_the_servers_offer(profiles):
    offered = {('call' if kind == 'execute' else 'request', name)
               for node in ('grasp_planner', 'grasp_executor', 'arm_planner')
               for kind, name in rules(profiles[node]) if kind in ('execute', 'reply')}
    client = rules(profiles['gripsim_client'])
    assert offered <= client
    asked = Names(ROOT / 'gripsim_ros' / 'client.py', {}).found
    assert asked <= client
    states = {('request', f'{node}/get_state') for node in SOURCES}
    assert states <= client


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
    base = Names(ROOT / 'gripsim_ros' / 'nodes' / 'node_base.py', {
        'topic': ['']}).found
    assert base <= common
