"""Random broken mesh files, and a referee for what contact says of them."""

from dataclasses import dataclass
import struct

from cli_cases import gripsim, strict
from contact_oracles import winding_numbers
import numpy as np

from gripsim_ros.core.bodies import read_triangles, shapes
from gripsim_ros.core.contact.backends.find_contacts import ContactBody
from gripsim_ros.core.errors import GripsimError

DONE, BAD_INPUT = 0, 2
#: Vertices nearer to a surface than this part of its size, and their ways, are not judged.
NEAR_SURFACE = 1e-6
#: Winding numbers are whole away from the surface.
HALF = 0.5
SAMPLES_ALONG = 5


@dataclass(frozen=True)
class Broken:
    """
    One broken mesh.

    ``kind`` is what was done to it; ``data`` the file with ``ending``; ``pieces`` the
    triangles ``(F, 3, 3)`` of the closed bodies it was made from, where what it should
    enclose is known: their union.
    """

    kind: str
    ending: str
    data: bytes
    pieces: tuple = ()


def clean_body(rng):
    """Return vertices and faces of a random small body."""
    size = float(rng.uniform(0.5, 2.0))
    made = [lambda: shapes.sphere(0.03 * size, 0.008 * size, 0.3, int(rng.integers(99))),
            lambda: shapes.box([0.05 * size, 0.04 * size, 0.06 * size]),
            lambda: shapes.apple(0.07 * size, 0.009 * size),
            lambda: shapes.torus(0.03 * size, 0.011 * size, 0.009 * size),
            lambda: shapes.capsule(0.012 * size, 0.05 * size, 0.008 * size)][rng.integers(5)]()
    return np.array(made.vertices), np.array(made.faces)


def break_mesh(rng):
    """Return a random broken mesh."""
    kind = KINDS[rng.integers(len(KINDS))]
    vertices, faces = clean_body(rng)
    pieces = (vertices[faces],)
    made = globals()[f'_{kind}'](rng, vertices, faces)
    if len(made) == 3:
        pieces, made = made[2], made[:2]
    elif kind not in ENCLOSE_THE_SAME:
        pieces = ()
    ending, data = _write(rng, *made)
    if kind == 'truncated':
        data = data[:int(rng.integers(0, len(data)))]
    elif kind == 'noise':
        spoiled = bytearray(data)
        for place in rng.integers(0, len(data), 1 + int(rng.integers(30))):
            spoiled[place] = int(rng.integers(256))
        data = bytes(spoiled)
    # A file of single precision moves vertices; the union is then known less well.
    return Broken(kind, ending, data, pieces if ending != 'stl' else ())


def _truncated(rng, vertices, faces):
    return vertices, faces


_noise = _truncated


def _not_a_number(rng, vertices, faces):
    rows = rng.integers(0, len(vertices), 1 + int(rng.integers(4)))
    vertices[rows, rng.integers(0, 3, len(rows))] = rng.choice([np.nan, np.inf, -np.inf])
    return vertices, faces


def _flipped(rng, vertices, faces):
    turned = rng.random(len(faces)) < rng.uniform(0.0, 0.4)
    return vertices, np.where(turned[:, None], faces[:, ::-1], faces)


def _inverted(rng, vertices, faces):
    return vertices, faces[:, ::-1]


def _duplicate(rng, vertices, faces):
    again = faces[rng.random(len(faces)) < rng.uniform(0.0, 1.0)]
    return vertices, rng.permutation(np.concatenate([faces, np.roll(again, 1, axis=1)]))


def _soup(rng, vertices, faces):
    return vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def _unused(rng, vertices, faces):
    more = rng.normal(size=(int(rng.integers(1, 9)), 3))
    return np.concatenate([more, vertices]), faces + len(more)


def _huge(rng, vertices, faces):
    return vertices * 10.0 ** float(rng.uniform(3.0, 308.0)), faces


def _tiny(rng, vertices, faces):
    return vertices * 10.0 ** float(rng.uniform(-300.0, -4.0)), faces


def _far(rng, vertices, faces):
    return vertices + rng.normal(size=3) * 10.0 ** float(rng.uniform(2.0, 12.0)), faces


def _crossing(rng, vertices, faces):
    """Join two bodies that overlap; the union of both is what is enclosed."""
    other, other_faces = clean_body(rng)
    other = other + rng.normal(size=3) * 0.02
    return (np.concatenate([vertices, other]),
            np.concatenate([faces, other_faces + len(vertices)]),
            (vertices[faces], other[other_faces]))


def _folded(rng, vertices, faces):
    """Push some vertices through the other side."""
    rows = rng.integers(0, len(vertices), 1 + int(rng.integers(5)))
    vertices[rows] *= -rng.uniform(0.2, 2.0)
    return vertices, faces


def _empty(rng, vertices, faces):
    return vertices[:int(rng.integers(0, 4))], faces[:0]


def _degenerate(rng, vertices, faces):
    if rng.random() < 0.5:
        vertices[:, rng.integers(3)] *= 10.0 ** float(rng.uniform(-18.0, -3.0))
        return vertices, faces
    chosen = rng.integers(0, len(faces), 5)
    faces[chosen, 0] = faces[chosen, 1]
    return vertices, faces


def _collapsed(rng, vertices, faces):
    """Move vertices onto a neighbour: faces without area, the surface still closed."""
    for face in faces[rng.integers(0, len(faces), 4)]:
        vertices[face[0]] = vertices[face[1]]
    return vertices, faces


def _fin(rng, vertices, faces):
    """Add faces that hang on an edge."""
    tips = rng.normal(size=(3, 3)) * 0.05
    edges = faces[rng.integers(0, len(faces), 3)][:, :2]
    fins = np.column_stack([edges, len(vertices) + np.arange(3)])
    return np.concatenate([vertices, tips]), np.concatenate([faces, fins])


def _opened(rng, vertices, faces):
    keep = rng.random(len(faces)) > 10.0 ** float(rng.uniform(-3.0, 0.0))
    return vertices, faces[keep]


def _bad_index(rng, vertices, faces):
    faces[rng.integers(len(faces)), rng.integers(3)] = len(vertices) + int(rng.integers(1, 99))
    return vertices, faces


def _random_faces(rng, vertices, faces):
    return vertices, rng.integers(0, len(vertices), faces.shape)


def _one_sided(rng, vertices, faces):
    """Return a band with half a twist."""
    t = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    half = 0.01 * np.array([np.cos(t / 2) * np.cos(t), np.cos(t / 2) * np.sin(t), np.sin(t / 2)]).T
    middle = 0.04 * np.array([np.cos(t), np.sin(t), 0 * t]).T
    i = np.arange(19)
    quads = np.concatenate([np.stack([i, i + 1, i + 20], 1), np.stack([i + 1, i + 21, i + 20], 1),
                            [[19, 20, 39], [20, 0, 39]]])
    return np.concatenate([middle + half, middle - half]), quads


KINDS = ('truncated', 'noise', 'not_a_number', 'flipped', 'inverted', 'duplicate', 'soup',
         'unused', 'huge', 'tiny', 'far', 'crossing', 'folded', 'empty', 'degenerate',
         'collapsed', 'fin', 'opened', 'bad_index', 'random_faces', 'one_sided')
#: Kinds that enclose what the body before enclosed.
ENCLOSE_THE_SAME = ('flipped', 'inverted', 'duplicate', 'soup', 'unused')


def _write(rng, vertices, faces):
    """Return ending and bytes of a file, in one of four formats."""
    ending = ('stl', 'obj', 'off', 'ply')[rng.integers(4)]
    with np.errstate(over='ignore', invalid='ignore'):
        if ending == 'stl' and (not len(faces) or faces.max() < len(vertices)):
            corners = vertices[faces].astype('<f4').reshape(-1, 9)
            rows = b''.join(struct.pack('<12fH', 0, 0, 0, *row, 0) for row in corners)
            return ending, bytes(80) + struct.pack('<I', len(faces)) + rows
    points = [' '.join(repr(float(x)) for x in row) for row in vertices]
    if ending in ('stl', 'obj'):
        lines = [f'v {row}' for row in points] + ['f %d %d %d' % tuple(f + 1) for f in faces]
        return 'obj', '\n'.join(lines).encode()
    triangles = ['3 %d %d %d' % tuple(f) for f in faces]
    head = [f'OFF\n{len(vertices)} {len(faces)} 0'] if ending == 'off' else [
        'ply\nformat ascii 1.0', f'element vertex {len(vertices)}',
        *(f'property double {axis}' for axis in 'xyz'), f'element face {len(faces)}',
        'property list uchar int vertex_indices', 'end_header']
    return ending, '\n'.join(head + points + triangles + ['']).encode()


def judge(broken, folder, rng):
    """
    Ask contact about a broken mesh and a clean one; return what is wrong, or ''.

    The outcome must be bad input in one line, or an answer with which winding numbers
    agree: of the surface as it was closed, and of the pieces it was made from.
    """
    path, other = folder / f'broken.{broken.ending}', folder / 'clean.off'
    path.write_bytes(broken.data)
    vertices, faces = clean_body(rng)
    vertices = vertices + rng.normal(size=3) * 0.02
    other.write_bytes(_write(_Always(2), vertices, faces)[1])
    direction = rng.normal(size=3)
    directed = bool(rng.random() < 0.7)
    options = ['--direction', *map(repr, direction.tolist())] if directed else []
    code, out, err = gripsim('contact', path, other, *options, '--json')
    if code == BAD_INPUT:
        lines = [line for line in err.splitlines() if not line.startswith('warning: ')]
        fine = out == '' and len(lines) == 1 and lines[0].startswith('gripsim: ')
        return '' if fine else f'bad input is not told in one line: {err!r}'
    if code != DONE:
        return f'exit code {code}: {err!r}'
    answer = strict(out)
    try:
        given = read_triangles(path)
        body = ContactBody.from_arrays(*given)
    except GripsimError as error:
        return f'the command read what the reader refuses: {error}'
    closed = body.closed.mesh.triangles
    d = direction / np.linalg.norm(direction) if directed else None
    return (_judge_side(answer['a_in_b'], given[0], (vertices[faces],), d)
            or _judge_side(answer['b_in_a'], vertices, (closed,), None if d is None else -d)
            or _judge_pieces(answer['b_in_a'], vertices, broken.pieces))


class _Always:
    """Stands for a generator whose every choice is the same."""

    def __init__(self, value):
        self.value = value

    def integers(self, *_):
        return self.value


def _inside_any(pieces, points):
    """Return the largest winding number of any piece about each point."""
    return np.max([winding_numbers(piece, points) for piece in pieces], axis=0)


def _undecided(pieces, points):
    """Return which points lie so near to a surface that rounding decides."""
    from contact_oracles import point_triangle_distances
    size = max(float(np.ptp(piece.reshape(-1, 3), axis=0).max()) for piece in pieces)
    return np.min([point_triangle_distances(piece, points) for piece in pieces],
                  axis=0) <= NEAR_SURFACE * size


def _judge_side(side, points, pieces, direction):
    """Return what is wrong with the vertices inside, their ways out and exits, or ''."""
    reported = np.zeros(len(points), bool)
    reported[side['vertices']] = True
    low = np.min([piece.min(axis=(0, 1)) for piece in pieces], axis=0)
    high = np.max([piece.max(axis=(0, 1)) for piece in pieces], axis=0)
    near = ((points >= low) & (points <= high)).all(axis=1)
    if (reported & ~near).any():
        return 'a vertex outside the box is reported'
    rows = np.flatnonzero(near)
    inside = winding_numbers(np.concatenate(pieces), points[rows]) > HALF
    wrong = rows[(inside != reported[rows])]
    wrong = wrong[~_undecided(pieces, points[wrong])] if len(wrong) else wrong
    if len(wrong):
        return f'{len(wrong)} of {len(rows)} vertices are judged wrongly, as {wrong[0]}'
    if not side['vertices']:
        return ''
    found, exits = points[side['vertices']], np.array(side['points'])
    depths = np.array(side['depths'])
    if not np.allclose(np.linalg.norm(exits - found, axis=1), depths, rtol=1e-9, atol=1e-9):
        return 'depths are not the ways to the exits'
    size = float(np.linalg.norm(high - low))
    if not (np.array([_undecided(pieces, exits[k:k + 1])[0] for k in range(min(len(exits), 20))])
            .all()):
        return 'an exit does not lie on the surface'
    if direction is None:
        return ''
    if not np.allclose(exits, found + depths[:, None] * direction, rtol=0.0, atol=1e-9 * size):
        return 'a way out does not follow the motion'
    return _judge_ways(found, depths, pieces, direction, size)


def _judge_ways(found, depths, pieces, direction, size):
    """Return what is wrong where a way leaves the body before its end, or not there."""
    chosen = np.flatnonzero(depths > 1e3 * NEAR_SURFACE * size)[:40]
    surface = np.concatenate(pieces)
    for share in np.linspace(0.05, 0.95, SAMPLES_ALONG):
        points = found[chosen] + share * depths[chosen, None] * direction
        outside = chosen[winding_numbers(surface, points) < HALF]
        points = found[outside] + share * depths[outside, None] * direction
        if len(outside) and not _undecided(pieces, points).all():
            return 'a way out leaves the body before its exit'
    return ''


def _judge_pieces(side, points, pieces):
    """Return what is wrong by the bodies that the mesh was made from, or ''."""
    if not pieces:
        return ''
    reported = np.zeros(len(points), bool)
    reported[side['vertices']] = True
    wrong = np.flatnonzero((_inside_any(pieces, points) > HALF) != reported)
    wrong = wrong[~_undecided(pieces, points[wrong])] if len(wrong) else wrong
    return f'{len(wrong)} vertices are judged unlike the bodies before' if len(wrong) else ''
