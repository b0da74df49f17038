"""``gripsim sweep``: plan for a folder of objects into a grasp database."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import count, positive, real_number, whole_number
from .inputs import InputError, existing_file, read_hand, read_material
from .options import MOST_WORKERS, Hand, Json, Out, TaskFile
from .output import check_writable, print_table, say, write_json
from .progress import PLAIN_INTERVAL

if TYPE_CHECKING:
    from ...core.planning.task import Task
    from ..sweep.runner import Sweep, SweepState

#: The database where none is named, in the current folder.
DEFAULT_DATABASE = 'grasps.db'
#: Failures shown in the table; all are in the JSON.
MOST_SHOWN = 20

Database = Annotated[str, typer.Option(
    '--database', metavar='FILE|URL', help='SQLite file, or a URL such as postgresql://…')]


def sweep(
        folders: Annotated[list[Path], typer.Argument(
            metavar='DIR…', help='Folders of mesh files, with all below; or files.')],
        database: Database = DEFAULT_DATABASE,
        materials: Annotated[list[str] | None, typer.Option(
            '--material', metavar='NAME|FILE', help='One or more; give it several times.')] = None,
        scales: Annotated[list[float] | None, typer.Option(
            '--scale', parser=real_number, metavar='S', show_default='1',
            help='Factors to metres, one or more.')] = None,
        task: TaskFile = None,
        count_: Annotated[int | None, typer.Option(
            '--count', parser=whole_number, metavar='N', show_default='10',
            help='Most grasps kept of an object.')] = None,
        hypotheses: Annotated[int | None, typer.Option(
            '--hypotheses', parser=whole_number, metavar='N',
            help='Most hypotheses judged of an object.')] = None,
        limit: Annotated[float | None, typer.Option(
            '--time', parser=real_number, metavar='SECONDS', show_default='600',
            help='An object that takes longer has failed.')] = None,
        seed: Annotated[int, typer.Option(
            '--seed', parser=whole_number, metavar='K', help='Seed of the sampling.')] = 0,
        workers: Annotated[int, typer.Option(
            '--workers', parser=whole_number, metavar='N',
            help='Processes, each with an object of its own; 0: one a core.')] = 0,
        dask: Annotated[str | None, typer.Option(
            '--dask', metavar='ADDRESS', help='Workers of a Dask scheduler instead.')] = None,
        retry_failed: Annotated[bool, typer.Option(
            '--retry-failed', help='Try again what has failed before.')] = False,
        hand: Hand = '', json: Json = False, out: Out = None) -> int:
    """Plan for all objects of folders into a database; run it again to go on."""
    check_writable(out)
    if not 0 <= workers <= MOST_WORKERS:
        raise InputError(f'--workers must be from 0 (one a core) to {MOST_WORKERS}, got {workers}')
    if not 0 <= seed < 2**63:
        raise InputError(f'--seed must be from 0 to 2^63 - 1, got {seed}')
    numbers = {'hypotheses': 0 if hypotheses is None else count('--hypotheses', hypotheses),
               'count': 0 if count_ is None else count('--count', count_), 'seed': seed}
    if limit is not None:
        numbers['time'] = positive('--time', limit)
    stuffs = [read_material(name) for name in materials or [None]]
    factors = [positive('--scale', scale) for scale in scales or [1.0]]
    from ...library.database.extras import require_sqlalchemy
    require_sqlalchemy()
    from ...library.database.schema import open_database
    from ...library.database.store import SweepStore
    from ..sweep.jobs import Settings, list_jobs
    from ..sweep.runner import Sweep
    read_hand(hand)                 # what is wrong of it is said here, not by every worker
    own = str(Path(hand).expanduser().absolute()) if hand else ''
    settings = Settings(_task(task), hand=own, **numbers)
    jobs = list_jobs(folders, stuffs, factors)
    engine = open_database(database, create=True)
    try:
        begun = Sweep(SweepStore(engine), jobs, settings, retry_failed)
        state = begun.state if begun.is_over else _run(begun, workers, dask)
        begun.finish()
    finally:
        engine.dispose()
    name = engine.url.render_as_string(hide_password=True)
    write_json(_answer(name, state), json, out)
    if not json:
        _print(name, state)
    return 130 if state.interrupted else 0


def _task(path: Path | None) -> Task:
    from ...core.planning.task import Task
    from ...library.task_file import load_task
    return Task() if path is None else load_task(existing_file(path, 'task'))


def _run(begun: Sweep, workers: int, dask: str | None) -> SweepState:
    from ...library.workers import available_cores
    from ..sweep.local import LocalEngine
    from ..sweep.on_dask import DaskEngine
    waiting = begun.state.total - begun.state.done - begun.state.failed
    local = min(workers or available_cores(), waiting)
    with SweepProgress() as progress:
        with LocalEngine(local) if dask is None else DaskEngine(dask) as engine:
            return begun.run(engine, progress)


def _answer(name: str, state: SweepState) -> dict[str, Any]:
    return {'database': name, 'jobs': state.total, 'done': state.done, 'failed': state.failed,
            'elsewhere': state.elsewhere, 'planned': state.planned, 'adopted': state.adopted,
            'grasps': state.grasps, 'seconds': state.seconds,
            'objects_a_minute': state.objects_a_minute, 'interrupted': state.interrupted,
            'failures': state.failures}


def _print(name: str, state: SweepState) -> None:
    print_table(f'Sweep into {name}', ('jobs', 'done', 'failed', 'planned now', 'grasps',
                                       'objects a minute'), [
        (str(state.total), str(state.done), str(state.failed), str(state.planned),
         str(state.grasps), f'{state.objects_a_minute:.1f}')])
    if state.failures:
        print_table('Failed', ('object', 'material', 'scale', 'reason'), [
            (row['object'], row['material'], f'{row["scale"]:g}', row['reason'])
            for row in state.failures[:MOST_SHOWN]])
    if len(state.failures) > MOST_SHOWN:
        say(f'… and {len(state.failures) - MOST_SHOWN} more: see --json')
    if state.elsewhere:
        say(f'{state.elsewhere} jobs are in the hands of another program; run again to see '
            'what became of them')


class SweepProgress:
    """
    Show how far a sweep is, and end it by Ctrl-C.

    Called with a ``SweepState`` it returns False once Ctrl-C was pressed. A bar on a
    terminal, now and then a line elsewhere.
    """

    def __init__(self) -> None:
        """Note what to show; nothing is shown before entering the context."""
        self._interrupted = False
        self._bar: Any = None

    def __enter__(self) -> SweepProgress:
        """Draw the bar, catch Ctrl-C."""
        self._last_line = time.monotonic()
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task('sweeping', total=None, note='')
            self._bar.start()
        self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Give Ctrl-C back and leave the bar as it is."""
        signal.signal(signal.SIGINT, self._handler)
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: SweepState) -> bool:
        """Show the state; return whether to go on."""
        settled, now = state.done + state.failed, time.monotonic()
        notes = [f'{state.grasps} grasps', f'{state.objects_a_minute:.1f} objects a minute']
        notes += [f'{state.failed} failed'] if state.failed else []
        if self._bar is not None:
            self._bar.update(self._task, completed=settled, total=state.total,
                             note=', '.join(notes), refresh=True)
        elif now - self._last_line > PLAIN_INTERVAL:
            self._last_line = now
            say(f'sweeping: {settled} of {state.total} objects, {", ".join(notes)}')
        return not self._interrupted

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        say('stopping; what is done is kept, run again to go on')


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress, TimeElapsedColumn, TimeRemainingColumn
    return Progress(TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn(),
                    TextColumn('{task.fields[note]}'), TimeElapsedColumn(),
                    TimeRemainingColumn(), console=Console(stderr=True), auto_refresh=False)
