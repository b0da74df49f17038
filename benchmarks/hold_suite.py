"""Plan for many shapes, then shake the first three grasps of each in MuJoCo."""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.hold import convex_pieces_of, hold
from gripsim_ros.core.bodies import GraspObject, Material, load_mesh, shapes
from gripsim_ros.grasp_file import grasp_to_mapping
from gripsim_ros.in_process import plan_grasps
from gripsim_ros.resources import load_default_hand, share_directory

#: Young's modulus [Pa], Poisson's ratio, friction of the materials tried.
MATERIALS = {'soft': (3.0e5, 0.4, 0.6), 'firm': (3.0e6, 0.35, 0.5), 'stiff': (2.0e9, 0.3, 0.5)}
SHOWN = 3


def generated() -> dict:
    """Return shapes by name with their mass [kg] and kind of material."""
    return {
        'apple': (shapes.apple(), 0.2, 'firm'), 'small ball': (shapes.sphere(0.02), 0.03, 'soft'),
        'ball': (shapes.sphere(0.035), 0.15, 'soft'),
        'big ball': (shapes.sphere(0.055), 0.5, 'soft'),
        'box': (shapes.box([0.05, 0.07, 0.1]), 0.3, 'stiff'),
        'cube': (shapes.box([0.06, 0.06, 0.06]), 0.2, 'stiff'),
        'plate': (shapes.plate(), 0.1, 'stiff'),
        'cylinder': (shapes.cylinder(0.03, 0.12), 0.4, 'stiff'),
        'thin rod': (shapes.cylinder(0.012, 0.16), 0.08, 'stiff'),
        'cone': (shapes.cone(0.04, 0.1), 0.15, 'firm'),
        'egg': (shapes.egg(), 0.06, 'firm'), 'banana': (shapes.banana(), 0.15, 'soft'),
        'bone': (shapes.bone(), 0.2, 'firm'), 'torus': (shapes.torus(), 0.15, 'firm'),
        'mug': (shapes.mug(), 0.3, 'stiff'), 'capsule': (shapes.capsule(), 1.0, 'stiff')}


def scanned() -> dict:
    """Return the scans of the data folder."""
    folder = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb'
    found = {'YcbBanana': (0.15, 'soft'), 'YcbMustardBottle': (0.6, 'firm'),
             'YcbTomatoSoupCan': (0.35, 'stiff')}
    return {name: (load_mesh(folder / f'{name}.ply').mesh, *rest) for name, rest in found.items()
            if (folder / f'{name}.ply').is_file()}


def main() -> None:
    """Print one row an object and the shares that held."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--hypotheses', type=int, default=100)
    parser.add_argument('--meshes', default=str(share_directory() / 'urdf' / 'meshes'))
    arguments = parser.parse_args()
    hand, first, any_held, count = load_default_hand(), 0, 0, 0
    for name, (mesh, mass, kind) in {**generated(), **scanned()}.items():
        if arguments.names and name not in arguments.names:
            continue
        modulus, poisson, friction = MATERIALS[kind]
        material = Material(modulus, poisson, mass / mesh.volume, friction)
        begin = time.monotonic()
        result = plan_grasps(GraspObject(mesh, material), hypotheses=arguments.hypotheses,
                             budget=300.0)
        pieces = convex_pieces_of(mesh)
        verdicts = [hold(grasp_to_mapping(grasp, hand.joint_names), pieces, mass, friction,
                         hand.joint_efforts, Path(arguments.meshes))
                    for grasp in result.grasps[:SHOWN]]
        held = [verdict.held for verdict in verdicts]
        count, first = count + 1, first + bool(held[:1] and held[0])
        any_held += any(held)
        worst = max(result.rejections.items(), key=lambda item: item[1], default=('', 0))
        stable = result.evaluated - sum(result.rejections.values())
        print(f'{name:18} {kind:6} {1e3 * mass:6.0f} g  stable {stable:4d}  held '
              f'{"".join("Y" if h else "n" for h in held):4} pushed '
              f'{np.round([1e3 * v.push for v in verdicts], 1)!s:18} '
              f'{time.monotonic() - begin:5.1f} s   {worst[1]} {worst[0][:40]}', flush=True)
    print(f'first-ranked held {first} of {count}, one of the first three {any_held} of {count}')


if __name__ == '__main__':
    main()
