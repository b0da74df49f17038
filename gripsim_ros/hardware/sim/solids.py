"""Objects as MuJoCo takes them: convex pieces of rigid ones, tetrahedra of soft ones."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .options import SimulationError

Array = NDArray[np.float64]

#: Share of the hull's volume above which an object counts as convex.
CONVEX_SHARE = 0.97
#: Concavity that coacd leaves, of a body between -1 and 1: what hides a wall of 5 mm in 20 cm.
CONCAVITY = 0.05
#: How far the tetrahedra's surface may be from the object's, over the box's diagonal.
ENVELOPE = 0.01
#: Share of the volume that the tetrahedra may gain or lose.
VOLUME_TOLERANCE = 0.05
#: Longest that meshing may take [s].
MESHING_TIME = 120.0
#: What the mesher's process does.
MESHER = """
import numpy as np
from pytetwild import tetrahedralize
given = np.load('surface.npz')
nodes, corners = tetrahedralize(
    given['vertices'], given['faces'], edge_length_abs=float(given['edge_length']),
    epsilon=float(given['envelope']), coarsen=True, num_threads=1)
np.savez('solid.npz', nodes=nodes, corners=corners)
"""


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
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    hull = mesh.convex_hull
    if mesh.volume > convex_share * hull.volume:
        return [hull]
    try:
        import coacd
    except ModuleNotFoundError as error:
        raise SimulationError('a rigid object that is not convex needs coacd: pip install '
                              '"gripsim_ros[convex]"') from error
    coacd.set_log_level('error')
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=concavity)
    return [trimesh.Trimesh(v, f).convex_hull for v, f in parts]


def tetrahedra_of(body, edge_length: float) -> tuple[Array, NDArray[np.int64]]:
    """
    Return a mesh of tetrahedra that fills an object.

    Parameters
    ----------
    body : TriangleMesh
    edge_length : float
        Wanted edge of the tetrahedra [m].

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

    Notes
    -----
    Hu et al., Fast Tetrahedral Meshing in the Wild, ACM TOG 39 (4), 2020, through pytetwild.
    """
    nodes, corners = _run_mesher(np.array(body.vertices, float), np.array(body.faces, np.int32),
                                 edge_length)
    corners = np.asarray(corners, np.int64)
    volumes = tetrahedron_volumes(nodes, corners)
    corners[volumes < 0.0, :2] = corners[volumes < 0.0, 1::-1]
    used, corners = np.unique(corners, return_inverse=True)
    import trimesh
    wanted = trimesh.Trimesh(body.vertices, body.faces, process=False).volume
    found = float(np.abs(volumes).sum())
    if abs(found - wanted) > VOLUME_TOLERANCE * wanted:
        raise SimulationError(f'tetrahedra of {1e3 * edge_length:g} mm fill {found:.3g} m^3 of '
                              f'{wanted:.3g} m^3: use a smaller node_spacing')
    return np.asarray(nodes, float)[used], corners.reshape(-1, 4)


def _run_mesher(vertices: Array, faces: NDArray[np.int32], edge_length: float):
    """Mesh in a process and folder of its own: fTetWild writes files where it stands."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, 'surface.npz'), vertices=vertices, faces=faces,
                 edge_length=edge_length, envelope=ENVELOPE)
        try:
            done = subprocess.run([sys.executable, '-c', MESHER], cwd=folder, text=True,
                                  capture_output=True, timeout=MESHING_TIME)
        except subprocess.TimeoutExpired as error:
            raise SimulationError(f'meshing with {1e3 * edge_length:g} mm took over '
                                  f'{MESHING_TIME:g} s: use a larger node_spacing') from error
        if done.returncode:
            if 'ModuleNotFoundError' in done.stderr:
                raise SimulationError('a soft object needs a mesher: pip install '
                                      '"gripsim_ros[sim]"')
            if done.returncode < 0:
                raise SimulationError('meshing was ended by '
                                      f'{signal.Signals(-done.returncode).name}')
            reason = (done.stderr.strip().splitlines() or [f'exit code {done.returncode}'])[-1]
            raise SimulationError(f'the mesher failed: {reason}')
        solid = np.load(Path(folder, 'solid.npz'))
        return solid['nodes'], solid['corners']


def tetrahedron_volumes(nodes: Array, corners: NDArray[np.int64]) -> Array:
    """Return signed volumes (T,) [m^3] of tetrahedra."""
    a, b, c, d = (nodes[corners[:, k]] for k in range(4))
    return np.einsum('ij,ij->i', np.cross(b - a, c - a), d - a) / 6.0


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
