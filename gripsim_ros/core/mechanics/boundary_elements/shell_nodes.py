"""How close nodes of a thin wall must be: its dents fade over sqrt(radius x thickness)."""

import contextlib

import numpy as np

from ...bodies import TriangleMesh
from ...errors import MeshError
from .remesh import QuadraticSurface, quadratic_surfaces
from .shell import bending_radius

#: Least thickness of a wall over the distance of neighbouring nodes; less is too stiff [-].
SHELL_SPACINGS = 0.175
#: Largest distance of neighbouring nodes over sqrt(radius x thickness), and one that is close
#: enough: more nodes cost more than they tell [-].
FADING_SPACINGS, CLOSE_SPACINGS = 0.95, 0.68
#: Nodes over the most wanted [-]: what is about as many; and what is asked for in turn until so
#: many are made, since edges that are halved or closed leave up to a third fewer.
ABOUT, ASKED = (0.9, 1.08), (1.05, 1.1, 1.2)


def least_wall(surface: QuadraticSurface) -> float:
    """Return the least thickness of a wall that the nodes of a surface resolve [m]."""
    spacing = surface.spacing
    return max(SHELL_SPACINGS * spacing,
               (spacing / FADING_SPACINGS) ** 2 / bending_radius(surface))


def surface_of_wall(mesh: TriangleMesh, wall: float, most: int) -> QuadraticSurface:
    """Return a surface of as many nodes as dents of a wall [m] need, at most about ``most``."""
    surface = next(quadratic_surfaces(mesh, most))
    enough = CLOSE_SPACINGS * min(np.sqrt(bending_radius(surface) * wall), wall / SHELL_SPACINGS)
    share = (surface.spacing / enough) ** 2
    if share < 1.0:
        with contextlib.suppress(MeshError):
            surface = next(quadratic_surfaces(mesh, int(share * most)))
    return _with_more(surface, mesh, most) if ABOUT[0] * share > 1.0 else surface


def _with_more(surface: QuadraticSurface, mesh: TriangleMesh, most: int) -> QuadraticSurface:
    """Return one of more nodes where a surface has far fewer than could be."""
    fewest, largest = (int(share * most) for share in ABOUT)
    for asked in ASKED:
        if len(surface.points) >= fewest:
            break
        with contextlib.suppress(MeshError):
            other = next(quadratic_surfaces(mesh, int(asked * most)))
            if len(surface.points) < len(other.points) <= largest:
                surface = other
    return surface
