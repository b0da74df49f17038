"""Files of the package are found from a clone, and no URI leads out of it."""

from pathlib import Path

import pytest

from gripsim_ros.core.errors import MeshError
from gripsim_ros.library import resources

ROOT = Path(__file__).resolve().parents[2]


def test_share_directory_holds_the_package_files():
    share = resources.share_directory()
    assert share.is_absolute()
    for name in ('urdf/sdh.urdf', 'config/hands/sdh.yaml', 'package.xml'):
        assert (share / name).is_file()


def test_own_package_uris_need_no_ros(monkeypatch):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    path = resources.resolve_uri('package://gripsim_ros/urdf/sdh.urdf')
    assert path == resources.share_directory() / 'urdf' / 'sdh.urdf'


def test_installed_packages_are_found_by_the_ament_index(monkeypatch, tmp_path):
    pytest.importorskip('ament_index_python')
    marker = tmp_path / 'share/ament_index/resource_index/packages/my_objects'
    marker.parent.mkdir(parents=True)
    marker.touch()
    mesh = tmp_path / 'share/my_objects/meshes/ball.stl'
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert resources.resolve_uri('package://my_objects/meshes/ball.stl') == mesh


@pytest.mark.parametrize('form', ['{}', 'file://{}', 'file://localhost{}'])
def test_paths_and_file_uris_name_files(tmp_path, form):
    mesh = tmp_path / 'ball.stl'
    mesh.touch()
    assert resources.resolve_uri(form.format(mesh)) == mesh


def test_escapes_are_decoded_in_uris_and_kept_in_paths(tmp_path):
    for name in ('a ball.stl', 'a%20ball.stl'):
        (tmp_path / name).touch()
    assert resources.resolve_uri(f'file://{tmp_path}/a%20ball.stl').name == 'a ball.stl'
    assert resources.resolve_uri(f'{tmp_path}/a%20ball.stl').name == 'a%20ball.stl'


@pytest.mark.parametrize('uri, message', [
    ('', 'path or URI is needed'),
    ('  ', 'path or URI is needed'),
    ('a\0b.stl', 'path or URI is needed'),
    ('package://gripsim_ros/a%00b.stl', 'null character'),
    ('package://gripsim_ros/../secret.stl', 'leaves the package'),
    ('package://gripsim_ros/urdf/../../secret.stl', 'leaves the package'),
    ('package://gripsim_ros/%2e%2e/secret.stl', 'leaves the package'),
    ('package://gripsim_ros//etc/passwd', 'no such file'),
    ('package://gripsim_ros/', 'leaves the package'),
    ('package://gripsim_ros/urdf', 'is a directory'),
    ('package://no_such_package/ball.stl', "no package 'no_such_package'"),
    ('package:///ball.stl', 'no package'),
    ('package://../ball.stl', 'no package'),
    ('http://example.com/ball.stl', "scheme 'http'"),
    ('ftp://example.com/ball.stl', "scheme 'ftp'"),
    ('file://example.com/ball.stl', "host 'example.com'"),
    ('file:///no/such/ball.stl', 'no such file'),
    ('no_such_ball.stl', 'no such file'),
    ('http://[broken/ball.stl', 'malformed URI'),
    ('x' * 5000, 'cannot read'),
])
def test_unusable_uris_are_refused_in_one_line(uri, message, monkeypatch):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    with pytest.raises(MeshError) as refused:
        resources.resolve_uri(uri)
    assert message in str(refused.value)
    assert '\n' not in str(refused.value)


def test_default_hand_is_loaded_once():
    hand = resources.load_default_hand()
    assert resources.load_default_hand() is hand
    assert len(hand.joint_names) == 7
    assert hand.base_link == 'sdh_palm_link'


def test_a_name_that_lasts_is_read_from_elsewhere_too(monkeypatch, tmp_path):
    (tmp_path / 'a.stl').touch()
    monkeypatch.chdir(tmp_path)
    assert resources.lasting_name('a.stl') == str(tmp_path / 'a.stl')
    for kept in ('package://gripsim_ros/urdf/sdh.urdf', 'file:///a.stl', 'not_there.stl'):
        assert resources.lasting_name(kept) == kept
