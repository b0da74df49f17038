"""
Node `sdh_simulator`: an SDH in MuJoCo that moves, touches and lifts the published object.

It takes and gives what `sdh_driver` does for the real hand; beyond that the pose of palm and
object, and a palm that can be carried about. It goes on by itself, or step by step with a client
of `~/step`, so that nothing simulated depends on how late messages are.
"""

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from gripsim_interfaces.msg import TactileFrame
from gripsim_interfaces.srv import StepSimulation
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ....hardware.sim.options import SimulationError, SimulationOptions
from ....hardware.sim.setpoints import SetpointFollower
from ....hardware.sim.touch import Touch, wrist_load
from ....hardware.sim.world import World
from ...conversions import grasp_object_from_msg, pose_from_msg
from ...conversions.geometry import seconds_from_msg, time_to_msg
from ..base.health import Meter
from ..base.node_base import LATCHED_OBJECTS, SuiteNode, latched, one_line, run
from ..base.parameters import ParameterError
from ..base.trajectory_action import why_old
from .arrivals import Arrivals
from .commands import Commands
from .simulator_action import TrajectoryAction
from .simulator_messages import (
    arm_state_to_msg, PARAMETERS, RealTime, joint_state_to_msg, poses_to_msgs, tactile_to_msg)
from .stepping import STEP_PATIENCE, Stepping
from .world_start import WorldStart

try:
    from rosgraph_msgs.msg import Clock
except ModuleNotFoundError:
    Clock = None

#: A simulation later than this does not hurry to catch up [s].
MOST_LAG = 0.1
#: Pause while there is nothing to simulate, or after an error [s].
IDLE_PERIOD = 0.02
#: Threads: a step that is asked for again while it is made takes one more each time.
THREADS = 10


class SdhSimulatorNode(SuiteNode):
    """The simulated hand as a node; see the module. One thread owns the world."""

    NAME = 'sdh_simulator'

    def __init__(self, **kwargs) -> None:
        """Lay out the topics; the world is built when the node is configured."""
        super().__init__(self.NAME, PARAMETERS, **kwargs)
        self.thread_count = THREADS
        self.options = SimulationOptions.from_mapping(self.values)
        self._check_parameters()
        self._start = WorldStart(self.hand, self.options, self.values)
        self._touch = Touch(self.hand, self.options)
        self._commands = Commands(self.report_error)
        self._arrivals = Arrivals(self.values['object_id'])
        self._world: World | None = None
        self._follower: SetpointFollower | None = None
        self._stepping, self._due = Stepping(), 0.0
        self._stopped_at = 0.0
        self._offset = time.time()      # a simulator that starts anew does not turn time back
        self._latched, self._pictures = False, 0
        self._next_joints = self._next_tactile = self._next_clock = 0.0
        self._meter, self._real_time = Meter(), RealTime()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=target, name=name, daemon=True)
                         for target, name in ((self._simulate, 'physics'),
                                              (self._take_objects, 'objects'))]
        self._open_topics()

    def _check_parameters(self) -> None:
        if self.values['publish_clock'] and Clock is None:
            raise ParameterError('parameter publish_clock needs rosgraph_msgs, which is not '
                                 'installed')
        folder = self.values['picture_folder']
        if folder and not Path(folder).is_dir():
            raise ParameterError(f'parameter picture_folder must be a folder, got {folder!r}')

    def _open_topics(self) -> None:
        sensor, group = qos_profile_sensor_data, ReentrantCallbackGroup()
        self._joint_states = self.create_publisher(JointState, 'joint_states', 10)
        self._object_pose = self.create_publisher(PoseStamped, 'object_pose', 10)
        self._palm_pose = self.create_publisher(PoseStamped, 'palm_pose', 10)
        self._tactile = self.create_publisher(TactileFrame, 'tactile', sensor)
        self._clock_topic = self.create_publisher(Clock, '/clock', sensor) \
            if self.values['publish_clock'] else None
        self._arm_states = self.create_publisher(JointState, 'arm_joint_states', 10)
        for topic, of_arm in (('joint_trajectory', False), ('arm_trajectory', True)):
            self.create_subscription(
                JointTrajectory, topic, lambda msg, of_arm=of_arm: self._commands.put(
                    lambda: self._follow(msg, of_arm=of_arm)), 10, callback_group=group)
        for topic, moves in (('palm_target', World.move_palm),
                             ('palm_placement', World.place_palm)):
            self.create_subscription(
                PoseStamped, topic, lambda msg, moves=moves: self._on_palm(msg, moves), 10,
                callback_group=group)
        self.create_subscription(GraspObjectMsg, 'grasp_object', self._arrivals.put,
                                 latched(LATCHED_OBJECTS), callback_group=group)
        for name, command in (('stop', self._stop), ('emergency_stop', self._emergency_stop),
                              ('recover', self._recover), ('reset', self._reset),
                              ('lift_off', self._lift_off), ('set_down', self._set_down),
                              ('picture', self._picture)):
            self.create_service(
                Trigger, f'~/{name}', lambda _, response, command=command:
                self._answer(command, response), callback_group=group)
        self.create_service(StepSimulation, '~/step', self._on_step, callback_group=group)

    def warm_up(self) -> None:
        """Build the world without an object."""
        if self._world is None:
            self._hold_world(self._start.build())

    def serve(self) -> None:
        """Begin to simulate."""
        for thread in self._threads:
            thread.start()
        self._action = TrajectoryAction(
            self, lambda msg: self._commands.ask(lambda: self._follow(msg)),
            lambda: self._commands.ask(self._stop), self._why_old,
            lambda: (self._follower, self._world.time, self._world.joints))

    def _hold_world(self, world: World) -> None:
        if self._world is not None:
            self._offset += self._world.time
            self._stepping.end('another object came')
        self._world = world
        self._follower = SetpointFollower(self.hand, world.setpoints)
        self._next_joints = self._next_tactile = self._next_clock = world.time
        self._arrivals.done()

    # -- objects ---------------------------------------------------------------------

    def _take_objects(self) -> None:
        """Build a world for each object that is to be held; it takes up to seconds."""
        while not self._stopping.is_set():
            try:
                self._arrivals.take(self._build_world)
            except Exception:
                self.report_error(self._arrivals.refused)

    def _build_world(self, msg: GraspObjectMsg) -> None:
        world = self._start.build(grasp_object_from_msg(msg))
        self._commands.put(lambda: self._hold_world(world))

    # -- the simulation --------------------------------------------------------------

    def _simulate(self) -> None:
        """Go on for as long as the node lives; at its end the hand stops, and all is answered."""
        self._due = time.monotonic()
        while not self._stopping.is_set():
            try:
                runs = self.active and not self._stepping.stands
                self._commands.obey(0.0 if runs else IDLE_PERIOD)
                if runs and not self._stepping.stands:
                    self._advance()
            except Exception as error:
                if self.context.ok():
                    self.report_error(f'simulation: {one_line(error)}')
                time.sleep(IDLE_PERIOD)
        self._commands.close(f'{self._stop()}: the node has ended')

    def _advance(self) -> None:
        """Make one time step, not before it is due."""
        started = time.monotonic()
        self._step()
        self._meter.add(time.monotonic() - started)
        self._due = self._wait(self._due)

    def _on_step(self, request: StepSimulation.Request,
                 response: StepSimulation.Response) -> StepSimulation.Response:
        """Serve `~/step`: one period of joint states, made once."""
        made: list[StepSimulation.Response] = []
        taken, text = self._commands.ask(
            lambda: made.append(self._make_step(request)), STEP_PATIENCE)
        return made[0] if taken else StepSimulation.Response(message=text)

    def _make_step(self, request: StepSimulation.Request) -> StepSimulation.Response:
        """Return what a client measures after its step; what it sends begins with the step."""
        if request.release:
            self._stepping.release(request.driver)
            return StepSimulation.Response(success=True)
        if not self.active:
            raise SimulationError('the simulation is not active')
        known = self._stepping.known(request)
        if known is not None:
            return known
        try:
            answer = self._carry_step_out(request)
        except Exception as error:
            self._stepping.end(one_line(error))
            raise
        self._stepping.note(request, answer)
        return answer

    def _carry_step_out(self, request: StepSimulation.Request) -> StepSimulation.Response:
        """Begin what a client sends, and go on by a period of joint states."""
        for poses, moves in ((request.palm_placement, World.place_palm),
                             (request.palm_target, World.move_palm)):
            for msg in poses[-1:]:
                self._move_palm(msg, moves)
        for msg, of_arm in ((request.joint_trajectory, False), (request.arm_trajectory, True)):
            if msg.joint_names:
                self._follow(msg, at_once=True, of_arm=of_arm)
        period = round(1.0 / (self.values['joint_rate'] * self.options.time_step))
        for _ in range(max(1, period)):
            self._advance()
        return self._measure()

    def _measure(self) -> StepSimulation.Response:
        """Return what is measured of this moment."""
        world, pads = self._world, self._touch.read(self._world)
        palm, *objects = poses_to_msgs(world, self._header(self.values['frame']))
        return StepSimulation.Response(
            success=True, time=world.time, palm_pose=palm, object_pose=objects,
            joint_state=joint_state_to_msg(world, self._header(self.hand.base_link)),
            arm_joint_state=arm_state_to_msg(world, self._header('')),
            links=[pad.link for pad in pads],
            forces=[float(pad.pressures.sum() * pad.area) for pad in pads],
            centres=[float(part) for pad in pads for part in pad.centre_link],
            wrist_load=wrist_load(world).tolist(),
            **({'object_id': world.grasp_object.id, 'object_label': world.grasp_object.label}
               if objects else {}),
            preparing=self._arrivals.preparing, refused=self._arrivals.refused)

    def _step(self) -> None:
        world = self._world
        world.follow(self._follower)
        world.step()
        if world.exploded:
            self._reset()
            self._stepping.end('the simulation lost its footing')
            raise SimulationError('lost its footing and begins anew: use a smaller time_step')
        half = 0.5 * self.options.time_step
        if self._clock_topic is not None and world.time >= self._next_clock - half:
            self._next_clock += 1.0 / self.values['clock_rate']
            self._clock_topic.publish(Clock(clock=self._header('').stamp))
        if world.time >= self._next_joints - half:
            self._next_joints += 1.0 / self.values['joint_rate']
            self._publish_state(world)
        if world.time >= self._next_tactile - half:
            self._next_tactile += 1.0 / self.values['tactile_rate']
            self._tactile.publish(tactile_to_msg(
                self._touch.read(world), self._header(self.hand.base_link)))

    def _wait(self, due: float) -> float:
        """Wait until the next step is due; return when the one after it is."""
        self._real_time.add(self.options.time_step)
        now, speed = time.monotonic(), self.values['speed']
        if speed == 0.0:
            return now
        due += self.options.time_step / speed
        if due > now:
            time.sleep(due - now)
        return max(due, now - MOST_LAG)

    def _now(self) -> float:
        """Return the time of what is measured now, as its stamp tells it [s]."""
        return seconds_from_msg(self._header('').stamp)

    def _header(self, frame: str) -> Header:
        return Header(frame_id=frame, stamp=time_to_msg(self._offset + self._world.time))

    def _publish_state(self, world: World) -> None:
        self._joint_states.publish(joint_state_to_msg(world, self._header(self.hand.base_link)))
        poses = poses_to_msgs(world, self._header(self.values['frame']))
        for topic, pose in zip((self._palm_pose, self._object_pose), poses):
            topic.publish(pose)
        if world.arm is not None:
            self._arm_states.publish(arm_state_to_msg(world, self._header('')))

    # -- commands --------------------------------------------------------------------

    def _follow(self, msg: JointTrajectory, at_once: bool = False, of_arm: bool = False) -> None:
        follower = self._arm_follower() if of_arm else self._follower
        if self._latched:
            raise SimulationError('emergency stop: the trajectory is refused until ~/recover')
        old = self._why_old(msg.header.stamp)
        if old:
            raise SimulationError(f'the trajectory is refused: {old}, in the time of joint_states')
        if not msg.points:
            self._stopped_at = self._now()
        times = [seconds_from_msg(point.time_from_start) for point in msg.points]
        begin = None if at_once else self._begin_of(msg.header.stamp)
        follower.follow(msg.joint_names, [p.positions for p in msg.points], times,
                        self._world.time, begin, [p.velocities for p in msg.points])

    def _arm_follower(self) -> SetpointFollower:
        if self._world.arm is None:
            raise SimulationError('the palm hangs on no arm: parameter arm_config names none')
        return self._world.arm.follower

    def _why_old(self, stamp: Time) -> str:
        return why_old(seconds_from_msg(stamp), self._now(), self._stopped_at)

    def _begin_of(self, stamp: Time) -> float | None:
        """Return when a trajectory of this stamp begins, in the world's time; None: now."""
        seconds = seconds_from_msg(stamp)
        return seconds - self._offset if seconds > 0.0 else None

    def _on_palm(self, msg: PoseStamped, moves: Callable) -> None:
        self._commands.put(lambda: self._move_palm(msg, moves))

    def _move_palm(self, msg: PoseStamped, moves: Callable) -> None:
        if msg.header.frame_id not in ('', self.values['frame']):
            raise SimulationError(f'the palm is moved in frame {self.values["frame"]!r}, '
                                  f'got {msg.header.frame_id!r}')
        if moves is World.place_palm and self._world.touch_points():
            raise SimulationError('the palm cannot be placed anew while the hand touches')
        moves(self._world, pose_from_msg(msg.pose))

    def _answer(self, command: Callable, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._commands.ask(command)
        return response

    def _stop(self) -> str:
        self._stopped_at = self._now()
        self._follower.stop()
        self._world.stop_palm()
        return 'stopped'

    def _emergency_stop(self) -> str:
        self._latched = True
        return self._stop()

    def _recover(self) -> str:
        self._latched = False
        return 'trajectories are taken again'

    def _reset(self) -> str:
        """Begin anew; tell which object is held."""
        world = self._world
        self._offset += world.time
        self._start.reset(world)
        self._follower = SetpointFollower(self.hand, world.setpoints)
        self._next_joints = self._next_tactile = self._next_clock = world.time
        held = world.grasp_object
        return '' if held is None else f'{held.id} {held.label}'

    def _lift_off(self) -> str:
        return self._world.lift_off() or 'gravity pulls at the object'

    def _set_down(self) -> str:
        return self._world.set_down() or 'the object is supported'

    def _picture(self) -> str:
        from ....hardware.sim.pictures import write_picture
        folder = self.values['picture_folder']
        if not folder:
            raise SimulationError('parameter picture_folder names no folder')
        self._pictures += 1
        return str(write_picture(self._world, Path(folder, f'{self._pictures:04d}.png')))

    # -- state -----------------------------------------------------------------------

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Tell what is simulated and how fast."""
        world = self._world
        values = {'real-time factor': f'{self._real_time.read():.2f}',
                  'emergency stop': self._latched, **self._meter.read()}
        if world is not None:
            held = world.grasp_object
            values |= {'object': 'none' if held is None else held.label or held.id,
                       'nodes': 0 if world.soft is None else len(world.soft.nodes),
                       'being made ready': self._arrivals.preparing,
                       'lifted': world.lifted, 'warning': world.warning}
        return 'emergency stop' if self._latched else '', values

    def close(self) -> None:
        """End the threads."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(2.0)
        super().close()


def main(args=None) -> int:
    """Run the node."""
    return run(SdhSimulatorNode, args)


if __name__ == '__main__':
    sys.exit(main())
