"""
Collisions of arm, hand and object with each other and with their surroundings.

Coarse to fine: end points between the bases of two arms; triangles spanned by an arm's joints and
whole groups, separated by a plane; then
the convex parts, separated by a plane; then the exact distance. Planes are kept from one posture
to the next, as witnesses.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..contact.backends.common_plane import common_plane
from ..contact.backends.convex.decomposition import ConvexPart
from ..contact.backends.convex.epa import pair_contact
from ..errors import ArmError
from ..transforms import apply
from .model import ArmModel


#: Tests by which pairs of parts are decided; keys of ``ArmScene.decided``.
BY_PROJECTION, BY_TRIANGLE = 'end points between bases', 'triangles and groups'
BY_PLANE, BY_EXACT_DISTANCE = 'common plane of parts', 'exact distance'


@dataclass(frozen=True, eq=False)
class Body:
    """A convex part in the arm's base frame: a name, its corners, and the overlap allowed [m]."""

    name: str
    key: int
    part: ConvexPart
    slack: float = 0.0


@dataclass(frozen=True, eq=False)
class Group:
    """
    Bodies within a coarse hull: that of points (n, 3), grown by ``radius`` [m].

    ``direction (3,)`` leads from the planned arm's base to that of the arm whose links they are;
    None: of no other arm, or of one on the same place.
    """

    key: int
    points: Array
    radius: float
    bodies: tuple[Body, ...]
    direction: Array | None = None


class ArmGroups:
    """
    An arm's convex parts in groups of two links, each within the triangle of their joints.

    Parameters
    ----------
    arm : ArmModel
    """

    def __init__(self, arm: ArmModel) -> None:
        self._arm, self._chain, tree = arm, arm.chain, arm.tree
        ends = [tree.T_parent_joint[frame][:3, 3] for frame in self._chain[1:]]
        segment_ends = np.array([*ends, np.zeros(3)])
        place = {frame: i for i, frame in enumerate(self._chain)}
        paths = [tree.path_to_base(frame) for frame in arm.part_frames]
        self._segments = [next(place[f] for f in path if f in place) for path in paths]
        self._radii = [_radius_about_segment(part, arm, int(frame), self._chain[segment],
                                             segment_ends[segment])
                       for part, frame, segment in zip(arm.parts, arm.part_frames,
                                                       self._segments)]
        #: Of each part whether no joint moves it.
        self.resting = [bool((tree.actuator[path] < 0).all()) for path in paths]

    def at(self, joints: Array, T_world_base: Array | None = None, key: int = 0,
           owner: str = '') -> list[Group]:
        """
        Return the groups of a posture.

        Parameters
        ----------
        joints : (A,) float
            [rad]
        T_world_base : (4, 4) float, optional
            The arm's base; by default where things are told.
        key : int
            Groups and parts are numbered from here on.
        owner : str
            Before the names of the links.
        """
        poses, direction = self._arm.poses(joints), None
        if T_world_base is not None:
            poses, direction = T_world_base @ poses, _direction(T_world_base[:3, 3])
        origins, names = poses[list(self._chain), :3, 3], self._arm.part_names()
        parts = [part.with_transform(poses[frame])
                 for part, frame in zip(self._arm.parts, self._arm.part_frames)]
        groups = []
        for first in range(0, len(self._chain) - 1, 2):
            members = [i for i, s in enumerate(self._segments) if first <= s < first + 2
                       or (first + 2 >= len(self._chain) - 1 and s >= first)]
            if members:
                groups.append(Group(
                    key + first, origins[first:first + 3], max(self._radii[i] for i in members),
                    tuple(Body(owner + names[i], key + i, parts[i]) for i in members), direction))
        return groups


@dataclass(eq=False)
class ArmScene:
    """
    Surroundings and held things about an arm; all in the arm's base frame.

    Parameters
    ----------
    arm : ArmModel
    obstacles : tuple of ConvexPart
        They do not move.
    obstacle_names : tuple of str
    hand_parts : tuple of ConvexPart
        Of the hand's links, each in its frame, the palm's first.
    hand_names : tuple of str
    object_part : ConvexPart
        Frame object.
    binds_object : tuple of bool
        Of each obstacle whether the object too must stay out of it; empty: of all.
    touch : float
        Depth to which the object may lie in obstacles: it stands on them [m].
    others : tuple of Group
        Of other arms, wherever these are.

    Notes
    -----
    Source: Zhang and Shen 2004 (triangles that bound an arm, common plane). Departures: any
    number of joints; links have their thickness, so that triangles are separated only with a
    gap above it; a plane that does not separate proves nothing, GJK decides. The end points of
    another arm's links are projected onto the line between both bases first, against hand and
    object, too. Cost: pairs grow as the groups' number squared; with kept planes a pair takes
    two products of a few corners with a vector.
    """

    arm: ArmModel
    obstacles: tuple[ConvexPart, ...]
    obstacle_names: tuple[str, ...]
    hand_parts: tuple[ConvexPart, ...]
    hand_names: tuple[str, ...]
    object_part: ConvexPart
    binds_object: tuple[bool, ...] = ()
    touch: float = 0.002
    others: tuple[Group, ...] = ()
    decided: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Prepare all that does not move."""
        self._normals: dict[tuple[int, int], Array] = {}
        self._own = ArmGroups(self.arm)
        tip_links = self.arm.carrying_frames
        self._carries = [int(frame) in tip_links for frame in self.arm.part_frames]
        self._obstacle_groups = tuple(
            Group(10_000 + i, part.vertices, 0.0, (Body(name, 10_000 + i, part),))
            for i, (part, name) in enumerate(zip(self.obstacles, self.obstacle_names)))

    def first_collision(self, joints: Array, T_base_link: Array, T_base_object: Array,
                        hand_meets_object: bool = False) -> str:
        """
        Return a sentence on the first collision in a posture, or ''.

        Parameters
        ----------
        joints : (A,) float
            Of the arm [rad].
        T_base_link : (L, 4, 4) float
            Of the hand's links.
        T_base_object : (4, 4) float
        hand_meets_object : bool
            Whether contact of hand and object counts too.
        """
        arm_groups = self._own.at(joints)
        hand = self._hand_group(T_base_link)
        moved = self.object_part.with_transform(T_base_object)
        thing = Group(9_999, moved.vertices, 0.0, (Body('the object', 9_999, moved, self.touch),))
        pairs = self._pairs(arm_groups, hand, thing, hand_meets_object)
        return next((found for pair in pairs if (found := self._groups_meet(*pair))), '')

    # -- groups ----------------------------------------------------------------------

    def _hand_group(self, T_base_link: Array) -> Group:
        bodies = tuple(Body(name, 1_000 + i, part.with_transform(T)) for i, (name, part, T) in
                       enumerate(zip(self.hand_names, self.hand_parts, T_base_link)))
        return Group(1_000, np.vstack([body.part.vertices for body in bodies]), 0.0, bodies)

    def _pairs(self, arm: list[Group], hand: Group, thing: Group,
               hand_meets_object: bool) -> Iterator[tuple[Group, Group, str]]:
        for i, a in enumerate(arm):
            for b in arm[i:]:
                yield a, b, 'self'
            yield a, hand, 'hand'
            yield a, thing, ''
            for obstacle in self._obstacle_groups:
                yield a, obstacle, 'obstacle'
            for other in self.others:
                yield a, other, ''
        for other in self.others:
            yield hand, other, ''
            yield thing, other, ''
        for i, obstacle in enumerate(self._obstacle_groups):
            yield hand, obstacle, ''
            if not self.binds_object or self.binds_object[i]:
                yield thing, obstacle, ''
        if hand_meets_object:
            yield hand, thing, ''

    # -- pairs -----------------------------------------------------------------------

    def _wanted(self, a: Group, b: Group, kind: str) -> list[tuple[Body, Body]]:
        """Return the pairs of bodies that must not touch."""
        pairs = []
        for x in a.bodies:
            for y in b.bodies:
                if kind == 'self' and (y.key <= x.key and a is b or not self.arm.apart[
                        x.key, y.key]):
                    continue
                if kind == 'obstacle' and self._own.resting[x.key]:
                    continue
                if kind == 'hand' and self._carries[x.key] and y.key == 1_000:
                    continue
                pairs.append((x, y))
        return pairs

    def _groups_meet(self, a: Group, b: Group, kind: str) -> str:
        pairs = self._wanted(a, b, kind)
        if not pairs:
            return ''
        thickness = a.radius + b.radius
        if b.direction is not None and _gap(a.points, b.points, b.direction) > thickness:
            self.decided[BY_PROJECTION] += len(pairs)
            return ''
        if a is not b and self._separated((a.key + 20_000, b.key + 20_000), a.points, b.points,
                                          thickness):
            self.decided[BY_TRIANGLE] += len(pairs)
            return ''
        for x, y in pairs:
            if self._separated((x.key, y.key), x.part.vertices, y.part.vertices, 0.0):
                self.decided[BY_PLANE] += 1
                continue
            self.decided[BY_EXACT_DISTANCE] += 1
            contact = pair_contact(x.part, y.part)
            if contact.overlap and contact.depth > max(x.slack, y.slack):
                return f'{x.name} meets {y.name}'
        return ''

    def _separated(self, key: tuple[int, int], a: Array, b: Array, gap: float) -> bool:
        """Return True if a plane leaves more than ``gap`` between two sets of points."""
        kept = self._normals.get(key)
        if kept is not None and _gap(a, b, kept) > gap:
            return True
        plane = common_plane(a, b, kept, early_exit=gap <= 0.0)
        self._normals[key] = plane.normal
        return plane.gap > gap


def _gap(a: Array, b: Array, direction: Array) -> float:
    """Return how far points b (n, 3) lie before points a along a unit direction [m]."""
    return float((b @ direction).min() - (a @ direction).max())


def _direction(vector: Array) -> Array | None:
    """Return the unit vector along another, None where that has no length."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else None


def _radius_about_segment(part: ConvexPart, arm: ArmModel, frame: int, chain_frame: int,
                          end: Array) -> float:
    """Return the largest distance of a part's corners from its frame's segment [m]."""
    points = part.vertices
    while frame != chain_frame:
        points = apply(arm.tree.T_parent_joint[frame], points)
        frame = int(arm.tree.parent[frame])
    along = points @ end / max(float(end @ end), 1e-30)
    nearest = np.clip(along, 0.0, 1.0)[:, None] * end
    return float(np.linalg.norm(points - nearest, axis=1).max())


#: Largest step of a joint between two postures of a way that are looked at [rad].
WAY_STEP = 0.1
#: Groups of another arm's posture are numbered from a multiple of this on.
KEYS = 1_000_000


@dataclass(frozen=True, eq=False)
class OtherArm:
    """
    An arm that is not planned for.

    Attributes
    ----------
    arm : ArmModel
    T_base_other : (4, 4) float
        Its base before that of the arm that is planned for.
    way : (m, A) float
        Joints [rad]: one row where it stands, more where it goes straight from one to the next.
    """

    arm: ArmModel
    T_base_other: Array
    way: Array

    def __post_init__(self) -> None:
        """Check the way; ArmError where a row is none of the arm's."""
        if np.ndim(self.way) != 2 or not len(self.way):
            raise ArmError(f'the way of arm {self.arm.name!r} needs one row of joints or more, '
                           f'got {np.asarray(self.way).tolist()}')
        for row in self.way:
            self.arm.checked_joints(row)

    def postures(self) -> Iterator[Array]:
        """Yield the joints (A,) along the way, in steps of ``WAY_STEP`` at most."""
        yield self.way[0]
        for first, last in zip(self.way[:-1], self.way[1:]):
            count = int(np.ceil(np.abs(last - first).max() / WAY_STEP))
            for share in np.linspace(0.0, 1.0, count + 1)[1:]:
                yield first + share * (last - first)


def groups_of_others(others: Sequence[OtherArm]) -> tuple[Group, ...]:
    """
    Return where other arms ever are, as groups of their parts in the base of the planned arm.

    Notes
    -----
    Own derivation: nobody tells when another arm is where on its way, so that a motion beside it
    must be free of all of it.
    """
    groups: list[Group] = []
    for other in others:
        made = ArmGroups(other.arm)
        for joints in other.postures():
            groups += made.at(joints, other.T_base_other, KEYS * (len(groups) + 1),
                              f'{other.arm.name}\'s ')
    return tuple(groups)
