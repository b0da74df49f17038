"""The object to be grasped: mesh, material, identity and its own frame."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..numerics.kernels import njit
from ..transforms import transform
from .mass import MassProperties, mass_properties, third_moment
from .material import Material
from .mesh import lengths, TriangleMesh, frozen_array
from .scans.complete import SeenSurface

#: Relative difference below which principal moments count as equal [-].
TIE_MOMENT = 1e-3
#: Skewness below which the direction of a principal axis is left to the vertices.
TIE_SKEWNESS = 1e-6
#: Mean of the 16th power of a cosine over the directions of a ball, and of a disc's rim.
EVEN_BALL, EVEN_DISC = 1.0 / 17.0, 6435.0 / 32768.0
#: Share of the area over the even one from which a direction is distinguished.
DISTINGUISHED = 1.5
#: Relative difference below which shares are the same [-].
TIE_FACING = 1e-6
#: Largest number, about, of facets whose normals are tried.
TRIED_FACETS = 500


@dataclass(frozen=True, eq=False)
class GraspObject:
    """
    A homogeneous elastic body.

    Attributes
    ----------
    mesh : TriangleMesh
        Closed surface, normals outward, scale already applied [m].
    material : Material
    label : str
        The caller's name; not part of the identity.
    seen : SeenSurface or None
        Where the body was seen, if it was completed from a scan; not part of the identity.
    """

    mesh: TriangleMesh
    material: Material
    label: str = ''
    seen: SeenSurface | None = None

    @cached_property
    def id(self) -> str:
        """Return 32 hexadecimal digits that name vertices, faces and material numbers."""
        digest = hashlib.sha256(bytes.fromhex(self.mesh.content_hash))
        digest.update(np.array(self.material.identity, '<f8').tobytes())
        return digest.hexdigest()[:32]

    @cached_property
    def mass_properties(self) -> MassProperties:
        """Return mass, volume, centre of mass and inertia; raises MeshError if open."""
        return mass_properties(self.mesh, self.material.density)

    @cached_property
    def canonical_frame(self) -> Array:
        """Return ``T_object_canonical (4, 4)``, see ``canonical_frame``."""
        properties = self.mass_properties
        return canonical_frame(self.mesh, properties.centre_of_mass, properties.inertia)


def canonical_frame(mesh: TriangleMesh, centre: Array, inertia: Array) -> Array:
    """
    Return a frame fixed to the body by its shape alone, so that it turns with it.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed, frame object.
    centre : (3,) float
        Centre of mass, frame object [m].
    inertia : (3, 3) float
        About the centre of mass; any factor.

    Returns
    -------
    (4, 4) float
        ``T_object_canonical``: origin at the centre of mass, axes of inertia by rising
        moment (x is the long axis), right-handed, read-only.

    Notes
    -----
    The x and y axes point where the third moment of the volume is positive, z follows.
    A body with symmetries leaves choices open. They are made by the vertices in their
    order, which a rigid motion keeps: where moments are equal (within ``TIE_MOMENT``)
    the axis is the normal of the facet that most of the surface is square or parallel to,
    as on a cube, or else, as on a ball, points to the first vertex farther out than half of
    the farthest; where the
    third moment vanishes (skewness below ``TIE_SKEWNESS``) the first vertex farther out
    along the axis than half of the farthest has a positive coordinate. So the frame is
    covariant under rigid motion for every mesh, and also under renumbering the vertices
    for every body without symmetries. Own derivation.
    """
    moments, axes = np.linalg.eigh(inertia)
    points = mesh.vertices - centre
    ties = np.diff(moments) <= TIE_MOMENT * moments[-1]
    axes = _resolve_axes(axes, ties, points, mesh)
    x = axes[:, 0] * _direction(mesh, centre, axes[:, 0])
    y = axes[:, 1] * _direction(mesh, centre, axes[:, 1])
    return frozen_array(transform(np.stack([x, y, np.cross(x, y)], axis=1), centre))


def _resolve_axes(axes: Array, ties: Array, points: Array, mesh: TriangleMesh) -> Array:
    """Return axes (3, 3) where those of equal moments are settled by facets or vertices."""
    if not ties.any():
        return axes
    own = 2 if ties[0] and not ties[1] else 0       # the axis whose moment is its own
    axis = axes[:, own]
    if ties.all():
        facing = _facing_direction(mesh.face_normals, mesh.face_areas, EVEN_BALL)
        axis = _far_direction(points) if facing is None else facing
    across = _resolve_across(axis, points, mesh)
    return np.roll(np.stack([axis, across, np.cross(axis, across)], axis=1), own, axis=1)


def _resolve_across(axis: Array, points: Array, mesh: TriangleMesh) -> Array:
    """Return the direction across an axis that facets, or else vertices, settle."""
    direction = _facing_direction(_without(mesh.face_normals, axis), mesh.face_areas, EVEN_DISC)
    return _far_direction(_without(points, axis)) if direction is None else direction


def _facing_direction(normals: Array, areas: Array, even: float) -> Array | None:
    """
    Return the direction of the normal (unit or shorter) that most of the area faces.

    None where no direction is distinguished: where the share of the area that faces it
    is not well above ``even``, that of a surface that faces all ways.
    """
    norms = lengths(normals)
    weights = areas * norms
    tried = np.flatnonzero(norms > 0.5)[::max(1, len(normals) // TRIED_FACETS)]
    if not len(tried):
        return None
    units = normals / np.maximum(norms, 1e-12)[:, None]
    shares = _facing_shares(np.ascontiguousarray(units[tried].T), units, weights) / weights.sum()
    if shares.max() < DISTINGUISHED * even:
        return None
    first = int(np.argmax(shares > (1.0 - TIE_FACING) * shares.max()))
    return units[tried[first]]


@njit(cache=True, nogil=True)
def _facing_shares(tried: Array, units: Array, weights: Array) -> Array:
    """Return the sum of weights times cosine to 16 for each of ``tried (3, n)``."""
    shares = np.zeros(tried.shape[1])
    for f in range(len(units)):
        x, y, z, weight = units[f, 0], units[f, 1], units[f, 2], weights[f]
        for i in range(len(shares)):
            cosine = tried[0, i] * x + tried[1, i] * y + tried[2, i] * z
            square = cosine * cosine
            fourth = square * square
            eighth = fourth * fourth
            shares[i] += weight * (eighth * eighth)
    return shares


def _without(points: Array, axis: Array) -> Array:
    return points - np.outer(points @ axis, axis)


def _far_direction(points: Array) -> Array:
    """Return the unit vector to the first point farther out than half of the farthest."""
    distances = lengths(points)
    first = int(np.argmax(distances > 0.5 * distances.max()))
    return points[first] / distances[first]


def _direction(mesh: TriangleMesh, centre: Array, axis: Array) -> float:
    """Return 1 or -1, by which ``axis`` is to be multiplied; see ``canonical_frame``."""
    coordinates = (mesh.vertices - centre) @ axis
    reach = np.abs(coordinates).max()
    third = third_moment(mesh.triangles - centre, axis)
    if abs(third) > TIE_SKEWNESS * reach ** 3 * abs(mesh.volume):
        return float(np.sign(third))
    first = int(np.argmax(np.abs(coordinates) > 0.5 * reach))
    return 1.0 if coordinates[first] > 0.0 else -1.0
