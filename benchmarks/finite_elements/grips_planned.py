"""
Planned grasps against finite elements of the whole grip: forces, ways and flags.

``python -m benchmarks fem_grip`` plans for bodies and moduli, and asks ``whole_grip`` for some
of the grasps of each. Error of the force: of the worst finger against two bounds, no friction
and sticking pads; the number is how far the plan lies outside of what is between them. The way is
judged against no friction alone, and told against both bounds as well. Where a grasp is not
right, the finite elements may be too coarse: it is judged again with finer ones, and counts as
the finest say. ``--kept FOLDER`` judges grasps that ``quantitative --keep`` planned, of all bodies
there or those named; meshes of many triangles are decimated before they are filled. One process
a grasp (``--ranks``) bounds memory; ``--grading 1.2`` spares nodes of round bodies.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
import pickle
import time

import numpy as np
import trimesh

from benchmarks.finite_elements.rims import mesh_reach
from benchmarks.finite_elements.whole_grip import GRADING, Link, WholeGrip
from benchmarks.hardware.grip_referee import COARSE
from benchmarks.hold.random_bodies import random_body
from benchmarks.planning.quantitative import reasons
from gripsim_ros.core.bodies import GraspObject, shapes, TriangleMesh
from gripsim_ros.core.bodies.decimate import decimate_mesh
from gripsim_ros.core.contact.geometry.contact_mesh import ContactMesh
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics.contact.bonded_layer import fit_layer
from gripsim_ros.core.mechanics.finite_strain.meshing import closest_on_surface
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.in_process import find_material, load_object, plan_grasps
from gripsim_ros.library.resources import load_default_hand

#: Seed of the random bodies, of which `random 7` is the eighth.
SEED = 9
LONG = 600.0
#: What counts as right [-]: forces of each finger, and the largest displacement.
FORCE, WAY = 0.1, 0.2
#: Edge of tetrahedra at contacts over the radius of the smallest contact [-].
EDGE_SHARE = 0.5
#: Times that triangles of links and bodies are quartered, onto their curved surfaces.
LINK_QUARTERS, BODY_QUARTERS = 2, 1
#: Triangles of a body beyond which they are not quartered, and of what is filled instead; largest
#: share of the box's diagonal by which tetrahedra may leave that [-].
MANY_FACES, FILLED_FACES, FILLED_ENVELOPE = 8000, 6000, 5e-4
#: Edge of tetrahedra over the body's mean thickness, away from contacts [-].
COARSE_SHARE = 2.0
HEAD = ('| body | E [kPa] | grasp | model | flags | force [N] | free [%] | sticking [%] | '
        'outside [%] | way [mm] | off [%] | outside [%] | right | edge [mm] | nodes | s |\n'
        + '|---' * 16 + '|')


def body_named(name: str, modulus: float, data: Path) -> GraspObject:
    """Return a body by its name, of firm fruit of a modulus [Pa]."""
    stuff = replace(find_material('firm_fruit'), youngs_modulus=modulus)
    if name in ('ball', 'apple'):
        return GraspObject(shapes.sphere(0.035, 3e-3) if name == 'ball'
                           else shapes.apple(edge_length=3e-3), stuff)
    if name.startswith('random'):
        return GraspObject(random_body(SEED, int(name.split()[1]))[1], stuff)
    found = [*data.glob(f'*{name}*.ply'), *data.glob(f'*/*{name}*_clean.obj')]
    return load_object(str(found[0]), stuff)


def curved(mesh: TriangleMesh, times: int) -> TriangleMesh:
    """
    Return a mesh whose triangles are quartered some times, on the surface that contact is with.

    Facets of a fingertip sag by more than a stiff body is pressed in.
    """
    vertices, faces = mesh.vertices, mesh.faces
    for _ in range(times):
        vertices, faces = trimesh.remesh.subdivide(vertices, faces)
    return TriangleMesh(closest_on_surface(ContactMesh(mesh), vertices)[0], faces)


def pad_compliance(pad, ways):
    """Return what a bonded layer yields at distances from a unit force [m/N]."""
    layer = fit_layer(pad.youngs_modulus, pad.poisson_ratio, pad.thickness)
    images = sum(weight / np.sqrt(ways ** 2 + depth ** 2)
                 for weight, depth in zip(layer.weights, layer.depths))
    return (1.0 / ways - images) / (np.pi * layer.modulus)


def pressing_links(hand, T_object_palm, joints, names) -> list[Link]:
    """Return links of some names, by their curved surfaces, for joints (J,)."""
    poses, links = T_object_palm @ forward_kinematics(hand, joints[None])[0], []
    for link, pose in zip(hand.links, poses):
        if link.name in names:
            fine = curved(link.mesh, LINK_QUARTERS)
            mesh = trimesh.Trimesh(fine.vertices, fine.faces)
            mesh.apply_transform(pose)
            links.append(Link(link.name, mesh_reach(mesh), None if link.pad is None
                              else partial(pad_compliance, link.pad), ends=True))
    return links


def planned_forces(grasp, names) -> np.ndarray:
    """Return the sizes of the forces of links (m,) [N]."""
    return np.array([np.linalg.norm(sum(
        contact.closing_force for contact in grasp.contacts if contact.link == name))
        for name in names])


def beyond(values, first, second) -> np.ndarray:
    """Return how far values lie outside of what is between two bounds, over the nearer [-]."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.where(values < low, values / low, np.maximum(values / high, 1.0)) - 1.0


def grip_of(thing: GraspObject, links: list[Link], edge: float, grading: float) -> WholeGrip:
    """Return a body between links; what a scan has too many triangles for is filled coarser."""
    mesh = thing.mesh
    coarse = min(COARSE, COARSE_SHARE * 2.0 * mesh.volume / float(mesh.face_areas.sum()))
    if len(mesh.faces) <= MANY_FACES:
        return WholeGrip(curved(mesh, BODY_QUARTERS), thing.material, links, edge, coarse=coarse,
                         grading=grading)
    return WholeGrip(mesh, thing.material, links, edge, FILLED_ENVELOPE, coarse,
                     filled=decimate_mesh(mesh, FILLED_FACES), grading=grading)


def judge(thing: GraspObject, hand, grasp, edge: float | None = None, grading: float = GRADING
          ) -> dict:
    """Return what the plan and finite elements say of a grasp."""
    links = pressing_links(hand, inverse(grasp.T_object_settled) @ grasp.T_object_palm,
                           grasp.trajectory[-1], {contact.link for contact in grasp.contacts})
    edge = edge or EDGE_SHARE * min(contact.equivalent_radius for contact in grasp.contacts)
    grip = grip_of(thing, links, edge, grading)
    plan = planned_forces(grasp, [link.name for link in links])
    free, stuck = grip.press(False), grip.press(True)
    errors = np.array([plan / free.sizes - 1.0, plan / stuck.sizes - 1.0])
    outside = beyond(plan, free.sizes, stuck.sizes)
    way = grasp.max_displacement / free.largest - 1.0
    worst = int(np.abs(outside).argmax())
    return {'forces': plan, 'free': errors[0, np.abs(errors[0]).argmax()],
            'stuck': errors[1, np.abs(errors[1]).argmax()], 'outside': outside[worst],
            'way': way, 'nodes': len(grip.places), 'edge': edge,
            'way_outside': float(beyond(grasp.max_displacement, free.largest, stuck.largest)),
            'right': bool(np.abs(outside).max() <= FORCE and abs(way) <= WAY)}


def judge_finer(thing: GraspObject, hand, grasp, edge: float | None, finer: int,
                grading: float = GRADING):
    """Yield what a grasp's judges say: of half the edge where the last says it is not right."""
    for _ in range(1 + finer):
        found = judge(thing, hand, grasp, edge, grading)
        yield found
        if found['right']:
            return
        edge = 0.5 * found['edge']


def row_of(name: str, modulus: float, grasp, found: dict, seconds: float) -> str:
    """Return a row of the table: what plan and judge say of a grasp."""
    return (f'| {name} | {1e-3 * modulus:g} | {grasp.rank} | {grasp.elasticity} | '
            f'{"; ".join(reasons(grasp))} | '
            + ', '.join(f'{force:.2f}' for force in found['forces'])
            + f' | {100 * found["free"]:+.0f} | {100 * found["stuck"]:+.0f} | '
            f'{100 * found["outside"]:+.0f} | {1e3 * grasp.max_displacement:.2f} | '
            f'{100 * found["way"]:+.0f} | {100 * found["way_outside"]:+.0f} | '
            f'{"yes" if found["right"] else "no"} | '
            f'{1e3 * found["edge"]:.1f} | {found["nodes"]} | {seconds:.0f} |')


def planned(arguments):
    """Yield name, modulus [Pa] and grasps of each plan asked for, made now or kept."""
    if arguments.kept is None:
        for name in arguments.bodies or ['apple']:
            for modulus in arguments.moduli:
                thing = body_named(name, modulus, arguments.data)
                yield name, modulus, plan_grasps(thing, hypotheses=arguments.hypotheses,
                                                 budget=LONG).grasps
        return
    for path in sorted(arguments.kept.glob('*.pickle')):
        name, kilo, _ = path.stem.rsplit(' ', 2)
        asked = not arguments.bodies or any(
            f'{part} ' in f'{name} ' if part.startswith('random') else part in name
            for part in arguments.bodies)
        if asked and 1e3 * float(kilo) in arguments.moduli:
            yield name.removesuffix('_clean'), 1e3 * float(kilo), pickle.loads(path.read_bytes())


def main() -> None:
    """Print one row a grasp, and how many are told rightly."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('bodies', nargs='*', help='ball, apple, `random N`, or part of a scan')
    parser.add_argument('--moduli', type=float, nargs='+', default=[2e5])
    parser.add_argument('--grasps', type=int, default=2, help='judged of each plan')
    parser.add_argument('--ranks', type=int, nargs='+', help='judge those of each plan instead')
    parser.add_argument('--only', choices=('quantitative', 'flagged'), help='grasps of this kind')
    parser.add_argument('--hypotheses', type=int, default=200)
    parser.add_argument('--edge', type=float, help='of tetrahedra there [m]; half the radius of '
                        'the smallest contact without')
    parser.add_argument('--grading', type=float, default=GRADING,
                        help='of the distance from contacts, by which they grow [-]')
    parser.add_argument('--finer', type=int, default=1,
                        help='times that a grasp not right is judged again, with half the edge')
    parser.add_argument('--data', type=Path, default=Path('../shared/data/ycb'))
    parser.add_argument('--kept', type=Path, help='folder of plans that `quantitative` kept')
    arguments = parser.parse_args()
    hand, counts = load_default_hand(), {}
    print(HEAD, flush=True)
    for name, modulus, grasps in planned(arguments):
        thing = body_named(name, modulus, arguments.data)
        grasps = [grasp for grasp in grasps if arguments.only is None
                  or grasp.quantitative == (arguments.only == 'quantitative')]
        spread = grasps[::max(1, -(-len(grasps) // arguments.grasps))]
        for grasp in spread if arguments.ranks is None else [
                grasp for grasp in grasps if grasp.rank in arguments.ranks]:
            begin, found = time.process_time(), None
            try:
                for found in judge_finer(thing, hand, grasp, arguments.edge, arguments.finer,
                                         arguments.grading):
                    seconds = time.process_time() - begin
                    print(row_of(name, modulus, grasp, found, seconds), flush=True)
            except ArithmeticError as error:
                print(f'| {name} | {1e-3 * modulus:g} | {grasp.rank} | {error} |', flush=True)
            if found is not None:
                key = grasp.quantitative, found['right']
                counts[key] = counts.get(key, 0) + 1
    for (quantitative, right), count in sorted(counts.items(), reverse=True):
        print(f'{"quantitative" if quantitative else "flagged"}, '
              f'{"right" if right else "not right"}: {count}')


if __name__ == '__main__':
    main()
