"""Planned against felt forces of fingers, as bars behind their tips."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import Marker, MarkerArray

from ...core.hand import HandModel, forward_kinematics
from ...core.transforms import apply, rotate, transform
from .layers import FORCE_LENGTH, GREEN, GREY, Layers, MAGENTA, MarkerFrame, ORANGE
from .legend import start_axes, TEXT, word_width

Array = NDArray[np.float64]

#: Width of a bar, how far apart the two of a finger are, how far behind the pad they begin [m].
WIDTH, APART, BEHIND = 0.004, 0.006, 0.025
#: Share of the planned force from and to which a felt one counts as that.
NEAR = (0.8, 1.2)
#: Shortest bar that is drawn [N].
LEAST = 0.005


@dataclass(frozen=True, eq=False)
class FingerForces:
    """Names and links (n) of fingers that press, their planned and felt forces (n,) [N]."""

    names: Sequence[str]
    links: Sequence[str]
    planned: Array
    felt: Array


def force_markers(forces: FingerForces, hand: HandModel, joints: Array, frame: MarkerFrame
                  ) -> MarkerArray:
    """
    Return bars that grow out of the fingers' backs, 20 mm a newton.

    Grey is planned; felt is green within a fifth of that, orange below, magenta above, and
    missing where nothing is known.

    Parameters
    ----------
    forces : FingerForces
    hand : HandModel
    joints : (J,) float
        As measured [rad].
    frame : MarkerFrame
        Its object is the hand's palm here.
    """
    layers = Layers(frame)
    layers.clear('planned_forces', 'felt_forces', 'force_texts')
    poses = forward_kinematics(hand, joints[None])[0]
    for name, planned, felt in zip(forces.links, forces.planned, forces.felt):
        number = hand.link_names.index(name)
        link, pose = hand.links[number], poses[number]
        back = -rotate(pose, link.pad_normal[None])[0]
        start = apply(pose, link.pad_point[None])[0] + BEHIND * back
        aside = np.cross(back, pose[:3, 2])
        aside *= 0.5 * APART / max(float(np.linalg.norm(aside)), 1e-9)
        _bar(layers, 'planned_forces', start - aside, back, planned, GREY)
        if np.isfinite(felt):
            _bar(layers, 'felt_forces', start + aside, back, felt, _colour(felt / planned))
        text = f'{felt:.2f}' if np.isfinite(felt) else '?'
        text += f' of {planned:.2f} N'
        reach = FORCE_LENGTH * max(planned, np.nan_to_num(felt)) + _room(text, back, frame)
        layers.text('force_texts', start + reach * back, text, TEXT)
    return layers.array


def _room(text: str, along: Array, frame: MarkerFrame) -> float:
    """Return how far the middle of a text is from a bar's end, not to cover it at the start."""
    half = 0.5 * word_width(text) + WIDTH, 0.5 * TEXT + WIDTH
    seen = [abs(float(axis @ frame.T_frame_object[:3, :3] @ along)) for axis in start_axes()]
    return min(size / max(share, 1e-9) for size, share in zip((*half, half[0]), (*seen, 1.0)))


def _colour(share: float) -> Sequence[float]:
    return ORANGE if share < NEAR[0] else MAGENTA if share > NEAR[1] else GREEN


def _bar(layers: Layers, namespace: str, start: Array, along: Array, force: float,
         colour: Sequence[float]) -> None:
    """Add a bar from a point along a direction."""
    if not force >= LEAST:
        return
    length = FORCE_LENGTH * force
    side = np.cross(along, [1.0, 0.0, 0.0] if abs(along[0]) < 0.9 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    rotation = np.stack([side, np.cross(along, side), along], axis=1)
    layers.solid(namespace, Marker.CYLINDER, (WIDTH, WIDTH, length), colour,
                 transform(rotation, start + 0.5 * length * along))
