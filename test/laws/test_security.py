"""Requests reach no files that they should not, and no input is executed or shown as markup."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import trimesh
from plan_cases import made_up_answer
from report_cases import EVIL, Page

from gripsim_ros.apps.report import html
from gripsim_ros.apps.report.html import render_report
from gripsim_ros.core.bodies import GraspObject, Material, load_mesh, reading, shapes
from gripsim_ros.core.errors import MeshError
from gripsim_ros.library.resources import confined_resolver, resolve_uri, share_directory

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / 'gripsim_ros').rglob('*.py'))


@pytest.fixture
def folders(tmp_path):
    """Return an allowed folder with a mesh, and a file outside of it."""
    allowed = tmp_path / 'meshes'
    (allowed / 'fruit').mkdir(parents=True)
    (allowed / 'fruit' / 'apple.stl').touch()
    (tmp_path / 'secret.stl').touch()
    (tmp_path / 'meshes_of_others').mkdir()
    (tmp_path / 'meshes_of_others' / 'pear.stl').touch()
    return allowed, tmp_path / 'secret.stl'


@pytest.mark.parametrize('variables, local', [
    ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}, True),
    ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'OFF'}, True), ({'ROS_LOCALHOST_ONLY': '1'}, True),
    ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}, False), ({}, False),
    ({'ROS_LOCALHOST_ONLY': '0'}, False),
    ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', 'ROS_STATIC_PEERS': '10.0.0.2'}, False)])
def test_without_folders_only_this_machine_may_name_every_file(
        folders, monkeypatch, variables, local):
    for name in ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS'):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    allowed, secret = folders
    monkeypatch.chdir(allowed)
    resolve = confined_resolver('')
    assert resolve('fruit/apple.stl').resolve() == (allowed / 'fruit' / 'apple.stl').resolve()
    if local:
        assert resolve is resolve_uri and resolve(secret) == secret
    else:
        with pytest.raises(MeshError, match='outside mesh_folders'):
            resolve(secret)
    assert confined_resolver('/')(secret) == secret.resolve()


@pytest.mark.parametrize('form', ['{}/fruit/apple.stl', 'file://{}/fruit/apple.stl',
                                  '{}/fruit/../fruit/apple.stl', 'file://{}/fruit%2fapple.stl'])
def test_files_below_the_folders_are_found(folders, form):
    allowed, _ = folders
    resolve = confined_resolver(f'{allowed.parent / "meshes_of_others"}:{allowed}')
    assert resolve(form.format(allowed)) == (allowed / 'fruit' / 'apple.stl').resolve()


def test_package_uris_stay_allowed(folders):
    resolve = confined_resolver(str(folders[0]))
    assert resolve('package://gripsim_ros/urdf/sdh.urdf') == share_directory() / 'urdf/sdh.urdf'


@pytest.mark.parametrize('form', [
    '{}/../secret.stl', 'file://{}/../secret.stl', 'file://{}/%2e%2e/secret.stl',
    '{}/../meshes_of_others/pear.stl', '{}', '/etc/passwd', '~/apple.stl', 'secret.stl',
    '{}/../no_such_file.stl', '{}/link.stl', '{}/linked/secret.stl'])
def test_files_outside_are_refused_whether_they_exist_or_not(folders, form):
    allowed, secret = folders
    (allowed / 'link.stl').symlink_to(secret)
    (allowed / 'linked').symlink_to(secret.parent)
    with pytest.raises(MeshError, match='outside mesh_folders') as refused:
        confined_resolver(str(allowed))(form.format(allowed))
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize('uri', [
    'http://example.com/a.stl', 'https://example.com/a.stl', 'ftp://example.com/a.stl',
    'file://example.com/a.stl', 'package://gripsim_ros/../secret.stl', 'smb://host/a.stl'])
@pytest.mark.parametrize('confined', [False, True])
def test_no_uri_reaches_the_network_or_leaves_its_package(folders, uri, confined):
    with pytest.raises(MeshError, match='scheme|only local|leaves the package'):
        confined_resolver(str(folders[0]) if confined else '')(uri)


def test_a_link_that_is_turned_after_the_check_changes_nothing(folders):
    allowed, secret = folders
    link = allowed / 'link.stl'
    link.symlink_to(allowed / 'fruit' / 'apple.stl')
    path = confined_resolver(str(allowed))(link)
    link.unlink()
    link.symlink_to(secret)
    assert path == (allowed / 'fruit' / 'apple.stl').resolve()


@pytest.mark.parametrize('text', ['meshes', '/no/such/folder', ':', '/tmp:', '/etc/passwd'])
def test_wrong_folders_are_refused(text):
    with pytest.raises(MeshError, match='must be absolute folders that exist'):
        confined_resolver(text)


def test_an_unknown_home_is_bad_input():
    with pytest.raises(MeshError, match='cannot read ~no-such-user'):
        resolve_uri('~no-such-user/apple.stl')


def test_nodes_hold_requests_to_their_folders(folders):
    rclpy = pytest.importorskip('rclpy')
    pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')
    from gripsim_interfaces.srv import PlanGrasp

    from gripsim_ros.ros.nodes.planner.grasp_planner import GraspPlannerNode
    allowed, secret = folders
    context = rclpy.Context()
    rclpy.init(context=context)
    node = GraspPlannerNode(context=context, parameter_overrides=[
        rclpy.Parameter('mesh_folders', value=str(allowed))])
    try:
        with pytest.raises(MeshError, match='outside mesh_folders'):
            node.reader.read(PlanGrasp.Request(mesh_resource=str(secret)))
        with pytest.raises(MeshError, match='is empty'):
            node.reader.read(PlanGrasp.Request(mesh_resource=f'{allowed}/fruit/apple.stl'))
    finally:
        node.close()
        node.destroy_node()
        context.try_shutdown()


# -- what is in a mesh file --------------------------------------------------------------


def write_gltf(folder, buffer_name):
    """Write a box as glTF whose buffer is the file of a name; return the path."""
    files = trimesh.creation.box([0.05] * 3).export(file_type='gltf')
    for name, data in files.items():
        text = data
        if name.endswith('.gltf'):
            text = re.sub(rb'"uri": ?"[^"]+"', f'"uri":"{buffer_name}"'.encode(), data)
        (folder / name).write_bytes(text)
    buffers = sorted(name for name in files if name.endswith('.bin'))
    return folder / 'model.gltf', [folder / name for name in buffers]


def test_files_beside_a_mesh_file_are_read(tmp_path):
    files = trimesh.creation.box([0.05] * 3).export(file_type='gltf')
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert len(load_mesh(tmp_path / 'model.gltf').mesh.faces) == 12


@pytest.mark.parametrize('name', ['../secret.bin', '/etc/passwd', 'link.bin', 'no_such.bin'])
def test_a_mesh_file_reaches_nothing_outside_its_folder(tmp_path, name):
    folder = tmp_path / 'meshes'
    folder.mkdir()
    path, buffers = write_gltf(folder, name)
    os.replace(buffers[0], tmp_path / 'secret.bin')
    (folder / 'link.bin').symlink_to(tmp_path / 'secret.bin')
    with pytest.raises(MeshError, match='refers to'):
        load_mesh(path)


def test_the_limit_of_size_counts_what_a_mesh_file_refers_to(tmp_path, monkeypatch):
    files = trimesh.creation.box([0.05] * 3).export(file_type='gltf')
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(reading, 'MAX_BYTES', (tmp_path / 'model.gltf').stat().st_size + 1)
    with pytest.raises(MeshError, match='with what it refers to, allowed'):
        load_mesh(tmp_path / 'model.gltf')


# -- YAML and HTML -----------------------------------------------------------------------


@pytest.mark.parametrize('pattern', [
    r'yaml\.(full_|unsafe_)?load(_all)?\(', r'pickle\.loads?\(', r'\b(eval|exec)\(', r'shell=True',
    r'os\.system', r'load\(.*allow_pickle=True'])
def test_no_source_loads_or_runs_what_it_is_given(pattern):
    found = [f'{path.relative_to(ROOT)}: {line.strip()}' for path in SOURCES
             for line in path.read_text(encoding='utf-8').splitlines() if re.search(pattern, line)]
    assert not found


def test_names_of_materials_and_objects_stay_text_in_the_report(monkeypatch):
    for picture in ('_still', '_contact', '_section'):      # pixels, which take their time
        monkeypatch.setattr(html, picture, lambda _: '')
    material = Material(5e5, 0.45, 900.0, 0.5, name=EVIL)
    body = GraspObject(shapes.apple(edge_length=0.006), material, EVIL)
    answer = replace(made_up_answer(1), grasp_object=body)
    text = render_report(answer)
    assert EVIL not in text and '<img src=x' not in text and '&lt;script&gt;' in text
    assert len(Page(text).scripts) == 1 + len(html.SCRIPTS)


def test_hints_and_reasons_stay_text_in_a_report_without_grasps():
    text = render_report(replace(made_up_answer(), grasps=[], hint=EVIL, rejected={EVIL: 2}))
    assert EVIL not in text and '<img src=x' not in text
    assert not Page(text).scripts
