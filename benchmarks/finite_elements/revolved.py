"""
Tetrahedra of open vessels of revolution, graded towards the places where links press.

A vessel is two lines in the half plane, of its outer and of its inner face from the axis to the
rim, corner against corner. Cells lie between them in even layers; rings are close by each place
in height, columns by each in angle. Prisms about the axis are divided as by the least number of
their corners, so that neighbours share their diagonals.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gripsim_ros.hardware.sim.solids import tetrahedron_volumes

#: Longest side of a cell far from all places [m].
COARSE = 6e-3
#: Tetrahedra of a prism whose least corner is the first of its first end, by which diagonal the
#: side opposite has (Dompierre et al., How to subdivide pyramids, prisms and hexahedra, 1999).
SPLITS = {True: [[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]],
          False: [[0, 1, 2, 4], [0, 4, 2, 5], [0, 4, 5, 3]]}
#: Corners of a prism, each of them first.
TURNS = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], [2, 0, 1, 5, 3, 4],
                  [3, 5, 4, 0, 2, 1], [4, 3, 5, 1, 0, 2], [5, 4, 3, 2, 1, 0]])


@dataclass(frozen=True, eq=False)
class Vessel:
    """
    Outer and inner face ``(k, 2)``: distance from the axis and height [m], from the axis on.

    ``fill(places, edge, layers, grading)`` returns corners ``(n, 3)`` and tetrahedra ``(t, 4)``
    that are ``edge`` [m] long at places ``(p, 3)`` and longer by a share of the distance.
    """

    outer: np.ndarray
    inner: np.ndarray

    def fill(self, places, edge: float, layers: int = 2, grading: float = 0.5):
        """Return corners and tetrahedra, whose edges keep to ``COARSE`` far away."""
        places = np.asarray(places)
        flat = np.stack([np.hypot(places[:, 0], places[:, 1]), places[:, 2]], axis=1)
        section, triangles = self._section(flat, edge, layers, grading)
        angles = _round(places[:, :2] / flat[:, :1], edge / flat[:, 0].max(),
                        COARSE / self.outer[:, 0].max(), grading)
        return _revolved(section, triangles, angles, True)

    def sector(self, height: float, edge: float, span: float, layers: int = 1,
               grading: float = 0.7):
        """Return the same from the half plane y = 0, where it is pressed, to an angle [rad]."""
        radius = np.interp(height, self.outer[:, 1], self.outer[:, 0])
        section, triangles = self._section(np.array([[radius, height]]), edge, layers, grading)
        fine = np.linspace(0.0, span, 20001)
        angles = _even(fine, 1.0 / np.clip(grading * fine, edge / radius,
                                           COARSE / self.outer[:, 0].max()))
        return _revolved(section, triangles, angles, False)

    def _section(self, flat, edge, layers, grading):
        """Return points (n, 2) and triangles (t, 3) between both lines."""
        shares = np.linspace(0.0, 1.0, layers + 1)[:, None]
        rows = [(1.0 - shares) * self.outer[0] + shares * self.inner[0]]
        for k in range(len(self.outer) - 1):
            (a, b), (c, d) = self.outer[k:k + 2], self.inner[k:k + 2]
            for along in _along(a, b, flat, edge, grading)[1:]:
                rows.append((1.0 - shares) * (a + along * (b - a))
                            + shares * (c + along * (d - c)))
        count = len(rows)
        number = np.arange(count * (layers + 1)).reshape(count, layers + 1)
        a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1],
                                                number[1:, 1:], number[:-1, 1:]))
        return np.concatenate(rows), np.concatenate([np.stack([a, b, c], axis=1),
                                                     np.stack([a, c, d], axis=1)])


def _along(begin, end, flat, edge, grading):
    """Return shares of a side at which cells end, 0 and 1 among them."""
    length = np.linalg.norm(end - begin)
    fine = np.linspace(0.0, 1.0, 2001)
    ways, _ = cKDTree(flat).query(begin + fine[:, None] * (end - begin))
    return _even(fine, length / np.clip(grading * ways, edge, COARSE))


def _even(fine, density):
    """Return coordinates between which a density of cells (n,) has equal sums."""
    sums = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1])
                                            * np.diff(fine))])
    return np.interp(np.linspace(0.0, sums[-1], max(2, int(np.ceil(sums[-1])) + 1)), sums, fine)


def _round(directions, step, coarse, grading):
    """Return angles of columns round the axis [rad], the first that of the first place."""
    fine = np.linspace(0.0, 2.0 * np.pi, 20001) + np.arctan2(*directions[0, ::-1])
    ways, _ = cKDTree(directions).query(np.stack([np.cos(fine), np.sin(fine)], axis=1))
    return _even(fine, 1.0 / np.clip(grading * ways, step, coarse))[:-1]


def _revolved(section, triangles, angles, closed):
    """Return corners and tetrahedra of a section's triangles turned through angles."""
    on_axis = section[:, 0] <= 1e-12
    count, turns = len(section), len(angles)
    number = np.arange(turns * count).reshape(turns, count)
    number[:, on_axis] = number[0, on_axis]
    corners = np.empty((turns, count, 3))
    corners[..., 0] = np.cos(angles)[:, None] * section[:, 0]
    corners[..., 1] = np.sin(angles)[:, None] * section[:, 0]
    corners[..., 2] = section[:, 1]
    begins = number if closed else number[:-1]
    prisms = np.concatenate([begins[:, triangles],
                             np.roll(number, -1, axis=0)[:len(begins), triangles]], axis=2)
    tetrahedra = _divided(prisms.reshape(-1, 6))
    whole = np.array([len(set(row)) == 4 for row in tetrahedra.tolist()])
    used, tetrahedra = np.unique(tetrahedra[whole], return_inverse=True)
    corners, tetrahedra = corners.reshape(-1, 3)[used], tetrahedra.reshape(-1, 4)
    turned = tetrahedron_volumes(corners, tetrahedra) < 0.0
    tetrahedra[turned, :2] = tetrahedra[turned, 1::-1]
    return corners, tetrahedra


def _divided(prisms):
    """Return the tetrahedra (3 p, 4) of prisms (p, 6)."""
    first = np.take_along_axis(prisms, TURNS[prisms.argmin(axis=1)], axis=1)
    low = np.minimum(first[:, 1], first[:, 5]) < np.minimum(first[:, 2], first[:, 4])
    return np.concatenate([first[low][:, SPLITS[True]].reshape(-1, 4),
                           first[~low][:, SPLITS[False]].reshape(-1, 4)])
