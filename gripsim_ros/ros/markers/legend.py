"""What colours and marks mean, beside the object: upright for the start view of RViz."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .layers import (
    BLANK_WIDTH, BLUE, CONTACT_SIZE, DEPTH_FACTOR, FORCE_LENGTH, GREEN, LINE_WIDTH, MAGENTA,
    ORANGE, PINK, WHITE, Layers, palette)

Array = NDArray[np.float64]

#: Namespaces that explain the others.
PRESSURE_LEGEND, SCALE = 'pressure_legend', 'scale'
#: Start view of the RViz configs: the eye's azimuth and height about the frame's origin [rad].
START_YAW, START_PITCH = 0.8, 0.5
#: Room between object or hand and legend, the longest mark, room between marks and words [m].
GAP, LONGEST, SPACE = 0.015, 0.05, 0.004
#: Size of letters, height of lines and of the bar with the colours; width of that [m].
TEXT, LINE, BAR, BAR_WIDTH = 0.011, 0.017, 0.06, 0.008
#: Width of a cross, length of the line that stands for a way [m].
CROSS, WAY = 0.010, 0.02
#: Mean width of a letter over the size of a text, as RViz 14.1.5 draws them.
LETTER_WIDTH = 0.42
#: Fields of the bar, and what the arrow of force and the depth stand for [N], [m].
FIELDS, FORCE, DEPTH = 24, 1.0, 1e-3


class Legend:
    """
    Legends in the plane through the object that faces the start view.

    Parameters
    ----------
    layers : Layers
    vertices : (V, 3) float
        Of the object, frame object.
    others : (n, 3) float, optional
        What else legends keep away from, such as the hand.
    gravity : (3,) float, optional
        Frame object; legends stand upright by it where the frame turns with the object. None or
        0: by ``layers.frame``.
    """

    def __init__(self, layers: Layers, vertices: Array, others: Array | None = None,
                 gravity: Array | None = None) -> None:
        """Find the side with more room."""
        self._layers = layers
        right, up = start_axes()
        R_view_object = layers.frame.T_frame_object[:3, :3]
        if gravity is not None and np.any(gravity):
            R_view_object = upright(-gravity / np.linalg.norm(gravity))
        self._right, self._up = right @ R_view_object, up @ R_view_object
        middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
        points = vertices if others is None else np.concatenate([vertices, others])
        along = (points - middle) @ self._right
        to_right, to_left = along.max() + GAP, -along.min() + GAP
        width = CROSS + SPACE + word_width('centre of mass')
        self._corner = middle + self._right * (
            to_right if to_right <= to_left else -to_left - width)

    def pressures(self, pressures: Array) -> None:
        """Show which colour is which pressure [kPa]; none: no legend."""
        largest = float(np.nan_to_num(pressures).max(initial=0.0))
        if not largest > 0.0:
            return
        across = BAR_WIDTH * self._right
        heights = np.linspace(LINE, LINE + BAR, FIELDS + 1)
        edges = self._corner + heights[:, None] * self._up
        self._layers.coloured(PRESSURE_LEGEND, np.concatenate(
            [[a, a + across, b, a + across, b + across, b] for a, b in zip(edges, edges[1:])]),
            [colour for colour in palette(np.linspace(0.0, 1.0, FIELDS)) for _ in range(6)])
        self._word(PRESSURE_LEGEND, heights[-1] + LINE, 0.0, 'pressure [kPa]')
        for height, text in ((heights[0], '0'), (heights[-1], f'{1e-3 * largest:.1f}')):
            self._word(PRESSURE_LEGEND, height, BAR_WIDTH + SPACE, text)

    def title(self, namespace: str, text: str) -> None:
        """Write what is shown, above all else."""
        self._word(namespace, BAR + 3.0 * LINE, 0.0, text)

    def marks(self, depths: bool = False) -> None:
        """Show how long what is and what the marks mean, below the colours of pressure."""
        layers, force = self._layers, FORCE_LENGTH * FORCE
        places = [self._corner - row * LINE * self._up for row in range(6)]
        self._line(places[0], LONGEST, WHITE, 2.0 * LINE_WIDTH, f'{1e3 * LONGEST:g} mm')
        layers.arrows(SCALE, places[1][None], force * self._right[None], BLUE)
        self._word(SCALE, -LINE, force + SPACE, f'force, {FORCE:g} N')
        self._cross(places[2], MAGENTA, 2.0 * LINE_WIDTH, 'centre of mass')
        self._cross(places[3], PINK, LINE_WIDTH, 'untouched')
        layers.contacts(SCALE, (places[4] + 0.5 * CONTACT_SIZE * self._right)[None])
        self._word(SCALE, -4.0 * LINE, CONTACT_SIZE + SPACE, 'contact')
        if depths:
            self._line(places[5], DEPTH_FACTOR * DEPTH, ORANGE, LINE_WIDTH,
                       f'{1e3 * DEPTH:g} mm deep, x {DEPTH_FACTOR:g}')

    def way(self) -> None:
        """Show what the marks of an object's way mean, below all others."""
        places = [self._corner - row * LINE * self._up for row in (5, 6)]
        self._line(places[0], WAY, MAGENTA, LINE_WIDTH, 'its way')
        self._layers.contacts(SCALE, (places[1] + 0.5 * CONTACT_SIZE * self._right)[None], GREEN)
        self._word(SCALE, -6.0 * LINE, CONTACT_SIZE + SPACE, 'least force')

    def _line(self, place: Array, length: float, colour: Sequence[float], width: float,
              text: str) -> None:
        """Show a line of a length and what it means."""
        self._layers.lines(SCALE, place[None], place[None] + length * self._right, colour, width)
        self._word(SCALE, float((place - self._corner) @ self._up), length + SPACE, text)

    def _cross(self, place: Array, colour: Sequence[float], width: float, text: str) -> None:
        """Show a cross and what it means."""
        size = 0.5 * CROSS * np.array([self._right, self._up])
        middle = place + size[0]
        self._layers.lines(SCALE, middle - size, middle + size, colour, width)
        self._word(SCALE, float((place - self._corner) @ self._up), CROSS + SPACE, text)

    def _word(self, namespace: str, height: float, begin: float, text: str) -> None:
        """Show text that begins at a place, up and right of the corner: RViz centres it."""
        middle = begin + 0.5 * word_width(text)
        self._layers.text(namespace, self._corner + height * self._up + middle * self._right,
                          text, TEXT)


def word_width(text: str) -> float:
    """Return the width of a text of the legend in RViz [m]."""
    blanks = text.count(' ')
    return TEXT * (LETTER_WIDTH * (len(text) - blanks) + BLANK_WIDTH * blanks)


def upright(upward: Array) -> Array:
    """Return the shortest rotation ``(3, 3)`` that turns a unit vector ``(3,)`` to +z."""
    x, y, z = upward
    if z < -1.0 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    cross = np.array([[0.0, 0.0, -x], [0.0, 0.0, -y], [x, y, 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + z)


def start_axes() -> tuple[Array, Array]:
    """Return what is right and up ``(3,)`` in the start view of the RViz configs."""
    yaw, pitch = START_YAW, START_PITCH
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    up = np.array([-np.sin(pitch) * np.cos(yaw), -np.sin(pitch) * np.sin(yaw), np.cos(pitch)])
    return right, up
