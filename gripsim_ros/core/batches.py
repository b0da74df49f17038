"""
Batches that travel round the ring, from one stage to the next.

Every stage is a pure function from one of these batches to the next; over ROS
each is one message with the same field names (see ``gripsim_interfaces``).
All numbers are SI; frames are the first token of a name. ``n`` configurations,
``J`` actuated joints, ``L`` links with geometry, ``c`` load cases, ``P`` patches,
``N`` patch nodes.
"""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ShapeError
from .transforms import checked_rigid

#: Only distances are wanted: open hands, approaches, free closing steps.
DETAIL_CLEARANCE = 0
#: Contacts, forces, centre of mass and the stability verdict.
DETAIL_FORCES = 1
#: All of it, with contact vertices, the deformed surface and grasp metrics.
DETAIL_SURFACE = 2

#: Flags of a contact patch that tell why its numbers are not quantitative.
PATCH_REACHES_LINK_EDGE = 1
PATCH_REACHES_OBJECT_EDGE = 2
PATCH_COARSE = 4
PATCH_THROUGH = 8
PATCH_THIN = 16
PATCH_STRAINED = 32
PATCH_SPREAD = 64
PATCH_CLOSE = 128

#: What each flag says to a person.
PATCH_FLAG_TEXTS = {
    PATCH_REACHES_LINK_EDGE: 'the contact reaches the edge of the indenter',
    PATCH_REACHES_OBJECT_EDGE: 'the contact reaches an edge of the object',
    PATCH_COARSE: 'too few nodes carry load',
    PATCH_THROUGH: 'the indenter presses nearly through the object',
    PATCH_THIN: 'the contact is wide or deep against the thickness of the object',
    PATCH_STRAINED: 'the indentation is deep against the contact radius: strains are beyond '
                    'linear elasticity',
    PATCH_SPREAD: 'the normals of the contact spread by more than 30 degrees',
    PATCH_CLOSE: 'two contacts lie near each other'}

#: Columns of ``load_cases``: gravity [m/s^2], then force [N] and torque [N m].
LOAD_CASE_WIDTH = 9
#: Columns of ``obstacles``: kind, three dimensions, twelve of the pose ``[R | p]``.
OBSTACLE_WIDTH = 16
OBSTACLE_BOX = 1
OBSTACLE_SPHERE = 2
OBSTACLE_CYLINDER = 3
#: How many dimensions each kind has.
OBSTACLE_DIMENSIONS = {OBSTACLE_BOX: 3, OBSTACLE_SPHERE: 1, OBSTACLE_CYLINDER: 2}


#: Size of an axis of a field: a number; a symbol of the page's head; with ``+1`` one more than
#: that; ``n?``: n or nothing.
Shape = tuple[str | int, ...]


def shaped(*shape: str | int, **options: Any) -> Any:
    """Return a dataclass field that declares the shape of an array; options as of ``field``."""
    return field(metadata={'shape': shape}, **options)


def shapes_of(batch: type) -> dict[str, Shape]:
    """Return the declared shape of each array of a batch, by name, in their order."""
    return {f.name: f.metadata['shape'] for f in fields(batch) if 'shape' in f.metadata}


def short_name(name: str) -> str:
    """Return a field's name without the prefix of patches and the suffix of the frame."""
    return name.removeprefix('patch_').removesuffix('_object')


def _empty(*shape: int) -> NDArray[np.float64]:
    return np.zeros(shape)


def check_obstacles(rows: NDArray[np.float64], name: str) -> None:
    """
    Check primitives ``(k, 16)``, finite, as in ``ConfigurationBatch.obstacles``.

    Raises
    ------
    ShapeError
        A kind is unknown, a dimension not above 0, or a pose not rigid; names the row.
    """
    for i, row in enumerate(rows):
        count = OBSTACLE_DIMENSIONS.get(row[0])
        if count is None:
            raise ShapeError(f'{name}[{i}] must be a box (1), a sphere (2) or a cylinder (3), '
                             f'got kind {row[0]:g}')
        if not (row[1:1 + count] > 0.0).all():
            raise ShapeError(f'{name}[{i}] must have {count} dimensions above 0 m, '
                             f'got {row[1:1 + count].tolist()}')
        checked_rigid(np.vstack([row[4:].reshape(3, 4), (0.0, 0.0, 0.0, 1.0)]),
                      f'the pose of {name}[{i}]')


@dataclass(frozen=True, eq=False)
class ConfigurationBatch:
    """
    Hand configurations to be judged, the planner's question.

    Attributes
    ----------
    T_object_palm : (n, 4, 4) float
        Pose of the palm in the undeformed object's frame.
    joint_positions : (n, J) float
        Actuated joints, in the hand's order [rad].
    joint_displacements : (n, J) float
        Motion since the last step; gives the directions of motion [rad].
    sweep_object : (n, 3) float
        Translation by which the whole hand arrives at ``T_object_palm``; where not
        zero, ``clearance`` is that of the links' convex hulls swept along it.
    load_cases : (c, 9) float
        Gravity [m/s^2], external force [N] and torque about the object's origin
        [N m], frame object; the grasp must hold under each.
    obstacles : (k, 16) float
        Primitives in the object's frame (see ``OBSTACLE_*``); box: full sides;
        sphere: radius; cylinder: height, radius, axis z; then ``[R | p]`` by rows.
    detail : int
        One of ``DETAIL_*``.
    settled_object : (n, 6) float, optional
        Rigid motion of the object between the fingers since they closed on it where the
        load cases are given: translation of its frame's origin [m] and rotation vector [rad],
        in its present frame, in which ``T_object_palm`` is. Friction resists it. Default: none.

    Raises
    ------
    ShapeError
        An array has another shape or is not finite, a pose is not rigid, an obstacle is of no
        known kind or size, or ``detail`` is unknown.
    """

    T_object_palm: NDArray[np.float64] = shaped('n', 4, 4)
    joint_positions: NDArray[np.float64] = shaped('n', 'J')
    joint_displacements: NDArray[np.float64] = shaped('n', 'J')
    sweep_object: NDArray[np.float64] = shaped('n', 3)
    load_cases: NDArray[np.float64] = shaped(
        'c', LOAD_CASE_WIDTH, default_factory=lambda: _empty(0, LOAD_CASE_WIDTH))
    obstacles: NDArray[np.float64] = shaped(
        'k', OBSTACLE_WIDTH, default_factory=lambda: _empty(0, OBSTACLE_WIDTH))
    detail: int = DETAIL_FORCES
    settled_object: NDArray[np.float64] = shaped('n', 6, default=None)      # by __post_init__

    def __post_init__(self) -> None:
        """Check every field; take objects that have not moved where nothing is said."""
        n = self._take('joint_positions', None, None).shape[0]
        if self.settled_object is None:
            object.__setattr__(self, 'settled_object', _empty(n, 6))
        for name, shape in (('joint_displacements', self.joint_positions.shape),
                            ('T_object_palm', (n, 4, 4)), ('sweep_object', (n, 3)),
                            ('settled_object', (n, 6)), ('load_cases', (None, LOAD_CASE_WIDTH)),
                            ('obstacles', (None, OBSTACLE_WIDTH))):
            self._take(name, *shape)
        checked_rigid(self.T_object_palm, 'T_object_palm')
        check_obstacles(self.obstacles, 'obstacles')
        if self.detail not in (DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE):
            raise ShapeError(f'detail must be 0, 1 or 2, got {self.detail!r:.60}')

    def _take(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """Keep a field as finite numbers of a shape, None being any size, and return it."""
        value = getattr(self, name)
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise ShapeError(f'{name} must be numbers, got {value!r:.60}') from None
        if array.ndim != len(shape) or any(
                size not in (None, there) for size, there in zip(shape, array.shape)):
            wanted = ', '.join('any' if size is None else str(size) for size in shape)
            raise ShapeError(f'{name} must have shape ({wanted}), got {array.shape}')
        if not np.isfinite(array).all():
            raise ShapeError(f'{name} must be finite, got NaN or infinity')
        object.__setattr__(self, name, array)
        return array

    @property
    def count(self) -> int:
        """Return the number of configurations."""
        return len(self.joint_positions)


@dataclass(frozen=True, eq=False)
class LinkStateBatch:
    """
    Where every link is and how it moves: the forward kinematics' answer.

    Attributes
    ----------
    configurations : ConfigurationBatch
        The question, unchanged.
    T_object_link : (n, L, 4, 4) float
        Poses of the links with geometry, in the hand's order.
    twists_object : (n, L, 6) float
        Displacement of each link in this step: of its origin [m], then rotation
        vector [rad], frame object. A point x moves by ``v + w x (x - origin)``.
    """

    configurations: ConfigurationBatch
    T_object_link: NDArray[np.float64] = shaped('n', 'L', 4, 4)
    twists_object: NDArray[np.float64] = shaped('n', 'L', 6)


@dataclass(frozen=True, eq=False)
class ContactBatch:
    """
    Contact on the undeformed object: the contact detection's answer.

    Attributes
    ----------
    configurations : ConfigurationBatch
        The question, unchanged.
    clearance : (n, L) float
        Lower bound of the distance from link to object [m], 0 where they overlap;
        of the swept convex hull where the configuration has a sweep.
    obstacle_clearance, self_clearance : (n,) float
        The same of the whole hand to obstacles, and between links that are not
        neighbours; ``inf`` where there is nothing to hit.
    depth : (n, L) float
        Largest depth of a patch node of the link along its normal [m], 0 if none.
    patch_offsets : (n + 1,) int
        Patches of configuration i are ``patch_offsets[i]:patch_offsets[i + 1]``.
    patch_links : (P,) int
        Index of the link that presses.
    patch_flags : (P,) int
        Sum of ``PATCH_*`` flags known from geometry alone.
    patch_thickness : (P,) float
        Thickness of the object through the patch along its normal [m].
    node_offsets : (P + 1,) int
        Nodes of patch p are ``node_offsets[p]:node_offsets[p + 1]``.
    node_points_object : (N, 3) float
        Nodes on the object's smoothed surface.
    node_normals_object : (N, 3) float
        Unit normals *into* the object.
    node_areas : (N,) float
        Area that each node stands for [m^2].
    node_depths : (N,) float
        Overlap along the normal [m]; negative is a gap.
    vertex_offsets : (n + 1,) int
        Contact vertices per configuration; all zero below ``DETAIL_SURFACE``.
    vertex_points_object, vertex_vectors_object : (K, 3) float
        Vertices of either mesh inside the other, and the way along the relative
        motion to their first exit.
    """

    configurations: ConfigurationBatch
    clearance: NDArray[np.float64] = shaped('n', 'L')
    obstacle_clearance: NDArray[np.float64] = shaped('n')
    self_clearance: NDArray[np.float64] = shaped('n')
    depth: NDArray[np.float64] = shaped('n', 'L')
    patch_offsets: NDArray[np.int64] = shaped('n+1')
    patch_links: NDArray[np.int64] = shaped('P')
    patch_flags: NDArray[np.int64] = shaped('P')
    patch_thickness: NDArray[np.float64] = shaped('P')
    node_offsets: NDArray[np.int64] = shaped('P+1')
    node_points_object: NDArray[np.float64] = shaped('N', 3)
    node_normals_object: NDArray[np.float64] = shaped('N', 3)
    node_areas: NDArray[np.float64] = shaped('N')
    node_depths: NDArray[np.float64] = shaped('N')
    vertex_offsets: NDArray[np.int64] = shaped('n+1')
    vertex_points_object: NDArray[np.float64] = shaped('K', 3)
    vertex_vectors_object: NDArray[np.float64] = shaped('K', 3)


@dataclass(frozen=True, eq=False)
class GraspStateBatch:
    """
    Forces, deformation and stability: what the planner is told.

    Rows of patches follow ``patch_offsets`` as in ``ContactBatch``, with patches
    that carry no load left out. Forces act *on the object*, frame object.

    Attributes
    ----------
    clearance, obstacle_clearance, self_clearance, depth
        As in ``ContactBatch``.
    patch_offsets : (n + 1,) int
    patch_links, patch_flags : (P,) int
        Flags now hold those of mechanics too; ``quantitative`` is false if any is bad.
    patch_points_object : (P, 3) float
        Centre of pressure.
    patch_normals_object : (P, 3) float
        Unit resultant direction, into the object.
    patch_forces_object, patch_torques_object : (P, 3) float
        Resultant of the pressures [N], and its moment about the centre of pressure [N m].
    patch_areas, patch_peak_pressures, patch_friction_radii : (P,) float
        Loaded area [m^2]; smoothed peak pressure [Pa]; effective torsion radius [m].
    patch_normal_stiffness, patch_tangential_stiffness : (P,) float
        Incremental stiffness of the contact [N/m].
    patch_strain_energies, patch_von_mises : (P,) float
        Work of the patch's forces on the object [J] and estimated largest von Mises stress
        below it [Pa], only at ``DETAIL_SURFACE``, else NaN.
    patch_max_deformations, patch_mean_deformations : (P,) float
        Displacement of the patch's loaded nodes after the surface's best-fit rigid motion is
        taken away, the largest and the mean over the loaded area [m]; as above.
    minimal_forces_object, minimal_torques_object : (P, 3) float
        Smallest forces that hold the worst load case within friction, pressure and
        torque limits, and the moments about the points; zero where ``capable`` is false.
    minimal_envelope : (P,) float
        Largest minimal normal force of the patch over all load cases [N].
    centre_of_mass_object : (n, 3) float
        Of the deformed object where forces were computed.
    volume_change, strain_energy, max_displacement : (n,) float
        [m^3], [J], [m].
    max_deformation, mean_deformation, peak_von_mises : (n,) float
        Displacement of the surface after its best-fit rigid motion is taken away, the
        largest and the mean over its area [m]; the largest of ``patch_von_mises`` [Pa].
        Only at ``DETAIL_SURFACE``, else NaN.
    residual : (n,) float
        Unbalanced wrench of the simulated pad forces, and of the friction against
        ``settled_object``, over the sum of the former [-].
    shift_object : (n, 6) float
        Small rigid motion of the object (at its centre of mass; translation [m],
        rotation vector [rad]) that would balance them.
    capable, holds, quantitative : (n,) bool
        Forces within the limits exist for every load case; this state holds them with
        the joints held; the numbers lie in the model's range.
    margin : (n,) float
        Largest multiple of the load cases that this state holds, at most ``MARGIN_CAP``.
    worst_case : (n,) int
        Load case that fails first; -1 if none was examined.
    needed_force, allowed_force : (n,) float
        Where not ``capable``: largest normal force if friction alone limited the forces
        (``inf``: not even then), and the largest that a contact may carry [N]; of some of
        the load cases, at ``DETAIL_SURFACE`` of all. Else NaN.
    needed_friction, held_share : (n,) float
        Where not ``capable``, only at ``DETAIL_SURFACE``: the friction that would do (``inf``:
        none would), and the share of the loads that forces within the limits hold. Else NaN.
    epsilon, wrench_volume : (n,) float
        Ferrari-Canny metrics, only at ``DETAIL_SURFACE``, else NaN.
    vertices_object : (n, V, 3) or (0, V, 3) float
        Deformed surface, only at ``DETAIL_SURFACE``.
    vertex_pressures : (n, V) or (0, V) float
        Pressure at the object's own vertices, for pictures [Pa].
    """

    clearance: NDArray[np.float64] = shaped('n', 'L')
    obstacle_clearance: NDArray[np.float64] = shaped('n')
    self_clearance: NDArray[np.float64] = shaped('n')
    depth: NDArray[np.float64] = shaped('n', 'L')
    patch_offsets: NDArray[np.int64] = shaped('n+1')
    patch_links: NDArray[np.int64] = shaped('P')
    patch_flags: NDArray[np.int64] = shaped('P')
    patch_points_object: NDArray[np.float64] = shaped('P', 3)
    patch_normals_object: NDArray[np.float64] = shaped('P', 3)
    patch_forces_object: NDArray[np.float64] = shaped('P', 3)
    patch_torques_object: NDArray[np.float64] = shaped('P', 3)
    patch_areas: NDArray[np.float64] = shaped('P')
    patch_peak_pressures: NDArray[np.float64] = shaped('P')
    patch_friction_radii: NDArray[np.float64] = shaped('P')
    patch_normal_stiffness: NDArray[np.float64] = shaped('P')
    patch_tangential_stiffness: NDArray[np.float64] = shaped('P')
    patch_strain_energies: NDArray[np.float64] = shaped('P')
    patch_von_mises: NDArray[np.float64] = shaped('P')
    patch_max_deformations: NDArray[np.float64] = shaped('P')
    patch_mean_deformations: NDArray[np.float64] = shaped('P')
    minimal_forces_object: NDArray[np.float64] = shaped('P', 3)
    minimal_torques_object: NDArray[np.float64] = shaped('P', 3)
    minimal_envelope: NDArray[np.float64] = shaped('P')
    centre_of_mass_object: NDArray[np.float64] = shaped('n', 3)
    volume_change: NDArray[np.float64] = shaped('n')
    strain_energy: NDArray[np.float64] = shaped('n')
    max_displacement: NDArray[np.float64] = shaped('n')
    max_deformation: NDArray[np.float64] = shaped('n')
    mean_deformation: NDArray[np.float64] = shaped('n')
    peak_von_mises: NDArray[np.float64] = shaped('n')
    residual: NDArray[np.float64] = shaped('n')
    shift_object: NDArray[np.float64] = shaped('n', 6)
    capable: NDArray[np.bool_] = shaped('n')
    holds: NDArray[np.bool_] = shaped('n')
    quantitative: NDArray[np.bool_] = shaped('n')
    margin: NDArray[np.float64] = shaped('n')
    worst_case: NDArray[np.int64] = shaped('n')
    needed_friction: NDArray[np.float64] = shaped('n')
    needed_force: NDArray[np.float64] = shaped('n')
    allowed_force: NDArray[np.float64] = shaped('n')
    held_share: NDArray[np.float64] = shaped('n')
    epsilon: NDArray[np.float64] = shaped('n')
    wrench_volume: NDArray[np.float64] = shaped('n')
    vertices_object: NDArray[np.float64] = shaped('n?', 'V', 3)
    vertex_pressures: NDArray[np.float64] = shaped('n?', 'V')

    @property
    def count(self) -> int:
        """Return the number of configurations."""
        return len(self.holds)
