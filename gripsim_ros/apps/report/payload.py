"""The data inside a report: meshes, poses and numbers as JSON, packed for a script element."""

from typing import Any

import numpy as np

from ...core.bodies import TriangleMesh, decimate_mesh
from ...core.planning.ranked_grasp import PUBLISHED, GraspContact, RankedGrasp, ScoreTerm
from ...library.boxes import hand_boxes
from ...library.display import BOX_COLOUR, REGION_COLOUR
from ...library.drawing.render import best_viewpoint
from ...library.drawing.scene import (
    CENTRE_BEFORE_COLOUR, CENTRE_COLOUR, FORCE_COLOUR, PRESSURE_COLOURS, PRESSURE_STOPS,
    RING_COLOUR, DisplayGrasp, DisplayScene)
from .motion_payload import arm_data, motion_data, surroundings_data
from .packing import numbers, packed, packed_mesh
from .style import TERM_COLOURS, hex_colour

#: Most faces of a link's mesh in the page.
LINK_FACES = 5000
#: Steps of a displacement or a pressure that is sent as a 16-bit number.
SIGNED_STEPS, UNSIGNED_STEPS = 32767, 65535


def scene_data(scene: DisplayScene) -> dict[str, Any]:
    """
    Return what the viewer draws.

    Parameters
    ----------
    scene : DisplayScene

    Returns
    -------
    dict
        Arrays as base64 of little-endian numbers, each mesh once, forces and points as lists.
    """
    meshes, links = _distinct_meshes(scene)
    return {
        'meshes': meshes, 'links': links,
        'link_colours': [list(colour) for colour in scene.link_colours],
        'object': {'vertices': packed(scene.vertices, '<f4'),
                   'faces': packed(scene.faces, '<u4'),
                   'origins': packed(scene.refinement.origins, '<u4'),
                   'weights': packed(scene.refinement.weights, '<f4')},
        'extent': float(np.ptp(scene.vertices, axis=0).max()),
        'centre_of_mass': numbers(scene.centre_of_mass),
        'ramp': {'stops': list(PRESSURE_STOPS), 'colours': [list(c) for c in PRESSURE_COLOURS]},
        'colours': {'force': FORCE_COLOUR, 'ring': RING_COLOUR, 'centre': CENTRE_COLOUR,
                    'centre_before': CENTRE_BEFORE_COLOUR, 'boxes': BOX_COLOUR,
                    'regions': REGION_COLOUR},
        'term_colours': [hex_colour(np.array(colour) / 255.0) for colour in TERM_COLOURS],
        'arm': arm_data(scene), 'surroundings': surroundings_data(scene),
        'grasps': [_grasp_data(scene, index) for index in range(len(scene.grasps))]}


def _distinct_meshes(scene: DisplayScene) -> tuple[list[dict[str, str]], list[dict[str, int]]]:
    numbers: dict[str, int] = {}
    meshes, links = [], []
    for mesh, colour in zip(scene.links, scene.link_colours):
        if mesh.content_hash not in numbers:
            numbers[mesh.content_hash] = len(meshes)
            meshes.append(packed_mesh(decimate_mesh(mesh, LINK_FACES)))
        links.append({'mesh': numbers[mesh.content_hash],
                      'colour': scene.link_colours.index(colour)})
    return meshes, links


def _grasp_data(scene: DisplayScene, index: int) -> dict[str, Any]:
    shown = scene.grasps[index]
    grasp, moves = shown.grasp, shown.vertices - scene.vertices
    step = max(float(np.abs(moves).max(initial=0.0)), 1e-12) / SIGNED_STEPS
    shares = shown.pressures / max(shown.peak, 1e-12)
    return {
        'rank': grasp.rank, 'summary': _summary(shown), 'warnings': _warnings(shown),
        'poses': packed(shown.T_object_link, '<f4'), 'displacement_step': step,
        'displacements': packed(np.rint(moves / step), '<i2'),
        'pressures': packed(np.rint(UNSIGNED_STEPS * shares), '<u2'),
        'peak': f'{1e-3 * shown.peak:.1f}', 'centre_of_mass': numbers(grasp.centre_of_mass),
        'spots': [{'centre': numbers(spot.centre), 'radius': spot.radius,
                   'share': spot.peak / max(shown.peak, 1e-12)} for spot in shown.spots],
        'view': _view(scene, index), 'contacts': _contacts(shown),
        'terms': [_term(term) for term in grasp.terms],
        'boxes': _boxes(scene, shown), 'motion': motion_data(scene, index)}


def _boxes(scene: DisplayScene, shown: DisplayGrasp) -> dict[str, str]:
    """Return the corners (n, 8, 3) of oriented boxes and of regions, the hand closed."""
    found = hand_boxes(TriangleMesh(scene.vertices, scene.faces), scene.hand,
                       shown.T_object_link[-1])
    return {name: packed(np.array([box.corners() for box in boxes]).reshape(-1, 8, 3), '<f4')
            for name, boxes in (('boxes', found.whole), ('regions', found.parts))}


def _term(term: ScoreTerm) -> dict[str, Any]:
    share = term.contribution / term.weight if term.weight else 0.0
    return {'name': term.name, 'value': f'{term.value:.4g} {term.unit}'.replace(' -', ''),
            'contribution': f'{term.contribution:.3f}', 'weight': term.weight,
            'share': min(max(share, 0.0), 1.0)}


def _contacts(shown: DisplayGrasp) -> list[dict[str, Any]]:
    return [{
        'point': numbers(contact.point), 'normal': numbers(contact.normal),
        'force': numbers(contact.force), 'area': float(contact.area), 'cells': _cells(contact)}
        for contact in shown.grasp.contacts]


def _cells(contact: GraspContact) -> list[str]:
    return [contact.link, f'{np.linalg.norm(contact.force):.2f}',
            f'{1e-3 * contact.peak_pressure:.1f}', f'{1e6 * contact.area:.1f}',
            f'{np.linalg.norm(contact.closing_force):.2f}',
            told(1e-3 * contact.peak_von_mises, 1), told(1e3 * contact.strain_energy, 2)]


def told(value: float, digits: int) -> str:
    """Return a number, or a dash where it was not computed."""
    return f'{value:.{digits}f}' if np.isfinite(value) else '–'


def _summary(shown: DisplayGrasp) -> str:
    grasp = shown.grasp
    force = sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)
    return (f'{grasp.preshape}: {len(grasp.contacts)} contacts, {force:.2f} N in all, holds '
            f'{grasp.margin:.2f} times the load{_limiting(grasp)}; surface pressed in by '
            f'{1e3 * grasp.max_displacement:.2f} mm, centre of mass moved by '
            f'{told(1e6 * grasp.centre_shift, 1)} µm against the body'
            + ('; the object yields by its own compliance' if grasp.elasticity == 'body' else '')
            + ('; found by the published method' if grasp.method == PUBLISHED else '')
            + _closing(grasp) + _further(grasp))


def _limiting(grasp: RankedGrasp) -> str:
    """Return which load is the first to fail."""
    if grasp.limiting_load is None:
        return ''
    force, torque = np.split(grasp.limiting_load, 2)
    text = ''
    if (size := float(np.linalg.norm(force))) > 0.0:
        text += f'{size:.2f} N along ({", ".join(f"{x:.2f}" for x in force / size)})'
    if (size := 1e3 * float(np.linalg.norm(torque))) > 0.0:
        text += f'{" with " if text else ""}{size:.1f} mN m'
    return f' (first to fail: {text})' if text else ''


def _closing(grasp: RankedGrasp) -> str:
    """Return how the object moves while the hand closes, if it is known."""
    motion = grasp.closing_motion
    if motion is None:
        return ''
    return (f'; while the hand closes the object moves by {1e3 * motion.way:.2f} mm and turns by '
            f'{np.rad2deg(motion.turn):.1f}°{"" if motion.rests else " and does not come to rest"}'
            f', {motion.lost_time:.2f} s pass from the first finger\'s touch to the last one\'s')


def _further(grasp: RankedGrasp) -> str:
    """Return what is told of stress, damage and robustness, if anything."""
    text = ''
    if np.isfinite(grasp.max_deformation):
        text += (f'; without rigid motion the surface is displaced by up to '
                 f'{1e3 * grasp.max_deformation:.2f} mm, {1e3 * grasp.mean_deformation:.3f} mm on '
                 f'average; strain energy {1e3 * grasp.strain_energy:.2f} mJ, stress below the '
                 f'surface up to {1e-3 * grasp.peak_von_mises:.1f} kPa')
    if np.isfinite(grasp.epsilon):
        text += (f'; as hard fingers the contacts {"" if grasp.epsilon > 0.0 else "do not "}close '
                 f'by force (epsilon {grasp.epsilon:.3f})')
    if np.isfinite(grasp.damage_margin):
        text += f'; damage begins at {grasp.damage_margin:.1f} times the peak pressure or force'
    if grasp.robustness is not None:
        text += (f'; holds in {100 * grasp.robustness.holding:.0f} ± '
                 f'{100 * grasp.robustness.error:.0f} % of {grasp.robustness.samples} samples')
    return text


def _warnings(shown: DisplayGrasp) -> list[str]:
    outside = [] if shown.grasp.quantitative else [
        'Outside the range of the elastic model: numbers are indicative.']
    return [*outside, *shown.grasp.warnings]


def _view(scene: DisplayScene, index: int) -> dict[str, Any]:
    """Return where the viewer looks from at first: as in the still picture."""
    view, across = best_viewpoint(scene, index), scene.grasps[index].grasp.T_object_palm[:3, 0]
    azimuth = np.arctan2(view.towards @ np.cross(view.up, across), view.towards @ across)
    elevation = np.arcsin(np.clip(view.towards @ view.up, -1.0, 1.0))
    return {'centre': numbers(view.focus), 'radius': float(view.radius),
            'up': numbers(view.up), 'across': numbers(across),
            'turn': [float(azimuth), float(elevation)]}
