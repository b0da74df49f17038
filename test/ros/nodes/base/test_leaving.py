"""Who waits for a node that leaves is answered first; then ROS is shut down, once it is idle."""

import subprocess
import sys
import threading
import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from rclpy.action import ActionClient, ActionServer  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import (  # noqa: E402
    ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor)
from std_srvs.srv import Trigger  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.nodes.base.leaving import (  # noqa: E402
    end_process, leave, shut_down_when_idle)

THREADS = 3
#: How long a goal takes to end once its node leaves, and what never ends in time [s].
TAIL, LONG = 0.3, 5.0
#: Longest wait on a busy machine [s].
PATIENCE = 30.0


def spin(executor):
    try:
        executor.spin()
    except ExternalShutdownException:
        pass


class Side:
    """A node with a context and a spinning executor of its own."""

    def __init__(self, name, executor):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor = executor(self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=spin, args=(self.executor,), daemon=True)

    def close(self):
        self.context.try_shutdown()
        self.thread.join(PATIENCE)
        self.executor.shutdown()
        self.node.destroy_node()


class Leaver(Side):
    """What `leave` needs of a node; its goal asks a service of the client when it ends."""

    def __init__(self):
        super().__init__('leaver', lambda c: MultiThreadedExecutor(THREADS, context=c))
        self.thread_count, self.active = THREADS, True
        self.begun, self.ended, self.destroyed = threading.Event(), [], False
        group = ReentrantCallbackGroup()
        self.asked = self.node.create_client(Trigger, 'last_word', callback_group=group)
        self.server = ActionServer(self.node, ExecuteGrasp, 'work', self.work,
                                   callback_group=group)
        self.thread.start()

    def work(self, handle):
        self.begun.set()
        while self.active:
            time.sleep(0.01)
        time.sleep(TAIL)
        answered = threading.Event()
        self.asked.call_async(Trigger.Request()).add_done_callback(lambda _: answered.set())
        self.ended.append((answered.wait(PATIENCE), self.context.ok()))
        handle.succeed()
        return ExecuteGrasp.Result(message='ended in order')

    def close(self):
        self.active = False

    def destroy_node(self):
        self.destroyed = True
        self.server.destroy()
        self.node.destroy_node()


@pytest.fixture
def client():
    side = Side('asker', lambda c: SingleThreadedExecutor(context=c))

    def answer(_, response):
        response.success = True
        return response
    side.node.create_service(Trigger, 'last_word', answer)
    side.action = ActionClient(side.node, ExecuteGrasp, 'work')
    side.thread.start()
    yield side
    side.action.destroy()
    side.close()


def test_a_goal_under_way_is_ended_and_answered_before_ros_is_shut_down(client):
    leaver = Leaver()
    assert client.action.wait_for_server(PATIENCE)
    assert wait_for(leaver.asked.service_is_ready)
    goal = client.action.send_goal_async(ExecuteGrasp.Goal())
    assert wait_for(goal.done) and leaver.begun.wait(PATIENCE)
    result = goal.result().get_result_async()
    time.sleep(TAIL)        # for the request of the result to arrive
    leave(leaver, leaver.executor, leaver.thread)
    assert leaver.ended == [(True, True)], 'ROS ran until the goal had ended'
    assert leaver.destroyed and not leaver.context.ok() and not leaver.thread.is_alive()
    assert wait_for(result.done) and result.result().result.message == 'ended in order'


@pytest.fixture
def busy():
    """Return a side whose only callback runs for a while, and an event set when it is over."""
    side = Side('busy', lambda c: MultiThreadedExecutor(THREADS, context=c))
    begun, over, stop = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        stop.wait(side.seconds)
        time.sleep(0.0 if stop.is_set() else TAIL)
        over.set()
    side.executor.create_task(work)
    side.begun, side.over = begun, over
    yield side
    stop.set()
    side.close()


def test_ros_is_shut_down_only_when_what_runs_is_over(busy):
    busy.seconds = TAIL
    busy.thread.start()
    assert busy.begun.wait(PATIENCE) and not busy.over.is_set()
    assert shut_down_when_idle(busy.context, busy.executor, THREADS, PATIENCE)
    assert busy.over.is_set() and not busy.context.ok()


def test_what_runs_on_and_on_is_waited_for_no_longer_than_a_while(busy):
    busy.seconds = LONG
    busy.thread.start()
    assert busy.begun.wait(PATIENCE)
    assert not shut_down_when_idle(busy.context, busy.executor, THREADS, TAIL)
    assert not busy.over.is_set() and busy.context.ok()


def test_a_node_that_was_not_made_leaves_nothing():
    leave(None, None, None)


def test_a_node_process_ends_with_its_code_though_a_thread_still_computes():
    """What it registered for its exit is done, what it printed is told."""
    program = ('import atexit, sys, threading, time\n'
               'from gripsim_ros.ros.nodes.base.leaving import end_process\n'
               'threading.Thread(target=time.sleep, args=(1000.0,)).start()\n'
               'atexit.register(print, "at exit")\n'
               'sys.argv, code = [sys.argv[1]], 2\n'
               'print("returned", end_process(code))\n')
    ended = subprocess.run([sys.executable, '-c', program, 'deformation'], timeout=PATIENCE * 4,
                           capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, 'at exit\n')


def test_another_program_goes_on_after_its_node():
    assert end_process(2) == 2
