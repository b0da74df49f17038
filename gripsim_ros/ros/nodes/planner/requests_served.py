"""The requests of `grasp_planner`: from message to session, from session to answer."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp

from ....core.errors import GripsimError, TaskError
from ....core.memory import return_memory
from ....core.planning import AskAndTell, GraspEvaluator, Progress, RankedGrasp
from ....core.planning.task import LEAST_ARM_TIME
from ....core.transforms import apply
from ...conversions import (
    GraspFrame, Request, grasp_from_msg, grasp_to_msg, judged_to_msgs, planning_time, point_to_msg,
    take_mesh)
from ...conversions.requests.misses import miss_to_msg
from ..base.node_base import LARGE_MESH, one_line
from .sessions import (
    CANCELED, INTERNAL, INVALID, SHUTTING_DOWN, STAGE_MISSING, TIMED_OUT, Session)
from .stored_plans import StoredPlan

Status = PlanGrasp.Response

#: Time in which an answer about one given grasp is judged and written, and the largest share of a
#: limit kept for that [s, -].
GRASP_TIME, ANSWER_SHARE = 3e-3, 0.75
#: Between two looks whether a request that waits for that has ended [s].
TURN_PERIOD = 0.1

_STATUS = {TIMED_OUT: Status.TIMED_OUT, CANCELED: Status.CANCELED,
           STAGE_MISSING: Status.STAGE_MISSING, INVALID: Status.INVALID_REQUEST,
           INTERNAL: Status.INTERNAL}


@dataclass(eq=False)
class _Plan:
    """
    A request on its way; ``request`` and ``frame`` are None until it is understood.

    ``mesh`` is a large one that was taken out of ``msg`` and is still to be read.
    """

    msg: object
    session: Session
    request: Request | None = None
    frame: GraspFrame | None = None
    preparation: threading.Thread | None = None
    mesh: tuple | None = None
    large: bool = False


class RequestServer:
    """
    Serves requests, each in the thread that brings it.

    Whatever goes wrong in one is told in its answer; the node and the others go on.
    """

    def __init__(self, node) -> None:
        """Serve for ``node``, a ``GraspPlannerNode``."""
        self._node = node
        self._slots = threading.Semaphore(node.values['max_requests'])
        self._max_requests = node.values['max_requests']
        self._lock = threading.Lock()
        self._large = threading.Lock()
        self._sessions: dict[bytes, Session | None] = {}
        self._canceled: set[bytes] = set()
        self.running = 0
        self.served = 0

    # -- callbacks -------------------------------------------------------------------

    def plan(self, msg: PlanGrasp.Request, response: PlanGrasp.Response) -> PlanGrasp.Response:
        """Serve `plan_grasp`."""
        self._serve(msg, response, self._plan)
        return response

    def evaluate(self, msg: EvaluateGrasp.Request,
                 response: EvaluateGrasp.Response) -> EvaluateGrasp.Response:
        """Serve `evaluate_grasp`."""
        self._serve(msg, response, self._evaluate)
        return response

    def plan_with_feedback(self, goal_handle) -> PlanGrasps.Result:
        """Serve `plan_grasps`; the goal's end follows the status of the answer."""
        result = PlanGrasps.Result()
        self._serve(goal_handle.request, result,
                    lambda plan, response: self._plan(plan, response, goal_handle))
        with self._lock:        # one that came too late, or to a request that was refused
            self._canceled.discard(bytes(goal_handle.goal_id.uuid))
        if not self._node.context.ok():
            pass        # the node was interrupted: nothing can be told any more
        elif result.status == Status.CANCELED and goal_handle.is_cancel_requested:
            goal_handle.canceled()
        elif result.status in (Status.SUCCEEDED, Status.NO_GRASP, Status.TIMED_OUT):
            goal_handle.succeed()
        else:
            goal_handle.abort()
        return result

    def cancel(self, goal_handle) -> None:
        """End the session of a goal; one that has not begun ends as soon as it does."""
        key = bytes(goal_handle.goal_id.uuid)
        with self._lock:
            self._canceled.add(key)
            session = self._sessions.get(key)
        if session is not None:
            self._node.dispatcher.cancel(session)

    # -- one request -----------------------------------------------------------------

    def _serve(self, msg, response, work: Callable[[_Plan, object], None]) -> None:
        """
        Do the work of a request if there is room for it; put errors in the answer.

        A request whose time is up is answered at once, but its room is free only when the
        thread that still reads its mesh has ended: else large meshes would pile up.
        """
        begin = time.monotonic()
        plan = None
        if not self._node.active:
            response.status, response.message = Status.INTERNAL, 'the node is not active'
            let_go(msg)
            return
        if not self._slots.acquire(blocking=False):
            response.status = Status.BUSY
            response.message = f'{self._max_requests} requests are being served: ask again later'
            let_go(msg)
            return
        self._count(1)
        try:
            plan = self._begin(msg, begin)
            work(plan, response)
        except GripsimError as error:
            response.status, response.message = Status.INVALID_REQUEST, one_line(error)
        except Exception as error:
            self._node.report_error(f'request: {one_line(error)}')
            response.status, response.message = Status.INTERNAL, one_line(error)
        finally:
            if response.status == Status.INTERNAL and not self._node.context.ok():
                response.message = SHUTTING_DOWN    # whatever met the end of ROS first
            self._count(-1)
            self._free_slot(msg, plan)

    def _free_slot(self, msg, plan: _Plan | None) -> None:
        """Make room for another request, now or when this one's preparation has ended."""
        preparation = None if plan is None else plan.preparation

        def free() -> None:
            if preparation is not None:
                preparation.join()
            let_go(msg, plan)
            self._slots.release()
        if preparation is not None and preparation.is_alive():
            threading.Thread(target=free, name='preparation', daemon=True).start()
        else:
            free()

    def _count(self, change: int) -> None:
        with self._lock:
            self.running += change
            self.served += change < 0

    def _plan(self, plan: _Plan, response, goal_handle=None) -> None:
        node, msg, begin = self._node, plan.msg, plan.session.begin
        wanted = self._wanted(msg)

        def prepare(request: Request) -> AskAndTell | StoredPlan:
            node.arm_choice.check(msg, request.grasp_object.id)
            return node.planner_for(request, msg, wanted, lambda: not plan.session.done.is_set())

        if goal_handle is not None:
            plan.session.on_progress = self._feedback(goal_handle, plan)
        self._run(plan, prepare, goal_handle)
        found = plan.session.planner is not None and bool(plan.session.planner.ranked())
        self._set_status(response, plan.session, found)
        response.planning_time = time.monotonic() - begin
        if plan.session.planner is not None:
            limit = planning_time(msg) or node.options.max_planning_time
            self._fill_plan(response, plan, begin + limit)
            tell = plan.session.on_progress or (lambda _: None)

            def tick() -> bool:
                tell(plan.session.planner.progress)
                return goal_handle is None or not goal_handle.is_cancel_requested
            left = max(begin + limit - time.monotonic(), LEAST_ARM_TIME)
            node.arm_choice.order(msg, plan.request.grasp_object.id, response, left, wanted, tick,
                                  plan.request.task.displacement_object)
            response.planning_time = time.monotonic() - begin
            node.show(plan.session.planner.ranked(), response, plan.request)

    def _wanted(self, msg) -> int:
        """Return how many grasps a request wants at most."""
        return int(msg.max_grasps) or self._node.options.max_grasps

    def _evaluate(self, plan: _Plan, response) -> None:
        node, msg = self._node, plan.msg

        def prepare(request: Request) -> GraspEvaluator:
            if not msg.grasps:
                raise TaskError('grasps must hold at least one grasp, got none')
            grasps = [grasp_from_msg(grasp, request.T_frame_object, node.hand.joint_names)
                      for grasp in msg.grasps]
            return GraspEvaluator(request.grasp_object, node.hand, request.task, node.options,
                                  grasps, close=msg.close)

        self._run(plan, prepare, None)
        judged = plan.session.planner.ranked() if plan.session.planner is not None else []
        self._set_status(response, plan.session, bool(judged))
        if judged:
            response.grasps = judged_to_msgs(judged, msg.grasps, plan.frame)
            response.reasons = [grasp.reason for grasp in judged]

    def _begin(self, msg, begin: float) -> _Plan:
        node = self._node
        limit = planning_time(msg) or node.options.max_planning_time
        given = len(msg.grasps) if isinstance(msg, EvaluateGrasp.Request) else 0
        reserve = min(GRASP_TIME * given, ANSWER_SHARE * limit) if given \
            else node.arm_choice.time_kept(limit)
        return _Plan(msg, Session(node.next_request_id(), begin, begin + limit - reserve,
                                  reserve=reserve))

    def _run(self, plan: _Plan, prepare, goal_handle) -> None:
        """
        Run a session to its end.

        Reading meshes and proposing hypotheses may take a while; a thread of its own
        does it, so that cancel and time limit are prompt from the first moment.
        """
        session = plan.session
        key = bytes(goal_handle.goal_id.uuid) if goal_handle is not None else b''
        with self._lock:
            if key:
                self._sessions[key] = session
            canceled = key in self._canceled
        try:
            self._node.dispatcher.submit(session)
            if canceled:
                self._node.dispatcher.cancel(session)
            plan.preparation = threading.Thread(
                target=self._prepare, args=(plan, prepare), daemon=True)
            plan.preparation.start()
            session.done.wait()
        finally:
            with self._lock:
                self._sessions.pop(key, None)
                self._canceled.discard(key)

    def _prepare(self, plan: _Plan, prepare: Callable[[Request], object]) -> None:
        """Understand a request and hand its planner to the dispatcher."""
        node, session = self._node, plan.session
        try:
            estimate = node.reader.triangle_estimate(plan.msg)
            self._take_large_mesh(plan, estimate)
            with ExitStack() as turn:
                turn.enter_context(self._turn(estimate, session))
                if session.done.is_set():
                    return
                begin = time.monotonic()
                mesh, plan.mesh = plan.mesh, None
                plan.request = node.reader.read(plan.msg, mesh)
                del mesh
                plan.frame = self._frame(plan)
                grasp_object, took = plan.request.grasp_object, time.monotonic() - begin
                if estimate <= LARGE_MESH:      # or so it seemed: by a label, in a dense format
                    turn.enter_context(self._turn(len(grasp_object.mesh.faces), session))
                if session.done.is_set():
                    return
                node.publish_object(grasp_object, plan.request.scale)
                node.shown.show_object(grasp_object, plan.request)
                begin = time.monotonic()
                planner = prepare(plan.request)     # meanwhile the stages prepare the object
            node.dispatcher.prepared(session, planner, grasp_object,
                                     took + time.monotonic() - begin)
        except GripsimError as error:
            node.dispatcher.refuse(session, INVALID, one_line(error))
        except Exception as error:
            node.report_error(f'request: {one_line(error)}')
            node.dispatcher.refuse(session, INTERNAL, one_line(error))

    def _take_large_mesh(self, plan: _Plan, triangle_count: int) -> None:
        """
        Take a large mesh out of its message before it waits; the arm's node wants it whole.

        As Python's objects it is six times as large. What else is made while these live
        lies between them, and one small block keeps a megabyte of them from going back.
        """
        brings_it = triangle_count > LARGE_MESH and not plan.msg.mesh_resource
        if brings_it and not self._node.arm_choice.is_wanted:
            plan.large = True
            plan.mesh = take_mesh(plan.msg)

    @contextmanager
    def _turn(self, triangle_count: int, session: Session) -> Iterator[None]:
        """Wait until it is a large mesh's turn, or its request has ended."""
        if triangle_count <= LARGE_MESH:
            yield
            return
        while not (taken := self._large.acquire(timeout=TURN_PERIOD)):
            if session.done.is_set():
                break
        try:
            yield
        finally:
            if taken:
                self._large.release()

    def _frame(self, plan: _Plan) -> GraspFrame:
        header, hand = plan.msg.header, self._node.hand
        header.stamp = self._node.get_clock().now().to_msg()
        return GraspFrame(header, plan.request.T_frame_object, tuple(hand.joint_names),
                          hand.joint_velocities, plan.request.grasp_object.id)

    def _feedback(self, goal_handle, plan: _Plan) -> Callable[[Progress], None]:
        told: tuple[RankedGrasp | None, Grasp | None] = None, None

        def publish(progress: Progress) -> None:
            nonlocal told
            feedback = PlanGrasps.Feedback(
                evaluated=progress.evaluated, total=progress.total, stable=progress.stable,
                has_best=progress.best is not None, step=progress.step)
            if progress.best is not None:
                if progress.best is not told[0]:
                    told = progress.best, grasp_to_msg(progress.best, plan.frame)
                feedback.best = told[1]
            if goal_handle.is_active:
                goal_handle.publish_feedback(feedback)
        return publish

    # -- answers ---------------------------------------------------------------------

    def _fill_plan(self, response, plan: _Plan, end: float) -> None:
        planner, request = plan.session.planner, plan.request
        grasps = self._node.judged_again(planner.ranked(), request, int(plan.msg.seed), end)
        response.grasps = [grasp_to_msg(grasp, plan.frame) for grasp in grasps]
        response.rejection_reasons = list(planner.rejections.keys())
        response.rejection_counts = list(planner.rejections.values())
        response.reach_levels = list(planner.reach_levels.keys())
        response.reach_counts = list(planner.reach_levels.values())
        response.repairs = list(request.repairs)
        properties = request.grasp_object.mass_properties
        centre = apply(request.T_frame_object, properties.centre_of_mass[None])[0]
        response.mass, response.centre_of_mass = float(properties.mass), point_to_msg(centre)
        progress = planner.progress
        response.evaluated, response.total = progress.evaluated, progress.total
        miss = planner.nearest_miss
        response.hint = '' if response.status == Status.INTERNAL else planner.hint
        response.has_nearest_miss = miss is not None
        if miss is not None:
            response.nearest_miss = miss_to_msg(miss, request.T_frame_object)
        if response.status == Status.NO_GRASP and not response.message:
            response.message = response.hint

    def _set_status(self, response, session: Session, found: bool) -> None:
        done = Status.SUCCEEDED if found else Status.NO_GRASP
        response.status = _STATUS.get(session.outcome, done)
        response.message = session.message if session.outcome in (
            STAGE_MISSING, INVALID, INTERNAL) else ''
        if session.outcome == TIMED_OUT:
            judged = 'the hypotheses were still being proposed'
            if session.planner is not None:
                progress = session.planner.progress
                judged = f'{progress.evaluated} of {progress.total} were evaluated'
                if progress.evaluated >= progress.total:
                    judged += ', but the numbers of the best are not all final'
            response.message = f'time is up after {session.limit:g} s: {judged}'
        if session.failures and not response.message:
            response.message = f'some were not evaluated: {session.failures}'


def let_go(msg, plan: _Plan | None = None) -> None:
    """
    Let go of a request's mesh and cloud once it is answered, and of what was read of them.

    An action server keeps the requests of its goals until their results expire, a minute
    after their end; a mesh of half a million triangles takes 110 MB as Python's objects. The
    memory of large meshes goes back to the system, were they read or not.
    """
    large = max(len(msg.mesh.vertices), len(msg.mesh.triangles)) > LARGE_MESH
    for name in ('mesh', 'cloud'):
        if hasattr(msg, name):
            setattr(msg, name, type(getattr(msg, name))())
    if plan is not None:
        session = plan.session
        large, plan.mesh = large or plan.large, None
        session.on_progress = None      # it refers back to the plan
        session.planner = session.grasp_object = None
        request, plan.request = plan.request, None
        if request is not None and len(request.grasp_object.mesh.faces) > LARGE_MESH:
            request.grasp_object.mesh.clear_derived()      # it is held to be shown
            large = True
    return_memory(collect=large)
