"""Let a running `grasp_executor` carry out a grasp, or palpate, from plain Python."""

import time
import uuid
from collections.abc import Callable, Iterable

from action_msgs.msg import GoalStatus
from gripsim_interfaces.action import ExecuteGrasp, Palpate
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from std_srvs.srv import Trigger
from unique_identifier_msgs.msg import UUID

from ..environment import patience
from ..nodes.base.action_client import PromptActionClient
from ..quality import action_client_quality
from .connection import Connection
from .plan import ASK_AGAIN, DISCOVERY_TIMEOUT, MOST_ASKS, POLL_PERIOD, ServerLost

#: Seconds of silence after which an executor that owes a result is taken for lost: it may wait
#: as long for services of the hand, and tells nothing meanwhile.
SILENCE = 20.0 * patience()

Result, Feedback = ExecuteGrasp.Result, ExecuteGrasp.Feedback
#: Names of the status codes, and of the phases.
RESULT_NAMES = {getattr(Result, name): name for name in (
    'SUCCEEDED', 'INVALID_REQUEST', 'CANCELED', 'MISSED_CONTACT', 'SLIPPED', 'JOINT_ERROR',
    'HAND_LOST', 'TIMED_OUT', 'BUSY', 'INTERNAL', 'CANNOT_HOLD')}
PHASE_NAMES = {getattr(Feedback, name): name for name in (
    'PRESHAPE', 'WAITING', 'CLOSING', 'HOLDING', 'LIFTING', 'RELEASING', 'CARRYING',
    'SETTING_DOWN', 'RETREATING', 'REACHING', 'APPROACHING', 'LOADING')}
PHASE_NAMES[Palpate.Feedback.PREPARING] = 'PREPARING'


class ExecuteGraspClient(Connection):
    """
    A connection to the actions `execute_grasp` and `palpate`, and to the service `go`.

    It has a ROS context and a thread of its own. Use it in a ``with`` statement.
    """

    def __init__(self, namespace: str = '', node_name: str = 'gripsim_execute') -> None:
        """Connect; nothing is waited for yet."""
        super().__init__(namespace, node_name)
        self._action = PromptActionClient(self.node, ExecuteGrasp, 'execute_grasp',
                                          callback_group=self.group, **action_client_quality())
        self._palpating = PromptActionClient(self.node, Palpate, 'palpate',
                                             callback_group=self.group, **action_client_quality())
        self._go = self.node.create_client(Trigger, 'go', callback_group=self.group)
        self._listen()

    def publish_object(self, message: GraspObjectMsg) -> None:
        """Publish an object for whoever listens, and who comes later, while the client lives."""
        from ..nodes.base.node_base import latched
        self._objects = self.node.create_publisher(GraspObjectMsg, 'grasp_object', latched(1))
        self._objects.publish(message)

    def server_is_ready(self) -> bool:
        """Return whether an executor has been discovered."""
        return self._action.server_is_ready()

    def go(self) -> None:
        """Let a grasp that waits for it close."""
        self._go.call_async(Trigger.Request())

    def execute(self, goal: ExecuteGrasp.Goal,
                on_feedback: Callable[[ExecuteGrasp.Feedback], object] = lambda _: None,
                cancelled: Callable[[], bool] = lambda: False) -> ExecuteGrasp.Result:
        """
        Carry a grasp out, and return the result whatever its status.

        Where the acknowledgement or the result does not come, the executor is asked again under
        the same id; no grasp is carried out twice.

        Parameters
        ----------
        goal : ExecuteGrasp.Goal
        on_feedback : callable
            Called from this thread.
        cancelled : callable
            Asked all the time; once it returns True the executor is told to cancel, which stops
            the hand at once.

        Raises
        ------
        ServerLost
            The executor is not there, went away, did not accept, or stays silent.
        """
        return self._carry_out(self._action, goal, on_feedback, cancelled)

    def execute_in_turn(self, goals: Iterable[ExecuteGrasp.Goal],
                        on_feedback: Callable[[ExecuteGrasp.Feedback], object] = lambda _: None,
                        cancelled: Callable[[], bool] = lambda: False
                        ) -> list[ExecuteGrasp.Result]:
        """
        Carry grasps out until one does not miss a contact; return the results so far, 1 at least.

        For goals whose ``missed_contact`` is replan, from the best on: a grasp that misses a
        contact has let go and drawn back, and the next is tried. Parameters as of ``execute``.
        """
        results: list[ExecuteGrasp.Result] = []
        for goal in goals:
            results.append(self.execute(goal, on_feedback, cancelled))
            if results[-1].status != Result.MISSED_CONTACT or cancelled():
                break
        return results

    def palpate(self, goal: Palpate.Goal,
                on_feedback: Callable[[Palpate.Feedback], object] = lambda _: None,
                cancelled: Callable[[], bool] = lambda: False) -> Palpate.Result:
        """Squeeze an object gently, and return what was felt; parameters as of ``execute``."""
        return self._carry_out(self._palpating, goal, on_feedback, cancelled)

    def _carry_out(self, action: PromptActionClient, goal, on_feedback: Callable,
                   cancelled: Callable[[], bool]):
        self._wait(action.server_is_ready, time.monotonic() + DISCOVERY_TIMEOUT,
                   'no grasp_executor was found: is a suite with a hand up (`gripsim suite up '
                   '--hardware sim|real`), and in this ROS domain?')
        heard, news, name = [time.monotonic()], [], UUID(uuid=list(uuid.uuid4().bytes))

        def listen(message) -> None:
            heard[0] = time.monotonic()
            news.append(message.feedback)

        handle, asks = self._ask(action, lambda: action.send_goal_async(goal, listen, name),
                                 heard)
        if not handle.accepted and asks == 1:
            raise ServerLost('the executor did not accept the grasp')
        told = False

        def meanwhile() -> None:
            nonlocal told
            while news:
                on_feedback(news.pop(0))
            if cancelled() and not told:
                handle.cancel_goal_async()
                told = True

        response, _ = self._ask(action, handle.get_result_async, heard, meanwhile)
        if response.status == GoalStatus.STATUS_UNKNOWN:
            raise ServerLost('the executor does not know the grasp any more')
        succeeded = response.status == GoalStatus.STATUS_SUCCEEDED
        if succeeded != (response.result.status == Result.SUCCEEDED):   # also that of no result
            raise ServerLost(f'the executor ended without a result (goal status '
                             f'{response.status})')
        return response.result

    def _ask(self, action: PromptActionClient, ask: Callable, heard: list[float],
             meanwhile: Callable[[], None] = lambda: None):
        """Return the first answer to a question, and how often it was asked."""
        futures, asked = [ask()], time.monotonic()
        while not any(future.done() for future in futures):
            meanwhile()
            now = time.monotonic()
            if not action.server_is_ready():
                raise ServerLost('the executor went away: nobody knows what the hand does')
            if now - max(asked, heard[0]) > SILENCE:
                raise ServerLost(f'the executor was silent for {SILENCE:g} s')
            if len(futures) < MOST_ASKS and now - max(asked, heard[0]) > ASK_AGAIN:
                futures.append(ask())
                asked = now
            time.sleep(POLL_PERIOD)
        meanwhile()
        return next(f.result() for f in futures if f.done()), len(futures)

    @staticmethod
    def _wait(condition: Callable[[], bool], end: float, text: str) -> None:
        while not condition():
            if time.monotonic() > end:
                raise ServerLost(text)
            time.sleep(POLL_PERIOD)
