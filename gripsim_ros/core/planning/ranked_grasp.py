"""Results of the planner: ranked grasps, their in-hand manipulation, and the nearest miss."""

from dataclasses import MISSING, Field, dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from ..batches import GraspStateBatch
from ..fields import Row, declared, shaped, single, taken, takes_fields
from ..transforms import apply, inverse


#: Levels of manipulation: by whom the object is moved to its wanted pose.
HAND_ONLY, COMPLIANT, WITH_ARM, NOWHERE = 'hand_only', 'compliant', 'with_arm', 'none'
LEVELS = HAND_ONLY, COMPLIANT, WITH_ARM, NOWHERE
#: Phases of an arm's motion, in order: to the pre-grasp, to the grasp, and so on.
START, APPROACH, LIFT, CARRY, LOWER, RETREAT = ARM_PHASES = (
    'start', 'approach', 'lift', 'carry', 'lower', 'retreat')
#: Of grasps that the time did not suffice to follow, where levels are counted.
NOT_ASKED = 'not_asked'
#: Methods by which a grasp was found: this project's, and the grasp paper's as printed.
OWN, PUBLISHED = 'own', 'published'
#: Beginning of the warning about a published grasp whose computed forces friction cannot bear.
CONES_LEFT = 'computed forces pull or slip'
#: Shift and turn while closing beyond which the grasp is another than the one planned [m, rad]:
#: those within which a state is judged to hold.
MAX_WAY, MAX_CLOSING_TURN = 0.002, np.deg2rad(2.0)


@dataclass(frozen=True, eq=False)
class ManipulationStep:
    """
    The held object at one step of its way, found anew there; in the object's *first* frame.

    Attributes
    ----------
    T_object_moved : (4, 4) float
        Pose of the object.
    links : tuple of str, (k,)
        Of the hand, one a contact.
    points, normals : (k, 3) float
        Centres of pressure [m], unit normals into the object.
    forces, minimal_forces : (k, 3) float
        That the pads exert, and the least that hold the loads [N]; on the object.
    joint_efforts : (J,) float
        Joint torques of the minimal forces [N m].
    centre_of_mass : (3,) float
        Of the deformed object [m].
    margin : float
        Multiple of the task's loads that is held [-].
    slip_share : float
        Largest tangential displacement of a patch over the largest without slip [-].
    by_arm : bool
        The arm moves the palm in this step.
    """

    T_object_moved: Array
    links: tuple[str, ...]
    points: Array
    normals: Array
    forces: Array
    minimal_forces: Array
    joint_efforts: Array
    centre_of_mass: Array
    margin: float
    slip_share: float
    by_arm: bool

    @property
    def normal_force(self) -> float:
        """Return the sum of the normal forces [N]."""
        return float((self.forces * self.normals).sum())

    @property
    def minimal_normal_force(self) -> float:
        """Return the sum of the normal parts of the minimal forces [N]."""
        return float((self.minimal_forces * self.normals).sum())


@dataclass(frozen=True, eq=False)
class ManipulationResult:
    """
    Whether and how a held object can be moved to its wanted pose.

    Attributes
    ----------
    level : str
        ``hand_only``: the joints alone follow without slip (seed 001, equation (2));
        ``compliant``: the joints alone, and the patches absorb the rest without slipping;
        ``with_arm``: the palm moves too; ``none``: not at all.
    residual : float
        Largest part of the contacts' motion in a step that the joints cannot follow [-].
    slip_share : float
        Largest tangential displacement of a patch over the largest without slip [-].
    joints : (m, J) float
        Joint positions after each step that succeeded, the grasp first [rad].
    T_object_palm : (m, 4, 4) float
        Pose of the palm in the object's *first* frame after each of them.
    shares : (m,) float
        Fraction of the whole path [-].
    failed_step : int
        Number of the first step that fails, of the fingers alone where the arm helps, else of
        the attempt that came farthest; -1: none.
    message : str
        One sentence: why that step fails.
    steps : tuple of ManipulationStep, (m,)
        Forces and balance after each step, the grasp first.
    """

    level: str
    residual: float
    slip_share: float
    joints: Array
    T_object_palm: Array
    shares: Array
    failed_step: int
    message: str
    steps: tuple[ManipulationStep, ...] = ()

    @property
    def by_fingers(self) -> bool:
        """Return True if the fingers alone move the object to its wanted pose."""
        return self.level in (HAND_ONLY, COMPLIANT)


def _of_one_patch(number: Field[Any]) -> Field[Any]:
    """Return the field of a contact for a field of the batch; numbers need not be given."""
    kind = single(number)
    default = {float: np.nan, int: 0}.get(kind, MISSING)
    return taken(number, number.metadata['contact'], kind, number.metadata['shape'][1:],
                 default=default)


@takes_fields(_of_one_patch(number) for number in declared(GraspStateBatch)
              if number.metadata['contact'])
class GraspContact(Row):
    """One patch of a ranked grasp; forces act on the object, SI, NaN where not computed."""

    link: str
    mean_pressure: float = shaped(
        unit='Pa', default=np.nan, text='normal part of the closing force over the area')
    equivalent_radius: float = shaped(unit='m', default=np.nan, text='of a disc of the same area')
    surface_uncertainty: float = shaped(
        unit='m', default=0.0, text="expected error of the surface's place there; 0 where it was "
        'seen or given')


@dataclass(frozen=True)
class ScoreTerm:
    """One term of a score: ``contribution = weight x normalised value``."""

    name: str
    value: float
    unit: str
    weight: float
    contribution: float
    normalised: float = 0.0


@dataclass(frozen=True)
class Robustness:
    """
    Robustness of a grasp against uncertain numbers of the request.

    Of ``samples`` a share ``holding`` holds, with its standard error ``error``;
    ``mean_margin`` is the mean multiple of the loads that is held.
    """

    samples: int
    holding: float
    error: float
    mean_margin: float


@dataclass(frozen=True, eq=False)
class ClosingMotion:
    """
    What becomes of a free object while a hand closes on it and squeezes.

    Attributes
    ----------
    T_object_moved : (4, 4) float
        Pose of the object in its frame as the fingers found it.
    way : float
        Of its centre of mass [m].
    turn : float
        [rad].
    lost_time : float
        Between the first touch of the first finger and that of the last that comes to press [s].
    rests : bool
        In the end it is at rest, and two links or more press it.
    bears : bool or None
        The closed hand then bears every load of the task, the object as free; None: not asked.
    """

    T_object_moved: Array
    way: float
    turn: float
    lost_time: float
    rests: bool
    bears: bool | None = None

    @property
    def stays(self) -> bool:
        """Return whether the object rests where the fingers found it, nearly."""
        return bool(self.rests and self.way <= MAX_WAY and self.turn <= MAX_CLOSING_TURN)


@dataclass(frozen=True, eq=False)
class ClosingReport:
    """
    What closing changed of a given grasp.

    ``joints_given``, ``joints_opened`` and ``joints_closed (J,)`` [rad] are the joints as given,
    where the fingers were free, and where the object is held, or nearly; ``gentlest_margin``
    [-] is the multiple of the loads held there, ``touch_margin`` that which a free object bears
    in a hand that closes by touch and presses on (``touch_closing``), NaN where it was stopped.
    """

    joints_given: Array
    joints_opened: Array
    joints_closed: Array
    gentlest_margin: float
    touch_margin: float = np.nan


@takes_fields(taken(number, number.name, single(number), (), default=np.nan)
              for number in declared(GraspStateBatch) if number.metadata['grasp'])
class RankedGrasp(Row):
    """
    A grasp with its reasons; poses are of the palm in the object's frame.

    ``trajectory (m, J)`` [rad] leads from the open hand to the first state that holds;
    ``grip_positions`` and ``grip_efforts (J,)`` [rad, N m] are the commands there.
    ``vertices`` and ``vertex_pressures`` are the deformed surface [m, Pa] where it was
    computed, else None. ``reason`` says why a grasp under evaluation does not hold.
    ``damage_margin`` is the damage pressure of object or pads over the peak pressure, or the force
    that a link may press with over the largest, whichever is less [-], ``inf`` without limit or
    contact; ``robustness`` is None where none was judged, ``reach`` unless
    the task has a displacement and there was time to follow it; ``arm_motion`` is an
    ``ArmMotion`` where an arm was asked for.
    ``T_object_settled (4, 4)`` is where the object settles between the fingers, in
    its frame as they find it; contacts, surface and centre of mass are expressed in the latter.
    ``balanced`` is False where ``residual`` stays above the tolerance however it settles.
    ``limiting_load (6,)`` is the load that fails first when all grow alike (at the largest
    margin looked for, the one that uses most of a limit): force [N], torque about the deformed
    centre of mass [N m], as the task has it, not times ``margin``; None without one.
    ``closing`` says what moved where a given grasp was closed, else None; ``closing_motion``
    what becomes of a free object meanwhile, None where nobody asked. ``elasticity`` says how
    the object yields in these numbers: ``half_space``, or ``body`` by its own compliance.
    ``method`` is ``published`` where the grasp paper's planner found it, else ``own``.
    The numbers below are NaN where not computed.
    """

    rank: int
    hypothesis: int
    preshape: str
    stable: bool
    T_object_palm: Array
    T_object_pregrasp: Array
    trajectory: Array
    grip_positions: Array
    grip_efforts: Array
    contacts: tuple[GraspContact, ...]
    score: float
    terms: tuple[ScoreTerm, ...]
    margin: float
    quantitative: bool
    max_displacement: float
    centre_of_mass: Array
    warnings: tuple[str, ...] = ()
    reason: str = ''
    vertices: Array | None = None
    vertex_pressures: Array | None = None
    damage_margin: float = np.inf
    robustness: Robustness | None = None
    reach: ManipulationResult | None = None
    arm_motion: Any = None
    T_object_settled: Array = field(default_factory=lambda: np.eye(4))
    limiting_load: Array | None = None
    balanced: bool = True
    closing: ClosingReport | None = None
    closing_motion: ClosingMotion | None = None
    elasticity: str = 'half_space'
    method: str = OWN

    @property
    def centre_in_hand(self) -> Array:
        """Return the deformed centre of mass (3,), settled, in the frame of the palm [m]."""
        return apply(inverse(self.T_object_palm), self.centre_of_mass[None])[0]

    def __str__(self) -> str:
        """Return the grasp in one line: rank, verdict, score, contacts, their normal forces."""
        verdict = f'stable, score {self.score:.2f}' if self.stable else 'not stable' + (
            f' ({self.reason})' if self.reason else '')
        count = len(self.contacts)
        force = sum(abs(float(contact.force @ contact.normal)) for contact in self.contacts)
        own = ', own compliance' if self.elasticity == 'body' else ''
        return (f'Grasp {self.rank}: {verdict}, {count} contact{"" if count == 1 else "s"}, '
                f'{force:.1f} N{own}')

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class NearestMiss:
    """
    The rejected hypothesis nearest to a grasp, with what it lacked.

    ``T_object_palm`` and ``joint_positions (J,)`` [rad] are where it was nearest;
    ``capable`` is True if forces within all limits hold the task, ``margin`` the multiple of
    its loads that the state held. Not ``capable``: ``needed_friction`` [-] would do
    within the limits, ``needed_force`` [N] is the largest normal force if friction alone
    limited the forces, ``allowed_force`` [N] the largest that a contact may carry and
    ``held_share`` [-] the share of the loads that can be held; ``inf``: none would do, NaN:
    not worked out. ``peak_pressure`` [Pa] is that of the state, ``max_pressure`` [Pa] where
    damage of object or pads begins.
    """

    reason: str
    hypothesis: int
    preshape: str
    T_object_palm: Array
    joint_positions: Array
    links: tuple[str, ...]
    capable: bool
    margin: float
    friction: float
    needed_friction: float
    needed_force: float
    allowed_force: float
    held_share: float
    peak_pressure: float
    max_pressure: float
    contacts: tuple[GraspContact, ...] = ()
