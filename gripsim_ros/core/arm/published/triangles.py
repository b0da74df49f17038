"""Triangles that bound a six-joint arm, and their gaps by the common plane."""

import numpy as np

from ...arrays import Array, BoolArray
from ...contact.backends.common_plane import common_plane
from ...errors import ShapeError
from ...fields import checked_array


def arm_triangles(joints: Array) -> Array:
    """
    Return the two triangles ``(2, 3, 3)`` spanned by the links of a six-joint arm.

    Parameters
    ----------
    joints : (5, 3) float
        Ends m0 to m4 of its four links that have a length [m].

    Raises
    ------
    ShapeError
        There are not five finite points.

    Notes
    -----
    Source: Zhang and Shen 2004, section 1.1: (m0, m1, m2) and (m2, m3, m4).
    """
    return checked_array(joints, 'joints m0 to m4', 5, 3)[[[0, 1, 2], [2, 3, 4]]]


def triangles_may_meet(triangles_a: Array, triangles_b: Array, base_a: Array, base_b: Array,
                       clearance: float = 0.0) -> BoolArray:
    """
    Return which triangles of two arms overlap on the line between their bases.

    Parameters
    ----------
    triangles_a, triangles_b : (2, 3, 3) float
        From ``arm_triangles``, in one frame [m].
    base_a, base_b : (3,) float
        Origins of the arms [m].
    clearance : float
        Thickness of both arms' links about the triangles, and margin [m].

    Returns
    -------
    (2, 2) bool
        Of each triangle of a with each of b; where False they are apart.

    Raises
    ------
    ShapeError
        The bases coincide.

    Notes
    -----
    Source: Zhang and Shen 2004, section 1.2. Departure: the clearance, for links are not
    lines.
    """
    axis = np.asarray(base_b, float) - np.asarray(base_a, float)
    if not np.linalg.norm(axis) > 0.0:
        raise ShapeError('the bases of two arms must differ')
    axis = axis / np.linalg.norm(axis)
    return ((triangles_a @ axis).max(axis=1)[:, None] + clearance
            >= (triangles_b @ axis).min(axis=1)[None])


def triangle_gaps(triangles_a: Array, triangles_b: Array, may_meet: BoolArray) -> Array:
    """
    Return lower bounds of the distances ``(2, 2)`` of two arms' triangles [m].

    ``inf`` where ``may_meet`` says that they are apart; by the common plane otherwise,
    without early exit. Links are apart where the gap is above the sum of their thicknesses
    about the triangles.
    """
    return np.array([[common_plane(a, b, early_exit=False).gap if may_meet[i, j] else np.inf
                      for j, b in enumerate(triangles_b)] for i, a in enumerate(triangles_a)])
