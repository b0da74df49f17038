"""
Build wheels of both packages: ``build_wheels.py [--out DIR]``, in the environment of `make setup`.

``gripsim_ros`` runs anywhere, from a source distribution by ``python -m build``;
``gripsim_interfaces`` holds what this environment compiled, for its Python and kind of machine.
"""

import argparse
from pathlib import Path
import subprocess
import sys
import sysconfig
import tempfile

from packaging.tags import sys_tags
from wheel.wheelfile import WheelFile

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from gripsim_ros import __version__  # noqa: E402

NAME = 'gripsim_interfaces'
COMPILED = Path(sys.prefix, 'build', NAME)
#: What serves to build against the messages, or to source in a shell, and names folders of here.
FOLDERS_LEFT_OUT = ('include/', f'share/{NAME}/cmake/', f'share/{NAME}/environment/',
                    'share/ament_index/resource_index/parent_prefix_path/')
SUFFIXES_LEFT_OUT = {'.bash', '.c', '.dsv', '.ps1', '.pyc', '.sh', '.zsh'}


def run_time_requirements():
    """Return what is listed in requirements-wheels.txt before the tools to build with."""
    text = (ROOT / 'requirements-wheels.txt').read_text(encoding='utf-8')
    listed = text.split('\n\n')[0].splitlines()
    return [line for line in listed if not line.startswith('#')]


def run(command):
    """Run a command; what it prints is shown where it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f'{done.stdout}gripsim: {" ".join(map(str, command))} failed')


def build_package(out):
    """Build gripsim_ros: a source distribution, and from it the wheel."""
    run([sys.executable, '-m', 'build', '--no-isolation', '--outdir', out, ROOT])


def build_interfaces(out):
    """Pack the compiled messages; return the wheel's path."""
    tag = next(sys_tags())
    path = out / f'{NAME}-{__version__}-{tag}.whl'
    with tempfile.TemporaryDirectory() as folder, WheelFile(path, 'w') as wheel:
        run([Path(sys.prefix, 'bin', 'cmake'), '--install', COMPILED, '--prefix', folder])
        for file, name in installed(Path(folder)):
            wheel.write(file, name)
        info = f'{NAME}-{__version__}.dist-info'
        wheel.writestr(f'{info}/METADATA', '\n'.join([
            'Metadata-Version: 2.1', f'Name: {NAME}', f'Version: {__version__}',
            'License: Apache-2.0',
            'Summary: Messages, services and actions of gripsim_ros.',
            *(f'Requires-Dist: {line}' for line in run_time_requirements()), '']))
        wheel.writestr(f'{info}/WHEEL', f'Wheel-Version: 1.0\nGenerator: {Path(__file__).name}\n'
                       f'Root-Is-Purelib: false\nTag: {tag}\n')
    return path


def installed(prefix):
    """Yield files of an install with their names in a wheel: all but modules are its data."""
    modules = Path(sysconfig.get_path('platlib')).relative_to(sys.prefix)
    for file in sorted(path for path in prefix.rglob('*') if path.is_file()):
        name = file.relative_to(prefix)
        if file.suffix in SUFFIXES_LEFT_OUT or str(name).startswith(FOLDERS_LEFT_OUT):
            continue
        if not name.is_relative_to(modules):
            yield file, f'{NAME}-{__version__}.data/data/{name}'
        elif name.relative_to(modules).parts[0] == NAME:
            yield file, str(name.relative_to(modules))


def main():
    """Build both."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=Path, default=ROOT / 'dist', help='folder of the wheels')
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    build_package(out)
    build_interfaces(out)
    for path in sorted(out.glob('*.whl')):
        print(f'gripsim: {path}')


if __name__ == '__main__':
    main()
