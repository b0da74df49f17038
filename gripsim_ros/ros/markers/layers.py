"""
Layers of markers: what RViz draws well, and nothing that it refuses.

Each layer has a namespace of its own and begins with a marker that deletes what that
layer showed before; ids are unique in a namespace, and nothing that is not finite
reaches RViz, which rejects whole arrays for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ...core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ...library import display
from ...library.display import OBJECT_COLOUR, pressure_colours
from ..conversions import point_to_msg, pose_to_msg

Array = NDArray[np.float64]

#: Length of an arrow of force [m/N], and the widths of arrows and lines [m].
FORCE_LENGTH, ARROW_WIDTH, LINE_WIDTH = 0.02, 0.0025, 0.0008
#: Diameter of contacts [m].
CONTACT_SIZE = 0.004
#: How much longer depths are drawn than they are, and how many at most: RViz shall not stop.
DEPTH_FACTOR, MOST_DEPTHS = 10.0, 2000
#: How far the crosses at centres of mass reach out of the object, before and after the grasp [m].
UNTOUCHED_REACH, REACH = 0.025, 0.012
#: Width of a blank over the size of a text: RViz's own is for letters of a metre.
BLANK_WIDTH = 0.55

# Told apart by readers who are colour-blind, and from the colours of pressure.
BLUE, MAGENTA, CYAN = (0.15, 0.45, 0.90, 1.0), (0.75, 0.05, 0.55, 1.0), (0.35, 0.70, 0.90, 1.0)
GREEN, ORANGE, PINK = (0.0, 0.62, 0.45, 1.0), (0.90, 0.60, 0.0, 1.0), (0.95, 0.70, 0.88, 1.0)
GREY, WHITE, OLIVE = (0.62, 0.64, 0.68, 1.0), (1.0, 1.0, 1.0, 1.0), (0.52, 0.62, 0.40, 1.0)
#: Below alpha 1 RViz writes no depth: what lies behind is drawn over what lies before.
UNTOUCHED, OBSTACLE_COLOUR = (*OBJECT_COLOUR, 1.0), (*display.OBSTACLE_COLOUR, 1.0)
ARM_COLOUR, OTHER_ARM_COLOUR = (*display.ARM_COLOUR, 1.0), (*display.OTHER_ARM_COLOUR, 1.0)
#: Layers of oriented boxes and of their regions of potential interaction: hidden until asked for.
BOX_LAYERS = 'boxes', 'regions'


@dataclass(frozen=True, eq=False)
class MarkerFrame:
    """
    Frame of markers, and the pose of the object in it.

    Markers have no stamp and are locked to their frame: RViz shows them where it is now.
    """

    frame_id: str
    T_frame_object: Array = field(default_factory=lambda: np.eye(4))


class Layers:
    """Collects markers; a namespace is cleared when its first marker comes."""

    def __init__(self, frame: MarkerFrame) -> None:
        """Start without markers."""
        self.frame = frame
        self._counts: dict[str, int] = {}
        self.array = MarkerArray()

    def clear(self, *namespaces: str) -> None:
        """Delete what these layers showed before."""
        for namespace in namespaces:
            if namespace not in self._counts:
                self._counts[namespace] = 0
                marker = Marker(ns=namespace, action=Marker.DELETEALL)
                marker.header.frame_id = self.frame.frame_id
                self.array.markers.append(marker)

    def contacts(self, namespace: str, points: Array, colour: Sequence[float] = CYAN) -> None:
        """Show balls at contacts ``(n, 3)``, frame object."""
        self.clear(namespace)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points):
            marker = self._add(namespace, Marker.SPHERE_LIST, colour, (CONTACT_SIZE,) * 3)
            marker.points = _points(points)

    def lines(self, namespace: str, starts: Array, ends: Array, colour: Sequence[float],
              width: float = LINE_WIDTH) -> None:
        """Show lines ``(n, 3)`` to ``(n, 3)``, frame object."""
        self.clear(namespace)
        pairs = np.stack([starts, ends], axis=1)
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
        if len(pairs):
            marker = self._add(namespace, Marker.LINE_LIST, colour, (width, 0.0, 0.0))
            marker.points = _points(pairs.reshape(-1, 3))

    def depths(self, points: Array, normals: Array, depths: Array) -> None:
        """Show how deep nodes lie, out of the object along its normals, magnified."""
        inside = np.flatnonzero(depths > 0.0)
        if len(inside) > MOST_DEPTHS:
            inside = inside[np.linspace(0, len(inside) - 1, MOST_DEPTHS).astype(int)]
        outward = -DEPTH_FACTOR * depths[inside, None] * normals[inside]
        self.lines('depths', points[inside], points[inside] + outward, ORANGE)

    def arrows(self, namespace: str, starts: Array, vectors: Array,
               colour: Sequence[float]) -> None:
        """Show arrows, frame object; those without length are left out."""
        self.clear(namespace)
        for start, vector in zip(starts, vectors):
            if np.isfinite([start, vector]).all() and np.linalg.norm(vector) > 1e-6:
                marker = self._add(namespace, Marker.ARROW, colour,
                                   (ARROW_WIDTH, 2.0 * ARROW_WIDTH, 0.0))
                marker.points = _points(np.stack([start, start + vector]))

    def forces(self, points: Array, forces: Array, namespace: str = 'forces') -> None:
        """Show forces on the object as arrows that end where they act."""
        vectors = FORCE_LENGTH * forces
        self.arrows(namespace, points - vectors, vectors, BLUE)

    def centres_of_mass(self, vertices: Array, untouched: Array, now: Array | None = None) -> None:
        """Show crosses that reach out of the object: at its untouched centre, and at that now."""
        self.clear('centre_of_mass')
        for centre, colour, reach, width in ((untouched, PINK, UNTOUCHED_REACH, LINE_WIDTH),
                                             (now, MAGENTA, REACH, 2.0 * LINE_WIDTH)):
            if centre is None or not np.isfinite(centre).all():
                continue
            low, high = vertices.min(axis=0) - reach, vertices.max(axis=0) + reach
            self.lines('centre_of_mass', centre + np.diag(low - centre),
                       centre + np.diag(high - centre), colour, width)

    def text(self, namespace: str, point: Array, text: str, height: float = 0.01) -> None:
        """Show text about a point that faces the viewer; capitals have 0.6 ``height`` [m]."""
        T_object_text = np.eye(4)
        T_object_text[:3, 3] = point
        marker = self._add(namespace, Marker.TEXT_VIEW_FACING, WHITE,
                           (BLANK_WIDTH * height, 0.0, height), T_object_text)
        marker.text = text

    def mesh(self, namespace: str, vertices: Array, faces: NDArray[np.int64],
             colour: Sequence[float], T_object_mesh: Array | None = None) -> Marker | None:
        """Show a mesh in one colour, which RViz lights; return its marker if there is any."""
        self.clear(namespace)
        if not (len(faces) and np.isfinite(vertices).all()):
            return None
        marker = self._add(namespace, Marker.TRIANGLE_LIST, colour, (1.0, 1.0, 1.0),
                           T_object_mesh)
        marker.points = _points(vertices[faces].reshape(-1, 3))
        return marker

    def pressure_mesh(self, namespace: str, vertices: Array, faces: NDArray[np.int64],
                      pressures: Array) -> None:
        """Show a mesh: lit where nothing presses, else in the colours of pressure, never lit."""
        pressures = np.nan_to_num(pressures)
        pressed = (pressures[faces] > 0.0).any(axis=1)
        self.mesh(namespace, vertices, faces[~pressed], UNTOUCHED)
        marker = self.mesh(namespace, vertices, faces[pressed], WHITE)
        if marker is not None:
            colours = palette(pressures)
            marker.colors = [colours[i] for i in faces[pressed].ravel()]

    def coloured(self, namespace: str, corners: Array, colours: Sequence[ColorRGBA]) -> None:
        """Show triangles of corners ``(3 n, 3)``, frame object, each corner in its colour."""
        marker = self._add(namespace, Marker.TRIANGLE_LIST, WHITE, (1.0, 1.0, 1.0))
        marker.points, marker.colors = _points(corners), list(colours)

    def obstacle(self, namespace: str, row: Array) -> None:
        """Show a box, sphere or cylinder as in ``ConfigurationBatch.obstacles``."""
        kinds = {OBSTACLE_BOX: (Marker.CUBE, row[1:4]),
                 OBSTACLE_SPHERE: (Marker.SPHERE, np.full(3, 2.0 * row[1])),
                 OBSTACLE_CYLINDER: (Marker.CYLINDER, [2.0 * row[2], 2.0 * row[2], row[1]])}
        kind, scale = kinds[int(row[0])]
        T_object_obstacle = np.vstack([row[4:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
        self._add(namespace, kind, OBSTACLE_COLOUR, scale, T_object_obstacle)

    def solid(self, namespace: str, kind: int, scale: Sequence[float], colour: Sequence[float],
              T_object_marker: Array) -> None:
        """Show a cube, sphere or cylinder at a pose."""
        self._add(namespace, kind, colour, scale, T_object_marker)

    def _add(self, namespace: str, kind: int, colour: Sequence[float],
             scale: Sequence[float], T_object_marker: Array | None = None) -> Marker:
        self.clear(namespace)
        self._counts[namespace] += 1
        pose = self.frame.T_frame_object
        if T_object_marker is not None:
            pose = pose @ T_object_marker
        x, y, z = map(float, scale)
        marker = Marker(ns=namespace, id=self._counts[namespace], type=kind, action=Marker.ADD,
                        pose=pose_to_msg(pose), scale=Vector3(x=x, y=y, z=z),
                        color=_colour(colour), frame_locked=True)
        marker.header.frame_id = self.frame.frame_id
        self.array.markers.append(marker)
        return marker


def palette(pressures: Array) -> list[ColorRGBA]:
    """Return the colours of pressures; the largest has the last one."""
    colours = pressure_colours(pressures, float(pressures.max(initial=0.0)))
    return [_colour((*row, 1.0)) for row in colours]


def _points(rows: Iterable[Array]) -> list[Point]:
    return [point_to_msg(row) for row in rows]


def _colour(rgba: Sequence[float]) -> ColorRGBA:
    r, g, b, a = (min(1.0, max(0.0, float(value))) for value in rgba)
    return ColorRGBA(r=r, g=g, b=b, a=a)
