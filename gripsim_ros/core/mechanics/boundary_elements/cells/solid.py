"""
Displacements of a body by unit loads on its surface, from the cubes of a grid that it cuts.

Derivation, accuracy and limits: docs/model/compliance.md, "Cells".
"""

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags, kron
from threadpoolctl import threadpool_limits

from ....arrays import Array, IntArray
from ....bodies import TriangleMesh
from ....contact.geometry.closest_point import closest_points
from ....contact.geometry.vp_tree import build_vp_tree
from ..substructures import balanced_responses, Structure
from .elements import Cells
from .hats import Hats


def solve_cells(mesh: TriangleMesh, cells: Cells, hats: Hats, normals: Array,
                poisson_ratio: float) -> Array:
    """
    Return displacements by unit forces along normals, spread over hats, as means over hats.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    cells : Cells
        Of ``cells_of`` this mesh.
    hats : Hats
        Of ``n`` loads; their points go to the nearest place of the mesh.
    normals : (n, 3) float
        Unit, into the body.
    poisson_ratio : float

    Returns
    -------
    (n, 3, n) float
        At load i by load j, at E = 1 Pa and 1 N, without rigid motion [m].

    Raises
    ------
    numpy.linalg.LinAlgError
        The body encloses less than nothing somewhere, or a part of it is held by nothing.

    Notes
    -----
    Source: the finite cell method (Parvizian, Duester & Rank, Comput. Mech. 41, 2007, 121), with
    serendipity elements of the second degree. Departure: integrals are exact, by
    ``moments.cell_weights``. One thread, as of boundary elements.
    """
    hats = on_mesh(mesh, hats)
    reading, hosts = _reading(cells, hats)
    stiffness = cells.stiffness(poisson_ratio)
    structure = Structure(
        (stiffness + _springs(cells.nodes, stiffness.diagonal())).tocsr(), cells.elements,
        cells.middles, reading, hosts, freedoms=3, is_held=False)
    with threadpool_limits(limits=1, user_api='blas'):
        return balanced_responses(structure, hats.middles, hats.sizes, normals)


def on_mesh(mesh: TriangleMesh, hats: Hats) -> Hats:
    """Return hats whose points are at the nearest places of a mesh."""
    tree = build_vp_tree(mesh.vertices, mesh.faces)
    return hats._replace(places=closest_points(
        tree, np.ascontiguousarray(hats.places), np.inf)[1])


def _reading(cells: Cells, hats: Hats) -> tuple[csr_matrix, IntArray]:
    """Return mean displacements of hats (3 n, 3 k) by those of nodes, and a cube of each."""
    hosts, shapes = cells.shapes_at(hats.places)
    rows = np.repeat(np.arange(len(hosts)), shapes.shape[1])
    shares = coo_matrix((shapes.ravel(), (rows, cells.elements[hosts].ravel())),
                        shape=(len(hosts), len(cells.nodes))).tocsr()
    # The point of each hat with the largest share is in its midst.
    midst = np.asarray(hats.shares.argmax(axis=1)).ravel()
    return kron(hats.shares @ shares, np.eye(3), format='csr'), hosts[midst]


def _springs(nodes: Array, diagonal: Array) -> csr_matrix:
    """
    Return springs (3 k, 3 k) that hold a body, just so that loads in balance do not strain them.

    They are at three nodes far from each other that the body holds well: of three ways at the
    first, of two across the line to the second, and of one across both to the third.
    """
    held = diagonal.reshape(-1, 3).min(axis=1)
    good = np.flatnonzero(held >= np.median(held))
    axes = np.argsort(-np.ptp(nodes[good], axis=0), kind='stable')
    along = nodes[good][:, axes[0]]
    first, second = good[along.argmin()], good[along.argmax()]
    way = nodes[second] - nodes[first]
    away = np.linalg.norm(np.cross(way, nodes[good] - nodes[first]), axis=1)
    third = good[away.argmax()]
    across = np.cross(way, nodes[third] - nodes[first])
    springs = [3 * first, 3 * first + 1, 3 * first + 2, *(3 * second + axes[1:]),
               3 * third + int(np.abs(across).argmax())]
    stiffness = np.zeros(len(diagonal))
    stiffness[springs] = np.median(diagonal)
    return diags(stiffness).tocsr()
