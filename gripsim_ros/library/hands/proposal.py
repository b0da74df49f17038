"""A first configuration of any hand, from its URDF alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...core.errors import HandError
from ...core.hand import HandModel
from ...core.hand.shapes import make_link
from ...core.hand.loading import joint_limits
from ...core.hand.tree import build_tree
from ..resources import resolve_uri
from .descriptions import actuated_joints, find_base, parsed, relative_to, urdf_text
from .fingers import (
    Bend, FoundFinger, closing_bend, find_fingers, pad_middle, palmar_side)
from .postures import approach_axes, meeting_pairs, propose_preshapes

#: Rubber of the SDH's pads; an assumption for every other hand.
RUBBER = {'youngs_modulus': 2.0e6, 'poisson_ratio': 0.45, 'thickness': 0.003,
          'max_pressure': 3.0e6}
#: Stiffness of position control, and efforts and speeds where the URDF has none that can be
#: meant, of turning and of sliding joints: [N m/rad, N/m], [N m, N], [rad/s, m/s].
STIFFNESS, EFFORTS, SPEEDS = (20.0, 2000.0), (2.0, 40.0), (1.0, 0.05)
#: Efforts above are placeholders [N m, N].
MOST_EFFORTS = (100.0, 1000.0)
#: Largest number of fingers: ways in which they may close grow by it to the power of two.
MOST_FINGERS = 8
#: Digits of what is written.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class Proposal:
    """A hand that was proposed: its file's text, what is odd about it, and the hand as read."""

    text: str
    notes: tuple[str, ...]
    hand: HandModel


def propose_hand(description: Path, out: Path, base: str = '',
                 packages: Mapping[str, Path] | None = None,
                 arguments: Mapping[str, str] | None = None) -> Proposal:
    """
    Write a first configuration of the hand of a URDF or xacro file.

    Parameters
    ----------
    description : Path
        Of a xacro file the URDF is written beside ``out``.
    out : Path
        The file written.
    base : str
        The palm; '' to find it.
    packages : mapping
        Folders of packages by name.
    arguments : mapping
        Of a xacro file, by name.

    Returns
    -------
    Proposal

    Raises
    ------
    HandError, MeshError
        The description cannot be used, or is none of a hand with two or more fingers.
    """
    packages = {name: Path(folder) for name, folder in (packages or {}).items()}
    text = urdf_text(description, packages, arguments)
    urdf = description
    if description.suffix == '.xacro':
        urdf = out.with_suffix('.urdf')
        urdf.write_bytes(text)
    robot = parsed(text, description.name)
    facts, notes = _first_facts(robot, description, base or find_base(robot, description.name))
    near = out.absolute().parent
    if urdf != description:     # its packages stand around the xacro, not around what is written
        packages = {**_packages_around(text, description), **packages}
    facts = {'name': facts['name'], 'urdf': relative_to(urdf, near),
             'packages': {name: relative_to(folder, near) for name, folder in packages.items()},
             **{key: value for key, value in facts.items() if key != 'name'}}
    out.write_text(yaml.safe_dump(facts, sort_keys=False))
    hand = HandModel.load(out, None, resolve_uri)
    facts, found = _filled(facts, hand)
    notes += found
    text_out = _written(facts, description.name, [*notes, *hand.notes])
    out.write_text(text_out)
    hand = HandModel.load(out, None, resolve_uri)
    return Proposal(text_out, (*notes, *hand.notes), hand)


def _packages_around(text: bytes, description: Path) -> dict[str, Path]:
    """Return the folders of packages that a URDF names, where they stand around the xacro."""
    import re

    from ...core.hand.files import package_beside
    names = set(re.findall(r'package://([^/"]+)/', text.decode('utf-8', 'replace')))
    found = {name: package_beside(description, name) for name in sorted(names)}
    return {name: folder for name, folder in found.items() if folder is not None}


def _first_facts(robot: Any, description: Path, base: str
                 ) -> tuple[dict[str, Any], list[str]]:
    """Return what can be told from the URDF's text, with fingers and preshapes still to come."""
    names = actuated_joints(robot, base)
    if not names:
        raise HandError(f'{description.name}: nothing below {base!r} moves by itself')
    tree = build_tree(robot, base, tuple(names))
    by_name = {joint.name: joint for joint in robot.joints}
    slides = [by_name[name].type == 'prismatic' for name in names]
    facts: dict[str, Any] = {
        'name': str(getattr(robot, 'name', '') or description.name.split('.')[0]),
        'base_link': base, 'joints': names, 'merge_fixed': True,
        'joint_stiffness': {name: STIFFNESS[slide] for name, slide in zip(names, slides)}}
    notes: list[str] = []
    for key, field, usual, most in (('joint_efforts', 'effort', EFFORTS, MOST_EFFORTS),
                                    ('joint_velocities', 'velocity', SPEEDS, (1e3, 1e3))):
        given = [getattr(by_name[name].limit, field, None) or 0.0 for name in names]
        bad = [not 0.0 < value <= most[slide] for value, slide in zip(given, slides)]
        if any(bad):
            facts[key] = {name: usual[slide] if wrong else float(value)
                          for name, value, wrong, slide in zip(names, given, bad, slides)}
            odd = [name for name, wrong in zip(names, bad) if wrong]
            notes.append(f'{key}: the URDF has none that can be meant for {_few(odd)}; assumed')
    lower, upper = joint_limits(robot, tree, tuple(names))
    middle = np.clip(np.zeros(len(names)), lower, upper)
    facts |= {'fingers': {}, 'pads': {'rubber': RUBBER}, 'surfaces': {},
              'preshapes': {'start': {'open': middle.tolist(), 'closed': middle.tolist()}}}
    return facts, notes


def _few(names: list[str]) -> str:
    return ', '.join(names[:4]) + (f' and {len(names) - 4} more' if len(names) > 4 else '')


def _filled(facts: dict[str, Any], hand: HandModel) -> tuple[dict[str, Any], list[str]]:
    """Return the facts with fingers, pads, preshapes and axes, and what is odd about them."""
    fingers = find_fingers(hand)
    if len(fingers) < 2:
        raise HandError(f'hand {hand.name!r}: {len(fingers)} finger found below '
                        f'{hand.base_link!r}, two or more are needed '
                        f'(--base LINK names the palm; links with shapes: '
                        f'{_few(list(hand.link_names))})')
    if len(fingers) > MOST_FINGERS:
        raise HandError(f'hand {hand.name!r}: {len(fingers)} fingers found below '
                        f'{hand.base_link!r}, {MOST_FINGERS} are allowed: where these are several '
                        'hands, --base LINK names the palm of one')
    bend = closing_bend(hand, fingers)
    surfaces = _surfaces(hand, fingers, bend)
    links = tuple(make_link(link.name, link.mesh, surfaces.get(link.name, {}), {})
                  for link in hand.links)
    hand = replace(hand, links=links)
    adjacent = meeting_pairs(hand, bend)
    near = hand.neighbours.copy()
    for a, b in adjacent:
        i, j = hand.link_index(a), hand.link_index(b)
        near[i, j] = near[j, i] = True
    hand = replace(hand, neighbours=near)
    preshapes = propose_preshapes(hand, fingers, bend)
    approach, across = approach_axes(hand, fingers, preshapes)
    notes = [f'{a} and {b} overlap whatever the joints do: not checked against each other'
             for a, b in adjacent]
    return {**facts, 'approach': _rounded(approach), 'across': _rounded(across),
            'fingers': _finger_names(hand, fingers),
            'surfaces': {name: {'pad': 'rubber', **surface} for name, surface in surfaces.items()},
            'adjacent': [list(pair) for pair in adjacent],
            'preshapes': {preshape.name: {'open': _within(hand, preshape.open),
                                          'closed': _within(hand, preshape.closed)}
                          for preshape in preshapes}}, notes


def _finger_names(hand: HandModel, fingers: list[FoundFinger]) -> dict[str, str]:
    return {f'finger_{i}': hand.link_names[finger.link] for i, finger in enumerate(fingers, 1)}


def _surfaces(hand: HandModel, fingers: list[FoundFinger], bend: Bend) -> dict[str, Any]:
    """Return the palmar surfaces of all links of the fingers."""
    surfaces: dict[str, Any] = {}
    for finger in fingers:
        for link in range(len(hand.links)):
            own = hand.moves_link[link] & ~hand.moves_link[finger.link]
            if own.any() or not hand.moves_link[link, list(finger.bending)].any():
                continue
            if link != finger.link and not _carries(hand, link, finger.link):
                continue
            outward = palmar_side(hand, link, finger.bending, bend)
            surfaces[hand.link_names[link]] = {
                'outward': _rounded(outward),
                'through': _rounded(pad_middle(hand.links[link].mesh, outward), 5)}
    return surfaces


def _carries(hand: HandModel, link: int, outer: int) -> bool:
    return int(hand.link_frames[link]) in hand.tree.path_to_base(int(hand.link_frames[outer]))


def _rounded(values: Any, digits: int = DIGITS) -> list[float]:
    return [float(round(value, digits)) + 0.0 for value in values]


def _within(hand: HandModel, values: Any) -> list[float]:
    """Return rounded joint values that are still within their limits."""
    digits = DIGITS + 2
    low = np.ceil(hand.joint_lower * 10**digits) / 10**digits
    high = np.floor(hand.joint_upper * 10**digits) / 10**digits
    return [float(value) + 0.0 for value in np.clip(np.round(values, digits), low, high)]


def _written(facts: dict[str, Any], source: str, notes: list[str]) -> str:
    """Return the file's text, with what is assumed said above."""
    head = [f'# A first configuration, proposed from {source}; see docs/hand.md. SI units.',
            '# Assumed, to be measured: pads, joint_stiffness, and what is said here:']
    head += [f'# - {note}' for note in dict.fromkeys(notes)] or ['# - nothing else']
    facts = {key: value for key, value in facts.items() if value not in ({}, [])}
    body = yaml.safe_dump(facts, sort_keys=False, default_flow_style=None, width=100)
    return '\n'.join(head) + '\n' + body
