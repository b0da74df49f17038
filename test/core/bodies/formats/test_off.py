"""OFF files with and without head, colours, notes; sides of any number of corners."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import load_mesh, read_triangles, reading
from gripsim_ros.core.errors import MeshError

#: An L of area 3, 1 high: two concave sides of six corners, six of four; its volume is 3.
ANGLE = [(0, 2), (0, 0), (2, 0), (2, 1), (1, 1), (1, 2)]
POINTS = [(x, y, z) for z in (0, 1) for x, y in ANGLE]
SIDES = [(0, 5, 4, 3, 2, 1), (6, 7, 8, 9, 10, 11)] + [
    (a, b, b + 6, a + 6) for a, b in zip(range(6), [1, 2, 3, 4, 5, 0])]


def angle(path, head='OFF\n12 8 0', more='', after='', corner=' ', end='\n'):
    lines = [head, *(f'{x} {y} {z}{more}' for x, y, z in POINTS),
             *(corner.join(map(str, (len(side), *side))) + after for side in SIDES)]
    path.write_bytes((end.join(lines) + end).encode())
    return path


@pytest.mark.parametrize('options', [
    {}, {'head': 'OFF 12 8 0'}, {'head': 'OFF12 8 0'}, {'head': '12 8'},
    {'head': '# L\n\noff # of an angle\n12 8 24', 'after': '  # a side'},
    {'head': 'COFF\n12 8 0', 'more': ' 255 0 0 255'}, {'after': ' 0.5 0.5 0.5'},
    {'head': 'STCN4OFF\n12 8 0', 'more': ' 1 0 0 1 0 0 0 0'},
    {'corner': '\n'}, {'end': '\r\n'}, {'end': '\r'}])
def test_an_off_file_is_read_however_it_is_written(tmp_path, options):
    loaded = load_mesh(angle(tmp_path / 'angle.off', **options), 0.01)
    assert loaded.repairs == ()
    assert len(loaded.mesh.faces) == 20
    assert_allclose(loaded.mesh.volume, 3e-6, rtol=1e-12)


def test_indices_are_the_files_own(tmp_path):
    vertices, faces = read_triangles(angle(tmp_path / 'angle.off'))
    assert_array_equal(vertices, POINTS)
    assert_array_equal(faces[8:].reshape(6, 2, 3)[:, 0], np.array(SIDES[2:])[:, :3])


@pytest.mark.parametrize('text, message', [
    ('OFF BINARY\n1', 'it is binary'), ('OFF\nx y z\n', 'does not say how many'),
    ('OFF\n', 'does not say how many'), ('OFF\n9 1 0\n0 0 0\n', 'it ends early'),
    ('OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n', 'fewer than three coordinates'),
    ('OFF\n3 1 0\n0 0 0\n1 0 a\n0 1 0\n3 0 1 2\n', 'vertices are not all of numbers'),
    ('OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n', 'it ends early'),
    ('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n', 'has not as many corners'),
    ('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n', 'name vertices 0 to 3, there are 0 to 2'),
    ('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 b\n', 'faces are not all of numbers'),
    ('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n', 'holds no triangles')])
def test_what_is_no_off_file_is_told(tmp_path, text, message):
    (tmp_path / 'odd.off').write_text(text)
    with pytest.raises(MeshError, match=message):
        read_triangles(tmp_path / 'odd.off')


def test_more_faces_than_allowed_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, 'MAX_FACES', 7)
    with pytest.raises(MeshError, match='has 8 faces, allowed are 7'):
        read_triangles(angle(tmp_path / 'angle.off'))
