"""Markers as triangles with colours, in the frame of their header."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import trimesh
from numpy.typing import NDArray
from visualization_msgs.msg import Marker, MarkerArray

from ...core.transforms import apply
from ...library.drawing import glyphs
from ...ros.conversions import pose_from_msg

Array = NDArray[np.float64]

#: Points and lines of a marker that are shown at most.
MOST_POINTS = 400


@dataclass(frozen=True, eq=False)
class Shape:
    """
    A marker as triangles.

    ``vertices (V, 3)`` [m], ``faces (F, 3)``, ``colours (V, 3)`` in 0 to 1, ``alpha`` of all.
    """

    name: str
    vertices: Array
    faces: NDArray[np.int64]
    colours: Array
    alpha: float


@dataclass(frozen=True, eq=False)
class Label:
    """A text at a place ``(3,)`` [m]."""

    name: str
    text: str
    point: Array


def shapes_of(array: MarkerArray) -> tuple[list[Shape], list[Label]]:
    """
    Return what an array shows; what it deletes is not told.

    Parameters
    ----------
    array : MarkerArray
        Of ``gripsim_ros.ros.markers``: triangles, arrows, balls, boxes, cylinders, lines, lists of
        balls, texts. Names are ``namespace/id``.

    Returns
    -------
    list of Shape
    list of Label
    """
    shapes, labels = [], []
    for marker in array.markers:
        if marker.action != Marker.ADD:
            continue
        name, T_frame_marker = f'{marker.ns}/{marker.id}', pose_from_msg(marker.pose)
        if marker.type == Marker.TEXT_VIEW_FACING:
            labels.append(Label(name, marker.text, T_frame_marker[:3, 3]))
            continue
        vertices, faces, colours = _triangles(marker)
        if len(faces):
            shapes.append(Shape(name, apply(T_frame_marker, vertices), faces, colours,
                                _alpha(marker)))
    return shapes, labels


def _alpha(marker: Marker) -> float:
    return float(marker.colors[0].a if marker.colors else marker.color.a)


def _triangles(marker: Marker) -> tuple[Array, NDArray[np.int64], Array]:
    size = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
    points = np.array([(p.x, p.y, p.z) for p in marker.points]).reshape(-1, 3)
    if marker.type == Marker.TRIANGLE_LIST:
        return _soup(marker, points)
    if marker.type == Marker.ARROW:
        vertices, faces = glyphs.arrow(points[0], points[1], size[0] / 2.0)
    elif marker.type == Marker.SPHERE:
        vertices, faces = glyphs.ball(np.zeros(3), 0.5)
        vertices = vertices * size
    elif marker.type in (Marker.CUBE, Marker.CYLINDER):
        solid = (trimesh.creation.box((1.0, 1.0, 1.0)) if marker.type == Marker.CUBE
                 else trimesh.creation.cylinder(0.5, 1.0))
        vertices, faces = np.array(solid.vertices) * size, np.array(solid.faces)
    elif marker.type == Marker.LINE_LIST:
        vertices, faces = _joined(
            glyphs.rod(a, b, size[0] / 2.0) for a, b in points.reshape(-1, 2, 3)[:MOST_POINTS]
            if np.linalg.norm(b - a) > 0.0)
    elif marker.type == Marker.SPHERE_LIST:
        step = max(1, -(-len(points) // MOST_POINTS))
        vertices, faces = _joined(glyphs.ball(p, size[0] / 2.0) for p in points[::step])
    else:
        raise ValueError(f'markers of type {marker.type} are not shown')
    colour = (marker.color.r, marker.color.g, marker.color.b)
    return vertices, faces, np.tile(np.array(colour), (len(vertices), 1))


def _soup(marker: Marker, points: Array) -> tuple[Array, NDArray[np.int64], Array]:
    """Return a list of triangles with the corners of one place joined."""
    vertices, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    colours = np.array([(c.r, c.g, c.b) for c in marker.colors or [marker.color]])
    colours = colours[first] if marker.colors else np.tile(colours, (len(vertices), 1))
    faces = inverse.reshape(-1, 3)
    real = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return vertices, faces[real], colours


def _joined(parts: Iterable[tuple[Array, NDArray[np.int64]]]
            ) -> tuple[Array, NDArray[np.int64]]:
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), int)], 0
    for some, triangles in parts:
        vertices.append(some)
        faces.append(triangles + count)
        count += len(some)
    return np.concatenate(vertices), np.concatenate(faces)
