"""PNG pictures of a plan: the best grasp, how it closes, what the scores are made of."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from ...library.drawing.raster import Camera
from ...library.drawing.render import Image, View, best_viewpoint, render
from ...library.drawing.scene import DisplayScene, make_scene, pressure_colours
from ...library.grasp_file import PlanAnswer
from .contact_picture import draw_grasp_contact
from .motion_picture import motion_picture
from .payload import told
from .section_picture import draw_section
from .style import FAINT, INK, PAPER, TERM_COLOURS

SCENE_SIZE = (1280, 860)
#: The near view: nearer by this, from this height [rad], with this much of the hand.
NEAR_ZOOM, NEAR_ELEVATION, NEAR_HAND = 2.6, 0.12, 0.25
FRAME_SIZE = (420, 560)
FRAME_COUNT = 5


def write_pictures(answer: PlanAnswer, folder: Path) -> list[Path]:
    """
    Write pictures of the best grasp and of all scores; nothing without grasps.

    Parameters
    ----------
    answer : PlanAnswer
    folder : Path
        Exists.

    Returns
    -------
    list of Path
        What was written: ``scene.png``, ``closing.png``, ``scores.png``; ``contact.png`` and
        ``section.png`` where there is a contact and a deformed surface, ``motion.png`` where the
        first grasp has a whole motion.
    """
    if not answer.grasps:
        return []
    scene = make_scene(answer)
    pictures = {'scene.png': scene_picture(scene), 'closing.png': closing_picture(scene),
                'scores.png': score_picture(answer)}
    if answer.grasps[0].contacts:
        pictures['contact.png'] = draw_grasp_contact(answer)
    for name, picture in (('section.png', draw_section(answer)),
                          ('motion.png', motion_picture(scene))):
        if picture is not None:
            pictures[name] = picture
    for name, picture in pictures.items():
        picture.save(folder / name, optimize=True)
    return [folder / name for name in pictures]


def scene_picture(scene: DisplayScene, index: int = 0,
                  size: tuple[int, int] = SCENE_SIZE) -> PillowImage.Image:
    """Return hand, deformed object, pressures and forces of one grasp, twice: whole and near."""
    width, height = size
    largest = scene.grasps[index].peak
    half = (width // 2, height)
    views = _rendered(scene, largest, [
        (View(index), best_viewpoint(scene, index).camera(half)),
        (View(index, hand=NEAR_HAND, surroundings=False), best_viewpoint(
            scene, index, NEAR_ZOOM, NEAR_ELEVATION).camera(half))])
    picture = _picture(np.concatenate(views, axis=1))
    draw = ImageDraw.Draw(picture)
    draw.line([(half[0], 0), (half[0], height)], fill=(200, 204, 212))
    _title(draw, scene, index)
    pressure_legend(draw, size, largest)
    return picture


def _rendered(scene: DisplayScene, largest: float, views: list[tuple[View, Camera]]
              ) -> list[Image]:
    """Return pictures of a scene, two at a time: most is done without Python's lock."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda view: render(scene, *view, largest), views))


def closing_picture(scene: DisplayScene, index: int = 0) -> PillowImage.Image:
    """Return the closing hand as a strip of frames, from open to holding."""
    shown = scene.grasps[index]
    rows = np.linspace(0, len(shown.T_object_link) - 1, FRAME_COUNT).round().astype(int)
    camera = best_viewpoint(scene, index, closing=True).camera(FRAME_SIZE)
    largest = shown.peak
    frames = _rendered(scene, largest, [
        (View(index, int(row), forces=row == rows[-1]), camera) for row in rows])
    picture = _picture(np.concatenate(frames, axis=1))
    draw = ImageDraw.Draw(picture)
    for number, row in enumerate(rows):
        label = {0: 'open', FRAME_COUNT - 1: 'holding'}.get(number, f'row {row + 1}')
        draw.text((number * FRAME_SIZE[0] + 16, 12), label, INK, _font(22))
        if number:
            x = number * FRAME_SIZE[0]
            draw.line([(x, 0), (x, FRAME_SIZE[1])], fill=(200, 204, 212))
    return picture


def score_picture(answer: PlanAnswer) -> PillowImage.Image:
    """Return a chart: one bar a grasp, one piece of it a term of the score."""
    bar, left, top, width = 40, 90, 90, 1000
    height = top + bar * len(answer.grasps) + 30
    picture = PillowImage.new('RGB', (width, height), PAPER)
    draw = ImageDraw.Draw(picture)
    names = [term.name for term in answer.grasps[0].terms]
    draw.text((20, 14), 'What the scores are made of', INK, _font(24))
    _term_legend(draw, names, (20, 54))
    full = max(max(grasp.score for grasp in answer.grasps), 1e-9)
    scale = (width - left - 110) / full
    for number, grasp in enumerate(answer.grasps):
        x, y = float(left), top + bar * number
        draw.text((20, y + 6), f'rank {grasp.rank}', INK, _font(18))
        for place, term in enumerate(grasp.terms):
            end = x + scale * max(term.contribution, 0.0)
            if end > x:
                draw.rectangle([x, y + 4, end, y + bar - 8],
                               fill=TERM_COLOURS[place % len(TERM_COLOURS)])
            x = end
        draw.text((x + 10, y + 6), f'{grasp.score:.3f}', INK, _font(18))
    return picture


def _term_legend(draw: ImageDraw.ImageDraw, names: Sequence[str], corner: tuple[int, int]) -> None:
    x, y = corner
    for place, name in enumerate(names):
        draw.rectangle([x, y + 3, x + 14, y + 17], fill=TERM_COLOURS[place % len(TERM_COLOURS)])
        draw.text((x + 20, y - 1), name, FAINT, _font(17))
        x += 38 + int(draw.textlength(name, _font(17)))


def _title(draw: ImageDraw.ImageDraw, scene: DisplayScene, index: int) -> None:
    grasp = scene.grasps[index].grasp
    force = sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)
    draw.text((20, 14), f'Grasp {grasp.rank}: score {grasp.score:.3f}', INK, _font(26))
    draw.text((20, 48), f'{len(grasp.contacts)} contacts, {force:.2f} N in all, pressed in '
              f'{1e3 * grasp.max_displacement:.2f} mm, centre of mass moved '
              f'{told(1e6 * grasp.centre_shift, 1)} um', FAINT, _font(17))


def pressure_legend(draw: ImageDraw.ImageDraw, size: tuple[int, int], largest: float) -> None:
    """Draw which colour is which pressure, up to ``largest`` [Pa], below on the right."""
    length, x, y = 260, size[0] - 290, size[1] - 48
    ramp = pressure_colours(np.linspace(0.0, 1.0, length), 1.0)
    for k, colour in enumerate(ramp):
        draw.line([(x + k, y), (x + k, y + 14)],
                  fill=tuple(int(255 * channel) for channel in colour))
    draw.text((x, y - 24), 'pressure [kPa]', FAINT, _font(16))
    draw.text((x, y + 17), '0', FAINT, _font(16))
    text = f'{1e-3 * largest:.1f}'
    draw.text((x + length - draw.textlength(text, _font(16)), y + 17), text, FAINT, _font(16))


def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _picture(image: Image | NDArray[np.float32]) -> PillowImage.Image:
    return PillowImage.fromarray((255.0 * image + 0.5).astype(np.uint8))
