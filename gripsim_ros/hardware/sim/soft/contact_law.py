"""Force over depth of an elastic contact, from the gap of its surfaces: no shape is assumed."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ....core.contact.geometry.contact_mesh import ContactMesh
from ....core.contact.patches.indenters import mesh_depths
from ....core.mechanics.contact.half_space import GRID_SOFTENING, half_space_rows
from ....core.numerics.complementarity import solve_complementarity

Array = NDArray[np.float64]

#: Nodes of a lattice along a side.
SIDE = 31
#: Shares of the lattice's nodes that overlap at the depths that are solved: about half bear load.
OVERLAPPING = (0.03, 0.06, 0.12, 0.25, 0.5)
#: Fewest nodes that show a surface; with fewer a ball as small as the lattice is taken.
FEWEST = 8
#: Largest radius of curvature of a gap [m]: depths grow between flat surfaces, too.
FLATTEST = 50.0
#: Stiffness of a square punch over plane-strain modulus and side [-].
SQUARE_PUNCH = 1.15
#: Least depth over the one before, where a step of a surface would have them equal.
LEAST_GROWTH = 1.05
#: Power of the force to which the reach of a round contact grows (Hertz).
ROUND = 1.0 / 3.0
#: How far from the lattice surfaces are looked for [m].
BEHIND = 0.01
#: Least cosine between a facet's normal and the line of sight for a surface to be curved there:
#: along a line that grazes it a bulge of half a millimetre stands out by five.
FACING = 0.5
#: Links and objects whose facets' normals are kept: they are asked for in every step.
KNOWN_MESHES = 64


@dataclass(frozen=True)
class ContactLaw:
    """
    Force of a contact over its depth, from first touch.

    Attributes
    ----------
    depths, forces, reaches : (n,) float
        Growing: depth [m], force [N], farthest loaded node from the middle of the lattice
        [m]: a contact at its border goes on beyond.
    stiffest : float
        Force over depth where all of the surface bears [N/m].
    centres : (n, 2) float
        Where the forces act on the lattice [m].
    rolling : (n, 2, 2) float
        How far they move by a tilt that makes one side deeper, the force kept [m].
    """

    depths: Array
    forces: Array
    reaches: Array
    stiffest: float
    centres: Array
    rolling: Array

    def force(self, depth: float) -> float:
        """
        Return the force at a depth [N].

        Below those solved as of a ball; above as they rise, no steeper than ``stiffest``.
        """
        if not depth > 0.0:
            return 0.0
        if depth > self.depths[-1]:
            return self._force_beyond(depth)
        factors = self.forces / self.depths**1.5
        return float(np.interp(np.log(depth), np.log(self.depths), factors)) * depth**1.5

    def _force_beyond(self, depth: float) -> float:
        last, force = float(self.depths[-1]), float(self.forces[-1])
        power = max(1.0, float(np.log(force / self.forces[-2]) / np.log(last / self.depths[-2])))
        steeper = float(np.log(max(1.0, self.stiffest * last / (power * force))))   # is allowed
        bends = (power - 1.0) * np.log(depth / last) <= steeper
        bent = depth if bends else last * float(np.exp(steeper / (power - 1.0)))
        return float(force * (bent / last)**power + self.stiffest * (depth - bent))

    def reach(self, force: float) -> float:
        """
        Return how far the contact reaches at a force [m].

        Outside of those solved it goes on as between the nearest two: of a ball as force^1/3,
        along an edge or a line not at all.
        """
        if not force > 0.0:
            return 0.0
        forces, reaches = np.log(self.forces), np.log(self.reaches)
        place = np.clip(np.searchsorted(forces, np.log(force)), 1, len(forces) - 1)
        power = (reaches[place] - reaches[place - 1]) / (forces[place] - forces[place - 1])
        outside = not forces[0] <= np.log(force) <= forces[-1]
        power = float(np.clip(power, 0.0, ROUND)) if outside else power
        nearest = place - 1 if np.log(force) < forces[-1] else place
        return float(np.exp(reaches[nearest] + power * (np.log(force) - forces[nearest])))

    def moment(self, force: float, tilt: Array) -> Array:
        """
        Return the moment (2,) about the middle of the lattice along its axes [N m].

        Parameters
        ----------
        force : float
            Of the contact [N].
        tilt : (2,) float
            By which depths grow along the axes, beside what the surfaces do [-].
        """
        rows = np.arange(len(self.forces))
        row = float(np.interp(np.log(max(force, 1e-12)), np.log(self.forces), rows))
        weights = np.maximum(0.0, 1.0 - abs(rows - row))
        rolling = np.einsum('n,nij->ij', weights, self.rolling)
        return np.asarray(force * weights @ self.centres
                          + min(force, float(self.forces[-1])) * rolling @ tilt)


def lattice(half: float, side: int = SIDE) -> tuple[Array, float]:
    """Return points (n, 2) of a square lattice of a half width [m], and the area of each."""
    line = half * np.linspace(-1.0, 1.0, side)
    return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2), float(line[1] - line[0])**2


def surface_heights(mesh: ContactMesh, origin: Array, frame: Array, flat: Array,
                    side: float, curved: bool = True) -> Array:
    """
    Return heights (n,) of a mesh's surface over a plane [m], ``-side`` inf where none is.

    Parameters
    ----------
    mesh : ContactMesh
    origin : (3,) float
        Of the plane, in the mesh's frame [m].
    frame : (3, 3) float
        Rows along the plane, twice, and up.
    flat : (n, 2) float
        Places in the plane [m].
    side : float
        1: the surface that is seen from above, -1: from below.
    curved : bool
        Between the facets' corners, not on them; facets seen aslant are flat.
    """
    limits = mesh.surface.limits * (curved * _faces(mesh, frame[2]))
    surface = mesh.surface._replace(limits=limits)
    points = np.ascontiguousarray(origin + flat @ frame[:2])
    depths, _ = mesh_depths(mesh.tree, surface, points, side * frame[2], BEHIND)
    return side * depths


def _faces(mesh: ContactMesh, direction: Array) -> NDArray[np.bool_]:
    """Return which facets face along a unit direction, either way, in the tree's order (f,)."""
    return np.asarray(abs(_facet_normals(mesh) @ direction) > FACING)


@lru_cache(maxsize=KNOWN_MESHES)
def _facet_normals(mesh: ContactMesh) -> Array:
    """Return unit normals of facets, in the tree's order (f, 3)."""
    corners = mesh.tree.corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    tiny = np.finfo(float).tiny
    return np.asarray(normals / np.maximum(tiny, np.linalg.norm(normals, axis=1))[:, None])


def contact_law(gaps: Array, points: Array, area: float, plane_modulus: float) -> ContactLaw:
    """
    Return the law of a contact whose surfaces are ``gaps`` apart, without friction.

    Johnson, Contact Mechanics, 1985, section 5.9: an elastic half-space's nodes are closed under
    load or open and free.

    Parameters
    ----------
    gaps : (n,) float
        Between surfaces at each node, up to a constant [m]; inf: there is one of them only.
    points : (n, 2) float
        Nodes [m].
    area : float
        Of a node [m^2].
    plane_modulus : float
        E / (1 - nu^2) [Pa].
    """
    if np.isfinite(gaps).sum() < FEWEST:
        gaps = (points**2).sum(axis=1) / abs(points).max()
    found = np.isfinite(gaps)
    gaps, points = gaps[found] - gaps[found].min(), points[found]
    gaps = np.maximum(gaps, 0.5 / FLATTEST * (points**2).sum(axis=1))
    solid = np.column_stack([points, np.zeros(len(points))])
    up = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    matrix = half_space_rows(np.arange(len(points)), solid, up, np.full(len(points), area),
                             plane_modulus, GRID_SOFTENING)
    order = np.argsort(gaps, kind='stable')
    rows = []
    for share in OVERLAPPING:
        wanted = share * SIDE**2
        depth = float(gaps[order[min(round(wanted), len(order) - 1)]])
        depth *= max(1.0, 2.0 * wanted / len(order))    # beyond the edge of a small surface
        depth = max(depth, LEAST_GROWTH * rows[-1][0]) if rows else depth
        forces, loaded, factor, _ = solve_complementarity(
            matrix, depth - gaps, gaps < 0.5 * depth, order)
        total = float(forces.sum())
        reach = float(np.linalg.norm(points[loaded], axis=1).max()) + 0.5 * np.sqrt(area)
        rows.append((depth, total, reach, *_centre_and_rolling(
            points[loaded], forces[loaded], factor)))
    depths, totals, reaches = np.array([row[:3] for row in rows]).T
    even = solve_triangular(factor, np.ones(len(loaded)), trans='T', check_finite=False)
    stiffest = float(even @ even)
    if len(loaded) < len(points):
        stiffest = max(stiffest, SQUARE_PUNCH * plane_modulus * float(np.sqrt(area * len(points))))
    return ContactLaw(depths, totals, reaches, stiffest, np.array([row[3] for row in rows]),
                      np.array([row[4] for row in rows]))


def _centre_and_rolling(points: Array, forces: Array, factor: Array) -> tuple[Array, Array]:
    """
    Return where forces (k,) on points (k, 2) act [m], and how far that moves by a tilt (2, 2) [m].

    The points go on to be loaded; of their compliance the Cholesky factor (k, k) is given.
    """
    total = float(forces.sum())
    centre = forces @ points / total
    moves = np.column_stack([np.ones(len(points)), points - centre])
    halves = solve_triangular(factor, moves, trans='T', check_finite=False)
    stiffness = halves.T @ halves
    freed = np.outer(stiffness[1:, 0], stiffness[0, 1:]) / stiffness[0, 0]
    return centre, (stiffness[1:, 1:] - freed) / total
