"""Sections of the bodies that the finite elements validate on, graded towards the pads."""

import numpy as np

from benchmarks.finite_elements.harmonics import Section
from gripsim_ros.core.bodies.shapes.solids import apple_profile

#: Growth of neighbouring cells away from the pads.
GROWTH = 1.25


def graded(start: float, stop: float, first: float, largest: float) -> np.ndarray:
    """Return coordinates from start to stop, steps growing from ``first`` up to ``largest``."""
    length = abs(stop - start)
    steps = [first]
    while sum(steps) < length:
        steps.append(min(steps[-1] * GROWTH, largest))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return start + (stop - start) * way / way[-1]


def around(low: float, high: float, middle: float, reach: float, step: float,
           largest: float) -> np.ndarray:
    """Return coordinates from low to high: even steps within ``reach`` of the middle."""
    begin, end = max(middle - reach, low), min(middle + reach, high)
    even = np.linspace(begin, end, max(2, int(np.ceil((end - begin) / step)) + 1))
    before = graded(begin, low, step, largest)[::-1] if begin > low else [begin]
    after = graded(end, high, step, largest) if end < high else [end]
    return np.concatenate([before[:-1], even, after[1:]])


def _grid(points, keep_centre=None):
    """Return vertices and triangles of a structured grid ``(a, b, 2)`` of points."""
    rows, columns = points.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    flat = points.reshape(-1, 2)
    if keep_centre is not None:
        number[keep_centre] = number[keep_centre, 0]
    quads = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]],
                     axis=-1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    proper = [(len(set(t)) == 3) for t in triangles.tolist()]
    return number, flat, triangles[proper]


def _finish(number, flat, triangles, line, breaks=()):
    used, renumbered = np.unique(triangles, return_inverse=True)
    back = np.full(len(flat), -1)
    back[used] = np.arange(len(used))
    return Section(flat[used], renumbered.reshape(-1, 3), back[line], breaks)


def round_section(profile, middle, centre_height, reach, step, largest=3e-3):
    """
    Return the section of a round body.

    ``profile(t)`` gives r and z of polar angles t; the line under pads reaches ``reach``
    along the surface to both sides of the angle ``middle``. Where that is 0, there is a
    second line about the other pole.
    """
    fine = np.linspace(0.0, np.pi, 20001)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(
        np.diff(np.stack(profile(fine), 1), axis=0), axis=1))])
    at = float(np.interp(middle, fine, way))
    places = around(0.0, way[-1], at, reach, step, largest)
    if middle == 0.0:
        half = around(0.0, 0.5 * way[-1], 0.0, reach, step, largest)
        places = np.concatenate([half, way[-1] - half[-2::-1]])
    angles = np.interp(places, way, fine)
    r, z = profile(angles)
    r[np.isclose(angles, 0.0) | np.isclose(angles, np.pi)] = 0.0
    radius = float(np.hypot(r, z - centre_height).max())
    layers = 1.0 - graded(0.0, radius, 0.8 * step, largest)[:, None] / radius
    layers[-1] = 0.0
    grid = np.stack([layers * r, centre_height + layers * (z - centre_height)], axis=-1)
    number, flat, triangles = _grid(grid, -1)
    within = np.flatnonzero(np.abs(places - at) <= reach * (1.0 + 1e-9))
    if middle > 0.0:
        return _finish(number, flat, triangles, number[0, within])
    both = np.concatenate([within, len(places) - 1 - within])
    return _finish(number, flat, triangles, number[0, both], (len(within),))


def sphere_section(radius, reach, step, middle=0.5 * np.pi):
    """Return a ball's section, pads about the polar angle ``middle``."""
    return round_section(lambda t: (radius * np.sin(t), radius * np.cos(t)), middle, 0.0, reach,
                         step)


def apple_section(reach, step, diameter=0.08):
    """Return the apple's section and the height of its widest circle [m]."""
    t = np.linspace(1.0, 2.0, 100001)
    middle = float(t[np.argmax(apple_profile(t, diameter)[0])])
    height = float(apple_profile(np.array([middle]), diameter)[1][0])
    return round_section(lambda t: apple_profile(t, diameter), middle, 0.0, reach,
                         step), height


def slab_section(radius, half_thickness, top, bottom, step):
    """
    Return a disc's section, its mid-plane at z = 0.

    ``top`` and ``bottom`` are the first and last r of the lines under pads there.
    """
    low, high = min(top[0], bottom[0]), max(top[1], bottom[1])
    r = around(0.0, radius, 0.5 * (low + high), 0.5 * (high - low), step, 3e-3)
    half = graded(half_thickness, 0.0, 0.8 * step, 2e-3)
    z = np.concatenate([half, -half[-2::-1]])
    number, flat, triangles = _grid(np.stack(np.meshgrid(r, z, indexing='ij'), axis=-1))
    above, below = (np.flatnonzero((r >= line[0] - 1e-9) & (r <= line[1] + 1e-9))
                    for line in (top, bottom))
    line = np.concatenate([number[above, 0], number[below, -1]])
    return _finish(number, flat, triangles, line, (len(above),))


def cup_section(radius, wall, height, bottom, at, reach, step):
    """Return a cup's section: open above, its bottom below z = 0, pads outside at z = ``at``."""
    through = 0.5 * (graded(0.0, wall, min(0.8 * step, wall / 6.0), wall / 4.0))
    outside = np.concatenate([radius - wall + through[:-1], radius - through[::-1]])
    z = around(0.0, height, at, reach, step, 3e-3)
    low = np.linspace(-bottom, 0.0, 5)
    inside = graded(radius - wall, 0.0, wall / 4.0, 3e-3)[::-1]
    r = np.concatenate([inside[:-1], outside])
    heights = np.concatenate([low[:-1], z])
    grid = np.stack(np.meshgrid(r, heights, indexing='ij'), axis=-1)
    number, flat, triangles = _grid(grid)
    middle = flat[triangles].mean(axis=1)
    solid = (middle[:, 0] > radius - wall) | (middle[:, 1] < 0.0)
    within = np.flatnonzero((np.abs(heights - at) <= reach * (1.0 + 1e-9)) & (heights >= 0.0))
    return _finish(number, flat, triangles[solid], number[-1, within])
