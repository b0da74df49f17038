"""The package as its tests of structure see it: modules, what they import, what they define."""

import ast
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = 'gripsim_ros'


def list_modules():
    """Map the dotted name of each module, without the package's, to its file."""
    modules = {}
    for path in sorted((ROOT / PACKAGE).rglob('*.py')):
        parts = path.relative_to(ROOT / PACKAGE).with_suffix('').parts
        modules['.'.join(part for part in parts if part != '__init__')] = path
    return modules


MODULES = list_modules()
#: Modules that are no package roots.
LEAVES = [module for module, path in MODULES.items() if path.name != '__init__.py']


@lru_cache(maxsize=None)
def read_tree(path):
    """Parse a source."""
    return ast.parse(path.read_text(encoding='utf-8'))


def list_imports(module):
    """List the absolute names that a module imports, also those inside functions and for types."""
    path = MODULES[module]
    package = module.split('.') if path.name == '__init__.py' else module.split('.')[:-1]
    package = [PACKAGE, *(part for part in package if part)]
    names = []
    for node in ast.walk(read_tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            base = '.'.join([*base, *([node.module] if node.module else [])])
            names += [base, *(f'{base}.{alias.name}' for alias in node.names)]
    return names


@lru_cache(maxsize=None)
def list_own_imports(module):
    """List the modules of this package that a module names in imports, itself left out."""
    prefix = f'{PACKAGE}.'
    names = {name[len(prefix):] for name in list_imports(module) if name.startswith(prefix)}
    named = {name for name in names if name in MODULES and name != module}
    # `from .room import module` names the module, not the room's root.
    return sorted(name for name in named if not _is_way_only(name, names, named))


def _is_way_only(name, names, named):
    taken = {other for other in names if other.rpartition('.')[0] == name}
    return bool(taken) and taken <= named


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


def is_under(module, unit):
    """Return True if a module is the unit or lies in it."""
    return module == unit or module.startswith(f'{unit}.')


def list_folders():
    """Map each package, dotted, to the names of its modules and of its packages."""
    folders = {module: ([], []) for module, path in MODULES.items() if path.name == '__init__.py'}
    for module, path in MODULES.items():
        parent, _, name = module.rpartition('.')
        if module:
            folders[parent][path.name == '__init__.py'].append(name)
    return folders
