"""Fingers of a hand from its tree and meshes: which joints bend them, and where they touch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...core.bodies.mesh import TriangleMesh
from ...core.hand import HandModel, forward_kinematics, link_jacobians
from ...core.transforms import apply

Array = NDArray[np.float64]

#: Reach of a link over that of the farthest one moved by the same joints from which it is a
#: finger of its own [-]: bars of a linkage are shorter.
FINGER_REACH = 0.8
#: Turn by which it is tried whether a link turns in place [rad], and the distance of its middle
#: from the axis below which it does, over the diagonal of its box [-].
SMALL_TURN, IN_PLACE = 1e-3, 0.1
#: Cosine from which two joints bend a finger in the same plane [-].
SAME_PLANE = 0.85
#: Share of a joint's range that it needs on a side to close from its middle to there [-].
LEAST_ROOM = 0.3
#: Gap that a finger is worth which closes from its joints' far end to where it is at 0 [m]: most
#: descriptions have their fingers open at 0, few closed.
REVERSED_COST = 0.1
#: Way by which fingertips come together at least as they close: fingers that move side by side
#: keep their gap but for rounding [m].
LEAST_CLOSING = 1e-6
#: Random postures of the other joints in which the direction of closing is looked for.
POSTURES = 24
#: Largest bend of a joint between open and closed [rad].
MOST_BEND = 2.5
#: Steps of a sweep from open to closed.
STEPS = 14
#: Cosine to the motion from which a face may be a pad's, and share of these that is flat [-].
FACING, FLAT_SHARE = 0.8, 0.3
#: Depth below the outermost point in which a pad's middle is looked for [m].
PAD_DEPTH = 0.002


@dataclass(frozen=True)
class FoundFinger:
    """
    A finger: its outermost link, the joints that move it, and those of them that bend it.

    ``bending`` goes from the palm outwards.
    """

    link: int
    joints: tuple[int, ...]
    bending: tuple[int, ...]


def start_posture(hand: HandModel) -> Array:
    """Return the joints at 0, or as near as their limits allow (J,)."""
    return np.clip(np.zeros(len(hand.joint_names)), hand.joint_lower, hand.joint_upper)


def find_fingers(hand: HandModel) -> list[FoundFinger]:
    """
    Return the fingers of a hand.

    A finger ends with a link that moves and carries no other. Of those on one branch the one that
    reaches farthest counts, and of several moved by the same joints those that reach about as far
    as the farthest: the others are bars of a linkage. What turns about its own middle, as the
    propeller that shows a servo's motion, is none.
    """
    above = _links_above(hand)
    leaves = [i for i in range(len(hand.links)) if hand.moves_link[i].any()
              and not any(i in chain for chain in above) and not _turns_in_place(hand, i)]
    T = forward_kinematics(hand, start_posture(hand)[None])[0]
    middle = hand.links[hand.palm_index].mesh.vertices.mean(axis=0)
    reach = {i: float(np.linalg.norm(apply(T[i], hand.links[i].mesh.vertices) - middle,
                                     axis=1).max()) for i in leaves}
    best: dict[int, int] = {}
    for i in leaves:
        root = ([*above[i], i])[0]
        if root not in best or reach[i] > reach[best[root]]:
            best[root] = i
    chosen = sorted(best.values())
    farthest = {tuple(hand.moves_link[i]): 0.0 for i in chosen}
    for i in chosen:
        key = tuple(hand.moves_link[i])
        farthest[key] = max(farthest[key], reach[i])
    chosen = [i for i in chosen
              if reach[i] >= FINGER_REACH * farthest[tuple(hand.moves_link[i])]]
    return [_finger(hand, i) for i in chosen]


def _turns_in_place(hand: HandModel, link: int) -> bool:
    """Return whether a link is moved by one joint alone, and its middle next to nothing by it."""
    joints = np.flatnonzero(hand.moves_link[link])
    if len(joints) != 1 or hand.prismatic[joints[0]]:
        return False
    mesh, q = hand.links[link].mesh, np.tile(start_posture(hand), (2, 1))
    q[1, joints[0]] += SMALL_TURN
    T = forward_kinematics(hand, q)[:, link]
    way = np.linalg.norm(np.diff(apply(T, box_middle(mesh)[None])[:, 0], axis=0))
    return bool(way < IN_PLACE * SMALL_TURN * mesh.diagonal)


def _links_above(hand: HandModel) -> list[list[int]]:
    """Return the links that carry each link, the palm excepted, from the palm outwards."""
    place = {int(f): i for i, f in enumerate(hand.link_frames)}
    return [[place[f] for f in reversed(hand.tree.path_to_base(int(frame))[1:])
             if f in place and place[f] != hand.palm_index] for frame in hand.link_frames]


def _finger(hand: HandModel, link: int) -> FoundFinger:
    joints = tuple(sorted((int(j) for j in np.flatnonzero(hand.moves_link[link])),
                          key=lambda j: -int(hand.moves_link[:, j].sum())))
    axes = link_jacobians(hand, start_posture(hand)[None])[0, link, 3:, :]
    lengths = np.linalg.norm(axes, axis=0)
    last = axes[:, joints[-1]] / max(lengths[joints[-1]], 1e-12)
    bending = [j for j in joints if j == joints[-1] or hand.prismatic[j] or (
        lengths[j] > 1e-9 and abs(axes[:, j] @ last) >= SAME_PLANE * lengths[j])]
    return FoundFinger(link, joints, tuple(bending))


@dataclass(frozen=True, eq=False)
class Bend:
    """How fingers bend: values ``(J,)`` of the open and of the closed hand; others are at 0."""

    open: Array
    closed: Array


def closing_bend(hand: HandModel, fingers: list[FoundFinger]) -> Bend:
    """
    Return the direction in which all fingers close: that in which they come nearest together.

    Fingers that a joint has in common close together; of each group both directions are tried, and
    one that begins with the joints at 0 goes before one that ends there.
    """
    start = start_posture(hand)
    bending = sorted({j for finger in fingers for j in finger.bending})
    groups: list[set[int]] = []
    for finger in fingers:
        own = set(finger.bending)
        for group in [group for group in groups if group & own]:
            own |= group
            groups.remove(group)
        groups.append(own)
    relative = _relative_senses(hand, fingers)
    draws = np.random.default_rng(0).uniform(size=(POSTURES, len(start)))
    postures = [start, *(hand.joint_lower + draws * (hand.joint_upper - hand.joint_lower))]
    best: tuple[float, Bend] | None = None
    for senses in product((1.0, -1.0), repeat=len(groups)):
        bend = Bend(start.copy(), start.copy())
        for sense, group in zip(senses, groups):
            for j in group:
                bend.open[j], bend.closed[j] = _ends(hand, j, sense * relative[j], start[j])
        reversed_ = sum(any(bend.open[j] != start[j] for j in group) for group in groups)
        cost = REVERSED_COST * reversed_ + min(
            _cost(_tip_gaps(hand, fingers, _posed(bend, posture, bending)))
            for posture in postures)
        if best is None or cost < best[0] - 1e-9:
            best = cost, bend
    assert best is not None
    return best[1]


def _relative_senses(hand: HandModel, fingers: list[FoundFinger]) -> dict[int, float]:
    """Return for each bending joint +1, or -1 where its axis is against that of the last one."""
    senses: dict[int, float] = {}
    jacobians = link_jacobians(hand, start_posture(hand)[None])[0]
    for finger in fingers:
        axes = jacobians[finger.link, 3:, :]
        for j in finger.bending:
            same = axes[:, j] @ axes[:, finger.bending[-1]] >= 0.0
            senses.setdefault(j, 1.0 if same else -1.0)
    return senses


def _ends(hand: HandModel, joint: int, sense: float, start: float) -> tuple[float, float]:
    lower, upper = float(hand.joint_lower[joint]), float(hand.joint_upper[joint])
    end, other = (upper, lower) if sense > 0.0 else (lower, upper)
    if abs(end - start) < LEAST_ROOM * (upper - lower):
        start = other
    if not hand.prismatic[joint]:
        end = float(np.clip(end, start - MOST_BEND, start + MOST_BEND))
    return start, end


def _posed(bend: Bend, posture: Array, bending: list[int]) -> Bend:
    """Return a bend with the joints that do not bend fingers in a posture (J,)."""
    first, last = posture.copy(), posture.copy()
    first[bending], last[bending] = bend.open[bending], bend.closed[bending]
    return Bend(first, last)


def _cost(gaps: Array) -> float:
    """Return the least gap of a closing; a metre more where the open hand's is no wider."""
    nearest = int(gaps.argmin())
    parted = gaps[0] - gaps[nearest] < LEAST_CLOSING
    return float(gaps[nearest]) + (1.0 if parted else 0.0) - 1e-3 * nearest / STEPS


def _tip_gaps(hand: HandModel, fingers: list[FoundFinger], bend: Bend) -> Array:
    """Return the mean distance of the fingertips at each step of a closing (STEPS + 1,)."""
    shares = np.linspace(0.0, 1.0, STEPS + 1)[:, None]
    T = forward_kinematics(hand, bend.open + shares * (bend.closed - bend.open))
    tips = np.array([apply(T[:, f.link], box_middle(hand.links[f.link].mesh)[None])[:, 0]
                     for f in fingers])
    pairs = [(i, j) for i in range(len(tips)) for j in range(i)]
    return np.mean([np.linalg.norm(tips[i] - tips[j], axis=1) for i, j in pairs], axis=0)


def box_middle(mesh: TriangleMesh) -> Array:
    """Return the middle of a mesh's bounding box (3,)."""
    return 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))


def palmar_side(hand: HandModel, link: int, joints: tuple[int, ...], bend: Bend) -> Array:
    """
    Return the outward direction (3,) of a link's palmar side, in its frame.

    It is where the link moves to as its outermost bending joint closes; where most of the
    surface on that side is one plane, it is that plane's normal.
    """
    middle = box_middle(hand.links[link].mesh)
    moving = [j for j in joints if hand.moves_link[link, j]
              and abs(bend.closed[j] - bend.open[j]) > 1e-9]
    if not moving:
        return np.array([1.0, 0.0, 0.0])
    closing = bend.open.copy()
    shares = np.linspace(0.0, 1.0, STEPS + 1)[:, None]
    rows = np.tile(closing, (STEPS + 1, 1))
    last = moving[-1]
    rows[:, last] = (bend.open[last] + shares * (bend.closed[last] - bend.open[last]))[:, 0]
    T = forward_kinematics(hand, rows)[:, link]
    steps = np.diff(apply(T, middle[None])[:, 0], axis=0)
    local = np.einsum('nji,nj->ni', T[:-1, :3, :3], steps)
    motion = local.sum(axis=0)
    if np.linalg.norm(motion) < 1e-9:
        return np.array([1.0, 0.0, 0.0])
    return _flattened(hand.links[link].mesh, motion / np.linalg.norm(motion))


def _flattened(mesh: TriangleMesh, motion: Array) -> Array:
    """Return the normal of the plane that most of a mesh's side has; the motion if none."""
    normals, areas = mesh.face_normals, mesh.face_areas
    facing = normals @ motion >= FACING
    if not facing.any():
        return motion
    together = normals[facing] @ normals[facing].T >= 0.999 if facing.sum() < 3000 else None
    if together is None:
        return motion
    flat = together @ areas[facing]
    best = int(flat.argmax())
    return normals[facing][best] if flat[best] >= FLAT_SHARE * areas[facing].sum() else motion


def pad_middle(mesh: TriangleMesh, outward: Array) -> Array:
    """Return the point (3,) of a mesh nearest to the middle of what stands out of its side."""
    facing = mesh.face_normals @ outward >= FACING
    if not facing.any():
        return box_middle(mesh)
    centroids, areas = mesh.face_centroids[facing], mesh.face_areas[facing]
    heights = centroids @ outward
    weights = areas * np.exp((heights - heights.max()) / PAD_DEPTH)
    middle = (weights[:, None] * centroids).sum(axis=0) / weights.sum()
    nearest: Array = centroids[int(np.linalg.norm(centroids - middle, axis=1).argmin())]
    flat = np.abs(heights - heights.max()) < 1e-6
    return middle if flat.all() else nearest
