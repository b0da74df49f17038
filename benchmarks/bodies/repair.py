"""Large scans: time to read and repair over faces, and to take out degenerate faces."""

import argparse
from pathlib import Path
import sys
import tempfile
import time

import numpy as np
import trimesh

from gripsim_ros.core.bodies import load_mesh, repair_mesh, shapes
from gripsim_ros.core.bodies.repair.cleaning import turn_out_degenerate_faces

sys.path.append(str(Path(__file__).resolve().parents[2] / 'test' / 'helpers'))
from degenerate_faces import mesh_of_chains, slow_turn_out_degenerate_faces  # noqa: E402

RADIUS = 0.04
#: Lengths of sides: 12, 52, 209, 293 thousand faces and a million.
EDGES = (0.002, 0.00095, 0.000475, 0.0004, 0.000216)
#: One face in so many has a chain of degenerate ones, where they are.
CHAINS = 10_000
#: Largest number of faces on which the slow way is taken too.
MAX_SLOW = 220_000
TURNS = 3


def seconds(call, *arguments, turns=TURNS):
    """Return the least process time of a call [s], and its answer."""
    times, answer = [], None
    for _ in range(turns):
        begin = time.process_time()
        answer = call(*arguments)
        times.append(time.process_time() - begin)
    return min(times), answer


def row(edge, folder):
    """Return faces, time of reading and repair, of degenerate faces, and of these the slow way."""
    ball = shapes.sphere(RADIUS, edge, jitter=0.3)
    path = folder / 'ball.ply'
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(path)
    clean, _ = seconds(load_mesh, path)
    draft = mesh_of_chains(ball, len(ball.faces) // CHAINS + 1, np.random.default_rng(0))
    fast, turned = seconds(turn_out_degenerate_faces, draft)
    if len(ball.faces) > MAX_SLOW:
        return len(ball.faces), clean, fast, None
    slow, expected = seconds(slow_turn_out_degenerate_faces, draft, turns=1)
    assert (turned.faces == expected.faces).all()
    return len(ball.faces), clean, fast, slow


def main():
    """Print one row a size."""
    parser = argparse.ArgumentParser(prog='benchmarks repair')
    parser.add_argument('--quick', action='store_true', help='only up to 60,000 faces')
    quick = parser.parse_args().quick
    warm = shapes.sphere()
    repair_mesh(warm.vertices, warm.faces)
    print('| faces | read and repaired [s] | us a face | degenerate faces out [s] | '
          'all faces each round [s] | ratio |\n|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        for edge in EDGES[:2] if quick else EDGES:
            faces, clean, fast, slow = row(edge, Path(folder))
            beside = '– | –' if slow is None else f'{slow:.2f} | {slow / fast:.0f}'
            print(f'| {faces} | {clean:.2f} | {1e6 * clean / faces:.1f} | {fast:.3f} | {beside} |',
                  flush=True)
