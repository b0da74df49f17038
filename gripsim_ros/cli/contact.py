"""``gripsim contact``: which vertices of two meshes lie inside the other, and how deep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import unit_vector
from .inputs import InputError, existing_file, read_pose
from .output import check_writable, print_table, write_json
from .plan import Json, Out

if TYPE_CHECKING:
    from ..core.contact import ContactMesh, EdgeContacts, PenetratingVertices

#: Back ends that answer, and those to come.
BACKENDS, COMING_BACKENDS = ('auto', 'vp_tree'), ('gjk_epa', 'common_plane', 'seed')


def contact(
        a: Annotated[str, typer.Argument(
            metavar='A', help='Mesh file; all results are in its frame.')],
        b: Annotated[str, typer.Argument(metavar='B', help='Mesh file.')],
        direction: Annotated[str | None, typer.Option(
            '--direction', metavar='X Y Z', show_default='closest point',
            help='Motion of B relative to A, any length above 0.')] = None,
        transform: Annotated[Path | None, typer.Option(
            '--transform', help='YAML {position, orientation}: pose of B in A.')] = None,
        backend: Annotated[str, typer.Option(
            '--backend', help=f'One of {", ".join(BACKENDS)}.')] = 'auto',
        json: Json = False, out: Out = None) -> None:
    """Find the vertices of each mesh inside the other; indices are the files' own."""
    import numpy as np

    from ..core.contact import edge_contacts, vertex_contacts
    check_writable(out)
    _check_backend(backend)
    d_a = None if direction is None else unit_vector('--direction', direction)
    T_a_b = np.eye(4) if transform is None else read_pose(transform, 'transform')
    mesh_a, mesh_b = _read(a), _read(b)
    contacts = vertex_contacts(mesh_a, mesh_b, T_a_b, d_a)
    edges = [] if d_a is None else _edges(edge_contacts(mesh_a, mesh_b, T_a_b, d_a))
    answer = {'a_in_b': _inside(contacts.a_in_b), 'b_in_a': _inside(contacts.b_in_a),
              'edges': edges}
    write_json(answer, json, out)
    if not json:
        print_table('Vertices inside the other mesh', ('mesh', 'vertices', 'deepest [mm]'), [
            (title, str(len(side.vertices)), f'{1e3 * side.depths.max(initial=0.0):.4f}')
            for title, side in ((f'{a} in {b}', contacts.a_in_b),
                                (f'{b} in {a}', contacts.b_in_a))])


def _edges(contacts: EdgeContacts) -> list[dict[str, Any]]:
    """Return crossings of edges, each by its vertices in both files, depth and point."""
    return [{'a': first, 'b': second, 'depth': depth, 'point': point}
            for first, second, depth, point in zip(
                contacts.edges_a.tolist(), contacts.edges_b.tolist(),
                contacts.depths.tolist(), contacts.points.tolist())]


def _check_backend(backend: str) -> None:
    if backend in COMING_BACKENDS:
        raise InputError(f'--backend {backend} is not built yet; '
                         f'this version has {", ".join(BACKENDS)}')
    if backend not in BACKENDS:
        raise InputError(f'--backend must be one of {", ".join(BACKENDS)}, got {backend!r}')


def _read(path: str) -> ContactMesh:
    from ..core.bodies import read_triangles
    from ..core.contact import ContactMesh
    return ContactMesh.from_arrays(*read_triangles(existing_file(path, 'mesh')))


def _inside(side: PenetratingVertices) -> dict[str, Any]:
    return {'vertices': side.vertices, 'depths': side.depths, 'points': side.points}
