"""``gripsim export``: grasps of a database as files for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import count, real_number, whole_number
from .inputs import InputError
from .options import Json
from .output import print_table, say, write_json

#: Kinds of files, see ``sweep.export`` and ``sweep.arrays``.
FORMATS = ('json', 'dexgraspnet')


def export(
        database: Annotated[str, typer.Argument(
            metavar='DATABASE', help='SQLite file, or a URL such as postgresql://…')],
        out: Annotated[Path, typer.Option(
            '--out', metavar='DIR', help='New or empty folder for the files.')],
        format_: Annotated[str, typer.Option(
            '--format', metavar='|'.join(FORMATS), help='What to write.')] = 'json',
        objects: Annotated[list[str] | None, typer.Option(
            '--object', metavar='PATTERN', help='Only objects whose label matches.')] = None,
        materials: Annotated[list[str] | None, typer.Option(
            '--material', metavar='NAME', help='Only these materials.')] = None,
        min_score: Annotated[float | None, typer.Option(
            '--min-score', parser=real_number, metavar='S', help='Lowest score.')] = None,
        min_margin: Annotated[float | None, typer.Option(
            '--min-margin', parser=real_number, metavar='M', help='Lowest load margin.')] = None,
        top: Annotated[int | None, typer.Option(
            '--top', parser=whole_number, metavar='N', help='Best grasps of each plan.')] = None,
        json: Json = False) -> None:
    """Write grasps as JSON, or as the arrays that networks are trained on."""
    if format_ not in FORMATS:
        raise InputError(f'--format must be one of {", ".join(FORMATS)}, got {format_!r}')
    limits = {name: value for name, value in (
        ('min_score', min_score), ('min_margin', min_margin)) if value is not None}
    if any(value != value for value in limits.values()):
        raise InputError('--min-score and --min-margin must be numbers, got nan')
    if top is not None:
        limits['top'] = count('--top', top)
    from ...library.database.extras import require_sqlalchemy
    require_sqlalchemy()
    from ...library.database.lookup import GraspDatabase
    from ...library.database.records import GraspFilter
    from ..sweep.arrays import export_arrays
    from ..sweep.export import export_json
    write = {'json': export_json, 'dexgraspnet': export_arrays}[format_]
    source = GraspDatabase(database)
    try:
        summary = write(source.jobs(GraspFilter(
            tuple(objects or ()), tuple(materials or ()), **limits)), out)
    finally:
        source.close()
    if len(summary.versions) > 1:
        say(f'warning: the plans are of {len(summary.versions)} versions of the program, see '
            'index.json')
    say(f'wrote {out}')
    if json:
        write_json({'database': source.name, 'folder': str(out), **vars(summary)}, True, None)
    else:
        print_table(f'Export of {source.name}', ('plans', 'grasps', 'failed objects'), [
            (str(summary.plans), str(summary.grasps), str(summary.failed))])
