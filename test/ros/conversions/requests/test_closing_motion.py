"""The object's motion while a hand closes: there and back in a message."""

from gripsim_interfaces.msg import Grasp
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.planning.ranked_grasp import ClosingMotion
from gripsim_ros.core.transforms import from_rotation_vector, inverse
from gripsim_ros.ros.conversions.requests.closing_motion import closing_fields, closing_from_msg

T_FRAME_OBJECT = from_rotation_vector(np.array([0.3, -0.2, 1.0, 0.4, 0.5, -0.6]))
MOVED = from_rotation_vector(np.array([0.002, 0.001, -0.003, 0.02, 0.0, 0.01]))


@pytest.mark.parametrize('bears', [None, True, False])
def test_a_motion_comes_back_as_it_was(bears):
    motion = ClosingMotion(MOVED, 0.0037, 0.022, 0.31, True, bears)
    found = closing_from_msg(Grasp(**closing_fields(motion, T_FRAME_OBJECT)),
                             inverse(T_FRAME_OBJECT))
    assert_allclose(found.T_object_moved, MOVED, atol=1e-12)
    for name in ('way', 'turn', 'lost_time', 'rests', 'bears'):
        assert getattr(found, name) == getattr(motion, name), name


def test_no_motion_is_none():
    assert closing_from_msg(Grasp(**closing_fields(None, T_FRAME_OBJECT)), np.eye(4)) is None
