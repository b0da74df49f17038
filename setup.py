"""Install gripsim_ros; data files go to one share directory each, as ROS expects them."""

from pathlib import Path
import runpy

from setuptools import find_packages, setup

PACKAGE = 'gripsim_ros'
ROOT = Path(__file__).resolve().parent
DATA_DIRECTORIES = ('launch', 'config', 'urdf', 'examples')
PROGRAMS = runpy.run_path(str(ROOT / PACKAGE / 'ros' / 'programs.py'))['PROGRAMS']


def read_version():
    """Return ``__version__`` of the package without importing it."""
    text = (ROOT / PACKAGE / '__init__.py').read_text(encoding='utf-8')
    line = next(line for line in text.splitlines() if line.startswith('__version__'))
    return line.split('=')[1].strip().strip('\'"')


def read_requirements():
    """Return the lines of requirements.txt that name packages."""
    lines = (ROOT / 'requirements.txt').read_text(encoding='utf-8').splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith('#')]


def list_data_files():
    """List one ``(target directory, files)`` entry for each directory with files."""
    entries = [
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ]
    for top in DATA_DIRECTORIES:
        folders = [ROOT / top, *sorted(p for p in (ROOT / top).rglob('*') if p.is_dir())]
        for folder in folders:
            files = sorted(str(p.relative_to(ROOT)) for p in folder.glob('*')
                           if p.is_file() and p.suffix != '.pyc')
            if files:
                entries.append((f'share/{PACKAGE}/{folder.relative_to(ROOT)}', files))
    return entries


setup(
    name=PACKAGE,
    version=read_version(),
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={f'{PACKAGE}.apps.report': ['assets/*']},
    data_files=list_data_files(),
    install_requires=read_requirements(),
    extras_require={'test': ['pytest', 'hypothesis'], 'convex': ['coacd>=1.0'],
                    'sim': ['mujoco-core>=4.0', 'pytetwild>=0.2.3,<0.3', 'coacd>=1.0',
                            'rtree>=1.2'],
                    'can': ['python-can>=4.3'], 'cuda': ['numba-cuda[cu13]>=0.20'],
                    'sweep': ['SQLAlchemy>=2.0'], 'postgresql': ['psycopg[binary]>=3.1'],
                    'dask': ['distributed>=2024.2'],
                    'record': ['mcap>=1.2'], 'view': ['viser>=1.0.20']},
    zip_safe=True,
    maintainer='gripsim maintainers',
    maintainer_email='gripsim@users.noreply.github.com',
    description='Grasp planning for deformable objects with a multi-finger hand, on ROS 2.',
    long_description=(ROOT / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    python_requires='>=3.10',
    entry_points={
        'console_scripts': [
            'gripsim = gripsim_ros.apps.cli.main:main',
            *(f'{name} = {module}:main' for name, module in PROGRAMS.items()),
        ],
    },
)
