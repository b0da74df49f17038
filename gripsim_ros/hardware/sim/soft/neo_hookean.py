"""The neo-Hookean law for MuJoCo's tetrahedra, whose own law softens as they are compressed."""

import numpy as np
from numpy.typing import NDArray

from ..options import SimulationError

Array = NDArray[np.float64]

#: Edges of a tetrahedron by its corners, in MuJoCo's order.
EDGES = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [0, 3], [1, 3]])
#: Entries of a symmetric 3 x 3 matrix in the order of Voigt, and how often each stands in it.
ROWS, COLUMNS = np.array([[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]])
TIMES = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
#: Entries of a metric (6, 6) that MuJoCo keeps.
UPPER = np.triu_indices(6)
#: Least square of a stretch for which the law is asked; beyond, stresses grow with strains.
LEAST_SQUARE = 0.16
#: Least work of the law's tensions on elongations over that of small strain's.
LEAST_WORK = 0.05
#: Elastic energy over shear modulus and volume below which a tetrahedron counts as undeformed.
UNDEFORMED = 1e-10
#: By how much MuJoCo's own metric may differ from that of the same law, over its largest entry.
SAME = 1e-6


class NeoHookean:
    """
    Tetrahedra of a MuJoCo flex that bear what a neo-Hookean body does.

    MuJoCo's are of Saint Venant and Kirchhoff: of a tetrahedron with elongations ``e`` (squared
    lengths of edges less those at rest) and a metric ``M`` the energy is ``e M e / 4``, and
    ``M e`` are the tensions of edges. Compressed along one axis to 0.58 of its length it bears
    the most that it ever does, 0.19 of the modulus. Before each step each metric is changed by
    the least that takes the elongations of now to the tensions of a neo-Hookean body and stays
    positive definite (the update of Broyden, Fletcher, Goldfarb and Shanno). So forces are
    exact where nodes are, and the stiffness of MuJoCo's implicit step grows as the body's does.

    Parameters
    ----------
    model : mujoco.MjModel
        With one flex of dimension 3, each of whose nodes has three slides along the world's axes.
    modulus, poisson_ratio : float
        As the flex was told [Pa], [-].

    Raises
    ------
    SimulationError
        This MuJoCo lays out metrics otherwise than this class does.

    Notes
    -----
    Source: the law, ``core.mechanics.finite_strain.laws.StrainLaw`` without coefficients; the
    update, Nocedal & Wright, Numerical Optimization, 2006, equation 6.19.
    """

    def __init__(self, model, modulus: float, poisson_ratio: float) -> None:
        self._shear = 0.5 * modulus / (1.0 + poisson_ratio)
        self._lame = 2.0 * self._shear * poisson_ratio / (1.0 - 2.0 * poisson_ratio)
        bodies = model.flex_vertbodyid
        self._begin = model.body_pos[bodies].copy()
        joints = model.jnt_qposadr[model.body_jntadr[bodies]]
        self._places = joints[:, None] + np.arange(3)
        self._corners = model.flex_elem.reshape(-1, 4).copy()
        points = self._begin[self._corners]
        edges = points[:, EDGES[:, 0]] - points[:, EDGES[:, 1]]
        self._squares = (edges**2).sum(axis=2)
        self._volumes = abs(np.linalg.det(points[:, 1:] - points[:, :1])) / 6.0
        #: What the elongation of each edge adds to the right Cauchy-Green tensor (T, 6, 6).
        self._strains = np.linalg.inv(edges[:, :, ROWS] * edges[:, :, COLUMNS] * TIMES)
        self._at_rest = self._rest_metrics()
        self._upper_at_rest = self._at_rest[:, UPPER[0], UPPER[1]]
        self._metrics = model.flex_stiffness.reshape(len(points), -1)[:, :len(UPPER[0])]
        if abs(self._metrics - self._upper_at_rest).max() > SAME * abs(self._at_rest).max():
            raise SimulationError('this version of MuJoCo keeps the stiffness of tetrahedra in '
                                  'another form than 4.0: install mujoco-core of 4.0')

    def _rest_metrics(self) -> Array:
        """Return the metrics (T, 6, 6) of small strains [N/m^3]."""
        strains = np.swapaxes(self._strains, 1, 2)      # (T, edge, entry)
        products = (strains * TIMES) @ np.swapaxes(strains, 1, 2)
        traces = strains[:, :, :3].sum(axis=2)
        return self._volumes[:, None, None] * (
            self._shear * products + 0.5 * self._lame * traces[:, :, None] * traces[:, None])

    def follow(self, data) -> None:
        """Take the nodes' places of a ``mujoco.MjData``, before its step begins."""
        points = (self._begin + data.qpos[self._places])[self._corners]
        edges = points[:, EDGES[:, 0]] - points[:, EDGES[:, 1]]
        elongations = (edges * edges).sum(axis=2) - self._squares
        changes = (self._strains @ elongations[:, :, None])[:, :, 0]
        shares = _shares(changes)
        changes *= shares[:, None]
        elongations *= shares[:, None]
        tensions = self._volumes[:, None] * (
            (self._stresses(changes) * TIMES)[:, None] @ self._strains)[:, 0]
        linear = (self._at_rest @ elongations[:, :, None])[:, :, 0]
        energies = (linear * elongations).sum(axis=1)
        works = (tensions * elongations).sum(axis=1)
        moved = energies > UNDEFORMED * self._shear * self._volumes
        wild = np.flatnonzero(moved & (works < LEAST_WORK * energies))
        if len(wild):
            works[wild] = _tame(tensions, linear, works, energies, wild)
        linear *= _inverse_roots(energies, moved)
        tensions *= _inverse_roots(works, moved)
        rows, columns = UPPER
        self._metrics[:] = self._upper_at_rest + (
            tensions.T[rows] * tensions.T[columns] - linear.T[rows] * linear.T[columns]).T

    def _stresses(self, changes: Array) -> Array:
        """Return second Piola-Kirchhoff stresses (T, 6) of C - I in the order of Voigt [Pa]."""
        xx, yy, zz, yz, xz, xy = (changes + (TIMES < 2.0)).T
        minors = np.stack([yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                           xy * xz - xx * yz, xy * yz - yy * xz, xz * yz - zz * xy], axis=1)
        squares = xx * minors[:, 0] + xy * minors[:, 5] + xz * minors[:, 4]     # of volumes
        share = (0.5 * self._lame * (squares - 1.0) - self._shear) / squares
        return share[:, None] * minors + self._shear * (TIMES < 2.0)


def _shares(changes: Array) -> Array:
    """Return the share (T,) of C - I for which the law is asked, 1 but where much is squeezed."""
    middles = changes[:, :3].mean(axis=1)
    rest = changes.copy()
    rest[:, :3] -= middles[:, None]
    lengths = np.sqrt((rest * rest * TIMES).sum(axis=1) * (2.0 / 3.0))
    shares = np.ones(len(changes))
    rows = np.flatnonzero(1.0 + middles - lengths < LEAST_SQUARE)     # none has a smaller one
    if len(rows):
        matrices = changes[rows][:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]]
        least = np.linalg.eigvalsh(matrices)[:, 0]
        shares[rows] = np.minimum(1.0, (LEAST_SQUARE - 1.0) / np.minimum(least, -1e-12))
    return shares


def _tame(tensions: Array, linear: Array, works: Array, energies: Array,
          rows: NDArray[np.intp]) -> Array:
    """
    Mix into some rows of tensions (T, 6) so much of small strain's that they do enough work.

    Source: Powell's damping, Nocedal & Wright, Numerical Optimization, 2006, procedure 18.2.
    """
    wanted = LEAST_WORK * energies[rows]
    shares = (wanted - works[rows]) / (energies[rows] - works[rows])
    tensions[rows] += shares[:, None] * (linear[rows] - tensions[rows])
    return wanted


def _inverse_roots(values: Array, counted: NDArray[np.bool_]) -> Array:
    """Return one over the roots of values (T, 1), 0 where they do not count."""
    return np.divide(1.0, np.sqrt(np.where(counted, values, 1.0)), where=counted,
                     out=np.zeros(len(values)))[:, None]
