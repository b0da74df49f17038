"""PNG pictures of the simulated hand by the project's own renderer: no display, no OpenGL."""

from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from ...core.transforms import apply
from ...library.drawing.raster import make_surface
from ...library.drawing.render import draw_surfaces, look_along
from .world import World

HAND_COLOUR, PAD_COLOUR, OBJECT_COLOUR = (0.55, 0.57, 0.6), (0.25, 0.27, 0.3), (0.85, 0.5, 0.2)
SIZE = (640, 480)
#: The eye looks along this, in the palm's frame; its up is where the palm looks.
DIRECTION = np.array([-0.75, 0.9, -0.3])
#: Middle of what is seen, before the palm, and its radius [m].
FOCUS, RADIUS = np.array([0.0, 0.0, 0.12]), 0.17


def draw_world(world: World, size: tuple[int, int] = SIZE) -> PillowImage.Image:
    """Return a picture of hand and object, seen from beside the palm."""
    T_world_palm = world.T_world_palm
    rotation = T_world_palm[:3, :3]
    camera = look_along(rotation @ DIRECTION, rotation[:, 2],
                        apply(T_world_palm, FOCUS[None])[0], RADIUS, size)
    return draw_surfaces([make_surface(*shape) for shape in shapes_of(world)], camera)


def shapes_of(world: World) -> list[tuple]:
    """Return vertices in the world [m], faces and colour of all links and of the object."""
    shapes = [(apply(world.link_pose(link.name), link.mesh.vertices), link.mesh.faces,
               np.array(HAND_COLOUR if link.pad is None else PAD_COLOUR))
              for link in world.hand.links]
    if world.soft is not None:
        shapes.append((world.nodes_world, world.soft.faces, np.array(OBJECT_COLOUR)))
    elif world.grasp_object is not None:
        mesh = world.grasp_object.mesh
        shapes.append((apply(world.T_world_object, mesh.vertices), mesh.faces,
                       np.array(OBJECT_COLOUR)))
    return shapes


def write_picture(world: World, path: Path) -> Path:
    """Write a picture as PNG and return its path."""
    draw_world(world).save(path, optimize=True)
    return path
