"""Processes that compile kernels at the same time: each is compiled by one of them."""

from pathlib import Path
import subprocess
import sys

import pytest

TOOLS = Path(__file__).parents[2] / 'tools'
#: Asks for a kernel as numba does before it compiles one, and says what the cache had.
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from kernel_turns import taking_turns
from numba.core.caching import IndexDataCacheFile
from pathlib import Path
with taking_turns(Path(sys.argv[2])):
    index = IndexDataCacheFile(sys.argv[2], 'kernel', 'stamp')
    print('asks', flush=True)
    print(index.load(('kinds', 1)), flush=True)
    if sys.stdin.readline() == 'save\\n':
        index.save(('kinds', 1), 'compiled')
        print('saved', flush=True)
        sys.stdin.readline()
"""


def ask(folder):
    """Begin a process that asks for the kernel, and wait until it does so."""
    process = subprocess.Popen([sys.executable, '-c', ASK, TOOLS, folder], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == 'asks\n'
    return process


@pytest.mark.parametrize('saves, answer', [(True, 'compiled'), (False, 'None')])
def test_who_finds_a_kernel_begun_waits_until_it_is_there_or_given_up(tmp_path, saves, answer):
    with ask(tmp_path) as first:
        assert first.stdout.readline() == 'None\n'     # not there: it is the first's to compile
        with ask(tmp_path) as second:
            if saves:
                first.stdin.write('save\n')
                first.stdin.flush()
                assert first.stdout.readline() == 'saved\n'
            else:
                first.kill()
            assert second.stdout.readline() == f'{answer}\n'
            second.stdin.close()
        first.kill()
