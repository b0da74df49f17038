"""``gripsim hand``: a first configuration of any hand, and a check of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .inputs import InputError, existing_file, read_hand
from .output import check_writable, say

app = typer.Typer(help='Bring a hand of your own.', no_args_is_help=True)

PackageFolders = Annotated[list[str] | None, typer.Option(
    '--package', metavar='NAME=DIR', help='Folder of a package that the URDF names; repeatable.')]
XacroArguments = Annotated[list[str] | None, typer.Option(
    '--arg', metavar='NAME:=VALUE', help='Argument of a xacro file; repeatable.')]


@app.command('new')
def new(
        description: Annotated[Path, typer.Argument(
            metavar='URDF|XACRO', help='The hand, alone or at the end of an arm.')],
        base: Annotated[str, typer.Option(
            '--base', metavar='LINK', show_default='where the fingers branch',
            help='The palm.')] = '',
        package: PackageFolders = None,
        arg: XacroArguments = None,
        out: Annotated[Path, typer.Option(
            '--out', help='Where the file goes.')] = Path('hand.yaml')) -> int:
    """Write a first configuration: fingers, pads, preshapes and the palm's axes, by search."""
    from ...library.hands.check import check_hand
    from ...library.hands.proposal import propose_hand
    existing_file(description, 'hand')
    check_writable(out)
    before = out.read_bytes() if out.is_file() else None
    try:
        proposal = propose_hand(description, out, base, _packages(package), _arguments(arg))
    except BaseException:
        if before is None:
            out.unlink(missing_ok=True)
        else:
            out.write_bytes(before)
        raise
    hand, findings = proposal.hand, check_hand(proposal.hand)
    for line in dict.fromkeys((*proposal.notes, *findings.oddities)):
        say(f'note: {line}')
    for line in findings.faults:
        say(f'fault: {line}')
    say(f'wrote {out}: {hand.name}, {len(hand.fingers)} fingers, {len(hand.joint_names)} joints, '
        f'preshapes {", ".join(preshape.name for preshape in hand.preshapes)}; look at it with '
        f'`gripsim hand check {out} --picture hand.png`')
    return 0


@app.command('check')
def check(
        file: Annotated[Path, typer.Argument(metavar='HAND.yaml', help='File of the hand.')],
        picture: Annotated[Path | None, typer.Option(
            '--picture', metavar='F.png',
            help='Draw the hand open and closed in each preshape, and a page beside it.')] = None
        ) -> int:
    """Say what is missing or odd, a line each; exit code 2 where the hand cannot serve."""
    check_writable(picture)
    hand = read_hand(str(file))
    from ...library.hands.check import check_hand
    findings = check_hand(hand)
    for line in (*(f'fault: {line}' for line in findings.faults),
                 *(f'odd: {line}' for line in findings.oddities)):
        print(line)
    if picture is not None:
        from ...library.hands.picture import write_hand_picture
        for path in write_hand_picture(hand, findings, picture):
            say(f'wrote {path}')
    if findings.faults:
        say(f'gripsim: {file} cannot serve: {findings.faults[0]}')
        return 2
    say(f'{file} can serve: {hand.name}, {len(hand.fingers)} fingers, '
        f'{len(hand.joint_names)} joints')
    return 0


def _packages(texts: list[str] | None) -> dict[str, Path]:
    found = {}
    for text in texts or []:
        name, equals, folder = text.partition('=')
        if not equals or not name or not Path(folder).is_dir():
            raise InputError(f'--package needs NAME=DIR with a folder that exists, got {text!r}')
        found[name] = Path(folder)
    return found


def _arguments(texts: list[str] | None) -> dict[str, str]:
    found = {}
    for text in texts or []:
        name, is_argument, value = text.partition(':=')
        if not is_argument or not name:
            raise InputError(f'--arg needs NAME:=VALUE, as for xacro, got {text!r}')
        found[name] = value
    return found
