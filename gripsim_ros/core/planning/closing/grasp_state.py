"""The grasp state of one configuration, and verdicts on it."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...batches import (
    PATCH_REACHES_OBJECT_EDGE, PATCH_THROUGH, GraspStateBatch, shapes_of, short_name)

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
    values: dict[str, Any] = {}
    for name, field, axis, kind in _ENTRIES:
        array = getattr(states, field)
        if axis == 'P':
            values[name] = np.asarray(array[patches], kind)
        elif axis == 'n':
            values[name] = array[i] if kind is None else kind(array[i])
        else:
            values[name] = array[i] if len(array) > i else None
    return GraspState(**values)


def _entries() -> list[tuple[str, str, str | int, type | None]]:
    """
    Return what fills each field of a state: field of the batch, its first axis, kind of a number.

    A state has the batch's fields under their short names.
    """
    kinds: dict[Any, type] = {float: float, bool: bool, int: int, NDArray[np.int64]: np.int64}
    declared = {field.name: kinds.get(field.type) for field in fields(GraspState)}
    entries = []
    for field, shape in shapes_of(GraspStateBatch).items():
        name = short_name(field)
        if name in declared:
            entries.append((name, field, shape[0], declared[name]))
    return entries


_ENTRIES = _entries()


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
