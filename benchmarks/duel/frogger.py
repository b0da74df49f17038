"""
A duel with FRoGGeR (Li et al. 2023, arXiv 2302.13687) on its own objects, with its Barrett hand.

Grasps of FRoGGeR are found in an environment of its own, from a folder beside ``benchmarks``::

    PYTHONPATH=DIR python benchmarks/duel/frogger_side.py DIR GRASPS

DIR is a clone of alberthli/frogger, GRASPS a folder for one file an object. Then
``python -m benchmarks frogger --from DIR --grasps GRASPS --hand HAND.yaml`` plans as many with
the same hand on the same meshes, warm and on one core, and judges both alike: by the same
numbers of the same contacts, and in MuJoCo, where no planner has a part.
"""

import argparse
import datetime
import json
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from benchmarks.duel.any_grasp import try_grasp
from benchmarks.hold.shake import ACCELERATION, HeldObject, SIX_AXES
from gripsim_ros.core.bodies import decimate_mesh, GraspObject, load_mesh, Material
from gripsim_ros.core.grasp_theory.wrench_space import primitive_wrenches, wrench_space_metrics
from gripsim_ros.core.hand import HandModel
from gripsim_ros.core.planning import Task
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.in_process import plan_grasps, warm_up
from gripsim_ros.library.resources import load_default_hand

#: Mass of every object [kg], as in DexGraspBench; friction as in FRoGGeR's timing script.
MASS, FRICTION = 0.1, 0.7
#: Young's modulus [Pa] and Poisson's ratio of the objects: FRoGGeR takes them as rigid.
STIFFNESS, POISSON = 2.0e9, 0.3
#: Edges of a friction cone, as in FRoGGeR's timing script.
EDGES = 4
#: Faces of the body in physics and concavity of its pieces, over half of its longest side [-].
FACES, CONCAVITY = 6000, 0.03
#: Grasps an object, hypotheses judged for them, time for them [s].
COUNT, HYPOTHESES, BUDGET = 10, 100, 60.0
#: The object floats; its weight pulls along six axes.
TASK = Task(gravity_directions=np.array(SIX_AXES), gravity=ACCELERATION)
OURS, THEIRS = 'gripsim', 'FRoGGeR'
PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'validation' / 'frogger.md'
BEGIN, END = '<!-- figures: begin -->', '<!-- figures: end -->'


def wrench_numbers(points, normals, centre, length: float) -> dict[str, float]:
    """
    Return the normalised minimal weight and epsilon of contacts.

    Minimal weight: the largest share that every cone edge can have in a balance of forces, times
    their number; epsilon with torques about the centre of mass over the body's radius.
    """
    edges = primitive_wrenches(points, normals, centre, FRICTION, length, EDGES).reshape(-1, 6)
    count = len(edges)
    found = linprog(np.append(np.zeros(count), -1.0),
                    A_ub=np.hstack([-np.eye(count), np.ones((count, 1))]), b_ub=np.zeros(count),
                    A_eq=np.vstack([np.hstack([edges.T, np.zeros((6, 1))]),
                                    np.append(np.ones(count), 0.0)]),
                    b_eq=np.append(np.zeros(6), 1.0), bounds=[(None, None)] * (count + 1))
    weight = count * found.x[-1] if found.status == 0 else -1.0
    epsilon, _ = wrench_space_metrics(points, normals, centre, FRICTION, length, EDGES)
    return {'min_weight': max(float(weight), 0.0), 'epsilon': float(epsilon)}


def inward_normals(mesh, points) -> np.ndarray:
    """Return the normals (k, 3) of the faces nearest to points (k, 3), into the body."""
    import trimesh
    shape = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    _, _, faces = trimesh.proximity.closest_point(shape, points)
    return -shape.face_normals[faces]


def theirs(file: Path, hand: HandModel) -> dict:
    """Return FRoGGeR's record of an object with joints (J,) of its grasps in our order."""
    record = json.loads(file.read_text(encoding='utf-8'))
    for grasp in record['grasps']:
        if grasp['q'] is not None:
            named = {name.removeprefix('bhand_').removesuffix('_q'): value
                     for name, value in grasp['q'].items()}
            grasp['joints'] = [named[name] for name in hand.joint_names]
            grasp['points'] = np.transpose(grasp['contacts']).tolist()
    return record


def body_of(name: str, folder: Path) -> GraspObject:
    """Return the body of an object's mesh."""
    mesh = load_mesh(folder / 'data' / name / f'{name}_clean.obj').mesh
    return GraspObject(mesh, Material(STIFFNESS, POISSON, MASS / mesh.volume, FRICTION))


def ours(name: str, folder: Path, hand: HandModel) -> dict:
    """Return a record of our grasps of an object, from its file on."""
    begin = time.monotonic()
    body = body_of(name, folder)
    read = time.monotonic() - begin
    result = plan_grasps(body, TASK, hand=hand, hypotheses=HYPOTHESES, count=COUNT, budget=BUDGET)
    return {'faces': len(body.mesh.faces), 'read': read, 'seconds': time.monotonic() - begin,
            'first': np.nan if result.first_stable_time is None
            else read + result.first_stable_time,
            'judged': result.evaluated, 'rejections': dict(result.rejections),
            'grasps': [{'T_object_palm': g.T_object_palm.tolist(),
                        'joints': g.trajectory[-1].tolist(), 'margin': g.margin,
                        'points': [c.point.tolist() for c in g.contacts],
                        'normals': [c.normal.tolist() for c in g.contacts]}
                       for g in result.grasps]}


def examined(grasps: list[dict], body: GraspObject, held: HeldObject, hand: HandModel) -> None:
    """Write to each grasp its numbers and what became of it in MuJoCo."""
    centre = body.mass_properties.centre_of_mass
    length = float(np.linalg.norm(body.mesh.vertices - centre, axis=1).max())
    for grasp in grasps:
        points = np.array(grasp['points'])
        normals = (np.array(grasp['normals']) if 'normals' in grasp
                   else inward_normals(body.mesh, points))
        grasp |= wrench_numbers(points, normals, centre, length)
        grasp |= try_grasp(held, hand, np.array(grasp['T_object_palm']), grasp['joints'])


def planned(name: str, options) -> dict:
    """Return both planners' records of one object."""
    record = {'name': name, OURS: ours(name, options.folder, options.hand_model)}
    if options.hand:        # FRoGGeR's; with the SDH we stand alone
        record[THEIRS] = theirs(options.grasps / f'{name}.json', options.hand_model)
    for planner in planners_of(record):
        record[planner]['found'] = sum('joints' in g for g in record[planner]['grasps'])
    return record


def planners_of(record: dict) -> list[str]:
    """Return the planners that have a part in a record."""
    return [planner for planner in (THEIRS, OURS) if planner in record]


def judge_all(record: dict, options) -> None:
    """Write to the first grasps of both planners what became of them."""
    body = body_of(record['name'], options.folder)
    pieces = convex_pieces_of(decimate_mesh(body.mesh, FACES), CONCAVITY)
    held = HeldObject(pieces, MASS, FRICTION)
    for planner in planners_of(record):
        found = [g for g in record[planner]['grasps'] if 'joints' in g]
        examined(found[:options.judged], body, held, options.hand_model)


def summary(records: list[dict], planner: str) -> dict[str, str]:
    """Return the lines of the table for one planner."""
    mine = [record[planner] for record in records]
    judged = [g for record in mine for g in record['grasps'] if 'held' in g]
    firsts = [record['grasps'][0] for record in mine
              if record['grasps'] and 'held' in record['grasps'][0]]
    seconds, first, every = times(mine, planner)
    return {
        'objects with a grasp': f'{sum(r["found"] > 0 for r in mine)} of {len(mine)}',
        'from the file to the first grasp: median, mean, most [s]': spread(first),
        'from the file to ten grasps: median, mean, most [s]': spread(every),
        'seconds a grasp: median, mean, most': spread(seconds),
        'held in MuJoCo: first grasps': share(firsts),
        'held in MuJoCo: all judged': share(judged),
        'pull borne over the mass: median, least tenth [m/s^2]':
            f'{np.median([g["pull"] for g in judged]):.0f}, '
            f'{np.quantile([g["pull"] for g in judged], 0.1):.0f}',
        'minimal weight, normalised: median [-]':
            f'{np.median([g["min_weight"] for g in judged]):.2f}',
        'epsilon over the radius: median [-]': f'{np.median([g["epsilon"] for g in judged]):.3f}'}


def times(records: list[dict], planner: str) -> tuple[list[float], list[float], list[float]]:
    """Return seconds a grasp, to the first grasp and to all, of those objects that have them."""
    if planner == OURS:
        each = [r['seconds'] / r['found'] for r in records if r['found']]
        first = [r['first'] for r in records if r['found']]
        return each, first, [r['seconds'] for r in records if r['found'] == COUNT]
    each = [g['seconds'] for r in records for g in r['grasps']]
    first = [r['setup'] + r['grasps'][0]['seconds'] for r in records if r['found']]
    every = [r['setup'] + sum(g['seconds'] for g in r['grasps']) for r in records
             if r['found'] == COUNT]
    return each, first, every


def spread(seconds: list[float]) -> str:
    """Return median, mean and largest, and of how many."""
    return (f'{np.median(seconds):.2f}, {np.mean(seconds):.2f}, {np.max(seconds):.1f} '
            f'(of {len(seconds)})') if seconds else '–'


def share(grasps: list[dict]) -> str:
    """Return how many were held."""
    return f'{sum(g["held"] for g in grasps)} of {len(grasps)}'


def table(records: list[dict]) -> str:
    """Return the page's table, and the objects that one of them does not hold."""
    planners = planners_of(records[0])
    told = {planner: summary(records, planner) for planner in planners}
    lines = ['| | ' + ' | '.join(planners) + ' |', '|' + '---|' * (len(planners) + 1)]
    lines += [f'| {key} | ' + ' | '.join(told[planner][key] for planner in planners) + ' |'
              for key in told[planners[0]]]
    for planner in planners:
        lost = [f'{r["name"]} ({share(judged)})' for r in records
                if (judged := [g for g in r[planner]['grasps'] if 'held' in g])
                and not all(g['held'] for g in judged)]
        none = [r['name'] for r in records if not r[planner]['found']]
        lines += ['', *textwrap.wrap(f'{planner}, not all held: {", ".join(lost) or "none"}; no '
                                     f'grasp: {", ".join(none) or "none"}.', 118)]
    return '\n'.join(lines)


def main() -> int:
    """Judge all objects that FRoGGeR has grasps of, one line each, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', help='objects; default: all of GRASPS')
    parser.add_argument('--from', dest='folder', type=Path, help='clone of FRoGGeR')
    parser.add_argument('--grasps', type=Path, help='folder of its grasps')
    parser.add_argument('--hand', type=Path, help='its hand; default: the SDH')
    parser.add_argument('--judged', type=int, default=5,
                        help='grasps tried in MuJoCo; 0: none yet')
    parser.add_argument('--out', type=Path, help='folder of records')
    parser.add_argument('--write', action='store_true', help='put the table into the page')
    options = parser.parse_args()
    options.hand_model = HandModel.load(options.hand) if options.hand else load_default_hand()
    options.out.mkdir(parents=True, exist_ok=True)
    warm_up()
    names = options.names or sorted(file.stem for file in options.grasps.glob('*.json'))
    files = {name: options.out / f'{name}.json' for name in names}
    for name in names:      # all plans first: what is timed has the machine for itself
        if not files[name].exists():
            files[name].write_text(json.dumps(planned(name, options)), encoding='utf-8')
    records = [json.loads(file.read_text(encoding='utf-8')) for file in files.values()]
    for record in records if options.judged else ():
        if not any('held' in grasp for planner in planners_of(record)
                   for grasp in record[planner]['grasps']):
            judge_all(record, options)
            files[record['name']].write_text(json.dumps(record), encoding='utf-8')
            print(line_of(record), flush=True)
    if options.judged:
        print(table(records))
    if options.write:
        text = PAGE.read_text(encoding='utf-8')
        head, tail = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(f'{head}{BEGIN}\n\n{datetime.date.today()}; {len(records)} objects.\n\n'
                        f'{table(records)}\n\n{END}{tail}', encoding='utf-8')
    return 0


def line_of(record: dict) -> str:
    """Return a line of what became of one object."""
    told = [record['name']]
    for planner in planners_of(record):
        judged = [g for g in record[planner]['grasps'] if 'held' in g]
        _, first, _ = times([record[planner]], planner)
        told.append(f'{planner} {record[planner]["found"]} found, first after '
                    f'{spread(first)}, held {share(judged)}')
    return '; '.join(told)


if __name__ == '__main__':
    sys.exit(main())
