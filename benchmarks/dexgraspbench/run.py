"""
Our planner by DexGraspBench's protocol, and our margin beside its metrics on its grasps.

``python -m benchmarks dexgraspbench --from DIR``: DIR is a clone of JYChen18/DexGraspBench,
which has no licence: nothing of it is copied. Grasps of the SDH are planned for its objects and
told in its numbers by our judge; ``--write`` puts them into the clone, for its own evaluation,
with the hand. ``--shadow FILE`` takes a Shadow hand that ``gripsim hand new`` made of
dexsuite/dex-urdf, and puts our margin of the published grasps beside what its own evaluation
found of them.
"""

import argparse
import json
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.dexgraspbench.protocol import BEARING, FINGERS, GAIN, run, sdh, Trial
from benchmarks.dexgraspbench.scenes import (
    GRASPS, LOADS, OBJECTS, read_shadow, Scene, scenes, written)
from benchmarks.hold.published import area_under_curve
from gripsim_ros.core.hand import HandModel
from gripsim_ros.core.planning.moving_object.closing_motion import closing_torques
from gripsim_ros.library.in_process import evaluate_grasps, plan_grasps
from gripsim_ros.library.resources import load_default_hand, resolve_uri, share_directory

#: Multiples of the torques of the planned closing forces, by which joints are sent on.
FACTORS = (1.0, 2.0)
#: Time to plan for an object [s].
BUDGET = 60.0
#: Its metrics: small is good. Where no fingertip is near enough they are all 2.
METRICS = ('qp_metric', 'qp_dfc_metric', 'q1_metric', 'tdg_metric', 'dfc_metric')
#: What is averaged over grasps: heading, name, factor and unit.
MEANS = (('penetration', 'overlap', 1e3, 'mm'), ('contact distance', 'distance', 1e3, 'mm'),
         ('contact consistency', 'spread', 1e3, 'mm'), ('links in touch', 'links', 1.0, ''))
MESHES = share_directory() / 'urdf' / 'meshes'


def stages(hand, grasp, factor: float):
    """Return joints before, at and beyond a planned grasp (7,) [rad], by a multiple of torques."""
    at = grasp.trajectory[-1]
    efforts = np.clip(factor * closing_torques(hand, grasp), -hand.joint_efforts,
                      hand.joint_efforts)
    return grasp.trajectory[0], at, np.clip(at + efforts / GAIN, hand.joint_lower,
                                            hand.joint_upper)


def planned(scene: Scene, hand, arguments) -> list[dict]:
    """Plan for a scene; return what the protocol says of each grasp with each factor."""
    begin = time.monotonic()
    plan = plan_grasps(scene.body, LOADS, hand=hand, count=arguments.count,
                       budget=arguments.budget)
    records = []
    for grasp in plan.grasps:
        trial = Trial(scene, grasp.T_object_palm, hand, MESHES)
        for factor in arguments.factors:
            ways = stages(hand, grasp, factor)
            records.append({
                'object': scene.name, 'scale': scene.scale, 'rank': grasp.rank,
                'factor': factor, 'margin': grasp.margin, **asdict(run(trial, *ways))})
            if arguments.write:
                entry = written(scene, arguments.folder, [trial.all_joints(w) for w in ways],
                                grasp.T_object_palm)
                file = (arguments.folder / 'output' / f'gripsim_{factor:g}' / 'graspdata'
                        / scene.place / f'{grasp.rank}.npy')
                file.parent.mkdir(parents=True, exist_ok=True)
                np.save(file, entry)
    print(f'{scene.name} at {scene.scale:g} m: {len(plan.grasps)} grasps of {plan.evaluated} '
          f'judged; held ' + ', '.join(f'{sum(r["held"] for r in rows)} by {factor:g}'
                                       for factor, rows in by_factor(records))
          + f'; {time.monotonic() - begin:.0f} s', flush=True)
    return records


def by_factor(records: list[dict]) -> list[tuple[float, list[dict]]]:
    """Return the records of each factor."""
    return [(factor, [r for r in records if r['factor'] == factor])
            for factor in sorted({r['factor'] for r in records})]


def report(records: list[dict], asked: int) -> str:
    """Return what is found of planned grasps; ``asked`` is how many objects and scales."""
    lines = []
    for factor, rows in by_factor(records):
        firsts = [r for r in rows if r['rank'] == min(
            o['rank'] for o in rows if (o['object'], o['scale']) == (r['object'], r['scale']))]
        scenes_held = {(r['object'], r['scale']) for r in rows if r['held']}
        means = ', '.join(
            f'{heading} {scale * np.mean([r[name] for r in rows]):.2f} {unit}'.strip()
            for heading, name, scale, unit in MEANS)
        lines.append(f'closing torques x {factor:g}: held {sum(r["held"] for r in rows)} of '
                     f'{len(rows)}, of first-ranked {sum(r["held"] for r in firsts)} of '
                     f'{len(firsts)}, objects and scales with one held {len(scenes_held)} of '
                     f'{asked}; {means}')
    return '\n'.join(lines)


def write_hand(clone: Path, hand) -> None:
    """Write the SDH into a clone, as its evaluation reads hands."""
    folder = clone / 'assets' / 'hand' / 'sdh'
    folder.mkdir(parents=True, exist_ok=True)
    spec = sdh(hand, MESHES)
    spec.compile()
    text = spec.to_xml().replace(' input="pos"', '')     # MuJoCo 3.3.2 has but this and no word
    (folder / 'right_hand.xml').write_text(text, encoding='utf-8')
    facts = {'xml_path': 'assets/hand/sdh/right_hand.xml', 'mocap': True,
             'exclude_table_contact': None, 'finger_prefix': list(FINGERS),
             'valid_body_name': list(BEARING),
             'tip_body_name': [name for name in BEARING if name.endswith('3_link')]}
    (clone / 'config' / 'hand' / 'sdh.yaml').write_text(json.dumps(facts), encoding='utf-8')


def shadow_records(clone: Path, hand: HandModel, count: int) -> list[dict]:
    """Return our verdicts of published grasps, so many of each object and scale at most."""
    records = []
    for scene in scenes(clone):
        files = [clone / GRASPS / 'graspdata' / scene.place / f'{k}.npy' for k in range(count)]
        files = [file for file in files if file.is_file()]
        given = []
        for file in files:
            palm, joints = read_shadow(np.load(file, allow_pickle=True).item())
            given.append((palm, np.clip(joints, hand.joint_lower, hand.joint_upper)[None]))
        begin = time.monotonic()
        ours = evaluate_grasps(scene.body, given, LOADS, hand=hand, close=True)
        records += [{
            'object': scene.name, 'scale': scene.scale,
            'file': str(file.relative_to(clone / GRASPS / 'graspdata')),
            'margin': grasp.margin, 'stable': grasp.stable, 'reason': grasp.reason,
            'touch_margin': grasp.closing.touch_margin if grasp.closing else np.nan}
            for file, grasp in zip(files, ours)]
        print(f'{scene.name} at {scene.scale:g} m: {len(ours)} grasps, '
              f'{sum(grasp.stable for grasp in ours)} called stable, '
              f'{time.monotonic() - begin:.0f} s', flush=True)
    return records


def with_its_own(records: list[dict], clone: Path) -> list[dict]:
    """Return records of published grasps with what the clone's evaluation wrote of each."""
    found = []
    for record in records:
        file = clone / GRASPS / 'evaluation' / record['file']
        if file.is_file():
            entry = np.load(file, allow_pickle=True).item()
            found.append({**record, 'held': bool(entry['succ_flag']),
                          **{name: float(entry[name]) for name in METRICS}})
    return found


def compare(records: list[dict]) -> str:
    """Return the area under the curve of each predictor, and what our verdict is worth."""
    held = np.array([r['held'] for r in records], bool)
    areas = {name: area_under_curve([-r[name] for r in records], held) for name in METRICS}
    for name in ('margin', 'touch_margin'):
        areas[name] = area_under_curve(np.nan_to_num([r[name] for r in records]), held)
    stable = np.array([r['stable'] for r in records], bool)
    return (f'{held.sum()} of {len(held)} held; area under the curve: '
            + ', '.join(f'{name.removesuffix("_metric")} {area:.3f}'
                        for name, area in areas.items())
            + f'; called stable {stable.sum()}, of them held {(stable & held).sum()}; refused '
            + ', '.join(f'{count} ({reason})' for reason, count in Counter(
                r['reason'] for r in records if r['held'] and not r['stable']).most_common())
            + ' that held')


def main() -> None:
    """Plan for the clone's objects and judge, or judge its published grasps."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--from', dest='folder', type=Path, required=True, help='the clone')
    parser.add_argument('--count', type=int, default=10, help='grasps of an object and scale')
    parser.add_argument('--budget', type=float, default=BUDGET, help='time to plan [s]')
    parser.add_argument('--factors', type=float, nargs='+', default=list(FACTORS),
                        help='multiples of the planned torques that press')
    parser.add_argument('--write', action='store_true', help='put grasps and hand into the clone')
    parser.add_argument('--shadow', type=Path, help='hand file: judge the published grasps')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    arguments = parser.parse_args()
    if not (arguments.folder / OBJECTS).is_dir():
        parser.error(f'{arguments.folder} has no {OBJECTS}')
    if arguments.shadow:
        hand = HandModel.load(arguments.shadow, None, resolve_uri)
        records = shadow_records(arguments.folder, hand, arguments.count)
        records = with_its_own(records, arguments.folder) or records
        print(compare(records) if 'held' in records[0] else
              f'run its own evaluation first: no results below {GRASPS / "evaluation"}')
    else:
        hand, asked = load_default_hand(), scenes(arguments.folder)
        if arguments.write:
            write_hand(arguments.folder, hand)
        records = [r for scene in asked for r in planned(scene, hand, arguments)]
        print(report(records, len(asked)))
    if arguments.out:
        arguments.out.write_text(json.dumps(records), encoding='utf-8')
