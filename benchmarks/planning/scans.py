"""
Grasps planned on completed scans of one side, judged on the full mesh.

Each object is seen from its sides; the scan is closed by every assumption, planned on, and the
grasps found are judged on the full mesh: as they are (``gripsim evaluate``), and closed again
from the open hand at the same palm pose, as a hand that stops at contact does.
"""

import argparse

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.planning.plan import objects
from benchmarks.planning.scan_views import scan
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.bodies.scans.complete import (
    ERROR_SHARES, METHODS, complete_scan, estimate_view, median_spacing)
from gripsim_ros.core.errors import GripsimError
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.closing.batching import run_closings
from gripsim_ros.core.planning.closing.closing import Closing
from gripsim_ros.core.planning.closing.limits import closing_limits
from gripsim_ros.core.planning.hypotheses.distance_field import sample_surface
from gripsim_ros.core.planning.hypotheses.generate import Hypothesis
from gripsim_ros.core.planning.planner import GraspPlanner
from gripsim_ros.core.planning.ranking.score import score_reference
from gripsim_ros.library.in_process import (
    evaluate_grasps, find_material, link_shapes, mechanics_options, plan_grasps, planner_options)
from gripsim_ros.library.resources import load_default_hand

#: Directions in which the camera looks: onto the broad and narrow side, and from a corner.
VIEWS = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), 'corner': (0.6, 0.3, -0.74)}
#: Of the ball [m].
BALL_RADIUS = 0.03
#: Surface nearer to seen points than this counts as seen in errors [m].
SEEN = 0.002


class _Judge:
    """Asks as a planner does, and ends no closing early."""

    def __init__(self, planner):
        self.conditions = planner.conditions

    def should_defer(self, closing, state):
        """Tell that every closing goes on."""
        return False


def closed_again(body, grasps):
    """Return how many of the grasps hold when the hand closes anew about a body."""
    hand, options = load_default_hand(), planner_options()
    planner = GraspPlanner(body, hand, Task(), options, max_hypotheses=1)
    reference = score_reference(body, hand, planner.load_cases)
    limits = closing_limits(body, hand, reference.load, reference.max_pressure)
    names = [preshape.name for preshape in hand.preshapes]
    closings = [Closing(Hypothesis(i, g.T_object_palm, names.index(g.preshape), 0.0), hand,
                        options, limits) for i, g in enumerate(grasps)]
    pipeline = Pipeline(hand, body, mechanics_options(), link_shapes(hand))
    run_closings(closings, _Judge(planner), pipeline.evaluate)
    return [closing.held is not None for closing in closings]


def judged(full, grasps):
    """Return texts: how many hold as they are, and closed again; of the sure and unsure."""
    if not grasps:
        return '-', '-', '-', '-', 0
    as_sent = evaluate_grasps(full, [(g.T_object_palm, g.trajectory) for g in grasps])
    again = np.array(closed_again(full, grasps))
    worst = np.array([max(c.surface_uncertainty for c in g.contacts) for g in grasps])
    sure = worst <= np.median(worst)
    return (f'{sum(g.stable for g in as_sent)}', f'{again.sum()}',
            f'{again[sure].sum()}/{sure.sum()}', f'{again[~sure].sum()}/{(~sure).sum()}',
            int(again.sum()))


def surface_error(full, completion):
    """Return RMS error of assumed surface, and RMS of the distance to seen points [m]."""
    true, _ = sample_surface(full.mesh, 0.0015)
    made, _ = sample_surface(completion.mesh, 0.003)
    error = cKDTree(true).query(made)[0]
    way = completion.seen.uncertainty(made) / ERROR_SHARES[completion.seen.method]
    far = way > SEEN
    return error[far], way[far]


def main():
    """Print one row an object, view and assumption."""
    parser = argparse.ArgumentParser(prog='benchmarks scans', description=__doc__)
    parser.add_argument('--hypotheses', type=int, default=60)
    parser.add_argument('--object', default='', help='only objects whose name holds this')
    parser.add_argument('--view', default='', choices=['', *VIEWS], help='only this one')
    parser.add_argument('--surfaces', action='store_true', help='errors alone, nothing planned')
    arguments = parser.parse_args()
    print(f'{"object":18} {"view":7} {"closed by":9} {"volume":>6} {"error":>8} {"grasps":>6} '
          f'{"as sent":>7} {"closed again":>12} {"surer half":>10} {"other half":>10}')
    totals = {name: [0, 0, [], []] for name in ('full mesh', *METHODS)}
    ball = GraspObject(shapes.sphere(BALL_RADIUS), find_material('foam'))
    bodies = {'ball': ball, **{subject.name: subject.grasp_object for subject in objects()}}
    for name, full in bodies.items():
        if arguments.object.lower() not in name.lower():
            continue
        if not arguments.surfaces:
            found = plan_grasps(full, hypotheses=arguments.hypotheses, workers=0, budget=600.0)
            again = judged(full, found.grasps)
            totals['full mesh'][0] += len(found.grasps)
            totals['full mesh'][1] += again[-1]
            print(f'{name:18} {"-":7} {"full mesh":9} {1.0:6.2f} {"-":>8} '
                  f'{len(found.grasps):6d} {again[0]:>7} {again[1]:>12}', flush=True)
        for label, direction in VIEWS.items():
            if arguments.view not in ('', label):
                continue
            view = scan(full.mesh, direction)
            if arguments.surfaces:
                print(f'{name:18} {label:7} view estimated {view_error(view, direction)}')
            for method in METHODS:
                try:
                    completion = complete_scan(view.points, method, viewpoint=view.eye)
                except GripsimError as error:
                    print(f'{name:18} {label:7} {method:9} {error}')
                    continue
                error, way = surface_error(full, completion)
                totals[method][2].append(error)
                totals[method][3].append(way)
                row = (f'{name:18} {label:7} {method:9} '
                       f'{completion.mesh.volume / full.mesh.volume:6.2f} '
                       f'{1e3 * np.sqrt((error ** 2).mean()):5.1f} mm ')
                if not arguments.surfaces:
                    body = GraspObject(completion.mesh, full.material, '', completion.seen)
                    found = plan_grasps(body, hypotheses=arguments.hypotheses, workers=0,
                                        budget=600.0)
                    again = judged(full, found.grasps)
                    totals[method][0] += len(found.grasps)
                    totals[method][1] += again[-1]
                    row += (f'{len(found.grasps):6d} {again[0]:>7} {again[1]:>12} '
                            f'{again[2]:>10} {again[3]:>10}')
                print(row, flush=True)
    for name, (grasps, held, errors, ways) in totals.items():
        text = f'{name}: {held} of {grasps} grasps hold when closed again'
        if errors:
            error, way = np.concatenate(errors), np.concatenate(ways)
            share = np.sqrt((error ** 2).sum() / (way ** 2).sum())
            text += (f'; assumed surface off by {1e3 * np.sqrt((error ** 2).mean()):.1f} mm RMS, '
                     f'{share:.2f} of the distance from seen points')
        print(text)


def view_error(view, direction):
    """Return by how many degrees the estimated view is off."""
    try:
        estimate = estimate_view(view.points, median_spacing(view.points))
    except GripsimError as error:
        return str(error)
    cosine = float(estimate @ direction / np.linalg.norm(direction))
    return f'{np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))):.0f} deg off'


if __name__ == '__main__':
    main()
