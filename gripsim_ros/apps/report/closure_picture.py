"""A picture of planar closure: contour, fingers open and closed, contacts, chord."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from .style import FAINT, INK, PAPER, TERM_COLOURS

Array = NDArray[np.float64]

SIZE, MARGIN, TITLE = (1000, 860), 70, 96
#: Drawn this many times finer, then shrunk.
FINER = 2
BODY, EDGE, PALM = (243, 228, 200), (178, 140, 80), (90, 96, 108)
CONTACT = (200, 30, 60)
#: Share of the paper in the colour of an open finger.
PALE = 0.72
#: Length of a contact's normal, over the picture's extent.
ARROW = 0.07


@dataclass(frozen=True, eq=False)
class ClosureScene:
    """
    What is drawn, in the contour's plane [m].

    ``contour (n, 2)`` and whether it is ``closed``; ``fingers`` are pairs of bars
    ``(K, 2, 2)``, open and closed, with ``half_thickness``; ``palm (2, 2)``; ``points`` and
    ``normals (k, 2)`` of contacts; ``chord (3, 2)``: its ends and the outermost point;
    ``up (2,)`` points up in the picture.
    """

    contour: Array
    closed: bool
    fingers: list[tuple[Array, Array]]
    half_thickness: float
    points: Array
    normals: Array
    chord: Array
    palm: Array = field(default_factory=lambda: np.zeros((0, 2)))
    up: Array = field(default_factory=lambda: np.array([0.0, 1.0]))


def draw_closure(scene: ClosureScene, title: str, note: str) -> PillowImage.Image:
    """
    Draw a closure.

    Parameters
    ----------
    scene : ClosureScene
    title, note : str
        Two lines over the picture.

    Returns
    -------
    PIL.Image.Image
    """
    turned = np.array([[scene.up[1], -scene.up[0]], scene.up])
    everything = np.concatenate([scene.contour, scene.palm, *(
        bars.reshape(-1, 2) for pair in scene.fingers for bars in pair)]) @ turned.T
    low = everything.min(axis=0) - scene.half_thickness
    high = everything.max(axis=0) + scene.half_thickness
    room = np.array([SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN - TITLE], float)
    scale = float((room / (high - low)).min())
    middle = 0.5 * (low + high)

    def place(points: Array) -> list[tuple[float, float]]:
        flat = FINER * scale * (np.atleast_2d(points) @ turned.T - middle)
        x = FINER * SIZE[0] / 2 + flat[:, 0]
        y = FINER * (SIZE[1] + TITLE - 30) / 2 - flat[:, 1]
        return list(zip(x.tolist(), y.tolist()))

    picture = PillowImage.new('RGB', (FINER * SIZE[0], FINER * SIZE[1]), PAPER)
    draw = ImageDraw.Draw(picture)
    outline = place(scene.contour)
    if scene.closed:
        draw.polygon(outline, fill=BODY)
        outline.append(outline[0])
    draw.line(outline, fill=EDGE, width=3 * FINER, joint='curve')
    draw.line(place(scene.chord[:2]), fill=FAINT, width=FINER)
    if len(scene.palm):
        draw.line(place(scene.palm), fill=PALM, width=7 * FINER)
    width = max(3 * FINER, round(2.0 * scene.half_thickness * scale * FINER))
    for number, (open_bars, closed_bars) in enumerate(scene.fingers):
        colour = TERM_COLOURS[number % len(TERM_COLOURS)]
        _draw_bars(draw, place, open_bars, _mixed(colour, PALE), width)
        _draw_bars(draw, place, closed_bars, colour, width)
    _draw_contacts(draw, place, scene, ARROW * float((high - low).max()))
    for point in scene.chord:
        _dot(draw, place(point)[0], 5 * FINER, FAINT)
    picture = picture.resize(SIZE, PillowImage.Resampling.LANCZOS)
    _write(ImageDraw.Draw(picture), title, note, scale, len(scene.fingers))
    return picture


def _draw_bars(draw: ImageDraw.ImageDraw, place, bars: Array, colour: tuple[int, ...],
               width: int) -> None:
    starts = [0, *(k for k in range(1, len(bars)) if not np.allclose(bars[k - 1, 1], bars[k, 0]))]
    for first, last in zip(starts, [*starts[1:], len(bars)]):
        if last - first > 1:        # an outline: what it encloses is the phalanx
            draw.polygon(place(np.concatenate([bars[first:last, 0], bars[last - 1:last, 1]])),
                         fill=colour)
    for bar in bars:
        ends = place(bar)
        draw.line(ends, fill=colour, width=width)
        for end in ends:
            _dot(draw, end, width / 2, colour)


def _draw_contacts(draw: ImageDraw.ImageDraw, place, scene: ClosureScene, length: float) -> None:
    for point, normal in zip(scene.points, scene.normals):
        tip = point + length * normal
        side = np.array([-normal[1], normal[0]])
        draw.line(place(np.array([point, tip])), fill=CONTACT, width=3 * FINER)
        draw.polygon(place(np.array([tip + 0.25 * length * normal, tip + 0.12 * length * side,
                                     tip - 0.12 * length * side])), fill=CONTACT)
        _dot(draw, place(point)[0], 6 * FINER, CONTACT)


def _dot(draw: ImageDraw.ImageDraw, centre: tuple[float, float], radius: float,
         colour: tuple[int, ...]) -> None:
    x, y = centre
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colour)


def _mixed(colour: tuple[int, ...], paper: float) -> tuple[int, ...]:
    return tuple(round(channel + paper * (255 - channel)) for channel in colour)


def _write(draw: ImageDraw.ImageDraw, title: str, note: str, scale: float, count: int) -> None:
    draw.text((20, 14), title, INK, ImageFont.load_default(26))
    draw.text((20, 52), note, FAINT, ImageFont.load_default(17))
    length, y = 0.01 * scale, SIZE[1] - 34
    draw.line([(20, y), (20 + length, y)], fill=INK, width=3)
    draw.text((28 + length, y - 10), '10 mm', FAINT, ImageFont.load_default(16))
    x = 120 + length
    colours = tuple(TERM_COLOURS[i % len(TERM_COLOURS)] for i in range(count))
    entries = [('contour', (EDGE,)), ('chord, outermost point', (FAINT,)),
               ('contact, normal', (CONTACT,)), ('fingers closed', colours),
               ('open', tuple(_mixed(colour, PALE) for colour in colours))]
    for name, shown in entries if count else entries[:3]:
        for colour in shown:
            draw.rectangle([x, y - 6, x + 12, y + 6], fill=colour)
            x += 14
        draw.text((x + 5, y - 10), name, FAINT, ImageFont.load_default(16))
        x += 22 + draw.textlength(name, ImageFont.load_default(16))
