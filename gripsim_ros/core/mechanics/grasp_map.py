"""
Contact frames, the grasp map, and load cases as wrenches.

A contact frame is ``[n, t1, t2]`` with n into the object. Wrenches are force
then torque about the centre of mass, of what acts *on* the object, frame object.
"""

import numpy as np
from numpy.typing import NDArray

from ..batches import LOAD_CASE_WIDTH
from ..errors import ShapeError
from ..transforms import cross, skew

Array = NDArray[np.float64]

#: Below this sine between normal and z axis the x axis takes its place.
PARALLEL_SINE = 1e-6


def contact_frames(normals: Array) -> Array:
    """
    Return the frames ``[n, t1, t2]`` of contacts from their normals.

    ``t1 = n x z`` normalised, or ``n x x`` where n is parallel to z; ``t2 = n x t1``.

    Parameters
    ----------
    normals : (k, 3) float
        Unit normals into the object, frame object.

    Returns
    -------
    (k, 3, 3) float
        Columns n, t1, t2; right-handed rotations.

    Raises
    ------
    ShapeError
        ``normals`` is not ``(k, 3)`` or a row is not of unit length.

    Notes
    -----
    Source: Murray, Li & Sastry 1994, section 5.2, with the normal first; the choice
    of t1 is ours and fixes the phase of linearised cones.
    """
    normals = np.asarray(normals, float)
    if normals.ndim != 2 or normals.shape[1] != 3:
        raise ShapeError(f'contact normals must be (k, 3), got {normals.shape}')
    lengths = np.sqrt(np.einsum('ij,ij->i', normals, normals))
    if not (np.abs(lengths - 1.0) < 1e-6).all():
        raise ShapeError(f'contact normals must have length 1, got {lengths.tolist()}')
    first = np.stack([normals[:, 1], -normals[:, 0], np.zeros(len(normals))], 1)
    sines = np.hypot(first[:, 0], first[:, 1])
    parallel = sines < PARALLEL_SINE
    if parallel.any():
        first[parallel] = np.cross(normals[parallel], [1.0, 0.0, 0.0])
        sines = np.sqrt(np.einsum('ij,ij->i', first, first))
    first /= sines[:, None]
    n, t = normals.T, first.T
    second = np.stack([n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2],
                       n[0] * t[1] - n[1] * t[0]], 1)
    return np.stack([normals, first, second], 2)


def grasp_map(points: Array, frames: Array, centre_of_mass: Array, soft: bool = True) -> Array:
    """
    Return G, which maps contact forces to the wrench on the object.

    Parameters
    ----------
    points : (k, 3) float
        Centres of pressure, frame object [m].
    frames : (k, 3, 3) float
        Contact frames of ``contact_frames``.
    centre_of_mass : (3,) float
        Of the deformed object, about which torques are taken [m].
    soft : bool
        Give every contact a fourth column, the torsion about its normal.

    Returns
    -------
    (6, 4k) or (6, 3k) float
        Columns by contact: normal, t1, t2 [N], and torsion [N m].

    Notes
    -----
    Source: Prattichizzo & Trinkle, Springer Handbook of Robotics, section 28.2;
    ``G_i = [R_i; S(p_i - c) R_i]``, soft finger adds ``[0; n]``. Differs: the sign
    is that of forces on the object.
    """
    frames = np.asarray(frames, float)
    count, columns = len(frames), 4 if soft else 3
    blocks = np.zeros((count, 6, columns))
    blocks[:, :3, :3] = frames
    blocks[:, 3:, :3] = skew(np.asarray(points, float) - centre_of_mass) @ frames
    if soft:
        blocks[:, 3:, 3] = frames[:, :, 0]
    return blocks.transpose(1, 0, 2).reshape(6, count * columns)


def load_wrenches(load_cases: Array, mass: float, centre_of_mass: Array) -> Array:
    """
    Return the wrench of each load case about the centre of mass.

    Parameters
    ----------
    load_cases : (c, 9) float
        Gravity [m/s^2], force [N] and torque about the object's origin [N m].
    mass : float
        Of the object [kg].
    centre_of_mass : (3,) float
        Frame object [m].

    Returns
    -------
    (c, 6) float
        Force [N] then torque [N m], frame object.

    Raises
    ------
    ShapeError
        ``load_cases`` is not ``(c, 9)``.
    """
    load_cases = np.asarray(load_cases, float)
    if load_cases.ndim != 2 or load_cases.shape[1] != LOAD_CASE_WIDTH:
        raise ShapeError(f'load cases must be (c, {LOAD_CASE_WIDTH}), got {load_cases.shape}')
    wrenches = np.empty((len(load_cases), 6))
    wrenches[:, :3] = mass * load_cases[:, :3] + load_cases[:, 3:6]
    wrenches[:, 3:] = load_cases[:, 6:] - cross(centre_of_mass, load_cases[:, 3:6])
    return wrenches
