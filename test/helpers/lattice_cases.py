"""Contact nodes on analytic surfaces: what contact detection gives for balls and plates."""

import numpy as np

from gripsim_ros.core.mechanics.contact.contact_forces import PatchNodes

#: Lattices reach this many contact radii.
REACH = 1.6


def spacing_for(area, count):
    """Return the spacing of a square lattice with a number of nodes on an area."""
    return float(np.sqrt(area / count))


def square_lattice(half_width, spacing, offset=(0.0, 0.0)):
    """Return points (n, 2) of a lattice about the origin, shifted by parts of a spacing."""
    steps = int(np.ceil(half_width / spacing)) + 1
    u, v = np.meshgrid(np.arange(-steps, steps + 1) + offset[0],
                       np.arange(-steps, steps + 1) + offset[1])
    return spacing * np.stack([u.ravel(), v.ravel()], 1)


def one_patch(points, normals, areas, depths, link=0):
    """Return the nodes of a single patch."""
    return PatchNodes(points, normals, np.broadcast_to(areas, (len(points),)).astype(float),
                      depths, np.zeros(len(points), np.int64), np.array([link]))


def join(*parts):
    """Return the nodes of several patches as those of one object, each by its own link."""
    stacked = [np.concatenate([getattr(part, name) for part in parts])
               for name in ('points', 'normals', 'areas', 'depths', 'spreads')]
    patches = np.repeat(np.arange(len(parts)), [len(part.depths) for part in parts])
    return PatchNodes(*stacked[:4], patches, np.arange(len(parts)), stacked[4])


def paraboloid(radius, depth, count, offset=(0.0, 0.0), link=0):
    """Return a half-space (z into it) and a paraboloid pressed in, by loaded nodes wanted."""
    a = np.sqrt(radius * depth)
    spacing = spacing_for(np.pi * a * a, count)
    plane = square_lattice(REACH * a, spacing, offset)
    points = np.column_stack([plane, np.zeros(len(plane))])
    depths = depth - (plane ** 2).sum(axis=1) / (2.0 * radius)
    return one_patch(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), spacing ** 2, depths,
                     link)


def flat_punch(radius, depth, count, offset=(0.13, 0.29)):
    """Return a half-space and a flat punch; all nodes carry load."""
    spacing = spacing_for(np.pi * radius ** 2, count)
    plane = square_lattice(radius, spacing, offset)
    plane = plane[(plane ** 2).sum(axis=1) < radius ** 2]
    points = np.column_stack([plane, np.zeros(len(plane))])
    return one_patch(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), spacing ** 2,
                     np.full(len(points), depth))


def ball_under_pad(radius, direction, depth, pad_radius, count, link=0):
    """Return a ball about the origin and a rigid ball (inf: plate) pressed in from a side."""
    direction = np.asarray(direction, float) / np.linalg.norm(direction)
    relative = 1.0 / (1.0 / radius + 1.0 / pad_radius)
    a = np.sqrt(relative * depth)
    spacing = spacing_for(np.pi * a * a, count)
    plane = square_lattice(REACH * a, spacing, (0.1, 0.2))
    first = np.cross(direction, [0.31, 0.52, 0.79])
    first /= np.linalg.norm(first)
    r2 = (plane ** 2).sum(axis=1)
    height = np.sqrt(radius ** 2 - r2)
    points = plane @ np.stack([first, np.cross(direction, first)]) + height[:, None] * direction
    met = r2 < pad_radius ** 2
    sag = np.zeros(len(r2))
    if np.isfinite(pad_radius):
        sag[met] = pad_radius - np.sqrt(pad_radius ** 2 - r2[met])
    slope = height / radius
    depths = np.where(met, (height - (radius - depth) - sag) * slope, -np.inf)
    return one_patch(points, -points / radius, spacing ** 2 / slope, depths, link)


def transformed(nodes, rotation, translation):
    """Return nodes in another frame."""
    return PatchNodes(nodes.points @ rotation.T + translation, nodes.normals @ rotation.T,
                      nodes.areas, nodes.depths, nodes.patches, nodes.links, nodes.spreads)


def hertz_force(modulus, radius, depth):
    """Return the force of Hertz (Johnson 1985, equation 4.23)."""
    return 4.0 / 3.0 * modulus * np.sqrt(radius) * depth ** 1.5
