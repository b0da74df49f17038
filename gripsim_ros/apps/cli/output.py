"""What the commands write: JSON or a table on standard output, all else on standard error."""

import json
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .inputs import InputError


#: Characters to a line of a table that does not go to a terminal.
FILE_WIDTH = 160
#: Names of threads of the library that prepare what an answer may no longer wait for.
PREPARING = frozenset({'compliance', 'preparation'})


def say(line: str) -> None:
    """Write one line to standard error."""
    print(line, file=sys.stderr, flush=True)


def keep_answers_apart() -> None:
    """
    Leave standard output to the answer; what libraries write there goes to standard error.

    A DDS logs its troubles on descriptor 1, in the middle of ``--json``. From here on that
    descriptor is standard error's, and ``sys.stdout`` has the one that the process was given.
    """
    if sys.stdout is None or sys.stderr is None:    # closed by who started us: nothing to part
        return
    sys.stdout.flush()
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # Also __stdout__: when it is collected, nothing is said of a reader that left early.
    sys.stdout = sys.__stdout__ = open(
        own, 'w', encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False,
        buffering=1 if os.isatty(own) else -1)


def end_beside_threads(code: int) -> None:
    """
    End the process at once where a thread still prepares what nobody waits for any more.

    Its kernels run on while the interpreter ends below them, and crash: an answer that was
    complete would end with a signal. Other threads are left to the interpreter.
    """
    if not any(thread.name in PREPARING for thread in threading.enumerate()):
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):     # closed, or its reader gone
            stream.flush()
    os._exit(code)


def plain(value: Any) -> Any:
    """Return ``value`` as what strict JSON knows; NaN and infinity become None."""
    if hasattr(value, 'tolist'):    # arrays and numbers of numpy
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_writable(path: Path | None) -> None:
    """Refuse, before any work is done, a file that cannot be written."""
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f'cannot write {path}: '
                         f'{"it is a folder" if path.is_dir() else "its folder does not exist"}')


def write_json(data: Mapping[str, Any], to_stdout: bool, out: Path | None) -> None:
    """Write ``data`` to standard output, to the file ``out``, to both or to neither."""
    text = json.dumps(plain(data), indent=1, allow_nan=False)
    if out is not None:
        out.write_text(text + '\n', encoding='utf-8')
        say(f'wrote {out}')
    if to_stdout:
        print(text, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people on standard output; numbers are set right."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    table = Table(title=escape(title), title_justify='left', title_style='bold')
    for column, name in enumerate(columns):
        table.add_column(escape(name), justify='right' if _is_numeric(rows, column) else 'left')
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=FILE_WIDTH)
    console.print(table)


def _is_numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    return bool(rows) and all(row[column][:1] in '0123456789-+.' for row in rows)
