"""
What planar closing foretells: its verdicts and scores beside full closing, and what they save.

Every hypothesis of each object is closed in full. Then ten grasps are planned with planar closing
asked and not, in turns, so that both meet the same load of the machine.
"""

import argparse
from dataclasses import replace
import time

import numpy as np

from benchmarks.planning.plan import objects
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.closing.limits import closing_limits
from gripsim_ros.core.planning.planar_closing.prospects import PlanarProspects
from gripsim_ros.core.planning.ranking.score import score_reference
from gripsim_ros.library.in_process import (
    find_material, link_shapes, mechanics_options, planner_options, warm_up)
from gripsim_ros.library.resources import load_default_hand

HEADER = (f'{"object":18} {"hold":>8} {"put off":>12} {"no forces":>12} {"score off by":>16} '
          f'{"as ranked":>9} {"each":>7} {"without":>15} {"with":>14}  best, mean of ten')


def plan(body, options, hypotheses, count=10):
    """Return the planner and its processor seconds, with the hypotheses it began with."""
    hand, begin = load_default_hand(), time.process_time()
    planner = GraspPlanner(body, hand, Task(), options, max_hypotheses=hypotheses,
                           max_grasps=count)
    waiting = [closing.hypothesis for closing in planner._search.waiting]
    run(planner, Pipeline(hand, body, mechanics_options(), link_shapes(hand)))
    return planner, time.process_time() - begin, waiting


def judge(body, options, load_cases):
    """Return what foretells the prospects of a body's hypotheses."""
    hand = load_default_hand()
    reference = score_reference(body, hand, load_cases)
    return PlanarProspects(body, hand, reference, closing_limits(
        body, hand, reference.load, reference.max_pressure), options)


def ranked(planner):
    """Return best and mean score of the grasps as text."""
    scores = [grasp.score for grasp in planner.ranked()]
    return f'{max(scores, default=np.nan):.4f}, {np.mean(scores or [np.nan]):.4f}'


def main():
    """Print one row an object."""
    parser = argparse.ArgumentParser(prog='benchmarks planar_closure', description=__doc__)
    parser.add_argument('--hypotheses', type=int, default=400)
    parser.add_argument('--object', default='', help='only objects whose name holds this')
    arguments = parser.parse_args()
    warm_up()
    options = planner_options()
    blind = replace(options, closure_unbalance=0.0)
    bodies = [(subject.name, subject.grasp_object) for subject in objects()]
    bodies.append(('cube 60 mm', GraspObject(shapes.box((0.06, 0.06, 0.06)),
                                             find_material('default'))))
    print(HEADER)
    for name, body in bodies:
        if arguments.object not in name:
            continue
        full, _, hypotheses = plan(body, replace(blind, set_aside_slack=10.0),
                                   arguments.hypotheses)
        foretelling = judge(body, options, full.load_cases)
        begin = time.process_time()
        prospects = [foretelling.prospect(hypothesis) for hypothesis in hypotheses]
        each = (time.process_time() - begin) / max(1, len(hypotheses))
        grasps = full._search.answer.verdicts.grasps
        scores = np.array([grasps[h.number].score if h.number in grasps else np.nan
                           for h in hypotheses])
        held, promising = np.isfinite(scores), np.array([p.promising for p in prospects])
        foretold = np.array([p.score for p in prospects])
        forces = np.isfinite(foretold)
        both = held & forces
        off = (scores - foretold)[both]
        one, without, _ = plan(body, blind, arguments.hypotheses)
        other, asked, _ = plan(body, options, arguments.hypotheses)
        print(f'{name:18} {held.sum():4d}/{len(held):<3d} '
              f'{(~promising).sum():4d} ({(~promising & held).sum():d} hold) '
              f'{(promising & ~forces).sum():4d} ({(promising & ~forces & held).sum():d} hold) '
              f'{off.mean():+7.3f} +- {off.std():.3f} '
              f'{np.corrcoef(scores[both], foretold[both])[0, 1]:9.2f} {1e3 * each:4.1f} ms '
              f'{without:6.1f} s {one.contacts_evaluated:4d}   {asked:5.1f} s '
              f'{other.contacts_evaluated:4d}   {ranked(one)}; {ranked(other)}', flush=True)


if __name__ == '__main__':
    main()
