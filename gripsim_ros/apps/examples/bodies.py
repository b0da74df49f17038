"""Bodies of the examples: of revolution, blended from balls and bars, and as one camera sees."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.bodies import TriangleMesh
from ...core.bodies.shapes.sweeps import refine_profile, revolve

Array = NDArray[np.float64]

#: Length of edges of generated surfaces [m], and how softly blended parts meet [m].
EDGE, BLEND = 0.0035, 0.008
#: Width of a camera's pixel over distance, and how far behind the nearest point of a pixel another
#: is hidden [m].
PIXEL, BEHIND = 0.008, 0.008
#: A bar: its two ends (3,) [m] and its radius [m]; a ball has both ends in one place.
Bar = tuple[Sequence[float], Sequence[float], float]


def turned(profile: Sequence[tuple[float, float]]) -> TriangleMesh:
    """Return a body of revolution about z from corners (radius, height) [m], bottom first."""
    refined = refine_profile(np.array(profile, float), EDGE)
    return revolve(refined, round(2.0 * np.pi * refined[:, 0].max() / EDGE))


def paper_cup(height: float = 0.09, bottom: float = 0.028, top: float = 0.039,
              wall: float = 0.0005) -> TriangleMesh:
    """Return a cup of paper with an open top, standing on z = 0."""
    return turned([(0.0, 0.0), (bottom, 0.0), (top, height), (top - wall, height),
                   (bottom - wall, wall), (0.0, wall)])


def bottle(height: float = 0.2, radius: float = 0.032, neck: float = 0.013) -> TriangleMesh:
    """Return a closed bottle, standing on z = 0."""
    shoulder = 0.72 * height
    return turned([(0.0, 0.0), (radius - 0.004, 0.0), (radius, 0.004), (radius, shoulder),
                   (neck, shoulder + 0.03), (neck, height), (0.0, height)])


def blended(bars: Sequence[Bar], spacing: float = EDGE) -> TriangleMesh:
    """
    Return the surface of bars with round ends that run into each other.

    Distances d_i to the bars are joined as -b log(sum exp(-d_i / b)) with b = ``BLEND`` / 4
    (Quilez, smooth minimum), whose surface of value 0 scikit-image finds by marching cubes.
    """
    from skimage.measure import marching_cubes
    ends = np.array([[start, end] for start, end, _ in bars])
    radii = np.array([radius for *_, radius in bars])
    low = (ends - radii[:, None, None]).min(axis=(0, 1)) - 3.0 * spacing
    high = (ends + radii[:, None, None]).max(axis=(0, 1)) + 3.0 * spacing
    axes = [np.arange(a, b, spacing) for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1)
    softness = BLEND / 4.0
    total = np.zeros(points.shape[:3])
    for (start, end), radius in zip(ends, radii):
        way = end - start
        share = np.clip((points - start) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
        nearest = start + share[..., None] * way
        total += np.exp(-(np.linalg.norm(points - nearest, axis=-1) - radius) / softness)
    value = -softness * np.log(np.maximum(total, 1e-300))
    vertices, faces, _, _ = marching_cubes(value, 0.0, spacing=(spacing,) * 3)
    return TriangleMesh(vertices + low, faces.astype(np.int64))


def drill() -> TriangleMesh:
    """Return a light power drill: barrel along x, handle with its battery down; z = 0 under it."""
    return blended([([-0.05, 0.0, 0.20], [0.05, 0.0, 0.20], 0.028),
                    ([0.05, 0.0, 0.20], [0.09, 0.0, 0.20], 0.016),
                    ([-0.015, 0.0, 0.19], [-0.035, 0.0, 0.03], 0.022),
                    ([-0.045, 0.0, 0.025], [-0.025, 0.0, 0.025], 0.025)])


def soft_toy() -> TriangleMesh:
    """Return a sitting bear."""
    return blended([([0.0, 0.0, 0.04], [0.0, 0.0, 0.055], 0.038),
                    ([0.0, 0.0, 0.115], [0.0, 0.0, 0.115], 0.030),
                    *(([0.0, side * 0.022, 0.143], [0.0, side * 0.022, 0.143], 0.011)
                      for side in (-1.0, 1.0)),
                    *(([0.01, side * 0.034, 0.07], [0.035, side * 0.042, 0.055], 0.012)
                      for side in (-1.0, 1.0)),
                    *(([0.02, side * 0.026, 0.018], [0.06, side * 0.034, 0.016], 0.015)
                      for side in (-1.0, 1.0))], spacing=0.0025)


def seen_points(mesh: TriangleMesh, viewpoint: Sequence[float]) -> Array:
    """
    Return the vertices (n, 3) [m] that a camera at ``viewpoint`` (3,) [m] sees.

    They face it, and in their pixel of ``PIXEL`` nothing is ``BEHIND`` nearer.
    """
    away = mesh.vertices - np.asarray(viewpoint, float)
    facing = np.einsum('ij,ij->i', mesh.vertex_normals, away) < 0.0
    points, away = mesh.vertices[facing], away[facing]
    distance = np.linalg.norm(away, axis=1)
    forward = away.mean(axis=0) / np.linalg.norm(away.mean(axis=0))
    across = np.linalg.qr(np.column_stack([forward, np.eye(3)]))[0][:, 1:]
    pixels = np.floor(away @ across / (away @ forward)[:, None] / PIXEL).astype(int)
    _, pixel = np.unique(pixels, axis=0, return_inverse=True)
    nearest = np.full(pixel.max() + 1, np.inf)
    np.minimum.at(nearest, pixel.ravel(), distance)
    return points[distance < nearest[pixel.ravel()] + BEHIND]
