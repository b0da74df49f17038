"""
Rigid frictionless pads on a body of revolution: contact of the finite elements.

The classical linear problem: a depth is the overlap of the undeformed shapes along the
pad's motion, times the cosine to the surface's normal; pressures act along the normal.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.finite_elements.harmonics import HarmonicBody

#: Exchanges of loaded and free nodes.
EXCHANGES = 80
#: Share of the largest compliance on the diagonal that keeps tiny cells at the axis apart.
RIDGE = 1e-11
#: Gauss points on either side of a hat, over which depths are averaged.
HAT_POINTS = 4
#: Way of points that the pad does not meet [m].
FAR = -1.0


@dataclass(frozen=True)
class Ball:
    """A rigid ball of a radius [m]; ``tip`` is its foremost point, ``along`` its motion."""

    radius: float

    def ways(self, points, tip, along):
        """Return how far points ``(n, 3)`` are from the exit along the motion ``(n,)`` [m]."""
        arms = points - (tip - self.radius * along)
        b = arms @ along
        square = b ** 2 - (arms ** 2).sum(axis=1) + self.radius ** 2
        return np.where(square >= 0.0, np.sqrt(np.maximum(square, 0.0)) - b, FAR)


@dataclass(frozen=True)
class Plane:
    """A rigid plane across the motion."""

    def ways(self, points, tip, along):
        """Return how far points ``(n, 3)`` are from the plane along the motion ``(n,)`` [m]."""
        return (tip - points) @ along


@dataclass(frozen=True, eq=False)
class PadGroup:
    """
    Pads of equal depth at equal angles round the axis, the first about ``(x, 0, z)``.

    ``rows (s,)`` are the places on the section's line they may press, ``angles (k,)`` even
    angles from 0 (half a pad; pads mirror themselves) [rad], empty for one pad on the axis.
    ``touch (3,)`` is where the first pad starts, ``along (3,)`` its motion.
    """

    shape: Ball | Plane
    rows: np.ndarray
    angles: np.ndarray
    touch: np.ndarray
    along: np.ndarray

    @property
    def step(self):
        """Return the step of the angles [rad], 0 for a pad on the axis."""
        return float(self.angles[1]) if len(self.angles) else 0.0

    def nodes(self, body: HarmonicBody):
        """Return nodes ``(s k, 3)`` and their inward normals, Cartesian and ``(r, t, z)``."""
        section = body.section
        points, normals = self._revolved(section.line_points[self.rows],
                                         section.line_normals[self.rows])
        local = np.zeros((len(self.rows), max(1, len(self.angles)), 3))
        local[..., 0], local[..., 2] = section.line_normals[self.rows].T[:, :, None]
        return points, normals, local.reshape(-1, 3)

    def _revolved(self, places, directions):
        angles = self.angles if len(self.angles) else np.zeros(1)
        turned = []
        for r, z in (places.T, directions.T):
            turned.append(np.stack([np.outer(r, np.cos(angles)), np.outer(r, np.sin(angles)),
                                    np.repeat(z[:, None], len(angles), 1)], -1).reshape(-1, 3))
        return turned

    def mean_depths(self, body: HarmonicBody, depth: float):
        """Return the mean depth ``(s k,)`` under each node's hat [m]."""
        tip, section = self.touch + depth * self.along, body.section
        shape = len(self.rows), max(1, len(self.angles))
        sums, weights = np.zeros(shape), np.zeros((shape[0], 1))
        x, w = np.polynomial.legendre.leggauss(HAT_POINTS)
        places = {int(row): k for k, row in enumerate(self.rows)}
        for pair in section.sides.tolist():
            ends, normals = section.line_points[pair], section.line_normals[pair]
            length = np.linalg.norm(ends[1] - ends[0])
            for share, weight in zip(0.5 * (x + 1.0), 0.5 * w * length):
                hats = np.array([1.0 - share, share])
                here = hats @ ends
                points, inward = self._revolved(here[None], (hats @ normals)[None])
                depths = self.shape.ways(points, tip, self.along) * (inward @ self.along)
                for place, hat in zip(pair, hats):
                    if place in places:
                        sums[places[place]] += weight * here[0] * hat * depths
                        weights[places[place]] += weight * here[0] * hat
        means = sums / weights
        if shape[1] > 2:
            # A hat's mean of a parabola; half a pad mirrors itself at angle 0.
            wide = np.concatenate([means[:, 1:2], means, 2 * means[:, -1:] - means[:, -2:-1]],
                                  axis=1)
            means = means + np.diff(wide, 2, axis=1) / 12.0
        return means.ravel()


@dataclass(frozen=True, eq=False)
class PadForce:
    """
    What one pad of a group does to the body.

    ``force (3,)`` [N] on the body, ``area`` under load [m^2], ``radius`` ``sqrt(area/pi)``.
    """

    force: np.ndarray
    area: float

    @property
    def radius(self):
        """Return the radius of a disc of the loaded area [m]."""
        return float(np.sqrt(self.area / np.pi))


class PadContact:
    """
    The contact of groups of pads with a body; compliances are made once for all depths.

    ``fold`` is the number of equal sectors round the axis (pads of a group not on it).
    """

    def __init__(self, body: HarmonicBody, groups: list[PadGroup], fold: int):
        """Sum the harmonics into compliances between nodes."""
        self.body, self.groups = body, groups
        parts = [group.nodes(body) for group in groups]
        self.normals = np.concatenate([part[1] for part in parts])
        self.local = np.concatenate([part[2] for part in parts])
        self.owner = np.repeat(np.arange(len(groups)), [len(part[0]) for part in parts])
        steps = [group.step for group in groups if group.step > 0.0]
        last = min(2.0 * np.pi / min(steps), float(body.harmonics[-1])) if steps else 0.0
        orders = np.arange(0, int(last) + 1, fold)
        self.compliance = self._sum(orders, body.interpolated(orders), fold)

    def _sum(self, orders, harmonics, fold):
        """Return displacements ``(n, n)`` along the normals by forces of pairs of nodes."""
        count = len(self.owner)
        answer = np.zeros((count, count))
        share = np.where(orders == 0, 0.5, 1.0) * fold / np.pi
        for i, first in enumerate(self.groups):
            for j, second in enumerate(self.groups):
                rows, columns = np.flatnonzero(self.owner == i), np.flatnonzero(self.owner == j)
                weights = share * _hat(orders, first) * _hat(orders, second)
                if not len(second.angles):
                    weights = weights / fold
                for a in (0, 2):
                    for b in (0, 2):
                        part = harmonics[:, a, first.rows][:, :, b, second.rows]
                        around = (weights[:, None, None] * _wave(orders, first)[:, :, None]
                                  * _wave(orders, second)[:, None, :])
                        block = np.tensordot(part, around, (0, 0)).transpose(0, 2, 1, 3)
                        answer[np.ix_(rows, columns)] += (
                            self.local[rows, None, a] * self.local[columns, b]
                            * block.reshape(len(rows), len(columns)))
        return answer

    def solve(self, depths) -> list[PadForce]:
        """Return what a pad of each group does at the groups' depths [m], at E = 1 Pa."""
        wanted = np.concatenate([group.mean_depths(self.body, depth)
                                 for group, depth in zip(self.groups, depths)])
        near = wanted > -wanted.max()
        forces = np.zeros(len(wanted))
        forces[near] = complementarity(self.compliance[np.ix_(near, near)], wanted[near])
        return [self._summary(k, forces) for k in range(len(self.groups))]

    def _summary(self, k, forces):
        rows = np.flatnonzero(self.owner == k)
        group = self.groups[k]
        force = (forces[rows, None] * self.normals[rows]).sum(axis=0)
        areas = np.repeat(self.body.weights[group.rows], max(1, len(group.angles)))
        if not len(group.angles):
            areas = 2.0 * np.pi * areas
            return PadForce(force * [0.0, 0.0, 1.0], float(areas[forces[rows] > 0.0].sum()))
        twice = np.tile(np.where(group.angles > 0.0, 2.0, 1.0), len(group.rows)) * group.step
        return PadForce(force * [1.0, 0.0, 1.0],
                        float((areas * twice)[forces[rows] > 0.0].sum()))


def _hat(orders, group):
    """Return the Fourier factor of a group's hats round the axis."""
    if not len(group.angles):
        return (orders == 0).astype(float)
    return np.sinc(orders * group.step / (2.0 * np.pi)) ** 2


def _wave(orders, group):
    angles = group.angles if len(group.angles) else np.zeros(1)
    return np.cos(orders[:, None] * angles)


def complementarity(matrix, wanted):
    """Return forces with ``f >= 0, g = C f - wanted >= 0, f g = 0`` by exchanging sets."""
    matrix = matrix + RIDGE * np.abs(matrix).max() * np.eye(len(matrix))
    active = wanted > 0.5 * wanted.max()
    best, forces = len(wanted) + 1, np.zeros(len(wanted))
    for turn in range(EXCHANGES):
        rows = np.flatnonzero(active)
        forces[:] = 0.0
        forces[rows] = np.linalg.solve(matrix[np.ix_(rows, rows)], wanted[rows])
        gaps = matrix @ forces - wanted
        wrong = np.where(active, forces < 0.0, gaps < -1e-10 * np.abs(wanted).max())
        if not wrong.any():
            return forces
        if wrong.sum() >= best and turn > EXCHANGES // 2:
            only = np.flatnonzero(wrong)[-1]
            wrong[:] = False
            wrong[only] = True
        best = min(best, int(wrong.sum()))
        active ^= wrong
    raise ArithmeticError('the contact of the finite elements did not settle')
