"""
Keep a sourced ROS out of this virtual environment.

Run as a script by ``make setup``, it installs itself into the environment's site packages under
the name ``gripsim_venv`` with a ``.pth`` file that sorts first, so that each start of the
environment's Python imports it before any other package. It then drops the variables of a sourced
ROS, saying so in one line on standard error, points the loader at the environment's own libraries,
and starts the same command once more. It acts in the environment it was installed into alone; set
``GRIPSIM_KEEP_ENVIRONMENT=1`` to keep everything as it is.
"""

import os
import sys

OPT_OUT = 'GRIPSIM_KEEP_ENVIRONMENT'
CLEARED = ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH',
           'COLCON_PREFIX_PATH', 'COLCON_CURRENT_PREFIX', 'ROS_DISTRO', 'ROS_VERSION',
           'ROS_PYTHON_VERSION')
PREFIX_VARIABLES = ('AMENT_PREFIX_PATH', 'COLCON_PREFIX_PATH')
# Files by which an entry of a search path is recognised as part of another ROS.
ROS_MARKS = {
    'PYTHONPATH': ('rclpy', 'ament_index_python', 'rosidl_parser', 'std_msgs',
                   'gripsim_interfaces'),
    'LD_LIBRARY_PATH': ('librcl.so', 'librcutils.so', 'librmw.so', 'libfastrtps.so'),
    'CMAKE_PREFIX_PATH': ('share/ament_cmake', 'share/ament_cmake_core', 'share/rclpy',
                          'share/gripsim_interfaces'),
}
# Set by the package ros_wheels_bootstrapper, which then leaves LD_LIBRARY_PATH alone.
BOOTSTRAP_DONE = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'
MODULE = 'gripsim_venv'


def split_path(value):
    """Split a search path, without its empty entries."""
    return [entry for entry in value.split(os.pathsep) if entry]


def is_inside(path, prefix):
    """Tell whether ``path`` is ``prefix`` or lies in it."""
    path, prefix = os.path.realpath(path), os.path.realpath(prefix)
    return path == prefix or path.startswith(prefix + os.sep)


def list_library_directories(prefix):
    """List where the wheels keep shared libraries, in a fixed order."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    site_packages = os.path.join(prefix, 'lib', version, 'site-packages')
    bundled = [os.path.join(site_packages, name) for name in sorted(os.listdir(site_packages))
               if name.startswith('ros_') and name.endswith('.libs')]
    return [os.path.join(prefix, 'lib'), *bundled]


def find_foreign_ros(environment, prefix):
    """List the variables by which another ROS than the one in ``prefix`` shows."""
    found = []
    for name in PREFIX_VARIABLES:
        if any(not is_inside(entry, prefix) for entry in split_path(environment.get(name, ''))):
            found.append(name)
    for name, marks in ROS_MARKS.items():
        for entry in split_path(environment.get(name, '')):
            if not is_inside(entry, prefix) and any(
                    os.path.exists(os.path.join(entry, mark)) for mark in marks):
                found.append(name)
                break
    return found


def clean_environment(environment, prefix):
    """
    Return the environment without another ROS, and the names of what was dropped.

    The loader's path begins with the libraries of ``prefix`` in either case.
    """
    clean, dropped = dict(environment), []
    if find_foreign_ros(environment, prefix):
        dropped = [name for name in CLEARED if clean.pop(name, '')]
    own = list_library_directories(prefix)
    others = [entry for entry in split_path(clean.get('LD_LIBRARY_PATH', '')) if entry not in own]
    clean['LD_LIBRARY_PATH'] = os.pathsep.join(own + others)
    clean[BOOTSTRAP_DONE] = '1'
    return clean, dropped


def apply(prefix):
    """Start the running command again in a clean environment where this one is not."""
    if os.environ.get(OPT_OUT) or not sys.executable or not is_inside(sys.prefix, prefix):
        return
    clean, dropped = clean_environment(os.environ, prefix)
    if clean == dict(os.environ):
        return
    if dropped:
        sys.stderr.write(f'gripsim: cleared {", ".join(dropped)} of a sourced ROS: '
                         f'{prefix} brings its own\n')
        sys.stderr.flush()
    os.execve(sys.executable, sys.orig_argv, clean)


def install():
    """Copy this file into the running environment and have it imported first."""
    if sys.prefix == sys.base_prefix:
        sys.exit('gripsim: venv_guard.py belongs into a virtual environment')
    site_packages = next(path for path in sys.path if path.endswith('site-packages')
                         and is_inside(path, sys.prefix))
    with open(__file__, encoding='utf-8') as source:
        text = source.read()
    with open(os.path.join(site_packages, f'{MODULE}.py'), 'w', encoding='utf-8') as target:
        target.write(text)
    with open(os.path.join(site_packages, '00_gripsim_venv.pth'), 'w', encoding='utf-8') as pth:
        pth.write(f'import {MODULE}; {MODULE}.apply({sys.prefix!r})\n')


if __name__ == '__main__':
    install()
