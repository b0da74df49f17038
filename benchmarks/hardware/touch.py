"""
Closing by touch against closing by rows: the simulated hand where the object lies elsewhere.

For each body its first-ranked grasp, with the object off by 0 to 10 mm in horizontal directions
about the hand: how far the object moves in the hand until it is held, the largest force of a
finger over the planned one, the forces found over the planned ones, and whether it was lifted.
"""

import argparse

import numpy as np

from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hardware.lifting import bodies, found_share, LIFT
from gripsim_ros.core.transforms import transform
from gripsim_ros.hardware.execution.actions import Phase
from gripsim_ros.hardware.execution.plan import MOST_SQUEEZE, Wishes
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

NAMES = ('wooden ball', 'box', 'cylinder', 'egg')
CLOSING = (Phase.CLOSING, Phase.LOADING, Phase.HOLDING)


def close(hand, body, grasp, offset, by_touch: bool):
    """Return execution, motion of the object until held [m] and peak force over planned [-]."""
    wishes = Wishes(lift_height=LIFT, by_touch=by_touch,
                    squeeze=0.0 if by_touch else MOST_SQUEEZE)
    done = SimulatedGrasp(hand, body, grasp, wishes, execution_options(), body='rigid',
                          T_world_object=transform(np.eye(3), np.asarray(offset)))
    seen = {'moved': 0.0, 'peak': 0.0}

    def watch(phase, world) -> None:
        if phase not in CLOSING:
            return
        seen['moved'] = max(seen['moved'], float(np.linalg.norm(
            world.T_world_object[:3, 3] - offset)))
        forces = world.link_forces()
        for finger in done.execution.plan.fingers:
            if finger.force > 0.0:
                felt = sum(forces.get(link, 0.0) for link in finger.links)
                seen['peak'] = max(seen['peak'], felt / finger.force)

    return done.run(watch), seen['moved'], seen['peak']


def main() -> int:
    """Print a row for each body and offset, and the medians of both ways to close."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', default=None, help='bodies')
    parser.add_argument('--offsets', type=float, nargs='+', default=[0.0, 2.5, 5.0, 10.0],
                        help='[mm]')
    parser.add_argument('--directions', type=int, default=3)
    parser.add_argument('--hypotheses', type=int, default=40)
    arguments = parser.parse_args()
    hand, told = load_default_hand(), {}
    for name, body in bodies(arguments.names or NAMES).items():
        grasp = plan_grasps(body, hypotheses=arguments.hypotheses, count=1).grasps[0]
        for millimetres in arguments.offsets:
            for k in range(arguments.directions if millimetres else 1):
                angle = 2.0 * np.pi * (k + 0.25) / arguments.directions
                offset = 1e-3 * millimetres * np.array([np.cos(angle), np.sin(angle), 0.0])
                for by_touch in (False, True):
                    execution, moved, peak = close(hand, body, grasp, offset, by_touch)
                    way = 'touch' if by_touch else 'rows'
                    print(f'{name:14} {millimetres:4.1f} mm {np.degrees(angle):4.0f}°  {way:5}  '
                          f'moved {1e3 * moved:5.2f} mm  peak {peak:5.2f}  found '
                          f'{found_share(execution):5.2f}  closed in '
                          f'{execution.closing_time:4.1f} s  '
                          f'{"lifted" if execution.lifted else execution.status.name} '
                          f'{execution.message}', flush=True)
                    told.setdefault((millimetres, way), []).append(
                        (moved, peak, found_share(execution), execution.lifted))
    for (millimetres, way), rows in sorted(told.items()):
        moved, peak, found, lifted = np.array(rows, float).T
        print(f'{millimetres:4.1f} mm  {way:5}  moved {1e3 * np.median(moved):5.2f} '
              f'({1e3 * moved.max():.2f}) mm  peak {np.median(peak):.2f} ({peak.max():.2f})  '
              f'found {np.nanmedian(found):.2f}  lifted {int(lifted.sum())} of {len(rows)}')
    return 0
