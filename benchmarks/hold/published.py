"""
Grasps that others published for the SDH, by our verdict and in physics.

The tables give where a rigid hand first touches. Physics opens the fingers until they are free,
closes each until it touches, sends the joints' springs beyond that and pulls: no planner has a
part in it. Beside it stand our verdict with closing and the tables' own epsilon.
"""

import argparse
import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.hold.blind import close_to_touch, FINGERS, fingers_touching
from benchmarks.hold.shake import (
    ACCELERATION, add_options, HeldObject, judge, Shaker, SIX_AXES)
from benchmarks.hold.states import undamaged
from gripsim_ros.core.bodies import GraspObject, load_mesh, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import from_pose
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.in_process import evaluate_grasps
from gripsim_ros.library.resources import load_default_hand

#: Mass of the objects named [kg], and of others: their contents are not in the tables.
MASSES, MASS = {'peanuts': 0.2, 'yellowsaltcube': 0.5}, 0.4
#: Young's modulus [Pa], Poisson's ratio, friction: stiff, as the tables' objects are rigid.
STIFFNESS, POISSON, FRICTION = 2.0e9, 0.3, 0.5
#: Concavity left by convex pieces [-].
CONCAVITY = 0.04
#: Way that proximal and distal joints open and close by [rad/rad], and their steps [rad].
WAY, OPENING_STEP, MAX_OPENING, MAX_CLOSING = (1.0, 0.6), 0.02, 1.0, 0.5
#: Gap at which a finger counts as free [m]: beyond the facets of hull and pieces.
FREE_GAP = 0.002
#: Ways that joints are sent beyond the touch [rad]; the protocol's is the first.
SQUEEZES = (0.03, 0.06, 0.1)
#: Time of each pull [s].
PULL_TIME = 1.0


@dataclass(frozen=True, eq=False)
class PublishedGrasp:
    """One row of a table: its number, palm pose (4, 4), joints (J,) [rad], epsilon and volume."""

    number: int
    T_object_palm: np.ndarray
    joints: np.ndarray
    epsilon: float
    volume: float


def read_table(path: Path) -> list[PublishedGrasp]:
    """Return the grasps of a table."""
    with path.open(encoding='utf-8') as file:
        rows = list(csv.reader(file))
    names = {name: i for i, name in enumerate(rows[0])}
    place = [names[f'pos-{axis}'] for axis in 'xyz']
    turn = [names[f'q{axis}'] for axis in 'xyzw']
    first = names['sdh_knuckle_joint']
    found = []
    for row in rows[1:]:
        pose = from_pose([float(row[i]) / 1e3 for i in place], [float(row[i]) for i in turn])
        joints = np.array([float(value) for value in row[first:first + 7]])
        found.append(PublishedGrasp(int(row[0]), pose, joints, float(row[names['eps_l1']]),
                                    float(row[names['vol_l1']])))
    return found


def opened(shaker: Shaker, joints) -> np.ndarray:
    """Return the joints with each finger opened until the hulls of its links are free."""
    found = np.array(joints, float)
    for name, (proximal, distal) in FINGERS.items():
        for _ in range(int(MAX_OPENING / OPENING_STEP)):
            if shaker.finger_gap(name, found) > FREE_GAP:
                break
            found[proximal] -= OPENING_STEP * WAY[0]
            found[distal] -= OPENING_STEP * WAY[1]
            found = np.clip(found, *shaker.limits)
    return found


def judge_in_physics(grasp: PublishedGrasp, held: HeldObject, hand, meshes: Path) -> list[bool]:
    """Close one grasp in physics, squeeze by each way, pull; return which were held."""
    found = []
    joints = np.clip(grasp.joints, hand.joint_lower, hand.joint_upper)
    for squeeze in SQUEEZES:
        shaker = Shaker(held, grasp.T_object_palm, hand, meshes, joints)
        start = opened(shaker, joints)
        closed = start.copy()
        for own in FINGERS.values():
            closed[list(own)] += MAX_CLOSING * np.array(WAY)
        shaker.place(start)
        touching = close_to_touch(shaker, start, np.clip(closed, *shaker.limits))
        target = shaker.data.ctrl.copy()
        for name in touching:
            target[list(FINGERS[name])] += squeeze
        shaker.squeeze(np.clip(target, *shaker.limits))
        verdict = judge(shaker, PULL_TIME)
        found.append(bool(verdict.held and fingers_touching(shaker)))
    return found


def examine(table: Path, arguments) -> list[dict]:
    """Return the records of one object's grasps."""
    name = table.stem.removeprefix('sdh_')
    mesh, hand = load_mesh(table.with_name(f'{name}.stl')).mesh, load_default_hand()
    mass = MASSES.get(name, MASS)
    held = HeldObject(convex_pieces_of(mesh, CONCAVITY), mass, arguments.friction,
                      arguments.torsion)
    body = GraspObject(mesh, Material(STIFFNESS, POISSON, mass / mesh.volume, arguments.friction))
    task = Task(gravity_directions=np.array(SIX_AXES), gravity=ACCELERATION)
    grasps = read_table(table)
    chosen = np.linspace(0, len(grasps) - 1, min(arguments.count, len(grasps))).astype(int)
    records = []
    for grasp in (grasps[i] for i in chosen):
        given = [(grasp.T_object_palm,
                  np.clip(grasp.joints, hand.joint_lower, hand.joint_upper)[None])]
        ours, bearing = (evaluate_grasps(body, given, task, hand=by, close=True)[0]
                         for by in (hand, undamaged(hand)))
        records.append({
            'object': name, 'number': grasp.number, 'epsilon': grasp.epsilon,
            'held': judge_in_physics(grasp, held, hand, arguments.meshes),
            'touch_margin': ours.closing.touch_margin if ours.closing else 0.0,
            'margin': ours.margin, 'stable': ours.stable, 'reason': ours.reason,
            'bearing_margin': bearing.margin, 'bearing_stable': bearing.stable})
    return records


def area_under_curve(scores, held) -> float:
    """Return the share of pairs, held and lost, that a score orders rightly; ties count half."""
    scores, held = np.asarray(scores, float), np.asarray(held, bool)
    more, less = scores[held][:, None], scores[~held]
    with np.errstate(invalid='ignore'):
        return float(np.mean((more > less) + 0.5 * (more == less))) if more.size and (
            less.size) else float('nan')


def report(records: list[dict]) -> None:
    """Print areas under the curve and balanced accuracies for each squeeze."""
    for name in (*sorted({r['object'] for r in records}), ''):
        rows = [r for r in records if name in ('', r['object'])]
        print(f'{name or "all"}: {len(rows)} grasps')
        for i, squeeze in enumerate(SQUEEZES):
            held = np.array([r['held'][i] for r in rows])
            areas = '  '.join(f'{key} {area_under_curve([r[key] for r in rows], held):.3f}'
                              for key in ('epsilon', 'margin', 'bearing_margin',
                                          'touch_margin'))
            verdicts = '  '.join(_accuracy(key, np.array([r[key] for r in rows]), held)
                                 for key in ('stable', 'bearing_stable'))
            print(f'  squeezed by {squeeze} rad: {held.sum()} held;  area: {areas};  {verdicts}')


def _accuracy(name: str, said, held) -> str:
    with np.errstate(invalid='ignore', divide='ignore'):
        shares = (said & held).sum() / held.sum(), (~said & ~held).sum() / (~held).sum()
    return (f'{name}: {(said & held).sum()} of {said.sum()} held, balanced accuracy '
            f'{np.mean(shares):.3f}')


def main() -> None:
    """Judge grasps of published tables, ours beside physics."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--from', dest='folder', type=Path,
                        help='folder with sdh_NAME.csv and NAME.stl')
    parser.add_argument('--count', type=int, default=80, help='grasps of each table, spread')
    parser.add_argument('--friction', type=float, default=FRICTION)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', help='report records written before')
    add_options(parser)
    arguments = parser.parse_args()
    if not (arguments.folder or arguments.read):
        parser.error('--from DIR or --read FILE is needed')
    records = [r for path in arguments.read or () for r in json.loads(path.read_text())]
    for table in sorted(arguments.folder.glob('sdh_*.csv')) if arguments.folder else ():
        begin = time.monotonic()
        records += examine(table, arguments)
        print(f'{table.name}: {time.monotonic() - begin:.0f} s', flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    report(records)


if __name__ == '__main__':
    main()
