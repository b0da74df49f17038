"""With launch: each file beside this one, by `launch_test`, which needs no plugin of pytest."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

FILES = sorted(Path(__file__).parent.glob('*_launch.py'))
FILES.remove(Path(__file__))
#: A start that compiles all kernels, and an execution [s].
TIMEOUT = 900.0


@pytest.mark.launch
@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_launched(path):
    for name in ('launch', 'launch_ros', 'launch_testing'):
        pytest.importorskip(name, reason='comes with a ROS install only')
    ended = subprocess.run([sys.executable, '-m', 'launch_testing.launch_test', str(path)],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=TIMEOUT, check=False)
    assert ended.returncode == 0, ended.stdout


def test_a_plugin_that_the_newest_pytest_refuses_does_not_end_the_tests(tmp_path):
    """As of launch_testing up to 3.8: in a shell with a sourced ROS, no test at all would run."""
    (tmp_path / 'hooks.py').write_text('def pytest_pycollect_makemodule(path, parent): pass\n')
    for name in ('launch_testing', 'launch_ros'):
        package = tmp_path / f'{name}-0.dist-info'
        package.mkdir()
        (package / 'METADATA').write_text(f'Name: {name}\nVersion: 0\n')
        (package / 'entry_points.txt').write_text(f'[pytest11]\n{name} = hooks\n')
    run = subprocess.run([sys.executable, '-m', 'pytest', '-q', '--collect-only', __file__],
                         env={**os.environ, 'PYTHONPATH': str(tmp_path)}, capture_output=True,
                         text=True, check=False)
    assert run.returncode == 0, run.stderr
