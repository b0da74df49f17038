"""
The four nodes as processes: start, wait until they serve, stop.

They end with whoever started them, also when that process is killed.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from ..programs import PROGRAMS

#: The nodes in the order of the ring; the planner last.
NODES = ('forward_kinematics', 'contact_detection', 'deformation', 'grasp_planner')
#: What else is started for a hand that moves: its own node, and the one that carries out grasps.
HAND_NODES = {'none': (), 'sim': ('sdh_simulator', 'grasp_executor'),
              'real': ('sdh_driver', 'grasp_executor')}
#: What the executor is told of a simulated hand: surfaces that touch are those of the meshes to so
#: many metres, and joints are read as they are, to what they swing by while they rest [rad]: in
#: 106 rests of eight palpations by 0.002 mrad, at most 0.06.
SIMULATED_READINGS = {'surface_error': 2.0e-5, 'joint_resolution': 2.0e-5}
#: Finds the arm's motions, where there is an arm.
ARM_NODE = 'arm_planner'
#: The first start compiles the numerical kernels [s].
READY_TIMEOUT = 300.0
#: Time for an orderly end before a node is killed [s].
STOP_TIMEOUT = 5.0
#: Seconds between two looks.
POLL_PERIOD = 0.05
#: Time to hear of nodes that run already [s].
DISCOVERY_TIME = 3.0
#: Seconds until a node that has not answered is asked again; it may have started over.
ASK_AGAIN = 1.0
#: Seconds until a node that ended is started again, as launch does, and how often at most within
#: how many seconds.
RESPAWN_DELAY, MOST_RESPAWNS, RESPAWN_WINDOW = 1.0, 3, 60.0
#: Exit code of a node that cannot start as it is configured; started again it would end again.
MISCONFIGURED = 2
#: prctl(2): the signal that a process gets when its parent dies, which is the thread that began
#: it. That of all nodes lives as long as this process.
PR_SET_PDEATHSIG = 1
_PARENT = ThreadPoolExecutor(1, 'suite_parent')


class SuiteError(RuntimeError):
    """A node did not start, or ended by itself."""


class Suite:
    """
    The four nodes as child processes.

    Parameters
    ----------
    environment : mapping
        See ``environment.isolated_environment``.
    namespace : str
        Namespace of all nodes.
    params_file : Path, optional
        Node parameters in the format of ``config/params.yaml``.
    parameters : mapping of str to mapping, optional
        Single parameters by node, such as ``{'grasp_planner': {'credits': 2}}``;
        they win over the file's.
    hardware : str
        Which hand moves: a key of ``HAND_NODES``.
    arm : Path, optional
        File of the arm that carries the hand; grasps are then ordered by its way.
    hand : str
        File of the hand, which names its URDF; '' for the one that comes along.
    on_progress : callable, optional
        ``on_progress(loading, count)`` is told while nodes start, several times a second: how
        many kernels each node has loaded that is not active yet, and of how many nodes.
    """

    def __init__(self, environment: Mapping[str, str], namespace: str = '',
                 params_file: Path | None = None,
                 parameters: Mapping[str, Mapping[str, object]] | None = None,
                 hardware: str = 'none', arm: Path | None = None, hand: str = '',
                 on_progress: Callable[[Mapping[str, int], int], None] | None = None) -> None:
        """Remember how to start; ``start`` does it."""
        self._on_progress = on_progress
        self.names = (*NODES, *HAND_NODES[hardware], *((ARM_NODE,) if arm else ()))
        self._environment = dict(environment)
        self._namespace = namespace
        self._params_file = params_file
        self._parameters = own_parameters(self.names, hardware, arm, hand)
        for name, values in (parameters or {}).items():
            self._parameters[name] = {**self._parameters.get(name, {}), **values}
        self.processes: dict[str, subprocess.Popen] = {}
        self._ends: dict[str, list[float]] = {}
        self._due: dict[str, float] = {}

    def __enter__(self) -> 'Suite':
        """Start all nodes and wait until they serve."""
        try:
            self.start()
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_) -> None:
        """Stop all nodes."""
        self.stop()

    def start(self, names: Sequence[str] | None = None) -> None:
        """Start nodes; those that run already are left alone."""
        for name in names or self.names:
            if name not in self.processes or self.processes[name].poll() is not None:
                self.processes[name] = _PARENT.submit(
                    subprocess.Popen, self._command(name), env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=descriptor_of(sys.stderr),
                    start_new_session=True, preexec_fn=_end_with_parent(os.getpid())).result()

    def _command(self, name: str) -> list[str]:
        command = [sys.executable, '-m', PROGRAMS[name], '--ros-args']
        if self._namespace:
            command += ['-r', f'__ns:=/{self._namespace.strip("/")}']
        if self._params_file:
            command += ['--params-file', str(self._params_file)]
        for key, value in self._parameters.get(name, {}).items():
            text = str(value).lower() if isinstance(value, bool) else str(value) or "''"
            command += ['-p', f'{key}:={text}']
        return command

    def wait_until_ready(self, names: Sequence[str] | None = None,
                         timeout: float = READY_TIMEOUT) -> None:
        """
        Return once the lifecycle state of the nodes is `active`.

        Raises
        ------
        SuiteError
            A node ended, or was not active within ``timeout`` [s].
        """
        os.environ.update(self._environment)
        names = names or self.names
        with _StateWatch(self._namespace, names) as watch:
            end = time.monotonic() + timeout
            while not watch.all_active():
                self.check(names)
                if self._on_progress is not None:
                    self._on_progress(watch.loading, len(names))
                if time.monotonic() > end:
                    raise SuiteError(f'{", ".join(watch.waiting)} did not become active within '
                                     f'{timeout:g} s')

    def check(self, names: Sequence[str] | None = None) -> None:
        """Raise ``SuiteError`` if a node has ended by itself."""
        for name in names or self.names:
            code = self.processes[name].poll() if name in self.processes else None
            if code is not None:
                raise SuiteError(f'{name} ended with exit code {code}')

    def revive(self) -> list[str]:
        """
        Start nodes that have ended by themselves again, ``RESPAWN_DELAY`` later.

        To be called again and again; it does not wait.

        Returns
        -------
        list of str
            One line for each that was found ended.

        Raises
        ------
        SuiteError
            A node ended more than ``MOST_RESPAWNS`` times within ``RESPAWN_WINDOW``, or because
            it cannot start as it is configured; its own line says why.
        """
        now, told = time.monotonic(), []
        for name, process in list(self.processes.items()):
            code = process.poll()
            if code is None:
                continue
            if name not in self._due:
                self._count_end(name, code, now)
                self._due[name] = now + RESPAWN_DELAY
                told.append(f'{name} ended with exit code {code}; it is started again')
            elif now >= self._due[name]:
                del self._due[name]
                self.start([name])
        return told

    def _count_end(self, name: str, code: int, now: float) -> None:
        """Raise ``SuiteError`` if a node has ended too often of late."""
        if code == MISCONFIGURED:
            raise SuiteError(f'{name} ended with exit code {code}: it cannot start as configured')
        ends = [end for end in self._ends.get(name, []) if now - end < RESPAWN_WINDOW] + [now]
        self._ends[name] = ends
        if len(ends) > MOST_RESPAWNS:
            raise SuiteError(f'{name} ended {len(ends)} times within {RESPAWN_WINDOW:g} s, the '
                             f'last time with exit code {code}')

    def stop(self, names: Sequence[str] | None = None) -> None:
        """Ask nodes to end, and kill those that do not."""
        self._due.clear()
        running = [self.processes.pop(name) for name in names or self.names
                   if name in self.processes]
        for process in running:
            _signal(process, signal.SIGINT)
        end = time.monotonic() + STOP_TIMEOUT
        for process in running:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.wait()


def own_parameters(names: Sequence[str], hardware: str,
                   arm: Path | None = None, hand: str = '') -> dict[str, dict[str, object]]:
    """
    Return what nodes are told for a hand and an arm, as `gripsim.launch.py` does.

    One node tells where the object is: the planner, as requests say, or where a hand moves
    `forward_kinematics`, as it is measured. A simulation gives all nodes its time.
    """
    own: dict[str, dict[str, object]] = {
        name: {'use_sim_time': True} if hardware == 'sim' else {} for name in names}
    own['grasp_planner']['publish_tf'] = hardware == 'none'
    own['forward_kinematics']['publish_tf'] = hardware != 'none'
    if hardware != 'none':
        own['grasp_executor'] |= {
            'hand_node': HAND_NODES[hardware][0], 'simulated': hardware == 'sim'}
    if hardware == 'sim':
        own['grasp_executor'] |= SIMULATED_READINGS
        own['sdh_simulator']['publish_clock'] = True
    if hand:
        for values in own.values():
            values['hand_config'] = Path(hand).expanduser().resolve()
        if hardware == 'sim':
            own['sdh_simulator']['preshape'] = ''       # the first of that hand
    if arm:
        own[ARM_NODE]['arm_config'] = Path(arm).resolve()
        own['grasp_planner']['arm_service'] = 'choose_by_arm'
    return own


def has_nodes(domain: int, timeout: float = DISCOVERY_TIME) -> bool:
    """Return whether a node of a suite is heard of in a ROS domain, in any namespace."""
    from .connection import Connection
    with Connection('', f'suite_look_{os.getpid()}', domain) as connection:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if set(NODES) & set(connection.node.get_node_names()):
                return True
            connection.look(POLL_PERIOD)
    return False


class _StateWatch:
    """Asks nodes for their lifecycle state, and hears how many kernels they have loaded."""

    def __init__(self, namespace: str, names: Sequence[str]) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from lifecycle_msgs.srv import GetState

        from .connection import Connection
        self._request = GetState.Request
        self._connection = Connection(namespace, f'suite_watch_{os.getpid()}')
        self._clients = {name: self._connection.node.create_client(GetState, f'{name}/get_state')
                         for name in names}
        self._futures = {}
        self.waiting = list(names)
        self._kernels: dict[str, int] = {}
        self._connection.node.create_subscription(
            DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def __enter__(self) -> '_StateWatch':
        return self

    def __exit__(self, *_) -> None:
        self._connection.close()

    @property
    def loading(self) -> dict[str, int]:
        """Return how many kernels each node has loaded that is not active yet."""
        return {name: self._kernels.get(name, 0) for name in self.waiting}

    def _on_diagnostics(self, msg) -> None:
        for status in msg.status:
            self._kernels |= {status.name: int(pair.value) for pair in status.values
                              if pair.key == 'kernels'}

    def all_active(self) -> bool:
        """Ask once more whoever has not said `active` yet; return whether all have."""
        now = time.monotonic()
        for name in self.waiting:
            _, asked = self._futures.get(name, (None, -ASK_AGAIN))
            if now - asked >= ASK_AGAIN and self._clients[name].service_is_ready():
                self._futures[name] = (self._clients[name].call_async(self._request()), now)
        self._connection.look(POLL_PERIOD)
        for name, (future, _) in list(self._futures.items()):
            if future.done():
                del self._futures[name]
                if future.result().current_state.label == 'active':
                    self.waiting.remove(name)
        return not self.waiting


def _signal(process: subprocess.Popen, number: int) -> None:
    """Send a signal to the whole group of a process that this module started."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass


def _end_with_parent(parent: int):
    """Return what a child calls before it runs: it shall end when its parent does."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:      # it died before the line above
            os._exit(1)
    return prepare


def descriptor_of(stream: TextIO | None) -> int | None:
    """Return the descriptor of a stream; None where it has none: closed, or in memory."""
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None
