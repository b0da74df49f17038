"""The grasp state of one configuration, and verdicts on it."""

from collections.abc import Iterable
from dataclasses import Field, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Array
from ...batches import PATCH_REACHES_OBJECT_EDGE, PATCH_THROUGH, GraspStateBatch
from ...fields import Row, declared, frame_of, short_name, single, taken, takes_fields
from ...transforms import apply, rotate


def _of_one(number: Field[Any]) -> Field[Any]:
    """Return the field of one configuration's state for a field of the batch."""
    axis, *sizes = number.metadata['shape']
    name = short_name(number.name)
    if axis == 'P':
        return taken(number, name, number.type, ('k', *sizes))
    kind = Array | None if axis == 'n?' else single(number)
    return taken(number, name, kind, (*sizes,))


@takes_fields(_of_one(number) for number in declared(GraspStateBatch)
              if number.name != 'patch_offsets')
class GraspState(Row):
    """Grasp state of one configuration, with ``k`` loaded patches."""

    @cached_property
    def normal_forces(self) -> Array:
        """Return the simulated normal force of each patch (k,) [N]."""
        return np.einsum('ij,ij->i', self.forces, self.normals)

    @cached_property
    def normal_forces_by_link(self) -> Array:
        """Return, for each patch, the sum of the normal forces of its link (k,) [N]."""
        return sums_by_link(self.links, self, self.normal_forces)


def _sources(state: type) -> tuple[list[tuple[str, Any]], ...]:
    """
    Return names of a state's numbers and what the batch holds them in.

    Rows of each patch; one number, with its type; rows of a configuration, which may be missing.
    """
    numbers = declared(state)
    of_patches = [(one.name, one.metadata['source']) for one in numbers
                  if one.metadata['shape'][:1] == ('k',)]
    single_ones = [(one.name, (one.metadata['source'], one.type)) for one in numbers
                   if one.type in (float, int, bool)]
    known = {name for name, _ in (*of_patches, *single_ones)}
    return of_patches, single_ones, [(one.name, one.metadata['source']) for one in numbers
                                     if one.name not in known]


_FIELDS = _sources(GraspState)


def extract_state(states: GraspStateBatch, i: int) -> GraspState:
    """Return the grasp state of configuration ``i`` of a batch."""
    patches = slice(int(states.patch_offsets[i]), int(states.patch_offsets[i + 1]))
    of_patches, single_ones, of_state = _FIELDS
    values: dict[str, Any] = {name: getattr(states, source)[patches]
                              for name, source in of_patches}
    for name, (source, kind) in single_ones:
        values[name] = kind(getattr(states, source)[i])
    for name, source in of_state:
        array = getattr(states, source)
        values[name] = array[i] if len(array) > i else None
    return GraspState(**values)


def sums_by_link(links: Iterable[int], state: GraspState, values: Array) -> Array:
    """Return the sums (l,) of what patches of a state have, ``values (k,)``, for given links."""
    return np.array([values[state.links == link].sum() for link in links])


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
    """The state of a closing nearest to holding: joints (J,) [rad], state."""

    joint_positions: Array
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


def in_found_frame(state: GraspState, T_object_settled: Array) -> GraspState:
    """
    Return a state of a settled object in the frame of the object as it was found.

    Parameters
    ----------
    state : GraspState
        In the frame of the settled object.
    T_object_settled : (4, 4) float
        Pose of the settled frame in the found one, in which the palm has not moved.
    """
    if (T_object_settled == np.eye(4)).all():
        return state
    values = ((number, getattr(state, number.name)) for number in VECTORS)
    return replace(state, **{number.name: _turned(number, value, T_object_settled)
                             for number, value in values if value is not None})


#: What of a state has a direction or place, and so depends on the frame.
VECTORS = tuple(number for number in declared(GraspState)
                if frame_of(number) and number.metadata['shape'][-1] == 3)


def _turned(number: Field[Any], rows: Array, T_object_settled: Array) -> Array:
    """Return the rows of a field in the found frame: places in metres, else directions."""
    turn = apply if number.metadata['unit'] == 'm' else rotate
    return turn(T_object_settled, np.atleast_2d(rows)).reshape(rows.shape)
