"""
Predicted robustness against physics: grasps where the object is not where it was thought.

``python -m benchmarks hold_reliability [NAME ...] [--samples N] [--count N] [--figure FILE]``;
with ``--first`` which grasp should come first: the best by score, the surest, or the best of
those that samples do not tell apart from the surest.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.hold.bodies import all_objects, MATERIALS, true_pieces
from benchmarks.hold.shake import add_options, hold, HeldObject
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning import RankedGrasp, Task
from gripsim_ros.core.planning.moving_object.closing_motion import (
    mean_friction_radius, pressing_command)
from gripsim_ros.core.planning.ranking.robustness import draw_samples
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.grasp_file import grasp_to_mapping
from gripsim_ros.library.in_process import plan_grasps, planner_options, robust_grasps
from gripsim_ros.library.resources import load_default_hand

#: Standard deviations of the pose [m]; of its rotation a degree for each millimetre.
POSITIONS = (0.3e-3, 1e-3, 2e-3, 3e-3, 5e-3, 10e-3)
DEGREES_PER_METRE = 1e3
QUICK = ('apple', 'egg', 'cylinder', 'box')
#: Standard deviations at which the first-ranked grasps are compared [m], samples that rank them,
#: and seed of the draws that judge.
RANKED_POSITIONS, RANKING_SAMPLES, OTHER_SEED = (2e-3, 5e-3), 16, 1
#: Edges of the predicted shares that are looked at together.
BINS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.999, 1.001)


def examine(name: str, mesh, mass: float, kind: str, arguments) -> list[dict]:
    """Return predicted and simulated shares of an object's first and last grasp at each error."""
    modulus, poisson, friction = MATERIALS[kind]
    body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
    grasps = plan_grasps(body, hypotheses=arguments.hypotheses, budget=600.0).grasps
    if arguments.first:
        return compare_first(name, body, grasps, true_pieces(name, mesh), mass, arguments)
    chosen = list(dict.fromkeys([0, len(grasps) - 1]))[:arguments.count] if grasps else []
    pieces, records = true_pieces(name, mesh) if grasps else [], []
    for grasp in (grasps[number] for number in chosen):
        for position in arguments.errors:
            rotation = np.deg2rad(DEGREES_PER_METRE * position)
            (judged,) = robust_grasps(body, [grasp], Task(pose_uncertainty=(position, rotation)),
                                      arguments.samples, options=varied_options(arguments))
            held = held_of(body, grasp, pieces, mass, position, rotation, arguments)
            records.append({'object': name, 'rank': grasp.rank, 'position': position,
                            'samples': arguments.samples,
                            'predicted': judged.robustness.holding, 'held': held})
            print(f'{name:20} rank {grasp.rank:2} {1e3 * position:4.1f} mm  predicted '
                  f'{records[-1]["predicted"]:.2f}  held {held:.2f}', flush=True)
    return records


def compare_first(name: str, body: GraspObject, grasps: list[RankedGrasp], pieces: list,
                  mass: float, arguments) -> list[dict]:
    """Return which share the simulated hand holds of each grasp that might come first."""
    records = []
    for position in RANKED_POSITIONS if grasps else ():
        rotation = np.deg2rad(DEGREES_PER_METRE * position)
        judged = robust_grasps(body, grasps, Task(pose_uncertainty=(position, rotation)),
                               RANKING_SAMPLES, options=varied_options(arguments))
        shares = {grasp.hypothesis: grasp.robustness.holding for grasp in judged}
        first = {'by score': grasps[0], 'told apart': judged[0],
                 'surest': max(grasps, key=lambda grasp: shares[grasp.hypothesis])}
        held = {number: held_of(body, grasp, pieces, mass, position, rotation, arguments,
                                OTHER_SEED)
                for number, grasp in {g.hypothesis: g for g in first.values()}.items()}
        records += [{'object': name, 'position': position, 'order': order,
                     'predicted': shares[grasp.hypothesis], 'held': held[grasp.hypothesis]}
                    for order, grasp in first.items()]
        print(f'{name:20} {1e3 * position:4.1f} mm  ' + '  '.join(
            f'{order}: predicted {shares[grasp.hypothesis]:.2f} held {held[grasp.hypothesis]:.2f}'
            for order, grasp in first.items()), flush=True)
    return records


def table_of_first(records: list[dict]) -> str:
    """Return the mean shares of the grasps that came first."""
    lines = ['| error | first is | objects | predicted | held |', '|---|---|---|---|---|']
    for position in RANKED_POSITIONS:
        for order in ('by score', 'told apart', 'surest'):
            some = [record for record in records
                    if record['position'] == position and record['order'] == order]
            lines.append(f'| {1e3 * position:g} mm | {order} | {len(some)} | '
                         f'{mean(some, "predicted"):.3f} | {mean(some, "held"):.3f} |')
    return '\n'.join(lines)


def held_of(body: GraspObject, grasp: RankedGrasp, pieces: list, mass: float, position: float,
            rotation: float, arguments, seed: int = 0) -> float:
    """Return the share of samples, the same as the prediction's for seed 0, that is held."""
    hand, options = load_default_hand(), varied_options(arguments)
    command = pressing_command(hand, grasp, options.uncertainty.squeeze)
    told, held = replace(grasp, grip_positions=command), 0
    for sample in draw_samples(body, options.uncertainty, (position, rotation),
                               arguments.samples, seed):
        moved = replace(told, T_object_palm=inverse(sample.T_object_moved) @ grasp.T_object_palm)
        thing = HeldObject(pieces, mass, sample.grasp_object.material.friction,
                           mean_friction_radius(grasp))
        held += hold(grasp_to_mapping(moved, hand.joint_names), thing, hand, arguments.meshes,
                     0.0).held
    return held / arguments.samples


def varied_options(arguments):
    """Return the planner's options with the spread of friction that is asked for."""
    options = planner_options()
    spread = options.uncertainty.friction if arguments.friction_spread is None else (
        arguments.friction_spread)
    return replace(options, uncertainty=replace(options.uncertainty, friction=spread))


def tables(records: list[dict]) -> str:
    """Return the shares at each error, and the simulated share at each predicted one."""
    lines = ['| error | grasps | predicted | held |', '|---|---|---|---|']
    for position in sorted({record['position'] for record in records}):
        some = [record for record in records if record['position'] == position]
        lines.append(f'| {1e3 * position:g} mm | {len(some)} | {mean(some, "predicted"):.2f} | '
                     f'{mean(some, "held"):.2f} |')
    lines += ['', '| predicted share | grasps and errors | predicted | held |',
              '|---|---|---|---|']
    for low, high in zip(BINS, BINS[1:]):
        some = [record for record in records if low <= record['predicted'] < high]
        if some:
            lines.append(f'| {low:g} to {min(high, 1.0):g} | {len(some)} | '
                         f'{mean(some, "predicted"):.2f} | {mean(some, "held"):.2f} |')
    return '\n'.join(lines)


def mean(records: list[dict], name: str) -> float:
    """Return the mean of a number over records."""
    return float(np.mean([record[name] for record in records]))


def draw(records: list[dict], path: Path) -> None:
    """Write the reliability diagram."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5.0, 4.6), layout='constrained')
    axes.plot([0.0, 1.0], [0.0, 1.0], color='0.4', linewidth=0.8)
    axes.fill_between([0.0, 1.0], [-0.1, 0.9], [0.1, 1.1], color='0.93')
    shaken = np.random.default_rng(0).uniform(-0.008, 0.008, (2, len(records)))
    axes.scatter([r['predicted'] for r in records] + shaken[0],
                 [r['held'] for r in records] + shaken[1], s=14, alpha=0.5,
                 c=[np.log10(r['position']) for r in records], cmap='viridis')
    groups = [[r for r in records if low <= r['predicted'] < high]
              for low, high in zip(BINS, BINS[1:])]
    axes.plot([mean(group, 'predicted') for group in groups if group],
              [mean(group, 'held') for group in groups if group], 'o-', color='#c0603a',
              label='means of groups')
    axes.set(xlabel='predicted share that holds', ylabel='share held in physics',
             xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
             title='Objects 0.3 mm (dark) to 10 mm (light) off')
    axes.legend(loc='upper left')
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print predicted and simulated shares of samples that hold."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', default=QUICK, help='objects; all: every one')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--samples', type=int, default=8)
    parser.add_argument('--count', type=int, default=2, help='of the first and the last grasp')
    parser.add_argument('--errors', type=float, nargs='+', default=POSITIONS,
                        help='standard deviations of the pose along each axis [m]')
    parser.add_argument('--first', action='store_true',
                        help='compare the grasps that come first, by other draws')
    parser.add_argument('--friction-spread', type=float,
                        help='standard deviation of its logarithm [-]')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, help='records of a run before, instead')
    parser.add_argument('--figure', type=Path, help='draw the reliability diagram')
    add_options(parser)
    arguments = parser.parse_args()
    names = () if 'all' in arguments.names else tuple(arguments.names)
    records = json.loads(arguments.read.read_text()) if arguments.read else []
    for name, thing in all_objects(names).items() if not arguments.read else ():
        records += examine(name, *thing, arguments)
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    print(table_of_first(records) if arguments.first else tables(records))
    if arguments.figure:
        draw(records, arguments.figure)


if __name__ == '__main__':
    main()
