"""What a grasp's execution follows: timed rows, what fingers are to feel, options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import HandError, TaskError
from ...core.hand import Finger, HandModel
from .arm import ArmPlan
from .feeling.policies import KEEP, POLICIES, STOP
from .hold_plan import HoldPlan
from .touch_plan import touch_plan, TouchPlan
from .way import WayPlan

Array = NDArray[np.float64]

#: Largest squeeze that a planned grasp is said to survive [rad].
MOST_SQUEEZE = 0.03
#: Joints that move less than this while closing are not squeezed [rad].
REST = 1e-4


@dataclass(frozen=True)
class ExecutionOptions:
    """
    Tolerances and times.

    Attributes
    ----------
    force_factor : float
        A finger stops at this multiple of its planned normal force, that of closing.
    touch_force : float
        Least normal force that counts as contact [N].
    joint_tolerance : float
        Largest error of a joint that touches nothing [rad].
    slip_tolerance : float
        Largest motion of the object in the hand while it is lifted [m].
    lag_time : float
        How long an error or a lost contact must last [s].
    start_time : float
        In which the hand begins to close [s]; until then no joint lags.
    settle_time : float
        Rest before anything is judged [s].
    motion_time : float
        Least time for shaping and releasing the hand [s].
    grip_time : float
        From the last row to the grip [s].
    hold_time : float
        Where a goal names none [s].
    motion_timeout : float
        Added to the time that a motion should take [s].
    go_timeout : float
        Longest wait for the sign to go on [s].
    carry_speed, carry_spin : float
        Of palm and object on the object's way [m/s], [rad/s].
    touch_speed : float
        Of joints near the planned contact, when the hand closes by touch [rad/s].
    touch_beyond : float
        How far fingers go on that do not feel it there [rad].
    force_room : float
        Forces of closing by touch are at most this multiple of the planned ones.
    loading_time : float
        Longest time in which all fingers are to come to their planned forces [s].
    step_delay : float
        Until a step of the fingers has been carried out and felt, beside its own time [s].
    """

    force_factor: float
    touch_force: float
    joint_tolerance: float
    slip_tolerance: float
    lag_time: float
    start_time: float
    settle_time: float
    motion_time: float
    grip_time: float
    hold_time: float
    motion_timeout: float
    go_timeout: float
    carry_speed: float
    carry_spin: float
    touch_speed: float
    touch_beyond: float
    force_room: float
    loading_time: float
    step_delay: float

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> 'ExecutionOptions':
        """Return the options of a mapping, which may hold other keys too."""
        return cls(**{field.name: values[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class PlannedContact:
    """A link and the normal force it is planned to press with [N]."""

    link: str
    force: float

    @classmethod
    def of_patch(cls, link: str, normal: Array, closing_force: Array, force: Array
                 ) -> 'PlannedContact':
        """
        Return the contact of a planned patch; forces (3,) [N] act on the object.

        The link is to press as at the end of closing: that is the state whose margin was
        judged. The least force of the worst load case is no such state: without the load it
        does not balance, and other loads ask for other forces. It counts where a plan tells no
        force of closing.
        """
        told = closing_force if np.any(closing_force) else force
        return cls(link, max(0.0, float(np.dot(told, normal))))


@dataclass(frozen=True)
class FingerPlan:
    """Joints of one finger alone, its links, and the planned sum of its normal forces [N]."""

    name: str
    joints: tuple[int, ...]
    links: tuple[str, ...]
    force: float


@dataclass(frozen=True)
class Wishes:
    """
    What a goal asks for beside the grasp; 0 is the default each.

    ``speed_scale`` of the planned closing, ``squeeze`` [rad] on the joints that close,
    ``hold_time`` [s], ``lift_height`` [m], 0 = no lift; ``carry`` along the planned way, and
    with ``release`` set the object down, open the hand and draw it back. ``by_touch``: close until
    the pads bear the planned forces; ``hold_by_feel``, which closes so too: forces then follow
    what pads and wrist tell. ``missed_contact``: what comes of a contact that is not found, one
    of ``POLICIES``: go on with the others if they hold (KEEP), open and draw back for another
    grasp (REPLAN) or for good (RELEASE), or STOP as it is.
    """

    wait_for_go: bool = False
    speed_scale: float = 1.0
    squeeze: float = 0.0
    hold_time: float = 0.0
    lift_height: float = 0.0
    release: bool = False
    carry: bool = False
    by_touch: bool = False
    hold_by_feel: bool = False
    missed_contact: str = STOP

    @property
    def feels(self) -> bool:
        """Return whether the hand closes by touch."""
        return self.by_touch or self.hold_by_feel

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, high in (('speed_scale', np.inf), ('squeeze', MOST_SQUEEZE),
                           ('hold_time', np.inf), ('lift_height', np.inf)):
            value = getattr(self, name)
            if not (np.isfinite(value) and 0.0 <= value <= high):
                allowed = f'0 to {high}' if np.isfinite(high) else 'finite and not negative'
                raise TaskError(f'{name} must be {allowed}, got {value}')
        if self.missed_contact not in POLICIES:
            raise TaskError(f'missed_contact must be one of {", ".join(POLICIES)}, got '
                            f'{self.missed_contact!r}')
        if self.missed_contact == KEEP and not self.feels:
            raise TaskError('missed_contact keep needs by_touch: by angles nobody knows what '
                            'the others bear')


@dataclass(frozen=True, eq=False)
class ExecutionPlan:
    """
    Rows to follow and what is expected.

    Attributes
    ----------
    rows : (m, J) float
        From the open hand to the grip [rad].
    times : (m,) float
        After the start of closing [s], from 0 on.
    closed : (J,) float
        The planned joints at the end of closing, without the grip [rad].
    contacts : tuple of PlannedContact
        One a link.
    fingers : tuple of FingerPlan
    wishes : Wishes
    joint_names : tuple of str, (J,)
    lower, upper : (J,) float
        Limits of the joints [rad].
    way : WayPlan or None
        Along which the object is carried.
    arm : ArmPlan or None
        What the arm does that carries the hand.
    touch : TouchPlan or None
        How fingers feel their way, where the hand closes by touch.
    hold : HoldPlan or None
        From where forces follow what is felt, where the hand holds by feel.
    torques : (J,) float or None
        Of the joints while the contacts press as planned [N m]; None: motors tell nothing.
    keep : HoldPlan or None
        By which it is judged whether the contacts that are found hold the object alone.
    """

    rows: Array
    times: Array
    closed: Array
    contacts: tuple[PlannedContact, ...]
    fingers: tuple[FingerPlan, ...]
    wishes: Wishes
    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    way: WayPlan | None = None
    arm: ArmPlan | None = None
    touch: TouchPlan | None = None
    hold: HoldPlan | None = None
    torques: Array | None = None
    keep: HoldPlan | None = None

    def setpoint(self, elapsed: float) -> Array:
        """Return where the joints are sent (J,) so long after the start of closing [rad]."""
        return np.array([np.interp(elapsed, self.times, column) for column in self.rows.T])


def make_plan(hand: HandModel, trajectory: tuple[Array, Array], grip: Sequence[float],
              contacts: Sequence[PlannedContact], wishes: Wishes,
              options: ExecutionOptions, way: WayPlan | None = None,
              damage_margin: float = np.inf) -> ExecutionPlan:
    """
    Return the plan of an execution.

    Parameters
    ----------
    hand : HandModel
    trajectory : ((m, J) float, (m,) float)
        Rows [rad] in the hand's order and their times [s]. Slowed down where a joint would
        go faster than it can.
    grip : (J,) float
        Where a position-controlled hand is sent to reach the planned forces; empty: the
        last row.
    contacts : sequence of PlannedContact
        Forces of the same link are added.
    wishes : Wishes
    options : ExecutionOptions
    way : WayPlan, optional
        Of the object, once it is held; the grip is then that of its first step's forces.
    damage_margin : float
        Pressure at which damage begins over that of the grasp: forces of closing by touch stay
        below it (pressures grow slower than forces, so this is on the safe side).

    Raises
    ------
    HandError
        A row leaves the joint limits, or a contact names an unknown link.
    TaskError
        Rows, times or grip do not fit together.
    """
    rows, times = (np.asarray(array, float) for array in trajectory)
    target = np.asarray(grip if len(grip) else rows[-1], float)
    _check(hand, rows, times, target)
    if way is not None:
        target = target + way.reserve
    moved = rows[-1] - rows[0]
    moved[~_own_joints(hand)] = 0.0
    target = target + wishes.squeeze * np.sign(moved) * (np.abs(moved) > REST)
    target = np.clip(target, hand.joint_lower, hand.joint_upper)
    scale = wishes.speed_scale or 1.0
    steps = np.maximum(np.diff(times) / scale,
                       (np.abs(np.diff(rows, axis=0)) / hand.joint_velocities).max(
                           axis=1, initial=0.0))
    last = max(options.grip_time, float((np.abs(target - rows[-1])
                                         / hand.joint_velocities).max()))
    planned = merge_contacts(contacts)
    if way is not None:
        planned = tuple(PlannedContact(one.link, float(max(one.force, way.forces[one.link][0])))
                        if one.link in way.forces else one for one in planned)
    unknown = [contact.link for contact in planned if contact.link not in hand.link_names]
    if unknown:
        raise HandError(f'contacts name links that the hand does not have: {unknown}')
    fingers, table = finger_plans(hand, planned), np.vstack([rows, target])
    _check_feeling(fingers, wishes)
    touch = touch_plan(
        hand, (rows, np.cumsum([0.0, *steps])), target,
        {finger.name: finger.joints for finger in fingers if finger.force > 0.0},
        options.touch_speed, options.touch_beyond,
        min(options.force_room, max(1.0, damage_margin))) if wishes.feels else None
    return ExecutionPlan(
        table, np.cumsum([0.0, *steps, last]), rows[-1].copy(), planned, fingers, wishes,
        hand.joint_names, hand.joint_lower, hand.joint_upper, way, touch=touch)


def press_as_planned(plan: ExecutionPlan, hand: HandModel, torques: Array) -> ExecutionPlan:
    """
    Return a plan whose joints are sent on until they press as at the end of closing.

    The grip is that of the least forces of one load. Under another the fingers press no harder
    where the object is stiff, and let go: what was judged is the state at the end of closing.

    Parameters
    ----------
    plan : ExecutionPlan
        To be closed by angles.
    hand : HandModel
    torques : (J,) float
        Of the joints while the contacts press as planned [N m].
    """
    moved, grip = plan.closed - plan.rows[0], plan.rows[-1]
    pressing = np.clip(plan.closed + torques / hand.joint_stiffness,
                       hand.joint_lower, hand.joint_upper)
    further = (np.sign(moved) * (pressing - grip) > 0.0) & (np.abs(moved) > REST)
    target = np.where(further, pressing, grip)
    least = float((np.abs(target - plan.closed) / hand.joint_velocities).max())
    times = plan.times.copy()
    times[-1] = max(times[-1], times[-2] + least)
    return replace(plan, rows=np.vstack([plan.rows[:-1], target]), times=times)


def _check_feeling(fingers: Sequence[FingerPlan], wishes: Wishes) -> None:
    """Refuse to close a finger by touch that has no joint of its own."""
    stiff = [finger.name for finger in fingers if finger.force > 0.0 and not finger.joints]
    if wishes.feels and stiff:
        raise TaskError(f'closing by touch needs a joint that moves {stiff[0]} alone; this hand '
                        'closes by angle')


def _check(hand: HandModel, rows: Array, times: Array, target: Array) -> None:
    count = len(hand.joint_names)
    if rows.ndim != 2 or rows.shape[1] != count or times.shape != rows.shape[:1] or not len(rows):
        raise TaskError(f'a trajectory needs rows of {count} angles with a time each, '
                        f'got shapes {rows.shape} and {times.shape}')
    if target.shape != (count,):
        raise TaskError(f'grip_joint_positions must be {count} angles, got {target.shape[0]}')
    if not all(np.isfinite(array).all() for array in (rows, times, target)):
        raise TaskError('trajectory and grip must be finite')
    if (np.diff(times) <= 0.0).any():
        raise TaskError('time_from_start must grow from row to row')
    slack = 1e-6
    outside = ((rows < hand.joint_lower - slack) | (rows > hand.joint_upper + slack)).any(axis=0)
    if outside.any():
        joint = int(np.flatnonzero(outside)[0])
        raise HandError(f'{hand.joint_names[joint]} leaves its limits of '
                        f'{hand.joint_lower[joint]:.4f} to {hand.joint_upper[joint]:.4f} rad')


def merge_contacts(contacts: Sequence[PlannedContact]) -> tuple[PlannedContact, ...]:
    """Return one contact a link, in the order in which links first come; forces are added."""
    forces: dict[str, float] = {}
    for contact in contacts:
        forces[contact.link] = forces.get(contact.link, 0.0) + contact.force
    return tuple(PlannedContact(link, force) for link, force in forces.items())


def _own_joints(hand: HandModel) -> NDArray[np.bool_]:
    """Return which joints (J,) belong to one finger alone."""
    return np.sum([[j in finger.joints for j in range(len(hand.joint_names))]
                   for finger in hand.fingers], axis=0) == 1


def finger_plans(hand: HandModel, contacts: Sequence[PlannedContact]) -> tuple[FingerPlan, ...]:
    """
    Return the fingers; a joint that moves several of them belongs to none.

    Fingers that the same joints move, and none of them alone, count as one: they stop together.
    """
    own, plans = _own_joints(hand), []
    for group in _moved_together(hand):
        links = tuple(hand.link_names[link] for finger in group for link in finger.links)
        inside = [finger.name for finger in group]
        joints = tuple(j for j in group[0].joints if own[j] or len(group) > 1 and all(
            finger.name in inside for finger in hand.fingers if j in finger.joints))
        plans.append(FingerPlan(
            ' and '.join(inside), joints, links,
            sum(contact.force for contact in contacts if contact.link in links)))
    return tuple(plans)


def _moved_together(hand: HandModel) -> list[list[Finger]]:
    """Return the fingers, those together that have the same joints and none alone."""
    own, groups = _own_joints(hand), dict[object, list[Finger]]()
    for finger in hand.fingers:
        key: object = finger.name if own[list(finger.joints)].any() else finger.joints
        groups.setdefault(key, []).append(finger)
    return list(groups.values())
