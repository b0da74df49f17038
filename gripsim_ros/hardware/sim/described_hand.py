"""Any hand as a MuJoCo specification, from its model: surfaces of links, joints, motors' ways."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.hand import HandModel
from ...core.hand.tree import FIXED, PRISMATIC
from .solids import convex_pieces_of

Array = NDArray[np.float64]

#: Of links [kg/m^3]: metal and plastic with air between. Motors bear the hand's weight, so that
#: it is told by how fast a link can set off alone.
DENSITY = 1500.0
#: Mass [kg] and inertia [kg m^2] of frames that move and have no geometry.
LITTLE = (1e-3, 1e-7)
#: Concavity that pieces of a link may keep, over half of its longest side, and the share of its
#: hull above which the hull stands for it: fingers touch with what is convex of them.
CONCAVITY, CONVEX_SHARE = 0.15, 0.75
#: How joints that follow others are named: after their link.
FOLLOWS = '_follows'
#: Stiffest constraints that MuJoCo takes: they give way by the share of force missing to 1.
IMPEDANCE = [0.9999, 0.9999, 0.001, 0.5, 2.0]
#: Links touch the object and what stands about it, never each other: that they do not meet is
#: planned with their true surfaces, of which pieces stick out.
CONTACT_KIND, CONTACT_WITH = 2, 1


def described_hand(hand: HandModel, follow_time: float):
    """
    Return the ``mujoco.MjSpec`` of a hand as its model has it; the base link hangs in the world.

    Links consist of convex pieces, joints have the names of the hand's; those that follow others
    (mimic) are named after their link, and an equation makes them follow.

    Parameters
    ----------
    hand : HandModel
    follow_time : float
        Time constant of these equations [s], at least two time steps.

    Raises
    ------
    SimulationError
        A link is not convex and coacd is not installed.
    """
    import mujoco
    spec, tree, bodies = mujoco.MjSpec(), hand.tree, {}
    spec.compiler.degree = False
    frames = {int(frame): link for link, frame in enumerate(hand.link_frames)}
    for f, T_body_frame, above in _moving_frames(hand):
        parent = spec.worldbody if above < 0 else bodies[above]
        body = bodies[f] = parent.add_body(
            name=tree.names[f], pos=T_body_frame[:3, 3].tolist(), quat=_wxyz(T_body_frame))
        if tree.actuator[f] >= 0:
            _add_joint(hand, body, f)
        if f in frames:
            _add_pieces(spec, hand, frames[f], body)
        else:
            body.mass, body.inertia, body.explicitinertial = LITTLE[0], [LITTLE[1]] * 3, True
    for name, leader in joint_leaders(hand).items():
        equation = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=name,
            name2=leader, solref=[follow_time, 1.0], solimp=IMPEDANCE)
        data, f = np.zeros(len(equation.data)), tree.names.index(name.removesuffix(FOLLOWS))
        data[:2] = tree.offset[f], tree.multiplier[f]
        equation.data = data
    return spec


def joint_leaders(hand: HandModel) -> dict[str, str]:
    """Return the joint that each joint which follows another (mimic) follows, by their names."""
    tree = hand.tree
    moved = [f for f in range(len(tree.names)) if tree.actuator[f] >= 0]
    return {_joint_name(hand, f): hand.joint_names[tree.actuator[f]] for f in moved
            if not _leads(hand, f)}


def _leads(hand: HandModel, frame: int) -> bool:
    """Return whether a frame is the first that its actuated joint moves as it is."""
    tree, joint = hand.tree, hand.tree.actuator[frame]
    return frame == np.flatnonzero((tree.actuator == joint) & (tree.multiplier == 1.0)
                                   & (tree.offset == 0.0))[0]


def _joint_name(hand: HandModel, frame: int) -> str:
    return hand.joint_names[hand.tree.actuator[frame]] if _leads(hand, frame) else \
        hand.tree.names[frame] + FOLLOWS


def _moving_frames(hand: HandModel) -> Iterator[tuple[int, Array, int]]:
    """
    Yield the frames that become bodies, each with its pose in the body above and that body.

    Frames that are fixed and have no geometry become none; what hangs on them hangs further up.
    """
    tree, solid = hand.tree, set(map(int, hand.link_frames))
    T_carrier, carrier = np.tile(np.eye(4), (len(tree.names), 1, 1)), {-1: -1}
    for f in range(len(tree.names)):
        above = int(tree.parent[f])
        T = np.eye(4) if above < 0 else T_carrier[above] @ tree.T_parent_joint[f]
        if above >= 0 and tree.kind[f] == FIXED and f not in solid:
            T_carrier[f], carrier[f] = T, carrier[above]
            continue
        carrier[f] = f
        yield f, T, carrier[above]


def _add_joint(hand: HandModel, body, frame: int) -> None:
    import mujoco
    joint, slides = int(hand.tree.actuator[frame]), hand.tree.kind[frame] == PRISMATIC
    added = body.add_joint(
        name=_joint_name(hand, frame), axis=hand.tree.axis[frame].tolist(),
        type=mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE)
    if _leads(hand, frame):
        added.limited = True
        added.range = [hand.joint_lower[joint], hand.joint_upper[joint]]


def _add_pieces(spec, hand: HandModel, link: int, body) -> None:
    import mujoco
    for number, vertices in enumerate(link_pieces(hand)[link]):
        name = f'{hand.link_names[link]}_piece_{number}'
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist())
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, density=DENSITY,
                      contype=CONTACT_KIND, conaffinity=CONTACT_WITH)


@lru_cache(maxsize=4)
def link_pieces(hand: HandModel) -> tuple[tuple[Array, ...], ...]:
    """
    Return the vertices (n, 3) [m] of the convex pieces of each link, in the link's frame.

    Fingers that are alike have the same surfaces, each of which takes coacd seconds.
    """
    known, pieces = dict[bytes, tuple[Array, ...]](), []
    for link in hand.links:
        key = link.mesh.vertices.tobytes() + link.mesh.faces.tobytes()
        if key not in known:
            known[key] = tuple(np.asarray(piece.vertices, float) for piece in convex_pieces_of(
                link.mesh, CONCAVITY, CONVEX_SHARE))
        pieces.append(known[key])
    return tuple(pieces)


def _wxyz(T: Array) -> list[float]:
    x, y, z, w = Rotation.from_matrix(T[:3, :3]).as_quat()
    return [w, x, y, z]
