"""What `grasp_executor` hears of a real hand: joints, touch, and what the wrist bears."""

import threading
import time
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from gripsim_interfaces.msg import TactileFrame
from sensor_msgs.msg import JointState

from ....hardware.execution.measurement import Measurement
from ...conversions.geometry import seconds_from_msg
from ..base.live_joints import LiveJoints


class Senses:
    """
    The newest of every topic; callbacks fill it, the execution waits for it.

    Times of measurements are the stamps of `joint_states`; silence is told by the steady
    clock. Messages that contradict themselves are dropped, as if they had not come, and each
    wrong field is told once.
    """

    def __init__(self, joint_names, timeout: float, trust_uncalibrated: bool,
                 tell: Callable[[str], None], torque_per_effort: float = 0.0) -> None:
        """
        Start without any knowledge; ``tell`` is given what is wrong with messages.

        ``torque_per_effort`` [N m] of a unit of effort in joint states; 0: it is not known.
        """
        self._names, self._per_effort = tuple(joint_names), torque_per_effort
        self._torques: np.ndarray | None = None
        self._joints = LiveJoints(joint_names, timeout, 0.0)
        self._timeout, self._trusts, self._tell = timeout, trust_uncalibrated, tell
        self._told: set[tuple[str, str]] = set()
        self._news = threading.Condition()
        self._count, self._stamp = 0, 0.0
        self._touch: tuple[float, dict[str, float], dict[str, np.ndarray]] | None = None
        self._wrist: tuple[float, np.ndarray] | None = None

    def on_joints(self, msg: JointState) -> None:
        """Take joint states; a position that is not finite is none, and its joint grows old."""
        if len(msg.position) not in (0, len(msg.name)):
            self._tell_once('joint_states', 'position', f'must be one for each of {len(msg.name)} '
                            f'names, got {len(msg.position)}')
            return
        lost = [name for name, q in zip(msg.name, msg.position) if not np.isfinite(q)]
        if lost:
            self._tell_once('joint_states', 'position',
                            f'must be finite, {", ".join(lost)} is not')
        with self._news:
            if self._joints.merge(msg.name, msg.position, time.monotonic()):
                self._stamp = seconds_from_msg(msg.header.stamp)
                self._torques = torques_by_name(msg, self._names, self._per_effort)
                self._count += 1
                self._news.notify_all()

    def on_tactile(self, msg: TactileFrame) -> None:
        """Take what the pads feel: normal force [N] and its centre [m] by link."""
        if not (msg.calibrated or self._trusts):
            return
        wrong = wrong_frame(msg)
        if wrong:
            self._tell_once('tactile', *wrong)
            return
        forces = np.asarray(msg.pressures) * np.asarray(msg.areas)
        points, ends = np.reshape(msg.points_link, (-1, 3)), list(msg.offsets)
        parts = {link: slice(first, last)
                 for link, first, last in zip(msg.links, ends, ends[1:])}
        sums = {link: float(forces[part].sum()) for link, part in parts.items()}
        with self._news:
            self._touch = (seconds_from_msg(msg.header.stamp), sums, {
                link: forces[part] @ points[part] / sums[link]
                for link, part in parts.items()
                if sums[link] > 0.0 and np.isfinite(points[part]).all()})

    def on_wrist(self, msg: WrenchStamped) -> None:
        """
        Take what the object puts on the hand: force and torque about the palm, in its frame.

        The hand's own weight is not in it: whoever publishes it subtracts that.
        """
        parts = (msg.wrench.force, msg.wrench.torque)
        load = np.array([getattr(part, axis) for part in parts for axis in 'xyz'])
        if not np.isfinite(load).all():
            self._tell_once('wrist_load', 'wrench', 'must be finite')
            return
        with self._news:
            self._wrist = seconds_from_msg(msg.header.stamp), load

    def _tell_once(self, topic: str, field: str, reason: str) -> None:
        """Tell what is wrong with a field, the first time."""
        if (topic, field) not in self._told:
            self._told.add((topic, field))
            self._tell(f'{topic}: {field} {reason}')

    def next(self) -> Measurement:
        """
        Wait for new joint states, at most until they count as lost, and return all.

        Raises
        ------
        JointsError
            Joints are missing or older than the time-out.
        """
        with self._news:
            count = self._count
            self._news.wait_for(lambda: self._count != count, self._timeout)
            joints, _ = self._joints.sample(time.monotonic())
            touch = self._touch
            fresh = touch is not None and abs(self._stamp - touch[0]) <= self._timeout
            felt_at, forces, centres = touch if fresh else (None, {}, {})
            wrist = self._wrist
            fresh = wrist is not None and abs(self._stamp - wrist[0]) <= self._timeout
            return Measurement(self._stamp, joints, forces, forces_time=felt_at, centres=centres,
                               load=wrist[1] if fresh else None, torques=self._torques)


def torques_by_name(msg: JointState, names, per_effort: float = 1.0) -> np.ndarray | None:
    """Return the torques (J,) of joints [N m], None where one is not told."""
    told = dict(zip(msg.name, msg.effort)) if len(msg.effort) == len(msg.name) else {}
    torques = np.array([told.get(name, np.nan) for name in names]) * per_effort
    return torques if per_effort and np.isfinite(torques).all() else None


def wrong_frame(msg: TactileFrame) -> tuple[str, str] | None:
    """Return the field of a tactile frame that is wrong and why, or None; forces may be NaN."""
    links, texels, ends = len(msg.links), len(msg.pressures), np.asarray(msg.offsets, np.int64)
    for field, wanted in (('offsets', links + 1), ('areas', texels), ('points_link', 3 * texels),
                          ('forces_link', 3 * links)):
        length = len(getattr(msg, field))
        if length != wanted:
            return field, f'must be {wanted} for {links} links and {texels} texels, got {length}'
    if ends[0] != 0 or ends[-1] != texels or (np.diff(ends) < 0).any():
        return 'offsets', f'must rise from 0 to {texels} texels, got {ends.tolist()}'
    for field in ('pressures', 'areas'):
        if not np.isfinite(getattr(msg, field)).all():
            return field, 'must be finite'
    return None
