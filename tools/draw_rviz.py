"""
Draw what RViz shows of our markers, from the messages and a config alone; RViz is not needed.

The rules are those of RViz 2 (Jazzy): one light at the eye and no other; triangles whose corners
have colours are never lit, all others flat; below alpha 1 no depth is written; texts face the
viewer about their point, in a font whose em is 0.84 ``scale.z``, with blanks of ``scale.x``.

``python tools/draw_rviz.py PLAN.json [--mesh MESH] [--out drawn.png]`` writes what stands beside
each other in ``docs/images/rviz.png``, which is RViz's own.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from visualization_msgs.msg import Marker, MarkerArray
import yaml

from gripsim_ros.apps.view.marker_shapes import shapes_of
from gripsim_ros.apps.view.sources import PlanSource
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.drawing import glyphs
from gripsim_ros.library.drawing.raster import (
    Camera, Surface, merge_surfaces, render_layer)
from gripsim_ros.library.drawing.render import OVERSAMPLING, shrink
from gripsim_ros.library.resources import share_directory
from gripsim_ros.ros.markers import MarkerFrame, closing_markers, grasp_markers

#: Vertical angle of view of RViz's camera [rad].
ANGLE = np.pi / 4.0
#: What RViz takes for opaque.
OPAQUE = 0.9998
#: Lines and lists of points are not lit; triangles neither, where their corners have colours.
FLAT = (Marker.LINE_LIST,)
#: Size of the font over ``scale.z``; width of a blank that is left to RViz [m].
EM, DEFAULT_BLANK = 0.84, 0.56
GRID_COLOUR, GRID_WIDTH = 0.63, 0.0006


def draw(config: Path, arrays: Mapping[str, MarkerArray], frames: Mapping[str, np.ndarray],
         size: tuple[int, int] = (880, 660)) -> Image.Image:
    """
    Return what RViz shows at the start.

    Parameters
    ----------
    config : Path
        An ``.rviz`` file.
    arrays : mapping of str to MarkerArray
        Last message of each topic.
    frames : mapping of str to (4, 4) float
        Poses of frames in the fixed frame; others are not shown.
    size : (int, int)
        Width and height [pixels].
    """
    manager = yaml.safe_load(config.read_text(encoding='utf-8'))['Visualization Manager']
    camera = start_camera(manager['Views']['Current'],
                          (OVERSAMPLING * size[0], OVERSAMPLING * size[1]))
    background = manager['Global Options']['Background Color']
    image = np.tile(np.array([int(c) for c in background.split(';')], np.float32) / 255.0,
                    (camera.height, camera.width, 1))
    depth = np.full(image.shape[:2], np.inf, np.float32)
    parts, texts = [], []
    for display in manager['Displays']:
        if not display['Enabled']:
            continue
        if display['Class'].endswith('/Grid'):
            parts.append((*_grid(display), display['Alpha'], False))
        elif display['Class'].endswith('/MarkerArray'):
            for marker in shown(display, arrays, frames):
                T_fixed_frame = frames[marker.header.frame_id]
                if marker.type == Marker.TEXT_VIEW_FACING:
                    texts.append((marker, T_fixed_frame))
                else:
                    parts += _parts(marker, T_fixed_frame)
    surfaces = [(alpha, _surface(vertices, faces, colours, lit, camera))
                for vertices, faces, colours, alpha, lit in parts]
    solid = [surface for alpha, surface in surfaces if alpha >= OPAQUE]
    glass = [(alpha, surface) for alpha, surface in surfaces if alpha < OPAQUE]
    for alpha, surface in ([(1.0, merge_surfaces(solid))] if solid else []) + glass:
        layer = render_layer(surface, camera)
        seen = layer.depth < depth
        image[seen] += np.float32(alpha) * (layer.colours[seen] - image[seen])
        if alpha >= OPAQUE:
            depth[seen] = layer.depth[seen]
    picture = Image.fromarray((255.0 * shrink(image) + 0.5).astype(np.uint8))
    for marker, T_fixed_frame in texts:
        _write(picture, marker, T_fixed_frame, camera, depth)
    return picture


def shown(display: Mapping, arrays: Mapping[str, MarkerArray], frames) -> list[Marker]:
    """Return the markers that a display shows."""
    array, names = arrays.get(display['Topic']['Value'], MarkerArray()), display['Namespaces']
    return [m for m in array.markers if m.action == Marker.ADD and names.get(m.ns, True)
            and m.header.frame_id in frames]


def troubles(array: MarkerArray, frames) -> list[str]:
    """Return what RViz would report of an array as a warning or an error."""
    told, seen = [], set()
    for marker in array.markers:
        name = f'{marker.ns}/{marker.id}'
        points = np.array([(p.x, p.y, p.z) for p in marker.points])
        told += [f'{name}: {text}' for text, wrong in (
            ('the same namespace and id twice', name in seen),
            (f'frame {marker.header.frame_id!r} does not exist',
             marker.action == Marker.ADD and marker.header.frame_id not in frames),
            ('not finite', not np.isfinite(points).all()),
            ('no triangles', marker.type == Marker.TRIANGLE_LIST and marker.action == Marker.ADD
             and (not len(points) or len(points) % 3)),
            ('a stamp that TF may not know', bool(marker.header.stamp.sec))) if wrong]
        seen.add(name)
    return told


def start_camera(view: Mapping, size: tuple[int, int]) -> Camera:
    """Return the camera of an orbit view; ``size`` in pixels."""
    yaw, pitch = view['Yaw'], view['Pitch']
    backward = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    rotation = np.column_stack([right, np.cross(-backward, right), -backward])
    focus = np.array([view['Focal Point'][axis] for axis in 'XYZ'], float)
    return Camera(transform(rotation, focus + view['Distance'] * backward),
                  0.5 * size[1] / np.tan(0.5 * ANGLE), *size)


def _parts(marker: Marker, T_fixed_frame: np.ndarray) -> list[tuple]:
    """Return what a marker is made of: vertices, faces, colours, alpha, whether it is lit."""
    shapes, _ = shapes_of(MarkerArray(markers=[marker]))
    lit = not marker.colors and marker.type not in FLAT
    return [(apply(T_fixed_frame, shape.vertices), shape.faces, shape.colours, shape.alpha, lit)
            for shape in shapes]


def _grid(display: Mapping) -> tuple:
    half = 0.5 * display['Cell Size'] * display['Plane Cell Count']
    vertices, faces = [], []
    for at in np.linspace(-half, half, display['Plane Cell Count'] + 1):
        for a, b in (([at, -half, 0.0], [at, half, 0.0]), ([-half, at, 0.0], [half, at, 0.0])):
            rod, triangles = glyphs.rod(np.array(a), np.array(b), GRID_WIDTH)
            faces.append(triangles + sum(map(len, vertices)))
            vertices.append(rod)
    vertices = np.concatenate(vertices)
    return vertices, np.concatenate(faces), np.full(vertices.shape, GRID_COLOUR)


def _surface(vertices, faces, colours, lit: bool, camera: Camera) -> Surface:
    """Return triangles with the colours that RViz gives their corners."""
    corners, soup = vertices[faces], np.arange(3 * len(faces)).reshape(-1, 3)
    shade = np.ones(len(faces))
    if lit:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        shade = np.maximum(0.0, -normals @ camera.T_world_camera[:3, 2])
    return Surface(corners.reshape(-1, 3), soup, np.zeros((len(faces), 3, 3)),
                   (colours[faces] * shade[:, None, None]).reshape(-1, 3))


def _write(picture: Image.Image, marker: Marker, T_fixed_frame, camera: Camera, depth) -> None:
    """Write a text about its point, unless something is before it."""
    p = marker.pose.position
    point = apply(T_fixed_frame, np.array([[p.x, p.y, p.z]]))
    x, y, z = camera.project(point)[0]
    row, column = int(y), int(x)
    inside = 0 <= row < depth.shape[0] and 0 <= column < depth.shape[1]
    if not inside or depth[row, column] < z:
        return
    pixels = camera.focal_length / OVERSAMPLING / z     # for each metre
    font = ImageFont.load_default(max(1.0, EM * marker.scale.z * pixels))
    blank = pixels * (marker.scale.x or DEFAULT_BLANK)
    words = marker.text.split(' ')
    widths = [font.getlength(word) for word in words]
    begin = x / OVERSAMPLING - 0.5 * (sum(widths) + blank * (len(words) - 1))
    draw_, colour = ImageDraw.Draw(picture), tuple(
        int(255 * c) for c in (marker.color.r, marker.color.g, marker.color.b))
    for word, width in zip(words, widths):
        draw_.text((begin, y / OVERSAMPLING), word, colour, font, anchor='lm')
        begin += width + blank


def main():
    """Draw the object, the best grasp and a moment of its closing."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('plan', type=Path, help='JSON of `gripsim plan --out`')
    parser.add_argument('--mesh', default='', help='of the object, if it has moved')
    parser.add_argument('--out', type=Path, default=Path('drawn.png'))
    options = parser.parse_args()
    source, frame = PlanSource(options.plan, options.mesh), MarkerFrame('world')
    body, hand, best = source.grasp_object, source.hand, source.ranked[0]
    pictures = [draw(share_directory() / 'config' / 'gripsim.rviz', arrays, {'world': np.eye(4)})
                for arrays in (
                    {'plan/markers': grasp_markers(None, body, hand, frame)},
                    {'plan/markers': grasp_markers(best, body, hand, frame)},
                    {'closing/markers': closing_markers(best, 0.5, None, body, hand, frame)})]
    whole = Image.new('RGB', (sum(p.width for p in pictures), pictures[0].height))
    for number, picture in enumerate(pictures):
        whole.paste(picture, (number * picture.width, 0))
    whole.save(options.out, optimize=True)
    print('wrote', options.out)


if __name__ == '__main__':
    main()
