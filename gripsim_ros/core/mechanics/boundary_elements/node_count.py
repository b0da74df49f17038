"""How many nodes a body's surface needs: by its thickness and the error allowed."""

import numpy as np

from ...bodies import TriangleMesh
from ...contact.geometry.ray_casting import AHEAD, cast_rays
from ...contact.geometry.vp_tree import build_vp_tree

#: Rays through the body, their start below its surface over its size, and the share of them
#: that may find less than the thickness that counts [-].
RAYS, RAY_START, THIN_SHARE = 80, 1e-6, 0.25
#: Error of forces [-] at which the two numbers below hold; both grow with the square of the
#: spacing, hence the nodes with the error's inverse.
REFERENCE_ERROR = 0.03
#: Least number of nodes, and of distances of neighbouring nodes in the thickness [-].
LEAST_NODES, SPACINGS = 600, 2.2


def wanted_nodes(mesh: TriangleMesh, tolerance: float, most: int) -> int:
    """
    Return how many nodes a body's surface needs for forces within a tolerance.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    tolerance : float
        Relative error of forces [-], above 0.
    most : int
        At most so many.

    Notes
    -----
    Own rule, measured against finite elements: docs/model/compliance.md, "How many nodes".
    """
    spacing = thickness(mesh) / SPACINGS
    # An even triangulation gives a node the area sqrt(3)/2 of its spacing's square.
    needed = max(float(LEAST_NODES), mesh.area / (np.sqrt(0.75) * spacing ** 2))
    return int(min(REFERENCE_ERROR / tolerance * needed, most))


def thickness(mesh: TriangleMesh) -> float:
    """Return what all but a quarter of the surface has behind them, along the normal [m]."""
    tree = build_vp_tree(mesh.vertices, mesh.faces)
    grown = np.cumsum(mesh.face_areas)
    faces = np.searchsorted(grown, (np.arange(RAYS) + 0.5) / RAYS * grown[-1])
    inward = -mesh.face_normals[faces]
    starts = mesh.face_centroids[faces] + RAY_START * tree.size * inward
    ways = [cast_rays(tree, start[None], along, 0.0).distances[0, AHEAD]
            for start, along in zip(starts, inward)]
    # The body's size stands for the way of a ray that finds no surface.
    return float(np.quantile(np.minimum(ways, tree.size), THIN_SHARE))
