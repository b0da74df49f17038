"""``gripsim suite up``: the nodes as processes, without a ROS install."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .inputs import existing_file
from .output import say

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
        arm: Annotated[Path | None, typer.Option(
            '--arm', help='File of the arm that carries the hand, see docs/arm.md.')] = None
        ) -> int:
    """Start the four nodes and keep them up until Ctrl-C."""
    from ..environment import enter_isolation
    if params is not None:
        existing_file(params, 'parameters')
    if arm is not None:
        existing_file(arm, 'arm')
    enter_isolation('suite')
    import os

    from ..suite import NODES, Suite
    say(f'starting {", ".join(NODES)} in ROS domain {os.environ["ROS_DOMAIN_ID"]} '
        '(the first start compiles the numerical kernels)')
    with Suite(os.environ, params_file=params, arm=arm) as suite:
        say('the suite is up; ask it with `gripsim plan --nodes`, end it with Ctrl-C')
        try:
            while True:
                suite.check()
                time.sleep(WATCH_PERIOD)
        except KeyboardInterrupt:
            say('stopping')
    return 0
