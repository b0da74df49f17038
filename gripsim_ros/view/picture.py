"""Markers drawn off-screen with the renderer of the report; no display, no OpenGL."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont
from visualization_msgs.msg import MarkerArray

from ..report.raster import Camera, Surface, make_surface, merge_surfaces, render_layer
from ..report.render import OVERSAMPLING, background, look_along, over, shrink
from .marker_shapes import Shape, shapes_of

Array = NDArray[np.float64]

#: From where pictures are taken: towards the eye, in the frame of the markers.
TOWARDS, UP = np.array([0.25, -1.0, 0.35]), np.array([0.0, 0.0, 1.0])
SIZE = (640, 560)
#: Shapes at least this opaque hide what is behind them.
OPAQUE = 0.9
INK = (28, 32, 40)


def draw_markers(arrays: Sequence[MarkerArray], size: tuple[int, int] = SIZE,
                 towards: Array = TOWARDS, up: Array = UP) -> PillowImage.Image:
    """
    Return a picture of what marker arrays in one frame show.

    Parameters
    ----------
    arrays : sequence of MarkerArray
        At least one of them shows something that is not text.
    size : (int, int)
        Width and height [pixels].
    towards, up : (3,) float
        Direction from the middle of the scene to the eye, and up.

    Returns
    -------
    PIL.Image.Image
    """
    shapes, labels = [], []
    for array in arrays:
        some, texts = shapes_of(array)
        shapes += some
        labels += texts
    points = np.concatenate([*(shape.vertices for shape in shapes),
                             *(label.point[None] for label in labels)])
    focus = (points.min(axis=0) + points.max(axis=0)) / 2.0
    radius = float(np.linalg.norm(points - focus, axis=1).max())
    fine = look_along(-towards, up, focus, radius,
                      (OVERSAMPLING * size[0], OVERSAMPLING * size[1]))
    picture = PillowImage.fromarray(
        (255.0 * shrink(_drawn(shapes, fine)) + 0.5).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(14)
    for label in labels:
        x, y = fine.project(label.point[None])[0, :2] / OVERSAMPLING
        draw.text((x, y), label.text, INK, font, anchor='lm')
    return picture


def _drawn(shapes: Sequence[Shape], camera: Camera) -> NDArray[np.float32]:
    solid = [_surface(shape) for shape in shapes if shape.alpha >= OPAQUE]
    image, depth = background(camera), np.full((camera.height, camera.width), np.inf)
    if solid:
        layer = render_layer(merge_surfaces(solid), camera)
        image, depth = over(image, layer, np.isfinite(layer.depth).astype(np.float32)), layer.depth
    for alpha in sorted({shape.alpha for shape in shapes if shape.alpha < OPAQUE}, reverse=True):
        layer = render_layer(merge_surfaces(
            [_surface(shape) for shape in shapes if shape.alpha == alpha]), camera)
        seen = np.isfinite(layer.depth) & (layer.depth < depth)
        image = over(image, layer, (alpha * seen).astype(np.float32))
    return image


def _surface(shape: Shape) -> Surface:
    return make_surface(shape.vertices, shape.faces, shape.colours)
