"""3MF files are in millimetres, or in the unit that they name."""

import zipfile

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import load_mesh, read_triangles, reading, shapes
from gripsim_ros.core.errors import MeshError

BOX = shapes.box([40.0, 20.0, 30.0])
pytestmark = pytest.mark.skipif('3mf' not in reading.mesh_formats(), reason='no lxml')


def package(path, attribute, before=''):
    """Write a box of 40 units."""
    vertices = ''.join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in BOX.vertices)
    faces = ''.join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in BOX.faces)
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('3D/3dmodel.model', (
            f'<?xml version="1.0"?>{before}<model {attribute} '
            'xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>'
            f'<object id="1" type="model"><mesh><vertices>{vertices}</vertices><triangles>{faces}'
            '</triangles></mesh></object></resources><build><item objectid="1"/></build></model>'))
    return path


@pytest.mark.parametrize('attribute, metres', [
    ('', 1e-3), ('unit="millimeter"', 1e-3), ('unit="centimeter"', 1e-2), ("unit='inch'", 0.0254),
    ('unit="micron"', 1e-6), ('unit="meter"', 1.0), ('xml:lang="en" unit="foot"', 0.3048)])
def test_lengths_are_in_the_unit_of_the_model(tmp_path, attribute, metres):
    path = package(tmp_path / 'box.3mf', attribute, '<!-- of unit="foot" -->')
    vertices, _ = read_triangles(path)
    assert_allclose(np.ptp(vertices, axis=0), metres * BOX.extents, rtol=1e-9)


def test_a_printed_part_needs_no_scale(tmp_path):
    loaded = load_mesh(package(tmp_path / 'box.3mf', ''))
    assert_allclose(loaded.mesh.volume, 24e-6, rtol=1e-9)


def test_an_unknown_unit_is_told(tmp_path):
    with pytest.raises(MeshError, match="unknown unit 'ell'; allowed are micron"):
        read_triangles(package(tmp_path / 'box.3mf', 'unit="ell"'))


def test_a_package_without_a_model_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / 'box.3mf', 'w') as archive:
        archive.writestr('other.txt', '')
    with pytest.raises(MeshError, match='cannot be read as 3MF'):
        read_triangles(tmp_path / 'box.3mf')
