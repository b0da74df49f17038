"""
How a body moves under forces along its surface, from its compliance to forces along normals.

Derivations and limits: docs/model/compliance.md, "Friction".
"""

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from threadpoolctl import threadpool_limits

from ...arrays import Array, IntArray
from .body_compliance import BodyCompliance
from .node_correction import NodeCorrection
from .quadrature import nodal_areas

#: Part of the largest compliance that is added to all: finer fields than nodes tell are left [-].
SMOOTHING = 0.01
#: Softening of the influence function, squared, over the areas of two nodes together [-].
SOFTENING = 0.09 * 2.0 / np.pi
#: Number of rows of the compliance that are read at once.
BLOCK = 256


class TangentialLoads:
    """
    Displacements by tangential forces, of a body whose compliance knows normal ones alone.

    By Betti's reciprocity it is known how far every node sinks. Ways along the surface are those
    under the normal forces that would let it sink as far. What the two fields differ by lies as in
    a tight mould without friction, which a force along its surface moves near that force alone.

    Parameters
    ----------
    compliance : BodyCompliance
    """

    def __init__(self, compliance: BodyCompliance) -> None:
        """Factorise the compliance along normals; time grows with the nodes' third power."""
        self._compliance = compliance
        points, normals = compliance.points, compliance.normals
        areas = nodal_areas(points, compliance.elements)
        squares = ((points[:, None] - points) ** 2).sum(axis=2)
        self._kernel = 1.0 / (np.pi * np.sqrt(squares + SOFTENING * (areas[:, None] + areas)))
        along = self._kernel * (normals @ normals.T)
        for first in range(0, len(points), BLOCK):
            rows = slice(first, first + BLOCK)
            along[rows] += (compliance.displacements[rows] * normals).sum(axis=2)
        along = 0.5 * (along + along.T)
        along.flat[::len(points) + 1] += SMOOTHING * np.abs(along).sum(axis=1).max()
        with threadpool_limits(limits=1, user_api='blas'):
            self._factor = lu_factor(along, overwrite_a=True, check_finite=False)

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
        loads = np.zeros((len(correction.used), 3))
        shares = correction.weights / correction.weights.sum(axis=1)[:, None]
        np.add.at(loads, correction.columns, shares[:, :, None] * forces[:, None])
        acting = np.flatnonzero(loads.any(axis=1))
        used, loads = correction.used[acting], loads[acting] / correction.modulus
        ways = np.asarray(self._compliance.displacements[:, used], np.float64)
        direct = self._kernel[:, used] * (self._compliance.normals @ loads.T)
        return np.asarray((ways * loads).sum(axis=(1, 2)) + direct.sum(axis=1))

    def moves(self, vertices: tuple[IntArray, Array], sinking: Array) -> Array:
        """
        Return displacements of surface points (v, 3) [m] where nodes sink so far.

        Parameters
        ----------
        vertices : (v, 6) int, (v, 6) float
            ``interpolation`` of the points.
        sinking : (n,) float
            Of the nodes [m].
        """
        normals = self._compliance.normals
        with threadpool_limits(limits=1, user_api='blas'):
            forces = lu_solve(self._factor, sinking, check_finite=False)
            ways = (self._kernel @ (forces[:, None] * normals)
                    + np.einsum('j,jia->ia', forces, self._compliance.displacements))
        ways += (sinking - (ways * normals).sum(axis=1))[:, None] * normals
        nodes, weights = vertices
        return np.einsum('vk,vka->va', weights, ways[nodes])
