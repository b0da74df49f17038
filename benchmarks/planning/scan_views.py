"""Synthetic scans of one side: rays of a pinhole camera against every triangle."""

from dataclasses import dataclass

from numba import njit
import numpy as np

#: Distance of the camera from the middle, and half width of its picture, in diagonals.
DISTANCE, HALF_WIDTH = 2.0, 0.55
#: Rays along each side of the picture.
RAYS = 90


@dataclass(frozen=True, eq=False)
class View:
    """What a camera sees: points (n, 3) and where it stood (3,), in the mesh's frame."""

    points: np.ndarray
    eye: np.ndarray


@njit(cache=True)
def first_hits(eye, directions, triangles):
    """Return the distance along each direction to the first triangle; infinity where none."""
    found = np.full(len(directions), np.inf)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        e, f, s = b - a, c - a, eye - a
        qx = s[1] * e[2] - s[2] * e[1]
        qy = s[2] * e[0] - s[0] * e[2]
        qz = s[0] * e[1] - s[1] * e[0]
        far = f[0] * qx + f[1] * qy + f[2] * qz
        for r in range(len(directions)):
            d = directions[r]
            px = d[1] * f[2] - d[2] * f[1]
            py = d[2] * f[0] - d[0] * f[2]
            pz = d[0] * f[1] - d[1] * f[0]
            determinant = e[0] * px + e[1] * py + e[2] * pz
            if abs(determinant) < 1e-18:
                continue
            u = (s[0] * px + s[1] * py + s[2] * pz) / determinant
            v = (d[0] * qx + d[1] * qy + d[2] * qz) / determinant
            way = far / determinant
            if u >= 0.0 and v >= 0.0 and u + v <= 1.0 and 0.0 < way < found[r]:
                found[r] = way
    return found


def scan(mesh, direction, rays=RAYS):
    """Return the view of a camera that looks along a direction at a mesh's middle."""
    direction = np.asarray(direction, float) / np.linalg.norm(direction)
    middle = mesh.bounds.mean(axis=0)
    eye = middle - DISTANCE * mesh.diagonal * direction
    x = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
    x /= np.linalg.norm(x)
    steps = HALF_WIDTH * np.linspace(-1.0, 1.0, rays)
    u, v = (grid.reshape(-1, 1) for grid in np.meshgrid(steps, steps))
    ways = DISTANCE * direction + u * x + v * np.cross(direction, x)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    distances = first_hits(eye, ways, np.ascontiguousarray(mesh.triangles))
    hit = np.isfinite(distances)
    return View(eye + distances[hit, None] * ways[hit], eye)
