"""What may be wrong with an installation or a running suite, and what to do about it."""

import importlib
import importlib.metadata
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..core.errors import GripsimError
from ..library.resources import load_hand, material_library, share_directory
from ..ros.clients.suite import DISCOVERY_TIME, NODES
from ..ros.environment import (
    DEFAULT_DOMAIN, DISCOVERY, DOMAIN, LOCALHOST_ONLY, PROFILE, find_suite_domain, patience)

#: How a check ended.
GOOD, NOTE, BAD = 'good', 'note', 'bad'
#: What the core cannot do without, and the oldest versions that are tested.
NEEDED = {'numpy': '1.26', 'scipy': '1.11', 'trimesh': '4.4', 'networkx': '2.8', 'lxml': '4.9',
          'collada': '0.8', 'numba': '0.59', 'llvmlite': '0.42', 'urdf_parser_py': '0.0.4',
          'clarabel': '0.10', 'fast_simplification': '0.1.7', 'skimage': '0.22',
          'typer': '0.20', 'rich': '13.7', 'PIL': '10.1', 'yaml': '6.0', 'threadpoolctl': '3.1',
          'serial': '3.5', 'manifold3d': '3.0', 'xacro': '2.0'}
#: Distribution names where they differ from the module's.
DISTRIBUTIONS = {'PIL': 'pillow', 'yaml': 'PyYAML', 'fast_simplification': 'fast-simplification',
                 'serial': 'pyserial', 'mujoco': 'mujoco-core', 'skimage': 'scikit-image',
                 'collada': 'pycollada', 'can': 'python-can'}
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
    ('tf2_msgs', 'frames from /tf', 'it comes with a ROS 2 install'),
    ('control_msgs', 'FollowJointTrajectory', 'it comes with ros2_control'),
    ('moveit_msgs', 'the service plan_grasps_moveit', 'it comes with MoveIt'),
    ('launch_testing', 'ros2 launch and its tests', 'it comes with a ROS 2 install'))
#: Longest look at a suite where something is missing that a busy machine may have delayed, and
#: time between two looks whether all is there [s].
LONGEST_LOOK, LOOK_AGAIN = 20.0, 0.5
#: Domains beyond have no ports of their own, DDSI-RTPS 2.5 section 9.6.2.4.
LAST_DOMAIN = 232
#: Topics of the ring: each needs a publisher and a subscriber that fit.
RING = ('plan/hand_configurations', 'plan/link_states', 'plan/contacts', 'plan/grasp_states',
        'grasp_object')
#: What may have one side only; where both are there, they must fit.
OPEN_ENDED = ('live/link_states', 'live/contacts', 'live/grasp_states', 'live/markers',
              'ranked_grasps', 'plan/markers', 'joint_states', 'object_pose', 'palm_pose',
              'tactile', 'joint_trajectory')
#: Services that a planner which is ready offers.
SERVICES = ('plan_grasp', 'evaluate_grasp', 'show_closing', 'plan_grasps/_action/send_goal')


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, how it ended, what was found, what to do (or '')."""

    subject: str
    state: str
    found: str
    advice: str = ''


def examine(with_network: bool = True, hand: str = '') -> Iterator[Finding]:
    """
    Yield the findings of all checks, one after the other.

    Parameters
    ----------
    with_network : bool
        Also look for a running suite, which takes a few seconds.
    hand : str
        File of a hand: whether it can be used, and whether the suite has that one; '': the hand
        that comes along, and any of the suite will do.
    """
    checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        (check.__name__, check) for check in (_python, _packages, _interfaces, _files)]
    checks += [('hand', partial(_hand, hand)), *(
        (check.__name__, check) for check in (_kernels, _optional, _environment))]
    if with_network:
        checks.append(('network', partial(_network, hand)))
    for title, check in checks:
        try:
            yield from check()
        except Exception as error:
            name, place = title.strip('_'), traceback.extract_tb(error.__traceback__)[-1]
            yield Finding(name, BAD, f'{type(error).__name__}: {" ".join(str(error).split())} '
                          f'({Path(place.filename).name}, line {place.lineno})',
                          'report this line')


def _python() -> Iterator[Finding]:
    version, machine = platform.python_version(), f'{platform.system()} {platform.machine()}'
    fits = (3, 10) <= sys.version_info[:2] <= (3, 13)
    yield Finding('Python', GOOD if fits else NOTE, f'{version} on {machine}',
                  '' if fits else 'tested are 3.10 to 3.13')


def _packages() -> Iterator[Finding]:
    for module, oldest in NEEDED.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            yield Finding(module, BAD, f'cannot be imported: {error}',
                          'run `make setup` again, or pip install -r requirements.txt')
            continue
        version = _version(module)
        old = version is not None and _numbers(version) < _numbers(oldest)
        yield Finding(module, NOTE if old else GOOD, version or 'installed',
                      f'older than the tested {oldest}' if old else '')


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


def _files() -> Iterator[Finding]:
    from ..library.in_process import mechanics_options, planner_options
    share = share_directory()
    yield Finding('files', GOOD, str(share))
    planner_options(), mechanics_options()
    yield Finding('configuration', GOOD,
                  f'planner, mechanics, {len(material_library())} materials')


def _hand(file: str) -> Iterator[Finding]:
    try:
        hand = load_hand(file)
    except GripsimError as error:
        yield Finding('hand', BAD, f'{file}: {error}', f'see `gripsim hand check {file}`')
        return
    yield Finding('hand', GOOD, f'{hand.name}: {len(hand.joint_names)} joints, '
                                f'{len(hand.links)} links, {hand.id[:12]}')


def _kernels() -> Iterator[Finding]:
    from numba.core.event import RecordingListener, install_listener

    from ..library.in_process import warm_up
    begin, compiled = time.monotonic(), RecordingListener()
    with install_listener('numba:compile', compiled):
        warm_up()
    took = time.monotonic() - begin
    cold = bool(compiled.buffer)
    yield Finding('kernels', NOTE if cold else GOOD,
                  f'{"compiled" if cold else "loaded"} in {took:.1f} s',
                  'they were not cached; they are now, if the package\'s folder can be written'
                  if cold else '')


def _optional() -> Iterator[Finding]:
    for module, purpose, how in OPTIONAL:
        try:
            importlib.import_module(module)
            yield Finding(module, GOOD, f'{_version(module) or "installed"}: {purpose}')
        except ImportError:
            yield Finding(module, NOTE, f'not installed; it is for: {purpose}', how)


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


def _network(hand: str) -> Iterator[Finding]:
    """Look at the nodes of a running suite, and whether their topics fit."""
    found = os.environ.get(DOMAIN) or find_suite_domain() or DEFAULT_DOMAIN
    if not str(found).isdecimal():
        return
    from diagnostic_msgs.msg import DiagnosticArray

    from ..ros.clients.connection import Connection
    with Connection('', 'gripsim_doctor', int(found)) as connection:
        told: dict = {}
        connection.node.create_subscription(
            DiagnosticArray, '/diagnostics',
            lambda msg: told.update((status.name, status) for status in msg.status), 50)
        domain = int(found)
        _look(connection, lambda: _is_settled(connection.node, domain, told))
        yield from _suite_findings(connection.node, domain)
        yield from _told_findings(told, hand)


def _look(connection, is_settled: Callable[[], bool]) -> None:
    """Take what is told until all is there; a busy machine may need ``LONGEST_LOOK``."""
    begin = time.monotonic()
    check, end = begin + DISCOVERY_TIME, begin + LONGEST_LOOK * patience()
    while (now := time.monotonic()) < end:
        if now >= check:
            if is_settled():
                return
            check = now + LOOK_AGAIN
        connection.look(0.1)


def _is_settled(node, domain: int, told: dict) -> bool:
    """Tell whether looking longer would hardly find more: all is well, or nobody is there."""
    findings = list(_suite_findings(node, domain))
    if findings[0].state == NOTE:       # no node, but one of this machine's suites has some
        return find_suite_domain() != domain
    names = {f'{place.strip("/")}/{name}'.lstrip('/')
             for name, place in node.get_node_names_and_namespaces() if name in NODES}
    return all(finding.state == GOOD for finding in findings) and names <= set(told)


def _suite_findings(node, domain: int) -> Iterator[Finding]:
    places = {place for name, place in node.get_node_names_and_namespaces() if name in NODES}
    if not places:
        yield Finding('suite', NOTE, f'no node of it in domain {domain}',
                      'start one with `gripsim suite up` or `ros2 launch gripsim_ros '
                      f'gripsim.launch.py`; nodes elsewhere need the same {DOMAIN}, on other '
                      f'machines also {DISCOVERY}=SUBNET')
    for place in sorted(places):
        yield from _place_findings(node, domain, place)


def _place_findings(node, domain: int, place: str) -> Iterator[Finding]:
    """Look at the suite in one namespace."""
    names = [name for name, here in node.get_node_names_and_namespaces() if here == place]
    missing = [name for name in NODES if name not in names]
    where = f'domain {domain}' + (f', namespace {place}' if place != '/' else '')
    yield Finding('suite', BAD if missing else GOOD,
                  f'{where}: ' + (f'{", ".join(missing)} missing' if missing
                                  else 'all nodes are there'),
                  'start the missing nodes; launch starts them again by itself' if missing else '')
    most, name = max((names.count(name), name) for name in NODES)
    if most > 1:
        yield Finding('suites', NOTE, f'{where}: {most} nodes are called {name}',
                      'give one suite a namespace or a ROS_DOMAIN_ID of its own, or, where one '
                      'was killed, look again in 20 s')
    prefix = place.rstrip('/') + '/'
    for topic in RING:
        yield _topic_finding(node, prefix + topic)
    for topic in OPEN_ENDED:
        finding = _topic_finding(node, prefix + topic)
        if ' no ' not in f' {finding.found}':
            yield finding
    served = {name for name, _ in node.get_service_names_and_types()}
    lacking = [name for name in SERVICES if prefix + name not in served]
    if 'grasp_planner' in names:
        yield Finding('services', NOTE if lacking else GOOD,
                      f'not yet there: {", ".join(lacking)}' if lacking else 'all are there',
                      'the planner offers them once it is active: see its log' if lacking else '')


def _told_findings(told: dict, file: str = '') -> Iterator[Finding]:
    """Pass on what the nodes say of themselves, and whether they hold the same hand, a file's."""
    hands = set()
    for name, status in sorted(told.items()):
        values = {pair.key: pair.value for pair in status.values}
        level = (GOOD, NOTE, BAD, BAD)[_level(status.level)]
        hands |= {values['hand']} if 'hand' in values else set()
        error = values.get('last error', '')
        yield Finding(name, level, status.message + (f'; last error: {error}' if error else ''),
                      '' if level == GOOD else 'what it waits for must be started, see its log')
    if len(hands) == 1:
        yield _same_hand(hands.pop(), file)
    if len(hands) > 1:
        yield Finding('hands', BAD, f'the nodes hold different ones: {", ".join(sorted(hands))}',
                      'give all nodes the same urdf and hand_config, or --hand to the suite')


def _same_hand(held: str, file: str) -> Finding:
    """Compare the hand that all nodes hold with that of a file, '' for any."""
    try:
        wanted = load_hand(file)
    except GripsimError:        # said already
        return Finding('hands', GOOD, f'all nodes hold {held}')
    own = f'{wanted.name} {wanted.id[:12]}'
    if not file or held == own:
        return Finding('hands', GOOD, f'all nodes hold {held}' + (', as the file' if file else ''))
    return Finding('hands', BAD, f'all nodes hold {held}, the file is {own}',
                   f'start the suite with --hand {file}, or hand:={file}')


def _level(level) -> int:
    """Return the level of a diagnostic status, which rclpy gives as a byte."""
    return level[0] if isinstance(level, bytes) else int(level)


def _topic_finding(node, topic: str) -> Finding:
    from rclpy.qos import QoSCompatibility, qos_check_compatible
    publishers = node.get_publishers_info_by_topic(topic)
    readers = node.get_subscriptions_info_by_topic(topic)
    if not publishers or not readers:
        side = 'publisher' if not publishers else 'subscriber'
        return Finding(topic, BAD, f'has no {side}', 'a node is missing or in another namespace')
    types = {info.topic_type for info in [*publishers, *readers]}
    if len(types) > 1:
        return Finding(topic, BAD, f'has several types: {sorted(types)}',
                       'nodes of different versions run together')
    for publisher in publishers:
        for reader in readers:
            fit, reason = qos_check_compatible(publisher.qos_profile, reader.qos_profile)
            if fit == QoSCompatibility.ERROR:
                return Finding(topic, BAD, f'{publisher.node_name} and {reader.node_name} do not '
                               f'match: {" ".join(reason.split())}',
                               'give both the same reliability and durability')
    return Finding(topic, GOOD, f'{len(publishers)} publish, {len(readers)} listen')


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
