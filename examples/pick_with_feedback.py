"""
Pick an object with a running suite: ``python examples/pick_with_feedback.py apple.stl``.

Four stages in a row, as in MoveIt Task Constructor: add the object, plan grasps with feedback,
choose one, carry it out. A stage that fails ends the task and says why; a planner that is killed
meanwhile is asked again. Start the suite before: ``gripsim suite up --hardware sim``, whose ROS
domain is found, or the launch file with ``hardware:=sim``. Without a hand the last stage is left
out.
"""

import argparse
import sys
import time
import uuid

from action_msgs.msg import GoalStatus
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from unique_identifier_msgs.msg import UUID

from gripsim_ros.core.bodies import GraspObject, load_mesh
from gripsim_ros.core.errors import GripsimError
from gripsim_ros.library.in_process import find_material
from gripsim_ros.library.task_file import load_task
from gripsim_ros.ros.clients.plan import (
    STATUS_NAMES, PlanGraspClient, ServerLost, Status, plan_request)
from gripsim_ros.ros.conversions import grasp_object_to_msg
from gripsim_ros.ros.environment import join_suite, patience

#: How often a lost planner is asked again, and the pause before [s].
TRIES, PAUSE = 3, 2.0
#: How long the executor may take to be discovered, and to be silent [s].
DISCOVERY_TIMEOUT, SILENCE = 10.0 * patience(), 20.0 * patience()
#: Silence after which the executor is asked again about the same goal [s], and how often.
ASK_AGAIN, MOST_ASKS = 2.0, 4
#: How long a simulated hand may take to make the new object ready [s], and what it says meanwhile.
OBJECT_TIMEOUT, TAKES_OVER = 60.0, 'the simulated hand holds the object'
POLL_PERIOD = 0.05
PHASES = {getattr(ExecuteGrasp.Feedback, name): name.lower() for name in (
    'PRESHAPE', 'WAITING', 'CLOSING', 'HOLDING', 'LIFTING', 'RELEASING')}
RESULTS = {getattr(ExecuteGrasp.Result, name): name for name in (
    'SUCCEEDED', 'INVALID_REQUEST', 'CANCELED', 'MISSED_CONTACT', 'SLIPPED', 'JOINT_ERROR',
    'HAND_LOST', 'TIMED_OUT', 'BUSY', 'INTERNAL')}


class StageFailed(RuntimeError):
    """A stage has no solution; the message says why."""


class PickTask:
    """The stages; ``grasps`` and ``grasp`` are what they have found so far."""

    def __init__(self, client, options):
        """Take a ``PlanGraspClient`` and the options of the command line."""
        self.client, self.options = client, options
        self.grasps, self.grasp, self._publisher, self._action = [], None, None, None

    def run(self):
        """Run all stages; StageFailed, ServerLost or GripsimError ends the task."""
        for stage in (self.add_object, self.plan, self.choose, self.execute):
            print(f'{stage.__name__.replace("_", " ")}:', stage())

    def add_object(self):
        """Publish the object; whoever joins later gets it too."""
        options = self.options
        mesh = load_mesh(options.mesh, options.scale).mesh
        body = GraspObject(mesh, find_material(options.material), options.label)
        self._publisher = self.client.node.create_publisher(
            GraspObjectMsg, 'grasp_object', QoSProfile(
                depth=1, reliability=ReliabilityPolicy.RELIABLE,
                durability=DurabilityPolicy.TRANSIENT_LOCAL))
        self._publisher.publish(grasp_object_to_msg(body, options.scale))
        return f'{options.label}, {len(mesh.faces)} triangles'

    def plan(self):
        """Ask for grasps until enough are found; ask again where the planner is lost."""
        options = self.options
        task = load_task(options.task) if options.task else None
        goal = plan_request(task=task, max_hypotheses=options.hypotheses,
                            max_planning_time=options.time)
        goal.object_id = options.label
        result = self._asked(goal)
        if not result.grasps:
            raise StageFailed(f'{STATUS_NAMES[result.status]}: {result.message}')
        self.grasps = list(result.grasps)
        return (f'{STATUS_NAMES[result.status]}, {len(self.grasps)} grasps of {result.evaluated} '
                f'hypotheses in {result.planning_time:.1f} s')

    def _asked(self, goal):
        """Return the answer; a planner that started anew may not hold the object yet."""
        for attempt in range(1, TRIES + 1):
            try:
                result = self.client.plan(goal, self._on_feedback)
            except ServerLost as error:
                if attempt == TRIES:
                    raise
                print(f'  {error}: asking again')
            else:
                late = result.status == Status.INVALID_REQUEST and 'object_id' in result.message
                if attempt == TRIES or not (late or result.status == Status.BUSY):
                    return result
            time.sleep(PAUSE)

    def _on_feedback(self, feedback):
        """Tell how far planning is; False cancels it, and the best so far come back."""
        best = f', best score {feedback.best.score:.2f}' if feedback.has_best else ''
        print(f'  {feedback.evaluated} of {feedback.total} evaluated, '
              f'{feedback.stable} hold{best}')
        return not self.options.enough or feedback.stable < self.options.enough

    def choose(self):
        """Take the first grasp in the ranking that is good enough."""
        least = self.options.least_margin
        for grasp in self.grasps:
            if grasp.quantitative and grasp.margin >= least:
                self.grasp = grasp
                return (f'rank {grasp.rank}, {grasp.preshape}, holds {grasp.margin:.2f} times the '
                        f'load, at {grasp.damage_margin:.1f} times below damage')
        raise StageFailed(f'none of {len(self.grasps)} grasps is within the elastic model and '
                          f'holds {least:g} times the load')

    def execute(self):
        """Carry the grasp out, where there is a hand; Ctrl-C stops it."""
        if self.options.plan_only:
            return 'left out'
        action = ActionClient(self.client.node, ExecuteGrasp, 'execute_grasp')
        self._action = action       # it lives as long as the client's thread
        if not action.wait_for_server(DISCOVERY_TIMEOUT):
            return 'left out, no grasp_executor was found'
        goal = ExecuteGrasp.Goal(grasp=self.grasp, object_id=self.options.label,
                                 lift_height=self.options.lift, release=True)
        result, end = self._carried_out(action, goal), time.monotonic() + OBJECT_TIMEOUT
        while (result.status == ExecuteGrasp.Result.INVALID_REQUEST and TAKES_OVER in
               result.message and time.monotonic() < end):
            print(f'  {result.message}: asking again')
            time.sleep(PAUSE)
            result = self._carried_out(action, goal)
        if result.status != ExecuteGrasp.Result.SUCCEEDED:
            raise StageFailed(f'{RESULTS[result.status]}: {result.message}')
        return 'lifted and released' if result.lifted else 'held and released'

    def _carried_out(self, action, goal):
        """Return the result of a goal that was carried out, refused or failed."""
        heard, name = [time.monotonic()], UUID(uuid=list(uuid.uuid4().bytes))
        handle, asks = self._answer(action, lambda: action.send_goal_async(
            goal, lambda msg: self._on_phase(msg.feedback, heard), name), heard)
        if not handle.accepted and asks == 1:
            raise StageFailed('the executor refuses')
        try:
            answer, _ = self._answer(action, handle.get_result_async, heard)
        except KeyboardInterrupt:
            self._answer(action, handle.cancel_goal_async, [time.monotonic()])
            raise
        succeeded = answer.status == GoalStatus.STATUS_SUCCEEDED
        if succeeded != (answer.result.status == ExecuteGrasp.Result.SUCCEEDED):
            # An action that ends without a result sends an empty one, whose status is SUCCEEDED.
            raise ServerLost('grasp_executor ended without a result: look at the hand first')
        return answer.result

    def _on_phase(self, feedback, heard):
        heard[0] = time.monotonic()
        touching = ', '.join(feedback.touching_links) or 'nothing'
        print(f'  {PHASES[feedback.phase]} {100 * feedback.progress:.0f} %, touches {touching}')

    def _answer(self, action, ask, heard):
        """
        Return the answer to a question, and how often it was asked.

        Middleware may drop an answer to a client that it has just met, so after a silence it is
        asked again, about the same goal: nothing is carried out twice. ServerLost where
        nobody is there or all is silent.
        """
        futures, asked = [ask()], time.monotonic()
        while not any(future.done() for future in futures):
            now = time.monotonic()
            if not action.server_is_ready() or now - heard[0] > SILENCE:
                raise ServerLost('grasp_executor went away or is silent: look at the hand first')
            if len(futures) < MOST_ASKS and now - max(asked, heard[0]) > ASK_AGAIN:
                futures.append(ask())
                asked = now
            time.sleep(POLL_PERIOD)
        heard[0] = time.monotonic()
        return next(future.result() for future in futures if future.done()), len(futures)


def read_options(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('mesh', help='file of the object')
    parser.add_argument('--label', default='picked', help='name of the object in the suite')
    parser.add_argument('--scale', type=float, default=1.0, help='metres in one unit of the file')
    parser.add_argument('--material', default='default', help='name in the library, or a file')
    parser.add_argument('--task', help='YAML file of loads and regions')
    parser.add_argument('--hypotheses', type=int, default=0, help='at most; 0: the default')
    parser.add_argument('--time', type=float, default=0.0, help='at most [s]; 0: the default')
    parser.add_argument('--enough', type=int, default=0,
                        help='cancel planning once so many grasps hold; 0: never')
    parser.add_argument('--least-margin', type=float, default=1.0,
                        help='multiple of the loads that a grasp must hold')
    parser.add_argument('--lift', type=float, default=0.0,
                        help='height of the simulated lift [m]; 0: none')
    parser.add_argument('--plan-only', action='store_true', help='carry nothing out')
    parser.add_argument('--namespace', default='', help='of the suite')
    return parser.parse_args(arguments)


def main(arguments=None):
    """Run the task; return the exit code."""
    options = read_options(arguments)
    join_suite()
    try:
        with PlanGraspClient(namespace=options.namespace) as client:
            PickTask(client, options).run()
    except GripsimError as error:
        print(f'bad input: {error}', file=sys.stderr)
        return 2
    except (StageFailed, ServerLost) as error:
        print(f'failed: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
