"""
Hold prediction against physics over many evaluated hypotheses, stable or not.

For every hypothesis that came to contact the state that holds, or that of its rejection, is
closed in MuJoCo to the same joint torques, and pulled along six axes. The prediction is asked
the same: six directions, 10 m/s^2, the same friction and torsion. So both judge one squeeze.
Beside it stand palms from random directions, closed blindly in physics alone.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.hold.blind import close_blindly
from benchmarks.hold.closing_way import predicted
from benchmarks.hold.bodies import all_objects, MATERIALS, true_pieces
from benchmarks.hold.shake import (
    ACCELERATION, add_options, CLOSING_TIME, HeldObject, judge, Shaker, SIX_AXES, SQUEEZE_TIME)
from benchmarks.hold.states import EvaluatedState, random_palm, StateSource, undamaged
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.library.resources import load_default_hand

#: Multiples of the pull at which verdicts are compared.
FACTORS = (0.5, 1.0, 2.0)
#: Time of each pull [s]: what has not begun to slip after one second will not.
PULL_TIME = 1.0
#: A pull set at once asks for so many times its size, as physics alone tells: half of what
#: breaks loose at so much more under a growing pull is lost.
DYNAMIC_FACTOR = 1.1
#: Overlap of the open hand with the object at which a random palm is drawn anew [m].
FREE = 0.0005
SEED = 1
GROUPS = ('proposed', 'random', 'on the way', 'blind')


def judge_state(state: EvaluatedState, held: HeldObject, hand, meshes: Path) -> dict:
    """Close a state to its own torques in physics and return prediction and verdict."""
    shaker = Shaker(held, state.T_object_palm, hand, meshes, state.rows[0])
    shaker.move(state.rows, CLOSING_TIME)
    shaker.press(state.efforts)
    forces = shaker.link_forces()
    fails_at = shaker.failing_acceleration()
    verdict = judge(shaker, PULL_TIME)
    return {'holds': state.holds, 'margin': state.margin, 'bearing': state.bearing,
            'verdict': state.verdict,
            'quantitative': state.quantitative, 'normal_force': state.normal_force,
            'torsion': state.torsion, 'links': state.links, 'held': bool(verdict.held),
            'fails_at': fails_at, 'push': verdict.push, 'shift': verdict.shift,
            'turn': verdict.turn, 'measured_force': sum(forces.values()),
            'measured_links': len(forces),
            'exerted': shaker.data.actuator_force.tolist(), 'pose': state.T_object_palm.tolist(),
            'rows': state.rows[[0, -1]].tolist(), 'efforts': state.efforts.tolist()}


def judge_random(grasp_object, held: HeldObject, hand, meshes: Path, generator) -> dict:
    """Close the hand blindly at a random palm that does not overlap the object."""
    while True:
        pose = random_palm(grasp_object, hand, generator)
        preshape = hand.preshapes[int(generator.integers(len(hand.preshapes)))]
        shaker = Shaker(held, pose, hand, meshes, preshape.open)
        if shaker.penetration < FREE:
            break
    force = held.mass * ACCELERATION / held.friction
    fingers = close_blindly(shaker, preshape.open, preshape.closed, force)
    fails_at = shaker.failing_acceleration()
    verdict = judge(shaker, PULL_TIME)
    return {'fingers': fingers, 'held': bool(verdict.held), 'fails_at': fails_at,
            'push': verdict.push}


def examine(name: str, mesh, mass: float, kind: str, arguments) -> dict:
    """Return the records of one object."""
    hand = undamaged(load_default_hand()) if arguments.undamaged else load_default_hand()
    modulus, poisson, friction = MATERIALS[kind]
    body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
    task = Task(gravity_directions=np.array(SIX_AXES), gravity=ACCELERATION)
    source, pieces = StateSource(body, hand, task), true_pieces(name, mesh)
    held = HeldObject(pieces, mass, friction, arguments.torsion, arguments.drag)
    records: dict[str, list] = {group: [] for group in GROUPS}
    rejected: dict[str, int] = {}
    for seed in arguments.seed:
        for group, state in _states(source, seed, arguments, rejected):
            body_pressed = replace(held, torsion=state.torsion)
            # As `press` does: fingers that lag behind their command arrive first.
            motion = predicted(state, body, hand, task, arguments.drag, SQUEEZE_TIME)
            records[group].append(judge_state(state, body_pressed, hand, arguments.meshes)
                                  | {'seed': seed, 'bears': motion.bears, 'stays': motion.stays,
                                     'way': motion.way})
        generator = np.random.default_rng(seed)
        records['blind'] += [judge_random(body, held, hand, arguments.meshes, generator)
                             for _ in range(arguments.blind)]
    return {'name': name, 'mass': mass, 'kind': kind, 'rejected': rejected, **records}


def _states(source: StateSource, seed: int, arguments, rejected: dict[str, int]):
    """Yield group and state of every hypothesis of a seed; count those without."""
    for group, hypotheses in (('proposed', source.proposed(arguments.hypotheses, seed - SEED)),
                              ('random', source.random(arguments.random, seed))):
        for hypothesis in hypotheses:
            states, reason = source.close(hypothesis)
            if not states:
                rejected[reason] = rejected.get(reason, 0) + 1
            for i, state in enumerate(states):
                yield 'on the way' if i else group, state


def confusion(records: list[dict], factor: float = 1.0, sudden: bool = False,
              damage: bool = True) -> np.ndarray:
    """
    Return counts (2, 2): rows predicted to hold or not, columns held in physics or not.

    The pull grows to ``factor`` x 10 m/s^2; sudden: six pulls of 10 m/s^2 set at once, for
    which a margin of ``DYNAMIC_FACTOR`` predicts that it holds. With ``damage`` the prediction
    is the planner's own verdict, all its limits included; without, pads stand any pressure.
    """
    table = np.zeros((2, 2), int)
    for record in records:
        asked = DYNAMIC_FACTOR if sudden else factor
        predicted = record['margin'] >= asked if damage else record['bearing'] >= asked
        if damage and asked >= 1.0:
            predicted = record['holds'] and predicted
        held = record['held'] if sudden else record['fails_at'] >= factor * ACCELERATION
        table[int(not predicted), int(not held)] += 1
    return table


def moving_confusion(records: list[dict], sudden: bool = False) -> np.ndarray:
    """Return counts as ``confusion``, predicted by a free object that fingers close on."""
    table = np.zeros((2, 2), int)
    for record in records:
        held = record['held'] if sudden else record['fails_at'] >= ACCELERATION
        table[int(not record['bears']), int(not held)] += 1
    return table


def balanced_accuracy(table) -> float:
    """Return the mean of the shares of held and of lost states that were predicted."""
    with np.errstate(invalid='ignore'):
        return float(np.mean(np.diag(table) / table.sum(axis=0)))


def distinct(records: list[dict]) -> list[dict]:
    """Return records of one object, one of those that are mirror images or of several seeds."""
    found: dict[tuple, dict] = {}
    for record in records:
        key = (record['verdict'], round(record['margin'], 2), round(record['normal_force'], 2))
        found.setdefault(key, record)
    return list(found.values())


def merged(results: list[dict]) -> list[dict]:
    """Return one result for each object, of all those of the same name."""
    found: dict[str, dict] = {}
    for result in results:
        of = found.setdefault(result['name'], {**result, **{g: [] for g in GROUPS}})
        for group in GROUPS:
            of[group] = of[group] + result[group]
    return list(found.values())


def report(results: list[dict]) -> None:
    """Print the tables over all objects, each state counted once."""
    results = [{**result, **{group: distinct(result[group]) for group in GROUPS[:3]}}
               for result in merged(results)]
    for groups in (('proposed',), ('random',), ('proposed', 'random'),
                   ('proposed', 'random', 'on the way')):
        records = [r for result in results for g in groups for r in result[g]]
        print(f'\n{", ".join(groups)}: {len(records)} states')
        for factor in FACTORS:
            _print_table(f'growing to {factor:3.1f} x 10 m/s^2', confusion(records, factor))
        _print_table('sudden, 10 m/s^2', confusion(records, sudden=True))
        _print_table('holding alone, growing', confusion(records, damage=False))
        _print_table('holding alone, sudden', confusion(records, sudden=True, damage=False))
        moved = [record for record in records if 'bears' in record]
        for sudden in (False, True) if moved else ():
            _print_table(f'free while closing, {"sudden" if sudden else "growing"}',
                         moving_confusion(moved, sudden))
    sound = [r for r in records if r['quantitative']]
    _print_table('of these quantitative, growing to 10 m/s^2', confusion(sound))
    _report_ratios(sound)
    _report_reasons([r for result in results for g in ('proposed', 'random') for r in result[g]])
    _report_halves(results)
    _report_blind([r for result in results for r in result['blind']])


def _report_blind(blind: list[dict]) -> None:
    """Print the base rate."""
    for factor in FACTORS if blind else ():
        held = np.mean([r['fails_at'] >= factor * ACCELERATION for r in blind])
        print(f'random palms closed blindly: {held:6.1%} of {len(blind)} hold at '
              f'{factor:3.1f} x 10 m/s^2')
    if blind:
        print(f"and {np.mean([r['held'] for r in blind]):6.1%} sudden pulls of 10 m/s^2")


def _print_table(name: str, table) -> None:
    print(f'  {name}: predicted and held {table[0, 0]}, predicted but lost {table[0, 1]}, '
          f'not predicted but held {table[1, 0]}, neither {table[1, 1]}; balanced accuracy '
          f'{balanced_accuracy(table):.3f}')


def _report_halves(results: list[dict]) -> None:
    """Print how well each half of the objects agrees, of holding alone."""
    for half in (0, 1):
        records = [r for result in results[half::2] for g in ('proposed', 'random')
                   for r in result[g]]
        for sudden in (False, True):
            accuracy = balanced_accuracy(confusion(records, sudden=sudden, damage=False))
            pull = 'sudden' if sudden else 'growing'
            print(f'objects {half + 1}, {half + 3}, ...: {len(records)} states, holding alone, '
                  f'{pull}: balanced accuracy {accuracy:.3f}')


def _report_ratios(records: list[dict]) -> None:
    """Print how the pull that failed compares with the predicted one."""
    pairs = np.array([(r['margin'] * ACCELERATION, r['fails_at']) for r in records])
    edges = (0.0, 1e-9, 2.5, 5.0, 7.5, 10.0, 12.5, 20.0, np.inf)
    print('\nquantitative states\npredicted [m/s^2]   states   measured: 10 %, median, 90 %')
    for low, high in zip(edges[:-1], edges[1:]):
        rows = (pairs[:, 0] >= low) & (pairs[:, 0] < high)
        if rows.any():
            quantiles = np.quantile(pairs[rows, 1], (0.1, 0.5, 0.9))
            print(f'{low:6.1f} to {high:5.1f}     {rows.sum():5d}   {quantiles.round(1)}')
    ratios = pairs[pairs[:, 0] > 0.0]
    ratios = np.quantile(ratios[:, 1] / ratios[:, 0], (0.1, 0.5, 0.9))
    ranks = pairs.argsort(axis=0).argsort(axis=0)
    print(f'measured over predicted: 10 %, median, 90 % {ratios.round(2)}; rank correlation '
          f'{np.corrcoef(ranks.T)[0, 1]:.2f} over {len(pairs)} states')


def _report_reasons(records: list[dict]) -> None:
    """Print how many states held, by the planner's verdict."""
    print("\nplanner's verdict: states, held under a growing pull")
    for reason in sorted({r['verdict'] for r in records}):
        held = [r['fails_at'] >= ACCELERATION for r in records if r['verdict'] == reason]
        print(f'  {reason}: {len(held)}, {sum(held)}')


def main() -> None:
    """Examine every object, print a line each, then the tables."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', help='objects; default: all')
    parser.add_argument('--hypotheses', type=int, default=8, help='of the planner, an object')
    parser.add_argument('--random', type=int, default=12, help='random ones, closed likewise')
    parser.add_argument('--blind', type=int, default=12, help='random palms closed in physics')
    parser.add_argument('--seed', type=int, nargs='+', default=[SEED],
                        help='of rolls and random palms; several are examined in turn')
    parser.add_argument('--undamaged', action='store_true',
                        help="lift the pads' limits of pressure, which rigid bodies do not feel")
    parser.add_argument('--quick', action='store_true', help='four of each, three objects')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', default=[],
                        help='print the tables of records written before')
    parser.add_argument('--figures', type=Path, help='folder for hold_confusion.png')
    add_options(parser)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.hypotheses = arguments.random = arguments.blind = 4
        arguments.names = arguments.names or ['apple', 'box', 'banana']
    results = [result for file in arguments.read for result in json.loads(file.read_text())]
    objects = {} if arguments.read else all_objects(arguments.names)
    for name, (mesh, mass, kind) in objects.items():
        begin = time.monotonic()
        results.append(examine(name, mesh, mass, kind, arguments))
        states = results[-1]['proposed'] + results[-1]['random']
        table = confusion(states, sudden=True)
        print(f'{name:18} {len(states):4d} states  {table.ravel()!s:16} blind '
              f"{sum(r['held'] for r in results[-1]['blind']):3d} of {arguments.blind}  "
              f'{time.monotonic() - begin:6.1f} s', flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(results))
    report(results)
    if arguments.figures:
        from benchmarks.hold.figures import draw
        draw(results, arguments.figures)


if __name__ == '__main__':
    main()
