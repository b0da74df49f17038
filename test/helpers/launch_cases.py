"""The launch file without ROS: what it starts, and what it tells each node."""

import importlib.util
from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from unittest import mock

from gripsim_ros.ros.clients.suite import HAND_NODES, NODES

FILE = Path(__file__).resolve().parents[2] / 'launch' / 'gripsim.launch.py'


def hand_names(hardware):
    """Return the nodes of a suite."""
    return (*NODES, *HAND_NODES[hardware])


def launched(**arguments):
    """Return what the launch file tells each node: parameters by name; of RViz arguments too."""
    nodes, _ = start(**arguments)
    return nodes


def start(**arguments):
    """Return what each node is told, and what the launch file says, given arguments."""
    module = _load()
    declared = module.generate_launch_description()
    values = {a.args[0]: a.default_value for a in declared if hasattr(a, 'default_value')}
    assert set(arguments) <= set(values)
    context = {**values, **arguments}
    nodes, said = {}, []
    for node in module.start_nodes(context):
        said += [node.msg] if hasattr(node, 'msg') else []
        if not hasattr(node, 'executable'):
            continue
        told = {'arguments': getattr(node, 'arguments', None)}
        for some in node.parameters:
            told |= some if isinstance(some, dict) else {}
        nodes[node.executable] = told
    return nodes, said


def _load():
    """Return the launch file as a module, with stand-ins for launch."""
    def record(*args, **kwargs):
        return SimpleNamespace(args=args, **kwargs)

    def configuration(name):
        return SimpleNamespace(perform=lambda context: context[name])
    names = {'launch': {'LaunchDescription': list},
             'launch.actions': dict.fromkeys(
                 ('DeclareLaunchArgument', 'EmitEvent', 'LogInfo', 'OpaqueFunction',
                  'RegisterEventHandler', 'SetEnvironmentVariable'), record),
             'launch.event_handlers': {'OnProcessExit': record},
             'launch.events': {'Shutdown': record},
             'launch.substitutions': {'LaunchConfiguration': configuration},
             'launch_ros': {}, 'launch_ros.actions': {'Node': record}}
    modules = {}
    for name, content in names.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(content)
    spec = importlib.util.spec_from_file_location('gripsim_launch', FILE)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, modules):
        spec.loader.exec_module(module)
    return module
