"""Mode ``seed`` of the deformed surface: rings of vertices about the contacts."""

import numpy as np

from ...arrays import Array, BoolArray
from ...bodies import TriangleMesh
from ...bodies.topology import vertex_graph


def ring_displacements(mesh: TriangleMesh, displacements: Array, touched: BoolArray,
                       centres: Array, limits: tuple[float, float]) -> tuple[Array, Array]:
    """
    Keep displacements ring by ring about the contacts until they are small.

    Parameters
    ----------
    mesh : TriangleMesh
    displacements : (V, 3) float
        Of every vertex [m].
    touched : (V,) bool
        Vertices under a pad; where there is none, the nearest to each centre stand for them.
    centres : (p, 3) float
        Of the contacts [m].
    limits : (float, float)
        Displacement below which a ring is the last [m], and the distance from the
        centres beyond which there is none [m].

    Returns
    -------
    displacements : (V, 3) float
        Zero outside the rings [m].
    free : (V,) float
        1 where a vertex lies outside the rings, else 0.

    Notes
    -----
    Source: Leskov et al. 2017, after equation (3). Departure: the distance is limited,
    for without that a small threshold takes in the whole object.
    """
    between = np.sqrt(((mesh.vertices[:, None] - centres[None]) ** 2).sum(axis=2))
    inside = touched.copy()
    inside[between.argmin(axis=0)] = True
    allowed = between.min(axis=1) <= limits[1]
    sizes = np.sqrt((displacements ** 2).sum(axis=1))
    front, neighbours = inside.copy(), vertex_graph(mesh.edges, len(inside))
    while True:
        ring = (neighbours @ front > 0.0) & ~inside & allowed
        if not ring.any() or sizes[ring].max() < limits[0]:
            break
        inside |= ring
        front = ring
    return np.where(inside[:, None], displacements, 0.0), (~inside).astype(float)
