"""A picture of a cut through the object: undeformed and deformed outline, pressures, centres."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from ...core.planning.ranked_grasp import RankedGrasp
from ...library.drawing.scene import (
    CENTRE_BEFORE_COLOUR, CENTRE_COLOUR, FORCE_COLOUR, pressure_colours, told_in_own_frame)
from ...library.grasp_file import PlanAnswer

Array = NDArray[np.float64]
Place = Callable[[Array], tuple[float, float]]

SIZE, MARGIN, TITLE = (1280, 980), 120, 120
#: Sizes of letters [px]: pages show the picture half as wide.
LARGE, SMALL = 34, 25
#: Drawn this many times finer, then shrunk.
FINER = 2
INK, FAINT, PAPER, BEFORE = (28, 32, 40), (110, 116, 128), (255, 255, 255), (178, 184, 194)
#: Displacements are enlarged until the largest is this share of the section's size.
SHOWN_SHARE = 0.06
#: Enlargements that are easy to read.
NICE = (1.0, 2.0, 5.0)
ARROW = 0.16
#: Three points less than this out of line, over their distance, define no plane.
FLAT = 1e-3


@dataclass(frozen=True, eq=False)
class Section:
    """
    A plane cut through the object, in the plane's coordinates.

    ``before (S, 2, 2)`` and ``after (S, 2, 2)`` [m] are the ends of the pieces cut from the
    triangles; those of ``after`` are the same points of the material. ``pressures (S,)``
    [Pa]; ``origin (3,)`` and ``axes (2, 3)`` place the plane in the object.
    """

    before: Array
    after: Array
    pressures: Array
    origin: Array
    axes: Array

    def flatten(self, points: Array) -> Array:
        """Return coordinates ``(..., 2)`` in the plane of points ``(..., 3)``."""
        return (points - self.origin) @ self.axes.T


def cut_section(vertices: Array, faces: NDArray[np.int64], deformed: Array, pressures: Array,
                origin: Array, axes: Array) -> Section:
    """
    Cut an object by a plane.

    Parameters
    ----------
    vertices, deformed : (V, 3) float
        Undeformed and deformed vertices [m].
    faces : (F, 3) int
    pressures : (V,) float
        [Pa].
    origin : (3,) float
        A point of the plane [m].
    axes : (2, 3) float
        Unit vectors along it, at right angles.

    Returns
    -------
    Section
    """
    heights = (vertices - origin) @ np.cross(axes[0], axes[1])
    above = heights[faces] > 0.0
    faces, above = faces[above.any(axis=1) & ~above.all(axis=1)], above[
        above.any(axis=1) & ~above.all(axis=1)]
    # The corner that lies alone on its side of the plane comes first.
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    corners = np.take_along_axis(faces, (alone[:, None] + np.arange(3)) % 3, axis=1)
    start, ends = corners[:, :1], corners[:, 1:]
    shares = (heights[start] / (heights[start] - heights[ends]))[..., None]

    def on_edges(values: Array) -> Array:
        return values[start] + shares * (values[ends] - values[start])

    pressed = on_edges(pressures[:, None])[..., 0].mean(axis=1)
    section = Section(np.zeros(0), np.zeros(0), pressed, origin, axes)
    return Section(section.flatten(on_edges(vertices)), section.flatten(on_edges(deformed)),
                   pressed, origin, axes)


def draw_section(answer: PlanAnswer, index: int = 0) -> PillowImage.Image | None:
    """
    Draw the cut through a grasp's strongest contacts and the centre of mass.

    Parameters
    ----------
    answer : PlanAnswer
    index : int
        Of the grasp.

    Returns
    -------
    PIL.Image.Image or None
        Undeformed outline, deformed outline coloured by pressure, forces and both centres of
        mass, displacements enlarged as the picture says; None where the answer holds no
        deformed surface.
    """
    grasp = told_in_own_frame(answer.grasps[index])
    if grasp.vertices is None or grasp.vertex_pressures is None or not grasp.contacts:
        return None
    body = answer.grasp_object
    centre = body.mass_properties.centre_of_mass
    section = cut_section(body.mesh.vertices, body.mesh.faces, grasp.vertices,
                          grasp.vertex_pressures, centre, _plane_axes(grasp, centre))
    if not len(section.before):
        return None
    largest = float(np.sqrt(((grasp.vertices - body.mesh.vertices) ** 2).sum(axis=1)).max())
    times = _enlargement(section.before, largest)
    picture = PillowImage.new('RGB', (FINER * SIZE[0], FINER * SIZE[1]), PAPER)
    _draw_outlines(ImageDraw.Draw(picture), section, grasp, centre, times)
    picture = picture.resize(SIZE, PillowImage.Resampling.LANCZOS)
    _write_legend(ImageDraw.Draw(picture), section, grasp, centre, times)
    return picture


def _plane_axes(grasp: RankedGrasp, centre: Array) -> Array:
    """Return axes through the centre, the strongest contact, and the next out of that line."""
    contacts = sorted(grasp.contacts, key=lambda each: -float(np.linalg.norm(each.force)))
    first = contacts[0].point - centre
    first = first / np.linalg.norm(first)
    for arm in [*(each.point - centre for each in contacts[1:]), contacts[0].normal,
                *np.eye(3)]:
        second = arm - first * (arm @ first)
        length = float(np.linalg.norm(second))
        if length > FLAT * float(np.linalg.norm(arm)):
            break
    return np.stack([first, second / length])


def _enlargement(before: Array, largest: float) -> float:
    """Return the number, 1 or more and easy to read, that makes displacements visible."""
    size = float(np.ptp(before.reshape(-1, 2), axis=0).max())
    wanted = SHOWN_SHARE * size / max(largest, 1e-12)
    if wanted <= 1.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(nice * power for nice in NICE if nice * power <= wanted * (1.0 + 1e-9)))


def _centre_enlargement(section: Section, grasp: RankedGrasp, centre: Array) -> float:
    """Return how much the shift of the centre of mass is enlarged."""
    return _enlargement(section.before, float(np.linalg.norm(grasp.centre_of_mass - centre)))


def _peak(grasp: RankedGrasp) -> float:
    """Return the largest pressure of the contacts or at a vertex, which has the last colour."""
    return max(float(grasp.vertex_pressures.max()), 1e-12,
               *(contact.peak_pressure for contact in grasp.contacts))


def _scale(section: Section) -> tuple[float, Array]:
    """Return pixels a metre, and the point in the middle of the picture."""
    points = section.before.reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN - TITLE], float)
    return float((room / (high - low)).min()), 0.5 * (low + high)


def _draw_outlines(draw: ImageDraw.ImageDraw, section: Section, grasp: RankedGrasp,
                   centre: Array, times: float) -> None:
    scale, middle = _scale(section)

    def place(point: Array) -> tuple[float, float]:
        x, y = FINER * scale * (point - middle)
        return FINER * SIZE[0] / 2 + x, FINER * (SIZE[1] + TITLE) / 2 - y

    after = section.before + times * (section.after - section.before)
    peak = _peak(grasp)
    for piece in section.before:
        draw.line([place(piece[0]), place(piece[1])], fill=BEFORE, width=2 * FINER)
    for piece, pressure in zip(after, section.pressures):
        colour = INK if pressure <= 0.0 else _rgb(pressure_colours(pressure, peak))
        width = (3 if pressure <= 0.0 else 7) * FINER
        draw.line([place(piece[0]), place(piece[1])], fill=colour, width=width)
    length = ARROW * float(np.ptp(section.before.reshape(-1, 2), axis=0).max())
    strongest = max(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)
    for contact in grasp.contacts:
        _draw_force(draw, place, section.flatten(contact.point),
                    length / max(strongest, 1e-12) * section.axes @ contact.force)
    start = section.flatten(centre)
    end = start + _centre_enlargement(section, grasp, centre) * (
        section.flatten(grasp.centre_of_mass) - start)
    for point, size, colour in ((start, 11, CENTRE_BEFORE_COLOUR), (end, 7, CENTRE_COLOUR)):
        (x, y), radius = place(point), size * FINER
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=_rgb(colour))


def _draw_force(draw: ImageDraw.ImageDraw, place: Place, tip: Array, arrow: Array) -> None:
    """Draw a force whose arrow ends at the contact."""
    size = float(np.linalg.norm(arrow))
    if size == 0.0:
        return
    along, across = arrow / size, np.array([-arrow[1], arrow[0]]) / size
    head = 0.25 * size
    colour = _rgb(FORCE_COLOUR)
    draw.line([place(tip - arrow), place(tip - head * along)], fill=colour, width=5 * FINER)
    draw.polygon([place(tip), place(tip - head * along + 0.4 * head * across),
                  place(tip - head * along - 0.4 * head * across)], fill=colour)


def _write_legend(draw: ImageDraw.ImageDraw, section: Section, grasp: RankedGrasp,
                  centre: Array, times: float) -> None:
    shift = 1e6 * (grasp.centre_of_mass - centre)
    inside = np.linalg.norm(section.axes @ shift)
    large, small = ImageFont.load_default(LARGE), ImageFont.load_default(SMALL)
    draw.text((20, 12), f'Grasp {grasp.rank}: cut through its strongest contacts and the centre '
              'of mass', INK, large)
    more = _centre_enlargement(section, grasp, centre)
    draw.text((20, 58), f'displacements enlarged {times:g} times, pressure up to '
              f'{1e-3 * _peak(grasp):.1f} kPa', FAINT, small)
    draw.text((20, 90), centre_line(shift, inside, grasp.centre_shift, more), FAINT, small)
    scale, _ = _scale(section)
    length, x, y = 0.01 * scale, 20.0, SIZE[1] - 72
    draw.line([(x, y), (x + length, y)], fill=INK, width=4)
    draw.text((x + length + 10, y - 15), '10 mm', FAINT, small)
    x += length + 130
    for name, colour in (('undeformed', BEFORE), ('deformed', INK),
                         ('under pressure', _rgb(pressure_colours(0.7, 1.0))),
                         ('force in the plane', _rgb(FORCE_COLOUR)),
                         ('centre of mass before', _rgb(CENTRE_BEFORE_COLOUR)),
                         ('after', _rgb(CENTRE_COLOUR))):
        width = 60 + draw.textlength(name, small)
        if x + width > SIZE[0]:
            x, y = 20.0, y + 38
        draw.rectangle([x, y - 9, x + 24, y + 9], fill=colour)
        draw.text((x + 34, y - 15), name, FAINT, small)
        x += width


def centre_line(shift: Array, inside: float, against: float, times: float) -> str:
    """
    Return how far the centre of mass moved.

    ``shift (3,)`` from where it was, ``inside`` of it in the plane, both [µm]; ``against`` the
    body's rigid motion [m], not told where it is NaN; ``times`` by which it is enlarged.
    """
    told = f' ({1e6 * against:.1f} um against the body)' if np.isfinite(against) else ''
    return (f'centre of mass moved {np.linalg.norm(shift):.1f} um{told}, {inside:.1f} um in this '
            f'plane (enlarged {times:g} times)')


def _rgb(colour: Sequence[float] | Array) -> tuple[int, ...]:
    return tuple(int(round(255 * channel)) for channel in np.asarray(colour))
