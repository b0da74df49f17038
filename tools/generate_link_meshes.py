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
    # The nose's arc meets the palmar arc where both are as far from their centres as they are wide.
    gap = np.hypot(front_x - centre[1], front_z - centre[0])
    inside = (gap ** 2 + d['palmar_radius'] ** 2 - nose ** 2) / (2 * gap * d['palmar_radius'])
    return centre, d['palmar_radius'], 0.5 * HALF_TURN, angle - np.arccos(min(1.0, inside))


def make_finger_tip(table):
    """Return the distal link, (vertices [mm], faces); sections are in (z, x)."""
    d, mesh = table['finger_tip'], table['mesh']
    low, depth, radius = d['shoulder'], d['palmar_face'], d['joint_radius']
    centre, palmar, start, end = palmar_arc(table, outer=False)
    chord = mesh['pad_chord'] * palmar / (palmar + d['pad_thickness'])
    bow = arc(centre, palmar, start, end, chord)
    front_z, front_x = d['nose_front']
    meeting = np.arctan2(bow[-1][1] - front_x, bow[-1][0] - front_z)
    back_z, back_x = d['nose_back']
    tangent = _tangent_angle((0, 0), radius, (back_z, back_x), d['nose_radius'])
    nose = (arc((front_z, front_x), d['nose_radius'], meeting, 0.0, mesh['nose_chord']),
            arc((back_z, back_x), d['nose_radius'], 0.0, tangent, mesh['nose_chord']))
    cut = np.arccos(low / d['clearance_radius'])
    hollow = arc((0, 0), d['clearance_radius'], -cut, cut, mesh['joint_chord'])
    front = np.arcsin(depth / radius)
    housing = arc((0, 0), radius, tangent, front - 2 * HALF_TURN, mesh['joint_chord'])
    crown = arc((0, 0), radius, front, tangent, mesh['joint_chord'])
    web = path(bow, *nose, housing)
    body = path(bow, *nose, (low, d['back_foot']), hollow, (low, depth))
    disc = path(housing, crown)
    layers = [
        Layer(-d['half_width'], d['housing'][0], (body,)),
        Layer(d['housing'][0], d['half_width'], (web,)),
        Layer(d['half_width'], d['housing'][1], (disc,)),
        Layer(-d['pad_half_width'], d['pad_half_width'], (_tip_pad(table),))]
    return _along_y(*build(layers, mesh['edge'], mesh['edge']))


def _tip_pad(table):
    d, mesh = table['finger_tip'], table['mesh']
    centre, outer, start, end = palmar_arc(table, outer=True)
    face = arc(centre, outer, start, end, mesh['pad_chord'])
    _, palmar, _, inner_end = palmar_arc(table, outer=False)
    chord = mesh['pad_chord'] * palmar / outer
    bow = arc(centre, palmar, start, inner_end, chord)
    root = np.asarray(centre) + palmar * np.array([np.cos(end), np.sin(end)])
    floor = np.vstack([bow[np.arctan2(bow[:, 1] - centre[1], bow[:, 0] - centre[0]) > end], root])
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
    disc, plate_top = path(around, below[::-1]), d['plate'][1]
    leg = path(around, (plate_top, -half), (plate_top, half))
    cut = np.arccos((height - d['yoke_height']) / d['hollow_radius'])
    hollow = arc(joint, d['hollow_radius'], HALF_TURN + cut, HALF_TURN - cut, edge)
    bridge = path((plate_top, -half), (d['yoke_height'], -half), hollow,
                  (d['yoke_height'], half), (plate_top, half))
    near_bore, far_bore = (circle(joint, d[key][0], edge) for key in ('near_bore', 'far_bore'))
    plate, foot = (path((d[key][0], -r), (d[key][1], -r), (d[key][1], r), (d[key][0], r))
                   for key, r in (('plate', d['plate_radius']), ('foot', d['foot_radius'])))
    near, far, end = d['near_housing'], d['far_housing'], d['yoke_half_length']
    plate_end, foot_end = 0.987 * d['plate_radius'], 0.985 * d['foot_radius']
    layers = [
        Layer(near[0], -end, (disc,)), Layer(-end, d['near_bore'][1], (leg,)),
        Layer(d['near_bore'][1], near[1], (leg, near_bore)), Layer(near[1], far[0], (bridge,)),
        Layer(far[0], d['far_bore'][1], (leg, far_bore)), Layer(d['far_bore'][1], end, (leg,)),
        Layer(end, far[1], (disc,)), Layer(-plate_end, plate_end, (plate,)),
        Layer(-foot_end, foot_end, (foot,))]
    steps = int(np.ceil(2.0 * np.arcsin(0.987) * d['plate_radius'] / edge))
    levels = d['plate_radius'] * np.sin(np.linspace(-1, 1, steps + 1) * np.arcsin(0.987))
    return _along_y(*build(layers, edge, edge, lambda p, y: _round_plate(d, p, y), levels))


def _round_plate(d, points, y):
    """Narrow the straight-sided plate and foot to their circles at level y."""
    z, x = points[:, 0], points[:, 1].copy()
    full, half = d['plate_radius'], d['yoke_half_depth']
    width = np.sqrt(max(full ** 2 - y ** 2, 0.0))
    foot = np.sqrt(max(d['foot_radius'] ** 2 - y ** 2, 0.05))
    on_plate = z <= d['plate'][1] + 1e-6
    if width > half + 0.2:
        outer = on_plate & (np.abs(x) > half)
        x[outer] = np.sign(x[outer]) * (
            half + (np.abs(x[outer]) - half) * (width - half) / (full - half))
    elif width > 0.0:
        x[on_plate] *= width / full
    sole = (z < d['foot'][1] - 1e-6) & (abs(y) <= d['foot_radius'])
    x[sole] = points[sole, 1] * foot / d['foot_radius']
    return np.column_stack([z, x])


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
    return build(layers, edge, edge, lambda p, z: _cut_corners(d, outline, p, z), levels)


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
        parts.append(arc(distance * axis, lobe, turn - HALF_TURN + reach,
                         turn + HALF_TURN - reach, edge))
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
