"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import ELASTICITIES, elasticity_name, real_number

#: More processes than this are taken for a mistake.
MOST_WORKERS = 256

Mesh = Annotated[str, typer.Argument(metavar='MESH', help='Mesh file, or package:// URI.')]
Scale = Annotated[float, typer.Option(
    '--scale', parser=real_number, metavar='S', help='Factor to metres, e.g. 0.001.')]
MaterialName = Annotated[str | None, typer.Option(
    '--material', metavar='NAME|FILE', help='Name in the library, or a YAML file.')]
TaskFile = Annotated[Path | None, typer.Option('--task', help='YAML of what is to be held.')]
Elasticity = Annotated[str | None, typer.Option(
    '--elasticity', parser=elasticity_name, metavar='|'.join(ELASTICITIES),
    show_default='as configured', help='Model of the object: half-spaces under the pads, its own '
    'compliance, or this where it is thin.')]
PlanElasticity = Annotated[str | None, typer.Option(
    '--elasticity', parser=elasticity_name, metavar='|'.join(ELASTICITIES),
    show_default='auto', help='Model of the object: half-spaces under the pads, its own '
    'compliance, or half-spaces to search and its own for the best, which are closed again.')]
Json = Annotated[bool, typer.Option('--json', help='JSON on standard output.')]
Out = Annotated[Path | None, typer.Option('--out', help='Write the JSON to a file.')]
Hand = Annotated[str, typer.Option(
    '--hand', metavar='FILE', show_default='the Schunk SDH',
    help='File of the hand, see docs/hand.md.')]
CompletionName = Annotated[str | None, typer.Option(
    '--completion', metavar='mirror|extrude|convex',
    help='Close a scan of one side (PLY, CSV, NPY points) by this assumption.')]
Viewpoint = Annotated[str | None, typer.Option(
    '--viewpoint', metavar='X Y Z', show_default='estimated',
    help='Where the sensor of the scan stood.')]
