"""What may be wrong with a suite that runs: its nodes, topics, services and hands."""

import os
import time
from collections.abc import Callable, Iterator

from ...core.errors import GripsimError
from ...library.resources import load_outline
from ...ros.clients.suite import DISCOVERY_TIME, NODES
from ...ros.environment import (
    DEFAULT_DOMAIN, DISCOVERY, DOMAIN, find_suite_domain, patience)
from .finding import BAD, GOOD, NOTE, Finding

#: Longest look at a suite where something is missing that a busy machine may have delayed, and
#: time between two looks whether all is there [s].
LONGEST_LOOK, LOOK_AGAIN = 20.0, 0.5
#: Topics of the ring: each needs a publisher and a subscriber that fit.
RING = ('plan/hand_configurations', 'plan/link_states', 'plan/contacts', 'plan/grasp_states',
        'grasp_object')
#: What may have one side only; where both are there, they must fit.
OPEN_ENDED = ('live/link_states', 'live/contacts', 'live/grasp_states', 'live/markers',
              'ranked_grasps', 'plan/markers', 'joint_states', 'object_pose', 'palm_pose',
              'tactile', 'joint_trajectory')
#: Services that a planner which is ready offers.
SERVICES = ('plan_grasp', 'evaluate_grasp', 'show_closing', 'plan_grasps/_action/send_goal')


def check_suite(hand: str, say: Callable[[str], None]) -> Iterator[Finding]:
    """Look at the nodes of a running suite, and whether their topics fit."""
    found = os.environ.get(DOMAIN) or find_suite_domain() or DEFAULT_DOMAIN
    if not str(found).isdecimal():
        return
    from diagnostic_msgs.msg import DiagnosticArray

    from ...ros.clients.connection import Connection
    with Connection('', 'gripsim_doctor', int(found)) as connection:
        told: dict = {}
        connection.node.create_subscription(
            DiagnosticArray, '/diagnostics',
            lambda msg: told.update((status.name, status) for status in msg.status), 50)
        domain = int(found)
        say(f'looking for nodes of a suite in ROS domain {domain}: {DISCOVERY_TIME:g} s, up to '
            f'{LONGEST_LOOK * patience():g} s where something is missing')
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
        wanted = load_outline(file)
        own = f'{wanted.name} {wanted.content_id()[:12]}'
    except GripsimError:        # said already
        return Finding('hands', GOOD, f'all nodes hold {held}')
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
