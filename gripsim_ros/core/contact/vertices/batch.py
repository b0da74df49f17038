"""Vertex contacts of many links and configurations at once, on as many cores as asked for."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...errors import ShapeError
from ...numerics.kernels import njit
from ..geometry.contact_mesh import ContactMesh
from ..geometry.flat_tree import FlatTree
from ..geometry.ray_casting import doubled
from .kernels import Inside, mutual_penetration
from .penetrating_vertices import ON_SURFACE, PenetratingVertices, VertexContacts, unit_direction

Side = tuple[IntArray, IntArray, Array]

#: Number of tasks per core, so that no core waits long for another.
TASKS_PER_WORKER = 4


@dataclass(frozen=True, eq=False)
class VertexContactBatch:
    """
    Contacts of n configurations of L links with one body.

    Attributes
    ----------
    counts : (n, L, 2) int
        Vertices of the link in the body, and of the body in the link.
    """

    counts: IntArray
    _chunks: tuple[tuple[int, int, int, tuple[Side, Side]], ...]

    def of(self, configuration: int, link: int) -> VertexContacts:
        """Return the contacts of one link in one configuration; points in the link's frame."""
        for owner, start, end, sides in self._chunks:
            if owner == link and start <= configuration < end:
                row = configuration - start
                return VertexContacts(*(_part(side, row) for side in sides))
        raise ShapeError(f'there are {self.counts.shape[0]} configurations of '
                         f'{self.counts.shape[1]} links, not ({configuration}, {link})')


def batch_vertex_contacts(links: Sequence[ContactMesh], body: ContactMesh, T_link_body: Array,
                          directions: Array, workers: int = 1) -> VertexContactBatch:
    """
    Find the vertices of links and body inside each other, for many configurations.

    Parameters
    ----------
    links : sequence of ContactMesh, length L
    body : ContactMesh
    T_link_body : (n, L, 4, 4) float
        Poses of the body in the links.
    directions : (n, L, 3) float
        Motion of the body relative to each link, frame of the link, any length above 0.
    workers : int
        Threads; the kernels hold no lock, so each uses a core.

    Returns
    -------
    VertexContactBatch
        Each answer is that of ``vertex_contacts``, to the last bit, whatever ``workers``.

    Raises
    ------
    ShapeError
        The arrays do not fit, a direction has no length, or there is no worker.
    """
    poses, motions = np.array(T_link_body, float), np.array(directions, float)
    _check(len(links), poses, motions, workers)
    units = np.array([unit_direction(d) for d in motions.reshape(-1, 3)]).reshape(motions.shape)
    count = len(poses)
    step = max(1, -(-count * len(links) // (TASKS_PER_WORKER * workers)))
    jobs = [(link, start, min(start + step, count)) for link in range(len(links))
            for start in range(0, count, step)]
    arrays, target = [link.flat_tree for link in links], body.flat_tree

    def run(job: tuple[int, int, int]) -> tuple[Side, Side]:
        link, start, end = job
        return _batch_contacts(
            arrays[link], target, np.ascontiguousarray(poses[start:end, link]),
            np.ascontiguousarray(units[start:end, link]), ON_SURFACE)

    if workers == 1:
        sides = [run(job) for job in jobs]
    else:
        with ThreadPoolExecutor(workers) as pool:
            sides = list(pool.map(run, jobs))
    counts = np.zeros((count, len(links), 2), np.int64)
    for (link, start, end), pair in zip(jobs, sides):
        for k in range(2):
            counts[start:end, link, k] = np.diff(pair[k][0])
    return VertexContactBatch(counts, tuple((*job, pair) for job, pair in zip(jobs, sides)))


def _check(links: int, poses: Array, motions: Array, workers: int) -> None:
    if links < 1 or poses.shape[1:] != (links, 4, 4) or motions.shape != (*poses.shape[:2], 3):
        raise ShapeError(f'{links} links need poses (n, {links}, 4, 4) and directions '
                         f'(n, {links}, 3), got {poses.shape} and {motions.shape}')
    if workers < 1:
        raise ShapeError(f'workers must be at least 1, got {workers}')


def _part(side: Side, row: int) -> PenetratingVertices:
    offsets, whole, real = side
    start, end = offsets[row], offsets[row + 1]
    return PenetratingVertices(whole[start:end, 0], real[start:end, 0], real[start:end, 1:4],
                               whole[start:end, 1], real[start:end, 4:7])


@njit(cache=True, nogil=True)
def _batch_contacts(a: FlatTree, b: FlatTree, poses: Array, directions: Array,
                    on_surface: float) -> tuple[Side, Side]:
    """Return, for both ways, offsets (n + 1,), vertices and triangles, and seven numbers each."""
    count = len(poses)
    offsets_a, offsets_b = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    whole_a, whole_b = np.empty((64, 2), np.int64), np.empty((64, 2), np.int64)
    real_a, real_b = np.empty((64, 7)), np.empty((64, 7))
    for i in range(count):
        a_in_b, b_in_a = mutual_penetration(a, b, poses[i], directions[i], on_surface)
        whole_a, real_a = _append(whole_a, real_a, offsets_a, i, a_in_b)
        whole_b, real_b = _append(whole_b, real_b, offsets_b, i, b_in_a)
    return (offsets_a, whole_a, real_a), (offsets_b, whole_b, real_b)


@njit(cache=True, nogil=True)
def _append(whole: IntArray, real: Array, offsets: IntArray, i: int,
            side: Inside) -> tuple[IntArray, Array]:
    vertices, depths, points, triangles, weights = side
    start, end = offsets[i], offsets[i] + len(vertices)
    offsets[i + 1] = end
    while end > len(whole):
        whole, real = doubled(whole), doubled(real)
    for row in range(len(vertices)):
        whole[start + row, 0], whole[start + row, 1] = vertices[row], triangles[row]
        real[start + row, 0] = depths[row]
        for k in range(3):
            real[start + row, 1 + k], real[start + row, 4 + k] = points[row, k], weights[row, k]
    return whole, real
