"""One view of one grasp as an image: object opaque, hand as glass over it, glyphs on top."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from scipy.ndimage import gaussian_filter

from ...core.transforms import apply, transform
from . import glyphs
from .raster import Camera, Layer, Surface, make_surface, merge_surfaces, render_layer
from .scene import (CENTRE_BEFORE_COLOUR, CENTRE_COLOUR, FORCE_COLOUR, RING_COLOUR, DisplayGrasp,
                    DisplayScene, pressure_colours)

Array = NDArray[np.float64]
Image = NDArray[np.float32]

#: Pixels drawn for each pixel shown, along either side.
OVERSAMPLING = 2
#: How much of the hand is seen before the object, and elsewhere.
HAND_OVER_OBJECT, HAND_ALONE = 0.30, 0.94
#: How much is seen of what stands about the object.
STANDING = 0.6
BACKGROUND_TOP, BACKGROUND_BOTTOM = (0.99, 0.99, 1.0), (0.87, 0.89, 0.92)
#: Lights: direction towards the light in the camera's frame (x right, y down, z away), strength.
LIGHTS = (((-0.4, -0.7, -0.6), 0.62), ((0.8, -0.1, -0.5), 0.22), ((0.0, 0.9, -0.3), 0.10))
AMBIENT = 0.34
#: Length of the largest force's arrow, over the object's largest extent.
ARROW_SHARE = 0.45


@dataclass(frozen=True)
class View:
    """
    What to draw: a grasp and a row of its trajectory (-1: the last), forces, the hand.

    ``hand`` is how much of the hand is seen: 1 as a whole, 0 not at all. ``surroundings``: with
    what stands about the object, where it is known.
    """

    grasp: int = 0
    row: int = -1
    forces: bool = True
    hand: float = 1.0
    surroundings: bool = True


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """The eye's direction ``towards`` it from ``focus``, ``up``, and the ball to be seen."""

    focus: Array
    radius: float
    towards: Array
    up: Array

    def camera(self, size: tuple[int, int]) -> Camera:
        """Return the camera there with an image of ``size`` (width, height)."""
        return look_along(-self.towards, self.up, self.focus, self.radius, size)


def look_along(direction: Array, up: Array, focus: Array, radius: float,
               size: tuple[int, int]) -> Camera:
    """Return a camera that looks along ``direction`` at a ball about ``focus`` [m]."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, up)
    x = x / np.linalg.norm(x)
    rotation = np.column_stack([x, np.cross(z, x), z])
    width, height = size
    distance = 4.2 * radius
    focal_length = 0.5 * min(width, height) * np.sqrt(distance**2 - radius**2) / radius
    return Camera(transform(rotation, focus - distance * z), focal_length, width, height)


def refined(camera: Camera) -> Camera:
    """Return a camera of ``OVERSAMPLING`` times as many pixels along each side."""
    return Camera(camera.T_world_camera, OVERSAMPLING * camera.focal_length,
                  OVERSAMPLING * camera.width, OVERSAMPLING * camera.height)


def draw_surfaces(surfaces: list[Surface], camera: Camera) -> PillowImage.Image:
    """Return a picture of opaque surfaces before the background."""
    fine = refined(camera)
    layer = render_layer(merge_surfaces(surfaces), fine)
    image = over(background(fine), layer, np.isfinite(layer.depth).astype(np.float32))
    return PillowImage.fromarray(np.round(255.0 * shrink(image)).astype(np.uint8))


def best_viewpoint(scene: DisplayScene, index: int, zoom: float = 1.0,
                   elevation: float = 0.32, closing: bool = False) -> Viewpoint:
    """
    Return where the contacts of a grasp are seen from, the hand coming from above.

    Parameters
    ----------
    scene : DisplayScene
    index : int
        Of the grasp.
    zoom : float
        1 shows hand and object, more goes nearer to the object.
    elevation : float
        Of the eye above the plane at right angles to the approach [rad].
    closing : bool
        Whether the open hand must fit in too.

    Returns
    -------
    Viewpoint
    """
    shown = scene.grasps[index]
    across, other, up = (shown.grasp.T_object_palm[:3, k] for k in range(3))
    best, best_score = across, -np.inf
    for azimuth in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
        flat = np.cos(azimuth) * across + np.sin(azimuth) * other
        towards = np.cos(elevation) * flat - np.sin(elevation) * up
        facing = sum(np.sqrt(max(0.0, float(-contact.normal @ towards) + 0.15))
                     for contact in shown.grasp.contacts)
        if facing > best_score + 1e-9:
            best, best_score = towards, facing
    focus, radius = _ball_about(scene, shown, zoom, closing)
    return Viewpoint(focus, radius, best, -up)


def _ball_about(scene: DisplayScene, shown: DisplayGrasp, zoom: float,
                closing: bool) -> tuple[Array, float]:
    """Return centre and radius of what is to be seen: the hand with the object, or nearer."""
    poses = shown.T_object_link[[0, -1] if closing else [-1]]
    points = np.concatenate([shown.vertices, *(
        apply(T, link.vertices[::3]) for T_link in poses for T, link in zip(T_link, scene.links))])
    focus = (points.min(axis=0) + points.max(axis=0)) / 2.0
    if zoom > 1.0:
        focus = shown.vertices.mean(axis=0)
    return focus, 0.90 * float(np.linalg.norm(points - focus, axis=1).max()) / zoom


def render(scene: DisplayScene, view: View, camera: Camera, largest_pressure: float) -> Image:
    """
    Draw one view.

    Parameters
    ----------
    scene : DisplayScene
    view : View
    camera : Camera
        Its width and height are those of the image.
    largest_pressure : float
        Pressure with the last colour [Pa].

    Returns
    -------
    (height, width, 3) float32
        Red, green, blue in 0 to 1.
    """
    shown = scene.grasps[view.grasp]
    fine = refined(camera)
    solid = render_layer(_solid_surface(scene, shown, view, largest_pressure), fine)
    image = over(background(fine), solid, np.isfinite(solid.depth).astype(np.float32))
    if view.surroundings and scene.surroundings:
        standing = render_layer(merge_surfaces([
            make_surface(one.mesh.vertices, one.mesh.faces, np.array(one.colour))
            for one in scene.surroundings]), fine)
        in_front = np.isfinite(standing.depth) & (standing.depth < solid.depth)
        image = over(image, standing, (STANDING * in_front).astype(np.float32))
    if view.hand > 0.0:
        hand = render_layer(_hand_surface(scene, shown, view.row), fine)
        in_front = np.isfinite(hand.depth) & (hand.depth < solid.depth)
        share = view.hand * np.where(np.isfinite(solid.depth), HAND_OVER_OBJECT, HAND_ALONE)
        image = over(image, hand, (in_front * share).astype(np.float32))
    if view.forces:
        marks = render_layer(_centre_marks(shown, scene), fine)
        image = over(image, marks, 0.9 * np.isfinite(marks.depth).astype(np.float32))
    return shrink(image)


def _hand_surface(scene: DisplayScene, shown: DisplayGrasp, row: int) -> Surface:
    return merge_surfaces([
        make_surface(apply(T_object_link, link.vertices), link.faces, np.array(colour))
        for T_object_link, link, colour in
        zip(shown.T_object_link[row], scene.links, scene.link_colours)])


def _solid_surface(scene: DisplayScene, shown: DisplayGrasp, view: View,
                   largest_pressure: float) -> Surface:
    vertices = shown.vertices if view.forces else scene.vertices
    colours = pressure_colours(scene.corner_pressures(shown) * view.forces, largest_pressure)
    surfaces = [scene.object_surface(vertices, colours)]
    if view.forces:
        surfaces += [make_surface(*triangles, np.array(colour))
                     for triangles, colour in force_glyphs(shown, _extent(scene))]
    return merge_surfaces(surfaces)


def _extent(scene: DisplayScene) -> float:
    return float(np.ptp(scene.vertices, axis=0).max())


def force_glyphs(shown: DisplayGrasp, extent: float) -> list[tuple[glyphs.Triangles, tuple]]:
    """Return arrows that end where the forces act, rings as large as the contacts, colours."""
    contacts, drawn = shown.grasp.contacts, []
    largest = max((float(np.linalg.norm(contact.force)) for contact in contacts), default=0.0)
    for contact in contacts:
        radius = np.sqrt(max(contact.area, 0.0) / np.pi)
        if radius > 0.0:
            drawn.append((glyphs.ring(contact.point, contact.normal, radius, 0.004 * extent),
                          RING_COLOUR))
        if largest > 0.0 and np.linalg.norm(contact.force) > 1e-3 * largest:
            tail = contact.point - ARROW_SHARE * extent * contact.force / largest
            drawn.append((glyphs.arrow(tail, contact.point, 0.012 * extent), FORCE_COLOUR))
    return drawn


def _centre_marks(shown: DisplayGrasp, scene: DisplayScene) -> Surface:
    radius, before = 0.018 * _extent(scene), scene.centre_of_mass
    return merge_surfaces([
        make_surface(*glyphs.ball(before, 0.7 * radius), np.array(CENTRE_BEFORE_COLOUR)),
        make_surface(*glyphs.ball(shown.grasp.centre_of_mass, radius), np.array(CENTRE_COLOUR))])


def background(camera: Camera) -> Image:
    """Return the empty picture of a camera, darker below."""
    share = np.linspace(0.0, 1.0, camera.height, dtype=np.float32)[:, None, None]
    rows = (1.0 - share) * np.float32(BACKGROUND_TOP) + share * np.float32(BACKGROUND_BOTTOM)
    return np.repeat(rows, camera.width, axis=1)


def over(image: Image, layer: Layer, opacity: NDArray[np.float32]) -> Image:
    """Return an image with a lit layer over it, ``opacity (h, w)`` in 0 to 1."""
    return image + opacity[..., None] * (_shade(layer) - image)


def _shade(layer: Layer) -> Image:
    light = np.full(layer.depth.shape, AMBIENT, np.float32)
    for direction, strength in LIGHTS:
        unit = np.float32(direction) / np.float32(np.linalg.norm(direction))
        light += np.float32(strength) * np.maximum(layer.normals @ unit, 0.0)
    gloss = np.maximum(-layer.normals[..., 2], 0.0) ** 40 * np.float32(0.10)
    rim = (1.0 + np.minimum(layer.normals[..., 2], 0.0)) ** 3 * np.float32(0.35)
    light *= (1.0 - rim) * _occlusion(layer.depth)
    return np.clip(layer.colours * light[..., None] + gloss[..., None], 0.0, 1.0)


def _occlusion(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a darkening, 0 to 1, of what lies behind its surroundings on the screen."""
    seen = np.isfinite(depth)
    if not seen.any():
        return np.ones_like(depth)
    far = depth[seen].max()
    span = max(float(far - depth[seen].min()), 1e-9)
    filled = np.where(seen, depth, far)
    sigma = depth.shape[0] / 90.0
    behind = (filled - gaussian_filter(filled, sigma, truncate=2.5)) / span
    return np.clip(1.0 - 2.2 * np.maximum(behind, 0.0), 0.6, 1.0).astype(np.float32)


def shrink(image: Image) -> Image:
    """Return the image at the size to be shown: mean of ``OVERSAMPLING`` squared pixels."""
    height, width = image.shape[0] // OVERSAMPLING, image.shape[1] // OVERSAMPLING
    blocks = image.reshape(height, OVERSAMPLING, width, OVERSAMPLING, 3)
    return np.clip(blocks.mean(axis=(1, 3)), 0.0, 1.0)
