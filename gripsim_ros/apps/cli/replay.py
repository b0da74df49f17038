"""``gripsim replay``: ask the questions of a recording again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .inputs import InputError, existing_file, hand_of_grasps
from .options import Hand
from .output import say, write_json

if TYPE_CHECKING:
    from ...core.hand import HandModel
    from ...ros.record.replay import ReplayResult


def replay(
        file: Annotated[Path, typer.Argument(metavar='FILE', help='As written by record.')],
        nodes: Annotated[bool, typer.Option(
            '--nodes', help='Ask a running suite instead of the stages in this process.')] = False,
        namespace: Annotated[str, typer.Option(
            '--namespace', help='Namespace of the suite.')] = '',
        hand: Hand = '',
        json: Annotated[bool, typer.Option('--json', help='JSON on standard output.')] = False
        ) -> int:
    """Ask a recording's questions again and compare bit for bit; 1 where answers differ."""
    from ...ros.record.extras import require_mcap
    require_mcap()
    path = existing_file(file, 'recording')
    model = _hand_of(path, hand)
    result = _by_nodes(path, model, namespace) if nodes else _here(path, model)
    if not result.questions:
        raise InputError(f'{file} holds no questions on plan/hand_configurations')
    if json:
        write_json(vars(result), True, None)
    for line in result.differences:
        say(line)
    say(f'{result.questions} questions: {result.identical} answered identically, '
        f'{result.different} differently, {result.unanswered} without a recorded answer, '
        f'{result.failed} failed when recorded, {result.put_off} put off then until the object '
        'was ready')
    return 1 if result.different else 0


def _hand_of(path: Path, file: str) -> HandModel:
    """Return the hand named, else that of the recording, else the one that comes along."""
    from ...ros.record.mcap_file import read_metadata
    told = read_metadata(path)
    return hand_of_grasps(file, {'hand': {
        'file': told.get('hand_file'), 'name': told.get('hand_name'), 'id': told.get('hand')
        }}, 'recording is')


def _here(path: Path, hand: HandModel) -> ReplayResult:
    from ...ros.record.replay import InProcessRing, replay
    return replay(path, hand, InProcessRing(hand))


def _by_nodes(path: Path, hand: HandModel, namespace: str) -> ReplayResult:
    from ...ros.environment import join_suite
    join_suite()
    from ...ros.record.over_nodes import SuiteRing
    from ...ros.record.replay import replay
    with SuiteRing(namespace) as ring:
        return replay(path, hand, ring)
