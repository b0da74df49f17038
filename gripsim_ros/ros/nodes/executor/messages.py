"""What `grasp_executor` can be told, and the messages it makes."""

from builtin_interfaces.msg import Time
from gripsim_interfaces.action import ExecuteGrasp
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....hardware.execution.actions import MoveArm, SendRows
from ....hardware.execution.report import ExecutionReport
from ...conversions.geometry import duration_to_msg, time_to_msg
from ..base.parameters import NodeParameter

PARAMETERS = (
    NodeParameter('hand_node', str, 'The node whose services step or stop the hand.'),
    NodeParameter('simulated', bool, 'It can be carried about and lift the object.'),
    NodeParameter('arm_action', str, 'Action FollowJointTrajectory of the arm that carries a real '
                  'hand; empty: another brings it.'),
    NodeParameter('object_frame', str, 'Grasps in this frame follow object_pose.'),
    NodeParameter('trust_uncalibrated', bool, 'Use tactile frames that are not calibrated.'),
    NodeParameter('torque_per_effort', float, 'Of a unit of effort in joint_states of a real hand '
                  '[N m]; 0: not known, motors tell no force.', 0.0, 1e6),
    NodeParameter('joint_timeout', float, 'Silence of a real hand: it is lost [s].',
                  0.01, 60.0),
    NodeParameter('force_factor', float, 'Of the planned force, where a finger stops.', 0.1, 10.0),
    NodeParameter('touch_force', float, 'Least force that counts as contact [N].', 0.0, 10.0),
    NodeParameter('joint_tolerance', float, 'Of a joint that touches nothing [rad].', 0.0, 1.0),
    NodeParameter('slip_tolerance', float, 'Of the lifted object in the hand [m].', 0.0, 1.0),
    NodeParameter('lag_time', float, 'That an error must last [s].', 0.0, 10.0),
    NodeParameter('start_time', float, 'In which the hand begins to close [s].', 0.0, 60.0),
    NodeParameter('settle_time', float, 'Rest before anything is judged [s].', 0.0, 10.0),
    NodeParameter('motion_time', float, 'At least, for shaping the hand [s].', 0.1, 60.0),
    NodeParameter('grip_time', float, 'From the last row to the grip [s].', 0.01, 60.0),
    NodeParameter('hold_time', float, 'Where a goal names none [s].', 0.0, 3600.0),
    NodeParameter('motion_timeout', float, 'Added to what a motion takes [s].', 0.1, 600.0),
    NodeParameter('go_timeout', float, 'Longest wait for the service go [s].', 0.1, 1e5),
    NodeParameter('carry_speed', float, "Of palm and object on the object's way [m/s].",
                  0.001, 1.0),
    NodeParameter('carry_spin', float, 'The same, turning [rad/s].', 0.01, 10.0),
    NodeParameter('touch_speed', float, 'Of joints near the planned contact, closing by touch '
                  '[rad/s].', 0.001, 10.0),
    NodeParameter('touch_beyond', float, 'That fingers go on from there until they touch [rad].',
                  0.0, 0.5),
    NodeParameter('force_room', float, 'Closing by touch: largest force over the planned one.',
                  1.0, 10.0),
    NodeParameter('step_delay', float, 'Closing by touch with a real hand: until a step has been '
                  'carried out and felt, beside its own time [s].', 0.0, 10.0),
    NodeParameter('missed_contact', str, 'Closing by touch, where a finger finds no contact and a '
                  'goal names nothing: keep, replan, release or stop.'),
    NodeParameter('loading_time', float, 'Longest, from touch to the planned forces [s].',
                  0.1, 600.0),
    NodeParameter('squeezes', int, 'Of a palpation, where a goal names none; up to twice as many '
                  'while the object is too stiff to tell.', 1, 10),
    NodeParameter('levels', int, 'Forces at which each squeeze rests.', 3, 50),
    NodeParameter('first_force', float, 'Of the grip, the most of the first squeeze [N].',
                  0.01, 100.0),
    NodeParameter('most_force', float, 'The most of any squeeze, where a goal names none [N].',
                  0.01, 100.0),
    NodeParameter('most_strain', float, 'Longest way of the fingers over the width of what they '
                  'hold [-].', 0.001, 0.3),
    NodeParameter('damage_room', float, 'Largest pressure over that at which damage begins [-].',
                  0.01, 1.0),
    NodeParameter('force_growth', float, 'Largest force of a squeeze over that of the one before '
                  '[-].', 1.0, 100.0),
    NodeParameter('rest_time', float, 'At each force, before joints and pads are read [s].',
                  0.05, 10.0),
    NodeParameter('palpation_time', float, 'Longest, from touch to the last squeeze [s].',
                  1.0, 600.0),
    NodeParameter('joint_resolution', float, 'Error of a measured joint [rad].', 0.0, 0.1),
    NodeParameter('surface_error', float, 'Standard deviation of the surfaces of object and links '
                  'from those of their meshes [m].', 0.0, 0.01),
    NodeParameter('most_modulus', float, 'The most that an object is thought to have, where a '
                  'goal names none [Pa]; 0: not known.', 0.0, 1e12),
    NodeParameter('palpation_elasticity', str, "body, the object's own compliance in the model "
                  'of the grip, or half_space.'))


def trajectory_to_msg(action: SendRows, joint_names) -> JointTrajectory:
    """Return rows as a trajectory; without a stamp it begins when it arrives."""
    message = JointTrajectory(joint_names=list(joint_names), points=[
        JointTrajectoryPoint(positions=row.tolist(), time_from_start=duration_to_msg(when))
        for row, when in zip(action.rows, action.times)])
    message.header.stamp = Time() if action.begin is None else time_to_msg(action.begin)
    return message


def arm_trajectory_to_msg(action: MoveArm, joint_names) -> JointTrajectory:
    """Return a leg of the arm's way as a trajectory that begins when it says."""
    leg, message = action.leg, JointTrajectory(joint_names=list(joint_names))
    message.points = [
        JointTrajectoryPoint(positions=row.tolist(), velocities=speeds.tolist(),
                             time_from_start=duration_to_msg(when))
        for row, speeds, when in zip(leg.rows, leg.velocities, leg.times)]
    message.header.stamp = time_to_msg(action.begin)
    return message


def fill_result(result: ExecuteGrasp.Result, report: ExecutionReport, joint_names) -> None:
    """Put a report into the result of the action."""
    result.status, result.message = int(report.status), report.message
    result.contact_links = list(report.contact_links)
    result.planned_forces = report.planned_forces.tolist()
    result.found_forces = report.found_forces.tolist()
    result.joint_names = list(joint_names)
    result.joint_positions = report.joint_positions.tolist()
    result.joint_errors = report.joint_errors.tolist()
    result.lifted, result.slip = bool(report.lifted), float(report.slip)
    result.closing_time = float(report.closing_time)
    result.carried, result.turn = bool(report.carried), float(report.turn)
    result.phases = [int(phase) for phase, _ in report.phases]
    result.phase_times = [float(time) for _, time in report.phases]
    result.finger_names = list(report.finger_names)
    result.force_times = report.force_times.tolist()
    result.finger_planned_forces = report.finger_planned_forces.ravel().tolist()
    result.finger_felt_forces = report.finger_felt_forces.ravel().tolist()
