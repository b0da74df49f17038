"""The hand and the soft bodies whose planned and simulated contacts are compared."""

from dataclasses import dataclass, replace
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gripsim_ros.core.bodies import TriangleMesh, convex_hull, decimate_mesh, load_mesh, shapes
from gripsim_ros.core.bodies.repair.shells import winding_numbers
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.resources import load_default_hand

Array = NDArray[np.float64]

#: Stiff enough that the joints are where they are sent [N m/rad], and within torques for it.
JOINT_STIFFNESS, JOINT_EFFORT = 2000.0, 50.0
#: Beyond the first touch [rad]: some 2 mm at the fingertips.
CLOSING = 0.02
#: Share of a preshape's way from open to closed before the first touch, and rows of it.
APPROACH, ROWS = 0.05, 10
#: Faces of the scan, for both sides; half the thickness of its middle slice [m].
SCAN_FACES, MIDDLE = 3000, 0.01


@dataclass(frozen=True, eq=False)
class Body:
    """
    A body at the origin, the preshape that grips it, the palm's distance below it [m].

    ``coarsest`` is the longest edge with which tetrahedra fill it [m].
    """

    mesh: TriangleMesh
    preshape: str
    distance: float
    coarsest: float = 1.0

    @property
    def T_object_palm(self) -> Array:
        """Return the pose of the palm (4, 4)."""
        return transform(np.eye(3), np.array([0.0, 0.0, -self.distance]))


def bodies() -> dict[str, Body]:
    """Return the bodies by name; the scan only where the data folder has it."""
    found = {'sphere': Body(shapes.sphere(0.035, 0.006), 'spherical', 0.175),
             'foam block': Body(shapes.box([0.05, 0.1, 0.1]), 'cylindrical', 0.21),
             'apple': Body(shapes.apple(0.08, 0.005), 'spherical', 0.175)}
    scan = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb' / 'YcbBanana.ply'
    if scan.is_file():
        found['banana scan'] = Body(lying(load_mesh(scan).mesh), 'cylindrical', 0.175, 0.007)
    return found


def lying(mesh: TriangleMesh) -> TriangleMesh:
    """Return a long mesh along y, its bend in the plane of y and z, its middle at the origin."""
    mesh = decimate_mesh(mesh, SCAN_FACES)
    points = mesh.vertices - mesh.vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    turn = np.stack([axes[2], axes[0], np.cross(axes[2], axes[0])])
    points = points @ turn.T
    middle = points[np.abs(points[:, 1]) < MIDDLE]
    return TriangleMesh(points - 0.5 * (middle.min(axis=0) + middle.max(axis=0)) * [1, 0, 1],
                        mesh.faces)


def rigid_hand():
    """Return the hand without pads, with convex links as MuJoCo has them, and stiff joints."""
    hand = load_default_hand()
    links = tuple(replace(link, pad=None, mesh=convex_hull(link.mesh)) for link in hand.links)
    count = len(hand.joint_names)
    return replace(hand, links=links, joint_stiffness=np.full(count, JOINT_STIFFNESS),
                   joint_efforts=np.full(count, JOINT_EFFORT))


def touching_joints(hand, body: Body, preshape) -> Array:
    """Return the joints at which each finger first touches the undeformed object."""
    links = load_default_hand().links           # their vertices are closer to each other
    joints, way = preshape.open.copy(), preshape.closed - preshape.open
    for finger in hand.fingers:
        own = [j for j in finger.joints if j != 0]
        low, high = 0.0, 1.0
        for _ in range(20):
            share = 0.5 * (low + high)
            joints[own] = preshape.open[own] + share * way[own]
            poses = body.T_object_palm @ forward_kinematics(hand, joints[None])[0]
            inside = any(_inside(body.mesh, links[k].mesh.vertices @ poses[k, :3, :3].T
                                 + poses[k, :3, 3]) for k in finger.links[1:])
            low, high = (low, share) if inside else (share, high)
        joints[own] = preshape.open[own] + low * way[own]
    return joints


def _inside(mesh: TriangleMesh, points: Array) -> bool:
    """Return whether any of the points is inside."""
    box = (points > mesh.vertices.min(axis=0)) & (points < mesh.vertices.max(axis=0))
    points = points[box.all(axis=1)]
    return bool(len(points)) and bool((np.abs(winding_numbers(points, mesh.triangles)) > 0.5)
                                      .any())


def closed_joints(hand, touching: Array) -> Array:
    """Return the joints moved on by ``CLOSING`` from the first touch."""
    joints = touching.copy()
    for finger in hand.fingers:
        proximal = [j for j in finger.joints if j != 0][0]
        joints[proximal] += CLOSING
    return joints


def closing_rows(hand, body: Body) -> Array:
    """Return rows of joints from a little open to closed about a body."""
    preshape = next(p for p in hand.preshapes if p.name == body.preshape)
    touching = touching_joints(hand, body, preshape)
    way = np.linspace(0.0, 1.0, ROWS)[:, None]
    rows = touching - APPROACH * way[::-1] * (preshape.closed - preshape.open)
    return np.vstack([rows, closed_joints(hand, touching)])
