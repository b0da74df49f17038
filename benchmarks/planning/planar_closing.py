"""
What planar closure foretells: its verdicts beside full closing, and the time it saves.

Every hypothesis of each object is closed in full; then the plan is made again with planar
closure asked first, in turns, so that both meet the same load of the machine.
"""

import argparse
from dataclasses import replace
import time

import numpy as np

from benchmarks.planning.plan import objects
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.planar_closing.queue import PlanarClosingFilter
from gripsim_ros.library.in_process import (
    find_material, link_shapes, mechanics_options, planner_options, warm_up)
from gripsim_ros.library.resources import load_default_hand


def plan(body, options, hypotheses):
    """Return processor seconds, hypotheses with whether each held, and the best score."""
    hand = load_default_hand()
    begin = time.process_time()
    planner = GraspPlanner(body, hand, Task(), options, max_hypotheses=hypotheses)
    queue = list(planner._waiting)
    run(planner, Pipeline(hand, body, mechanics_options(), link_shapes(hand)))
    best = planner.ranked(1)
    return (time.process_time() - begin, [(c.hypothesis, c.held is not None) for c in queue],
            best[0].score if best else np.nan, planner.progress.stable)


def main():
    """Print one row an object and the sums."""
    parser = argparse.ArgumentParser(prog='benchmarks planar_closure', description=__doc__)
    parser.add_argument('--hypotheses', type=int, default=120)
    parser.add_argument('--object', default='', help='only objects whose name holds this')
    arguments = parser.parse_args()
    warm_up()
    hand, options = load_default_hand(), planner_options()
    bodies = [(subject.name, subject.grasp_object) for subject in objects()]
    bodies.append(('cube 60 mm', GraspObject(shapes.box((0.06, 0.06, 0.06)),
                                             find_material('default'))))
    print(f'{"object":18} {"judged":>6} {"hold":>5} {"put off":>7} {"of them hold":>12} '
          f'{"misses seen":>11} {"a verdict":>10} {"without":>8} {"with":>8}')
    sums = np.zeros(6)
    for name, body in bodies:
        if arguments.object not in name:
            continue
        without, verdicts, score, _ = plan(
            body, replace(options, closure_unbalance=0.0), arguments.hypotheses)
        judge = PlanarClosingFilter(body, hand, options.closure_unbalance)
        begin = time.process_time()
        promising = np.array([judge.is_promising(hypothesis) for hypothesis, _ in verdicts])
        each = (time.process_time() - begin) / max(1, len(verdicts))
        held = np.array([held for _, held in verdicts])
        asked, _, other, _ = plan(body, options, arguments.hypotheses)
        if not np.isclose(score, other, equal_nan=True):
            print(f'{name}: the best score is {other:.3f} instead of {score:.3f}')
        row = (len(held), held.sum(), (~promising).sum(), (~promising & held).sum(), without,
               asked)
        sums += row
        print(f'{name:18} {row[0]:6d} {row[1]:5d} {row[2]:7d} {row[3]:12d} '
              f'{(~promising & ~held).sum():5d}/{(~held).sum():<5d} {1e3 * each:7.1f} ms '
              f'{without:6.1f} s {asked:6.1f} s', flush=True)
    judged, held, off, lost, without, asked = sums
    print(f'precision {1.0 - lost / max(off, 1.0):.3f}, recall of misses '
          f'{(off - lost) / max(judged - held, 1.0):.2f}, of grasps kept '
          f'{1.0 - lost / max(held, 1.0):.3f}, time saved {1.0 - asked / without:.0%}')


if __name__ == '__main__':
    main()
