"""The gap of two oriented boxes over candidate axes, the plain way."""

import numpy as np

from gripsim_ros.core.bodies.oriented_box import OrientedBox

#: Length of cross axes below which a pair is parallel and separates nothing new.
_PARALLEL = 1e-9


def separation(a: OrientedBox, b: OrientedBox, cross_axes: bool = True) -> float:
    """
    Return the largest gap found on the candidate axes of two boxes.

    Parameters
    ----------
    a, b : OrientedBox
        Boxes in one common frame.
    cross_axes : bool
        Also try the nine cross products; without them edge-edge gaps are missed.

    Returns
    -------
    float
        Positive: the boxes are apart, at least so far. Negative: they overlap on
        every axis examined [m].

    Notes
    -----
    Source: rejection test of the intersection paper. Erratum: apart on *any* axis is
    apart; the paper lists the conditions as if all had to hold. Departure: 15 axes.
    """
    axes = np.vstack([a.axes, b.axes])
    if cross_axes:
        crossed = np.cross(a.axes[:, None], b.axes[None]).reshape(9, 3)
        lengths = np.linalg.norm(crossed, axis=1)
        keep = lengths > _PARALLEL
        axes = np.vstack([axes, crossed[keep] / lengths[keep, None]])
    reach = np.abs(axes @ a.axes.T) @ a.half_lengths + np.abs(axes @ b.axes.T) @ b.half_lengths
    return float((np.abs(axes @ (b.centre - a.centre)) - reach).max())
