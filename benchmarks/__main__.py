"""Run one benchmark, or all: ``python -m benchmarks [NAME [ARGUMENTS]]``."""

import importlib
from pathlib import Path
import pkgutil
import sys

#: What takes long, needs peers or arguments.
BY_NAME = ('contact', 'fem', 'fem_body', 'hold', 'hold_confusion', 'hold_suite', 'soak',
           'planar_closure', 'scans', 'simulated', 'soak_driver', 'fault_figure', 'socp')


def list_benchmarks():
    """List the modules of this package that can be run."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith('_'))


def run(name, arguments):
    """Run one benchmark; return its exit code."""
    sys.argv = [f'benchmarks {name}', *arguments]
    try:
        return importlib.import_module(f'benchmarks.{name}').main() or 0
    except ModuleNotFoundError as error:
        print(f'benchmarks: {name} needs {error.name}: run `make bench-setup`', file=sys.stderr)
        return 1


def main(arguments):
    """Run what is named, or everything that runs by itself; return the exit code."""
    names = list_benchmarks()
    if not arguments:
        return max(run(name, []) for name in names if name not in BY_NAME)
    if arguments[0] not in names:
        print(f'benchmarks: there is no {arguments[0]!r}, but {", ".join(names)}',
              file=sys.stderr)
        return 2
    return run(arguments[0], arguments[1:])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
