"""Contact nodes on analytic bodies, and interleaved timing, for the mechanics benchmark."""

import time

import numpy as np

from gripsim_ros.core.mechanics.contact.contact_forces import PatchNodes

#: A lattice reaches this many contact radii: about twice as many candidates as loaded nodes.
REACH = 1.6


def interleaved(functions, rounds=9):
    """Return the median process time [ms] of each function, called in turn."""
    for function in functions:
        function()
    times = np.zeros((rounds, len(functions)))
    for row in times:
        for k, function in enumerate(functions):
            start = time.process_time()
            function()
            row[k] = time.process_time() - start
    return 1e3 * np.median(times, axis=0)


def pressed_ball(radius, pad_radius, depth, directions, loaded):
    """Return the nodes of a ball under rigid balls, by loaded nodes wanted per patch."""
    relative = 1.0 / (1.0 / radius + 1.0 / pad_radius)
    spacing = np.sqrt(np.pi * relative * depth / loaded)
    steps = np.arange(-int(REACH * np.sqrt(relative * depth) / spacing) - 1,
                      int(REACH * np.sqrt(relative * depth) / spacing) + 2) + 0.17
    plane = spacing * np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    square = (plane ** 2).sum(axis=1)
    height = np.sqrt(radius ** 2 - square)
    slope = height / radius
    depths = slope * (height - (radius - depth)
                      - (pad_radius - np.sqrt(np.maximum(pad_radius ** 2 - square, 0.0))))
    kept = (depths > -0.1 * depth) & (square < pad_radius ** 2)
    parts = []
    for direction in np.asarray(directions, float):
        first = np.cross(direction, [0.31, 0.52, 0.79])
        first /= np.linalg.norm(first)
        points = (plane @ np.stack([first, np.cross(direction, first)])
                  + height[:, None] * direction)
        parts.append((points[kept], -points[kept] / radius, (spacing ** 2 / slope)[kept],
                      depths[kept]))
    counts = [len(part[0]) for part in parts]
    return PatchNodes(*(np.concatenate([part[k] for part in parts]) for k in range(4)),
                      np.repeat(np.arange(len(parts)), counts), np.arange(len(parts)))


def evenly(count):
    """Return unit directions evenly about the z axis."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
