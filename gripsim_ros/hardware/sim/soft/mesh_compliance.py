"""What large linear tetrahedra yield to forces on their surface, beside what the body does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ....core.bodies import TriangleMesh
from ..elements import ElasticElements
from ..world_model import SoftMesh
from .hats import hat_forces, missed_yield

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: What a half-space yields to pressure that falls from a node to nothing at its neighbours, in the
#: mean under that pressure, times plane-strain modulus and root of the triangles' area [-]: of six
#: equal triangles round the node, and of two to four that are a quarter or a half, at an edge.
HAT_COMPLIANCE, PART_HAT_COMPLIANCE = 1.23, 1.14
#: Least cosine between a force and the normals of the triangles that it presses on.
FACING = 0.5


@dataclass(frozen=True)
class Press:
    """Shares (k,) of a force on nodes (k,), and where it comes from: a unit vector (3,)."""

    nodes: Indices
    shares: Array
    normal: Array


class MeshCompliance:
    """
    What tetrahedra of a soft object yield under links, and what the body would there.

    The body's is told by quadratic tetrahedra of the same shape, whose surface bears the pressure
    that nodes' shares stand for: from each node it falls to nothing at its neighbours.

    Parameters
    ----------
    soft : SoftMesh
    poisson_ratio : float
    """

    def __init__(self, soft: SoftMesh, poisson_ratio: float) -> None:
        self._soft, self._plane_modulus = soft, 1.0 / (1.0 - poisson_ratio**2)
        self._poisson_ratio = poisson_ratio
        self._linear, self._quadratic = (
            ElasticElements(soft.nodes, soft.corners, poisson_ratio, quadratic)
            for quadratic in (False, True))
        surface = TriangleMesh(soft.nodes, soft.faces)
        self._areas, self._normals = surface.face_areas, surface.face_normals
        order = np.argsort(soft.faces.ravel(), kind='stable')
        self._starts = np.searchsorted(soft.faces.ravel()[order], np.arange(len(soft.nodes) + 1))
        self._around = order // 3
        #: Nodes that were pressed on, with the triangles that were, and their number.
        self._spots: dict[tuple[int, bytes], int] = {}
        self._spot_nodes: list[int] = []
        #: Of each: what a half-space yields under its pressure, times E* [1/m].
        self._pressed: list[float] = []
        self._loads = [np.zeros((3 * len(elements.points), 0))
                       for elements in (self._linear, self._quadratic)]
        self._yields = [np.zeros((0, 0)), np.zeros((0, 0))]

    def compliances(self, presses: Sequence[Press]) -> tuple[Array, Array]:
        """
        Return what a half-space yields, and what tetrahedra yield more than the body.

        Returns
        -------
        near : (k, k) float
            A half-space of the same material, under each press by the force of each, per modulus
            [1/m].
        excess : (k, k) float
            The mesh bears its part of the modulus (``stiffening``) [1/m].
        """
        numbers = [self._spots_of(press) for press in presses]
        used = np.unique(np.concatenate(numbers))       # of all that were ever pressed on
        shares = np.zeros((2, len(presses), len(used)))     # on linear and quadratic tetrahedra
        for k, (press, found) in enumerate(zip(presses, numbers)):
            outer = self._starts[press.nodes + 1] > self._starts[press.nodes]
            on = press.shares * (outer if outer.any() else 1.0)     # inner nodes are beneath
            shares[:, k, np.searchsorted(used, found)] = press.shares, on / on.sum()
        normals = np.array([press.normal for press in presses])
        directed = (shares[..., None] * normals[:, None]).reshape(2, len(presses), -1)
        rows = (3 * used[:, None] + np.arange(3)).ravel()
        linear, quadratic = (loads @ yields[np.ix_(rows, rows)] @ loads.T
                             for loads, yields in zip(directed, self._yields))
        compliances = [self._pressed[spot] for spot in used]
        nodes = self._soft.nodes[[self._spot_nodes[spot] for spot in used]]
        away = np.linalg.norm(nodes[:, None] - nodes[None], axis=2)
        far = np.divide(1.0, np.pi * away, out=np.diag(compliances), where=away > 0.0)
        near = shares[1] @ far @ shares[1].T / self._plane_modulus
        return near, self._soft.stiffening * linear - quadratic

    def _spots_of(self, press: Press) -> list[int]:
        """Return the numbers of what a press presses on; it is computed when it is new."""
        keys = []
        for node in press.nodes:
            triangles = self._around[self._starts[node]:self._starts[node + 1]]
            facing = self._normals[triangles] @ press.normal > FACING
            keys.append((int(node), (facing if facing.any() else ~facing).tobytes()))
        new = [key for key in dict.fromkeys(keys) if key not in self._spots]
        if new:
            self._add(new)
        return [self._spots[key] for key in keys]

    def _add(self, keys: list[tuple[int, bytes]]) -> None:
        loads: tuple[list[Array], list[Array]] = ([], [])
        missed: list[Array] = []
        for node, bits in keys:
            self._spots[node, bits] = len(self._spot_nodes)
            self._spot_nodes.append(node)
            around = self._around[self._starts[node]:self._starts[node + 1]]
            facing = np.frombuffer(bits, dtype=bool)
            pressed, area = self._hat(node, around[facing])
            missed.append(self._missed(node, around[facing]))
            hat = HAT_COMPLIANCE if facing.all() else PART_HAT_COMPLIANCE
            self._pressed.append(hat / float(np.sqrt(area)))
            loads[0].append(np.eye(len(self._linear.points))[node])
            loads[1].append(pressed)
        for kind, elements in enumerate((self._linear, self._quadratic)):
            added = np.concatenate([np.kron(load[:, None], np.eye(3)) for load in loads[kind]],
                                   axis=1)
            both = np.hstack([self._loads[kind], added])
            columns = both.T @ elements.displacements(added)
            old = self._yields[kind].shape[0]
            if kind:
                columns[old:] += block_diag(*missed)
            self._yields[kind] = np.block([[self._yields[kind], columns[:old]],
                                           [columns[:old].T, columns[old:]]])
            self._loads[kind] = both

    def _hat(self, node: int, triangles: Indices) -> tuple[Array, float]:
        """
        Return forces (n,) on quadratic elements' nodes, 1 N in all, and the area pressed on.

        Of pressure that falls linearly from a node to the far sides of triangles.
        """
        if not len(triangles):      # an inner node
            return np.eye(len(self._quadratic.points))[node], 6.0 * float(self._areas.mean())
        corners = self._soft.faces[triangles]
        forces = hat_forces(self._quadratic, corners, (corners == node).astype(float))
        return forces / forces.sum(), float(self._areas[triangles].sum())

    def _missed(self, node: int, triangles: Indices) -> Array:
        """Return what quadratic tetrahedra miss of the yield to that pressure (3, 3) [1/m]."""
        if not len(triangles):
            return np.zeros((3, 3))
        return missed_yield(self._soft.nodes, self._soft.corners, node,
                            self._soft.faces[triangles], self._poisson_ratio)
