"""
How many grasps of soft bodies are within the range of the model, by each model of plans.

``python -m benchmarks quantitative [--data FOLDER] [--scans NAME …] [--moduli E …]
[--hypotheses N]`` takes scans as soft fruit, ``--files GLOB`` meshes of the folder by their names,
``--random N`` that many random bodies instead. Of grasps that are not, reasons are told with how
many have each; ``--keep FOLDER`` keeps the plans, of which ``fem_grip --kept`` judges grasps.
"""

import argparse
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
import pickle
import time

import numpy as np

from benchmarks.hold.random_bodies import random_body
from gripsim_ros.core.batches import PATCH_FLAG_TEXTS
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.library.in_process import find_material, load_object, plan_grasps

#: Models of a plan, the earlier default first.
MODELS = ('half_space', 'auto')
#: Time for planning [s]: no answer is cut short by it.
LONG = 600.0
#: Seed of the random bodies.
SEED = 9


def reasons(grasp) -> list[str]:
    """Return why a grasp is not quantitative, shortened; empty where it is."""
    union = int(np.bitwise_or.reduce([contact.flags for contact in grasp.contacts]))
    words = [text.split(':')[0].replace('the contact', '').replace('the ', '').strip()
             for flag, text in PATCH_FLAG_TEXTS.items() if union & flag]
    if not grasp.balanced:
        words.append('not at rest')
    rest = [] if grasp.quantitative else ['a part swings, or forces change as it settles']
    return words or rest


def bodies(arguments):
    """Yield a name and what makes an object of a material, of each body asked for."""
    for number in range(arguments.first, arguments.first + arguments.random):
        name, mesh, _, _ = random_body(SEED, number)
        # As `fem_grip` names it; the material of the name is not taken.
        yield f'random {number} {name.split(maxsplit=2)[2]}', partial(GraspObject, mesh)
    if not arguments.random:
        for path in sorted(arguments.data.glob(arguments.files)):
            if not arguments.scans or any(name in path.stem for name in arguments.scans):
                yield path.stem, partial(load_object, str(path))


def told(why: Counter) -> str:
    """Return reasons with how many have each, in words."""
    return ', '.join(f'{count} {cause}' for cause, count in why.most_common())


def main():
    """Plan for each body and modulus with each model; print shares."""
    parser = argparse.ArgumentParser(description='quantitative grasps of soft bodies')
    parser.add_argument('--data', type=Path, default=Path('../shared/data/ycb'))
    parser.add_argument('--files', default='*.ply', help='pattern of names in the folder')
    parser.add_argument('--models', nargs='+', choices=MODELS, default=MODELS)
    parser.add_argument('--moduli', type=float, nargs='+', default=[2e4, 2e5, 2e6])
    parser.add_argument('--hypotheses', type=int, default=200)
    parser.add_argument('--scans', nargs='+', help='of these names; all without')
    parser.add_argument('--random', type=int, default=0, help='bodies instead of scans')
    parser.add_argument('--first', type=int, default=0, help='number of the first of them')
    parser.add_argument('--keep', type=Path, help='folder for the plans')
    arguments = parser.parse_args()
    print('| body | E [kPa] | model | grasps | quantitative | at rest | own compliance | '
          's of a core | of the others |\n|' + '---|' * 9)
    totals = {(model, modulus): [0, 0] for model in arguments.models
              for modulus in arguments.moduli}
    causes = {key: Counter() for key in totals}
    for name, made in bodies(arguments):
        for modulus in arguments.moduli:
            stuff = replace(find_material('firm_fruit'), youngs_modulus=modulus)
            for model in arguments.models:
                begin = time.process_time()
                grasps = plan_grasps(made(stuff), elasticity=model,
                                     hypotheses=arguments.hypotheses, budget=LONG).grasps
                seconds = time.process_time() - begin
                sound = sum(grasp.quantitative for grasp in grasps)
                totals[model, modulus][0] += len(grasps)
                totals[model, modulus][1] += sound
                why = Counter('; '.join(reasons(grasp)) for grasp in grasps
                              if not grasp.quantitative)
                causes[model, modulus] += why
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    path = arguments.keep / f'{name} {1e-3 * modulus:g} {model}.pickle'
                    path.write_bytes(pickle.dumps(grasps))
                print(f'| {name} | {1e-3 * modulus:g} | {model} | {len(grasps)} | {sound} | '
                      f'{sum(grasp.balanced for grasp in grasps)} | '
                      f'{sum(grasp.elasticity == "body" for grasp in grasps)} | '
                      f'{seconds:.1f} | {told(why)} |', flush=True)
    for (model, modulus), (count, sound) in totals.items():
        print(f'| all | {1e-3 * modulus:g} | {model} | {count} | {sound} | | | | '
              f'{told(causes[model, modulus])} |')


if __name__ == '__main__':
    main()
