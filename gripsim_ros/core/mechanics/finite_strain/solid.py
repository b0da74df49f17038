"""A body of quadratic tetrahedra: geometry, elastic energy, forces and stiffness."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...arrays import Array, IntArray
from ...bodies.mesh import sum_by_label
from ..quadratic_elements import EDGES, shape_slopes
from .element_matrices import element_matrices
from .laws import StrainLaw

#: Outward sides of a tetrahedron of positive volume: corners, then the nodes between them.
SIDES = np.array([[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6]])
#: Barycentric coordinates of the four points that integrate a tetrahedron, exact to degree 2.
INNER, OUTER = 0.5854101966249685, 0.1381966011250105
POINTS = np.full((4, 4), OUTER) + (INNER - OUTER) * np.eye(4)


@dataclass(frozen=True, eq=False)
class QuadraticSolid:
    """
    A body of ten-node tetrahedra.

    Attributes
    ----------
    nodes : (N, 3) float
        At rest, frame object [m].
    elements : (T, 10) int
        Four corners of positive volume, then the nodes between them as in ``EDGES``.
    faces : (F, 6) int
        The surface, outward: three corners, then the nodes between them.
    """

    nodes: Array
    elements: IntArray
    faces: IntArray

    @staticmethod
    def of_tetrahedra(points: Array, corners: IntArray) -> 'QuadraticSolid':
        """Return the body of straight tetrahedra (T, 4) of positive volume."""
        pairs = np.sort(corners[:, EDGES], axis=-1).reshape(-1, 2)
        edges, index = np.unique(pairs, axis=0, return_inverse=True)
        elements = np.hstack([corners, len(points) + index.reshape(-1, 6)])
        faces = elements[:, SIDES].reshape(-1, 6)
        _, first, count = np.unique(np.sort(faces[:, :3], axis=1), axis=0, return_index=True,
                                    return_counts=True)
        nodes = np.vstack([points, points[edges].mean(axis=1)])
        return QuadraticSolid(nodes, elements, faces[np.sort(first[count == 1])])

    @cached_property
    def _geometry(self) -> tuple[Array, Array]:
        """Gradients of the shape functions (T, 4, 10, 3) [1/m] and weights (T, 4) [m^3]."""
        slopes = shape_slopes(POINTS, EDGES)
        jacobians = np.einsum('qas,tax->tqsx', slopes, self.nodes[self.elements])
        gradients = np.einsum('tqxs,qas->tqax', np.linalg.inv(jacobians), slopes)
        return gradients, np.linalg.det(jacobians) / 24.0

    @property
    def gradients(self) -> Array:
        """Return gradients of the shape functions at the points (T, 4, 10, 3) [1/m]."""
        return self._geometry[0]

    @property
    def weights(self) -> Array:
        """Return the volume that belongs to each point (T, 4) [m^3]."""
        return self._geometry[1]

    @cached_property
    def volumes(self) -> Array:
        """Return the volumes of the elements (T,) [m^3]."""
        return self.weights.sum(axis=1)

    @cached_property
    def node_volumes(self) -> Array:
        """Return a share of the body's volume for each node (N,) [m^3], all above 0."""
        return np.bincount(self.elements.ravel(), np.repeat(self.volumes / 10.0, 10),
                           len(self.nodes)).astype(float)

    @cached_property
    def pattern(self) -> 'BlockPattern':
        """Return the pairs of nodes that touch each other."""
        return BlockPattern(self.elements, len(self.nodes))

    def deformation(self, positions: Array) -> Array:
        """Return deformation gradients (T, 4, 3, 3) of node positions (N, 3) [m]."""
        return positions[self.elements].transpose(0, 2, 1)[:, None] @ self.gradients

    def volume_ratios(self, F: Array) -> Array:
        """Return the mean ratio of volume of each element (T,) of gradients (T, 4, 3, 3)."""
        return (self.weights * determinants(F)).sum(axis=1) / self.volumes

    def energy(self, law: StrainLaw, positions: Array) -> float:
        """Return the elastic energy [J]; infinite where an element has turned over."""
        F = self.deformation(positions)
        points = law.shape_energy(F) + law.swelling_energy(determinants(F))
        whole = law.volume_energy(self.volume_ratios(F))
        return float((self.weights * points).sum() + self.volumes @ whole)

    def forces(self, law: StrainLaw, positions: Array) -> Array:
        """Return the derivative of the energy by the positions (N, 3) [N]."""
        F = self.deformation(positions)
        slopes = (law.volume_slope(self.volume_ratios(F))[:, None]
                  - law.pressure_at_rest / determinants(F))
        stress = law.shape_stress(F) + slopes[..., None, None] * cofactors(F)
        rows = np.einsum('tq,tqxj,tqaj->tax', self.weights, stress, self.gradients, optimize=True)
        return sum_by_label(rows.reshape(-1, 3), self.elements.ravel(), len(self.nodes))

    def stiffness(self, law: StrainLaw, positions: Array) -> Array:
        """
        Return the second derivative of the energy, element by element (T, 10, 3, 10, 3) [N/m].

        The pressure is one number for each element, which follows from its mean ratio of volume;
        so bodies that hardly change their volume do not lock.
        Source: Nagtegaal, Parks & Rice, Comput. Methods Appl. Mech. Eng. 4, 1974, 153; Simo,
        Taylor & Pister, the same 51, 1985, 177, section 3.
        """
        F = self.deformation(positions)
        count, ratios, local = len(self.elements), self.volume_ratios(F), determinants(F)
        turned = cofactors(F)
        flat = turned.reshape(count, 4, 9)
        slopes = law.volume_slope(ratios)[:, None] - law.pressure_at_rest / local
        moduli = law.shape_tangent(F) + slopes[..., None, None] * cofactor_tangents(F)
        moduli += (law.pressure_at_rest / local ** 2)[..., None, None] * (
            flat[..., :, None] * flat[..., None, :])
        moduli *= self.weights[..., None, None]
        swelling = np.einsum('tq,tqxj,tqaj->tax', self.weights, turned, self.gradients,
                             optimize=True)
        return element_matrices(self.gradients, moduli.reshape(count, 4, 3, 3, 3, 3), swelling,
                                law.volume_curvature(ratios) / self.volumes)


class BlockPattern:
    """Where the 3 x 3 blocks of element matrices stand in the matrix of all nodes."""

    def __init__(self, elements: IntArray, count: int) -> None:
        self._count = count
        keys = self._keys(elements)
        self._pairs, self._index = np.unique(keys, return_inverse=True)
        self._index = self._index.reshape(-1)
        rows, self._columns = np.divmod(self._pairs, count)
        self._starts = np.searchsorted(rows, np.arange(count + 1))

    def _keys(self, elements: IntArray) -> IntArray:
        wide = elements.astype(np.int64)
        return (wide[:, :, None] * self._count + wide[:, None, :]).ravel()

    def blocks(self, matrices: Array, elements: IntArray | None = None) -> Array:
        """
        Return the blocks (P, 3, 3) of element matrices (T, a, 3, a, 3).

        The same of parts of elements, such as faces (F, b), where these are given.
        """
        index = (self._index if elements is None else
                 np.searchsorted(self._pairs, self._keys(elements)))
        parts = matrices.transpose(0, 1, 3, 2, 4).reshape(-1, 9)
        sums = [np.bincount(index, parts[:, k], len(self._pairs)) for k in range(9)]
        return np.stack(sums, axis=1).astype(float).reshape(-1, 3, 3)

    def matrix(self, blocks: Array, diagonal: Array) -> sparse.csc_matrix:
        """Return the symmetric matrix of blocks and a diagonal (N,), the same on all axes."""
        size = 3 * self._count
        rows = sparse.bsr_matrix((blocks, self._columns, self._starts),
                                 shape=(size, size)).tocsr()
        return (rows + sparse.diags(np.repeat(diagonal, 3))).tocsc()


def determinants(F: Array) -> Array:
    """Return determinants (…,) of matrices (…, 3, 3)."""
    return (F[..., 0, :] * np.cross(F[..., 1, :], F[..., 2, :])).sum(axis=-1)


def cofactors(F: Array) -> Array:
    """Return the derivatives of determinants by their matrices (…, 3, 3)."""
    a, b, c = F[..., 0, :], F[..., 1, :], F[..., 2, :]
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)


def cofactor_tangents(F: Array) -> Array:
    """Return second derivatives of determinants (…, 9, 9), in the order of F, row by row."""
    result = np.zeros((*F.shape[:-2], 3, 3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        # d cof_i / d F_j = -[F_k] x, and its transpose for the other order.
        x, y, z = F[..., k, 0], F[..., k, 1], F[..., k, 2]
        block = result[..., i, :, j, :]
        block[..., 0, 1], block[..., 0, 2], block[..., 1, 2] = z, -y, x
        block[..., 1, 0], block[..., 2, 0], block[..., 2, 1] = -z, y, -x
        result[..., j, :, i, :] = np.swapaxes(block, -1, -2)
    return result.reshape(*F.shape[:-2], 9, 9)
