"""Verbs that need no kernel load neither the compiler nor what reads meshes."""

import subprocess
import sys

import pytest

#: Each of these takes a quarter of a second and more to load.
SLOW = ('numba', 'scipy', 'trimesh', 'llvmlite', 'networkx')
#: Runs a verb, and tells what it has loaded of these.
RUN = """
import sys
from gripsim_ros.apps.cli.main import main
code = main(sys.argv[2:])
print('LOADED', *(name for name in sys.argv[1].split(',') if name in sys.modules))
raise SystemExit(code)
"""


@pytest.mark.parametrize('arguments', [
    ['--help'], ['fk', '--joints', *7 * ['0.1'], '--json'], ['doctor', '--no-network'],
    ['doctor', '--help']], ids=lambda arguments: ' '.join(arguments[:2]))
def test_a_verb_without_kernels_starts_at_once(arguments):
    done = subprocess.run([sys.executable, '-c', RUN, ','.join(SLOW), *arguments],
                          capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == 'LOADED'


def test_what_is_loaded_is_seen():
    """As a verb that plans would load it."""
    code = RUN.replace('import sys', 'import sys; import gripsim_ros.core.mechanics', 1)
    done = subprocess.run([sys.executable, '-c', code, ','.join(SLOW), '--version'],
                          capture_output=True, text=True, check=True)
    assert 'scipy' in done.stdout.splitlines()[-1].split()
