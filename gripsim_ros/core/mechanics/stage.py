"""The deformation stage: from contact patches to forces, deformed body and verdict."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..batches import DETAIL_CLEARANCE, DETAIL_SURFACE, ContactBatch, GraspStateBatch
from ..bodies import GraspObject
from ..errors import ShapeError
from ..hand import HandModel
from .boussinesq import surface_loads
from .contact_forces import ContactForces, PatchNodes, solve_contact_forces
from .grasp_map import load_wrenches
from .joint_loads import joint_torque_map
from .kernel import LayerCompliance, fit_layer
from .metrics import wrench_space_metrics
from .minimal_forces import MinimalForces, solve_minimal_forces
from .options import MechanicsOptions
from .patch_results import max_normal_forces, summarise_patches, validity_flags
from .stability import PatchSet, StabilityVerdict, judge_stability
from .state_builder import LoadedPatches, StateBuilder
from .surface import DeformedSurface, deform_surface

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A grasp needs contact with this many links.
LEAST_LINKS = 2


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
    """

    def __init__(self, grasp_object: GraspObject,
                 options: MechanicsOptions = MechanicsOptions()) -> None:
        self.grasp_object, self.options = grasp_object, options
        self.mesh, self.material = grasp_object.mesh, grasp_object.material
        properties = grasp_object.mass_properties
        self.mass, self.centre_of_mass = properties.mass, properties.centre_of_mass
        self.modulus = self.material.plane_strain_modulus
        arms = self.mesh.vertices - self.centre_of_mass
        self.reach = float(np.sqrt((arms ** 2).sum(axis=1).max()))

    @property
    def is_soft(self) -> bool:
        """Return whether the object's own elasticity governs beside that of the pads."""
        return self.modulus <= self.options.validity.rigid_modulus

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a user should know of the model's use for this object."""
        if self.is_soft:
            return ()
        return (f'the pads govern: the object (E / (1 - nu^2) = {self.modulus:.3g} Pa) is '
                'taken as rigid, its own deformation is not resolved',)


@dataclass(frozen=True, eq=False)
class _Configuration:
    """One configuration's contact, with flags ``(p,)`` and thickness ``(p,)`` per patch."""

    nodes: PatchNodes
    flags: IntArray
    thickness: Array
    load_cases: Array
    joint_positions: Array
    T_object_palm: Array
    detail: int


def evaluate_contacts(body: ElasticBody, hand: HandModel,
                      contacts: ContactBatch) -> GraspStateBatch:
    """
    Return forces, deformation and stability of each configuration.

    Parameters
    ----------
    body : ElasticBody
    hand : HandModel
        Its pads deform in series with the object; its joint torques are limited.
    contacts : ContactBatch

    Returns
    -------
    GraspStateBatch
        Each row depends on its own configuration alone. Where the numbers of one cannot
        be computed with, it is answered as without contact.

    Notes
    -----
    Source: Leskov et al. 2017, from the forces to the estimate of stability in that order.
    Differs: what is said in docs/model/mechanics.md and docs/model/stability.md. Surface,
    centre of mass and stability are computed only where contacts could hold the loads.
    """
    builder = StateBuilder(contacts, body.mesh.vertices)
    if contacts.configurations.detail != DETAIL_CLEARANCE:
        for i in range(contacts.configurations.count):
            try:
                _evaluate(body, hand, _configuration(body, contacts, i), builder, i)
            except (ShapeError, ArithmeticError, np.linalg.LinAlgError):
                builder.clear(i)
    return builder.build()


def _configuration(body: ElasticBody, contacts: ContactBatch, i: int) -> _Configuration:
    first, last = int(contacts.patch_offsets[i]), int(contacts.patch_offsets[i + 1])
    offsets = contacts.node_offsets[first:last + 1]
    rows = slice(int(offsets[0]), int(offsets[-1])) if last > first else slice(0, 0)
    patches = np.repeat(np.arange(last - first), np.diff(offsets))
    thickness = contacts.patch_thickness[first:last]
    limit = body.options.forces.max_depth_ratio * thickness[patches]
    nodes = PatchNodes(
        contacts.node_points_object[rows], contacts.node_normals_object[rows],
        contacts.node_areas[rows], np.minimum(contacts.node_depths[rows], limit), patches,
        contacts.patch_links[first:last])
    asked = contacts.configurations
    return _Configuration(nodes, contacts.patch_flags[first:last], thickness, asked.load_cases,
                          asked.joint_positions[i], asked.T_object_palm[i], asked.detail)


def _evaluate(body: ElasticBody, hand: HandModel, configuration: _Configuration,
              builder: StateBuilder, i: int) -> None:
    solution, patches = _solve_patches(body, hand, configuration)
    if not patches.results.count:
        return
    grasp = _patch_set(body, hand, patches)
    torque_map = joint_torque_map(hand, configuration.joint_positions,
                                  configuration.T_object_palm, patches.links, grasp.points)
    minimal = _minimal_forces(body, hand, configuration, grasp, torque_map, body.centre_of_mass)
    builder.set_patches(i, patches, minimal)
    full = configuration.detail == DETAIL_SURFACE
    if not (minimal.capable or full):
        return
    loads = surface_loads(configuration.nodes, solution, patches.results,
                          body.options.forces.softening)
    surface = deform_surface(body.mesh, body.material, loads, body.options.surface)
    centre = surface.centre
    wrenches = load_wrenches(configuration.load_cases, body.mass, centre)
    verdict = judge_stability(grasp, wrenches, centre, body.material.friction,
                              body.options.stability)
    builder.set(i, centre_of_mass_object=centre, volume_change=surface.volume_change,
                strain_energy=solution.strain_energy,
                max_displacement=_largest_displacement(body, surface, patches))
    builder.set_verdict(i, verdict, _holds(verdict, minimal, patches, grasp, torque_map, hand))
    balanced = verdict.residual <= body.options.validity.max_residual
    builder.set(i, quantitative=patches.are_quantitative and balanced)
    if full:
        _set_surface(body, grasp, surface, builder, i)


def _solve_patches(body: ElasticBody, hand: HandModel, configuration: _Configuration
                   ) -> tuple[ContactForces, LoadedPatches]:
    nodes, options = configuration.nodes, body.options
    layers = pad_layers(hand, nodes.links)
    solution = solve_contact_forces(nodes, body.modulus, layers, options.forces)
    results = summarise_patches(nodes, solution, body.material.poisson_ratio, layers)
    flags = validity_flags(results, configuration.flags[results.rows],
                           configuration.thickness[results.rows], body.is_soft, options.validity)
    return solution, LoadedPatches(results, nodes.links[results.rows], flags)


def pad_layers(hand: HandModel, links: IntArray) -> dict[int, LayerCompliance]:
    """Return the elastic pads of those of the links that have one."""
    layers = {}
    for link in np.unique(links):
        pad = hand.links[link].pad
        if pad is not None:
            layers[int(link)] = fit_layer(pad.youngs_modulus, pad.poisson_ratio, pad.thickness)
    return layers


def _patch_set(body: ElasticBody, hand: HandModel, patches: LoadedPatches) -> PatchSet:
    results = patches.results
    pads = [hand.links[link].pad for link in patches.links]
    limits = np.array([min(body.material.max_pressure, np.inf if pad is None
                           else pad.max_pressure) for pad in pads])
    return PatchSet(
        points=results.points, normals=results.normals, forces=results.forces,
        torques=results.torques, friction_radii=results.friction_radii,
        normal_stiffness=results.normal_stiffness,
        tangential_stiffness=results.tangential_stiffness,
        max_normal_forces=max_normal_forces(results, limits),
        passive=~hand.moves_link[patches.links].any(axis=1))


def _minimal_forces(body: ElasticBody, hand: HandModel, configuration: _Configuration,
                    grasp: PatchSet, torque_map: Array, centre: Array) -> MinimalForces:
    wrenches = load_wrenches(configuration.load_cases, body.mass, centre)
    return solve_minimal_forces(grasp, wrenches, centre, body.material.friction, torque_map,
                                hand.joint_efforts, body.options.minimal_forces)


def _largest_displacement(body: ElasticBody, surface: DeformedSurface,
                          patches: LoadedPatches) -> float:
    moves = surface.vertices - body.mesh.vertices
    largest = float(np.sqrt((moves ** 2).sum(axis=1).max()))
    return max(largest, float(patches.results.indentations.max()))


def _holds(verdict: StabilityVerdict, minimal: MinimalForces, patches: LoadedPatches,
           grasp: PatchSet, torque_map: Array, hand: HandModel) -> bool:
    forces = np.hstack([grasp.forces, grasp.torques]).ravel()
    torques = (torque_map * forces).sum(axis=1)
    return bool(verdict.holds and minimal.capable
                and len(np.unique(patches.links)) >= LEAST_LINKS
                and (grasp.normal_forces <= grasp.max_normal_forces).all()
                and (np.abs(torques) <= hand.joint_efforts).all())


def _set_surface(body: ElasticBody, grasp: PatchSet, surface: DeformedSurface,
                 builder: StateBuilder, i: int) -> None:
    epsilon, volume = wrench_space_metrics(
        grasp.points, grasp.normals, surface.centre, body.material.friction, body.reach,
        body.options.metrics_edges)
    builder.set(i, epsilon=epsilon, wrench_volume=volume, vertices_object=surface.vertices,
                vertex_pressures=surface.pressures)
