"""
Grasps that others published for the SDH, by our verdict and in physics.

The tables give where a rigid hand first touches. Physics opens the fingers until they are free,
closes each until it touches, sends the joints' springs beyond that and pulls: no planner has a
part in it. Beside it stand our verdict with closing and the tables' own epsilon. With ``--pull``
the published grasps and a plan of ours are closed the same way and pulled ever harder.
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
from gripsim_ros.core.bodies import GraspObject, load_mesh, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import from_pose
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.in_process import evaluate_grasps, plan_grasps
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.strongest import plan_strongest

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
#: Way beyond the touch [rad] for pulls that grow, and the largest of them [m/s^2].
PULL_SQUEEZE, MOST_PULL = 0.06, 240.0
#: Grasps of our plan that are pulled, and the time for them [s].
OURS, BUDGET = 10, 600.0
#: Loads that grasps are planned and judged for.
LOADS = Task(gravity_directions=np.array(SIX_AXES), gravity=ACCELERATION)


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
    bodies = [shaker.model.body(i).name for i in range(shaker.model.nbody)]
    for name, (proximal, distal) in FINGERS.items():
        links = [body for body in bodies if body.startswith(name)]
        for _ in range(int(MAX_OPENING / OPENING_STEP)):
            if shaker.links_gap(links, found) > FREE_GAP:
                break
            found[proximal] -= OPENING_STEP * WAY[0]
            found[distal] -= OPENING_STEP * WAY[1]
            found = np.clip(found, *shaker.limits)
    return found


def closed_in_physics(T_object_palm, joints, squeeze: float, held: HeldObject, hand,
                      meshes: Path) -> Shaker:
    """Return a hand that opened from given joints, closed to the touch, and squeezed [rad]."""
    joints = np.clip(joints, hand.joint_lower, hand.joint_upper)
    shaker = Shaker(held, T_object_palm, hand, meshes, joints)
    start = opened(shaker, joints)
    closed = start.copy()
    for own in FINGERS.values():
        closed[list(own)] += MAX_CLOSING * np.array(WAY)
    shaker.place(start)
    touching = close_to_touch(shaker, start, np.clip(closed, *shaker.limits), look=1,
                              at_once=True)
    target = shaker.data.ctrl.copy()
    for name in touching:
        target[list(FINGERS[name])] += squeeze
    shaker.squeeze(np.clip(target, *shaker.limits))
    return shaker


def judge_in_physics(grasp: PublishedGrasp, held: HeldObject, hand, meshes: Path) -> list[bool]:
    """Close one grasp in physics, squeeze by each way, pull; return which were held."""
    found = []
    for squeeze in SQUEEZES:
        shaker = closed_in_physics(grasp.T_object_palm, grasp.joints, squeeze, held, hand, meshes)
        verdict = judge(shaker, PULL_TIME)
        found.append(bool(verdict.held and fingers_touching(shaker)))
    return found


def pull_borne(T_object_palm, joints, held: HeldObject, hand, meshes: Path) -> float:
    """Return the least pull over the mass, of six axes, at which a grasp breaks loose [m/s^2]."""
    shaker = closed_in_physics(T_object_palm, joints, PULL_SQUEEZE, held, hand, meshes)
    return shaker.failing_acceleration(MOST_PULL) if fingers_touching(shaker) else 0.0


def pull(table: Path, arguments) -> None:
    """Print the hardest pull that published grasps of an object bear, and ours."""
    body, held, task, grasps = scene(table, arguments)
    hand = load_default_hand()
    pulls = [pull_borne(g.T_object_palm, g.joints, held, hand, arguments.meshes) for g in grasps]
    print(f'{table.stem.removeprefix("sdh_")}: {len(pulls)} published bear up to '
          f'{max(pulls):.1f} m/s^2 (median {np.median(pulls):.1f})', flush=True)
    pull_ours(body, held, task, hand, arguments)


def pull_ours(body: GraspObject, held: HeldObject, task: Task, hand, arguments) -> None:
    """Print the hardest pull that our grasps of an object bear, the gentlest and the strongest."""
    for name, plan in (('planned', plan_grasps), ('strongest', plan_strongest)):
        ours = [pull_borne(g.T_object_palm, g.trajectory[-1], held, hand, arguments.meshes)
                for g in plan(body, task, hand=hand, count=OURS, budget=BUDGET).grasps]
        print(f'    {name}: {len(ours)} of ours bear up to {max(ours, default=0.0):.1f} (median '
              f'{np.median(ours or [0.0]):.1f}, the first {ours[0] if ours else 0.0:.1f})',
              flush=True)


def pull_mesh(file: Path, arguments) -> None:
    """Print the hardest pulls of our grasps of any mesh."""
    mesh = load_mesh(file).mesh
    held = HeldObject(convex_pieces_of(mesh, CONCAVITY), MASS, arguments.friction,
                      arguments.torsion)
    body = GraspObject(mesh, Material(STIFFNESS, POISSON, MASS / mesh.volume, arguments.friction))
    print(f'{file.stem}: {MASS} kg', flush=True)
    pull_ours(body, held, LOADS, load_default_hand(), arguments)


def scene(table: Path, arguments):
    """Return an object with a mass, the same in physics, its loads, and grasps to be judged."""
    name = table.stem.removeprefix('sdh_')
    mesh = load_mesh(table.with_name(f'{name}.stl')).mesh
    mass = MASSES.get(name, MASS)
    held = HeldObject(convex_pieces_of(mesh, CONCAVITY), mass, arguments.friction,
                      arguments.torsion)
    body = GraspObject(mesh, Material(STIFFNESS, POISSON, mass / mesh.volume, arguments.friction))
    grasps = read_table(table)
    chosen = np.linspace(0, len(grasps) - 1, min(arguments.count, len(grasps))).astype(int)
    return body, held, LOADS, [grasps[i] for i in chosen]


def examine(table: Path, arguments) -> list[dict]:
    """Return the records of one object's grasps."""
    name, hand = table.stem.removeprefix('sdh_'), load_default_hand()
    body, held, task, grasps = scene(table, arguments)
    records = []
    for grasp in grasps:
        given = [(grasp.T_object_palm,
                  np.clip(grasp.joints, hand.joint_lower, hand.joint_upper)[None])]
        (ours,) = evaluate_grasps(body, given, task, hand=hand, close=True)
        records.append({
            'object': name, 'number': grasp.number, 'epsilon': grasp.epsilon,
            'held': judge_in_physics(grasp, held, hand, arguments.meshes),
            'margin': ours.margin, 'stable': ours.stable, 'reason': ours.reason})
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
                              for key in ('epsilon', 'margin'))
            said = np.array([r['stable'] for r in rows])
            print(f'  squeezed by {squeeze} rad: {held.sum()} held;  area: {areas};  stable: '
                  f'{_accuracy(said, held)}')


def _accuracy(said, held) -> str:
    with np.errstate(invalid='ignore', divide='ignore'):
        shares = (said & held).sum() / held.sum(), (~said & ~held).sum() / (~held).sum()
    return (f'{(said & held).sum()} of {said.sum()} held, balanced accuracy '
            f'{np.mean(shares):.3f}')


def main() -> None:
    """Judge grasps of published tables, ours beside physics."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--from', dest='folder', type=Path,
                        help='folder with sdh_NAME.csv and NAME.stl')
    parser.add_argument('--count', type=int, default=80, help='grasps of each table, spread')
    parser.add_argument('--friction', type=float, default=FRICTION)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--pull', action='store_true', help='pull ever harder, ours beside')
    parser.add_argument('--mesh', type=Path, nargs='+', help='pull our grasps of these alone')
    parser.add_argument('--read', type=Path, nargs='+', help='report records written before')
    add_options(parser)
    arguments = parser.parse_args()
    if not (arguments.folder or arguments.read or arguments.mesh):
        parser.error('--from DIR, --read FILE or --mesh FILE is needed')
    for file in arguments.mesh or ():
        pull_mesh(file, arguments)
    if arguments.mesh:
        return
    if arguments.pull:
        for table in sorted(arguments.folder.glob('sdh_*.csv')):
            pull(table, arguments)
        return
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
