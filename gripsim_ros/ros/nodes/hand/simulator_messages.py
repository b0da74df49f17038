"""What `sdh_simulator` can be told, and the messages it makes."""

import time

import numpy as np
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.msg import TactileFrame
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ....hardware.sim.touch import PadReading
from ....hardware.sim.world import World
from ...conversions import pose_to_msg
from ..base.parameters import NodeParameter

PARAMETERS = (
    NodeParameter('speed', float, 'Simulated seconds a second at most; 0: no limit.', 0.0, 1e3),
    NodeParameter('joint_rate', float, 'Joint states and poses [Hz].', 1.0, 1000.0),
    NodeParameter('tactile_rate', float, 'Tactile frames [Hz].', 0.1, 1000.0),
    NodeParameter('publish_clock', bool, 'Publish the simulated time on /clock.'),
    NodeParameter('clock_rate', float, 'Of /clock, in simulated time [Hz].', 1.0, 1000.0),
    NodeParameter('frame', str, 'Frame of the poses; gravity pulls along its -z.'),
    NodeParameter('object_id', str, 'Label or hash of the object; empty: the newest.'),
    NodeParameter('preshape', str, 'The hand at start, open; empty: its first.'),
    NodeParameter('palm_distance', float, 'Of the palm at start below the object [m].', 0.0, 10.0),
    NodeParameter('object_start', str, 'Pose of a new object in frame: x y z [m] and quaternion '
                  'x y z w.'),
    NodeParameter('surroundings', str, 'File of a task whose obstacles stand about the object; '
                  'empty: none.'),
    NodeParameter('arm_config', str, 'File of the arm that carries the hand, see docs/arm.md; '
                  'empty: none.'),
    NodeParameter('arm_base_pose', str, 'Pose of the arm\'s base in frame: x y z [m] and '
                  'quaternion x y z w.'),
    NodeParameter('picture_folder', str, 'Where ~/picture writes; empty: nowhere.'),
    NodeParameter('time_step', float, 'Of the simulation [s].', 1e-5, 0.01),
    NodeParameter('contact_time', float, 'Time constant of contacts [s].', 2e-5, 0.1),
    NodeParameter('torsion', float, 'Torque about the normal over its force [m].', 0.0, 0.1),
    NodeParameter('body', str, 'rigid, soft or auto.'),
    NodeParameter('soft_below', float, 'Softer objects are tetrahedra [Pa].', 0.0, 1e12),
    NodeParameter('object_modulus', float, 'That the object truly has, to be felt; 0: as '
                  'published [Pa].', 0.0, 1e12),
    NodeParameter('node_spacing', float, 'Edge of the tetrahedra, of thin objects down to half '
                  'of it [m].', 1e-3, 1.0),
    NodeParameter('soft_damping', float, 'Damping over stiffness [s].', 0.0, 1.0),
    NodeParameter('support_time', float, 'In which a floating object stops [s].', 1e-3, 100.0),
    NodeParameter('unloading_time', float, 'In which the support leaves a lifted object to the '
                  'hand; 0: at once [s].', 0.0, 100.0),
    NodeParameter('joint_damping', float, 'Of the position control [N m s/rad].', 0.0, 100.0),
    NodeParameter('palm_speed', float, 'Of the palm at most [m/s].', 1e-3, 10.0),
    NodeParameter('palm_spin', float, 'Of the palm at most [rad/s].', 1e-3, 10.0),
    NodeParameter('palm_acceleration', float, 'Of the palm at most [m/s^2].', 1e-2, 100.0),
    NodeParameter('palm_spin_acceleration', float, 'Of the palm at most [rad/s^2].', 1e-2, 100.0),
    NodeParameter('texel_rows', int, 'Of a pad, along the finger.', 1, 100),
    NodeParameter('texel_columns', int, 'Of a pad, across.', 1, 100),
    NodeParameter('texel_pitch', float, 'Of the texels [m].', 1e-4, 0.1))


class RealTime:
    """Simulated over real time since it was last read."""

    def __init__(self) -> None:
        """Start counting."""
        self._simulated, self._since = 0.0, time.monotonic()

    def add(self, seconds: float) -> None:
        """Count simulated time [s]."""
        self._simulated += seconds

    def read(self) -> float:
        """Return the factor and begin anew."""
        now = time.monotonic()
        factor = self._simulated / max(now - self._since, 1e-9)
        self._simulated, self._since = 0.0, now
        return factor


def joint_state_to_msg(world: World, header: Header) -> JointState:
    """Return where the joints are [rad], how fast, and their motors' torques [N m]."""
    return JointState(
        header=header, name=list(world.hand.joint_names), position=world.joints.tolist(),
        velocity=world.joint_velocities.tolist(), effort=world.joint_efforts.tolist())


def arm_state_to_msg(world: World, header: Header) -> JointState:
    """Return where the arm's joints are [rad] and how fast; without names where there is none."""
    arm = world.arm
    return JointState() if arm is None else JointState(
        header=header, name=list(arm.model.joint_names), position=arm.joints.tolist(),
        velocity=arm.joint_velocities.tolist())


def poses_to_msgs(world: World, header: Header) -> list[PoseStamped]:
    """Return the poses of the palm and, if there is one, of the object in the world."""
    poses = [world.T_world_palm]
    if world.grasp_object is not None:
        poses.append(world.T_world_object)
    return [PoseStamped(header=header, pose=pose_to_msg(pose)) for pose in poses]


def tactile_to_msg(readings: list[PadReading], header: Header) -> TactileFrame:
    """Return the message of what the pads feel; each pad's texels one after another."""
    counts = [len(reading.pressures) for reading in readings]
    return TactileFrame(
        header=header, links=[reading.link for reading in readings],
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32).tolist(),
        points_link=np.concatenate([r.points_link for r in readings]).ravel().tolist(),
        areas=np.concatenate([np.full(len(r.pressures), r.area) for r in readings]).tolist(),
        pressures=np.concatenate([r.pressures for r in readings]).tolist(),
        forces_link=np.concatenate([r.force_link for r in readings]).tolist(), calibrated=True)
