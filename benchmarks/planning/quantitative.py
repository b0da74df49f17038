"""
How many grasps of scans as soft fruit are within the range of the model, by each model of plans.

``python -m benchmarks quantitative [--data FOLDER] [--moduli E …] [--hypotheses N]``
"""

import argparse
from dataclasses import replace
from pathlib import Path
import time

from gripsim_ros.library.in_process import find_material, load_object, plan_grasps

#: Models of a plan, the earlier default first.
MODELS = ('half_space', 'auto')
#: Time for planning [s]: no answer is cut short by it.
LONG = 600.0


def main():
    """Plan for each scan and modulus with each model; print shares."""
    parser = argparse.ArgumentParser(description='quantitative grasps of soft scans')
    parser.add_argument('--data', type=Path, default=Path('../shared/data/ycb'))
    parser.add_argument('--moduli', type=float, nargs='+', default=[2e4, 2e5, 2e6])
    parser.add_argument('--hypotheses', type=int, default=200)
    arguments = parser.parse_args()
    print('| scan | E [kPa] | model | grasps | quantitative | at rest | own compliance | '
          's of a core |\n|' + '---|' * 8)
    totals = {model: [0, 0] for model in MODELS}
    for path in sorted(arguments.data.glob('*.ply')):
        for modulus in arguments.moduli:
            stuff = replace(find_material('firm_fruit'), youngs_modulus=modulus)
            for model in MODELS:
                begin = time.process_time()
                grasps = plan_grasps(load_object(str(path), stuff), elasticity=model,
                                     hypotheses=arguments.hypotheses, budget=LONG).grasps
                seconds = time.process_time() - begin
                sound = sum(grasp.quantitative for grasp in grasps)
                totals[model][0] += len(grasps)
                totals[model][1] += sound
                print(f'| {path.stem} | {1e-3 * modulus:g} | {model} | {len(grasps)} | {sound} | '
                      f'{sum(grasp.balanced for grasp in grasps)} | '
                      f'{sum(grasp.elasticity == "body" for grasp in grasps)} | '
                      f'{seconds:.1f} |', flush=True)
    for model, (count, sound) in totals.items():
        print(f'| all | | {model} | {count} | {sound} | | | |')


if __name__ == '__main__':
    main()
