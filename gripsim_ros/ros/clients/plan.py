"""
Ask a running suite for grasps, from plain Python.

>>> from gripsim_ros.ros.clients.plan import PlanGraspClient, plan_request
>>> with PlanGraspClient() as client:                           # doctest: +SKIP
...     result = client.plan(plan_request('apple.stl', material='firm_fruit'))
"""

import contextlib
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from action_msgs.msg import GoalStatus
from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.msg import Material as MaterialMsg
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import PointCloud2
from unique_identifier_msgs.msg import UUID

from ...core.bodies import Material
from ...core.planning.task import Task
from ..conversions import material_to_msg, task_to_msg
from ..environment import patience
from ..nodes.base.action_client import PromptActionClient
from ..quality import action_client_quality, many_calls
from .connection import Connection

#: Seconds of silence after which a planner that owes an answer is taken for lost.
SILENCE = 8.0 * patience()
#: Seconds without an answer after which a plan is asked for again under the same id, twice as
#: long each time, and how often at most: middleware drops an answer to a client that it has
#: just met.
ASK_AGAIN, MOST_ASKS = 2.0, 4
#: Silence of a planner that is to be expected while it reads a mesh, for each triangle [s]:
#: several times what it takes on a quiet machine.
READ_TIME = 4e-5 * patience()
#: How long a server may take to be discovered [s].
DISCOVERY_TIMEOUT = 10.0 * patience()
#: Seconds between two looks at what has come.
POLL_PERIOD = 0.02
#: Added to the limit of a request before its answer is taken for lost [s].
GRACE = 10.0
#: What a planner takes where a request has no limit of time [s]; see config/planner.yaml.
DEFAULT_PLANNING_TIME = 60.0

Status = PlanGrasp.Response
#: Names of the status codes.
STATUS_NAMES = {getattr(Status, name): name for name in (
    'SUCCEEDED', 'NO_GRASP', 'INVALID_REQUEST', 'TIMED_OUT', 'CANCELED', 'STAGE_MISSING', 'BUSY',
    'INTERNAL')}


class ServerLost(RuntimeError):
    """The planner is not there, went away, or owes an answer for too long."""


def plan_request(mesh: str | Path = '', material: str | Material = '', task: Task | None = None,
                 *, scale: float = 1.0, max_grasps: int = 0, max_hypotheses: int = 0,
                 max_planning_time: float = 0.0, seed: int = 0,
                 cloud: PointCloud2 | None = None, completion: str = '', elasticity: str = ''
                 ) -> PlanGrasps.Goal:
    """
    Return a request in the object's own frame.

    Parameters
    ----------
    mesh : str or Path
        File or URI; a file's path is made absolute, since the planner may run elsewhere.
    material : str or Material
        Name in the planner's library, or the numbers; '' is the library's default.
    task : Task, optional
        None: the object floats and its weight may pull in any direction.
    scale : float
        Factor that makes the file's lengths metres.
    max_grasps, max_hypotheses, max_planning_time, seed
        0 = the planner's default each; time in seconds.
    cloud : PointCloud2, optional
        Of one side, instead of a mesh; ``completion`` says how it is closed, '': the default.
    elasticity : str
        Model of the object: ``half_space``, ``auto`` (in two stages), '': as the suite's planner.

    Returns
    -------
    PlanGrasps.Goal
    """
    goal = PlanGrasps.Goal(scale=float(scale), max_grasps=max_grasps,
                           max_hypotheses=max_hypotheses,
                           max_planning_time=float(max_planning_time), seed=seed,
                           elasticity=elasticity)
    goal.mesh_resource, goal.completion = resource_uri(mesh), completion
    if cloud is not None:
        goal.cloud = cloud
    goal.material = material_request(material)
    if task is not None:
        goal.task, goal.obstacles, goal.obstacle_poses = task_to_msg(task)
    return goal


def resource_uri(mesh: str | Path) -> str:
    """Return a URI unchanged, and the path of a file as an absolute one."""
    text = str(mesh)
    return text if not text or '://' in text else str(Path(text).expanduser().absolute())


def material_request(material: str | Material) -> MaterialMsg:
    """Return the message of a material given by its name or its numbers."""
    if isinstance(material, Material):
        return material_to_msg(material)
    return MaterialMsg(name=material)


class PlanGraspClient(Connection):
    """
    A connection to the services and the action of `grasp_planner`.

    It has a ROS context and a thread of its own, so that it may be used from any
    program, with or without a node. Use it in a ``with`` statement, or ``close()`` it.
    """

    def __init__(self, namespace: str = '', node_name: str = 'gripsim_client') -> None:
        """Connect; nothing is waited for yet."""
        super().__init__(namespace, node_name)
        self._plan = PromptActionClient(self.node, PlanGrasps, 'plan_grasps',
                                        callback_group=self.group, **action_client_quality())
        self._service = self.node.create_client(
            PlanGrasp, 'plan_grasp', qos_profile=many_calls(), callback_group=self.group)
        self._evaluate = self.node.create_client(
            EvaluateGrasp, 'evaluate_grasp', qos_profile=many_calls(), callback_group=self.group)
        self._listen()

    def wait_for_server(self, timeout: float = DISCOVERY_TIMEOUT) -> None:
        """
        Return once the planner has been discovered.

        Raises
        ------
        ServerLost
            It was not within ``timeout`` [s].
        """
        end = time.monotonic() + timeout
        while not (self._plan.server_is_ready() and self._service.service_is_ready()
                   and self._evaluate.service_is_ready()):
            if time.monotonic() > end:
                raise ServerLost(f'no grasp_planner was found within {timeout:g} s: is the suite '
                                 'up (`gripsim suite up`, or the launch file), and in this ROS '
                                 'domain?')
            time.sleep(POLL_PERIOD)

    def hand_files(self) -> tuple[str, str]:
        """
        Return URDF and config of the hand that the planner holds, as its parameters name them.

        Both are '' for the hand that comes along, the URDF where the config names it.

        Raises
        ------
        ServerLost
            The planner is not there, or does not answer.
        """
        end = time.monotonic() + DISCOVERY_TIMEOUT
        self.wait_for_server(DISCOVERY_TIMEOUT)
        service = self.node.create_client(GetParameters, 'grasp_planner/get_parameters',
                                          callback_group=self.group)
        try:
            while not service.service_is_ready():
                self._check(end, None)
                time.sleep(POLL_PERIOD)
            asked = service.call_async(GetParameters.Request(names=['urdf', 'hand_config']))
            urdf, config = self._await(asked, end, None).values
        finally:
            self.node.destroy_client(service)
        return urdf.string_value, config.string_value

    def plan(self, goal: PlanGrasps.Goal,
             on_feedback: Callable[[PlanGrasps.Feedback], bool | None] | None = None,
             timeout: float | None = None) -> PlanGrasps.Result:
        """
        Plan, and return the result whatever its status.

        Where the acknowledgement or the result does not come, the planner is asked again
        under the same id: it begins no second plan, but answers for the one that runs.

        Parameters
        ----------
        goal : PlanGrasps.Goal
            See ``plan_request``.
        on_feedback : callable, optional
            Called from this thread; the plan is cancelled once it returns False, and the
            result then holds the best so far.
        timeout : float, optional
            Time until the answer is taken for lost [s], from the call on; None: from the
            request's limit.

        Raises
        ------
        ServerLost
            The planner is not there, went away or stays silent; nothing hangs.
        """
        end = self._begin(goal, timeout)
        feedback: list[PlanGrasps.Feedback] = []
        heard = [time.monotonic()]

        def listen(msg) -> None:
            heard[0] = time.monotonic()
            feedback.append(msg.feedback)

        name = UUID(uuid=list(uuid.uuid4().bytes))
        reading = READ_TIME * len(goal.mesh.triangles)
        heard[0] += reading
        handle, asks = self._ask(lambda: self._plan.send_goal_async(goal, listen, name), end,
                                 heard, wait=reading)
        if not handle.accepted and asks == 1:
            raise ServerLost('the planner did not accept the request')
        canceled = False

        def tell() -> None:
            nonlocal canceled
            while feedback:
                news = feedback.pop(0)
                go_on = on_feedback is None or on_feedback(news) is not False
                if not (go_on or canceled):
                    handle.cancel_goal_async()
                    canceled = True

        response, _ = self._ask(handle.get_result_async, end, heard, tell, heard)
        if response.status == GoalStatus.STATUS_UNKNOWN:
            raise ServerLost('the planner does not know the request any more')
        return response.result

    def plan_by_service(self, request: PlanGrasp.Request,
                        timeout: float | None = None) -> PlanGrasp.Response:
        """Plan through the service `plan_grasp`; errors as ``plan``."""
        return self._call(self._service, request, timeout)

    def evaluate(self, request: EvaluateGrasp.Request,
                 timeout: float | None = None) -> EvaluateGrasp.Response:
        """Score given grasps through `evaluate_grasp`; errors as ``plan``."""
        return self._call(self._evaluate, request, timeout)

    def _call(self, service, request, timeout: float | None):
        end = self._begin(request, timeout)
        return self._await(service.call_async(request), end, None)

    def _begin(self, request, timeout: float | None) -> float:
        """Return when the answer is lost; the time to find the planner counts."""
        limit = timeout or _limit(request)
        end = time.monotonic() + limit
        self.wait_for_server(min(limit, DISCOVERY_TIMEOUT))
        return end

    def _ask(self, ask: Callable, end: float, heard: list[float],
             meanwhile: Callable[[], None] = lambda: None, signs: list[float] | None = None,
             wait: float = 0.0):
        """
        Return the first answer to a question, and how often it was asked.

        It is asked again after ``ASK_AGAIN`` and ``wait`` of silence, then after twice as long
        each; where ``signs`` are given, what was heard meanwhile breaks the silence.
        """
        futures, asked = [ask()], time.monotonic()
        try:
            while not any(future.done() for future in futures):
                self._check(end, heard)
                meanwhile()
                quiet_since = max([asked, *(signs or ())])
                limit = (ASK_AGAIN + wait) * 2 ** (len(futures) - 1)
                if len(futures) < MOST_ASKS and time.monotonic() - quiet_since > limit:
                    futures.append(ask())
                    asked = time.monotonic()
                time.sleep(POLL_PERIOD)
            heard[0] = time.monotonic()
            return next(f.result() for f in futures if f.done()), len(futures)
        finally:
            for future in futures:
                with contextlib.suppress(ValueError):   # its answer comes just now
                    future.cancel()

    def _await(self, future, end: float, heard: list[float] | None):
        while not future.done():
            self._check(end, heard)
            time.sleep(POLL_PERIOD)
        return future.result()

    def _check(self, end: float, heard: list[float] | None) -> None:
        """Raise where waiting on makes no sense."""
        now = time.monotonic()
        if now > end:
            raise ServerLost('the planner did not answer in time')
        if not self._service.service_is_ready():
            raise ServerLost('the planner went away while it was planning')
        # With two hundred callers it answers others for as long: they are signs of its life, too.
        if heard is not None and now - max(heard[0], self._plan.heard_at) > SILENCE:
            raise ServerLost(f'the planner was silent for {SILENCE:g} s')


def _limit(request) -> float:
    """Return the seconds after which the answer to a request is taken for lost."""
    return (request.max_planning_time or DEFAULT_PLANNING_TIME) + GRACE
