"""``gripsim examples``: things that people have at home, planned for with a report each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .arguments import NumbersCommand
from .inputs import InputError
from .output import print_table, say
from .plan import plan


def examples(
        name: Annotated[str | None, typer.Argument(
            metavar='[NAME]', help='Of the example; without one they are listed.')] = None,
        out: Annotated[Path, typer.Option(
            '--out', help='Folder for mesh, material, task, grasps, report.')] = Path('examples')
        ) -> int:
    """Plan grasps of a thing that people have at home; the commands that do it are shown."""
    from ..examples import SCENES
    if name is None:
        print_table('examples', ('name', 'what'),
                    [(scene.name, scene.title) for scene in SCENES.values()])
        return 0
    if name not in SCENES:
        raise InputError(f'unknown example {name!r}; there are {", ".join(SCENES)}')
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f'--out {out}: {error.strerror}') from error
    scene = SCENES[name]
    words = scene.write(out)
    say(f'gripsim {shlex.join(words)}')
    planner = typer.Typer()
    planner.command(cls=NumbersCommand)(plan)
    code = planner(words[1:], standalone_mode=False)
    say(scene.teaches)
    return code
