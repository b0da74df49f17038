"""``gripsim squeeze``: an object between two plates, force over way."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import count, positive, real_number, unit_vector, whole_number
from .inputs import InputError, read_material, read_mesh
from .options import Json, MaterialName, Mesh, Out, Scale
from .output import check_writable, print_table, say, write_json
from .progress import StepProgress

if TYPE_CHECKING:
    from ...core.mechanics.finite_strain.squeezing import CurvePoint

Axis = Annotated[str, typer.Option(
    '--axis', metavar='X Y Z', help='Along which the plates move, in the frame of the mesh.')]
Ends = Annotated[str, typer.Option(
    '--ends', metavar='sliding|bonded', help='How the object meets the plates.')]


def squeeze(
        mesh: Mesh,
        way: Annotated[float, typer.Option(
            '--way', parser=real_number, metavar='M',
            help='By which the plates come nearer after the first touch (m).')],
        plates: Annotated[bool, typer.Option(
            '--plates', help='Between two rigid plates (needed).')] = False,
        axis: Axis = '0 0 1',
        steps: Annotated[int, typer.Option(
            '--steps', parser=whole_number, metavar='N', help='Points of the curve.')] = 10,
        ends: Ends = 'sliding', scale: Scale = 1.0, material: MaterialName = None,
        json: Json = False, out: Out = None) -> None:
    """Squeeze an object between two plates, also by half of its thickness."""
    check_writable(out)
    if not plates:
        raise InputError('--plates is needed: say by what the object is squeezed')
    way, steps = positive('--way', way), count('--steps', steps, 1000)
    direction = unit_vector('--axis', axis)
    stuff = read_material(material)
    loaded = read_mesh(mesh, scale)

    from ...core.bodies import GraspObject
    from ...library.squeezing import squeeze_object
    grasp_object = GraspObject(loaded.mesh, stuff, label=mesh)
    with StepProgress('squeezing') as progress:
        def watch(point: CurvePoint) -> bool:
            return progress.steps(round(steps * point.way / way), steps, 'steps')
        result = squeeze_object(grasp_object, way, axis=direction, steps=steps, ends=ends,
                                on_point=watch)
    answer = {
        'curve': [asdict(point) for point in result.curve], 'quantitative': result.quantitative,
        'warnings': result.warnings, 'thickness': result.thickness, 'strain': result.strain,
        'ends': ends, 'law': stuff.law}
    write_json(answer, json, out)
    for warning in result.warnings:
        say(f'warning: {warning}')
    if not json:
        print_table(f'{mesh} squeezed by {1e3 * way:g} mm, ends {ends}',
                    ('way [mm]', 'force [N]', 'area [mm2]'),
                    [(f'{1e3 * point.way:.3f}', f'{point.force:.4g}', f'{1e6 * point.area:.4g}')
                     for point in result.curve])
