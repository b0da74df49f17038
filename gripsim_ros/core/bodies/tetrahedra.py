"""Tetrahedra that fill a closed mesh, by fTetWild."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, IntArray
from ..errors import MeshError
from .mesh import TriangleMesh

#: Longest that meshing may take [s].
MESHING_TIME = 120.0
#: What the mesher's process does. It ends by itself where nobody is left who would end it.
MESHER = """
import signal
import sys
signal.alarm(int(sys.argv[1]))
import numpy as np
from pytetwild import tetrahedralize
given = np.load('surface.npz')
nodes, corners = tetrahedralize(
    given['vertices'], given['faces'], edge_length_abs=float(given['edge_length']),
    epsilon=float(given['envelope']), coarsen=bool(given['coarsen']), num_threads=1)
np.savez('solid.npz', nodes=nodes, corners=corners)
"""


def fill_with_tetrahedra(body: TriangleMesh, edge_length: float, envelope: float,
                         coarsen: bool = True) -> tuple[Array, IntArray]:
    """
    Return tetrahedra that fill a closed mesh.

    Parameters
    ----------
    body : TriangleMesh
    edge_length : float
        Wanted edge of the tetrahedra [m].
    envelope : float
        How far their surface may be from the mesh, over the diagonal of its box [-].
    coarsen : bool, optional
        Use as few tetrahedra as the envelope allows.

    Returns
    -------
    (N, 3) float
        Nodes [m]; every one is used.
    (T, 4) int
        Corners of the tetrahedra, of positive volume.

    Raises
    ------
    MeshError
        The mesher (fTetWild) is not installed, failed, or took too long.

    Notes
    -----
    Hu et al., Fast Tetrahedral Meshing in the Wild, ACM TOG 39 (4), 2020, through pytetwild.
    """
    given: dict[str, Any] = {
        'vertices': np.array(body.vertices, float), 'faces': np.array(body.faces, np.int32),
        'edge_length': edge_length, 'envelope': envelope, 'coarsen': coarsen}
    nodes, corners = _run_mesher(given)
    corners = np.asarray(corners, np.int64)
    volumes = tetrahedron_volumes(nodes, corners)
    corners[volumes < 0.0, :2] = corners[volumes < 0.0, 1::-1]
    used, corners = np.unique(corners[volumes != 0.0], return_inverse=True)
    return np.asarray(nodes, float)[used], corners.reshape(-1, 4)


def _run_mesher(given: dict[str, Any]) -> tuple[Array, IntArray]:
    """Mesh in a process and folder of its own: fTetWild writes files where it stands."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, 'surface.npz'), **given)
        try:
            limit = str(int(np.ceil(MESHING_TIME + 1.0)))
            done = subprocess.run([sys.executable, '-c', MESHER, limit], cwd=folder, text=True,
                                  capture_output=True, timeout=MESHING_TIME)
        except subprocess.TimeoutExpired as error:
            raise MeshError(f'filling the mesh with tetrahedra of '
                            f'{1e3 * float(given["edge_length"]):.3g} mm took over '
                            f'{MESHING_TIME:g} s: use larger ones') from error
        if done.returncode:
            raise MeshError(_reason(done.returncode, done.stderr))
        solid = np.load(Path(folder, 'solid.npz'))
        return solid['nodes'], solid['corners']


def _reason(code: int, text: str) -> str:
    """Return why the mesher's process ended, in one line."""
    if 'ModuleNotFoundError' in text:
        return 'a soft object needs a mesher: pip install "gripsim_ros[sim]"'
    if code < 0:
        return f'meshing was ended by {signal.Signals(-code).name}'
    return f'the mesher failed: {(text.strip().splitlines() or [f"exit code {code}"])[-1]}'


def tetrahedron_volumes(nodes: Array, corners: IntArray) -> Array:
    """Return signed volumes (T,) [m^3] of tetrahedra."""
    a, b, c, d = (nodes[corners[:, k]] for k in range(4))
    return np.einsum('ij,ij->i', np.cross(b - a, c - a), d - a) / 6.0
