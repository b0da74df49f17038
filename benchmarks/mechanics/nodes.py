"""The nodal contact problem: growth with nodes, beside other ways to solve it."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls

from gripsim_ros.core.mechanics.contact import half_space
from gripsim_ros.core.mechanics.contact.bonded_layer import fit_layer
from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from gripsim_ros.core.mechanics.contact.half_space import GRID_SOFTENING
from gripsim_ros.core.numerics import complementarity

from .cases import evenly, interleaved, pressed_ball

MODULUS = 5.5e5
#: Closed gaps of all iterative ways, over the largest depth.
ACCURACY = 1e-10
#: Non-negative least squares takes too long beyond this many candidates.
MOST_FOR_LEAST_SQUARES = 500


def polonsky_keer(compliance, depths, start):
    """Return forces by the conjugate gradients of Polonsky & Keer 1999, depths given."""
    forces = np.where(start, 1.0 / compliance.sum(axis=1).mean() * depths, 0.0)
    direction, before, kept = np.zeros_like(depths), 1.0, 0.0
    limit = ACCURACY * np.abs(depths).max()
    for _ in range(2000):
        gap = compliance @ forces - depths
        loaded = forces > 0.0
        if max(np.abs(gap[loaded]).max(), -gap.min()) < limit:
            break
        now = float((gap[loaded] ** 2).sum())
        direction = np.where(loaded, gap + kept * now / before * direction, 0.0)
        before = now
        added = compliance @ direction
        step = float(gap[loaded] @ direction[loaded]) / float(added[loaded] @ direction[loaded])
        forces = np.maximum(np.where(loaded, forces - step * direction, forces), 0.0)
        wrong = (forces == 0.0) & (gap < 0.0)
        kept = 0.0 if wrong.any() else 1.0
        forces[wrong] -= step * gap[wrong]
    return forces


def by_lapack(compliance, depths, start):
    """Return forces by block pivoting, each set factorised afresh by LAPACK."""
    active = start.copy()
    while True:
        rows = np.flatnonzero(active)
        forces = np.zeros(len(depths))
        forces[rows] = cho_solve(cho_factor(compliance[np.ix_(rows, rows)], check_finite=False),
                                 depths[rows], check_finite=False)
        wrong = np.where(active, forces <= 0.0,
                         compliance @ forces - depths < -ACCURACY * depths.max())
        if not wrong.any():
            return forces
        active ^= wrong


def by_least_squares(compliance, depths, _):
    """Return forces by Lawson & Hanson's non-negative least squares."""
    lower = np.linalg.cholesky(compliance)
    return nnls(lower.T, np.linalg.solve(lower, depths))[0]


def ways(nodes):
    """Return, for one system of nodes, each way to solve it, and the size of the system."""
    compliance = half_space.half_space_rows(np.arange(len(nodes.points)), nodes.points,
                                            nodes.normals, nodes.areas, MODULUS, GRID_SOFTENING)
    start = nodes.depths > 0.5 * nodes.depths.max()
    order = np.argsort(-nodes.depths, kind='stable')

    def own(first):
        return complementarity.solve_complementarity(compliance, nodes.depths, first, order)[0]

    exact = own(start)
    found = {'block pivoting, factor kept': lambda: own(start),
             'the same, started at the answer': lambda: own(exact > 0.0),
             'block pivoting, LAPACK': lambda: by_lapack(compliance, nodes.depths, start),
             'Polonsky & Keer, dense': lambda: polonsky_keer(compliance, nodes.depths, start)}
    if len(nodes.depths) <= MOST_FOR_LEAST_SQUARES:
        found['least squares'] = lambda: by_least_squares(compliance, nodes.depths, start)
    for way in found.values():
        assert np.abs(way() - exact).max() < 1e-6 * exact.max()
    return found, int((exact > 0.0).sum())


def growth(counts):
    """Print and return the time of the whole solution and of each way, by candidates."""
    pad = fit_layer(2e6, 0.45, 3e-3)
    rows = []
    print('\nThree patches on a ball, one thread, interleaved, median ms\n')
    for count in counts:
        nodes = pressed_ball(0.04, 0.01, 1e-3, evenly(3), count / 6.5)
        pads = {link: pad for link in range(3)}
        found, loaded = ways(nodes)
        found = {'whole, rigid': lambda: solve_contact_forces(nodes, MODULUS, {}),
                 'whole, elastic pads': lambda: solve_contact_forces(nodes, MODULUS, pads),
                 **found}
        times = dict(zip(found, interleaved(list(found.values()))))
        rows.append((len(nodes.depths), loaded, times))
        print(f'{len(nodes.depths)} candidates, {loaded} loaded')
        for name, value in times.items():
            print(f'    {name:34} {value:9.3f}   '
                  f'x {value / times["block pivoting, factor kept"]:.2f}')
    return rows
