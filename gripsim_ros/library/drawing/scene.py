"""What a picture of a plan shows: hand, deformed object, pressures, contacts, forces."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...core.bodies import TriangleMesh, decimate_mesh
from ...core.hand import HandModel, forward_kinematics
from ...core.planning.ranked_grasp import RankedGrasp
from ...core.transforms import apply, inverse
from ..display import PRESSURE_COLOURS, PRESSURE_STOPS, pressure_colours  # noqa: F401
from ..grasp_file import PlanAnswer
from ..planned_arm import PlannedArm, motion_of
from ..whole_motion import Moment
from .raster import Surface, corner_normals
from .refinement import Refinement, refine_near
from .surroundings import Standing, surroundings_of

Array = NDArray[np.float64]

#: Most faces of the object that are drawn.
OBJECT_FACES = 24000
#: Contacts with fewer vertices of the mesh inside are drawn from their area and peak.
FEW_VERTICES = 12

#: Colours, red green blue in 0 to 1, of what is drawn.
PALM_COLOUR = (0.42, 0.45, 0.50)
LINK_COLOURS = ((0.60, 0.64, 0.70), (0.70, 0.73, 0.78))
FORCE_COLOUR = (0.05, 0.35, 0.75)
RING_COLOUR = (0.10, 0.12, 0.16)
CENTRE_COLOUR, CENTRE_BEFORE_COLOUR = (0.75, 0.05, 0.55), (0.15, 0.15, 0.18)


@dataclass(frozen=True, eq=False)
class Spot:
    """A contact smaller than the mesh: the pressure falls from ``peak`` as on a ball."""

    centre: Array
    radius: float
    peak: float

    def pressures(self, points: Array) -> Array:
        """Return pressures ``(...,)`` [Pa] at ``points (..., 3)``: peak sqrt(1 - (d/radius)^2)."""
        squared = ((points - self.centre) ** 2).sum(axis=-1) / self.radius**2
        return self.peak * np.sqrt(np.maximum(1.0 - squared, 0.0))


@dataclass(frozen=True, eq=False)
class DisplayGrasp:
    """
    One ranked grasp as it is drawn, frame object.

    ``T_object_link (m, L, 4, 4)`` for the rows of the trajectory; deformed ``vertices
    (V, 3)`` [m] and ``pressures (V,)`` [Pa] of the drawn mesh, without those of the
    contacts that are smaller than the mesh, which are ``spots``; ``peak`` is the largest
    pressure [Pa].
    """

    grasp: RankedGrasp
    T_object_link: Array
    vertices: Array
    pressures: Array
    spots: tuple[Spot, ...]
    peak: float


@dataclass(frozen=True, eq=False)
class DisplayScene:
    """A plan as it is drawn: hand, object, grasps; arm and surroundings where they are known."""

    hand: HandModel
    links: tuple[TriangleMesh, ...]
    link_colours: tuple[tuple[float, float, float], ...]
    vertices: Array
    faces: NDArray[np.int64]
    refinement: Refinement
    centre_of_mass: Array
    grasps: tuple[DisplayGrasp, ...]
    arm: PlannedArm | None = None
    surroundings: tuple[Standing, ...] = ()

    def motion(self, index: int) -> tuple[Moment, ...]:
        """Return the whole motion of a grasp, with the arm where there is one; () without."""
        return motion_of(self.grasps[index].grasp, self.arm)

    def object_surface(self, vertices: Array, colours: Array) -> Surface:
        """Return the object's parts with ``vertices (V, 3)`` and ``colours (R, 3, 3)``."""
        normals = self.refinement.spread(corner_normals(vertices, self.faces))
        normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-12)
        corners = self.refinement.spread(vertices[self.faces]).reshape(-1, 3)
        parts = np.arange(len(corners)).reshape(-1, 3)
        return Surface(corners, parts, normals, colours.reshape(-1, 3))

    def corner_pressures(self, shown: DisplayGrasp) -> Array:
        """Return the pressures ``(R, 3)`` [Pa] at the corners of the object's parts."""
        pressures = self.refinement.spread(shown.pressures[self.faces][..., None])[..., 0]
        points = self.refinement.spread(self.vertices[self.faces])
        return np.max([pressures, *(spot.pressures(points) for spot in shown.spots)], axis=0)


def make_scene(answer: PlanAnswer) -> DisplayScene:
    """Return what is to be drawn of an answer; a large object is decimated for it."""
    mesh, hand = answer.grasp_object.mesh, answer.hand
    shown = decimate_mesh(mesh, OBJECT_FACES)
    nearest = cKDTree(mesh.vertices).query(shown.vertices)[1]
    return DisplayScene(
        hand, tuple(link.mesh for link in hand.links), _link_colours(hand),
        shown.vertices, shown.faces, _refinement(shown, answer),
        answer.grasp_object.mass_properties.centre_of_mass,
        tuple(_display(grasp, hand, mesh, shown, nearest) for grasp in answer.grasps), answer.arm,
        surroundings_of(answer.task, answer.arm))


def told_in_own_frame(grasp: RankedGrasp) -> RankedGrasp:
    """Return a grasp whose contacts, surface and centre of mass have not settled: what deforms."""
    T_settled_object = inverse(grasp.T_object_settled)
    contacts = tuple(
        replace(contact, point=apply(T_settled_object, contact.point[None])[0],
                **{name: T_settled_object[:3, :3] @ getattr(contact, name)
                   for name in ('normal', 'force', 'torque', 'closing_force')})
        for contact in grasp.contacts)
    vertices = None if grasp.vertices is None else apply(T_settled_object, grasp.vertices)
    return replace(grasp, contacts=contacts, vertices=vertices, centre_of_mass=apply(
        T_settled_object, grasp.centre_of_mass[None])[0])


def _refinement(shown: TriangleMesh, answer: PlanAnswer) -> Refinement:
    contacts = [contact for grasp in answer.grasps for contact in grasp.contacts
                if contact.area > 0.0]
    return refine_near(shown.vertices[shown.faces],
                       np.array([contact.point for contact in contacts]).reshape(-1, 3),
                       np.sqrt([contact.area / np.pi for contact in contacts]))


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
        pressures = np.array(grasp.vertex_pressures)[nearest]
    pressures, spots = _split_pressures(grasp, shown.vertices, pressures)
    peak = max([float(pressures.max(initial=0.0)), *(spot.peak for spot in spots)])
    return DisplayGrasp(grasp, grasp.T_object_palm @ T_palm_link, vertices, pressures, spots, peak)


def _split_pressures(grasp: RankedGrasp, vertices: Array,
                     pressures: Array) -> tuple[Array, tuple[Spot, ...]]:
    """Return the vertices' pressures without those of contacts with few vertices, and these."""
    spots = [Spot(contact.point, float(np.sqrt(contact.area / np.pi)), contact.peak_pressure)
             for contact in grasp.contacts]
    if not spots:
        return pressures, ()
    distances = np.array([np.linalg.norm(vertices - spot.centre, axis=1) for spot in spots])
    inside = distances < np.array([spot.radius for spot in spots])[:, None]
    few = ((inside & (pressures > 0.0)).sum(axis=1) < FEW_VERTICES)
    kept = np.where(few[distances.argmin(axis=0)], 0.0, pressures)
    return kept, tuple(spot for spot, is_few in zip(spots, few) if is_few and spot.radius > 0.0)
