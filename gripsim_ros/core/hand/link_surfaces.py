"""The middle of links' palmar surfaces."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..bodies.mesh import TriangleMesh
from ..errors import HandError
from .description import HandLink, Pad, checked_direction, three_numbers


_OUTWARD = (1.0, 0.0, 0.0)
_KEYS = {'pad', 'outward', 'through'}


def make_link(name: str, mesh: TriangleMesh, surface: Mapping[str, Any],
              pads: Mapping[str, Pad]) -> HandLink:
    """
    Return a link with the middle of its palmar surface found on its mesh.

    Raises
    ------
    HandError
        The surface names an unknown pad or key, or its line misses the mesh.
    """
    if not isinstance(surface, Mapping) or set(surface) - _KEYS:
        raise HandError(f'surface of {name!r}: expected the keys {sorted(_KEYS)}, '
                        f'got {surface!r}')
    pad = surface.get('pad')
    if pad is not None and pad not in pads:
        raise HandError(f'surface of {name!r}: no pad {pad!r} ({sorted(pads)})')
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    outward = checked_direction(surface.get('outward', _OUTWARD), f'surface of {name!r}: outward')
    through = three_numbers(surface.get('through', middle), f'surface of {name!r}: through must '
                            'be three finite numbers')
    found = outermost_point(mesh, through, outward)
    if found is None and 'through' not in surface:
        face = int(np.argmax(mesh.face_centroids @ outward))
        found = mesh.face_centroids[face], mesh.face_normals[face].copy()
    if found is None:
        raise HandError(f'surface of {name!r}: the line through {through.tolist()} along '
                        f'{outward.tolist()} misses the mesh')
    return HandLink(name, mesh, None if pad is None else pads[pad], *found)


def outermost_point(mesh: TriangleMesh, point: Array,
                    direction: Array) -> tuple[Array, Array] | None:
    """
    Return the last point of a mesh along a line, and the face normal there.

    Parameters
    ----------
    mesh : TriangleMesh
    point : (3,) float
        Any point of the line [m].
    direction : (3,) float
        Unit direction.

    Returns
    -------
    tuple of (3,) float, or None
        Point [m] and outward unit normal; None where the line misses the mesh.

    Notes
    -----
    Source: line-plane intersection in barycentric coordinates (Moller and Trumbore, 1997),
    edges included.
    """
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    p = np.cross(direction, c - a)
    determinant = np.einsum('ij,ij->i', b - a, p)
    crossing = np.flatnonzero(np.abs(determinant) > 1e-15)
    a, b, c, p = a[crossing], b[crossing], c[crossing], p[crossing]
    s = point - a
    u = np.einsum('ij,ij->i', s, p) / determinant[crossing]
    q = np.cross(s, b - a)
    v = q @ direction / determinant[crossing]
    hit = np.flatnonzero((u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9))
    if not len(hit):
        return None
    t = np.einsum('ij,ij->i', c - a, q)[hit] / determinant[crossing][hit]
    last = int(np.argmax(t))
    return point + t[last] * direction, mesh.face_normals[crossing[hit[last]]].copy()
