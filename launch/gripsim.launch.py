"""Start the suite: four nodes that serve again by themselves, and RViz if wanted."""

import os
from pathlib import Path

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, EmitEvent, LogInfo, OpaqueFunction, RegisterEventHandler,
    SetEnvironmentVariable)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

SHARE = Path(__file__).resolve().parents[1]
NODES = ('forward_kinematics', 'contact_detection', 'deformation', 'grasp_planner')
#: Nodes beside these, by the argument `hardware`.
HAND_NODES = {'none': (), 'sim': ('sdh_simulator', 'grasp_executor'),
              'real': ('sdh_driver', 'grasp_executor')}
#: What the executor is told of a simulated hand: it meets the meshes' surfaces, to so many metres,
#: and its joints are read as they are, to so many radians.
SIMULATED_READINGS = {'surface_error': 2.0e-5, 'joint_resolution': 2.0e-5}
RESPAWN_DELAY = 1.0
#: What arguments were called before, and still may be.
OLD_NAMES = {'object_mesh': 'object', 'object_scale': 'scale', 'object_material': 'material'}
#: Exit code of a node with a bad parameter, hand or file.
MISCONFIGURED = 2
PROFILE = 'FASTRTPS_DEFAULT_PROFILES_FILE'
PROFILE_MEMORY = 'RMW_FASTRTPS_USE_QOS_FROM_XML'


def start_nodes(context):
    """Return the four nodes, those of the hand, and what RViz needs."""
    namespace = LaunchConfiguration('namespace').perform(context)
    use_rviz = LaunchConfiguration('use_rviz').perform(context) == 'true'
    publish_tf = LaunchConfiguration('publish_tf').perform(context) == 'true'
    hardware = LaunchConfiguration('hardware').perform(context)
    use_sim_time = {'true': True, 'false': False, 'auto': hardware == 'sim'}[
        LaunchConfiguration('use_sim_time').perform(context)]
    arm = LaunchConfiguration('arm').perform(context)
    hand = LaunchConfiguration('hand').perform(context)
    check_hand(hand, hardware)
    names = (*NODES, *HAND_NODES[hardware], *(('arm_planner',) if arm else ()))
    addresses = {name: LaunchConfiguration(name).perform(context)
                 for name in ('address', 'tactile_address')}
    enclaves = LaunchConfiguration('enclaves').perform(context)
    given, warnings = read_renamed(context)
    own = {
        'grasp_executor': {'hand_node': HAND_NODES[hardware][0] if HAND_NODES[hardware] else '',
                           'simulated': hardware == 'sim',
                           **(SIMULATED_READINGS if hardware == 'sim' else {})},
        'sdh_driver': {name: address for name, address in addresses.items() if address},
        'arm_planner': {'arm_config': arm},
        'sdh_simulator': {'publish_clock': use_sim_time, **({'preshape': ''} if hand else {})},
        'forward_kinematics': {'publish_tf': publish_tf and hardware != 'none'},
        'grasp_planner': {
            'publish_tf': publish_tf and hardware == 'none',
            **({'arm_service': 'choose_by_arm'} if arm else {}),
            'object': given['object_mesh'], 'object_scale': float(given['object_scale'] or 1.0),
            'material': given['object_material']},
    }
    actions = [Node(
        package='gripsim_ros', executable=name, name=name, namespace=namespace,
        parameters=[LaunchConfiguration('params_file'), {'use_sim_time': use_sim_time},
                    {'hand_config': str(Path(hand).expanduser().resolve())} if hand else {},
                    own.get(name, {})],
        ros_arguments=['--enclave', f'{enclaves}/{name}'] if enclaves else None,
        respawn=LaunchConfiguration('respawn').perform(context) == 'true',
        respawn_delay=RESPAWN_DELAY, output='screen') for name in names]
    actions += [RegisterEventHandler(OnProcessExit(
        target_action=node, on_exit=end_if_misconfigured)) for node in actions]
    if use_rviz:
        view = 'gripsim.rviz' if hardware == 'none' else 'gripsim_live.rviz'
        actions.append(Node(package='rviz2', executable='rviz2', namespace=namespace,
                            arguments=['-d', str(SHARE / 'config' / view)],
                            parameters=[{'use_sim_time': use_sim_time}], output='screen'))
    return [*warnings, *actions]


def check_hand(hand, hardware):
    """Refuse a file that is not there, and a hand of the user's own that a driver should move."""
    if hand and not Path(hand).expanduser().is_file():
        raise RuntimeError(f'hand: no such file: {hand}')
    if hand and hardware == 'real':
        raise RuntimeError('hand does not go with hardware:=real: its driver moves an SDH alone')


def read_renamed(context):
    """Return the values of arguments by their new names, and a warning for each old one given."""
    given, warnings = {}, []
    for name, old in OLD_NAMES.items():
        given[name] = LaunchConfiguration(name).perform(context)
        former = LaunchConfiguration(old).perform(context)
        if former:
            given[name] = given[name] or former
            warnings.append(LogInfo(msg=f'[WARN] the argument {old}:= is called {name}:= now'))
    return given, warnings


def end_if_misconfigured(event, context):
    """End everything where a node cannot start as it is configured: so it would each time."""
    if event.returncode == MISCONFIGURED:
        return [EmitEvent(event=Shutdown(reason=f'{event.process_name} cannot start as it is '
                                                'configured, its line says why'))]
    return None


def generate_launch_description():
    """Describe arguments and nodes."""
    boolean = {'choices': ['true', 'false']}
    arguments = [
        DeclareLaunchArgument(
            'object_mesh', default_value='',
            description='Mesh file or URI published on grasp_object; empty: none.'),
        DeclareLaunchArgument(
            'object_scale', default_value='',
            description='Factor that makes its lengths metres; empty: 1.'),
        DeclareLaunchArgument(
            'object_material', default_value='',
            description='Its material, a name of config/materials.yaml; empty: the default.'),
        DeclareLaunchArgument(
            'object', default_value='', description='Former name of object_mesh.'),
        DeclareLaunchArgument(
            'scale', default_value='', description='Former name of object_scale.'),
        DeclareLaunchArgument(
            'material', default_value='', description='Former name of object_material.'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of all nodes.'),
        DeclareLaunchArgument(
            'use_rviz', default_value='false', description='Start RViz.', **boolean),
        DeclareLaunchArgument(
            'use_sim_time', default_value='auto', choices=['auto', 'true', 'false'],
            description='Stamps from /clock; auto: with hardware:=sim, which publishes it.'),
        DeclareLaunchArgument(
            'publish_tf', default_value='true',
            description='Tell by TF where object, palm and links are; false: others do.',
            **boolean),
        DeclareLaunchArgument(
            'params_file', default_value=str(SHARE / 'config' / 'params.yaml'),
            description='Parameters of the nodes, in the format of the default file.'),
        DeclareLaunchArgument(
            'respawn', default_value='true', description='Restart nodes that end.', **boolean),
        DeclareLaunchArgument(
            'hardware', default_value='none', choices=['none', 'sim', 'real'],
            description='Which hand moves: none, simulated or real.'),
        DeclareLaunchArgument(
            'hand', default_value='',
            description='File of the hand, see docs/hand.md; empty: the Schunk SDH.'),
        DeclareLaunchArgument(
            'arm', default_value='', description='File of the arm; empty: no arm.'),
        DeclareLaunchArgument(
            'address', default_value='',
            description='Of the real hand, such as tcp://192.168.1.42:23; empty: the parameter.'),
        DeclareLaunchArgument(
            'tactile_address', default_value='',
            description='Of its tactile sensors; empty: the parameter.'),
        DeclareLaunchArgument(
            'enclaves', default_value='',
            description='Path of the SROS 2 enclaves, such as /gripsim; see docs/security.md.'),
    ]
    profile = [] if os.environ.get(PROFILE) else [
        SetEnvironmentVariable(PROFILE, str(SHARE / 'config' / 'fastdds.xml')),
        SetEnvironmentVariable(PROFILE_MEMORY, os.environ.get(PROFILE_MEMORY, '1'))]
    return LaunchDescription([
        *arguments, *profile, OpaqueFunction(function=start_nodes)])
