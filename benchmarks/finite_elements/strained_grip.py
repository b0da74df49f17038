"""
A planned grip by finite elements of finite strain, beside what palpation's model tells of it.

``python -m benchmarks strained_grip MESH|GRASPS.json [--rank N] [--free]`` plans on a body of 200
kPa, or takes a planned grasp, and closes the hand's convex links, as the simulated hand has them,
about neo-Hookean quadratic elements. Where they touch they stick and are carried along with the
links, or with ``--free`` nothing sticks: then a body that friction alone holds slides out. Half
the sum of the normal forces by the way of the fingers, against ``GripModel``, whose friction is
the body's.
"""

import argparse
from dataclasses import replace
import json
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from gripsim_ros.core.bodies import GraspObject, load_mesh, Material
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics.finite_strain.equilibrium import find_rest, Solver
from gripsim_ros.core.mechanics.finite_strain.laws import StrainLaw
from gripsim_ros.core.mechanics.finite_strain.meshing import mesh_body
from gripsim_ros.core.mechanics.finite_strain.obstacles import ContactSurface
from gripsim_ros.core.mechanics.finite_strain.squeezing import DRAG
from gripsim_ros.core.transforms import inverse
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.library.grasp_file import given_grasp
from gripsim_ros.library.in_process import mechanics_options, plan_grasps
from gripsim_ros.library.planned_object import object_of_grasps
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.squeezing.fingers import HandSqueeze
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model

MATERIAL = Material(2e5, 0.3, 500.0, 0.8, max_pressure=5e5)
#: Ways of one finger beyond the first touch that are told [m], and steps between two.
WAYS, STEPS = np.linspace(0.13e-3, 1.95e-3, 8), 3
#: Farthest from a link's origin that it is felt [m]; around contacts elements are small within.
REACH, NEAR = 0.15, 0.014


class HullLink:
    """A convex link at a pose (4, 4), from the planes (p, 4) of its hull."""

    def __init__(self, planes, pose) -> None:
        """Move the planes to the pose."""
        self.pose, self._normals = pose, planes[:, :3] @ pose[:3, :3].T
        self._offsets = planes[:, 3] - self._normals @ pose[:3, 3]

    def gaps(self, points):
        """Return distances (k,) to the nearest plane [m] and its normals (k, 3)."""
        gaps, normals = np.ones(len(points)), np.tile([0.0, 0.0, 1.0], (len(points), 1))
        near = np.flatnonzero(np.linalg.norm(points - self.pose[:3, 3], axis=1) < REACH)
        heights = points[near] @ self._normals.T + self._offsets
        planes = heights.argmax(axis=1)
        gaps[near], normals[near] = heights[np.arange(len(near)), planes], self._normals[planes]
        return gaps, normals


def carried(surface: ContactSurface, before, now) -> ContactSurface:
    """Return a surface whose anchors went with the links."""
    moved = []
    for anchors, old, new in zip(surface.anchors, before, now):
        change = new.pose @ inverse(old.pose)
        moved.append(anchors @ change[:3, :3].T + change[:3, 3])
    return replace(surface, anchors=tuple(moved))


def planned_grip(path: str, rank: int, hand):
    """Return body, palm pose (4, 4) and joints (J,) of a grasp of a file, or of a new plan."""
    if not path.endswith('.json'):
        body = GraspObject(load_mesh(path).mesh, MATERIAL, path)
        grasp = plan_grasps(body, hypotheses=40, count=10).grasps[rank - 1]
        return body, grasp.T_object_palm, grasp.trajectory[-1]
    content = json.loads(Path(path).read_text())
    body = GraspObject(object_of_grasps(content, Path(path), '').mesh, MATERIAL, path)
    given = given_grasp(content['grasps'][rank - 1], hand.joint_names, f'grasp {rank}')
    return body, given.T_object_palm, given.trajectory[-1]


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('mesh', help='or the answer of `gripsim plan --out`')
    parser.add_argument('--rank', type=int, default=1)
    parser.add_argument('--free', action='store_true', help='nothing sticks')
    parser.add_argument('--edges', type=float, nargs=2, default=[4.0, 14.0],
                        help='of elements at contacts and elsewhere [mm]')
    arguments = parser.parse_args()
    hand = hand_as_simulated(load_default_hand())
    body, palm, closed = planned_grip(arguments.mesh, arguments.rank, hand)
    modulus = MATERIAL.youngs_modulus
    model = prepare_grip_model(body, palm, closed, 4.0 * WAYS[-1], hand=hand, elasticity='body')
    squeeze = HandSqueeze(body, hand, palm, closed, mechanics_options('body'))
    hulls = [ConvexHull(hand.links[link].mesh.vertices).equations for link in model.links]
    fractions = squeeze.fractions_of(WAYS)
    places = squeeze.held_at(fractions[-1]).state.points
    points = np.vstack([body.mesh.vertices, body.mesh.face_centroids])
    near = np.linalg.norm(points[:, None] - places, axis=2).min(axis=1) < NEAR
    fine, coarse = 1e-3 * np.array(arguments.edges)
    solid = mesh_body(body.mesh, coarse, points[near], fine)
    print(f'{len(solid.nodes)} nodes, links {[hand.link_names[link] for link in model.links]}\n'
          '| way [mm] | normal forces [N] | grip [N] | model [N] |\n|---|---|---|---|')
    surface, nodes, solver = ContactSurface(solid, modulus), solid.nodes, Solver()
    strength, law, before = DRAG * modulus / body.mesh.volume ** (2.0 / 3.0), \
        StrainLaw.of_material(MATERIAL), None
    for begin, end in zip([0.0, *fractions], fractions):
        for fraction in np.linspace(begin, end, STEPS + 1)[1:]:
            joints = squeeze.joints_at(fraction)
            poses = forward_kinematics(hand, joints[None])[0]
            links = tuple(HullLink(planes, palm @ poses[link])
                          for planes, link in zip(hulls, model.links))
            if surface.anchors:
                surface = carried(surface, before, links)
            pose = find_rest(solid, law, surface, links, nodes, (strength, nodes), solver)
            if not pose.converged:
                raise SystemExit('strained_grip: no rest was found')
            nodes, before = pose.positions, links
            if not arguments.free:
                surface = surface.with_anchors(nodes, links, 0.0)
        way, felt = model.way(joints[None]), surface.points(nodes)
        forces = [float(surface.weights @ surface.touch(felt, link, k).pressures)
                  for k, link in enumerate(links)]
        print(f'| {1e3 * way[0]:.3f} | {", ".join(f"{one:.3f}" for one in forces)} | '
              f'{0.5 * sum(forces):.3f} | {model.force_at(modulus, way)[0]:.3f} |', flush=True)


if __name__ == '__main__':
    main()
