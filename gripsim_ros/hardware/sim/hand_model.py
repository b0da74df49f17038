"""The hand as a MuJoCo specification: that which comes along, or any other."""

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.bodies import convex_hull
from ...core.hand import HandModel
from ...library.resources import HAND_URDF, own_hand_file, resolve_uri, share_directory
from .described_hand import CONVEX_SHARE, described_hand, joint_leaders
from .solids import is_convex

Array = NDArray[np.float64]

COMPILER = ('<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false" '
            'balanceinertia="true"/></mujoco>')
#: Reflected inertia of the joints' motors [kg m^2], at this stiffness of their control [N m/rad].
ARMATURE, STIFFNESS = 0.002, 20.0


def whole_hand(hand: HandModel, damping: float, follow_time: float):
    """
    Return the ``mujoco.MjSpec`` of a hand with motors at its joints.

    The hand that comes along is read from its URDF, with the masses told there; any other is
    built from its model, whatever shapes its description has.

    Parameters
    ----------
    hand : HandModel
    damping : float
        Of joints and control at ``STIFFNESS`` [N m s/rad]; see ``joint_pace``.
    follow_time : float
        Time constant with which joints that follow others keep to them [s].

    Raises
    ------
    SimulationError
        A link is not convex and coacd is not installed.
    """
    if own_hand_file(hand):
        spec = described_hand(hand, follow_time)
        paces = dict(zip(hand.joint_names, joint_pace(hand)))
        paces |= dict.fromkeys(joint_leaders(hand), 0.0)
    else:
        spec, paces = urdf_spec(hand.files[0]), {}
        exclude_relatives(spec, hand)
    for joint in spec.joints:
        pace = paces.get(joint.name, 1.0)
        joint.damping = [damping * pace, 0.0, 0.0]
        joint.armature = ARMATURE * pace
    for body in spec.bodies:
        body.gravcomp = 1.0
    add_position_control(spec, hand, hand.joint_stiffness, damping * joint_pace(hand))
    return spec


def joint_pace(hand: HandModel) -> Array:
    """
    Return by how much damping and inertia of each joint (J,) are more than at ``STIFFNESS`` [-].

    They grow with the stiffness of the control, so that all joints answer it in the same time:
    those that slide, too, whose numbers are per metre. Joints that follow have none of their own:
    both are the motor's.
    """
    return hand.joint_stiffness / STIFFNESS


def mimic_rows(model) -> list[int]:
    """Return the equations of a ``mujoco.MjModel`` by which joints follow others."""
    import mujoco
    return np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT).tolist()


def damping_times(model, hand: HandModel, dofs: NDArray[np.intp], damping: float) -> Array:
    """
    Return by how much damping of control, joint and mimic makes joints late (J,) [s].

    Parameters
    ----------
    model : mujoco.MjModel
    hand : HandModel
    dofs : (J,) int
        Of the joints in the model.
    damping : float
        Of the control at ``STIFFNESS`` [N m s/rad].
    """
    own = model.dof_damping
    dampings = own[dofs] + damping * joint_pace(hand)
    for row in mimic_rows(model):
        moved = dofs == model.jnt_dofadr[model.eq_obj2id[row]]
        follower = model.jnt_dofadr[model.eq_obj1id[row]]
        dampings[moved] += own[follower] * model.eq_data[row, 1]**2
    return dampings / hand.joint_stiffness


def hand_spec(mesh_folder: Path):
    """Return a specification of the SDH with meshes of a folder, named as those of the URDF."""
    return urdf_spec(share_directory() / HAND_URDF,
                     lambda uri: Path(mesh_folder) / uri.rsplit('/', 1)[1])


def urdf_spec(urdf: Path, resolve=resolve_uri):
    """
    Return a ``mujoco.MjSpec`` of a URDF with all of its links.

    Parameters
    ----------
    urdf : Path
    resolve : callable
        Gives the file of a mesh's URI.
    """
    import mujoco
    text = re.sub(r'filename="([^"]*)"', lambda found: f'filename="{resolve(found[1])}"',
                  Path(urdf).read_text(encoding='utf-8'))
    return mujoco.MjSpec.from_string(re.sub(r'(<robot\b[^>]*>)', rf'\1{COMPILER}', text, count=1))


def exclude_relatives(spec, hand: HandModel) -> None:
    """
    Let links at most two joints apart pass through each other.

    MuJoCo takes the convex hulls of links, and those of such neighbours overlap.
    """
    bodies = {body.name: body for body in spec.bodies}
    for name in hand.link_names:
        parent = bodies[name].parent
        for ancestor in (parent, parent.parent if parent is not None else None):
            if ancestor is not None and ancestor.name in hand.link_names:
                spec.add_exclude(bodyname1=ancestor.name, bodyname2=name)


def add_position_control(spec, hand: HandModel, stiffness: Array, damping: Array) -> None:
    """
    Add an actuator for each joint within the torque limits.

    ``stiffness`` (J,) [N m/rad], ``damping`` (J,) [N m s/rad]; of joints that slide [N/m, N s/m].
    """
    import mujoco
    for name, effort, gain, damp in zip(hand.joint_names, hand.joint_efforts, stiffness, damping):
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(gain), kv=float(damp))
        actuator.forcelimited = True
        actuator.forcerange = [-effort, effort]


@lru_cache(maxsize=2)
def hand_as_simulated(hand: HandModel) -> HandModel:
    """
    Return a hand as MuJoCo has it: links rigid, without pads that give way, and convex.

    A link that is simulated as several convex pieces keeps its own surface.
    """
    own = bool(own_hand_file(hand))
    return replace(hand, links=tuple(
        replace(link, pad=None, mesh=link.mesh if own and not is_convex(link.mesh, CONVEX_SHARE)
                else convex_hull(link.mesh)) for link in hand.links))
