"""
Compliance of an elastic layer bonded to a rigid base: the pad of a link.

Derivations and limits: docs/model/mechanics.md, "Contact forces".
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


#: Depths of the images that stand for a bonded layer, in units of its thickness.
IMAGE_DEPTHS = np.array([0.8, 1.2, 1.6, 2.0, 2.4])
#: Largest modulus of a confined layer over its Young's modulus [-].
CONFINED_MODULUS_RATIO = 10.0
#: Largest softening radius without images over the layer's length [-].
SHARING_SAFETY = 0.9
#: Side of the tiles in which a matrix is transposed: two fit the first cache.
TILE = 32
_FIT_NUMBERS = np.concatenate([[0.0], np.geomspace(1e-3, 12.0, 200)])
_FIT_FLOOR = 0.05


@dataclass(frozen=True, eq=False)
class LayerCompliance:
    """
    Surface compliance of an elastic layer bonded to a rigid base.

    Attributes
    ----------
    modulus : float
        E / (1 - nu^2) of the layer [Pa].
    depths : (m,) float
        Depths of the images [m].
    weights : (m,) float
        Their weights [-], which add up to 1: under a wide load the half-space cancels.
    shear_modulus : float
        [Pa].
    poisson_ratio : float
        [-].
    thickness : float
        [m].

    Notes
    -----
    A load 1 at distance r moves the surface by
    ``(1/sqrt(r^2) - sum_m w_m / sqrt(r^2 + z_m^2)) / (pi modulus)``.
    """

    modulus: float
    depths: Array
    weights: Array
    shear_modulus: float
    poisson_ratio: float
    thickness: float

    def tangential_stiffness(self, radius: float) -> float:
        """
        Return the stiffness [N/m] against sliding of a disc of a radius [m] on the layer.

        Half-space (Mindlin 1949) and sheared layer add: ``8 G a / (2 - nu) + pi G a^2 / h``.
        """
        half_space = 8.0 * self.shear_modulus * radius / (2.0 - self.poisson_ratio)
        return half_space + np.pi * self.shear_modulus * radius ** 2 / self.thickness


def layer_transform(wave_numbers: Array, poisson_ratio: float) -> Array:
    """
    Return the compliance of a bonded layer over that of its half-space.

    Parameters
    ----------
    wave_numbers : (n,) float
        Wave number times thickness [-], not negative.
    poisson_ratio : float
        Above -1 and below 0.5 [-].

    Returns
    -------
    (n,) float
        From 0 for long waves to 1 for short ones.

    Notes
    -----
    Source: Johnson, Contact Mechanics 1985, section 5.8; Sneddon 1951, with x = kh:
    ``((3-4nu) sinh 2x - 2x) / ((3-4nu) cosh 2x + 2x^2 + 5 - 12nu + 8nu^2)``.
    """
    x, nu = np.asarray(wave_numbers, float), poisson_ratio
    decay = np.exp(-2.0 * x)
    above = (3.0 - 4.0 * nu) * (1.0 - decay ** 2) - 4.0 * x * decay
    below = ((3.0 - 4.0 * nu) * (1.0 + decay ** 2)
             + 2.0 * decay * (2.0 * x ** 2 + 5.0 - 12.0 * nu + 8.0 * nu ** 2))
    return above / below


@lru_cache(maxsize=64)
def fit_layer(youngs_modulus: float, poisson_ratio: float, thickness: float) -> LayerCompliance:
    """
    Return the images that stand for a bonded elastic layer.

    Parameters
    ----------
    youngs_modulus : float
        [Pa].
    poisson_ratio : float
        [-]; one whose confined modulus exceeds ``CONFINED_MODULUS_RATIO`` times Young's is
        lowered to where it does not.
    thickness : float
        [m].

    Returns
    -------
    LayerCompliance

    Notes
    -----
    Least squares of ``1 - layer_transform`` by ``sum w_m exp(-k z_m)``, relative where
    the transform is not small, under two exact conditions: no compliance at wave number
    0, and the confined layer's ``h (1+nu)(1-2nu) / (E (1-nu))`` next to it. Own derivation.
    """
    nu = min(poisson_ratio, _confined_limit())
    transform = layer_transform(_FIT_NUMBERS, nu)
    trust = 1.0 / (transform + _FIT_FLOOR)
    columns = np.exp(-np.outer(_FIT_NUMBERS, IMAGE_DEPTHS)) * trust[:, None]
    exact = np.stack([np.ones(len(IMAGE_DEPTHS)), IMAGE_DEPTHS])
    slope = (1.0 - 2.0 * nu) / (2.0 * (1.0 - nu) ** 2)
    system = np.block([[columns.T @ columns, exact.T], [exact, np.zeros((2, 2))]])
    right = np.concatenate([columns.T @ ((1.0 - transform) * trust), [1.0, slope]])
    weights = np.linalg.solve(system, right)[:len(IMAGE_DEPTHS)]
    return LayerCompliance(
        youngs_modulus / (1.0 - nu ** 2), thickness * IMAGE_DEPTHS, weights,
        youngs_modulus / (2.0 * (1.0 + nu)), nu, thickness)


def _confined_limit() -> float:
    """Return the Poisson's ratio at which the confined modulus reaches its largest ratio."""
    # (1 - nu) = r (1 + nu)(1 - 2 nu), the root between 0 and 0.5.
    r = CONFINED_MODULUS_RATIO
    return float((1.0 - r + np.sqrt((r - 1.0) ** 2 + 8.0 * r * (r - 1.0))) / (4.0 * r))


@njit(cache=True)
def _symmetrise(matrix: Array, rows: IntArray) -> None:
    """Copy what rows ``rows`` have left of the diagonal to above it, tile by tile."""
    for top in range(0, len(rows), TILE):
        for left in range(0, top + 1, TILE):
            for a in range(top, min(top + TILE, len(rows))):
                for b in range(left, min(left + TILE, a)):
                    matrix[rows[b], rows[a]] = matrix[rows[a], rows[b]]


@njit(cache=True, error_model='numpy')
def add_pad(compliance: Array, rows: IntArray, nodes: tuple[Array, Array, Array],
            softening: float, layer: tuple[float, Array, Array], safe: bool) -> None:
    """
    Add a pad's compliance between the nodes ``rows`` that it presses, in place.

    Parameters
    ----------
    compliance : (n, n) float
        [m/N], symmetric.
    rows : (k,) int
        Ascending, at least one.
    nodes : tuple
        Points ``(n, 3)`` [m], unit normals ``(n, 3)`` and areas ``(n,)`` [m^2].
    softening : float
        Of the half-space solution [-].
    layer : tuple
        Modulus [Pa], depths [m] and weights of ``LayerCompliance``.
    safe : bool
        Less exact but always positive definite; see ``image_sharing``.
    """
    points, normals, areas = nodes[0][rows], nodes[1][rows], nodes[2][rows]
    radii = softening_radii(areas, softening)
    sharing = 1.0 if safe else image_sharing(layer[1], layer[2], radii)
    _flatten(points, normals, areas)
    add_layer_compliance(compliance, rows, points, normals, radii, layer, sharing)


@njit(cache=True, error_model='numpy')
def _flatten(points: Array, normals: Array, areas: Array) -> None:
    """Take from points, in place, their part along the mean normal, if there is one."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(areas)):
        x += normals[i, 0] * areas[i]
        y += normals[i, 1] * areas[i]
        z += normals[i, 2] * areas[i]
    length = np.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return
    x, y, z = x / length, y / length, z / length
    for i in range(len(points)):
        along = points[i, 0] * x + points[i, 1] * y + points[i, 2] * z
        points[i, 0] -= along * x
        points[i, 1] -= along * y
        points[i, 2] -= along * z


@njit(cache=True, error_model='numpy')
def add_layer_compliance(compliance: Array, rows: IntArray, plane_points: Array, normals: Array,
                         radii: Array, layer: tuple[float, Array, Array], sharing: float) -> None:
    """
    Add a pad's compliance between nodes projected on its plane, in place.

    Parameters
    ----------
    compliance, rows, layer
        As in ``add_pad``.
    plane_points, normals : (k, 3) float
        The nodes projected on the pad's plane [m], and their unit normals.
    radii : (k,) float
        Softening radii, see ``softening_radii`` [m].
    sharing : float
        Share of a softening radius that also lowers the images [-]; see ``image_sharing``.
    """
    scale = 1.0 / (np.pi * layer[0])
    x, y = plane_points[:, 0].copy(), plane_points[:, 1].copy()
    z = plane_points[:, 2].copy()
    u, v, w = normals[:, 0].copy(), normals[:, 1].copy(), normals[:, 2].copy()
    squares, soft, total = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows))
    for a in range(len(rows)):
        p, q, r = u[a], v[a], w[a]
        for b in range(a + 1):
            squares[b] = (x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2 + (z[a] - z[b]) ** 2
            soft[b] = 0.5 * (radii[a] + radii[b])
        _layer_response(squares[:a + 1], soft[:a + 1], layer, sharing, total[:a + 1])
        line = compliance[rows[a]]
        for b in range(a + 1):
            line[rows[b]] += scale * (p * u[b] + q * v[b] + r * w[b]) * total[b]
    _symmetrise(compliance, rows)


@njit(cache=True, error_model='numpy')
def _layer_response(squares: Array, soft: Array, layer: tuple[float, Array, Array], sharing: float,
                    total: Array) -> None:
    """Set pi times modulus times a layer's compliance at squared distances."""
    _, depths, weights = layer
    for b in range(len(squares)):
        total[b] = 1.0 / np.sqrt(squares[b] + soft[b] * soft[b])
    for m in range(len(depths)):
        depth, weight = depths[m], weights[m]
        for b in range(len(squares)):
            total[b] -= weight / np.sqrt(squares[b] + (sharing * soft[b] + depth) ** 2)


@njit(cache=True, error_model='numpy')
def softening_radii(areas: Array, softening: float) -> Array:
    """Return the length ``(n,)`` that softens the distance of a node to itself [m]."""
    return np.sqrt(2.0 * softening / np.pi * areas)


@njit(cache=True, error_model='numpy')
def image_sharing(depths: Array, weights: Array, radii: Array) -> float:
    """
    Return the share of the softening radii that a layer's images take part in [-].

    0 makes the grid's sum equal to the integral of the layer's influence function. It keeps
    the function positive while the radii stay below the layer's length ``sum w_m z_m``, the
    compliance of a wide load; a coarser grid needs more, and with 1 it always is.
    """
    return max(0.0, 1.0 - SHARING_SAFETY * (weights * depths).sum() / radii.max())
