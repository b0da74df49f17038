"""
What settles the pairs of bodies of an arm's motions, and how long a grasp takes.

``python -m benchmarks arm [--arm FILE] [--grasps N]``
"""

import argparse
from pathlib import Path
import time

import numpy as np

from gripsim_ros.core.arm import ArmTask, choose_by_arm, load_arm
from gripsim_ros.core.arm.collision import BY_EXACT_DISTANCE, BY_PLANE, BY_TRIANGLE
from gripsim_ros.core.batches import OBSTACLE_BOX
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import find_material, plan_grasps
from gripsim_ros.library.resources import load_default_hand, resolve_uri

ROOT = Path(__file__).resolve().parents[2]
#: Where the apple stands before the arm [m], and where it goes from there.
PLACE, WAY = np.array([0.5, 0.1, 0.04]), np.array([0.0, 0.15, 0.05])


def table(mesh):
    """Return the row of a table that the object stands on."""
    low = float(mesh.vertices[:, 2].min())
    pose = transform(np.eye(3), np.array([0.3, 0.0, low - 0.01]))
    return np.concatenate([[OBSTACLE_BOX, 0.8, 1.0, 0.02], pose[:3].ravel()])


def main():
    """Plan, choose by the arm, print both."""
    parser = argparse.ArgumentParser(description='pairs of bodies along an arm\'s motions')
    parser.add_argument('--arm', type=Path, default=ROOT / 'test' / 'data' / 'ur5e.yaml')
    parser.add_argument('--grasps', type=int, default=4)
    arguments = parser.parse_args()
    body = GraspObject(shapes.apple(edge_length=0.008), find_material('firm_fruit'))
    obstacles = table(body.mesh)[None]
    plan = plan_grasps(body, Task(obstacles=obstacles), count=arguments.grasps, hypotheses=60)
    task = Task(obstacles=obstacles, displacement_object=transform(np.eye(3), WAY))
    arm = load_arm(arguments.arm, resolve_uri)
    begin = time.process_time()
    choice = choose_by_arm(plan.grasps, task, body, load_default_hand(),
                           ArmTask(arm, transform(np.eye(3), PLACE)))
    seconds = (time.process_time() - begin) / max(len(plan.grasps), 1)
    pairs = sum(choice.decided.values())
    postures = [len(grasp.arm_motion.joints) for grasp in choice.grasps]
    print(f'{arm.name}: {len(choice.grasps)} of {len(plan.grasps)} grasps have a free motion, '
          f'of {min(postures, default=0)} to {max(postures, default=0)} postures; '
          f'{seconds:.2f} s of a core a grasp')
    for _, motion in choice.failures:
        print(f'  none: {motion.message}')
    if not pairs:
        raise SystemExit('no motion came to a pair of parts')
    print(f'\n| settled by | pairs of parts, of {pairs} |\n|---|---|')
    for name in (BY_TRIANGLE, BY_PLANE, BY_EXACT_DISTANCE):
        print(f'| {name} | {100.0 * choice.decided.get(name, 0) / pairs:.1f} % |')


if __name__ == '__main__':
    main()
