"""The loaded patches of one grasp, as stability and minimal forces see them."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from ..fields import shaped, shapes_of
from ..errors import ShapeError
from ..options import option, Options
from .grasp_map import contact_frames


_ABOVE_0 = ('normal_stiffness', 'tangential_stiffness')
_NOT_NEGATIVE = ('friction_radii', 'max_normal_forces', 'rocking_stiffness')


@dataclass(frozen=True)
class TorqueOptions(Options, section='torques'):
    """
    How torques of contacts count beside their forces.

    Attributes
    ----------
    length_scale : float
        Length that makes torques comparable with forces [m]; 0: the largest distance
        of a patch from the centre of mass.
    tilting_share : float
        Share of its extent over which the centre of pressure of a patch may move as the
        object tilts [-]; 0: tilting meets no moment.

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    length_scale: float = option(0.0, least=0, below=np.inf)
    tilting_share: float = option(0.5, least=0, most=1)

    def scale(self, points: Array, centre_of_mass: Array) -> float:
        """Return the length that torques about a centre (3,) are divided by [m]."""
        if self.length_scale > 0.0:
            return self.length_scale
        arms = points - centre_of_mass
        return float(np.sqrt(np.einsum('ij,ij->i', arms, arms).max())) or 1.0


@dataclass(frozen=True, eq=False)
class ContactSet:
    """
    The loaded contact patches of one grasp, frame object.

    Attributes
    ----------
    points : (k, 3) float
        Centres of pressure [m].
    normals : (k, 3) float
        Unit normals into the object.
    forces, torques : (k, 3) float
        Simulated resultant on the object [N], and its moment about the point [N m].
    friction_radii : (k,) float
        Effective torsion radius r_e [m]; 0 is a hard finger.
    normal_stiffness, tangential_stiffness : (k,) float
        Incremental [N/m], above 0.
    max_normal_forces : (k,) float
        [N]; ``inf`` where nothing limits them.
    passive : (k,) bool
        Patches that no joint can press (the palm).
    rocking : (k, 2, 6) float
    rocking_stiffness : (k, 2) float
        Springs of each patch against an object that tilts on it; see ``rocking_springs``.
        Without rows tilting meets no moment.
    cross_stiffness : (k, k) float
        By which the normal force of each changes with the way of another [N/m]; the diagonal
        does not count. Without it contacts know nothing of each other.

    Raises
    ------
    ShapeError
        A shape is wrong, a number not finite, a stiffness not above 0, a limit or
        radius negative.
    """

    points: Array = shaped('k', 3)
    normals: Array = shaped('k', 3)
    forces: Array = shaped('k', 3)
    torques: Array = shaped('k', 3)
    friction_radii: Array = shaped('k')
    normal_stiffness: Array = shaped('k')
    tangential_stiffness: Array = shaped('k')
    max_normal_forces: Array = shaped('k')
    passive: BoolArray = shaped('k')
    rocking: Array = shaped('k', 2, 6, default=None)                # by __post_init__
    rocking_stiffness: Array = shaped('k', 2, default=None)
    cross_stiffness: Array = shaped('k', 'k', default=None)

    def __post_init__(self) -> None:
        """Check every field."""
        count = len(np.atleast_1d(self.friction_radii))
        for name, (_, *others) in shapes_of(ContactSet).items():
            shape = (count, *(count if size == 'k' else int(size) for size in others))
            given = getattr(self, name)
            rows = np.zeros(shape) if given is None else np.asarray(
                given, bool if name == 'passive' else float, order='C')
            if rows.shape != shape:
                raise ShapeError(f'patches.{name} must be {shape}, got {rows.shape}')
            bound = name == 'max_normal_forces'
            if np.isnan(rows).any() if bound else not np.isfinite(rows).all():
                raise ShapeError(f'patches.{name} must be finite, got {rows.tolist()}')
            if name in _ABOVE_0 and (rows <= 0.0).any():
                raise ShapeError(f'patches.{name} must be above 0, got {rows.tolist()}')
            if name in _NOT_NEGATIVE and (rows < 0.0).any():
                raise ShapeError(f'patches.{name} must not be negative, got {rows.tolist()}')
            object.__setattr__(self, name, rows)

    @classmethod
    def of_contacts(cls, points: Array, normals: Array, radii: Array, largest: Array
                    ) -> 'ContactSet':
        """
        Return contacts for forces alone: that joints press, and of which no stiffness is known.

        Parameters
        ----------
        points, normals : (k, 3) float
        radii : (k,) float
            Of torsion [m].
        largest : (k,) float
            Normal forces [N].
        """
        count = len(points)
        return cls(points, normals, np.zeros((count, 3)), np.zeros((count, 3)), radii,
                   np.ones(count), np.ones(count), largest, np.zeros(count, dtype=bool))

    @property
    def count(self) -> int:
        """Return the number of patches."""
        return len(self.friction_radii)

    @property
    def normal_forces(self) -> Array:
        """Return the simulated force along each normal ``(k,)`` [N], not negative."""
        return np.maximum(np.einsum('ij,ij->i', self.forces, self.normals), 0.0)

    @property
    def coupling(self) -> Array:
        """Return the change of each normal force by the ways of others ``(k, k)`` [N/m]."""
        return np.asarray(self.cross_stiffness - np.diag(np.diag(self.cross_stiffness)))

    @cached_property
    def frames(self) -> Array:
        """Return the contact frames ``(k, 3, 3)``, see ``contact_frames``."""
        return contact_frames(self.normals)

    @cached_property
    def actuated(self) -> 'ContactSet':
        """Return the patches that joints can press."""
        return self.select(~self.passive)

    def select(self, rows: IntArray | BoolArray) -> 'ContactSet':
        """Return the patches of the given rows (indices or mask)."""
        chosen = object.__new__(ContactSet)
        # Rows of what was checked need no check.
        vars(chosen).update({item.name: getattr(self, item.name)[rows] for item in fields(self)})
        vars(chosen)['cross_stiffness'] = chosen.cross_stiffness[:, rows]
        return chosen
