"""A picture of two bodies in contact: vertices inside, ways out, regions of interaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from ...core.bodies.oriented_box import OrientedBox, interaction_region
from ...core.contact import ContactMesh, vertex_contacts
from ...core.contact.backends.find_contacts import ContactBody, Contacts
from ...core.contact.published.intersection_rule import RulePairs
from ...core.hand import forward_kinematics
from ...core.transforms import apply, inverse
from ...library.drawing import glyphs
from ...library.drawing.raster import Camera, Surface, make_surface, merge_surfaces, render_layer
from ...library.drawing.render import Image, background, look_along, over, refined, shrink
from ...library.grasp_file import PlanAnswer

Array = NDArray[np.float64]

#: Side of each of the two views, alone and in a report, and of the legend under them [pixels].
VIEW_SIDE, REPORT_SIDE, LEGEND_HEIGHT = 640, 400, 124
#: Colours of the bodies a and b, of their vertices inside and of their regions.
BODY_COLOURS = ((0.90, 0.83, 0.70), (0.62, 0.66, 0.72))
POINT_COLOURS = ((0.10, 0.30, 0.85), (0.85, 0.10, 0.45))
REGION_COLOURS = ((0.10, 0.55, 0.20), (0.80, 0.10, 0.10))
PLANE_COLOUR = (0.30, 0.30, 0.35)
#: Colours of the paper's pairs of vertices and of its projections.
PAIR_COLOUR, PROJECTION_COLOUR = (0.35, 0.35, 0.40), (0.00, 0.60, 0.45)
#: How much of a is seen over b, and of the marks over both.
GLASS, MARKS = 0.38, 0.96
#: Of the near view: radius of points and of lines, over that of the view.
POINT_SHARE, LINE_SHARE = 0.010, 0.0035
#: Height of a line of the legend, and lines that fit in its height.
LEGEND_ROW, LEGEND_ROWS = 27, 4
#: Room about what a view is to hold, and cosine and sine of the eye's height.
ROOM, ELEVATION = 1.25, (0.96, 0.28)
#: Most vertices of one body that are marked.
MOST_MARKS = 400
INK, FAINT, PAPER = (28, 32, 40), (90, 96, 108), (255, 255, 255)
#: Twelve edges of a box, by the numbers of its corners.
BOX_EDGES = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5),
             (2, 6), (3, 7))


def draw_contact(a: ContactBody, b: ContactBody, T_a_b: Array, found: Contacts,
                 names: tuple[str, str] = ('A', 'B'),
                 motion: Array | None = None, side: int = VIEW_SIDE) -> PillowImage.Image:
    """
    Draw two bodies in contact, as a whole and near.

    Parameters
    ----------
    a, b : ContactBody
    T_a_b : (4, 4) float
        Pose of b in a.
    found : Contacts
        Of them, by any back end: vertices with their ways out, points of a manifold with
        their depths, or a common plane.
    names : (str, str)
        Of a and b in the legend.
    motion : (3,) float, optional
        Of b, frame a; down in the picture where nothing is inside.
    side : int
        Of each view [pixels].

    Returns
    -------
    PIL.Image.Image
        Both views side by side: b solid, a as glass over it; regions of potential
        interaction as frames, vertices inside the other body as balls with arrows to
        where they leave it; of the paper's rule also its pairs and projections.
    """
    regions = _regions(a, b, T_a_b)
    bodies = (a.closed.mesh.vertices, apply(T_a_b, b.closed.mesh.vertices))
    arrows = _ways_out(a, b, T_a_b, found)
    towards, up = _viewing_directions(arrows, found, regions, motion)
    views = []
    for points in (np.concatenate(bodies), _near_points(arrows, regions, bodies)):
        focus = (points.min(axis=0) + points.max(axis=0)) / 2.0
        radius = ROOM * float(np.linalg.norm(points - focus, axis=1).max())
        camera = look_along(-towards, up, focus, radius, (side, side))
        fine = refined(camera)
        marks = _marks(arrows, found, regions, focus, radius)
        views.append(_draw_view(a, b, bodies, marks, fine))
    image = np.concatenate(views, axis=1)
    more = max(0, len(_lines(found, names)) - LEGEND_ROWS)
    picture = PillowImage.new(
        'RGB', (2 * side, side + LEGEND_HEIGHT + LEGEND_ROW * more), PAPER)
    picture.paste(PillowImage.fromarray((255.0 * image + 0.5).astype(np.uint8)), (0, 0))
    _legend(ImageDraw.Draw(picture), found, names, side)
    return picture


def draw_grasp_contact(answer: PlanAnswer) -> PillowImage.Image:
    """
    Draw the strongest contact of the first grasp, object and link undeformed.

    Parameters
    ----------
    answer : PlanAnswer
        With at least one grasp that has a contact.

    Returns
    -------
    PIL.Image.Image
        As of ``draw_contact``; the link moves along the contact's normal.
    """
    grasp = answer.grasps[0]
    contact = max(grasp.contacts, key=lambda contact: float(np.linalg.norm(contact.force)))
    names = [link.name for link in answer.hand.links]
    poses = forward_kinematics(answer.hand, np.asarray(grasp.trajectory)[-1:])
    T_object_link = grasp.T_object_palm @ poses[0, names.index(contact.link)]
    link = answer.hand.links[names.index(contact.link)].mesh
    mesh = answer.grasp_object.mesh
    bodies = (ContactBody(ContactMesh(mesh), ContactMesh(mesh)),
              ContactBody(ContactMesh(link), ContactMesh(link)))
    motion = np.asarray(contact.normal, float)
    exact = vertex_contacts(bodies[0].closed, bodies[1].closed, T_object_link, motion)
    found = Contacts('vp_tree', exact.a_in_b, exact.b_in_a)
    return draw_contact(*bodies, T_object_link, found, (Path(answer.mesh_name).name, contact.link),
                        motion, REPORT_SIDE)


def _regions(a: ContactBody, b: ContactBody, T_a_b: Array) -> tuple[OrientedBox | None, ...]:
    """Return the regions of potential interaction of a and of b, both in a's frame."""
    box_a, box_b = a.closed.box, b.closed.box
    of_b = interaction_region(box_b, box_a.with_transform(inverse(T_a_b)))
    return (interaction_region(box_a, box_b.with_transform(T_a_b)),
            None if of_b is None else of_b.with_transform(T_a_b))


def _near_points(arrows: tuple[tuple[Array, Array], ...],
                 regions: tuple[OrientedBox | None, ...], bodies: tuple[Array, Array]) -> Array:
    """Return what the near view holds: the ways out, or else the smaller region."""
    points = np.concatenate([ends for arrow in arrows for ends in arrow])
    corners = [region.corners() for region in regions if region is not None]
    if len(points) > 1 and np.ptp(points, axis=0).max() > 0.0:
        return points
    if not corners:
        return np.concatenate(bodies)
    return min(corners, key=lambda box: float(np.ptp(box, axis=0).max()))


def _ways_out(a: ContactBody, b: ContactBody, T_a_b: Array,
              found: Contacts) -> tuple[tuple[Array, Array], ...]:
    """Return starts and ends ``(k, 3)`` of the ways out of vertices of a and of b."""
    if found.manifold is not None:
        manifold = found.manifold
        return ((np.zeros((0, 3)), np.zeros((0, 3))),
                (manifold.points - manifold.depths[:, None] * manifold.normals, manifold.points))
    return ((a.given.mesh.vertices[found.a_in_b.vertices], found.a_in_b.points),
            (apply(T_a_b, b.given.mesh.vertices)[found.b_in_a.vertices], found.b_in_a.points))


def _viewing_directions(arrows: tuple[tuple[Array, Array], ...], found: Contacts,
                        regions: tuple[OrientedBox | None, ...],
                        motion: Array | None) -> tuple[Array, Array]:
    """Return where to look from, and up: at right angles to the ways of b out of a."""
    (from_a, to_a), (from_b, to_b) = arrows
    way = np.concatenate([from_a - to_a, to_b - from_b]).sum(axis=0)
    if found.plane is not None:
        way = found.plane.normal
    if not np.linalg.norm(way) > 0.0:
        way = np.array([0.0, 0.0, 1.0]) if motion is None else -motion
    up = way / np.linalg.norm(way)
    box = OrientedBox(np.eye(3), np.zeros(3), np.ones(3))
    box = next((region for region in reversed(regions) if region is not None), box)
    # Along the shorter side that does not lie along the ways: the longer one is then seen.
    lengths = np.where(np.abs(box.axes @ up) < 0.8, box.half_lengths, np.inf)
    across = box.axes[int(np.argmin(lengths))]
    across = across - (across @ up) * up
    return ELEVATION[0] * across / np.linalg.norm(across) + ELEVATION[1] * up, up


def _draw_view(a: ContactBody, b: ContactBody, bodies: tuple[Array, Array],
               marks: Surface | None, camera: Camera) -> Image:
    image = background(camera)
    layers = [render_layer(make_surface(vertices, body.closed.mesh.faces, np.array(colour)),
                           camera)
              for vertices, body, colour in zip(bodies, (a, b), BODY_COLOURS)]
    seen_a, seen_b = (np.isfinite(layer.depth) for layer in layers)
    before = layers[0].depth < layers[1].depth
    image = over(image, layers[1], seen_b.astype(np.float32))
    image = over(image, layers[0], np.where(
        seen_a & (before | ~seen_b), np.where(seen_b, GLASS, 0.9), 0.0).astype(np.float32))
    if marks is not None:
        drawn = render_layer(marks, camera)
        image = over(image, drawn, MARKS * np.isfinite(drawn.depth).astype(np.float32))
    return shrink(image)


def _marks(arrows: tuple[tuple[Array, Array], ...], found: Contacts,
           regions: tuple[OrientedBox | None, ...], focus: Array,
           radius: float) -> Surface | None:
    """Return balls, arrows, frames and the plane as one surface."""
    surfaces = []
    for (starts, ends), colour in zip(arrows, POINT_COLOURS):
        step = max(1, -(-len(starts) // MOST_MARKS))
        for start, end in zip(starts[::step], ends[::step]):
            surfaces.append(make_surface(*glyphs.ball(start, POINT_SHARE * radius),
                                         np.array(colour)))
            if np.linalg.norm(end - start) > 2.0 * POINT_SHARE * radius:
                surfaces.append(make_surface(
                    *glyphs.arrow(start, end, LINE_SHARE * radius), np.array(colour)))
    for region, colour in zip(regions, REGION_COLOURS):
        if region is not None:
            surfaces += [make_surface(*rod, np.array(colour))
                         for rod in _frame(region.corners(), LINE_SHARE * radius)]
    if found.plane is not None:
        surfaces.append(make_surface(
            *glyphs.ring(found.plane.point, found.plane.normal, 0.5 * radius,
                         2.0 * LINE_SHARE * radius), np.array(PLANE_COLOUR)))
    for pairs in found.pairs or ():
        surfaces += [make_surface(*mark, np.array(colour)) for colour, mark in _compared(
            pairs, radius)]
    return merge_surfaces(surfaces) if surfaces else None


def _compared(pairs: RulePairs, radius: float
              ) -> Iterator[tuple[tuple[float, ...], glyphs.Triangles]]:
    """Yield colour and mark of lines from vertices to their partners, and of projections."""
    step = max(1, -(-len(pairs.points) // MOST_MARKS))
    for start, end in zip(pairs.points[::step], pairs.partners[::step]):
        if np.linalg.norm(end - start) > LINE_SHARE * radius:
            yield PAIR_COLOUR, glyphs.rod(start, end, 0.5 * LINE_SHARE * radius)
    step = max(1, -(-len(pairs.projections) // MOST_MARKS))
    for point in pairs.projections[::step]:
        yield PROJECTION_COLOUR, glyphs.ball(point, POINT_SHARE * radius)


def _frame(corners: Array, thickness: float) -> list[glyphs.Triangles]:
    """Return the edges of a box as rods."""
    rods = []
    for i, j in BOX_EDGES:
        along = corners[j] - corners[i]
        length = float(np.linalg.norm(along))
        if length > thickness:
            profile = np.array([[thickness, 0.0], [thickness, length]])
            rods.append(glyphs.lathe(profile, corners[i], along))
    return rods


def _legend(draw: ImageDraw.ImageDraw, found: Contacts, names: tuple[str, str],
            side: int) -> None:
    """Write the title over the views and what the colours mean under them."""
    draw.line([(side, 0), (side, side)], fill=(200, 204, 212))
    first, second = names
    for x, text in ((12, f'{second} in {first}' + ' (approximate)' * found.approximate),
                    (side + 12, 'near')):
        width = draw.textlength(text, ImageFont.load_default(22))
        draw.rectangle([x - 6, 8, x + width + 6, 38], fill=PAPER)
        draw.text((x, 10), text, INK, ImageFont.load_default(22))
    for row, (colour, text) in enumerate(_lines(found, names)):
        y = side + 10 + LEGEND_ROW * row
        draw.rectangle([12, y + 4, 26, y + 18],
                       fill=tuple(int(255 * channel) for channel in colour))
        draw.text((34, y), text, FAINT, ImageFont.load_default(17))


def _lines(found: Contacts, names: tuple[str, str]) -> list[tuple[tuple[float, ...], str]]:
    """Return colours and what they mean."""
    first, second = names
    regions = [(colour, f'region of potential interaction of {name}')
               for colour, name in zip(REGION_COLOURS, names)]
    if found.manifold is not None:
        return [(POINT_COLOURS[1], f'{len(found.manifold.points)} points of the manifold, '
                 f'depth {1e3 * found.manifold.depth:.2f} mm'), *regions]
    if found.plane is not None:
        return [(PLANE_COLOUR, f'common plane, gap {1e3 * found.plane.gap:.2f} mm'), *regions]
    return [(colour, f'{len(inside.vertices)} vertices of {one}, to where they leave {other}; '
             f'deepest {1e3 * inside.depths.max(initial=0.0):.2f} mm')
            for colour, inside, one, other in (
                (POINT_COLOURS[0], found.a_in_b, first, second),
                (POINT_COLOURS[1], found.b_in_a, second, first))] + regions + (
        [] if found.pairs is None else [
            (PAIR_COLOUR, f'{sum(len(side.points) for side in found.pairs)} pairs of vertices '
             'whose projections along the motion are nearest'),
            (PROJECTION_COLOUR, 'projections onto the triangles round the partner')])
