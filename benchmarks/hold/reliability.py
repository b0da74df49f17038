"""Predicted robustness against physics: the first-ranked grasp where the object's pose is off."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.hold.bodies import all_objects, MATERIALS, true_pieces
from benchmarks.hold.shake import add_options, hold, HeldObject
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning.ranking.robustness import draw_samples
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.grasp_file import grasp_to_mapping
from gripsim_ros.library.in_process import plan_grasps, planner_options, robust_grasps
from gripsim_ros.library.resources import load_default_hand

#: Standard deviations of the pose [m]; of its rotation a degree for each millimetre.
POSITIONS = (0.3e-3, 1e-3, 3e-3, 10e-3)
DEGREES_PER_METRE = 1e3
QUICK = ('apple', 'egg', 'cylinder', 'box')


def examine(name: str, mesh, mass: float, kind: str, arguments) -> list[dict]:
    """Return predicted and simulated shares of an object's first grasp at each error."""
    modulus, poisson, friction = MATERIALS[kind]
    body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
    hand, options = load_default_hand(), planner_options()
    grasps = plan_grasps(body, hypotheses=arguments.hypotheses).grasps[:1]
    pieces, records = true_pieces(name, mesh) if grasps else [], []
    for position in POSITIONS if grasps else ():
        spread = replace(options.uncertainty, position=position,
                         rotation=np.deg2rad(DEGREES_PER_METRE * position))
        predicted = robust_grasps(body, grasps, None, arguments.samples,
                                  options=replace(options, uncertainty=spread))[0].robustness
        held = 0
        for sample in draw_samples(body, spread, arguments.samples, 0):
            moved = replace(grasps[0], T_object_palm=inverse(sample.T_object_moved)
                            @ grasps[0].T_object_palm)
            thing = HeldObject(pieces, mass, sample.grasp_object.material.friction,
                               arguments.torsion)
            held += hold(grasp_to_mapping(moved, hand.joint_names), thing, hand,
                         arguments.meshes, arguments.squeeze).held
        records.append({'object': name, 'position': position, 'samples': arguments.samples,
                        'predicted': predicted.holding, 'held': held / arguments.samples})
        print(f'{name:20} {1e3 * position:4.1f} mm  predicted {predicted.holding:.2f}  held '
              f'{records[-1]["held"]:.2f}', flush=True)
    return records


def main() -> None:
    """Print predicted and simulated shares of samples that hold."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', default=QUICK, help='objects')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--samples', type=int, default=8)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    add_options(parser)
    arguments = parser.parse_args()
    records = []
    for name, (mesh, mass, kind) in all_objects(arguments.names).items():
        records += examine(name, mesh, mass, kind, arguments)
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    differences = [abs(r['predicted'] - r['held']) for r in records]
    print(f'mean difference {np.mean(differences):.2f}, largest {np.max(differences):.2f}')


if __name__ == '__main__':
    main()
