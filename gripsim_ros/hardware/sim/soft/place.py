"""Where a link touches an object, in the frames of both."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Cosine of the angle by which the normal may turn with both surfaces, which roll: 3 degrees.
LEAST_COSINE = 0.9986


@dataclass(frozen=True)
class Place:
    """
    Where a link touches an object.

    ``on_link``, ``on_object`` (3,): the same place in either frame [m]; ``link_frame``,
    ``object_frame`` (3, 3): rows are the contact's axes in either frame, the last from the object
    to the link.
    """

    on_link: Array
    on_object: Array
    link_frame: Array
    object_frame: Array

    def flat(self, positions: Array) -> Array:
        """Return positions (k, 3) in the frame of the link along the contact's axes (k, 2)."""
        return np.asarray((positions - self.on_link) @ self.link_frame[:2].T)

    def is_near(self, other: 'Place', way: float, cosine: float) -> bool:
        """Return whether the surfaces face each other as there, but for a way [m] and an angle."""
        return (self.slides_to(other) < way and self.is_turned_as(other, cosine)
                and bool(self.link_frame[2] @ other.link_frame[2] > LEAST_COSINE))

    def slides_to(self, other: 'Place') -> float:
        """Return how far the link has slid over the object from here to another place [m]."""
        on_link = self.flat(other.on_link)
        on_object = self.object_frame[:2] @ (other.on_object - self.on_object)
        return float(np.linalg.norm(on_link - on_object))

    def is_turned_as(self, other: 'Place', cosine: float) -> bool:
        """Return whether the surfaces face each other as at another place, but for an angle."""
        first, second = (one.object_frame.T @ one.link_frame for one in (self, other))
        return bool(np.sum(first * second) > 1.0 + 2.0 * cosine)
