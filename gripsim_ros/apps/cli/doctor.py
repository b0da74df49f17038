"""``gripsim doctor``: what is wrong with the installation or a running suite."""

from pathlib import Path
from typing import Annotated

import typer

from .inputs import existing_file
from .options import Hand
from .output import check_writable, say, write_json

SIGNS = {'good': 'ok ', 'note': '-  ', 'bad': 'BAD'}


def doctor(
        network: Annotated[bool, typer.Option(
            help='Also look at a running suite.')] = True,
        hand: Hand = '',
        thorough: Annotated[bool, typer.Option(
            '--thorough', help='Also import every package, read the hand\'s meshes, run the '
                               'kernels.')] = False,
        json: Annotated[bool, typer.Option('--json', help='JSON on standard output.')] = False,
        out: Annotated[Path | None, typer.Option(
            '--out', help='Write the JSON to a file.')] = None) -> int:
    """Check installation, configuration, hand, ROS domain and running nodes; say what to do."""
    from ..doctor import BAD, NOTE, examine
    check_writable(out)
    if hand:
        existing_file(hand, 'hand')
    findings = []
    for finding in examine(network, hand, thorough, say):
        findings.append(finding)
        if not json:
            print(f'{SIGNS[finding.state]} {finding.subject}: {finding.found}', flush=True)
            if finding.advice:
                print(f'      {finding.advice}', flush=True)
    bad = sum(finding.state == BAD for finding in findings)
    notes = sum(finding.state == NOTE for finding in findings)
    write_json({'findings': [vars(finding) for finding in findings], 'bad': bad, 'notes': notes},
               json, out)
    say(f'{len(findings)} checks: {bad} bad, {notes} notes')
    return 1 if bad else 0
