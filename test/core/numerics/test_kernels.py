"""What kernels share: how they are declared, and copying without numpy's functions."""

import json
import os
import subprocess
import sys
import threading

from gripsim_ros.core.numerics.kernels import copy_entries, interpreted, njit
import numpy as np
from numpy.testing import assert_array_equal
import pytest


@pytest.mark.parametrize('source, target', [
    (np.arange(5.0), np.zeros(5)), (np.arange(5), np.zeros(5, int)),
    (np.arange(10.0)[::2], np.zeros((5, 3))[:, 1]), (np.zeros(0), np.zeros(0))],
    ids=['floats', 'integers', 'strided', 'none'])
def test_entries_are_copied(source, target):
    copy_entries(source, target)
    assert_array_equal(target, source)


@njit()
def twice(x):
    return 2.0 * x


@njit(nogil=True)
def fourfold(x):
    return twice(twice(x))


@njit()
def power(x, exponent):
    return x ** exponent


@njit()
def powers(x):
    return power(x, 2), power(x, 3), power(x, exponent=4)


def test_a_kernel_is_compiled_once_for_all_constants_that_kernels_call_it_with():
    assert powers(2.0) == (4.0, 8.0, 16.0)
    assert len(power.signatures) == 1


def test_python_and_kernels_call_the_same_kernel():
    assert fourfold(1.5) == 6.0
    assert twice(1.5) == 3.0
    assert len(twice.signatures) == 2


@pytest.mark.parametrize('call', ['func', 'from_kernels'])
def test_only_what_python_calls_has_an_entry_for_it(call):
    fourfold(1.5), twice(1.5)
    compiled, = getattr(twice, call).overloads.values()
    names = [function.name for function in compiled.library.get_defined_functions()]
    assert any('cpython' in name for name in names) == (call == 'func')
    assert not any('cfunc' in name for name in names)


def test_what_is_compiled_for_kernels_is_kept_apart_from_what_python_calls():
    """One without an entry, loaded where Python calls, would end the process."""
    assert twice.func.py_func.__qualname__ != twice.from_kernels.py_func.__qualname__


@njit()
def halved(x):
    return 0.5 * x


@njit()
def sum_of_halves(x):
    total = 0.0
    for i in range(len(x)):
        total += halved(x[i])
    return total


def test_kernels_run_as_python_only_where_that_is_asked_for_and_until_they_are_compiled():
    x = np.array([1e16, 1.0, -1e16, 1.0])
    with interpreted():
        assert sum_of_halves(x) == 0.5
        assert sum_of_halves.signatures == halved.signatures == []
    assert sum_of_halves(x) == 0.5
    assert len(sum_of_halves.signatures) == len(halved.signatures) == 1
    with interpreted():
        assert sum_of_halves(x[::2]) == 0.0
    assert len(sum_of_halves.signatures) == 2   # it runs compiled wherever it is


def test_threads_do_not_make_others_run_kernels_as_python():
    @njit()
    def doubled(x):
        return x + x
    with interpreted():
        thread = threading.Thread(target=lambda: doubled(1.0))
        thread.start()
        thread.join()
    assert len(doubled.signatures) == 1


#: Tells whether a kernel was compiled or loaded, and what of it is kept; then calls it from
#: another one that is compiled now.
KEPT = """
import json
from kernels_of_a_test import tripled
from gripsim_ros.core.numerics.kernels import njit
assert tripled(2.0) == 6.0
dispatcher = tripled.from_python
compiled, = dispatcher.overloads.values()

@njit()
def ninefold(x):
    return tripled(tripled(x))

assert ninefold(2.0) == 18.0
print(json.dumps([sum(dispatcher.stats.cache_hits.values()),
                  compiled.library._shared_module is None]))
"""


def test_of_a_kernel_that_is_loaded_the_code_alone_is_kept(tmp_path):
    (tmp_path / 'kernels_of_a_test.py').write_text(
        'from gripsim_ros.core.numerics.kernels import njit\n\n\n'
        '@njit(cache=True)\ndef tripled(x):\n    return 3.0 * x\n')
    environment = {**os.environ, 'PYTHONPATH': str(tmp_path), 'NUMBA_CACHE_DIR': str(tmp_path)}
    for hits in (0, 1):
        done = subprocess.run([sys.executable, '-c', KEPT], env=environment, check=True,
                              capture_output=True, text=True)
        assert json.loads(done.stdout) == [hits, bool(hits)]
