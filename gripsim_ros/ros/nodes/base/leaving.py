"""
How a node leaves: what it does ends, who waits is answered, and only then ROS is shut down.

Where ROS is shut down first, as rclpy's own handler of signals does it, threads publish into
nothing, which fills the log with errors, and clients are left without an answer.
"""

import atexit
import os
import sys
import threading
import time

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor

from .interrupts import is_node_process

#: Seconds given to callbacks that still run, before and after ROS is shut down.
SHUTDOWN_TIMEOUT = 1.0
#: Seconds that all threads of an executor wait for each other at a time, and between two times:
#: what still runs may need one of them for an answer.
MEETING, PAUSE = 0.05, 0.02


def leave(node, executor: Executor | None, spinning: threading.Thread | None) -> None:
    """
    End what a node does, shut ROS down and close what was opened.

    Parameters
    ----------
    node : SuiteNode or None
        As far as it came; closed, it refuses what is asked.
    executor : Executor or None
        Has the node's ``thread_count`` threads.
    spinning : threading.Thread or None
        In which the executor spins.
    """
    if node is not None:
        node.close()
        if executor is not None and spinning is not None and spinning.is_alive():
            shut_down_when_idle(node.context, executor, node.thread_count)
    rclpy.try_shutdown()
    if spinning is not None:
        spinning.join(SHUTDOWN_TIMEOUT)
    if node is not None:
        if executor is not None:
            executor.shutdown(SHUTDOWN_TIMEOUT)
        node.destroy_node()


def shut_down_when_idle(context: Context, executor: Executor, threads: int,
                        timeout: float = SHUTDOWN_TIMEOUT) -> bool:
    """
    Shut ROS down in a moment in which a spinning executor carries no callback out.

    Its threads meet twice, since the result of an action's goal is sent by a callback that comes
    after the goal's own; at the second time ROS is shut down before they part.

    Parameters
    ----------
    context : rclpy.context.Context
    executor : rclpy.executors.Executor
        It spins, and goes on.
    threads : int
        How many it has.
    timeout : float
        Longest wait for the callbacks that run [s].

    Returns
    -------
    bool
        Whether there was such a moment; else ROS is not shut down.
    """
    end = time.monotonic() + timeout
    return (_meet(executor, threads, end, lambda: None)
            and _meet(executor, threads, end, context.try_shutdown))


def _meet(executor: Executor, threads: int, end: float, act) -> bool:
    """Act when all threads of an executor are free at once; return whether they were in time."""
    while time.monotonic() < end:
        meeting, met = threading.Barrier(threads, act), threading.Event()
        for _ in range(threads):
            executor.create_task(_wait, meeting, met)
        if met.wait(2.0 * MEETING):
            return True
        time.sleep(PAUSE)
    return False


def _wait(meeting: threading.Barrier, met: threading.Event) -> None:
    """Be at a meeting, and note that it took place."""
    try:
        meeting.wait(MEETING)
    except threading.BrokenBarrierError:
        return
    met.set()


def end_process(code: int) -> int:
    """
    End this node's process with ``code``; in another program's process, return it.

    The interpreter is not taken apart, which takes a third of a second of a core for each node
    and waits for threads that still compute: on a machine with much to do, longer than launch
    waits before it kills. What is registered to be done at exit is done.
    """
    if is_node_process():
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
