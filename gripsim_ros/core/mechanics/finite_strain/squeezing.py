"""A body squeezed between two plates: force and contact area over the way, step by step."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import Material, TriangleMesh
from ...errors import TaskError
from ..quadratic_elements import PARTS
from .contact_edges import contact_edges
from .equilibrium import Pose, SmoothSolver, Solver, find_rest
from .laws import StrainLaw
from .meshing import mesh_body
from .obstacles import ContactSurface, Plane
from .solid import QuadraticSolid, determinants

#: Way of one step over the body's thickness, at most [-].
MAX_STEP = 0.06
#: Smallest part of a step before the squeeze ends.
MIN_PART = 1.0 / 64.0
#: Way over the body's thickness, at most [-].
MAX_WAY = 0.8
#: Edges of tetrahedra over the cube root of the body's volume [-].
EDGE_SHARE = 0.35
#: Smallest way asked, over the whole, where it is not told [-].
FIRST_SHARE = 0.1
#: Pull of each node to its last place, over modulus and squared size [-]: it stands for the
#: friction that keeps a body from rolling or sliding away as a whole.
DRAG = 1e-2
#: Force of that pull over the force of the plates, above which the body rolls [-].
ROLLING = 0.03
#: Share of the body's volume that is strained less than what is told as its strain [-].
STRAINED_SHARE = 0.95
#: Way over the thickness from which a prism between plates that slide is followed by smooth
#: motions alone, before a surface of rubber can crease [-], and the degree of these.
SMOOTH_FROM, SMOOTH_DEGREE = 0.4, 4
#: Strain up to which a law is believed whose material states no range [-].
UNSTATED_RANGE = 0.3


@dataclass(frozen=True)
class CurvePoint:
    """Way that the plates have come nearer [m], force of each [N], mean area of contact [m^2]."""

    way: float
    force: float
    area: float


@dataclass(frozen=True, eq=False)
class Squeezing:
    """
    What squeezing a body came to.

    Attributes
    ----------
    curve : tuple of CurvePoint
        In the order of the way.
    thickness : float
        Of the body at rest, along the axis [m].
    strain : float
        Largest shortening in 95 % of the body's volume at the end [-].
    vertices : (n, 3) float
        Of the deformed surface, frame object [m].
    faces : (m, 3) int
        Of the deformed surface, outward.
    quantitative : bool
        The squeeze ended as asked, inside the range of the material's law.
    warnings : tuple of str
    """

    curve: tuple[CurvePoint, ...]
    thickness: float
    strain: float
    vertices: Array
    faces: IntArray
    quantitative: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SqueezedBody:
    """
    A body filled with elements, fine enough for a way of two plates.

    Attributes
    ----------
    solid : QuadraticSolid
    axis : (3,) float
        Unit normal of the plates.
    lower, upper : float
        Where the plates touch first, along the axis [m].
    size : float
        Cube root of the volume [m].
    is_prism : bool
        The section across the axis is the same from plate to plate: a specimen's.
    """

    solid: QuadraticSolid
    axis: Array
    lower: float
    upper: float
    size: float
    is_prism: bool = False

    @property
    def thickness(self) -> float:
        """Return how far the plates are apart at the first touch [m]."""
        return self.upper - self.lower

    @staticmethod
    def of_mesh(mesh: TriangleMesh, axis: Array, way: float, first: float | None = None
                ) -> 'SqueezedBody':
        """
        Return a body made ready to be squeezed.

        Parameters
        ----------
        mesh : TriangleMesh
            Closed, outward.
        axis : (3,) float
            Along which the plates move, frame object; any length above 0.
        way : float
            By which they will come nearer, above 0 and at most 0.8 of the thickness [m].
        first : float, optional
            Smallest way at which the force is asked [m]; a tenth of ``way`` unless given.

        Raises
        ------
        TaskError
            The axis is no direction, or the way is out of range.
        MeshError
            The mesher is missing, failed, or took too long.
        """
        axis = np.asarray(axis, float)
        length = float(np.linalg.norm(axis))
        if axis.shape != (3,) or not (np.isfinite(length) and length > 0.0):
            raise TaskError(f'the axis must be three numbers, not all 0, got {axis.tolist()}')
        axis = axis / length
        heights = mesh.vertices @ axis
        thickness = float(heights.max() - heights.min())
        if not 0.0 < way <= MAX_WAY * thickness:
            raise TaskError(f'the way must be above 0 and at most {MAX_WAY:g} of the thickness '
                            f'along the axis, {MAX_WAY * thickness:.4g} m, got {way}')
        size = float(np.cbrt(mesh.volume))
        touched = contact_edges(mesh, axis, way, first or FIRST_SHARE * way, EDGE_SHARE * size)
        solid = mesh_body(mesh, EDGE_SHARE * size, touched.points, touched.edges)
        surface = ContactSurface(solid, 1.0)
        reached = np.concatenate([solid.nodes, surface.points(solid.nodes)]) @ axis
        return SqueezedBody(solid, axis, float(reached.min()), float(reached.max()), size,
                            touched.is_prism)

    def plates(self, way: float) -> tuple[Plane, Plane]:
        """Return the two plates after a way [m]; each has gone half of it."""
        return (Plane((self.lower + 0.5 * way) * self.axis, self.axis),
                Plane((self.upper - 0.5 * way) * self.axis, -self.axis))


def squeeze_body(body: SqueezedBody, material: Material, way: float, steps: int, bonded: bool,
                 on_point: Callable[[CurvePoint], bool | None] | None = None) -> Squeezing:
    """
    Squeeze a body between two rigid plates.

    Parameters
    ----------
    body : SqueezedBody
    material : Material
        Its modulus, Poisson's ratio and law.
    way : float
        By which the plates come nearer after the first touch [m].
    steps : int
        Points of the curve, 1 or more.
    bonded : bool
        The body sticks to the plates where it touches them; otherwise it slides freely.
    on_point : callable, optional
        Called with each point of the curve; return False to stop there.

    Returns
    -------
    Squeezing
        With a warning, and not quantitative, where no rest was found before the end.

    Raises
    ------
    TaskError
        ``steps`` is below 1, or no rest was found at all.
    MaterialError
        Poisson's ratio is negative.
    """
    if steps < 1:
        raise TaskError(f'steps must be 1 or more, got {steps}')
    run = _Run(body, material, bonded)
    curve: list[CurvePoint] = []
    stopped = False
    for k in range(steps):
        if stopped or not run.advance(way * (k + 1) / steps):
            break
        curve.append(run.point())
        stopped = on_point is not None and on_point(curve[-1]) is False
    if not curve:
        raise TaskError(f'the body finds no rest between the plates within {way / steps:.3g} m: '
                        'it may roll away, or be too thin for the elements')
    return run.result(tuple(curve), len(curve) == steps)


class _Run:
    """A squeeze on its way: where the body is, and what keeps it there."""

    def __init__(self, body: SqueezedBody, material: Material, bonded: bool) -> None:
        self._body, self._material, self._bonded = body, material, bonded
        self._law = StrainLaw.of_material(material)
        self._surface = ContactSurface(body.solid, material.youngs_modulus)
        self._positions, self._way = body.solid.nodes, 0.0
        self._solver, self._rolling = Solver(), 0.0
        self._smooth = (None if bonded or not body.is_prism else
                        SmoothSolver(body.solid, SMOOTH_DEGREE))
        self._stick(1e-6 * body.thickness)

    def _stick(self, slack: float) -> None:
        if self._bonded:
            self._surface = self._surface.with_anchors(
                self._positions, self._body.plates(self._way), slack)

    def advance(self, goal: float) -> bool:
        """Go on to a way [m], in parts where needed; return whether rest was found."""
        largest = MAX_STEP * self._body.thickness
        part = largest
        while goal - self._way > 1e-9 * goal:
            way = min(goal, self._way + part)
            if self._rest(way):
                part = min(largest, 2.0 * part)
            else:
                part = 0.5 * (way - self._way)
                if part < MIN_PART * largest:
                    return False
        return True

    def _rest(self, way: float) -> bool:
        body, before = self._body, self._positions
        plates = body.plates(way)
        strength = DRAG * self._material.youngs_modulus / body.size ** 2
        drag = (strength, before)
        smooth = self._smooth if way > SMOOTH_FROM * body.thickness else None

        def rest(law: StrainLaw, start: Array) -> Pose:
            return find_rest(body.solid, law, self._surface, plates, start, drag,
                             smooth or self._solver)

        # The even guess is near where the body slides; elsewhere a softer volume leads the way.
        pose = None if self._bonded else rest(self._law, self._guess(way))
        if pose is None or not pose.converged:
            pose = Pose(before, True)
            for law in self._law.easier():
                pose = rest(law, pose.positions)
                if not pose.converged:
                    return False
        self._positions, self._way = pose.positions, way
        pull = strength * body.solid.node_volumes @ (pose.positions - before)
        force = self._force()
        self._rolling = max(self._rolling, float(np.linalg.norm(pull)) / max(force, 1e-300))
        self._stick(0.0)
        return True

    def _guess(self, way: float) -> Array:
        """Return positions shortened evenly along the axis and wider across, as a start."""
        body = self._body
        share = (way - self._way) / (body.thickness - self._way)
        wider = (1.0 - share) ** -self._material.poisson_ratio - 1.0
        middle = body.solid.node_volumes @ self._positions / body.solid.node_volumes.sum()
        offsets = self._positions - middle
        along = offsets @ body.axis
        heights = self._positions @ body.axis - 0.5 * (body.lower + body.upper)
        across = offsets - along[:, None] * body.axis
        return self._positions - share * heights[:, None] * body.axis + wider * across

    def _force(self) -> float:
        lower, upper = (self._surface.resultant(self._positions, obstacle, k) for k, obstacle in
                        enumerate(self._body.plates(self._way)))
        return 0.5 * float((lower - upper) @ self._body.axis)

    def point(self) -> CurvePoint:
        """
        Return the point of the curve that has been reached.

        Faces of elements ripple about a plate: half of the points that bear its pressure on
        average are clear of it. Those count that are no farther than others are inside.
        """
        places = self._surface.points(self._positions)
        areas = self._surface.current_areas(self._positions, self._body.axis)
        gaps = [obstacle.gaps(places)[0] for obstacle in self._body.plates(self._way)]
        touched = [areas[gap < -gap.min()].sum() for gap in gaps]
        return CurvePoint(self._way, self._force(), 0.5 * float(sum(touched)))

    def result(self, curve: tuple[CurvePoint, ...], complete: bool) -> Squeezing:
        """Return what the squeeze came to."""
        solid, material = self._body.solid, self._material
        F = solid.deformation(self._positions)
        shortest = np.linalg.svd(F, compute_uv=False)[..., -1].ravel()
        order = np.argsort(shortest)[::-1]
        filled = np.cumsum(solid.weights.ravel()[order]) / solid.volumes.sum()
        strain = max(0.0, 1.0 - float(shortest[order][np.searchsorted(filled, STRAINED_SHARE)]))
        warnings = []
        limit = material.max_strain or UNSTATED_RANGE
        if strain > limit * (1.0 + 1e-2):
            told = ('the law was measured' if material.max_strain else
                    'a law is believed whose range the material does not state')
            warnings.append(f'strained by {strain:.2f}, beyond {limit:.2g}, up to which {told}')
        if not complete:
            warnings.append(f'ended at a way of {self._way:.4g} m: no rest was found beyond, or '
                            'the caller stopped it')
        if self._rolling > ROLLING:
            warnings.append('the body would roll or slide away between the plates: a pull of '
                            f'{self._rolling:.0%} of the force kept it in its place')
        if (determinants(F) <= 0.0).any():
            warnings.append('an element has turned over')
        faces = solid.faces[:, PARTS].reshape(-1, 3)
        used, faces = np.unique(faces, return_inverse=True)
        return Squeezing(curve, self._body.thickness, strain, self._positions[used],
                         faces.reshape(-1, 3), not warnings, tuple(warnings))
