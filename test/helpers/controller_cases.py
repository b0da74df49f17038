"""A controller of an arm that answers what a test tells it to, when it does."""

from concurrent.futures import Future
from types import SimpleNamespace

from action_msgs.msg import GoalStatus


class Controller:
    """An action client whose server answers what the test tells it to, when it does."""

    def __init__(self):
        self.ready, self.goals, self.ids, self.answers, self.results = True, [], [], [], []
        self.cancelled = 0

    def wait_for_server(self, _):
        return self.ready

    def server_is_ready(self):
        return self.ready

    def send_goal_async(self, goal, goal_uuid):
        self.goals.append(goal)
        self.ids.append(bytes(goal_uuid.uuid))
        self.answers.append(Future())
        return self.answers[-1]

    def accept(self, ask=-1, accepted=True):
        """Answer a question for a goal."""
        result = Future()
        self.results.append(result)
        self.answers[ask].set_result(SimpleNamespace(
            accepted=accepted, get_result_async=lambda: result, cancel_goal_async=self.cancel))

    def cancel(self):
        self.cancelled += 1

    def end(self, status=GoalStatus.STATUS_SUCCEEDED, code=0, text=''):
        """Answer the first goal that goes on with a result."""
        first = next(result for result in self.results if not result.done())
        first.set_result(SimpleNamespace(status=status, result=SimpleNamespace(
            error_code=code, error_string=text)))
