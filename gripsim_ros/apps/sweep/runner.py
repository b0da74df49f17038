"""A sweep: jobs from the database to workers, outcomes from workers to the database."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import GripsimError
from ...library.database.records import Failure, StoredPlan
from ...library.database.schema import DONE, FAILED, RUNNING, WAITING
from ...library.database.store import LEASE, SweepStore
from .jobs import JobSpec, Settings, context_of, make_job
from .outcomes import Died, Engine, Outcome

#: Times that a worker may die of a job before the job counts as failed.
MOST_DEATHS = 3
#: Seconds between two looks at whether to go on.
PATIENCE = 0.5


@dataclass(eq=False)
class SweepState:
    """
    How far a sweep is.

    ``total`` jobs, of which ``done`` and ``failed`` are settled, by this run or before;
    ``planned``, ``adopted`` (the same bytes under another name) and ``grasps`` are of this
    run; ``elsewhere`` are in the hands of another program.
    """

    total: int = 0
    done: int = 0
    failed: int = 0
    planned: int = 0
    adopted: int = 0
    grasps: int = 0
    elsewhere: int = 0
    interrupted: bool = False
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)

    @property
    def objects_a_minute(self) -> float:
        """Return jobs planned in this run a minute."""
        return 60.0 * self.planned / self.seconds if self.seconds > 0.0 else 0.0


class Sweep:
    """
    One run of a sweep.

    Parameters
    ----------
    store : SweepStore
    specs : sequence of JobSpec
    settings : Settings
    retry_failed : bool
        Whether jobs that failed before are tried again.
    """

    def __init__(self, store: SweepStore, specs: Sequence[JobSpec], settings: Settings,
                 retry_failed: bool = False) -> None:
        self._store, self._settings = store, settings
        self._context = context_of(settings)
        rows = {row['key']: (row, spec) for spec in specs for row in (spec.row(self._context),)}
        store.reclaim()
        enrolled = store.enroll([row for row, _ in rows.values()])
        if retry_failed:
            store.retry_failed([number for number, _ in enrolled.values()])
            enrolled = {key: (number, WAITING if status == FAILED else status)
                        for key, (number, status) in enrolled.items()}
        self._specs = {enrolled[key][0]: spec for key, (_, spec) in rows.items()}
        self._waiting = [enrolled[key][0] for key in rows if enrolled[key][1] == WAITING]
        states = Counter(status for _, status in enrolled.values())
        self.state = SweepState(len(rows), states[DONE], states[FAILED],
                                elsewhere=states[RUNNING])
        self._deaths: Counter[int] = Counter()

    @property
    def is_over(self) -> bool:
        """Return whether there is nothing to do, so that no worker is needed."""
        return not self._waiting

    def run(self, engine: Engine, on_progress: Callable[[SweepState], bool | None] | None = None
            ) -> SweepState:
        """
        Work until every job is settled; return the state.

        Parameters
        ----------
        engine : Engine
            Within its context.
        on_progress : callable, optional
            Called about twice a second and after each job; return False to stop. What
            workers have begun is then given back.
        """
        begin = renewed = time.monotonic()
        try:
            while True:
                self.state.seconds = time.monotonic() - begin
                if on_progress is not None and on_progress(self.state) is False:
                    self.state.interrupted = True
                    break
                self._fill(engine)
                if not engine.is_busy:
                    break
                for number, outcome in engine.collect(PATIENCE):
                    self._settle(number, outcome)
                if time.monotonic() - renewed > LEASE / 5.0:
                    renewed = time.monotonic()
                    self._store.renew()
        finally:
            self._store.release()
        self.state.seconds = time.monotonic() - begin
        return self.state

    def finish(self) -> SweepState:
        """Return the state with the failures of all jobs of this sweep."""
        self.state.failures = self._store.failures(list(self._specs))
        return self.state

    def _fill(self, engine: Engine) -> None:
        """Give workers what they have room for."""
        while self._waiting and engine.has_room:
            number = self._waiting.pop(0)
            if not self._deaths[number] and not self._store.claim(number):
                self.state.elsewhere += 1
                continue
            grasps = self._store.adopt(number)
            if grasps is not None:
                self.state.adopted += 1
                self.state.done += 1
                continue
            try:
                job = make_job(self._specs[number], self._settings, self._context)
            except GripsimError as error:
                self._settle(number, Failure(str(error)))
                continue
            engine.submit(number, job)

    def _settle(self, number: int, outcome: Outcome) -> None:
        if isinstance(outcome, Died):
            self._deaths[number] += 1
            if self._deaths[number] < MOST_DEATHS:
                self._waiting.insert(0, number)
                return
            outcome = Failure(f'its worker died {MOST_DEATHS} times, last of {outcome.how}')
        if isinstance(outcome, StoredPlan):
            if self._store.finish(number, outcome):
                self.state.done += 1
                self.state.planned += 1
                self.state.grasps += len(outcome.grasps)
        elif self._store.fail(number, outcome.reason):
            self.state.failed += 1
