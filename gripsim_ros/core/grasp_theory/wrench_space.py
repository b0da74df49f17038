"""
Grasp quality in wrench space: epsilon and volume.

Contacts are hard fingers whose cones are replaced by pyramids inscribed in them, so
every value is a lower bound of that of the exact cone. Torques are about the centre
of mass, over a length, so that a wrench is in units of the largest normal force.
"""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..arrays import Array
from ..errors import TaskError
from ..numerics.nnls import solve_nnls
from .grasp_map import contact_frames, grasp_map


#: Relative size below which singular values are zero: the wrenches are flat.
RANK_TOLERANCE = 1e-9


def primitive_wrenches(points: Array, normals: Array, centre_of_mass: Array, friction: float,
                       length_scale: float, edge_count: int = 8) -> Array:
    """
    Return the wrenches of the cone edges of every contact, at unit normal force.

    Edge j of m is ``n + mu (t1 cos(2 pi j / m) + t2 sin(2 pi j / m))``.

    Parameters
    ----------
    points, normals : (k, 3) float
        Contact points [m] and unit normals into the object, frame object.
    centre_of_mass : (3,) float
        [m].
    friction : float
        Coefficient, not negative [-].
    length_scale : float
        Divides the torques [m], above 0.
    edge_count : int
        Edges of a pyramid, at least 3.

    Returns
    -------
    (k, edge_count, 6) float
        Force [-], torque over ``length_scale`` [-].

    Raises
    ------
    TaskError
        A parameter is outside its range.

    Notes
    -----
    Source: Ferrari & Canny 1992. Differs: none; the phase is that of ``contact_frames``.
    """
    if not (np.isfinite(friction) and friction >= 0.0):
        raise TaskError(f'friction must be 0 or above and finite, got {friction}')
    if not (np.isfinite(length_scale) and length_scale > 0.0):
        raise TaskError(f'length_scale must be above 0, got {length_scale}')
    if edge_count < 3:
        raise TaskError(f'edge_count must be at least 3, got {edge_count}')
    frames = contact_frames(normals)
    columns = grasp_map(points, frames, centre_of_mass, soft=False).reshape(6, -1, 3)
    angles = 2.0 * np.pi * np.arange(edge_count) / edge_count
    edges = np.stack([np.ones(edge_count), friction * np.cos(angles), friction * np.sin(angles)])
    wrenches: Array = np.einsum('akc,cm->kma', columns, edges)
    wrenches[..., 3:] /= length_scale
    return wrenches


def hull_metrics(wrenches: Array) -> tuple[float, float]:
    """
    Return epsilon and volume of the convex hull of wrenches.

    Parameters
    ----------
    wrenches : (p, d) float
        Points of a wrench space of any dimension d.

    Returns
    -------
    epsilon : float
        Radius of the largest ball about the origin inside the hull; 0 where the
        origin is not inside or the hull is flat.
    volume : float
        Of the hull, 0 where it is flat.

    Notes
    -----
    Source: Ferrari & Canny 1992 for epsilon, Miller & Allen 1999 for the volume.
    """
    wrenches = np.asarray(wrenches, float)
    dimension = wrenches.shape[1]
    if len(wrenches) <= dimension or _rank(wrenches - wrenches.mean(0)) < dimension:
        return 0.0, 0.0
    try:
        hull = ConvexHull(wrenches, qhull_options='Qt')
    except QhullError:
        return 0.0, 0.0
    return max(0.0, -float(hull.equations[:, -1].max())), float(hull.volume)


def wrench_space_metrics(points: Array, normals: Array, centre_of_mass: Array, friction: float,
                         length_scale: float, edge_count: int = 8) -> tuple[float, float]:
    """
    Return the Ferrari-Canny epsilon (L1) and the volume of the wrench space.

    Parameters as in ``primitive_wrenches``; the sum of the normal forces is 1.

    Returns
    -------
    epsilon, volume : float
        In units of the normal force; 0 without contacts or where the wrenches are flat.

    Notes
    -----
    Source: Ferrari & Canny 1992, the L1 hull. Differs: pyramids inside the cones.
    """
    if len(points) == 0:
        return 0.0, 0.0
    edges = primitive_wrenches(points, normals, centre_of_mass, friction, length_scale, edge_count)
    return hull_metrics(edges.reshape(-1, 6))


def _rank(rows: Array) -> int:
    values = np.linalg.svd(rows, compute_uv=False)
    return int((values > RANK_TOLERANCE * values[0]).sum()) if values[0] > 0.0 else 0


def min_norm(vectors: Array, sum_weight: float) -> float:
    """
    Return the least length of a convex combination of vectors.

    Parameters
    ----------
    vectors : (n, d) float
        Normals, wrenches or arms, of about unit length; at least one.
    sum_weight : float
        Weight of the equation that the shares add up to 1 [-]: the length is exact to one over
        its square.

    Returns
    -------
    float
        0 where the vectors can balance; for wrenches within friction cones that is force
        closure's necessary condition.

    Notes
    -----
    Source: the distance of the origin from a convex hull as least squares of shares that are
    not negative (Lawson & Hanson 1974, chapter 23).
    """
    system = np.vstack([vectors.T, np.full(len(vectors), sum_weight)])
    right = np.zeros(system.shape[0])
    right[-1] = sum_weight
    shares, _ = solve_nnls(np.ascontiguousarray(system), right)
    return float(np.linalg.norm(shares @ vectors) / max(float(shares.sum()), 1e-12))
