"""The published virtual contour, which keeps a clearance to a contour."""

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array


def virtual_contour(points: ArrayLike, shift: ArrayLike, interference: bool = False) -> Array:
    """
    Return the published virtual contour: coordinates shifted away from the origin.

    Parameters
    ----------
    points : (n, 2) float
        About an inner origin [m].
    shift : (2,) float
        Clearance or interference along each axis, 0 or more [m].
    interference : bool
        Shift towards the origin instead.

    Returns
    -------
    (n, 2) float

    Notes
    -----
    Source: seed 003, with the signs of its procedure (its prose prints one expression for
    both). Not equidistant: faces at 45 degrees move by sqrt(2) of the shift, and points on
    both sides of an axis part; ``close_sequentially`` takes a clearance instead.
    """
    points, shift = np.asarray(points, float), np.asarray(shift, float)
    away = np.where(points < 0.0, -shift, shift)
    return points - away if interference else points + away
