"""``gripsim suite up``: the nodes as processes, without a ROS install."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .inputs import InputError, existing_file, read_hand
from .options import Hand
from .output import say
from .progress import StartProgress

app = typer.Typer(help='Run the nodes as processes.', no_args_is_help=False)

#: Seconds between two looks at whether all nodes still run.
WATCH_PERIOD = 0.5


@app.callback(invoke_without_command=False)
def _suite() -> None:
    """Hold the verbs of ``suite``."""


@app.command('up')
def up(
        params: Annotated[Path | None, typer.Option(
            '--params', help='Node parameters, in the format of config/params.yaml.')] = None,
        hardware: Annotated[str, typer.Option(
            '--hardware', metavar='none|sim|real', help='Which hand moves.')] = 'none',
        arm: Annotated[Path | None, typer.Option(
            '--arm', help='File of the arm that carries the hand, see docs/arm.md.')] = None,
        hand: Hand = '') -> int:
    """Start the four nodes, and those of a hand and an arm; keep them up until Ctrl-C."""
    from ...ros.clients.suite import HAND_NODES, Suite
    from ...ros.environment import enter_isolation
    if hardware not in HAND_NODES:
        raise InputError(f'--hardware must be one of {", ".join(HAND_NODES)}, got {hardware!r}')
    if params is not None:
        existing_file(params, 'parameters')
    if arm is not None:
        existing_file(arm, 'arm')
    check_hand(hand, hardware)
    enter_isolation('suite')
    import os
    progress = StartProgress()
    suite = Suite(os.environ, params_file=params, hardware=hardware, arm=arm, hand=hand,
                  on_progress=progress)
    say(f'starting {", ".join(suite.names)} in ROS domain {os.environ["ROS_DOMAIN_ID"]} '
        '(the first start compiles the numerical kernels)')
    with suite:
        progress.close()
        say('the suite is up; ask it with `gripsim plan --nodes`, end it with Ctrl-C')
        try:
            while True:
                for line in suite.revive():
                    say(line)
                time.sleep(WATCH_PERIOD)
        except KeyboardInterrupt:
            say('stopping')
    return 0


def check_hand(hand: str, hardware: str) -> None:
    """Check the file of a hand; the driver speaks the protocol of the SDH alone."""
    if not hand:
        return
    read_hand(hand)
    if hardware == 'real':
        raise InputError('--hand does not go with --hardware real: its driver moves an SDH alone')
