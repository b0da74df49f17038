"""
Measure which branches of the core its own tests reach: ``make coverage``.

Its own tests are those that import the core and nothing of the suite's nodes, clients, drivers
or reports. Further arguments go to pytest. Fails below the ``fail_under`` of setup.cfg, for
lines with branches as coverage counts them and for branches alone. Kernels are left out:
compiled, they run where no tracer sees them (tools/mutate.py).
"""

import ast
import json
from pathlib import Path
import subprocess
import sys

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'gripsim_ros'
ALLOWED = ('core', 'library', 'ros.environment', 'apps.cli')


def imported_modules(path):
    """Return the modules of the package that a test imports, without the package's name."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module] if '.' in node.module else [
                f'{node.module}.{alias.name}' for alias in node.names]
        modules |= {name.partition('.')[2] for name in names if name.startswith(f'{PACKAGE}.')}
    return modules


def is_under(module, unit):
    """Return True if a module is the unit or lies in it."""
    return module == unit or module.startswith(f'{unit}.')


def is_of_the_core(path):
    """Return True if a test imports the core, and beside it at most what is allowed."""
    modules = imported_modules(path)
    return any(is_under(module, 'core') for module in modules) and all(
        any(is_under(module, unit) for unit in ALLOWED) for module in modules)


def list_tests():
    """Return the test files that are the core's own."""
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / 'test').rglob('test_*.py'))
            if is_of_the_core(path)]


def main():
    """Run the tests, report what they miss; return 1 where it is too much."""
    run = subprocess.run([sys.executable, '-m', 'coverage', 'run', '-m', 'pytest', '-q', '-m', '',
                          *sys.argv[1:], *list_tests()], cwd=ROOT)
    report = ROOT / 'build' / 'coverage' / 'core.json'
    for step in (['report'], ['json', '-q', '--fail-under=0', '-o', str(report)]):
        subprocess.run([sys.executable, '-m', 'coverage', *step], cwd=ROOT)
    totals = json.loads(report.read_text(encoding='utf-8'))['totals']
    branches = 100.0 * totals['covered_branches'] / totals['num_branches']
    print(f'core: {totals["percent_covered"]:.1f} % of lines and branches, '
          f'{branches:.1f} % of {totals["num_branches"]} branches')
    wanted = Coverage(config_file=str(ROOT / 'setup.cfg')).get_option('report:fail_under')
    return run.returncode or int(min(branches, totals['percent_covered']) < wanted)


if __name__ == '__main__':
    sys.exit(main())
