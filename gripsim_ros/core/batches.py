"""
Batches that travel round the ring, from one stage to the next.

Every stage is a pure function from one of these batches to the next; over ROS
each is one message with the same field names (see ``gripsim_interfaces``).
All numbers are SI; frames are the first token of a name. ``n`` configurations,
``J`` actuated joints, ``L`` links with geometry, ``c`` load cases, ``P`` patches,
``N`` patch nodes.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array, BoolArray, IntArray
from .errors import ShapeError
from .fields import checked_array, documented, shaped, shapes_of
from .transforms import checked_rigid

#: Only distances are wanted: open hands, approaches, free closing steps.
DETAIL_CLEARANCE = 0
#: Contacts, forces, centre of mass and the stability verdict.
DETAIL_FORCES = 1
#: All of it, with contact vertices, the deformed surface and grasp metrics.
DETAIL_SURFACE = 2


#: By which model of the object a question is to be answered: as the stage is configured; by
#: half-spaces; by these, while the object's own compliance is prepared for questions to come; by
#: its own compliance; by half-spaces, and all else by the rules of the papers as printed.
AS_CONFIGURED = ''
HALF_SPACE = 'half_space'
HALF_SPACE_FIRST = 'half_space_first'
OWN_COMPLIANCE = 'body'
AS_PRINTED = 'as_printed'
ELASTICITIES = (AS_CONFIGURED, HALF_SPACE, HALF_SPACE_FIRST, OWN_COMPLIANCE, AS_PRINTED)


#: Flags of a contact patch that tell why its numbers are not quantitative.
PATCH_REACHES_LINK_EDGE = 1
PATCH_REACHES_OBJECT_EDGE = 2
PATCH_COARSE = 4
PATCH_THROUGH = 8
PATCH_THIN = 16
PATCH_STRAINED = 32
PATCH_SPREAD = 64
PATCH_CLOSE = 128
PATCH_OVER_EDGE = 256
PATCH_GUESSED = 512
PATCH_SWINGS = 1024

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
    PATCH_CLOSE: 'two contacts lie near each other',
    PATCH_OVER_EDGE: 'the indenter presses on both sides of an edge of the object',
    PATCH_GUESSED: 'the surface under the contact is a guess: few wide triangles curve there',
    PATCH_SWINGS: 'a slender part of the object swings as far as friction lets it, which is not '
                  'told'}

#: Columns of ``load_cases``: gravity [m/s^2], then force [N] and torque [N m].
LOAD_CASE_WIDTH = 9
#: Columns of ``obstacles``: kind, three dimensions, twelve of the pose ``[R | p]``.
OBSTACLE_WIDTH = 16
OBSTACLE_BOX = 1
OBSTACLE_SPHERE = 2
OBSTACLE_CYLINDER = 3
#: How many dimensions each kind has.
OBSTACLE_DIMENSIONS = {OBSTACLE_BOX: 3, OBSTACLE_SPHERE: 1, OBSTACLE_CYLINDER: 2}


def check_obstacles(rows: Array, name: str) -> None:
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
    elasticity : str
        Model of the object, one of ``ELASTICITIES``.

    Raises
    ------
    ShapeError
        An array has another shape or is not finite, a pose is not rigid, an obstacle is of no
        known kind or size, or ``detail`` or ``elasticity`` is unknown.
    """

    T_object_palm: Array = shaped('n', 4, 4)
    joint_positions: Array = shaped('n', 'J')
    joint_displacements: Array = shaped('n', 'J')
    sweep_object: Array = shaped('n', 3)
    load_cases: Array = shaped(
        'c', LOAD_CASE_WIDTH, default_factory=lambda: np.zeros((0, LOAD_CASE_WIDTH)))
    obstacles: Array = shaped(
        'k', OBSTACLE_WIDTH, default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))
    detail: int = DETAIL_FORCES
    settled_object: Array = shaped('n', 6, default=None)      # by __post_init__
    elasticity: str = AS_CONFIGURED

    def __post_init__(self) -> None:
        """Check every field; take objects that have not moved where nothing is said."""
        n, joints = self._take('joint_positions', 'any', 'any').shape
        if self.settled_object is None:
            object.__setattr__(self, 'settled_object', np.zeros((n, 6)))
        sizes: dict[str | int, str | int] = {'n': n, 'J': joints, 'c': 'any', 'k': 'any'}
        for name, shape in shapes_of(ConfigurationBatch).items():
            self._take(name, *(sizes.get(size, size) for size in shape))
        checked_rigid(self.T_object_palm, 'T_object_palm')
        check_obstacles(self.obstacles, 'obstacles')
        if self.detail not in (DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE):
            raise ShapeError(f'detail must be 0, 1 or 2, got {self.detail!r:.60}')
        if self.elasticity not in ELASTICITIES:
            raise ShapeError(f'elasticity must be one of {", ".join(ELASTICITIES[1:])}, or empty, '
                             f'got {self.elasticity!r:.60}')

    def _take(self, name: str, *shape: int | str) -> Array:
        """Keep a field as finite numbers of a shape, and return it."""
        array = checked_array(getattr(self, name), name, *shape)
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
    T_object_link: Array = shaped('n', 'L', 4, 4)
    twists_object: Array = shaped('n', 'L', 6)


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
    node_spreads : (N,) float
        Area over which a node's load is spread over its own: more than 1 beside the rim of a
        link, where pressure grows to infinity [-].
    node_depths : (N,) float
        Overlap along the normal [m]; negative is a gap.
    vertex_offsets : (n + 1,) int
        Contact vertices per configuration; all zero below ``DETAIL_SURFACE``.
    vertex_points_object, vertex_vectors_object : (K, 3) float
        Vertices of either mesh inside the other, and the way along the relative
        motion to their first exit.
    """

    configurations: ConfigurationBatch
    clearance: Array = shaped('n', 'L')
    obstacle_clearance: Array = shaped('n', may_be='inf')
    self_clearance: Array = shaped('n', may_be='inf')
    depth: Array = shaped('n', 'L')
    patch_offsets: IntArray = shaped('n+1')
    patch_links: IntArray = shaped('P')
    patch_flags: IntArray = shaped('P')
    patch_thickness: Array = shaped('P', may_be='inf')
    node_offsets: IntArray = shaped('P+1')
    node_points_object: Array = shaped('N', 3)
    node_normals_object: Array = shaped('N', 3)
    node_areas: Array = shaped('N')
    node_spreads: Array = shaped('N')
    node_depths: Array = shaped('N')
    vertex_offsets: IntArray = shaped('n+1')
    vertex_points_object: Array = shaped('K', 3)
    vertex_vectors_object: Array = shaped('K', 3)


@documented
@dataclass(frozen=True, eq=False)
class GraspStateBatch:
    """
    Forces, deformation and stability: what the planner is told.

    Rows of patches follow ``patch_offsets`` as in ``ContactBatch``, with patches
    that carry no load left out. Forces act *on the object*. What is told only at
    ``DETAIL_SURFACE`` is NaN below it.
    """

    clearance: Array = shaped('n', 'L', unit='m', text='as in ``ContactBatch``')
    obstacle_clearance: Array = shaped('n', may_be='inf', unit='m', text='as in ``ContactBatch``')
    self_clearance: Array = shaped('n', may_be='inf', unit='m', text='as in ``ContactBatch``')
    depth: Array = shaped('n', 'L', unit='m', text='as in ``ContactBatch``')
    patch_offsets: IntArray = shaped(
        'n+1', text='patches of configuration i are ``patch_offsets[i]:patch_offsets[i + 1]``')
    patch_links: IntArray = shaped('P', text='index of the link that presses')
    patch_flags: IntArray = shaped(
        'P', contact='flags', text='sum of ``PATCH_*``, those of mechanics too; 0 in the range of '
        'the model, else ``quantitative`` is false')
    patch_points_object: Array = shaped(
        'P', 3, unit='m', contact='point', text='centre of pressure')
    patch_normals_object: Array = shaped(
        'P', 3, contact='normal', text='unit direction of the resultant, into the object')
    patch_forces_object: Array = shaped(
        'P', 3, unit='N', contact='closing_force', text='resultant of the pressures')
    patch_torques_object: Array = shaped(
        'P', 3, unit='N m', contact='closing_torque',
        text='moment of the pressures about the centre of pressure')
    patch_areas: Array = shaped('P', unit='m^2', contact='area', text='loaded area')
    patch_peak_pressures: Array = shaped(
        'P', unit='Pa', contact='peak_pressure', text='smoothed peak pressure')
    patch_friction_radii: Array = shaped(
        'P', unit='m', contact='friction_radius', text='effective radius of torsion')
    patch_normal_stiffness: Array = shaped(
        'P', unit='N/m', contact='normal_stiffness', text='incremental')
    patch_tangential_stiffness: Array = shaped(
        'P', unit='N/m', contact='tangential_stiffness', text='incremental')
    patch_strain_energies: Array = shaped(
        'P', may_be='nan', unit='J', contact='strain_energy',
        text="work of the patch's forces on the object, at ``DETAIL_SURFACE``")
    patch_von_mises: Array = shaped(
        'P', may_be='nan', unit='Pa', contact='peak_von_mises',
        text='estimated largest von Mises stress below the patch, at ``DETAIL_SURFACE``')
    patch_max_deformations: Array = shaped(
        'P', may_be='nan', unit='m', contact='max_deformation',
        text="largest displacement of a loaded node without the surface's best-fit rigid motion, "
        'at ``DETAIL_SURFACE``')
    patch_mean_deformations: Array = shaped(
        'P', may_be='nan', unit='m', contact='mean_deformation',
        text='the same, mean over the loaded area, at ``DETAIL_SURFACE``')
    link_stiffness: Array = shaped(
        'n', 'L', 'L', unit='N/m', text='normal force that each link gains as each comes nearer, '
        'the others held: incremental, 0 for links without load')
    minimal_forces_object: Array = shaped(
        'P', 3, unit='N', contact='force', text='smallest that hold the worst load case within '
        'the limits of friction, pressure and torque; zero where not ``capable``')
    minimal_torques_object: Array = shaped(
        'P', 3, unit='N m', contact='torque', text='their moments about the centre of pressure')
    minimal_envelope: Array = shaped(
        'P', unit='N', text='largest minimal normal force of the patch over all load cases')
    centre_of_mass_object: Array = shaped(
        'n', 3, may_be='incapable', unit='m',
        text='of the deformed object where forces were computed')
    volume_change: Array = shaped('n', unit='m^3', text='of the object')
    strain_energy: Array = shaped('n', unit='J', grasp='deformation', text='of the object')
    max_displacement: Array = shaped('n', unit='m', text="of the object's surface")
    max_deformation: Array = shaped(
        'n', may_be='nan', unit='m', grasp='deformation',
        text='largest displacement of the surface without its best-fit rigid motion, at '
        '``DETAIL_SURFACE``')
    mean_deformation: Array = shaped(
        'n', may_be='nan', unit='m', grasp='deformation',
        text='the same, mean over its area, at ``DETAIL_SURFACE``')
    peak_von_mises: Array = shaped(
        'n', may_be='nan', unit='Pa', grasp='deformation',
        text='largest of ``patch_von_mises``, at ``DETAIL_SURFACE``')
    residual: Array = shaped(
        'n', may_be='incapable', grasp='settled',
        text='unbalanced wrench of the simulated pad forces, and of the friction against '
        '``settled_object``, over the sum of the former')
    shift_object: Array = shaped(
        'n', 6, unit='m, rad', text='small rigid motion of the object, at its centre of mass, '
        'that would balance them: translation, rotation vector')
    capable: BoolArray = shaped('n', text='forces within the limits exist for every load case')
    holds: BoolArray = shaped('n', text='this state holds them all, the joints held')
    quantitative: BoolArray = shaped('n', text="the numbers lie in the model's range")
    margin: Array = shaped(
        'n', text='largest multiple of the load cases that is held, at most ``MARGIN_CAP``')
    worst_case: IntArray = shaped('n', text='load case that fails first; -1 if none was examined')
    needed_friction: Array = shaped(
        'n', may_be='nan inf',
        text='friction that would do where not ``capable``, at ``DETAIL_SURFACE``; ``inf``: none '
        'would')
    needed_force: Array = shaped(
        'n', may_be='nan inf', unit='N',
        text='largest normal force if friction alone limited the forces, where not ``capable``, '
        'of some load cases, at ``DETAIL_SURFACE`` of all; ``inf``: not even then')
    allowed_force: Array = shaped(
        'n', may_be='nan', unit='N',
        text='largest normal force that a contact may carry, of the same')
    held_share: Array = shaped(
        'n', may_be='nan',
        text='share of the loads that forces within the limits hold where not ``capable``, at '
        '``DETAIL_SURFACE``')
    epsilon: Array = shaped(
        'n', may_be='nan', grasp='quality',
        text='of Ferrari and Canny for the contacts as hard fingers, at ``DETAIL_SURFACE``; above '
        '0: they close by force')
    wrench_volume: Array = shaped(
        'n', may_be='nan', grasp='quality', text='of their hull, at ``DETAIL_SURFACE``')
    vertices_object: Array = shaped(
        'n?', 'V', 3, unit='m', text='deformed surface, at ``DETAIL_SURFACE``')
    vertex_pressures: Array = shaped(
        'n?', 'V', unit='Pa', text="pressure at the object's own vertices, for pictures, at "
        '``DETAIL_SURFACE``')
    centre_shift: Array = shaped(
        'n', may_be='nan', unit='m', grasp='deformation',
        text='displacement of the centre of mass without the rigid motion that best fits the '
        'surface far from the pads, at ``DETAIL_SURFACE``')
    own_compliance: BoolArray = shaped(
        'n', text='forces by the own compliance of the object, else by half-spaces')

    @property
    def count(self) -> int:
        """Return the number of configurations."""
        return len(self.holds)
