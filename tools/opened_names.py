"""Which topics, services and actions each node opens, read from the sources."""

import ast
from itertools import product
from pathlib import Path

NODES = Path(__file__).resolve().parents[1] / 'gripsim_ros' / 'ros' / 'nodes'
STAGE, TRAJECTORIES = 'ring/stage_node.py', 'base/trajectory_action.py'
#: Sources of each node beside node_base.py, which all share.
SOURCES = {
    'forward_kinematics': ('ring/forward_kinematics.py', STAGE),
    'contact_detection': ('ring/contact_detection.py', STAGE),
    'deformation': ('ring/deformation.py', STAGE),
    'grasp_planner': ('planner/grasp_planner.py', 'planner/arm_choice.py',
                      'planner/closing_shown.py', 'planner/moveit_service.py',
                      'planner/plan_shown.py'),
    'arm_planner': ('planner/arm_planner.py',),
    'grasp_executor': ('executor/grasp_executor.py', 'executor/hands.py',
                       'executor/simulated_hand.py', 'executor/arm_controller.py',
                       'executor/forces_shown.py'),
    'sdh_simulator': ('hand/sdh_simulator.py', TRAJECTORIES),
    'sdh_driver': ('hand/sdh_driver.py', 'hand/tactile_topics.py', 'hand/velocity_commands.py',
                   TRAJECTORIES)}
#: Calls that open a name: what a security policy calls it; where type and name stand.
OPENERS = {
    'create_publisher': ('publish', 0), 'create_subscription': ('subscribe', 0),
    'read_ring': ('subscribe', 0), 'create_service': ('reply', 0),
    'create_client': ('request', 0), 'ActionServer': ('execute', 1),
    'PromptActionClient': ('call', 1)}
#: Names that only parameters know.
KNOWN = {'service': ('choose_by_arm',), 'hand': ('sdh_simulator', 'sdh_driver'),
         'simulator': ('sdh_simulator',), 'side': ('plan', 'live'),
         'action': ('arm_controller/follow_joint_trajectory',)}


class Names(ast.NodeVisitor):
    """
    What one source opens; names in loops over literals are written out.

    ``found`` holds tuples of kind, name and message type.
    """

    def __init__(self, path, known):
        """Read a source; ``known`` are the texts of variables that it does not say."""
        self.found, self.bound = set(), [dict(known)]
        self.visit(ast.parse(path.read_text(encoding='utf-8')))

    def visit_For(self, node):
        """Bind the variables of a loop while inside it."""
        self.bound.append(_bindings(node.target, node.iter))
        self.generic_visit(node)
        self.bound.pop()

    def visit_DictComp(self, node):
        """Bind the variables of a comprehension while inside it."""
        for generator in node.generators:
            self.bound.append(_bindings(generator.target, generator.iter))
        self.generic_visit(node)
        del self.bound[-len(node.generators):]

    def visit_Call(self, node):
        """Take note of a call that opens a name."""
        opener = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        if opener in OPENERS:
            kind, place = OPENERS[opener]
            names, types = self._texts(node.args[place + 1]), self._texts(node.args[place])
            pairs = zip(names, types * len(names)) if len(types) == 1 else zip(names, types)
            self.found |= {(kind, *pair) for pair in pairs}
        self.generic_visit(node)

    def _texts(self, node):
        """Return all texts that an expression may be; a type is its name."""
        if isinstance(node, ast.Constant):
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            return [''.join(parts) for parts in product(*map(self._texts, node.values))]
        if isinstance(node, ast.FormattedValue):
            return self._texts(node.value)
        for values in reversed(self.bound):
            if isinstance(node, ast.Name) and node.id in values:
                return list(values[node.id])
        if isinstance(node, ast.Name) and node.id[0].isupper():
            return [node.id]
        if isinstance(node, ast.Attribute) and node.attr[0].isupper():
            return [node.attr]
        raise ValueError(f'line {node.lineno}: which names are opened here?')


def _bindings(target, values):
    """Return the texts that the variables of a loop over literals take."""
    rows = [value.elts if isinstance(value, ast.Tuple) else [value]
            for value in getattr(values, 'elts', [])]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    columns = {}
    for place, variable in enumerate(targets):
        cells = [row[place] if len(row) > place else None for row in rows]
        texts = [getattr(cell, 'value', getattr(cell, 'id', None)) for cell in cells]
        if texts and all(isinstance(text, str) for text in texts):
            columns[variable.id] = texts
    return columns


def _stage_constants(path):
    """Return INPUT and OUTPUT (type, name) and HAS_LIVE_INPUT of a stage's class."""
    values = {'HAS_LIVE_INPUT': True}
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ('INPUT', 'OUTPUT'):
                values[name] = (node.value.elts[0].id, node.value.elts[1].value)
            elif name == 'HAS_LIVE_INPUT':
                values[name] = node.value.value
    return values


def opened(node):
    """Return kind, name and message type of everything that a node's sources open."""
    sources = [NODES / name for name in SOURCES[node]]
    found, known = set(), dict(KNOWN)
    stage = _stage_constants(sources[0]) if SOURCES[node][1:] == (STAGE,) else None
    if stage:
        for way, name in (('input', 'INPUT'), ('output', 'OUTPUT')):
            known[f'{way}_type'], known[f'{way}_topic'] = [[text] for text in stage[name]]
    for source in sources:
        found |= Names(source, known).found
    if stage and not stage['HAS_LIVE_INPUT']:
        kind, topic = stage['INPUT']
        found.discard(('subscribe', f'live/{topic}', kind))
    return {(kind, name, message.removesuffix('Msg')) for kind, name, message in found}
