"""
What soft bodies of the simulated hand yield under small balls, with and without what is added.

First what nodes of fTetWild's tetrahedra yield to a force near it, times plane-strain modulus and
edge, at nodes, in the middle of edges and of faces, beside what ``SoftContacts`` takes. Then balls
press a ball of 70 mm from both sides in MuJoCo, small ones and some that are as flat as a
fingertip: the way between two forces by Hertz and Tatara over the way gone, 1 where the body is as
stiff as it is told.
"""

import argparse

import mujoco
import numpy as np
from scipy.sparse import eye
from scipy.sparse.linalg import splu

from benchmarks.hardware.bodies import bodies
from benchmarks.hardware.flex_indentation import (
    FlexPress, POISSON_RATIO, stiffness, way_of_balls)
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.hardware.sim.soft.contacts import NODE_COMPLIANCE, surface_edges
from gripsim_ros.hardware.sim.world_model import soft_mesh_of, SoftMesh

#: It only scales forces.
MODULUS = 2e5
#: Of the ball that is pressed and those that press, ways of each of these [m].
RADIUS, PAD_RADII, DEPTHS = 0.035, (0.01, 0.14), (2e-4, 4e-4, 8e-4, 1.6e-3)
#: Springs that hold the body, over the mean stiffness of a node.
HOLDING = 1e-6
#: From and to how far a node's surroundings reach, over the edge.
RING = (1.3, 2.6)
PLACES = {'node': (1.0, 0.0, 0.0), 'edge': (0.5, 0.5, 0.0), 'face': (1 / 3, 1 / 3, 1 / 3)}


def node_compliances(soft: SoftMesh, count: int) -> dict[str, np.ndarray]:
    """Return what places of ``count`` faces yield beside their surroundings, times E* and edge."""
    matrix = stiffness(soft, 1.0)
    solver = splu((matrix + eye(len(soft.nodes) * 3) * HOLDING * matrix.diagonal().mean()).tocsc())
    plane, edges = 1.0 / (1.0 - POISSON_RATIO**2), surface_edges(soft)
    outer = np.unique(soft.faces)
    arms = soft.nodes - soft.nodes.mean(axis=0)
    rigid, _ = np.linalg.qr(np.concatenate([np.tile(np.eye(3), (len(arms), 1)), np.stack(
        [np.cross(axis, arms).ravel() for axis in np.eye(3)], axis=1)], axis=1))
    found: dict[str, list[float]] = {name: [] for name in PLACES}
    for face in np.random.default_rng(0).choice(soft.faces, count, replace=False):
        corners = soft.nodes[face]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal /= np.linalg.norm(normal)
        for name, shares in PLACES.items():
            load = np.zeros_like(soft.nodes)
            load[face] = -np.outer(shares, normal)
            flat = load.ravel() - rigid @ (rigid.T @ load.ravel())
            moved = solver.solve(flat)
            moved = -(moved - rigid @ (rigid.T @ moved)).reshape(-1, 3) @ normal
            away, edge = np.linalg.norm(soft.nodes - shares @ corners, axis=1), edges[face].mean()
            ring = outer[(away[outer] > RING[0] * edge) & (away[outer] < RING[1] * edge)]
            rest = np.mean(moved[ring] - 1.0 / (np.pi * plane * away[ring]))
            found[name].append(plane * edge * (shares @ moved[face] - rest))
    return {name: np.array(values) for name, values in found.items()}


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--spacing', type=float, default=0.014, help='edge of tetrahedra [m]')
    parser.add_argument('--faces', type=int, default=40)
    arguments = parser.parse_args()
    mujoco.set_mju_user_warning(lambda text: None)      # it would write a file
    taken = {name: NODE_COMPLIANCE * np.square(shares).sum()
             + (1.0 - np.square(shares).sum()) / np.pi for name, shares in PLACES.items()}
    soft = {}
    for name in ('sphere', 'apple'):
        body = GraspObject(bodies()[name].mesh, Material(1e5, POISSON_RATIO, 500.0, 0.5), name)
        soft[name] = soft_mesh_of(body, arguments.spacing)
        found = node_compliances(soft[name], arguments.faces)
        print(f'{name}, {len(soft[name].nodes)} nodes: yields over 1 / (E* h): ' + ', '.join(
            f'{place} {values.mean():.2f} +- {values.std():.2f} (taken: {taken[place]:.2f})'
            for place, values in found.items()), flush=True)
    mesh = bodies()['sphere'].mesh
    masses = soft['sphere'].masses / soft['sphere'].masses.sum() * mesh.volume
    ball = SoftMesh(soft['sphere'].nodes, soft['sphere'].corners, soft['sphere'].faces, masses)
    for pad_radius in PAD_RADII:
        for yielding in (False, True):
            pressed = FlexPress(mesh, ball, MODULUS, 'ball', yielding=yielding,
                                pad_radius=pad_radius).press(DEPTHS)
            forces = [one.force for one in pressed]
            ways = np.diff(way_of_balls(forces, RADIUS, MODULUS, pad_radius))
            print(f'balls of {1e3 * pad_radius:.0f} mm radius, '
                  f'{"yields by Hertz" if yielding else "tetrahedra alone"}: '
                  f'{", ".join(f"{force:.3g}" for force in forces)} N, ways over the truth '
                  f'{np.round(ways / np.diff(DEPTHS), 2)}', flush=True)
    return 0
