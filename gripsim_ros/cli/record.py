"""``gripsim record``: a suite's messages in an MCAP file."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Annotated

import typer

from .arguments import positive, real_number
from .inputs import InputError, read_hand
from .output import check_writable, say

#: Seconds between two looks at what is recorded.
WATCH_PERIOD = 0.2
#: Time given to a command to end after Ctrl-C [s].
END_TIMEOUT = 15.0


def record(
        out: Annotated[Path, typer.Option('--out', help='MCAP file to write.')],
        command: Annotated[list[str] | None, typer.Argument(
            metavar='-- COMMAND', show_default=False,
            help='Run this, and record until it ends; its exit code is passed on.')] = None,
        seconds: Annotated[float | None, typer.Option(
            '--seconds', parser=real_number, metavar='S',
            help='Stop after this time.', show_default='until Ctrl-C')] = None,
        namespace: Annotated[str, typer.Option(
            '--namespace', help='Namespace of the suite.')] = '') -> int:
    """Record the messages of the running suite, or of a command that starts one, as MCAP."""
    from ..record.extras import require_mcap
    require_mcap()
    check_writable(out)
    limit = None if seconds is None else positive('--seconds', seconds)
    from ..environment import enter_isolation, join_suite
    if command:
        enter_isolation()
    elif not join_suite():
        raise InputError('no suite is running here: start one (`gripsim suite up`), set '
                         'ROS_DOMAIN_ID, or give a command after --, such as `-- gripsim demo`')
    return _record(out, command, limit, namespace)


def _record(out: Path, command: list[str] | None, limit: float | None, namespace: str) -> int:
    from ..record.recorder import Recorder
    stopped = _terminate_as_interrupt()
    code = 0
    with Recorder(out, read_hand(), namespace) as recorder:
        say(f'recording to {out}' + ('' if command else '; end it with Ctrl-C'))
        process = _start(command) if command else None
        try:
            code = _watch(recorder, process, limit)
        except KeyboardInterrupt:
            code = 130 if process else 0
        finally:
            _end(process)
            signal.signal(signal.SIGTERM, stopped)
    if recorder.error is not None:
        raise RuntimeError(f'recording ended early: {recorder.error}')
    for topic, messages in sorted(recorder.counts.items()):
        say(f'{messages:8d}  {topic}')
    say(f'wrote {out}')
    return code


def _start(command: list[str]) -> subprocess.Popen:
    try:
        return subprocess.Popen(command)
    except OSError as error:
        raise InputError(f'cannot run {command[0]}: {error.strerror}') from error


def _watch(recorder, process: subprocess.Popen | None, limit: float | None) -> int:
    """Return the exit code once the command has ended or time is up."""
    end = None if limit is None else time.monotonic() + limit
    while recorder.error is None and (end is None or time.monotonic() < end):
        if process is not None and process.poll() is not None:
            return process.returncode if process.returncode >= 0 else 1
        time.sleep(WATCH_PERIOD)
    return 0


def _end(process: subprocess.Popen | None) -> None:
    """Interrupt a command that still runs, and kill it if it does not end."""
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_TIMEOUT)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _terminate_as_interrupt():
    """Make SIGTERM end the recording as Ctrl-C does; return what it did before."""
    def interrupt(*_) -> None:
        raise KeyboardInterrupt
    return signal.signal(signal.SIGTERM, interrupt)
