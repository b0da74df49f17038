"""Linear and quadratic tetrahedra of an elastic body that floats, and how they differ."""

import numpy as np
from numpy.typing import NDArray
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from ...core.mechanics.quadratic_elements import EDGES, shape_functions, shape_slopes

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Barycentric places (4, 4) of four points that integrate quadratic functions.
_INNER, _OUTER = 0.5854101966249685, 0.1381966011250105
PLACES = np.full((4, 4), _OUTER) + (_INNER - _OUTER) * np.eye(4)
#: Derivatives (4, 4, 3) of a linear tetrahedron's shape functions at them.
LINEAR_SLOPES = np.tile(np.vstack([-np.ones(3), np.eye(3)]), (4, 1, 1))
#: Exponents of the loads over the body, by axis: what stretches and shears, and what bends.
POWERS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0], [0, 0, 2],
                   [1, 1, 0], [0, 1, 1], [1, 0, 1]])
#: Springs that hold the body, over the mean stiffness of a degree of freedom.
HOLDING = 1e-9


class Tetrahedra:
    """
    Linear or quadratic tetrahedra.

    Parameters
    ----------
    nodes : (N, 3) float
        [m].
    corners : (T, 4) int
    quadratic : bool
        With nodes in the middles of sides, which lie on straight sides.

    Attributes
    ----------
    points : (n, 3) float
        All nodes: the corners, then the middles of sides [m].
    members : (T, m) int
        Nodes of each element.
    shapes : (4, m) float
        Shape functions at ``PLACES``.
    ends : (n - N, 2) int
        Of the sides that have nodes in their middles.
    """

    def __init__(self, nodes: Array, corners: Indices, quadratic: bool) -> None:
        self.points, self.members = nodes, corners
        self.shapes, self._slopes = PLACES, LINEAR_SLOPES
        self._keys = np.zeros(0, dtype=np.int64)
        self._corners = len(nodes)
        self.ends = np.zeros((0, 2), dtype=np.int64)
        if quadratic:
            sides = np.sort(corners[:, EDGES].reshape(-1, 2), axis=1).astype(np.int64)
            self._keys, middles = np.unique(self._key(sides), return_inverse=True)
            self.ends = np.stack(np.divmod(self._keys, self._corners), axis=1)
            self.points = np.concatenate([nodes, nodes[self.ends].mean(axis=1)])
            self.members = np.hstack([corners, len(nodes) + middles.reshape(-1, len(EDGES))])
            self.shapes = shape_functions(PLACES, EDGES)
            self._slopes = shape_slopes(PLACES, EDGES)

    def _key(self, sides: Indices) -> Indices:
        return sides.min(axis=-1) * self._corners + sides.max(axis=-1)

    def middles(self, sides: Indices) -> Indices:
        """Return the nodes (k,) in the middles of sides (k, 2) of quadratic elements."""
        return self._corners + np.searchsorted(self._keys, self._key(sides))

    def stiffness(self, poisson_ratio: float) -> sparse.csc_matrix:
        """Return the stiffness (3n, 3n) for a modulus of 1 Pa [m]."""
        return stiffness_matrix(self.points, self.members[:, :4], self.members, self._slopes,
                                poisson_ratio)


class ElasticElements(Tetrahedra):
    """
    Tetrahedra of linear elasticity with a modulus of 1 Pa, held by nothing.

    Parameters
    ----------
    nodes, corners, quadratic
        As of ``Tetrahedra``.
    poisson_ratio : float
    """

    def __init__(self, nodes: Array, corners: Indices, poisson_ratio: float,
                 quadratic: bool) -> None:
        super().__init__(nodes, corners, quadratic)
        matrix = self.stiffness(poisson_ratio)
        holding = HOLDING * matrix.diagonal().mean() * sparse.eye(matrix.shape[0])
        self._solver = splu((matrix + holding).tocsc())
        arms = self.points - self.points.mean(axis=0)
        turns = np.cross(np.eye(3)[:, None], arms).reshape(3, -1)
        self._rigid, _ = np.linalg.qr(np.vstack([np.tile(np.eye(3), len(arms)), turns]).T)

    def displacements(self, forces: Array) -> Array:
        """
        Return where forces (3n, k) [N] move nodes, for a modulus of 1 Pa (3n, k) [m].

        What pushes or turns the body as a whole is balanced by forces on all nodes, and the
        body as a whole is not moved.
        """
        return self._without_rigid(self._solver.solve(self._without_rigid(forces)))

    def _without_rigid(self, values: Array) -> Array:
        return values - self._rigid @ (self._rigid.T @ values)


def stiffness_matrix(nodes: Array, corners: Indices, members: Indices, slopes: Array,
                     poisson_ratio: float) -> sparse.csc_matrix:
    """
    Return the stiffness (3n, 3n) of tetrahedra of linear elasticity for a modulus of 1 Pa [m].

    Parameters
    ----------
    nodes, corners, poisson_ratio
        As of ``ElasticElements``.
    members : (T, m) int
        All nodes of each element: ``corners``, of quadratic ones the middles of sides behind.
    slopes : (4, m, 3) float
        Derivatives of their shape functions at ``PLACES``, by barycentrics.
    """
    size, count = 3 * (int(members.max()) + 1), 3 * members.shape[1]
    edges = np.swapaxes(nodes[corners[:, 1:]] - nodes[corners[:, :1]], 1, 2)
    gradients = np.einsum('pns,esx->epnx', slopes, np.linalg.inv(edges))
    shear = 0.5 / (1.0 + poisson_ratio)
    first = 2.0 * shear * poisson_ratio / (1.0 - 2.0 * poisson_ratio)
    pairs = np.einsum('epnx,epmy->enxmy', gradients, gradients) / 4.0
    traces = np.einsum('enxmx->enm', pairs)
    blocks = first * pairs + shear * np.swapaxes(pairs, 2, 4) \
        + shear * np.einsum('enm,xy->enxmy', traces, np.eye(3))
    blocks *= abs(np.linalg.det(edges))[:, None, None, None, None] / 6.0
    dofs = (3 * members[:, :, None] + np.arange(3)).reshape(len(members), -1)
    places = np.repeat(dofs, count, axis=1).ravel(), np.tile(dofs, (1, count)).ravel()
    return sparse.csc_matrix((blocks.ravel(), places), (size, size))


def stiffening(nodes: Array, corners: Indices, poisson_ratio: float) -> float:
    """
    Return how much stiffer linear tetrahedra are than quadratic ones of the same shape [-].

    That is the ratio of what forces over all of the body, linear and quadratic in place, do to
    quadratic tetrahedra and to linear ones, by their work. Two or three linear tetrahedra across
    a body in bending are too stiff by half, in compression by a tenth; quadratic ones follow.

    Parameters
    ----------
    nodes : (N, 3) float
        [m].
    corners : (T, 4) int
    poisson_ratio : float
    """
    volumes = abs(np.linalg.det(nodes[corners[:, 1:]] - nodes[corners[:, :1]])) / 6.0
    loads = _balanced_loads(PLACES @ nodes[corners], np.repeat(volumes[:, None] / 4.0, 4, axis=1))
    works = [_work(ElasticElements(nodes, corners, poisson_ratio, quadratic), loads)
             for quadratic in (True, False)]
    return float(works[0] / works[1])


def _balanced_loads(points: Array, volumes: Array) -> Array:
    """Return forces (f, T, 4, 3) [N] at points (T, 4, 3) that move no rigid body."""
    arms = points - np.average(points.reshape(-1, 3), axis=0, weights=volumes.ravel())
    shares = arms / np.ptp(arms.reshape(-1, 3), axis=0)
    fields = np.prod(shares[..., None, :] ** POWERS, axis=-1)               # (T, 4, p)
    forces = np.einsum('epk,ab->kaepb', fields, np.eye(3)).reshape(-1, *points.shape)
    rigid = np.concatenate([np.broadcast_to(np.eye(3)[:, None, None], (3, *points.shape)),
                            np.cross(np.eye(3)[:, None, None], arms)])
    squares = np.einsum('ep,iepx,jepx->ij', volumes, rigid, rigid)
    sums = np.einsum('ep,iepx,fepx->if', volumes, rigid, forces)
    balanced = forces - np.einsum('if,iepx->fepx', np.linalg.solve(squares, sums), rigid)
    return volumes[..., None] * balanced


def _work(elements: ElasticElements, loads: Array) -> float:
    """Return the work of loads (f, T, 4, 3) at places in elements."""
    forces = np.zeros((len(elements.points), 3, len(loads)))
    np.add.at(forces, elements.members, np.einsum('pn,fepx->enxf', elements.shapes, loads))
    forces = forces.reshape(-1, len(loads))
    return float((forces * elements.displacements(forces)).sum())
