"""Imports run one way, and the core knows neither ROS nor the terminal."""

import ast
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = 'gripsim_ros'
MAX_LINES = 400
# From the bottom up. A module may import what stands in a line above it, and its own unit.
LAYERS = (
    ('core.errors',),
    ('core.transforms',),
    ('core.batches',),
    ('core.bodies',),
    ('core.hand',),
    ('core.contact',),
    ('core.mechanics',),
    ('core.planning',),
    ('core.arm',),
    ('core.pipeline',),
    ('resources',),
    ('environment', 'task_file', 'workers', 'robustness', 'display'),
    ('in_process', 'grasp_file'),
    ('conversions', 'report', 'sweep'),
    ('markers',),
    ('sim', 'driver', 'execution', 'connection'),
    ('nodes', 'client', 'suite'),
    ('doctor', 'record', 'execute_client'),
    ('view',),
    ('cli',),
)
RANK = {unit: rank for rank, layer in enumerate(LAYERS) for unit in layer}
# The hand needs meshes for its links, not materials or objects.
EXCEPTIONS = {'core.hand': {'core.bodies': ('core.bodies', 'core.bodies.mesh')}}
STAGES = ('core.contact', 'core.mechanics', 'core.arm', 'core.pipeline')
ROS_MODULES = ('rclpy', 'rcl_interfaces', 'builtin_interfaces', 'gripsim_interfaces', 'launch',
               'launch_ros')
ROS_PREFIXES = ('tf2_', 'ament_', 'rosidl_')
ROS_SUFFIXES = ('_msgs', '_srvs')


def list_modules():
    """Map the dotted name of each module, without the package's, to its file."""
    modules = {}
    for path in sorted((ROOT / PACKAGE).rglob('*.py')):
        parts = path.relative_to(ROOT / PACKAGE).with_suffix('').parts
        modules['.'.join(part for part in parts if part != '__init__')] = path
    return modules


MODULES = list_modules()


def find_unit(module):
    """Return the unit of `LAYERS` that a module belongs to."""
    parts = module.split('.')
    return '.'.join(parts[:2] if parts[0] == 'core' else parts[:1])


@lru_cache(maxsize=None)
def read_tree(module):
    """Parse a module of the package."""
    return ast.parse(MODULES[module].read_text(encoding='utf-8'))


def list_imports(module):
    """List the absolute names that a module imports, those inside functions too."""
    path = MODULES[module]
    package = module.split('.') if path.name == '__init__.py' else module.split('.')[:-1]
    package = [PACKAGE, *(part for part in package if part)]
    names = []
    for node in ast.walk(read_tree(module)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            base = '.'.join([*base, *([node.module] if node.module else [])])
            names += [base, *(f'{base}.{alias.name}' for alias in node.names)]
    return names


def list_own_imports(module):
    """List the modules of this package that a module imports."""
    prefix = f'{PACKAGE}.'
    names = {name[len(prefix):] for name in list_imports(module) if name.startswith(prefix)}
    return sorted(name for name in names if name in MODULES and name != module)


def list_reached(module):
    """List every module of this package that importing ``module`` may load."""
    reached, waiting = set(), [module]
    while waiting:
        current = waiting.pop()
        if current in reached:
            continue
        reached.add(current)
        parts = current.split('.')
        waiting += ['.'.join(parts[:count]) for count in range(1, len(parts))]
        waiting += list_own_imports(current)
    return reached


def is_ros(name):
    """Tell whether a top-level module belongs to ROS."""
    return (name in ROS_MODULES or name.startswith(ROS_PREFIXES) or name.endswith(ROS_SUFFIXES))


def is_under(module, unit):
    """Tell whether a module is the unit or lies in it."""
    return module == unit or module.startswith(f'{unit}.')


CORE = [module for module in MODULES if is_under(module, 'core')]


def test_every_module_has_a_layer():
    units = {find_unit(module) for module in MODULES if module not in ('', 'core')}
    assert units <= set(RANK), f'place these in LAYERS: {sorted(units - set(RANK))}'


def test_the_docs_tell_the_layers():
    page = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    assert '\n'.join(f'    {", ".join(layer)}' for layer in LAYERS) in page


@pytest.mark.parametrize('module', [m for m in MODULES if m not in ('', 'core')])
def test_imports_point_downwards(module):
    unit = find_unit(module)
    wrong = []
    for imported in list_own_imports(module):
        target = find_unit(imported)
        if imported in ('', 'core') or target == unit:
            continue
        allowed = EXCEPTIONS.get(unit, {}).get(target)
        if RANK[target] >= RANK[unit] or (allowed and imported not in allowed):
            wrong.append(imported)
    assert not wrong


def test_package_roots_import_nothing():
    assert not list_imports('')
    assert not list_imports('core')


@pytest.mark.parametrize('module', CORE)
def test_core_knows_no_ros(module):
    assert not [name for name in list_imports(module) if is_ros(name.split('.')[0])]


@pytest.mark.parametrize('module', CORE)
def test_core_does_not_print(module):
    calls = [node for node in ast.walk(read_tree(module)) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls
                if isinstance(call.func, ast.Name) and call.func.id == 'print']


@pytest.mark.parametrize('module', CORE)
def test_core_reads_no_clock(module):
    assert not [name for name in list_imports(module)
                if name.split('.')[0] in ('time', 'datetime')]


def test_planner_node_holds_no_stage():
    reached = list_reached('nodes.grasp_planner')
    assert 'core.planning' in reached
    assert not [module for module in reached for stage in STAGES if is_under(module, stage)]


@pytest.mark.parametrize('module', list(MODULES))
def test_modules_are_short(module):
    assert len(MODULES[module].read_text(encoding='utf-8').splitlines()) < MAX_LINES
