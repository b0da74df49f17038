"""
The suite as processes under faults: kills, pauses, lost messages, floods, broken requests.

Everything of chance comes from one seed, which is told, so that a run can be repeated as far as
the processes' own pace allows.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import numpy as np
import rclpy
import trimesh
import yaml
from fault_cases import body, request, write_answers
from fault_relay import RING
from fault_resources import MARK, Segments, blocks, marked, memory_of
from fault_run import REST, RESTING, Run
from gripsim_interfaces.msg import GraspObject
from suite_cases import quick_options

from gripsim_ros.core import bodies
from gripsim_ros.ros import conversions
from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient
from gripsim_ros.ros.clients.suite import Suite
from gripsim_ros.ros.environment import PATIENCE
from gripsim_ros.ros.nodes.base.node_base import LATCHED_OBJECTS, latched

HERE = Path(__file__).parent
ARM = HERE.parent / 'data' / 'ur5e.yaml'
#: Pause before a node that ended is started again, as in the launch file [s].
RESPAWN_DELAY = 1.0
#: Seconds between two looks at memory; time given to processes to end, and to calls.
SAMPLE_PERIOD, END_TIME, CALLS_TIME = 5.0, 200.0, 900.0
#: Shares of the kinds of faults.
KINDS = {'kill': 0.5, 'interrupt': 0.05, 'pause': 0.2, 'object': 0.15, 'flood': 0.1}
#: Shortest and longest pause of a process, and length of a flood [s]; its rate [Hz].
PAUSE, FLOOD_TIME, FLOOD_RATE = (0.2, 12.0), 8.0, 1000.0
#: Of a long run: share of its time in which nodes are killed, and how often there is a fault
#: then and later [s].
MORTAL_SHARE, MORTAL_PERIOD, CALM_PERIOD = 0.22, 4.2, 9.0
MORTAL = {'kill': 0.8, 'interrupt': 0.05, 'pause': 0.05, 'object': 0.1}
CALM = {'pause': 0.4, 'object': 0.35, 'flood': 0.25}
#: Rests of a long run after that, in which callers wait: how many, how long the last call before
#: one may take, how long nodes have to end what was given up, and how long they are watched [s].
RESTS, REST_LIMIT, REST_TIME, REST_WATCHED = 5, 180.0, 60.0, 15.0
#: Limit of a plan for one of the small objects that are planned for then [s].
CROWD_TIME = 20.0
#: Longest pauses of callers then [s].
IDLE = 4.0
CLIENTS = 4
#: Callers of a long run that send broken requests: together above 5,000 malformed ones an hour.
SPOILERS = 2


class FaultySuite(Suite):
    """The suite with a relay in the ring, and the arm's node beside it."""

    def __init__(self, environment, with_arm: bool, **options) -> None:
        """Remember how to start."""
        super().__init__(environment, **options)
        if with_arm:
            self.names = (*self.names, 'arm_planner')
            self._parameters['arm_planner'] = {'arm_config': ARM}

    def _command(self, name: str) -> list[str]:
        relayed = [word for topic, (_, reader) in RING.items() if reader == name
                   for word in ('-r', f'plan/{topic}:=relayed/{topic}')]
        return [*super()._command(name), *relayed]


class Harness:
    """Runs suite and callers, and makes the faults."""

    def __init__(self, seed: int, folder: Path, *, clients: int = CLIENTS, spoilt: int | None = 0,
                 spoilers: int = 1, with_arm: bool = False, idle: float = 1.0,
                 case_count: int = 0, say=print) -> None:
        """
        Prepare.

        Parameters
        ----------
        seed : int
            Of everything that is left to chance.
        folder : Path
            For files.
        clients : int
            How many plan in a stream.
        spoilt : int or None
            How many broken requests a caller sends, None: all.
        spoilers : int
            How many callers send them; the first of them large meshes too.
        with_arm : bool
            Whether the arm's node runs too.
        idle : float
            Longest pause of a caller [s].
        case_count : int
            How many of the requests with known answers are asked, 0: all.
        say : callable
            Takes lines for people.
        """
        self.random, self.run, self.say = random.Random(seed), Run(seed), say
        self.folder, self._clients, self._spoilt, self._idle = folder, clients, spoilt, idle
        self._case_count, self._spoilers = case_count, spoilers if spoilt != 0 else 0
        self.mark = uuid.uuid4().hex
        self._segments = Segments(self.mark)
        # Patience with a planner that is lost would only make the run longer.
        environment = {**os.environ, MARK: self.mark, PATIENCE: '1'}
        options = folder / 'planner.yaml'
        options.write_text(yaml.safe_dump(quick_options()), encoding='utf-8')
        self.suite = FaultySuite(environment, with_arm, parameters={'grasp_planner': {
            'planner_config': options, 'max_requests': clients + 1 + spoilers}})
        self._environment, self._helpers, self._readers = environment, {}, []
        self._ending, self._resting = threading.Event(), set()
        self._stopping = contextlib.ExitStack()

    def __enter__(self) -> 'Harness':
        """Start everything."""
        self.say(f'faults with seed {self.run.seed}')
        answers = self.folder / 'answers.json'
        write_answers(answers, self._case_count)
        try:
            self._start('relay', 'fault_relay.py', 'ring', self.run.seed)
            self.suite.start()
            self.suite.wait_until_ready()
            self._open_publisher()
            self._publish('ball')
            for number in range(self._clients):
                self._start(f'client {number}', 'fault_client.py', 'stream',
                            self.run.seed + number, answers, self._idle, listen=True)
            for number in range(self._spoilers):
                self._start(f'spoilt {number}', 'fault_client.py', 'spoilt',
                            self.run.seed + 1000 + number, answers,
                            '' if number else self._large_mesh(),
                            *([self._spoilt] if self._spoilt else []), listen=True)
            self.run.begin = time.monotonic()
            threading.Thread(target=self._sample, daemon=True).start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind, *_) -> None:
        """Stop everything; look for what is left."""
        self._stop()
        if kind is None:
            left = [pid for pid in marked(self.mark)]
            if left:
                self.run.wrong.append(f'processes are left: {left}')

    def _open_publisher(self) -> None:
        context = rclpy.Context()
        rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
        node = rclpy.create_node('fault_harness', context=context)
        self._stopping.callback(context.try_shutdown)
        self._stopping.callback(node.destroy_node)
        self._objects = node.create_publisher(
            GraspObject, 'grasp_object', latched(LATCHED_OBJECTS))

    def _large_mesh(self) -> Path:
        """Write and return the file of a mesh of half a million triangles."""
        axes = np.vstack([np.eye(3), -np.eye(3)])
        ball = trimesh.convex.convex_hull(axes)
        vertices, faces = ball.vertices, ball.faces
        for _ in range(8):
            vertices, faces = trimesh.remesh.subdivide(vertices, faces)
        vertices = 0.035 * vertices / np.linalg.norm(vertices, axis=1)[:, None]
        path = self.folder / 'large.stl'
        trimesh.Trimesh(vertices, faces, process=False).export(path)
        return path

    # -- processes --------------------------------------------------------------------

    def _start(self, name: str, script: str, *arguments, listen: bool = False) -> None:
        process = subprocess.Popen(
            [sys.executable, str(HERE / script), *map(str, arguments)], env=self._environment,
            stdin=subprocess.PIPE if listen else subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE if listen else None, start_new_session=True)
        self._helpers[name] = process
        if listen:
            reader = threading.Thread(target=self._listen, args=(name, process), daemon=True)
            self._readers.append(reader)
            reader.start()

    def _listen(self, name: str, process: subprocess.Popen) -> None:
        for line in process.stdout:
            try:
                if RESTING in json.loads(line):
                    self._resting.add(name)
                else:
                    self.run.judge(line)
            except json.JSONDecodeError:
                self.say(f'{name}: {line.rstrip()}')

    def _stop(self) -> None:
        callers = [process for process in self._helpers.values() if process.stdin is not None]
        for process in callers:
            with contextlib.suppress(OSError):
                process.stdin.close()
        end = time.monotonic() + END_TIME
        for name, process in self._helpers.items():
            if process.stdin is None:
                continue
            try:
                code = process.wait(max(0.1, end - time.monotonic()))
                if code:
                    self.run.wrong.append(f'{name} ended with exit code {code}')
            except subprocess.TimeoutExpired:
                self.run.wrong.append(f'{name} hangs')
                process.kill()
                process.wait()
        for reader in self._readers:
            reader.join(10.0)
        self._ending.set()
        for process in self._helpers.values():
            if process.stdin is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10.0)
                process.kill()
                process.wait()
        self.suite.stop()
        self._stopping.close()

    # -- faults -----------------------------------------------------------------------

    def disturb(self, seconds: float, period: float, kinds=None) -> None:
        """Make faults of chance for a while, one in ``period`` [s] on average."""
        kinds = kinds or KINDS
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(period * self.random.uniform(0.5, 1.5),
                           max(0.0, end - time.monotonic())))
            kind = self.random.choices(list(kinds), list(kinds.values()))[0]
            self.make(kind, self.random.choice(self.suite.names))
            self._expect_all_alive()

    def rest(self) -> None:
        """
        Let the callers rest until nothing is under way, and keep what nodes then hold.

        Small objects are planned for until no other is kept, neither in stores nor to be told
        to late joiners or shown: rests differ by large meshes else.
        """
        self._resting.clear()
        callers = [process for process in self._helpers.values() if process.stdin is not None]
        self._tell(callers, REST)
        end = time.monotonic() + REST_LIMIT
        while len(self._resting) < len(callers) and time.monotonic() < end:
            time.sleep(0.2)
        if len(self._resting) < len(callers):
            self.run.wrong.append(f'only {sorted(self._resting)} came to rest')
        self._crowd_planner(LATCHED_OBJECTS + 1)
        self._publish('ball')
        time.sleep(REST_TIME)
        self._expect_all_alive()
        since = time.monotonic() - self.run.begin
        time.sleep(REST_WATCHED)
        self._expect_all_alive()
        self.run.rested(since)
        self._tell(callers, 'go on')

    @staticmethod
    def _tell(callers: list, line: str) -> None:
        for process in callers:
            with contextlib.suppress(OSError):
                process.stdin.write(f'{line}\n')
                process.stdin.flush()

    def make(self, kind: str, name: str) -> None:
        """Make one fault."""
        getattr(self, f'_{kind}')(name)

    def wait_for_calls(self, count: int, status: str = '') -> None:
        """Return after so many more calls, or calls with a status, have ended."""
        before, end = len(self.run.calls), time.monotonic() + CALLS_TIME
        while sum(status in call['status'] for call in self.run.calls[before:]) < count:
            if time.monotonic() > end:
                raise TimeoutError(f'no call ended with {status or "anything"}')
            time.sleep(0.05)

    def wait_for_status(self, status: str) -> None:
        """Return once a call of this run, over already or not, has ended with a status."""
        if not any(status in call['status'] for call in self.run.calls):
            self.wait_for_calls(1, status)

    def _expect_all_alive(self) -> None:
        """Start again, and find fault with, a node that ended by itself."""
        for name in self.suite.names:
            code = self.suite.processes[name].poll()
            if code is not None:
                self.run.wrong.append(f'{name} ended by itself with code {code}')
                self.run.note('fell', name)
                self.suite.start([name])

    def _kill(self, name: str) -> None:
        self.run.note('kill', name)
        process = self.suite.processes[name]
        process.kill()
        process.wait()
        time.sleep(RESPAWN_DELAY)
        self.suite.start([name])

    def _interrupt(self, name: str) -> None:
        self.run.note('interrupt', name)
        self.suite.stop([name])
        time.sleep(RESPAWN_DELAY)
        self.suite.start([name])

    def _pause(self, name: str) -> None:
        shortest, longest = PAUSE
        length = shortest * (longest / shortest) ** self.random.random()
        self.run.note('pause', name, length)
        process = self.suite.processes[name]
        process.send_signal(signal.SIGSTOP)
        time.sleep(length)
        process.send_signal(signal.SIGCONT)

    def _object(self, _) -> None:
        """Change the object under the common label, among others that crowd the stores."""
        self._crowd(self.random.randrange(0, LATCHED_OBJECTS + 4))
        self._publish(self.random.choice(('ball', 'box')))

    def _crowd(self, count: int) -> None:
        """Publish other objects."""
        for _ in range(count):
            mesh, label = self._other()
            other = bodies.GraspObject(mesh, body('ball').material, label)
            self._objects.publish(conversions.grasp_object_to_msg(other))

    def _crowd_planner(self, count: int) -> None:
        """Have plans made for other objects, which the planner then publishes and keeps."""
        with PlanGraspClient(node_name='fault_harness_client') as client:
            for _ in range(count):
                mesh, label = self._other()
                result = client.plan(request(
                    'ball', mesh=conversions.mesh_to_msg(mesh.vertices, mesh.faces),
                    object_id=label, max_hypotheses=1, max_planning_time=CROWD_TIME))
                status = STATUS_NAMES[result.status]
                if status not in ('SUCCEEDED', 'NO_GRASP', 'TIMED_OUT'):
                    self.run.wrong.append(f'{label} at rest: {status}: {result.message}')

    def _other(self) -> tuple[bodies.TriangleMesh, str]:
        """Return the mesh of another small object, and a label."""
        radius = self.random.uniform(0.02, 0.05)
        return bodies.shapes.sphere(radius, 0.5 * radius), f'other {radius}'

    def _publish(self, kind: str) -> None:
        self.run.note('object', kind)
        self._objects.publish(conversions.grasp_object_to_msg(body(kind)))

    def _flood(self, _) -> None:
        process = subprocess.Popen(
            [sys.executable, str(HERE / 'fault_relay.py'), 'flood', str(FLOOD_RATE)], text=True,
            env=self._environment, stdout=subprocess.PIPE, start_new_session=True)
        process.stdout.readline()       # it has begun
        self.run.note('flood', 'joint_states', FLOOD_TIME)
        time.sleep(FLOOD_TIME)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_TIME)
        process.kill()
        process.wait()

    # -- resources --------------------------------------------------------------------

    def _sample(self) -> None:
        while not self._ending.wait(SAMPLE_PERIOD):
            memory = {name: memory_of(process.pid)
                      for name, process in list(self.suite.processes.items())}
            segments = self._segments.look()
            self.run.samples.append({
                'time': time.monotonic() - self.run.begin, 'memory': memory,
                'pids': {name: p.pid for name, p in list(self.suite.processes.items())},
                'segments': len(segments), 'shared': sum(map(blocks, segments))})


def soak(minutes: float, seed: int, folder: Path, say=print) -> Run:
    """Run the suite under faults for a long time: first nodes are killed, then all but that."""
    with Harness(seed, folder, spoilt=None, spoilers=SPOILERS, with_arm=True, idle=IDLE,
                 say=say) as harness:
        harness.disturb(60.0 * MORTAL_SHARE * minutes, MORTAL_PERIOD, MORTAL)
        calm = 60.0 * (1.0 - MORTAL_SHARE) * minutes / RESTS - REST_TIME - REST_WATCHED
        for _ in range(RESTS):
            harness.disturb(max(0.0, calm), CALM_PERIOD, CALM)
            harness.rest()
    harness.run.judge_growth()
    harness.run.judge_losses()
    return harness.run
