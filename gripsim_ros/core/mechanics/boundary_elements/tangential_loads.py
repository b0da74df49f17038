"""
How a body moves under forces along its surface, by reciprocity with what is prepared of it.

Derivations and limits: docs/model/compliance.md, "Friction".
"""

from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from threadpoolctl import ThreadpoolController

from ...arrays import Array, IntArray
from .body_compliance import BodyCompliance
from .node_correction import NodeCorrection
from .quadrature import nodal_areas, tangential_tractions

#: Part of the largest compliance that is added to all: finer fields than nodes tell are left [-].
SMOOTHING = 0.01
#: Softening of the influence function, squared, over the areas of two nodes together [-].
SOFTENING = 0.09 * 2.0 / np.pi
#: Part of the mean size of smooth tractions that is added to all: some are nearly none [-].
LEAST_TRACTION = 1e-6
#: Number of rows of the compliance that are read at once.
BLOCK = 256


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Return the libraries whose threads are limited; to find them takes milliseconds."""
    return ThreadpoolController()


class TangentialLoads:
    """
    Displacements by tangential forces, of a body whose compliance knows normal ones.

    By Betti's reciprocity it is known how far every node sinks, and how far the surface goes
    along itself in the mean over each of the smooth tractions whose displacements are prepared.
    Of shells and cubes none are.

    Parameters
    ----------
    compliance : BodyCompliance
    """

    def __init__(self, compliance: BodyCompliance) -> None:
        """Keep the compliance; what follows from it is computed at first use."""
        self._compliance = compliance
        self._areas = nodal_areas(compliance.points, compliance.elements)

    @cached_property
    def _kernel(self) -> Array:
        """Return the half-space's influence between nodes (n, n), at E / (1 - nu^2) = 1 Pa."""
        points, areas = self._compliance.points, self._areas
        squares = ((points[:, None] - points) ** 2).sum(axis=2)
        return np.asarray(1.0 / (np.pi * np.sqrt(
            squares + SOFTENING * (areas[:, None] + areas))))

    @cached_property
    def _factor(self) -> tuple[Array, IntArray]:
        """Return the factors of the compliance along normals; time grows as the nodes cubed."""
        compliance, normals = self._compliance, self._compliance.normals
        along = self._kernel * (normals @ normals.T)
        for first in range(0, len(normals), BLOCK):
            rows = slice(first, first + BLOCK)
            along[rows] += (compliance.displacements[rows] * normals).sum(axis=2)
        along = 0.5 * (along + along.T)
        along.flat[::len(normals) + 1] += SMOOTHING * np.abs(along).sum(axis=1).max()
        with _libraries().limit(limits=1, user_api='blas'):
            return lu_factor(along, overwrite_a=True, check_finite=False)

    @cached_property
    def _smooth(self) -> tuple[Array, Array]:
        """Return the smooth tractions (n, 3, m), and what inverts their products (m, m)."""
        compliance = self._compliance
        tractions = tangential_tractions(
            compliance.points, compliance.elements, compliance.normals)
        fields = tractions.reshape(*compliance.normals.shape, -1)
        flat = fields.reshape(-1, fields.shape[2])
        with _libraries().limit(limits=1, user_api='blas'):
            products = flat.T @ (np.repeat(self._areas, 3)[:, None] * flat)
            products.flat[::len(products) + 1] += LEAST_TRACTION * np.trace(products) / len(
                products)
            return fields, np.asarray(np.linalg.inv(products), np.float64)

    def moves(self, vertices: tuple[IntArray, Array], correction: NodeCorrection, forces: Array
              ) -> Array:
        """
        Return displacements of surface points (v, 3) [m] under forces of any direction.

        Parameters
        ----------
        vertices : (v, 6) int, (v, 6) float
            ``interpolation`` of the points.
        correction : NodeCorrection
            Of the patches' nodes.
        forces : (k, 3) float
            On them [N].

        Notes
        -----
        Source: Betti's reciprocity. ``far_moves`` are those by other, normal forces. The mean of
        what they lack over each smooth traction is the work of the forces on what the traction
        does, less that of the normal ones, which is the mean of ``far_moves`` as well: errors of
        both readings are opposite, as of forces along normals, and half of each is taken. A
        smooth field along the surface is added that has these means, the nearest to one that is
        not smooth.
        """
        pushes, ways = self._far_ways(self.sinking(correction, forces))
        compliance = self._compliance
        if compliance.tangential.size:
            used, loads = self._node_loads(correction, forces)
            rest = -0.5 * pushes[:, None] * compliance.normals
            rest[used] += loads
            fields, inverse = self._smooth
            means = (np.einsum('ntda,na->td', compliance.tangential, rest).ravel()
                     - 0.5 * np.einsum('n,nak,na->k', self._areas, fields, ways))
            ways = ways + fields @ (inverse @ means)
        nodes, weights = vertices
        return np.einsum('vk,vka->va', weights, ways[nodes])

    def _node_loads(self, correction: NodeCorrection, forces: Array) -> tuple[IntArray, Array]:
        """Return nodes (u,) and forces on them (u, 3) for those on patches' nodes, over E*."""
        loads = np.zeros((len(correction.used), 3))
        shares = correction.weights / correction.weights.sum(axis=1)[:, None]
        np.add.at(loads, correction.columns, shares[:, :, None] * forces[:, None])
        acting = np.flatnonzero(loads.any(axis=1))
        return correction.used[acting], loads[acting] / correction.modulus

    def sinking(self, correction: NodeCorrection, forces: Array) -> Array:
        """
        Return how far nodes of the surface sink under forces of any direction (n,) [m].

        Parameters
        ----------
        correction : NodeCorrection
            Of the patches' nodes.
        forces : (k, 3) float
            On them [N].

        Notes
        -----
        Source: Betti's reciprocity: how far node j sinks by a force at i is the work of that
        force on the way that i goes by a unit force into the body at j.
        """
        used, loads = self._node_loads(correction, forces)
        ways = np.asarray(self._compliance.displacements[:, used], np.float64)
        direct = self._kernel[:, used] * (self._compliance.normals @ loads.T)
        return np.asarray((ways * loads).sum(axis=(1, 2)) + direct.sum(axis=1))

    def far_moves(self, vertices: tuple[IntArray, Array], sinking: Array) -> Array:
        """
        Return displacements of surface points (v, 3) [m] where nodes sink so far.

        Ways along the surface are those under the normal forces that would let it sink as far.
        What the two fields differ by lies as in a tight mould without friction, which a force
        along its surface moves near that force alone: that is left out.

        Parameters
        ----------
        vertices : (v, 6) int, (v, 6) float
            ``interpolation`` of the points.
        sinking : (n,) float
            Of the nodes [m].
        """
        nodes, weights = vertices
        return np.einsum('vk,vka->va', weights, self._far_ways(sinking)[1][nodes])

    def _far_ways(self, sinking: Array) -> tuple[Array, Array]:
        """Return the normal forces (n,) of ``far_moves``, over E*, and ways of nodes (n, 3)."""
        normals = self._compliance.normals
        with _libraries().limit(limits=1, user_api='blas'):
            forces = lu_solve(self._factor, sinking, check_finite=False)
            ways = (self._kernel @ (forces[:, None] * normals)
                    + np.einsum('j,jia->ia', forces, self._compliance.displacements))
        ways += (sinking - (ways * normals).sum(axis=1))[:, None] * normals
        return forces, ways
