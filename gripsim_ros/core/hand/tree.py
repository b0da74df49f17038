"""The kinematic tree of a hand, as flat arrays read from a URDF; what is read of one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import contextlib
from dataclasses import dataclass
import io
import re
from typing import Any, Protocol

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from ..errors import GripsimError, HandError
from ..transforms import euler_angles, from_rotation_vector, rotation_of_rpy, transform


class Origin(Protocol):
    """Pose of a frame in its parent: position [m], roll, pitch and yaw [rad]."""

    xyz: Sequence[float] | None
    rpy: Sequence[float] | None


class Limit(Protocol):
    """Limits of a joint; ends that the URDF leaves out are None."""

    lower: float | None
    upper: float | None
    effort: float
    velocity: float


class Mimic(Protocol):
    """The joint that one follows, ``multiplier * its value + offset``."""

    joint: str
    multiplier: float | None
    offset: float | None


class Joint(Protocol):
    """A joint between two links."""

    name: str
    type: str
    parent: str
    child: str
    axis: Sequence[float] | None
    origin: Origin | None
    limit: Limit | None
    mimic: Mimic | None


class Collision(Protocol):
    """A collision shape, whose kind follows from the fields of its geometry."""

    origin: Origin | None
    geometry: Any


class Link(Protocol):
    """A link with its collision and its visual shapes."""

    name: str
    collisions: Sequence[Collision]
    visuals: Sequence[Collision]


class Robot(Protocol):
    """A whole URDF."""

    links: Sequence[Link]
    joints: Sequence[Joint]


#: Kinds of joints in ``KinematicTree.kind``.
FIXED, REVOLUTE, PRISMATIC = 0, 1, 2
_KINDS = {'fixed': FIXED, 'revolute': REVOLUTE, 'continuous': REVOLUTE, 'prismatic': PRISMATIC}


@dataclass(frozen=True, eq=False)
class KinematicTree:
    """
    Frames in an order in which each parent comes before its children.

    Frame f hangs on frame ``parent[f]`` by the joint f; the base is frame 0. The joint's
    value is ``multiplier[f] * q[actuator[f]] + offset[f]``.

    Attributes
    ----------
    names : tuple of str
        The URDF's link names, base first.
    parent : (F,) int
        Index of the parent frame; -1 for the base.
    T_parent_joint : (F, 4, 4) float
        Pose of the joint in its parent frame, at joint value 0.
    axis : (F, 3) float
        Unit axis of the joint in its own frame.
    kind : (F,) int
        FIXED, REVOLUTE or PRISMATIC.
    actuator : (F,) int
        Index of the actuated joint that moves it; -1 if fixed.
    multiplier, offset : (F,) float
        Mimic relation; 1 and 0 for an actuated joint.
    """

    names: tuple[str, ...]
    parent: IntArray
    T_parent_joint: Array
    axis: Array
    kind: IntArray
    actuator: IntArray
    multiplier: Array
    offset: Array

    def path_to_base(self, frame: int) -> list[int]:
        """Return the frames from one to the base, both included."""
        frames = [int(frame)]
        while self.parent[frames[-1]] >= 0:
            frames.append(int(self.parent[frames[-1]]))
        return frames


class JointedChain(Protocol):
    """What forward kinematics needs of a hand or an arm; see ``HandModel``."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the actuated joints, in the order of joint vectors."""

    @property
    def tree(self) -> KinematicTree:
        """Return the tree of all frames."""

    @property
    def link_frames(self) -> IntArray:
        """Return the frames whose motion is wanted."""


#: Other descriptions of robots, by their first element.
_OTHERS = {b'sdf': 'Gazebo (SDF)', b'mujoco': 'MuJoCo (MJCF)'}
#: What of a URDF says how joints are driven and simulated.
_ELSEWHERE = re.compile(
    rb'<(transmission|gazebo|ros2_control)\b[^>]*?(?:/>|>.*?</\1\s*>)', re.DOTALL)
#: Link, parent link and the joint between them; neither for the base.
_Row = tuple[str, str | None, Joint | None]


def parse_urdf(text: bytes, label: str) -> Robot:
    """
    Return the ``urdf_parser_py`` robot of a URDF text.

    Parameters
    ----------
    text : bytes
    label : str
        Name of the file, for the error message.

    Raises
    ------
    HandError
        The text is not a URDF.

    Notes
    -----
    urdf_parser_py writes a line to standard error for each tag it does not know; these are none
    of the hand's business. Nor are transmissions and simulators, of which it does not understand
    all, nor prefixes that the file does not declare (``<drake:declare_convex/>``), nor a robot
    without a name, which is called like its file: ROS and Drake read them, too.
    """
    from urdf_parser_py.urdf import URDF
    other = re.search(rb'<(sdf|mujoco)\b', text)
    if other is not None and b'<robot' not in text:
        raise HandError(f'{label}: is a file of {_OTHERS[other[1]]}, allowed is URDF')
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return URDF.from_xml_string(_with_prefixes(_links_and_joints(text, label)))
    except Exception as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise HandError(f'{label}: not a readable URDF: {reason}') from None


def _links_and_joints(text: bytes, label: str) -> bytes:
    """Return a URDF without notes and what moves or simulates it; its robot has a name."""
    text = _ELSEWHERE.sub(b'', re.sub(rb'<!--.*?-->', b'', text, flags=re.DOTALL))
    name = re.sub(rb'\W', b'_', label.split('.')[0].encode())
    return re.sub(rb'<robot\b(?![^>]*\sname\s*=)', b'<robot name="%b"' % name, text, count=1)


def _with_prefixes(text: bytes) -> bytes:
    """Return an XML text whose ``<robot>`` declares the prefixes that are used undeclared."""
    used = {*re.findall(rb'</?([\w.-]+):', text), *re.findall(rb'\s([\w.-]+):[\w.-]+\s*=', text)}
    declared = set(re.findall(rb'xmlns:([\w.-]+)', text)) | {b'xml', b'xmlns'}
    added = b''.join(b' xmlns:%b="urn:%b"' % (name, name) for name in sorted(used - declared))
    return re.sub(rb'<robot\b', lambda found: found[0] + added, text, count=1)


def parse_hand(text: bytes, label: str) -> Robot:
    """Return the robot of a hand's URDF as ``parse_urdf``; joints with no room are fixed."""
    robot = parse_urdf(text, label)
    for joint in robot.joints:
        limit = joint.limit
        if (joint.type in ('revolute', 'prismatic') and joint.mimic is None and limit is not None
                and limit.lower is not None and limit.lower == limit.upper):
            _fix(joint, float(limit.lower))
    return robot


def _fix(joint: Joint, value: float) -> None:
    """Fix a joint at its only value [rad], [m]."""
    from urdf_parser_py.urdf import Pose
    twist = np.zeros((2, 3))
    twist[int(joint.type == 'revolute')] = value * _axis(joint)
    place = origin_matrix(joint.origin) @ from_rotation_vector(twist.ravel())
    joint.origin = Pose(place[:3, 3].tolist(), euler_angles(place[:3, :3], 'xyz').tolist())
    joint.type = 'fixed'


def build_tree(robot: Robot, base_link: str, joint_names: tuple[str, ...]) -> KinematicTree:
    """
    Return the tree of all frames that hang on ``base_link``.

    Parameters
    ----------
    robot : urdf_parser_py.urdf.URDF
    base_link : str
    joint_names : tuple of str
        Actuated joints, in the order of joint vectors.

    Raises
    ------
    HandError
        A name is unknown, a joint is of a kind that is not supported, a chain is closed,
        a mimic joint follows a mimic or fixed joint, or a movable joint is not listed.
    """
    _check_names(robot, base_link, joint_names)
    children: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint)
    rows = _walk(base_link, children)
    _check_joints(robot, [joint for _, _, joint in rows if joint is not None])
    by_name = {joint.name: joint for joint in robot.joints}
    order = {name: i for i, (name, _, _) in enumerate(rows)}
    joints = [joint for _, _, joint in rows]
    drives = [_drive(joint, by_name, joint_names) for joint in joints]
    missing = set(joint_names) - {joint.name for joint in joints if joint is not None}
    if missing:
        raise HandError(f'joints {sorted(missing)} do not hang on base_link {base_link!r}')
    return KinematicTree(
        tuple(name for name, _, _ in rows),
        np.array([-1 if parent is None else order[parent] for _, parent, _ in rows]),
        np.array([origin_matrix(None if j is None else j.origin) for j in joints]),
        np.array([_axis(joint) for joint in joints]),
        np.array([FIXED if j is None else _KINDS[j.type] for j in joints]),
        *(np.array(numbers) for numbers in zip(*drives)))


def _check_names(robot: Robot, base_link: str, joint_names: tuple[str, ...]) -> None:
    links = {link.name for link in robot.links}
    known = {joint.name for joint in robot.joints}
    if base_link not in links:
        raise HandError(f'base_link {base_link!r} is not a link of the URDF ({sorted(links)})')
    for name in joint_names:
        if name not in known:
            raise HandError(f'joint {name!r} is not in the URDF ({sorted(known)})')
    if len(set(joint_names)) != len(joint_names) or not joint_names:
        raise HandError(f'joints must be a list without repeats, got {list(joint_names)}')


def _check_joints(robot: Robot, joints: Iterable[Joint]) -> None:
    links = {link.name for link in robot.links}
    for joint in joints:
        if joint.type not in _KINDS:
            raise HandError(f'joint {joint.name!r} is of type {joint.type!r}; '
                            f'supported are {sorted(_KINDS)}')
        if {joint.parent, joint.child} - links:
            raise HandError(f'joint {joint.name!r} connects a link that does not exist '
                            f'({joint.parent!r} to {joint.child!r})')


def _walk(base_link: str, children: dict[str, list[Joint]]) -> list[_Row]:
    """Return ``(link, parent, joint)`` depth first, in the order of the URDF's joints."""
    rows: list[_Row] = []
    seen: set[str] = set()
    stack: list[_Row] = [(base_link, None, None)]
    while stack:
        name, parent, joint = stack.pop()
        if name in seen:
            raise HandError(f'link {name!r} is reached twice: closed chains are not supported')
        seen.add(name)
        rows.append((name, parent, joint))
        stack.extend((j.child, name, j) for j in reversed(children.get(name, [])))
    return rows


def _drive(joint: Joint | None, by_name: Mapping[str, Joint],
           joint_names: tuple[str, ...]) -> tuple[int, float, float]:
    """Return ``(actuator, multiplier, offset)`` of a joint."""
    if joint is None or joint.type == 'fixed':
        return -1, 0.0, 0.0
    if joint.mimic is None:
        if joint.name not in joint_names:
            raise HandError(f'joint {joint.name!r} can move but is not among the actuated '
                            f'joints {list(joint_names)}')
        return joint_names.index(joint.name), 1.0, 0.0
    if joint.name in joint_names:
        raise HandError(f'joint {joint.name!r} follows {joint.mimic.joint!r} (mimic) and '
                        'cannot be an actuated joint')
    leader, multiplier, offset = followed(joint, by_name)
    if leader not in joint_names:
        raise HandError(f'joint {joint.name!r} follows {leader!r}, which is not an actuated joint')
    return joint_names.index(leader), multiplier, offset


def followed(joint: Joint, by_name: Mapping[str, Joint]) -> tuple[str, float, float]:
    """
    Return the joint that moves a mimic joint at last, with multiplier and offset.

    A joint may follow another that follows a third: the relations are put one into the other.

    Raises
    ------
    HandError
        A joint that is followed is not in the URDF, or joints follow each other in a circle.
    """
    name, multiplier, offset, seen = joint.name, 1.0, 0.0, set[str]()
    while (mimic := by_name[name].mimic) is not None:
        if mimic.joint not in by_name:
            raise HandError(f'joint {name!r} follows {mimic.joint!r}, which is not in the URDF')
        if name in seen:
            raise HandError(f'joint {joint.name!r} follows itself, by way of {sorted(seen)}')
        seen.add(name)
        offset += multiplier * (0.0 if mimic.offset is None else float(mimic.offset))
        multiplier *= 1.0 if mimic.multiplier is None else float(mimic.multiplier)
        name = mimic.joint
    return name, multiplier, offset


def _axis(joint: Joint | None) -> Array:
    if joint is None or joint.type == 'fixed':
        return np.zeros(3)
    axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, float)
    norm = np.linalg.norm(axis)
    if axis.shape != (3,) or not norm > 1e-9:
        raise HandError(f'joint {joint.name!r} needs an axis of three numbers, not all zero, '
                        f'got {axis.tolist()}')
    return axis / norm


def origin_matrix(origin: Origin | None) -> Array:
    """Return the ``(4, 4)`` pose of a URDF ``<origin>``; identity where there is none."""
    position, rpy = (None, None) if origin is None else (origin.xyz, origin.rpy)
    rotation = np.eye(3) if rpy is None or not np.any(rpy) else \
        rotation_of_rpy(*map(float, rpy))
    return transform(rotation, np.zeros(3) if position is None else np.asarray(position, float))


def per_joint(robot: Robot, joint_names: tuple[str, ...], read: Callable[[Joint], float]) -> Array:
    """Return ``read(joint)`` of each actuated joint as ``(J,)`` floats."""
    by_name = {joint.name: joint for joint in robot.joints}
    return np.array([read(by_name[name]) for name in joint_names], float)


def neighbours(names: Sequence[str], parents: Iterable[int], pairs: Iterable[Any],
               error: type[GripsimError], expected: str) -> BoolArray:
    """
    Return which links may touch each other (n, n): each and its parent, and listed pairs.

    Parameters
    ----------
    names : sequence of str
        Of the links.
    parents : iterable of int
        Index of each link's parent; -1: none.
    pairs : iterable of list of str
        Further neighbours.
    error, expected
        Raised, and its text, where a pair is not of two of these names.
    """
    near = np.eye(len(names), dtype=bool)
    for link, parent in enumerate(parents):
        if parent >= 0:
            near[link, parent] = near[parent, link] = True
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or any(name not in names for name in pair):
            raise error(f'{expected}, got {pair!r}')
        i, j = (names.index(name) for name in pair)
        near[i, j] = near[j, i] = True
    return near
