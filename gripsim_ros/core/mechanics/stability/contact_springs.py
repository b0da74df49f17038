"""
Forces of one contact at the twist of a held object: springs, limited by friction.

Arrays are those of ``equilibrium.py``, which balances all contacts.
"""

import numpy as np

from ...arrays import Array
from ...numerics.kernels import njit
from ...numerics.simd import LANES, load, store
from ...numerics.vec3 import Vec3, cross, load_vec3

Contacts = tuple[Array, Array, Array, Array]

#: Rows of a contact: the first slide and twist, the last two tilt.
ROWS, SLIDING = 6, 4


@njit(cache=True)
def contact_rows(frames: Array, arms: Array, radii: Array, rocking: Array, normals: Array,
                 forces: Array, torques: Array, scale: float, rocking_share: float
                 ) -> tuple[Array, Array]:
    """
    Return the motion and action (k, 6, 8) of contacts, their last two columns 0.

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
    motion, action = np.zeros((len(arms), ROWS, LANES)), np.zeros((len(arms), ROWS, LANES))
    still = (0.0, 0.0, 0.0)
    for i in range(len(arms)):
        arm, radius = load_vec3(arms, i), radii[i] / scale
        for row in range(3):
            way = frames[i, 0, row], frames[i, 1, row], frames[i, 2, row]
            _put_row(motion[i, row], way, arm, still, scale)
            _put_row(action[i, row], way, arm, still, scale)
        for k in range(3):
            motion[i, 3, 3 + k] = action[i, 3, 3 + k] = frames[i, k, 0] * radius
        for tilt in range(ROWS - SLIDING):
            spring, row = rocking[i, tilt], SLIDING + tilt
            turn = (rocking_share * spring[3], rocking_share * spring[4],
                    rocking_share * spring[5])
            _put_row(motion[i, row], (rocking_share * spring[0], rocking_share * spring[1],
                                      rocking_share * spring[2]), arm, still, scale)
            for k in range(3):
                motion[i, row, 3 + k] += turn[k] / scale
                action[i, row, 3 + k] = turn[k] / scale
        if normals[i] > 0.0:
            n, force, torque = normals[i], load_vec3(forces, i), load_vec3(torques, i)
            _put_row(action[i, 0], (force[0] / n, force[1] / n, force[2] / n), arm,
                     (torque[0] / n, torque[1] / n, torque[2] / n), scale)
    return motion, action


@njit(cache=True, forceinline=True)
def _put_row(row: Array, way: Vec3, arm: Vec3, turn: Vec3, scale: float) -> None:
    """Write a force, or way, and its moment with a further turn, over the unit of rotation."""
    moment = cross(arm, way)
    for k in range(3):
        row[k], row[3 + k] = way[k], (moment[k] + turn[k]) / scale


@njit(cache=True, forceinline=True)
def trial_forces(i: int, twist: Array, contacts: Contacts, response: Array) -> tuple[
        float, float, float, float, float, float]:
    """Return the springs' forces of a contact at a twist, whatever friction bears."""
    motion, _, starts, stiffness = contacts
    for a in range(ROWS):
        store((stiffness[i, a] * load(motion, i, a)) * twist, response, a)
    return (_lowered(starts[i, 0], 0, response), _lowered(0.0, 1, response),
            _lowered(0.0, 2, response), _lowered(0.0, 3, response),
            _lowered(starts[i, 1], 4, response), _lowered(starts[i, 2], 5, response))


@njit(cache=True, forceinline=True)
def _lowered(start: float, a: int, response: Array) -> float:
    return (start - response[a, 0] - response[a, 1] - response[a, 2] - response[a, 3]
            - response[a, 4] - response[a, 5])


@njit(cache=True, forceinline=True)
def radial_return(x: float, y: float, z: float, limit: float) -> tuple[float, float, float]:
    """Return trial forces, scaled back to a limit that friction sets (radial return)."""
    size = np.sqrt(x * x + y * y + z * z)
    if size <= limit:
        return x, y, z
    return limit * (x / size), limit * (y / size), limit * (z / size)


@njit(cache=True, forceinline=True)
def contact_forces(i: int, twist: Array, contacts: Contacts, friction: float, response: Array
                   ) -> tuple[float, float, float, float, float, float]:
    """
    Return the forces of a contact at the scaled twist (8,), zero where it is not pressed.

    Normal, two tangents, torsion over r_e, two tilts; ``response`` (6, 8) is scratch.
    """
    normal, first, second, torsion, tilt, other = trial_forces(i, twist, contacts, response)
    if normal <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first, second, torsion = radial_return(first, second, torsion, friction * normal)
    tilt, other, _ = radial_return(tilt, other, 0.0, normal)
    return normal, first, second, torsion, tilt, other


@njit(cache=True)
def all_contact_forces(x: Array, contacts: Contacts, friction: float) -> Array:
    """Return the forces (k, 6) of contacts at the scaled twist x, zero where not pressed."""
    forces, response = np.zeros((len(contacts[2]), ROWS)), np.empty((ROWS, LANES))
    twist = np.zeros(LANES)
    twist[:6] = x
    for i in range(len(forces)):
        (forces[i, 0], forces[i, 1], forces[i, 2], forces[i, 3], forces[i, 4],
         forces[i, 5]) = contact_forces(i, load(twist), contacts, friction, response)
    return forces


@njit(cache=True, error_model='numpy')
def fill_slip_tangent(i: int, first: int, last: int, ratio: float, share: float, stiffness: Array,
                      response: Array) -> None:
    """
    Fill the derivatives of forces that ``radial_return`` scales back to a share of the normal's.

    ``response`` (6, 8): columns 0 to 5 become the derivatives by the contact's displacements,
    column 7 holds the forces' direction; ``ratio`` is minus the limit over the trial forces.
    """
    for a in range(first, last):
        direction = response[a, 7]
        response[a, 0] = -share * stiffness[i, 0] * direction
        for b in range(first, last):
            same = 1.0 if a == b else 0.0
            response[a, b] = ratio * stiffness[i, b] * (same - direction * response[b, 7])
