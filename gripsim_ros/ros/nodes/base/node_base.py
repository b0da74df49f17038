"""What all nodes of the suite share: parameters, lifecycle, diagnostics, steady timers."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numba.core.event import RecordingListener, install_listener
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from ....core.errors import GripsimError
from ....core.hand import HandModel
from ....core.memory import manage_memory
from ....library.resources import load_hand, own_hand_file, resolve_uri, share_directory
from ...environment import clean_shared_memory
from .health import Awaited, Namesakes, Traffic, if_ok
from .interrupts import Interrupts, is_node_process
from .kernels import count_kernels
from .leaving import end_process, leave
from .parameters import NodeParameter, ParameterError, declare, unknown_parameters
from .ring_reader import RingReader

#: Seconds between two diagnostics of a node.
DIAGNOSTICS_PERIOD = 1.0
#: Seconds between two lines about messages that were dropped; the diagnostics count them.
DROP_PERIOD = 60.0
#: Key of the diagnostics that tells whether a node is computing or loading, and since when.
AT_WORK = 'at work'
#: Begins the message of a node that loads or compiles its kernels.
LOADING = 'loading kernels'
#: Seconds given to a node's end: a busy machine or a large mesh may hold up what is then left to
#: the system.
END_TIMEOUT = 1.8
#: Seconds between two looks whether a node that serves was interrupted.
GLANCE = 0.05
#: Set in a process that has started over after compiling.
RESTARTED = 'GRIPSIM_KERNELS_COMPILED'
#: Seconds to wait after an error of the executor itself.
ERROR_PAUSE = 0.05
#: Callbacks that run at once: the planner's, the live ones, and the rest.
DEFAULT_THREADS = 3
#: Characters of an error that are told.
LONGEST_LINE = 600
#: Meshes of more triangles are prepared one after the other, and their memory given back.
LARGE_MESH = 100_000
#: How many objects `grasp_object` keeps for late joiners.
LATCHED_OBJECTS = 16

COMMON_PARAMETERS = (
    NodeParameter('autostart', bool, 'Configure and activate by itself.'),
    NodeParameter('urdf', str, 'URDF of the hand; empty: the one that comes along.'),
    NodeParameter('hand_config', str, 'Config of the hand; without urdf: one that names it.'),
    NodeParameter('threads', int, 'Threads of the numerical kernels.', 1, 64))


def latched(depth: int) -> QoSProfile:
    """Return the QoS of topics that late joiners must see."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)


def reliable(depth: int) -> QoSProfile:
    """Return the QoS of the planner's side of the ring."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)


def latest() -> QoSProfile:
    """Return the QoS of the live side of the ring: best effort, the last sample only."""
    return QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def one_line(error: BaseException) -> str:
    """Return an error as one line, not too long: a user's as it stands, a fault's with kind."""
    text = ''.join(c if c.isprintable() else ascii(c)[1:-1]
                   for c in ' '.join(str(error).split()))
    if not isinstance(error, GripsimError):
        text = f'{type(error).__name__}: {text}'
    if len(text) > LONGEST_LINE:        # it quotes what it was given
        half = LONGEST_LINE // 2
        text = f'{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}'
    return text


class SuiteNode(LifecycleNode):
    """
    A lifecycle node that starts by itself and says how it is once a second.

    ``values`` holds the checked parameters, ``hand`` the hand. Time-outs and rates
    use the steady clock, so that a simulated time without a clock stops nothing.
    """

    def __init__(self, name: str, parameters: Sequence[NodeParameter], **kwargs) -> None:
        """Declare the parameters and load the hand."""
        self._traffic = Traffic(DIAGNOSTICS_PERIOD)
        super().__init__(name, **kwargs)
        declared = (*COMMON_PARAMETERS, *parameters)
        self.values = declare(self, name, declared)
        for line in unknown_parameters(self._parameter_overrides, declared):
            self.get_logger().warning(line)
        self.hand = self._load_hand()
        self.thread_count = DEFAULT_THREADS
        self.active = False
        self.last_error = ''
        self._told_namesakes, self._awaited = '', Awaited()
        self._namesakes = Namesakes(self.get_name(), self.get_namespace())
        self._readers: list[RingReader] = []
        self._configured = False
        self._serving = False
        self._loading_since: float | None = None
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.housekeeping = MutuallyExclusiveCallbackGroup()
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.steady_timer(DIAGNOSTICS_PERIOD, self._publish_diagnostics, self.housekeeping)

    def _load_hand(self) -> HandModel:
        urdf, config = self.values['urdf'], self.values['hand_config']
        if urdf and not config:
            raise ParameterError('parameters urdf and hand_config go together, '
                                 f'got urdf {urdf!r} and hand_config {config!r}')
        if not urdf:
            return load_hand(resolve_uri(config) if config else '')
        return HandModel.load(resolve_uri(urdf), resolve_uri(config), resolve_uri)

    def steady_timer(self, period: float, callback, group: CallbackGroup):
        """Return a timer on the steady clock."""
        return self.create_timer(period, if_ok(self.context, callback), group, clock=self.steady)

    def counted(self, source: str, callback):
        """Return a callback whose calls the diagnostics count."""
        return self._traffic.counted(source, callback)

    def create_subscription(self, msg_type, topic, callback, qos_profile, **kwargs):
        """Subscribe, and count what comes; as in ``rclpy``."""
        subscribe = super().create_subscription
        return subscribe(msg_type, topic, self.counted(topic, callback), qos_profile, **kwargs)

    def read_ring(self, kind: type, topic: str, quality: QoSProfile, callback) -> None:
        """Subscribe with a thread of its own, which begins when the node is activated."""
        self._readers.append(RingReader(
            self, kind, topic, quality, self.counted(topic, callback), self.on_fault))

    def start(self) -> None:
        """
        Configure and activate if ``autostart`` says so.

        Raises
        ------
        GripsimError
            A transition failed; the log has the reason.
        """
        if self.values['autostart']:
            self.prepare_start()
            self._transition(self.trigger_activate)

    def prepare_start(self) -> None:
        """Configure if ``autostart`` says so and it has not been done; errors as ``start``."""
        if self.values['autostart'] and not self._configured:
            self._transition(self.trigger_configure)
            self._configured = True

    def _transition(self, trigger) -> None:
        if trigger() != TransitionCallbackReturn.SUCCESS:
            raise ParameterError(f'{self.get_name()} did not start: {self.last_error}')

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do the slow preparations: what is not yet compiled is compiled now."""
        self._loading_since = time.monotonic()
        try:
            self.warm_up()
        except Exception as error:
            self.report_error(one_line(error))
            return TransitionCallbackReturn.FAILURE
        finally:
            self._loading_since = None
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to answer."""
        self.active = True
        if not self._serving:
            self._serving = True
            self.serve()
        for reader in self._readers:
            reader.start()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop answering, keep what is prepared."""
        self.active = False
        return super().on_deactivate(state)

    def warm_up(self) -> None:
        """Run every kernel once; nodes with kernels override this."""

    def serve(self) -> None:
        """Open services; called once, when the node is first activated."""

    def close(self) -> None:
        """Refuse what comes, end the threads and wake what waits; called while ROS still runs."""
        self.active = False
        for wait in (False, True):
            for reader in self._readers:
                reader.stop(wait)

    def destroy_node(self) -> None:
        """End the threads, then the node, which leaves the graph at once."""
        SuiteNode.close(self)
        super().destroy_node()
        # rclpy leaves what holds the node to the garbage collector: its states, and its actions.
        for held in (*self.waitables, self._state_machine):
            (getattr(held, 'destroy', None) or held.destroy_when_not_in_use)()

    def report_error(self, text: str) -> None:
        """Log an error and keep it for the diagnostics."""
        self.last_error = text
        self.get_logger().error(text, throttle_duration_sec=1.0,
                                throttle_time_source_type=self.steady)

    def on_fault(self, error: Exception, text: str) -> None:
        """
        Log an error that reached a thread of the node with its traceback; the node lives on.

        Once ROS is shut down nothing can be published, and that is no fault.
        """
        if not self.context.ok():
            return
        self.get_logger().error(text)
        self.report_error(one_line(error))

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Return what is missing ('' where all is well) and values to show."""
        return '', {}

    @property
    def hardware_id(self) -> str:
        """Return what the diagnostics are about: this process, where it drives no hand."""
        return self.get_fully_qualified_name()

    def severity(self, missing: str) -> bytes:
        """Return the level of the diagnostics."""
        return DiagnosticStatus.WARN if missing or not self.active else DiagnosticStatus.OK

    def _tell_missing(self, missing: str) -> None:
        """Log once what the node waits for long, and that it waits no more."""
        line = self._awaited.look(missing)
        if line:
            self.get_logger().info(line)

    def _tell_namesakes(self) -> str:
        """Warn once of other nodes of this name, and return what is told of them."""
        told = self._namesakes.look(self.get_node_names_and_namespaces())
        if told != self._told_namesakes:
            self._told_namesakes = told
            self.get_logger().warning(told or 'no other node has this name any more')
        return told

    def _publish_diagnostics(self) -> None:
        missing, values = self.diagnose()
        missing = missing or self._tell_namesakes()
        if self._loading_since is not None:
            loading = f'{time.monotonic() - self._loading_since:.0f} s'
            missing, values[AT_WORK] = f'{LOADING} for {loading}', loading
        self._tell_missing(missing)
        state = 'active' if self.active else 'not active'
        level = self.severity(missing)
        waiting = {f'queue of {reader.topic}': reader.read_waiting() for reader in self._readers}
        values = {'state': state, **values, **waiting, **self._traffic.read(),
                  'kernels': count_kernels(), 'hand': f'{self.hand.name} {self.hand.id[:12]}',
                  'hand file': own_hand_file(self.hand), 'last error': self.last_error}
        status = DiagnosticStatus(
            level=level, name=self.get_fully_qualified_name().lstrip('/'),
            message=missing or state, hardware_id=self.hardware_id,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)


def run(node_class: type[SuiteNode], args: Sequence[str] | None = None) -> int:
    """
    Run one node until it is interrupted; return the exit code of its process.

    A bad parameter or hand ends it with one line and code 2. A node that had to compile
    kernels starts over, once and before it offers anything: the compiler leaves hundreds of
    megabytes behind, and the second time the kernels come from numba's cache.
    """
    interrupts = Interrupts()
    if is_node_process():
        threading.Thread(target=_end_after, args=(interrupts.taken,), daemon=True).start()
    manage_memory()
    clean_shared_memory()       # what the one before left, where it was killed
    node, executor, spinning, code, compiled = None, None, None, None, RecordingListener()
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        with install_listener('numba:compile', compiled):
            node = node_class()
            executor = MultiThreadedExecutor(node.thread_count)
            executor.add_node(node)
            spinning = threading.Thread(target=spin, args=(executor, node), daemon=True)
            spinning.start()        # whoever asks how it is is answered while it compiles
            node.prepare_start()
        if not (compiled.buffer and RESTARTED not in os.environ):
            node.start()
            interrupts.serving()
            _serve(spinning, interrupts.taken)
            code = 0
    except (KeyboardInterrupt, ExternalShutdownException):
        code = 0
    except GripsimError as error:
        print(f'{node_class.NAME}: {one_line(error)}', file=sys.stderr)
        code = 2
    finally:
        interrupts.serving()
        if code is not None:
            _end_soon(code)
        leave(node, executor, spinning)
        interrupts.ended()
    if code is not None:
        return end_process(code)
    interrupts.restore()
    return _start_over()


def _end_soon(code: int) -> None:
    """End this node's process in ``END_TIMEOUT``, should threads that compute not let it end."""
    if is_node_process():
        watch = threading.Timer(END_TIMEOUT, os._exit, (code,))
        watch.daemon = True
        watch.start()


def _end_after(interrupted: threading.Event) -> None:
    """End this node's process in ``END_TIMEOUT`` after its first signal."""
    interrupted.wait()
    _end_soon(0)


def _serve(spinning: threading.Thread, interrupted: threading.Event) -> None:
    """Return once a node that serves is interrupted; no lock is held that the handler needs."""
    while spinning.is_alive() and not interrupted.is_set():
        spinning.join(GLANCE)


def _start_over() -> NoReturn:
    """Replace this process by a fresh one of the same command; ROS is shut down already."""
    os.environ[RESTARTED] = '1'
    sys.stdout.flush()
    sys.stderr.flush()
    os.closerange(3, os.sysconf('SC_OPEN_MAX'))     # Fast DDS keeps ports and locks open
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def spin(executor: Executor, node: SuiteNode) -> None:
    """Serve until shut down; an error that reaches the executor ends no node."""
    while rclpy.ok():
        try:
            executor.spin()
        except ExternalShutdownException:
            return
        except InvalidHandle:       # something was destroyed while it was waited for
            continue
        except Exception as error:
            node.on_fault(error, traceback.format_exc())
            time.sleep(ERROR_PAUSE)


def config_mapping(path: str, name: str) -> Mapping[str, Any]:
    """
    Return the content of a YAML file; where ``path`` is empty, of ``config/NAME.yaml``.

    Raises
    ------
    ParameterError
        The file cannot be read.
    """
    file = resolve_uri(path) if path else share_directory() / 'config' / f'{name}.yaml'
    try:
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, yaml.YAMLError) as error:
        raise ParameterError(f'{name} options {file}: {one_line(error)}') from error
    if not isinstance(content, Mapping):
        raise ParameterError(f'{name} options {file} must be a mapping, got {content!r}')
    return content
