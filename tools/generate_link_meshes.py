"""
Write the SDH's link meshes, urdf/meshes/*.stl, from urdf/sdh_dimensions.yaml.

Bodies are stacks of prisms (tools/prism_stack.py): fingers along their bending axis y,
the palm along z. Run after every change of the dimensions:
``python tools/generate_link_meshes.py``.
"""

import sys
from pathlib import Path

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

from prism_stack import Layer, arc, build, circle, path  # noqa: E402

URDF = Path(__file__).resolve().parents[1] / 'urdf'
MILLIMETRE = 1e-3
HALF_TURN = np.pi
#: Circles made of levels end here, at a short flat [-].
ROUND = 0.987


def read_dimensions():
    """Return the table of dimensions [mm]."""
    return yaml.safe_load((URDF / 'sdh_dimensions.yaml').read_text(encoding='utf-8'))


def make_finger(table):
    """Return the proximal link, (vertices [mm], faces); sections are in (z, x)."""
    d, mesh = table['finger'], table['mesh']
    far, depth = d['joint_distance'], d['body_half_depth']
    low, high = d['shoulder'], far - d['shoulder']
    turn, chord = np.arcsin(depth / d['joint_radius']), mesh['joint_chord']
    cut = np.arccos(d['shoulder'] / d['clearance_radius'])
    lower_end = arc((0, 0), d['joint_radius'], turn, 2 * HALF_TURN - turn, chord)
    upper_end = arc((far, 0), d['joint_radius'], turn - HALF_TURN, HALF_TURN - turn, chord)
    lower_hollow = arc((0, 0), d['clearance_radius'], cut, -cut, chord)
    upper_hollow = arc((far, 0), d['clearance_radius'], cut + HALF_TURN, HALF_TURN - cut, chord)
    lower_flat = ((low, depth), lower_hollow, (low, -depth))
    upper_flat = ((high, -depth), upper_hollow, (high, depth))
    whole = path(lower_end, upper_end)
    a, b = d['pad_range']
    pad = path((a, depth), (a, d['pad_face']), (b, d['pad_face']), (b, depth))
    layers = [
        Layer(-d['half_width'], d['lower_housing'][0], (path(*lower_flat, upper_end),)),
        Layer(d['lower_housing'][0], d['upper_housing'][1], (whole,)),
        Layer(d['upper_housing'][1], d['half_width'], (path(lower_end, *upper_flat),)),
        Layer(-d['pad_half_width'], d['pad_half_width'], (pad,))]
    return _along_y(*build(layers, mesh['edge'], mesh['edge']))


def palmar_arc(table, outer):
    """Return (centre (z, x), radius, start, end) of the tip's palmar arc or its pad's face."""
    d = table['finger_tip']
    centre = (d['flat_end'], d['palmar_face'] - d['palmar_radius'])
    if outer:
        radius = d['palmar_radius'] + d['pad_thickness']
        return centre, radius, 0.5 * HALF_TURN, np.arccos((d['pad_end'] - centre[0]) / radius)
    (front_z, front_x), nose = d['nose_front'], d['nose_radius']
    angle = np.arctan2(front_x - centre[1], front_z - centre[0])
    # Where the nose's circle meets the palmar one, by the law of cosines.
    gap = np.hypot(front_x - centre[1], front_z - centre[0])
    inside = (gap ** 2 + d['palmar_radius'] ** 2 - nose ** 2) / (2 * gap * d['palmar_radius'])
    return centre, d['palmar_radius'], 0.5 * HALF_TURN, angle - np.arccos(min(1.0, inside))


def make_finger_tip(table):
    """Return the distal link, (vertices [mm], faces); sections are in (z, x)."""
    d, mesh = table['finger_tip'], table['mesh']
    low, depth, radius = d['shoulder'], d['palmar_face'], d['joint_radius']
    bow = palmar_bow(table)
    front_z, front_x = d['nose_front']
    meeting = np.arctan2(bow[-1][1] - front_x, bow[-1][0] - front_z)
    back_z, back_x = d['nose_back']
    tangent = _tangent_angle((0, 0), radius, (back_z, back_x), d['nose_radius'])
    nose = (arc((front_z, front_x), d['nose_radius'], meeting, 0.0, mesh['nose_chord']),
            arc((back_z, back_x), d['nose_radius'], 0.0, tangent, mesh['nose_chord']))
    back_foot = (radius - low * np.cos(tangent)) / np.sin(tangent)
    cut = np.arccos(low / d['clearance_radius'])
    hollow = arc((0, 0), d['clearance_radius'], -cut, cut, mesh['joint_chord'])
    front = np.arcsin(depth / radius)
    housing = arc((0, 0), radius, tangent, front - 2 * HALF_TURN, mesh['joint_chord'])
    crown = arc((0, 0), radius, front, tangent, mesh['joint_chord'])
    web = path(bow, *nose, housing)
    body = path(bow, *nose, (low, back_foot), hollow, (low, depth))
    disc = path(housing, crown)
    layers = [
        Layer(-d['half_width'], d['housing'][0], (body,)),
        Layer(d['housing'][0], d['half_width'], (web,)),
        Layer(d['half_width'], d['housing'][1], (disc,)),
        Layer(-d['pad_half_width'], d['pad_half_width'], (_tip_pad(table),))]
    return _along_y(*build(layers, mesh['edge'], mesh['edge']))


def palmar_bow(table):
    """Return the tip's palmar arc, from the flat part to the nose, its points under the pad's."""
    chord = table['mesh']['pad_chord']
    centre, radius, start, nose = palmar_arc(table, outer=False)
    _, outer, _, pad_end = palmar_arc(table, outer=True)
    return path(arc(centre, radius, start, pad_end, chord * radius / outer),
                arc(centre, radius, pad_end, nose, chord))


def _tip_pad(table):
    d = table['finger_tip']
    centre, outer, start, end = palmar_arc(table, outer=True)
    face = arc(centre, outer, start, end, table['mesh']['pad_chord'])
    floor = palmar_bow(table)[:len(face)]
    a = d['pad_start']
    return path((a, d['palmar_face']), (a, d['palmar_face'] + d['pad_thickness']), face,
                floor[::-1])


def _tangent_angle(first, first_radius, second, second_radius):
    """Return the angle of the normal of the outer tangent of two circles, on the dorsal side."""
    along = np.arctan2(second[1] - first[1], second[0] - first[0])
    gap = np.hypot(second[0] - first[0], second[1] - first[1])
    return along - np.arccos((first_radius - second_radius) / gap)


def make_knuckle(table):
    """Return the knuckle, (vertices [mm], faces); sections are in (z, x)."""
    d, edge = table['knuckle'], table['mesh']['knuckle_edge']
    height, half, radius = d['joint_height'], d['yoke_half_depth'], d['joint_radius']
    turn = np.arcsin(half / radius)
    joint = (height, 0)
    around = arc(joint, radius, HALF_TURN - turn, turn - HALF_TURN, edge)
    below = arc(joint, radius, HALF_TURN - turn, HALF_TURN + turn, edge)
    disc, plate_top = path(around, below), d['plate'][1]
    leg = path(around, (plate_top, -half), (plate_top, half))
    cut = np.arccos((height - d['yoke_height']) / d['hollow_radius'])
    hollow = arc(joint, d['hollow_radius'], HALF_TURN + cut, HALF_TURN - cut, edge)
    bridge = path((plate_top, -half), (d['yoke_height'], -half), hollow,
                  (d['yoke_height'], half), (plate_top, half))
    near_bore, far_bore = (circle(joint, d[key][0], edge) for key in ('near_bore', 'far_bore'))
    plate, foot = (path((d[key][0], -r), (d[key][1], -r), (d[key][1], r), (d[key][0], r))
                   for key, r in (('plate', d['plate_radius']), ('foot', d['foot_radius'])))
    near, far, end = d['near_housing'], d['far_housing'], d['yoke_half_length']
    layers = [
        Layer(-end, d['near_bore'][1], (leg,)), Layer(d['near_bore'][1], near, (leg, near_bore)),
        Layer(near, far[0], (bridge,)), Layer(far[0], d['far_bore'][1], (leg, far_bore)),
        Layer(d['far_bore'][1], end, (leg,)), Layer(end, far[1], (disc,)),
        Layer(-ROUND * d['plate_radius'], ROUND * d['plate_radius'], (plate,)),
        Layer(*_yoke_levels(d)[[-1, 1]], (foot,))]
    return _along_y(*build(layers, edge, edge, lambda p, y: _round_plate(d, p, y),
                           _knuckle_levels(d, edge), table['mesh']['knuckle_longest']))


def _yoke_levels(d):
    """Levels at which the corners of the yoke's root have turned 45 and 70 degrees."""
    corner = d['corner_radius'] * np.sin(np.deg2rad([45.0, 70.0]))
    levels = d['yoke_half_length'] - d['corner_radius'] + corner
    return np.concatenate([levels, -levels])


def _knuckle_levels(d, edge):
    """Levels at which the plate's rim and the yoke's corners turn by equal angles."""
    steps = int(np.ceil(2.0 * np.arcsin(ROUND) * d['plate_radius'] / (0.75 * edge)))
    plate = d['plate_radius'] * np.sin(np.linspace(-1, 1, steps + 1) * np.arcsin(ROUND))
    plate = plate[np.abs(plate) > 0.5 * d['plate_radius']]
    yoke = _yoke_levels(d)
    fixed = np.concatenate([yoke, [-d['yoke_half_length'], d['yoke_half_length']],
                            d['far_housing'], [d['near_housing'], d['near_bore'][1],
                                               d['far_bore'][1]]])
    near = np.abs(plate[:, None] - fixed).min(axis=1) < 0.15 * edge
    return np.concatenate([plate[~near], yoke])


def _round_plate(d, points, y):
    """Narrow the straight-sided plate, foot and yoke's root to their plan at level y."""
    z, size = points[:, 0], np.abs(points[:, 1])
    full, half = d['plate_radius'], d['yoke_half_depth']
    width = np.sqrt(max(full ** 2 - y ** 2, 0.0))
    if width <= 0.0:
        return points
    yoke = _yoke_width(d, y, width)
    joint = _joint_width(d, z)
    top = d['joint_height'] - np.sqrt(d['joint_radius'] ** 2 - half ** 2)
    rise = np.clip((z - d['plate'][1]) / (top - d['plate'][1]), 0.0, 1.0)
    side = yoke + rise * (half - yoke)
    narrow = joint + (size - joint) * (side - joint) / np.maximum(half - joint, 1e-9)
    outer = yoke + (size - half) * (width - yoke) / (full - half)
    moved = np.where(size <= half, narrow, outer)
    free = (z < top - 1e-6) & (size > joint + 1e-6)
    if abs(y) > d['yoke_half_length']:
        free &= z <= d['plate'][1] + 1e-6
    size = np.where(free, moved, size)
    sole = (z < d['foot'][1] - 1e-6) & (abs(y) <= d['foot_radius'])
    upper = np.interp(d['foot_radius'], [half, full], [yoke, width])
    goal = max(np.sqrt(max(d['foot_radius'] ** 2 - y ** 2, 0.0)), upper - 1.0)
    size = np.where(sole, size * goal / upper, size)
    return np.column_stack([z, np.sign(points[:, 1]) * size])


def _yoke_width(d, y, plate_width):
    """Return half the yoke's depth at level y; beyond its end, where it would be on the plate."""
    half, corner, end = d['yoke_half_depth'], d['corner_radius'], d['yoke_half_length']
    if abs(y) > end:
        return plate_width * (half - corner) / np.sqrt(d['plate_radius'] ** 2 - end ** 2)
    past = max(0.0, abs(y) - end + corner)
    return half - corner + np.sqrt(corner ** 2 - past ** 2)


def _joint_width(d, z):
    """Return half the depth of the joint housing at heights z; 0 below it."""
    return np.sqrt(np.maximum(d['joint_radius'] ** 2 - (z - d['joint_height']) ** 2, 0.0))


def make_palm(table):
    """Return the palm, (vertices [mm], faces); sections are in (x, y)."""
    d, edge = table['palm'], table['mesh']['edge']
    outline = palm_outline(d, edge)
    angles = HALF_TURN + np.arange(3) * 2.0 * HALF_TURN / 3.0
    pockets = tuple(circle(d['lobe_distance'] * np.array([np.cos(t), np.sin(t)]),
                           d['pocket_radius'], edge) for t in angles)
    ring = tuple(circle((0, 0), r, edge) for r in d['ring'])
    layers = [
        Layer(d['ring_bottom'], d['collar_bottom'], ring),
        Layer(d['collar_bottom'], d['bottom'], (circle((0, 0), d['collar_radius'], edge),)),
        Layer(d['bottom'], d['pocket_floor'], (outline,)),
        Layer(d['pocket_floor'], d['top'], (outline, *pockets))]
    levels = np.linspace(d['corner_start'], d['corner_end'], 12)
    return build(layers, edge, edge, lambda p, z: _cut_corners(d, outline, p, z), levels,
                 longest=table['mesh']['palm_longest'])


def palm_outline(d, edge):
    """Return the loop of three lobes joined by tangent hollow flanks, (x, y)."""
    lobe, flank, distance = d['lobe_radius'], d['flank_radius'], d['lobe_distance']
    half_side = distance * np.sin(HALF_TURN / 3.0)
    offset = distance * np.cos(HALF_TURN / 3.0) \
        + np.sqrt((lobe + flank) ** 2 - half_side ** 2)
    spread = np.arcsin(half_side / (lobe + flank))
    parts = []
    for k in range(3):
        turn = HALF_TURN + 2.0 * HALF_TURN * k / 3.0
        axis = np.array([np.cos(turn), np.sin(turn)])
        reach = HALF_TURN / 3.0 + spread
        parts.append(arc(distance * axis, lobe, turn - reach, turn + reach, edge))
        middle = turn + HALF_TURN / 3.0
        centre = offset * np.array([np.cos(middle), np.sin(middle)])
        parts.append(arc(centre, flank, middle + HALF_TURN + spread,
                         middle + HALF_TURN - spread, edge))
    return path(*parts)


def _cut_corners(d, outline, points, z):
    """Draw the lobes in to the cut's radius at level z; the core stays."""
    if z >= d['corner_end']:
        return points
    rise = max(0.0, z - d['corner_start']) / (d['corner_end'] - d['corner_start'])
    tip, core = d['lobe_distance'] + d['lobe_radius'], d['corner_core']
    limit = d['corner_radius'] + rise * (tip - d['corner_radius'])
    radius = np.linalg.norm(points, axis=1)
    angles = np.arctan2(outline[:, 1], outline[:, 0])
    order = np.argsort(angles)
    edge = np.interp(np.arctan2(points[:, 1], points[:, 0]), angles[order],
                     np.linalg.norm(outline, axis=1)[order], period=2.0 * HALF_TURN)
    shrunk = core + (radius - core) * (limit - core) / np.maximum(edge - core, 1e-9)
    moved = (edge > limit) & (radius > core)
    scale = np.where(moved, shrunk / np.maximum(radius, 1e-9), 1.0)
    return points * scale[:, None]


def _along_y(vertices, faces):
    """Turn (z, x, y) to (x, y, z); both are right-handed."""
    return vertices[:, [1, 2, 0]], faces


MAKERS = {'finger': make_finger, 'finger_tip': make_finger_tip, 'knuckle': make_knuckle,
          'palm': make_palm}


def stl_bytes(vertices, faces):
    """Return a binary STL of vertices in mm, written in metres."""
    corners = (vertices * MILLIMETRE).astype('<f4')[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    rows = np.zeros(len(faces), np.dtype([('v', '<f4', (4, 3)), ('a', '<u2')]))
    rows['v'][:, 0] = normals / np.where(length > 0.0, length, 1.0)
    rows['v'][:, 1:] = corners
    return b'gripsim_ros link mesh [m]'.ljust(80) + np.uint32(len(faces)).tobytes() \
        + rows.tobytes()


def main() -> int:
    """Write all meshes."""
    table = read_dimensions()
    for name, make in MAKERS.items():
        (URDF / 'meshes' / f'{name}.stl').write_bytes(stl_bytes(*make(table)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
