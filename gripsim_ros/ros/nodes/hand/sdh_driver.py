"""
Node `sdh_driver`: the Schunk SDH on its own protocol.

Publishes measured joints, tactile frames and temperatures; takes trajectories; stops on
request. All of the work is in ``gripsim_ros.hardware.driver``.
"""

import sys
import threading
import time
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from sensor_msgs.msg import JointState, Temperature
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ....core.errors import GripsimError
from ....hardware.driver.link.errors import DriverError
from ....hardware.driver.motion.motions import Motion, Outcome, Sample
from ....hardware.driver.session import HandSession
from ...conversions.geometry import seconds_from_msg
from ..base.health import Meter
from ..base.node_base import SuiteNode, one_line, reliable, run
from ..base.parameters import ParameterError
from ..base.trajectory_action import FollowJointTrajectory, why_old
from .driver_action import TrajectoryAction
from .driver_parameters import PARAMETERS, driver_options
from .tactile_topics import TactileTopics
from .velocity_commands import VelocityCommands

#: For how long a fault is told in the diagnostics after it passed [s].
FAULT_MEMORY = 10.0
#: Angles and tactile frames that are older are stale [s].
STALE_AFTER = 2.0
#: Messages that a slow subscriber may lag behind.
DEPTH = 10
#: Seconds between two messages of temperatures.
TEMPERATURE_PERIOD = 1.0
#: Services after which nothing moves that was sent before; the first three in every state.
STOPS = ('stop', 'emergency_stop', 'motor_off', 'motor_on', 'recover', 'position_mode',
         'velocity_mode')


class SdhDriverNode(SuiteNode):
    """The hand's driver; see the module."""

    NAME = 'sdh_driver'

    def __init__(self, **kwargs) -> None:
        """Prepare; nothing is sent to the hand before the node is activated."""
        super().__init__(self.NAME, PARAMETERS, **kwargs)
        self.session = HandSession(
            self.hand, driver_options(self.values),
            self.counted('the hand', self._while_it_lives(self._on_sample))) \
            if self.values['address'] else None
        self.tactile = TactileTopics(self, self._while_it_lives)
        if self.session is None and not self.values['tactile_address']:
            raise ParameterError('parameters address and tactile_address are both empty')
        self._joint_states = self.create_publisher(JointState, 'joint_states', reliable(DEPTH))
        self._temperatures = self.create_publisher(Temperature, '~/temperature', reliable(DEPTH))
        self._velocities: VelocityCommands | None = None
        self._started, self.sample = False, None
        self._order, self._stopped_at, self._meter = threading.Lock(), 0.0, Meter()
        # Each kind of call has a thread: none waits for another, a stop for nobody.
        self.thread_count = 8

    def warm_up(self) -> None:
        """Load what checks motions."""
        if self.session is not None:
            self.session.checker.warm_up()

    def serve(self) -> None:
        """Connect, and open services and topics; without an address the sensors' alone."""
        self._started = True
        if self.session is not None:
            self._serve_joints(self.session)
        self.tactile.start()

    def _serve_joints(self, session: HandSession) -> None:
        self.create_subscription(JointTrajectory, 'joint_trajectory', self._on_trajectory,
                                 reliable(DEPTH), callback_group=MutuallyExclusiveCallbackGroup())
        slow = MutuallyExclusiveCallbackGroup()
        for name, function, group in (
                ('init', session.connect_now, slow), ('recover', session.recover, slow),
                ('motor_on', session.motor_on, slow), ('motor_off', session.motor_off, None),
                ('position_mode', session.stop, slow), ('velocity_mode', self._steer, slow),
                ('stop', self.stop, None), ('emergency_stop', self._emergency_stop, None)):
            self.create_service(Trigger, f'~/{name}', self._served(name, function),
                                callback_group=group or MutuallyExclusiveCallbackGroup())
        self._action = TrajectoryAction(self)
        self._velocities = VelocityCommands(self, session, self._order)
        self.steady_timer(TEMPERATURE_PERIOD, self._while_it_lives(self._publish_temperatures),
                          self.housekeeping)
        self.get_logger().info(f'connecting to {self.values["address"]}')
        session.start()

    def close(self) -> None:
        """Stop the hand and leave it."""
        if self._started:
            self._started = False
            if self.session is not None:
                self.session.close()
            self.tactile.close()
        super().close()

    def on_deactivate(self, state):
        """Stop the hand; it stays connected and is not moved."""
        result = super().on_deactivate(state)
        try:
            if self.session is not None:
                self.stop()
        except GripsimError as error:
            self.report_error(f'not stopped: {error}')
        return result

    # -- to the hand -------------------------------------------------------------------

    def _served(self, name: str, function: Callable[[], None]) -> Callable:
        """Return the callback of a service that does something and tells how it went."""
        def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            try:
                if not self.active and name not in STOPS[:3]:
                    raise DriverError('the node is not active')
                if name in STOPS:
                    self._note_stop()
                function()
                response.success, response.message = True, self.session.condition().problem
            except GripsimError as error:
                response.message = one_line(error)
                self.report_error(f'{name}: {response.message}')
            return response
        return serve

    def _emergency_stop(self) -> None:
        try:
            self.session.emergency_stop('emergency stop by service')
        except DriverError as error:
            raise DriverError(f'nothing moves any more until recover, but {error}') from error

    def _steer(self) -> None:
        """Take velocities from now on, and no trajectories; the hand rests first."""
        self.session.stop()
        self._velocities.on = True

    def _note_stop(self) -> None:
        """Refuse from now on what was sent before, and all velocities."""
        with self._order:
            self._stopped_at = self._now()
            if self._velocities is not None:
                self._velocities.on = False

    def _now(self) -> float:
        return 1e-9 * self.get_clock().now().nanoseconds

    def stop(self) -> None:
        """Stop the motion, and what comes later but was sent before. Raises ``DriverError``."""
        self._note_stop()
        self.session.stop()

    def follow(self, msg: JointTrajectory) -> Motion:
        """
        Begin a trajectory when its stamp says so; return its motion.

        One that ``why_old`` tells of is refused. Where the clock was set back nothing is known of
        what was sent before the stop, and nothing is refused for it.
        """
        motion, stamp = self._motion_of(msg), seconds_from_msg(msg.header.stamp)
        with self._order:
            now = self._now()
            if now < self._stopped_at:
                self._stopped_at = 0.0
            old = why_old(stamp, now, self._stopped_at)
            motion.outdated = bool(old)
            why = 'it is velocity mode: call ~/position_mode' if self._velocities.on else old
            if not why:
                if stamp > now:
                    motion.begin = time.monotonic() + stamp - now
                return self.session.follow(motion)
        self.session.refuse(motion, why)
        return motion

    def cancel(self, motion: Motion) -> None:
        """Stop a motion, unless it has been replaced. Raises ``DriverError``."""
        if self.session.cancel(motion):
            self._note_stop()

    def _on_trajectory(self, msg: JointTrajectory) -> None:
        """Begin a trajectory; one without points stops the hand."""
        try:
            if not self.active:
                raise DriverError('the node is not active')
            if not msg.points:
                self.stop()
                return
            self.follow(msg)
        except GripsimError as error:
            self.report_error(f'trajectory: {one_line(error)}')

    def _motion_of(self, msg: JointTrajectory) -> Motion:
        times = [seconds_from_msg(point.time_from_start) for point in msg.points]
        return Motion(list(msg.joint_names), times, [list(p.positions) for p in msg.points],
                      [list(p.velocities) for p in msg.points], self._on_motion_done)

    def _on_motion_done(self, motion: Motion) -> None:
        text = f'trajectory {motion.outcome.value}: {motion.message}'
        if motion.outcome in (Outcome.REFUSED, Outcome.FAILED):
            self.report_error(text)
        else:
            self.get_logger().info(text)

    # -- from the hand, in the threads of the sessions -----------------------------------

    @property
    def _lives(self) -> bool:
        return self._started and self.context.ok()

    def _while_it_lives(self, callback: Callable[..., None]) -> Callable[..., None]:
        """
        Return a callback that tells nothing once the node has ended, and drops errors of its end.

        News comes in threads of the sessions, and the end from another one, also amid a message.
        """
        def call(*news) -> None:
            try:
                if self._lives:
                    callback(*news)
            except Exception:
                if self._lives:
                    raise
        return call

    def _on_sample(self, sample: Sample) -> None:
        self.sample, started = sample, time.monotonic()
        msg = JointState(name=list(self.hand.joint_names), position=sample.positions.tolist(),
                         velocity=sample.velocities.tolist())
        msg.header = Header(stamp=self.get_clock().now().to_msg(), frame_id=self.hand.base_link)
        self._joint_states.publish(msg)
        self._meter.add(time.monotonic() - started)

    def _publish_temperatures(self) -> None:
        condition = self.session.condition()
        if not condition.connected:
            return
        stamp = self.get_clock().now().to_msg()
        for name, degrees in condition.temperatures.items():
            msg = Temperature(temperature=degrees)
            msg.header.stamp, msg.header.frame_id = stamp, name
            self._temperatures.publish(msg)

    # -- diagnostics -------------------------------------------------------------------

    @property
    def hardware_id(self) -> str:
        """Return which hand it is, by where it is reached."""
        address = self.values['address'] or self.values['tactile_address']
        return f'{self.hand.name} at {address}'

    def severity(self, missing: str) -> bytes:
        """Return ERROR where the hand must not move, STALE where nothing is heard of it."""
        if self.session is not None:
            condition = self.session.condition()
            if not condition.connected or condition.latched or condition.overheated:
                return DiagnosticStatus.ERROR
            if self.sample is not None and time.monotonic() - self.sample.time > STALE_AFTER:
                return DiagnosticStatus.STALE
        if self.tactile.age > STALE_AFTER:
            return DiagnosticStatus.STALE
        return DiagnosticStatus.WARN if self.tactile.problem else super().severity(missing)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Return how hand and sensors are."""
        text, values = ('', {}) if self.session is None else self._diagnose_joints(self.session)
        texts = [text, self.tactile.problem and f'tactile sensors: {self.tactile.problem}']
        return '; '.join(text for text in texts if text), {**values, **self.tactile.diagnose()}

    def _diagnose_joints(self, session: HandSession) -> tuple[str, dict[str, object]]:
        condition = session.condition()
        texts = [condition.problem]
        if condition.fault_age < FAULT_MEMORY and condition.last_fault != condition.problem:
            texts.append(f'fault {condition.fault_age:.0f} s ago: {condition.last_fault}')
        values = {
            'connected': condition.connected, 'moving': condition.moving,
            'mode': 'velocity' if self._velocities and self._velocities.on else 'position',
            'motors': condition.motors, 'emergency stop': condition.latched or 'no',
            'axes': condition.axes or 'all idle or positioning',
            'last fault': condition.last_fault, **condition.counts, **self._meter.read(),
            'follow_joint_trajectory': 'served' if FollowJointTrajectory is not None
            else 'control_msgs is not installed'}
        if condition.identity is not None:
            values.update({f'hand {key}': text for key, text in condition.identity.names.items()})
        values.update({f'{name} [deg C]': degrees
                       for name, degrees in condition.temperatures.items()})
        return '; '.join(text for text in texts if text), values


def main(args=None) -> int:
    """Run the node."""
    return run(SdhDriverNode, args)


if __name__ == '__main__':
    sys.exit(main())
