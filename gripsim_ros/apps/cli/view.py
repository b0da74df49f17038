"""``gripsim view``: plans in a browser, or as a picture."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import count, real_number, whole_number
from .inputs import InputError, existing_file, hand_of_grasps, read_yaml
from .joining import join_running_suite
from .options import Hand
from .output import check_writable, say

if TYPE_CHECKING:
    from ...library.planned_arm import PlannedArm
    from ..view.sources import Source

#: Seconds between two looks at whether it shall end.
WATCH_PERIOD = 0.2


def view(
        files: Annotated[list[Path] | None, typer.Argument(
            metavar='[FILE]...', show_default='the running suite',
            help='JSON of plan --out, several to see the plans beside each other, or a recording '
            '(.mcap).')] = None,
        mesh: Annotated[str, typer.Option(
            '--mesh', help='Mesh of the object, if it is not where the JSON says.')] = '',
        rank: Annotated[int, typer.Option(
            '--rank', parser=whole_number, metavar='N', help='Grasp shown first.')] = 1,
        fraction: Annotated[float, typer.Option(
            '--fraction', parser=real_number, metavar='0..1',
            help='Moment of its closing: 0 open, 1 the grasp.')] = 1.0,
        whole: Annotated[bool, typer.Option(
            '--whole', help='Let --fraction count the whole motion of a plan with a displacement: '
            'approach, closing, carrying, opening, retreat.')] = False,
        port: Annotated[int, typer.Option(
            '--port', parser=whole_number, metavar='N', help='Port of the page.')] = 8080,
        host: Annotated[str, typer.Option(
            '--host', help='Address that the page is served at.')] = '127.0.0.1',
        open_: Annotated[bool, typer.Option(
            '--open/--no-open', help='Open the page in a browser.')] = True,
        picture: Annotated[Path | None, typer.Option(
            '--picture', help='Write a PNG of a file instead of serving a page.')] = None,
        boxes: Annotated[bool, typer.Option(
            '--boxes', help='Show the oriented boxes of links and object, and their regions of '
            'potential interaction.')] = False,
        namespace: Annotated[str, typer.Option(
            '--namespace', help='Namespace of the suite.')] = '',
        hand: Hand = '',
        arm: Annotated[Path | None, typer.Option(
            '--arm', help='The arm of the plan, if it is not where the JSON says.')] = None,
        object_pose: Annotated[Path | None, typer.Option(
            '--object-pose', help='With --arm: YAML {position, orientation} of the object in its '
            'base.')] = None) -> int:
    """Show a plan, a recording or the running suite: object, pressures, hand, closing."""
    check_writable(picture)
    if not 0.0 <= fraction <= 1.0:
        raise InputError(f'--fraction must be from 0 to 1, got {fraction:g}')
    count('--rank', rank)
    count('--port', port, 65535)
    file = files[0] if files else None
    if files and len(files) > 1:
        if mesh or arm or object_pose or whole:
            raise InputError('--mesh, --arm, --object-pose and --whole go with one plan')
        source = _beside(files, hand, rank)
    else:
        source = _source(file, mesh, namespace, hand, _arm(arm, object_pose, file))
    if whole:
        _check_motion(source, rank)
    if picture is not None:
        return _draw(source, rank, fraction, whole, picture, boxes)
    from ..view.browser import BrowserView
    page = BrowserView(source, port, host, boxes)
    ended = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        page.open()
        if source.grasps:
            (source.move if whole else source.select)(_checked_rank(rank, source), fraction)
        shown = ', '.join(map(str, files)) if files else 'the running suite'
        say(f'{page.url} shows {shown}; end it with Ctrl-C')
        if open_:
            import webbrowser
            webbrowser.open(page.url)
        while not ended.wait(WATCH_PERIOD):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        page.close()
        signal.signal(signal.SIGTERM, before)
    return 0


def _arm(arm: Path | None, object_pose: Path | None, file: Path | None) -> PlannedArm | None:
    if arm is None and object_pose is None:
        return None
    if arm is None or object_pose is None:
        raise InputError('--arm and --object-pose go together')
    if file is None or file.suffix == '.mcap':
        raise InputError('--arm and --object-pose go with the JSON of a plan')
    from ...core.arm import load_arm
    from ...library.planned_arm import PlannedArm, object_before_arm
    from ...library.resources import resolve_uri
    return PlannedArm(load_arm(existing_file(arm, 'arm'), resolve_uri),
                      object_before_arm(read_yaml(object_pose, 'object pose'),
                                        f'object pose {object_pose}'), str(arm))


def _source(file: Path | None, mesh: str, namespace: str, hand: str,
            arm: PlannedArm | None) -> Source:
    if hand and (file is None or file.suffix == '.mcap'):
        raise InputError('--hand goes with the JSON of a plan: a recording and a running suite '
                         'show their own')
    if file is None:
        join_running_suite('name the JSON of a plan or a recording')
        from ..view.sources import SuiteSource
        return SuiteSource(namespace)
    existing_file(file, 'plan')
    if file.suffix == '.mcap':
        from ..view.sources import RecordingSource
        return RecordingSource(file)
    from ...library.grasp_file import read_grasps
    from ..view.sources import PlanSource
    model = hand_of_grasps(hand, read_grasps(file)[0])
    say(f'working out the contacts of {file}')
    return PlanSource(file, mesh, model, arm)


def _beside(files: Sequence[Path], hand: str, rank: int) -> Source:
    """Return plans beside each other, named by what tells their files apart."""
    from ..view.beside import PlansBeside
    from ..view.sources import PlanSource
    for file in files:
        if existing_file(file, 'plan').suffix == '.mcap':
            raise InputError(f'{file}: only plans can be seen beside each other')
    plans = [_source(file, '', '', hand, None) for file in files]
    named = [file.stem for file in files]
    if len(set(named)) < len(named):
        named = [f'{file.resolve().parent.name}/{file.stem}' for file in files]
    return PlansBeside([plan for plan in plans if isinstance(plan, PlanSource)], named, rank)


def _check_motion(source: Source, rank: int) -> None:
    """Refuse what has no whole motion to show."""
    from ..view.sources import PlanSource
    if not isinstance(source, PlanSource):
        source.close()
        raise InputError('--whole takes the JSON of a plan')
    source.moved(_checked_rank(rank, source), 0.0)


def _checked_rank(rank: int, source: Source) -> int:
    from ..view.beside import PlansBeside
    if isinstance(source, PlansBeside):
        return source.first
    if rank > len(source.grasps):
        raise InputError(f'--rank must be from 1 to {len(source.grasps)}, got {rank}')
    return rank


def _draw(source: Source, rank: int, fraction: float, whole: bool, picture: Path,
          boxes: bool) -> int:
    from ..view.beside import FRONT, PlansBeside
    from ..view.picture import draw_markers
    from ..view.sources import PlanSource, SuiteSource
    if isinstance(source, SuiteSource):
        source.close()
        raise InputError('--picture takes the JSON of a plan or a recording')
    rank = _checked_rank(rank, source)
    arrays = [source.moved(rank, fraction)] if whole and isinstance(source, PlanSource) else \
        source.arrays(rank, fraction)
    image = draw_markers(arrays, source.size, FRONT, zoom=source.zoom, boxes=boxes) if isinstance(
        source, PlansBeside) else draw_markers(arrays, boxes=boxes)
    image.save(picture, format='PNG', optimize=True)
    say(f'wrote {picture}')
    return 0
