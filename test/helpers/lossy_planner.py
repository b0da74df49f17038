"""A planner whose messages get lost."""

import time

import rclpy
from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from rclpy.action import ActionServer
from rclpy.action.server import GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

NAMESPACE = 'lossy'
#: Shorter than in earnest, so that the tests are [s].
ASK_AGAIN, SILENCE, WORK_TIME = 0.2, 3.0, 0.3
ALWAYS = 1000
EVALUATED = 17


class LossyHandle:
    """An action server's end in the middleware that keeps some of its answers to itself."""

    def __init__(self, handle, losses):
        self._handle, self._losses = handle, losses

    def __getattr__(self, name):
        method = getattr(self._handle, name)
        if name not in self._losses:
            return method

        def lose_first(*arguments):
            if self._losses[name] <= 0:
                return method(*arguments)
            self._losses[name] -= 1
        return lose_first

    def __enter__(self):
        return self._handle.__enter__()

    def __exit__(self, *error):
        return self._handle.__exit__(*error)


class LossyPlanner:
    """Serves what `grasp_planner` does, slowly; ``runs`` counts the plans."""

    def __init__(self, context):
        self.runs, self.accepts, self.losses = 0, GoalResponse.ACCEPT, {}
        self.node = rclpy.create_node('grasp_planner', context=context, namespace=NAMESPACE)
        group = ReentrantCallbackGroup()
        self._action = ActionServer(
            self.node, PlanGrasps, 'plan_grasps', self._plan, callback_group=group,
            goal_callback=lambda goal: self.accepts)
        self._action._handle = LossyHandle(self._action._handle, self.losses)
        self.node.create_service(PlanGrasp, 'plan_grasp', lambda _, answer: answer)
        self.node.create_service(EvaluateGrasp, 'evaluate_grasp', lambda _, answer: answer)

    def _plan(self, goal_handle):
        self.runs += 1
        time.sleep(WORK_TIME)
        goal_handle.succeed()
        return PlanGrasps.Result(evaluated=EVALUATED)
