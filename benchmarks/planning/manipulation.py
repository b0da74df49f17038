"""
What fingers press and hold while they and the arm move an object: an apple, three displacements.

``python -m benchmarks manipulation [--hypotheses N] [--count N]``
"""

import argparse
import time

import numpy as np

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.rejections import CANNOT_MOVE
from gripsim_ros.core.transforms import from_rotation_vector
from gripsim_ros.library.in_process import find_material, plan_grasps

#: Displacement of each name: translation [m], rotation vector [rad]; the weight pulls along -z.
WAYS = {'up by 50 mm': (0.0, 0.0, 0.05, 0.0, 0.0, 0.0),
        'sideways by 50 mm': (0.05, 0.0, 0.0, 0.0, 0.0, 0.0),
        'turned by 90° about x': (0.0, 0.0, 0.0, 0.5 * np.pi, 0.0, 0.0)}
#: Time for planning [s]: no answer is cut short by it.
LONG = 500.0


def main():
    """Plan for each displacement, print what the steps came to."""
    parser = argparse.ArgumentParser(description='forces and margins along ways of an object')
    parser.add_argument('--hypotheses', type=int, default=60)
    parser.add_argument('--count', type=int, default=5)
    arguments = parser.parse_args()
    body = GraspObject(shapes.apple(edge_length=0.008), find_material('firm_fruit'))
    print('| way | moved by | lost | least margin | most force [N] | over the first | '
          'over the least | s of a core |\n|' + '---|' * 8)
    for name, way in WAYS.items():
        task = Task(gravity_directions=np.array([[0.0, 0.0, -1.0]]),
                    displacement_object=from_rotation_vector(np.array(way)))
        begin = time.process_time()
        result = plan_grasps(body, task, count=arguments.count, budget=LONG,
                             hypotheses=arguments.hypotheses)
        seconds = time.process_time() - begin
        ways = [grasp.reach.steps for grasp in result.grasps if grasp.reach is not None]
        forces = [np.array([step.normal_force for step in steps]) for steps in ways]
        least = [np.array([step.minimal_normal_force for step in steps]) for steps in ways]
        levels = ', '.join(f'{count} {level}' for level, count in result.reach_levels.items())
        print(f'| {name} | {levels} | {result.rejections.get(CANNOT_MOVE, 0)} | '
              f'{min(step.margin for steps in ways for step in steps):.2f} | '
              f'{max(force.max() for force in forces):.2f} | '
              f'{max((force / force[0]).max() for force in forces):.2f} | '
              f'{max((force / under).max() for force, under in zip(forces, least)):.2f} | '
              f'{seconds:.1f} |')


if __name__ == '__main__':
    main()
