"""How deep contacts of a link may go before they are pressed on: no jumps in a step of time."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Places on a link that are nearer than this are the same contact's in two steps [m].
SAME_CONTACT = 3e-3
#: Most that a contact is pressed on sooner, and later, than a step before [m]. Fingers press by a
#: tenth of it and less; what changes faster is a contact that is counted to another place.
SOONER, LATER = 2e-5, 1e-4


class Allowances:
    """
    What contacts of a link were allowed to overlap the tetrahedra by in the step before.

    Parameters
    ----------
    positions : (n, 3) float
        On the link [m].
    depths : (n,) float
        [m]. Negative: they were pressed on before they touched.
    """

    def __init__(self, positions: Array | None = None, depths: Array | None = None) -> None:
        self._positions = np.zeros((0, 3)) if positions is None else positions
        self._depths = np.zeros(0) if depths is None else depths

    def limit(self, positions: Array, wanted: Array, distances: Array) -> Array:
        """
        Return depths as near to those wanted as contacts may get in a step (k,) [m].

        What was no contact before begins without a force.

        Parameters
        ----------
        positions : (k, 3) float
            On the link [m].
        wanted : (k,) float
            [m].
        distances : (k,) float
            Between link and tetrahedra [m].
        """
        before = np.maximum(wanted, -distances)
        if len(self._positions):
            away = np.linalg.norm(positions[:, None] - self._positions, axis=2)
            nearest = away.argmin(axis=1)
            known = away.min(axis=1) < SAME_CONTACT
            before[known] = self._depths[nearest[known]]
        return np.asarray(np.clip(wanted, before - SOONER, before + LATER))
