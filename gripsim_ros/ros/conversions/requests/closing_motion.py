"""How a free object moves while the hand closes: core <-> message fields."""

from typing import Any

from gripsim_interfaces.msg import Grasp
from numpy.typing import NDArray
import numpy as np

from ....core.planning.ranked_grasp import ClosingMotion
from ..geometry import pose_from_msg, pose_to_msg

Array = NDArray[np.float64]

BORNE = {None: Grasp.CLOSING_BEARS_NOT_ASKED, True: Grasp.CLOSING_BEARS_ALL,
         False: Grasp.CLOSING_BEARS_NOT_ALL}


def closing_fields(motion: ClosingMotion | None, T_frame_object: Array) -> dict[str, Any]:
    """Return the fields of a ``Grasp`` message about the object's motion; pose in its frame."""
    if motion is None:
        return {}
    return {'closing_motion_known': True, 'closing_way': motion.way, 'closing_turn': motion.turn,
            'closing_object_pose': pose_to_msg(T_frame_object @ motion.T_object_moved),
            'closing_lost_time': motion.lost_time, 'closing_rests': motion.rests,
            'closing_bears': BORNE[motion.bears]}


def closing_from_msg(msg: Grasp, T_object_frame: Array) -> ClosingMotion | None:
    """Return the object's motion of a message, None where it tells none."""
    if not msg.closing_motion_known:
        return None
    bears = next(told for told, code in BORNE.items() if code == msg.closing_bears)
    return ClosingMotion(T_object_frame @ pose_from_msg(msg.closing_object_pose), msg.closing_way,
                         msg.closing_turn, msg.closing_lost_time, msg.closing_rests, bears)
