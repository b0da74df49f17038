"""``gripsim preshape``: how fingers close on a section of a mesh, or on a line of a scan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import finite_numbers, positive, real_number, unit_vector
from .inputs import InputError, existing_file, read_hand, read_material, read_mesh
from .options import Hand, Json, MaterialName, Out, Scale
from .output import check_writable, print_table, say, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.bodies import TriangleMesh
    from ...core.hand import HandModel
    from ...core.planning.planar_closing.contour import Contour
    from ..report.closure_picture import ClosureScene

#: Gaps between palm and contour that are tried, unless one is given [m].
GAPS = (0.006, 0.03, 0.06, 0.09)
#: Most phalanges of a chain.
MOST_PHALANGES = 20


@dataclass(frozen=True, eq=False)
class _Shape:
    """A contour, what fingers meet, what was mended, and where it comes from."""

    contour: Contour
    walls: TriangleMesh
    notes: tuple[str, ...]
    source: str


def preshape(
        shape: Annotated[str, typer.Argument(
            metavar='SHAPE', help='Mesh, or points along a contour: CSV, TXT, XYZ, NPY, or PLY '
            'without faces.')],
        scale: Scale = 1.0, material: MaterialName = None,
        normal: Annotated[str | None, typer.Option(
            '--normal', metavar='X Y Z', show_default='the longest axis',
            help='Normal of the plane that cuts a mesh.')] = None,
        gap: Annotated[float | None, typer.Option(
            '--gap', parser=real_number, metavar='M', show_default='several are tried',
            help='From the palm to the contour.')] = None,
        clearance: Annotated[float, typer.Option(
            '--clearance', parser=real_number, metavar='M',
            help='Between fingers and contour; negative: interference.')] = 0.0,
        in_turn: Annotated[bool, typer.Option(
            '--in-turn', help='Joint after joint instead of all of a finger together.')] = False,
        mirror: Annotated[bool, typer.Option(
            '--mirror', help='Close an open contour by its mirror image.')] = False,
        lengths: Annotated[str | None, typer.Option(
            '--lengths', metavar='L1 L2 …', show_default='the hand',
            help='Phalanges of one finger against the corner of thumb and palm.')] = None,
        pivot: Annotated[str | None, typer.Option(
            '--pivot', metavar='X Y', show_default='on the palm, beside the contour',
            help='Of the first phalanx of --lengths, in the corner.')] = None,
        thickness: Annotated[float, typer.Option(
            '--thickness', parser=real_number, metavar='M',
            help='Of the phalanges of --lengths.')] = 0.0,
        published: Annotated[bool, typer.Option(
            '--published', help='Keep the clearance as the closure paper prints it, by moving '
            'the coordinates of the contour.')] = False,
        picture: Annotated[Path | None, typer.Option(
            '--picture', help='Write a PNG of the closure.')] = None,
        hand: Hand = '', json: Json = False, out: Out = None) -> None:
    """Close fingers on a planar contour: a preshape, joint angles and contacts."""
    for path in (out, picture):
        check_writable(path)
    if picture is not None and picture.suffix.lower() != '.png':
        raise InputError(f'--picture must end in .png, got {picture.name}')
    if lengths is None and (pivot is not None or thickness != 0.0):
        raise InputError('--pivot and --thickness go with --lengths')
    if lengths is not None and hand:
        raise InputError('--lengths closes one finger without a hand: leave --hand away')
    read = _read_shape(shape, positive('--scale', scale), normal, mirror)
    for note in read.notes:
        say(f'warning: {shape}: {note}')
    if published:
        read, clearance = _moved(read, clearance), 0.0
    if lengths is None:
        gaps = GAPS if gap is None else (_not_negative('--gap', gap),)
        friction = read_material(material).friction
        answer, scene = _close_hand(read_hand(hand), read, gaps, clearance, not in_turn,
                                    friction)
    else:
        answer, scene = _close_chain(read, lengths, pivot, thickness, clearance)
    answer = {'source': read.source, 'contour': {
        'points': len(read.contour.points), 'closed': read.contour.closed,
        'perimeter': read.contour.perimeter, 'origin': read.contour.origin,
        'axes': read.contour.axes}, **answer, 'repairs': read.notes}
    write_json(answer, json, out)
    if picture is not None:
        from ..report.closure_picture import draw_closure
        draw_closure(scene, f'Planar closure of {Path(shape).name}',
                     _summary(answer)).save(picture)
        say(f'wrote {picture}')
    if not json:
        _print(answer, shape)


def _moved(read: _Shape, clearance: float) -> _Shape:
    """Return a shape with the published virtual contour instead of its own."""
    from ...core.planning.planar_closing.preshape import prism_of
    from ...core.planning.published.virtual_contour import virtual_contour
    contour = read.contour
    middle = 0.5 * (contour.points.min(axis=0) + contour.points.max(axis=0))
    contour = replace(contour, points=middle + virtual_contour(
        contour.points - middle, [abs(clearance)] * 2, interference=clearance < 0.0))
    return replace(read, contour=contour, walls=prism_of(contour))


def _not_negative(name: str, value: float) -> float:
    if not 0.0 <= value < float('inf'):
        raise InputError(f'{name} must be a finite number of 0 or more, got {value:g}')
    return value


def _read_shape(shape: str, scale: float, normal: str | None, mirror: bool) -> _Shape:
    from ...core.bodies.scans.reading import POINT_ENDINGS, has_faces, read_points
    from ...core.errors import GripsimError
    from ...core.planning.planar_closing import contour as contours
    from ...core.planning.planar_closing.preshape import prism_of
    ending = Path(shape).suffix.lower().lstrip('.')
    if '://' in shape or ending not in POINT_ENDINGS or (
            ending == 'ply' and has_faces(existing_file(shape, 'shape'))):
        if mirror:
            raise InputError('--mirror closes contours of points, not sections of meshes')
        return _section(shape, scale, normal)
    if normal is not None:
        raise InputError('--normal cuts meshes; points have a plane of their own')
    try:
        contour, notes = contours.contour_of_points(scale * read_points(
            existing_file(shape, 'shape')))
    except GripsimError as error:
        text = str(error)
        raise type(error)(text if text.startswith(str(shape)) else f'{shape}: {text}') from None
    if mirror and not contour.closed:
        contour, notes = contours.mirrored(contour), (*notes, 'closed by its mirror image')
    return _Shape(contour, prism_of(contour), notes, 'points')


def _section(shape: str, scale: float, normal: str | None) -> _Shape:
    from ...core.bodies import GraspObject, Material
    from ...core.planning.planar_closing.preshape import middle_section
    loaded = read_mesh(shape, scale)
    body = GraspObject(loaded.mesh, Material(1.0e6, 0.3, 1000.0, 0.5))   # for its axes alone
    n = None if normal is None else unit_vector('--normal', normal)
    contour = middle_section(loaded.mesh, body.canonical_frame, n)
    return _Shape(contour, loaded.mesh, loaded.repairs, 'mesh')


def _close_hand(hand: HandModel, read: _Shape, gaps: tuple[float, ...], clearance: float,
                together: bool, friction: float) -> tuple[dict[str, Any], ClosureScene]:
    import numpy as np

    from ...core.planning.planar_closing import preshape as preshapes
    from ...core.planning.planar_closing.hand_section import ROUNDING_RADIUS
    from ...library.task_file import pose_to_mapping
    from ..report.closure_picture import ClosureScene
    contour = read.contour
    choice = preshapes.choose_preshape(hand, contour, read.walls, friction, gaps, clearance,
                                       together)
    contacts = choice.closed_hand.contacts
    answer = {
        'closes': choice.closes, 'preshape': hand.preshapes[choice.preshape].name,
        'hand_pose': pose_to_mapping(choice.T_object_palm), 'palm_gap': choice.gap,
        'joint_names': hand.joint_names, 'open': hand.preshapes[choice.preshape].open,
        'joint_positions': choice.closed_hand.joint_positions,
        'contacts': [{'link': hand.link_names[c.link], 'point': c.point, 'normal': c.normal}
                     for c in contacts],
        'fingers': choice.closed_hand.fingers, 'opposition': choice.opposition,
        'unbalance': choice.unbalance, 'overlap': choice.closed_hand.overlap}
    points = np.array([c.point for c in contacts]).reshape(-1, 3) - contour.origin
    normals = np.array([c.normal for c in contacts]).reshape(-1, 3)
    scene = ClosureScene(
        contour.points, contour.closed, preshapes.finger_shapes(choice, hand, contour),
        ROUNDING_RADIUS, points @ contour.axes.T, normals @ contour.axes.T, _chord(choice.frame),
        preshapes.palm_line(choice, hand, contour), choice.frame.y)
    return answer, scene


def _close_chain(read: _Shape, lengths: str, pivot: str | None, thickness: float,
                 clearance: float) -> tuple[dict[str, Any], ClosureScene]:
    import numpy as np

    from ...core.planning.planar_closing.first_touch import place_bars
    from ...core.planning.planar_closing.preshape import close_in_corner
    from ..report.closure_picture import ClosureScene
    numbers = finite_numbers('--lengths', lengths)
    if not (len(numbers) <= MOST_PHALANGES and (numbers > 0.0).all()):
        raise InputError(f'--lengths takes 1 to {MOST_PHALANGES} lengths above 0, got {lengths}')
    half = 0.5 * _not_negative('--thickness', thickness)
    start = None if pivot is None else finite_numbers('--pivot', pivot)
    finger, chain, frame = close_in_corner(read.contour, numbers, half, clearance, start)
    if finger.overlap > 0.0:
        say(f'warning: the straight finger begins {1e3 * finger.overlap:.3g} mm inside the '
            'contour; move it with --pivot')
    bars, owners = chain.bars
    closed = frame.to_frame(read.contour.points)
    answer = {
        'closes': len(finger.contacts) > 0, 'pivot': chain.base, 'angles': finger.angles,
        'contacts': [{'phalanx': c.phalanx, 'point': c.point, 'normal': c.normal,
                      'distance': c.distance} for c in finger.contacts],
        'overlap': finger.overlap, 'thumb': frame.to_frame(frame.first),
        'palm': frame.to_frame(frame.outermost)}
    width = float(closed[:, 0].max())
    scene = ClosureScene(
        closed, read.contour.closed,
        [(place_bars(chain.points(chain.start), bars, owners),
          place_bars(finger.points, bars, owners))], half + clearance,
        np.array([c.point for c in finger.contacts]).reshape(-1, 2),
        np.array([c.normal for c in finger.contacts]).reshape(-1, 2),
        frame.to_frame(_chord(frame)), np.array([[0.0, 0.0], [width, 0.0]]))
    return answer, scene


def _chord(frame: Any) -> NDArray[np.float64]:
    import numpy as np
    return np.stack([frame.first, frame.second, frame.outermost])


def _summary(answer: dict[str, Any]) -> str:
    import numpy as np
    verdict = 'closes' if answer['closes'] else 'does not close'
    if 'angles' in answer:
        return f'{verdict}; joint angles {_degrees(answer["angles"])} deg'
    return (f'{verdict}; {answer["preshape"]}, palm gap {1e3 * answer["palm_gap"]:.0f} mm, '
            f'{answer["fingers"]} fingers touch, normals differ by up to '
            f'{np.degrees(answer["opposition"]):.0f} deg')


def _degrees(angles: Any) -> str:
    import numpy as np
    return ' '.join(f'{angle:.2f}' for angle in np.degrees(angles))


def _print(answer: dict[str, Any], shape: str) -> None:
    print_table(f'{shape}: {_summary(answer)}', ('contact', 'point [mm]', 'normal'), [
        (str(c.get('link', f'phalanx {c.get("phalanx")}')),
         ' '.join(f'{1e3 * x:.2f}' for x in c['point']),
         ' '.join(f'{x:.3f}' for x in c['normal'])) for c in answer['contacts']])
