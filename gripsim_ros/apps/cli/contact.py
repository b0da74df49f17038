"""``gripsim contact``: which vertices of two meshes lie inside the other, and how deep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import unit_vector
from .inputs import InputError, existing_file, read_pose
from .options import Json, Out
from .output import check_writable, print_table, say, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.contact import EdgeContacts, PenetratingVertices
    from ...core.contact.backends.common_plane import CommonPlane
    from ...core.contact.backends.convex.manifold import Manifold
    from ...core.contact.backends.find_contacts import ContactBody, Contacts
    from ...core.bodies.oriented_box import OrientedBox

#: As in ``core.contact.backends``, which takes long to import.
BACKENDS = ('auto', 'vp_tree', 'gjk_epa', 'common_plane', 'seed')


def contact(
        a: Annotated[str, typer.Argument(
            metavar='A', help='Mesh file; all results are in its frame. With --backend '
            'common_plane also points: a segment, a triangle, the corners of a body.')],
        b: Annotated[str, typer.Argument(metavar='B', help='Mesh file, or points as A.')],
        direction: Annotated[str | None, typer.Option(
            '--direction', metavar='X Y Z', show_default='closest point',
            help='Motion of B relative to A, any length above 0.')] = None,
        transform: Annotated[Path | None, typer.Option(
            '--transform', help='YAML {position, orientation}: pose of B in A.')] = None,
        backend: Annotated[str, typer.Option(
            '--backend', help=f'One of {", ".join(BACKENDS)}; auto is vp_tree.')] = 'auto',
        picture: Annotated[Path | None, typer.Option(
            '--picture', help='Write a PNG of the contact, with regions and ways out.')] = None,
        json: Json = False, out: Out = None) -> None:
    """Find the vertices of each mesh inside the other; indices are the files' own."""
    import numpy as np

    from ...core.contact.backends.find_contacts import find_contacts, interaction_boxes
    for path in (out, picture):
        check_writable(path)
    if backend not in BACKENDS:
        raise InputError(f'--backend must be one of {", ".join(BACKENDS)}, got {backend!r}')
    if backend == 'seed' and direction is None:
        raise InputError('--backend seed needs --direction: its rule is about the motion')
    d_a = None if direction is None else unit_vector('--direction', direction)
    T_a_b = np.eye(4) if transform is None else read_pose(transform, 'transform')
    if backend == 'common_plane' and (_is_text(a) or _is_text(b)):
        if picture is not None:
            raise InputError('--picture draws meshes, not points')
        _part_points(a, b, T_a_b, json, out)
        return
    body_a, body_b = _read(a), _read(b)
    found = find_contacts(body_a, body_b, T_a_b, d_a, backend)
    for name in found.crossing:
        say(f'warning: {a if name == "a" else b}: the surface crosses itself; inside is '
            'where it surrounds a vertex at least once')
    boxes = interaction_boxes(body_a, body_b, T_a_b)
    write_json({**_answer(found), 'boxes': {name: _box(box) for name, (box, _) in boxes.items()},
                'regions': {name: region and _box(region) for name, (_, region) in boxes.items()}},
               json, out)
    if picture is not None:
        from ..report.contact_picture import draw_contact
        draw_contact(body_a, body_b, T_a_b, found, (Path(a).stem, Path(b).stem),
                     d_a).save(picture)
        say(f'wrote {picture}')
    if not json:
        _print(found, a, b)


def _read(path: str) -> ContactBody:
    """Return the body in a file; what was done to close its surface is said."""
    from ...core.bodies import read_triangles
    from ...core.contact.backends.find_contacts import ContactBody
    from ...core.errors import GripsimError
    vertices, faces = read_triangles(existing_file(path, 'mesh'))
    try:
        body = ContactBody.from_arrays(vertices, faces)
    except GripsimError as error:
        raise type(error)(f'{path}: {error}') from None
    for repair in body.repairs:
        say(f'warning: {path}: {repair}')
    return body


def _is_text(path: str) -> bool:
    """Return whether a file holds points as text, by its ending."""
    from ...core.bodies.scans.reading import TEXT_ENDINGS
    return Path(path).suffix.lower().lstrip('.') in TEXT_ENDINGS


def _part_points(a: str, b: str, T_a_b: NDArray[np.float64], json: bool, out: Path | None
                 ) -> None:
    """Tell the common plane of the hulls of two files' points."""
    from ...core.contact.backends.common_plane import common_plane
    from ...core.transforms import apply
    plane = common_plane(_points(a), apply(T_a_b, _points(b)), early_exit=False)
    # A gap above 0 proves that they are apart; where none is found, nothing is proved.
    apart = True if plane.gap > 0.0 else None
    write_json({'backend': 'common_plane', 'plane': _plane(plane, apart)}, json, out)
    if not json:
        _print_plane(plane, apart)


def _points(path: str) -> NDArray[np.float64]:
    """Return the points of a file, or the vertices of its mesh."""
    if not _is_text(path):
        return _read(path).closed.mesh.vertices
    from ...core.bodies.scans.reading import read_points
    points = read_points(existing_file(path, 'points'))
    if points.shape[1] != 3:
        raise InputError(f'{path}: points need 3 columns here, got {points.shape[1]}')
    return points


def _box(box: OrientedBox) -> dict[str, Any]:
    return {'axes': box.axes, 'centre': box.centre, 'half_lengths': box.half_lengths}


def _answer(found: Contacts) -> dict[str, Any]:
    answer: dict[str, Any] = {
        'backend': found.backend, 'approximate': found.approximate,
        'a_in_b': _inside(found.a_in_b), 'b_in_a': _inside(found.b_in_a),
        'edges': _edges(found.edges)}
    if found.intersecting is not None:
        answer['intersecting'] = found.intersecting
    if found.manifold is not None:
        answer['manifold'] = _manifold(found.manifold)
    if found.pairs is not None:
        answer['pairs'] = {name: vars(side) for name, side in zip('ab', found.pairs)}
    if found.plane is not None:
        answer['plane'] = _plane(found.plane, bool(found.apart))
    return answer


def _inside(side: PenetratingVertices) -> dict[str, Any]:
    return {'vertices': side.vertices, 'depths': side.depths, 'points': side.points}


def _edges(contacts: EdgeContacts) -> list[dict[str, Any]]:
    """Return crossings of edges, each by its vertices in both files, depth and point."""
    return [{'a': first, 'b': second, 'depth': depth, 'point': point}
            for first, second, depth, point in zip(
                contacts.edges_a.tolist(), contacts.edges_b.tolist(),
                contacts.depths.tolist(), contacts.points.tolist())]


def _manifold(manifold: Manifold) -> dict[str, Any]:
    return {'overlap': manifold.overlap, 'distance': manifold.distance,
            'depth': manifold.depth, 'normal': manifold.normal, 'points': manifold.points,
            'depths': manifold.depths, 'normals': manifold.normals}


def _plane(plane: CommonPlane, apart: bool | None) -> dict[str, Any]:
    return {'apart': apart, 'gap': plane.gap, 'normal': plane.normal, 'point': plane.point,
            'loops': plane.iterations}


def _print(found: Contacts, a: str, b: str) -> None:
    """Print the answer as a table for people."""
    if found.manifold is not None:
        manifold = found.manifold
        rows = [('overlap', 'yes' if manifold.overlap else 'no'),
                ('distance', f'{1e3 * manifold.distance:.4f} mm'),
                ('depth', f'{1e3 * manifold.depth:.4f} mm'),
                ('direction of B out of A', _vector(manifold.normal)),
                ('points', str(len(manifold.points)))]
        print_table('Manifold of the convex parts', ('', ''), rows)
        return
    if found.plane is not None:
        _print_plane(found.plane, found.apart)
        return
    title = 'Vertices inside the other mesh'
    print_table(title + ' (approximate)' * found.approximate,
                ('mesh', 'vertices', 'deepest [mm]'), [
                    (name, str(len(side.vertices)), f'{1e3 * side.depths.max(initial=0.0):.4f}')
                    for name, side in ((f'{a} in {b}', found.a_in_b),
                                       (f'{b} in {a}', found.b_in_a))])


def _print_plane(plane: CommonPlane, apart: bool | None) -> None:
    rows = [('apart', {True: 'yes', False: 'no', None: 'not proved'}[apart]),
            ('gap', f'{1e3 * plane.gap:.4f} mm'),
            ('normal, from A to B', _vector(plane.normal)), ('point', _vector(plane.point))]
    print_table('Common plane', ('', ''), rows)


def _vector(vector: Any) -> str:
    return ' '.join(f'{number:.6g}' for number in vector)
