"""
The stages in worker processes, so that planning in one program uses every core.

Workers are forked from the program that has loaded kernels and prepared hand and object, so
they start at once and share its memory. They only compute: they print nothing and write nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from types import TracebackType

from .core.batches import ConfigurationBatch, GraspStateBatch
from .core.pipeline import Pipeline, run
from .core.planning import GraspEvaluator, GraspPlanner, Progress

#: Seconds between two looks at the budget while workers compute.
PATIENCE = 0.1
#: Workers at most, unless more are asked for.
MOST_WORKERS = 8


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def worker_count(wanted: int) -> int:
    """
    Return how many workers to use.

    One, that is none beside this process, where it already has threads: what they lock
    would stay locked in a forked process.
    """
    if wanted == 1 or 'fork' not in multiprocessing.get_all_start_methods():
        return 1
    if threading.active_count() > 1:
        return 1
    return wanted or min(available_cores(), MOST_WORKERS)


class Workers:
    """
    A context with ``count`` processes that evaluate batches.

    Parameters
    ----------
    pipeline : Pipeline
        Prepared; each worker has a copy of its own.
    count : int
    """

    def __init__(self, pipeline: Pipeline, count: int) -> None:
        self._pipeline, self._count = pipeline, count
        self._processes: list[multiprocessing.Process] = []
        self._idle: list[Connection] = []
        self._busy: dict[Connection, tuple[int, ConfigurationBatch]] = {}

    def __enter__(self) -> Workers:
        """Fork the workers."""
        context = multiprocessing.get_context('fork')
        ours: list[Connection] = []
        for _ in range(self._count):
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_serve, args=(there, list(ours), self._pipeline),
                                      daemon=True)
            process.start()
            there.close()
            self._processes.append(process)
            self._idle.append(here)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the workers; what they still compute is lost."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for connection in [*self._idle, *self._busy]:
            connection.close()

    @property
    def has_idle(self) -> bool:
        """Return whether a worker waits for a batch."""
        return bool(self._idle)

    @property
    def is_busy(self) -> bool:
        """Return whether an answer is still to come."""
        return bool(self._busy)

    def submit(self, batch_id: int, configurations: ConfigurationBatch) -> None:
        """Give a batch to an idle worker."""
        connection = self._idle.pop()
        self._busy[connection] = batch_id, configurations
        try:
            connection.send(configurations)
        except OSError:
            pass  # it died; ``collect`` sees that

    def collect(self, patience: float = PATIENCE) -> list[tuple[int, GraspStateBatch]]:
        """
        Return the answers that have come, after at most ``patience`` seconds.

        A batch whose worker died, say for want of memory, is evaluated here.
        """
        answers = []
        for connection in wait(list(self._busy), patience):
            batch_id, configurations = self._busy.pop(connection)
            try:
                answer = connection.recv()
                self._idle.append(connection)
            except (EOFError, OSError):
                connection.close()
                answer = self._pipeline.evaluate(configurations)
            if isinstance(answer, BaseException):
                raise answer
            answers.append((batch_id, answer))
        return sorted(answers, key=lambda item: item[0])

    @property
    def is_alone(self) -> bool:
        """Return whether no worker is left."""
        return not (self._idle or self._busy)


def _serve(connection: Connection, inherited: list[Connection], pipeline: Pipeline) -> None:
    """Answer batches until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        other.close()
    while True:
        try:
            configurations = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = pipeline.evaluate(configurations)
        except Exception as error:  # told to the program, which raises it
            answer = error
        connection.send(answer)


def run_with_workers(planner: GraspPlanner | GraspEvaluator, pipeline: Pipeline,
                     on_progress: Callable[[Progress], bool | None] | None, count: int) -> bool:
    """
    Do as ``core.pipeline.run`` does, with the stages in ``count`` processes.

    Parameters
    ----------
    planner : GraspPlanner or GraspEvaluator
    pipeline : Pipeline
    on_progress : callable, optional
        Called with ``Progress`` after each answer, and while none comes.
    count : int

    Returns
    -------
    bool
        Whether ``on_progress`` ended it.
    """
    if count == 1:
        return run(planner, pipeline, on_progress)
    with Workers(pipeline, count) as workers:
        stopped = _carry(planner, workers, on_progress)
        if not workers.is_alone:
            return stopped
    return run(planner, pipeline, on_progress) or stopped


def _carry(planner: GraspPlanner | GraspEvaluator, workers: Workers,
           on_progress: Callable[[Progress], bool | None] | None) -> bool:
    stopped = False
    while not (planner.finished or workers.is_alone):
        while workers.has_idle:
            ask = planner.ask()
            if ask is None:
                break
            workers.submit(ask.batch_id, ask.configurations)
        if not workers.is_busy:
            break
        for batch_id, states in workers.collect():
            planner.tell(batch_id, states)
        go_on = on_progress is None or on_progress(planner.progress) is not False
        if not go_on and not stopped:
            planner.stop()
            stopped = True
    return stopped
