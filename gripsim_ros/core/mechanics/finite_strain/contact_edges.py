"""How fine elements must be where plates will touch a body: by how far the contact has grown."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...contact import ContactMesh
from .meshing import closest_on_surface

#: Edges where the contact's border passes, over the root of the body's overlap with a plate then,
#: of which about half is touched [-].
CONTACT_SHARE = 0.25
#: Finest edges near contact, over those elsewhere [-].
FINEST = 0.02
#: Share of the overlap at the first touch above which a contact is flat: it need not be finer [-].
FLAT_SHARE = 0.5
#: Difference to the volume of a prism on the ends, over the body's, up to which it is one [-].
PRISM = 0.02
#: Points looked at along the longest edge of a face, at most.
MOST_ALONG = 12


class ContactEdges(NamedTuple):
    """
    What plates will touch of a body.

    Attributes
    ----------
    points : (k, 3) float
        Of its surface, frame object [m].
    edges : (k,) float
        Longest edges of elements wanted there [m].
    is_prism : bool
        The section across the plates' axis is the same from plate to plate.
    """

    points: Array
    edges: Array
    is_prism: bool


def contact_edges(mesh: TriangleMesh, axis: Array, way: float, first: float, edge: float
                  ) -> ContactEdges:
    """
    Return how fine elements are wanted where plates touch a body.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed, outward.
    axis : (3,) float
        Unit normal of the plates.
    way, first : float
        By which they come nearer in all, and up to the first place that is asked [m].
    edge : float
        Of elements elsewhere [m].

    Notes
    -----
    A contact that grows from a point needs elements as small as it is at the first place, and as
    its border is on the way from there: they grow with the distance from where it began.
    """
    points = np.vstack([mesh.vertices, mesh.face_centroids])
    heights = points @ axis
    low, high = heights.min(), heights.max()
    depths = 0.5 * way - np.minimum(heights - low, high - heights)
    faces = slice(len(mesh.vertices), None)
    areas = mesh.face_areas * np.abs(mesh.face_normals @ axis)
    overlap = float(areas[depths[faces] > 0.0].sum())
    flat = float(areas[depths[faces] > 0.5 * way - 1e-3 * (high - low)].sum())
    is_prism = bool(abs(mesh.volume - 0.5 * flat * (high - low)) < PRISM * mesh.volume)
    if flat > FLAT_SHARE * overlap:
        touched = points[depths > 0.0]
        return ContactEdges(touched, np.full(len(touched), edge), is_prism)
    surface = ContactMesh(mesh)
    sides = [_graded(mesh, surface, side * axis, way, first, edge) for side in (1.0, -1.0)]
    return ContactEdges(np.vstack([places for places, _ in sides]),
                        np.concatenate([edges for _, edges in sides]), is_prism)


def _graded(mesh: TriangleMesh, surface: ContactMesh, axis: Array, way: float, first: float,
            edge: float) -> tuple[Array, Array]:
    """Return points (k, 3) that a plate below will touch, and edges (k,) wanted there [m]."""
    heights = mesh.vertices @ axis
    near = np.flatnonzero(heights[mesh.faces].min(axis=1) < heights.min() + 0.5 * way)
    places, areas = _points_of_faces(mesh, near, axis, FINEST * edge)
    places, _ = closest_on_surface(surface, places)
    order = np.argsort(places @ axis, kind='stable')
    places, overlaps = places[order], np.cumsum(areas[order])
    gone = places @ axis - places[0] @ axis     # of a plate, when it comes to each
    at_first = overlaps[np.searchsorted(gone, 0.5 * first, 'right') - 1]
    touched = gone <= 0.5 * way
    edges = CONTACT_SHARE * np.sqrt(np.maximum(overlaps[touched], at_first))
    return places[touched], np.clip(edges, FINEST * edge, edge)


def _points_of_faces(mesh: TriangleMesh, chosen: IntArray, axis: Array, spacing: float
                     ) -> tuple[Array, Array]:
    """Return points (k, 3) [m] in faces, and areas (k,) they stand for, seen along an axis."""
    corners = mesh.vertices[mesh.faces[chosen]]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    along = np.clip(np.ceil(longest / spacing), 1, MOST_ALONG).astype(int)
    areas = mesh.face_areas[chosen] * np.abs(mesh.face_normals[chosen] @ axis)
    points, shares = [], []
    for n in np.unique(along):
        i, j = np.indices((n, n)).reshape(2, -1)
        inside = i + j < n
        u, v = (i[inside] + 1.0 / 3.0) / n, (j[inside] + 1.0 / 3.0) / n
        weights = np.stack([1.0 - u - v, u, v], axis=1)
        of = along == n
        points.append((weights @ corners[of]).reshape(-1, 3))
        shares.append(np.repeat(areas[of] / len(weights), len(weights)))
    return np.concatenate(points), np.concatenate(shares)
