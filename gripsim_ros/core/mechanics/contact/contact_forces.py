"""
Nodal contact forces of all patches of an object in one complementarity system.

Derivations and limits: docs/model/mechanics.md, "Contact forces".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, BoolArray, IntArray
from ...contact import Patch
from ...errors import ShapeError, TaskError
from ...fields import checked_array
from ...numerics import complementarity, cholesky
from ...numerics.kernels import njit
from ...options import option, Options
from ..boundary_elements.body_compliance import BodyCompliance
from ..boundary_elements.node_correction import NodeCorrection
from . import bonded_layer, half_space
from .bonded_layer import LayerCompliance

#: Points, normals, areas, modulus and softening of a half-space's compliance.
_Surface = tuple[Array, Array, Array, float, float]

#: Least depth over a patch's greatest in the first guess of the loaded nodes: a paraboloid's
#: contact is exactly half of its overlap [-].
FIRST_GUESS_DEPTH = 0.5


@dataclass(frozen=True, eq=False)
class PatchNodes:
    """
    Nodes of all patches on the undeformed object, patch after patch; frame object.

    Attributes
    ----------
    points : (n, 3) float
        [m].
    normals : (n, 3) float
        Unit, into the object.
    areas : (n,) float
        [m^2], above 0.
    depths : (n,) float
        Overlap along the normal [m]; negative is a gap, ``-inf`` no counterpart.
    patches : (n,) int
        Patch of each node, counting from 0.
    links : (p,) int
        Link that presses each patch.
    spreads : (n,) float
        Area over which each node's load is spread over its own, above 0; 1 where none is given.

    Raises
    ------
    ShapeError
        Shapes do not fit, or a number is not finite (depths: NaN or ``+inf``).
    """

    points: Array
    normals: Array
    areas: Array
    depths: Array
    patches: IntArray
    links: IntArray
    spreads: Array = field(default_factory=lambda: np.ones(1))

    def __post_init__(self) -> None:
        """Check shapes and numbers."""
        count = len(checked_array(self.depths, 'nodes.depths', 'n', finite=False))
        if len(self.spreads) == 1:
            object.__setattr__(self, 'spreads', np.repeat(self.spreads, count))
        for name, *shape in (('points', count, 3), ('normals', count, 3), ('areas', count),
                             ('patches', count), ('spreads', count)):
            checked_array(getattr(self, name), f'nodes.{name}', *shape)
        for name in ('areas', 'spreads'):
            if not (getattr(self, name) > 0.0).all():
                raise ShapeError(f'nodes.{name} must be above 0')
        if np.isnan(self.depths).any() or (self.depths == np.inf).any():
            raise ShapeError('nodes.depths must be finite or -inf')

    @property
    def spread_areas(self) -> Array:
        """Return the areas ``(n,)`` over which the object takes the nodes' loads [m^2]."""
        return self.areas * self.spreads

    @property
    def patch_count(self) -> int:
        """Return the number of patches."""
        return len(self.links)


def nodes_of(patches: Sequence[Patch], links: ArrayLike) -> PatchNodes:
    """Return the nodes of patches that links ``(p,)`` press."""
    points, normals = (_joined(patches, name, np.zeros((0, 3))) for name in ('points', 'normals'))
    areas, depths, spreads = (_joined(patches, name, np.zeros(0))
                              for name in ('areas', 'depths', 'spreads'))
    owners = np.repeat(np.arange(len(patches)), [len(patch.points) for patch in patches])
    return PatchNodes(points, normals, areas, depths, owners, np.asarray(links, np.int64), spreads)


def _joined(patches: Sequence[Patch], name: str, none: Array) -> Array:
    return np.concatenate([none, *(getattr(patch, name) for patch in patches)])


@dataclass(frozen=True)
class ContactForceOptions(Options, section='forces'):
    """
    Options of the contact problem.

    Attributes
    ----------
    candidate_gap : float
        Nodes with a gap up to this share of the largest depth may carry load [-]:
        opposite pads make the surface between bulge.
    softening : float
        Softening of the half-space solution, see ``half_space.GRID_SOFTENING`` [-].
    max_depth_ratio : float
        Depths end at this share of the object's thickness [-]; where its own compliance is
        known, less the way that the whole wall yields.

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    candidate_gap: float = option(0.1, least=0, most=1)
    softening: float = option(half_space.GRID_SOFTENING, above=0, most=1)
    max_depth_ratio: float = option(0.45, above=0, most=1)


@dataclass(frozen=True, eq=False)
class ContactForces:
    """
    Solution of the contact problem on its candidate nodes.

    Attributes
    ----------
    rows : (c,) int
        Candidate nodes, in the order of the nodes given.
    loaded : (k,) int
        Positions in ``rows`` of the nodes under load, ascending.
    forces : (c,) float
        Normal force on each candidate [N], not negative.
    displacements : (c,) float
        Of the object's surface along the node's normal [m].
    object_compliance : (k, c) float
        The object's part of the compliance between loaded and candidate nodes [m/N].
    compliance_factor : (k, k) float
        Upper Cholesky factor of the loaded nodes' whole compliance.
    factor_order : (k,) int
        Positions in ``loaded`` of its rows.
    correction : NodeCorrection or None
        What the body's own compliance added between the candidates.
    """

    rows: IntArray
    loaded: IntArray
    forces: Array
    displacements: Array
    object_compliance: Array
    compliance_factor: Array
    factor_order: IntArray
    correction: NodeCorrection | None = None

    @property
    def dents(self) -> Array:
        """Return displacements ``(c,)`` less the way of the body about each candidate [m]."""
        if self.correction is None:
            return self.displacements
        return self.displacements - self.correction.moves(self.forces)

    @property
    def strain_energy(self) -> float:
        """Return the elastic energy stored in the object [J]."""
        return 0.5 * float((self.forces * self.displacements).sum())


def solve_contact_forces(nodes: PatchNodes, modulus: float,
                         layers: Mapping[int, LayerCompliance],
                         options: ContactForceOptions = ContactForceOptions(),
                         body: BodyCompliance | None = None,
                         loaded_shares: Array | None = None) -> ContactForces:
    """
    Return the normal forces at which every node is closed under load or open and free.

    ``f >= 0, g = C f - d >= 0, f g = 0``; C is the object's half-space compliance between
    all nodes, and that of the pad between nodes of one link.

    Parameters
    ----------
    nodes : PatchNodes
    modulus : float
        E / (1 - nu^2) of the object [Pa].
    layers : mapping of int to LayerCompliance
        The elastic pad of each link that has one; other links are rigid.
    options : ContactForceOptions
    body : BodyCompliance, optional
        The object's own, added to the half-space's.
    loaded_shares : (p,) float, optional
        Nodes deeper than this share of their patch's deepest are guessed to be loaded;
        changes the time, not the answer. Default: a paraboloid's.

    Returns
    -------
    ContactForces

    Raises
    ------
    TaskError
        ``modulus`` is not above 0 and finite.
    LinAlgError
        Nodes coincide, or the body's own compliance is too coarse for them.

    Notes
    -----
    Source: the field's standard elastic complementarity (Kalker 1990; Johnson 1985,
    section 5.9). Differs: normals may turn along a patch, ``n_i . n_j`` projects the
    displacement; the softening makes C positive definite on any points.
    """
    if not (np.isfinite(modulus) and modulus > 0.0):
        raise TaskError(f'modulus must be above 0 Pa and finite, got {modulus}')
    deepest = float(nodes.depths.max(initial=0.0))
    if not deepest > 0.0:
        return _no_forces()
    rows = np.flatnonzero(nodes.depths > -options.candidate_gap * deepest)
    depths = np.ascontiguousarray(nodes.depths[rows])
    patches = nodes.patches[rows]
    guess, order = _first_guess(depths, patches, nodes.patch_count, loaded_shares)
    links = nodes.links[patches]
    surface = (nodes.points[rows], nodes.normals[rows], nodes.spread_areas[rows], modulus,
               options.softening)
    correction = None if body is None else body.correction(surface[0], modulus, surface[1])
    every = np.arange(len(rows))
    for safe in (False, True):
        whole = _object_rows(every, surface, correction)
        _add_layers(whole, (*surface[:2], nodes.areas[rows]), options.softening, links, layers,
                    safe)
        forces, loaded, factor, definite = complementarity.solve_complementarity(
            whole, depths, guess, order)
        if definite:
            break
    else:
        raise np.linalg.LinAlgError('the compliance of the contact is not positive definite')
    del whole
    places = np.argsort(loaded)
    own = _object_rows(loaded[places], surface, correction)
    moves = cholesky.combine_rows(own, forces[loaded[places]])
    return ContactForces(rows, loaded[places], forces, moves, own, factor, np.argsort(places),
                         correction)


def _object_rows(rows: IntArray, surface: _Surface, correction: NodeCorrection | None) -> Array:
    """Return rows of the object's compliance, that of its body included."""
    compliance: Array = half_space.half_space_rows(rows, *surface)
    if correction is not None:
        correction.add_rows(rows, compliance)
    return compliance


def _no_forces() -> ContactForces:
    none, empty = np.zeros(0, np.int64), np.zeros(0)
    return ContactForces(none, none, empty, empty, np.zeros((0, 0)), np.zeros((0, 0)), none)


def _first_guess(depths: Array, patches: IntArray, count: int, loaded_shares: Array | None
                 ) -> tuple[BoolArray, IntArray]:
    """Return the nodes likely to carry load, and all in order of falling likelihood."""
    if loaded_shares is None:
        loaded_shares = np.full(count, FIRST_GUESS_DEPTH)
    return _guess_by_shares(depths, patches, loaded_shares)


@njit(cache=True)
def _guess_by_shares(depths: Array, patches: IntArray, loaded_shares: Array
                     ) -> tuple[BoolArray, IntArray]:
    """Return ``_first_guess`` for the share of each patch's greatest depth."""
    deepest = greatest_depths(depths, patches, len(loaded_shares))
    guess, unlikely = np.zeros(len(depths), np.bool_), np.zeros(len(depths))
    for i in range(len(depths)):
        greatest = deepest[patches[i]]
        share = depths[i] / greatest if greatest > 0.0 else 0.0
        guess[i], unlikely[i] = share > loaded_shares[patches[i]], -share
    return guess, np.argsort(unlikely, kind='mergesort')


@njit(cache=True)
def greatest_depths(depths: Array, patches: IntArray, count: int) -> Array:
    """Return the greatest depth ``(count,)`` of a node of each patch, at least 0 [m]."""
    deepest = np.zeros(count)
    for i in range(len(depths)):
        deepest[patches[i]] = max(deepest[patches[i]], depths[i])
    return deepest


def _add_layers(compliance: Array, nodes: tuple[Array, Array, Array], softening: float,
                links: IntArray, layers: Mapping[int, LayerCompliance], safe: bool) -> None:
    """Add the pads' parts in place; ``safe`` is less exact but always positive definite."""
    for link, layer in layers.items():
        part = np.flatnonzero(links == link)
        if len(part):
            bonded_layer.add_pad(compliance, part, nodes, softening,
                                 (layer.modulus, layer.depths, layer.weights), safe)
