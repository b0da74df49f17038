"""
How deep points are in links, the ways out of these, and what links cover that end.

The nearest way out of a link is sideways beside its rim, where nothing presses: a surface can only
be pressed by one that faces it. There the way out is found along the body's own normal, and hats
of pressure end where the link does.
"""

from collections.abc import Callable

import numpy as np
import trimesh

from gripsim_ros.core.contact.geometry.closest_point import closest_points
from gripsim_ros.core.contact.geometry.vp_tree import build_vp_tree

#: Least cosine between a link's way out and the body's inward normal for them to face each other.
FACING = 0.3
#: Deepest that a link is along the body's normal, over the deepest where it faces the body [-]:
#: what is deeper lies on another side of an edge that the link reaches over.
DEEPEST = 1.5
#: Shortest step along a line [m], steps and halvings by which a surface is found, and how far
#: behind it the link's is looked at [m].
STEP, STEPS, HALVINGS, BEYOND = 2e-5, 400, 25, 1e-7


def mesh_reach(mesh: trimesh.Trimesh) -> Callable:
    """Return the ``reach`` of a closed mesh: by the nearest point of its surface."""
    # trimesh's own search looks at thousands of triangles where a point is far from the mesh.
    tree = build_vp_tree(np.array(mesh.vertices, float), np.array(mesh.faces, np.int64))

    def reach(points):
        _, places, rows = closest_points(tree, np.ascontiguousarray(points, float), np.inf)
        faces, ways = tree.faces[rows], np.linalg.norm(places - points, axis=1)
        shares = trimesh.triangles.points_to_barycentric(mesh.triangles[faces], places)
        normals = np.einsum('nk,nka->na', shares, mesh.vertex_normals[mesh.faces[faces]])
        arms = places - points
        signs = np.where(np.einsum('na,na->n', arms, normals) >= 0.0, 1.0, -1.0)
        out = np.where((ways > 1e-9)[:, None],
                       (signs / np.maximum(ways, 1e-12))[:, None] * arms, normals)
        return signs * ways, out / np.linalg.norm(out, axis=1, keepdims=True)
    return reach


def ball_reach(centre, radius: float) -> Callable:
    """Return the ``reach`` of a ball."""
    def reach(points):
        arms = points - np.asarray(centre)
        ways = np.linalg.norm(arms, axis=1)
        return radius - ways, arms / ways[:, None]
    return reach


def exits(reach, places, ways) -> np.ndarray:
    """Return how far it is from places (n, 3) in a link along unit ways to its surface [m]."""
    low, high = np.zeros(len(places)), np.zeros(len(places))
    deep, rows = reach(places)[0], np.arange(len(places))
    for _ in range(STEPS):
        low[rows] = high[rows]
        high[rows] += np.maximum(deep[rows], STEP)
        deep[rows] = reach(places[rows] + high[rows, None] * ways[rows])[0]
        rows = rows[deep[rows] > 0.0]
        if not len(rows):
            break
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = reach(places + middle[:, None] * ways)[0] > 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def facing(reach, places, inward) -> tuple[np.ndarray, np.ndarray]:
    """
    Return depths (n,) [m] and ways out (n, 3) of a link at places, as ``reach``, that it faces.

    ``inward (n, 3)`` are unit normals into the body. Where the nearest way out leans from them by
    more than ``FACING`` the one along them counts, but for sides of the body that are pressed
    along themselves, beyond an edge.
    """
    deep, out = reach(places)
    faces = np.einsum('na,na->n', out, inward) >= FACING
    deepest = deep[faces].max(initial=0.0)
    rows = np.flatnonzero((deep > 0.0) & ~faces)
    ways = exits(reach, places[rows], inward[rows]) if len(rows) else np.zeros(0)
    near = (ways <= DEEPEST * deepest) | (deepest == 0.0)
    rows, ways = rows[near], ways[near]
    if len(rows):
        found = reach(places[rows] + (ways + BEYOND)[:, None] * inward[rows])[1]
        slopes = np.einsum('na,na->n', found, inward[rows])
        faced = slopes >= FACING
        out[rows] = np.where(faced[:, None], found, inward[rows])
        deep[rows] = ways * np.where(faced, slopes, 1.0)
    return deep, out


def covered(reach, places, inward, margin: float) -> np.ndarray:
    """Return which places (n,) a link covers: it is met along the normal within a margin [m]."""
    deep = reach(places)[0]
    found, back = deep > 0.0, np.zeros(len(places))
    for _ in range(STEPS):
        rows = np.flatnonzero(~found & (back <= margin))
        if not len(rows):
            break
        back[rows] += np.maximum(-deep[rows], STEP)
        deep[rows] = reach(places[rows] - back[rows, None] * inward[rows])[0]
        found[rows] = (deep[rows] > 0.0) & (back[rows] <= margin + STEP)
    return found
