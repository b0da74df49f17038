"""What all tests share: an isolated ROS domain, seeded randomness, the optional data."""

import gc
import os
from pathlib import Path
import signal

# The tests' processes share the cores: a second thread of linear algebra waits for the first one
# in a loop, and takes the time of the others. Before numpy is loaded, which reads it once.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

from hypothesis import settings  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from gripsim_ros.ros.environment import enter_isolation  # noqa: E402
from tools.lean_numba import compiling_leanly  # noqa: E402

# Clients wait longer for servers: the machine may be slow, and busy with anything.
os.environ.setdefault('GRIPSIM_PATIENCE', '6')

# A worker of pytest-xdist has a domain of its own, not that of the process which began it.
if 'PYTEST_XDIST_WORKER' in os.environ:
    os.environ.pop('ROS_DOMAIN_ID', None)

# Before any test module imports rclpy, which reads these once.
enter_isolation('tests')

# A shell lets jobs in the background ignore interrupts, and so would every process begun here.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile('gripsim', deadline=None, derandomize=True, print_blob=True)
settings.load_profile('gripsim')


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: at the end one worker would wait for them alone."""
    items.sort(key=lambda item: 'ros' not in item.path.relative_to(ROOT).parts[:2])


def pytest_collection_finish():
    """Let the collector of garbage leave alone what is there until the end: half a million."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope='session', autouse=True)
def lean_kernels():
    """Compile what no setup has compiled as a setup would: that takes two thirds of the time."""
    with compiling_leanly():
        yield


@pytest.fixture
def rng():
    """Return a generator that yields the same numbers in every run."""
    return np.random.default_rng(20240501)


@pytest.fixture(scope='session')
def data_directory():
    """Return the directory of third-party models and scans; skip where there is none."""
    default = ROOT.parent / 'shared' / 'data'
    path = Path(os.environ.get('GRIPSIM_DATA') or default)
    if not path.is_dir():
        pytest.skip(f'set GRIPSIM_DATA to the directory of models and scans ({path} is missing)')
    return path
