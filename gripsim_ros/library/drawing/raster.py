"""
A small z-buffer renderer: triangles to pixels without a display or a graphics library.

Deferred: the kernel finds, for every pixel, the nearest triangle and where on it the
pixel lies; colours and normals are interpolated from that afterwards.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.numerics.kernels import njit

Array = NDArray[np.float64]

#: Corners of faces that meet at less than this angle share a normal [rad].
CREASE_ANGLE = np.radians(35.0)
#: Nothing nearer to the eye than this is drawn [m].
NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Surface:
    """
    Triangles with a colour at every vertex.

    ``vertices (V, 3)`` [m], ``faces (F, 3)``, ``normals (F, 3, 3)`` unit normals of the
    corners, ``colours (V, 3)`` linear red, green, blue in 0 to 1.
    """

    vertices: Array
    faces: NDArray[np.int64]
    normals: Array
    colours: Array


@dataclass(frozen=True, eq=False)
class Camera:
    """Pinhole camera: ``T_world_camera`` with x right, y down, z into the scene."""

    T_world_camera: Array
    focal_length: float
    width: int
    height: int

    def project(self, p_world: Array) -> Array:
        """Return columns, rows [pixels] and depths [m] of points ``(n, 3)``."""
        rotation, eye = self.T_world_camera[:3, :3], self.T_world_camera[:3, 3]
        p_camera = (p_world - eye) @ rotation
        depth = np.maximum(p_camera[:, 2], NEAR)
        scale = self.focal_length / depth
        return np.column_stack([self.width / 2 + scale * p_camera[:, 0],
                                self.height / 2 + scale * p_camera[:, 1], p_camera[:, 2]])


@dataclass(frozen=True, eq=False)
class Layer:
    """What a camera sees of some surfaces: ``depth (h, w)`` [m, inf], normals, colours."""

    depth: NDArray[np.float32]
    normals: NDArray[np.float32]
    colours: NDArray[np.float32]


def make_surface(vertices: Array, faces: NDArray[np.int64], colour: Array) -> Surface:
    """Return a surface with creases; ``colour`` is ``(3,)`` or ``(V, 3)``."""
    colours = np.broadcast_to(np.asarray(colour, float), (len(vertices), 3))
    return Surface(vertices, faces, corner_normals(vertices, faces), colours)


def merge_surfaces(surfaces: list[Surface]) -> Surface:
    """Return one surface of several."""
    offsets = np.cumsum([0] + [len(surface.vertices) for surface in surfaces])
    return Surface(
        np.concatenate([surface.vertices for surface in surfaces]),
        np.concatenate([s.faces + offset for s, offset in zip(surfaces, offsets)]),
        np.concatenate([surface.normals for surface in surfaces]),
        np.concatenate([surface.colours for surface in surfaces]))


def corner_normals(vertices: Array, faces: NDArray[np.int64]) -> Array:
    """
    Return the unit normal of each corner: of the faces about its vertex that meet smoothly.

    Parameters
    ----------
    vertices : (V, 3) float
    faces : (F, 3) int

    Returns
    -------
    (F, 3, 3) float
        Area-weighted mean over the faces at the corner's vertex whose normal is within
        ``CREASE_ANGLE`` of the corner's own face; own derivation.
    """
    faces = np.array(faces)     # a mesh's may be read-only: kernels are compiled for one kind
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    unit = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-300)
    order = np.argsort(faces.ravel(), kind='stable')
    starts = np.searchsorted(faces.ravel()[order], np.arange(len(vertices) + 1))
    return _corner_normals(faces, areas, unit, order // 3, starts, np.cos(CREASE_ANGLE))


@njit(cache=True, nogil=True)
def _corner_normals(faces, areas, unit, around, starts, least_cosine):  # type: ignore
    normals = np.zeros((len(faces), 3, 3))
    for face in range(len(faces)):
        for corner in range(3):
            vertex, total = faces[face, corner], np.zeros(3)
            for k in range(starts[vertex], starts[vertex + 1]):
                if np.sum(unit[around[k]] * unit[face]) >= least_cosine:
                    total += areas[around[k]]
            length = np.sqrt(np.sum(total * total))
            normals[face, corner] = total / length if length > 0.0 else unit[face]
    return normals


def render_layer(surface: Surface, camera: Camera) -> Layer:
    """Return what ``camera`` sees of ``surface``; both sides of a face are drawn."""
    points = camera.project(surface.vertices)
    depth, face, weights = _rasterise(points, np.array(surface.faces), camera.width, camera.height)
    seen = face >= 0
    corners = np.concatenate([weights, 1.0 - weights.sum(-1, keepdims=True)], -1)[seen]
    normals = np.zeros((*face.shape, 3), np.float32)
    colours = np.zeros((*face.shape, 3), np.float32)
    triangles = surface.faces[face[seen]]
    normals[seen] = _towards(camera, np.einsum('nk,nkj->nj', corners, surface.normals[face[seen]]))
    colours[seen] = np.einsum('nk,nkj->nj', corners, surface.colours[triangles])
    return Layer(depth, normals, colours)


def _towards(camera: Camera, normals: Array) -> Array:
    normals = normals @ camera.T_world_camera[:3, :3]
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return np.where(normals[:, 2:] > 0.0, -normals, normals)


@njit(cache=True, nogil=True)
def _rasterise(points, faces, width, height):  # type: ignore
    depth = np.full((height, width), np.inf, np.float32)
    nearest = np.full((height, width), -1, np.int32)
    weights = np.zeros((height, width, 2), np.float32)
    for face in range(len(faces)):
        a, b, c = points[faces[face, 0]], points[faces[face, 1]], points[faces[face, 2]]
        if min(a[2], b[2], c[2]) < NEAR:
            continue
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(area) < 1e-12:
            continue
        left = max(int(np.ceil(min(a[0], b[0], c[0]) - 0.5)), 0)
        right = min(int(np.floor(max(a[0], b[0], c[0]) - 0.5)), width - 1)
        top = max(int(np.ceil(min(a[1], b[1], c[1]) - 0.5)), 0)
        bottom = min(int(np.floor(max(a[1], b[1], c[1]) - 0.5)), height - 1)
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                u = ((b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)) / area
                v = ((c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)) / area
                w = 1.0 - u - v
                if u < 0.0 or v < 0.0 or w < 0.0:
                    continue
                inverse = u / a[2] + v / b[2] + w / c[2]    # 1/z is linear on the screen
                if 1.0 / inverse < depth[row, column]:
                    depth[row, column] = 1.0 / inverse
                    nearest[row, column] = face
                    weights[row, column, 0] = u / a[2] / inverse
                    weights[row, column, 1] = v / b[2] / inverse
    return depth, nearest, weights
