"""
How far small strains tell the wall of a vessel: against finite strains, pad by pad.

``python -m benchmarks strained_walls`` prints the table of docs/validation/soft_bodies.md. Pads
at equal angles press a cup or a bottle by Hertz's pressure on a disc, along their rays. A sector
between two planes of symmetry, quadratic tetrahedra (scikit-fem), neo-Hookean material; the sink
is the mean of the disc's, weighted as its pressure. Told is the force at equal sink.
"""

import argparse

import numpy as np
from scipy.sparse import csr_matrix, triu
from skfem import asm, Basis, BilinearForm, ElementTetP2, ElementVector, FacetBasis, LinearForm
from skfem import MeshTet
from skfem.helpers import grad
from skfem.models.elasticity import lame_parameters

from benchmarks.finite_elements.revolved import Vessel
from benchmarks.finite_elements.soft_bodies import bottle, cup

MODULUS, RATIO = 2e5, 0.4
#: Vessel, its wall [m] and the height of the pads [m].
CASES = {'cup, wall 3 mm': (cup(3e-3, 4e-3), 3e-3, 0.045),
         'cup, wall 1 mm': (cup(1e-3, 1.4e-3), 1e-3, 0.045),
         'bottle, wall 1 mm': (bottle(1e-3), 1e-3, 0.06)}
#: Sinks by small strains that are told, over the wall [-].
SHARES = (0.1, 0.15, 0.25, 0.4)
#: Edge of tetrahedra at the pad and radius of the pressed disc [m].
EDGE, DISC = 1e-3, 1.5e-3
#: Newton's steps at most, and what is left of the load where they end [-].
STEPS, SETTLED = 25, 1e-7
HEAD = ('| body | pads | force [mN] | sink by small strains [mm] | by finite strains [mm] | '
        'over the wall | force at equal sink, small over finite strains [%] |\n' + '|---' * 7
        + '|')


@BilinearForm
def _tangent(u, v, w):
    """Return the change of a neo-Hookean body's stress power, W below."""
    back = w.inverse.swapaxes(0, 1)
    turned = np.einsum('ij...,kj...,kl...->il...', back, grad(u), back)
    spread = np.einsum('ji...,ij...->...', w.inverse, grad(u))
    change = (w.shear * grad(u) + (w.shear - w.first * w.growth) * turned
              + w.first * spread * back)
    return np.einsum('ij...,ij...', change, grad(v))


@LinearForm
def _power(v, w):
    return np.einsum('ij...,ij...', w.stress, grad(v))


@LinearForm
def _pressing(v, w):
    return -w.pressure * v[0]


class Sector:
    """
    One half of what a pad presses of a vessel, free to slide on both planes of symmetry.

    W = mu (tr(F' F) - 3) / 2 - mu ln J + lambda (ln J)^2 / 2; one node of the axis is held in
    height. ``compliance`` is the pad's sink by its force at small strains [m/N].
    """

    def __init__(self, vessel: Vessel, height: float, pads: int, edge: float = EDGE,
                 layers: int = 1):
        """Mesh, spread the load, and solve at small strains."""
        corners, tetrahedra = vessel.sector(height, edge, np.pi / pads, layers)
        mesh = MeshTet(np.ascontiguousarray(corners.T), np.ascontiguousarray(tetrahedra.T))
        self._basis = Basis(mesh, ElementVector(ElementTetP2()), intorder=3)
        self._shear, self._first = lame_parameters(MODULUS, RATIO)[::-1]
        self._hold(np.pi / pads)
        self._load = self._loads(mesh, vessel.outer[:, 0].max(), height)
        stiffness = self._state(np.zeros(self._basis.N))[1]
        self.compliance = 2.0 * float(self._load @ self._solve(stiffness, self._load))

    def _hold(self, span):
        """Set the turn from motions that are free to displacements."""
        basis = self._basis
        dofs = np.array([np.concatenate([basis.nodal_dofs[k], basis.edge_dofs[k]])
                         for k in range(3)])
        x, y, z = basis.doflocs[:, dofs[0]]
        axis = np.hypot(x, y) < 1e-9
        far = ~axis & (np.abs(np.arctan2(y, x) - span) < 1e-9)
        along, across = dofs[0][far], dofs[1][far]
        turn = csr_matrix((np.concatenate([
            np.ones(basis.N), np.full(len(along), np.cos(span) - 1.0),
            np.full(len(along), -np.sin(span)), np.full(len(along), np.sin(span)),
            np.full(len(along), np.cos(span) - 1.0)]), (
                np.concatenate([np.arange(basis.N), along, along, across, across]),
                np.concatenate([np.arange(basis.N), along, across, along, across]))),
            shape=(basis.N, basis.N))
        held = np.concatenate([dofs[:2, axis].ravel(), across,
                               dofs[1][~axis & (np.abs(y) < 1e-12)],
                               dofs[2][axis][[np.argmin(z[axis])]]])
        self._turn = turn[:, np.setdiff1d(np.arange(basis.N), held)]

    def _loads(self, mesh, radius, height):
        """Return the loads of a pad of 1 N: one half is on the sector."""
        faces = mesh.boundary_facets()
        middles = mesh.p[:, mesh.facets[:, faces]].mean(axis=1)
        outside = np.hypot(*middles[:2]) > radius - 0.1 * DISC
        near = np.abs(middles[1:] - [[0.0], [height]]).max(axis=0) < 2.0 * DISC + EDGE
        basis = FacetBasis(mesh, ElementVector(ElementTetP2()), intorder=6,
                           facets=faces[outside & near & (middles[0] > 0.0)])
        _, y, z = np.array(basis.global_coordinates())
        pressure = np.sqrt(np.maximum(1.0 - (y ** 2 + (z - height) ** 2) / DISC ** 2, 0.0))
        return asm(_pressing, basis, pressure=0.5 * pressure / (pressure * basis.dx).sum())

    def _state(self, moves):
        """Return inner forces (N,) and their stiffness at displacements (N,)."""
        gradient = np.array(self._basis.interpolate(moves).grad)
        strain = (gradient + np.eye(3)[:, :, None, None]).transpose(2, 3, 0, 1)
        inverse = np.linalg.inv(strain).transpose(2, 3, 0, 1)
        growth, back = np.log(np.linalg.det(strain)), inverse.swapaxes(0, 1)
        stress = (self._shear * (strain.transpose(2, 3, 0, 1) - back)
                  + self._first * growth * back)
        return (asm(_power, self._basis, stress=stress),
                asm(_tangent, self._basis, inverse=inverse, growth=growth, shear=self._shear,
                    first=self._first))

    def _solve(self, stiffness, forces):
        from pypardiso import PyPardisoSolver
        matrix = triu(self._turn.T @ stiffness @ self._turn, format='csr')
        matrix.sort_indices()
        solver = PyPardisoSolver(mtype=-2)
        solver.factorize(matrix)
        found = self._turn @ solver.solve(matrix, self._turn.T @ forces)
        solver.free_memory(everything=True)
        return found

    def sinks(self, forces) -> list[float]:
        """Return sinks of the pad by growing forces [N] at finite strains [m]."""
        moves, answer = np.zeros(self._basis.N), []
        for force in forces:
            for _ in range(STEPS):
                inner, stiffness = self._state(moves)
                left = self._turn.T @ (force * self._load - inner)
                if np.linalg.norm(left) < SETTLED * force * np.linalg.norm(self._load):
                    break
                moves = moves + self._solve(stiffness, force * self._load - inner)
            else:
                raise ArithmeticError('the finite strains do not settle')
            answer.append(2.0 * float(self._load @ moves))
        return answer


def rows_of(name: str, pads: int, shares, layers: int):
    """Yield the rows of a vessel between some pads."""
    vessel, wall, height = CASES[name]
    sector = Sector(vessel, height, pads, layers=layers)
    small = [share * wall for share in shares]
    for linear, finite in zip(small, sector.sinks([sink / sector.compliance for sink in small])):
        yield (f'| {name} | {pads} | {1e3 * linear / sector.compliance:.3g} | {1e3 * linear:.2f} '
               f'| {1e3 * finite:.3f} | {finite / wall:.2f} '
               f'| {100 * (finite / linear - 1):+.1f} |')


def main() -> None:
    """Print the table, of the vessels named or all."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('bodies', nargs='*', help=f'of {", ".join(CASES)}')
    parser.add_argument('--pads', type=int, nargs='+', default=[3, 2])
    parser.add_argument('--shares', type=float, nargs='+', default=SHARES)
    parser.add_argument('--layers', type=int, default=1, help='of tetrahedra through the wall')
    arguments = parser.parse_args()
    print(HEAD)
    for name in arguments.bodies or CASES:
        for pads in arguments.pads:
            for line in rows_of(name, pads, arguments.shares, arguments.layers):
                print(line, flush=True)


if __name__ == '__main__':
    main()
