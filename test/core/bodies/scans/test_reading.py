"""Points from files: what is read, and what is refused in one line."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.bodies.scans import reading
from gripsim_ros.core.bodies.scans.reading import has_faces, read_points
from gripsim_ros.core.errors import ShapeError

POINTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def ply(faces):
    """Return the text of a PLY file that announces faces, or says nothing of them."""
    more = '' if faces is None else (
        f'element face {faces}\nproperty list uchar int vertex_indices\n')
    rows = ''.join(f'{x} {y} {z}\n' for x, y, z in POINTS)
    return ('ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n'
            f'property float z\n{more}end_header\n{rows}')


@pytest.mark.parametrize('name, faces, announced', [
    ('a.ply', 3, True), ('a.ply', 0, False), ('a.ply', None, False), ('a.csv', 3, False)])
def test_only_a_ply_file_announces_faces(tmp_path, name, faces, announced):
    path = tmp_path / name
    path.write_text(ply(faces))
    assert has_faces(path) is announced


@pytest.mark.parametrize('old, new', [
    ('element face', 'element tristrips'),
    ('element vertex', f'comment {"x" * 9000}\nelement vertex'),
    ('\n', '\r\n')])
def test_faces_are_seen_in_long_heads_and_as_strips(tmp_path, old, new):
    (tmp_path / 'a.ply').write_bytes(ply(3).replace(old, new).encode())
    assert has_faces(tmp_path / 'a.ply')


@pytest.mark.parametrize('text', [
    '0 1 2\n3 4 5\n', '# note\n0,1,2\n\n3;4;5\n', 'x,y,z\n0,1,2\n3,4,5',
    'x y z i\n0 1 2 9\n3 4 5 9\n'])
def test_columns_may_be_parted_by_anything_and_have_a_head(tmp_path, text):
    path = tmp_path / 'points.txt'
    path.write_text(text)
    assert_array_equal(read_points(path), POINTS)


def test_arrays_and_clouds_are_read(tmp_path):
    np.save(tmp_path / 'points.npy', POINTS)
    (tmp_path / 'points.ply').write_text(ply(None))
    for name in ('points.npy', 'points.ply'):
        assert_array_equal(read_points(tmp_path / name), POINTS)


@pytest.mark.parametrize('name, content, said', [
    ('none.csv', None, 'there is no such file'), ('points.doc', '0 1 2', 'points are read from'),
    ('points.txt', '', 'has 0 bytes'), ('points.txt', '1\n2\n', 'need 2 or 3 columns'),
    ('points.txt', '1 a\n2 3\n4 b\n', 'cannot be read as TXT'),
    ('points.npy', 'no array', 'cannot be read as NPY')])
def test_what_holds_no_points_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(ShapeError, match=said):
        read_points(path)


@pytest.mark.parametrize('array, said', [
    (np.array([['a', 'b']]), 'numbers are needed'), (np.zeros(4), 'rows of 2 or 3 numbers'),
    (np.zeros((2, 2, 2)), 'rows of 2 or 3 numbers'), (np.zeros((0, 3)), 'has 0 points')])
def test_an_array_of_something_else_is_refused(tmp_path, array, said):
    np.save(tmp_path / 'points.npy', array)
    with pytest.raises(ShapeError, match=said):
        read_points(tmp_path / 'points.npy')


def test_too_many_points_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, 'MAX_POINTS', 1)
    np.save(tmp_path / 'points.npy', POINTS)
    with pytest.raises(ShapeError, match='at most 1 rows'):
        read_points(tmp_path / 'points.npy')
    (tmp_path / 'points.txt').write_text('0 1 2\n3 4 5\n')
    with pytest.raises(ShapeError, match='has 2 points, allowed are 1 to 1'):
        read_points(tmp_path / 'points.txt')
