"""How `grasp_planner` asks for the arm's motions and orders its grasps by them."""

import threading
import time
from collections.abc import Callable

from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from rclpy.callback_groups import ReentrantCallbackGroup
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.arrays import Array
from ....core.errors import TaskError
from ....core.planning.manipulation.search import way_unknown
from ....core.planning.rejections import ARM_NOT_ASKED, ARM_OUT_OF_TIME, NO_ARM_MOTION
from ....core.planning.task import ARM_TIME_SHARE
from ...quality import many_calls
from ..base.node_base import LARGE_MESH

#: Seconds between two signs of life while the arm's motions are looked for.
TICK = 1.0
#: Wait beyond the time limit for what was found until then [s].
GRACE = 3.0
#: Time for the arm's node to say before planning that it cannot be there [s].
CHECK_TIME = 1.0


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

    def grasps_to_plan(self, wanted: int, hypotheses: int) -> int:
        """Return how many grasps are to be planned: where an arm chooses, all that hold."""
        return hypotheses if self.is_wanted else wanted

    def time_kept(self, limit: float) -> float:
        """Return the part of a request's time that is kept for the arm [s]."""
        return ARM_TIME_SHARE * limit if self.is_wanted else 0.0

    def check(self, msg, object_id: str) -> None:
        """
        Refuse what the arm says that it cannot reach, before anything is planned.

        Where its node is silent or at work for others, or would read a large mesh for it,
        planning begins and tells it later.

        Raises
        ------
        TaskError
            The object stands, or is to be brought, too far away; as ``check_distances`` has it.
        """
        if self._client is None or len(msg.mesh.triangles) > LARGE_MESH:
            return
        end = time.monotonic() + CHECK_TIME
        answer = self._ask(msg, object_id, [], CHECK_TIME, 0, lambda: time.monotonic() < end)
        if answer is not None and answer.status == PlanGrasp.Response.INVALID_REQUEST:
            raise TaskError(answer.message)

    def order(self, msg, object_id: str, response: PlanGrasp.Response, timeout: float,
              wanted: int, tick: Callable[[], bool] = lambda: True,
              displacement: Array | None = None) -> None:
        """
        Leave the grasps of an answer to which the arm has the shortest ways, in that order.

        Without an arm the message says what is not known of the object's way.

        Parameters
        ----------
        msg : PlanGrasp.Request or PlanGrasps.Goal
        object_id : str
            Of what was planned for: a label may be another object's by now.
        response : PlanGrasp.Response or PlanGrasps.Result
            With all grasps that hold; changed in place. Where the arm's node is silent, the best
            stay as they are and the message says so.
        timeout : float
            [s]; that it ended the search is told in the message.
        wanted : int
            Most grasps of the answer.
        tick : callable
            Called once a second while the answer is awaited; False: wait no longer.
        displacement : (4, 4) float or None
            Of the object, that the task wants.
        """
        if not response.grasps:
            return
        if self._client is None:
            if displacement is not None:
                response.message = _joined(response.message, way_unknown(
                    displacement, dict(zip(response.reach_levels, response.reach_counts))))
            return
        answer = self._ask(msg, object_id, response.grasps, timeout, wanted, tick)
        if answer is None or answer.status != PlanGrasp.Response.SUCCEEDED:
            said = 'no answer' if answer is None else answer.message
            response.message = _joined(response.message, f'not ordered by the arm: '
                                       f'{self._service}: {said}')
            response.grasps = response.grasps[:wanted]
            return
        free = [g for g, reason in zip(answer.grasps, answer.reasons) if not reason]
        free.sort(key=lambda grasp: grasp.rank)
        counts = {ARM_NOT_ASKED: 0, ARM_OUT_OF_TIME: 0, NO_ARM_MOTION: 0}
        failed = [reason for reason in answer.reasons if reason and reason not in counts]
        counts.update({reason: list(answer.reasons).count(reason) for reason in counts})
        counts[NO_ARM_MOTION] += len(failed)
        told = {reason: count for reason, count in counts.items() if count}
        response.grasps = free
        response.rejection_reasons = [*response.rejection_reasons, *told]
        response.rejection_counts = [*response.rejection_counts, *told.values()]
        if failed:
            response.message = _joined(response.message, f'{NO_ARM_MOTION}: {failed[0]}')
        if counts[ARM_OUT_OF_TIME]:
            response.message = _joined(
                response.message, f'the arm\'s time was up: of {counts[ARM_OUT_OF_TIME]} of '
                f'{len(answer.reasons)} grasps that hold it is not known whether its way is '
                'shorter')
        if not free and response.status == PlanGrasp.Response.SUCCEEDED:
            response.status = PlanGrasp.Response.NO_GRASP

    def _ask(self, msg, object_id: str, grasps: list[Grasp], timeout: float, wanted: int,
             tick: Callable[[], bool]) -> EvaluateGrasp.Response | None:
        if not self._client.service_is_ready():
            return None
        if msg.mesh_resource or msg.mesh.triangles:
            object_id = msg.object_id
        request = EvaluateGrasp.Request(
            header=msg.header, object_id=object_id, mesh_resource=msg.mesh_resource,
            mesh=msg.mesh, scale=msg.scale, object_pose=msg.object_pose, material=msg.material,
            task=msg.task, grasps=grasps, max_planning_time=timeout, obstacles=msg.obstacles,
            obstacle_poses=msg.obstacle_poses, arm_wanted=wanted,
            arm_criterion=msg.arm_criterion)
        if grasps and msg.arm_start.name:
            request.grasps[0].arm_trajectory = JointTrajectory(
                joint_names=msg.arm_start.name,
                points=[JointTrajectoryPoint(positions=msg.arm_start.position)])
        answered = threading.Event()
        future = self._client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        end = time.monotonic() + timeout + GRACE
        while not answered.wait(TICK):
            if not tick() or time.monotonic() > end or not self._client.service_is_ready():
                self._client.remove_pending_request(future)
                return None
        return future.result()


def _joined(first: str, second: str) -> str:
    return '; '.join(filter(None, (first, second)))
