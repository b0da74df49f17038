"""A picture of a squeeze: force over way as a curve, and beside it what is squeezed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from ...core.bodies import shapes
from ...core.hand import HandModel, forward_kinematics
from ...core.mechanics.finite_strain.squeezing import CurvePoint
from ...core.transforms import apply
from ...library.drawing.raster import Surface, make_surface
from ...library.drawing.render import draw_surfaces, look_along

Array = NDArray[np.float64]

#: Pixels of the curve and of what is beside it; the curve's margins left, right, above, below.
CHART, BESIDE = (640, 520), (460, 520)
LEFT, RIGHT, TOP, BOTTOM = 74, 24, 64, 56
INK, FAINT, LINE, PAPER = (28, 32, 40), (110, 116, 128), (222, 225, 231), (255, 255, 255)
FORCE, MARK = (74, 134, 208), 4
BODY, PLATE, LINK = (0.93, 0.76, 0.52), (0.55, 0.58, 0.63), (0.62, 0.64, 0.68)
#: Thickness of a plate over its width [-].
PLATE_SHARE = 0.03


def draw_squeeze(curve: Sequence[CurvePoint], title: str, surfaces: list[Surface], up: Array
                 ) -> PillowImage.Image:
    """
    Return a picture of a squeeze.

    Parameters
    ----------
    curve : sequence of CurvePoint
    title : str
    surfaces : list of Surface
        What is shown beside the curve [m].
    up : (3,) float
        Which direction points up there.
    """
    sheet = PillowImage.new('RGB', (CHART[0] + BESIDE[0], CHART[1]), PAPER)
    _draw_curve(ImageDraw.Draw(sheet), curve, title)
    sheet.paste(_rendered(surfaces, up), (CHART[0], 0))
    return sheet


def plates_and_body(vertices: Array, faces: NDArray[np.int64], axis: Array) -> list[Surface]:
    """Return a deformed body (n, 3), (m, 3) and the two plates across an axis (3,)."""
    axis = axis / np.linalg.norm(axis)
    right = np.linalg.svd(axis[None])[2][1]
    across = np.array([right, np.cross(axis, right)])
    heights, sides = vertices @ axis, vertices @ across.T
    middle, half = 0.5 * (sides.max(axis=0) + sides.min(axis=0)), 0.62 * np.ptp(sides, axis=0)
    thickness = PLATE_SHARE * float(half.max())
    plates = []
    for height, way in ((heights.min(), -thickness), (heights.max(), thickness)):
        slab = shapes.box(np.append(2.0 * half, thickness))
        place = middle @ across + (height + 0.5 * way) * axis
        plates.append(make_surface(place + slab.vertices @ np.vstack([across, axis]),
                                   slab.faces, np.array(PLATE)))
    return [make_surface(vertices, faces, np.array(BODY)), *plates]


def hand_and_body(hand: HandModel, joints: Array, T_object_palm: Array, vertices: Array,
                  faces: NDArray[np.int64]) -> list[Surface]:
    """Return a hand at joints (J,) [rad] around a body (n, 3), (m, 3), frame object."""
    poses = T_object_palm @ forward_kinematics(hand, joints[None])[0]
    return [make_surface(vertices, faces, np.array(BODY))] + [
        make_surface(apply(pose, link.mesh.vertices), link.mesh.faces, np.array(LINK))
        for pose, link in zip(poses, hand.links)]


def _rendered(surfaces: list[Surface], up: Array) -> PillowImage.Image:
    points = np.concatenate([surface.vertices for surface in surfaces])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - middle, axis=1).max())
    up = up / np.linalg.norm(up)
    side = np.linalg.svd(up[None])[2][1]
    camera = look_along(-side - 0.18 * up, up, middle, 1.05 * radius, BESIDE)
    return draw_surfaces(surfaces, camera)


def _draw_curve(pen: ImageDraw.ImageDraw, curve: Sequence[CurvePoint], title: str) -> None:
    """Draw force over way from the first touch."""
    font, small = ImageFont.load_default(18), ImageFont.load_default(13)
    ways = 1e3 * np.array([0.0] + [point.way for point in curve])
    forces = np.array([0.0] + [point.force for point in curve])
    places = [_scaled(values, size, margins) for values, size, margins in (
        (ways, CHART[0], (LEFT, RIGHT)), (forces, CHART[1], (BOTTOM, TOP)))]
    pen.text((LEFT, 16), title, fill=INK, font=font)
    for value in _ticks(ways):
        x = float(_scaled(ways, CHART[0], (LEFT, RIGHT), np.array([value]))[0])
        pen.line([(x, TOP), (x, CHART[1] - BOTTOM)], fill=LINE)
        pen.text((x, CHART[1] - BOTTOM + 8), f'{value:g}', fill=FAINT, font=small, anchor='ma')
    for value in _ticks(forces):
        y = CHART[1] - float(_scaled(forces, CHART[1], (BOTTOM, TOP), np.array([value]))[0])
        pen.line([(LEFT, y), (CHART[0] - RIGHT, y)], fill=LINE)
        pen.text((LEFT - 8, y), f'{value:g}', fill=FAINT, font=small, anchor='rm')
    line = [(float(x), CHART[1] - float(y)) for x, y in zip(*places)]
    pen.line(line, fill=FORCE, width=3)
    for x, y in line:
        pen.ellipse([x - MARK, y - MARK, x + MARK, y + MARK], fill=FORCE)
    pen.text((LEFT, TOP - 20), 'force [N]', fill=INK, font=small)
    pen.text((CHART[0] - RIGHT, CHART[1] - 22), 'way [mm]', fill=INK, font=small, anchor='ra')


def _scaled(values: Array, size: int, margins: tuple[int, int], of: Array | None = None) -> Array:
    """Return the pixels of numbers (``of``, or the values) from 0 to the largest value."""
    top = max(float(values.max()), 1e-12)
    shares: Array = (values if of is None else of) / top
    return margins[0] + shares * (size - sum(margins))


def _ticks(values: Array) -> Array:
    """Return round numbers from 0 to the largest value."""
    top = max(float(values.max()), 1e-12)
    step = 10.0 ** np.floor(np.log10(top / 2.0))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if top / (factor * step) <= 6.0)
    ticks: Array = step * np.arange(int(top / step + 1e-9) + 1)
    return ticks
