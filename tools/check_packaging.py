"""
Check what others package this with: ``check_packaging.py [--rosdistro DIR]``.

The Dockerfile by hadolint, the conda recipe by rendering it, and the dependencies
of both package.xml against the lists of a checkout of https://github.com/ros/rosdistro: each is a
package of ROS 2 Jazzy, or a rosdep key with a package of Ubuntu 24.04.
"""

import argparse
from pathlib import Path
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ('gripsim_ros', 'gripsim_interfaces')
DISTRIBUTION, UBUNTU = 'jazzy', 'noble'
#: What names no dependency of a package, but how it is built.
BUILD_TYPES = {'member_of_group'}


def lint_dockerfile():
    """Return what hadolint says of the Dockerfile."""
    file = ROOT / 'packaging' / 'docker' / 'Dockerfile'
    done = subprocess.run([Path(sys.prefix, 'bin', 'hadolint'), file], capture_output=True,
                          text=True)
    return (done.stdout + done.stderr).splitlines()


def render_recipe():
    """Return why the conda recipe does not give its two packages."""
    import rattler_build
    text = (ROOT / 'packaging' / 'conda' / 'recipe.yaml').read_text(encoding='utf-8')
    try:
        variants = rattler_build.Stage0Recipe.from_yaml(text).render(
            rattler_build.VariantConfig({'python': ['3.12'], 'numpy': ['2']}))
    except rattler_build.RattlerBuildError as error:
        return [f'recipe.yaml: {error}']
    names = {str(variant.recipe.package.name) for variant in variants}
    wanted = {f'ros-{DISTRIBUTION}-{name.replace("_", "-")}' for name in PACKAGES}
    return [] if names == wanted else [f'recipe.yaml: gives {sorted(names)}']


def dependencies():
    """Return the dependencies that the two package.xml name."""
    names = set()
    for manifest in (ROOT / 'package.xml', ROOT / PACKAGES[1] / 'package.xml'):
        names |= {element.text for element in ElementTree.parse(manifest).getroot()
                  if element.tag.endswith('depend')}
    return names - set(PACKAGES) - BUILD_TYPES


def unknown_dependencies(rosdistro):
    """Return a line for each dependency that is neither a package of ROS nor a key for Ubuntu."""
    released = set()
    listed = yaml.safe_load((rosdistro / DISTRIBUTION / 'distribution.yaml').read_text())
    for repository, entry in listed['repositories'].items():
        released |= set(entry.get('release', {}).get('packages', [repository]))
    keys = {}
    for name in ('base.yaml', 'python.yaml'):
        keys.update(yaml.safe_load((rosdistro / 'rosdep' / name).read_text()))
    return [f'{name}: neither a package of {DISTRIBUTION} nor a rosdep key for Ubuntu {UBUNTU}'
            for name in sorted(dependencies() - released) if not has_ubuntu(keys.get(name))]


def has_ubuntu(rule):
    """Return whether a rosdep rule names a package of the Ubuntu that the distribution is for."""
    rule = (rule or {}).get('ubuntu')
    if isinstance(rule, dict) and not {'apt', 'pip', 'packages'} & set(rule):
        rule = rule.get(UBUNTU, rule.get('*'))
    return bool(rule)


def main():
    """Check all; end with 1 where something is not right."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rosdistro', type=Path, help='a checkout of ros/rosdistro')
    folder = parser.parse_args().rosdistro
    faults = lint_dockerfile() + render_recipe()
    if folder is not None:
        faults += unknown_dependencies(folder)
    for fault in faults:
        print(f'gripsim: {fault}')
    print(f'gripsim: Dockerfile, recipe{", dependencies" if folder else ""}: '
          f'{len(faults)} faults')
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
