"""Image, recipe and container for development say what the package itself says."""

import importlib.util
import json
from pathlib import Path
import re
import subprocess
import sys

from catkin_pkg.changelog import get_changelog_from_path
import pytest
import yaml

import gripsim_ros

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / 'packaging' / 'conda' / 'recipe.yaml'
#: Where RoboStack's name of a requirement is not that of PyPI.
OF_ROS = {'urdf_parser_py': 'ros-jazzy-urdfdom-py', 'xacro': 'ros-jazzy-xacro'}

pytestmark = pytest.mark.skipif(not (ROOT / 'setup.py').exists(), reason='needs the source tree')


def tool(name):
    """Return a module of tools/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / 'tools' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recipe_of(package):
    """Return version and what a package of the conda recipe needs to run."""
    recipe = yaml.safe_load(RECIPE.read_text())
    output = next(item for item in recipe['outputs'] if item['package']['name'] == package)
    return recipe['context']['version'], output['requirements']['run']


def test_the_conda_recipe_needs_what_the_package_needs():
    version, needs = recipe_of('ros-jazzy-gripsim-ros')
    assert version == gripsim_ros.__version__
    listed = {need.split()[0].lower(): need for need in needs}
    for line in (ROOT / 'requirements.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            name, bound = line.split('>=')
            if name in OF_ROS:
                assert OF_ROS[name] in listed
            else:
                assert listed[name.lower()].split() == [name.lower(), f'>={bound}'], name


def test_the_conda_recipe_needs_the_ros_packages_of_the_manifests():
    for package, folder in (('ros-jazzy-gripsim-ros', ROOT),
                            ('ros-jazzy-gripsim-interfaces', ROOT / 'gripsim_interfaces')):
        text = (folder / 'package.xml').read_text()
        asked = {name for name in re.findall(r'<(?:exec_|)depend>(\w+)<', text)
                 if not name.startswith(('python3', 'gripsim'))}
        needs = set(recipe_of(package)[1]) | set(recipe_of('ros-jazzy-gripsim-interfaces')[1])
        # What another package of the list brings.
        brought = {'launch', 'rcl_interfaces'}
        missing = {name for name in asked - brought
                   if f'ros-jazzy-{name.replace("_", "-")}' not in needs}
        assert not missing, package


def test_the_image_installs_as_the_page_says():
    page, image = ((ROOT / name).read_text()
                   for name in ('docs/install.md', 'packaging/docker/Dockerfile'))
    image = re.sub(r'\s*\\\n\s*', ' ', image)
    for said in ('-r src/gripsim_ros/requirements.txt', '-c src/gripsim_ros/constraints-jazzy.txt',
                 'python3 -m colcon build --base-paths src src/gripsim_ros/gripsim_interfaces',
                 'src/gripsim_ros src/gripsim_ros/gripsim_interfaces',
                 "'mujoco-core>=4.0' 'pytetwild>=0.2.3,<0.3' 'coacd>=1.0' 'rtree>=1.2'"):
        assert said in page and said in image, said


def test_the_simulated_hand_asks_for_what_places_its_texels():
    """Trimesh's rays need rtree, where there is no embree; trimesh asks for neither."""
    code = ("import sys; sys.modules['embreex'] = None\n"
            'from types import SimpleNamespace\n'
            'from gripsim_ros.hardware.sim.touch import texels_of\n'
            'from gripsim_ros.library.resources import load_default_hand\n'
            'link = next(link for link in load_default_hand().links if link.pad is not None)\n'
            'pads = SimpleNamespace(texel_rows=2, texel_columns=2, texel_pitch=0.003)\n'
            "assert len(texels_of(link, pads)) == 4; print('rtree' in sys.modules)")
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (asked,) = re.findall(r"'sim': \[([^]]*)\]", (ROOT / 'setup.py').read_text())
    assert ('rtree' in asked) == (done.stdout.strip() == 'True')


def test_the_container_for_development_makes_a_target_that_exists():
    told = json.loads((ROOT / '.devcontainer' / 'devcontainer.json').read_text())
    target = told['postCreateCommand'].removeprefix('make ')
    assert re.search(rf'^{target}:', (ROOT / 'Makefile').read_text(), re.MULTILINE)


def test_a_dependency_that_no_list_has_is_found():
    check = tool('check_packaging')
    assert check.has_ubuntu({'ubuntu': ['python3-x']})
    assert check.has_ubuntu({'ubuntu': {'*': ['python3-x'], 'focal': None}})
    assert check.has_ubuntu({'ubuntu': {'pip': {'packages': ['x']}}})
    assert not check.has_ubuntu({'ubuntu': {'*': ['python3-x'], 'noble': None}})
    assert not check.has_ubuntu({'debian': ['python3-x']}) and not check.has_ubuntu(None)
    assert {'rclpy', 'python3-scipy', 'sensor_msgs'} <= check.dependencies()


def test_the_changelog_is_read_by_what_bloom_reads_it_with(tmp_path):
    notes = tool('release_notes')
    text = (ROOT / 'CHANGELOG.md').read_text()
    listed = notes.versions(text)
    assert listed[0][0] == gripsim_ros.__version__ and len(listed[0][2]) == text.count('\n- ')
    dated = [(number, date or '2026-01-01', entries) for number, date, entries in listed]
    for package in notes.PACKAGES:
        path = tmp_path / 'CHANGELOG.rst'
        path.write_text(notes.to_rst(package, dated))
        changelog = get_changelog_from_path(path, package)
        content, = changelog.get_content_of_version(gripsim_ros.__version__)
        assert len(content.bullets) == len(listed[0][2])
