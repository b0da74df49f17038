"""
Import what the nodes, the first plan and its report import, so that their bytecode is there.

Usage: make_bytecode.py. Packages are installed without bytecode, since most of it nobody needs;
the nodes start at the same time, and each would make that of ROS anew.
"""

from importlib import import_module

from gripsim_ros.ros.clients.suite import NODES
from gripsim_ros.ros.programs import PROGRAMS

#: Imported by functions of the first command alone, when it comes to them.
LATER = ('gripsim_ros.apps.cli.answers.nodes', 'gripsim_ros.apps.cli.demo',
         'gripsim_ros.apps.cli.tables', 'gripsim_ros.apps.report', 'gripsim_ros.apps.report.html',
         'gripsim_ros.ros.clients.plan', 'PIL.PngImagePlugin', 'rich.progress', 'rich.table')


def main() -> None:
    """Import all."""
    for name in (*(PROGRAMS[node] for node in NODES), *LATER):
        import_module(name)


if __name__ == '__main__':
    main()
