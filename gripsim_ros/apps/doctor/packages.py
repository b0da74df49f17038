"""Whether packages that are needed, or of use, are there, and whether kernels are compiled."""

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from .finding import BAD, GOOD, NOTE, Finding

#: What the core cannot do without, and the oldest versions that are tested.
NEEDED = {'numpy': '1.26', 'scipy': '1.11', 'trimesh': '4.4', 'networkx': '2.8', 'lxml': '4.9',
          'collada': '0.8', 'numba': '0.59', 'llvmlite': '0.42', 'urdf_parser_py': '0.0.4',
          'clarabel': '0.10', 'fast_simplification': '0.1.7', 'skimage': '0.22',
          'typer': '0.20', 'rich': '13.7', 'PIL': '10.1', 'yaml': '6.0', 'threadpoolctl': '3.1',
          'serial': '3.5', 'manifold3d': '3.0', 'xacro': '2.0'}
#: Distribution names where they differ from the module's.
DISTRIBUTIONS = {'PIL': 'pillow', 'yaml': 'PyYAML', 'fast_simplification': 'fast-simplification',
                 'serial': 'pyserial', 'mujoco': 'mujoco-core', 'skimage': 'scikit-image',
                 'collada': 'pycollada', 'can': 'python-can', 'numba_cuda': 'numba-cuda'}
#: What is optional: module, what it is for, how to get it.
OPTIONAL = (
    ('mujoco', 'the simulated hand', 'pip install "gripsim_ros[sim]"'),
    ('pytetwild', 'the simulated hand: soft objects', 'pip install "gripsim_ros[sim]"'),
    ('rtree', 'the simulated hand: where its pads feel', 'pip install "gripsim_ros[sim]"'),
    ('coacd', 'the back end gjk_epa for concave bodies', 'pip install "gripsim_ros[convex]"'),
    ('sqlalchemy', 'grasp databases', 'pip install "gripsim_ros[sweep]"'),
    ('psycopg', 'grasp databases in PostgreSQL', 'pip install "gripsim_ros[postgresql]"'),
    ('distributed', 'sweeps on many machines', 'pip install "gripsim_ros[dask]"'),
    ('mcap', 'recording plans', 'pip install "gripsim_ros[record]"'),
    ('viser', 'gripsim view', 'pip install "gripsim_ros[view]"'),
    ('can', 'an SDH on a CAN bus', 'pip install "gripsim_ros[can]"'),
    ('numba_cuda', 'proposals on a CUDA card', 'pip install "gripsim_ros[cuda]"'),
    ('tf2_msgs', 'frames from /tf', 'it comes with a ROS 2 install'),
    ('control_msgs', 'FollowJointTrajectory', 'it comes with ros2_control'),
    ('moveit_msgs', 'the service plan_grasps_moveit', 'it comes with MoveIt'),
    ('launch_testing', 'ros2 launch and its tests', 'it comes with a ROS 2 install'))


def check_packages(thorough: bool) -> Iterator[Finding]:
    """Look at what the core needs: whether it is installed, and imports if that is wanted."""
    for module, oldest in NEEDED.items():
        lacking = _lacking(module, thorough)
        if lacking:
            yield Finding(module, BAD, f'cannot be imported: {lacking}',
                          'run `make setup` again, or pip install -r requirements.txt')
            continue
        version = _version(module)
        old = version is not None and _numbers(version) < _numbers(oldest)
        yield Finding(module, NOTE if old else GOOD, version or 'installed',
                      f'older than the tested {oldest}' if old else '')


def check_optional(thorough: bool) -> Iterator[Finding]:
    """Look at what single features need."""
    for module, purpose, how in OPTIONAL:
        if _lacking(module, thorough):
            yield Finding(module, NOTE, f'not installed; it is for: {purpose}', how)
        else:
            yield Finding(module, GOOD, f'{_version(module) or "installed"}: {purpose}')


def _lacking(module: str, thorough: bool) -> str:
    """Return why a module cannot be imported, '' where it can; else only whether it is there."""
    try:
        if thorough:
            importlib.import_module(module)
        elif importlib.util.find_spec(module) is None:
            return f'there is no module {module!r}'
    except (ImportError, ValueError) as error:
        return str(error)
    return ''


def check_kernels(thorough: bool) -> Iterator[Finding]:
    """Tell whether the kernels are compiled: by their files, or by running them all."""
    if thorough:
        yield _run_kernels()
        return
    kept, stale = find_compiled()
    if kept and not stale:
        yield Finding('kernels', GOOD, f'those of {kept} modules are compiled')
    else:
        yield Finding('kernels', NOTE, 'not compiled yet' if not kept else (
            f'of {kept} modules whose kernels are compiled {stale} have changed since, or numba '
            'has'), 'the first plan compiles them, in some minutes; `gripsim doctor --thorough` '
            'does so now')


def find_compiled() -> tuple[int, int]:
    """
    Return the number of modules with kernels in numba's cache, and how many of these are older.

    Notes
    -----
    Numba keeps kernels beside the source where it may write there, else in the user's cache, or
    in ``NUMBA_CACHE_DIR``. An index begins with the version of numba that wrote it, and is not
    used where the source has changed.
    """
    package = Path(__file__).resolve().parents[2]
    own = os.environ.get('NUMBA_CACHE_DIR', '')
    user = Path(os.environ.get('XDG_CACHE_HOME') or '~/.cache', 'numba').expanduser()
    for place in (Path(own),) if own else (package, user):
        newest: dict[Path, Path] = {}   # module -> the newest index of one of its kernels
        for index in place.rglob(f'*.py{sys.version_info[0]}{sys.version_info[1]}.nbi'):
            module = index.parent / index.name.partition('.')[0]
            newest[module] = max(newest.get(module, index), index, key=_age)
        if newest:
            return len(newest), sum(map(_is_stale, newest.values()))
    return 0, 0


def _age(file: Path) -> float:
    """Return when a file was written [s]."""
    return file.stat().st_mtime


def _is_stale(index: Path) -> bool:
    """Tell whether numba will not use an index: its version is another, or its source is newer."""
    with index.open('rb') as file:
        if (_version('numba') or '').encode() not in file.read(64):
            return True
    source = index.parent.parent / f'{index.name.partition(".")[0]}.py'
    return source.is_file() and _age(source) > _age(index)


def _run_kernels() -> Finding:
    from numba.core.event import RecordingListener, install_listener

    from ...library.in_process import warm_up
    begin, compiled = time.monotonic(), RecordingListener()
    with install_listener('numba:compile', compiled):
        warm_up()
    took = time.monotonic() - begin
    cold = bool(compiled.buffer)
    return Finding('kernels', NOTE if cold else GOOD,
                   f'{"compiled" if cold else "loaded"} in {took:.1f} s',
                   'they were not cached; they are now, if the package\'s folder can be written'
                   if cold else '')


def _version(module: str) -> str | None:
    try:
        return importlib.metadata.version(DISTRIBUTIONS.get(module, module))
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    parts = []
    for word in version.split('.')[:3]:
        digits = ''.join(c for c in word if c.isdigit())
        parts.append(int(digits) if digits else 0)
    return tuple(parts)
