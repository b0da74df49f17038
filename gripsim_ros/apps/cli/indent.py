"""``gripsim indent``: an indenter pressed into an object."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import finite_numbers, positive, real_number, unit_vector
from .inputs import InputError, read_hand
from .options import Elasticity, Hand, Json, MaterialName, Mesh, Out, Scale
from .output import check_writable, print_table, write_json
from .requests import PlanLimits, read_request

if TYPE_CHECKING:
    from ...core.mechanics import CylinderIndenter, LinkIndenter, SphereIndenter


def indent(
        mesh: Mesh,
        at: Annotated[str, typer.Option(
            '--at', metavar='X Y Z', help='Where the ray to the first touch starts (m).')],
        along: Annotated[str, typer.Option(
            '--along', metavar='X Y Z', help='Direction of the push, any length above 0.')],
        depth: Annotated[float, typer.Option(
            '--depth', parser=real_number, metavar='D', help='How far it is pushed in (m).')],
        sphere: Annotated[float | None, typer.Option(
            '--sphere', parser=real_number, metavar='R',
            help='Radius of a rigid sphere (m).')] = None,
        cylinder: Annotated[float | None, typer.Option(
            '--cylinder', parser=real_number, metavar='R',
            help='Radius of a rigid flat-ended punch (m).')] = None,
        link: Annotated[str | None, typer.Option(
            '--link', metavar='NAME', help='Link of the hand; its pad is elastic.')] = None,
        scale: Scale = 1.0, material: MaterialName = None, elasticity: Elasticity = None,
        hand: Hand = '', json: Json = False, out: Out = None) -> None:
    """Press a sphere, a flat-ended punch or a link's pad into an object."""
    check_writable(out)
    given = {name: value for name, value in
             (('sphere', sphere), ('cylinder', cylinder), ('link', link)) if value is not None}
    if len(given) != 1:
        raise InputError('exactly one of --sphere, --cylinder and --link is needed, '
                         f'got {" and ".join(f"--{name}" for name in given) or "none"}')
    depth = positive('--depth', depth)
    p_object, d_object = finite_numbers('--at', at), unit_vector('--along', along)
    (name, value), = given.items()
    if hand and name != 'link':
        raise InputError(f'--hand goes with --link: --{name} presses without a hand')
    indenter = _indenter(name, value, hand)
    request = read_request(mesh, scale, material, None, PlanLimits())

    from ...core.mechanics import ElasticBody, indent_body
    from ...library.in_process import mechanics_options
    body = ElasticBody(request.grasp_object, mechanics_options(elasticity or 'half_space'))
    result = indent_body(body, indenter, p_object, d_object, depth)
    answer = {field.name: getattr(result, field.name) for field in fields(result)}
    write_json(answer, json, out)
    if not json:
        print_table(f'{name} {value} pressed {1e3 * depth:g} mm into {mesh}', ('', 'SI units'),
                    [(key.replace('_', ' '), _text(value)) for key, value in answer.items()])


def _indenter(name: str, value: Any, hand: str
              ) -> SphereIndenter | CylinderIndenter | LinkIndenter:
    from ...core.mechanics import CylinderIndenter, LinkIndenter, SphereIndenter
    if name != 'link':
        kinds = {'sphere': SphereIndenter, 'cylinder': CylinderIndenter}
        return kinds[name](positive(f'--{name}', value))
    links = {link.name: link for link in read_hand(hand).links if link.pad is not None}
    if value not in links:
        raise InputError(f'--link must be a link with a pad, one of {", ".join(links)}, '
                         f'got {value!r}')
    return LinkIndenter(links[value])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return '; '.join(value) or 'none'
    if hasattr(value, 'tolist') and value.ndim:
        return ' '.join(f'{number:.6g}' for number in value)
    return f'{value:.6g}' if isinstance(value, float) else str(value)
