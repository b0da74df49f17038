"""Collects the rows of a batch of grasp states."""

from dataclasses import Field, fields
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..batches import DETAIL_SURFACE, ContactBatch, GraspStateBatch
from ..fields import DTYPES, KINDS, declared, shapes_of, short_name
from .body import LoadedPatches
from .contact.patch_resultants import PatchResultants, stiffness_by_link
from .deformation.metrics import DeformationMetrics
from .stability.grasp_forces import MinimalForces, Shortfall
from .stability.stability import StabilityVerdict


def _shared(source: type, axis: str) -> dict[str, str]:
    """Map the batch's fields of an axis that a result has, too, to its name for them."""
    own = {field.name for field in fields(source)}
    return {name: own_name for name, shape in shapes_of(GraspStateBatch).items()
            if shape[0] == axis for own_name in (name, short_name(name)) if own_name in own}


def _is_column(number: Field[Any]) -> bool:
    return bool(number.metadata['shape'][0] == 'P')


def _is_row(number: Field[Any]) -> bool:
    """Return whether a field has a row of a known size for each configuration, not of contact."""
    axis, *sizes = number.metadata['shape']
    return (axis == 'n' and number.name not in shapes_of(ContactBatch)
            and all(isinstance(size, int) for size in sizes))


def _blank(number: Field[Any], count: int) -> NDArray[Any]:
    """Return rows of a field that have nothing to tell: NaN, -1, False, or as said below."""
    value = {'float': np.nan, 'int': -1, 'bool': False}[KINDS[number.type]]
    shape = (count, *number.metadata['shape'][1:])
    return np.full(shape, _NOTHING.get(number.name, value), DTYPES[number.type])


#: What a configuration without contact has of what would be unknown otherwise.
_NOTHING = {name: 0.0 for name in (
    'volume_change', 'strain_energy', 'max_displacement', 'shift_object', 'margin')}
_PATCH_COLUMNS = _shared(PatchResultants, 'P')
_STRESS_COLUMNS = tuple(_shared(DeformationMetrics, 'P'))
_METRICS = tuple(_shared(DeformationMetrics, 'n'))
_SHORTFALL = tuple(_shared(Shortfall, 'n'))
_COLUMNS = {number.name: _blank(number, 0) for number in declared(GraspStateBatch)
            if _is_column(number)}
_ROWS = {number.name: _blank(number, 1) for number in declared(GraspStateBatch)
         if _is_row(number)}


class StateBuilder:
    """
    Rows of a ``GraspStateBatch``, at first all without contact.

    Parameters
    ----------
    contacts : ContactBatch
    vertices : (V, 3) float
        Of the undeformed object, shown where nothing was computed.
    """

    def __init__(self, contacts: ContactBatch, vertices: Array) -> None:
        count, links = contacts.depth.shape
        self._contacts, self._vertices = contacts, vertices
        self._patches: list[dict[str, NDArray[Any]]] = [{}] * count
        surfaces = count if contacts.configurations.detail == DETAIL_SURFACE else 0
        self._rows = {
            **{name: blank.repeat(count, axis=0) for name, blank in _ROWS.items()},
            'link_stiffness': np.zeros((count, links, links)),
            'vertices_object': vertices[None].repeat(surfaces, axis=0),
            'vertex_pressures': np.zeros((surfaces, len(vertices)))}

    def clear(self, i: int) -> None:
        """Make configuration ``i`` one without contact, that cannot hold."""
        self._patches[i] = {}
        blanks = {**_ROWS, 'link_stiffness': np.zeros(1), 'vertices_object': self._vertices[None],
                  'vertex_pressures': np.zeros(1)}
        for name, rows in self._rows.items():
            if len(rows):
                rows[i] = blanks[name][0]

    def set(self, i: int, **values: Any) -> None:
        """Set fields of ``GraspStateBatch`` of configuration ``i``."""
        for name, value in values.items():
            self._rows[name][i] = value

    def set_patches(self, i: int, patches: LoadedPatches, minimal: MinimalForces) -> None:
        """Set the loaded patches and the minimal forces."""
        columns = {name: getattr(patches.results, source)
                   for name, source in _PATCH_COLUMNS.items()}
        self._patches[i] = columns | {
            'patch_links': patches.links, 'patch_flags': patches.flags,
            'minimal_forces_object': minimal.forces, 'minimal_torques_object': minimal.torques,
            'minimal_envelope': minimal.normal_envelope,
            **{name: np.full(len(patches.links), np.nan) for name in _STRESS_COLUMNS}}
        self.set(i, capable=minimal.capable, worst_case=minimal.worst_case,
                 quantitative=patches.are_quantitative, link_stiffness=stiffness_by_link(
                     patches.results, patches.links, self._contacts.depth.shape[1]),
                 own_compliance=patches.solution.correction is not None)
        if minimal.shortfall is not None:
            self.set(i, **{name: getattr(minimal.shortfall, name) for name in _SHORTFALL})

    def set_verdict(self, i: int, verdict: StabilityVerdict, holds: bool) -> None:
        """Set what the stability analysis found."""
        self.set(i, residual=verdict.residual, shift_object=verdict.shift, holds=holds,
                 margin=verdict.margin, worst_case=verdict.worst_case)

    def set_deformation(self, i: int, metrics: DeformationMetrics) -> None:
        """Set deformation and stress of a configuration whose patches are set."""
        for name in _STRESS_COLUMNS:
            self._patches[i][name] = getattr(metrics, name)
        self.set(i, **{name: getattr(metrics, name) for name in _METRICS})

    def build(self) -> GraspStateBatch:
        """Return the batch."""
        contacts = self._contacts
        counts = [len(patches.get('patch_links', ())) for patches in self._patches]
        offsets = np.array([0, *accumulate(counts)], np.int64)
        return GraspStateBatch(
            clearance=contacts.clearance, obstacle_clearance=contacts.obstacle_clearance,
            self_clearance=contacts.self_clearance, depth=contacts.depth,
            patch_offsets=offsets, **self._columns(), **self._rows)

    def _columns(self) -> dict[str, NDArray[Any]]:
        loaded = [patches for patches in self._patches if patches]
        if not loaded:
            return {name: blank.copy() for name, blank in _COLUMNS.items()}
        return {name: np.concatenate([blank, *(patches[name] for patches in loaded)])
                for name, blank in _COLUMNS.items()}
