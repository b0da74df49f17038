"""
Workers of a sweep on this machine: processes that plan one object after the other.

They come from a server process that has imported the program and has neither threads nor
connections, so what this process has open is not shared with them. They only compute; the
database belongs to the process that gives them jobs. One that dies, by want of memory or by
a signal, costs its job one attempt and is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from types import TracebackType

from .jobs import Job, plan_job
from .outcomes import Died, Outcome

#: Imported once for all workers, which are forked from there.
PRELOADED = ['gripsim_ros.apps.sweep.jobs', 'gripsim_ros.apps.sweep.warm']
#: Kernels and libraries of a worker compute in one thread: there is a worker a core.
ONE_THREAD = ('NUMBA_NUM_THREADS', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS')


@dataclass(eq=False)
class _Worker:
    process: ForkServerProcess
    connection: Connection
    number: int | None = None


class LocalEngine:
    """
    A context with ``count`` worker processes.

    Parameters
    ----------
    count : int
        At least 1.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._workers: list[_Worker] = []

    def __enter__(self) -> LocalEngine:
        """Start the workers."""
        self._context = multiprocessing.get_context('forkserver')
        self._context.set_forkserver_preload(PRELOADED)
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(dict.fromkeys(ONE_THREAD, '1'))
        try:
            self._workers = [self._start() for _ in range(self._count)]
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the workers; what they still compute is lost."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers = []

    @property
    def has_room(self) -> bool:
        """Return whether a worker waits for a job."""
        return any(worker.number is None for worker in self._workers)

    @property
    def is_busy(self) -> bool:
        """Return whether an answer is still to come."""
        return any(worker.number is not None for worker in self._workers)

    @property
    def process_ids(self) -> list[int]:
        """Return the process of each worker."""
        return [worker.process.pid or 0 for worker in self._workers]

    def submit(self, number: int, job: Job) -> None:
        """Give a job to a waiting worker."""
        worker = next(worker for worker in self._workers if worker.number is None)
        worker.number = number
        try:
            worker.connection.send(job)
        except OSError:
            pass    # it died; ``collect`` sees that

    def collect(self, patience: float) -> list[tuple[int, Outcome]]:
        """Return number and outcome of jobs that have ended, after at most ``patience`` [s]."""
        outcomes: list[tuple[int, Outcome]] = []
        ready = wait([worker.connection for worker in self._workers], patience)
        for worker in [worker for worker in self._workers if worker.connection in ready]:
            outcome: Outcome
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                outcome = Died(self._replace(worker))
            if worker.number is not None:
                outcomes.append((worker.number, outcome))
            worker.number = None
        return outcomes

    def _start(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(there,), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def _replace(self, worker: _Worker) -> str:
        """Start another worker instead of a dead one; return what that died of."""
        worker.connection.close()
        worker.process.join()
        code = worker.process.exitcode or 0
        self._workers[self._workers.index(worker)] = self._start()
        return f'signal {-code}' if code < 0 else f'exit code {code}'


def _serve(connection: Connection) -> None:
    """Answer jobs until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            connection.send(plan_job(job))
        except OSError:
            return
