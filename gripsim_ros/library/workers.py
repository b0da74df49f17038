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
from typing import Any

from ..core.batches import ConfigurationBatch, GraspStateBatch
from ..core.pipeline import Stages, Watch, group_size, run
from ..core.planning import AskAndTell, GraspPlanner, Progress
from ..core.planning.closing.batching import run_closings
from ..core.planning.closing.knowledge import ClosingKnowledge
from ..core.planning.closing.limits import ScoreThreshold
from ..core.planning.planar_closing.prospects import Prospect
from ..core.planning.task import check_counts

#: A batch to be evaluated, hypotheses to be closed: their numbers and bars, or such of which the
#: prospects are to be found: their numbers.
Job = ConfigurationBatch | dict[int, ScoreThreshold] | list[int]
#: Its answer.
Answer = GraspStateBatch | dict[int, ClosingKnowledge] | dict[int, Prospect]

#: Numbers of jobs that are no batch.
CLOSINGS, PROSPECTS = -1, -2
#: Prospects found in one job: a hundredth of a second.
SOUGHT = 12
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

    Raises
    ------
    TaskError
        ``wanted`` is negative or no whole number.
    """
    check_counts(workers=wanted)
    if wanted == 1 or 'fork' not in multiprocessing.get_all_start_methods():
        return 1
    if threading.active_count() > 1:
        return 1
    return wanted or min(available_cores(), MOST_WORKERS)


class Workers:
    """
    A context with ``count`` processes that evaluate batches and close hypotheses.

    Parameters
    ----------
    pipeline : Pipeline or PublishedPipeline
        Prepared; each worker has a copy of its own.
    count : int
    planner : GraspPlanner, optional
        Whose hypotheses are closed; each worker has a copy of its own of it, too.
    """

    def __init__(self, pipeline: Stages, count: int,
                 planner: GraspPlanner | None = None) -> None:
        self._pipeline, self._count, self._planner = pipeline, count, planner
        self._processes: list[multiprocessing.Process] = []
        self._idle: list[Connection] = []
        self._busy: dict[Connection, tuple[int, Job]] = {}

    def __enter__(self) -> Workers:
        """Fork the workers."""
        context = multiprocessing.get_context('fork')
        ours: list[Connection] = []
        for _ in range(self._count):
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_serve, daemon=True,
                                      args=(there, list(ours), self._answer))
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

    def submit(self, number: int, job: Job) -> None:
        """Give a job to an idle worker."""
        connection = self._idle.pop()
        self._busy[connection] = number, job
        try:
            connection.send(job)
        except OSError:
            pass  # it died; ``collect`` sees that

    def collect(self, patience: float = PATIENCE) -> list[tuple[int, Answer]]:
        """
        Return the answers that have come, after at most ``patience`` seconds.

        A job whose worker died, say for want of memory, is done here.
        """
        answers = []
        for connection in wait(list(self._busy), patience):
            number, job = self._busy.pop(connection)
            try:
                answer = connection.recv()
                self._idle.append(connection)
            except (EOFError, OSError):
                connection.close()
                answer = self._answer(job)
            if isinstance(answer, BaseException):
                raise answer
            answers.append((number, answer))
        return sorted(answers, key=lambda item: item[0])

    @property
    def is_alone(self) -> bool:
        """Return whether no worker is left."""
        return not (self._idle or self._busy)

    def _answer(self, job: Job) -> Answer:
        """Do a job in whatever process this is."""
        if isinstance(job, ConfigurationBatch):
            return self._pipeline.evaluate(job)
        if isinstance(job, list):
            return self._planner.foretell(job)
        closings = self._planner.hypotheses(job)
        return run_closings(closings, self._planner, self._pipeline.evaluate)


def _serve(connection: Connection, inherited: list[Connection],
           answer_to: Callable[[Job], Answer]) -> None:
    """Do jobs until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        other.close()
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = answer_to(job)
        except Exception as error:  # told to the program, which raises it
            answer = error
        connection.send(answer)


def run_with_workers(planner: AskAndTell, pipeline: Stages,
                     on_progress: Callable[[Progress], bool | None] | None, count: int) -> bool:
    """
    Do as ``core.pipeline.run`` does, with the stages in ``count`` processes.

    Parameters
    ----------
    planner : GraspPlanner, GraspEvaluator or PublishedPlanner
    pipeline : Pipeline or PublishedPipeline
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
    watch = Watch(planner, on_progress)
    with Workers(pipeline, count, planner) as workers:
        while not (planner.finished or workers.is_alone):
            _hand_out(planner, workers)
            if not workers.is_busy:
                break
            for number, answer in workers.collect():
                _take(planner, number, answer)
            watch.stop_if_told()
        if not workers.is_alone:
            return watch.told_to_stop
    return run(planner, pipeline, on_progress) or watch.told_to_stop


def _take(planner: AskAndTell, number: int, answer: Any) -> None:
    """Give the planner the answer to a job."""
    if number == CLOSINGS:
        planner.end(answer)
    elif number == PROSPECTS:
        planner.learn(answer)
    else:
        planner.tell(number, answer)


def _hand_out(planner: AskAndTell, workers: Workers) -> None:
    """Give each idle worker hypotheses, or where none are left a question."""
    while workers.has_idle:
        if sought := planner.seek(SOUGHT):
            workers.submit(PROSPECTS, sought)
            continue
        closings = planner.begin(group_size(planner))
        if closings:
            workers.submit(CLOSINGS, {c.hypothesis.number: c.threshold for c in closings})
            continue
        ask = planner.ask()
        if ask is None:
            return
        workers.submit(ask.batch_id, ask.configurations)
