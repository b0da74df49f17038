"""``gripsim execute``: let the hand, simulated or real, carry out a planned grasp."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...hardware.execution.feeling.policies import POLICIES, REPLAN
from .arguments import real_number
from .inputs import InputError, existing_file, hand_of_grasps
from .options import Hand, Json, Out
from .output import check_writable, print_table, say, write_json
from .progress import StartProgress

if TYPE_CHECKING:
    from ...core.bodies import GraspObject
    from ...core.hand import HandModel
    from ...ros.clients.execute import ExecuteGraspClient

#: The frame in which the file's poses are: `object_frame` of `grasp_executor`.
OBJECT_FRAME = 'object'
DONE, FAULT, INTERRUPTED = 0, 1, 130
#: What is started for ``--simulate``, and how long its joints may be silent: nothing real moves,
#: and the machine may be busy [s].
SIMULATION, PATIENCE = ('sdh_simulator', 'grasp_executor'), 10.0
#: Time in which the weight goes over to the hand [s], as that of what is lifted off a table: a
#: soft object whose weight comes at once swings, and pulls harder than it weighs.
UNLOADING = 0.3


def execute(
        grasps: Annotated[Path, typer.Argument(
            metavar='GRASPS.json', help='As written by plan.')],
        rank: Annotated[int, typer.Option(help='Which grasp of the file, from 1.')] = 1,
        simulate: Annotated[bool, typer.Option(
            '--simulate', help='Start a simulated hand and its object for this grasp.')] = False,
        mesh: Annotated[str | None, typer.Option(
            metavar='MESH', help='With --simulate: the object, where the file names a mesh that '
            'is elsewhere now.')] = None,
        arm: Annotated[Path | None, typer.Option(
            '--arm', show_default='of the plan', help='With --simulate: the arm that carries the '
            'hand, see docs/arm.md.')] = None,
        object_pose: Annotated[Path | None, typer.Option(
            '--object-pose', show_default='of the plan', help='With --arm: YAML {position, '
            "orientation} of the object in the arm's base.")] = None,
        task: Annotated[Path | None, typer.Option(
            '--task', metavar='TASK.yaml', show_default='of the plan', help='With --simulate: its '
            'obstacles stand about the object.')] = None,
        wait_for_go: Annotated[bool, typer.Option(
            '--wait-for-go', help='After pre-shaping wait for Enter, or the service go.')] = False,
        speed_scale: Annotated[float, typer.Option(
            parser=real_number, metavar='X', help='Of the planned closing.')] = 1.0,
        squeeze: Annotated[float, typer.Option(
            parser=real_number, metavar='RAD', help='Added on closing joints, up to 0.03.')] = 0.0,
        hold_time: Annotated[float, typer.Option(
            parser=real_number, metavar='S', help='0: the default of the executor.')] = 0.0,
        lift_height: Annotated[float, typer.Option(
            parser=real_number, metavar='M', help='Simulated hand only; 0: no lift.')] = 0.0,
        release: Annotated[bool, typer.Option(
            '--release', help='Open the hand at the end.')] = False,
        carry: Annotated[bool, typer.Option(
            '--carry', help='Carry the object along its planned way; with --release set it down '
            'there, open the hand and draw it back.')] = False,
        by_touch: Annotated[bool, typer.Option(
            '--by-touch', help='Close until the pads bear the planned forces; fingers that touch '
            'first wait for the others.')] = False,
        hold_by_feel: Annotated[bool, typer.Option(
            '--hold-by-feel', help='Close by touch, then let forces follow what pads and wrist '
            'tell; what slips is pressed more, up to where damage begins.')] = False,
        missed_contact: Annotated[str, typer.Option(
            '--missed-contact', metavar='POLICY', show_default='of the executor: release, by '
            'touch', help='Where a finger finds no contact: keep the others if they hold, replan '
            '(let go, and try the next grasps of the file), release, or stop as it is.')] = '',
        report: Annotated[Path | None, typer.Option(
            '--report', metavar='R.html', help='Write a page with planned and felt force of each '
            'finger over time.')] = None,
        hand: Hand = '', json: Json = False, out: Out = None) -> int:
    """
    Carry out one planned grasp with the hand of a running suite; Ctrl-C stops the hand.

    The exit code is 0 only where the grasp succeeded, 1 where it did not.
    """
    for path in (out, report):
        check_writable(path)
    if mesh is not None and not simulate:
        raise InputError('--mesh goes with --simulate: a hand that runs has its object')
    _check_world(simulate, arm, object_pose, task)
    if missed_contact not in ('', *POLICIES):
        raise InputError(f'--missed-contact must be one of {", ".join(POLICIES)}, got '
                         f'{missed_contact!r}')
    content, grasp = read_ranked(existing_file(grasps, 'grasps'), rank)
    turns = _turns(grasps, rank) if missed_contact == REPLAN else [(rank, grasp)]
    model, simulated, world = hand_of_grasps(hand, content), None, {}
    if simulate:
        world = _read_world(arm, object_pose, task, content, grasps)
        from ...library.planned_object import object_of_grasps
        simulated = object_of_grasps(content, grasps, mesh or '')
    with executor(simulated, world, model) as client:
        from gripsim_interfaces.action import ExecuteGrasp
        from ...ros.clients.execute import RESULT_NAMES
        from ...ros.conversions.requests.grasp_files import grasp_to_execute
        goals = (ExecuteGrasp.Goal(
            grasp=grasp_to_execute(one, model, OBJECT_FRAME, f'grasps {grasps}: '
                                   f'grasp {which}'), wait_for_go=wait_for_go,
            speed_scale=speed_scale, squeeze=squeeze, hold_time=hold_time,
            lift_height=lift_height, release=release, carry=carry, by_touch=by_touch,
            hold_by_feel=hold_by_feel, missed_contact=missed_contact)
            for which, one in _told(turns))
        with Progress(client, release) as progress:
            results = client.execute_in_turn(goals, progress.show,
                                             lambda: progress.interrupted)
    result, rank = results[-1], turns[len(results) - 1][0]
    status = RESULT_NAMES.get(result.status, str(result.status))
    if status == 'INVALID_REQUEST':
        raise InputError(result.message)
    answer = _as_mapping(result, status)
    answer['rank'] = rank
    answer['missed'] = [{'rank': which, 'message': one.message}
                        for (which, _), one in zip(turns, results[:-1])]
    write_json(answer, json, out)
    if report is not None:
        from ..report.curves.forces import write_execution_report
        write_execution_report(answer, f'Execution of {grasps.name}, grasp {rank}', report,
                               _grip(model, answer['contacts']) if hold_by_feel else None)
        say(f'wrote {report}')
    if not json:
        _print(result, status)
    if progress.interrupted and status == 'CANCELED':
        return INTERRUPTED
    return DONE if status == 'SUCCEEDED' else FAULT


def _grip(model, contacts: list[dict[str, Any]]) -> dict[str, float]:
    """Return what each finger was planned to grip with [N]."""
    from ...hardware.execution.plan import finger_plans, PlannedContact
    return {finger.name: finger.force for finger in finger_plans(
        model, [PlannedContact(one['link'], one['planned_force']) for one in contacts])}


def _turns(path: Path, rank: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the grasps of a file that are tried one after the other, with their ranks."""
    from ...library.grasp_file import read_grasps
    return list(enumerate(read_grasps(path)[1], 1))[rank - 1:]


def _told(turns: list[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield turns, and say which comes next from the second on."""
    for count, turn in enumerate(turns):
        if count:
            say(f'a contact was missed; trying grasp {turn[0]} of the file')
        yield turn


def read_ranked(path: Path, rank: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the file's content and the grasp of a rank."""
    from ...library.grasp_file import read_grasps
    content, found = read_grasps(path)
    if not found:
        raise InputError(f'grasps {path}: there is no grasp in it')
    if not 1 <= rank <= len(found):
        raise InputError(f'--rank must be from 1 to {len(found)}, got {rank}')
    return content, found[rank - 1]


def _check_world(simulate: bool, arm: Path | None, object_pose: Path | None, task: Path | None
                 ) -> None:
    if not simulate and (arm, object_pose, task) != (None, None, None):
        raise InputError('--arm, --object-pose and --task go with --simulate: a hand that runs '
                         'has its arm and its surroundings')
    if (arm is None) != (object_pose is None):
        raise InputError('--arm and --object-pose go together')


def _read_world(arm: Path | None, object_pose: Path | None, task: Path | None,
                content: dict[str, Any], grasps: Path) -> dict[str, str]:
    """
    Return what the simulator is told of arm, object and obstacles; checked before it starts.

    What is not named is taken from the file of grasps. The simulator's world is the arm's base.
    """
    from ...core.transforms import to_pose
    from ...library.planned_arm import arm_of_grasps
    from ...library.task_file import load_task, task_of_grasps
    told, T_arm_object = {}, None
    if arm is not None:
        from .answers.arm import read_arm_task
        T_arm_object = read_arm_task(
            existing_file(arm, 'arm'), existing_file(object_pose, 'object pose')).T_base_object
    elif (planned := arm_of_grasps(content, grasps)) is not None:
        arm, T_arm_object = Path(planned.file), planned.T_base_object
    if arm is not None and T_arm_object is not None:
        numbers = [number for part in to_pose(T_arm_object) for number in part]
        told = {'arm_config': str(arm.resolve()),
                'object_start': ' '.join(f'{number:.17g}' for number in numbers)}
    if task is not None:
        load_task(existing_file(task, 'task'), T_arm_object)
        told['surroundings'] = str(task.resolve())
    elif len(task_of_grasps(content, grasps).obstacles):
        told['surroundings'] = str(grasps.resolve())
    return told


@contextlib.contextmanager
def executor(simulated: GraspObject | None, world: dict[str, Any], hand: HandModel
             ) -> Iterator[ExecuteGraspClient]:
    """Yield a client of the suite that runs, or of a simulation of a hand and an object."""
    from ...ros.environment import RECORDED, enter_isolation, join_suite
    if simulated is None:
        join_suite()
        from ...ros.clients.execute import ExecuteGraspClient
        with ExecuteGraspClient() as client:
            yield client
        return
    enter_isolation('execute')
    import os
    from ...library.resources import own_hand_file
    from ...ros.clients.execute import ExecuteGraspClient
    from ...ros.clients.suite import Suite
    from ...ros.conversions import grasp_object_to_msg
    own = own_hand_file(hand)
    say(f'starting a simulated hand{f" {hand.name}" if own else ""}'
        + (f' on the arm of {world["arm_config"]}' if 'arm_config' in world else '')
        + (f', among the obstacles of {world["surroundings"]}' if 'surroundings' in world else ''))
    # Apart from a suite in the same ROS domain, and where a recorder listens, if there is one.
    apart = os.environ.get(RECORDED) or f'execute_{os.getpid()}'
    progress = StartProgress()
    suite = Suite(os.environ, apart, hardware='sim', hand=own, on_progress=progress,
                  parameters={'grasp_executor': {'joint_timeout': PATIENCE},
                              'sdh_simulator': {'unloading_time': UNLOADING, **world}})
    try:
        suite.start(SIMULATION)
        suite.wait_until_ready(SIMULATION)
        progress.close()
        with ExecuteGraspClient(apart) as client:
            client.publish_object(grasp_object_to_msg(simulated))
            yield client
    finally:
        progress.close()
        suite.stop(SIMULATION)


class Progress:
    """Tells the phases on standard error; Ctrl-C cancels, a second one leaves at once."""

    def __init__(self, client: ExecuteGraspClient, release: bool) -> None:
        self.interrupted, self._client, self._phase = False, client, None
        self._release = release

    def __enter__(self) -> Progress:
        self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_) -> None:
        signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, *_) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        say('stopping the hand; press Ctrl-C again to leave without knowing that it has stopped')

    def show(self, feedback) -> None:
        """Tell a phase when it begins, and what is touched."""
        from ...ros.clients.execute import PHASE_NAMES
        if feedback.phase == self._phase:
            return
        self._phase = feedback.phase
        name = PHASE_NAMES.get(feedback.phase, str(feedback.phase))
        if name == 'RELEASING' and not self._release:
            return                              # so the end is called where nothing is released
        touching = ', '.join(getattr(feedback, 'touching_links', ()))
        say(f'{name.lower().replace("_", " ")}{f": {touching} touch" if touching else ""}')
        if name == 'WAITING':
            say('press Enter to close the hand')
            threading.Thread(target=self._wait_for_enter, daemon=True).start()

    def _wait_for_enter(self) -> None:
        if sys.stdin is not None and sys.stdin.readline():
            self._client.go()


def _as_mapping(result, status: str) -> dict[str, Any]:
    import numpy as np
    from ...ros.clients.execute import PHASE_NAMES
    return {'status': status, 'message': result.message, 'contacts': [
        {'link': link, 'planned_force': planned, 'found_force': found} for link, planned, found
        in zip(result.contact_links, result.planned_forces, result.found_forces)],
        'joint_names': list(result.joint_names), 'joint_positions': list(result.joint_positions),
        'joint_errors': list(result.joint_errors), 'lifted': result.lifted, 'slip': result.slip,
        'closing_time': result.closing_time, 'carried': result.carried, 'turn': result.turn,
        'phases': [{'phase': PHASE_NAMES[phase].lower(), 'time': time}
                   for phase, time in zip(result.phases, result.phase_times)],
        'finger_names': list(result.finger_names), 'force_times': list(result.force_times),
        **{key: np.reshape(getattr(result, key), (-1, max(1, len(result.finger_names)))).tolist()
           for key in ('finger_planned_forces', 'finger_felt_forces')}}


def _print(result, status: str) -> None:
    text = status if not result.message else f'{status}: {result.message}'
    print_table(f'{text}, closed in {result.closing_time:.1f} s'
                + (', lifted' if result.lifted else '')
                + (f', carried, {1e3 * result.slip:.1f} mm and {degrees(result.turn):.1f}° off in '
                   'the hand at most' if result.carried else ''),
                ('link', 'planned [N]', 'found [N]'),
                [(link, f'{planned:.2f}', 'unknown' if found != found else f'{found:.2f}')
                 for link, planned, found in zip(result.contact_links, result.planned_forces,
                                                 result.found_forces)])
