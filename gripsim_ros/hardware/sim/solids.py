"""Objects as MuJoCo takes them: convex pieces of rigid ones, tetrahedra of soft ones."""

import numpy as np
from numpy.typing import NDArray

from ...core.bodies.tetrahedra import fill_with_tetrahedra, tetrahedron_volumes
from ...core.errors import MeshError
from .options import SimulationError

Array = NDArray[np.float64]

#: Share of the hull's volume above which an object counts as convex.
CONVEX_SHARE = 0.97
#: Concavity that coacd leaves, of a body between -1 and 1: what hides a wall of 5 mm in 20 cm.
CONCAVITY = 0.05
#: How far the tetrahedra's surface may be from the object's, over the box's diagonal.
ENVELOPE = 0.01
#: Share of the volume that the tetrahedra may gain or lose, and edges over those of the try before
#: where they do, so many times in all: thin, round bodies are some per cent larger than their
#: chords, and the mesher's tetrahedra differ from run to run.
VOLUME_TOLERANCE, FINER, TRIES = 0.05, 0.85, 4


def convex_pieces_of(body, concavity: float = CONCAVITY,
                     convex_share: float = CONVEX_SHARE) -> list:
    """
    Return the convex pieces of an object as ``trimesh.Trimesh``.

    One where it is convex or nearly so; otherwise those of coacd.

    Parameters
    ----------
    body : TriangleMesh
        With ``vertices`` and ``faces``.
    concavity : float, optional
        Left to each piece, over half of the body's longest side [-].
    convex_share : float, optional
        Share of the hull's volume above which the hull is the only piece [-].

    Raises
    ------
    SimulationError
        The object is not convex and coacd is not installed.
    """
    import trimesh
    if is_convex(body, convex_share):
        return [trimesh.Trimesh(body.vertices, body.faces, process=False).convex_hull]
    try:
        import coacd
    except ModuleNotFoundError as error:
        raise SimulationError('a rigid object that is not convex needs coacd: pip install '
                              '"gripsim_ros[convex]"') from error
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    coacd.set_log_level('error')
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=concavity)
    return [trimesh.Trimesh(v, f).convex_hull for v, f in parts]


def is_convex(body, convex_share: float = CONVEX_SHARE) -> bool:
    """Return whether a body fills so much of its hull that this stands for it."""
    import trimesh
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    return bool(mesh.volume > convex_share * mesh.convex_hull.volume)


def tetrahedra_of(body, edge_length: float) -> tuple[Array, NDArray[np.int64]]:
    """
    Return a mesh of tetrahedra that fills an object.

    Parameters
    ----------
    body : TriangleMesh
    edge_length : float
        Wanted edge of the tetrahedra [m]; shorter ones where too much of the volume is lost.

    Returns
    -------
    (N, 3) float
        Nodes [m]; every one is used.
    (T, 4) int
        Corners of the tetrahedra, of positive volume.

    Raises
    ------
    SimulationError
        The mesher (fTetWild) is not installed, or lost more of the volume than allowed.
    """
    import trimesh
    wanted = trimesh.Trimesh(body.vertices, body.faces, process=False).volume
    for edge in edge_length * FINER ** np.arange(TRIES):
        try:
            nodes, corners = fill_with_tetrahedra(body, edge, ENVELOPE)
        except MeshError as error:
            raise SimulationError(f'{error} (or set another node_spacing)') from error
        found = float(tetrahedron_volumes(nodes, corners).sum())
        if abs(found - wanted) <= VOLUME_TOLERANCE * wanted:
            return nodes, corners
    raise SimulationError(f'tetrahedra of {1e3 * edge:g} mm fill {found:.3g} m^3 of '
                          f'{wanted:.3g} m^3: use a smaller node_spacing')


def node_masses(nodes: Array, corners: NDArray[np.int64], density: float) -> Array:
    """Return masses (N,) [kg]: a quarter of each tetrahedron to each of its corners."""
    shares = np.repeat(0.25 * density * tetrahedron_volumes(nodes, corners), 4)
    return np.bincount(corners.ravel(), shares, len(nodes))


def outer_faces(corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the outward faces (F, 3) of tetrahedra of positive volume."""
    faces = corners[:, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]].reshape(-1, 3)
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True,
                                return_counts=True)
    return faces[index[count == 1]]
