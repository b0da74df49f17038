"""How `grasp_planner` asks for the arm's motions and orders its grasps by them."""

import threading
import time
from collections.abc import Callable

from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from rclpy.callback_groups import ReentrantCallbackGroup
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.planning.ranking.choices import candidate_count
from ....core.planning.rejections import NO_ARM_MOTION
from ...quality import many_calls

#: Seconds between two signs of life while the arm's motions are looked for.
TICK = 1.0
#: Wait beyond the time limit for what was found until then [s].
GRACE = 3.0


class ArmChoice:
    """
    Asks a service like `choose_by_arm`; does nothing without a name.

    Parameters
    ----------
    node : Node
    service : str
        Empty: no arm.
    """

    def __init__(self, node, service: str) -> None:
        """Open the client."""
        self._service = service
        self._client = node.create_client(
            EvaluateGrasp, service, qos_profile=many_calls(),
            callback_group=ReentrantCallbackGroup()) if service else None

    @property
    def is_wanted(self) -> bool:
        """Return whether grasps are to be ordered by the arm."""
        return self._client is not None

    def is_absent(self) -> bool:
        """Return whether an arm is wanted and nobody serves it."""
        return self._client is not None and not self._client.service_is_ready()

    def grasps_to_plan(self, wanted: int) -> int:
        """Return how many grasps are to be planned where ``wanted`` are to be returned."""
        return candidate_count(wanted) if self.is_wanted else wanted

    def order(self, msg, object_id: str, response: PlanGrasp.Response, timeout: float,
              wanted: int, tick: Callable[[], None] = lambda: None) -> None:
        """
        Order the grasps of an answer by the arm's way; drop those without a free one.

        The arm is asked about so many of the best as are wanted, then about so many of the next
        as are still lacking, until there are enough or the time is up.

        Parameters
        ----------
        msg : PlanGrasp.Request or PlanGrasps.Goal
        object_id : str
            Of what was planned for: a label may be another object's by now.
        response : PlanGrasp.Response or PlanGrasps.Result
            Changed in place. Where the arm's node is silent, the grasps stay as they are and
            the message says so.
        timeout : float
            [s]
        wanted : int
            Most grasps of the answer.
        tick : callable
            Called once a second while the answer is awaited.
        """
        if self._client is None or not response.grasps:
            return
        end, left = time.monotonic() + timeout, list(response.grasps)
        free: list[Grasp] = []
        failed: list[str] = []
        while left and len(free) < wanted and (time.monotonic() < end or not (free or failed)):
            lacking = wanted - len(free)
            asked, left = left[:lacking], left[lacking:]
            answer = self._ask(msg, object_id, asked, max(end - time.monotonic(), 0.0), tick)
            if answer is None or answer.status != PlanGrasp.Response.SUCCEEDED:
                said = 'no answer' if answer is None else answer.message
                response.message = _joined(response.message, f'not ordered by the arm: '
                                           f'{self._service}: {said}')
                if not (free or failed):
                    response.grasps = response.grasps[:wanted]
                    return
                left = asked + left
                break
            free += [g for g, reason in zip(answer.grasps, answer.reasons) if not reason]
            failed += [reason for reason in answer.reasons if reason]
        free.sort(key=lambda grasp: (round(grasp.arm_path_length, 9), grasp.rank))
        for rank, grasp in enumerate(free, start=1):
            grasp.rank = rank
        response.grasps = free
        if failed:
            response.rejection_reasons = [*response.rejection_reasons, NO_ARM_MOTION]
            response.rejection_counts = [*response.rejection_counts, len(failed)]
            response.message = _joined(response.message, f'{NO_ARM_MOTION}: {failed[0]}')
            if left and len(free) < wanted:
                response.message = _joined(
                    response.message, f'the arm was not asked about {len(left)} more in time')
        if not free and response.status == PlanGrasp.Response.SUCCEEDED:
            response.status = PlanGrasp.Response.NO_GRASP

    def _ask(self, msg, object_id: str, grasps: list[Grasp], timeout: float,
             tick: Callable[[], None]) -> EvaluateGrasp.Response | None:
        if not self._client.service_is_ready():
            return None
        if msg.mesh_resource or msg.mesh.triangles:
            object_id = msg.object_id
        request = EvaluateGrasp.Request(
            header=msg.header, object_id=object_id, mesh_resource=msg.mesh_resource,
            mesh=msg.mesh, scale=msg.scale, object_pose=msg.object_pose, material=msg.material,
            task=msg.task, grasps=grasps, max_planning_time=timeout, obstacles=msg.obstacles,
            obstacle_poses=msg.obstacle_poses)
        if msg.arm_start.name:
            request.grasps[0].arm_trajectory = JointTrajectory(
                joint_names=msg.arm_start.name,
                points=[JointTrajectoryPoint(positions=msg.arm_start.position)])
        answered = threading.Event()
        future = self._client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        end = time.monotonic() + timeout + GRACE
        while not answered.wait(TICK):
            tick()
            if time.monotonic() > end or not self._client.service_is_ready():
                self._client.remove_pending_request(future)
                return None
        return future.result()


def _joined(first: str, second: str) -> str:
    return f'{first}; {second}' if first else second
