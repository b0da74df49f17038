"""What the planner must know of the hand: fingers, reach and speed of its links."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..hand import HandModel, Preshape, forward_kinematics, link_jacobians
from ..transforms import apply

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Finger:
    """
    A chain of links that closes by joints of its own.

    Attributes
    ----------
    joints : tuple of int
        Closing joints from the palm outwards; joints shared by fingers are left out.
    links : tuple of int
        ``links[i]`` is the outermost link that ``joints[i]`` moves and ``joints[i + 1]``
        does not.
    reach : (len(links), len(joints)) float
        Largest distance of a point of the link from the joint's axis in any pose [m].
    """

    joints: tuple[int, ...]
    links: tuple[int, ...]
    reach: Array


@lru_cache(maxsize=8)
def find_fingers(hand: HandModel) -> tuple[Finger, ...]:
    """
    Return the hand's fingers: links grouped by the joints that move only them.

    A joint belongs to a finger if the preshapes close it (open and closed values
    differ in some preshape).

    Parameters
    ----------
    hand : HandModel

    Returns
    -------
    tuple of Finger
        Ordered by their first joint.
    """
    closes = np.any([np.abs(p.closed - p.open) > 1e-9 for p in hand.preshapes], axis=0)
    chains: dict[int, list[int]] = {}
    for link in range(len(hand.link_names)):
        joints = [j for j in np.flatnonzero(hand.moves_link[link]) if closes[j]]
        if joints:
            chains.setdefault(_first(hand, joints), []).append(link)
    return tuple(_finger(hand, links, closes) for _, links in sorted(chains.items()))


def _first(hand: HandModel, joints: list[int]) -> int:
    """Return the joint of a chain that moves most links: the one next to the palm."""
    return max(joints, key=lambda j: (int(hand.moves_link[:, j].sum()), -j))


def _finger(hand: HandModel, links: list[int], closes: NDArray[np.bool_]) -> Finger:
    joints = sorted({j for link in links for j in np.flatnonzero(hand.moves_link[link])
                     if closes[j]}, key=lambda j: -int(hand.moves_link[:, j].sum()))
    ordered = [next(link for link in links
                    if sum(hand.moves_link[link, j] for j in joints) == i + 1)
               for i in range(len(joints))]
    reach = np.array([[_reach(hand, link, j) if hand.moves_link[link, j] else 0.0
                       for j in joints] for link in ordered])
    return Finger(tuple(int(j) for j in joints), tuple(ordered), reach)


def _reach(hand: HandModel, link: int, joint: int) -> float:
    """Bound the lever arm of a link about a joint's axis by that over a grid of bends."""
    bends = np.linspace(hand.joint_lower, hand.joint_upper, 5)
    poses = np.tile(0.5 * (hand.joint_lower + hand.joint_upper), (len(bends) ** 2, 1))
    movers = np.flatnonzero(hand.moves_link[link])
    poses[:, movers] = np.stack(
        [bends[(np.arange(len(poses)) // len(bends) ** (i % 2)) % len(bends), j]
         for i, j in enumerate(movers)], axis=1)
    return float(np.max(_lever_arms(hand, link, joint, poses)))


def _lever_arms(hand: HandModel, link: int, joint: int, poses: Array) -> Array:
    T_palm_link = forward_kinematics(hand, poses)[:, link]
    jacobian = link_jacobians(hand, poses)[:, link, :, joint]
    points = apply(T_palm_link, hand.links[link].mesh.vertices)
    offsets = points - T_palm_link[:, None, :3, 3]
    velocities = jacobian[:, None, :3] + np.cross(jacobian[:, None, 3:], offsets)
    return np.linalg.norm(velocities, axis=2)


def moving_fingers(hand: HandModel, preshape: Preshape) -> tuple[Finger, ...]:
    """Return the fingers that close in a preshape."""
    return tuple(f for f in find_fingers(hand)
                 if any(abs(preshape.closed[j] - preshape.open[j]) > 1e-9 for j in f.joints))


def pad_paths(hand: HandModel, fingers: tuple[Finger, ...], preshape: Preshape,
              count: int = 9) -> tuple[Array, Array]:
    """
    Return where the outermost pads are while the open hand closes, frame palm.

    Parameters
    ----------
    hand : HandModel
    fingers : tuple of Finger
    preshape : Preshape
    count : int
        Steps of the closing, ends included.

    Returns
    -------
    points, normals : (fingers, count, 3) float
        Middle of each outermost pad [m] and its outward unit normal.
    """
    steps = np.linspace(0.0, 1.0, count)[:, None]
    joints = preshape.open + steps * (preshape.closed - preshape.open)
    T_palm_link = forward_kinematics(hand, joints)
    points, normals = [], []
    for finger in fingers:
        link = hand.links[finger.links[-1]]
        T_palm_tip = T_palm_link[:, finger.links[-1]]
        points.append(apply(T_palm_tip, link.pad_point[None])[:, 0])
        normals.append(np.einsum('nij,j->ni', T_palm_tip[:, :3, :3], link.pad_normal))
    return np.array(points), np.array(normals)
