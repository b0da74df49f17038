"""
Node `grasp_planner`: serves `plan_grasp`, `plan_grasps` and `evaluate_grasp`.

It holds no stage: its questions go round the ring of the other three nodes.
"""

import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.msg import (
    Contacts, GraspObject, GraspStates, HandConfigurations, LinkStates, Material, RingHeader)
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp, ShowClosing
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.serialization import deserialize_message

from ....core.planning import Ask, GraspPlanner, PlannerOptions, RankedGrasp
from ....core.planning.options import checked_elasticity
from ....core.planning.published.planner import PublishedPlanner
from ....core.planning.ranking.robustness import judge_again
from ....library.resources import confined_resolver, material_library, resolve_uri
from ...conversions import (
    Request, RequestReader, configurations_to_msg, grasp_object_to_msg)
from ...conversions.requests.ranked import as_answered
from ...conversions.ring.answers import misfit, read_answer
from ...quality import action_server_quality, many_calls
from ..base.node_base import (
    AT_WORK, DROP_PERIOD, LATCHED_OBJECTS, LOADING, SuiteNode, config_mapping, latched,
    one_line, reliable, run)
from ..base.parameters import NodeParameter, let_change
from ..ring.stage_node import PLAN_DEPTH, ObjectStore
from . import moveit_service
from .arm_choice import ArmChoice
from .closing_shown import ClosingShow
from .dispatcher import Dispatcher
from .plan_shown import PARAMETERS as SHOWN_PARAMETERS
from .plan_shown import PlanShown
from .requests_served import RequestServer
from .sessions import STAGES, Answer, RingSettings, Session
from .stored_plans import StoredPlan, StoredPlans
from .warm_up import warm_up_planner

#: How long the action server keeps results [s]: what asks for one asks within seconds, and what is
#: kept lies scattered between the objects of large messages, whose memory cannot go back then.
RESULT_TIMEOUT = 60
#: Seconds between two looks at whether a batch is silent.
WATCH_PERIOD = 0.25
#: Configurations a batch at most where forces are asked for: one of many is worked on by one
#: stage after the other, while the other stands still.
RING_BATCH = 4
#: Callbacks beside the requests: ring, objects, cancels and answers of BUSY.
SPARE_THREADS = 4

PARAMETERS = (
    NodeParameter('materials', str, 'Library of materials; empty: config/materials.yaml.',
                  changes=True),
    NodeParameter('mesh_folders', str, 'Folders from which requests may name meshes, separated '
                  'by a colon; empty: see docs/security.md.'),
    NodeParameter('planner_config', str, 'Planner options; empty: config/planner.yaml.',
                  changes=True),
    NodeParameter('grasp_database', str, 'Grasp database to answer from first; empty: none.'),
    NodeParameter('credits', int, 'Batches out on the ring at the same time.', 1,
                  PLAN_DEPTH // 2),
    NodeParameter('max_requests', int, 'Requests at the same time, then BUSY.', 1, 64),
    NodeParameter('answer_timeout', float, 'Silence before a batch is sent again [s].',
                  0.05, 600.0),
    NodeParameter('max_attempts', int, 'Attempts before STAGE_MISSING.', 1, 20),
    NodeParameter('elasticity', str, 'Model of the object where a request names none: half_space, '
                  'auto (in two stages); empty: as planner_config says.'),
    NodeParameter('published', bool, 'Plan as the grasp paper prints it, for comparison, see '
                  'docs/model/published.md.'),
    NodeParameter('object', str, 'Mesh file or URI of an object to publish; empty: none.'),
    NodeParameter('object_scale', float, 'Factor that makes its lengths metres.', 1e-6, 1e6),
    NodeParameter('material', str, 'Its material in the library; empty: the default.'),
    NodeParameter('arm_service', str, 'Service that orders grasps by the arm, such as '
                  'choose_by_arm; empty: no arm.'),
    *SHOWN_PARAMETERS, *moveit_service.PARAMETERS)


class GraspPlannerNode(SuiteNode):
    """The planner as a node; see the module."""

    NAME = 'grasp_planner'

    def __init__(self, **kwargs) -> None:
        """Open the services and the planner's end of the ring."""
        super().__init__(self.NAME, PARAMETERS, **kwargs)
        values = self.values
        self.thread_count = values['max_requests'] + SPARE_THREADS
        self.planner_id = f'{socket.gethostname()}-{os.getpid()}'
        self.objects = ObjectStore(lambda grasp_object: grasp_object, LATCHED_OBJECTS)
        self._take(values)
        let_change(self, PARAMETERS, values, self._take)
        # What late joiners still get from here: content and label, and when it was published.
        self._published: deque = deque(maxlen=LATCHED_OBJECTS)
        self._publish_lock = threading.Lock()
        self._numbers = count(1)
        self._told_laps = (0, time.monotonic())
        self.dispatcher = Dispatcher(
            RingSettings(values['credits'], values['answer_timeout'], values['max_attempts']),
            self._send, self._send_object, self._absent_stages, on_misfit=self._on_misfit,
            on_fault=self.on_fault)
        self.arm_choice = ArmChoice(self, values['arm_service'])
        self.stored_plans = StoredPlans(self, values['grasp_database'])
        self.shown = PlanShown(self)
        self.closing = ClosingShow(self)
        self.server = RequestServer(self)
        self._open_ring()
        self._thread = threading.Thread(target=self.dispatcher.run, name='dispatcher',
                                        daemon=True)
        self._thread.start()

    def _take(self, values: Mapping[str, Any]) -> None:
        """Take options and materials for the requests that come; running ones keep theirs."""
        options = for_the_ring(PlannerOptions.from_mapping(
            config_mapping(values['planner_config'], 'planner')), values['credits'])
        elasticity = checked_elasticity(values['elasticity']) or options.elasticity
        self.reader = RequestReader(
            material_library(values['materials']), confined_resolver(values['mesh_folders']),
            lambda label: self.objects.find(label))
        self.options = replace(options, elasticity=elasticity)

    def _open_ring(self) -> None:
        depth = reliable(PLAN_DEPTH)
        self._questions = self.create_publisher(
            HandConfigurations, 'plan/hand_configurations', depth)
        self._object_publisher = self.create_publisher(
            GraspObject, 'grasp_object', latched(LATCHED_OBJECTS))
        self.create_subscription(GraspObject, 'grasp_object', self._on_object,
                                 latched(LATCHED_OBJECTS), callback_group=self.housekeeping)
        self.read_ring(GraspStates, 'plan/grasp_states', depth,
                       lambda msg, info: self._on_answer(msg))
        self._watch_group = MutuallyExclusiveCallbackGroup()
        self._watches: list = []
        self.steady_timer(WATCH_PERIOD, self._watch_or_not, self._watch_group)

    def _watch_or_not(self) -> None:
        """Listen to the stages while a batch is silent or one is missing, to know why."""
        if self.dispatcher.watching and not self._watches:
            for stage, kind, topic in ((STAGES[0], LinkStates, 'plan/link_states'),
                                       (STAGES[1], Contacts, 'plan/contacts')):
                self._watches.append(self.create_subscription(
                    kind, topic,
                    lambda data, stage=stage, kind=kind: self._on_passing(data, stage, kind),
                    reliable(PLAN_DEPTH), callback_group=self._watch_group, raw=True))
            self._watches.append(self.create_subscription(
                DiagnosticArray, '/diagnostics', self._on_diagnostics, reliable(PLAN_DEPTH),
                callback_group=self._watch_group))
        elif self._watches and not self.server.running:
            while self._watches:
                self.destroy_subscription(self._watches.pop())

    def serve(self) -> None:
        """Open the services; whoever finds them is answered."""
        group, server, quality = ReentrantCallbackGroup(), self.server, many_calls()
        self.shown.open()
        self.closing.open()
        self.create_service(ShowClosing, 'show_closing', self.closing.serve, qos_profile=quality,
                            callback_group=MutuallyExclusiveCallbackGroup())
        self.create_service(PlanGrasp, 'plan_grasp', server.plan, qos_profile=quality,
                            callback_group=group)
        self.create_service(EvaluateGrasp, 'evaluate_grasp', server.evaluate,
                            qos_profile=quality, callback_group=group)
        moveit_service.open_moveit_service(self, group)
        self._action = ActionServer(
            self, PlanGrasps, 'plan_grasps', server.plan_with_feedback, callback_group=group,
            cancel_callback=self._on_cancel, result_timeout=RESULT_TIMEOUT,
            **action_server_quality())

    def judged_again(self, grasps: list[RankedGrasp], request: Request, seed: int, end: float
                     ) -> list[RankedGrasp]:
        """
        Return an answer's grasps with their robustness; samples are drawn by the plan's seed.

        They end with the time of the request, ``end`` [s] of ``time.monotonic``; where an
        arm chooses, or the papers' rules rank as printed, there are none.
        """
        unasked = self.arm_choice.is_wanted or self.values['published']
        samples = 0 if unasked else self.options.robustness_samples
        return judge_again(grasps, request.grasp_object, self.hand, request.task, self.options,
                           samples, seed, go_on=lambda: time.monotonic() < end)

    def planner_for(self, request: Request, msg, wanted: int, is_wanted: Callable[[], bool]
                    ) -> GraspPlanner | PublishedPlanner | StoredPlan:
        """Return who plans for a request, the database first; ``wanted`` grasps at most."""
        hypotheses = int(msg.max_hypotheses) or self.options.max_hypotheses
        asked = (request.grasp_object, self.hand, request.task, self.options, int(msg.seed),
                 hypotheses, self.arm_choice.grasps_to_plan(wanted, hypotheses))
        if self.values['published']:
            return PublishedPlanner(*asked)
        return self.stored_plans.find(request, msg) or GraspPlanner(
            *asked, msg.elasticity or self.options.elasticity, is_wanted=is_wanted)

    def warm_up(self) -> None:
        """Plan grasps of a small object; publish the one of the parameters."""
        warm_up_planner(self.hand, self.options)
        if self.values['object']:
            # Who sets parameters may name any file; mesh_folders is for those who send requests.
            request = replace(self.reader, resolve_uri=resolve_uri).read(PlanGrasp.Request(
                mesh_resource=self.values['object'], scale=self.values['object_scale'],
                material=Material(name=self.values['material'])))
            for repair in request.repairs:
                self.get_logger().warning(f'{self.values["object"]}: {repair}')
            self.publish_object(request.grasp_object, request.scale)
            self.shown.show_object(request.grasp_object)

    def _on_cancel(self, goal_handle) -> CancelResponse:
        self.server.cancel(goal_handle)
        return CancelResponse.ACCEPT

    def next_request_id(self) -> str:
        """Return a name for a request that no other of this process has."""
        return f'{next(self._numbers)}'

    def publish_object(self, grasp_object, scale: float = 1.0) -> None:
        """Publish an object unless late joiners still get it, as the last under its label."""
        name = (grasp_object.id, grasp_object.label)
        with self._publish_lock:
            self.objects.add(grasp_object)
            alike = [mine for mine, *_ in self._published
                     if mine == name or (name[1] and mine[1] == name[1])]
            if alike[-1:] != [name]:
                self._publish(grasp_object, scale)

    def _publish(self, grasp_object, scale: float = 1.0) -> None:
        """Publish an object and keep when; under the lock."""
        msg = grasp_object_to_msg(grasp_object, scale)
        begin = time.time_ns()
        self._object_publisher.publish(msg)
        self._published.append(((grasp_object.id, grasp_object.label), begin, time.time_ns()))

    def show(self, grasps, answer, request: Request) -> None:
        """Keep the grasps of an answer, ``grasps`` among others, to be shown where one looks."""
        told = as_answered(grasps, answer.grasps, request.T_frame_object)
        self.closing.keep(told, request, self.shown.frame_of(request))
        self.shown.show_plan([grasp for grasp, _ in told], request, {
            'evaluated': answer.evaluated, 'planning_time': answer.planning_time,
            'hint': answer.hint})

    # -- the ring --------------------------------------------------------------------

    def _send(self, session: Session, ask: Ask, attempt: int) -> None:
        ring = RingHeader(
            stamp=self.get_clock().now().to_msg(), planner_id=self.planner_id,
            request_id=session.request_id, batch_id=ask.batch_id, attempt=attempt,
            object_id=session.grasp_object.id, hand_id=self.hand.id)
        self._questions.publish(configurations_to_msg(ask.configurations, ring))

    def _send_object(self, grasp_object) -> None:
        """Publish an object again; many others may have come since."""
        with self._publish_lock:
            self._publish(grasp_object)

    def _absent_stages(self) -> list[str]:
        topics = ('plan/link_states', 'plan/contacts', 'plan/grasp_states')
        return [stage for stage, topic in zip(STAGES, topics) if not self.count_publishers(topic)]

    def _on_object(self, msg: GraspObject, info: dict) -> None:
        """Take an object, unless it is from here: it may be old, and its label another's now."""
        name, stamp = (msg.object_id, msg.label), info['source_timestamp']
        with self._publish_lock:
            if any(name == mine and begin <= stamp <= end
                   for mine, begin, end in self._published):
                return
        try:
            self.objects.add_message(msg)
            self.shown.show_any_object(self.objects.find(msg.object_id))
        except Exception as error:
            self.report_error(f'object {msg.label!r} refused: {one_line(error)}')

    def _on_answer(self, msg: GraspStates) -> None:
        ring = msg.ring
        if ring.planner_id != self.planner_id:
            return
        states, malformed = read_answer(msg)
        self.dispatcher.answer(Answer(
            ring.request_id, ring.batch_id, ring.attempt, states,
            unknown_object=ring.status == RingHeader.UNKNOWN_OBJECT,
            preparing=ring.status == RingHeader.PREPARING,
            no_compliance=ring.status == RingHeader.NO_COMPLIANCE,
            fatal=ring.status == RingHeader.HAND_MISMATCH,
            message=f'{ring.stage}: {ring.message}', reason=ring.message,
            misfit=lambda ask, grasp_object:
                malformed or misfit(msg, ask.configurations, grasp_object.id, self.hand)))

    def _on_misfit(self, text: str) -> None:
        """Tell of an answer that is none to the question; the diagnostics count them."""
        self.last_error = f'an answer of plan/grasp_states was dropped: {text}'
        self.get_logger().warning(self.last_error, throttle_duration_sec=DROP_PERIOD,
                                  throttle_time_source_type=self.steady)

    def _on_passing(self, data: bytes, stage: str, message_type) -> None:
        """Take note how far a batch came."""
        ring = deserialize_message(data, message_type).ring
        if ring.planner_id == self.planner_id:
            self.dispatcher.reached(ring.request_id, ring.batch_id, stage)

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        """Take note that a stage is at work; silence is then no sign of its loss."""
        here = self.get_namespace().strip('/')
        for status in msg.status:
            works = any(pair.key == AT_WORK and pair.value != 'no' for pair in status.values)
            if works and status.name.rpartition('/')[0] == here:
                self.dispatcher.at_work(status.message.startswith(LOADING))

    # -- state -----------------------------------------------------------------------

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Tell what is going on, and which stages are not there."""
        absent = self._absent_stages()
        if self.arm_choice.is_absent():
            absent.append(f'the service {self.values["arm_service"]} of arm_planner')
        laps, now = self.dispatcher.laps, time.monotonic()
        rate = (laps - self._told_laps[0]) / max(now - self._told_laps[1], 1e-9)
        self._told_laps = laps, now
        values = {'requests': self.server.running, 'requests served': self.server.served,
                  'batches out': self.dispatcher.outstanding, 'laps': laps,
                  'rate [1/s]': f'{rate:.1f}', 'retries': self.dispatcher.retries,
                  'answers dropped': self.dispatcher.misfits, 'objects': len(self.objects)}
        return f'waiting for {", ".join(absent)}' if absent else '', values

    def close(self) -> None:
        """Refuse requests and end all that run."""
        super().close()
        self.closing.close()
        self.dispatcher.close()
        self._thread.join(2.0)
        self.stored_plans.close()


def for_the_ring(options: PlannerOptions, credits: int) -> PlannerOptions:
    """Return options with small batches, and enough hypotheses at a time for ``credits``."""
    return replace(options, batch_size=min(options.batch_size, RING_BATCH),
                   active_hypotheses=max(options.active_hypotheses,
                                         credits * options.batch_size))


def main(args=None) -> int:
    """Run the node."""
    return run(GraspPlannerNode, args)


if __name__ == '__main__':
    sys.exit(main())
