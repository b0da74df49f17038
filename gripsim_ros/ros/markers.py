"""
Core results -> ``visualization_msgs`` for RViz.

Each layer has a namespace of its own and begins with a marker that deletes what that
layer showed before; ids are unique in a namespace, and nothing that is not finite
reaches RViz, which rejects whole arrays for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..core.batches import (
    OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE, ContactBatch, GraspStateBatch)
from ..core.bodies import GraspObject
from ..core.hand import HandModel
from ..core.planning.ranked_grasp import RankedGrasp
from ..library.display import ghost_links, link_poses_at, moving_links, pressure_colours
from .conversions import point_to_msg, pose_to_msg

Array = NDArray[np.float64]

#: Length of an arrow of force [m/N], and the widths of arrows and lines [m].
FORCE_LENGTH, ARROW_WIDTH, LINE_WIDTH = 0.02, 0.0025, 0.0008
#: Sizes of points and of the balls at centres of mass, lengths of palm arrows [m].
POINT_SIZE, BALL_SIZE, PALM_LENGTH = 0.0015, 0.008, 0.06
#: Depth arrows shown at most, so that a deep contact does not stop RViz.
MAX_ARROWS = 2000

# Told apart by readers who are colour-blind, and from the colours of pressure.
BLUE, MAGENTA, CYAN = (0.05, 0.35, 0.75, 1.0), (0.75, 0.05, 0.55, 1.0), (0.35, 0.70, 0.90, 1.0)
GREEN, ORANGE = (0.0, 0.62, 0.45, 1.0), (0.90, 0.60, 0.0, 1.0)
GREY, WHITE = (0.62, 0.64, 0.68, 0.55), (1.0, 1.0, 1.0, 1.0)
GHOST_ALPHA, PRESSURE_ALPHA, OBSTACLE_COLOUR = 0.12, 0.95, (0.45, 0.4, 0.5, 0.4)
#: Ranked grasps shown as ghosts at most, and fields of a legend.
MOST_GHOSTS, LEGEND_FIELDS = 5, 24
#: Distance of a legend from its object, and its width, over the object's largest extent.
LEGEND_GAP, LEGEND_WIDTH = 0.6, 0.06
#: Height of its letters and lines, width over height of a letter, room that it takes along x [m].
LEGEND_TEXT, LEGEND_LINE, LETTER_WIDTH, LEGEND_ROOM = 0.008, 0.013, 0.55, 0.1
#: What the arrow of force and the bar in a legend stand for [N], [m].
LEGEND_FORCE, LEGEND_LENGTH = 1.0, 0.05
#: Namespaces that explain the others.
PRESSURE_LEGEND, SCALE = 'pressure_legend', 'scale'


@dataclass(frozen=True, eq=False)
class MarkerFrame:
    """Frame and stamp of markers, and the pose of the object in it."""

    frame_id: str
    stamp: Time
    T_frame_object: Array = field(default_factory=lambda: np.eye(4))


def live_markers(contacts: ContactBatch, states: GraspStateBatch, grasp_object: GraspObject,
                 frame: MarkerFrame) -> MarkerArray:
    """
    Return the first configuration's contacts, depths, forces and deformed surface.

    Parameters
    ----------
    contacts : ContactBatch
    states : GraspStateBatch
        Answer to ``contacts``.
    grasp_object : GraspObject
    frame : MarkerFrame

    Returns
    -------
    MarkerArray
    """
    layers = _Layers(frame)
    nodes = slice(0, int(contacts.node_offsets[contacts.patch_offsets[1]]))
    inside = contacts.node_depths[nodes] > 0.0
    layers.points('contacts', contacts.node_points_object[nodes][inside], CYAN)
    rows = slice(0, min(int(contacts.vertex_offsets[1]), MAX_ARROWS))
    starts = contacts.vertex_points_object[rows]
    layers.lines('depths', starts, starts + contacts.vertex_vectors_object[rows], ORANGE)
    patches = slice(0, int(states.patch_offsets[1]))
    layers.forces(states.patch_points_object[patches], states.patch_forces_object[patches])
    layers.clear('object', 'deformation', PRESSURE_LEGEND)
    layers.scale(grasp_object.mesh.vertices)
    if len(states.vertices_object):
        layers.pressure_mesh('deformation', states.vertices_object[0], grasp_object.mesh.faces,
                             states.vertex_pressures[0])
        layers.legend(grasp_object.mesh.vertices, states.vertex_pressures[0])
    else:
        layers.mesh('object', grasp_object.mesh.vertices, grasp_object.mesh.faces, GREY)
    layers.ball('centre_of_mass', states.centre_of_mass_object[0], MAGENTA)
    return layers.array


def grasp_markers(grasp: RankedGrasp | None, grasp_object: GraspObject, hand: HandModel,
                  frame: MarkerFrame, obstacles: Array | None = None) -> MarkerArray:
    """
    Return one grasp with its hand, forces, deformed object and obstacles.

    Parameters
    ----------
    grasp : RankedGrasp or None
        None: the object and the obstacles alone.
    grasp_object : GraspObject
    hand : HandModel
    frame : MarkerFrame
    obstacles : (k, 16) float, optional
        As in ``ConfigurationBatch``.

    Returns
    -------
    MarkerArray
    """
    layers = _Layers(frame)
    _add_object(layers, grasp_object, grasp, grasp)
    layers.clear('hand', 'forces', 'contacts', 'obstacles')
    for obstacle in np.zeros((0, 16)) if obstacles is None else obstacles:
        layers.obstacle('obstacles', obstacle)
    if grasp is None:
        layers.ball('centre_of_mass', grasp_object.mass_properties.centre_of_mass, MAGENTA)
        return layers.array
    _add_hand(layers, grasp, hand, 1.0)
    _add_forces(layers, grasp)
    layers.ball('centre_of_mass', grasp.centre_of_mass, MAGENTA)
    return layers.array


def closing_markers(grasp: RankedGrasp, fraction: float, state: RankedGrasp | None,
                    grasp_object: GraspObject, hand: HandModel,
                    frame: MarkerFrame) -> MarkerArray:
    """
    Return a moment of a grasp's closing.

    Parameters
    ----------
    grasp : RankedGrasp
    fraction : float
        Of its closing: 0 the open hand, 1 the grasp.
    state : RankedGrasp or None
        What the stages say of the object at that moment; None: the object as it is untouched.
    grasp_object : GraspObject
    hand : HandModel
    frame : MarkerFrame

    Raises
    ------
    TaskError
        ``fraction`` is outside 0 to 1.
    """
    layers = _Layers(frame)
    _add_object(layers, grasp_object, state, grasp)
    _add_hand(layers, grasp, hand, fraction)
    layers.clear('forces', 'contacts', 'centre_of_mass', 'moment')
    if state is not None:
        _add_forces(layers, state)
        layers.ball('centre_of_mass', state.centre_of_mass, MAGENTA)
    top = grasp.T_object_palm[:3, 3] - PALM_LENGTH * grasp.T_object_palm[:3, 2]
    layers.text('moment', top, f'grasp {grasp.rank}: {100.0 * fraction:.0f} % closed')
    return layers.array


def _add_object(layers: '_Layers', grasp_object: GraspObject, state: RankedGrasp | None,
                grasp: RankedGrasp | None) -> None:
    """Show the object as a state has it, untouched without one; legends away from the palm."""
    mesh = grasp_object.mesh
    if grasp is not None:
        middle = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2.0
        layers.side = -1.0 if grasp.T_object_palm[0, 3] > middle[0] else 1.0
    layers.clear('object', 'deformation', PRESSURE_LEGEND)
    layers.scale(mesh.vertices)
    if state is None or state.vertices is None:
        layers.mesh('object', mesh.vertices, mesh.faces, GREY)
        return
    layers.pressure_mesh('deformation', state.vertices, mesh.faces, state.vertex_pressures)
    layers.legend(mesh.vertices, state.vertex_pressures)


def _add_hand(layers: '_Layers', grasp: RankedGrasp, hand: HandModel, fraction: float) -> None:
    """Show the hand at a moment of a closing, its links simplified: messages stay small."""
    for mesh, T_object_link in zip(moving_links(hand), link_poses_at(grasp, hand, fraction)):
        layers.mesh('hand', mesh.vertices, mesh.faces, GREY, T_object_link)


def _add_forces(layers: '_Layers', grasp: RankedGrasp) -> None:
    points = np.array([c.point for c in grasp.contacts]).reshape(-1, 3)
    forces = np.array([c.force for c in grasp.contacts]).reshape(-1, 3)
    layers.forces(points, forces)
    layers.points('contacts', points, CYAN)


def ranked_markers(grasps: Sequence[RankedGrasp], frame: MarkerFrame,
                   hand: HandModel | None = None) -> MarkerArray:
    """
    Return an arrow along the approach and the rank of each grasp, from green (best) to orange.

    With a ``hand`` the first ``MOST_GHOSTS`` grasps are shown as ghosts: the hulls of its
    links, in the colour of the rank.
    """
    layers = _Layers(frame)
    layers.clear('ranked_grasps', 'ranks', 'ghosts')
    for i, grasp in enumerate(grasps):
        share = i / max(1, len(grasps) - 1)
        colour = tuple((1.0 - share) * np.array(GREEN) + share * np.array(ORANGE))
        axis = grasp.T_object_palm[:3, 2] * PALM_LENGTH
        start = grasp.T_object_palm[:3, 3] - axis
        layers.arrows('ranked_grasps', start[None], axis[None], colour)
        layers.text('ranks', start, f'{grasp.rank}: {grasp.score:.2f}')
        if hand is not None and i < MOST_GHOSTS:
            for mesh, T_object_link in zip(ghost_links(hand), link_poses_at(grasp, hand, 1.0)):
                layers.mesh('ghosts', mesh.vertices, mesh.faces, (*colour[:3], GHOST_ALPHA),
                            T_object_link)
    return layers.array


class _Layers:
    """Collects markers; a namespace is cleared when its first marker comes."""

    def __init__(self, frame: MarkerFrame) -> None:
        self._frame = frame
        self._counts: dict[str, int] = {}
        self.side = 1.0     # of the object, along x, on which legends stand
        self.array = MarkerArray()

    def clear(self, *namespaces: str) -> None:
        """Delete what these layers showed before."""
        for namespace in namespaces:
            if namespace not in self._counts:
                self._counts[namespace] = 0
                marker = Marker(ns=namespace, action=Marker.DELETEALL)
                marker.header.frame_id = self._frame.frame_id
                self.array.markers.append(marker)

    def points(self, namespace: str, points: Array, colour: Sequence[float]) -> None:
        """Show points, frame object."""
        self.clear(namespace)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points):
            marker = self._add(namespace, Marker.POINTS, colour, (POINT_SIZE, POINT_SIZE, 0.0))
            marker.points = _points(points)

    def lines(self, namespace: str, starts: Array, ends: Array, colour: Sequence[float]) -> None:
        """Show lines, frame object."""
        self.clear(namespace)
        pairs = np.stack([starts, ends], axis=1)
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
        if len(pairs):
            marker = self._add(namespace, Marker.LINE_LIST, colour, (LINE_WIDTH, 0.0, 0.0))
            marker.points = _points(pairs.reshape(-1, 3))

    def arrows(self, namespace: str, starts: Array, vectors: Array,
               colour: Sequence[float]) -> None:
        """Show arrows, frame object; those without length are left out."""
        self.clear(namespace)
        for start, vector in zip(starts, vectors):
            if np.isfinite([start, vector]).all() and np.linalg.norm(vector) > 1e-6:
                marker = self._add(namespace, Marker.ARROW, colour,
                                   (ARROW_WIDTH, 2.0 * ARROW_WIDTH, 0.0))
                marker.points = _points(np.stack([start, start + vector]))

    def forces(self, points: Array, forces: Array) -> None:
        """Show forces on the object as arrows that end where they act."""
        vectors = FORCE_LENGTH * forces
        self.arrows('forces', points - vectors, vectors, BLUE)

    def ball(self, namespace: str, centre: Array, colour: Sequence[float]) -> None:
        """Show a ball, frame object."""
        self.clear(namespace)
        if np.isfinite(centre).all():
            T_object_ball = np.eye(4)
            T_object_ball[:3, 3] = centre
            self._add(namespace, Marker.SPHERE, colour, (BALL_SIZE,) * 3, T_object_ball)

    def text(self, namespace: str, point: Array, text: str, height: float = 0.01) -> None:
        """Show text that faces the viewer."""
        T_object_text = np.eye(4)
        T_object_text[:3, 3] = point
        marker = self._add(namespace, Marker.TEXT_VIEW_FACING, WHITE, (0.0, 0.0, height),
                           T_object_text)
        marker.text = text

    def mesh(self, namespace: str, vertices: Array, faces: NDArray[np.int64],
             colour: Sequence[float], T_object_mesh: Array | None = None) -> None:
        """Show a mesh in one colour."""
        self.clear(namespace)
        if len(faces) and np.isfinite(vertices).all():
            marker = self._add(namespace, Marker.TRIANGLE_LIST, colour, (1.0, 1.0, 1.0),
                               T_object_mesh)
            marker.points = _points(vertices[faces].reshape(-1, 3))

    def pressure_mesh(self, namespace: str, vertices: Array, faces: NDArray[np.int64],
                      pressures: Array) -> None:
        """Show a mesh coloured by the pressure at its vertices."""
        self.mesh(namespace, vertices, faces, (1.0, 1.0, 1.0, 1.0))
        marker = self.array.markers[-1]
        if marker.action == Marker.ADD:
            palette = _palette(np.nan_to_num(pressures))
            marker.colors = [palette[i] for i in faces.ravel()]

    def legend(self, vertices: Array, pressures: Array) -> None:
        """Show which colour is which pressure, along z beside an object; none: no legend."""
        self.clear(PRESSURE_LEGEND)
        largest = float(np.nan_to_num(pressures).max(initial=0.0))
        if not (largest > 0.0 and np.isfinite(vertices).all()):
            return
        corner, extent = self._corner(vertices)
        edges = corner + np.linspace(0.0, extent, LEGEND_FIELDS + 1)[:, None] * [0.0, 0.0, 1.0]
        across = np.array([LEGEND_WIDTH * extent, 0.0, 0.0])
        marker = self._add(PRESSURE_LEGEND, Marker.TRIANGLE_LIST, WHITE, (1.0, 1.0, 1.0))
        marker.points = _points(np.concatenate([
            [a, a + across, b, a + across, b + across, b] for a, b in zip(edges, edges[1:])]))
        palette = _palette(np.linspace(0.0, 1.0, LEGEND_FIELDS))
        marker.colors = [colour for colour in palette for _ in range(6)]
        for share, text in ((0.0, '0'), (0.5, 'pressure [kPa]'), (1.0, f'{1e-3 * largest:.1f}')):
            self._word(PRESSURE_LEGEND, corner + 1.5 * across + [0.0, 0.0, share * extent], text)

    def scale(self, vertices: Array) -> None:
        """Show, below the colours of pressure, how long what is and what the marks mean."""
        self.clear(SCALE)
        if not np.isfinite(vertices).all():
            return
        corner, _ = self._corner(vertices)
        places = corner - np.outer(np.arange(1, 5), [0.0, 0.0, LEGEND_LINE])
        along, half = np.array([1.0, 0.0, 0.0]), 0.5 * BALL_SIZE
        T_object_bar = np.eye(4)
        T_object_bar[:3, 3] = places[0] + 0.5 * LEGEND_LENGTH * along
        self._add(SCALE, Marker.CUBE, WHITE,
                  (LEGEND_LENGTH, 2.0 * LINE_WIDTH, 2.0 * LINE_WIDTH), T_object_bar)
        force = FORCE_LENGTH * LEGEND_FORCE
        self.arrows(SCALE, places[1:2], force * along[None], BLUE)
        self.ball(SCALE, places[2] + half * along, MAGENTA)
        self.points(SCALE, places[3:] + half * along, CYAN)
        for place, width, text in zip(
                places, (LEGEND_LENGTH, force, BALL_SIZE, BALL_SIZE),
                (f'{1e3 * LEGEND_LENGTH:g} mm', f'force on the object, {LEGEND_FORCE:g} N',
                 'centre of mass', 'contact')):
            self._word(SCALE, place + (width + half) * along, text)

    def _corner(self, vertices: Array) -> tuple[Array, float]:
        """Return where legends beside an object begin, lowest and left, and its largest extent."""
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        extent = float((high - low).max())
        x = (high[0] + LEGEND_GAP * extent if self.side > 0.0
             else low[0] - LEGEND_GAP * extent - LEGEND_ROOM)
        return np.array([x, (low[1] + high[1]) / 2.0,
                         (low[2] + high[2] - extent) / 2.0]), extent

    def _word(self, namespace: str, point: Array, text: str) -> None:
        """Show text that begins at a point: RViz centres it there."""
        half = 0.5 * LETTER_WIDTH * LEGEND_TEXT * len(text)
        self.text(namespace, point + [half, 0.0, 0.0], text, LEGEND_TEXT)

    def obstacle(self, namespace: str, row: Array) -> None:
        """Show a box, sphere or cylinder as in ``ConfigurationBatch.obstacles``."""
        kinds = {OBSTACLE_BOX: (Marker.CUBE, row[1:4]),
                 OBSTACLE_SPHERE: (Marker.SPHERE, np.full(3, 2.0 * row[1])),
                 OBSTACLE_CYLINDER: (Marker.CYLINDER, [2.0 * row[2], 2.0 * row[2], row[1]])}
        kind, scale = kinds[int(row[0])]
        T_object_obstacle = np.vstack([row[4:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
        self._add(namespace, kind, OBSTACLE_COLOUR, scale, T_object_obstacle)

    def _add(self, namespace: str, kind: int, colour: Sequence[float],
             scale: Sequence[float], T_object_marker: Array | None = None) -> Marker:
        self.clear(namespace)
        self._counts[namespace] += 1
        pose = self._frame.T_frame_object
        if T_object_marker is not None:
            pose = pose @ T_object_marker
        x, y, z = map(float, scale)
        marker = Marker(ns=namespace, id=self._counts[namespace], type=kind, action=Marker.ADD,
                        pose=pose_to_msg(pose), scale=Vector3(x=x, y=y, z=z),
                        color=_colour(colour))
        marker.header.frame_id, marker.header.stamp = self._frame.frame_id, self._frame.stamp
        self.array.markers.append(marker)
        return marker


def _points(rows: Iterable[Array]) -> list[Point]:
    return [point_to_msg(row) for row in rows]


def _palette(pressures: Array) -> list[ColorRGBA]:
    """Return the colours of pressures; the largest has the last one."""
    colours = pressure_colours(pressures, float(pressures.max(initial=0.0)))
    return [_colour((*row, PRESSURE_ALPHA)) for row in colours]


def _colour(rgba: Sequence[float]) -> ColorRGBA:
    r, g, b, a = (min(1.0, max(0.0, float(value))) for value in rgba)
    return ColorRGBA(r=r, g=g, b=b, a=a)
