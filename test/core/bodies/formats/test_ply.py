"""PLY files of polygons, in words and both orders of bytes, with whatever else rows hold."""

import struct

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import load_mesh, read_triangles
from gripsim_ros.core.errors import MeshError

#: An L of area 3, 1 high: two concave sides of six corners, six of four; its volume is 3.
ANGLE = [(0, 2), (0, 0), (2, 0), (2, 1), (1, 1), (1, 2)]
POINTS = [(x, y, z) for z in (0, 1) for x, y in ANGLE]
SIDES = [(0, 5, 4, 3, 2, 1), (6, 7, 8, 9, 10, 11)] + [
    (a, b, b + 6, a + 6) for a, b in zip(range(6), [1, 2, 3, 4, 5, 0])]
TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
ORDERS = {'ascii': '', 'binary_little_endian': '<', 'binary_big_endian': '>'}


def head(order, points=POINTS, sides=SIDES, more='', after='', name='vertex_indices',
         types='uchar int', before=''):
    return (f'ply\nformat {order} 1.0\ncomment a body\n{before}element vertex {len(points)}\n'
            f'property float x\nproperty float y\nproperty double z\n{more}'
            f'element face {len(sides)}\nproperty list {types} {name}\n{after}end_header\n')


def rows(order, rows_, form):
    """Return rows of numbers, each packed by what ``form`` says of it."""
    if not ORDERS[order]:
        return ''.join(' '.join(map(str, row)) + '\n' for row in rows_).encode()
    return b''.join(struct.pack(ORDERS[order] + form(row), *row) for row in rows_)


def write(path, *parts):
    path.write_bytes(b''.join(part.encode() if isinstance(part, str) else part for part in parts))
    return path


def angle(path, order, more=(), after=()):
    """Write the L; ``more`` and ``after`` are bytes beside each vertex and each side."""
    return write(
        path, head(order, more=''.join(f'property uchar m{k}\n' for k in range(len(more))),
                   after=''.join(f'property uchar a{k}\n' for k in range(len(after)))),
        rows(order, [(*p, *more) for p in POINTS], lambda _: 'ffd' + 'B' * len(more)),
        rows(order, [(len(s), *s, *after) for s in SIDES],
             lambda row: f'B{row[0]}i' + 'B' * len(after)))


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('more, after', [((), ()), ((1, 2, 3), ()), ((), (7,)), ((9,), (8, 7))])
def test_sides_of_any_number_of_corners_are_read(tmp_path, order, more, after):
    loaded = load_mesh(angle(tmp_path / 'angle.ply', order, more, after), 0.01)
    assert loaded.repairs == ()
    assert len(loaded.mesh.faces) == 20
    assert_allclose(loaded.mesh.volume, 3e-6, rtol=1e-6)


@pytest.mark.parametrize('order', ORDERS)
def test_lists_and_elements_that_are_no_faces_are_passed_over(tmp_path, order):
    sides = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    path = write(
        tmp_path / 'body.ply',
        head(order, TETRAHEDRON, sides, more='property list uchar short near\n',
             after='property list uchar float texcoord\n', name='vertex_index',
             types='int uint', before='element camera 1\nproperty float f\n'),
        rows(order, [(2.5,)], lambda _: 'f'),
        rows(order, [(*p, k, *range(k)) for k, p in enumerate(TETRAHEDRON)],
             lambda row: f'ffdB{int(row[3])}h'),
        rows(order, [(3, *s, 2, 0.5, 0.25) for s in sides], lambda _: 'i3IB2f'))
    vertices, faces = read_triangles(path)
    assert_array_equal(vertices, TETRAHEDRON)
    assert_array_equal(faces, sides)


@pytest.mark.parametrize('order', ORDERS)
def test_strips_are_triangles_that_all_face_outward(tmp_path, order):
    text = head(order, TETRAHEDRON, ()).replace(
        'end_header', 'element tristrips 1\nproperty list int int vertex_indices\nend_header')
    strip = (0, 2, 1, 3, -1, 0, 1, 3, -1, 0, 3, 2)
    path = write(tmp_path / 'body.ply', text, rows(order, TETRAHEDRON, lambda _: 'ffd'),
                 rows(order, [(len(strip), *strip)], lambda row: f'i{row[0]}i'))
    _, faces = read_triangles(path)
    assert_array_equal(faces, [[0, 2, 1], [1, 2, 3], [0, 1, 3], [0, 3, 2]])
    assert_allclose(load_mesh(path).mesh.volume, 1 / 6, rtol=1e-9)


def test_what_a_line_has_more_than_the_head_says_is_not_read(tmp_path):
    sides = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    path = write(tmp_path / 'body.ply', head('ascii', TETRAHEDRON, sides).replace('\n', '\r\n'),
                 rows('ascii', [(*p, 255) for p in TETRAHEDRON], None), '\n',
                 rows('ascii', [(3, *s, 9, 1, 1) for s in sides], None))
    assert_array_equal(read_triangles(path)[1], sides)


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('cut', [1, 30, 150])
def test_a_file_that_ends_early_is_refused(tmp_path, order, cut):
    path = angle(tmp_path / 'angle.ply', order)
    content = path.read_bytes()
    path.write_bytes(content[:-cut] if order != 'ascii' else content[:-cut - 2])
    with pytest.raises(MeshError, match='ends early'):
        read_triangles(path)


@pytest.mark.parametrize('order', ORDERS)
def test_a_face_without_its_vertex_is_told(tmp_path, order):
    sides = [(0, 1, 4), (0, -1, 2)]
    path = write(tmp_path / 'body.ply', head(order, TETRAHEDRON, sides),
                 rows(order, TETRAHEDRON, lambda _: 'ffd'),
                 rows(order, [(3, *s) for s in sides], lambda _: 'B3i'))
    with pytest.raises(MeshError, match='faces name vertices -1 to 4, there are 0 to 3'):
        read_triangles(path)


@pytest.mark.parametrize('changed, message', [
    (('ply\n', 'plx\n'), 'no head of a PLY'), (('end_header', 'end'), 'no head of a PLY'),
    (('ascii', 'words'), 'format is none of ascii'), (('float x', 'float u'), 'no x, y and z'),
    (('double z', 'quad z'), 'a property is not understood: property quad z'),
    (('double z', 'list double z'), 'a property is not understood'),
    (('comment a body', 'element hole 9'), 'holds no triangles|ends early|not understood'),
    (('\n3 ', '\n9 '), 'a row of face ends early'), (('\n3 ', '\nx '), 'a row of face ends early'),
    (('0.25', '0,25'), 'rows of vertex are not all of numbers')])
def test_what_is_no_ply_is_told(tmp_path, changed, message):
    text = head('ascii', [(0.25, 0.0, 0.0), *TETRAHEDRON[1:]], [(0, 1, 2)]) + (
        '0.25 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n')
    path = write(tmp_path / 'odd.ply', text.replace(*changed))
    with pytest.raises(MeshError, match=message):
        read_triangles(path)


@pytest.mark.parametrize('order', ORDERS)
def test_points_alone_are_no_triangles(tmp_path, order):
    path = write(tmp_path / 'points.ply', head(order, TETRAHEDRON, ()),
                 rows(order, TETRAHEDRON, lambda _: 'ffd'))
    with pytest.raises(MeshError, match='holds no triangles'):
        read_triangles(path)


def test_rows_are_read_whole_or_one_by_one_alike(tmp_path):
    generator = np.random.default_rng(3)
    points = generator.normal(size=(50, 3))
    sides = [tuple(int(v) for v in generator.permutation(50)[:3]) for _ in range(80)]
    found = []
    for order in ORDERS:
        for extra in ((), (0, 1, 2, 3)):        # a side of four corners: rows of two lengths
            these = [*sides, extra] if extra else sides
            path = write(tmp_path / 'body.ply', head(order, points, these).replace(
                'float x', 'double x').replace('float y', 'double y'),
                rows(order, [[float(x) for x in p] for p in points], lambda _: 'ddd'),
                rows(order, [(len(s), *s) for s in these], lambda row: f'B{row[0]}i'))
            vertices, faces = read_triangles(path)
            assert_array_equal(vertices, points)
            found.append(faces[:80])
    for faces in found:
        assert_array_equal(faces, sides)
