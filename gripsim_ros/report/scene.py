"""What a picture of a plan shows: hand, deformed object, pressures, contacts, forces."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..core.bodies import TriangleMesh, decimate_mesh
from ..core.hand import HandModel, forward_kinematics
from ..core.planning.types import RankedGrasp
from ..grasp_file import PlanAnswer

Array = NDArray[np.float64]

#: Most faces of the object that are drawn.
OBJECT_FACES = 24000

#: Colours, red green blue in 0 to 1, of what is drawn.
PALM_COLOUR = (0.42, 0.45, 0.50)
LINK_COLOURS = ((0.60, 0.64, 0.70), (0.70, 0.73, 0.78))
OBJECT_COLOUR = (0.90, 0.83, 0.70)
FORCE_COLOUR = (0.05, 0.35, 0.75)
RING_COLOUR = (0.10, 0.12, 0.16)
CENTRE_COLOUR, CENTRE_BEFORE_COLOUR = (0.75, 0.05, 0.55), (0.15, 0.15, 0.18)

#: Pressure over its maximum, and the colour there.
PRESSURE_STOPS = (0.0, 0.04, 0.35, 0.7, 1.0)
PRESSURE_COLOURS = (OBJECT_COLOUR, (0.99, 0.86, 0.40), (0.97, 0.53, 0.14), (0.83, 0.16, 0.14),
                    (0.42, 0.00, 0.22))


@dataclass(frozen=True, eq=False)
class DisplayGrasp:
    """
    One ranked grasp as it is drawn, frame object.

    ``T_object_link (m, L, 4, 4)`` for the rows of the trajectory; deformed ``vertices
    (V, 3)`` [m] and ``pressures (V,)`` [Pa] of the drawn mesh.
    """

    grasp: RankedGrasp
    T_object_link: Array
    vertices: Array
    pressures: Array


@dataclass(frozen=True, eq=False)
class DisplayScene:
    """A plan as it is drawn: meshes of the links, the undeformed object, the grasps."""

    links: tuple[TriangleMesh, ...]
    link_colours: tuple[tuple[float, float, float], ...]
    vertices: Array
    faces: NDArray[np.int64]
    centre_of_mass: Array
    grasps: tuple[DisplayGrasp, ...]


def make_scene(answer: PlanAnswer) -> DisplayScene:
    """Return what is to be drawn of an answer; a large object is decimated for it."""
    mesh, hand = answer.grasp_object.mesh, answer.hand
    shown = decimate_mesh(mesh, OBJECT_FACES)
    nearest = cKDTree(mesh.vertices).query(shown.vertices)[1]
    return DisplayScene(
        tuple(link.mesh for link in hand.links), _link_colours(hand),
        shown.vertices, shown.faces, answer.grasp_object.mass_properties.centre_of_mass,
        tuple(_display(grasp, hand, mesh, shown, nearest) for grasp in answer.grasps))


def _link_colours(hand: HandModel) -> tuple[tuple[float, float, float], ...]:
    """Return a colour for each link: the base its own, the others by their place on a finger."""
    depth = np.asarray(hand.moves_link).sum(axis=1)
    return tuple(PALM_COLOUR if index == hand.palm_index else LINK_COLOURS[depth[index] % 2]
                 for index in range(len(hand.links)))


def _display(grasp: RankedGrasp, hand: HandModel, mesh: TriangleMesh, shown: TriangleMesh,
             nearest: NDArray[np.int64]) -> DisplayGrasp:
    T_palm_link = forward_kinematics(hand, grasp.trajectory)
    vertices, pressures = shown.vertices, np.zeros(len(shown.vertices))
    if grasp.vertices is not None:
        vertices = shown.vertices + (grasp.vertices - mesh.vertices)[nearest]
    if grasp.vertex_pressures is not None:
        pressures = np.asarray(grasp.vertex_pressures)[nearest]
    return DisplayGrasp(grasp, grasp.T_object_palm @ T_palm_link, vertices, pressures)


def pressure_colours(pressures: Array, largest: float) -> Array:
    """Return colours ``(V, 3)`` of pressures; ``largest`` has the last colour."""
    share = np.asarray(pressures) / largest if largest > 0.0 else np.zeros(len(pressures))
    return np.column_stack([np.interp(share, PRESSURE_STOPS, channel)
                            for channel in np.transpose(PRESSURE_COLOURS)])
