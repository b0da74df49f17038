"""The hand of a URDF as a MuJoCo specification."""

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ...core.bodies import convex_hull
from ...core.hand import HandModel
from ...library.resources import HAND_URDF, resolve_uri, share_directory

COMPILER = ('<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false" '
            'balanceinertia="true"/></mujoco>')


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


def add_position_control(spec, hand: HandModel, stiffness, damping: float) -> None:
    """Add an actuator for each joint, stiffness (J,) [N m/rad], within the torque limits."""
    import mujoco
    for name, effort, gain in zip(hand.joint_names, hand.joint_efforts, stiffness):
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(gain), kv=damping)
        actuator.forcelimited = True
        actuator.forcerange = [-effort, effort]


@lru_cache(maxsize=2)
def hand_as_simulated(hand: HandModel) -> HandModel:
    """Return a hand as MuJoCo has it: links rigid, without pads that give way, and convex."""
    return replace(hand, links=tuple(
        replace(link, pad=None, mesh=convex_hull(link.mesh)) for link in hand.links))
