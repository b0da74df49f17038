"""What simulated pads feel, contact forces binned into texels, and what the wrist bears."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.hand import HandLink, HandModel
from ...core.transforms import apply, inverse
from .options import SimulationOptions
from .world import TouchPoint, World

Array = NDArray[np.float64]

#: Share of a pad's direction along z beyond which its rows are laid along x.
STEEP = 0.9


@dataclass(frozen=True, eq=False)
class PadReading:
    """
    The texels of a pad.

    ``points_link (t, 3)`` [m] on the link's mesh, ``area`` of each [m^2], ``pressures (t,)``
    [Pa], ``force_link (3,)`` on the link in its own frame [N]. ``centre_link (3,)`` is where the
    normal forces act, not binned, NaN where there are none [m].
    """

    link: str
    points_link: Array
    area: float
    pressures: Array
    force_link: Array
    centre_link: Array


class Touch:
    """
    Texels of all pads of a hand, rows along the finger (the link's z) about the pad's middle.

    Where a pad looks along z, its rows are along x; one of which nothing is hit has one texel.

    Each force goes to the nearest texel of its link: a contact next to the pad is felt at the
    pad's edge, which a real one would not feel.
    """

    def __init__(self, hand: HandModel, options: SimulationOptions) -> None:
        """Lay the texels onto the links' meshes."""
        self._area = options.texel_pitch**2
        self._texels = {link.name: texels_of(link, options) for link in hand.links
                        if link.pad is not None}

    def read(self, world: World) -> list[PadReading]:
        """Return what all pads feel."""
        touches = world.touch_points()
        return [self._read_pad(link, [t for t in touches if t.link == link], world)
                for link in self._texels]

    def _read_pad(self, link: str, touches: Sequence[TouchPoint], world: World) -> PadReading:
        texels = self._texels[link]
        pressures, force = np.zeros(len(texels)), np.zeros(3)
        centre = np.full(3, np.nan)
        if touches:
            T_link_world = inverse(world.link_pose(link))
            points = apply(T_link_world, np.array([touch.point for touch in touches]))
            nearest = np.linalg.norm(points[:, None] - texels, axis=2).argmin(axis=1)
            normal = _pressing(np.array([touch.normal_force for touch in touches]))
            np.add.at(pressures, nearest, normal / self._area)
            if normal.sum() > 0.0:
                centre = normal @ points / normal.sum()
            force = T_link_world[:3, :3] @ sum(touch.force for touch in touches)
        return PadReading(link, texels, self._area, pressures, force, centre)


def _pressing(forces: Array) -> Array:
    """Return normal forces without those that pull; the others bear so much less."""
    pressing = np.maximum(forces, 0.0)
    return pressing * max(0.0, forces.sum()) / max(pressing.sum(), 1e-300)


def wrist_load(world: World) -> Array:
    """
    Return what the object puts on the hand (6,): what a wrist bears but for the hand's weight.

    Force [N] and torque about the palm's origin [N m], in the frame of the palm.
    """
    T_palm_world, load = inverse(world.T_world_palm), np.zeros(6)
    for touch in world.touch_points():
        force = T_palm_world[:3, :3] @ touch.force
        load[:3] += force
        load[3:] += np.cross(apply(T_palm_world, touch.point[None])[0], force)
    return load


def texels_of(link: HandLink, options: SimulationOptions) -> Array:
    """Return the middles (t, 3) of a pad's texels on its link's mesh [m], row by row, t >= 1."""
    import trimesh
    outward = link.pad_normal
    finger = np.eye(3)[0 if abs(outward[2]) > STEEP else 2]
    along = finger - finger @ outward * outward
    along /= np.linalg.norm(along)
    across = np.cross(along, outward)
    rows, columns = (options.texel_pitch * (np.arange(n) - 0.5 * (n - 1))
                     for n in (options.texel_rows, options.texel_columns))
    flat = (link.pad_point + rows[:, None, None] * along
            + columns[None, :, None] * across).reshape(-1, 3)
    mesh = trimesh.Trimesh(link.mesh.vertices, link.mesh.faces, process=False)
    far = np.ptp(link.mesh.vertices, axis=0).max()
    hits, rays, _ = mesh.ray.intersects_location(
        flat + far * outward, np.repeat(-outward[None], len(flat), axis=0), multiple_hits=False)
    points = flat.copy()
    points[rays] = hits
    return points[np.sort(rays)] if len(rays) else link.pad_point[None].copy()
