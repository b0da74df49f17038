"""Progress of planning and of starting on standard error, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from .output import say

if TYPE_CHECKING:
    from ...core.arm import ArmProgress
    from ...core.planning.progress import Progress

#: Seconds between two plain lines where standard error is no terminal.
PLAIN_INTERVAL = 5.0
#: Seconds between two lines about kernels that are being compiled.
COMPILING_INTERVAL = 15.0


class CompilationNews:
    """
    Says now and then that numerical kernels are being compiled, and how many were.

    Where no cache holds them, as after the installation of a wheel, that takes minutes in which
    nothing else is to be seen.
    """

    def __init__(self, title: str) -> None:
        """Note whose news it is."""
        self._title = title

    def __enter__(self) -> CompilationNews:
        """Listen to the compiler."""
        from numba.core.event import RecordingListener, register
        self._heard, self._ended = RecordingListener(), threading.Event()
        register('numba:compile', self._heard)
        threading.Thread(target=self._tell, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        from numba.core.event import unregister
        self._ended.set()
        unregister('numba:compile', self._heard)

    def _tell(self) -> None:
        told = 0
        while not self._ended.wait(COMPILING_INTERVAL):
            count = sum(event.is_end for _, event in self._heard.buffer)
            if count > told:
                say(f'{self._title}: compiling numerical kernels, which is done once; '
                    f'{count} so far')
                told = count


class PlanProgress:
    """
    Show progress and tell the planner when to stop.

    Called with a ``Progress`` it returns False once Ctrl-C was pressed; a second Ctrl-C
    interrupts at once. A bar on a terminal, now and then a line elsewhere.
    """

    def __init__(self, title: str = 'planning') -> None:
        """Note what to show; nothing is shown before entering the context."""
        self.title = title
        self.interrupted = False
        self._step = ''
        self._bar: Any = None

    def __enter__(self) -> PlanProgress:
        """Draw the bar, catch Ctrl-C."""
        self._last_line = time.monotonic()
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task(self.title, total=None, note='')
            self._bar.start()
        self._main_thread = threading.current_thread() is threading.main_thread()
        if self._main_thread:
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Give Ctrl-C back and leave the bar as it is."""
        if self._main_thread:
            signal.signal(signal.SIGINT, self._handler)
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> bool:
        """Show ``progress``; return whether to go on."""
        best = None if progress.best is None else progress.best.score
        self.begin_step(progress.step)
        return self.show(progress.evaluated, progress.total, progress.stable, best)

    def begin_step(self, step: str) -> None:
        """Say what goes on after the search, '' while it searches."""
        if step != self._step:
            self._step = step
            if step and self._bar is None:
                say(f'{self.title}: {step}')

    def show(self, evaluated: int, total: int, stable: int, best_score: float | None) -> bool:
        """Show numbers of hypotheses and the best score; return whether to go on."""
        note = f'{stable} stable' + ('' if best_score is None else f', best {best_score:.3f}')
        note = f'{note}; {self._step}' if self._step else note
        return self._show(evaluated, total, 'hypotheses', note)

    def show_arm(self, progress: ArmProgress) -> bool:
        """Show how far the search for the arm's ways is; return whether to go on."""
        note = f'{progress.free} free' + (
            '' if progress.shortest is None else f', shortest {progress.shortest:.2f} rad')
        return self._show(progress.decided, progress.total, 'grasps', note)

    def _show(self, done: int, total: int, of_what: str, note: str) -> bool:
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total or None, note=note,
                             refresh=True)
        elif now - self._last_line > PLAIN_INTERVAL:
            self._last_line = now
            say(f'{self.title}: {done} of {total} {of_what}, {note}')
        return not self.interrupted

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        say('stopping with the best so far; press Ctrl-C again to leave at once')


class StepProgress(PlanProgress):
    """Show how many of a known number of steps are done, or only how many."""

    def steps(self, done: int, total: int | None, what: str) -> bool:
        """Show steps; return whether to go on."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, note=what, refresh=True)
        elif time.monotonic() - self._last_line > PLAIN_INTERVAL:
            self._last_line = time.monotonic()
            say(f'{self.title}: {done}{"" if total is None else f" of {total}"} {what}')
        return not self.interrupted


class StartProgress:
    """Show which nodes of a suite still load: a bar on a terminal, else now and then a line."""

    def __init__(self) -> None:
        """Draw nothing before there is something to show."""
        self._bar: Any = None
        self._last_line = time.monotonic()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, loading: Mapping[str, int], count: int) -> None:
        """Show the kernels of nodes that are not active yet, and how many of all are."""
        note = ', '.join(name + (f' ({kernels} kernels)' if kernels else '')
                         for name, kernels in loading.items())
        if sys.stderr.isatty():
            if self._bar is None:
                self._bar = _bar()
                self._task = self._bar.add_task('starting', total=count, note='')
                self._bar.start()
            self._bar.update(self._task, completed=count - len(loading), note=note, refresh=True)
        elif time.monotonic() - self._last_line > PLAIN_INTERVAL:
            self._last_line = time.monotonic()
            say(f'starting: {count - len(loading)} of {count} nodes are active; loading: {note}')


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    return Bar(TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn(),
               TextColumn('{task.fields[note]}'), TimeElapsedColumn(),
               console=Console(stderr=True), auto_refresh=False)  # no thread: workers are forked
