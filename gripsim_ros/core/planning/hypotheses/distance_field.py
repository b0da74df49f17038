"""A coarse signed distance field, in which hypotheses are prescreened."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...numerics.kernels import njit, read_only
from ...numerics.vec3 import dot, load_vec3, subtract


#: Number of samples in a leaf of the search tree; far from the surface larger leaves are faster.
LEAF_SIZE = 40
#: Threads of the prescreen, here and in `generate`: its kernels, and searches, hold no lock.
THREADS = 4
#: Largest number of samples, and the side of the cubes, in cells, in each of which one sample of
#: each side is kept of more.
MOST_SAMPLES, THIN_SHARE = 100_000, 0.25
#: Largest number of parts into which a triangle's sides are cut.
MOST_PARTS = 200


class DistanceField(NamedTuple):
    """
    Signed distance to a closed surface on a regular grid, negative inside.

    Attributes
    ----------
    lower : (3,) float
        First grid point [m].
    spacing : float
        [m]
    values : (a, b, c) float
        [m]; an estimate from surface samples, good to about half their spacing.
    """

    lower: Array
    spacing: float
    values: Array


def sample_surface(mesh: TriangleMesh, spacing: float) -> tuple[Array, Array]:
    """
    Return points on a mesh, no farther apart than about ``spacing``, and their normals.

    Each triangle is filled with a barycentric lattice, so that the samples turn with
    the mesh and need no random numbers.

    Parameters
    ----------
    mesh : TriangleMesh
    spacing : float
        [m], above 0.

    Returns
    -------
    points, normals : (n, 3) float
    """
    vertices, faces = read_only(mesh.vertices), read_only(mesh.faces, np.int64)
    counts = _lattice_counts(vertices, faces, float(spacing))
    order = np.argsort(counts, kind='stable')
    return _lattices(vertices, faces, mesh.face_normals, counts, order)


@njit(cache=True, nogil=True)
def _lattice_counts(vertices: Array, faces: IntArray, spacing: float) -> NDArray[np.uint8]:
    """Return into how many parts the longest side of each triangle is cut (F,)."""
    counts = np.empty(len(faces), np.uint8)
    for f in range(len(faces)):
        longest = 0.0
        for k in range(3):
            side = subtract(load_vec3(vertices, faces[f, k]),
                            load_vec3(vertices, faces[f, (k + 2) % 3]))
            longest = max(longest, dot(side, side))
        counts[f] = int(min(max(np.ceil(np.sqrt(longest) / spacing), 1.0), MOST_PARTS))
    return counts


@njit(cache=True, nogil=True)
def _lattices(vertices: Array, faces: IntArray, face_normals: Array,
              counts: NDArray[np.uint8], order: IntArray) -> tuple[Array, Array]:
    """Return points and normals of the triangles' lattices, of those of few points first."""
    total, m = 0, 0
    for f in range(len(faces)):
        total += int(counts[f]) * (int(counts[f]) + 1) // 2
    points, normals = np.empty((total, 3)), np.empty((total, 3))
    for f in order:
        count = int(counts[f])
        for i in range(count):
            for j in range(count - i):
                u, v = (i + 1 / 3) / count, (j + 1 / 3) / count
                for k in range(3):
                    points[m, k] = ((1.0 - u - v) * vertices[faces[f, 0], k]
                                    + u * vertices[faces[f, 1], k] + v * vertices[faces[f, 2], k])
                    normals[m, k] = face_normals[f, k]
                m += 1
    return points, normals


def _thinned(points: Array, normals: Array, spacing: float) -> tuple[Array, Array]:
    """
    Return as many samples as the field needs: a finer mesh only brings more of them.

    The two sides of a thin wall may share a cube; each keeps a sample.
    """
    if len(points) <= MOST_SAMPLES:
        return points, normals
    cells = np.floor((points - points.min(axis=0)) / spacing).astype(np.int64)
    steep = np.abs(normals).argmax(axis=1)
    sides = 2 * steep + (normals[np.arange(len(normals)), steep] > 0.0)
    width = cells.max() + 1
    cubes = (cells[:, 0] * width + cells[:, 1]) * width + cells[:, 2]
    _, kept = np.unique(6 * cubes + sides, return_index=True)
    return points[kept], normals[kept]


def build_distance_field(mesh: TriangleMesh, cells: int = 36, margin: float = 0.02
                         ) -> DistanceField:
    """
    Return the distance field of a closed mesh.

    Parameters
    ----------
    mesh : TriangleMesh
    cells : int
        Cells along the longest side.
    margin : float
        Width of the rim around the bounding box [m].

    Returns
    -------
    DistanceField

    Notes
    -----
    Own derivation: nearest surface sample, signed by its triangle's normal. It only
    orders hypotheses; no verdict rests on it.

    """
    low, high = mesh.vertices.min(axis=0) - margin, mesh.vertices.max(axis=0) + margin
    spacing = float((high - low).max() / cells)
    shape = np.ceil((high - low) / spacing).astype(int) + 1
    points, normals = _thinned(*sample_surface(mesh, spacing), THIN_SHARE * spacing)
    axes = [low[i] + spacing * np.arange(shape[i]) for i in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1).reshape(-1, 3)
    distance, nearest = cKDTree(points, leafsize=LEAF_SIZE).query(grid, workers=THREADS)
    outward = np.einsum('ij,ij->i', grid - points[nearest], normals[nearest])
    signed = np.where(outward < 0.0, -distance, distance)
    return DistanceField(low, spacing, signed.reshape(shape))
