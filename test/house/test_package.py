"""The package is described consistently, and installs what it needs."""

from importlib import util
from pathlib import Path
import re
import runpy
import xml.etree.ElementTree as ElementTree

import pytest

import gripsim_ros

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = ROOT / 'gripsim_interfaces'
NODES = ('forward_kinematics', 'contact_detection', 'deformation', 'grasp_planner',
         'grasp_executor', 'sdh_simulator', 'sdh_driver', 'arm_planner')
# Directories that are installed, with a file that must be among them.
INSTALLED = ('urdf/sdh.urdf', 'config/hands/sdh.yaml', 'config/fastdds.xml')

pytestmark = pytest.mark.skipif(not (ROOT / 'setup.py').exists(), reason='needs the source tree')


@pytest.fixture(scope='module')
def setup_arguments():
    """Return what setup.py hands to setuptools."""
    captured = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('setuptools.setup', lambda **arguments: captured.update(arguments))
        runpy.run_path(str(ROOT / 'setup.py'))
    return captured


def read_manifest(folder):
    """Parse the package.xml of a folder."""
    return ElementTree.parse(folder / 'package.xml').getroot()


def list_dependencies(manifest):
    """List the names of all dependencies of a package.xml."""
    return {element.text for element in manifest if element.tag.endswith('depend')}


def test_all_versions_are_equal(setup_arguments):
    versions = {read_manifest(ROOT).findtext('version'),
                read_manifest(INTERFACES).findtext('version'),
                setup_arguments['version'], gripsim_ros.__version__}
    assert len(versions) == 1


def test_changelog_begins_with_the_version():
    heading = re.search(r'^## \[?(\d+\.\d+\.\d+)', (ROOT / 'CHANGELOG.md').read_text(), re.M)
    assert heading and heading[1] == gripsim_ros.__version__


def test_licence_is_the_same_everywhere(setup_arguments):
    assert read_manifest(ROOT).findtext('license') == setup_arguments['license'] == 'Apache-2.0'
    assert read_manifest(INTERFACES).findtext('license') == 'Apache-2.0'
    assert 'Apache License' in (ROOT / 'LICENSE').read_text()


def test_data_files_exist_and_keep_their_directories(setup_arguments):
    targets = [target for target, _ in setup_arguments['data_files']]
    assert len(targets) == len(set(targets))
    for target, files in setup_arguments['data_files']:
        for name in files:
            assert (ROOT / name).is_file()
            if target.startswith('share/gripsim_ros'):
                assert Path(target, Path(name).name) == Path('share/gripsim_ros', name)


def test_every_file_below_the_data_directories_is_installed(setup_arguments):
    listed = {name for _, files in setup_arguments['data_files'] for name in files}
    present = {str(path.relative_to(ROOT)) for top in ('launch', 'config', 'urdf')
               for path in (ROOT / top).rglob('*')
               if path.is_file() and '__pycache__' not in path.parts}
    assert present <= listed
    assert {'package.xml', 'resource/gripsim_ros', *INSTALLED} <= listed


def test_console_scripts_exist(setup_arguments):
    scripts = dict(re.fullmatch(r'(\w+) = ([\w.]+:\w+)', line).groups()
                   for line in setup_arguments['entry_points']['console_scripts'])
    assert set(scripts) == {'gripsim', *NODES}
    for target in scripts.values():
        module, function = target.split(':')
        path = ROOT / (module.replace('.', '/') + '.py')
        assert path.is_file(), module
        assert re.search(rf'^(def {function}\(|from .* import .*\b{function}\b)',
                         path.read_text(), re.M), target


def test_command_line_module_can_be_imported_without_ros():
    assert util.find_spec('gripsim_ros.apps.cli.main') is not None


def test_interface_dependencies_agree_with_cmake():
    text = (INTERFACES / 'CMakeLists.txt').read_text()
    asked = set(re.findall(r'find_package\((\w+)', text)) - {'ament_cmake'}
    assert asked <= list_dependencies(read_manifest(INTERFACES))


def test_message_packages_used_are_declared():
    declared = list_dependencies(read_manifest(ROOT))
    used = set()
    for path in (ROOT / 'gripsim_ros').rglob('*.py'):
        used |= set(re.findall(r'^\s*(?:from|import) (\w+_(?:msgs|srvs|interfaces))\b',
                               path.read_text(encoding='utf-8'), re.M))
    assert used <= declared | {'rcl_interfaces', 'moveit_msgs', 'control_msgs'}


def test_every_wheel_requirement_has_a_lower_bound():
    for line in (ROOT / 'requirements.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            assert re.fullmatch(r'[\w-]+>=[\d.]+', line), line
