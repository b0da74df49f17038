"""
Contact with a half-space on a regular grid, by fast Fourier transforms.

An oracle: an independent judge of the nodal solution of ``contact_forces``, also on flat
patches of thousands of cells, where a dense matrix of compliances is too large.
Derivations and limits: docs/model/mechanics.md, "Flat grids".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from gripsim_ros.core.errors import ShapeError, TaskError

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Grids up to this many cells along a side are not coarsened for a first guess.
COARSEST = 24
#: How exactly a coarse grid is solved, over its largest depth.
COARSE_TOLERANCE = 1e-3
#: The linear equations of a set of loaded cells are solved this much more exactly each time.
TIGHTENING = 1e-2
#: Sets of loaded cells tried, and steps of conjugate gradients for one of them, at most.
MAX_SETS, MAX_STEPS = 100, 500
#: Gaps at loaded cells, and overlaps at free ones, over the largest depth.
TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class FlatContact:
    """
    Contact of a half-space on a grid.

    Attributes
    ----------
    pressures : (m, n) float
        On each cell [Pa], not negative.
    displacements : (m, n) float
        Of the surface at the middle of each cell [m].
    cell_area : float
        [m^2].
    converged : bool
        No loaded cell pulls and no free one overlaps.
    """

    pressures: Array
    displacements: Array
    cell_area: float
    converged: bool

    @property
    def force(self) -> float:
        """Return the normal force [N]."""
        return float(self.pressures.sum()) * self.cell_area

    @property
    def area(self) -> float:
        """Return the area under load [m^2]."""
        return int((self.pressures > 0.0).sum()) * self.cell_area


def rectangle_potential(x: Array, y: Array, a: float, b: float) -> Array:
    """
    Return ``pi E* u / p`` of a uniform pressure on a rectangle, at points of its plane.

    Parameters
    ----------
    x, y : (...) float
        From the rectangle's middle [m].
    a, b : float
        Half its sides [m].

    Returns
    -------
    (...) float
        Integral of 1/r over the rectangle [m].

    Notes
    -----
    Source: Love 1929; Johnson, Contact Mechanics 1985, equation (3.25), rewritten with
    asinh so that nothing cancels.
    """
    total = np.zeros(np.broadcast(x, y).shape)
    for s in (-1.0, 1.0):
        for t in (-1.0, 1.0):
            u, v = x + s * a, y + t * b
            total += s * t * (_edge(u, v) + _edge(v, u))
    return total


def _edge(u: Array, v: Array) -> Array:
    """Return ``u asinh(v / |u|)``, 0 where u is."""
    safe = np.where(u == 0.0, 1.0, u)
    return np.where(u == 0.0, 0.0, u * np.arcsinh(v / np.abs(safe)))


def solve_flat_contact(depths: Array, spacing: tuple[float, float], modulus: float,
                       tolerance: float = TOLERANCE) -> FlatContact:
    """
    Return the pressures at which every cell is closed under load or open and free.

    Parameters
    ----------
    depths : (m, n) float
        Overlap at the middle of each cell [m]; negative is a gap.
    spacing : (float, float)
        Sides of a cell [m].
    modulus : float
        E / (1 - nu^2) [Pa].
    tolerance : float
        Largest gap under load or overlap without, over the largest depth.

    Returns
    -------
    FlatContact

    Raises
    ------
    ShapeError
        ``depths`` is not a finite (m, n) array.
    TaskError
        Another number is not above 0 and finite.

    Notes
    -----
    Source: complementarity and influence functions by FFT as in Polonsky & Keer 1999, with Love's
    rectangles. Differs: block pivoting on the set of loaded cells; the equations of a set by
    conjugate gradients, preconditioned by the inverse of the matrix' transform; the first
    guess is the solution on a grid of half as many cells a side.
    """
    depths = np.asarray(depths, float)
    if depths.ndim != 2 or not depths.size or not np.isfinite(depths).all():
        raise ShapeError(f'depths must be a finite (m, n) array, got shape {depths.shape}')
    for name, value in (('spacing', spacing[0]), ('spacing', spacing[1]),
                        ('modulus', modulus), ('tolerance', tolerance)):
        if not 0.0 < value < np.inf:
            raise TaskError(f'{name} must be above 0 and finite, got {value}')
    area = float(spacing[0] * spacing[1])
    if not depths.max() > 0.0:
        return FlatContact(np.zeros_like(depths), np.zeros_like(depths), area, True)
    pressures, moved, converged = _solve(depths, spacing, tolerance * float(depths.max()))
    return FlatContact(np.pi * modulus * pressures, moved, area, converged)


class _InfluenceMatrix:
    """Displacements of all cells under pressures over pi times the modulus."""

    def __init__(self, shape: tuple[int, int], spacing: tuple[float, float]) -> None:
        self.shape = shape
        self.padded = [fft.next_fast_len(2 * count, real=True) for count in shape]
        steps = [fft.fftfreq(count, 1.0 / count) * side
                 for count, side in zip(self.padded, spacing)]
        table = rectangle_potential(steps[0][:, None], steps[1][None], 0.5 * spacing[0],
                                    0.5 * spacing[1])
        self.transform = fft.rfft2(table)
        waves = [2.0 * np.pi * fft.fftfreq(shape[0], spacing[0]),
                 2.0 * np.pi * fft.rfftfreq(shape[1], spacing[1])]
        self.waves = np.hypot(waves[0][:, None], waves[1][None])
        self.waves[0, 0] = min(self.waves[0, 1:].min(initial=np.inf),
                               self.waves[1:, 0].min(initial=np.inf), 1.0 / min(spacing)) / 2.0

    def displacements(self, pressures: Array) -> Array:
        product = fft.rfft2(pressures, self.padded)
        product *= self.transform
        moved: Array = fft.irfft2(product, self.padded)[:self.shape[0], :self.shape[1]]
        return moved

    def sharpened(self, values: Array) -> Array:
        """Return about what the inverse of the influence matrix makes of values."""
        product = fft.rfft2(values)
        product *= self.waves
        sharp: Array = fft.irfft2(product, self.shape)
        return sharp


def _solve(depths: Array, spacing: tuple[float, float], limit: float
           ) -> tuple[Array, Array, bool]:
    pressures = _guess(depths, spacing, limit)
    rows, columns = depths.shape
    influence = _InfluenceMatrix((rows, columns), spacing)
    loaded = pressures > 0.0
    accuracy = float(depths.max()) * TIGHTENING
    for _ in range(MAX_SETS):
        pressures = np.where(loaded, pressures, 0.0)
        pressures, moved, closed = _solve_set(influence, depths, loaded, pressures, accuracy)
        wrong = np.where(loaded, pressures < 0.0, depths - moved > limit)
        number = int(wrong.sum())
        if number == 0 and closed and accuracy <= limit:
            return np.maximum(pressures, 0.0), moved, True
        loaded ^= wrong
        accuracy = max(limit, accuracy * TIGHTENING)
    return np.maximum(pressures, 0.0), moved, False


def _guess(depths: Array, spacing: tuple[float, float], limit: float) -> Array:
    """Return pressures from a grid of half as many cells a side, or none on a coarse one."""
    if min(depths.shape) <= COARSEST:
        return np.where(depths > 0.5 * depths.max(), 1e-300, 0.0)
    pairs = [np.minimum(2 * np.arange((count + 1) // 2)[:, None] + [0, 1], count - 1)
             for count in depths.shape]
    coarse = depths[pairs[0]].mean(axis=1)[:, pairs[1]].mean(axis=2)
    if not coarse.max() > 0.0:
        return np.where(depths > 0.0, 1e-300, 0.0)
    pressures, _, _ = _solve(coarse, (2.0 * spacing[0], 2.0 * spacing[1]),
                             max(limit, COARSE_TOLERANCE * float(coarse.max())))
    return np.repeat(np.repeat(pressures, 2, axis=0), 2, axis=1)[:depths.shape[0],
                                                                 :depths.shape[1]]


def _solve_set(influence: _InfluenceMatrix, depths: Array, loaded: BoolArray, pressures: Array,
               accuracy: float) -> tuple[Array, Array, bool]:
    """Return pressures that close the loaded cells, all displacements, and whether they do."""
    moved = influence.displacements(pressures)
    residual = np.where(loaded, depths - moved, 0.0)
    direction, before = np.zeros_like(depths), 1.0
    for _ in range(MAX_STEPS):
        if np.abs(residual).max() <= accuracy:
            return pressures, moved, True
        sharpened = np.where(loaded, influence.sharpened(residual), 0.0)
        now = float((sharpened * residual).sum())
        direction = sharpened + now / before * direction
        added = influence.displacements(direction)
        step = now / float((direction * added).sum())
        pressures = pressures + step * direction
        moved += step * added
        residual = np.where(loaded, residual - step * added, 0.0)
        before = now
    return pressures, moved, False
