"""A wheel holds all that the package needs, and runs in an environment with nothing else in it."""

import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Of the source tree, what neither is tracked nor belongs into a wheel.
AWAY = shutil.ignore_patterns(
    '.venv', '.git', 'build', 'dist', 'demo', '*.egg-info', '__pycache__', 'test', 'docs',
    'benchmarks', '.hypothesis', '.pytest_cache')
#: First plan with kernels to compile, on a busy machine [s].
PATIENCE = 900.0

pytestmark = pytest.mark.skipif(not (ROOT / 'setup.py').exists(), reason='needs the source tree')


@pytest.fixture(scope='module')
def wheel(tmp_path_factory):
    """Return the wheel that is built from the source distribution, as `python -m build` does."""
    folder = tmp_path_factory.mktemp('wheel')
    shutil.copytree(ROOT, folder / 'tree', ignore=AWAY)
    shutil.unpack_archive(built('sdist', folder / 'tree'), folder)
    return built('wheel', next(folder.glob('gripsim_ros-*')))


def built(kind, tree):
    """Return the file that setuptools makes of a tree."""
    out = tree / 'out'
    out.mkdir()
    subprocess.run([sys.executable, '-c', 'import sys; from setuptools import build_meta; '
                    f'build_meta.build_{kind}(sys.argv[1])', out], cwd=tree, check=True,
                   capture_output=True, env=environment())
    return next(out.iterdir())


def environment():
    """Return this process's environment without what would bring in other packages."""
    return {name: value for name, value in os.environ.items()
            if name not in ('PYTHONPATH', 'AMENT_PREFIX_PATH', 'LD_LIBRARY_PATH')}


def test_a_wheel_holds_every_module_and_every_file_that_is_installed(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / 'gripsim_ros').rglob('*')
               if path.is_file() and path.suffix not in ('.pyc', '.nbi', '.nbc')}
    assert modules <= names
    data = wheel.name.split('-py3')[0] + '.data/data/share/gripsim_ros/'
    share = {str(path.relative_to(ROOT)) for top in ('config', 'urdf', 'launch', 'examples')
             for path in (ROOT / top).rglob('*')
             if path.is_file() and '__pycache__' not in path.parts}
    assert {data + name for name in share} <= names


def test_a_wheel_asks_for_all_that_the_package_needs_beside_ros(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist()
                                     if name.endswith('/METADATA'))).decode()
    asked = {line.removeprefix('Requires-Dist: ') for line in metadata.splitlines()
             if line.startswith('Requires-Dist: ') and 'extra ==' not in line}
    lines = (ROOT / 'requirements.txt').read_text().splitlines()
    assert asked == {line for line in lines if line and not line.startswith('#')}


@pytest.mark.nightly
@pytest.mark.slow
def test_the_demo_runs_from_a_wheel_in_an_environment_with_nothing_else(wheel, tmp_path):
    """Without ROS one process plans, and says so; packages come from the index."""
    subprocess.run([sys.executable, '-m', 'venv', tmp_path / 'venv'], check=True)
    command = tmp_path / 'venv' / 'bin'
    installed = subprocess.run([command / 'pip', 'install', '--quiet', wheel], env=environment(),
                               capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    done = subprocess.run([command / 'gripsim', 'demo', '--hypotheses', '6'], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert 'rclpy is not installed: this process plans' in done.stdout + done.stderr
    assert json.loads((tmp_path / 'demo' / 'grasps.json').read_text())['grasps']
    assert (tmp_path / 'demo' / 'report.html').stat().st_size > 100_000
