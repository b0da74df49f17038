"""The deformation stage by the grasp paper's rules: rings, cells, pseudo-inverse forces."""

from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..batches import (
    DETAIL_CLEARANCE, DETAIL_SURFACE, PATCH_THROUGH, ContactBatch, GraspStateBatch)
from ..errors import ShapeError, TaskError
from ..grasp_theory.contact_set import ContactSet
from ..grasp_theory.grasp_map import grasp_map, load_wrenches
from ..hand import HandModel
from .body import ElasticBody, deform_body, largest_displacement, pad_layers, solve_contact
from .options import MechanicsOptions
from .published.voxel_mass import voxel_centre_of_mass
from .stability.grasp_forces import MinimalForces, no_forces, solve_minimal_forces
from .stability.published.pseudo_inverse_forces import pseudo_inverse_forces
from .stage import contact_problem, contact_set
from .state_builder import StateBuilder


#: Cells along the longest side of the object: 2 mm of an object of 80 mm.
CELLS_ALONG = 40
#: Weight of a cell that holds a vertex: that of a cell inside, as printed [-].
VERTEX_WEIGHT = 1.0
#: Rest of equation (1), over the load, with which it counts as solved [-].
SOLVED = 1e-6


def published_options(options: MechanicsOptions, rings: bool = True) -> MechanicsOptions:
    """
    Return options of mechanics with what the paper has no choice of.

    Forces are those of half-spaces; with ``rings`` the surface moves ring by ring, at constant
    volume.
    """
    surface = replace(options.surface, mode='seed', volume='constant', slip=False)
    return replace(options, elasticity='half_space',
                   surface=surface if rings else options.surface)


def evaluate_published(body: ElasticBody, hand: HandModel, contacts: ContactBatch,
                       least_links: int, by_cells: bool = True, by_pseudo_inverse: bool = True
                       ) -> GraspStateBatch:
    """
    Return forces, deformation and verdict of each configuration, as the paper prints them.

    Parameters
    ----------
    body : ElasticBody
        With ``published_options``.
    hand : HandModel
    contacts : ContactBatch
        Those of a hand that has just arrived (``sweep_object``) press nothing yet.
    least_links : int
        Fewer links in contact are no grasp: they are answered as without contact.
    by_cells : bool
        The centre of mass is that of cells; else the exact one.
    by_pseudo_inverse : bool
        The forces computed are those of the pseudo-inverse; else the least within friction.

    Returns
    -------
    GraspStateBatch
        ``capable``: equation (1) has a solution for every load case; ``minimal_forces`` are its
        least; ``holds``: the normal forces of the simulation are not below those computed.
        ``margin`` is 1 where it holds, else 0: the paper knows no other.

    Notes
    -----
    Source: seed 001, from the forces to the estimate of stability. (1) is printed as
    ``w <= -G gamma`` between vectors, which depends on the axes, and called an equation where it
    is solved for gamma_min: so it is taken. Choices where the paper is silent: forces of the
    contact vertices are those of elastic contact with the hand's pads (its source [6] is not at
    hand); contacts are soft fingers; cells have ``CELLS_ALONG``; no limit of friction, pressure
    or joint torque counts. Where no surface keeps the volume, a vertex having to move farther
    than the object is large, the patches are flagged ``PATCH_THROUGH``.
    """
    builder = StateBuilder(contacts, body.mesh.vertices)
    asked = contacts.configurations
    for i in range(asked.count):
        links = contacts.patch_links[contacts.patch_offsets[i]:contacts.patch_offsets[i + 1]]
        if (asked.detail == DETAIL_CLEARANCE or asked.sweep_object[i].any()
                or len(np.unique(links)) < least_links):
            continue
        try:
            _evaluate(body, hand, contacts, builder, i, by_cells, by_pseudo_inverse)
        except (ShapeError, TaskError, ArithmeticError, np.linalg.LinAlgError):
            builder.clear(i)
    return builder.build()


def _evaluate(body: ElasticBody, hand: HandModel, contacts: ContactBatch, builder: StateBuilder,
              i: int, by_cells: bool, by_pseudo_inverse: bool) -> None:
    contact, asked = contact_problem(contacts, i), contacts.configurations
    patches = solve_contact(body, contact, pad_layers(hand.links, contact.nodes.links))
    if not patches.results.count:
        return
    grasp = contact_set(body, hand, patches)
    surface = deform_body(body, contact, patches)
    moved = float(np.abs(surface.vertices - body.mesh.vertices).max())
    if not moved < body.radius:
        through = patches.flagged(PATCH_THROUGH)
        builder.set_patches(i, through, no_forces(grasp.count))
        return
    centre = surface.centre
    if by_cells:
        centre, _ = voxel_centre_of_mass(
            surface.vertices, body.mesh.faces,
            float(np.ptp(body.mesh.vertices, axis=0).max()) / CELLS_ALONG, VERTEX_WEIGHT)
    wrenches = load_wrenches(asked.load_cases, body.mass, centre)
    minimal = (_pseudo_inverse(body, grasp, wrenches, centre) if by_pseudo_inverse else
               solve_minimal_forces(grasp, wrenches, centre, body.material.friction, None, None,
                                    body.options.minimal_forces, body.options.torques))
    holds = minimal.capable and bool((grasp.normal_forces >= minimal.normal_envelope).all())
    builder.set_patches(i, patches, minimal)
    builder.set(i, centre_of_mass_object=centre, volume_change=surface.volume_change,
                strain_energy=patches.solution.strain_energy, holds=holds, margin=float(holds),
                residual=_unbalanced(grasp, centre),
                max_displacement=largest_displacement(body, surface, patches))
    if asked.detail == DETAIL_SURFACE:
        builder.set(i, vertices_object=surface.vertices, vertex_pressures=surface.pressures)


def _pseudo_inverse(body: ElasticBody, grasp: ContactSet, wrenches: Array, centre: Array
                    ) -> MinimalForces:
    """Return the forces of the pseudo-inverse; capable where they balance every load."""
    gamma, violation = pseudo_inverse_forces(grasp, wrenches, centre, body.material.friction)
    forces = np.einsum('kij,ckj->cki', grasp.frames, gamma[..., :3])
    twisting = gamma[..., 3:] * grasp.friction_radii[:, None] * grasp.normals
    rest = wrenches + np.concatenate([
        forces.sum(axis=1),
        (np.cross(grasp.points - centre, forces) + twisting).sum(axis=1)], axis=1)
    unit = np.repeat([1.0, body.radius], 3)
    load = float(np.linalg.norm(wrenches / unit, axis=1).max(initial=0.0))
    solved = np.linalg.norm(rest / unit, axis=1) <= SOLVED * load
    worst = int(np.argmax(np.linalg.norm(gamma[..., :3], axis=2).sum(axis=1)))
    return MinimalForces(
        bool(solved.all()), forces[worst], twisting[worst], worst,
        float(gamma[worst, :, 0].max()), np.maximum(gamma[..., 0].max(axis=0), 0.0),
        violation=float(violation[worst]))


def _unbalanced(grasp: ContactSet, centre: Array) -> float:
    """Return the wrench of the simulated forces, torques over the lever, over their sum [-]."""
    arms = grasp.points - centre
    lever = float(np.sqrt((arms ** 2).sum(axis=1).max())) or 1.0
    axes = np.broadcast_to(np.eye(3), (grasp.count, 3, 3))
    wrench = grasp_map(grasp.points, axes, centre, soft=False) @ grasp.forces.ravel()
    wrench[3:] = (wrench[3:] + grasp.torques.sum(axis=0)) / lever
    return float(np.linalg.norm(wrench) / np.linalg.norm(grasp.forces, axis=1).sum())
