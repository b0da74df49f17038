"""Files that are refused before their parser copies anything; those read without a parser."""

import json
import re
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import trimesh

from gripsim_ros.core.bodies import parsing, read_triangles, reading, shapes
from gripsim_ros.core.bodies.reading import count_instances
from gripsim_ros.core.errors import MeshError

BOX = shapes.box([0.1, 0.06, 0.08])
FACES = len(BOX.faces)


def box_file(path):
    """Write a box in the format of the path's ending."""
    if path.suffix == '.zae':
        return archived(box_file(path.with_suffix('.dae')))
    body = trimesh.Trimesh(BOX.vertices, BOX.faces)
    written = (body if path.suffix == '.dae' else trimesh.Scene(body)).export(
        file_type=path.suffix[1:])
    if isinstance(written, dict):       # glTF and its buffers
        for name, data in written.items():
            (path if name == 'model.gltf' else path.parent / name).write_bytes(data)
    else:
        path.write_bytes(written.encode() if isinstance(written, str) else written)
    return path


def archived(path):
    """Return a ZAE that holds a DAE."""
    with zipfile.ZipFile(path.with_suffix('.zae'), 'w') as archive:
        archive.write(path, path.name)
    return path.with_suffix('.zae')


def gltf_of(path, change):
    told = json.loads(box_file(path).read_text())
    change(told)
    path.write_text(json.dumps(told))
    return path


def dae_of(path, library, placed):
    """Write a DAE whose scene is ``placed``; NODE in it stands for the box."""
    text = box_file(path).read_text()
    node = re.search('<node.*</node>', text, re.S).group(0)
    text = text.replace(node, placed.replace('NODE', node))
    path.write_text(text.replace(
        '<library_visual_scenes>',
        f'<library_nodes>{library.replace("NODE", node)}</library_nodes><library_visual_scenes>'))
    return path


def model_3mf(resources, build):
    return ('<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>'
            f'{resources}</resources><build>{build}</build></model>')


def object_3mf(key, components='', mesh=False):
    inner = f'<components>{components}</components>'
    if mesh:
        inner = '<mesh><vertices>{}</vertices><triangles>{}</triangles></mesh>'.format(
            ''.join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in BOX.vertices),
            ''.join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in BOX.faces))
    return f'<object id="{key}" type="model">{inner}</object>'


def write_3mf(path, resources, build, **others):
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('3D/3dmodel.model', model_3mf(resources, build))
        for name, content in others.items():
            archive.writestr(f'3D/{name}.model', content)
    return path


def doubling(count, form, first):
    """Return so many parts, each of which holds the one before twice."""
    return ''.join(form(number, number - 1 if number else first) for number in range(count))


def shared_gltf(folder):
    def share(told):
        told['meshes'] = [told['meshes'][0] | {'name': f'part {k}'} for k in range(40)]
    return gltf_of(folder / 'shared.gltf', share)


def many_gltf(folder):
    def repeat(told):
        node = next(node for node in told['nodes'] if 'mesh' in node)
        told['nodes'] = [node | {'name': f'node {k}'} for k in range(40)]
        told['scenes'] = [{'nodes': list(range(40))}]
    return gltf_of(folder / 'many.gltf', repeat)


def many_dae(folder):
    return dae_of(folder / 'many.dae', '', 'NODE' * 40)


def nested_dae(folder):
    library = '<node id="n0">NODE</node>' + doubling(
        24, lambda k, _: f'<node id="n{k + 1}">' + f'<instance_node url="#n{k}"/>' * 2 + '</node>',
        0)
    return dae_of(folder / 'nested.dae', library,
                  '<node id="top"><instance_node url="#n24"/></node>')


def nested_zae(folder):
    return archived(nested_dae(folder))


def many_3mf(folder):
    return write_3mf(folder / 'many.3mf', object_3mf('1', mesh=True), '<item objectid="1"/>' * 40)


def nested_3mf(folder):
    below = doubling(24, lambda k, before: object_3mf(
        f'd{k}', f'<component objectid="{"1" if before is None else f"d{before}"}"/>' * 2), None)
    return write_3mf(folder / 'nested.3mf', object_3mf('1', mesh=True) + below,
                     '<item objectid="d23"/>')


def elsewhere_3mf(folder):
    part = '<component objectid="7" path="/3D/other.model"/>'
    return write_3mf(folder / 'elsewhere.3mf', object_3mf('1', part * 40), '<item objectid="1"/>',
                     other=model_3mf(object_3mf('7', mesh=True), ''))


def oddly_named_3mf(folder):
    part = '<component objectid="7" path="/3D/other.xml"/>'
    path = write_3mf(folder / 'odd.3mf', object_3mf('1', part * 40), '<item objectid="1"/>')
    with zipfile.ZipFile(path, 'a') as archive:
        archive.writestr('3D/other.xml', model_3mf(object_3mf('7', mesh=True), ''))
    return path


@pytest.mark.parametrize('make', [
    shared_gltf, many_gltf, many_dae, nested_dae, nested_zae, many_3mf, nested_3mf,
    elsewhere_3mf, oddly_named_3mf], ids=lambda make: make.__name__)
def test_many_instances_are_refused_before_they_are_parsed(tmp_path, monkeypatch, make):
    path = make(tmp_path)
    if path.suffix[1:] not in reading.mesh_formats():
        pytest.skip(f'trimesh lacks a package to read {path.suffix}')
    monkeypatch.setattr(reading, 'MAX_FACES', 39 * FACES)
    monkeypatch.setattr(parsing.trimesh, 'load', None)
    with pytest.raises(MeshError, match=r'(has \d+ faces, allowed are 468|places \d+ parts, '
                                        r'allowed are 10000)$'):
        read_triangles(path)


@pytest.mark.parametrize('make', [many_gltf, many_dae, many_3mf],
                         ids=lambda make: make.__name__)
def test_what_is_counted_is_what_is_read(tmp_path, make):
    path = make(tmp_path)
    if path.suffix[1:] not in reading.mesh_formats():
        pytest.skip(f'trimesh lacks a package to read {path.suffix}')
    assert count_instances(path, path.suffix[1:]) == (40, 40 * FACES)
    assert len(read_triangles(path)[1]) == 40 * FACES


@pytest.mark.parametrize('ending', sorted(reading.SCENES))
def test_a_single_part_is_counted_once(tmp_path, ending):
    if ending not in reading.mesh_formats():
        pytest.skip(f'trimesh lacks a package to read {ending}')
    path = box_file(tmp_path / f'box.{ending}')
    assert count_instances(path, ending) == (1, FACES)
    assert len(read_triangles(path)[1]) == FACES


def test_a_part_within_itself_is_refused(tmp_path):
    if '3mf' not in reading.mesh_formats():
        pytest.skip('trimesh lacks a package to read 3mf')
    path = write_3mf(tmp_path / 'ring.3mf', object_3mf('1', '<component objectid="1"/>'),
                     '<item objectid="1"/>')
    with pytest.raises(MeshError, match='cannot be read as 3MF .*a part contains itself'):
        read_triangles(path)


@pytest.mark.parametrize('count', [1, 200])
def test_binary_stl_files_are_read_as_trimesh_reads_them(tmp_path, count):
    records = np.zeros(count, reading.STL_RECORD)
    numbers = np.random.default_rng(count).normal(size=(count, 3, 3))
    records['corners'], records['rest'] = numbers * 10.0 ** np.arange(-6, 3, 3), 7
    path = tmp_path / 'some.stl'
    path.write_bytes(b'solid'.ljust(80) + struct.pack('<I', count) + records.tobytes())
    (vertices, faces), = parsing.parse(path, 'stl', lambda *_: None, 10**9, 1)
    own = read_triangles(path)
    assert own[0].dtype == vertices.dtype and own[1].dtype == faces.dtype
    np.testing.assert_array_equal(own[0], vertices)
    np.testing.assert_array_equal(own[1], faces)


def test_a_binary_stl_file_is_read_without_trimesh(tmp_path):
    records = np.zeros(1, reading.STL_RECORD)
    records['corners'] = np.eye(3)
    path = tmp_path / 'one.stl'
    path.write_bytes(bytes(80) + struct.pack('<I', 1) + records.tobytes())
    code = ('import sys; from gripsim_ros.core.bodies import read_triangles; '
            'assert read_triangles(sys.argv[1])[1].tolist() == [[0, 1, 2]]; '
            'assert "trimesh" not in sys.modules and "scipy.optimize" not in sys.modules')
    subprocess.run([sys.executable, '-c', code, str(path)], check=True)


def test_a_gltf_of_the_first_version_is_told(tmp_path):
    def change(told):
        told.update(asset={'version': '1.0'}, meshes={'box': {'primitives': []}})
    path = gltf_of(tmp_path / 'old.gltf', change)
    with pytest.raises(MeshError, match='it is of version 1.0, allowed is 2'):
        read_triangles(path)


@pytest.mark.parametrize('name, message', [
    ('KHR_draco_mesh_compression', 'compressed by Draco, which needs the package DracoPy'),
    ('EXT_meshopt_compression', 'compressed by meshopt, which is not read')])
def test_a_compressed_gltf_is_told(tmp_path, monkeypatch, name, message):
    def change(told):
        told['extensionsRequired'] = [name]
        told['meshes'][0]['primitives'][0]['extensions'] = {name: {}}
    monkeypatch.setattr(reading, 'find_spec', lambda name: None)
    with pytest.raises(MeshError, match=message):
        read_triangles(gltf_of(tmp_path / 'small.gltf', change))


@pytest.mark.parametrize('key, value, message', [
    ('sparse', {'count': 1}, 'has a sparse accessor, which is not read'),
    ('normalized', True, 'positions are normalised integers, which are not read')])
def test_positions_that_the_parser_would_get_wrong_are_refused(tmp_path, key, value, message):
    def change(told):
        index = told['meshes'][0]['primitives'][0]['attributes']['POSITION']
        told['accessors'][index][key] = value
    with pytest.raises(MeshError, match=message):
        read_triangles(gltf_of(tmp_path / 'odd.gltf', change))


@pytest.mark.parametrize('ending', ['obj', 'stl', 'ply', 'dae', 'glb'])
@pytest.mark.parametrize('text, message', [
    ('version https://git-lfs.github.com/spec/v1\noid sha256:4f91\nsize 444915\n',
     'is a pointer of Git LFS, not the mesh; git lfs pull fetches it'),
    ('\n<!DOCTYPE html>\n<html><body>404</body></html>', 'is a web page, not a mesh')])
def test_what_stands_in_the_place_of_a_mesh_is_told(tmp_path, ending, text, message):
    (tmp_path / f'body.{ending}').write_text(text)
    with pytest.raises(MeshError, match=message):
        read_triangles(tmp_path / f'body.{ending}')
