"""Generated hands of boxes: two to five fingers that turn or slide, alone or by one motor."""

from pathlib import Path

import numpy as np

#: Half the sides of the palm [m], and sides of a phalanx.
PALM, PHALANX = (0.05, 0.05, 0.015), (0.014, 0.02, 0.05)


def _box(size, origin=(0.0, 0.0, 0.0)):
    return (f'<collision><origin xyz="{origin[0]} {origin[1]} {origin[2]}"/><geometry>'
            f'<box size="{size[0]} {size[1]} {size[2]}"/></geometry></collision>')


def _joint(name, kind, parent, child, origin, axis, limits, mimic=''):
    xyz, yaw = origin
    rpy = yaw if isinstance(yaw, tuple) else (0.0, 0.0, yaw)
    follow = f'<mimic joint="{mimic}" multiplier="1" offset="0"/>' if mimic else ''
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz[0]:.9f} {xyz[1]:.9f} {xyz[2]:.9f}" '
            f'rpy="{rpy[0]:.9f} {rpy[1]:.9f} {rpy[2]:.9f}"/>'
            f'<axis xyz="{axis}"/><limit lower="{limits[0]}" upper="{limits[1]}" '
            f'effort="{limits[2]}" velocity="1"/>{follow}</joint>')


def sliding_gripper(motors=2):
    """Return the URDF of two fingers that slide towards each other from 8 cm; with 1: mimic."""
    parts = [f'<link name="palm">{_box(2.0 * np.array(PALM), (0, 0, -PALM[2]))}</link>']
    for i, yaw in enumerate((0.0, np.pi)):
        parts.append(f'<link name="finger_{i}">{_box((0.016, 0.02, 0.05), (-0.008, 0, 0.025))}'
                     '</link>')
        parts.append(_joint(f'slide_{i}', 'prismatic', 'palm', f'finger_{i}', ((0, 0, 0), yaw),
                            '-1 0 0', (0.0, 0.04, 40), 'slide_0' if motors == 1 and i else ''))
    return f'<robot name="slider">{"".join(parts)}</robot>'


def turning_hand(count, axis='z', motors=0):
    """
    Return the URDF of fingers of two phalanges about a palm that looks along an axis.

    With ``motors=1`` all inner joints follow the first, and all outer ones too.
    """
    tilt = {'z': '0 0 0', 'x': '0 1.5707963267949 0', '-z': '3.14159265358979 0 0'}[axis]
    palm = _box(2.0 * np.array(PALM), (0, 0, -PALM[2]))
    parts = [f'<link name="palm"/><link name="body">{palm}</link>'
             '<joint name="mount" type="fixed"><parent link="palm"/><child link="body"/>'
             f'<origin xyz="0 0 0" rpy="{tilt}"/></joint>']
    for i in range(count):
        yaw = 2.0 * np.pi * i / count
        place = (-0.045 * np.cos(yaw), -0.045 * np.sin(yaw), 0.0)
        leader = '' if i == 0 or motors != 1 else 'inner_0'
        parts += [f'<link name="inner_link_{i}">{_box(PHALANX, (0, 0, 0.025))}</link>',
                  f'<link name="outer_link_{i}">{_box(PHALANX, (0, 0, 0.025))}</link>',
                  _joint(f'inner_{i}', 'revolute', 'body', f'inner_link_{i}', (place, yaw),
                         '0 1 0', (-0.6, 1.2, 3.0), leader),
                  _joint(f'outer_{i}', 'revolute', f'inner_link_{i}', f'outer_link_{i}',
                         ((0, 0, 0.052), 0.0), '0 1 0', (0.0, 1.4, 2.0),
                         'inner_0' if motors == 1 else '')]
    return f'<robot name="turner">{"".join(parts)}</robot>'


def thumb_beside_fingers(count=3, coupled=False):
    """
    Return the URDF of fingers that point along z from the edge of a palm that looks along x.

    They spread and bend. A thumb beside the palm points along y and turns in front of it; then
    it points along x, as fingers do that are bent, and its palmar side is up, theirs down. Where
    they are ``coupled``, fingers do not spread, and each bends by one motor, as the thumb does.
    """
    palm = _box((0.02, 0.1, 0.09), (-0.01, 0.0, -0.045))
    parts = [f'<link name="palm">{palm}</link>']
    bend, reach = (-0.2, 1.7, 3.0), (0.0, 0.0, PHALANX[2] + 0.002)
    for i in range(count):
        place = (0.0, 0.036 * (i - 0.5 * (count - 1)), 0.005)
        parts += [f'<link name="knuckle_{i}"/>', *_phalanges(f'_{i}'),
                  _joint(f'spread_{i}', 'fixed' if coupled else 'revolute', 'palm',
                         f'knuckle_{i}', (place, 0.0), '1 0 0', (-0.4, 0.4, 3.0)),
                  _joint(f'inner_{i}', 'revolute', f'knuckle_{i}', f'inner_link_{i}',
                         ((0, 0, 0), 0.0), '0 1 0', bend),
                  _joint(f'outer_{i}', 'revolute', f'inner_link_{i}', f'outer_link_{i}',
                         (reach, 0.0), '0 1 0', bend, f'inner_{i}' if coupled else '')]
    quarter = 0.5 * np.pi
    parts += [f'<link name="thumb_base">{_box((0.014, 0.014, 0.014))}</link>',
              *_phalanges('_thumb'),
              _joint('thumb_turn', 'revolute', 'palm', 'thumb_base', ((0.012, 0.04, -0.08), 0.0),
                     '0 0 1', (-3.3, 0.2, 3.0)),
              _joint('thumb_inner', 'revolute', 'thumb_base', 'inner_link_thumb',
                     ((0, 0.008, 0), (-quarter, -quarter, 0.0)), '0 1 0', bend),
              _joint('thumb_outer', 'revolute', 'inner_link_thumb', 'outer_link_thumb',
                     (reach, 0.0), '0 1 0', bend, 'thumb_inner' if coupled else '')]
    return f'<robot name="anthropomorph">{"".join(parts)}</robot>'


def _phalanges(suffix):
    box = _box(PHALANX, (0, 0, 0.025))
    return [f'<link name="{name}{suffix}">{box}</link>' for name in ('inner_link', 'outer_link')]


def write_urdf(folder: Path, text: str) -> Path:
    """Write a URDF and return its path."""
    path = folder / 'hand.urdf'
    path.write_text('<?xml version="1.0"?>\n' + text)
    return path
