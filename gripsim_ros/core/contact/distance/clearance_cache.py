"""Cache of the clearances of links that have not moved since they were last asked for."""

import numpy as np

from ...arrays import Array
from ..geometry.contact_mesh import ContactMesh
from .clearance import hull_clearances
from .link_hulls import Hulls


#: Largest number of entries: about a hundred hands, more than are closed at a time.
MAX_ENTRIES = 1000


class ClearanceCache:
    """
    The hull clearances of an object, with the latest of them kept.

    While a hand closes, the palm and the links next to it stand still. What is kept changes
    no answer: a link's is a function of its pose alone, and only the very same pose is known
    again. So threads may share it.

    Parameters
    ----------
    hulls : Hulls
    body : ContactMesh
        The object.
    """

    def __init__(self, hulls: Hulls, body: ContactMesh) -> None:
        self._hulls, self._body = hulls, body
        self._known: dict[tuple[int, bytes, bytes], float] = {}

    def clearances(self, T_object_link: Array, sweep_object: Array) -> Array:
        """Return the ``hull_clearances (L,)`` [m] for poses ``(L, 4, 4)``."""
        poses, way = T_object_link.tobytes(), sweep_object.tobytes()
        count, known = len(T_object_link), self._known
        size = len(poses) // max(count, 1)
        keys = [(link, poses[link * size:(link + 1) * size], way) for link in range(count)]
        answers = [known.get(key, -1.0) for key in keys]
        unknown = [link for link, answer in enumerate(answers) if answer < 0.0]
        if unknown:
            hulls = self._hulls._replace(which=self._hulls.which[unknown])
            found = hull_clearances(hulls, self._body, T_object_link[unknown], sweep_object)
            if len(known) + len(unknown) > MAX_ENTRIES:
                known.clear()
            for link, answer in zip(unknown, found.tolist()):
                known[keys[link]] = answers[link] = answer
        return np.array(answers, float)
