"""What kernels share: how they are declared, and copying without numpy's functions."""

from gripsim_ros.core.numerics.kernels import copy_entries, njit
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


def test_a_kernel_is_compiled_without_an_entry_for_c():
    @njit()
    def twice(x):
        return 2.0 * x
    assert twice(1.5) == 3.0
    compiled, = twice.overloads.values()
    names = [function.name for function in compiled.library.get_defined_functions()]
    assert any('cpython' in name for name in names)
    assert not any('cfunc' in name for name in names)
