"""
What soft bodies of the simulated hand yield under small balls, with and without what is added.

Balls press a ball of 70 mm from both sides in MuJoCo, small ones and some that are as flat as a
fingertip: the way between two forces by Hertz and Tatara over the way gone, 1 where the body is as
stiff as it is told.
"""

import argparse
from dataclasses import replace

import mujoco
import numpy as np

from benchmarks.hardware.bodies import bodies
from benchmarks.hardware.flex_indentation import FlexPress, POISSON_RATIO, way_of_balls
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.hardware.sim.world_model import soft_mesh_of

#: It only scales forces.
MODULUS = 2e5
#: Of the ball that is pressed and those that press, ways of each of these [m].
RADIUS, PAD_RADII, DEPTHS = 0.035, (0.01, 0.14), (2e-4, 4e-4, 8e-4, 1.6e-3)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--spacing', type=float, default=0.014, help='edge of tetrahedra [m]')
    arguments = parser.parse_args()
    mujoco.set_mju_user_warning(lambda text: None)      # it would write a file
    mesh = bodies()['sphere'].mesh
    body = GraspObject(mesh, Material(MODULUS, POISSON_RATIO, 500.0, 0.5), 'sphere')
    soft = soft_mesh_of(body, arguments.spacing)
    print(f'{len(soft.nodes)} nodes', flush=True)
    soft = replace(soft, masses=soft.masses / body.material.density)    # volumes
    for pad_radius in PAD_RADII:
        for yielding in (False, True):
            pressed = FlexPress(mesh, soft, MODULUS, 'ball', yielding=yielding,
                                pad_radius=pad_radius).press(DEPTHS)
            forces = [one.force for one in pressed]
            ways = np.diff(way_of_balls(forces, RADIUS, MODULUS, pad_radius))
            print(f'balls of {1e3 * pad_radius:.0f} mm radius, '
                  f'{"yields by Hertz" if yielding else "tetrahedra alone"}: '
                  f'{", ".join(f"{force:.3g}" for force in forces)} N, ways over the truth '
                  f'{np.round(ways / np.diff(DEPTHS), 2)}', flush=True)
    return 0
