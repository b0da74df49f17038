"""
Public hands from their descriptions to grasps, with no word from the user.

``python -m benchmarks hands --from DIR [NAME ...] [--hypotheses N] [--out FILE] [--write]``. DIR
holds clones of the repositories of ``HANDS``, as they are; what is missing is told and left out.
Each hand is configured (``gripsim hand new``), checked, drawn, and plans grasps of a ball, a box
and a can, of which the first-ranked are carried out in MuJoCo; the SDH does so, too, for the
pace. ``--write`` puts the table into the page.
"""

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trimesh

from benchmarks.hardware.lifting import hold
from gripsim_ros.apps.cli.main import main as gripsim
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.bodies.mesh import TriangleMesh
from gripsim_ros.core.errors import GripsimError
from gripsim_ros.core.hand import HandModel
from gripsim_ros.core.planning.ranked_grasp import RankedGrasp
from gripsim_ros.library.hands.check import check_hand
from gripsim_ros.library.hands.proposal import propose_hand
from gripsim_ros.library.in_process import plan_grasps, warm_up
from gripsim_ros.library.resources import load_default_hand

#: Name -> (description in a folder of clones, folders of its packages, its repository).
HANDS = {
    'Allegro': ('dex-urdf/robots/hands/allegro_hand/allegro_hand_right.urdf', 'dexsuite/dex-urdf'),
    'Allegro (ROS)': (
        'allegro_hand_ros_v4/src/allegro_hand_description/allegro_hand_description_right.urdf',
        'simlabrobotics/allegro_hand_ros_v4'),
    'Barrett BH280': ('frogger/models/barrett_hand/bh280.urdf', 'alberthli/frogger'),
    'Barrett BH8-282': ('dex-urdf/robots/hands/barrett_hand/bhand_model.urdf',
                        'dexsuite/dex-urdf'),
    'Robotiq 3-Finger': (
        'robotiq/robotiq_3f_gripper_visualization/cfg/robotiq-3f-gripper_articulated.xacro',
        'ros-industrial/robotiq'),
    'Robotiq 2F-85': (
        'robotiq/robotiq_2f_85_gripper_visualization/urdf/robotiq_arg2f_85_model.xacro',
        'ros-industrial/robotiq'),
    'Franka hand': ('franka_description/end_effectors/franka_hand/franka_hand.urdf.xacro',
                    'frankaemika/franka_description'),
    'LEAP': ('dex-urdf/robots/hands/leap_hand/leap_hand_right.urdf', 'dexsuite/dex-urdf'),
    'Shadow': ('dex-urdf/robots/hands/shadow_hand/shadow_hand_right.urdf', 'dexsuite/dex-urdf'),
    "D'Claw": ('dex-urdf/robots/hands/dclaw_gripper/dclaw_gripper.urdf', 'dexsuite/dex-urdf'),
    'Robotiq 2F-140': (
        'robotiq/robotiq_2f_140_gripper_visualization/urdf/robotiq_arg2f_140_model.xacro',
        'ros-industrial/robotiq'),
    'Robotiq C2': ('robotiq/robotiq_2f_c2_gripper_visualization/urdf/robotiq_c2_model.xacro',
                   'ros-industrial/robotiq'),
    'Inspire': ('dex-urdf/robots/hands/inspire_hand/inspire_hand_right.urdf',
                'dexsuite/dex-urdf'),
    'Ability': ('dex-urdf/robots/hands/ability_hand/ability_hand_right.urdf',
                'dexsuite/dex-urdf'),
    'Schunk SVH': ('dex-urdf/robots/hands/schunk_hand/schunk_svh_hand_right.urdf',
                   'dexsuite/dex-urdf')}
SDH = 'SDH'
#: How much finer than it is planned for a body is simulated.
FINE = 3.0
#: Firm rubber.
MATERIAL = Material(1e6, 0.45, 600.0, 0.7, name='rubber')
PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'validation' / 'hands.md'
BEGIN, END = '<!-- figures: begin -->', '<!-- figures: end -->'


@dataclass(frozen=True)
class Planned:
    """
    Grasps found of hypotheses judged, seconds to the first and of the whole plan.

    ``physics`` is what became of the first-ranked one in MuJoCo, empty where there is none.
    """

    grasps: int
    judged: int
    first: float
    seconds: float
    reasons: dict[str, int]
    physics: dict


def bodies(fineness: float = 1.0) -> dict[str, TriangleMesh]:
    """
    Return a ball of 30 mm radius, a box of 40 x 40 x 80 mm and a can of 50 x 100 mm.

    ``fineness`` divides the edges of what is round: facets of the planned ball lie 0.3 mm deep.
    """
    box = trimesh.creation.box((0.04, 0.04, 0.08)).subdivide_to_size(0.012)
    can = trimesh.creation.cylinder(0.025, 0.1, sections=round(48 * fineness)).subdivide_to_size(
        0.014)
    return {'ball': shapes.sphere(0.03, 0.008 / fineness),
            **{name: TriangleMesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))
               for name, mesh in (('box', box), ('can', can))}}


def plan(hand: HandModel, name: str, hypotheses: int) -> Planned:
    """Plan grasps of a body that is free, its weight pulling in any direction."""
    begin, body = time.monotonic(), GraspObject(bodies()[name], MATERIAL)
    result = plan_grasps(body, hand=hand, hypotheses=hypotheses,
                         count=hypotheses, budget=300.0, elasticity='half_space')
    seconds, first = time.monotonic() - begin, result.first_stable_time
    true = GraspObject(bodies(FINE)[name], MATERIAL)
    return Planned(len(result.grasps), result.evaluated, np.nan if first is None else first,
                   seconds, dict(result.rejections), hold_first(hand, true, result.grasps))


def hold_first(hand: HandModel, body: GraspObject, grasps: Sequence[RankedGrasp]) -> dict:
    """Return what becomes of the first-ranked grasp in MuJoCo, the object being rigid."""
    if not grasps:
        return {}
    found = hold(hand, body, grasps[0])
    return {'held': bool(found.held), **vars(found)}


def try_hand(name: str, folder: Path, pictures: Path, hypotheses: int) -> dict:
    """Return what became of a hand: seconds to its file, faults, and a plan for each body."""
    begin = time.monotonic()
    if name == SDH:
        hand = load_default_hand()
    else:
        file = pictures / f'{name.lower().replace(" ", "_")}.yaml'
        hand = propose_hand(folder / HANDS[name][0], file).hand
    record = {'name': name, 'fingers': len(hand.fingers), 'joints': len(hand.joint_names),
              'moving': int((hand.tree.actuator >= 0).sum()),
              'seconds': time.monotonic() - begin, 'faults': list(check_hand(hand).faults)}
    if name != SDH:
        gripsim(['hand', 'check', str(file), '--picture', str(file.with_suffix('.png'))])
    if not record['faults']:        # what is prepared once for a hand is no hypothesis' time
        plan_grasps(GraspObject(bodies()['ball'], MATERIAL), hand=hand, hypotheses=4,
                    elasticity='half_space')
    record['plans'] = {} if record['faults'] else {
        body: vars(plan(hand, body, hypotheses)) for body in bodies()}
    return record


def table(records: list[dict]) -> str:
    """Return the page's table."""
    lines = ['| hand | fingers, motors, joints | to its file [s] | '
             + ' | '.join(f'{body}: found of judged, first after [s]' for body in bodies())
             + f' | first-ranked held in MuJoCo: {", ".join(bodies())}'
             + ' | time a hypothesis per joint / SDH |', '|' + '---|' * (5 + len(bodies()))]
    paces = {record['name']: pace(record) for record in records}
    for record in records:
        plans = [told(p) for p in record['plans'].values()] or ['–'] * len(bodies())
        ratio = paces[record['name']] / paces.get(SDH, np.nan)
        parts = ', '.join(str(record[key]) for key in ('fingers', 'joints', 'moving'))
        lines.append(f'| {record["name"]} | {parts} | '
                     f'{"" if record["name"] == SDH else format(record["seconds"], ".0f")} | '
                     f'{" | ".join(plans)} | '
                     f'{", ".join(told_held(p) for p in record["plans"].values()) or "–"} | '
                     f'{"; ".join(record["faults"]) or format(ratio, ".1f")} |')
    return '\n'.join(lines)


def told(planned: dict) -> str:
    """Return what the table says of a plan."""
    if not planned['judged']:
        return 'nothing proposed'
    found = f'{planned["grasps"]} of {planned["judged"]}'
    return f'{found}, {planned["first"]:.1f}' if planned['grasps'] else found


def told_held(planned: dict) -> str:
    """Return what the table says of the first-ranked grasp in physics."""
    physics = planned['physics']
    if not physics:
        return '–'
    said = '' if physics['status'] == 'SUCCEEDED' else f' ({physics["message"]})'
    return f'{"yes" if physics["held"] else "**no**"}{said}'


def pace(record: dict) -> float:
    """Return the seconds a hypothesis takes for each joint that moves, also by another's motor."""
    plans = record['plans'].values()
    judged = sum(p['judged'] for p in plans)
    return sum(p['seconds'] for p in plans) / max(judged, 1) / record['moving']


def main() -> int:
    """Try every hand that is there."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', default=list(HANDS), metavar='NAME')
    parser.add_argument('--from', dest='folder', type=Path, required=True)
    parser.add_argument('--pictures', type=Path, help='folder of files and pictures that are kept')
    parser.add_argument('--hypotheses', type=int, default=60)
    parser.add_argument('--out', type=Path)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as away:
        pictures = options.pictures or Path(away)
        pictures.mkdir(parents=True, exist_ok=True)
        warm_up()
        for name in [SDH, *options.names]:
            if name != SDH and not (options.folder / HANDS[name][0]).is_file():
                print(f'{name}: left out, {HANDS[name][0]} of {HANDS[name][1]} is not there',
                      file=sys.stderr)
                continue
            try:
                records.append(try_hand(name, options.folder, pictures, options.hypotheses))
            except GripsimError as error:
                records.append({'name': name, 'fingers': 0, 'joints': 1, 'moving': 1,
                                'seconds': 0.0, 'faults': [str(error)], 'plans': {}})
            print(json.dumps(records[-1]), flush=True)
    print(table(records))
    if options.out is not None:
        options.out.write_text(json.dumps(records, indent=1), encoding='utf-8')
    if options.write:
        text = PAGE.read_text(encoding='utf-8')
        head, tail = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(f'{head}{BEGIN}\n\n{datetime.date.today()}; {options.hypotheses} '
                        f'hypotheses a body.\n\n{table(records)}\n\n{END}{tail}',
                        encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
