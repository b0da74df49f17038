"""Straight quadratic tetrahedra of a body: places, outer faces, volumes, stiffness."""

import numpy as np
from skfem import Basis, ElementTetP2, ElementVector, MeshTet
from skfem.models.elasticity import lame_parameters, linear_elasticity

from gripsim_ros.core.bodies import Material
from gripsim_ros.hardware.sim.solids import outer_faces, tetrahedron_volumes


class QuadraticTetrahedra:
    """
    Quadratic tetrahedra with corners ``(n, 3)`` and ``(t, 4)``, by scikit-fem.

    ``places (N, 3)`` are the corners and the middles of edges; ``faces (f, 6)`` the outer ones,
    three corners and the middles after each; ``volumes (N,)`` integrals of the shapes [m^3].
    """

    def __init__(self, corners, elements):
        """Number the middles and find the outer faces."""
        mesh = MeshTet(np.ascontiguousarray(corners.T), np.ascontiguousarray(elements.T))
        self._basis = Basis(mesh, ElementVector(ElementTetP2()))
        count, edges = len(corners), mesh.edges.T
        self.places = np.concatenate([corners, corners[edges].mean(axis=1)])
        keys = np.sort(edges, axis=1) @ [count, 1]
        order = np.argsort(keys)
        outer = outer_faces(elements)
        around = np.sort(outer[:, [[0, 1], [1, 2], [2, 0]]], axis=2) @ [count, 1]
        self.faces = np.hstack([outer, count + order[np.searchsorted(keys, around, sorter=order)]])
        sizes = tetrahedron_volumes(corners, elements)
        self.volumes = (
            np.bincount(elements.ravel(), np.repeat(-sizes / 20.0, 4), len(self.places))
            + np.bincount(count + mesh.t2e.T.ravel(), np.repeat(sizes / 5.0, 6),
                          len(self.places)))

    def stiffness(self, material: Material):
        """Return the sparse stiffness of places times axes, (3 N, 3 N) [N/m]."""
        matrix = linear_elasticity(*lame_parameters(
            material.youngs_modulus, material.poisson_ratio)).assemble(self._basis).tocsr()
        order = np.concatenate([self._basis.nodal_dofs.T, self._basis.edge_dofs.T]).ravel()
        return matrix[order][:, order]
