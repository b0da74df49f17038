"""The deformation stage: from contact patches to forces, deformed body and verdict."""

from dataclasses import fields, replace

import numpy as np

from ..arrays import Array
from ..batches import (
    DETAIL_CLEARANCE, DETAIL_SURFACE, PATCH_SWINGS, ContactBatch, GraspStateBatch)
from ..errors import ShapeError
from ..grasp_theory.contact_set import ContactSet
from ..grasp_theory.grasp_map import joint_torque_map, load_wrenches, turned_loads
from ..grasp_theory.wrench_space import wrench_space_metrics
from ..hand import HandModel
from ..transforms import cross
from .body import (ContactProblem, ElasticBody, LoadedPatches, deform_body, is_way_told,
                   largest_displacement, pad_layers, shift_of_centre, solve_contact)
from .contact.contact_forces import PatchNodes
from .contact.patch_resultants import (
    PatchResultants, max_normal_forces, shared_force_limits)
from .deformation.deformed_surface import DeformedSurface
from .deformation.metrics import measure_deformation
from .following import follow_surface
from .stability.grasp_forces import force_space, MinimalForces, solve_in_space
from .stability.stability import StabilityVerdict, judge_stability, motion_at
from .state_builder import StateBuilder


#: Least number of links in contact with the object.
MIN_LINKS = 2
#: What resultants of patches and contacts have in common.
_SHARED = {f.name for f in fields(PatchResultants)} & {f.name for f in fields(ContactSet)}
#: Stride of the load cases tried before the body is deformed for all of them.
TRIED_CASES = 4


def evaluate_contacts(body: ElasticBody, hand: HandModel,
                      contacts: ContactBatch) -> GraspStateBatch:
    """
    Return forces, deformation and stability of each configuration.

    Parameters
    ----------
    body : ElasticBody
        By the model of its options, unless the question names one.
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
    centre of mass and stability are computed only where contacts could hold some of the
    loads on the undeformed body, and stability only where they could hold all of them.
    """
    body = body.answering(contacts.configurations.elasticity)
    builder = StateBuilder(contacts, body.mesh.vertices)
    if contacts.configurations.detail != DETAIL_CLEARANCE:
        for i in range(contacts.configurations.count):
            try:
                _evaluate(body, hand, contacts, builder, i)
            except (ShapeError, ArithmeticError, np.linalg.LinAlgError):
                builder.clear(i)
    return builder.build()


def contact_problem(contacts: ContactBatch, i: int) -> ContactProblem:
    """Return the patches of configuration ``i`` as the contact problem takes them."""
    first, last = int(contacts.patch_offsets[i]), int(contacts.patch_offsets[i + 1])
    offsets = contacts.node_offsets[first:last + 1]
    rows = slice(int(offsets[0]), int(offsets[-1])) if last > first else slice(0, 0)
    patches = np.repeat(np.arange(last - first), np.diff(offsets))
    nodes = PatchNodes(
        contacts.node_points_object[rows], contacts.node_normals_object[rows],
        contacts.node_areas[rows], contacts.node_depths[rows], patches,
        contacts.patch_links[first:last], contacts.node_spreads[rows])
    return ContactProblem(nodes, contacts.patch_flags[first:last],
                          contacts.patch_thickness[first:last])


def _evaluate(body: ElasticBody, hand: HandModel, contacts: ContactBatch, builder: StateBuilder,
              i: int) -> None:
    contact, asked = contact_problem(contacts, i), contacts.configurations
    nodes, palm, settled = contact.nodes, asked.T_object_palm[i], asked.settled_object[i]
    patches = solve_contact(body, contact, pad_layers(hand.links, nodes.links),
                            body.warm_starts.lookup(palm, nodes.links))
    if not patches.results.count:
        return
    body.warm_starts.store(palm, nodes, patches.solution)
    contact, patches = follow_surface(body, hand, asked, i, contact, patches)
    grasp = contact_set(body, hand, patches)
    torque_map = joint_torque_map(hand, asked.joint_positions[i], palm, patches.links,
                                  grasp.points)
    full = asked.detail == DETAIL_SURFACE
    cases = turned_loads(asked.load_cases, settled)
    friction, options = body.material.friction, body.options.minimal_forces
    torques = body.options.torques
    space = force_space(grasp, body.centre_of_mass, torque_map, hand.joint_efforts, options,
                        torques)
    if not full:
        tried = load_wrenches(cases[::TRIED_CASES], body.mass, body.centre_of_mass)
        minimal = solve_in_space(space, tried, friction, options, forces=False)
        if not minimal.capable:
            builder.set_patches(i, patches, replace(
                minimal, worst_case=TRIED_CASES * minimal.worst_case))
            return
    surface = deform_body(body, contact, patches)
    centre = surface.centre
    wrenches = load_wrenches(cases, body.mass, centre)
    space.place(centre)
    # To explain is to find out what would be needed.
    minimal = solve_in_space(space, wrenches, friction, options, explain=full)
    way = largest_displacement(body, surface, patches)
    if not is_way_told(body, patches, way):
        patches = patches.flagged(PATCH_SWINGS)
    builder.set_patches(i, patches, minimal)
    builder.set(i, centre_of_mass_object=centre, volume_change=surface.volume_change,
                strain_energy=patches.solution.strain_energy, max_displacement=way)
    if not (minimal.capable or full):
        return
    verdict = judge_stability(grasp, wrenches, centre, friction, body.options.stability,
                              motion_at(centre, settled), torques)
    builder.set_verdict(i, verdict, _holds(verdict, minimal, patches, grasp, torque_map, hand))
    change = _relative_force_change(grasp, centre, verdict.shift)
    builder.set(i, quantitative=(patches.are_quantitative
                                 and change <= body.options.validity.max_settling))
    if full:
        _set_surface(body, grasp, surface, builder, i)
        shift = shift_of_centre(body, contact, patches, surface)
        builder.set(i, centre_shift=float(np.sqrt(shift @ shift)))
        builder.set_deformation(i, measure_deformation(
            body.mesh.vertices, surface.vertices, body.mesh.vertex_areas, contact.nodes,
            patches.solution, patches.results, body.material.poisson_ratio))


def contact_set(body: ElasticBody, hand: HandModel, patches: LoadedPatches) -> ContactSet:
    """Return loaded patches with what limits their forces, as stability takes them."""
    results = patches.results
    pads = [hand.links[link].pad for link in patches.links]
    limits = np.array([min(body.material.max_pressure, np.inf if pad is None
                           else pad.max_pressure) for pad in pads])
    most = np.minimum(max_normal_forces(results, limits), shared_force_limits(
        patches.links, results.magnitudes, body.material.force_limit))
    return ContactSet(
        **{name: getattr(results, name) for name in _SHARED},
        max_normal_forces=most, cross_stiffness=results.stiffness,
        passive=~np.any(hand.moves_link[patches.links], axis=1))


def _holds(verdict: StabilityVerdict, minimal: MinimalForces, patches: LoadedPatches,
           grasp: ContactSet, torque_map: Array, hand: HandModel) -> bool:
    forces = np.hstack([grasp.forces, grasp.torques]).ravel()
    torques = (torque_map * forces).sum(axis=1)
    return bool(verdict.holds and minimal.capable
                and len(np.unique(patches.links)) >= MIN_LINKS
                and (grasp.normal_forces <= grasp.max_normal_forces).all()
                and (np.abs(torques) <= hand.joint_efforts).all())


def _relative_force_change(grasp: ContactSet, centre: Array, shift: Array) -> float:
    """Return by how much of itself a normal force changes as the object settles by a shift."""
    motions = shift[:3] + cross(shift[3:], grasp.points - centre)
    ways = (motions * grasp.normals).sum(axis=1)
    changes = grasp.normal_stiffness * ways + grasp.coupling @ ways
    forces = np.maximum(grasp.normal_forces, 1e-12 * grasp.normal_forces.max(initial=1.0))
    return float(np.abs(changes / forces).max())


def _set_surface(body: ElasticBody, grasp: ContactSet, surface: DeformedSurface,
                 builder: StateBuilder, i: int) -> None:
    epsilon, volume = wrench_space_metrics(
        grasp.points, grasp.normals, surface.centre, body.material.friction, body.radius,
        body.options.metrics_edges)
    builder.set(i, epsilon=epsilon, wrench_volume=volume, vertices_object=surface.vertices,
                vertex_pressures=surface.pressures)
