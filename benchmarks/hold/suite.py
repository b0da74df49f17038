"""Plan for many shapes, then shake the first three grasps of each in MuJoCo."""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.hold.bodies import (
    all_objects, CONVEX_SHARE, MATERIALS, RANDOM_CONCAVITY, true_pieces)
from benchmarks.hold.random_bodies import random_body
from benchmarks.hold.shake import HeldObject, add_options, hold
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.grasp_file import grasp_to_mapping
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

SHOWN = 3
#: Torsion of a pad that touches over a circle of some 7 mm radius, for the strict test [m].
STRICT_TORSION = 0.002
QUICK = ('apple', 'box', 'banana', 'thin rod')


def variants(arguments) -> dict:
    """Return by name what is tried: meshes, squeeze [rad] and torsion [m]."""
    found = {'protocol': (arguments.meshes, arguments.squeeze, arguments.torsion),
             'no squeeze': (arguments.meshes, 0.0, arguments.torsion),
             'strict': (arguments.meshes, 0.0, STRICT_TORSION)}
    real = Path(os.environ.get('GRIPSIM_DATA', '')) / 'schunk_sdh'
    if (real / 'finger_tip.stl').is_file():
        found['real meshes'] = (real, arguments.squeeze, arguments.torsion)
    return {name: found[name] for name in arguments.variants or found}


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is planned for, and what physics takes it for."""

    name: str
    body: GraspObject
    mass: float
    pieces: Callable[[], list]


def candidates(arguments) -> Iterator[Candidate]:
    """Yield the bodies asked for: random ones, or those that the suite names."""
    for number in range(arguments.random):
        name, mesh, mass, material = random_body(arguments.seed, number)
        yield Candidate(name, GraspObject(mesh, material), mass,
                        partial(convex_pieces_of, mesh, RANDOM_CONCAVITY, CONVEX_SHARE))
    for name, (mesh, mass, kind) in ({} if arguments.random else
                                     all_objects(arguments.names)).items():
        modulus, poisson, friction = MATERIALS[kind]
        body = GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume, friction))
        yield Candidate(name, body, mass, partial(true_pieces, name, mesh))


def shake_object(candidate: Candidate, arguments) -> dict:
    """Plan for one object, shake its first grasps in every variant; return the records."""
    hand, friction = load_default_hand(), candidate.body.material.friction
    result = plan_grasps(candidate.body, hypotheses=arguments.hypotheses, budget=300.0)
    pieces = candidate.pieces() if result.grasps else []
    grasps = [grasp_to_mapping(g, hand.joint_names) for g in result.grasps[:SHOWN]]
    verdicts = {}
    for variant, (meshes, squeeze, torsion) in variants(arguments).items():
        held = HeldObject(pieces, candidate.mass, friction, torsion)
        verdicts[variant] = [hold(grasp, held, hand, meshes, squeeze) for grasp in grasps]
    return {'name': candidate.name,
            'stable': result.evaluated - sum(result.rejections.values()),
            'margins': [round(g.margin, 3) for g in result.grasps[:SHOWN]],
            'verdicts': {variant: [vars(v) for v in found]
                         for variant, found in verdicts.items()}}


def main() -> None:
    """Print one row an object and the shares that held in every variant."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', help='objects; default: all')
    parser.add_argument('--hypotheses', type=int, default=100)
    parser.add_argument('--variants', nargs='+', help='of the protocol; default: all')
    parser.add_argument('--random', type=int, default=0, metavar='N',
                        help='N bodies of random shape, size, mass and material instead')
    parser.add_argument('--seed', type=int, default=1, help='of the random bodies')
    parser.add_argument('--quick', action='store_true', help='four objects, 30 hypotheses')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    add_options(parser)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.hypotheses, arguments.names = 30, arguments.names or QUICK
    records = []
    for candidate in candidates(arguments):
        begin = time.monotonic()
        records.append(shake_object(candidate, arguments))
        verdicts = records[-1]['verdicts']
        held = '  '.join(f'{variant} {"".join("Y" if v["held"] else "n" for v in found):3}'
                         for variant, found in verdicts.items())
        pushed = np.round([1e3 * v['push'] for v in next(iter(verdicts.values()))], 1)
        print(f'{candidate.name:24} {1e3 * candidate.mass:5.0f} g  friction '
              f'{candidate.body.material.friction:.2f}  stable {records[-1]["stable"]:4d}  {held}'
              f'  pushed {pushed} mm  {time.monotonic() - begin:5.1f} s', flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    summarise(records)


def summarise(records: list[dict]) -> None:
    """Print how many first-ranked grasps held, and for how many objects one of three did."""
    for variant in records[0]['verdicts']:
        held = [[v['held'] for v in record['verdicts'][variant]] for record in records]
        print(f'{variant:12} first-ranked held {sum(h[:1] == [True] for h in held)} of '
              f'{len(held)}, one of the first three {sum(any(h) for h in held)} of {len(held)}')


if __name__ == '__main__':
    main()
