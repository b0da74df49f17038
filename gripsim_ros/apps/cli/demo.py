"""``gripsim demo``: an apple, the four nodes, ranked grasps, a report and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import count, whole_number
from .inputs import InputError, read_hand
from .options import Hand
from .output import say, write_json
from .progress import StartProgress
from .requests import PlanLimits, PlanRequest, read_request

if TYPE_CHECKING:
    from ...library.grasp_file import PlanAnswer

#: Material of the apple, and hypotheses judged, unless told otherwise.
MATERIAL, HYPOTHESES = 'firm_fruit', 60


def demo(
        folder: Annotated[Path, typer.Option(
            '--folder', help='Where report, pictures and grasps go.')] = Path('demo'),
        hypotheses: Annotated[int, typer.Option(
            '--hypotheses', parser=whole_number, metavar='N',
            help='Most hypotheses judged.')] = HYPOTHESES,
        material: Annotated[str, typer.Option(
            '--material', metavar='NAME|FILE', help='What the apple is made of.')] = MATERIAL,
        hand: Hand = '') -> int:
    """Start the nodes, plan grasps of an apple over DDS, write a report and pictures.

    Where ROS is not installed, one process plans.
    """
    limits = PlanLimits(hypotheses=count('--hypotheses', hypotheses))
    read_hand(hand)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f'--folder {folder}: {error.strerror}') from error
    request = read_request(str(_write_apple(folder / 'apple.ply')), 1.0, material, None, limits,
                           hand=hand)
    missing = _missing_for_nodes()
    if missing:
        say(f'{missing} is not installed: this process plans, without the nodes (the first time '
            'it compiles the numerical kernels)')
    with nullcontext() if missing else _suite(hand):    # the report does not wait for their end
        answer, interrupted = _plan(request, bool(missing))
        _tell(answer, folder)
    return 130 if interrupted else 0


def _plan(request: PlanRequest, here: bool) -> tuple[PlanAnswer, bool]:
    """Return the answer of this process, or of the nodes, and whether Ctrl-C ended the plan."""
    if here:
        from .plan import plan_here
        return plan_here(request)
    from .answers.nodes import plan_by_nodes
    return plan_by_nodes(request, with_surfaces=True)


def _missing_for_nodes() -> str:
    """Return the first package that the nodes need and that is not there; empty where all are."""
    from importlib import import_module
    for name in ('rclpy', 'gripsim_interfaces'):
        try:
            import_module(name)
        except ImportError:
            return name
    return ''


@contextmanager
def _suite(hand: str) -> Iterator[None]:
    """Run the four nodes meanwhile."""
    import os

    from ...ros.environment import enter_isolation
    enter_isolation()
    from ...ros.clients.suite import NODES, Suite
    say(f'starting {", ".join(NODES)} (the first start compiles the numerical kernels)')
    progress = StartProgress()
    with Suite(os.environ, hand=hand, on_progress=progress):
        progress.close()
        yield


def _write_apple(path: Path) -> Path:
    import trimesh

    from ...core.bodies import shapes
    apple = shapes.apple()
    trimesh.Trimesh(apple.vertices, apple.faces, process=False).export(path)
    return path


def _tell(answer: PlanAnswer, folder: Path) -> None:
    """Print the grasps; write them, the report and the pictures."""
    from .tables import print_answer
    print_answer(answer)
    from ..report import write_pictures, write_report
    write_json(answer.to_mapping(), False, folder / 'grasps.json')
    write_report(answer, folder / 'report.html')
    say(f'wrote {folder / "report.html"}: open it in a browser')
    for path in write_pictures(answer, folder):
        say(f'wrote {path}')
