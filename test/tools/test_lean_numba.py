"""Kernels compiled with less than numba does load, run and are called like any others."""

from pathlib import Path
import subprocess
import sys

import numba
import pytest

TOOLS = Path(__file__).parents[2] / 'tools'
#: Two kernels that Python calls, one of them without its lock, and one that they call.
KERNELS = """
import numpy as np
from gripsim_ros.core.numerics.kernels import njit

@njit(cache=True)
def shifted(values, by):
    result = np.empty(len(values))
    for i in range(len(values)):
        result[i] = values[i] + by / 4
    return result

@njit(cache=True)
def shifted_by_one(values):
    return shifted(values, 1)

@njit(cache=True, nogil=True)
def shifted_by_two(values):
    spare = np.empty(len(values))
    spare[:] = shifted(values, 2)
    return spare
"""
#: Says what the kernels return, how often numba makes np.empty, and how many bytes of machine code
#: there are of the kernel that the others call.
COMPILE = """
import sys
sys.path[:0] = sys.argv[1:3]
from lean_numba import compiling_leanly
from llvmlite.binding.object_file import ObjectFileRef
import numpy as np
import kernels
from numba.core.codegen import CPUCodeLibrary
names, finalize = [], CPUCodeLibrary.finalize

def count(self):
    finalize(self)
    names.append(self.name)

CPUCodeLibrary.finalize = count
with compiling_leanly():
    print(kernels.shifted_by_one(np.zeros(2)), kernels.shifted_by_two(np.zeros(2)))
print(sum('np_empty' in name for name in names))
kernel, = kernels.shifted.from_kernels.overloads.values()
data = ObjectFileRef.from_data(kernel.library._get_compiled_object())
print(sum(section.size() for section in data.sections() if section.is_text()))
"""
#: In a process that knows nothing of it: loads what is kept, and calls a part from a new kernel.
LOAD = """
import sys
sys.path[:0] = sys.argv[1:3]
import numpy as np
import kernels

@kernels.njit()
def shifted_by_three(values):
    return kernels.shifted(values, 3)

print(kernels.shifted_by_one(np.zeros(2)), kernels.shifted_by_two(np.zeros(2)))
print(shifted_by_three(np.zeros(2)))
print(*[sum(kernel.stats.cache_hits.values()) for kernel in (
    kernels.shifted_by_one.func, kernels.shifted_by_two.func, kernels.shifted.from_kernels)])
"""


def said_by(script, folder):
    """Return the lines that a process prints."""
    return subprocess.run([sys.executable, '-c', script, TOOLS, folder], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


@pytest.mark.nightly     # by day the kernels of all tests are
@pytest.mark.skipif(numba.version_info[:2] != (0, 68), reason='does nothing with this numba')
def test_what_is_compiled_leanly_is_made_once_and_runs_in_any_process(tmp_path):
    (tmp_path / 'kernels.py').write_text(KERNELS)
    answers = '[0.25 0.25] [0.5 0.5]'
    values, empty_made, machine_code = said_by(COMPILE, tmp_path)
    assert values == answers
    assert empty_made == '1'        # three kernels, of three sets of options, ask for it
    assert machine_code == '0'
    assert said_by(LOAD, tmp_path) == [answers, '[0.75 0.75]', '1 1 1']
