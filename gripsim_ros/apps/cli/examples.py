"""``gripsim examples``: things that people have at home, planned for with a report each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .arguments import NumbersCommand
from .inputs import InputError, read_hand
from .options import Hand
from .output import print_table, say
from .plan import plan


def examples(
        name: Annotated[str | None, typer.Argument(
            metavar='[NAME]', help='Of the example; without one they are listed.')] = None,
        out: Annotated[Path, typer.Option(
            '--out', help='Folder for mesh, material, task, grasps, report.')] = Path('examples'),
        hand: Hand = '') -> int:
    """Plan grasps of a thing that people have at home; or let a box tumble (stairs, sine)."""
    from ..examples import SCENES
    from ..examples.tumbling import TRACKS
    if name is None:
        print_table('examples', ('name', 'what'),
                    [*((scene.name, scene.title) for scene in SCENES.values()),
                     *((track, title) for track, (title, _) in TRACKS.items())])
        return 0
    if name not in SCENES and name not in TRACKS:
        raise InputError(f'unknown example {name!r}; there are {", ".join([*SCENES, *TRACKS])}')
    if hand and name in TRACKS:
        raise InputError(f'--hand does not go with {name}: a box tumbles there without a hand')
    read_hand(hand)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f'--out {out}: {error.strerror}') from error
    if name in TRACKS:
        return _tumble(name, out)
    scene = SCENES[name]
    words = [*scene.write(out), *(['--hand', hand] if hand else [])]
    say(f'gripsim {shlex.join(words)}')
    planner = typer.Typer()
    planner.command(cls=NumbersCommand)(plan)
    code = planner(words[1:], standalone_mode=False)
    say(scene.teaches)
    return code


def _tumble(name: str, out: Path) -> int:
    """Let a box tumble along a track; print where it is and draw its poses."""
    from ..examples.tumbling import draw, first_state, rows_shown, simulate, TRACKS
    title, make = TRACKS[name]
    track = make()
    states, depths, touching = simulate(first_state(), track)
    print_table(title, ('time [s]', 'x [m]', 'z [m]', 'points', 'energy [J]', 'depth [mm]'),
                rows_shown(states, depths, touching))
    picture = out / f'{name}.png'
    draw(states, track, picture)
    say(f'{len(states) - 1} steps, deepest {1e3 * depths.max():.3f} mm; wrote {picture}')
    return 0
