"""
Soft bodies between three fingertips: forces, areas, ways and centres against finite elements.

``python -m benchmarks soft_bodies`` prints the tables of docs/validation/soft_bodies.md. Two
fingers and a thumb, balls of 10 mm with the pads of the hand, press bodies of three moduli to
three depths; the thumb goes as deep as balance takes. The referee is ``whole_grip``: quadratic
tetrahedra of the free body, without friction and with pads that stick. What is told of a number
is how far it lies outside of what is between these two. Areas are those of Hertz's pressures that
spread like the loads, of both alike.
"""

import argparse
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
import time

import numpy as np
from scipy.optimize import brentq

from benchmarks.finite_elements import centre
from benchmarks.finite_elements.grips_planned import curved, pad_compliance
from benchmarks.finite_elements.revolved import Vessel
from benchmarks.finite_elements.rims import ball_reach
from benchmarks.finite_elements.whole_grip import hertzian_area, Link, WholeGrip
from gripsim_ros.core.bodies import GraspObject, Material, shapes, TriangleMesh
from gripsim_ros.core.bodies.shapes.sweeps import refine_profile, revolve
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import (
    deform_body, ElasticBody, largest_displacement, pad_layers, shift_of_centre, solve_contact)
from gripsim_ros.core.mechanics.deformation.centre_shift import FAR_RADII
from gripsim_ros.core.mechanics.deformation.metrics import fit_rigid_motion
from gripsim_ros.library.resources import load_default_hand

MODULI = (2e4, 2e5, 2e6)
MATERIAL = Material(2e5, 0.4, 500.0, 0.5)
#: What counts as right [-], [m]: forces, areas, ways; and of the centre either of the two.
FORCE, AREA, WAY, CENTRE, CENTRE_WAY = 0.1, 0.1, 0.1, 0.2, 1e-5
#: Edge of tetrahedra at contacts with solid bodies [m].
EDGE = 3e-3
#: Share of a ball's largest overlap beyond which it may bear load on a wall [-], and times that
#: a vessel's triangles are quartered onto its curved surface.
PRESSED, WALL_QUARTERS = 0.5, 3
HEAD = ('| body | E [kPa] | fingers, thumb [mm] | flagged | thumb [N] | force [%] | area [%] | '
        'way [%] | centre [um] | off by [um] | right | half-space: force [%] | flagged |\n'
        + '|---' * 13 + '|')


def cup(wall, bottom, radius=0.04, height=0.09) -> Vessel:
    """Return the cup of ``cup_mesh`` [m]."""
    return Vessel(np.array([[0.0, -bottom], [radius, -bottom], [radius, height]]),
                  np.array([[0.0, 0.0], [radius - wall, 0.0], [radius - wall, height]]))


def bottle(wall, radius=0.03, neck=0.012, height=0.12) -> Vessel:
    """Return an open bottle on z = 0 with a wall [m]."""
    outer = np.array([[0.0, 0.0], [radius, 0.0], [radius, height],
                      [neck, height + radius - neck], [neck, height + 0.04]])
    inner = outer - wall * np.sign([[0.0, -1.0], [1.0, -1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    return Vessel(outer, inner)


def vessel_mesh(vessel: Vessel, edge=centre.EDGE) -> TriangleMesh:
    """Return the surface of a vessel."""
    profile = refine_profile(np.concatenate([vessel.outer, vessel.inner[::-1]]), edge)
    return revolve(profile, int(2.0 * np.pi * vessel.outer[:, 0].max() / edge))


@dataclass(frozen=True)
class Wall:
    """How a vessel is filled: layers through its wall, edge at its contacts [m], growth [-]."""

    vessel: Vessel
    layers: int = 2
    edge: float = 4e-4
    grading: float = 0.35

    def grip(self, mesh, links, rays, edge) -> WholeGrip:
        """Return the whole grip of tetrahedra between both faces."""
        radius = self.vessel.outer[:, 0].max()
        places = [[*(-radius * way[:2]), start[2]] for start, way in rays]
        return WholeGrip(
            curved(mesh, WALL_QUARTERS), MATERIAL, links, edge or self.edge, pressed=PRESSED,
            fill=partial(self.vessel.fill, places, layers=self.layers, grading=self.grading))


@dataclass(frozen=True)
class Case:
    """A body: its mesh, rays of two fingers and the thumb, depths of the fingers [m]."""

    make: partial
    rays: list
    depths: tuple
    #: How the tetrahedra of a vessel are made; None: by the body's surface.
    wall: Wall | None = None

    def grip(self, mesh, links, edge) -> WholeGrip:
        """Return the whole grip, with tetrahedra of an edge at contacts [m] or by default."""
        if self.wall:
            return self.wall.grip(mesh, links, self.rays, edge)
        return WholeGrip(mesh, MATERIAL, links, edge or EDGE)


def _three(height):
    return centre.around(60.0, -60.0, 180.0, heights=(height,) * 3)


#: Way between the middles of fingers that all but touch [m], and the angle about the middle of
#: the ball that they have there when they are 5 mm deep [deg].
NEAR = 2.05 * centre.FINGER_RADIUS
NEAR_ANGLE = float(np.rad2deg(np.arcsin(0.5 * NEAR / (0.04 + centre.FINGER_RADIUS - 5e-3))))


CASES = {
    **{name: Case(*case) for name, case in centre.CASES.items()},
    'bread roll': Case(partial(shapes.ellipsoid, (0.05, 0.04, 0.03), 3e-3),
                       centre.around(25.0, -25.0, 180.0, heights=(0.0,) * 3),
                       (1e-3, 3e-3, 5e-3)),
    'cup, wall 3 mm': Case(partial(vessel_mesh, cup(3e-3, 4e-3)), _three(0.045),
                           (3e-4, 7e-4, 1.2e-3), Wall(cup(3e-3, 4e-3))),
    'ball, fingers near': Case(
        centre.CASES['ball'][0], centre.around(NEAR_ANGLE, -NEAR_ANGLE, 180.0,
                                               heights=(0.0,) * 3), (1e-3, 3e-3, 5e-3)),
    'foam block, fingers near': Case(
        centre.CASES['foam block'][0], centre.across(
            0, [[0.0, 0.5 * NEAR, 0.0], [0.0, -0.5 * NEAR, 0.0]], [0.0, 0.0, 0.0]),
        (1e-3, 3e-3, 5.5e-3)),
    'bottle, wall 1 mm': Case(partial(vessel_mesh, bottle(1e-3)), _three(0.06),
                              (1e-4, 2e-4, 4e-4), Wall(bottle(1e-3)))}


@dataclass(frozen=True, eq=False)
class Answer:
    """What the product says: of each ball depth, force, area; way and shift of the centre [m]."""

    depths: np.ndarray
    forces: np.ndarray
    areas: np.ndarray
    way: float
    shift: np.ndarray
    flagged: bool


def answer_of(body: ElasticBody, case: Case, surface, depth: float, links,
              thumb: float | None = None) -> Answer:
    """Return what a model says; the thumb goes as deep as balance takes, unless it is told."""
    layers = pad_layers(links, np.arange(len(case.rays)))

    def press(deep):
        contact = centre.contact_of(surface, case.rays, (depth, depth, deep))
        return contact, solve_contact(body, contact, layers)

    if thumb is None:
        thumb = brentq(lambda deep: press(deep)[1].results.forces.sum(axis=0) @ case.rays[-1][1],
                       centre.THUMB_SHARES[0] * depth,
                       min(centre.THUMB_SHARES[1] * depth, centre.THUMB_DEPTH),
                       xtol=1e-3 * depth)
    contact, loaded = press(thumb)
    moved = deform_body(body, contact, loaded)
    solution = loaded.solution
    rows, pressing = solution.rows[solution.loaded], solution.forces[solution.loaded]
    areas = [hertzian_area(contact.nodes.points[rows[mine]], pressing[mine])
             for mine in contact.nodes.patches[rows] == loaded.results.rows[:, None]]
    return Answer(np.array([depth, depth, thumb]),
                  np.linalg.norm(loaded.results.forces, axis=1), np.array(areas),
                  largest_displacement(body, moved, loaded),
                  shift_of_centre(body, contact, loaded, moved), bool(loaded.flags.any()))


def shift_by(grip: WholeGrip, pressed, places) -> np.ndarray:
    """Return how far the centre of mass moves against the far surface's rigid motion (3,) [m]."""
    weights = grip.weights.copy()
    for place, area in zip(places, pressed.areas):
        ways = np.linalg.norm(grip.places - place, axis=1)
        weights *= ways > FAR_RADII * np.sqrt(area / np.pi)
    turn, way = fit_rigid_motion(grip.places, grip.places + pressed.moves, weights)
    middle = grip.volumes @ grip.places / grip.volumes.sum()
    return (middle + grip.volumes @ pressed.moves / grip.volumes.sum()
            - (turn @ middle + way))


def outside(value, bounds):
    """Return how far values lie outside of what is between two, over the nearer one [-]."""
    low, high = np.min(bounds, axis=0), np.max(bounds, axis=0)
    off = np.where(value < low, value / low, np.maximum(value / high, 1.0)) - 1.0
    return np.ravel(off)[np.abs(off).argmax()]


def way_outside(point, ends) -> float:
    """Return the distance of a point to the segment between two ends [m]."""
    along = ends[1] - ends[0]
    share = np.clip((point - ends[0]) @ along / max(along @ along, 1e-30), 0.0, 1.0)
    return float(np.linalg.norm(point - ends[0] - share * along))


def links_at(case: Case, surface, depths, pad) -> list[Link]:
    """Return the three balls, pressed in by depths [m]."""
    places = centre.ball_centres(surface, case.rays, depths)
    return [Link(str(k), ball_reach(place, centre.FINGER_RADIUS), partial(pad_compliance, pad))
            for k, place in enumerate(places)]


def rows_of(name: str, moduli, edge: float | None, counts: Counter):
    """Yield the rows of a body, and count them by flag and verdict."""
    case, hand = CASES[name], load_default_hand()
    links = [hand.links[hand.fingers[0].links[-1]]] * len(case.rays)
    mesh = case.make()
    surface, found = ContactMesh(mesh), {}
    for modulus in moduli:
        thing = GraspObject(mesh, replace(MATERIAL, youngs_modulus=modulus))
        own, half = ElasticBody(thing, MechanicsOptions(elasticity='body')), ElasticBody(thing)
        for depth in case.depths:
            answer = answer_of(own, case, surface, depth, links)
            found[modulus, depth] = answer, answer_of(half, case, surface, depth, links,
                                                      answer.depths[-1])
    deepest = np.max([answer.depths for answer, _ in found.values()], axis=0)
    grip = case.grip(mesh, links_at(case, surface, deepest, links[0].pad), edge)
    for (modulus, _), (answer, half) in found.items():
        grip.material = replace(MATERIAL, youngs_modulus=modulus)
        grip.links = links_at(case, surface, answer.depths, links[0].pad)
        places = centre.ball_centres(surface, case.rays, answer.depths)
        bounds = grip.press(False), grip.press(True)
        force = outside(answer.forces, [bound.sizes for bound in bounds])
        area = outside(answer.areas, [bound.areas for bound in bounds])
        way = outside(answer.way, [bound.largest for bound in bounds])
        shifts = [shift_by(grip, bound, places) for bound in bounds]
        off = way_outside(answer.shift, shifts)
        size = max(np.linalg.norm(shift) for shift in shifts)
        right = (abs(force) <= FORCE and abs(area) <= AREA and abs(way) <= WAY
                 and off <= max(CENTRE_WAY, CENTRE * size))
        counts[answer.flagged, abs(force) <= FORCE, right] += 1
        off_half = outside(half.forces, [bound.sizes for bound in bounds])
        depths = ', '.join(f'{1e3 * depth:.1f}' for depth in answer.depths[1:])
        yield (f'| {name} | {1e-3 * modulus:g} | {depths} | {"yes" if answer.flagged else ""} | '
               f'{answer.forces[-1]:.3g} | {100 * force:+.0f} | {100 * area:+.0f} | '
               f'{100 * way:+.0f} | {1e6 * size:.0f} | {1e6 * off:.0f} | '
               f'{"yes" if right else "no"} | {100 * off_half:+.0f} | '
               f'{"yes" if half.flagged else ""} |')


def main() -> None:
    """Print the table, of the bodies named or all, and what flags are worth."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('bodies', nargs='*', help=f'of {", ".join(CASES)}')
    parser.add_argument('--moduli', type=float, nargs='+', default=MODULI, help='[Pa]')
    parser.add_argument('--edge', type=float, help='of tetrahedra there [m]; '
                        f'{EDGE} without, of walls as each says')
    arguments = parser.parse_args()
    counts, begin = Counter(), time.process_time()
    print(HEAD)
    for name in arguments.bodies or CASES:
        for line in rows_of(name, arguments.moduli, arguments.edge, counts):
            print(line, flush=True)
    for (flagged, sound, right), count in sorted(counts.items()):
        print(f'{"flagged" if flagged else "not flagged"}, force '
              f'{"within" if sound else "off by more than"} {100 * FORCE:.0f} %, '
              f'{"all right" if right else "something not right"}: {count}')
    print(f'{time.process_time() - begin:.0f} s of a core')


if __name__ == '__main__':
    main()
