"""``gripsim record``: a suite's messages in an MCAP file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import positive, real_number
from .inputs import InputError, read_hand
from .joining import join_running_suite
from .options import Hand
from .output import check_writable, say

if TYPE_CHECKING:
    from ...core.hand import HandModel
    from ...ros.record.recorder import Recorder

#: Seconds between two looks at what is recorded.
WATCH_PERIOD = 0.2
#: Time in which a ring is usually discovered; then it is told for what is waited [s].
PATIENCE = 2.0
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
            '--namespace', help='Namespace of the suite.')] = '',
        hand: Hand = '') -> int:
    """Record the messages of the running suite, or of a command that starts one, as MCAP."""
    from ...ros.record.extras import require_mcap
    require_mcap()
    check_writable(out)
    limit = None if seconds is None else positive('--seconds', seconds)
    model = read_hand(hand)
    from ...ros.environment import enter_isolation
    if command:
        enter_isolation()
    else:
        join_running_suite('give a command after --, such as `-- gripsim demo`')
    return _record(out, command, limit, namespace, model)


def _record(out: Path, command: list[str] | None, limit: float | None, namespace: str,
            hand: HandModel) -> int:
    from ...ros.record.recorder import Recorder
    stopped = _terminate_as_interrupt()
    code = 0
    apart = f'recorded_{os.getpid()}' if command else ''
    with Recorder(out, hand, namespace, apart) as recorder:
        process = _start(command, apart) if command else None
        end = None if limit is None else time.monotonic() + limit
        try:
            if process is None:
                _await_ring(recorder, out, end)
            else:
                say(f'recording to {out}')
            code = _watch(recorder, process, end)
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


def _start(command: list[str], apart: str) -> subprocess.Popen:
    """Run a command; a hand that it simulates is told the namespace to do so in."""
    from ...ros.clients.suite import descriptor_of
    from ...ros.environment import RECORDED
    try:
        return subprocess.Popen(command, env={**os.environ, RECORDED: apart},
                                stdout=descriptor_of(sys.stdout))
    except OSError as error:
        raise InputError(f'cannot run {command[0]}: {error.strerror}') from error


def _await_ring(recorder: Recorder, out: Path, end: float | None) -> None:
    """Return once nothing that the ring's nodes send is missed any more, or time is up."""
    told: list[str] = []
    begin = time.monotonic()
    while recorder.error is None and (end is None or time.monotonic() < end):
        missing = recorder.missing()
        if not missing:
            say(f'recording to {out}; end it with Ctrl-C')
            return
        if missing != told and time.monotonic() - begin > PATIENCE:
            say(f'waiting for {", ".join(missing)}; what comes meanwhile is recorded')
            told = missing
        time.sleep(WATCH_PERIOD)


def _watch(recorder: Recorder, process: subprocess.Popen | None, end: float | None) -> int:
    """Return the exit code once the command has ended or time is up."""
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
