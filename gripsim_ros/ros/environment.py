"""What processes of the suite need from their environment: a ROS domain, Fast DDS, interfaces."""

from contextlib import ExitStack
import fcntl
import os
from pathlib import Path
import re
import socket
import tempfile
import time

DOMAIN = 'ROS_DOMAIN_ID'
DISCOVERY = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
LOCALHOST_ONLY = 'ROS_LOCALHOST_ONLY'
PROFILE = 'FASTRTPS_DEFAULT_PROFILES_FILE'
# Else rmw_fastrtps overrides how the profile has the memory of messages managed.
PROFILE_MEMORY = 'RMW_FASTRTPS_USE_QOS_FROM_XML'
PATIENCE = 'GRIPSIM_PATIENCE'
MOST_PATIENCE = 100.0
# Namespace in which a recorder listens to a hand that the command which it runs simulates.
RECORDED = 'GRIPSIM_RECORDED'
# Above these the ports of a domain reach those that Linux hands out to others.
DOMAINS = range(1, 101)
# That of ROS 2 where none is set, and so of nodes that `ros2 launch` began.
DEFAULT_DOMAIN = 0
# Default port mapping of RTPS, DDSI-RTPS 2.5 section 9.6.2.4: PB = 7400, DG = 250, d1 = 10.
PORT_BASE, PORT_STEP, PORT_OFFSET = 7400, 250, 10
SHARED_MEMORY = Path('/dev/shm')
SEGMENT_LOCK = re.compile(r'(fastrtps_(?:[0-9a-f]{16}|port\d{1,5}))_(?:el|sl)')
# A process that is just starting has made its lock file but not locked it yet [s].
SEGMENT_MIN_AGE = 10.0
SUITE = 'suite'

_held = {}   # domain -> open lock file; the kernel drops the locks when this process ends


def isolated_environment(role='run'):
    """
    Return the environment for processes that must not meet those of others on the network.

    Discovery is limited to this machine, the ROS domain is free, and Fast DDS has a shared-memory
    segment that holds the batches, and frees the memory of messages with them. What the user has
    set is kept. The domain belongs to the calling process until it ends; asking again gives the
    same one.

    Parameters
    ----------
    role : str
        ``'suite'`` makes the domain findable through `find_suite_domain`.

    Returns
    -------
    dict of str
        A copy of ``os.environ`` with what was missing.

    """
    environment = dict(os.environ)
    if not environment.get(DISCOVERY) and not environment.get(LOCALHOST_ONLY):
        environment[DISCOVERY] = 'LOCALHOST'
    if environment.get(DOMAIN):
        _record_domain(environment[DOMAIN], role)
    else:
        environment[DOMAIN] = str(claim_domain(role))
    if not environment.get(PROFILE):
        from ..library.resources import share_directory
        environment[PROFILE] = str(share_directory() / 'config' / 'fastdds.xml')
        environment.setdefault(PROFILE_MEMORY, '1')
    return environment


def patience():
    """
    Return the factor on the time that clients wait for servers, from ``GRIPSIM_PATIENCE``.

    Raises
    ------
    ValueError
        It is no number from 1 to 100.

    """
    told = os.environ.get(PATIENCE) or '1'
    try:
        factor = float(told)
    except ValueError:
        factor = 0.0
    if not 1.0 <= factor <= MOST_PATIENCE:
        raise ValueError(f'{PATIENCE} must be a number from 1 to {MOST_PATIENCE:g}, got {told!r}')
    return factor


def enter_isolation(role='run'):
    """Apply `isolated_environment` to this process, before rclpy is imported; tidy up first."""
    clean_shared_memory()
    os.environ.update(isolated_environment(role))


def join_suite():
    """Point this process at the running suite; tell whether there is one to point at."""
    domain = os.environ.get(DOMAIN) or find_suite_domain()
    if domain is None:
        return False
    os.environ[DOMAIN] = str(domain)
    os.environ.update(isolated_environment())
    return True


def claim_domain(role='run'):
    """
    Return a ROS domain that no other process of this machine uses, as far as can be seen.

    Raises
    ------
    RuntimeError
        All are taken.

    """
    if _held:
        domain, lock = next(iter(_held.items()))
        if role == SUITE:
            _write_role(lock, role)
        return domain
    for domain in DOMAINS:
        lock = _lock_domain(domain)
        if lock is None:
            continue
        if _is_port_free(PORT_BASE + PORT_STEP * domain + PORT_OFFSET):
            _write_role(lock, role)
            _held[domain] = lock
            return domain
        lock.close()
    raise RuntimeError(f'no ROS domain is free among {DOMAINS[0]} to {DOMAINS[-1]}: set {DOMAIN}')


def find_suite_domain():
    """Return the domain of the suite that was started last and still runs, or None."""
    running = []
    for path in _lock_directory().glob('domain_*'):
        try:
            with path.open() as lock:
                if lock.read().split()[:1] == [SUITE] and not _try_lock(lock):
                    running.append((path.stat().st_mtime, int(path.name.split('_')[1])))
        except (OSError, ValueError):
            continue
    return max(running)[1] if running else None


def _record_domain(domain, role):
    """Note the role in a domain that the user chose; sharing it with others is the user's wish."""
    if not domain.isdecimal() or int(domain) in _held:
        return
    lock = _lock_domain(int(domain))
    if lock is not None:
        _write_role(lock, role)
        _held[int(domain)] = lock


def _lock_directory():
    directory = Path(tempfile.gettempdir(), f'gripsim-{os.getuid()}')
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def _lock_domain(domain):
    """Return the domain's lock file, open and locked, or None where another process holds it."""
    lock = (_lock_directory() / f'domain_{domain}').open('a+')
    if _try_lock(lock):
        return lock
    lock.close()
    return None


def _try_lock(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_role(lock, role):
    lock.truncate(0)
    lock.write(f'{role} {os.getpid()}\n')
    lock.flush()


def _is_port_free(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return False
    return True


def clean_shared_memory(directory=SHARED_MEMORY, min_age=SEGMENT_MIN_AGE):
    """
    Remove the shared memory that killed processes of this user left to Fast DDS.

    Each segment has a lock file that its owner keeps locked while it lives, and ``fastdds shm
    clean`` goes by the same; ``min_age`` [s] spares processes that are just starting.

    Returns
    -------
    int
        Bytes freed.

    """
    freed = 0
    locks = {}
    for path in Path(directory).glob('fastrtps_*'):
        match = SEGMENT_LOCK.fullmatch(path.name)
        if match:
            locks.setdefault(match[1], []).append(path)
    for name, paths in locks.items():
        with ExitStack() as held:       # until all is gone, so that nobody takes it over meanwhile
            if all(_hold_if_abandoned(path, min_age, held) for path in paths):
                files = [Path(directory, name), Path(directory, f'sem.{name}_mutex'), *paths]
                freed += sum(_remove(path) for path in files)
    return freed


def _hold_if_abandoned(path, min_age, held):
    """Lock what nobody else has locked; tell whether that went well."""
    try:
        status = path.stat()
        if status.st_uid != os.getuid() or time.time() - status.st_mtime < min_age:
            return False
        return _try_lock(held.enter_context(path.open('r+')))
    except OSError:
        return False


def _remove(path):
    try:
        size = path.stat().st_size
        path.unlink()
    except OSError:
        return 0
    return size


def require_interfaces():
    """
    End the process with one line where rclpy or gripsim_interfaces cannot be imported.

    Raises
    ------
    SystemExit
        With what to run.

    """
    try:
        import rclpy  # noqa: F401
        import gripsim_interfaces.action
        import gripsim_interfaces.msg
        import gripsim_interfaces.srv  # noqa: F401
    except ImportError as error:
        raise SystemExit(
            f'gripsim: the nodes need {_name_missing(error)}: run `make setup` and use .venv/bin, '
            'or `colcon build` and source install/setup.bash') from error


def _name_missing(error):
    name = (getattr(error, 'name', None) or '').split('.')[0]
    return name or str(error).splitlines()[0]
