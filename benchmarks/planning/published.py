"""
The grasp paper's planner as printed, with one rule replaced at a time, and ours.

``python -m benchmarks published [NAME ...] [--hypotheses N] [--out FILE] [--read FILE ...]
[--write]``; names of ``benchmarks.hold.bodies``. The first grasps of each are judged by our
evaluation, as they stand and closed anew, and shaken in MuJoCo (``benchmarks.hold.shake``).
``--write`` puts the tables into the page.
"""

import argparse
import datetime
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.hold.bodies import all_objects, MATERIALS, true_pieces
from benchmarks.hold.shake import hold, HeldObject, TORSION
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning import PublishedRules
from gripsim_ros.library.grasp_file import grasp_to_mapping
from gripsim_ros.library.in_process import evaluate_grasps, plan_grasps, warm_up
from gripsim_ros.library.resources import load_default_hand, share_directory

#: Objects tried unless others are named.
OBJECTS = ('apple', 'ball', 'egg', 'cylinder', 'box')
#: Rules replaced, by the name of the row; None: our planner.
ROWS = {
    'as printed': {},
    'hypotheses: prescreened': {'hypotheses': 'prescreened'},
    'contact: refined patches': {'contacts': 'patches'},
    'direction: of the middle, not v_Σ': {'direction': 'jacobian_centroid'},
    'surface and centre: smooth, exact': {'surface': 'smooth', 'centre': 'exact'},
    'forces: within friction': {'forces': 'within_friction'},
    'all of these': {'hypotheses': 'prescreened', 'contacts': 'patches', 'surface': 'smooth',
                     'centre': 'exact', 'forces': 'within_friction'},
    'ours': None}
#: Grasps of each plan that are judged.
SHOWN = 2
PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'validation' / 'published.md'
BEGIN, END = '<!-- figures: begin -->', '<!-- figures: end -->'


def examine(name: str, mesh, mass: float, kind: str, hypotheses: int) -> list[dict]:
    """Return the record of each row for one object."""
    modulus, poisson, friction = MATERIALS[kind]
    body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
    held = HeldObject(true_pieces(name, mesh), mass, friction, TORSION)
    return [record_of(name, row, body, held, hypotheses) for row in ROWS]


def record_of(name: str, row: str, body: GraspObject, held: HeldObject, hypotheses: int) -> dict:
    """Plan by the rules of one row and judge the first grasps; return the record."""
    hand, rules = load_default_hand(), ROWS[row]
    begin = time.process_time()
    plan = plan_grasps(body, hypotheses=hypotheses, count=hypotheses, budget=600.0,
                       published=None if rules is None else PublishedRules(**rules))
    seconds = time.process_time() - begin
    shown = plan.grasps[:SHOWN]
    given = [(grasp.T_object_palm, grasp.trajectory) for grasp in shown]
    verdicts = {'as it stands': evaluate_grasps(body, given) if given else [],
                'closed anew': evaluate_grasps(body, given, close=True) if given else []}
    meshes = share_directory() / 'urdf' / 'meshes'
    record = {
        'object': name, 'row': row, 'judged': plan.evaluated, 'found': len(plan.grasps),
        'in_contact': plan.in_contact, 'rejections': plan.rejections, 'seconds': seconds,
        'shown': len(shown),
        'pressed': [total(grasp, 'closing_force') for grasp in plan.grasps],
        'computed': [total(grasp, 'force') for grasp in plan.grasps],
        'stable': {way: [grasp.stable for grasp in found] for way, found in verdicts.items()},
        'physics': [bool(hold(grasp_to_mapping(grasp, hand.joint_names), held, hand, meshes).held)
                    for grasp in shown]}
    print(f'{name:10} {row:36} judged {record["judged"]:3} found {record["found"]:3} '
          f'physics {record["physics"]} {record["stable"]} {seconds:6.1f} s', flush=True)
    return record


def total(grasp, force: str) -> float:
    """Return the sum of the contacts' forces of a kind [N]."""
    return float(sum(np.linalg.norm(getattr(contact, force)) for contact in grasp.contacts))


def tables(records: list[dict]) -> str:
    """Return the tables of the page."""
    objects = list(dict.fromkeys(record['object'] for record in records))
    lines = [f'{datetime.date.today().isoformat()}; objects: {", ".join(objects)}; '
             f'{records[0]["judged"]} hypotheses each; the first {SHOWN} grasps of each judged.',
             '',
             '| rules | found of judged | pressed with [N] | computed [N] | holds as it stands | '
             'closed anew | in physics | processor [s] |', '|---|---|---|---|---|---|---|---|']
    lines += [_row(row, [r for r in records if r['row'] == row]) for row in ROWS]
    lines += ['', 'Object by object, as printed and ours (pressed with: median, N; found, held in '
              'physics):', '', '| object | as printed | excluded | ours | excluded |',
              '|---|---|---|---|---|']
    for name in objects:
        cells = [cell for row in ('as printed', 'ours') for record in records
                 if (record['object'], record['row']) == (name, row)
                 for cell in (_result(record), _excluded(record))]
        lines.append(f'| {name} | {" | ".join(cells)} |')
    return '\n'.join(lines)


def _row(row: str, records: list[dict]) -> str:
    judged, found, shown = (sum(r[key] for r in records) for key in ('judged', 'found', 'shown'))
    held = [sum(sum(r['stable'][way]) for r in records) for way in ('as it stands', 'closed anew')]
    physics = sum(sum(r['physics']) for r in records)
    return (f'| {row} | {found} of {judged} | {_median(records, "pressed")} | '
            f'{_median(records, "computed")} | {held[0]} of {shown} | {held[1]} of {shown} | '
            f'{physics} of {shown} | {sum(r["seconds"] for r in records):.0f} |')


def _median(records: list[dict], key: str) -> str:
    values = [value for record in records for value in record[key]]
    return f'{np.median(values):.3g}' if values else '–'


def _result(record: dict) -> str:
    if not record['found']:
        return f'0 of {record["judged"]}'
    return (f'{record["found"]} of {record["judged"]}; {np.median(record["pressed"]):.3g} N; '
            f'{sum(record["physics"])} of {record["shown"]} held')


def _excluded(record: dict) -> str:
    excluded = record['rejections'].items()
    return '; '.join(f'{number}: {reason}' for reason, number in excluded) or '–'


def main() -> int:
    """Measure, or read what was measured, and print the tables or write them into the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', help=f'objects; default: {", ".join(OBJECTS)}')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', help='tell records, measure nothing')
    parser.add_argument('--write', action='store_true', help=f'put the tables into {PAGE.name}')
    arguments = parser.parse_args()
    records = [record for file in arguments.read or () for record in json.loads(file.read_text())]
    if not records:
        warm_up()
        for name, body in all_objects(arguments.names or OBJECTS).items():
            records += examine(name, *body, arguments.hypotheses)
            if arguments.out:
                arguments.out.write_text(json.dumps(records))
    print(tables(records))
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding='utf-8').partition(BEGIN)
        PAGE.write_text(f'{before}{BEGIN}\n\n{tables(records)}\n\n{END}{rest.partition(END)[2]}',
                        encoding='utf-8')
    return 0
