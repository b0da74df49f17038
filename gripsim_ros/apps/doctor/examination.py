"""What may be wrong with an installation or a running suite, and what to do about it."""

import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import yaml

from ...core.errors import GripsimError
from ...library.resources import load_hand, load_outline, material_library, share_directory
from ...ros.environment import DEFAULT_DOMAIN, DISCOVERY, DOMAIN, LOCALHOST_ONLY, PROFILE
from .finding import BAD, GOOD, NOTE, Finding
from .packages import check_kernels, check_optional, check_packages
from .running_suite import check_suite

#: Domains beyond have no ports of their own, DDSI-RTPS 2.5 section 9.6.2.4.
LAST_DOMAIN = 232
#: What the package is configured by, below ``config/``.
CONFIGURATION = ('planner', 'mechanics', 'materials')


def examine(with_network: bool = True, hand: str = '', thorough: bool = False,
            say: Callable[[str], None] = lambda line: None) -> Iterator[Finding]:
    """
    Yield the findings of all checks, one after the other.

    Parameters
    ----------
    with_network : bool
        Also look for a running suite, which takes a few seconds.
    hand : str
        File of a hand: whether it can be used, and whether the suite has that one; '': the hand
        that comes along, and any of the suite will do.
    thorough : bool
        Also import each package, read configuration and the hand's meshes, and run the kernels;
        else what can be told without: which are installed, which files are there.
    say : callable
        Is told in one line what is waited for.
    """
    checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ('python', _python), ('packages', partial(check_packages, thorough)),
        ('interfaces', _interfaces), ('files', partial(_files, thorough)),
        ('hand', partial(_hand, hand, thorough)), ('kernels', partial(check_kernels, thorough)),
        ('optional', partial(check_optional, thorough)), ('environment', _environment)]
    if with_network:
        checks.append(('network', partial(check_suite, hand, say)))
    for name, check in checks:
        try:
            yield from check()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            yield Finding(name, BAD, f'{type(error).__name__}: {" ".join(str(error).split())} '
                          f'({Path(place.filename).name}, line {place.lineno})',
                          'report this line')


def _python() -> Iterator[Finding]:
    version, machine = platform.python_version(), f'{platform.system()} {platform.machine()}'
    fits = (3, 10) <= sys.version_info[:2] <= (3, 13)
    yield Finding('Python', GOOD if fits else NOTE, f'{version} on {machine}',
                  '' if fits else 'tested are 3.10 to 3.13')


def _interfaces() -> Iterator[Finding]:
    try:
        from gripsim_interfaces.msg import Grasp
        from gripsim_interfaces.srv import PlanGrasp
    except ImportError as error:
        yield Finding('gripsim_interfaces', BAD, f'cannot be imported: {error}',
                      'run `make setup`, or build it with colcon and source the workspace')
        return
    fields = set(Grasp.get_fields_and_field_types())
    missing = {'reach', 'peak_von_mises', 'arm_trajectory'} - fields
    if missing or 'cloud' not in PlanGrasp.Request.get_fields_and_field_types():
        yield Finding('gripsim_interfaces', BAD, f'is from another version, it lacks {missing}',
                      'build it again: `make setup`, or colcon after removing build/ and install/')
        return
    yield Finding('gripsim_interfaces', GOOD, 'built and of this version')
    try:
        import rclpy
        yield Finding('rclpy', GOOD, str(Path(rclpy.__file__).parent))
    except ImportError as error:
        yield Finding('rclpy', BAD, str(error), 'run `make setup`, or source a ROS 2 install')


def _files(thorough: bool) -> Iterator[Finding]:
    share = share_directory()
    yield Finding('files', GOOD, str(share))
    loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)      # the first takes a tenth
    contents = {name: loader((share / 'config' / f'{name}.yaml').read_bytes()).get_single_data()
                for name in CONFIGURATION}
    if thorough:
        from ...library.in_process import mechanics_options, planner_options
        planner_options(), mechanics_options(), material_library()
    count = len(contents['materials']['materials'])
    yield Finding('configuration', GOOD, f'planner, mechanics, {count} materials')


def _hand(file: str, thorough: bool) -> Iterator[Finding]:
    """Look at a hand: at all of a file that is named, at what comes along without its meshes."""
    try:
        if file or thorough:
            hand = load_hand(file)
            links, digest = f'{len(hand.links)} links', hand.id
        else:
            hand = load_outline()
            links, digest = f'{len(hand.link_names)} links', hand.content_id()
    except GripsimError as error:
        yield Finding('hand', BAD, f'{file}: {error}', f'see `gripsim hand check {file}`')
        return
    yield Finding('hand', GOOD, f'{hand.name}: {len(hand.joint_names)} joints, {links}, '
                                f'{digest[:12]}')


def _environment() -> Iterator[Finding]:
    domain, reach = os.environ.get(DOMAIN, ''), os.environ.get(DISCOVERY, '')
    fits = not domain or (domain.isdecimal() and int(domain) <= LAST_DOMAIN)
    yield Finding(DOMAIN, GOOD if fits else BAD,
                  domain or 'not set: `gripsim` joins the suite that runs or takes a free one, '
                            f'`ros2 launch` takes {DEFAULT_DOMAIN}',
                  '' if fits else f'it must be a number from 0 to {LAST_DOMAIN}')
    alone = os.environ.get(LOCALHOST_ONLY, '') not in ('', '0') and reach not in ('', 'LOCALHOST')
    if alone:
        yield Finding(LOCALHOST_ONLY, NOTE, f'set, and {DISCOVERY} is {reach}',
                      f'unset it: {LOCALHOST_ONLY} is deprecated and wins over {DISCOVERY}')
    yield Finding(DISCOVERY, GOOD if reach else NOTE,
                  reach or 'not set: LOCALHOST for `gripsim` commands, but SUBNET, the default of '
                           'ROS 2, for `ros2 launch` and `ros2 run`',
                  '' if reach else 'set it to SUBNET for nodes on several machines, to LOCALHOST '
                                   'to keep all to this one')
    rmw = os.environ.get('RMW_IMPLEMENTATION', '')
    tested = rmw in ('', 'rmw_fastrtps_cpp')
    yield Finding('RMW_IMPLEMENTATION', GOOD if tested else NOTE, rmw or 'rmw_fastrtps_cpp',
                  '' if tested else 'only rmw_fastrtps_cpp is tested')
    profile = os.environ.get(PROFILE, '')
    lost = bool(profile) and not Path(profile).is_file()
    yield Finding(PROFILE, BAD if lost else GOOD, profile or 'not set: the suite\'s own',
                  'the file is missing: unset the variable' if lost else '')
    free = os.statvfs('/dev/shm').f_bavail * os.statvfs('/dev/shm').f_frsize / 2**20
    yield Finding('/dev/shm', GOOD if free > 64 else BAD, f'{free:.0f} MiB free',
                  '' if free > 64 else 'messages between processes need 64 MiB; in a container '
                                       'start it with --shm-size=256m')
