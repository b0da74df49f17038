"""The whole motion of a grasp as a strip of pictures: arm, hand and object, phase by phase."""

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from ...core.hand import forward_kinematics
from ...core.transforms import apply
from ...library.display import ARM_COLOUR, OBJECT_COLOUR
from ...library.drawing.raster import Camera, Surface, make_surface
from ...library.drawing.render import draw_surfaces
from ...library.drawing.scene import DisplayScene
from ...library.whole_motion import APPROACH, Moment
from .motion_payload import motion_viewpoint, part_poses
from .style import FAINT, INK, PAPER

#: Size of a frame [pixels], and frames in a row.
FRAME, COLUMNS = (330, 300), 4
#: How much is seen of what stands about the object.
STANDING_SHARE = 0.55


def motion_picture(scene: DisplayScene, index: int = 0) -> PillowImage.Image | None:
    """
    Return the beginning and the end of each phase but the approach, which ends as closing begins.

    Parameters
    ----------
    scene : DisplayScene
    index : int
        Of the grasp.

    Returns
    -------
    PIL.Image.Image or None
        None where the grasp has no whole motion.
    """
    moments = scene.motion(index)
    if not moments:
        return None
    camera = motion_viewpoint(scene, index, moments).camera(FRAME)
    ends = [moments[i] for i in range(len(moments) - 1)
            if moments[i + 1].phase != moments[i].phase and moments[i].phase != APPROACH]
    shown = [('begin', moments[0])] + [(f'after {m.phase}', m) for m in [*ends, moments[-1]]]
    rows = -(-len(shown) // COLUMNS)
    picture = PillowImage.new('RGB', (min(len(shown), COLUMNS) * FRAME[0], rows * FRAME[1]),
                              PAPER)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(17)
    for number, (label, moment) in enumerate(shown):
        x, y = number % COLUMNS * FRAME[0], number // COLUMNS * FRAME[1]
        picture.paste(_frame(scene, moment, camera), (x, y))
        draw.text((x + 10, y + 8), label, INK, font)
        if moment.step is not None:
            draw.text((x + 10, y + 30), f'margin {moment.step.margin:.2f}', FAINT, font)
    return picture


def _frame(scene: DisplayScene, moment: Moment, camera: Camera) -> PillowImage.Image:
    """Return a moment; what stands about the object hides nothing."""
    surfaces = _surfaces(scene, moment)
    alone = draw_surfaces(surfaces, camera)
    if not scene.surroundings:
        return alone
    standing = [make_surface(one.mesh.vertices, one.mesh.faces, np.array(one.colour))
                for one in scene.surroundings]
    return PillowImage.blend(alone, draw_surfaces([*surfaces, *standing], camera), STANDING_SHARE)


def _surfaces(scene: DisplayScene, moment: Moment) -> list[Surface]:
    """Return what is seen at a moment, in the object's first frame."""
    links = moment.T_object_palm @ forward_kinematics(scene.hand, moment.joints[None])[0]
    drawn = [(scene.vertices, scene.faces, OBJECT_COLOUR, moment.T_object_moved),
             *((mesh.vertices, mesh.faces, colour, T) for mesh, colour, T in
               zip(scene.links, scene.link_colours, links))]
    poses = part_poses(scene, (moment,))
    if poses is not None and scene.arm is not None:
        drawn += [(mesh.vertices, mesh.faces, ARM_COLOUR, T)
                  for mesh, T in zip(scene.arm.meshes, poses[0])]
    return [make_surface(apply(T, vertices), faces, np.array(colour))
            for vertices, faces, colour, T in drawn]
