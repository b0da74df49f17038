"""What benchmarks, tools and examples import is there: most of it is not run by any other test."""

import ast
from importlib import import_module, util

from house import ROOT
import pytest

PACKAGES = ('gripsim_ros', 'benchmarks')
SOURCES = sorted(path for folder in ('benchmarks', 'tools', 'examples', 'launch')
                 for path in (ROOT / folder).rglob('*.py'))


def own_imports(path):
    """Yield module and name of each import from the packages of this repository."""
    package = list(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            module = '.'.join([*base, *([node.module] if node.module else [])])
            if module.split('.')[0] in PACKAGES:
                yield from ((module, alias.name) for alias in node.names)


def defined(module):
    """Return the names that a module's source defines at its top, or imports there."""
    tree = ast.parse((ROOT / 'benchmarks').joinpath(
        *module.split('.')[1:]).with_suffix('.py').read_text(encoding='utf-8'))
    return {name.id for node in tree.body for name in ast.walk(node)
            if isinstance(name, ast.Name)} | {
        node.name for node in tree.body if hasattr(node, 'name')} | {
        (alias.asname or alias.name) for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_lead_somewhere(path):
    for module, name in own_imports(path):
        if util.find_spec(f'{module}.{name}') if _is_package(module) else False:
            continue
        if module.startswith('benchmarks'):     # its peers need not be installed
            assert name in defined(module), f'{module}.{name}'
        else:
            assert hasattr(import_module(module), name), f'{module}.{name}'


def _is_package(module):
    spec = util.find_spec(module)
    assert spec, module
    return spec.submodule_search_locations is not None
