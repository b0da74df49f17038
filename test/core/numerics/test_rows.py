"""Rows of kernels: all of them are written, and a device that cannot be had is told in a line."""

import os
from pathlib import Path
import subprocess
import sys

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.numerics.kernels import njit
from gripsim_ros.core.numerics.rows import DEVICE, run_rows
from gripsim_ros.core.numerics.vec3 import dot, load_vec3
import numpy as np
import pytest

#: Runs kernels of a card as Python, thread by thread.
EMULATED = {DEVICE: 'cuda', 'NUMBA_ENABLE_CUDASIM': '1'}


@njit(cache=True)
def write_squares(first, step, points, scale, results):
    """Write the scaled squares of lengths of points (n, 3)."""
    for n in range(first, len(points), step):
        results[0][n] = scale * dot(load_vec3(points, n), load_vec3(points, n))


def squares(count):
    """Return what the rows are, and what they should be."""
    points, found = np.random.default_rng(count).normal(size=(count, 3)), np.full(count, -1.0)
    run_rows(write_squares, count, (points, 2.0), (found,))
    return found, 2.0 * (points ** 2).sum(axis=1)


@pytest.mark.parametrize('count', [0, 1, 200])
def test_all_rows_are_written(count):
    np.testing.assert_allclose(*squares(count), rtol=1e-15)


def test_threads_of_an_emulated_card_write_all_rows():
    ended = subprocess.run(
        [sys.executable, '-c', 'import test_rows as t, numpy as np; '
         '[np.testing.assert_allclose(*t.squares(count), rtol=1e-15) for count in (1, 64, 150)]'],
        env={**os.environ, **EMULATED}, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize('device, text', [('gpu', 'must be cpu or cuda'), ('cuda', 'card|cuda')])
def test_a_device_that_cannot_be_had_is_told(device, text, monkeypatch):
    monkeypatch.setenv(DEVICE, device)
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '')      # where there is a card, none is seen
    with pytest.raises(TaskError, match=text) as caught:
        squares(3)
    assert '\n' not in str(caught.value)
