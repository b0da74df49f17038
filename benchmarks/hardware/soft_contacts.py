"""
What soft bodies of the simulated hand yield under small balls, with and without what is added.

Balls press a ball of 70 mm from both sides in MuJoCo, small ones and some that are as flat as a
fingertip: the way between two forces by Hertz and Tatara over the way gone, 1 where the body is as
stiff as it is told. The flat ones press a rod of 45 mm, too, whose tetrahedra are turned under
them, so that nodes are elsewhere each time: how far along the rod the force passes the middle.
"""

import argparse
from dataclasses import replace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.hardware.bodies import bodies
from benchmarks.hardware.flex_indentation import (
    FlexPress, POISSON_RATIO, way_of_balls, way_of_rod)
from gripsim_ros.core.bodies import GraspObject, Material, shapes, TriangleMesh
from gripsim_ros.hardware.sim.elements import stiffening
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedra_of
from gripsim_ros.hardware.sim.world_model import soft_mesh_of, SoftMesh

#: It only scales forces.
MODULUS = 2e5
#: Of the ball that is pressed and those that press, ways of each of these [m].
RADIUS, PAD_RADII, DEPTHS = 0.035, (0.01, 0.14), (2e-4, 4e-4, 8e-4, 1.6e-3)
#: Of the rod: radius, length, edges [m], and turns of the tetrahedra [rad]; ways of each ball, the
#: first beyond what tetrahedra may sag [m].
ROD, ROD_EDGE, TURNS = (0.0225, 0.1), 0.009, (0.0, 0.23, 0.51, 0.82, 1.24)
ROD_DEPTHS = (3e-4, 4e-4, 6e-4, 1.2e-3)


def press_rod() -> None:
    """Print what flat balls find on a rod, by depth over all turns."""
    upright = shapes.cylinder(*ROD, edge_length=0.003)
    points = upright.vertices[:, [2, 1, 0]] * [1.0, 1.0, -1.0]
    nodes, corners = tetrahedra_of(TriangleMesh(points, upright.faces), ROD_EDGE)
    stiffer, ratios, asides = stiffening(nodes, corners, POISSON_RATIO), [], []
    for angle in TURNS:
        turn = Rotation.from_euler('x', -angle).as_matrix()
        soft = SoftMesh(nodes @ turn, corners, outer_faces(corners),
                        node_masses(nodes, corners, 1.0), stiffer)
        press = FlexPress(TriangleMesh(points @ turn, upright.faces), soft, MODULUS, 'ball',
                          yielding=True, pad_radius=PAD_RADII[1], height=ROD[0])
        pressed = press.press(ROD_DEPTHS)
        ways = way_of_rod([one.upper for one in pressed], ROD[0], MODULUS, PAD_RADII[1])
        ratios.append(np.diff(ways) / np.diff(ROD_DEPTHS))
        asides.append([1e3 * one.aside for one in pressed])
    print(f'rod, {len(nodes)} nodes: ways over the truth {np.round(np.mean(ratios, axis=0), 2)} '
          f'± {np.round(np.std(ratios, axis=0), 2)}, aside by '
          f'{np.round(np.sqrt(np.mean(np.square(asides), axis=0)), 2)} mm', flush=True)


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
    press_rod()
    return 0
