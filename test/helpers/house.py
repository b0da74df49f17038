"""The package as its tests of structure see it: modules, what they import, what they define."""

import ast
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

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


class Source(NamedTuple):
    """
    What the tests ask of a source: trees of all sources would take hundreds of megabytes.

    ``words`` counts names, attributes and words in quotes; ``kernels`` are the functions that
    numba compiles; ``public`` are the functions and classes of the module, and methods as
    ``Class.method``; ``prints`` and ``foreign`` are the lines that print, and that ask numba
    itself to compile.
    """

    lines: int
    imports: list
    words: Counter
    kernels: list
    public: list
    prints: list
    foreign: list


@lru_cache(maxsize=None)
def read_source(module):
    """Read the source of a module."""
    path = MODULES[module]
    text = path.read_text(encoding='utf-8')
    tree = ast.parse(text)
    kinds = {kind: [] for kind in (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute,
                                   ast.keyword, ast.Constant, ast.FunctionDef, ast.Call)}
    for node in ast.walk(tree):
        if type(node) in kinds:
            kinds[type(node)].append(node)
    return Source(
        len(text.splitlines()), _imports(module, kinds[ast.Import], kinds[ast.ImportFrom]),
        _words(path, kinds), [node for node in kinds[ast.FunctionDef] if any(
            'njit' in ast.unparse(decorator) for decorator in node.decorator_list)],
        _public_names(tree), [
            call.lineno for call in kinds[ast.Call]
            if isinstance(call.func, ast.Name) and call.func.id == 'print'],
        [node.lineno for node in kinds[ast.Attribute]
         if node.attr == 'njit' and ast.unparse(node) == 'numba.njit'] + [
            node.lineno for node in kinds[ast.ImportFrom] if node.module == 'numba'
            and 'njit' in {name.name for name in node.names}])


def _imports(module, plain, of_names):
    """List the absolute names that a module imports, also those inside functions and for types."""
    package = module.split('.') if MODULES[module].name == '__init__.py' else (
        module.split('.')[:-1])
    package = [PACKAGE, *(part for part in package if part)]
    names = [alias.name for node in plain for alias in node.names]
    for node in of_names:
        base = package[:len(package) - node.level + 1] if node.level else []
        base = '.'.join([*base, *([node.module] if node.module else [])])
        names += [base, *(f'{base}.{alias.name}' for alias in node.names)]
    return names


def _words(path, kinds):
    """Count the names, attributes and words in quotes of a source."""
    words = Counter(node.id for node in kinds[ast.Name])
    words.update(node.attr for node in kinds[ast.Attribute])
    words.update(node.arg for node in kinds[ast.keyword] if node.arg)
    if path.name != '__init__.py':      # asked for by its name; that a root exports it is no use
        words.update(node.value for node in kinds[ast.Constant]
                     if isinstance(node.value, str) and node.value.isidentifier())
    return words


def _public_names(tree):
    """List the public functions and classes of a module, and methods as ``Class.method``."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != '_':
            found.append(node.name)
            if isinstance(node, ast.ClassDef):
                found += [f'{node.name}.{part.name}' for part in node.body
                          if isinstance(part, ast.FunctionDef) and part.name[0] != '_']
    return found


def list_imports(module):
    """List the absolute names that a module imports, also those inside functions and for types."""
    return read_source(module).imports


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
