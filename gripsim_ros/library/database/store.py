"""
Writing the grasp database: jobs are enrolled, claimed, and finished or failed.

A job is claimed for a while by the program that works on it (``owner``, ``lease``). What a
killed program had claimed is claimed again: at once where its process is known to be gone,
else when the lease has run out. A result and the state of its job are written in one
transaction, under unique keys: nothing is lost and nothing comes twice.
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine, func, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from . import codec
from .records import StoredPlan, pack_mesh
from .schema import (
    DONE, FAILED, RUNNING, WAITING, DatabaseError, GraspRow, HandRow, JobRow, MeshRow, PlanRow)

#: Seconds for which a claim holds unless it is renewed.
LEASE = 300.0
#: Keys asked for in one statement.
CHUNK = 400
#: Times that a transaction is tried where another program has just written the same key.
ATTEMPTS = 3

Value = TypeVar('Value')


class SweepStore:
    """
    The database of a sweep that is under way.

    Parameters
    ----------
    engine : Engine
        See ``schema.open_database``.
    clock : callable
        Seconds since the epoch; machines that share a database agree within a minute.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self.owner = process_name()

    def enroll(self, jobs: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, str]]:
        """
        Add jobs that are not there yet; return number and state of each by its key.

        Parameters
        ----------
        jobs : iterable of mappings
            ``key, request, label, scale, material_name`` of each.
        """
        wanted = {str(job['key']): job for job in jobs}
        keys, found = list(wanted), {}
        for begin in range(0, len(keys), CHUNK):
            chunk = keys[begin:begin + CHUNK]
            found.update(self._transaction(
                lambda session, chunk=chunk: _enroll(session, chunk, wanted)))
        return found

    def reclaim(self) -> int:
        """Free the jobs of programs that are gone; return how many."""
        def free(session: Session) -> int:
            count = 0
            owners = session.scalars(select(JobRow.owner).where(
                JobRow.status == RUNNING).distinct()).all()
            for owner in owners:
                until = math.inf if is_gone(owner) else self._clock()
                count += session.execute(update(JobRow).where(
                    JobRow.status == RUNNING, JobRow.owner == owner, JobRow.lease < until).values(
                        status=WAITING, owner='')).rowcount
            return count
        return self._transaction(free)

    def retry_failed(self, numbers: Sequence[int]) -> None:
        """Let failed jobs among ``numbers`` wait for their turn again."""
        def wait(session: Session) -> None:
            for begin in range(0, len(numbers), CHUNK):
                session.execute(update(JobRow).where(
                    JobRow.id.in_(numbers[begin:begin + CHUNK]), JobRow.status == FAILED).values(
                        status=WAITING, reason=''))
        self._transaction(wait)

    def claim(self, number: int) -> bool:
        """Return whether the waiting job is now this program's."""
        return self._change(number, WAITING, status=RUNNING, owner=self.owner,
                            lease=self._clock() + LEASE)

    def renew(self) -> None:
        """Renew the lease of all jobs of this program."""
        self._transaction(lambda session: session.execute(update(JobRow).where(
            JobRow.status == RUNNING, JobRow.owner == self.owner).values(
                lease=self._clock() + LEASE)))

    def release(self) -> None:
        """Give back what this program has claimed and not finished."""
        self._transaction(lambda session: session.execute(update(JobRow).where(
            JobRow.status == RUNNING, JobRow.owner == self.owner).values(
                status=WAITING, owner='')))

    def adopt(self, number: int) -> int | None:
        """
        Finish a claimed job by the plan of another one that asked for the same bytes.

        Returns
        -------
        int or None
            The number of its grasps; None where there is no such plan.
        """
        def finish(session: Session) -> int | None:
            job = session.get_one(JobRow, number)
            plan = session.scalar(select(JobRow.plan_id).where(
                JobRow.request == job.request, JobRow.status == DONE).limit(1))
            if plan is None or not _finish(session, number, self.owner, plan):
                return None
            return session.scalar(select(func.count()).where(GraspRow.plan_id == plan))
        return self._transaction(finish)

    def finish(self, number: int, plan: StoredPlan) -> bool:
        """
        Store a plan and finish its job, or neither.

        Returns
        -------
        bool
            Whether it was stored; not so where the job has become another program's.
        """
        def write(session: Session) -> bool:
            if not _finish(session, number, self.owner, None):
                return False
            row = session.scalar(select(PlanRow).where(PlanRow.key == plan.key))
            if row is None:
                row = _plan_row(session, plan)
                session.add(row)
                session.flush()
            session.execute(update(JobRow).where(JobRow.id == number).values(plan_id=row.id))
            return True
        return self._transaction(write)

    def fail(self, number: int, reason: str) -> bool:
        """Record why a claimed job has failed."""
        return self._change(number, RUNNING, self.owner, status=FAILED, owner='', reason=reason)

    def failures(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Return object, material, scale and reason of each failed job, by label."""
        with self._session() as session:
            wanted = set(numbers)
            rows = [row for row in session.scalars(select(JobRow).where(JobRow.status == FAILED))
                    if row.id in wanted]
            return [{'object': row.label, 'material': row.material_name, 'scale': row.scale,
                     'reason': row.reason}
                    for row in sorted(rows, key=lambda r: (r.label, r.material_name, r.scale))]

    def _change(self, number: int, before: str, of: str | None = None, **values: Any) -> bool:
        def change(session: Session) -> bool:
            statement = update(JobRow).where(JobRow.id == number, JobRow.status == before)
            if of is not None:
                statement = statement.where(JobRow.owner == of)
            return bool(session.execute(statement.values(**values)).rowcount)
        return self._transaction(change)

    def _session(self) -> Session:
        return Session(self._engine)

    def _transaction(self, work: Callable[[Session], Value]) -> Value:
        """Return what ``work`` returns in one transaction."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._session() as session, session.begin():
                    return work(session)
            except IntegrityError as error:
                if attempt == ATTEMPTS:
                    raise DatabaseError(f'database: {_line(error)}') from error
            except SQLAlchemyError as error:
                raise DatabaseError(f'database: {_line(error)}') from error
        raise AssertionError('unreachable')


def process_name() -> str:
    """Return a name that no other process has: machine, its start, process, its start."""
    return ':'.join([socket.gethostname(), _boot(), str(os.getpid()), _start(os.getpid()) or ''])


def is_gone(owner: str) -> bool:
    """Return whether a process of this machine has ended; False where that is not known."""
    host, boot, process, start = (owner.rsplit(':', 3) + ['', '', ''])[:4]
    here = host == socket.gethostname() and boot == _boot() != ''
    return here and process.isdigit() and _start(int(process)) != start


@lru_cache(maxsize=1)
def _boot() -> str:
    """Return what changes with every start of the machine, and between its containers."""
    try:
        boot = Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
        return f'{boot}-{os.readlink("/proc/self/ns/pid")}'.replace(':', '')
    except OSError:
        return ''


def _start(process: int) -> str | None:
    """Return when a process began, in ticks of the kernel; None where there is none."""
    try:
        text = Path(f'/proc/{process}/stat').read_text(encoding='utf-8')
    except OSError:
        return None
    return text.rpartition(')')[2].split()[19]


def _enroll(session: Session, keys: Sequence[str], jobs: Mapping[str, Mapping[str, Any]]
            ) -> dict[str, tuple[int, str]]:
    columns = select(JobRow.key, JobRow.id, JobRow.status).where(JobRow.key.in_(keys))
    known = {key for key, _, _ in session.execute(columns)}
    session.add_all(JobRow(**jobs[key]) for key in keys if key not in known)
    session.flush()
    return {key: (number, status) for key, number, status in session.execute(columns)}


def _finish(session: Session, number: int, owner: str, plan: int | None) -> bool:
    return bool(session.execute(update(JobRow).where(
        JobRow.id == number, JobRow.owner == owner, JobRow.status == RUNNING).values(
            status=DONE, owner='', reason='', plan_id=plan)).rowcount)


def _plan_row(session: Session, plan: StoredPlan) -> PlanRow:
    mesh, hand = plan.grasp_object.mesh, plan.hand
    if session.get(MeshRow, mesh.content_hash) is None:
        vertices, faces = pack_mesh(mesh)
        session.add(MeshRow(hash=mesh.content_hash, vertices=vertices, faces=faces))
    if session.get(HandRow, hand.id) is None:
        session.add(HandRow(id=hand.id, name=hand.name, base_link=hand.base_link,
                            joint_names=codec.dump(hand.joint_names)))
    session.flush()
    return PlanRow(
        key=plan.key, object_id=plan.grasp_object.id, mesh_hash=mesh.content_hash,
        hand_id=hand.id, material=codec.dump(plan.grasp_object.material), version=plan.version,
        settings=plan.settings, summary=codec.dump(plan.summary),
        grasps=[GraspRow(rank=grasp.rank, preshape=grasp.preshape, score=_number(grasp.score),
                         margin=_number(grasp.margin), content=codec.dump(grasp))
                for grasp in plan.grasps])


def _number(value: float) -> float | None:
    """Return a number as every database takes it; NaN is null."""
    return None if math.isnan(value) else float(value)


def _line(error: SQLAlchemyError) -> str:
    return ' '.join(str(getattr(error, 'orig', None) or error).split())[:300]
