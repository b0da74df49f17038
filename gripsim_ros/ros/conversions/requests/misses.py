"""The nearest miss of a plan without a grasp <-> its message."""

import numpy as np
from gripsim_interfaces.msg import NearestMiss as NearestMissMsg
from numpy.typing import NDArray

from ....core.planning.ranked_grasp import NearestMiss
from ....core.transforms import inverse
from ..geometry import pose_from_msg, pose_to_msg

Array = NDArray[np.float64]

_NUMBERS = ('margin', 'friction', 'needed_friction', 'needed_force', 'allowed_force',
            'held_share', 'peak_pressure', 'max_pressure')


def miss_to_msg(miss: NearestMiss, T_frame_object: Array) -> NearestMissMsg:
    """Return the nearest miss with its pose in the frame of the request."""
    return NearestMissMsg(
        reason=miss.reason, hypothesis=int(miss.hypothesis), preshape=miss.preshape,
        hand_pose=pose_to_msg(T_frame_object @ miss.T_object_palm),
        joint_positions=miss.joint_positions.tolist(), links=list(miss.links),
        capable=bool(miss.capable), **{name: float(getattr(miss, name)) for name in _NUMBERS})


def miss_from_msg(msg: NearestMissMsg, T_frame_object: Array) -> NearestMiss:
    """Return the nearest miss in the object's frame; messages carry no contacts of it."""
    return NearestMiss(
        reason=msg.reason, hypothesis=msg.hypothesis, preshape=msg.preshape,
        T_object_palm=inverse(T_frame_object) @ pose_from_msg(msg.hand_pose),
        joint_positions=np.array(msg.joint_positions), links=tuple(msg.links),
        capable=msg.capable, **{name: getattr(msg, name) for name in _NUMBERS})
