"""
Balls pressed over an edge of the object against finite elements of the whole grip.

``python -m benchmarks fem_over_edges`` prints the table of docs/validation/finite_elements.md:
two balls on opposite edges of a bar of four sides, each as far from its edge as the other. The
product answers through the functions that planning calls, by the body's own compliance, with
one patch for each side of the edge as half-spaces have them and with one for both.
"""

import argparse

import numpy as np
import trimesh

from benchmarks.finite_elements.grips_planned import beyond
from benchmarks.finite_elements.rims import ball_reach
from benchmarks.finite_elements.whole_grip import Link, WholeGrip
from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh
from gripsim_ros.core.contact import ContactMesh, PatchOptions, sample_patch, SphereIndenter
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import (
    ContactProblem, deform_body, ElasticBody, largest_displacement, solve_contact)
from gripsim_ros.core.mechanics.contact.contact_forces import nodes_of
from gripsim_ros.core.transforms import transform

MATERIAL = Material(1e6, 0.4, 500.0, 0.5)
#: Half of the way between both edges, and length of the bar [m].
HALF, LENGTH = 0.022, 0.07
#: Angles of the edges [degrees], radii and depths of the balls, and ways of their middles from
#: the plane through both edges, over the radius [m, m, -].
ANGLES, RADII, DEPTHS, ASIDE = (120.0, 90.0, 60.0), (0.01, 0.02), (1e-3, 2e-3, 4e-3), (0.0, 0.4)
#: Edge of tetrahedra at contacts over the root of radius and depth [-].
EDGE_SHARE = 0.5


def bar(angle: float) -> TriangleMesh:
    """Return a bar along y whose edges of an angle [degrees] are at z = +- ``HALF``."""
    half = HALF * np.tan(0.5 * np.deg2rad(angle))
    outline = np.array([[half, 0.0], [0.0, HALF], [-half, 0.0], [0.0, -HALF]])
    ends = np.concatenate([np.insert(outline, 1, y, axis=1)
                           for y in (-0.5 * LENGTH, 0.5 * LENGTH)])
    hull = trimesh.Trimesh(ends, process=False).convex_hull
    return TriangleMesh(hull.vertices, hull.faces)


def middles(mesh: TriangleMesh, radius: float, depth: float, aside: float):
    """Return the middles (2, 3) of balls that are so deep in a bar [m]."""
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces)
    x, low, high = aside * radius, 0.0, HALF + radius
    for _ in range(40):
        z = 0.5 * (low + high)
        gap = -trimesh.proximity.signed_distance(surface, [[x, 0.0, z]])[0]
        low, high = (z, high) if gap < radius - depth else (low, z)
    return np.array([[x, 0.0, z], [-x, 0.0, -z]])


def told(body: ElasticBody, surface: ContactMesh, radius: float, places, over_edges: bool):
    """Return the first ball's force [N], the largest way [m] and whether nothing is flagged."""
    patches, links = [], []
    for link, place in enumerate(places):
        found = sample_patch(surface, SphereIndenter(radius), transform(np.eye(3), place),
                             -place, PatchOptions(), over_edges)
        patches, links = patches + found, links + [link] * len(found)
    nodes = nodes_of(patches, links)
    contact = ContactProblem(nodes, np.array([p.flags for p in patches]),
                             np.array([p.thickness for p in patches]))
    loaded = solve_contact(body, contact, {})
    force = np.linalg.norm(loaded.results.forces[loaded.links == 0].sum(axis=0))
    return force, largest_displacement(body, deform_body(body, contact, loaded), loaded), (
        loaded.flags)


def main() -> None:
    """Print one row a pinch."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--angles', type=float, nargs='+', default=ANGLES)
    parser.add_argument('--radii', type=float, nargs='+', default=RADII)
    parser.add_argument('--depths', type=float, nargs='+', default=DEPTHS)
    arguments = parser.parse_args()
    print('| edge [°] | ball [mm] | depth [mm] | aside [mm] | free [N] | sticking [N] | '
          'two patches: outside [%] | one: [N] | outside [%] | way [mm] | outside [%] | flagged |'
          '\n|' + '---|' * 12, flush=True)
    for angle in arguments.angles:
        mesh = bar(angle)
        surface = ContactMesh(mesh)
        body = ElasticBody(GraspObject(mesh, MATERIAL), MechanicsOptions(elasticity='body'))
        for radius in arguments.radii:
            for aside in ASIDE:
                for depth in arguments.depths:
                    places = middles(mesh, radius, depth, aside)
                    grip = WholeGrip(mesh, MATERIAL, [Link(str(k), ball_reach(place, radius))
                                                      for k, place in enumerate(places)],
                                     EDGE_SHARE * np.sqrt(radius * depth))
                    free, stuck = grip.press(False), grip.press(True)
                    two = told(body, surface, radius, places, False)
                    one = told(body, surface, radius, places, True)
                    off = [100.0 * float(beyond(value, free.sizes[0], stuck.sizes[0]))
                           for value in (two[0], one[0])]
                    way = 100.0 * float(beyond(one[1], free.largest, stuck.largest))
                    print(f'| {angle:.0f} | {1e3 * radius:.0f} | {1e3 * depth:.0f} | '
                          f'{1e3 * aside * radius:.0f} | {free.sizes[0]:.2f} | '
                          f'{stuck.sizes[0]:.2f} | {off[0]:+.0f} | {one[0]:.2f} | {off[1]:+.0f} | '
                          f'{1e3 * one[1]:.2f} | {way:+.0f} | '
                          f'{"yes" if one[2].any() else ""} |', flush=True)


if __name__ == '__main__':
    main()
