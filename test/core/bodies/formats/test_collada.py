"""Collada files: parts whose looks are broken count, what is broken itself is told, units hold."""

import re
import zipfile

import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh

from gripsim_ros.core.bodies import load_mesh, read_triangles, reading, shapes
from gripsim_ros.core.errors import MeshError

BOX = shapes.box([0.1, 0.06, 0.08])
RTOL_FLOAT32 = 1e-6
pytestmark = pytest.mark.skipif('dae' not in reading.mesh_formats(), reason='no pycollada')


def dae(path, *changes, encoding='utf-8'):
    """Write a box whose text is changed, each pair a pattern and what takes its place."""
    text = trimesh.Trimesh(BOX.vertices, BOX.faces).export(file_type='dae').decode()
    for pattern, new in changes:
        text, count = re.subn(pattern, new, text, flags=re.DOTALL)
        assert count, pattern
    if encoding != 'utf-8':
        text = re.sub('encoding=.[^ ?]*', f'encoding="{encoding}"', text)
    path.write_bytes(text.encode(encoding))
    return path


def unit(text):
    return '<asset>', f'<asset><unit {text}/>'


@pytest.mark.parametrize('looks', [
    ('<library_materials>.*</library_materials>', ''),
    ('<library_effects>.*</library_effects>', '<library_effects/>'),
    ('(<lambert>|<phong>|<blinn>)', r'\1<diffuse><color>0,5 grey</color></diffuse>'),
    ('(<instance_geometry)', r'<instance_camera url="#none"/><instance_light url="#no"/>\1')])
def test_a_part_whose_looks_are_broken_is_there(tmp_path, looks):
    assert_allclose(load_mesh(dae(tmp_path / 'box.dae', looks)).mesh.volume, BOX.volume,
                    rtol=RTOL_FLOAT32)


def test_a_part_that_cannot_be_read_is_not_left_out(tmp_path):
    path = dae(tmp_path / 'box.dae', ('(<float_array[^>]*>)', r'\1 0,5 '))
    with pytest.raises(MeshError, match='cannot be read as DAE .*Corrupted float array'):
        read_triangles(path)


@pytest.mark.parametrize('text, metres', [
    ('name="meter" meter="1"', 1.0), ('meter="0.01" name="centimeter"', 0.01),
    ("name='inch' meter='2.54e-2'", 0.0254), ('meter="0,010000"', 0.01), ('name="meter"', 1.0)])
@pytest.mark.parametrize('encoding', ['utf-8', 'utf-16'])
def test_lengths_are_in_the_unit_that_the_file_names(tmp_path, text, metres, encoding):
    vertices, faces = read_triangles(dae(tmp_path / 'box.dae', unit(text), encoding=encoding))
    assert len(faces) == len(BOX.faces)
    assert_allclose(np.ptp(vertices, axis=0), metres * BOX.extents, rtol=RTOL_FLOAT32)


def test_a_scale_counts_beside_the_files_unit(tmp_path):
    path = dae(tmp_path / 'box.dae', unit('meter="0.01"'))
    assert_allclose(load_mesh(path, 50.0).mesh.extents, 0.5 * BOX.extents, rtol=RTOL_FLOAT32)
    with pytest.raises(MeshError, match='the largest extent is 0.001 m'):
        load_mesh(path)


@pytest.mark.parametrize('text', ['meter="0"', 'meter="1e999"', 'meter="e"'])
def test_a_unit_without_length_is_refused(tmp_path, text):
    with pytest.raises(MeshError, match='cannot be read as DAE'):
        read_triangles(dae(tmp_path / 'box.dae', unit(text)))


def test_an_archive_is_read_as_what_is_in_it(tmp_path):
    path = dae(tmp_path / 'box.dae', unit('meter="0.5"'))
    with zipfile.ZipFile(tmp_path / 'box.zae', 'w') as archive:
        archive.write(path, 'models/box.dae')
    vertices, _ = read_triangles(tmp_path / 'box.zae')
    assert_allclose(np.ptp(vertices, axis=0), 0.5 * BOX.extents, rtol=RTOL_FLOAT32)


def test_an_archive_without_a_dae_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / 'box.zae', 'w') as archive:
        archive.writestr('box.txt', '')
    with pytest.raises(MeshError, match='there is no DAE file in it'):
        read_triangles(tmp_path / 'box.zae')
