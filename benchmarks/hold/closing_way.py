"""
How far closing fingers move an object: predicted, and in MuJoCo.

States are those of the planner's hypotheses and of random palms, whether they hold or not. The
hand follows the rows, then is sent on by the joint torques of the state's forces, as in the
prediction; the object floats, with the same resistance to its translation in both. MuJoCo takes
the hull of every link, the prediction its mesh, or with ``--hulls`` the hull too.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.hold.bodies import MATERIALS, all_objects, true_pieces
from benchmarks.hold.shake import (
    CLOSING_TIME, POSITION_GAIN, SQUEEZE_TIME, HeldObject, Shaker, add_options)
from benchmarks.hold.states import EvaluatedState, StateSource
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.moving_object.closing_motion import predict_closing_motion
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

GROUPS = ('proposed', 'random')
#: Errors whose shares are told [m], and shares of states whose errors are.
ERRORS, SHARES = (0.001, 0.003), (0.5, 0.75, 0.9)


def predicted(state: EvaluatedState, body: GraspObject, hand, task: Task, drag: float,
              standing: float = 0.0):
    """
    Return the predicted motion of a state's object, and whether it bears the task's loads.

    The hand stands so long [s] between its closing and its grip.
    """
    dynamics, loads = planner_options().closing, task_load_cases(
        task, body.canonical_frame[:3, :3])
    added = round(standing / dynamics.closing_time * (len(state.rows) - 1))
    rows = np.concatenate([state.rows, np.repeat(state.rows[-1:], added, axis=0)])
    time = dynamics.closing_time * (len(rows) - 1) / (len(state.rows) - 1)
    return predict_closing_motion(
        body, hand, task, state.T_object_palm, rows, grip_of(state, hand),
        replace(dynamics, drag=drag, closing_time=time), loads,
        state.torsion / body.material.friction)


def grip_of(state: EvaluatedState, hand):
    """Return where the joints are sent to exert a state's torques (J,) [rad]."""
    return np.clip(state.rows[-1] + state.efforts / POSITION_GAIN, hand.joint_lower,
                   hand.joint_upper)


def simulated(state: EvaluatedState, held: HeldObject, hand, meshes: Path):
    """Return the pose (4, 4) of the object in itself as it was, once the hand has closed."""
    shaker = Shaker(replace(held, torsion=state.torsion), state.T_object_palm, hand, meshes,
                    state.rows[0])
    shaker.move(state.rows, CLOSING_TIME)
    command = grip_of(state, hand)
    shaker.move([state.rows[-1], command], 0.5 * SQUEEZE_TIME)
    shaker.move([command, command], 0.5 * SQUEEZE_TIME)
    return shaker.object_motion()


def examine(name: str, mesh, mass: float, kind: str, arguments) -> list[dict]:
    """Return a record of each state of one object."""
    hand, (modulus, poisson, friction) = load_default_hand(), MATERIALS[kind]
    felt = hand_as_simulated(hand) if arguments.hulls else hand
    body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
    source, task = StateSource(body, hand, Task()), Task()
    held = HeldObject(true_pieces(name, mesh), mass, friction, drag=arguments.drag)
    centre, records = body.mass_properties.centre_of_mass, []
    for seed in arguments.seed:
        for group, hypotheses in zip(GROUPS, (source.proposed(arguments.hypotheses, seed - 1),
                                              source.random(arguments.random, seed))):
            for state in (s for h in hypotheses for s in source.close(h)[0][:1]):
                motion = predicted(state, body, felt, task, arguments.drag)
                moved = simulated(state, held, hand, arguments.meshes)
                ways = [T[:3, :3] @ centre + T[:3, 3] - centre
                        for T in (motion.T_object_moved, moved)]
                records.append({
                    'name': name, 'group': group, 'seed': seed, 'holds': state.holds,
                    'predicted': float(np.linalg.norm(ways[0])), 'stays': motion.stays,
                    'measured': float(np.linalg.norm(ways[1])),
                    'lost_time': motion.lost_time,
                    'error': float(np.linalg.norm(ways[0] - ways[1]))})
    return records


def report(records: list[dict]) -> None:
    """Print how far objects move and how well that is predicted, a line for each group."""
    print('group, states; way measured [mm] at 50, 75, 90 %; error [mm] at 50, 75, 90 %; '
          'share within 1 mm, 3 mm; time between first touches [s] at 50, 90 %')
    for groups in (GROUPS[:1], GROUPS[1:], GROUPS):
        chosen = [r for r in records if r['group'] in groups]
        if not chosen:
            continue
        measured, errors = (np.array([r[key] for r in chosen]) for key in ('measured', 'error'))
        lost = np.quantile([r['lost_time'] for r in chosen], (0.5, 0.9))
        within = '  '.join(f'{(errors <= limit).mean():.0%}' for limit in ERRORS)
        print(f'{" and ".join(groups):20} {len(chosen):4d}  '
              f'{(1e3 * np.quantile(measured, SHARES)).round(2)}  '
              f'{(1e3 * np.quantile(errors, SHARES)).round(2)}  {within}  {lost.round(2)}')


def main() -> None:
    """Close on every object, print a line for each, then the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', help='objects; default: all')
    parser.add_argument('--hypotheses', type=int, default=4, help='of the planner, an object')
    parser.add_argument('--random', type=int, default=8, help='random palms, an object')
    parser.add_argument('--seed', type=int, nargs='+', default=[1])
    parser.add_argument('--hulls', action='store_true', help='predict with hulls of the links')
    parser.add_argument('--quick', action='store_true', help='four objects')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    add_options(parser)
    parser.set_defaults(drag=planner_options().closing.drag)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.names = arguments.names or ['small ball', 'ball', 'box', 'cylinder']
    records: list[dict] = []
    for name, (mesh, mass, kind) in all_objects(arguments.names).items():
        records += examine(name, mesh, mass, kind, arguments)
        errors = [1e3 * r['error'] for r in records if r['name'] == name]
        print(f'{name:18} {len(errors):4d} states, error at most '
              f'{max(errors, default=0.0):.2f} mm', flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    report(records)


if __name__ == '__main__':
    main()
