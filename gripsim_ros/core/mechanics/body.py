"""An object made ready for mechanics, and the contact problem of all patches on it."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from ..batches import (
    AS_CONFIGURED, HALF_SPACE, HALF_SPACE_FIRST, PATCH_CLOSE, PATCH_OVER_EDGE, PATCH_SPREAD,
    PATCH_STRAINED, PATCH_THIN, PATCH_THROUGH)
from ..bodies import GraspObject
from ..bodies.mesh import sum_by_label, unit_rows
from ..errors import MeshError
from ..hand import HandLink
from .boundary_elements.body_compliance import BodyCompliance, MIN_SPACINGS
from .boundary_elements.disk_cache import LazyCompliance
from .boundary_elements.node_correction import NodeCorrection
from .boundary_elements.tangential_loads import TangentialLoads
from .contact.bonded_layer import LayerCompliance, fit_layer
from .contact.contact_forces import (
    ContactForces, greatest_depths, PatchNodes, solve_contact_forces)
from .contact.patch_moments import near_others
from .contact.patch_resultants import (
    PatchResultants, press_alone, summarise_patches, validity_flags)
from .contact.warm_start import WarmStarts
from .deformation.boussinesq import SurfaceLoads, surface_loads
from .deformation.centre_shift import centre_shift
from .deformation.deformed_surface import DeformedSurface, deform_surface, largest_way
from .deformation.friction import least_friction
from .deformation.volume import volume_and_centre
from .edges import BodyEdges, edge_flags
from .options import MechanicsOptions


#: Indentation of a ball over its contact radius, times E / (1 - nu^2) over the mean pressure.
HERTZ_STRAIN = 0.75 * np.pi
#: Spread of normals that takes a tenth of the sum of Hertz's pressures, which is spread^2 / 5:
#: their mean of r^2 is 2/5 of the radius's, and what leans loses 1 - cos [rad].
MOST_SPREAD = np.sqrt(0.5)
#: Largest cosine between the directions of patches on both faces of a wall.
OPPOSED = -0.5
#: Largest way of a body that is solved in cubes over its deepest indentation [-].
MOST_SWING = 1.5


class ElasticBody:
    """
    An object made ready for mechanics.

    Parameters
    ----------
    grasp_object : GraspObject
    options : MechanicsOptions

    Raises
    ------
    MeshError
        The mesh is open or encloses no volume.

    Notes
    -----
    A body whose own compliance cannot be prepared is answered by half-spaces, and ``warnings``
    say why.
    """

    def __init__(self, grasp_object: GraspObject,
                 options: MechanicsOptions = MechanicsOptions()) -> None:
        self.grasp_object, self.options = grasp_object, options
        self.mesh, self.material = grasp_object.mesh, grasp_object.material
        properties = grasp_object.mass_properties
        self.mass, self.centre_of_mass = properties.mass, properties.centre_of_mass
        self.modulus = self.material.plane_strain_modulus
        arms = self.mesh.vertices - self.centre_of_mass
        self.radius = float(np.sqrt((arms ** 2).sum(axis=1).max()))
        self.warm_starts = WarmStarts()
        self._source = LazyCompliance(self.mesh, self.material.poisson_ratio, options.compliance)
        self._others: dict[str, ElasticBody] = {}
        if options.elasticity == 'body':
            self.prepare()

    def answering(self, elasticity: str) -> 'ElasticBody':
        """Return the same body by the model that a question asks for; what is kept is shared."""
        model = HALF_SPACE if elasticity == HALF_SPACE_FIRST else elasticity
        if model in (AS_CONFIGURED, self.options.elasticity):
            return self
        if model not in self._others:
            other = copy(self)
            other.options, other._others = replace(self.options, elasticity=model), {}
            self._others[model] = other
        return self._others[model]

    def prepare(self) -> bool:
        """Prepare the body's own compliance now; return False where half-spaces answer."""
        try:
            self._source.get()
        except MeshError:
            return False
        return True

    @property
    def compliance(self) -> BodyCompliance:
        """Return the body's own compliance; errors as ``prepare_compliance``."""
        return self._source.get()

    @cached_property
    def interpolation(self) -> tuple[IntArray, Array]:
        """Return nodes and weights of the compliance for each vertex."""
        return self.compliance.interpolation(self.mesh.vertices)

    @cached_property
    def tangential_loads(self) -> TangentialLoads:
        """Return how the body moves by friction."""
        return TangentialLoads(self.compliance)

    @cached_property
    def undeformed(self) -> tuple[float, Array]:
        """Return volume [m^3] and centre of volume ``(3,)`` [m] of the mesh as it is."""
        return volume_and_centre(self.mesh.vertices, self.mesh.faces)

    def extents(self, points: Array, directions: Array) -> Array:
        """Return how far the body reaches beyond points along directions (p, 3) -> (p,) [m]."""
        farthest = (directions @ self.mesh.vertices.T).max(axis=1)
        return farthest - np.einsum('pk,pk->p', points, directions)

    @cached_property
    def edges(self) -> BodyEdges:
        """Return the edges between the body's smooth sides."""
        return BodyEdges(self.mesh)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about keeping this object's compliance."""
        return self._source.warnings


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """
    Patches pressed into an object, ``p`` of them.

    Attributes
    ----------
    nodes : PatchNodes
    flags : (p,) int
        Known from geometry.
    thickness : (p,) float
        Of the object through each [m].
    moved : (p, 3) float, optional
        Way along itself of the surface that each was found by [m].
    """

    nodes: PatchNodes
    flags: IntArray
    thickness: Array
    moved: Array | None = None


@dataclass(frozen=True, eq=False)
class LoadedPatches:
    """
    The patches under load.

    Attributes
    ----------
    solution : ContactForces
        On all nodes.
    results : PatchResultants
    links : (p,) int
        Of each.
    find_flags : callable
        Returns the flags of each (p,); contacts that are found anew are not asked for theirs.
    """

    solution: ContactForces
    results: PatchResultants
    links: IntArray
    find_flags: Callable[[], IntArray]

    @cached_property
    def flags(self) -> IntArray:
        """Return the flags of each patch (p,)."""
        return self.find_flags()

    def flagged(self, flag: int) -> 'LoadedPatches':
        """Return the same with one more flag for each."""
        return replace(self, find_flags=lambda: self.flags | flag)

    @property
    def are_quantitative(self) -> bool:
        """Return whether there is a patch, and none has a flag."""
        return bool(len(self.flags)) and not self.flags.any()


def pad_layers(links: Sequence[HandLink], pressing: IntArray) -> dict[int, LayerCompliance]:
    """Return the elastic pads of those of the links that press ``(p,)`` and have one."""
    layers = {}
    for link in sorted(set(pressing.tolist())):
        pad = links[link].pad
        if pad is not None:
            layers[link] = fit_layer(pad.youngs_modulus, pad.poisson_ratio, pad.thickness)
    return layers


def solve_contact(body: ElasticBody, contact: ContactProblem,
                  layers: Mapping[int, LayerCompliance],
                  loaded_shares: Array | None = None) -> LoadedPatches:
    """
    Return forces and resultants of all patches, solved in one system.

    Parameters
    ----------
    body : ElasticBody
    contact : ContactProblem
    layers : mapping of int to LayerCompliance
        Pads by link; links without are rigid.
    loaded_shares : (p,) float, optional
        First guess of the solver, which changes no answer; see ``solve_contact_forces``.

    Returns
    -------
    LoadedPatches

    Notes
    -----
    Depths end at a share of the thickness, but where a wall as a whole yields the rest. With
    elasticity ``auto`` the body's own compliance is taken where a patch is too wide or
    too deep for the object's thickness. Where the body cannot be prepared, or its nodes are
    too coarse for the patches, the answer is the half-space's, with its flags.
    """
    elasticity = body.options.elasticity
    if elasticity == 'body':
        return (_solve_on_body(body, contact, layers, loaded_shares)
                or _solve(body, contact, layers, None, loaded_shares))
    patches = _solve(body, contact, layers, None, loaded_shares)
    if elasticity == 'auto' and (patches.flags & PATCH_THIN).any():
        return _solve_on_body(body, contact, layers, loaded_shares) or patches
    return patches


def _solve_on_body(body: ElasticBody, contact: ContactProblem,
                   layers: Mapping[int, LayerCompliance],
                   loaded_shares: Array | None) -> LoadedPatches | None:
    try:
        return _solve(body, contact, layers, body.compliance, loaded_shares)
    except (MeshError, np.linalg.LinAlgError):
        return None


def _solve(body: ElasticBody, contact: ContactProblem, layers: Mapping[int, LayerCompliance],
           compliance: BodyCompliance | None, loaded_shares: Array | None) -> LoadedPatches:
    nodes = contact.nodes
    limits = body.options.forces.max_depth_ratio * contact.thickness[nodes.patches]
    if (nodes.depths > limits).any():
        if compliance is not None:
            passed = _passed(contact)[nodes.patches]
            yielding = replace(contact, flags=contact.flags & ~PATCH_THROUGH, nodes=replace(
                nodes, depths=np.where(passed, -np.inf, nodes.depths)))
            patches = _load(body, yielding, layers, compliance, loaded_shares)
            if (patches.solution.dents <= limits[patches.solution.rows]).all():
                return patches
        contact = replace(contact, nodes=replace(nodes, depths=np.minimum(nodes.depths, limits)))
    return _load(body, contact, layers, compliance, loaded_shares)


def _passed(contact: ContactProblem) -> BoolArray:
    """
    Return which patches (p,) are on the far face of a wall that their link presses.

    The wall goes before the link, which meets that face only while it is thought to stay.
    """
    nodes, count = contact.nodes, len(contact.thickness)
    deepest = greatest_depths(nodes.depths, nodes.patches, count)
    ways = unit_rows(sum_by_label(nodes.normals, nodes.patches, count))
    behind = ((nodes.links[:, None] == nodes.links) & (ways @ ways.T < OPPOSED)
              & (deepest[:, None] > deepest) & (deepest > 0.0))
    return np.asarray(behind.any(axis=1) & (deepest > contact.thickness))


def _load(body: ElasticBody, contact: ContactProblem, layers: Mapping[int, LayerCompliance],
          compliance: BodyCompliance | None, loaded_shares: Array | None) -> LoadedPatches:
    nodes = contact.nodes
    solution = solve_contact_forces(nodes, body.modulus, layers, body.options.forces, compliance,
                                    loaded_shares)
    results = summarise_patches(nodes, solution, body.material.poisson_ratio, layers)
    return LoadedPatches(solution, results, nodes.links[results.rows],
                         lambda: _flags(body, contact, compliance, solution, results))


def _flags(body: ElasticBody, contact: ContactProblem, compliance: BodyCompliance | None,
           solution: ContactForces, results: PatchResultants) -> IntArray:
    """Return the flags of loaded patches (p,)."""
    thickness, links = contact.thickness[results.rows], contact.nodes.links[results.rows]
    flags = validity_flags(results, links, contact.flags[results.rows], thickness,
                           body.extents(results.points, results.normals), body.options.validity)
    if compliance is not None:
        flags = _body_flags(body, compliance, results, thickness, flags)
        flags = edge_flags(body.edges, compliance, results, links, flags, solution, contact.nodes,
                           None if contact.moved is None else contact.moved[results.rows])
        flags = _near_flags(results, links, flags)
    return flags


def _body_flags(body: ElasticBody, compliance: BodyCompliance, results: PatchResultants,
                thickness: Array, flags: IntArray) -> IntArray:
    """Return flags where the body's own compliance counts, and a wall that bends is no strain."""
    limits = body.options.validity
    thin = ((flags & PATCH_THIN > 0) & ~compliance.resolves(thickness)
            | (results.indentations > 0.5 * limits.max_depth_ratio * thickness)
            | ~compliance.is_told(results.points)
            | _pinched(compliance, results, thickness))
    gentle = HERTZ_STRAIN * results.mean_pressures <= limits.max_strain_ratio * body.modulus
    flags = np.where(gentle, flags & ~PATCH_STRAINED, flags)
    even = (results.spreads <= MOST_SPREAD) & (flags & PATCH_OVER_EDGE == 0)
    flags = np.where(even, flags & ~PATCH_SPREAD, flags)
    return np.where(thin, flags | PATCH_THIN, flags & ~PATCH_THIN)


def _pinched(compliance: BodyCompliance, results: PatchResultants, thickness: Array) -> BoolArray:
    """Return which patches (p,) press a wall from both sides that is thinner than nodes tell."""
    ways = np.linalg.norm(results.points[:, None] - results.points, axis=2)
    beside = ways < thickness[:, None] + results.radii[:, None] + results.radii
    opposite = (beside & (results.normals @ results.normals.T < OPPOSED)).any(axis=1)
    return np.asarray(opposite & (thickness < MIN_SPACINGS * compliance.surface.spacing))


def _near_flags(results: PatchResultants, links: IntArray, flags: IntArray) -> IntArray:
    """
    Return flags without those of neighbours whose effect on each other the compliance has.

    It is between all nodes of all patches; patches that overlap, or are of one link, stay flagged.
    """
    if not (flags & PATCH_CLOSE).any():
        return flags
    apart = press_alone(links) & ~near_others(results.points, results.normals, results.radii, 0.0)
    return np.where(apart, flags & ~PATCH_CLOSE, flags)


def deform_body(body: ElasticBody, contact: ContactProblem,
                patches: LoadedPatches) -> DeformedSurface:
    """Return the surface of a body under its loaded patches."""
    solution, moves = patches.solution, None
    if solution.correction is not None:
        moves = body.compliance.surface_moves(body.interpolation, solution.correction,
                                              solution.forces)
    return deform_surface(body.mesh, body.material, _loads(body, contact, patches),
                          body.options.surface, moves, body.undeformed)


def shift_of_centre(body: ElasticBody, contact: ContactProblem, patches: LoadedPatches,
                    surface: DeformedSurface) -> Array:
    """
    Return how far the body's centre of mass moves against its rigid motion (3,) [m].

    With its own compliance the least friction acts that lets the body rest; half-spaces know none.
    """
    loads, moves = _loads(body, contact, patches), surface.vertices - body.mesh.vertices
    correction = patches.solution.correction
    if correction is not None:
        friction = least_friction(loads, body.centre_of_mass, body.radius)
        moves = moves + _moves_by_friction(body, patches.solution, correction, friction)
        loads = replace(loads, forces=loads.forces + friction)
    return centre_shift(body.mesh, moves, loads, body.material, body.undeformed)


def _moves_by_friction(body: ElasticBody, solution: ContactForces, correction: NodeCorrection,
                       friction: Array) -> Array:
    """Return how vertices move by friction (k, 3) on the loaded nodes, (V, 3) [m]."""
    forces = np.zeros((len(solution.rows), 3))
    forces[solution.loaded] = friction
    return body.tangential_loads.moves(body.interpolation, correction, forces)


def _loads(body: ElasticBody, contact: ContactProblem, patches: LoadedPatches) -> SurfaceLoads:
    return surface_loads(contact.nodes, patches.solution, patches.results,
                         body.options.forces.softening)


def largest_displacement(body: ElasticBody, surface: DeformedSurface,
                         patches: LoadedPatches) -> float:
    """Return how far a vertex or a node of the surface moved at most [m]."""
    largest = largest_way(body.mesh.vertices, surface.vertices)
    return max(largest, float(patches.results.indentations.max(initial=0.0)))


def is_way_told(body: ElasticBody, patches: LoadedPatches, way: float) -> bool:
    """
    Return whether the largest way [m] of a body that is solved in cubes is at its contacts.

    It has parts so slender that they swing by what the pressures leave unbalanced and friction
    would bear: own rule, docs/validation/finite_elements.md, "Slender scans".
    """
    swings = way > MOST_SWING * float(patches.results.indentations.max(initial=0.0))
    return (not swings or patches.solution.correction is None
            or not body.compliance.errors.any())
