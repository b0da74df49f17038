"""Oriented boxes of a hand and an object, and what of each the other can reach, to be shown."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.bodies import TriangleMesh
from ..core.bodies.oriented_box import OrientedBox, fit_oriented_box, interaction_region
from ..core.hand import HandModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HandBoxes:
    """
    Boxes about links and object, and their regions of potential interaction.

    ``links`` are as many as the hand has, in its order; ``regions`` hold, for each link whose box
    may meet that of the object, its number, the part of its box that the object's can reach, and
    the part of the object's that its can reach. All in the frame of ``T_link``, SI.
    """

    body: OrientedBox
    links: tuple[OrientedBox, ...]
    regions: tuple[tuple[int, OrientedBox, OrientedBox], ...]

    @property
    def whole(self) -> list[OrientedBox]:
        """Return all boxes, that of the object first."""
        return [self.body, *self.links]

    @property
    def parts(self) -> list[OrientedBox]:
        """Return all regions: of a link, then of the object."""
        return [box for _, *both in self.regions for box in both]


def hand_boxes(mesh: TriangleMesh, hand: HandModel, T_link: Array,
               T_body: Array = np.eye(4)) -> HandBoxes:
    """
    Return the boxes of a hand about an object.

    Parameters
    ----------
    mesh : TriangleMesh
        Of the object as it is untouched.
    hand : HandModel
    T_link : (L, 4, 4) float
        Poses of the links, in any frame.
    T_body : (4, 4) float
        Pose of the object in the same frame.

    Returns
    -------
    HandBoxes

    Notes
    -----
    Source: Leskov and Seliverstova 2016, oriented boxes and regions of potential interaction,
    link by link.
    """
    body = _box(mesh).with_transform(T_body)
    links = tuple(box.with_transform(T) for box, T in zip(_link_boxes(hand), T_link))
    both = ((number, interaction_region(box, body), interaction_region(body, box))
            for number, box in enumerate(links))
    return HandBoxes(body, links, tuple(
        (number, of_link, of_body) for number, of_link, of_body in both
        if of_link is not None and of_body is not None))


@lru_cache(maxsize=4)
def _link_boxes(hand: HandModel) -> tuple[OrientedBox, ...]:
    """Return the boxes of the links, each in its own frame."""
    return tuple(_box(link.mesh) for link in hand.links)


def _box(mesh: TriangleMesh) -> OrientedBox:
    used, faces = np.unique(mesh.faces, return_inverse=True)
    return fit_oriented_box(mesh.vertices[used], faces.reshape(-1, 3))
