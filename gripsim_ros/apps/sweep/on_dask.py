"""Workers of a sweep on many machines, by the engine that Dask distributed is."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ...core.errors import GripsimError
from .jobs import Job, plan_job
from .outcomes import Died, Outcome

#: Jobs out for each thread of the workers, so that none waits for this process.
JOBS_A_THREAD = 2
#: Seconds that the scheduler may take to answer.
TIMEOUT = 10.0


class DaskEngine:
    """
    A context with the workers of a Dask scheduler.

    Each job travels with the bytes of its mesh; a worker needs this package, not the files
    nor the database. Dask gives the jobs of a lost worker to another one.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    GripsimError
        Dask is not installed, or there is no scheduler.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise GripsimError('sweeping on many machines needs Dask: install gripsim_ros[dask], '
                               f'or `pip install distributed` ({error})') from None
        self._dask: Any = distributed
        self._address = address
        self._jobs: dict[Any, int] = {}

    def __enter__(self) -> DaskEngine:
        """Connect."""
        try:
            self._client = self._dask.Client(self._address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise GripsimError(f'no Dask scheduler answers at {self._address}: '
                               f'{" ".join(str(error).split())[:200]}') from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Cancel what is not done, and disconnect."""
        if self._jobs:
            self._client.cancel(list(self._jobs), force=True)
        self._jobs = {}
        self._client.close()

    @property
    def has_room(self) -> bool:
        """Return whether the workers there are now have few jobs."""
        return len(self._jobs) < JOBS_A_THREAD * max(1, sum(self._client.nthreads().values()))

    @property
    def is_busy(self) -> bool:
        """Return whether an answer is still to come."""
        return bool(self._jobs)

    def submit(self, number: int, job: Job) -> None:
        """Let a worker do a job."""
        self._jobs[self._client.submit(plan_job, job, pure=False)] = number

    def collect(self, patience: float) -> list[tuple[int, Outcome]]:
        """Return number and outcome of jobs that have ended, after at most ``patience`` [s]."""
        if self._jobs:
            try:
                with self._client.as_current():
                    self._dask.wait(list(self._jobs), patience, return_when='FIRST_COMPLETED')
            except self._dask.TimeoutError:
                return []
        done = [future for future in self._jobs if future.done()]
        return [(self._jobs.pop(future), self._outcome(future)) for future in done]

    def _outcome(self, future: Any) -> Outcome:
        try:
            outcome: Outcome = future.result(timeout=TIMEOUT)
        except Exception as error:  # a worker killed too often, a lost connection
            return Died(f'{type(error).__name__}: {" ".join(str(error).split())}'[:300])
        return outcome
