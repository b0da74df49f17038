"""What fingers press with as their motors tell: a second sense beside the pads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ....core.grasp_theory.grasp_map import joint_torque_map
from ....core.hand import HandModel
from ..measurement import Measurement

Array = NDArray[np.float64]

#: Time in which a finger that closes freely tells what its own motion takes, and the time before
#: it, in which it comes to its speed [s].
TARE_TIME, TARE_AFTER = 0.3, 0.1
#: A pad is not believed where motors tell more than this multiple of its force, and this share of
#: the planned one, for so long [s].
LOW_PAD, LOW_SHARE, DOUBT_TIME = 2.0, 0.4, 0.05
#: Share of its planned force at which a finger touches whose motors alone tell.
TOUCH_SHARE = 0.3
#: Pads and motors that differ by more than this factor in the end are told.
DIFFER = 2.0


class FeltFinger(Protocol):
    """A finger of the plan: joints of its own, links, planned sum of its normal forces [N]."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def joints(self) -> tuple[int, ...]:
        """Return its joints in the hand's order."""

    @property
    def links(self) -> tuple[str, ...]:
        """Return its links."""

    @property
    def force(self) -> float:
        """Return what it is planned to press with [N]."""


def planned_torques(hand: HandModel, joints: Array, T_object_palm: Array,
                    contacts: Sequence[tuple[str, Array, Array]]) -> Array:
    """
    Return the torques of the joints (J,) while contacts press as planned [N m].

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        At the end of closing [rad].
    T_object_palm : (4, 4) float
    contacts : sequence of (str, (3,) float, (3,) float)
        Link, point [m] and force on the object, friction included [N], frame object.

    Notes
    -----
    Source: ``tau = J^T f`` (Murray, Li & Sastry 1994, section 5.3).
    """
    if not contacts:
        return np.zeros(len(joints))
    links = np.array([hand.link_names.index(link) for link, _, _ in contacts])
    points = np.array([point for _, point, _ in contacts], float)
    wrenches = np.zeros((len(contacts), 6))
    wrenches[:, :3] = [force for _, _, force in contacts]
    torque_map = joint_torque_map(hand, joints, T_object_palm, links, points)
    torques: Array = torque_map @ wrenches.ravel()
    return torques


class MotorSense:
    """
    Forces of fingers by the torques of their joints, and whose pads are not believed.

    A finger's force is the multiple of its planned one whose torques are nearest to those
    measured (least squares over its joints): the contact is taken where it was planned, with
    friction in its planned share. What moving takes is subtracted as it was while the finger
    closed freely; at rest nothing is, so friction of gears is in the force.

    Parameters
    ----------
    fingers : sequence of FeltFinger
    forces : mapping to float
        Planned normal forces by link [N].
    torques : (J,) float or None
        Planned with them [N m]; None: motors never tell anything.
    """

    def __init__(self, fingers: Sequence[FeltFinger], forces: Mapping[str, float],
                 torques: Array | None) -> None:
        """Believe the pads."""
        self._levers, self._links = dict[str, tuple[list[int], Array]](), {}
        for finger in fingers if torques is not None else ():
            own = torques[list(finger.joints)]
            if finger.force > 0.0 and own.any():
                self._levers[finger.name] = list(finger.joints), finger.force * own / (own @ own)
                self._links[finger.name] = {link: force / finger.force for link, force
                                            in forces.items() if link in finger.links}
        self._free: dict[str, list[float]] = {name: [] for name in self._levers}
        self._told: set[str] = set()
        self._doubted: dict[str, float] = {}        # since when [s]
        self.believed_instead: dict[str, str] = {}  # fingers whose motors count, and why

    def tells(self, name: str) -> bool:
        """Return whether a finger's motors have told what it presses with."""
        return name in self._told

    def note_free(self, finger: FeltFinger, measured: Measurement, since: float) -> None:
        """Take what free motion takes, ``since`` the finger goes slowly [s]."""
        raw = self._raw(finger, measured)
        if raw is not None and TARE_AFTER <= since <= TARE_AFTER + TARE_TIME:
            self._free[finger.name].append(raw)

    def force(self, finger: FeltFinger, measured: Measurement, moves: bool) -> float | None:
        """Return what a finger presses with [N], None where that is not known."""
        raw = self._raw(finger, measured)
        if raw is None or moves and not self._free[finger.name]:
            return None
        return max(0.0, raw - (float(np.median(self._free[finger.name])) if moves else 0.0))

    def _raw(self, finger: FeltFinger, measured: Measurement) -> float | None:
        if measured.torques is None or finger.name not in self._levers:
            return None
        joints, per_torque = self._levers[finger.name]
        raw = float(per_torque @ measured.torques[joints])
        if not np.isfinite(raw):
            return None
        self._told.add(finger.name)
        return raw

    def doubt(self, finger: FeltFinger, pad: float, motors: float, measured: Measurement) -> bool:
        """Return whether a pad has told too little [N] for too long, by news since the doubt."""
        if finger.name in self.believed_instead or \
                motors <= LOW_PAD * pad + LOW_SHARE * finger.force:
            self._doubted.pop(finger.name, None)
            return False
        since = self._doubted.setdefault(finger.name, measured.time)
        return measured.felt_at >= since + DOUBT_TIME

    def put(self, measured: Measurement, finger: FeltFinger, force: float) -> Measurement:
        """Return a measurement with a finger's force [N] in its planned shares at its links."""
        shares = self._links[finger.name]
        return replace(measured, forces={
            **measured.forces, **{link: force * shares.get(link, 0.0) for link in finger.links
                                  if link in shares or link in measured.forces}})

    def differs(self, finger: FeltFinger, pad: float, measured: Measurement) -> str:
        """Return how a pad's force [N] differs from that of the motors at rest, or ''."""
        motors = self.force(finger, measured, moves=False)
        if motors is None or finger.name in self.believed_instead:
            return ''
        least, most = sorted((pad, motors))
        if most <= DIFFER * least + LOW_SHARE * finger.force:
            return ''
        return f'{finger.name}: its pad tells {pad:.2f} N, its motors {motors:.2f} N'
