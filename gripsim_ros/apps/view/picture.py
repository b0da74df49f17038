"""Markers drawn off-screen with the renderer of the report; no display, no OpenGL."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont
from visualization_msgs.msg import Marker, MarkerArray

from ...library.display import BOX_COLOUR, REGION_COLOUR
from ...library.drawing.raster import Camera, Surface, make_surface, merge_surfaces, render_layer
from ...library.drawing.render import (
    HAND_ALONE, HAND_OVER_OBJECT, OVERSAMPLING, background, look_along, over, shrink)
from ...ros.markers import BLUE, BOX_LAYERS, CYAN, FORCE_LENGTH, MAGENTA, PRESSURE_LEGEND, SCALE
from ..report.pictures import pressure_legend
from .marker_shapes import Label, Shape, shapes_of

Array = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
SIZE = (720, 600)
#: Height of the eye above the middle of the scene [rad], and directions that are compared.
ELEVATION, AZIMUTHS = 0.35, 24
#: What a palm before or behind the object counts against contacts that are seen.
PALM_WEIGHT = 1.5
#: How far the scene moves up to leave room for legends, over its radius.
LEGEND_SHARE = 0.12
#: Shapes at least this opaque hide what is behind them; hands are glass.
OPAQUE = 0.9
#: Namespaces that are drawn on the picture, not in the scene; of the hand; of what was exerted.
DRAWN_FLAT, HAND, FORCES, MOMENT = (PRESSURE_LEGEND, SCALE), 'hand', 'forces', 'moment'
#: Namespace of what stands about the object.
OBSTACLES = 'obstacles'
#: What the layers of boxes and regions mean.
BOX_WORDS = 'oriented box', 'region of potential interaction'
INK, FAINT, MARGIN = (28, 32, 40), (95, 102, 115), 20
#: Lengths that a scale may have [m]; the longest below this share of the width is taken.
LENGTHS, SCALE_SHARE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), 0.2


def draw_markers(arrays: Sequence[MarkerArray], size: tuple[int, int] = SIZE,
                 towards: Array | None = None, up: Array = UP,
                 zoom: float = 1.0, boxes: bool = False) -> PillowImage.Image:
    """
    Return a picture of what marker arrays in one frame show, with scale and legends.

    Parameters
    ----------
    arrays : sequence of MarkerArray
        At least one of them shows something that is not text.
    size : (int, int)
        Width and height [pixels].
    towards, up : (3,) float
        Direction from the middle of the scene to the eye, by default where most contacts are
        seen, and up.
    zoom : float
        1 shows all of it, more goes nearer.
    boxes : bool
        With the layers of oriented boxes and regions of potential interaction.

    Returns
    -------
    PIL.Image.Image
    """
    shapes, labels = [], []
    left_out = DRAWN_FLAT if boxes else (*DRAWN_FLAT, *BOX_LAYERS)
    for array in arrays:
        some, texts = shapes_of(array)
        shapes += [shape for shape in some if _layer(shape) not in left_out]
        labels += [label for label in texts if _layer(label) not in DRAWN_FLAT]
    points = np.concatenate([shape.vertices for shape in _framed(shapes)])
    focus = (points.min(axis=0) + points.max(axis=0)) / 2.0
    radius = float(np.linalg.norm(points - focus, axis=1).max()) / zoom
    towards = best_view(arrays) if towards is None else towards
    fine = look_along(-towards, up, focus - LEGEND_SHARE * radius * up, radius,
                      (OVERSAMPLING * size[0], OVERSAMPLING * size[1]))
    picture = PillowImage.fromarray(
        (255.0 * shrink(_drawn(shapes, fine)) + 0.5).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    _write_labels(draw, labels, fine, size)
    largest = largest_pressure(arrays)
    if largest:
        pressure_legend(draw, size, largest)
    _draw_scale(draw, {_layer(shape) for shape in shapes}, fine, focus, size)
    return picture


def _framed(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """Return the shapes that a picture is to hold: a table may be larger."""
    return [shape for shape in shapes if _layer(shape) != OBSTACLES] or shapes


def _layer(named: Shape | Label) -> str:
    return named.name.partition('/')[0]


def best_view(arrays: Sequence[MarkerArray]) -> Array:
    """Return the direction to the eye, a little from above: most contacts before, no palm."""
    shapes = [shape for array in arrays for shape in shapes_of(array)[0]
              if _layer(shape) not in (*DRAWN_FLAT, *BOX_LAYERS, OBSTACLES)]
    outward = [np.array([m.points[0].x - m.points[1].x, m.points[0].y - m.points[1].y,
                         m.points[0].z - m.points[1].z])
               for array in arrays for m in array.markers
               if m.ns == FORCES and m.action == Marker.ADD]
    outward = [vector / np.linalg.norm(vector) for vector in outward]
    hand, others = (_middle([shape for shape in shapes if (_layer(shape) == HAND) == is_hand])
                    for is_hand in (True, False))
    to_palm = np.nan_to_num((hand - others) / np.linalg.norm(hand - others))
    azimuths = np.linspace(0.0, 2.0 * np.pi, AZIMUTHS, endpoint=False) - np.pi / 2.0

    def goodness(towards: Array) -> float:
        facing = [np.sqrt(max(0.0, float(vector @ towards) + 0.15)) for vector in outward]
        return round(float(np.sum(facing)) - PALM_WEIGHT * abs(float(to_palm @ towards)), 6)
    return max((np.array([np.cos(ELEVATION) * np.cos(a), np.cos(ELEVATION) * np.sin(a),
                          np.sin(ELEVATION)]) for a in azimuths), key=goodness)


def _middle(shapes: Sequence[Shape]) -> Array:
    return np.mean([shape.vertices.mean(axis=0) for shape in shapes], axis=0) if shapes \
        else np.full(3, np.nan)


def largest_pressure(arrays: Sequence[MarkerArray]) -> float:
    """Return the pressure [Pa] with the last colour, as the legends among the markers say."""
    told = [m.text for array in arrays for m in array.markers
            if m.ns == PRESSURE_LEGEND and m.text]
    return 1e3 * float(told[-1]) if told else 0.0


def _write_labels(draw: ImageDraw.ImageDraw, labels: Sequence[Label], camera: Camera,
                  size: tuple[int, int]) -> None:
    """Write the moment as the title, all else at its place but inside the picture."""
    font = ImageFont.load_default(15)
    for label in labels:
        if _layer(label) == MOMENT:
            draw.text((MARGIN, 14), label.text[:1].upper() + label.text[1:], INK,
                      ImageFont.load_default(24))
            continue
        x, y = camera.project(label.point[None])[0, :2] / OVERSAMPLING
        width = draw.textlength(label.text, font)
        x = min(max(x + 4.0, 4.0), size[0] - width - 4.0)
        draw.text((x, min(max(y, 10.0), size[1] - 10.0)), label.text, INK, font, anchor='lm',
                  stroke_width=3, stroke_fill=(250, 250, 252))


def _draw_scale(draw: ImageDraw.ImageDraw, layers: set[str], camera: Camera, focus: Array,
                size: tuple[int, int]) -> None:
    """Draw, below on the left, the scale in the middle of the scene, and what marks mean."""
    font = ImageFont.load_default(16)
    depth = float(camera.project(focus[None])[0, 2])
    pixels = camera.focal_length / OVERSAMPLING / depth     # for each metre
    length = max([m for m in LENGTHS if m * pixels <= SCALE_SHARE * size[0]], default=LENGTHS[0])
    x, y, row = MARGIN, size[1] - 28, 24
    draw.line([(x, y), (x + length * pixels, y)], INK, 3)
    for end in (x, x + length * pixels):
        draw.line([(end, y - 5), (end, y + 5)], INK, 3)
    draw.text((x + length * pixels + 12, y), f'{1e3 * length:g} mm', FAINT, font, anchor='lm')
    for layer, colour, text in zip(BOX_LAYERS, (BOX_COLOUR, REGION_COLOUR), BOX_WORDS):
        if layer in layers:
            y -= row
            draw.line([(x, y), (x + 14, y)], _rgb(colour), 3)
            draw.text((x + 22, y), text, FAINT, font, anchor='lm')
    if 'centre_of_mass' in layers:
        y -= row
        draw.line([(x, y), (x + 10, y)], _rgb(MAGENTA), 3)
        draw.line([(x + 5, y - 5), (x + 5, y + 5)], _rgb(MAGENTA), 3)
        draw.text((x + 22, y), 'centre of mass', FAINT, font, anchor='lm')
    if 'contacts' in layers:
        y -= row
        draw.ellipse([x + 2, y - 3, x + 8, y + 3], _rgb(CYAN))
        draw.text((x + 22, y), 'contact', FAINT, font, anchor='lm')
    if FORCES in layers:
        y -= row
        end = x + FORCE_LENGTH * pixels
        draw.line([(x, y), (end - 8, y)], _rgb(BLUE), 4)
        draw.polygon([(end - 10, y - 6), (end, y), (end - 10, y + 6)], _rgb(BLUE))
        draw.text((end + 12, y), 'force on the object, 1 N', FAINT, font, anchor='lm')


def _rgb(colour: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(255.0 * channel + 0.5) for channel in colour[:3])


def _drawn(shapes: Sequence[Shape], camera: Camera) -> NDArray[np.float32]:
    solid = [_surface(shape) for shape in shapes if shape.alpha >= OPAQUE
             and _layer(shape) != HAND]
    image, depth = background(camera), np.full((camera.height, camera.width), np.inf)
    if solid:
        layer = render_layer(merge_surfaces(solid), camera)
        image, depth = over(image, layer, np.isfinite(layer.depth).astype(np.float32)), layer.depth
    groups: dict[tuple[bool, float], list[Surface]] = {}
    for shape in shapes:
        if shape.alpha < OPAQUE or _layer(shape) == HAND:
            groups.setdefault((_layer(shape) == HAND, shape.alpha), []).append(_surface(shape))
    for (is_hand, alpha), surfaces in sorted(groups.items(), key=lambda item: item[0],
                                             reverse=True):
        layer = render_layer(merge_surfaces(surfaces), camera)
        seen = np.isfinite(layer.depth) & (layer.depth < depth)
        opacity = (np.where(np.isfinite(depth), HAND_OVER_OBJECT, HAND_ALONE) if is_hand
                   else alpha)
        image = over(image, layer, (opacity * seen).astype(np.float32))
    return image


def _surface(shape: Shape) -> Surface:
    return make_surface(shape.vertices, shape.faces, shape.colours)
