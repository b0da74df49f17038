"""
Forces of one contact at the twist of a held object: springs, limited by friction.

Arrays are those of ``equilibrium.py``, which balances all contacts.
"""

from numba import njit
import numpy as np
from numpy.typing import NDArray

from ...numerics.simd import load_six, store

Array = NDArray[np.float64]

#: Rows of a contact: the first slide and twist, the last two tilt.
ROWS, SLIDING = 6, 4


@njit(cache=True, error_model='numpy')
def contact_rows(frames: Array, arms: Array, radii: Array, rocking: Array, normals: Array,
                 forces: Array, torques: Array, scale: float, rocking_share: float
                 ) -> tuple[Array, Array]:
    """
    Return the motion and action (k, 6, 6) of contacts.

    Parameters
    ----------
    frames : (k, 3, 3) float
    arms : (k, 3) float
        From the centre of mass [m].
    radii : (k,) float
        Of friction [m].
    rocking : (k, 2, 6) float
        See ``rocking_springs``.
    normals : (k,) float
        Simulated normal forces [N].
    forces, torques : (k, 3) float
        Simulated [N], [N m].
    scale, reach : float
        Length of a unit of rotation [m], and share of its extent over which the centre of
        pressure moves [-].
    """
    motion, action = np.zeros((len(arms), ROWS, 6)), np.zeros((len(arms), ROWS, 6))
    for i in range(len(arms)):
        turn = radii[i] / scale
        for a in range(3):
            for c in range(3):
                motion[i, c, a] = frames[i, a, c]
            motion[i, 3, 3 + a] = frames[i, a, 0] * turn
            for t in range(2):
                motion[i, SLIDING + t, a] = rocking_share * rocking[i, t, a]
        for row in range(ROWS):
            if row != 3:
                _fill_moment(arms, motion, i, row)
                for a in range(3, 6):
                    motion[i, row, a] /= scale
        for row in range(SLIDING):
            for a in range(6):
                action[i, row, a] = motion[i, row, a]
        for t in range(2):
            for a in range(3, 6):
                action[i, SLIDING + t, a] = rocking_share * rocking[i, t, a] / scale
                motion[i, SLIDING + t, a] = (action[i, SLIDING + t, a]
                                             + motion[i, SLIDING + t, a])
        if normals[i] > 0.0:
            for a in range(3):
                action[i, 0, a] = forces[i, a] / normals[i]
            _fill_moment(arms, action, i, 0)
            for a in range(3):
                action[i, 0, 3 + a] = (action[i, 0, 3 + a] + torques[i, a] / normals[i]) / scale
    return motion, action


@njit(cache=True)
def _fill_moment(arms: Array, rows: Array, i: int, row: int) -> None:
    """Fill the last three numbers of a row: the moment of the first three."""
    x, y, z = arms[i, 0], arms[i, 1], arms[i, 2]
    u, v, w = rows[i, row, 0], rows[i, row, 1], rows[i, row, 2]
    rows[i, row, 3], rows[i, row, 4], rows[i, row, 5] = y * w - z * v, z * u - x * w, x * v - y * u


@njit(cache=True)
def contact_response(x: Array, motion: Array, start: Array, stiffness: Array, friction: float,
                     response: Array) -> None:
    """
    Fill forces and tangents of one contact at the scaled twist x.

    ``response`` (6, 8): column 0 the forces ``(n, t1, t2, torsion / r_e, tilts)``, columns
    1 to 6 their derivatives by the contact's displacements, column 7 scratch.
    """
    response[:, :7] = 0.0
    response[0, 0], response[4, 0], response[5, 0] = start
    for a in range(ROWS):
        for b in range(6):
            response[a, 0] -= stiffness[a] * motion[a, b] * x[b]
    if response[0, 0] <= 0.0:
        response[:, 0] = 0.0
        return
    return_to_friction(friction, stiffness, response)


@njit(cache=True)
def return_to_friction(friction: float, stiffness: Array, response: Array) -> None:
    """Limit the forces of springs to what the contact bears, and fill their derivatives."""
    for a in range(ROWS):
        for b in range(ROWS):
            response[a, b + 1] = -stiffness[a] if a == b else 0.0
    radial_return(1, SLIDING, friction, stiffness, response)
    radial_return(SLIDING, ROWS, 1.0, stiffness, response)


@njit(cache=True)
def radial_return(first: int, last: int, share: float, stiffness: Array, response: Array) -> None:
    """Scale trial forces back to a share of the normal force (radial return)."""
    size = 0.0
    for a in range(first, last):
        size += response[a, 0] ** 2
    size, limit = np.sqrt(size), share * response[0, 0]
    if size <= limit:
        return
    for a in range(first, last):
        response[a, 7] = response[a, 0] / size
    for a in range(first, last):
        direction = response[a, 7]
        response[a, 0] = limit * direction
        response[a, 1] = -share * stiffness[0] * direction
        for b in range(first, last):
            same = 1.0 if a == b else 0.0
            response[a, b + 1] = (-limit / size * stiffness[b]
                                  * (same - direction * response[b, 7]))


@njit(cache=True, inline='always')
def fill_force_changes(i: int, twist: Array, motion: Array, stiffness: Array,
                       response: Array) -> None:
    """Fill by how much each of a twist's six components lowers the springs' forces."""
    for a in range(ROWS):
        store((stiffness[i, a] * load_six(motion, i, a)) * twist, response, a)


@njit(cache=True, inline='always')
def spring_force(start: float, a: int, response: Array) -> float:
    """Return the force of spring ``a`` from its start; ``fill_force_changes`` came before."""
    force: float = (start - response[a, 0] - response[a, 1] - response[a, 2] - response[a, 3]
                    - response[a, 4] - response[a, 5])
    return force


@njit(cache=True, inline='always')
def radial_return2(x: float, y: float, limit: float) -> tuple[float, float]:
    """Return trial forces, scaled back to a limit as ``radial_return`` does."""
    size = np.sqrt(x * x + y * y)
    if size <= limit:
        return x, y
    return limit * (x / size), limit * (y / size)


@njit(cache=True, inline='always')
def radial_return3(x: float, y: float, z: float, limit: float) -> tuple[float, float, float]:
    """Return trial forces, scaled back to a limit as ``radial_return`` does."""
    size = np.sqrt(x * x + y * y + z * z)
    if size <= limit:
        return x, y, z
    return limit * (x / size), limit * (y / size), limit * (z / size)


@njit(cache=True, error_model='numpy')
def fill_slip_tangent(i: int, first: int, last: int, ratio: float, share: float, stiffness: Array,
                      response: Array) -> None:
    """
    Fill the derivatives of forces that friction limits, as ``radial_return`` does.

    ``response`` (6, 8): columns 0 to 5 become the derivatives by the contact's displacements,
    column 7 holds the forces' direction; ``ratio`` is minus the limit over the trial forces.
    """
    for a in range(first, last):
        direction = response[a, 7]
        response[a, 0] = -share * stiffness[i, 0] * direction
        for b in range(first, last):
            same = 1.0 if a == b else 0.0
            response[a, b] = ratio * stiffness[i, b] * (same - direction * response[b, 7])
