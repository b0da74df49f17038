"""The nodes of the suite as programs; ``setup.py`` installs each under its name."""

_NODES = 'gripsim_ros.ros.nodes'

#: Name of the program, and of its node -> module that ``python -m`` starts.
PROGRAMS = {
    'forward_kinematics': f'{_NODES}.ring.forward_kinematics',
    'contact_detection': f'{_NODES}.ring.contact_detection',
    'deformation': f'{_NODES}.ring.deformation',
    'grasp_planner': f'{_NODES}.planner.grasp_planner',
    'arm_planner': f'{_NODES}.planner.arm_planner',
    'grasp_executor': f'{_NODES}.executor.grasp_executor',
    'sdh_simulator': f'{_NODES}.hand.sdh_simulator',
    'sdh_driver': f'{_NODES}.hand.sdh_driver',
}
