"""Geometry of the hand for planning: closing fingers, lever arms, paths of the pads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...hand import Finger as FingerChain, HandModel, Preshape, forward_kinematics, link_jacobians
from ...numerics.nnls import solve_nnls
from ...transforms import apply


#: Largest number of vertices of a link in tests of whether fingers meet.
OUTLINE_VERTICES = 128
#: Distance up to which two links meet [m].
MEETING_DISTANCE = 1e-5
#: Number of steps of a closing tested for fingers that meet, and the resolution of the result [-].
MEETING_STEPS, MEETING_SHARE = 12, 1e-4
#: Angle from a pad's normal within which a fingertip's surface touches what the pad faces [rad].
TIP_ANGLE = np.pi / 4


@dataclass(frozen=True, eq=False)
class Finger:
    """
    A chain of links that closes by joints of its own.

    Attributes
    ----------
    joints : tuple of int
        Closing joints from the palm outwards.
    links : tuple of int
        ``links[i]`` is the outermost link that ``joints[i]`` moves and ``joints[i + 1]``
        does not.
    lever_arms : (len(links), len(joints)) float
        Largest distance of a point of the link from the joint's axis in any pose [m].
    """

    joints: tuple[int, ...]
    links: tuple[int, ...]
    lever_arms: Array


@dataclass(frozen=True, eq=False)
class Mechanism:
    """
    Fingers that close together because they share joints; most often one finger alone.

    Attributes
    ----------
    joints : tuple of int
        Closing joints.
    links : tuple of int
        All links that they move, from the palm outwards.
    moves : (len(links), len(joints)) bool
        The joint moves the link.
    lever_arms : (len(links), len(joints)) float
        As of ``Finger``; 0 where the joint does not move the link.
    fingers : (len(links),) int
        Finger, in the order of ``find_fingers``, that each link belongs to.
    """

    joints: tuple[int, ...]
    links: tuple[int, ...]
    moves: BoolArray
    lever_arms: Array
    fingers: IntArray

    @cached_property
    def is_coupled(self) -> bool:
        """Return True if several fingers share joints."""
        return len(set(self.fingers.tolist())) > 1

    @cached_property
    def movers(self) -> tuple[tuple[int, ...], ...]:
        """Return the joints that move each link, in the order of ``joints``."""
        return tuple(tuple(self.joints[k] for k in np.flatnonzero(row)) for row in self.moves)


def max_fractions(hand: HandModel, preshape: Preshape, spare: Array) -> Array:
    """Return the largest closing fraction of each joint (J,), ``spare (J,)`` before its limit."""
    rates = preshape.closed - preshape.open
    limit = np.where(rates > 0.0, hand.joint_upper - spare, hand.joint_lower + spare)
    moving = np.abs(rates) > 1e-12
    room = (limit - preshape.open) / np.where(moving, rates, 1.0)
    return np.where(moving, np.maximum(room, 0.0), 0.0)


@lru_cache(maxsize=8)
def find_fingers(hand: HandModel) -> tuple[Finger, ...]:
    """
    Return how the hand's fingers close.

    A joint closes its finger if open and closed values differ in some preshape.

    Parameters
    ----------
    hand : HandModel

    Returns
    -------
    tuple of Finger
        Those of ``hand.fingers`` that have a closing joint, in their order.
    """
    closes = np.any([np.abs(p.closed - p.open) > 1e-9 for p in hand.preshapes], axis=0)
    fingers = (_closing_finger(hand, chain, closes) for chain in hand.fingers)
    return tuple(finger for finger in fingers if finger.joints)


@lru_cache(maxsize=8)
def find_mechanisms(hand: HandModel) -> tuple[Mechanism, ...]:
    """
    Return the fingers in groups that share no joints, in the order of ``find_fingers``.

    Links beside the fingers' chains, such as bars of a linkage, belong to the finger whose
    outermost link is nearest to them.
    """
    fingers, groups = find_fingers(hand), list[list[int]]()
    for number, finger in enumerate(fingers):
        shared = [g for g in groups if any(set(fingers[i].joints) & set(finger.joints) for i in g)]
        groups = [g for g in groups if g not in shared] + [sum(shared, []) + [number]]
    return tuple(_mechanism(hand, fingers, sorted(group)) for group in sorted(groups, key=min))


def _mechanism(hand: HandModel, fingers: tuple[Finger, ...], group: list[int]) -> Mechanism:
    joints = tuple(dict.fromkeys(j for number in group for j in fingers[number].joints))
    moved = hand.moves_link[:, list(joints)]
    owner = _owners(hand, fingers, group)
    links = sorted(np.flatnonzero(moved.any(axis=1)).tolist(),
                   key=lambda i: (group.index(owner[i]), int(moved[i].sum()), i))
    return Mechanism(joints, tuple(links), moved[links], _max_lever_arms(hand, links, joints),
                     np.array([owner[i] for i in links]))


def _owners(hand: HandModel, fingers: tuple[Finger, ...], group: list[int]) -> dict[int, int]:
    """Return the finger of the group that each link belongs to, by link."""
    poses = forward_kinematics(hand, 0.5 * (hand.joint_lower + hand.joint_upper)[None])[0]
    middles = np.array([apply(T, link.mesh.vertices).mean(axis=0)
                        for T, link in zip(poses, hand.links)])
    chains = {number: next(set(chain.links) for chain in hand.fingers
                           if fingers[number].links[-1] in chain.links) for number in group}

    def owner(i: int) -> int:
        own = [number for number in group if i in chains[number]]
        return min(own or group, key=lambda number: float(
            np.linalg.norm(middles[i] - middles[fingers[number].links[-1]])))
    return {i: owner(i) for i in range(len(hand.links))}


def _closing_finger(hand: HandModel, chain: FingerChain, closes: BoolArray) -> Finger:
    moves = hand.moves_link[list(chain.links)]
    joints = sorted((j for j in chain.joints if closes[j]), key=lambda j: -int(moves[:, j].sum()))
    moved = moves[:, joints].sum(axis=1)
    links = tuple(chain.links[np.flatnonzero(moved == i + 1)[-1]] for i in range(len(joints)))
    return Finger(tuple(int(j) for j in joints), links, _max_lever_arms(hand, links, joints))


def _max_lever_arms(hand: HandModel, links: Sequence[int], joints: Sequence[int]) -> Array:
    return np.array([[_max_lever_arm(hand, link, j) if hand.moves_link[link, j] else 0.0
                      for j in joints] for link in links]).reshape(len(links), len(joints))


def _max_lever_arm(hand: HandModel, link: int, joint: int) -> float:
    """Return the largest lever arm of a link about a joint's axis over a grid of postures."""
    bends = np.linspace(hand.joint_lower, hand.joint_upper, 5)
    poses = np.tile(0.5 * (hand.joint_lower + hand.joint_upper), (len(bends) ** 2, 1))
    movers = np.flatnonzero(hand.moves_link[link])
    poses[:, movers] = np.stack(
        [bends[(np.arange(len(poses)) // len(bends) ** (i % 2)) % len(bends), j]
         for i, j in enumerate(movers)], axis=1)
    T_palm_link = forward_kinematics(hand, poses)[:, link]
    jacobian = link_jacobians(hand, poses)[:, link, :, joint]
    points = apply(T_palm_link, hand.links[link].mesh.vertices)
    offsets = points - T_palm_link[:, None, :3, 3]
    velocities = jacobian[:, None, :3] + np.cross(jacobian[:, None, 3:], offsets)
    return float(np.linalg.norm(velocities, axis=2).max())


def moving_fingers(hand: HandModel, preshape: Preshape) -> tuple[Finger, ...]:
    """Return the fingers that close in a preshape."""
    return tuple(f for f in find_fingers(hand)
                 if any(abs(preshape.closed[j] - preshape.open[j]) > 1e-9 for j in f.joints))


def closing_poses(hand: HandModel, preshape: Preshape, count: int) -> Array:
    """Return the links' poses (count, L, 4, 4) while the open hand closes, frame palm."""
    steps = np.linspace(0.0, 1.0, count)[:, None]
    return forward_kinematics(hand, preshape.open + steps * (preshape.closed - preshape.open))


def pad_paths(hand: HandModel, preshape: Preshape, count: int = 9) -> tuple[Array, Array]:
    """
    Return the paths of the outermost pads while the open hand closes, frame palm.

    Parameters
    ----------
    hand : HandModel
    preshape : Preshape
    count : int
        Number of steps of the closing, ends included.

    Returns
    -------
    points, normals : (fingers, count, 3) float
        Of each finger that closes: middle of the outermost pad [m], its outward unit normal.
    """
    T_palm_link, points, normals = closing_poses(hand, preshape, count), [], []
    for finger in moving_fingers(hand, preshape):
        link = hand.links[finger.links[-1]]
        T_palm_tip = T_palm_link[:, finger.links[-1]]
        points.append(apply(T_palm_tip, link.pad_point[None])[:, 0])
        normals.append(np.einsum('nij,j->ni', T_palm_tip[:, :3, :3], link.pad_normal))
    return np.array(points), np.array(normals)


def tip_paths(hand: HandModel, preshape: Preshape, count: int) -> Array:
    """
    Return the paths of the outermost pads' far ends while the open hand closes, frame palm.

    The far end is the point of the link's surface farthest from its joint of those that face
    no more than ``TIP_ANGLE`` away from the pad's normal.

    Returns
    -------
    (fingers, count, 3) float
        [m]
    """
    T_palm_link, paths = closing_poses(hand, preshape, count), []
    for finger in moving_fingers(hand, preshape):
        mesh, normal = hand.links[finger.links[-1]].mesh, hand.links[finger.links[-1]].pad_normal
        facing = np.flatnonzero(mesh.vertex_normals @ normal >= np.cos(TIP_ANGLE))
        if not len(facing):     # at a box's corners normals are 55 degrees from either side's
            facing = np.unique(mesh.faces[mesh.face_normals @ normal >= np.cos(TIP_ANGLE)])
        if not len(facing):
            facing = np.array([int((mesh.vertices @ normal).argmax())])
        reach = np.linalg.norm(mesh.vertices[facing], axis=1)
        tip = mesh.vertices[facing[reach.argmax()]]
        paths.append(apply(T_palm_link[:, finger.links[-1]], tip[None])[:, 0])
    return np.array(paths)


def free_closing_share(hand: HandModel, preshape: Preshape) -> float:
    """
    Return the fraction of a closing without object after which two fingers meet.

    Parameters
    ----------
    hand : HandModel
    preshape : Preshape

    Returns
    -------
    float
        1 where they never meet. Links that meet while open do not count.

    Notes
    -----
    Own choice. Links are convex hulls of ``OUTLINE_VERTICES`` of their vertices, which is a few
    tenths of a millimetre too small for a fingertip.
    """
    rates, fingers = preshape.closed - preshape.open, moving_fingers(hand, preshape)
    pairs = {(one, other) for i, finger in enumerate(fingers) for another in fingers[:i]
             for one in finger.links for other in another.links}

    def meeting(share: float) -> Iterator[tuple[int, int]]:
        places = forward_kinematics(hand, (preshape.open + share * rates)[None])[0]
        return ((a, b) for a, b in pairs if _meet(
            apply(places[a], _outline(hand, a)), apply(places[b], _outline(hand, b))))

    pairs -= set(meeting(0.0))
    shares = np.linspace(0.0, 1.0, MEETING_STEPS + 1)
    first = next((i for i in range(1, len(shares)) if any(meeting(shares[i]))), None)
    if first is None:
        return 1.0
    free, met = shares[first - 1], shares[first]
    while met - free > MEETING_SHARE:
        middle = 0.5 * (free + met)
        free, met = (free, middle) if any(meeting(middle)) else (middle, met)
    return float(met)


@lru_cache(maxsize=64)
def _outline(hand: HandModel, link: int) -> Array:
    """Return a link's vertices farthest out in directions spread over the sphere."""
    vertices = hand.links[link].mesh.vertices
    return vertices[np.unique((vertices @ even_directions(OUTLINE_VERTICES).T).argmax(axis=0))]


def even_directions(count: int) -> Array:
    """Return unit vectors (count, 3) spread over the sphere along a spiral."""
    heights = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angles, radii = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(count), np.sqrt(1.0 - heights ** 2)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles), heights], axis=1)


def _meet(one: Array, other: Array) -> bool:
    """
    Return True if the convex hulls of points (n, 3) and (m, 3) meet.

    Source: Lawson & Hanson 1974: the least distance of two convex combinations, as least squares.
    """
    shares = np.zeros((2, len(one) + len(other)))
    shares[0, :len(one)], shares[1, len(one):] = 1.0, 1.0
    _, missing = solve_nnls(np.vstack([np.hstack([one.T, -other.T]), shares]),
                            np.array([0.0, 0.0, 0.0, 1.0, 1.0]))
    return bool(missing < MEETING_DISTANCE)


def closing_rows(open_: Array, rates: Array, fractions: Array,
                 mechanisms: tuple[Mechanism, ...], count: int) -> Array:
    """
    Return the joint trajectory (count, J) from the open hand to closing fractions (J,).

    Every finger ends its motion with the last row; a joint that stopped early stays. ``rates``
    (J,) are the displacements from open to closed.
    """
    longest = fractions.copy()
    for mechanism in mechanisms:
        own = list(mechanism.joints)
        longest[own] = fractions[own].max()
    time = np.linspace(0.0, 1.0, count)[:, None]
    shares = np.minimum(time * longest, fractions)
    return open_ + shares * rates
