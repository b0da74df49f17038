"""
The prescreen on a graphics card beside the processor: the same answers, and the time of both.

``python -m benchmarks card`` needs a CUDA card and the extra ``cuda``. Both devices in turns; the
first run of each, which compiles, is told apart.
"""

import argparse
from dataclasses import replace
import os
from pathlib import Path
import time
from unittest.mock import patch

import numpy as np

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.numerics.rows import CUDA, DEVICE, PROCESSOR
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.core.planning.task import Task
from gripsim_ros.library.in_process import (
    find_material, load_object, plan_grasps, planner_options)
from gripsim_ros.library.resources import load_default_hand

#: Multiples of the palms that are proposed by default.
ROLLS = 1, 4, 16
COUNT = 400
#: What scores and poses may differ by: a card rounds a product and a sum in one [-], [m].
FUSED = 1e-12
HEAD = ('| object | palms | proposals: processor [s] | card [s] | ratio | same | '
        'mean score of the first ten |\n' + '|---' * 7 + '|')


def timed(device, call):
    """Return what a call returns on a device, and its wall clock [s]."""
    with patch.dict(os.environ, {DEVICE: device}):
        begin = time.perf_counter()
        found = call()
        return found, time.perf_counter() - begin


def in_turns(call, repeats=3):
    """Return what both devices answer, and the least time of each [s]."""
    times = {PROCESSOR: [], CUDA: []}
    for _ in range(repeats):
        for device, taken in times.items():
            found, seconds = timed(device, call)
            taken.append(seconds)
            if device == PROCESSOR:
                plain = found
    return plain, found, min(times[PROCESSOR]), min(times[CUDA])


def are_same(first, second):
    """Return whether two lists of hypotheses are the same, in the same order."""
    return len(first) == len(second) and all(
        a.preshape == b.preshape and abs(a.score - b.score) <= FUSED
        and np.abs(a.T_object_palm - b.T_object_palm).max() <= FUSED
        for a, b in zip(first, second))


def main() -> None:
    """Print a row for each object and number of palms, then whole plans."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('objects', nargs='*', type=Path, help='meshes; an apple without')
    arguments = parser.parse_args()
    stuff, hand, options = find_material('firm_fruit'), load_default_hand(), planner_options()
    things = {'apple': GraspObject(shapes.apple(edge_length=3e-3), stuff)}
    things.update({path.stem: load_object(str(path), stuff) for path in arguments.objects})
    for device in (PROCESSOR, CUDA):
        _, seconds = timed(device, lambda: propose_hypotheses(
            things['apple'], hand, Task(), options, COUNT))
        print(f'first proposals, {device}: {seconds:.2f} s', flush=True)
    print(HEAD, flush=True)
    for name, thing in things.items():
        for factor in ROLLS:
            asked = replace(options, roll_count=factor * options.roll_count)
            (mine, palms), (others, _), slow, fast = in_turns(
                lambda: propose_hypotheses(thing, hand, Task(), asked, COUNT))
            score = np.mean([hypothesis.score for hypothesis in mine[:10]])
            print(f'| {name} | {palms} | {slow:.3f} | {fast:.3f} | {slow / fast:.1f} | '
                  f'{are_same(mine, others)} | {score:.3f} |', flush=True)
    for name, thing in things.items():
        mine, others, slow, fast = in_turns(lambda: plan_grasps(
            thing, hypotheses=COUNT, count=10, elasticity='half_space'))
        scores = [[grasp.score for grasp in found.grasps] for found in (mine, others)]
        same = len(scores[0]) == len(scores[1]) and np.allclose(*scores, rtol=0.0, atol=1e-6)
        print(f'{name}: ten of {COUNT} in {slow:.2f} s, with the card {fast:.2f} s, '
              f'{"the same" if same else "other"} scores', flush=True)


if __name__ == '__main__':
    main()
