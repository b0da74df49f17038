"""
Bodies of revolution by finite elements and a Fourier series round the axis.

Displacements ``(u_r cos m t, u_t sin m t, u_z cos m t)`` for each harmonic m, quadratic
triangles in the meridional section (Wilson, Structural analysis of axisymmetric solids,
AIAA Journal 3, 1965). Nothing here uses the product's kernels.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import splu
from skfem import (Basis, BilinearForm, ElementTriP2, ElementVector, FacetBasis, MeshTri)

#: Harmonics solved for; between them the compliances are interpolated, beyond them they are 0.
HARMONICS = np.array([0, 2, 3, 4, 6, 8, 9, 10, 12, 14, 16, 18, 21, 24, 28, 33, 39, 46, 55, 66,
                      80, 98, 120, 150, 190, 240, 310, 400, 520, 700, 1000,
                      1400])
#: Nodes nearer to the axis than this share of the section's width lie on it.
ON_AXIS = 1e-9


@BilinearForm
def _volumetric(u, v, w):
    """Return the integrand of lambda: product of the dilatations times r."""
    return _dilatation(u, w) * _dilatation(v, w) * w.x[0]


@BilinearForm
def _shear(u, v, w):
    """Return the integrand of mu: twice the product of the strains times r."""
    a, b = _strains(u, w), _strains(v, w)
    direct = sum(p * q for p, q in zip(a[:3], b[:3]))
    sliding = sum(p * q for p, q in zip(a[3:], b[3:]))
    return (2.0 * direct + sliding) * w.x[0]


@BilinearForm
def _mass(u, v, w):
    return (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) * w.x[0]


def _strains(u, w):
    """Return e_rr, e_tt, e_zz and the engineering shears of rz, rt, tz of one harmonic."""
    r, m, g = w.x[0], w.harmonic, u.grad
    return (g[0, 0], (u[0] + m * u[1]) / r, g[2, 1], g[0, 1] + g[2, 0],
            g[1, 0] - (u[1] + m * u[0]) / r, g[1, 1] - m * u[2] / r)


def _dilatation(u, w):
    e = _strains(u, w)
    return e[0] + e[1] + e[2]


@dataclass(frozen=True, eq=False)
class Section:
    """
    A triangulated half section of a body of revolution, r >= 0.

    ``points (n, 2)`` are r and z [m], ``triangles (t, 3)``; ``line (s,)`` numbers the
    vertices of the surface on which pads may press, one after the other; ``breaks`` are the
    places in it where another line begins.
    """

    points: np.ndarray
    triangles: np.ndarray
    line: np.ndarray
    breaks: tuple = ()

    @property
    def line_points(self) -> np.ndarray:
        """Return r and z ``(s, 2)`` of the vertices under pads [m]."""
        return self.points[self.line]

    @property
    def line_normals(self) -> np.ndarray:
        """Return the inward unit normals ``(s, 2)`` at them, along z on the axis."""
        sides = self.sides
        along = np.diff(self.line_points[sides], axis=1)[:, 0]
        middle = self.points[self.triangles].mean(axis=(0, 1))
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        lengths = np.linalg.norm(across, axis=1, keepdims=True)
        turn = np.sign(((middle - self.line_points[sides[:, 0]]) * across).sum(axis=1))
        sums = np.zeros((len(self.line), 2))
        for end in (0, 1):
            # Short sides weigh more, so that circles get their own normals.
            np.add.at(sums, sides[:, end], across * turn[:, None] / lengths ** 2)
        sums[self.line_points[:, 0] == 0.0, 0] = 0.0
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    @property
    def sides(self) -> np.ndarray:
        """Return the pairs ``(q, 2)`` of places on the line that an edge joins."""
        first = np.setdiff1d(np.arange(len(self.line) - 1), np.array(self.breaks, int) - 1)
        return np.stack([first, first + 1], axis=1)


@dataclass(eq=False)
class HarmonicBody:
    """
    Surface compliances of a section's line, harmonic by harmonic, at E = 1 Pa.

    The body floats: loads that do not balance are balanced by accelerations, and
    displacements are those without mean (inertia relief).
    """

    section: Section
    poisson_ratio: float
    harmonics: np.ndarray = field(default_factory=lambda: HARMONICS)

    def __post_init__(self):
        """Assemble what no harmonic changes."""
        points, triangles = self.section.points, self.section.triangles
        self.basis = Basis(MeshTri(points.T.copy(), triangles.T.copy()),
                           ElementVector(ElementTriP2(), 3), intorder=5)
        nu = self.poisson_ratio
        lame, mu = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)
        parts = [lame * _volumetric.assemble(self.basis, harmonic=m)
                 + mu * _shear.assemble(self.basis, harmonic=m) for m in (0.0, 1.0, -1.0)]
        self.constant = parts[0]
        self.linear = 0.5 * (parts[1] - parts[2])
        self.square = 0.5 * (parts[1] + parts[2]) - parts[0]
        self.mass = _mass.assemble(self.basis)
        self.loads = self._line_loads()
        self.weights = self.loads[0].sum(axis=0)
        self.cache = {}

    def _line_loads(self):
        """Return load vectors ``(3, dofs, s)`` of unit hats of traction on the line, times r."""
        mesh, line, sides = self.basis.mesh, self.section.line, self.section.sides
        known = {tuple(sorted(pair)): k for k, pair in enumerate(mesh.facets.T.tolist())}
        facets = np.array([known[tuple(sorted(pair))] for pair in line[sides].tolist()])
        edge = FacetBasis(mesh, self.basis.elem, facets=facets, intorder=5)
        x = edge.global_coordinates()
        ends = self.section.points[line[sides]]
        along = ends[:, 1] - ends[:, 0]
        share = np.einsum('fk,kfq->fq', along / (along ** 2).sum(axis=1)[:, None],
                          x - ends[:, 0].T[:, :, None])
        loads = np.zeros((3, self.basis.N, len(line)))
        for end in (0, 1):
            hats = (share if end else 1.0 - share) * x[0] * edge.dx
            for local, (shape,) in enumerate(edge.basis):
                for k in range(3):
                    np.add.at(loads[k], (edge.element_dofs[local], sides[:, end]),
                              (hats * shape[k]).sum(axis=1))
        return loads

    def compliance(self, harmonic: int) -> np.ndarray:
        """
        Return displacements ``(3, s, 3, s)`` [m] of a harmonic.

        Entry (a, i, b, j): mean displacement along a under hat i when a traction in the
        shape of hat j along b has unit integral of traction times r [N].
        """
        if harmonic not in self.cache:
            self.cache[harmonic] = self._solve(harmonic)
        return self.cache[harmonic]

    def _solve(self, m):
        matrix = (self.constant + m * self.linear + m * m * self.square).tocsc()
        fixed = np.concatenate([self._axis_dofs(m), self._pins(m)])
        right = np.concatenate(list(self.loads), axis=1)
        right[self._axis_dofs(m)] = 0.0
        rigid = self._rigid(m)
        momentum = self.mass @ rigid
        moves, inertial = _condensed(matrix, right, fixed, momentum)
        if rigid.shape[1]:
            # Accelerations balance the loads; their parts at the pins cancel.
            inertia = rigid.T @ momentum
            share = np.linalg.solve(inertia, rigid.T @ right)
            mean = inertial.T @ right - momentum.T @ inertial @ share
            moves -= inertial @ share + rigid @ np.linalg.solve(inertia, mean)
        count = len(self.section.line)
        answer = np.einsum('adi,db->aib', self.loads, moves).reshape(3, count, 3, count)
        return answer / self.weights[None, :, None, None] / self.weights

    def _dofs(self, component):
        """Return all degrees of freedom of a component, nodes in order."""
        return np.sort(np.concatenate([self.basis.nodal_dofs[component],
                                       self.basis.facet_dofs[component]]))

    def _axis_dofs(self, m):
        width = self.section.points[:, 0].max()
        on_axis = self.basis.doflocs[0] < ON_AXIS * width
        which = {0: (0, 1), 1: (2,)}.get(m, (0, 1, 2))
        dofs = [d[on_axis[d]] for d in map(self._dofs, which)]
        if m == 0:
            # Without twist, u_t is apart from the rest.
            dofs.append(self._dofs(1))
        return np.unique(np.concatenate(dofs))

    def _rigid(self, m):
        """Return rigid motions ``(dofs, k)`` of a harmonic."""
        if m > 1:
            return np.zeros((self.basis.N, 0))
        z = self.basis.doflocs[1] - self.basis.doflocs[1].mean()
        r = self.basis.doflocs[0]
        modes = np.zeros((self.basis.N, 1 + m))
        if m == 0:
            modes[self._dofs(2), 0] = 1.0
            return modes
        modes[self._dofs(0), 0], modes[self._dofs(1), 0] = 1.0, -1.0
        modes[self._dofs(0), 1], modes[self._dofs(1), 1] = z[self._dofs(0)], -z[self._dofs(1)]
        modes[self._dofs(2), 1] = -r[self._dofs(2)]
        return modes

    def _pins(self, m):
        """Return degrees of freedom whose fixing takes the rigid motions away."""
        if m > 1:
            return np.zeros(0, int)
        x = self.basis.doflocs
        up = self._dofs(2)
        if m == 0:
            return up[[int(np.argmax(x[0, up] - 1e-6 * x[1, up]))]]
        out = self._dofs(0)
        return np.array([out[int(np.argmax(x[1, out]))], out[int(np.argmin(x[1, out]))]])

    def interpolated(self, orders: np.ndarray) -> np.ndarray:
        """Return compliances ``(k, 3, s, 3, s)`` of any harmonics up to the last solved."""
        known = self.harmonics
        answer = np.empty((len(orders), *self.compliance(int(known[0])).shape))
        for row, m in enumerate(orders):
            right = int(np.searchsorted(known, m))
            if known[right] == m:
                answer[row] = self.compliance(int(m))
                continue
            answer[row] = self._between(right, m)
        return answer

    def _between(self, right, m):
        """Interpolate m times the compliance as a cubic of log m through four neighbours."""
        first = min(max(right - 2, 1), len(self.harmonics) - 4)
        near = self.harmonics[first:first + 4]
        x, at = np.log(near), np.log(m)
        total = 0.0
        for k in range(4):
            others = np.delete(np.arange(4), k)
            weight = np.prod((at - x[others]) / (x[k] - x[others]))
            total = total + weight * near[k] * self.compliance(int(near[k]))
        return total / m


def _condensed(matrix, right, fixed, others):
    """
    Return displacements at the loaded degrees of freedom, and all those of ``others``.

    The loaded come last in the elimination, so that only the last block of the factors is
    used; elsewhere the first answer is 0.
    """
    loaded = np.setdiff1d(np.flatnonzero(np.abs(right).max(axis=1) > 0.0), fixed)
    inner = np.setdiff1d(np.arange(len(right)), np.concatenate([loaded, fixed]))
    order = np.concatenate([inner[_elimination_order(matrix[inner][:, inner])], loaded])
    factor = splu(matrix[order][:, order].tocsc(), permc_spec='NATURAL', diag_pivot_thresh=0.0,
                  options={'SymmetricMode': True})
    if not (factor.perm_r == np.arange(len(order))).all():
        raise ArithmeticError('the stiffness is not positive definite')
    last = len(inner)
    lower = factor.L.tocsc()[:, last:][last:].toarray()
    upper = factor.U.tocsc()[:, last:][last:].toarray()
    moves, answers = np.zeros_like(right), np.zeros_like(others)
    moves[loaded] = solve_triangular(upper, solve_triangular(
        lower, right[loaded], lower=True, unit_diagonal=True))
    if others.shape[1]:
        answers[order] = factor.solve(others[order])
    return moves, answers


def _elimination_order(matrix):
    """Return an order of elimination with little fill."""
    factor = splu(matrix.tocsc(), permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0,
                  options={'SymmetricMode': True})
    return np.argsort(factor.perm_c)
