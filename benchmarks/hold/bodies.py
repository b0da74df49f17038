"""Bodies of the hold tests: what the planner is given, and as true as physics can take them."""

import os
from pathlib import Path

from gripsim_ros.core.bodies import load_mesh, shapes
from gripsim_ros.hardware.sim.solids import convex_pieces_of

#: Young's modulus [Pa], Poisson's ratio, friction of the materials tried.
MATERIALS = {'soft': (3.0e5, 0.4, 0.6), 'firm': (3.0e6, 0.35, 0.5), 'stiff': (2.0e9, 0.3, 0.5)}
#: Concavity left by convex pieces: surfaces 0.02 to 0.1 mm off on average, up to 1.3 mm.
CONCAVITY = 0.015
#: The same of random bodies: those of lumps take a minute with less.
RANDOM_CONCAVITY = 0.03
#: Bodies whose rims and dents would take a quarter of an hour and more.
ROUGHER = {'YcbTomatoSoupCan': 0.03}
#: Share of the hull's volume above which the hull stands for the body.
CONVEX_SHARE = 0.999
#: Triangles' sides of round bodies in physics [m]: a fingertip feels facets of a millimetre.
FINE, FINE_CONCAVE = 0.001, 0.002
#: Sides of a turned body's polygon in physics.
SEGMENTS = 256


def generated() -> dict:
    """Return shapes by name with their mass [kg] and kind of material."""
    return {
        'apple': (shapes.apple(), 0.2, 'firm'), 'small ball': (shapes.sphere(0.02), 0.03, 'soft'),
        'ball': (shapes.sphere(0.035), 0.15, 'soft'),
        'big ball': (shapes.sphere(0.055), 0.5, 'soft'),
        'box': (shapes.box([0.05, 0.07, 0.1]), 0.3, 'stiff'),
        'cube': (shapes.box([0.06, 0.06, 0.06]), 0.2, 'stiff'),
        'plate': (shapes.plate(), 0.1, 'stiff'),
        'cylinder': (shapes.cylinder(0.03, 0.12), 0.4, 'stiff'),
        'thin rod': (shapes.cylinder(0.012, 0.16), 0.08, 'stiff'),
        'cone': (shapes.cone(0.04, 0.1), 0.15, 'firm'),
        'egg': (shapes.egg(), 0.06, 'firm'), 'banana': (shapes.banana(), 0.15, 'soft'),
        'bone': (shapes.bone(), 0.2, 'firm'), 'torus': (shapes.torus(), 0.15, 'firm'),
        'mug': (shapes.mug(), 0.3, 'stiff'), 'capsule': (shapes.capsule(), 1.0, 'stiff')}


#: The round ones of them, of the same formula, so finely that their facets do not count.
FINER = {
    'small ball': lambda: shapes.sphere(0.02, FINE), 'ball': lambda: shapes.sphere(0.035, FINE),
    'big ball': lambda: shapes.sphere(0.055, FINE),
    'cylinder': lambda: shapes.cylinder(0.03, 0.12, SEGMENTS),
    'thin rod': lambda: shapes.cylinder(0.012, 0.16, SEGMENTS),
    'cone': lambda: shapes.cone(0.04, 0.1, SEGMENTS), 'egg': lambda: shapes.egg(edge_length=FINE),
    'banana': lambda: shapes.banana(edge_length=FINE_CONCAVE),
    'bone': lambda: shapes.bone(edge_length=FINE_CONCAVE),
    'torus': lambda: shapes.torus(edge_length=FINE_CONCAVE),
    'mug': lambda: shapes.mug(edge_length=FINE_CONCAVE),
    'capsule': lambda: shapes.capsule(edge_length=FINE)}


def scanned() -> dict:
    """Return the scans of the data folder."""
    folder = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb'
    found = {'YcbBanana': (0.15, 'soft'), 'YcbMustardBottle': (0.6, 'firm'),
             'YcbTomatoSoupCan': (0.35, 'stiff')}
    return {name: (load_mesh(folder / f'{name}.ply').mesh, *rest) for name, rest in found.items()
            if (folder / f'{name}.ply').is_file()}


def all_objects(names=()) -> dict:
    """Return generated shapes and scans, or those named."""
    found = {**generated(), **scanned()}
    return {name: found[name] for name in names} if names else found


def true_pieces(name: str, mesh) -> list:
    """Return the convex pieces of a body for physics: of its finer mesh, where it is round."""
    fine = FINER[name]() if name in FINER else mesh
    return convex_pieces_of(fine, ROUGHER.get(name, CONCAVITY), CONVEX_SHARE)
