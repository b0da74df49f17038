"""``gripsim palpate``: the hand squeezes an object gently and tells how stiff it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import count, real_number, whole_number
from .execute import (
    DONE, FAULT, INTERRUPTED, OBJECT_FRAME, Progress, executor, read_ranked)
from .inputs import InputError, existing_file, hand_of_grasps
from .options import Hand, Json, Out
from .output import check_writable, print_table, say, write_json

if TYPE_CHECKING:
    from ...core.bodies import GraspObject, Material
    from ...core.hand import HandModel

#: Grasps of a file of which the most telling is palpated: those that press least.
MOST_TRIED = 10


def palpate(
        grasps: Annotated[Path, typer.Argument(
            metavar='GRASPS.json', help='As written by plan, with what is believed of the '
            'material.')],
        rank: Annotated[int, typer.Option(help='Which grasp of the file, from 1; 0: the first '
                                          'by which any modulus can be told well.')] = 0,
        simulate: Annotated[bool, typer.Option(
            '--simulate', help='Start a simulated hand and its object for this; surfaces are as '
            'the meshes to 0.02 mm and joints read to 0.02 mrad, whatever surface_error and '
            'joint_resolution of the executor are.')] = False,
        true_modulus: Annotated[float, typer.Option(
            '--true-modulus', parser=real_number, metavar='PA', help='With --simulate: the '
            'modulus that the object has there; 0: that of the file.')] = 0.0,
        mesh: Annotated[str | None, typer.Option(
            metavar='MESH', help='The object, where the file names a mesh that is elsewhere '
            'now.')] = None,
        squeezes: Annotated[int, typer.Option(
            '--squeezes', parser=whole_number, metavar='N', help='0: the default of the '
            'executor.')] = 0,
        most_force: Annotated[float, typer.Option(
            '--most-force', parser=real_number, metavar='N', help='Half the sum of the normal '
            'forces of the pads; 0: the default of the executor.')] = 0.0,
        most_modulus: Annotated[float, typer.Option(
            '--most-modulus', parser=real_number, metavar='PA', help='The most that the object is '
            'thought to have, above what is believed; forces need not spare what is stiffer. 0: '
            'the default of the executor.')] = 0.0,
        stay: Annotated[bool, typer.Option(
            '--stay', help='Leave the fingers where they are instead of opening the hand.'
            )] = False,
        material_out: Annotated[Path | None, typer.Option(
            '--material-out', metavar='FILE.yaml', help='Write the material with the modulus '
            'felt.')] = None,
        plan: Annotated[Path | None, typer.Option(
            '--plan', metavar='OUT.json', help='Close the grasp again on the material felt, and '
            'write it with its new forces, to be executed.')] = None,
        hand: Hand = '', json: Json = False, out: Out = None) -> int:
    """
    Squeeze an object gently with the fingers of a planned grasp, and tell its modulus.

    Grasps differ in how well they tell it: friction holds what bends, and sharp contacts bear
    little before they do damage. Of the ten of the file that press least the one is taken that
    tells most; the answer names it.

    The exit code is 0 where a modulus or a bound was felt, 1 where not; Ctrl-C stops the hand.
    """
    for path in (out, material_out, plan):
        check_writable(path)
    if true_modulus and not simulate:
        raise InputError('--true-modulus goes with --simulate: a real object has its own')
    if squeezes:
        count('--squeezes', squeezes, 10)
    wishes = {'squeezes': squeezes, 'most_force': most_force, 'most_modulus': most_modulus}
    content, grasp = read_ranked(existing_file(grasps, 'grasps'), rank or 1)
    model = hand_of_grasps(hand, content)
    from ...library.planned_object import object_of_grasps
    believed = object_of_grasps(content, grasps, mesh or '')
    values = _palpation_values(believed, simulate, wishes)
    if rank == 0:
        rank = _most_telling(content['grasps'], model, believed, simulate, values)
        grasp = content['grasps'][rank - 1]
    world = {'object_modulus': float(true_modulus)} if simulate else {}
    with executor(believed if simulate else None, world, model) as client:
        from gripsim_interfaces.action import Palpate
        from ...ros.clients.execute import RESULT_NAMES
        from ...ros.conversions.requests.grasp_files import grasp_to_execute
        from ...ros.conversions import grasp_object_to_msg
        if not simulate:
            client.publish_object(grasp_object_to_msg(believed))
        goal = Palpate.Goal(
            grasp=grasp_to_execute(grasp, model, OBJECT_FRAME, f'grasps {grasps}: grasp {rank}'),
            object_id=believed.id, stay=stay, **wishes)
        with Progress(client, not stay) as progress:
            result = client.palpate(goal, progress.show, lambda: progress.interrupted)
    status = RESULT_NAMES.get(result.status, str(result.status))
    if status == 'INVALID_REQUEST':
        raise InputError(result.message)
    answer = {'rank': rank, **_as_mapping(result, status)}
    if status == 'SUCCEEDED':
        felt = _felt_material(believed, result)
        if material_out is not None:
            from ...library.squeezing.plates import write_material
            write_material(felt, material_out)
            say(f'wrote {material_out}; all but the modulus is as believed')
        if plan is not None:
            _replan(plan, content, grasp, model, believed, felt)
    write_json(answer, json, out)
    if not json:
        _print(answer)
    if progress.interrupted and status == 'CANCELED':
        return INTERRUPTED
    return DONE if status == 'SUCCEEDED' else FAULT


def _palpation_values(believed: GraspObject, simulate: bool, wishes: dict[str, Any]
                      ) -> dict[str, Any]:
    """Return the executor's parameters, with ``options`` of the palpation that is wished for."""
    from ...hardware.palpation.options import PalpationOptions
    from ...ros.clients.suite import SIMULATED_READINGS
    from ...ros.nodes.base.parameters import default_values
    values = {**default_values('grasp_executor'), **(SIMULATED_READINGS if simulate else {})}
    options = PalpationOptions.from_mapping(values).wished(**wishes)
    options.check_believed(believed.material.youngs_modulus)
    return {**values, 'options': options}


def _most_telling(grasps: list[dict[str, Any]], hand: HandModel, believed: GraspObject,
                  simulate: bool, values: dict[str, Any]) -> int:
    """Return the rank of the first grasp by which any modulus can be told well, or the best."""
    if len(grasps) == 1:
        return 1
    import numpy as np

    from ...core.errors import TaskError
    from ...hardware.execution.plan import finger_plans, PlannedContact
    from ...hardware.palpation.policy import grip_shares, SqueezePolicy, weakest_squeeze
    from ...hardware.palpation.telling import (
        expected_error, most_telling, pressure_of_weakest, USELESS)
    from ...hardware.sim.hand_model import hand_as_simulated
    from ...library.grasp_file import given_grasp
    from ...library.squeezing.grip_model import prepare_grip_model
    options, touch = values['options'], values['touch_force']
    material = believed.material
    felt = hand_as_simulated(hand) if simulate else hand

    def shares_of(grasp: dict[str, Any]) -> dict[str, float]:
        contacts = [PlannedContact.of_patch(one['link'], *(np.array(one[key]) for key in (
            'normal', 'closing_force', 'force'))) for one in grasp['contacts']]
        return grip_shares({plan.name: plan.force for plan in finger_plans(hand, contacts)})

    shares = [shares_of(grasp) for grasp in grasps]

    def pressure_of(number: int) -> float:
        if not shares[number]:       # no finger presses
            return float('inf')
        grasp = grasps[number]
        forces = np.array([np.linalg.norm(one['closing_force']) for one in grasp['contacts']])
        # Grasps of other programs may not tell pressures; they come last.
        peaks = np.array([one.get('peak_pressure', np.inf) for one in grasp['contacts']])
        return pressure_of_weakest(peaks, forces, weakest_squeeze(shares[number], touch))

    def error_of(number: int) -> float:
        if not shares[number]:
            return USELESS
        given = given_grasp(grasps[number], hand.joint_names, 'the grasp')
        try:
            grip = prepare_grip_model(
                believed, given.T_object_palm, given.trajectory[-1],
                options.longest_way(believed.mesh.vertices),
                most_strain=options.longest_strain, hand=felt,
                elasticity=values['palpation_elasticity'])
        except TaskError:       # its fingers do not squeeze the object
            return USELESS
        return expected_error(SqueezePolicy(
            grip, options, material.youngs_modulus, shares[number], touch, material.max_pressure,
            material.force_limit))

    order = sorted(range(len(grasps)), key=pressure_of)[:MOST_TRIED]

    def tell(number: int, error: float) -> None:
        known = 'no modulus' if error == USELESS else f'the modulus to {error:.0%}'
        say(f'grasp {order[number] + 1} would tell {known}')

    return order[most_telling([partial(error_of, number) for number in order], tell)] + 1


def _felt_material(believed: GraspObject, result: Any) -> Material:
    """Return the material that was believed, with the modulus that was felt."""
    material, felt = believed.material, result.material.youngs_modulus
    text = 'felt by the hand: at least' if result.is_bound else (
        f'felt by the hand, standard error {result.standard_error:.2g} Pa:')
    spread = 0.0 if result.is_bound else min(2.0, result.standard_error / felt)
    return replace(material, youngs_modulus=felt, modulus_spread=spread,
                   source=f'{text} {felt:.3g} Pa')


def _replan(path: Path, content: dict[str, Any], grasp: dict[str, Any], hand: HandModel,
            believed: GraspObject, felt: Material) -> None:
    """Close the grasp again on what was felt, and write it."""
    from ...core.bodies import GraspObject
    from ...library.grasp_file import PlanAnswer, given_grasp
    from ...library.in_process import evaluate_grasps
    given = given_grasp(grasp, hand.joint_names, 'the grasp')
    thing = GraspObject(believed.mesh, felt, believed.label)
    judged = evaluate_grasps(thing, [(given.T_object_palm, given.trajectory)], hand=hand,
                             close=True)[0]
    if judged.reason:
        say(f'warning: on the material felt the grasp does not hold: {judged.reason}')
    told = content['object']
    answer = PlanAnswer(hand, thing, told['mesh'], told['scale'], [judged],
                        {judged.reason: 1} if judged.reason else {},
                        {'evaluated': 1, 'total': 1, 'planning_time': 0.0, 'repairs': []})
    mapping = answer.to_mapping()
    if 'completion' in told:
        mapping['object']['completion'] = told['completion']
    write_json(mapping, False, path)
    say(f'wrote {path}: the grasp closed again on {felt.youngs_modulus:.3g} Pa')


def _as_mapping(result: Any, status: str) -> dict[str, Any]:
    """Return the answer with the keys of its JSON."""
    offsets = list(result.offsets)
    return {
        'status': status, 'message': result.message,
        'youngs_modulus': result.material.youngs_modulus if len(offsets) else None,
        'standard_error': result.standard_error, 'is_bound': result.is_bound,
        'quantitative': result.quantitative, 'moduli': list(result.moduli),
        'misfit': result.misfit, 'peak_force': result.peak_force,
        'damage_share': result.damage_share,
        'squeezes': [[{'way': way, 'force': force} for way, force in zip(
            result.ways[begin:end], result.forces[begin:end])]
            for begin, end in zip(offsets, offsets[1:])]}


def _print(answer: dict[str, Any]) -> None:
    """Print the answer as a table."""
    modulus, share = answer['youngs_modulus'], answer['damage_share']
    text = answer['status'] if not answer['message'] else \
        f'{answer["status"]}: {answer["message"]}'
    rows = [] if modulus is None else [
        ('grasp of the file', f'{answer["rank"]}'),
        ('modulus', f'at least {modulus:.3g}, too stiff to tell' if answer['is_bound'] else
         f'{modulus:.3g} ± {answer["standard_error"]:.2g}'),
        ('of each squeeze', ' '.join(f'{one:.3g}' for one in answer['moduli'])),
        ('largest force of the grip', f'{answer["peak_force"]:.2f}'),
        ('pressure over damage', 'no limit is known' if share != share else f'{share:.0%}'),
        ('model in its range', 'yes' if answer['quantitative'] else 'no')]
    print_table(text, ('', 'SI units'), rows)
