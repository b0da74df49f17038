"""Where a squeezed body comes to rest: Newton's method on its energy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...arrays import Array
from .laws import StrainLaw
from .obstacles import ContactSurface, Obstacle
from .solid import QuadraticSolid

#: Newton steps at most before a step of the obstacles is halved.
MAX_STEPS = 25
#: Unbalanced force over the forces of contact at which a body is at rest [-].
TOLERANCE = 1e-4
#: Slope of the energy at which the search along a step ends, over that at its start [-].
ENOUGH = 0.2
#: Trials of a search along a step at most.
MAX_TRIALS = 8
#: Rise in energy that rounding may bring, over the energy [-].
ROUNDING = 1e-9
#: Iterations of conjugate gradients with old factors, before new factors are made.
MAX_ITERATIONS = 15
#: Residual at which conjugate gradients stop, over the right-hand side [-].
LINEAR_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Pose:
    """Node positions (N, 3) [m] at rest between obstacles, and whether Newton got there."""

    positions: Array
    converged: bool


class Solver:
    """
    Solves linear systems that change little, with factors of an earlier one.

    Notes
    -----
    Own loop of conjugate gradients and not scipy's: it must tell a direction of negative
    curvature, which calls for new factors.
    """

    def __init__(self) -> None:
        self._factors: Callable[[Array], Array] | None = None

    def solve(self, matrix: sparse.csc_matrix, right: Array) -> Array:
        """Return the solution (n,) of a symmetric system."""
        if self._factors is not None:
            solution = _conjugate_gradients(matrix, right, self._factors)
            if solution is not None:
                return solution
        self._factors = splu(matrix, permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0,
                             options={'SymmetricMode': True}).solve
        return self._factors(right)

    def size(self, forces: Array) -> float:
        """Return the size of forces (N, 3) [N]."""
        return float(np.linalg.norm(forces))


class SmoothSolver:
    """
    Solves for motions that are polynomials of the places at rest: none as fine as the elements.

    Parameters
    ----------
    solid : QuadraticSolid
    degree : int
        Of the polynomials, 1 or more.

    Notes
    -----
    A neo-Hookean surface creases where a stretch across it is 2.4 times that along it, from 44 %
    of uniaxial shortening (Hong, Zhao & Suo 2009, Applied Physics Letters 95, 111901); elements
    fold there, as fine as they are, and bear some 10 % less. Real rubbers stiffen before.
    """

    def __init__(self, solid: QuadraticSolid, degree: int) -> None:
        weights = solid.node_volumes / solid.node_volumes.sum()
        offsets = solid.nodes - weights @ solid.nodes
        x = offsets / np.abs(offsets).max(axis=0)
        exponents = np.array([
            (i, j, k) for i in range(degree + 1) for j in range(degree + 1 - i)
            for k in range(degree + 1 - i - j)])
        columns = np.stack([(x ** exponent).prod(axis=1) for exponent in exponents], axis=1)
        roots = np.sqrt(weights)[:, None]
        self._motions = np.kron(np.linalg.qr(roots * columns)[0] / roots, np.eye(3))

    def solve(self, matrix: sparse.csc_matrix, right: Array) -> Array:
        """Return the smooth solution (n,) of a symmetric system."""
        inside = self._motions.T @ (matrix @ self._motions)
        return self._motions @ np.linalg.solve(inside, self._motions.T @ right)

    def size(self, forces: Array) -> float:
        """Return the size of the part of forces (N, 3) that does work on these motions."""
        return float(np.linalg.norm(self._motions.T @ forces.ravel()))


def _conjugate_gradients(matrix: sparse.csc_matrix, right: Array,
                         precondition: Callable[[Array], Array]) -> Array | None:
    """Return the solution, or None where it takes long or the matrix is not positive."""
    solution, residual = np.zeros_like(right), right.copy()
    goal = LINEAR_TOLERANCE * np.linalg.norm(right)
    direction, old = np.zeros_like(right), 1.0
    for _ in range(MAX_ITERATIONS):
        near = precondition(residual)
        product = float(residual @ near)
        if not product > 0.0:
            return None
        direction = near + product / old * direction
        image = matrix @ direction
        curvature = float(direction @ image)
        if not curvature > 0.0:
            return None
        solution += product / curvature * direction
        residual -= product / curvature * image
        if np.linalg.norm(residual) < goal:
            return solution
        old = product
    return None


def find_rest(solid: QuadraticSolid, law: StrainLaw, surface: ContactSurface,
              obstacles: tuple[Obstacle, ...], start: Array, drag: tuple[float, Array],
              solver: Solver | SmoothSolver) -> Pose:
    """
    Return where a body comes to rest between obstacles.

    Parameters
    ----------
    solid, law, surface
        The body.
    obstacles : tuple of Obstacle
        Where they are now.
    start : (N, 3) float
        Node positions to begin with [m].
    drag : (float, (N, 3) float)
        A weak pull of every node towards a place [N/m^4 of the node's volume], which keeps a
        body in its place that nothing holds.
    solver : Solver or SmoothSolver
        With factors of an earlier step, or one of the motions that are looked at alone.
    """
    strength, places = drag
    pull = (strength * solid.node_volumes)[:, None]

    def energy(x: Array) -> float:
        return (solid.energy(law, x) + surface.energy(x, obstacles)
                + 0.5 * float((pull * (x - places) ** 2).sum()))

    def unbalanced(x: Array) -> Array:
        return solid.forces(law, x) + surface.forces(x, obstacles) + pull * (x - places)

    x, now = start, energy(start)
    for _ in range(MAX_STEPS):
        pressing = surface.forces(x, obstacles)
        residual = unbalanced(x)
        if solver.size(residual) <= TOLERANCE * solver.size(pressing) + 1e-300:
            return Pose(x, True)
        blocks = solid.pattern.blocks(solid.stiffness(law, x))
        faces, matrices = surface.stiffness(x, obstacles)
        if len(faces):
            blocks = blocks + solid.pattern.blocks(matrices, faces)
        matrix = solid.pattern.matrix(blocks, pull[:, 0])
        step = -solver.solve(matrix, residual.ravel()).reshape(-1, 3)
        slope = float((step * residual).sum())
        if slope > 0.0:
            step, slope = -step, -slope

        def slope_at(share: float, x: Array = x, step: Array = step) -> float:
            moved = x + share * step
            if not np.isfinite(energy(moved)):
                return np.inf
            return float((step * unbalanced(moved)).sum())

        share = _search(slope_at, slope)
        after = energy(x + share * step)
        if after > now + ROUNDING * abs(now):
            return Pose(x, False)
        x, now = x + share * step, after
    return Pose(x, False)


def _search(slope: Callable[[float], float], first: float) -> float:
    """Return the share of a step, at most 1, after which the energy falls little more."""
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if at_high <= ENOUGH * abs(first):
        return 1.0
    share = 1.0
    for _ in range(MAX_TRIALS):
        weight = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.5
        share = low + (high - low) * min(max(weight, 0.1), 0.9)
        value = slope(share)
        if abs(value) <= ENOUGH * abs(first):
            break
        if value > 0.0:
            high, at_high = share, value
        else:
            low, at_low = share, value
    return share
