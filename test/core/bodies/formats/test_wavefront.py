"""OBJ files as programs write them: counted back, of polygons, with colours, tabs, materials."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import load_mesh, read_triangles, reading
from gripsim_ros.core.errors import MeshError

#: A box of 2 x 1 x 1 mm, by the faces of its eight corners.
CORNERS = [(x, y, z) for x in (0, 2) for y in (0, 1) for z in (0, 1)]
QUADS = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
#: An L of six corners and area 3; the fan about the first leaves it.
ANGLE = [(0, 2), (0, 0), (2, 0), (2, 1), (1, 1), (1, 2)]


def vertex_lines(corners, form='v {} {} {}'):
    return [form.format(*corner) for corner in corners]


def write(path, lines, end='\n', encoding='utf-8'):
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


def volume(path):
    return load_mesh(path, 0.01).mesh.volume / 1e-6


def box_lines(face='f {0} {1} {2} {3}', shift=0):
    return [face.format(*(corner + shift for corner in quad)) for quad in QUADS]


@pytest.mark.parametrize('face', [
    'f {0} {1} {2} {3}', 'f {0}/1 {1}/1 {2}/1 {3}/1', 'f {0}//1 {1}//1 {2}//1 {3}//1',
    'f {0}/1/1 {1}/1/1 {2}/1/1 {3}/1/1 # a side', '  f\t{0} {1}\t{2} \\\n{3}'])
@pytest.mark.parametrize('vertex', [
    'v {} {} {}', '\tv  {}\t{} {}', 'v {} {} {} 1.0', 'v {} {} {} 0.5 0.5 0.5  # grey'])
@pytest.mark.parametrize('shift', [0, -9], ids=['counted from the first', 'from the last'])
def test_a_box_is_read_however_its_lines_are_written(tmp_path, face, vertex, shift):
    lines = ['mtllib none.mtl', 'vt 0 0', 'vn 0 0 1', *vertex_lines(CORNERS, vertex), 'usemtl a',
             *box_lines(face, shift), 'l 1 2', 'p 1']
    assert_allclose(volume(write(tmp_path / 'box.obj', lines)), 2.0, rtol=1e-12)


@pytest.mark.parametrize('end, encoding', [
    ('\r\n', 'utf-8'), ('\r', 'utf-8'), ('\n', 'utf-8-sig'), ('\r\n', 'utf-16')])
def test_line_ends_and_encodings_make_no_difference(tmp_path, end, encoding):
    lines = ['# Tür', *vertex_lines(CORNERS), *box_lines()]
    assert volume(write(tmp_path / 'box.obj', lines, end, encoding)) == pytest.approx(2.0)


def test_numbers_below_zero_count_back_from_their_own_place(tmp_path):
    near = [(x, y, z) for x, y, z in CORNERS if x == 0]
    lines = [*vertex_lines(near), 'f -4 -3 -1 -2', *vertex_lines(CORNERS[4:]),
             *box_lines(shift=-9)[1:]]
    vertices, faces = read_triangles(write(tmp_path / 'box.obj', lines))
    assert_array_equal(faces[:2], [[0, 1, 3], [0, 3, 2]])
    assert volume(tmp_path / 'box.obj') == pytest.approx(2.0)


def test_a_concave_side_is_cut_within_its_outline(tmp_path):
    lines = vertex_lines([(x, y, z) for z in (0, 1) for x, y in ANGLE])
    lines += ['f 1 6 5 4 3 2', 'f 7 8 9 10 11 12']
    lines += [f'f {a} {b} {b + 6} {a + 6}' for a, b in zip(range(1, 7), [2, 3, 4, 5, 6, 1])]
    path = write(tmp_path / 'angle.obj', lines)
    vertices, faces = read_triangles(path)
    normals = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]],
                       vertices[faces[:, 2]] - vertices[faces[:, 0]])
    assert (normals[:4, 2] <= 0.0).all() and (normals[4:8, 2] >= 0.0).all()
    assert np.linalg.norm(normals, axis=1).sum() / 2.0 == pytest.approx(2 * 3.0 + 8.0)
    assert load_mesh(path, 0.01).repairs == ()
    assert volume(path) == pytest.approx(3.0)


def test_a_file_of_many_materials_holds_its_vertices_once(tmp_path):
    lines = vertex_lines(CORNERS)
    for number, line in enumerate(box_lines()):
        lines += [f'usemtl m{number % 4}', line]
    vertices, faces = read_triangles(write(tmp_path / 'box.obj', lines))
    assert len(vertices) == 8
    assert_array_equal(faces[::2], np.array(QUADS)[:, :3] - 1)


@pytest.mark.parametrize('line, message', [
    ('f 1 2 9', 'faces name vertices 1 to 9, there are 1 to 8'),
    ('f 1 2 0', 'faces name vertices 0 to 3'),
    ('f -9 -1 -2', 'faces name vertices 0 to 8'),
    ('f 1 2 x', 'faces are not all of numbers'),
    ('v 1 2', 'a vertex has fewer than three'),
    ('v 1 2 1.#QNAN', 'vertices are not all of numbers')])
def test_a_line_that_makes_no_sense_is_told(tmp_path, line, message):
    path = write(tmp_path / 'odd.obj', [*vertex_lines(CORNERS), line, 'f 1 2 3'])
    with pytest.raises(MeshError, match=message):
        read_triangles(path)


@pytest.mark.parametrize('lines', [[], ['f 1 2'], ['l 1 2']])
def test_a_file_without_triangles_is_refused(tmp_path, lines):
    path = write(tmp_path / 'none.obj', [*vertex_lines(CORNERS), *lines])
    with pytest.raises(MeshError, match='holds no triangles'):
        read_triangles(path)


def test_sides_of_many_corners_count_as_their_triangles(tmp_path, monkeypatch):
    path = write(tmp_path / 'box.obj', [*vertex_lines(CORNERS), *box_lines()])
    monkeypatch.setattr(reading, 'MAX_FACES', 11)
    with pytest.raises(MeshError, match='has 12 faces, allowed are 11'):
        read_triangles(path)
