"""``gripsim calibrate``: a material file from measured curves of squeezes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from .arguments import positive, real_number
from .inputs import InputError, existing_file, read_mesh
from .options import Json, Scale
from .output import check_writable, print_table, say, write_json
from .progress import StepProgress
from .squeeze import Axis, Ends


def calibrate(
        curves: Annotated[list[Path], typer.Argument(
            metavar='CURVE.csv…', help='Tables of way and force of one loading each.')],
        mesh: Annotated[str, typer.Option(
            '--mesh', metavar='MESH', help='The specimen: mesh file, or package:// URI.')],
        out: Annotated[Path, typer.Option('--out', help='The material file to write.')],
        plates: Annotated[bool, typer.Option(
            '--plates', help='Squeezed between two rigid plates (needed).')] = False,
        axis: Axis = '0 0 1',
        max_strain: Annotated[float, typer.Option(
            '--max-strain', parser=real_number, metavar='S',
            help='Way over thickness up to which the curves are read.')] = 0.05,
        law: Annotated[str, typer.Option(
            '--law', metavar='neo_hookean|yeoh|ogden', help='Law of finite strain.')
            ] = 'neo_hookean',
        columns: Annotated[str | None, typer.Option(
            '--columns', metavar='WAY FORCE', help='Names or numbers of the two columns, '
            'otherwise the usual names.')] = None,
        unit_way: Annotated[str | None, typer.Option(
            '--unit-way', metavar='mm', help='Unit of the way, otherwise that of the header.')
            ] = None,
        ends: Ends = 'sliding',
        poisson_ratio: Annotated[float, typer.Option(
            '--poisson-ratio', parser=real_number, metavar='NU',
            help='Not measured by a squeeze: 0.499 for rubbers.')] = 0.499,
        scale: Scale = 1.0, json: Json = False) -> None:
    """Find the modulus and the law of a material from measured curves."""
    from .arguments import unit_vector
    check_writable(out)
    if not plates:
        raise InputError('--plates is needed: say how the specimen was squeezed')
    max_strain, direction = positive('--max-strain', max_strain), unit_vector('--axis', axis)
    chosen = None if columns is None else _two_columns(columns)
    files = [existing_file(curve, 'curve') for curve in curves]

    from ...library.squeezing.measured_curves import read_curve
    from ...library.squeezing.plates import calibrate_material, write_material
    measured = [read_curve(file, chosen, unit_way) for file in files]
    with StepProgress('calibrating') as progress:
        found = calibrate_material(
            measured, read_mesh(mesh, scale).mesh, axis=direction, max_strain=max_strain, law=law,
            ends=ends, poisson_ratio=poisson_ratio,
            on_trial=lambda trial: progress.steps(trial, None, 'curves computed'))
    material = replace(found.material, source=(
        f'squeezed between plates, ends {ends}, up to {max_strain:g} strain: '
        + ', '.join(file.name for file in files)))
    write_material(material, out)
    say(f'wrote {out}; density and friction in it are assumed')
    answer = {
        'youngs_modulus': material.youngs_modulus, 'standard_error': found.standard_error,
        'law': material.law, 'law_parameters': material.law_parameters,
        'range': {'min_strain': 0.0, 'max_strain': material.max_strain},
        'misfit': found.misfit, 'moduli': found.moduli, 'points': found.points,
        'modulus_spread': material.modulus_spread, 'poisson_ratio': material.poisson_ratio,
        'ends': ends, 'out': str(out)}
    write_json(answer, json, None)
    if not json:
        print_table(f'{len(files)} curves up to {max_strain:g} strain', ('', 'SI units'), [
            ('modulus', f'{material.youngs_modulus:.5g}'),
            ('standard error', f'{found.standard_error:.2g}'),
            ('law', ' '.join([material.law, *(f'{x:.3g}' for x in material.law_parameters)])),
            ('misfit', f'{found.misfit:.2%}'), ('points', str(found.points))])


def _two_columns(text: str) -> tuple[str, str]:
    """Return the two columns of an option's value, separated by a comma or the only space."""
    parts = text.split(',') if ',' in text else text.split()
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise InputError(f'--columns takes the columns of way and force, got {text!r}')
    return parts[0].strip(), parts[1].strip()
