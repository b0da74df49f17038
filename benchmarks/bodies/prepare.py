"""From a mesh file of many faces to the first hypothesis: seconds of each part, and memory."""

import argparse
from multiprocessing import get_context
import os
from pathlib import Path
import resource
import tempfile
import time

import numpy as np
import trimesh

from gripsim_ros.core.bodies import GraspObject, load_mesh, shapes
from gripsim_ros.core.bodies.reading import read_triangles
from gripsim_ros.core.contact import ContactScene
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.library.in_process import (
    find_material, load_default_hand, plan_grasps, planner_options, warm_up)

RADIUS = 0.04
#: Lengths of sides of the balls, and times that each triangle of the scan is cut in four.
EDGES, CUTS = (0.0004, 0.000216), (2, 3)
SCAN = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb' / 'YcbMustardBottle.ply'
#: Of a dirty mesh: shares of faces that are turned, have corners of their own, are doubled and
#: are degenerate; and holes.
TURNED, OWN, DOUBLED, DEGENERATE, HOLES = 0.01, 0.05, 0.002, 0.002, 50
HYPOTHESES = 4
HEAD = ('| mesh | faces | read | repair | mass, frame | tree, surface | prescreen | total | '
        'wall | MB |\n|' + '---|' * 10)


def dirty(mesh):
    """Return vertices and faces of a mesh as a bad scan has them."""
    generator, faces = np.random.default_rng(1), mesh.faces.copy()
    count = len(faces)
    turned, own, doubled, degenerate, holes = (
        generator.choice(count, number, replace=False) for number in (
            int(TURNED * count), int(OWN * count), int(DOUBLED * count),
            int(DEGENERATE * count), HOLES))
    faces[turned] = faces[turned][:, ::-1]
    vertices = np.concatenate([mesh.vertices, mesh.vertices[faces[own].ravel()]])
    faces[own] = len(mesh.vertices) + np.arange(3 * len(own)).reshape(-1, 3)
    flat = faces[degenerate]
    flat[:, 2] = flat[:, 0]
    return vertices, np.concatenate([np.delete(faces, holes, axis=0), faces[doubled], flat])


def write_meshes(folder, quick):
    """Yield names and files."""
    for edge in EDGES[:1] if quick else EDGES:
        yield 'ball, PLY', write(folder / 'ball.ply', *parts(shapes.sphere(
            RADIUS, edge, jitter=0.3)))
    if not SCAN.is_file():
        return
    for cuts in CUTS[:1] if quick else CUTS:
        fine = trimesh.Trimesh(*parts(load_mesh(SCAN).mesh), process=False)
        for _ in range(cuts):
            fine = fine.subdivide()
        yield 'mustard bottle subdivided, PLY', write(folder / 'scan.ply', *parts(fine))
        yield 'the same, dirty, STL', write(folder / 'dirty.stl', *dirty(fine))


def parts(mesh):
    """Return vertices and faces."""
    return np.array(mesh.vertices), np.array(mesh.faces)


def write(path, vertices, faces):
    """Write a file; return its path."""
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    return path


def seconds(call):
    """Return the process time of a call [s], and its answer."""
    begin = time.process_time()
    answer = call()
    return time.process_time() - begin, answer


def measure(path):
    """Return faces, process times of the parts and wall time [s], and the peak of memory [MB]."""
    warm_up()
    load_mesh(write(path.parent / 'warm.ply', *parts(shapes.sphere())))
    material, hand = find_material('default'), load_default_hand()
    begin = time.perf_counter()
    grasp_object = GraspObject(load_mesh(path).mesh, material)
    wall = time.perf_counter() - begin
    wall += plan_grasps(grasp_object, hypotheses=HYPOTHESES,
                        on_progress=lambda progress: False).preparing_time
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    read, _ = seconds(lambda: read_triangles(path))
    loading, loaded = seconds(lambda: load_mesh(path))
    again = GraspObject(loaded.mesh, material)
    scene = ContactScene(hand, again)
    mass, _ = seconds(lambda: (again.mass_properties, again.canonical_frame))
    tree, _ = seconds(scene.prepare)
    prescreen, _ = seconds(lambda: GraspPlanner(again, hand, Task(), planner_options(),
                                                max_hypotheses=HYPOTHESES))
    times = read, loading - read, mass, tree, prescreen
    return len(again.mesh.faces), *times, sum(times), wall, peak


def main():
    """Print one row a mesh; each has a process of its own."""
    parser = argparse.ArgumentParser(prog='benchmarks prepare')
    parser.add_argument('--quick', action='store_true', help='only some 300,000 faces')
    quick = parser.parse_args().quick
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_meshes(Path(folder), quick):
            with get_context('spawn').Pool(1) as process:
                faces, *times, peak = process.apply(measure, (path,))
            print(f'| {name} | {faces} | {" | ".join(f"{t:.2f}" for t in times)} | {peak:.0f} |',
                  flush=True)
