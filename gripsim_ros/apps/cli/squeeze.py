"""``gripsim squeeze``: an object between two plates, or between fingers; force over way."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import count, positive, real_number, unit_vector, whole_number
from .inputs import InputError, existing_file, hand_of_grasps, read_material, read_mesh
from .options import Elasticity, Hand, Json, MaterialName, Mesh, Out, Scale
from .output import check_writable, print_table, say, write_json
from .progress import StepProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL import Image as PillowImage

    from ...core.bodies import GraspObject
    from ...core.mechanics.finite_strain.squeezing import CurvePoint

    OnPoint = Callable[[CurvePoint], bool]

Axis = Annotated[str, typer.Option(
    '--axis', metavar='X Y Z', help='Along which the plates move, in the frame of the mesh.')]
Ends = Annotated[str, typer.Option(
    '--ends', metavar='sliding|bonded', help='How the object meets the plates.')]


def squeeze(
        mesh: Mesh,
        way: Annotated[float, typer.Option(
            '--way', parser=real_number, metavar='M',
            help='By which the plates, or the pads, come nearer after the first touch (m).')],
        plates: Annotated[bool, typer.Option(
            '--plates', help='Between two rigid plates.')] = False,
        fingers: Annotated[Path | None, typer.Option(
            '--fingers', metavar='GRASPS.json', help='Between the fingers of a grasp as plan '
            'writes it, which go on closing.')] = None,
        rank: Annotated[int, typer.Option(
            '--rank', parser=whole_number, metavar='N', help='Which of the grasps.')] = 1,
        axis: Axis = '0 0 1',
        steps: Annotated[int, typer.Option(
            '--steps', parser=whole_number, metavar='N', help='Points of the curve.')] = 10,
        ends: Ends = 'sliding', scale: Scale = 1.0, material: MaterialName = None,
        elasticity: Elasticity = None, hand: Hand = '',
        picture: Annotated[Path | None, typer.Option(
            '--picture', metavar='F.png', help='Draw the curve and what is squeezed.')] = None,
        json: Json = False, out: Out = None) -> None:
    """Squeeze an object between two plates, also by half of its thickness, or by fingers."""
    for path in (out, picture):
        check_writable(path)
    if plates == (fingers is not None):
        raise InputError('either --plates or --fingers is needed: say by what the object is '
                         'squeezed')
    if plates and (elasticity is not None or hand):
        raise InputError('--elasticity and --hand go with --fingers: plates squeeze a body of '
                         'finite elements')
    way, steps = positive('--way', way), count('--steps', steps, 1000)
    direction = unit_vector('--axis', axis)
    grasps = None if fingers is None else existing_file(fingers, 'grasps')
    stuff = read_material(material)
    loaded = read_mesh(mesh, scale)

    from ...core.bodies import GraspObject
    grasp_object = GraspObject(loaded.mesh, stuff, label=mesh)
    with StepProgress('squeezing') as progress:
        def watch(point: CurvePoint) -> bool:
            return progress.steps(round(steps * point.way / way), steps, 'steps')
        if grasps is None:
            answer, drawn = _between_plates(grasp_object, way, direction, steps, ends, watch)
            title = f'squeezed by {1e3 * way:g} mm, ends {ends}'
        else:
            answer, drawn = _between_fingers(grasp_object, grasps, rank, hand, way, steps,
                                             elasticity or 'auto', watch)
            title = f'squeezed by {1e3 * way:g} mm by {" and ".join(answer["links"])}'
    write_json(answer, json, out)
    for warning in answer['warnings']:
        say(f'warning: {warning}')
    if picture is not None:
        drawn(f'{Path(mesh).name}, squeezed by {1e3 * way:g} mm').save(picture)
        say(f'wrote {picture}')
    if not json:
        print_table(f'{mesh} {title}', ('way [mm]', 'force [N]', 'area [mm2]'), [
            (f'{1e3 * point["way"]:.3f}', f'{point["force"]:.4g}', f'{1e6 * point["area"]:.4g}')
            for point in answer['curve']])


def _between_plates(grasp_object: GraspObject, way: float, axis: Any, steps: int, ends: str,
                    watch: OnPoint) -> tuple[dict, Callable[[str], PillowImage.Image]]:
    """Return the answer for two plates, and what draws it under a title."""
    from ...library.squeezing.plates import squeeze_object
    result = squeeze_object(grasp_object, way, axis=axis, steps=steps, ends=ends, on_point=watch)

    def drawn(title: str) -> PillowImage.Image:
        from ..report.squeeze_picture import draw_squeeze, plates_and_body
        return draw_squeeze(result.curve, title,
                            plates_and_body(result.vertices, result.faces, axis), axis)
    return {
        'curve': [asdict(point) for point in result.curve], 'quantitative': result.quantitative,
        'warnings': result.warnings, 'thickness': result.thickness, 'strain': result.strain,
        'ends': ends, 'law': grasp_object.material.law}, drawn


def _between_fingers(grasp_object: GraspObject, grasps: Path, rank: int, hand: str, way: float,
                     steps: int, elasticity: str, watch: OnPoint
                     ) -> tuple[dict, Callable[[str], PillowImage.Image]]:
    """Return the answer for the fingers of a grasp, and what draws it under a title."""
    from ...library.squeezing.fingers import squeeze_with_fingers
    from ...library.grasp_file import load_grasps, read_grasps
    model = hand_of_grasps(hand, read_grasps(grasps)[0])
    given = load_grasps(grasps, model.joint_names)
    if not 1 <= rank <= len(given):
        raise InputError(f'--rank must be 1 to {len(given)}, the grasps of {grasps.name}, '
                         f'got {rank}')
    grasp = given[rank - 1]
    result = squeeze_with_fingers(
        grasp_object, grasp.T_object_palm, grasp.trajectory[-1], way, hand=model, steps=steps,
        elasticity=elasticity, on_point=watch)

    def drawn(title: str) -> PillowImage.Image:
        from ..report.squeeze_picture import draw_squeeze, hand_and_body
        mesh = grasp_object.mesh
        return draw_squeeze(result.curve, title, hand_and_body(
            model, result.joints[-1], grasp.T_object_palm, mesh.vertices, mesh.faces),
            -grasp.T_object_palm[:3, :3] @ model.approach)
    return {
        'curve': [asdict(point) for point in result.curve], 'quantitative': result.quantitative,
        'warnings': result.warnings, 'rank': rank, 'links': result.links,
        'joint_names': model.joint_names, 'touching': result.touching.tolist(),
        'joint_positions': result.joints.tolist()}, drawn
