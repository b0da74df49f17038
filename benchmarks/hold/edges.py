"""
Grasps at edges in MuJoCo: which of them that are quantitative hold.

``python -m benchmarks hold_edges`` plans for the edged objects of ``hold_suite`` and for random
stones, thick Ls, boxes and prisms, shakes every grasp returned, and counts those with a contact
that an edge of the object lies in or beside.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import partial
import json
from pathlib import Path
import time

import numpy as np

from benchmarks.hold.bodies import (
    all_objects, CONVEX_SHARE, MATERIALS, RANDOM_CONCAVITY, true_pieces)
from benchmarks.hold.random_bodies import KINDS, random_body
from benchmarks.hold.shake import add_options, HeldObject, hold
from benchmarks.hold.suite import Candidate
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.mechanics.body import ElasticBody
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.grasp_file import grasp_to_mapping
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

#: Objects of the suite and kinds of random bodies that have edges.
EDGED = ('box', 'cube', 'plate', 'cylinder', 'thin rod', 'cone')
EDGED_KINDS = ('stone', 'L', 'box', 'prism')
#: An edge lies in or beside a contact within so many of its radii of its centre [-].
NEAR_RADII = 1.7
HEAD = '| body | grasps | at edges | of these quantitative | held of these | held of all |\n' + (
    '|---|' + '---|' * 5)


def candidates(arguments) -> Iterator[Candidate]:
    """Yield as many random bodies as asked for, then the edged objects of the suite."""
    edged = [k for k in range(7 * arguments.random) if tuple(KINDS)[k % len(KINDS)] in EDGED_KINDS]
    for number in edged[:arguments.random]:
        name, mesh, mass, material = random_body(arguments.seed, number)
        yield Candidate(name, GraspObject(mesh, material), mass,
                        partial(convex_pieces_of, mesh, RANDOM_CONCAVITY, CONVEX_SHARE))
    for name, (mesh, mass, kind) in all_objects(EDGED).items():
        modulus, poisson, friction = MATERIALS[kind]
        yield Candidate(name, GraspObject(mesh, Material(modulus, poisson, mass / mesh.volume,
                                                         friction)), mass,
                        partial(true_pieces, name, mesh))


def is_at_edge(body: ElasticBody, grasp) -> bool:
    """Return whether an edge of the object lies in or beside one of a grasp's contacts."""
    points = np.array([contact.point for contact in grasp.contacts])
    radii = np.array([contact.equivalent_radius for contact in grasp.contacts])
    return bool((body.edges.ways(points) < NEAR_RADII * radii).any())


def judge_all(candidate: Candidate, arguments) -> list[dict]:
    """Return for each grasp of a body whether it is at an edge, quantitative, and held."""
    hand, body = load_default_hand(), ElasticBody(candidate.body)
    grasps = plan_grasps(candidate.body, hypotheses=arguments.hypotheses, budget=300.0).grasps
    held = HeldObject(candidate.pieces() if grasps else [], candidate.mass,
                      candidate.body.material.friction, arguments.torsion)
    return [{'body': candidate.name, 'edge': is_at_edge(body, grasp),
             'quantitative': bool(grasp.quantitative),
             'held': bool(hold(grasp_to_mapping(grasp, hand.joint_names), held, hand,
                               arguments.meshes, arguments.squeeze).held)} for grasp in grasps]


def main() -> None:
    """Print one row a body and the shares that held."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--hypotheses', type=int, default=60)
    parser.add_argument('--random', type=int, default=30, metavar='N', help='random edged bodies')
    parser.add_argument('--seed', type=int, default=1, help='of the random bodies')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    add_options(parser)
    arguments, records = parser.parse_args(), []
    print(HEAD)
    for candidate in candidates(arguments):
        begin, own = time.monotonic(), judge_all(candidate, arguments)
        edges = [record for record in own if record['edge']]
        sound = [record for record in edges if record['quantitative']]
        print(f'| {candidate.name} | {len(own)} | {len(edges)} | {len(sound)} | '
              f'{_held(sound)} | {_held(own)} |', flush=True)
        records += [{**record, 'seconds': time.monotonic() - begin} for record in own]
        if arguments.out:
            arguments.out.write_text(json.dumps(records))
    total: Counter = Counter((r['edge'], r['quantitative'], r['held']) for r in records)
    for edge, quantitative in ((True, True), (True, False), (False, True), (False, False)):
        count = total[edge, quantitative, True] + total[edge, quantitative, False]
        print(f'{"at edges" if edge else "elsewhere"}, {"" if quantitative else "not "}'
              f'quantitative: held {total[edge, quantitative, True]} of {count}')


def _held(records: list[dict]) -> int:
    return sum(record['held'] for record in records)


if __name__ == '__main__':
    main()
