"""What becomes of a job, and what an engine that works on jobs can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...library.database.records import Failure, StoredPlan
from .jobs import Job


@dataclass(frozen=True, eq=False)
class Died:
    """The worker of a job ended without an answer; ``how`` says by what."""

    how: str


Outcome = StoredPlan | Failure | Died


class Engine(Protocol):
    """Workers somewhere: on this machine (``local``) or on many (``on_dask``)."""

    @property
    def has_room(self) -> bool:
        """Return whether another job may be submitted."""

    @property
    def is_busy(self) -> bool:
        """Return whether an answer is still to come."""

    def submit(self, number: int, job: Job) -> None:
        """Let a worker do a job."""

    def collect(self, patience: float) -> list[tuple[int, Outcome]]:
        """Return number and outcome of jobs that have ended, after at most ``patience`` [s]."""
