"""
What a pad's border does to the force of a contact beside it.

``python -m benchmarks fem_pad_border`` prints the table of docs/validation/finite_elements.md. A
layer of 3 mm is bonded to a rigid base and ends in an upright face (quadratic hexahedra, ν = 0.45,
2 MPa); a cylinder whose axis is across the border, tilted so that it is deepest there, presses it
into an elastic half-space (ν = 0.4) by rectangles of even pressure (Love 1929). The same without a
border is the layer far from it. Lengths are in mm, moduli in MPa.
"""

import numpy as np
from scipy.sparse import triu
from skfem import Basis, BilinearForm, ElementHexS2, ElementVector, FacetBasis, LinearForm, MeshHex
from skfem.helpers import ddot, div, sym_grad

#: The pad: modulus, Poisson's ratio, thickness; way from the border where it is none.
MODULUS, RATIO, THICKNESS, FAR_INSIDE = 2.0, 0.45, 3.0, 8.0
#: Cells of pressure: their size, and how many from the border and along half of it.
CELL, COUNT = 0.5, 12
#: Growth of elements beside them, the largest, and how far the layer goes on.
GROWTH, LARGEST, BEYOND = 1.35, 1.5, 12.0
#: Layers of elements: the first over the cells, their growth, and the largest.
FIRST, DOWNWARDS, DEEPEST = 0.7, 1.3, 0.8
#: Radii, tilts [degrees] and overlaps of what presses; the object's moduli and Poisson's ratio.
RADII, TILTS, DEPTHS = (8.0, 20.0, 54.0), (0.0, 1.0, 3.3, 8.0), (0.1, 0.23, 0.5)
OBJECTS, OBJECT_RATIO = (0.2, 0.5, 1.0, 2.0, 4.0), 0.4
EXCHANGES, NOUGHT = 200, 1e-9
HEAD = '| radius [mm] | tilt [°] | overlap [mm] | ' + ' | '.join(
    f'{one:g} MPa: error [%], share' for one in OBJECTS)


def steps(length: float, first: float, growth: float, largest: float) -> np.ndarray:
    """Return places from 0 to a length, at first some way apart, then more."""
    places, step = [0.0], first
    while places[-1] < length:
        places.append(places[-1] + step)
        step = min(step * growth, largest)
    return np.array(places) * length / places[-1]


def pad(begin: float) -> np.ndarray:
    """Return what cells (n, n) from a way off the border on yield by unit forces [mm/N]."""
    from pypardiso import PyPardisoSolver
    end, cells = begin + COUNT * CELL, CELL * np.arange(COUNT + 1)
    away = steps(BEYOND, CELL, GROWTH, LARGEST)
    before = begin - steps(begin, CELL, GROWTH, LARGEST)[::-1] if begin else np.zeros(1)
    mesh = MeshHex.init_tensor(
        np.unique(np.round(np.concatenate([before, begin + cells, end + away]), 9)),
        np.unique(np.round(np.concatenate([cells, cells[-1] + away]), 9)),
        np.sort(THICKNESS - steps(THICKNESS, FIRST * CELL, DOWNWARDS, DEEPEST)))
    element = ElementVector(ElementHexS2())
    basis = Basis(mesh, element, intorder=4)
    first = MODULUS * RATIO / ((1.0 + RATIO) * (1.0 - 2.0 * RATIO))
    shear = MODULUS / (2.0 * (1.0 + RATIO))

    @BilinearForm
    def stiffness(u, v, _):
        return first * div(u) * div(v) + 2.0 * shear * ddot(sym_grad(u), sym_grad(v))

    @LinearForm
    def pressure(v, _):
        return -v[2] / CELL ** 2

    matrix = stiffness.assemble(basis).tocsc()
    held = np.concatenate([basis.get_dofs(lambda x: np.isclose(x[2], 0.0)).all(),
                           basis.get_dofs(lambda x: np.isclose(x[1], 0.0)).all('u^2')])
    free = np.setdiff1d(np.arange(matrix.shape[0]), held)
    faces = mesh.facets_satisfying(
        lambda x: (np.isclose(x[2], THICKNESS) & (x[0] > begin) & (x[0] < end)
                   & (x[1] < cells[-1])), boundaries_only=True)
    middles = mesh.p[:, mesh.facets[:, faces]].mean(axis=1)
    faces = faces[np.lexsort((middles[0], middles[1]))]
    loads = np.array([pressure.assemble(FacetBasis(mesh, element, facets=np.array([face]),
                                                   intorder=4)) for face in faces]).T[free]
    upper = triu(matrix[free][:, free], format='csr')
    upper.sort_indices()
    solver = PyPardisoSolver(mtype=2)
    solver.factorize(upper)
    found = loads.T @ solver.solve(upper, np.asfortranarray(loads))
    return 0.5 * (found + found.T)


def half_space(x: np.ndarray, y: np.ndarray, modulus: float) -> np.ndarray:
    """Return what cells (n, n) and their mirror images do to the middles of others [mm/N]."""
    def by_cell(across, along):
        total = 0.0
        for u, first in ((across + 0.5 * CELL, 1.0), (across - 0.5 * CELL, -1.0)):
            for v, second in ((along + 0.5 * CELL, 1.0), (along - 0.5 * CELL, -1.0)):
                way = np.hypot(u, v)
                total = total + first * second * (u * np.log(v + way) + v * np.log(u + way))
        return total / (np.pi * modulus * CELL ** 2)
    across = x[:, None] - x
    return by_cell(across, y[:, None] - y) + by_cell(across, y[:, None] + y)


def forces(compliance: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return the forces (n,) of cells [N], not negative, that close overlaps [mm]."""
    loaded = depths > 0.0
    for _ in range(EXCHANGES):
        answer, rows = np.zeros(len(depths)), np.flatnonzero(loaded)
        answer[rows] = np.linalg.solve(compliance[np.ix_(rows, rows)], depths[rows])
        wrong = np.where(loaded, answer < 0.0, compliance @ answer - depths < -NOUGHT)
        if not wrong.any():
            return answer
        loaded ^= wrong
    raise ArithmeticError('the contact does not settle')


def main() -> None:
    """Print by how much the force is too large without the border, and the object's share."""
    bordered, whole = pad(0.0), pad(FAR_INSIDE)
    middles = CELL * (np.arange(COUNT) + 0.5)
    y, x = (part.ravel() for part in np.meshgrid(middles, middles, indexing='ij'))
    print(HEAD + ' |\n' + '|---' * (3 + len(OBJECTS)) + '|')
    for radius in RADII:
        for tilt in TILTS:
            for depth in DEPTHS:
                depths = depth - y ** 2 / (2.0 * radius) - x * np.tan(np.deg2rad(tilt))
                cells = []
                for modulus in OBJECTS:
                    body = half_space(x, y, modulus / (1.0 - OBJECT_RATIO ** 2))
                    told, true = (forces(body + layer, depths) for layer in (whole, bordered))
                    share = (body @ told).max() / depths.max()
                    cells.append(f'{100.0 * (told.sum() / true.sum() - 1.0):+.1f}, {share:.2f}')
                print(f'| {radius:g} | {tilt:g} | {depth:g} | ' + ' | '.join(cells) + ' |')


if __name__ == '__main__':
    main()
