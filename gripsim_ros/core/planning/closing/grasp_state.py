"""The grasp state of one configuration, and verdicts on it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...batches import PATCH_REACHES_OBJECT_EDGE, PATCH_THROUGH, GraspStateBatch

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GraspState:
    """
    Grasp state of one configuration; names as in ``GraspStateBatch``, ``k`` patches.

    ``normal_forces (k,)`` are the simulated forces along the patch normals [N],
    ``minimal_envelope (k,)`` their largest minimal values over all load cases.
    """

    clearance: Array
    depth: Array
    obstacle_clearance: float
    self_clearance: float
    links: NDArray[np.int64]
    flags: NDArray[np.int64]
    points: Array
    normals: Array
    forces: Array
    torques: Array
    areas: Array
    peak_pressures: Array
    friction_radii: Array
    normal_stiffness: Array
    tangential_stiffness: Array
    strain_energies: Array
    von_mises: Array
    max_deformations: Array
    mean_deformations: Array
    minimal_forces: Array
    minimal_torques: Array
    minimal_envelope: Array
    centre_of_mass: Array
    max_displacement: float
    max_deformation: float
    mean_deformation: float
    peak_von_mises: float
    residual: float
    shift: Array
    capable: bool
    holds: bool
    quantitative: bool
    margin: float
    worst_case: int
    needed_friction: float
    needed_force: float
    allowed_force: float
    held_share: float
    strain_energy: float
    epsilon: float
    wrench_volume: float
    vertices: Array | None
    vertex_pressures: Array | None

    @cached_property
    def normal_forces(self) -> Array:
        """Return the simulated normal force of each patch (k,) [N]."""
        forces: Array = np.einsum('ij,ij->i', self.forces, self.normals)
        return forces


def extract_state(states: GraspStateBatch, i: int) -> GraspState:
    """Return the grasp state of configuration ``i`` of a batch."""
    patches = slice(int(states.patch_offsets[i]), int(states.patch_offsets[i + 1]))
    surface = len(states.vertices_object) > i
    return GraspState(
        clearance=states.clearance[i],
        depth=states.depth[i],
        obstacle_clearance=float(states.obstacle_clearance[i]),
        self_clearance=float(states.self_clearance[i]),
        links=np.asarray(states.patch_links[patches], dtype=np.int64),
        flags=np.asarray(states.patch_flags[patches], dtype=np.int64),
        points=states.patch_points_object[patches],
        normals=states.patch_normals_object[patches],
        forces=states.patch_forces_object[patches],
        torques=states.patch_torques_object[patches],
        areas=states.patch_areas[patches],
        peak_pressures=states.patch_peak_pressures[patches],
        friction_radii=states.patch_friction_radii[patches],
        normal_stiffness=states.patch_normal_stiffness[patches],
        tangential_stiffness=states.patch_tangential_stiffness[patches],
        strain_energies=states.patch_strain_energies[patches],
        von_mises=states.patch_von_mises[patches],
        max_deformations=states.patch_max_deformations[patches],
        mean_deformations=states.patch_mean_deformations[patches],
        minimal_forces=states.minimal_forces_object[patches],
        minimal_torques=states.minimal_torques_object[patches],
        minimal_envelope=states.minimal_envelope[patches],
        centre_of_mass=states.centre_of_mass_object[i],
        max_displacement=float(states.max_displacement[i]),
        max_deformation=float(states.max_deformation[i]),
        mean_deformation=float(states.mean_deformation[i]),
        peak_von_mises=float(states.peak_von_mises[i]),
        residual=float(states.residual[i]),
        shift=states.shift_object[i],
        capable=bool(states.capable[i]),
        holds=bool(states.holds[i]),
        quantitative=bool(states.quantitative[i]),
        margin=float(states.margin[i]),
        worst_case=int(states.worst_case[i]),
        needed_friction=float(states.needed_friction[i]),
        needed_force=float(states.needed_force[i]),
        allowed_force=float(states.allowed_force[i]),
        held_share=float(states.held_share[i]),
        strain_energy=float(states.strain_energy[i]),
        epsilon=float(states.epsilon[i]),
        wrench_volume=float(states.wrench_volume[i]),
        vertices=states.vertices_object[i] if surface else None,
        vertex_pressures=states.vertex_pressures[i] if surface else None)


def presses_through(state: GraspState) -> bool:
    """Return True if a link presses through a wall; at a sharp edge every wall is thin."""
    edges = (state.flags & PATCH_REACHES_OBJECT_EDGE) > 0
    return bool((((state.flags & PATCH_THROUGH) > 0) & ~edges).any())


def exceeds_limits(state: GraspState) -> bool:
    """Return True if a state bears the loads, but exceeds a limit of pressure or joint torque."""
    return state.margin >= 1.0 and not state.holds


def slips_out(state: GraspState, max_pressure: float) -> bool:
    """Return True if forces that hold exist, but those present do not even hold without load."""
    return bool(state.capable and state.margin <= 0.0
                and (state.peak_pressures <= max_pressure).all())


@dataclass(frozen=True, eq=False)
class NearMiss:
    """The state of a closing nearest to holding: joints, their displacements (J,) [rad], state."""

    joint_positions: Array
    joint_displacements: Array
    state: GraspState


def shortfall(state: GraspState) -> tuple[int, float]:
    """
    Return a key that sorts states by how near they came to holding, nearest first.

    First those with forces within all limits, by the margin; then those limited by pressure
    and torque alone, by the share held where it is known, else by the force needed over the
    force allowed; last those limited by friction, by the friction needed where it is known,
    else by the number of links in contact.
    """
    if state.capable:
        return 0, -state.margin
    if np.isfinite(state.needed_force):
        if np.isfinite(state.held_share):
            return 1, -state.held_share
        return 1, state.needed_force / max(state.allowed_force, 1e-12)
    if np.isfinite(state.needed_friction):
        return 2, state.needed_friction
    return 3, -float(len(np.unique(state.links)))
